"""The unassigned records in a k-d tree, with their sums: what :mod:`.brute_force` is to few records, for many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels import threads
from microagg.kernels.neighbors.brute_force import add_exactly
from microagg.kernels.neighbors.kd_tree import Tree, make_tree
from microagg.validation import FloatArray, IntArray


class TreePool(NamedTuple):
    """Unassigned records; made by :func:`make_tree_pool`."""

    X: FloatArray  # shape (n, d): all records
    tree: Tree  # those still unassigned
    totals: FloatArray  # shape (2, d): as :attr:`microagg.kernels.neighbors.brute_force.Pool.totals`


def make_tree_pool(X: FloatArray) -> TreePool:
    """Return a pool of all records of ``X``, shape (n, d)."""
    totals = _totals(X)
    center = (totals[0] + totals[1]) / len(X)
    return TreePool(X, make_tree(np.ascontiguousarray(X.T), center, threads.THREADS), totals)


@njit(cache=True, nogil=True)
def _totals(X: FloatArray) -> FloatArray:
    totals = np.zeros((2, X.shape[1]))
    for i in range(len(X)):
        for j in range(X.shape[1]):
            add_exactly(totals, j, X[i, j])
    return totals


def pool_of_rest(pool: TreePool, left: IntArray) -> TreePool:
    """Return a pool of the unassigned records ``left``, ascending; they are numbered anew in this order.

    Its tree is smaller and its leaves are full again, so queries visit less of it.
    """
    rest = make_tree_pool(pool.X[left])
    # The sums of the rest alone might differ in the last bit from those that the removals have left.
    rest.totals[:] = pool.totals
    return rest


@njit(cache=True, nogil=True)
def number_left(pool: TreePool) -> int:
    """Return how many records are unassigned."""
    return pool.tree.left[1]


@njit(cache=True, nogil=True)
def centroid(pool: TreePool) -> FloatArray:
    """Return the centroid of the unassigned records, shape (d,): their sums, correctly rounded, over their number."""
    return (pool.totals[0] + pool.totals[1]) / number_left(pool)


def farthest_from_mean_first(pool: TreePool) -> IntArray:
    """Return all records, the farthest from the centroid of all data first, ties by record index."""
    return np.argsort(-pool.tree.norms, kind="stable")


@njit(cache=True, nogil=True)
def next_unassigned(pool: TreePool, order: IntArray, start: int, count: int) -> tuple[IntArray, int]:
    """Return the next ``count`` unassigned records of ``order`` from position ``start``, and where they end."""
    found = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count and start < len(order):
        if pool.tree.slots[order[start]] >= 0:
            found[filled] = order[start]
            filled += 1
        start += 1
    return found[:filled], start
