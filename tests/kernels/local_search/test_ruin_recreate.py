"""Iterations of ruin and recreate: valid, and what they have gained is what they say."""

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.local_search.ruin_recreate import anneal, make_annealing
from tests.algorithms.test_oracles import generate
from tests.cases import for_each
from tests.kernels.local_search.consistency import assert_consistent, state_of


@pytest.mark.slow
@for_each("k", [1, 2, 3, 6])
@for_each("family", ["gaussian-2d", "grid-3d", "heavy-tailed", "all-equal-floats"])
def test_iterations_know_what_they_have_gained(family, k):
    X = generate(family, 200)
    state = state_of(X, make("local-search", k=k).fit_predict(X), k)
    annealing = make_annealing(state.X, state.labels, k, state.neighbors, np.array([7], dtype=np.uint64))
    before = annealing.state.sses.sum()
    if k > 1:
        anneal(annealing, k, 0, 300, 300, before / 100)
    assert_consistent(annealing.state, k)
    assert before - annealing.gains[0] == pytest.approx(annealing.state.sses.sum())
    assert before - annealing.gains[1] == pytest.approx(metrics.sse(state.X, annealing.best))
    assert annealing.gains[1] >= max(0, annealing.gains[0] - 1e-9)
