"""Blocks of neighboring records with their bounding boxes, by which most pairs of records are ruled out unseen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import squared_distance_of_rows
from microagg.validation import FloatArray, IntArray

#: How many records a block has; the last one may have fewer.
BLOCK = 32


class Blocks(NamedTuple):
    """Records in blocks of neighbors; made by :func:`make_blocks`."""

    X: FloatArray  # shape (n, d): the records, in such an order that each BLOCK of them lie close together
    low: FloatArray  # shape (n / BLOCK, d): the least value of each attribute in each block
    high: FloatArray  # shape (n / BLOCK, d): the greatest


def make_blocks(X: FloatArray) -> Blocks:
    """Return ``X``, shape (n, d), in blocks; neighbors must already stand close together in its order of records."""
    starts = np.arange(0, len(X), BLOCK)
    return Blocks(X, np.minimum.reduceat(X, starts), np.maximum.reduceat(X, starts))


@kernel
def greatest_of_blocks(values: FloatArray) -> FloatArray:
    """Return the greatest of ``values``, shape (n,), in each block of records."""
    greatest = np.empty((len(values) + BLOCK - 1) // BLOCK)
    for block in range(len(greatest)):
        greatest[block] = values[block * BLOCK : (block + 1) * BLOCK].max()
    return greatest


@borrows
def squared_distance_to_box(blocks: Blocks, block: int, i: int) -> float:
    """Return the squared distance of a record to a block's bounding box: no record of the block is nearer."""
    total = 0.0
    for a in range(blocks.X.shape[1]):
        outside = max(max(blocks.low[block, a] - blocks.X[i, a], blocks.X[i, a] - blocks.high[block, a]), 0.0)
        total += outside * outside
    return total


# Which records can be in the groups that :mod:`.pricing`, whose notation this is, looks for around a root: a record y
# only if the root's weighted degree can be negative in a group of s with it, that is if w(root, y) and the s - 2 least
# weights of the root with others are together negative, and if a group with y can have a reduced cost below the limit.


class Local(NamedTuple):
    """The m candidates of one root for groups of one size, by local numbers from 0 to m - 1; the root has number m."""

    ids: IntArray  # shape (m + 1,): the records
    D: FloatArray  # shape (m + 1, m + 1): their squared distances
    pi: FloatArray  # shape (m + 1,)
    halves: FloatArray  # shape (m + 1, 2k - 2): see :func:`microagg.kernels.bounds.pricing.price`


@borrows
def insert(least: FloatArray, q: int, value: float) -> None:
    """Insert ``value`` among the q least so far, which are in ascending order."""
    if value >= least[q - 1]:
        return
    at = q - 1
    while at > 0 and least[at - 1] > value:
        least[at] = least[at - 1]
        at -= 1
    least[at] = value


@borrows
def records_around(
    blocks: Blocks, pi: FloatArray, highest: FloatArray, root: int, reduction: float, factor: float, ids: IntArray,
    distances: FloatArray,
) -> int:  # fmt: skip
    """Find the records y with a squared distance from the root below reduction + factor · (pi_root + pi_y).

    With the factor s / (s - 1) these are the records with w(root, y) < reduction / s; that factor is greatest for the
    least s. A negative sum of pi is taken once, as every s / (s - 1) of it is less. ``highest`` is the greatest pi of
    each block; ``ids`` and ``distances``, shape (n,), receive the records, and how many they are is returned.
    """
    X = blocks.X
    n = len(X)
    count = 0
    for block in range(len(blocks.low)):
        duals = pi[root] + highest[block]
        limit = reduction + max(duals, factor * duals)
        if squared_distance_to_box(blocks, block, root) >= limit:
            continue
        for y in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            distance = squared_distance_of_rows(X, root, X, y)
            duals = pi[root] + pi[y]
            if distance < reduction + max(duals, factor * duals) and y != root:
                ids[count] = y
                distances[count] = distance
                count += 1
    return count


@borrows
def greatest_reduction(distances: FloatArray, duals: FloatArray, root_dual: float, s: int, least: FloatArray) -> float:
    """Bound how much the s - 2 least negative weights w of other members lower the weighted degree of a root."""
    if s == 2:
        return 0.0
    least[: s - 2] = 0.0
    for at in range(len(distances)):
        insert(least, s - 2, distances[at] / s - (root_dual + duals[at]) / (s - 1))
    total = 0.0
    for at in range(s - 2):
        total -= least[at]
    return total


@borrows
def least_degree(
    distances: FloatArray, duals: FloatArray, root_dual: float, s: int, least: FloatArray
) -> tuple[float, float]:
    """Least weighted degree of the root in a group of s; if negative, also an upper bound on the w of each member."""
    least[: s - 1] = np.inf
    for at in range(len(distances)):
        insert(least, s - 1, distances[at] / s - (root_dual + duals[at]) / (s - 1))
    others = 0.0
    for at in range(s - 2):
        others += least[at]
    return others + least[s - 2], -others


@borrows
def shortlist(
    near: IntArray, distances: FloatArray, pi: FloatArray, halves: FloatArray, root: int, s: int, below: float,
    limit: float, least: FloatArray, places: IntArray,
) -> tuple[int, float]:  # fmt: skip
    """Find the candidates of a root for groups of s, and a lower bound on the reduced cost of these groups.

    A record of ``near`` is a candidate if its w is less than ``below`` and it can be in a group whose reduced cost is
    less than ``limit``. The second test is the bound of :mod:`.pricing` with the root as the only member so far.
    ``distances`` are the squared distances of ``near`` from the root. The positions of the candidates in ``near`` are
    written to ``places``. The first result is their number, or 0 if they are too few for a group.
    """
    least[: s - 1] = np.inf
    n_near = 0
    for at in range(len(near)):
        y = near[at]
        if distances[at] / s - (pi[root] + pi[y]) / (s - 1) < below:
            places[n_near] = at
            n_near += 1
            insert(least, s - 1, (distances[at] + halves[y, s - 2]) / s - pi[y])
    rest = -pi[root]
    for at in range(s - 2):
        rest += least[at]
    n_candidates = 0
    for t in range(n_near):
        at = places[t]
        y = near[at]
        if rest + max((distances[at] + halves[y, s - 2]) / s - pi[y], least[s - 2]) < limit:
            places[n_candidates] = at
            n_candidates += 1
    return (n_candidates, rest + least[s - 2]) if n_candidates >= s - 1 else (0, 0.0)


@kernel
def localize(X: FloatArray, pi: FloatArray, halves: FloatArray, root: int, candidates: IntArray) -> Local:
    """Return the ``candidates`` and the root by local numbers."""
    m = len(candidates)
    ids = np.empty(m + 1, dtype=np.int64)
    for i in range(m):
        ids[i] = candidates[i]
    ids[m] = root
    D = np.zeros((m + 1, m + 1))
    for x in range(m + 1):
        for y in range(x):
            D[x, y] = squared_distance_of_rows(X, ids[x], X, ids[y])
            D[y, x] = D[x, y]
    return Local(ids, D, pi[ids], halves[ids])
