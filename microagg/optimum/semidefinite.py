"""A proven lower bound on the SSE from semidefinite programming, for large groups.

**The program.** For a partition let Z_ij be 1 / s for two records of one group of s, also for i = j, and 0 for two of
different groups (Peng & Wei 2007; for groups of given sizes Rujeerapaiboon, Schindler, Kuhn & Wiesemann 2019). With
C_ij half the squared distance of two records,

    SSE = Σ_ij C_ij Z_ij = <C, Z>.

As in :mod:`microagg.optimum.set_partitioning` groups of k to 2k-1 suffice. So Z has two faces:

- *by rows*: the row of a record in a group of s has s entries 1 / s, one of them on the diagonal, and k ≤ s ≤ 2k-1;
- *as a whole*: Z is the orthogonal projection onto the indicators of the groups, of which there are at most m = ⌊n/k⌋,
  and their sum is the vector of ones, e. So Z = e e' / n plus a projection of rank at most m - 1 that is orthogonal
  to e.

**The bound.** Divide the cost into C = L + T, with any symmetric T. Then

    SSE ≥ least of <L, Z> by rows + least of <T, Z> as a whole
        = Σ_i min over s of 1/s (L_ii + the sum of the s-1 least other L_ij)
          + e'Te / n + the sum of those of the m-1 least eigenvalues of PTP that are below 0,   P = I - e e' / n;

the last by Fan (1949). With T = 0 this is the nearest-neighbor bound, with L = 0 what principal components leave. It
holds for any T. By backward stability the eigenvalues are off by some n · 1e-16 of the norm of T (Frobenius); for
rounding they are counted with m times that norm.

**How T is found.** By alternating directions (Boyd, Parikh, Chu, Peleato & Eckstein 2011; for semidefinite programs
Wen, Goldfarb & Yin 2010): one copy of Z is projected onto what Z is as a whole, eigenvalues between 0 and 1 of sum at
most m - 1, another onto entries between 0 and 1/k, and the multiplier L of their difference moves until both are the
same. In single precision, as its steps prove nothing. The fewer groups there are, the closer the bound comes, and the
fewer steps it takes; without them the time of a step grows with n³.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from typing import Any

import numpy as np

from microagg.optimum.program import ALLOWANCE, Multipliers, Stepwise, proven
from microagg.validation import FloatArray

#: With more records, or more groups, the other programs do better in the same time.
MOST_RECORDS, MOST_GROUPS = 1_500, 25
#: How many steps are made before their bound is evaluated.
STEPS = 25
#: The first penalty for a difference of both copies, as a share of n times the mean cost; by which factor it is
#: adapted, when the difference is by so much larger, relatively, than the last move, or the other way round.
PENALTY, ADAPTED, APART = 0.3, 1.5, 3.0
#: A round that raises the bound by a smaller share has gained little.
LITTLE_GAIN = 1e-3
#: It has converged when this many rounds together have raised the bound by a smaller share than NO_GAIN.
LAST_ROUNDS, NO_GAIN = 3, 1e-4


class Semidefinite(Stepwise):
    """The program of both copies of Z. An iteration is a round of steps, and the bound of what they lead to.

    It is slow once a round has gained little.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        from scipy.spatial.distance import cdist

        super().__init__(X, k)
        costs = cdist(self.X, self.X, "sqeuclidean") / 2
        self.unit = float(costs.mean())
        self._costs: FloatArray = costs / self.unit

    @staticmethod
    def fits(n: int, k: int) -> bool:
        """Return whether it is worth its time for n records."""
        return n <= MOST_RECORDS and n // k <= MOST_GROUPS

    def _rounds(self) -> Iterator[bool]:
        n, most = len(self._costs), 1.0 / self.k
        costs = self._costs.astype(np.float32)
        least = np.zeros((n, n), dtype=np.float32)
        np.fill_diagonal(least, 1.0 / (2 * self.k - 1))
        multiplier, bounded = costs / 2, np.full((n, n), np.float32(1.0 / n))
        penalty = PENALTY * n
        while True:
            for step in range(1, STEPS + 1):
                with one_thread():
                    whole = self._projected(bounded - (costs - multiplier) / penalty)
                before, bounded = bounded, np.clip(whole - multiplier / penalty, least, most)
                difference = bounded - whole
                multiplier += penalty * difference
                if step % 10 == 0:
                    distance = np.linalg.norm(difference) / np.linalg.norm(whole)
                    moved = penalty * np.linalg.norm(bounded - before) / np.linalg.norm(multiplier)
                    if distance > APART * moved:
                        penalty *= ADAPTED
                    elif moved > APART * distance:
                        penalty /= ADAPTED
                yield False
            with one_thread():
                multiplier64 = multiplier.astype(np.float64)
                multipliers = Multipliers(multiplier64, self._costs.shape)
                self.bound = max(self.bound, proven(partial(self._bound, multiplier64), multipliers))
            self.iterations += 1
            self._course.append(self.bound)
            self.slow = self._gain(1) <= LITTLE_GAIN
            self.converged = self._gain(LAST_ROUNDS) <= NO_GAIN
            yield True

    def _projected(self, matrix: FloatArray) -> FloatArray:
        """Return the nearest of the matrices that are Z of some partition, or a mixture of such matrices."""
        values, vectors = np.linalg.eigh(_centered(matrix))
        shares = _shares(values, len(matrix) // self.k - 1)
        used = shares > 0.0
        nearest: FloatArray = (vectors[:, used] * shares[used]) @ vectors[:, used].T + np.float32(1.0 / len(matrix))
        return nearest

    def _bound(self, multiplier: FloatArray) -> float:
        """Return the bound if L is the ``multiplier``."""
        n, k = len(self._costs), self.k
        groups, most = n // k, min(2 * k - 1, n)
        by_rows = multiplier.astype(np.float64)
        spectral = self._costs - (by_rows + by_rows.T) / 2
        by_rows = self._costs - spectral
        diagonal = by_rows.diagonal().copy()
        np.fill_diagonal(by_rows, -np.inf)  # always the first
        nearest = np.sort(np.partition(by_rows, most - 1, axis=1)[:, :most], axis=1)
        nearest[:, 0] = diagonal
        means = np.cumsum(nearest, axis=1)[:, k - 1 :] / np.arange(k, most + 1)
        total = float(means.min(axis=1).sum()) + n * float(spectral.mean())
        values = np.linalg.eigvalsh(_centered(spectral))[: groups - 1]
        total += float(np.minimum(values, 0.0).sum())
        sizes = np.abs(nearest).max(axis=1).sum() + groups * np.linalg.norm(spectral)
        return total - ALLOWANCE * float(sizes)


@contextmanager
def one_thread() -> Iterator[None]:
    """Have linear algebra use one thread: where a search has the other core, threads that wait for it are far slower.

    That holds for the whole process. Of several that overlap the last to end restores what was before the first.
    """
    with _LOCK:
        _WITHIN.append(None if _WITHIN else _libraries().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _LOCK:
            limited = _WITHIN.pop()
            if not _WITHIN:
                limited.restore_original_limits()


_LOCK = threading.Lock()
_WITHIN: list[Any] = []


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _centered(matrix: FloatArray) -> FloatArray:
    """Return PMP for a matrix M, symmetric in spite of rounding."""
    means = matrix.mean(axis=0)
    centered = matrix - means - means[:, np.newaxis] + means.mean()
    result: FloatArray = (centered + centered.T) / 2
    return result


def _shares(values: FloatArray, most: int) -> FloatArray:
    """Return the nearest numbers from 0 to 1 whose sum is at most ``most``."""
    shares: FloatArray = np.clip(values, 0.0, 1.0)
    if shares.sum() <= most:
        return shares
    low, high = 0.0, float(values.max())
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if np.clip(values - middle, 0.0, 1.0).sum() > most else (low, middle)
    return np.clip(values - high, 0.0, 1.0)
