"""The state of a partition, and whether what it remembers is so."""

import numpy as np
import pytest

from microagg import metrics
from microagg.kernels.local_search.state import centered, make_state, members_of, total_sse
from microagg.kernels.neighbors.knn_graph import find_neighbors


def state_of(X, labels, k):
    X = centered(np.asarray(X, dtype=float))
    neighbors = find_neighbors(X, k)
    return make_state(X, np.asarray(labels), k, neighbors)


def assert_consistent(state, k):
    """Check all that a state remembers of its partition against the partition itself."""
    labels, X = state.labels, state.X
    assert np.array_equal(np.bincount(labels, minlength=len(state.sizes)), state.sizes)
    for group in range(len(state.sizes)):
        members = np.flatnonzero(labels == group)
        assert np.array_equal(np.sort(members_of(state, group)), members)
        assert len(members) == 0 or len(members) >= k
        if len(members):
            assert np.allclose(state.centers[group], X[members].mean(axis=0), atol=1e-12)
            own = np.square(X[members] - X[members].mean(axis=0)).sum(axis=1)
            assert np.allclose(state.to_center[members], own, atol=1e-12)
            assert state.sses[group] == pytest.approx(own.sum(), rel=1e-9, abs=1e-12)
    assert total_sse(state) == pytest.approx(metrics.sse(X, labels), rel=1e-9, abs=1e-9)
