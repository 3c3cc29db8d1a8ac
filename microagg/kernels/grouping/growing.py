"""Groups that take in the record nearest to their moving centroid, one after the other, for P-S and M-d."""

from __future__ import annotations

from numba import njit

from microagg.kernels.grouping.groups import Groups, join
from microagg.kernels.neighbors.brute_force import EXTENT, Pool, measure_from, nearest


@njit(cache=True, nogil=True)
def grow(groups: Groups, pool: Pool, group: int, k: int) -> None:
    """Let ``group`` take in unassigned records, each the one that increases its SSE least, until it has ``k``.

    That is the record nearest to its centroid, which moves each time. Sets ``pool.distances``.
    """
    while groups.sizes[group] < k:
        measure_from(pool, groups.sums[group] / groups.sizes[group])
        join(groups, pool, group, nearest(pool.distances, pool.counts[EXTENT], 1)[0])
