"""The k-neighborhood of every unassigned record, kept up to date while records are assigned, for DBA and GSMS.

The k-neighborhood of a record is the record itself and its k-1 nearest unassigned records, nearest first. It changes
only when one of them is assigned. So each record has a list of more of its nearest records than the neighborhood needs,
and only when fewer than k of the list are left are all distances measured again, in time O(nd).

Of identical records only the first one left needs a neighborhood: all of theirs hold the same values in the same order,
so whatever is computed from them ties, and ties go to the lowest index. Identical records are assigned by index, so the
first one left is the one whose predecessor has been assigned.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import EXTENT, Pool, measure_from, nearest
from microagg.validation import FloatArray, IntArray

# How many more records than the neighborhood needs are listed: longer lists take longer to find, shorter ones have to
# be found again more often.
SPARE = 16

# Terms of distances added, and steps of ranking them, between two checkpoints: a fraction of a second.
STEPS_AT_A_TIME = 1 << 27


class Neighborhoods(NamedTuple):
    """Lists of nearest records; made by :func:`make_neighborhoods`."""

    # shape (n, k + SPARE) or less: each record, then its nearest unassigned ones when last measured, nearest first
    lists: IntArray
    # shape (n,): the length of each list, some of whose records may have been assigned; 0 if there is none yet
    known: IntArray
    twins: IntArray  # shape (n,): the last identical record before each record, -1 if there is none


def make_neighborhoods(X: FloatArray, k: int) -> Neighborhoods:
    """Return the still unmeasured neighborhoods of the records ``X``, shape (n, d)."""
    n = len(X)
    order = np.lexsort(X.T)  # stable, so identical records follow each other by index
    identical = (X[order[1:]] == X[order[:-1]]).all(axis=1)
    twins = np.full(n, -1, dtype=np.int64)
    twins[order[1:][identical]] = order[:-1][identical]
    return Neighborhoods(np.empty((n, min(n, k + SPARE)), dtype=np.int64), np.zeros(n, dtype=np.int64), twins)


def records_per_step(X: FloatArray, k: int) -> int:
    """Return how many neighborhoods are to be measured between two checkpoints."""
    ranking = 2 * (k + SPARE) ** 2
    return max(1, STEPS_AT_A_TIME // (X.size + ranking))


@njit(cache=True, nogil=True)
def is_outdated(hoods: Neighborhoods, pool: Pool, record: int, k: int) -> bool:
    """Tell whether ``record`` is unassigned, the first of its kind, and its k-neighborhood has changed or is new."""
    twin = hoods.twins[record]
    if pool.positions[record] < 0 or (twin >= 0 and pool.positions[twin] >= 0):
        return False
    if hoods.known[record] < k:
        return True
    slot = 1
    while slot < k and pool.positions[hoods.lists[record, slot]] >= 0:
        slot += 1
    return slot < k


@njit(cache=True, nogil=True)
def neighborhood(X: FloatArray, hoods: Neighborhoods, pool: Pool, record: int, k: int) -> IntArray:
    """Return the k-neighborhood of the unassigned ``record``, itself first, after bringing it up to date.

    At least k records must be unassigned. ``pool.distances`` may change.
    """
    row = hoods.lists[record]
    known = 0
    for slot in range(hoods.known[record]):
        if pool.positions[row[slot]] >= 0:
            row[known] = row[slot]
            known += 1
    if known < k:
        measure_from(pool, X[record])
        pool.distances[pool.positions[record]] = np.nan
        row[0] = record
        known = 1
        for position in nearest(pool.distances, pool.counts[EXTENT], len(row) - 1):
            row[known] = pool.records[position]
            known += 1
    hoods.known[record] = known
    return row[:k]
