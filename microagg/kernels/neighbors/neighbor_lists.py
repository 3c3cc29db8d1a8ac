"""The nearest and farthest records of many records, found on all cores: before they are needed, or for a whole table.

An algorithm takes records out of the tree one group after the other, but which records it will ask about next is mostly
known. Their nearest (or farthest) records are found many at a time, in the order of the tree, so that neighbors in
space share the processor's caches, and on several threads. Each gets a list with a few more records than are needed. As
records are only ever removed, those of a list that are left remain the best of all that are left, in the same order: a
list serves until too few of it are left. Then, or where there is no list, the tree is asked. So the answers do not
depend on which lists there are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from microagg.kernels import running
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.kd_tree import LEAF, Tree, TreePool, make_tree_pool
from microagg.kernels.neighbors.tree_queries import NeighborQuery, farthest, make_query, nearest, search
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: How many more records than needed a list has.
SPARE = 3

# Stands for no list, or for no further record in a list.
_NONE = -1


class NeighborCache(NamedTuple):
    """Lists of the nearest, or of the farthest, records of some records; begun by :func:`empty_cache`."""

    rows: IntArray  # shape (n,): the list of each record, -1 if it has none
    records: IntArray  # shape (number of lists,): the record of each list
    # shape (number of lists, width): the nearest or farthest first; -1 after the last record where there were fewer
    lists: IntArray


def empty_cache(n: int) -> NeighborCache:
    """Return a cache without a list for any of ``n`` records."""
    return NeighborCache(np.full(n, _NONE), np.empty(0, dtype=np.int64), np.empty((0, 1), dtype=np.int64))


def renew_cache(
    cache: NeighborCache, pool: TreePool, records: IntArray, width: int, needed: int, executor: ThreadPoolExecutor,
    far: bool = False,
) -> NeighborCache:  # fmt: skip
    """Return a cache of lists of the records nearest to ``records``, or farthest from them if ``far``.

    ``cache`` is used up: of its lists, which must have the same ``width``, those stay that have ``needed`` unassigned
    records.
    """
    serves = cache.rows[records] >= 0
    known = cache.lists[cache.rows[records[serves]]]
    unassigned = (known >= 0) & (pool.tree.slots[known] >= 0)
    # A list that ends early has all other records.
    serves[serves] = (unassigned.sum(axis=1) >= needed) | (known[:, -1] < 0)
    reused, new = records[serves], records[~serves]
    new = new[np.argsort(pool.tree.slots[new])]
    lists = np.full((len(records), width), _NONE)
    if len(reused) > 0:
        lists[len(new) :] = cache.lists[cache.rows[reused]]
    running.in_parts(
        executor,
        lambda start, stop: list_records(pool, new[start:stop], lists[start:stop], far, np.inf),
        0,
        len(new),
        running.THREADS,
    )
    cache.rows[cache.records] = _NONE
    order = np.concatenate([new, reused])
    cache.rows[order] = np.arange(len(order))
    return NeighborCache(cache.rows, order, lists)


@kernel
def list_records(pool: TreePool, records: IntArray, lists: IntArray, far: bool, share: float) -> int:
    """Fill each row of ``lists`` with the others nearest to one of ``records``, or farthest from it.

    ``share`` is that of :func:`.tree_queries.search`, infinite for exact answers. Return how many leaves were visited.
    """
    query = make_query(lists.shape[1])
    for i in range(len(records)):
        record = records[i]
        if far:
            count = farthest(pool.tree, pool.X[record], lists.shape[1], record, query)
        else:
            count = search(pool.tree, pool.X[record], -1, lists.shape[1], record, share, 0, query)
        for j in range(count):
            lists[i, j] = query.records[j]
    return query.visited[0]


@borrows
def read_list(cache: NeighborCache, tree: Tree, record: int, most: int, neighbors: IntArray) -> int:
    """Write the first ``most`` unassigned records of the list of ``record`` to ``neighbors``.

    Return their number: fewer than ``most`` only if the tree has no more records. Return -1 if there is no list, or if
    too few of its records are unassigned.
    """
    row = cache.rows[record]
    if row < 0:
        return -1
    count = 0
    for candidate in cache.lists[row]:
        if candidate < 0 or count == most:
            return count
        if tree.slots[candidate] >= 0:
            neighbors[count] = candidate
            count += 1
    return count if count == most else -1


@kernel
def nearest_to(pool: TreePool, cache: NeighborCache, record: int, most: int, query: NeighborQuery) -> int:
    """Write the ``most`` records nearest to ``record``, itself aside, to ``query.records``; return their number."""
    count = read_list(cache, pool.tree, record, most, query.records)
    return count if count >= 0 else nearest(pool.tree, pool.X[record], most, record, query)


@borrows
def farthest_from(pool: TreePool, cache: NeighborCache, record: int, query: NeighborQuery) -> int:
    """Return the record farthest from ``record``, itself aside; -1 if there is no other."""
    count = read_list(cache, pool.tree, record, 1, query.records)
    if count < 0:
        count = farthest(pool.tree, pool.X[record], 1, record, query)
    return query.records[0] if count > 0 else -1


# Whether neighbors are found by passes or in a k-d tree, which give the same. Passes use the processor's vector units
# and are faster for few records. The tree visits a part of many, which depends on the data: of 16,000 records with 16
# evenly spread attributes nine tenths, of as many with 40 attributes that lie in clusters one in twelve. So where it
# may pay at all, one is made and asked for the neighbors of some of them.

#: Once fewer records than this are unassigned, passes finish the work.
FEWEST = 2_000

# Beyond so many attributes a tree would visit nearly all records of most data, and take as much memory as they do.
_MOST_ATTRIBUTES = 100

# Of how many records, evenly spread over the table, the nearest are looked for.
_SAMPLE = 32


def tree_if_faster(X: FloatArray, k: int, least: int) -> TreePool | None:
    """Build a tree of the records ``X``, shape (n, d), if it finds the k - 1 nearest faster than passes, else None.

    ``least`` is the cost of building the tree and removing records from it, in records of a pass.
    """
    n, d = X.shape
    if n < max(least, FEWEST) or d > _MOST_ATTRIBUTES:
        return None
    pool = make_tree_pool(X)
    sample = np.linspace(0, n - 1, _SAMPLE).astype(np.int64)
    leaves_visited = list_records(pool, sample, np.full((_SAMPLE, k - 1 + SPARE), -1), False, np.inf) / _SAMPLE
    # Visiting a leaf takes about as long as a pass over LEAF records.
    return pool if n >= least + LEAF * leaves_visited else None


# The records nearest to each record, found on all cores: by passes or in a k-d tree, and among many approximately.

# How many nearest records are found for each record: twice k, within these limits.
_NEIGHBORS = (10, 48)

# Among more records than this, those found need not be the nearest: the search goes on only where the squared distance
# is less than this share of that of the last one found.
_MOST_EXACT = 20_000
_NEAR_ENOUGH = 0.3

# From how many records on a tree pays, at best.
_LEAST = 10_000

# Terms of squared distances that a thread adds between two checkpoints, and records for which it asks the tree.
_TERMS_AT_A_TIME = 20_000_000
_RECORDS_AT_A_TIME = 4_000


def _fill_rows(pool: TreePool, neighbors: IntArray, share: float, start: int, stop: int) -> None:
    """Fill the rows of ``neighbors`` of the records in the slots from ``start`` to ``stop``, with -1 at the end."""
    records = pool.tree.records[start:stop]
    lists = np.full((len(records), neighbors.shape[1]), -1)
    list_records(pool, records, lists, False, share)
    neighbors[records] = lists


@kernel
def neighbors_by_passes(columns: FloatArray, neighbors: IntArray, start: int, stop: int) -> None:
    """Fill the rows from ``start`` to ``stop`` of ``neighbors`` with the nearest records, nearest first."""
    n = columns.shape[1]
    distances = np.empty(n)
    for record in range(start, stop):
        brute_force.squared_distances(columns, 0, n, columns[:, record].copy(), distances)
        distances[record] = np.nan
        neighbors[record] = brute_force.nearest(distances, n, neighbors.shape[1])


def find_neighbors(X: FloatArray, k: int, exact: bool = False) -> IntArray:
    """Return about 2k records nearest to each of ``X``, shape (n, d), nearest first; roughly so among many records.

    If ``exact``, they are the nearest of any number, and of equally near ones those of the lowest index.
    """
    n, d = X.shape
    least, most = _NEIGHBORS
    neighbors = np.empty((n, min(max(2 * k, least), most, n - 1)), dtype=np.int64)
    if neighbors.size == 0:
        return neighbors
    if (pool := tree_if_faster(X, neighbors.shape[1], _LEAST)) is not None:
        share = np.inf if exact else 1.0 if n <= _MOST_EXACT else _NEAR_ENOUGH
        fill, at_a_time = partial(_fill_rows, pool, neighbors, share), _RECORDS_AT_A_TIME
    else:
        fill, at_a_time = partial(neighbors_by_passes, X.T.copy(), neighbors), max(1, _TERMS_AT_A_TIME // (n * d))
    with ThreadPoolExecutor(running.THREADS) as executor:
        stretch = at_a_time * running.THREADS
        for start in range(0, n, stretch):
            checkpoint("finding neighbors", start / n)
            running.in_parts(executor, fill, start, min(start + stretch, n), running.THREADS)
    return neighbors


@kernel
def sums_of_nearest(pool: TreePool, most: int, start: int, stop: int) -> FloatArray:
    """Return the sums over the records in the slots from ``start`` to ``stop`` of the squared distances to others.

    Those to the nearest, to the second nearest, …, shape (most,); infinite if there are fewer. No record has left.
    """
    sums, query = np.zeros(most), make_query(most)
    for record in pool.tree.records[start:stop]:
        count = nearest(pool.tree, pool.X[record], most, record, query)
        for j in range(most):
            sums[j] += query.values[j] if j < count else np.inf
    return sums
