"""Local search: the partition of another algorithm, improved until no move of records lowers the loss, or further.

``local-search``

1. ``start`` makes the groups.
2. Groups of 2k records or more are cut.
3. For each record, the best of these moves is made while it lowers the SSE: it goes to another group; it changes places
   with a record of another group; it goes to another group, from which a record goes to a third.
4. For each group, these are tried: it and a group near to it are cut anew along a line; it is dissolved. If any of them
   lowers the SSE, step 3 is next.

See :mod:`microagg.kernels.local_search.descent` for the moves, and for which groups are tried. The SSE is never above
that of the start, but need not be the least.

``iterated-local-search`` goes on from there:

5. Ruin and recreate: the records of a few neighboring groups are given new groups at random, and local search repairs
   these and the groups around them. If the SSE has fallen, or risen by a little, the partition stays, otherwise all is
   undone. This is repeated, and the best partition is kept. See :mod:`microagg.kernels.local_search.iterated`.

Step 5 is done ``effort`` times for each group of the partition before it. With ``seconds``, it ends after this time at
the latest.

``least-loss`` searches on its own, of numbers as above, of records that hold categories for the least Total-IL, see
:mod:`microagg.kernels.local_search.mixed_search`:

1. Groups are made: of numbers by MDAV*, of more than 20,000 records by MDAV+; of records that hold categories by greedy
   k-member, within blocks that Mondrian makes where there are more than 30,000.
2. Records are moved and exchanged among groups until nothing is gained.
3. A few neighboring groups are taken apart and put together otherwise, again and again; what lowers the loss stays.
   This is done 20 times (quick effort), 100 times (moderate), 200 times (usual) or 2,000 times (thorough) for each
   group there is, but no more than 10,000, 50,000, 100,000 or 2,000,000 times in all; where records hold categories,
   half as often for each group, but up to five times as often in all (moderate is as usual there); and the less often
   the more k is above 20 (at k = 100 a fifth as often), as each time takes longer. With a number of seconds, about so
   long: the quick effort is timed, and what it took for an iteration says how many more there is time for, one for each
   group at least. With this number the same groups are made again.

With rules that groups have to keep of confidential attributes, these are made to keep them in the end. There are more
starts then: groups of step 1 and of t-closeness first that are as large as groups have to be to keep the rules, or
larger; where most groups of step 1 lack something, the groups of steps 2 and 3 are none of them. The best result is
improved in further rounds, until records were examined 20,000 (quick), 1,000,000 (thorough) or 100,000 (otherwise)
times; see :mod:`microagg.kernels.local_search.guarded`. More than 2,000 records, or 5,000 if only diversity is to be
kept, are searched by regions. They consist of groups of t-closeness first, merged where they lack something, so that
each region keeps the rules as a whole. This is done three times, with other borders, at the quick effort, or the usual
one if thorough is chosen.

Numbers of a single attribute are sorted and cut optimally instead, as by MHM: nothing loses less.

The loss is the SSE of numbers, and Total-IL of records that hold categories. It never is above that of step 1.

Time: that of the start; then O(kd) for each record and group that is tried, in several dozen passes; an iteration of
step 5 takes a time that does not depend on the number of records.

Source: chosen here. The moves are those of Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013, and exchanges as in
other local searches for groups of least SSE; step 5 is along the lines of Lourenço, Martin & Stützle 2003 and Schrimpf
et al. 2000.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial

import numpy as np

from microagg.algorithms.base import LOCAL_SEARCH, Info, Microaggregator, Param, start_labels
from microagg.columns.records import Records
from microagg.kernels.local_search import guarded, mixed_search
from microagg.kernels.local_search.guarded import Rules
from microagg.kernels.local_search.iterated import divide, improve, records_of, search_regions
from microagg.kernels.local_search.mixed_search import centers_of
from microagg.kernels.paths import by_value, split_path
from microagg.partition import Partition, canonical_labels
from microagg.progress import checkpoint, watched
from microagg.validation import FloatArray, IntArray

#: How often groups are taken apart at k of at most 20: for each group, and in all at most.
EFFORTS = {"quick": (20, 10_000), "moderate": (100, 50_000), "usual": (200, 100_000), "thorough": (2_000, 2_000_000)}

#: With rules to keep: how many records are examined before the last start is tried, and as many before the last round.
EXAMINED = {"quick": 20_000, "moderate": 100_000, "usual": 100_000, "thorough": 1_000_000}

#: Groups are begun with that are so many times as large as those that can keep the rules.
STARTS = (1.4, 1.0, 2.0)

#: With rules to keep, more records than this are searched by regions of about so many, so often; a region has room for
#: so many of the smallest groups that can keep the rules. With diversity alone they are this many times as many.
MOST_WITH_RULES, ROUNDS, GROUPS_IN_REGION, TIMES_WITH_DIVERSITY = 2_000, 3, 20, 2.5

#: For records that hold categories: the share of the iterations for each group, and how many times the most in all.
MIXED_SHARE, MIXED_TIMES = 0.5, 10

#: More records than this are not compared with all others: MDAV+ compares them by a tree, Mondrian divides them before.
MOST_FOR_MDAV_STAR, MOST_FOR_K_MEMBER = 20_000, 30_000

_START = Param("start", "algorithm", (), "mdav-star", "The algorithm that makes the groups to improve.")


class LocalSearch(Microaggregator):
    info = Info(
        key="local-search",
        title="Local search",
        family=LOCAL_SEARCH,
        summary="Improves the groups of another algorithm by moving and exchanging records while that lowers the loss.",
        year=2026,
        reference="microagg",
        complexity="O(start + nkd) a pass",
        checked_by="properties",
        note="Not from the literature: which moves are made, and in which order, was chosen here. The result is never "
        "worse than the start.",
    )
    params = (_START,)

    def _partition(self, X: FloatArray, k: int, *, start: str) -> IntArray:
        return improve(X, start_labels(start, X, k), k)


class IteratedLocalSearch(Microaggregator):
    info = Info(
        key="iterated-local-search",
        title="Iterated local search",
        family=LOCAL_SEARCH,
        summary="Takes a few neighboring groups apart and improves them by local search, again and again.",
        year=2026,
        reference="microagg",
        complexity="O(start + nkd) a pass",
        checked_by="properties",
        deterministic=False,
        note="Not from the literature: which groups are taken apart, how, and what is kept was chosen here. The same "
        "seed gives the same groups, unless the time is limited by seconds.",
    )
    params = (
        _START,
        Param("effort", "int", (0, None), 20, "How often groups are taken apart, for each group."),
        Param(
            "seconds",
            "float",
            (0.0, None),
            0.0,
            "The maximum number of seconds: the search ends then even if the effort is not spent. 0 sets no limit.",
        ),
        Param("random_state", "int", (0, None), 0, "The seed: the same seed gives the same groups."),
    )

    def _partition(
        self, X: FloatArray, k: int, *, start: str, effort: int, seconds: float, random_state: int
    ) -> IntArray:
        return improve(X, start_labels(start, X, k), k, effort, seconds=seconds, random_state=random_state)


class LeastLoss(Microaggregator):
    """The least loss that a search within a chosen effort comes to.

    Attributes
    ----------
    iterations_ : int
        How often groups were taken apart after the quick effort, for each group; 0 where the effort is a word.
    """

    info = Info(
        key="least-loss",
        title="Least loss",
        family=LOCAL_SEARCH,
        summary="Makes groups quickly, then takes neighbors apart and improves them for as long as the effort says.",
        year=2026,
        reference="microagg",
        complexity="O(start + nkd) a pass",
        mixed=True,
        numbers_by_sse=True,
        keeps_rules=True,
        checked_by="properties",
        note="Not from the literature: how groups are made first, which are taken apart, and how often, was chosen "
        "here. Random numbers have a fixed seed, so the same data give the same groups.",
    )
    params = (
        Param(
            "effort",
            "choice",
            tuple(EFFORTS),
            "usual",
            "How often groups are taken apart: a tenth as often as usual if quick, half as often if moderate (without "
            "categories), ten times as often if thorough. A number of seconds does it as often as there is time.",
            counted="iterations",
        ),
        Param(
            "iterations",
            "int",
            (0, None),
            0,
            "How often groups are taken apart after the quick effort, for each group; 0 leaves this to the effort. A "
            "run with seconds reports this number, which makes the same groups again.",
        ),
    )

    def _partition(
        self, X: FloatArray | Records, k: int, rules: Rules | None = None, *, effort: str | float, iterations: int
    ) -> IntArray:
        self.iterations_ = iterations if iterations or isinstance(effort, str) else 1
        if rules is None:
            return self._least(X, k, effort)
        least, word = guarded.least_size(rules, k), effort if isinstance(effort, str) else "usual"
        times = 1.0 if (rules.kinds >= guarded.EQUAL).any() else TIMES_WITH_DIVERSITY
        if len(X) > max(times * MOST_WITH_RULES, GROUPS_IN_REGION * least):
            return _by_regions(X, k, rules, least, "usual" if word == "thorough" else "quick")
        return guarded.Search(X, k, rules).best(self._starts(X, k, rules, effort), EXAMINED[word])

    def _starts(self, X: FloatArray | Records, k: int, rules: Rules, effort: str | float) -> Iterator[IntArray]:
        """Yield the start labels of a search for groups that satisfy ``rules``."""
        least = guarded.least_size(rules, k)
        if (
            least < 2 * k
            and np.mean([guarded.lack(rules, rows) > 0.0 for rows in Partition(_start(X, k), k).groups()]) < 0.5
        ):
            yield self._least(X, k, effort)
        for times in STARTS:
            size = min(math.ceil(times * least), len(X))
            yield _start(X, size)
            if (rules.kinds >= guarded.EQUAL).any():
                yield start_labels("t-closeness-first", X, size, rules)

    def _least(self, X: FloatArray | Records, k: int, effort: str | float) -> IntArray:
        """Return labels with nothing to keep beyond k."""
        began = time.perf_counter()
        labels = _start(X, k)
        if not isinstance(X, Records) and X.shape[1] == 1:
            return labels
        if effort == "moderate" and isinstance(X, Records):
            effort = "usual"  # half as often has a loss that is 1 to 3 % higher there
        if isinstance(effort, str) and not self.iterations_:
            return _search(X, labels, k, *_times(effort, k, X))
        labels = _search(X, labels, k, 1, 2)  # and what has to be compiled is compiled
        settled = time.perf_counter()
        each, most = _times("quick", k, X)
        done = min(each, most / (int(labels.max()) + 1))
        labels = _search(X, labels, k, each, most)
        if not self.iterations:
            now = time.perf_counter()
            self.iterations_ = max(1, int(done * (float(effort) - (now - began)) / (now - settled)))
        return _search(X, labels, k, self.iterations_, self.iterations_ * len(X), random_state=1)


def _by_regions(X: FloatArray | Records, k: int, rules: Rules, least: int, effort: str) -> IntArray:
    """Return labels of groups that satisfy ``rules``, found within regions of groups that do.

    By convexity, all records of such a region satisfy the rules, too.
    """
    closeness = rules
    if (rules.kinds < guarded.EQUAL).all():  # groups of the size ``least`` whose values are spread like those of all
        closeness = rules._replace(kinds=np.full_like(rules.kinds, guarded.EQUAL), bounds=np.ones_like(rules.bounds))
    start = Partition(start_labels("t-closeness-first", X, least, closeness), k)
    labels = guarded.Search(X, k, rules).merged(start).labels.copy()

    def search(part: IntArray, is_first: bool, stop: threading.Event) -> IntArray:
        data = X.take(part) if isinstance(X, Records) else X[part]
        part_rules = rules._replace(codes=np.ascontiguousarray(rules.codes[:, part]))
        model = LeastLoss(k)
        model.iterations_ = 0
        starts = model._starts(data, k, part_rules, effort) if is_first else iter([labels[part]])
        with watched(lambda *_: not stop.is_set()):
            return guarded.Search(data, k, part_rules).best(starts, EXAMINED[effort])

    for number in range(ROUNDS if labels.any() else 0):
        centers = centers_of(X if isinstance(X, Records) else Records.of_numbers(X), labels)
        most, draw = max(MOST_WITH_RULES, GROUPS_IN_REGION * least), np.random.default_rng(number)
        parts, firsts = records_of(divide(centers, np.bincount(labels), draw, most=most, fewest=2), labels, k)
        searches = [partial(search, part, number == 0) for part in parts]
        with closing(search_regions(labels, parts, firsts, searches)) as shares:
            for share in shares:
                checkpoint("keeping what is guaranteed", (number + share) / ROUNDS)
        labels = canonical_labels(labels).copy()
    return labels


def _times(effort: str, k: int, X: FloatArray | Records) -> tuple[int, int]:
    """Return how often groups are taken apart: for each group, and in all at most."""
    each, most = EFFORTS[effort]
    return max(1, each * 20 // max(k, 20)), most * (MIXED_TIMES if isinstance(X, Records) else 1)


def _start(X: FloatArray | Records, k: int) -> IntArray:
    """Return labels that are found quickly; of numbers of a single attribute, the optimal ones."""
    if isinstance(X, Records):
        return _start_mixed(X, k)
    if X.shape[1] == 1:
        return split_path(X, by_value(X[:, 0]), k)
    return start_labels("mdav-star" if len(X) <= MOST_FOR_MDAV_STAR else "mdav-plus", X, k)


def _search(X: FloatArray | Records, labels: IntArray, k: int, each: int, most: int, random_state: int = 0) -> IntArray:
    """Return labels improved by local search, and by ``each`` iterations for each group, but ``most`` in all."""
    if isinstance(X, Records):
        iterations = int(MIXED_SHARE * min(each * (int(labels.max()) + 1), most))
        return mixed_search.improve(X, labels, k, iterations, random_state=random_state)
    return improve(X, labels, k, each, most, random_state=random_state)


def _start_mixed(records: Records, k: int) -> IntArray:
    """Return the labels of greedy k-member, found within blocks where there are many records."""
    if records.n <= MOST_FOR_K_MEMBER:
        return start_labels("k-member", records, k)
    blocks = list(Partition(start_labels("mondrian", records, max(k, MOST_FOR_K_MEMBER // 2)), k).groups())
    labels = np.empty(records.n, dtype=np.int64)

    def form(block: IntArray, stop: threading.Event) -> IntArray:
        with watched(lambda *_: not stop.is_set()):
            return start_labels("k-member", records.take(block), k)

    firsts = [0, *np.cumsum([len(block) // k for block in blocks[:-1]]).tolist()]
    with closing(search_regions(labels, blocks, firsts, [partial(form, block) for block in blocks])) as shares:
        for share in shares:
            checkpoint("forming groups", share)
    return canonical_labels(labels)
