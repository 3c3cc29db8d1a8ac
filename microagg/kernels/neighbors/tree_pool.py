"""The unassigned records in a k-d tree, with their centroid: what :mod:`.pool` is to small data, for large."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import add_exactly
from microagg.kernels.neighbors.kd_tree import Tree, make_tree
from microagg.validation import FloatArray, IntArray

# Positions of Index.counts.
ALIVE = 0


class Index(NamedTuple):
    """Unassigned records; made by :func:`make_index`.

    Attributes
    ----------
    X : array of float, shape (n, d)
        All records.
    tree : Tree
        Those still unassigned.
    totals : array of float, shape (2, d)
        As :attr:`microagg.kernels.neighbors.brute_force.Pool.totals`.
    counts : array of int, shape (1,)
        How many are unassigned.
    """

    X: FloatArray
    tree: Tree
    totals: FloatArray
    counts: IntArray


def make_index(X: FloatArray, threads: int) -> Index:
    """Return an index of all records of ``X``, shape (n, d)."""
    totals = _totals(X)
    center = (totals[0] + totals[1]) / len(X)
    tree = make_tree(np.ascontiguousarray(X.T), center, threads)
    return Index(X, tree, totals, np.array([len(X)]))


@njit(cache=True, nogil=True)
def _totals(X: FloatArray) -> FloatArray:
    totals = np.zeros((2, X.shape[1]))
    for i in range(len(X)):
        for j in range(X.shape[1]):
            add_exactly(totals, j, X[i, j])
    return totals


def index_of_rest(index: Index, left: IntArray, threads: int) -> Index:
    """Return an index of the records that are left, ``left``, ascending; they are numbered anew in this order.

    Its tree is smaller and its leaves are full again, so searches look at less.
    """
    rest = make_index(index.X[left], threads)
    # Bitwise, sums depend on what was in them before.
    rest.totals[:] = index.totals
    return rest


def from_the_outside(index: Index) -> IntArray:
    """Return all records, the farthest from the centroid of all data first, ties by record index."""
    return np.argsort(-index.tree.norms, kind="stable")


@njit(cache=True, nogil=True)
def next_of(index: Index, order: IntArray, start: int, count: int) -> tuple[IntArray, int]:
    """Return the next ``count`` unassigned records of ``order`` from position ``start``, and where they end."""
    found = np.empty(count, dtype=np.int64)
    filled = 0
    while filled < count and start < len(order):
        if index.tree.slots[order[start]] >= 0:
            found[filled] = order[start]
            filled += 1
        start += 1
    return found[:filled], start
