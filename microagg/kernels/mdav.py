"""The round of MDAV, which its variants share: two groups around two far-apart records."""

from __future__ import annotations

from numba import njit

from microagg.kernels.groups import Groups, form
from microagg.kernels.pool import (
    ALIVE,
    Pool,
    centroid,
    farthest,
    measure_from,
    members_around,
    nearest_to_seed,
    tidy,
)


@njit(cache=True, nogil=True)
def form_group_at_edge(groups: Groups, pool: Pool, k: int) -> None:
    """Form one group: the unassigned record farthest from the unassigned's centroid, and its k-1 nearest."""
    tidy(pool)
    measure_from(pool, centroid(pool))
    form(groups, pool, members_around(pool, farthest(pool), k))


@njit(cache=True, nogil=True)
def form_groups_in_pairs(groups: Groups, pool: Pool, k: int, until: int) -> None:
    """Form two groups of k a round while at least ``until`` (2k or more) records are unassigned.

    r is the unassigned record farthest from the unassigned's centroid, s the one farthest from r. r and its k-1
    nearest form a group, then s and its k-1 nearest among those left; if s went with r, the record left that is
    farthest from r takes its place.
    """
    while pool.counts[ALIVE] >= until:
        tidy(pool)
        measure_from(pool, centroid(pool))
        r = farthest(pool)
        measure_from(pool, pool.columns[:, r].copy())
        s = farthest(pool, r)
        s_record = pool.records[s]
        form(groups, pool, nearest_to_seed(pool, r, k))
        if pool.positions[s_record] < 0:
            s = farthest(pool)  # the distances are still those from r
        form(groups, pool, members_around(pool, s, k))
