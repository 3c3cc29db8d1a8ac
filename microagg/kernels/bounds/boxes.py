"""Blocks of neighboring records with their bounding boxes, by which most pairs of records are ruled out unseen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.validation import FloatArray

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


@njit(cache=True, nogil=True)
def greatest_of_blocks(values: FloatArray) -> FloatArray:
    """Return the greatest of ``values``, shape (n,), in each block of records."""
    greatest = np.empty((len(values) + BLOCK - 1) // BLOCK)
    for block in range(len(greatest)):
        greatest[block] = values[block * BLOCK : (block + 1) * BLOCK].max()
    return greatest


@njit(cache=True, nogil=True)
def squared_distance(X: FloatArray, i: int, j: int) -> float:
    """Return the squared distance of two records."""
    total = 0.0
    for a in range(X.shape[1]):
        difference = X[i, a] - X[j, a]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def squared_distance_to_box(blocks: Blocks, block: int, i: int) -> float:
    """Return the squared distance of a record to a block's bounding box: no record of the block is nearer."""
    total = 0.0
    for a in range(blocks.X.shape[1]):
        outside = max(max(blocks.low[block, a] - blocks.X[i, a], blocks.X[i, a] - blocks.high[block, a]), 0.0)
        total += outside * outside
    return total
