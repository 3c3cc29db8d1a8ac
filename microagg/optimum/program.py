"""What the programs have in common: scaled records, the best bound so far, and the check of each bound.

The bound of each holds whatever the numbers are that it is made of, its multipliers: neither how they were found, by
which solver, nor when that was stopped can make it wrong. For rounding, :data:`ALLOWANCE` of the sum of the sizes of
all its terms is taken off. Records are told apart by index, so that identical ones do no harm.
"""

from __future__ import annotations

import math
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from microagg.kernels.bounds.boxes import make_blocks
from microagg.validation import FloatArray, IntArray

#: What is taken off a bound for rounding, as a share of the sum of the sizes of its terms: far more than rounding
#: amounts to, which is some 1e-16 times the number of terms.
ALLOWANCE = 1e-9
#: How many threads leave one core to other work.
ALL_BUT_ONE = max(1, (os.cpu_count() or 1) - 1)
#: Multipliers beyond this cannot be added up; they are about 1.
_LARGEST = 1e100


class Multipliers(NamedTuple):
    """Numbers that a bound is made of, such as prices: which shape they must have, and between what they must be."""

    values: Any
    shape: tuple[int, ...]
    low: float = -_LARGEST
    high: float = _LARGEST


def usable(*multipliers: Multipliers) -> bool:
    """Return whether all are numbers, of their shape and within their range: only then do they prove anything."""
    return all(
        each.values.shape == each.shape and bool(((each.values >= each.low) & (each.values <= each.high)).all())
        for each in multipliers
    )


def proven(prove: Callable[[], float], *multipliers: Multipliers) -> float:
    """Return the bound that ``prove`` makes of these multipliers, -inf where they prove nothing.

    Each bound of a program passes here in the end. ``prove`` must compute it from the multipliers and the records, and
    from nothing else that led to them.
    """
    bound = prove() if usable(*multipliers) else -np.inf
    return bound if math.isfinite(bound) else -np.inf


class Program(ABC):
    """A linear program, solved step by step, and the best lower bound on the SSE that it has proven so far.

    The records given, shape (n, d), are finite numbers, at least 2k and not all equal; k is at least 2.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        from scipy.spatial import KDTree

        self.k = k
        self.iterations = 0  # those that were finished
        self.converged = False  # whether further iterations are not worth their time
        self._tree = KDTree(X)
        # Positions among the records given, in the order of the tree's leaves, in which neighbors stand close together,
        # as blocks need them; the records in that order, to be scaled; and how many squared units of those given a
        # squared unit of X is.
        self.places: IntArray = self._tree.indices
        self.X = np.ascontiguousarray(X[self.places])
        self.unit = 1.0
        self.bound = -np.inf  # the best, in squared units of X

    @property
    def sse(self) -> float:
        """The best bound, in squared units of the records given; 0 before there is any."""
        return max(self.bound, 0.0) * self.unit

    @abstractmethod
    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one iteration, or less if the clock (``time.perf_counter``) comes to ``until`` or ``go_on`` says no.

        What is begun goes on in the next call. Returns whether the iteration was finished.
        """

    def _rescale(self, near: FloatArray) -> None:
        """Scale X so that the dual values are about 1, as tolerances are absolute.

        ``near``, shape (n, k), are the squared distances from each record to its k nearest, itself among them; so, with
        a factor of 1 / (2k), they add up to the nearest-neighbor bound.
        """
        n = len(self.X)
        unit = near.sum() / (2 * self.k * n) or np.square(self.X - self.X.mean(axis=0)).sum() / n
        # A power of four, so that nothing is rounded: lengths are divided by its root, a power of two.
        self.unit = 4.0 ** round(np.log2(unit) / 2)
        self.X = self.X / np.sqrt(self.unit)
        self._blocks = make_blocks(self.X)


class Stepwise(Program):
    """A program whose iterations are a generator, which pauses several times a second."""

    def __init__(self, X: FloatArray, k: int) -> None:
        super().__init__(X, k)
        self.slow = False  # whether the last iterations gained little
        self._course: list[float] = []  # the best bound after each iteration
        self._steps = self._rounds()

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """See :meth:`Program.advance`."""
        last_call = 0.0
        while (now := time.perf_counter()) < until:
            if now > last_call + 0.2:
                if not go_on():
                    return False
                last_call = time.perf_counter()
            if next(self._steps):
                return True
        return False

    def _gain(self, iterations: int) -> float:
        """Return by which share of the bound the last iterations have raised it; infinite while there are fewer."""
        if len(self._course) <= iterations:
            return np.inf
        gain = self._course[-1] - self._course[-1 - iterations]
        return gain / abs(self._course[-1]) if gain > 0.0 else 0.0

    @abstractmethod
    def _rounds(self) -> Iterator[bool]:
        """Run without end, pausing several times a second: with True after a round, with False within it."""
