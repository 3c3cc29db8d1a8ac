"""The certified lower bounds: never above the optimum, however little time they get, and better the more they get."""

from fractions import Fraction
from functools import cache
from itertools import combinations
from math import inf

import numpy as np
import pytest

from microagg import DataError, ParameterError, metrics, optimum
from microagg.kernels import running
from microagg.optimum import bounds, nearest_neighbors
from microagg.optimum.certificate import Certificate
from microagg.progress import Cancelled, watched
from tests.cases import for_each
from tests.instances import ROUNDING, partitions, tiny


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile both programs beforehand: it takes longer than the time limits below."""
    bounds.linear_program(np.random.default_rng(0).normal(size=(14, 2)), 5, 300.0)


@pytest.mark.slow
@for_each("seed", range(40))
def test_exact_is_the_least_of_all_partitions(seed):
    X, k = tiny(seed)
    if len(X) > 8:
        X = X[:8]
    least, labels = bounds.exact(X, k)
    assert least == pytest.approx(min(metrics.sse(X, labels) for labels in partitions(len(X), k)), rel=1e-9, abs=1e-12)
    assert least == pytest.approx(metrics.sse(X, labels), rel=1e-9)
    assert np.bincount(labels).min() >= k


def test_exact_at_the_edges():
    X = np.random.default_rng(0).normal(size=(15, 2))
    assert bounds.exact(X, 1)[0] == 0.0
    assert bounds.exact(X, 8) == (pytest.approx(metrics.sst(X)), pytest.approx(np.zeros(15)))
    assert np.bincount(bounds.exact(X, 7)[1]).min() >= 7
    with pytest.raises(DataError, match=r"out of reach for 16 records of 2 attributes"):
        bounds.exact(np.zeros((16, 2)), 3)
    with pytest.raises(DataError, match="fewer than k=4"):
        bounds.exact(np.zeros((3, 2)), 4)


def test_bound_counts_a_record_out_by_index_not_by_distance():
    """Identical records are neighbors at distance 0; the record itself is not one of them."""
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0], [5.0]])
    # With k = 3: nearest two squared distances are 0+0 thrice, 0+1 twice, 16+16 once.
    assert bounds.nearest_neighbor(X, 3).sse == pytest.approx((2 * 1 + 32) / 6)


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(10))
def test_bounds_are_in_order(chunk):
    """The nearest-neighbor bound, then that of the linear program, then the optimum."""
    for seed in range(30 * chunk, 30 * chunk + 30):
        X, k = tiny(seed)
        optimum = bounds.exact(X, k)[0]
        limit = (10.0, 10.0, 0.002, 0.0)[seed // 4 % 4]
        bound = bounds.linear_program(X, k, limit)
        assert bounds.nearest_neighbor(X, k).sse <= bound.sse <= optimum * ROUNDING
        assert bound.information_loss == pytest.approx(100 * bound.sse / metrics.sst(X) if metrics.sst(X) else 0.0)
        assert bound.converged or limit < 1.0


@pytest.mark.parametrize("chunk", range(4))
def test_bound_stopped_by_who_watches(chunk):
    for seed in range(20 * chunk, 20 * chunk + 20):
        X, k = tiny(seed)
        optimum = bounds.exact(X, k)[0]
        seen = []

        def watch(bound, seen=seen, most=seed % 5):
            seen.append(bound.sse)
            return len(seen) <= most

        bound = bounds.linear_program(X, k, 10.0, watch)
        assert bound.sse <= optimum * ROUNDING
        assert seen == sorted(seen)
        assert len(seen) <= seed % 5 + 1


@pytest.mark.parametrize(
    ("X", "k"),
    [
        (np.random.default_rng(5).normal(size=(50, 1)), 3),
        (np.random.default_rng(5).normal(size=(7, 3)), 4),
        (np.random.default_rng(5).normal(size=(7, 3)), 1),
        (np.ones((9, 2)), 3),
        (np.random.default_rng(5).normal(1000, size=(4, 3))[[0, 1, 2, 3, 2, 1, 0, 0, 3, 3]], 2),
    ],
    ids=["one attribute", "one group", "k = 1", "equal records", "each has an equal one"],
)
def test_bound_is_the_optimum_where_that_is_known(X, k):
    bound = bounds.linear_program(X, k, 0.0)
    assert bound.converged
    assert bound.optimal
    assert bound.sse == pytest.approx(bounds.exact(X, k)[0] if X.min() < X.max() else 0.0)


def test_more_time_never_makes_it_worse_and_goes_on_where_it_was():
    X = np.random.default_rng(3).normal(size=(60, 3))
    program = bounds.LinearProgram(X, 3)
    values = [program.bound]
    while not program.bound.converged:
        values.append(program.improve(0.02))
        assert len(values) < 3000
    assert [bound.sse for bound in values] == sorted(bound.sse for bound in values)
    assert [bound.seconds for bound in values] == sorted(bound.seconds for bound in values)
    assert [bound.iterations for bound in values] == sorted(bound.iterations for bound in values)
    assert values[0].sse == bounds.nearest_neighbor(X, 3).sse
    assert values[-1].sse == pytest.approx(bounds.linear_program(X, 3).sse, rel=1e-4)
    assert program.improve(5.0).sse == values[-1].sse


def test_units_do_not_matter():
    X = np.random.default_rng(4).normal(size=(40, 2))
    expected = bounds.linear_program(X, 3).sse
    for factor in (1e-100, 1e-3, 1e100):
        assert bounds.linear_program(X * factor, 3).sse / factor**2 == pytest.approx(expected, rel=1e-4)
    assert bounds.linear_program(X + 1e5, 3).sse == pytest.approx(expected, rel=1e-4)


def test_program_that_is_cancelled_keeps_what_is_proven_and_goes_on():
    X = np.random.default_rng(5).normal(size=(60, 2))
    program = bounds.LinearProgram(X, 3)
    said = []
    with watched(lambda message, share: bool(said.append((message, share)))), pytest.raises(Cancelled):
        program.improve(10.0)
    [(message, share)] = said
    assert message == "raising the lower bound"
    assert 0.0 <= share <= 1.0
    before = program.bound.sse
    assert before >= bounds.nearest_neighbor(X, 3).sse
    assert program.improve(10.0).sse > before


def test_refuses_what_cannot_be():
    with pytest.raises(DataError, match="fewer than k=4"):
        bounds.linear_program(np.zeros((3, 1)), 4)
    with pytest.raises(ParameterError, match="k must be at least 1"):
        bounds.LinearProgram(np.zeros((3, 1)), 0)
    for wrong in (0, -1, 1.5, "2"):
        with pytest.raises(ParameterError, match="threads must be a whole number"):
            bounds.LinearProgram(np.zeros((3, 1)), 3, wrong)
    # A partition of smaller groups would count as one with a lower loss than any bound.
    for labels, match in (([0, 0, 1], "fewer than k=2"), ([0, 0], "labels for 2"), (None, "labels must be")):
        with pytest.raises(DataError, match=match):
            bounds.LinearProgram(np.zeros((3, 1)), 2).offer(np.array(labels))
    with pytest.raises(DataError, match="NaN"):
        bounds.linear_program([[np.nan], [1.0]], 1)
    for seconds in (-1, "10", None, True, np.nan):
        with pytest.raises(ParameterError, match="at least 0, not"):
            bounds.linear_program(np.zeros((3, 1)), 1, seconds)


@pytest.mark.parametrize("k", [5, 7])
def test_programs_take_their_turn(k):
    X = np.random.default_rng(6).normal(size=(14, 2))
    program = bounds.LinearProgram(X, k)
    bound = program.improve(60.0)
    assert bound.converged
    assert program._cliques.iterations > 0
    assert program._sets.iterations > 0
    programs = program._cliques, program._tree
    assert bound.iterations == sum(program.iterations for program in programs)
    assert bound.sse == max(program.sse for program in programs)
    assert bounds.nearest_neighbor(X, k).sse < bound.sse <= bounds.exact(X, k)[0] * ROUNDING
    assert bound.sse > 0.99 * bounds.exact(X, k)[0]


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_nearest_neighbor_bound_is_what_the_formula_says(k):
    X = np.random.default_rng(0).normal(size=(30, 2))
    nearest_first = np.sort(np.square(X[:, np.newaxis] - X).sum(axis=2), axis=1)
    assert bounds.nearest_neighbor(X, k).sse == pytest.approx(nearest_first[:, 1:k].sum() / (2 * k), rel=1e-8)


def test_nearest_neighbor_bound_within_strata():
    # Each record is 1 or 9 from the other of its stratum, but the SST is that of all four around 5.
    X, strata = np.array([0.0, 10.0, 1.0, 9.0])[:, np.newaxis], [np.array([0, 2]), np.array([1, 3])]
    for crossed, least in ((strata, 1.0), ([np.array([0, 3]), np.array([1, 2])], 81.0)):
        one, two = bounds.nearest_neighbor_curve(X, [1, 2], strata=crossed)
        assert one.sse == one.information_loss == 0.0
        assert two.sse == pytest.approx(least)
        assert two.information_loss == pytest.approx(100 * least / (25 + 25 + 16 + 16))
    assert bounds.nearest_neighbor(X, 2, strata=strata).sse == bounds.nearest_neighbor(X, 2).sse
    with pytest.raises(DataError, match="a stratum has only 2 records"):
        bounds.nearest_neighbor(X, 3, strata=strata)


def test_a_cancelled_bound_ends_soon_and_says_how_far_it_is(monkeypatch):
    monkeypatch.setattr(nearest_neighbors, "_RECORDS_AT_A_TIME", 20)
    X, seen = np.random.default_rng(3).normal(size=(500, 2)), []
    strata = [np.arange(0, 60), np.arange(60, 500)]

    def watcher(message, share):
        seen.append(share)
        return len(seen) < 3

    with watched(watcher), pytest.raises(Cancelled):
        bounds.nearest_neighbor(X, 5, strata=strata)
    assert len(seen) == 3
    with watched(lambda _, share: seen.append(share) or True):
        bounds.nearest_neighbor(X, 5, strata=strata)
    assert seen[3:] == sorted(set(seen[3:]))
    assert (len(seen) > 10, seen[-1]) == (True, 1.0)


def test_the_floor_does_not_depend_on_the_number_of_threads(monkeypatch):
    X = np.random.default_rng(4).normal(size=(400, 3))
    found = []
    for number in (1, 2, 5):
        monkeypatch.setattr(running, "THREADS", number)
        monkeypatch.setattr(nearest_neighbors, "_RECORDS_AT_A_TIME", 30 * number)
        found.append(bounds.nearest_neighbor(X, 7).sse)
    assert len(set(found)) == 1


def test_gap():
    assert optimum.gap(12.0, 10.0) == pytest.approx(0.2)
    assert optimum.gap(12.0, bounds.Bound(3, 1.0, 10.0, 0.0)) == pytest.approx(0.2)
    assert optimum.gap(1.0, 0.0) == inf
    assert optimum.gap(0.0, 0.0) == 0.0
    assert optimum.gap(10.0, 10.0 * (1 + 1e-12)) == 0.0


def _least_of_all(X, k):
    """Return the least SSE of all partitions of a few records, as an exact fraction."""
    values = [[Fraction(value) for value in row] for row in X.tolist()]

    def cost(rows):
        parts = zip(*(values[i] for i in rows), strict=True)
        return sum(sum((x - sum(part) / len(part)) ** 2 for x in part) for part in parts)

    @cache
    def least(left):
        if not left:
            return Fraction(0)
        first, *others = left
        found = []
        for size in range(k - 1, min(2 * k - 1, len(left))):
            for further in combinations(others, size):
                rest = tuple(i for i in others if i not in further)
                if not rest or len(rest) >= k:
                    found.append(cost((first, *further)) + least(rest))
        return min(found)

    return least(tuple(range(len(values))))


@for_each("offset", [0.0, 0.7, 1.0, 1e8])
@for_each("scale", [1e-155, 1e-140, 1e-16, 1.0, 1e18])
def test_no_floor_is_above_the_optimum_however_small_or_large_the_differences(scale, offset):
    rng = np.random.default_rng(round(offset) + 1)
    for d, k in ((1, 2), (1, 3), (2, 2), (2, 3)):
        X = offset + np.where(rng.random() < 0.5, rng.integers(0, 6, (7, d)), rng.normal(size=(7, d))) * scale
        least = _least_of_all(X, k)
        certificate = Certificate(X, k).narrow(0.5)
        floors = [bounds.nearest_neighbor(X, k), bounds.linear_program(X, k, 0.5), certificate.bound]
        assert all(Fraction(bound.sse) <= least for bound in floors)
        labels = certificate.labels
        found = sum(_least_of_all(X[labels == group], (labels == group).sum()) for group in range(labels.max() + 1))
        if any(bound.optimal for bound in floors):
            assert found <= least * (1 + Fraction(1, 4_000_000))


def test_no_optimum_is_claimed_of_differences_without_digits():
    """Below 1e-308 numbers have fewer and fewer digits: squares of these are nothing but rounding."""
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 5.0], [7.0, 3.0], [4.0, 4.0], [9.0, 1.0]]) * 1e-160
    assert [bound.sse for bound in (bounds.nearest_neighbor(X, 2), bounds.linear_program(X, 2, 0.5))] == [0.0, 0.0]
    assert not Certificate(X, 2).narrow(0.5).bound.optimal
    # Two far clusters of noise: what is lost is smaller than one rounding of the distance between them.
    noise = np.array([[0.0], [1.0], [3.0], [2.0], [4.0], [6.0], [5.0]]) * 2e-16
    far = np.vstack([1.0 + noise, -1.0 + noise])
    assert not Certificate(far, 2).narrow(0.5).bound.optimal
    assert bounds.known_optimum(far, 2) == 0.0
    # Equal records lose nothing, and that is known.
    assert Certificate(np.repeat(X, 2, axis=0), 2).bound.optimal
