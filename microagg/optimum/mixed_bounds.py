"""A lower bound on Total-IL: no partition of mixed records into groups of at least k, by any method, can lose less.

The Total-IL of a partition, see :mod:`microagg.metrics.generalization`, is the sum over all records of the extent of
the record's group: the sum of the group's shares, attribute by attribute.

A group that holds a record r and s - 1 others has, in each attribute, at least the share that r and any one other
member q have as a set of two: a range that covers more values is not smaller, and a common ancestor of more categories
is not lower. Summed over the attributes, the extent of the group is at least the distance of r and q, so it is at least
the largest distance of r from the s - 1 others. Among any s - 1 ≥ k - 1 other records the farthest from r is at least
as far as its (k-1)-th nearest record in the file. Therefore

    Total-IL ≥ Σ over records of the distance to the (k-1)-th nearest other record.

Equal records count one by one. It holds with equality where each group is k records at equal distances, such as
categories of which k each are below one node. Records of different strata share no group: there only the records of
the own stratum count as others. A stratum of fewer than 2k records is one group whatever the method, whose loss is
known.

Every term is rounded by a relative 1e-15 or so times the number of attributes, and sums of n such terms by n times
that at most; no term is negative. Lowered by a relative 1e-9, what comes out is a bound in floating point, too.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from microagg.columns.records import Records
from microagg.kernels import running
from microagg.kernels.mixed import make_pool, own_scratch, sums_of_nearest
from microagg.metrics.generalization import group_information_loss
from microagg.optimum.bounds import RisingBounds
from microagg.optimum.program import ALLOWANCE
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray, check_enough_records, check_k

# Records are counted in blocks of so many, so that sums do not depend on pieces and threads.
_BLOCK = 32

# How long it goes on between two checkpoints; a block of each thread may take longer.
_SECONDS_AT_A_TIME = 0.05


class NearestMixedNeighbors(RisingBounds):
    """The bound of this module for every k up to a largest, which rises block by block until all records count.

    No term is negative, so the sum over the records counted so far is a bound, too. One thread at a time may call
    :meth:`improve`; others may read meanwhile. What is proven does not depend on how often it was stopped, or on the
    number of threads.

    Parameters
    ----------
    records : Records
    k : int
        The largest k that there is to be a bound for.
    strata : sequence of array of int, optional
        The positions of the records of each stratum, every record in one.

    Attributes
    ----------
    k : int

    Raises
    ------
    DataError
        If there are fewer than k records, in all or in a stratum.
    ParameterError
        If k is not a whole number of at least 1.
    """

    def __init__(self, records: Records, k: int, *, strata: Sequence[IntArray] | None = None) -> None:
        self.k = check_k(k)
        self._records, self._n = records, records.n
        self._parts = [np.arange(records.n)] if strata is None else list(strata)
        for size in map(len, self._parts):
            check_enough_records(size, self.k, "X" if strata is None else "a stratum")
        self._sizes = np.array([len(rows) for rows in self._parts], dtype=np.int64)
        # What each stratum loses as one group.
        self._alone = np.array(
            [
                float(group_information_loss(records.take(rows), np.zeros(len(rows), dtype=np.int64))[0])
                for rows in self._parts
            ]
        )
        # How many records have been counted, and for each stratum the sums of their distances: one tuple, so that
        # another thread reads both as of the same moment.
        self._known = (records.n if self.k == 1 else 0, np.zeros((len(self._parts), self.k - 1)))
        self._seconds = 0.0

    def _least(self, sums: FloatArray, k: int) -> float:
        if k == 1:
            return 0.0
        return float(np.where(self._sizes < 2 * k, self._alone, sums[:, k - 2]).sum()) * (1 - ALLOWANCE)

    def _percent(self, least: float) -> float:
        return 100.0 * least / (self._records.n * self._records.d)

    def _count(self, number: int, rows: IntArray, start: int, executor: ThreadPoolExecutor) -> None:
        pool, most, size = make_pool(self._records.take(rows)), self.k - 1, running.THREADS

        def count(first: int, last: int) -> list[FloatArray]:
            own = own_scratch(pool)
            return [
                sums_of_nearest(own, most, _BLOCK * block, min(_BLOCK * (block + 1), len(rows)))
                for block in range(first, last)
            ]

        block, blocks = (self._known[0] - start) // _BLOCK, -(-len(rows) // _BLOCK)
        while block < blocks:
            began = time.perf_counter()
            stop = min(block + size, blocks)
            sums = self._known[1].copy()
            for part in running.in_parts(executor, count, block, stop, running.THREADS):
                for added in part:
                    sums[number] += added
            block = stop
            self._known = start + min(_BLOCK * block, len(rows)), sums
            spent = time.perf_counter() - began
            self._seconds += spent
            size = max(min(2 * size, int(size * _SECONDS_AT_A_TIME / max(spent, 1e-6))), running.THREADS)
            checkpoint("finding nearest neighbors", self.share)
