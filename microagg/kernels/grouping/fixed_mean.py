"""Groups from the outside in, of many records: the main loop of MDAV+, V-MDAV and MDAV*, by a tree.

Their seeds come in a fixed order, by the distance from the centroid of all data. What is nearest to the next seeds is
looked up on all cores, many seeds at a time (see :mod:`.ahead`); a compiled step of the algorithm then takes the seeds
one after the other.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from microagg.kernels.grouping.groups import Groups, make_groups
from microagg.kernels.neighbors import crossover as choice
from microagg.kernels.neighbors import lookahead as ahead
from microagg.kernels.neighbors.brute_force import Pool, pool_of
from microagg.kernels.neighbors.lookahead import Memo, ask_nearest, look_up, no_memo
from microagg.kernels.neighbors.tree_pool import ALIVE, Index, from_the_outside, make_index, next_of
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: Of the unassigned records, one in so many is looked up as a seed at a time; with more, more lists are outdated.
SHARE = 128
_FEWEST_SEEDS = 64

#: Called with groups, index, lists of the nearest records, seeds, how many records are to be left unassigned at least,
#: and threads; returns the lists, if it has looked up more.
Step = Callable[[Groups, Index, Memo, IntArray, int, ThreadPoolExecutor], Memo]


def form_inward(X: FloatArray, k: int, make_step: Callable[[Index, Groups], Step]) -> tuple[Groups, Pool, IntArray]:
    """Take the records of ``X``, shape (n, d), n >= k, into groups by a step, as long as many are unassigned.

    Returns
    -------
    groups : Groups
        As far as they are formed.
    rest : Pool
        The unassigned records; as there are few, passes over them are faster.
    order : array of int
        The records still to be seeds, in their order.
    """
    n, d = X.shape
    until = max(k, choice.FEWEST)
    index, groups = make_index(X, ahead.THREADS), make_groups(n, d, k)
    step = make_step(index, groups)
    order, start, near = from_the_outside(index), 0, no_memo(n)
    with ThreadPoolExecutor(ahead.THREADS) as threads:
        while index.counts[ALIVE] >= until:
            left = int(index.counts[ALIVE])
            checkpoint("forming groups", 1.0 - left / n)
            seeds, start = next_of(index, order, start, max(_FEWEST_SEEDS, left // SHARE))
            near = look_up(ask_nearest, near, index, seeds, k - 1 + ahead.SPARE, threads)
            near = step(groups, index, near, seeds, until, threads)
    unassigned = groups.labels < 0
    return groups, pool_of(X, np.flatnonzero(unassigned)), order[unassigned[order]]
