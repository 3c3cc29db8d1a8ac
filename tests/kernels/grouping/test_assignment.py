"""The assignment of records to centroids: against all assignments, a dense program, and an exact method of its own."""

import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from microagg.kernels.grouping import assignment
from microagg.kernels.grouping.assignment import assign
from microagg.progress import Cancelled, watched
from tests import naive
from tests.cases import for_each
from tests.conftest import ROOT


def weights(X, centers, squared):
    distances = np.square(X[:, np.newaxis] - centers).sum(axis=2)
    return distances if squared else np.sqrt(distances)


def weight(W, labels):
    return W[np.arange(len(W)), labels].sum()


def within(labels, m, low, high):
    sizes = np.bincount(labels, minlength=m)
    return sizes.min() >= low and sizes.max() <= high


def case(seed, n, m, low, high, *, whole):
    """Return records, centroids and an assignment within the bounds."""
    rng = np.random.default_rng([seed, n, m])
    X = rng.integers(0, 4, (n, 2)).astype(float) if whole else rng.lognormal(size=(n, 3))
    centers = X[rng.choice(n, m, replace=False)] if whole else rng.lognormal(size=(m, 3))
    labels = np.repeat(np.arange(m), low)
    while len(labels) < n:
        group = rng.integers(m)
        if np.count_nonzero(labels == group) < high:
            labels = np.append(labels, group)
    return X, centers, rng.permutation(labels)


@pytest.mark.slow
@for_each("squared", [True, False])
@for_each("whole", [True, False])
@for_each(("n", "m", "low", "high"), [(6, 3, 2, 3), (7, 3, 2, 3), (8, 2, 3, 5), (7, 3, 1, 7), (6, 2, 3, 6)])
def test_no_assignment_weighs_less_and_among_equals_none_has_lower_numbers(n, m, low, high, whole, squared):
    for seed in range(12):
        X, centers, labels = case(seed, n, m, low, high, whole=whole)
        W = weights(X, centers, squared)
        every = [np.array(one) for one in product(range(m), repeat=n) if within(np.array(one), m, low, high)]
        least = min(weight(W, one) for one in every)
        # product() yields the assignments with the lowest numbers first.
        expected = next(one for one in every if weight(W, one) <= least + 1e-12)
        got = assign(X, centers, labels, low, high, squared=squared)
        if weight(W, labels) == 0:
            assert np.array_equal(got, labels)
        else:
            assert np.array_equal(got, expected)


@pytest.mark.slow
@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("bounded", [True, False])
def test_few_edges_give_what_all_edges_give(bounded, squared, monkeypatch):
    # So few that the solver must be given more: records far out need centroids that are not among their nearest.
    monkeypatch.setattr(assignment, "CENTROIDS_PER_RECORD", 1)
    monkeypatch.setattr(assignment, "RECORDS_PER_PLACE", 1)
    n, m, k = 90, 25, 3
    high = 2 * k - 1 if bounded else n
    for seed in range(5):
        X, centers, labels = case(seed, n, m, k, high, whole=False)
        W = weights(X, centers, squared)
        per_group = np.tile(np.eye(m), n)
        dense = linprog(
            W.ravel(),
            A_ub=np.vstack([-per_group, per_group]),
            b_ub=np.repeat([-k, high], m),
            A_eq=np.repeat(np.eye(n), m, axis=1),
            b_eq=np.ones(n),
        )
        got = assign(X, centers, labels, k, high, squared=squared)
        assert within(got, m, k, high)
        assert weight(W, got) == pytest.approx(dense.fun, rel=1e-9)
        assert got.tolist() == naive.least_assignment(W.tolist(), labels.tolist(), k, high)


def test_ties_do_not_depend_on_the_edges_or_the_assignment_before(monkeypatch):
    n, m, k = 40, 10, 3
    for seed in range(5):
        X, centers, labels = case(seed, n, m, k, 2 * k - 1, whole=True)
        expected = assign(X, centers, labels, k, 2 * k - 1, squared=True)
        # Another assignment within the bounds; what is zero is measured by it, but whole numbers leave no doubt.
        assert np.array_equal(assign(X, centers, labels[::-1].copy(), k, 2 * k - 1, squared=True), expected)
        with monkeypatch.context() as patch:
            patch.setattr(assignment, "CENTROIDS_PER_RECORD", 1)
            patch.setattr(assignment, "RECORDS_PER_PLACE", 1)
            assert np.array_equal(assign(X, centers, labels, k, 2 * k - 1, squared=True), expected)


def test_what_the_solver_does_not_solve_is_an_error():
    X, centers, labels = case(0, 12, 3, 2, 5, whole=False)
    with pytest.raises(RuntimeError, match="HiGHS has not solved the assignment: Infeasible"):
        assign(X, centers, labels, 5, 6, squared=True)


def test_the_solver_is_stopped_where_the_run_is_cancelled_and_no_checkpoint_follows(monkeypatch):
    X, centers, labels = case(0, 400, 100, 3, 5, whole=False)
    # Every step of the solver is a checkpoint, and there are many of them.
    monkeypatch.setattr(assignment, "_STEPS_AT_A_TIME", 1)
    seen = []
    with watched(lambda *where: seen.append(where) or True):
        assign(X, centers, labels, 3, 5, squared=True)
    assert len(seen) > 200
    for patience in (0, 1, 2, 100):
        calls = []
        with pytest.raises(Cancelled), watched(lambda *where, c=calls, p=patience: c.append(where) or len(c) <= p):
            assign(X, centers, labels, 3, 5, squared=True)
        assert len(calls) == patience + 1


@pytest.mark.parametrize("high", [5, 120])
def test_pieces_give_what_one_pass_gives(high, monkeypatch):
    X, centers, labels = case(1, 120, 30, 3, 5, whole=True)
    expected = assign(X, centers, labels, 3, high, squared=True)
    monkeypatch.setattr(assignment, "_WEIGHTS_AT_A_TIME", 7 * 30)
    monkeypatch.setattr(assignment, "_EDGES_AT_A_TIME", 1)
    seen = []
    with watched(lambda *where: seen.append(where) or True):
        assert np.array_equal(assign(X, centers, labels, 3, high, squared=True), expected)
    # Reduced costs, and record by record.
    assert len(seen) >= 18 + 120


def test_the_solver_prints_nothing():
    # It would speak only once in a process, as soon as it is made.
    code = "from microagg.kernels.running import new_solver; s = new_solver(); s.addVar(0, 1); s.run()"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
