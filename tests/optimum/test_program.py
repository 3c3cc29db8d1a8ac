"""No floor is above the optimum and no optimum is claimed wrongly, whatever prices are handed on within a program."""

from math import inf

import numpy as np
import pytest

from microagg.optimum import bounds, clique_partitioning
from microagg.optimum.branching import Branching, Enumerated
from microagg.optimum.certificate import is_closed
from microagg.optimum.clique_partitioning import CliquePartitioning
from microagg.optimum.master_problem import Master
from microagg.optimum.set_partitioning import SetPartitioning
from tests import naive
from tests.instances import ROUNDING, converged, instances


def one(value):
    return lambda prices: np.concatenate([prices[:-1], [value]])


#: What becomes of prices on their way.
BAD = {
    "one is no number": one(np.nan),
    "none is a number": lambda prices: np.full_like(prices, np.nan),
    "one without end": one(inf),
    "all below any number": lambda prices: np.full_like(prices, -inf),
    "beyond what can be added up": lambda prices: np.full_like(prices, 1e308),
    "far too high": lambda prices: prices + 1e6,
    "far too low": lambda prices: prices - 1e6,
    "a tenth more": lambda prices: prices * 1.1,
    "a tenth less": lambda prices: prices * 0.9,
    "opposites": lambda prices: -prices,
    "zeros": lambda prices: np.zeros_like(prices),
    "one too many": lambda prices: np.append(prices, 1e3),
    "one too few": lambda prices: prices[:-1],
    "a column": lambda prices: prices[:, np.newaxis],
}
SOME = [(X, k, naive.least_sse(X, k)) for _, X, k in instances(60, start=1000) if len(X) <= 9][:12]


@pytest.fixture(params=BAD)
def bad(request):
    return BAD[request.param]


def some_steps(program, optimum, most=40):
    """Advance, and return the floors on the way, none of them above the optimum."""
    floors = []
    for _ in range(most):
        if program.converged:
            break
        program.advance(inf, lambda: True)
        floors.append(program.sse)
        assert floors[-1] <= optimum * ROUNDING
    return floors


def test_prices_from_the_solver(bad, monkeypatch):
    solve = Master.solve

    def changed(master, *arguments):
        solved = solve(master, *arguments)
        master.prices = master.prices._replace(pi=bad(master.prices.pi))
        return solved

    monkeypatch.setattr(Master, "solve", changed)
    for X, k, optimum in SOME:
        some_steps(SetPartitioning(X, k), optimum)


def take_in(program, prices):
    with np.errstate(invalid="ignore"):
        search = program._start(prices)
    assert program._search(search, inf, lambda: True)
    program._update(search)


@pytest.mark.parametrize("sigma", [-1.0, np.nan, inf])
def test_prices_of_cuts(sigma):
    """With a negative one the value would rise without end."""
    cuts = 0
    for X, k, optimum in SOME:
        program = converged(X, k)
        master, before = program.master, program.sse
        cuts += len(master.cuts)
        take_in(program, master.prices._replace(sigma=np.full(len(master.prices.cuts), sigma)))
        assert before <= program.sse <= optimum * ROUNDING
    assert cuts


@pytest.mark.parametrize("gap", [np.nan, inf])
def test_no_list_up_to_a_limit_that_is_none(gap):
    X, k, _ = SOME[0]
    assert SetPartitioning(X, k).groups_below(gap, 1000, inf, lambda: True) == (True, None)


def test_prices_of_a_list_of_groups(bad, monkeypatch):
    monkeypatch.setattr(Master, "add_cuts", lambda *_: 0)
    solved = Enumerated._prices
    asked = []

    def changed(listed):
        prices = solved(listed)
        asked.append(bad(prices.pi))
        return prices._replace(pi=asked[-1])

    monkeypatch.setattr(Enumerated, "_prices", changed)
    for X, k, optimum in SOME:
        tree = Branching(converged(X, k))
        tree.offer(np.random.default_rng(0).permutation(np.arange(len(X)) * (len(X) // k) // len(X)))
        some_steps(tree, optimum, 100)
    assert asked


def test_prices_of_pairs_of_records(bad, monkeypatch):
    solve = CliquePartitioning._solve

    def changed(program):
        yield from solve(program)
        program._duals = bad(program._duals)

    monkeypatch.setattr(CliquePartitioning, "_solve", changed)
    # With few pairs in the program, what the others take off its bound depends on the prices, too.
    monkeypatch.setattr(clique_partitioning, "NEIGHBORS_PER_K", 1)
    for X, k, optimum in SOME:
        some_steps(CliquePartitioning(X, k), optimum, 8)


def test_prices_of_inequalities_are_not_positive(monkeypatch):
    X, k, optimum = SOME[0]
    program = CliquePartitioning(X, k)
    program.advance(inf, lambda: True)
    before = program.sse
    for _ in program._assemble():
        pass
    program._duals = program._y + np.append(np.zeros(len(program._y) - 1), 1.0)
    monkeypatch.setattr(program, "_evaluate", lambda *_: 1e3 * optimum)
    for _ in program._price():
        pass
    assert program.sse == before


def test_a_floor_above_a_partition_is_none(monkeypatch):
    X, k, optimum = SOME[0]
    program = bounds.LinearProgram(X, k)
    assert program.improve(60).optimal
    before = bounds.nearest_neighbor(X, k).sse
    monkeypatch.setattr(Branching, "sse", 1.5 * optimum)
    assert program.bound.sse == before
    assert not program.bound.optimal
    assert is_closed(1.0, 1.0)
    assert not is_closed(1.0, 1.1)
