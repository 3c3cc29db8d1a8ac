"""The assignment of records to centroids: against all assignments, a dense program, and an exact method of its own."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

from microagg import make, metrics
from microagg.algorithms import imhm
from microagg.kernels.grouping import assignment as transport
from microagg.kernels.grouping.assignment import assign
from microagg.progress import Cancelled, watched
from tests import naive


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


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("n", "m", "low", "high"), [(6, 3, 2, 3), (7, 3, 2, 3), (8, 2, 3, 5), (7, 3, 1, 7), (6, 2, 3, 6)]
)
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


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("bounded", [True, False])
def test_few_edges_give_what_all_edges_give(bounded, squared, monkeypatch):
    # So few that the solver must be given more: records far out need centroids that are not among their nearest.
    monkeypatch.setattr(transport, "CENTROIDS_PER_RECORD", 1)
    monkeypatch.setattr(transport, "RECORDS_PER_PLACE", 1)
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
            patch.setattr(transport, "CENTROIDS_PER_RECORD", 1)
            patch.setattr(transport, "RECORDS_PER_PLACE", 1)
            assert np.array_equal(assign(X, centers, labels, k, 2 * k - 1, squared=True), expected)


def test_what_the_solver_does_not_solve_is_an_error(monkeypatch):
    class Failed:
        status = 4
        message = "numerical difficulties"

    monkeypatch.setattr(transport, "linprog", lambda *_, **__: Failed())
    X, centers, labels = case(0, 12, 3, 2, 5, whole=False)
    with pytest.raises(RuntimeError, match="numerical difficulties"):
        assign(X, centers, labels, 2, 5, squared=True)


# ---- The algorithms that assign --------------------------------------------------------------------------------------


@pytest.fixture
def X():
    return np.random.default_rng(1).lognormal(size=(150, 3))


@pytest.mark.parametrize("blocks", [1, 3, 1000])
@pytest.mark.parametrize("key", ["imhm", "rimhm"])
def test_history_ends_with_the_result_and_squares_never_rise(key, blocks, X):
    for k in (2, 4):
        estimator = make(key, k=k, blocks=blocks, weights="squared").fit(X)
        steps, kinds, losses = zip(*estimator.history_, strict=True)
        assert steps == tuple(range(len(steps)))
        assert kinds[0] == "start"
        assert set(kinds[1:]) <= {"assignment", "path"}
        assert np.all(np.diff(losses) <= 1e-9 * metrics.sst(X))
        assert losses[-1] == pytest.approx(metrics.sse(X, estimator.labels_))
        assert estimator.partition_.sizes.max() <= 2 * k - 1


@pytest.mark.parametrize("params", [{}, {"blocks": 4}, {"weights": "squared"}, {"rounds": 1}])
def test_imhm_is_never_worse_than_mdav(params):
    for seed in range(20):
        X = np.random.default_rng(seed).lognormal(sigma=2, size=(70, 2))
        for k in (2, 5):
            start = metrics.sse(X, make("mdav", k=k).fit_predict(X))
            estimator = make("imhm", k=k, **params).fit(X)
            assert estimator.history_[0][2] == pytest.approx(start)
            assert metrics.sse(X, estimator.labels_) <= start + 1e-9 * metrics.sst(X)
            assert estimator.history_[-1][2] == pytest.approx(metrics.sse(X, estimator.labels_))


@pytest.mark.parametrize("key", ["imhm", "rimhm", "pcl"])
@pytest.mark.parametrize("family", ["gaussian", "grid"])
def test_parameters_agree_with_the_oracles(key, family):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(47, 2)) if family == "gaussian" else rng.integers(0, 5, (47, 2)).astype(float)
    variants = [{}] if key == "pcl" else [{"blocks": 3}, {"weights": "squared"}, {"rounds": 1, "blocks": 50}]
    if key == "rimhm":
        variants += [{"shuffle": 0.0}, {"shuffle": 0.5, "random_state": 7}, {"shuffle": 1.0, "weights": "squared"}]
    for params in variants:
        for k in (2, 3, 5):
            assert make(key, k=k, **params).fit_predict(X).tolist() == naive.ORACLES[key](X, k, **params)


def test_rimhm_starts_from_the_seed(X):
    paths = [imhm.shuffled_path(X, 0.1, seed) for seed in (0, 0, 1)]
    assert np.array_equal(paths[0], paths[1])
    assert not np.array_equal(paths[0], paths[2])
    plain = imhm.shuffled_path(X, 0.0, 0)
    for first in range(0, 150, 15):
        assert set(paths[0][first : first + 15]) == set(plain[first : first + 15])


def test_pcl_leaves_every_record_where_distance_and_cost_of_the_cell_are_least(X):
    """The exact sizes are those of cells with costs: no exchange of records along any cycle lowers the sum."""
    k = 4
    labels = make("pcl", k=k).fit_predict(X).tolist()
    centers = [naive.relative_centroid(X.tolist(), members) for members in naive.members_of(labels)]
    W = weights(X, np.array(centers), squared=True).tolist()
    again = naive.least_assignment(W, labels, k, len(X))
    assert naive.canonical(again) == labels


@pytest.mark.parametrize("key", ["imhm", "rimhm", "pcl"])
def test_a_run_tells_where_it_is_and_can_be_cancelled(key, X):
    told = []

    def watch(message, share):
        told.append((message, share))
        return len(told) < 2

    with pytest.raises(Cancelled), watched(watch):
        make(key, k=3).fit(X)
    assert len(told) == 2
