"""The records nearest to each record."""

import numpy as np

from microagg.kernels.neighbors import crossover
from microagg.kernels.neighbors.knn_graph import find_neighbors
from tests.algorithms.test_oracles import generate


def test_neighbors_are_those_of_the_tree(monkeypatch):
    X = generate("gaussian-2d", 300)
    by_passes = find_neighbors(X, 3)
    monkeypatch.setattr(crossover, "prefers_tree", lambda n, d: True)
    assert np.array_equal(by_passes, find_neighbors(X, 3))
