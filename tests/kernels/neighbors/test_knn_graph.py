"""The records nearest to each record."""

import numpy as np

from microagg.kernels.neighbors import lookahead
from microagg.kernels.neighbors.kd_tree import make_tree_pool
from microagg.kernels.neighbors.knn_graph import find_neighbors
from tests.algorithms.test_oracles import generate


def test_neighbors_are_those_of_the_tree(monkeypatch):
    X = generate("gaussian-2d", 300)
    by_passes = find_neighbors(X, 3)
    monkeypatch.setattr(lookahead, "tree_if_faster", lambda X, k, least: make_tree_pool(X))
    assert np.array_equal(by_passes, find_neighbors(X, 3))
