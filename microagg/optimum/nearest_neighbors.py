"""Lower bounds from nearest neighbors, for any number of records: on the SSE, and on Total-IL of mixed attributes.

**SSE.** The SSE of a group of s records is the sum of the squared distances of its ordered pairs, divided by 2s. A
record of the group contributes at least the sum of its s - 1 smallest squared distances, over 2s. That does not fall as
s grows, so s = k gives

    SSE ≥ 1 / (2k) · Σ over records of the sum of the k - 1 smallest squared distances to other records.

**Total-IL** of a partition, see :mod:`microagg.metrics.generalization`, is the sum over all records of the extent of
the record's group: the sum of the group's shares, attribute by attribute. A group that holds a record r and s - 1
others has, in each attribute, at least the share that r and any one other member q have as a set of two: a range that
covers more values is not smaller, and a common ancestor of more categories is not lower. Summed over the attributes,
the extent of the group is at least the distance of r and q, so it is at least the largest distance of r from the s - 1
others. Among any s - 1 ≥ k - 1 other records the farthest from r is at least as far as its (k-1)-th nearest record in
the file. Therefore

    Total-IL ≥ Σ over records of the distance to the (k-1)-th nearest other record.

It holds with equality if each group is k records at equal distances, such as categories of which k each are below one
node. A stratum of fewer than 2k records is one group with every method, so its loss is exact.

**Both.** Equal records count one by one. Groups stay within strata, so only records of the same stratum count as
others. Rounding changes each term by a relative 1e-15 or so times the number of attributes, and a sum of n terms by at
most n times that: lowered by a relative 1e-9, the result is a bound in floating point, too. It does not depend on
threads.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.columns.records import Records
from microagg.errors import DataError, names_arguments
from microagg.kernels import mixed, running
from microagg.kernels.neighbors.kd_tree import make_tree_pool
from microagg.kernels.neighbors.neighbor_lists import sums_of_nearest
from microagg.metrics.generalization import group_information_loss
from microagg.metrics.loss import percent, sst
from microagg.optimum.program import ALLOWANCE
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix

# Smaller SSEs are sums of squares that may have lost digits, as numbers below 1e-308 have fewer.
_MIN_SSE = 1e-290
# A task of a thread has so many records. Tasks are added up in order, so that sums do not depend on threads.
_RECORDS_AT_A_TIME = 1_000

# The sums over the records from one to before another: of the distances to the nearest, the second nearest, … neighbor.
_SumRecords = Callable[[int, int], FloatArray]


@dataclass(frozen=True)
class Bound:
    """A proven lower bound on the loss of all partitions into groups of at least k."""

    k: int  # minimum group size
    sse: float  # in squared units of X; for records of mixed attributes Total-IL, without unit
    information_loss: float  # 100 · SSE / SST, or Total-IL in percent of its maximum
    seconds: float  # time of the computation
    converged: bool = True  # whether more time would not raise it
    iterations: int = 0  # number of steps of the method, if it has steps
    # Whether a known partition has this loss, to within rounding (a relative 2e-7).
    optimal: bool = False


def lowered(sse: float, rounding: float = 0.0) -> float:
    """Lower a bound further if ``rounding``, the error of its root, exceeds the relative 1e-9 already subtracted.

    The result is 0 for an SSE that is mere rounding or below 1e-290.
    """
    if not sse > _MIN_SSE:
        return 0.0
    root = math.sqrt(sse)
    return sse if 2.0 * rounding <= ALLOWANCE / 2 * root else max(root - rounding, 0.0) ** 2


def nearest_neighbor_sse(sums: FloatArray, k: int) -> float:
    """Nearest-neighbor bound on the SSE, lowered for rounding, in squared units of X.

    ``sums``, shape (k - 1,) or longer, are sums over the records of the squared distance to the nearest, the second
    nearest, … other record, or of lower bounds on these.
    """
    return lowered(float(np.cumsum(sums)[k - 2]) / (2 * k) * (1 - ALLOWANCE)) if k > 1 else 0.0


@names_arguments
def nearest_neighbor(X: ArrayLike, k: int, *, strata: Sequence[IntArray] | None = None) -> Bound:
    """Lower bound on the loss of all partitions into groups of at least ``k`` records, from nearest neighbors.

    SSE ≥ 1 / (2k) · Σ over records of the sum of their k - 1 smallest squared distances to others. For the proof see
    :mod:`microagg.optimum.nearest_neighbors`.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
        Scaled for comparison.
    k : int
        Minimum number of records in a group.
    strata : sequence of array of int, optional
        The positions of the records of each stratum. Every record is in one, and groups stay within strata.

    Returns
    -------
    Bound
        On the SSE, in squared units of X, and on the information loss, in percent.

    Raises
    ------
    DataError
        If X is not finite numbers, it or a stratum has fewer than k records, or a record is not in one stratum.
    ParameterError
        If k is not a whole number of at least 1.
    Cancelled
        If the run is watched, see :mod:`microagg.progress`, and cancelled.
    """
    return nearest_neighbor_curve(X, [k], strata=strata)[0]


@names_arguments
def nearest_neighbor_curve(X: ArrayLike, ks: Iterable[int], *, strata: Sequence[IntArray] | None = None) -> list[Bound]:
    """Nearest-neighbor bound for each of ``ks``, in their order, from one search for neighbors.

    For parameters and errors see :func:`nearest_neighbor`.
    """
    started, checked_ks = time.perf_counter(), [check_k(k) for k in ks]
    data, most = check_matrix(X), max(checked_ks, default=1)
    check_finite(data)
    parts = _parts(len(data), most, strata)

    def sum_records_of(rows: IntArray) -> _SumRecords:
        pool = make_tree_pool(data[rows])
        return lambda start, stop: sums_of_nearest(pool, most - 1, start, stop)

    sums, whole = _sums(parts, most, sum_records_of).sum(axis=0), sst(data)
    bounds = [nearest_neighbor_sse(sums, k) for k in checked_ks]
    seconds = time.perf_counter() - started
    return [Bound(k, bound, percent(bound, whole), seconds) for k, bound in zip(checked_ks, bounds, strict=True)]


def nearest_mixed_neighbor_curve(
    records: Records, ks: Iterable[int], *, strata: Sequence[IntArray] | None = None
) -> list[Bound]:
    """Like :func:`nearest_neighbor_curve`, but on Total-IL of records of mixed attributes."""
    started, checked_ks = time.perf_counter(), [check_k(k) for k in ks]
    most = max(checked_ks, default=1)
    parts = _parts(records.n, most, strata)

    def sum_records_of(rows: IntArray) -> _SumRecords:
        pool = mixed.make_pool(records.take(rows))
        return lambda start, stop: mixed.sums_of_nearest(mixed.own_scratch(pool), most - 1, start, stop)

    sums = _sums(parts, most, sum_records_of)
    # A stratum of fewer than 2k records is one group.
    sizes = np.array([len(rows) for rows in parts])
    one_group = [group_information_loss(records.take(rows), np.zeros(len(rows), dtype=int))[0] for rows in parts]
    losses = [
        float(np.where(sizes < 2 * k, one_group, sums[:, k - 2]).sum()) * (1 - ALLOWANCE) if k > 1 else 0.0
        for k in checked_ks
    ]
    seconds, max_loss = time.perf_counter() - started, records.n * records.d
    return [Bound(k, loss, 100.0 * loss / max_loss, seconds) for k, loss in zip(checked_ks, losses, strict=True)]


def _parts(n: int, most: int, strata: Sequence[IntArray] | None) -> list[IntArray]:
    """Return the positions of the records of each stratum, each with at least ``most`` of the n records."""
    parts = [np.arange(n)] if strata is None else list(strata)
    # Records in two strata would count twice, and the result would be no bound.
    if strata is not None and not np.array_equal(np.sort(np.concatenate([*parts, np.arange(0)])), np.arange(n)):
        raise DataError("strata must be the positions of the records of each, and each record in one of them.")
    for rows in parts:
        check_enough_records(len(rows), most, "X" if strata is None else "a stratum")
    return parts


def _sums(parts: Sequence[IntArray], most: int, sum_records_of: Callable[[IntArray], _SumRecords]) -> FloatArray:
    """Return the sums of the distances to the nearest, the second nearest, … neighbor, shape (strata, most - 1)."""
    sums = np.zeros((len(parts), most - 1))
    n, counted = sum(map(len, parts)), 0
    executor = ThreadPoolExecutor(running.THREADS)
    try:
        for stratum, rows in enumerate(parts if most > 1 else ()):
            starts = range(0, len(rows), _RECORDS_AT_A_TIME)
            stops = [min(start + _RECORDS_AT_A_TIME, len(rows)) for start in starts]
            for stop, task_sums in zip(stops, executor.map(sum_records_of(rows), starts, stops), strict=True):
                sums[stratum] += task_sums
                checkpoint("finding nearest neighbors", (counted + stop) / n)
            counted += len(rows)
    finally:
        executor.shutdown(cancel_futures=True)
    return sums
