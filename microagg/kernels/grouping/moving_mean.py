"""Groups at the edge of many records: the main loop of MDAV and of CBFS, by a tree.

r is the unassigned record farthest from the centroid of the unassigned, and forms a group with its k-1 nearest; in
MDAV so does s, the one then farthest from r. Which records come next is foreseen from the outskirts: as the centroid
hardly moves, they are those farthest from it now. What is nearest to them and farthest from them is looked up on all
cores (see :mod:`.ahead`), and what is nearest to those farthest from them. Then groups are formed one after the other
until an r comes up that was not foreseen.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numba import njit

from microagg.kernels.grouping.groups import Groups, found_group, make_groups
from microagg.kernels.neighbors import crossover as choice
from microagg.kernels.neighbors import lookahead as ahead
from microagg.kernels.neighbors.brute_force import Pool, pool_of
from microagg.kernels.neighbors.farthest_from_mean import (
    Outskirts,
    farthest_out,
    front,
    is_used_up,
    make_outskirts,
    without_assigned,
)
from microagg.kernels.neighbors.kd_tree import LEAF, make_search
from microagg.kernels.neighbors.lookahead import Memo, farthest_from, look_up_missing, nearest_to, no_memo
from microagg.kernels.neighbors.tree_pool import ALIVE, Index, index_of_rest, make_index
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: How many r are foreseen, at first and at most. With more, what was looked up for the last ones is often outdated.
FORESEEN_AT_FIRST = 8
FORESEEN = 64

#: How many records farthest from an r are looked up: s, and another one should s be gone.
OPPOSITE = 2

#: A search takes as long for a leaf as a pass over all records for so many times the records in it, roughly. The tree
#: is given up where passes are faster, as may be with many attributes; but hardly ever for fewer records than these.
COST_OF_LEAF = 3
GIVEN_UP_FROM = 4_096

#: Once half the records of a tree have left, the rest get a new one if there are as many as this.
WORTH_A_TREE = 16_384


def form_groups_at_edge(X: FloatArray, k: int, until: int, in_pairs: bool) -> tuple[Groups, Pool]:
    """Form groups of k records of ``X``, shape (n, d), n >= k, and return them and the records left.

    They are those of :func:`microagg.kernels.bases.mdav.form_groups_in_pairs` or, if not ``in_pairs``, of
    :func:`microagg.kernels.bases.mdav.form_group_at_edge`, while at least ``until`` records are unassigned; so many as
    each needs, 2k or k. What is left may be more: where there are few, passes over them are faster.
    """
    n, d = X.shape
    until = max(until, choice.FEWEST)
    groups = make_groups(n, d, k)
    # The records of the tree, and their groups.
    records, current = np.arange(n), groups
    index = make_index(X, ahead.THREADS)
    with ThreadPoolExecutor(ahead.THREADS) as threads:
        while True:
            half = len(records) // 2
            stop = max(until, half) if half >= WORTH_A_TREE else until
            pays = _form_until(current, index, k, stop, in_pairs, n, threads)
            groups.labels[records] = current.labels
            left = np.flatnonzero(index.tree.slots >= 0)
            records = records[left]
            if len(records) < until or not pays:
                break
            index = index_of_rest(index, left, ahead.THREADS)
            current = groups._replace(labels=np.full(len(records), -1))
    rest = pool_of(X, records)
    # Bitwise, sums depend on what was in them before.
    rest.totals[:] = index.totals
    return groups, rest


def _form_until(
    groups: Groups, index: Index, k: int, until: int, in_pairs: bool, n: int, threads: ThreadPoolExecutor
) -> bool:
    """Form groups while at least ``until`` records are unassigned, and return whether the tree still pays.

    ``n`` records were unassigned at the beginning of the whole run.
    """
    near, far = no_memo(len(index.X)), no_memo(len(index.X))
    outskirts = make_outskirts(index)
    most = FORESEEN_AT_FIRST
    looked = rounds = 0.0
    while index.counts[ALIVE] >= until:
        checkpoint("forming groups", 1.0 - index.counts[ALIVE] / n)
        outskirts = make_outskirts(index) if is_used_up(index, outskirts) else without_assigned(index, outskirts)
        seeds = front(index, outskirts, min(most, index.counts[ALIVE] // k))
        near, far, looked_ahead = _look_ahead(index, near, far, seeds, k, in_pairs, threads)
        known, strangers = far.rows if in_pairs else near.rows, FORESEEN // most - 1
        foreseen, formed, looked_now = _form(groups, index, outskirts, near, far, known, k, until, in_pairs, strangers)
        # Where hardly anything comes as it was foreseen, little is looked up, and more is left to the tree.
        if 8 * foreseen < len(seeds) or foreseen == 0:
            most = max(most // 2, 1)
        elif 2 * foreseen >= most:
            most = min(2 * most, FORESEEN)
        looked += looked_ahead / ahead.THREADS + looked_now
        rounds += formed
        if rounds >= FORESEEN_AT_FIRST:
            left, passes = index.counts[ALIVE], 3 if in_pairs else 2
            if left >= GIVEN_UP_FROM and looked * COST_OF_LEAF * LEAF > rounds * passes * left:
                return False
            # What is past counts less and less.
            looked, rounds = looked / 2, rounds / 2
    return True


def _look_ahead(
    index: Index, near: Memo, far: Memo, seeds: IntArray, k: int, in_pairs: bool, threads: ThreadPoolExecutor
) -> tuple[Memo, Memo, int]:
    """Look up what ``seeds`` as r, in this order, will need.

    Returns
    -------
    near, far : Memo
        The lists of the nearest and of the farthest records.
    looked : int
        How many leaves were looked into.
    """
    looked: list[int] = []

    def ask_nearest(index: Index, records: IntArray, lists: IntArray) -> None:
        looked.append(ahead.ask_nearest(index, records, lists))

    def ask_farthest(index: Index, records: IntArray, lists: IntArray) -> None:
        looked.append(ahead.ask_farthest(index, records, lists))

    width = k - 1 + ahead.SPARE
    near = look_up_missing(ask_nearest, near, index, seeds, width, k - 1, threads)
    if in_pairs:
        survivors, _ = _foresee(index, near, far, seeds, k)
        far = look_up_missing(ask_farthest, far, index, survivors, OPPOSITE, 1, threads)
        survivors, opposite = _foresee(index, near, far, survivors, k)
        both = np.union1d(survivors, opposite)
        near = look_up_missing(ask_nearest, near, index, both, width, k - 1, threads)
    return near, far, sum(looked)


@njit(cache=True, nogil=True)
def _foresee(index: Index, near: Memo, far: Memo, seeds: IntArray, k: int) -> tuple[IntArray, IntArray]:
    """Return which of ``seeds`` will be an r, as no earlier group will have taken them, and the records s of these.

    So far as the lists tell: where one is missing, nothing is taken.
    """
    gone = set(seeds[:0])  # empty, but of a type known to the compiler
    survivors, opposite = np.empty_like(seeds), np.empty_like(seeds)
    surviving = opposing = 0
    for r in seeds:
        if r in gone:
            continue
        survivors[surviving] = r
        surviving += 1
        _take_group(index, near, r, k, gone)
        s = _first_left(index, far, r, gone)
        if s >= 0:
            opposite[opposing] = s
            opposing += 1
            _take_group(index, near, s, k, gone)
    return survivors[:surviving], opposite[:opposing]


@njit(cache=True, nogil=True)
def _take_group(index: Index, near: Memo, seed: int, k: int, gone: set[int]) -> None:
    """Add ``seed`` and its k-1 nearest, where they are listed, to those ``gone``."""
    gone.add(seed)
    for _ in range(k - 1):
        record = _first_left(index, near, seed, gone)
        if record < 0:
            return
        gone.add(record)


@njit(cache=True, nogil=True)
def _first_left(index: Index, memo: Memo, record: int, gone: set[int]) -> int:
    """Return the first in the list of ``record`` that is unassigned and not ``gone``; -1 if there is none."""
    row = memo.rows[record]
    if row >= 0:
        for candidate in memo.lists[row]:
            if candidate >= 0 and index.tree.slots[candidate] >= 0 and candidate not in gone:
                return candidate
    return -1


@njit(cache=True, nogil=True)
def _form(
    groups: Groups,
    index: Index,
    outskirts: Outskirts,
    near: Memo,
    far: Memo,
    known: IntArray,
    k: int,
    until: int,
    in_pairs: bool,
    strangers: int,
) -> tuple[int, int, int]:
    """Form groups, or pairs, until the next r is a stranger.

    Strangers are -1 in ``known``, shape (n,); so many ``strangers`` are let pass first. It also ends when fewer than
    ``until`` records are unassigned or the outskirts are used up.

    Returns
    -------
    foreseen : int
        Around how many r that were no strangers groups were formed.
    formed : int
        Around how many in all.
    looked : int
        How many leaves were looked into for what no list told.
    """
    search = make_search(k + 1)
    foreseen = formed = 0
    while index.counts[ALIVE] >= until:
        r = farthest_out(index, outskirts, search)
        if r < 0:
            break
        if known[r] >= 0:
            foreseen += 1
        elif strangers > 0:
            strangers -= 1
        else:
            break
        formed += 1
        count = nearest_to(index, near, r, k - 1, -1, search)
        found_group(groups, index, r, search.found[:count])
        if in_pairs:
            # Had s been chosen before r's group was formed, and gone with it, the record now farthest would take its
            # place; otherwise s is still the farthest.
            s = farthest_from(index, far, r, search)
            count = nearest_to(index, near, s, k - 1, -1, search)
            found_group(groups, index, s, search.found[:count])
    return foreseen, formed, search.looked[0]
