"""Base classes of the programs: scaled records, the best bound so far, and the check of each bound.

A bound holds for all values of the numbers it is computed from, its multipliers: neither the solver nor an early stop
can make it wrong. For rounding, it is lowered by :data:`ALLOWANCE` of the sum of the sizes of its terms. Records are
distinguished by index, so identical ones do no harm.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from microagg.kernels.bounds.boxes import make_blocks
from microagg.validation import FloatArray, IntArray

#: Allowance for rounding, as a share of the sum of the sizes of the terms of a bound. Actual rounding is far smaller:
#: some 1e-16 times the number of terms.
ALLOWANCE = 1e-9
#: Number of threads that leaves one core free.
ALL_BUT_ONE = max(1, (os.cpu_count() or 1) - 1)
#: Multipliers beyond this cannot be added up; they are about 1.
_MAX_SIZE = 1e100


def usable(multipliers: FloatArray, n: int, low: float = -_MAX_SIZE, high: float = _MAX_SIZE) -> bool:
    """Whether there are ``n`` multipliers, all within their range. Others prove nothing."""
    return multipliers.shape == (n,) and bool(((multipliers >= low) & (multipliers <= high)).all())


class Program(ABC):
    """A linear program, solved step by step, with its best lower bound on the SSE so far.

    There are at least 2k records, shape (n, d), of finite numbers, not all equal; k is at least 2.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        from scipy.spatial import KDTree

        self.k = k
        self.iterations = 0  # finished ones
        self.converged = False  # whether to stop iterating
        self._tree = KDTree(X)
        # Positions of the original records in the order of the tree's leaves, which puts neighbors in the same blocks;
        # the records in that order, scaled later; and the squared unit of X in squared original units.
        self.places: IntArray = self._tree.indices
        self.X = np.ascontiguousarray(X[self.places])
        self.unit = 1.0
        self.bound = -np.inf  # the best, in squared units of X

    @property
    def sse(self) -> float:
        """The best bound, in squared units of the original records, or 0."""
        return max(self.bound, 0.0) * self.unit

    @abstractmethod
    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one iteration, or less at ``until`` (``time.perf_counter``) or when ``go_on`` returns False.

        The next call continues a stopped iteration. Returns whether the iteration is finished.
        """

    def _rescale(self, near: FloatArray) -> None:
        """Scale X so that the dual values are about 1, as tolerances are absolute.

        ``near``, shape (n, k), are the squared distances from each record to its k nearest, itself among them. Their
        sum over 2k is the nearest-neighbor bound.
        """
        n = len(self.X)
        unit = near.sum() / (2 * self.k * n) or np.square(self.X - self.X.mean(axis=0)).sum() / n
        # A power of four, so that nothing is rounded: lengths are divided by its root, a power of two.
        self.unit = 4.0 ** round(np.log2(unit) / 2)
        self.X = self.X / np.sqrt(self.unit)
        self._blocks = make_blocks(self.X)
