"""The certified lower bounds: never above the optimum, however little time they get, and better the more they get."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from microagg import DataError, ParameterError, make, metrics
from microagg.metrics import bounds
from microagg.metrics.set_partitioning import Prices, SetPartitioning
from tests.conftest import standardized
from tests.metrics.test_loss import partitions

ROUNDING = 1 + 1e-9


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Compile everything beforehand: it takes longer than the time limits below."""
    bounds.linear_program(np.random.default_rng(0).normal(size=(12, 2)), 3, 300.0)


def tiny(seed):
    """Return a few records and a k: some with ties, some with identical records, some spread over magnitudes."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    n = int(rng.integers(k, 11))
    d = int(rng.integers(1, 5))
    kind = seed % 4
    if kind == 0:
        X = rng.normal(size=(n, d))
    elif kind == 1:
        X = rng.integers(0, 3, size=(n, d)).astype(float)
    elif kind == 2:
        X = rng.normal(size=(max(n // 2, 1), d))[rng.integers(0, max(n // 2, 1), size=n)] + 1e3
    else:
        X = np.exp(4 * rng.normal(size=(n, d)))
    return X, k


def all_groups(n, k):
    """Return the members of every group of k to 2k-1 of n records, filled up with -1."""
    subsets = [[i for i in range(n) if subset >> i & 1] for subset in range(1 << n)]
    return np.array([[*s, *[-1] * (2 * k - 1 - len(s))] for s in subsets if k <= len(s) < 2 * k])


def some_triples(rng, n, count):
    triples = [np.sort(rng.permutation(n)[:3]) for _ in range(count)]
    return np.array(triples, dtype=np.int64).reshape(-1, 3)


# --- the optimum -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_exact_is_the_least_of_all_partitions(seed):
    X, k = tiny(seed)
    if len(X) > 8:
        X = X[:8]
    least, labels = bounds.exact(X, k)
    assert least == pytest.approx(min(metrics.sse(X, labels) for labels in partitions(len(X), k)), abs=1e-12)
    assert least == metrics.sse(X, labels)
    assert np.bincount(labels).min() >= k


@pytest.mark.parametrize("k", [2, 3, 4])
def test_both_routes_to_the_optimum_agree(k):
    x = np.random.default_rng(k).normal(size=(12, 1))
    along, _ = bounds.exact(x, k)
    # A second attribute without any spread turns the same records over to the other route.
    subsets, _ = bounds.exact(np.hstack([x, np.zeros_like(x)]), k)
    assert along == pytest.approx(subsets)


def test_exact_at_the_edges():
    X = np.random.default_rng(0).normal(size=(15, 2))
    assert bounds.exact(X, 1)[0] == 0.0
    assert bounds.exact(X, 8) == (pytest.approx(metrics.sst(X)), pytest.approx(np.zeros(15)))
    assert np.bincount(bounds.exact(X, 7)[1]).min() >= 7
    with pytest.raises(DataError, match=r"out of reach for 16 records of 2 attributes"):
        bounds.exact(np.zeros((16, 2)), 3)
    with pytest.raises(DataError, match="fewer than k=4"):
        bounds.exact(np.zeros((3, 2)), 4)


# --- the linear program ----------------------------------------------------------------------------------------------


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
    ],
    ids=["one attribute", "one group", "k = 1", "equal records"],
)
def test_bound_is_the_optimum_where_that_is_known(X, k):
    bound = bounds.linear_program(X, k, 0.0)
    assert bound.converged
    assert bound.sse == pytest.approx(bounds.exact(X, k)[0] if X.min() < X.max() else 0.0)


def test_triples_close_the_gap_that_fractions_leave():
    """Of two far triangles, k = 2, half of each of the sides is cheaper than two groups of three."""
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
    X = np.vstack([triangle, triangle + 9])
    program = SetPartitioning(X, 2)
    while not program.converged:
        program.advance(inf, lambda: True)
    assert len(program._master.triples)
    assert bounds.exact(X, 2)[0] == pytest.approx(2.0)  # and 1.5 with fractions
    assert program.sse == pytest.approx(2.0, rel=1e-6)


def test_any_prices_give_a_bound():
    """Not those of the solver only: so neither its tolerances nor its state can matter."""
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, k = tiny(seed)
        if len(X) < 2 * k or metrics.sst(X) == 0.0:
            continue
        n = len(X)
        program = SetPartitioning(X, k)
        optimum = bounds.exact(program._blocks.X, k)[0]
        program._effort = int(rng.choice([0, 5, 10**9]))
        program._master.triples = some_triples(rng, n, seed % 7)
        mean = optimum / n
        sigma = rng.exponential(mean, size=len(program._master.triples))
        errand = program._start(Prices(rng.normal(mean, mean, size=n), sigma))
        assert program._search(errand, inf, lambda: True)
        assert program.lower_bound(errand.prices, errand.found) <= optimum * ROUNDING + 1e-12


def test_no_group_is_cheaper_than_what_the_search_returns():
    for seed in range(150):
        rng = np.random.default_rng(seed)
        X, k = tiny(seed)
        n = len(X)
        if n < 2 * k or metrics.sst(X) == 0.0:
            continue
        program = SetPartitioning(X, k)
        X = program._blocks.X
        triples = some_triples(rng, n, seed % 5)
        program._master.triples = triples
        pi = rng.normal(1.5, 1, size=n) * bounds.exact(X, k)[0] / n
        sigma = rng.exponential(pi.std(), size=len(triples))
        costs = []
        for group in all_groups(n, k):
            members = group[group >= 0]
            toll = sigma[np.isin(triples, members).sum(axis=1) >= 2].sum()
            costs.append(metrics.sst(X[members]) - pi[members].sum() + toll)
        errand = program._start(Prices(pi, sigma))
        program._search(errand, inf, lambda: True)
        least = min(*costs, 0.0)
        assert errand.found.least.min() == pytest.approx(least, abs=2e-7 if least > -2e-7 else 1e-9)
        # With hardly any effort it is no more than that.
        program._effort = 0
        hasty = program._start(Prices(pi, sigma))
        program._search(hasty, inf, lambda: True)
        assert (hasty.found.least <= errand.found.least + 1e-9).all()


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


def test_who_watches_may_raise():
    class Enough(Exception):  # noqa: N818 - it is not an error
        pass

    def watch(bound):
        raise Enough

    program = bounds.LinearProgram(np.random.default_rng(3).normal(size=(60, 3)), 3)
    with pytest.raises(Enough):
        program.improve(10.0, watch)
    assert program.improve(10.0).converged


@pytest.mark.parametrize("dataset", ["tarragona", "census"])
def test_no_algorithm_goes_below(dataset):
    X = standardized(dataset)
    bound = bounds.linear_program(X, 3, 2.0)
    assert bound.sse > bounds.nearest_neighbor(X, 3).sse
    for key in ("mdav", "mdav-star"):
        assert metrics.sse(X, make(key, k=3).fit_predict(X)) >= bound.sse


def test_refuses_what_cannot_be():
    with pytest.raises(DataError, match="fewer than k=4"):
        bounds.linear_program(np.zeros((3, 1)), 4)
    with pytest.raises(ParameterError, match="k must be at least 1"):
        bounds.LinearProgram(np.zeros((3, 1)), 0)
    with pytest.raises(DataError, match="NaN"):
        bounds.linear_program([[np.nan], [1.0]], 1)
    for seconds in (-1, "10", None, True, np.nan):
        with pytest.raises(ParameterError, match="at least 0, not"):
            bounds.linear_program(np.zeros((3, 1)), 1, seconds)


# --- the gap ---------------------------------------------------------------------------------------------------------


def test_gap():
    assert metrics.gap(12.0, 10.0) == pytest.approx(0.2)
    assert metrics.gap(12.0, bounds.Bound(3, 1.0, 10.0, 0.0)) == pytest.approx(0.2)
    assert metrics.gap(1.0, 0.0) == inf
    assert metrics.gap(0.0, 0.0) == 0.0
    assert metrics.gap(10.0, 10.0 * (1 + 1e-12)) == 0.0
