"""The optimum of a few records: it loses as little as trying everything finds, and is None rather than a guess."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.errors import DataError
from microagg.explain.optimum import optimum
from microagg.metrics import sse
from microagg.optimum import bounds
from tests import naive

TOY = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]


def test_the_toy_example():
    best = optimum(TOY, 3)
    assert best.labels.tolist() == [0] * 5 + [1] * 3 + [2] * 3
    assert sse(TOY, best.labels) == pytest.approx(21.2)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_none_of_all_partitions_loses_less(d):
    draw = np.random.default_rng(d)
    for k in (1, 2, 3, 4):
        X = draw.integers(0, 6, size=(9, d)).astype(float)  # with ties
        best = optimum(X, k)
        assert best.sizes.min() >= k
        assert sse(X, best.labels) == pytest.approx(naive.least_sse(X, k))


def test_more_records_in_the_plane_are_proven_where_groups_lie_apart():
    corners = np.array([(x, y) for x in (0, 10, 20) for y in (0, 10, 20)], dtype=float)
    X = np.vstack([corners, corners + np.array([1, 0]), corners + np.array([0, 1])])
    best = optimum(X, 3)
    assert best.labels.tolist() == [*range(9)] * 3
    # Each group: two sides of length 1 and one of √2, so (1 + 1 + 2) / 3.
    assert sse(X, best.labels) == pytest.approx(9 * 4 / 3)


def test_what_is_not_proven_is_not_claimed():
    assert optimum(np.random.default_rng(0).normal(size=(40, 2)), 4, seconds=0.0) is None
    assert optimum(np.random.default_rng(0).normal(size=(101, 2)), 3) is None


def test_what_linear_programs_prove_is_the_optimum(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_RECORDS", 0)  # so that few records are proven in the way of many
    draw = np.random.default_rng(0)
    sets = [draw.normal(size=(9, 2)) for _ in range(8)]
    proven = [(X, best) for X in sets if (best := optimum(X, 3)) is not None]
    assert proven
    for X, best in proven:
        assert sse(X, best.labels) == pytest.approx(naive.least_sse(X, 3))


def test_a_single_group_and_groups_of_one_are_known_at_once():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert optimum(X, 21, seconds=0.0).n_groups == 1
    assert optimum(X, 1, seconds=0.0).n_groups == 40


def test_too_many_records_are_refused():
    with pytest.raises(DataError, match="301 records are too many"):
        optimum(np.zeros((301, 1)), 3)
