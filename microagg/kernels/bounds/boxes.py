"""Blocks of neighboring records with their bounding boxes, by which most records are passed over."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.validation import FloatArray

#: Records are looked through in blocks of this many, which are passed over by their bounding boxes.
BLOCK = 32


class Blocks(NamedTuple):
    """Records in blocks of neighbors; made by :func:`make_blocks`.

    Attributes
    ----------
    X : array of float, shape (n, d)
        The records, in such an order that each BLOCK of them lie close together.
    low, high : arrays of float, shape (n / BLOCK, d)
        The bounding boxes.
    """

    X: FloatArray
    low: FloatArray
    high: FloatArray


def make_blocks(X: FloatArray) -> Blocks:
    """Return ``X``, shape (n, d), in blocks; its records must already be in an order of neighborhood."""
    starts = np.arange(0, len(X), BLOCK)
    return Blocks(X, np.minimum.reduceat(X, starts), np.maximum.reduceat(X, starts))
