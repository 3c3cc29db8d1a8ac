"""Borders repaired: groups near cuts are improved by local search across them.

1. Of each block, the groups near one of its cuts are taken: those whose centroid is, along the attribute that is cut,
   within two standard deviations of the group's records from the cut. There exchanging records with a group beyond the
   cut may pay.
2. These groups, whole, are distributed over other blocks by their centroids. The cuts of these lie elsewhere
   (``beside`` in :meth:`microagg.blocks.Cuts.learn`), so groups from both sides of a cut come together.
3. Local search improves the groups in each of these blocks by themselves.

No group has fewer than k records after it, and the SSE does not rise. Only for numbers, on whose squared distances
local search works.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from microagg.blocks.cuts import Cuts
from microagg.blocks.partition import block_seed
from microagg.kernels.local_search.iterated import improve
from microagg.partition import canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray, check_k, check_labels, check_matrix

#: Groups whose centroid is within so many standard deviations of a cut are near it.
WITHIN = 2.0


def near_cuts(X: FloatArray, labels: IntArray, low: FloatArray, high: FloatArray) -> NDArray[np.bool_]:
    """Return whether each group of one block is near one of its cuts.

    Parameters
    ----------
    X : array, shape (m, d)
        The records of the block.
    labels : array of int, shape (m,)
        Their groups, 0 to g - 1.
    low, high : array, shape (d,) or (m, d)
        The box of the block, or of each record's block, see :meth:`microagg.blocks.Cuts.boxes`.

    Returns
    -------
    array of bool, shape (g,)
    """
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    starts = np.cumsum(sizes) - sizes
    gaps = np.add.reduceat(np.minimum(X - low, high - X)[order], starts, axis=0)
    squares = np.add.reduceat(np.square(X - group_means(X, labels)[labels])[order], starts, axis=0)
    return np.asarray((gaps / sizes[:, np.newaxis] <= WITHIN * np.sqrt(squares / sizes[:, np.newaxis])).any(axis=1))


def repair(
    X: FloatArray, labels: IntArray, k: int, cuts: Cuts, second: Cuts, *, seed: int = 0
) -> tuple[IntArray, float]:
    """Return the labels of a partition improved near the cuts, and the share of the records that took part.

    Parameters
    ----------
    X : array, shape (n, d)
        All records, on the scale on which the cuts were learned.
    labels : array of int, shape (n,)
        A partition whose groups are formed within the blocks of ``cuts``.
    k : int
    cuts, second : Cuts
        Those of the blocks, and others that lie elsewhere.
    seed : int, default 0

    Returns
    -------
    labels : array of int, shape (n,)
        Groups of at least k records, numbered in order of first appearance. Their SSE is not above that of
        ``labels``.
    share : float
        The share of the records that are in groups near cuts.

    Raises
    ------
    DataError
        If there is not one label for each record, or blocks are cut by categories.
    """
    k, labels = check_k(k), canonical_labels(check_labels(labels))
    X = check_matrix(X, len(labels))
    low, high = cuts.boxes()
    blocks = cuts.assign(X)
    taken = near_cuts(X, labels, low[blocks], high[blocks])[labels]
    # Where a record is not near, it is in no block of the second cuts.
    place = np.where(taken, second.assign(group_means(X, labels))[labels], -1)
    result, free = labels.copy(), int(labels.max()) + 1
    for block in np.unique(place[taken]).tolist():
        checkpoint("repairing borders", block / second.n_blocks)
        rows = np.flatnonzero(place == block)
        better = improve(X[rows], labels[rows], k, random_state=block_seed(seed, block))
        result[rows] = free + better
        free += int(better.max()) + 1
    return canonical_labels(result), float(taken.mean())
