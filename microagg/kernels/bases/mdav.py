"""The round of MDAV, which its variants share: two groups around two far-apart records; and MDAV and MDAV-1 as a whole.

They are described in :mod:`microagg.algorithms.mdav`. Many records are grouped by a tree (see :mod:`.edge`) until few
are left, for which, as for few records, every question is answered by a pass over them all.
"""

from __future__ import annotations

from numba import njit

from microagg.kernels.grouping.groups import Groups, form, form_from_rest, make_groups, rest_to_nearest_centroid
from microagg.kernels.grouping.moving_mean import form_groups_at_edge
from microagg.kernels.neighbors import crossover as choice
from microagg.kernels.neighbors.brute_force import (
    ALIVE,
    Pool,
    centroid,
    farthest,
    make_pool,
    measure_from,
    members_around,
    nearest_to_seed,
    tidy,
)
from microagg.validation import FloatArray, IntArray


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


@njit(cache=True, nogil=True)
def _finish_mdav(groups: Groups, pool: Pool, k: int) -> None:
    form_groups_in_pairs(groups, pool, k, 2 * k)
    if pool.counts[ALIVE] >= k:
        form_from_rest(groups, pool)
    rest_to_nearest_centroid(groups, pool, True)


@njit(cache=True, nogil=True)
def mdav_by_passes(X: FloatArray, k: int) -> IntArray:
    """Return what :func:`mdav` does, for few records."""
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    _finish_mdav(groups, pool, k)
    return groups.labels


def mdav(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV for ``X``, shape (n, d), n >= k; IMHM and PCL start from it."""
    if not choice.prefers_tree(*X.shape):
        return mdav_by_passes(X, k)
    groups, pool = form_groups_at_edge(X, k, 2 * k, True)
    _finish_mdav(groups, pool, k)
    return groups.labels


@njit(cache=True, nogil=True)
def _finish_mdav_1(groups: Groups, pool: Pool, k: int) -> None:
    form_groups_in_pairs(groups, pool, k, 2 * k)
    if pool.counts[ALIVE] >= k:
        form_group_at_edge(groups, pool, k)
    rest_to_nearest_centroid(groups, pool, False)


@njit(cache=True, nogil=True)
def mdav_1_by_passes(X: FloatArray, k: int) -> IntArray:
    """Return what :func:`mdav_1` does, for few records."""
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    _finish_mdav_1(groups, pool, k)
    return groups.labels


def mdav_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed.

    MDAV-2 and DBA-2 split groups by it.
    """
    if not choice.prefers_tree(*X.shape):
        return mdav_1_by_passes(X, k)
    groups, pool = form_groups_at_edge(X, k, 2 * k, True)
    _finish_mdav_1(groups, pool, k)
    return groups.labels
