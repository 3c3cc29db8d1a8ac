"""Looking ahead: the answers for the records that will be asked about next, found on all cores before they are needed.

An algorithm takes records out of the tree one group after the other, but which records it will ask about next is mostly
known. Their nearest (or farthest) records are looked up many at a time, in the order of the tree, so that neighbors in
space share the processor's caches, and on several threads. A few more than needed are kept: as records only ever leave,
those of a list that are still there are still the first, and a list serves until too few of it are left. Then, or where
nothing was looked up, the tree is asked directly; so the result does not depend on what was looked up.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.kernels.neighbors.kd_tree import Search, Tree, farthest, make_search, nearest
from microagg.kernels.neighbors.tree_pool import Index
from microagg.validation import IntArray

#: How many records more than needed are looked up.
SPARE = 3

#: Threads that look ahead.
THREADS = min(os.cpu_count() or 1, 8)

# No list was looked up, or it ended for lack of records.
_NONE = -1


class Memo(NamedTuple):
    """Lists of records, best first; made by :func:`no_memo` and :func:`look_up`.

    Attributes
    ----------
    rows : array of int, shape (n,)
        The list of each record, -1 if it has none.
    records : array of int, shape (number of lists,)
        The record of each list.
    lists : array of int, shape (number of lists, width)
        -1 after the last record where there were fewer.
    """

    rows: IntArray
    records: IntArray
    lists: IntArray


def no_memo(n: int) -> Memo:
    """Return no lists for any of ``n`` records."""
    return Memo(np.full(n, _NONE), np.empty(0, dtype=np.int64), np.empty((0, 1), dtype=np.int64))


def look_up(
    ask: Callable[..., object], memo: Memo, index: Index, records: IntArray, width: int, pool: ThreadPoolExecutor
) -> Memo:
    """Return lists of ``width`` for ``records``, those in ``memo`` forgotten; ``ask`` is a compiled function below."""
    ordered = records[np.argsort(index.tree.slots[records])]
    lists = np.full((len(ordered), width), _NONE)
    cuts = np.linspace(0, len(ordered), THREADS + 1).astype(np.int64)
    parts = [slice(start, stop) for start, stop in pairwise(cuts) if stop > start]
    list(pool.map(lambda part: ask(index, ordered[part], lists[part]), parts))
    memo.rows[memo.records] = _NONE
    memo.rows[ordered] = np.arange(len(ordered))
    return Memo(memo.rows, ordered, lists)


def look_up_missing(
    ask: Callable[..., object],
    memo: Memo,
    index: Index,
    records: IntArray,
    width: int,
    needed: int,
    pool: ThreadPoolExecutor,
) -> Memo:
    """Do as :func:`look_up`, but keep the lists in ``memo`` that still tell the first ``needed`` records.

    ``records`` are distinct, and the lists in ``memo`` have the same width.
    """
    serves = _serve(memo, index.tree, records, needed)
    kept = records[serves]
    lists = memo.lists[memo.rows[kept]]
    new = look_up(ask, memo, index, records[~serves], width, pool)
    if len(kept) == 0:
        return new
    memo.rows[kept] = len(new.records) + np.arange(len(kept))
    return Memo(memo.rows, np.concatenate([new.records, kept]), np.concatenate([new.lists, lists]))


@njit(cache=True, nogil=True)
def _serve(memo: Memo, tree: Tree, records: IntArray, needed: int) -> NDArray[np.bool_]:
    """Return for which of ``records`` there is a list that still tells the first ``needed``."""
    found = np.empty(needed, dtype=np.int64)
    serves = np.empty(len(records), dtype=np.bool_)
    for i in range(len(records)):
        serves[i] = recall(memo, tree, records[i], needed, -1, found) >= 0
    return serves


@njit(cache=True, nogil=True)
def ask_nearest(index: Index, records: IntArray, lists: IntArray) -> int:
    """Fill each row of ``lists`` with the records nearest to one of ``records``, itself aside.

    Return how many leaves were looked into.
    """
    search = make_search(lists.shape[1])
    for i in range(len(records)):
        count = nearest(index.tree, index.X[records[i]], lists.shape[1], records[i], search)
        lists[i, :count] = search.found[:count]
    return search.looked[0]


@njit(cache=True, nogil=True)
def ask_farthest(index: Index, records: IntArray, lists: IntArray) -> int:
    """Fill each row of ``lists`` with the records farthest from one of ``records``, itself aside.

    Return how many leaves were looked into.
    """
    search = make_search(lists.shape[1])
    for i in range(len(records)):
        record = records[i]
        own = index.tree.norms[record]
        count = farthest(index.tree, index.X[record], own, lists.shape[1], record, search)
        lists[i, :count] = search.found[:count]
    return search.looked[0]


@njit(cache=True, nogil=True)
def recall(memo: Memo, tree: Tree, record: int, most: int, excluded: int, found: IntArray) -> int:
    """Write the first ``most`` of the list of ``record`` that are still there, ``excluded`` aside, into ``found``.

    Return how many there are: fewer than ``most`` only if the tree has no more; -1 if the list cannot tell.
    """
    row = memo.rows[record]
    if row < 0:
        return -1
    count = 0
    for candidate in memo.lists[row]:
        if candidate < 0 or count == most:
            return count
        if tree.slots[candidate] >= 0 and candidate != excluded:
            found[count] = candidate
            count += 1
    return count if count == most else -1


@njit(cache=True, nogil=True)
def nearest_to(index: Index, memo: Memo, record: int, most: int, excluded: int, search: Search) -> int:
    """Find the ``most`` records nearest to ``record``, itself and ``excluded`` aside; return how many there are.

    They are in ``search.found``, which has room for one more; ``search.values`` is undefined.
    """
    count = recall(memo, index.tree, record, most, excluded, search.found)
    if count >= 0:
        return count
    found = nearest(index.tree, index.X[record], most + (1 if excluded >= 0 else 0), record, search)
    count = 0
    for i in range(found):
        if search.found[i] != excluded and count < most:
            search.found[count] = search.found[i]
            count += 1
    return count


@njit(cache=True, nogil=True)
def farthest_from(index: Index, memo: Memo, record: int, search: Search) -> int:
    """Return the record farthest from ``record``, itself aside; -1 if there is no other."""
    count = recall(memo, index.tree, record, 1, -1, search.found)
    if count < 0:
        count = farthest(index.tree, index.X[record], index.tree.norms[record], 1, record, search)
    return search.found[0] if count > 0 else -1
