"""The bound from semidefinite programming: never above the optimum, whatever the multiplier is."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from threadpoolctl import threadpool_info

from microagg import make, metrics
from microagg.optimum import bounds
from microagg.optimum.semidefinite import Semidefinite, one_thread
from tests.instances import ROUNDING, instances


def symmetric(rng, n, scale):
    matrix = rng.normal(scale=scale, size=(n, n))
    return matrix + matrix.T


def by_definition(X, k, multiplier):
    """The bound of the module's text, in squared units of X, record by record."""
    n = len(X)
    costs = cdist(X, X, "sqeuclidean") / 2
    total = 0.0
    for i in range(n):
        others = np.sort(np.delete(multiplier[i], i))
        sizes = range(k, min(2 * k - 1, n) + 1)
        total += min((multiplier[i, i] + others[: size - 1].sum()) / size for size in sizes)
    T = costs - multiplier
    P = np.eye(n) - 1 / n
    least = np.linalg.eigvalsh(P @ T @ P)[: n // k - 1]
    return total + T.sum() / n + least[least < 0].sum()


def test_any_multiplier_gives_a_bound():
    found = []
    for seed, X, k in instances(150):
        rng = np.random.default_rng(seed)
        program = Semidefinite(X, k)
        own = program._costs
        multiplier = own * rng.random() + symmetric(rng, len(X), rng.choice([0.0, 0.01, 0.3]))
        value = program._bound(multiplier) * program.unit
        expected = by_definition(program.X, k, multiplier * program.unit)
        size = np.abs(multiplier).sum() * program.unit
        assert value == pytest.approx(expected, rel=1e-6, abs=1e-6 * size)
        optimum = bounds.exact(X, k)[0]
        assert value <= optimum * ROUNDING
        found.append(value > 0.5 * optimum)
    assert any(found)


def test_rounds_raise_the_bound_and_it_ends():
    better = []
    for _, X, k in instances(40):
        optimum = bounds.exact(X, k)[0]
        program = Semidefinite(X, k)
        values = [program.sse]
        while not program.converged:
            assert program.advance(inf, lambda: True)
            values.append(program.sse)
            assert len(values) < 500
        assert values == sorted(values)
        assert values[-1] <= optimum * ROUNDING
        better.append(values[-1] / optimum if optimum else 1.0)
    assert np.mean(better) > 0.9


def test_it_is_above_the_nearest_neighbors_and_the_principal_components():
    """What either half of the cost proves alone."""
    X = np.random.default_rng(5).normal(size=(120, 6))
    program = Semidefinite(X, 12)
    while not program.converged:
        program.advance(inf, lambda: True)
    nearest = bounds.nearest_neighbor(X, 12).sse
    left = np.sort(np.square(np.linalg.svd(X - X.mean(axis=0), compute_uv=False)))[: -(120 // 12 - 1)].sum()
    assert program.sse > 1.1 * max(nearest, left)
    assert program.sse <= metrics.sse(X, make("mdav", 12).fit(X).labels_)


def test_it_can_be_stopped_and_goes_on():
    X = np.random.default_rng(1).normal(size=(60, 4))
    whole, piecewise = Semidefinite(X, 20), Semidefinite(X, 20)
    whole.advance(inf, lambda: True)
    assert not piecewise.advance(-inf, lambda: True)
    assert not piecewise.advance(inf, lambda: False)
    assert piecewise.sse == 0.0
    assert piecewise.advance(inf, lambda: True)
    assert piecewise.sse == whole.sse > 0.0


def test_it_is_part_of_the_bound_where_groups_are_few():
    X = np.random.default_rng(2).normal(size=(150, 3))
    assert Semidefinite.fits(150, 30)
    assert not Semidefinite.fits(150, 3)
    assert not Semidefinite.fits(5000, 1000)
    program = bounds.LinearProgram(X, 30)
    alone = Semidefinite(X, 30)
    alone.advance(inf, lambda: True)
    bound = program.improve(5.0, lambda bound: program._whole is None or program._whole.iterations < 2)
    assert alone.sse <= bound.sse <= metrics.sse(X, make("mdav", 30).fit(X).labels_)
    assert bound.sse > bounds.nearest_neighbor(X, 30).sse


def test_threads_of_linear_algebra_are_restored_in_whatever_order_users_end():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    before = threads()
    first, second = one_thread(), one_thread()
    first.__enter__()
    second.__enter__()
    assert set(threads()) == {1}
    first.__exit__(None, None, None)
    assert set(threads()) == {1}
    second.__exit__(None, None, None)
    assert threads() == before
