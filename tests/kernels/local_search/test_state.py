"""What a state remembers of its partition, however that is changed, and the undoing of changes."""

import numpy as np
import pytest

from microagg import make
from microagg.kernels.local_search.descent import descend, settle
from microagg.kernels.local_search.iterated import ruin_and_recreate
from microagg.kernels.local_search.state import begin, clear_queue, undo
from tests.algorithms.test_oracles import generate
from tests.cases import for_each
from tests.kernels.local_search.consistency import assert_consistent, state_of


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
