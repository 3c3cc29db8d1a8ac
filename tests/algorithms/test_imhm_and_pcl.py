"""The algorithms that assign records to centroids: IMHM, RIMHM and PCL."""

import numpy as np
import pytest

from microagg import make, metrics
from tests import naive
from tests.cases import for_each
from tests.kernels.grouping.test_assignment import weights


@pytest.fixture
def X():
    return np.random.default_rng(1).lognormal(size=(150, 3))


@pytest.mark.slow
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


@pytest.mark.slow
@for_each("params", [{}, {"blocks": 4}, {"weights": "squared"}, {"rounds": 1}])
def test_imhm_is_never_worse_than_mdav(params):
    for seed in range(20):
        X = np.random.default_rng(seed).lognormal(sigma=2, size=(70, 2))
        for k in (2, 5):
            start = metrics.sse(X, make("mdav", k=k).fit_predict(X))
            estimator = make("imhm", k=k, **params).fit(X)
            assert estimator.history_[0][2] == pytest.approx(start)
            assert metrics.sse(X, estimator.labels_) <= start + 1e-9 * metrics.sst(X)
            assert estimator.history_[-1][2] == pytest.approx(metrics.sse(X, estimator.labels_))


@pytest.mark.slow
@for_each("key", ["imhm", "rimhm", "pcl"])
@for_each("family", ["gaussian", "grid"])
def test_parameters_agree_with_the_oracles(key, family):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(47, 2)) if family == "gaussian" else rng.integers(0, 5, (47, 2)).astype(float)
    variants = [{}] if key == "pcl" else [{"blocks": 3}, {"weights": "squared"}, {"rounds": 1, "blocks": 50}]
    if key == "rimhm":
        variants += [{"shuffle": 0.0}, {"shuffle": 0.5, "random_state": 7}, {"shuffle": 1.0, "weights": "squared"}]
    for params in variants:
        for k in (2, 3, 5):
            assert make(key, k=k, **params).fit_predict(X).tolist() == naive.ORACLES[key](X, k, **params)


def test_pcl_leaves_every_record_where_distance_and_cost_of_the_cell_are_least(X):
    """The exact sizes are those of cells with costs: no exchange of records along any cycle lowers the sum."""
    k = 4
    labels = make("pcl", k=k).fit_predict(X).tolist()
    centers = [naive.relative_centroid(X.tolist(), members) for members in naive.members_of(labels)]
    W = weights(X, np.array(centers), squared=True).tolist()
    again = naive.least_assignment(W, labels, k, len(X))
    assert naive.canonical(again) == labels
