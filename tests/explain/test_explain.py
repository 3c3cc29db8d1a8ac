"""The explained algorithms: their labels are the kernels', and what they say is what decided."""

import re
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

import microagg
from microagg import explain
from tests.cases import for_each

TOY = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]

#: Every explained algorithm with every value of its parameters that changes what it does.
VARIANTS = [
    ("mdav", {}),
    ("mdav-plus", {}),
    *(("v-mdav", {"gamma": gamma}) for gamma in (0.0, 0.2, 1.1, 3.0)),
    ("v-mdav", {"leftovers": "record"}),
    ("mdav-star", {}),
    *(("mhm", {"order": order}) for order in ("sum", "given")),
]


def small_sets(number, seed=0):
    """Yield (X, k) of a few records with many ties, of one to three attributes, whole numbers or tenths."""
    draw = np.random.default_rng(seed)
    for _ in range(number):
        n, d = int(draw.integers(1, 22)), int(draw.integers(1, 4))
        k = int(draw.integers(1, min(n, 6) + 1))
        yield draw.integers(0, int(draw.integers(2, 12)), size=(n, d)) / int(draw.choice([1, 10])), k


@for_each(("key", "params"), VARIANTS)
def test_labels_are_those_of_the_kernel(key, params):
    for X, k in small_sets(500):
        *_, last = explain.steps(key, X, k=k, **params)
        expected = microagg.make(key, k=k, **params).fit(X).labels_
        assert last.labels.tolist() == expected.tolist(), (X.tolist(), k)


@for_each(("key", "params"), VARIANTS)
def test_each_step_is_whole(key, params):
    code = explain.pseudo_code(key)
    for X, k in small_sets(40, seed=1):
        for step in explain.steps(key, X, k=k, **params):
            taken = [record for members in step.groups for record in members]
            assert sorted([*taken, *step.unassigned]) == list(range(len(X)))
            assert all(step.groups)
            assert 0 <= step.line < len(code)
            assert step.title
            assert step.text.endswith((".", "?"))
            if step.kind == "weigh":
                assert any(quantity.chosen for quantity in step.quantities)


def arithmetic(side):
    """Return what one side of an equation gives, exactly; None if there are words in it."""
    if not side or re.search(r"[^\d.e()+−·/² -]", side):
        return None
    spelled = re.sub(r"\d+(?:\.\d+)?(?:e[+-]\d+)?", lambda number: f"Fraction('{number[0]}')", side)
    return eval(spelled.replace("−", "-").replace("·", "*").replace("²", "**2"), {"Fraction": Fraction})


@for_each(("key", "params"), VARIANTS)
def test_both_sides_of_every_equation_are_equal_or_said_to_be_nearly_so(key, params):
    seen = set()
    for X, k in small_sets(60, seed=2):
        for step in explain.steps(key, X, k=k, **params):
            for formula in [each.formula for each in step.quantities]:
                first, *others = re.split(r" ([=≈]) ", formula)
                left = arithmetic(first)
                for sign, side in zip(others[::2], others[1::2], strict=True):
                    right = arithmetic(side)
                    if left is not None and right is not None:
                        seen.add(sign)
                        assert left == right or (sign == "≈" and float(left) == pytest.approx(float(right), 0.05, 0.01))
                    left = right
    assert "=" in seen


def test_mdav_star_lights_up_the_line_whose_condition_holds():
    forms, least, joins = (
        next(place for place, line in enumerate(explain.pseudo_code("mdav-star")) if words in line)
        for words in ("no group yet, or exactly k", "otherwise: G becomes", "if join < new")
    )
    seen = set()
    for X, k in small_sets(200, seed=3):
        for before, step in pairwise(explain.steps("mdav-star", X, k=k)):
            if step.kind == "form":
                must = not before.groups or len(before.unassigned) == k
                assert step.line == (forms if must else least)
                seen.add(step.line)
            elif step.kind == "join" and len(before.unassigned) > k:
                assert step.line == joins
    assert seen == {forms, least}


def test_two_runs_act_in_the_same_round():
    first = list(explain.steps("mdav-star", TOY, k=3))
    second = list(explain.steps("mdav-star", TOY, k=4))
    pairs = explain.lockstep(first, second)
    assert pairs[0] == (0, 0)
    assert pairs[-1] == (len(first) - 1, len(second) - 1)
    assert {one for one, _ in pairs} == set(range(len(first)))
    assert {two for _, two in pairs} == set(range(len(second)))
    assert all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(pairs))
    assert explain.first_difference(first, first, explain.lockstep(first, first)) is None
    place = explain.first_difference(first, second, pairs)
    one, two = pairs[place]
    assert (first[one].kind, second[two].kind) == ("form", "form")
    assert len(first[one].groups) == len(second[two].groups) == 1
