"""What a state remembers of its partition, however that is changed, and the undoing of changes."""

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.local_search.descent import descend, settle
from microagg.kernels.local_search.iterated import ruin_and_recreate
from microagg.kernels.local_search.state import begin, centered, clear_queue, make_state, members_of, undo
from microagg.kernels.neighbors.neighbor_lists import find_neighbors
from tests.algorithms.test_oracles import generate
from tests.cases import for_each


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
    assert state.sses.sum() == pytest.approx(metrics.sse(X, labels), rel=1e-9, abs=1e-9)


@pytest.mark.slow
@for_each("k", [1, 2, 3, 6])
@for_each("family", ["gaussian-2d", "grid-3d", "heavy-tailed", "all-equal-floats"])
def test_what_a_state_remembers_is_so(family, k):
    X = generate(family, 200)
    state = state_of(X, make("mdav-star", k=k).fit_predict(X), k)
    assert_consistent(state, k)
    for _ in descend(state, k, 10_000):
        assert_consistent(state, k)
    assert_consistent(state, k)


def test_what_is_undone_is_as_before():
    X = generate("gaussian-5d", 200)
    state = state_of(X, make("mdav-star", k=4).fit_predict(X), 4)
    labels, seed = state.labels.copy(), np.array([3], dtype=np.uint64)
    for _ in range(50):
        begin(state)
        ruin_and_recreate(state, 4, seed)
        settle(state, 4, 30)
        clear_queue(state)
        undo(state)
        assert np.array_equal(state.labels, labels)
    assert_consistent(state, 4)
