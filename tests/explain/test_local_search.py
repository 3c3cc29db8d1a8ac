"""Local search step by step: labels as the kernel's, and each step's numbers are those of its groups."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import microagg
from microagg import explain
from microagg.explain.changing import Groups, along_line, best_move
from microagg.explain.mhm import best_cuts
from microagg.metrics import sse
from tests import naive
from tests.cases import for_each
from tests.explain.test_explain import TOY, small_sets


def kernel(X, k, start="mdav-star"):
    return microagg.make("local-search", k=k, start=start).fit(X).labels_.tolist()


# 500 sets with the default start are in test_explain.py.
@for_each(("start", "seed"), [("mdav", 11), ("p-s", 12), ("k-ward", 13), ("mondrian", 14)])
def test_labels_are_those_of_the_kernel_from_other_starts(start, seed):
    for X, k in small_sets(30, seed):
        *_, last = explain.steps("local-search", X, k=k, start=start)
        assert last.labels.tolist() == kernel(X, k, start), (X.tolist(), k)


@pytest.mark.parametrize("ties", [True, False])
def test_labels_are_those_of_the_kernel_where_not_all_groups_are_tried(ties):
    draw = np.random.default_rng(4)
    X = draw.integers(0, 12, size=(140, 2)).astype(float) if ties else draw.normal(size=(140, 2))
    *_, last = explain.steps("local-search", X, k=2, start="p-s")  # room for 70 groups, more than 64
    assert last.labels.tolist() == kernel(X, 2, "p-s")


def test_labels_are_those_of_the_kernel_far_from_the_origin():
    X = 1e9 + np.random.default_rng(3).integers(0, 9, size=(30, 2))
    *_, last = explain.steps("local-search", X, k=3, start="mdav")
    assert last.labels.tolist() == kernel(X, 3, "mdav")
    # Records are told apart there, too.
    one = list(explain.steps("local-search", 1e12 + np.array(TOY, dtype=float), k=3, start="mdav"))[1]
    assert one.text.startswith("1000000000005 goes from {1000000000005, 1000000000006, ")


def test_the_toy_example_from_mdav():
    first, one, two, last = explain.steps("local-search", TOY, k=3, start="mdav")
    assert first.text.endswith("the groups of MDAV; their SSE is 258.8.")
    assert one.text == "5 goes from {5, 6, 19, 20, 21} to {1, 2, 3}; the SSE falls from 258.8 to 159.75."
    # 5 lies 9.2 from the centroid 14.2 of its group, and 3 from the centroid 2 of the other.
    assert one.quantities[-1].formula == "5/4 · 84.64 − 3/4 · 9 = 99.05"
    assert two.text == "6 goes from {6, 19, 20, 21} to {1, 2, 3, 5}; the SSE falls from 159.75 to 21.2."
    assert all(part in last.text for part in ("11 records", "6 cuts", "3 dissolutions", "21.2"))
    assert last.labels.tolist() == [0] * 5 + [1] * 3 + [2] * 3


def test_each_step_tells_the_sse_of_its_groups():
    titles = Counter()
    for start, X, k in (
        ("p-s" if place % 2 else "mdav-star", *each) for place, each in enumerate(small_sets(120, seed=12))
    ):
        steps = list(explain.steps("local-search", X, k=k, start=start))
        sses = [sse(X, step.labels) for step in steps]
        assert steps[0].quantities[0].value == pytest.approx(sses[0])
        assert sses[-1] <= sses[0] * (1 + 1e-12)
        for before, after, step in zip(sses, sses[1:-1], steps[1:-1], strict=False):
            titles[step.title] += 1
            told = {quantity.name: quantity.value for quantity in step.quantities}
            assert told == {
                "SSE before": pytest.approx(before, abs=1e-9),
                "SSE after": pytest.approx(after, abs=1e-9),
                "gain": pytest.approx(before - after, abs=1e-9),
            }
            assert ("falls from" in step.text) == (before - after > 1e-9)
        assert steps[-1].groups == steps[-2].groups
    assert len(titles) == 6  # a move, an exchange, a chain, two kinds of cuts and a dissolution


def test_a_change_of_records_is_where_the_step_points():
    for X, k in small_sets(40, seed=12):
        steps = list(explain.steps("local-search", X, k=k, start="p-s"))
        for before, step in pairwise(steps):
            if step.focus.seed is not None:
                moved = step.focus.seed
                assert moved in step.groups[step.focus.group]
                assert all(partner not in step.groups[step.focus.group] for partner in step.focus.candidates)
                assert step.focus.point == pytest.approx(X[list(step.groups[step.focus.group])].mean(axis=0))
                assert any(moved in members and moved != members for members in before.groups)
            if step.kind == "cut":
                assert sorted(step.focus.order) == list(step.focus.candidates)


@pytest.mark.parametrize(
    ("values", "labels", "k", "x", "expected", "gain"),
    [
        # 10 and 2 change places: each group has 182 / 3 before, and 2 after.
        ([0, 1, 10, 2, 11, 12], [0, 0, 0, 1, 1, 1], 3, 2, (1, 3, 0), 2 * 182 / 3 - 4),
        # 9 goes to {10, 20}, and 20 from there to {21, 22}: 146 / 3 + 50 + 1 / 2 before, 1 / 2 + 1 / 2 + 2 after.
        ([0, 1, 9, 10, 20, 21, 22], [0, 0, 0, 1, 1, 2, 2], 2, 2, (1, 4, 2), 146 / 3 + 50.5 - 3),
        # 9 goes to {10, 11}: 146 / 3 + 1 / 2 before, 1 / 2 + 2 after.
        ([0, 1, 9, 10, 11], [0, 0, 0, 1, 1], 2, 2, (1, None, None), 146 / 3 - 2),
    ],
)
def test_the_best_move_of_a_record(values, labels, k, x, expected, gain):
    move = best_move(Groups(np.array(values, dtype=float)[:, np.newaxis], labels, k), x)
    assert (move.group, move.partner, move.target) == expected
    assert move.gain == pytest.approx(gain)
    # No move where none gains.
    groups = Groups(np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1], 2)
    assert [best_move(groups, x) for x in range(4)] == [None] * 4


def test_what_is_undone_is_as_before():
    X = np.random.default_rng(0).normal(size=(9, 2))
    groups = Groups(X, [0, 0, 0, 1, 1, 1, 2, 2, 2], 3)
    before = list(groups.labels), [list(members) for members in groups.members], list(groups.sses)
    groups.begin()
    groups.regroup([[0, 3, 6], [1, 4, 7, 2, 5, 8]], range(9))
    assert groups.labels == [0, 1, 1, 0, 1, 1, 0, 1, 1]
    assert groups.gain()[0] == pytest.approx(sum(before[2]) - sse(X, groups.labels))
    groups.undo()
    assert groups.labels == before[0]
    assert [set(members) for members in groups.members] == [set(members) for members in before[1]]
    assert groups.sses == pytest.approx(before[2])


def test_a_line_runs_through_the_farthest_records_and_is_cut_where_least_is_lost():
    assert along_line([(2.0, 0.1), (0.0, 0.0), (9.0, 0.0), (4.0, -0.1)]) in ([1, 0, 3, 2], [2, 3, 0, 1])
    assert best_cuts(TOY, 3).path(11) == [11, 8, 5, 0]
    for seed in range(5):
        x = np.sort(np.random.default_rng(seed).normal(size=9))[:, np.newaxis]
        cuts = best_cuts(x.tolist(), 3)
        pieces = pairwise(cuts.path(9))
        found = sum(naive.group_sse(x.tolist(), range(start, stop)) for stop, start in pieces)
        assert found == pytest.approx(naive.least_sse(x, 3))
        assert cuts.best[9] == pytest.approx(found)
