"""Figures in the lecture of docs/teacher.md are those of the algorithms, and those stored."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import microagg
from microagg import datasets
from microagg.studies import literature
from pages.shared import state
from pages.steps.records import on_a_line, on_a_plane
from tests.conftest import load_benchmark
from tests.naive import least_sse

_TEXT = (Path(__file__).parents[2] / "docs" / "teacher.md").read_text(encoding="utf-8").replace("\\", "")
#: The stops of the lecture, by number.
STOPS = {int(stop.partition(".")[0]): " ".join(stop.split()) for stop in re.split(r"\n### (?=\d)", _TEXT)[1:]}

TOY = state.StepsChoices().line
NEAR = "1, 2, 3, 4, 19, 20, 21, 98, 99, 100"
WITH_SEVEN = "1, 2, 3, 5, 6, 7, 19, 20, 21, 98, 99, 100"
TWO_FIVES = "1, 2, 3, 4, 5, 20, 21, 22, 23, 24"
PLANE = "7 19; 2 20; 7 16; 4 15; 2 16; 20 13; 18 16; 18 12; 19 16; 14 13; 14 15; 14 11; 13 15; 13 14"


def assert_in(number, *figures):
    assert [figure for figure in figures if figure not in STOPS[number]] == []


def sse(X, key, k=3, **params):
    return microagg.metrics.sse(X, microagg.make(key, k=k, **params).fit(X).labels_)


def of_line(text, key, k=3, **params):
    return sse(on_a_line(text).X, key, k, **params)


def ways(n, k=3):
    """Return the number of partitions of n records into groups of at least k, by the group of the last one."""
    return 1 if n == 0 else sum(math.comb(n - 1, size - 1) * ways(n - size, k) for size in range(k, n + 1))


def test_figures_of_the_steps():
    two, three, whole = of_line(TOY, "mdav-star", 2), of_line(TOY, "mdav-star"), of_line(TOY, "mdav-star", 6)
    assert_in(2, f"SSE {two:g}", f"{100 * two / whole:.4f} %", f"{whole:,.0f}", f"{100 * three / whole:.3f} %")
    fixed, variable = of_line(NEAR, "mdav"), of_line(NEAR, "v-mdav", gamma=0.2)
    assert_in(3, f"SSE {fixed:g}. V", f"SSE {variable:g}, {fixed / variable:g} times lower")
    low, high = (of_line(TOY, "v-mdav", gamma=gamma) for gamma in (0.2, 5))
    right, wrong = (of_line(WITH_SEVEN, "v-mdav", gamma=gamma) for gamma in (0.2, 5))
    assert_in(4, f"from {low:.1f} to {high:.1f}", f"SSE {right:.0f}, and γ = 5", f"SSE {wrong:.1f}.")
    assert_in(5, f"The SSE is {three:.1f}; with V-MDAV it was {low:.1f}")
    star, by_v_mdav = of_line(TWO_FIVES, "mdav-star"), of_line(TWO_FIVES, "v-mdav", gamma=0.2)
    best = least_sse(on_a_line(TWO_FIVES).X.tolist(), 3)
    assert_in(7, f"SSE {best:g}, the lowest of all {ways(10):,}", f"SSE {star:.1f}, {star / best:.2f} times")
    assert_in(7, f"V-MDAV has {by_v_mdav:.0f}", f"has an SSE of {three:.1f}, and the optimum is {three:.1f}")
    assert least_sse(on_a_line(TOY).X.tolist(), 3) == pytest.approx(three)
    plane = on_a_plane(PLANE).X
    least, _ = microagg.optimum.bounds.exact(plane, 3)
    assert_in(7, f"{ways(14):,} ways", f"MDAV* has {sse(plane, 'mdav-star'):.1f}, and the optimum is {least:.0f}.")


def test_no_gamma_is_right_with_and_without_a_seven():
    best = [least_sse(on_a_line(text).X.tolist(), 3) for text in (TOY, WITH_SEVEN)]
    # From 77² on, 21 joins {98, 99, 100}.
    for gamma in (0, 0.2, 1, 2, 3.9, 4, 4.1, 5, 20, 200, 5929, 5930, 1e8):
        losses = [of_line(text, "v-mdav", gamma=gamma) for text in (TOY, WITH_SEVEN)]
        right = [loss == pytest.approx(least) for loss, least in zip(losses, best, strict=True)]
        assert right == [4 < gamma <= 77**2, gamma <= 4]


def test_the_printed_table_is_below_what_is_possible():
    load_benchmark("tarragona")
    where = ("kabir-2010", "Table I: Tarragona", 3)
    table = [figure for figure in literature.figures() if (figure.paper, figure.table, figure.k) == where]
    p_s = next(figure.value for figure in table if figure.method == "P-S")
    other, method = min((figure.value, figure.method) for figure in table if figure.method != "P-S")
    assert_in(6, f"P-S has a loss of {p_s:.4g} %", f"{len(table) - 1} others, {method}, has {other:.4g} %")
    assert_in(6, f"{other / p_s:.3g} times")
    read = literature.readings("tarragona", 3)
    # A bound is rounded down: it is 9.8551 %.
    assert_in(6, f"below {math.floor(100 * read.floor) / 100} %", f"P-S gives {read.raw:.4g} %")
    assert_in(6, f"it gives {read.scaled:.4g} %, and MDAV {read.mdav:.4g} %")


def test_fewer_records_are_linked_at_a_larger_k():
    # A record whose nearest released record is that of its own group of s is linked with probability 1/s.
    X = microagg.standardize(datasets.load("wine").X)
    for k, words in ((3, "{:.1f} % of the records are linked"), (10, "{:.2f} % are linked")):
        labels = microagg.make("mdav-star", k=k).fit(X).labels_
        centers = np.array([X[labels == group].mean(axis=0) for group in range(labels.max() + 1)])
        nearest = ((X[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
        share = np.mean((nearest == labels) / np.bincount(labels)[labels])
        assert_in(8, words.format(100 * share), f"loss of {microagg.metrics.information_loss(X, labels):.1f} %")
