"""The best partition that there is of a few records, and what it loses: nobody can do better here."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from microagg.explain.run import make_run
from microagg.metrics import bounds
from microagg.metrics.loss import sse
from microagg.partition import Partition
from microagg.registry import make
from microagg.validation import FloatArray

#: How long a proof may take.
SECONDS = 1.0

#: Of more records than this, with several attributes, a proof hardly ever comes so soon.
MOST_TO_PROVE = 100

# Iterations of the search for each group: enough for a few hundred records, and a small part of SECONDS.
_EFFORT = 60

# A partition is the best if none can have an SSE lower than its own by more than this share, which is rounding.
_CLOSED = 1e-6


def needs(X: FloatArray, k: int) -> tuple[str, ...]:
    """Return the algorithms that :func:`optimum` runs on ``X``, shape (n, d), for whoever compiles ahead."""
    n, d = X.shape
    return () if d == 1 or n <= bounds.MOST_RECORDS or n < 2 * k or k == 1 else ("iterated-local-search",)


def optimum(X: ArrayLike, k: int, seconds: float = SECONDS) -> Partition | None:
    """Return a partition of least SSE into groups of at least k; None where it cannot be proven soon.

    Always known are the optima of one attribute, by dynamic programming along the line, and of up to 15 records, by
    dynamic programming over all subsets (see :func:`microagg.metrics.bounds.exact`). Of up to 100 other records a good
    partition is searched, and is the optimum if its SSE meets a bound that linear programs prove within ``seconds``. Of
    some dozens of records in the plane about every second optimum is proven so; a slower computer may prove fewer.

    Parameters
    ----------
    X : array-like, shape (n, d)
        At most :data:`microagg.explain.MOST_RECORDS` records, as they are to be compared.
    k : int
        The minimum group size.
    seconds : float
        How long the proof may take, where it is needed.

    Raises
    ------
    DataError
        If X is not a finite matrix of numbers, has fewer than k records or too many.
    ParameterError
        If k is not a whole number of at least 1.

    Examples
    --------
    >>> best = optimum([[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]], k=3)
    >>> best.labels.tolist()
    [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    """
    return _optimum(tuple(map(tuple, make_run(X, k).X.tolist())), k, seconds)


# Remembered, as several parts of a page need it for the same records.
@lru_cache(maxsize=64)
def _optimum(rows: tuple[tuple[float, ...], ...], k: int, seconds: float) -> Partition | None:
    matrix = np.array(rows)
    if not needs(matrix, k):
        return Partition(bounds.exact(matrix, k)[1], k)
    if len(matrix) > MOST_TO_PROVE:
        return None
    found = make("iterated-local-search", k, effort=_EFFORT).fit(matrix).partition_
    lowest = sse(matrix, found.labels)
    program = bounds.LinearProgram(matrix, k)
    program.improve(seconds, lambda bound: bounds.gap(lowest, bound.sse) > _CLOSED)
    return found if bounds.gap(lowest, program.bound.sse) <= _CLOSED else None


def same_loss(one: float, other: float) -> bool:
    """Return whether two losses, or SSEs, are the same to within rounding and what proves an optimum."""
    return math.isclose(one, other, rel_tol=_CLOSED)
