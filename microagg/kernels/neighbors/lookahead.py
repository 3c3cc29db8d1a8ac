"""The nearest and farthest records of the records that will be asked about next, found on all cores before needed.

An algorithm takes records out of the tree one group after the other, but which records it will ask about next is mostly
known. Their nearest (or farthest) records are found many at a time, in the order of the tree, so that neighbors in
space share the processor's caches, and on several threads. Each gets a list with a few more records than are needed. As
records are only ever removed, those of a list that are left remain the best of all that are left, in the same order: a
list serves until too few of it are left. Then, or where there is no list, the tree is asked. So the answers do not
depend on which lists there are.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels import running
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.kd_tree import LEAF, Tree, TreePool, make_tree_pool
from microagg.kernels.neighbors.tree_queries import NeighborQuery, farthest, make_query, nearest, roughly_nearest
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
) -> tuple[NeighborCache, int]:  # fmt: skip
    """Return a cache of lists of the records nearest to ``records``, or ``far`` ones, and how many leaves were visited.

    ``cache`` is used up: of its lists, which must have the same ``width``, those stay that have ``needed`` unassigned
    records.
    """
    serves = _serve(cache, pool.tree, records, needed)
    reused, new = records[serves], records[~serves]
    new = new[np.argsort(pool.tree.slots[new])]
    lists = np.full((len(records), width), _NONE)
    if len(reused) > 0:
        lists[len(new) :] = cache.lists[cache.rows[reused]]
    visited = running.in_parts(
        executor,
        lambda start, stop: list_records(pool, new[start:stop], lists[start:stop], far, np.inf),
        0,
        len(new),
        running.THREADS,
    )
    cache.rows[cache.records] = _NONE
    listed = np.concatenate([new, reused])
    cache.rows[listed] = np.arange(len(listed))
    return NeighborCache(cache.rows, listed, lists), sum(visited)


@kernel
def _serve(cache: NeighborCache, tree: Tree, records: IntArray, needed: int) -> NDArray[np.bool_]:
    """Whether the list of each record has ``needed`` unassigned records, or all of them if fewer are left."""
    neighbors = np.empty(needed, dtype=np.int64)
    serves = np.empty(len(records), dtype=np.bool_)
    for i in range(len(records)):
        serves[i] = read_list(cache, tree, records[i], needed, -1, neighbors) >= 0
    return serves


@kernel
def list_records(pool: TreePool, records: IntArray, lists: IntArray, far: bool, share: float) -> int:
    """Fill each row of ``lists`` with the others nearest to one of ``records``, or farthest from it.

    With a ``share`` of at most 1 they are roughly the nearest, see :func:`.tree_queries.roughly_nearest`; with an
    infinite one exactly. Return how many leaves of the tree were visited.
    """
    query = make_query(lists.shape[1])
    for i in range(len(records)):
        record = records[i]
        if far:
            count = farthest(pool.tree, pool.X[record], pool.tree.norms[record], lists.shape[1], record, query)
        else:
            count = roughly_nearest(pool.tree, pool.X[record], lists.shape[1], record, share, query)
        for j in range(count):
            lists[i, j] = query.found[j]
    return query.visited[0]


@borrows
def read_list(cache: NeighborCache, tree: Tree, record: int, most: int, excluded: int, neighbors: IntArray) -> int:
    """Write the first ``most`` unassigned records of the list of ``record``, without ``excluded``, to ``neighbors``.

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
        if tree.slots[candidate] >= 0 and candidate != excluded:
            neighbors[count] = candidate
            count += 1
    return count if count == most else -1


@kernel
def nearest_to(
    pool: TreePool, cache: NeighborCache, record: int, most: int, excluded: int, query: NeighborQuery
) -> int:
    """Find the ``most`` records nearest to ``record``, without itself and ``excluded``; return their number.

    They are written to ``query.found``, which must have room for one more.
    """
    count = read_list(cache, pool.tree, record, most, excluded, query.found)
    if count >= 0:
        return count
    n_neighbors = nearest(pool.tree, pool.X[record], most + (1 if excluded >= 0 else 0), record, query)
    count = 0
    for i in range(n_neighbors):
        if query.found[i] != excluded and count < most:
            query.found[count] = query.found[i]
            count += 1
    return count


@borrows
def farthest_from(pool: TreePool, cache: NeighborCache, record: int, query: NeighborQuery) -> int:
    """Return the record farthest from ``record``, itself aside; -1 if there is no other."""
    count = read_list(cache, pool.tree, record, 1, -1, query.found)
    if count < 0:
        count = farthest(pool.tree, pool.X[record], pool.tree.norms[record], 1, record, query)
    return query.found[0] if count > 0 else -1


# Whether neighbors are found by passes or in a k-d tree, which give the same. Passes use the processor's vector units
# and are faster for few records. The tree visits a part of many, which depends on the data: of 16,000 records with 16
# evenly spread attributes nine tenths, of as many with 40 attributes that lie in clusters one in twelve. So where it
# may pay at all, one is made and asked for the neighbors of some of them.

#: Once fewer records than this are unassigned, passes finish the work.
FEWEST = 2_000

# Beyond so many attributes a tree would visit nearly all records of most data, and take as much memory as they do.
_MOST_ATTRIBUTES = 100

# Of how many records, evenly spread over the table, the nearest are looked for.
_ASKED = 32


def tree_if_faster(X: FloatArray, k: int, least: int) -> TreePool | None:
    """Build a tree of the records ``X``, shape (n, d), if it finds the k - 1 nearest faster than passes, else None.

    ``least`` is the cost of building the tree and removing records from it, in records of a pass.
    """
    n, d = X.shape
    if n < max(least, FEWEST) or d > _MOST_ATTRIBUTES:
        return None
    pool = make_tree_pool(X)
    sample = np.linspace(0, n - 1, _ASKED).astype(np.int64)
    leaves_visited = list_records(pool, sample, np.full((_ASKED, k - 1 + SPARE), -1), False, np.inf) / _ASKED
    # Visiting a leaf takes about as long as a pass over LEAF records.
    return pool if n >= least + LEAF * leaves_visited else None
