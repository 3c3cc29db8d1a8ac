"""The main loop of MDAV+, V-MDAV and MDAV* for many records: seeds in the order of their distance from the fixed mean.

The mean of all data is computed once, so the order in which records are to be seeds is known from the beginning. The
nearest records of the next seeds are looked up on all cores, many seeds at a time (see
:mod:`microagg.kernels.neighbors.lookahead`); a compiled step of the algorithm then takes the seeds into groups, one
after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from microagg.kernels import running
from microagg.kernels.grouping.groups import Groups, make_groups
from microagg.kernels.neighbors import brute_force, kd_tree, lookahead
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, make_pool, passes_at_a_time, pool_of
from microagg.kernels.neighbors.kd_tree import TreePool, next_unassigned, number_left
from microagg.kernels.neighbors.lookahead import NeighborCache, empty_cache, fill_cache, list_nearest
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: The share of the unassigned records that are looked up as seeds at a time, and how many they are at least. With more,
#: more of what is looked up is outdated before it is used.
SHARE_OF_SEEDS = 1 / 128
FEWEST_SEEDS = 64

#: Called with a cache of the nearest records, seeds, the number of unassigned records at which to stop, and threads;
#: returns the cache, renewed if the step has looked up more.
Step = Callable[[NeighborCache, IntArray, int, ThreadPoolExecutor], NeighborCache]


def group_while_many(
    X: FloatArray, k: int, least: int, make_step: Callable[[Groups, TreePool], Step]
) -> tuple[Groups, Pool, IntArray]:
    """Take the records of ``X``, shape (n, d), n >= k, into groups as long as many are unassigned.

    ``least`` is the number of records from which on a tree pays, see :mod:`microagg.kernels.neighbors.lookahead`.
    Return the groups as far as they are formed, the unassigned records, and those that may still be seeds, in their
    order. If passes over all records are faster from the beginning, nothing is formed.
    """
    n, d = X.shape
    groups = make_groups(n, d, k)
    pool = lookahead.tree_if_faster(X, k, least)
    if pool is None:
        all_records = make_pool(X)
        return groups, all_records, brute_force.farthest_from_mean_first(all_records)
    until = max(k, lookahead.FEWEST)
    step = make_step(groups, pool)
    order, start, cache = kd_tree.farthest_from_mean_first(pool), 0, empty_cache(n)
    with ThreadPoolExecutor(running.THREADS) as executor:
        while (left := number_left(pool)) >= until:
            checkpoint("forming groups", 1.0 - left / n)
            seeds, start = next_unassigned(pool, order, start, max(FEWEST_SEEDS, int(left * SHARE_OF_SEEDS)))
            cache, _ = fill_cache(list_nearest, cache, pool, seeds, k - 1 + lookahead.SPARE, executor)
            cache = step(cache, seeds, until, executor)
    unassigned = groups.labels < 0
    return groups, pool_of(X, np.flatnonzero(unassigned)), order[unassigned[order]]


def in_stretches(pool: Pool, order: IntArray, k: int, passes: int) -> Iterator[IntArray]:
    """Yield the seeds ``order``, shape (m,), in stretches, with a checkpoint before each.

    For each seed that is unassigned, whoever asks makes about ``passes`` passes over the records of ``pool``, and
    groups them. It ends when fewer than ``k`` are left.
    """
    n, d = len(pool.positions), len(pool.columns)
    start = 0
    while start < len(order) and (left := int(pool.counts[ALIVE])) >= k:
        checkpoint("forming groups", 1.0 - left / n)
        stop = start + passes_at_a_time(left, passes * d)
        yield order[start:stop]
        start = stop
