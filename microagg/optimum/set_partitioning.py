"""A proven lower bound on the SSE from the linear program of set partitioning, whose columns are groups.

**The program.** Let G run through all groups of k to 2k-1 records. A group of 2k or more can be split into two of at
least k without raising the SSE, because two centroids fit no worse than one. So the least SSE of all partitions is

    min Σ SSE(G) x_G   such that   Σ_{G ∋ i} x_G = 1 for each record i,   x_G in {0, 1},

and at most that without the condition that x_G is 0 or 1.

**Cuts of rank one** tighten it. Let u_i ≥ 0 be whole numbers and q > 1. As each record is in one group, Σ_G w(G) x_G =
Σ_i u_i, w(G) being the sum of the u of its members. Dividing by q and rounding down what multiplies whole numbers gives

    Σ_G ⌊w(G) / q⌋ x_G ≤ ⌊Σ_i u_i / q⌋        (Gomory 1958; Chvátal 1973).

Among them are the *subset-row cuts* (Jepsen, Petersen, Spoorendonk & Pisinger 2008), u = 1 for three records and q = 2:
of the groups that hold at least two of these a partition has at most one, as two would share a record.

**The bound.** Take any numbers pi_i, one for each record, and any sigma_c ≥ 0, one for each cut: dual values. A
partition P satisfies the cuts and has each record in one group, so

    SSE(P) = Σ_{G in P} SSE(G)
           ≥ Σ_{G in P} SSE(G) + Σ_i pi_i (1 - [groups of P with i]) - Σ_c sigma_c (most_c - Σ_{G in P} ⌊w_c(G) / q_c⌋)
           = Σ_i pi_i - Σ_c sigma_c most_c + Σ_{G in P} rc(G),
    rc(G) = SSE(G) - Σ_{i in G} pi_i + Σ_c sigma_c ⌊w_c(G) / q_c⌋,   most_c = ⌊Σ_i u_ci / q_c⌋,

where [groups …] is their number. Let every group be assigned to one of its members, its root, in whatever way, and let
r_i ≤ 0 be a lower bound on the rc of all groups of root i. P has at most n / k groups, all with different roots, so

    SSE(P) ≥ Σ_i pi_i - Σ_c sigma_c most_c + the sum of the n / k least r_i.

That holds for all pi and sigma; the solver only proposes them. The r_i come from branch and bound,
:mod:`microagg.kernels.bounds.pricing`, over all records that can be in a group with a negative rc. Limited effort only
makes r_i smaller.

**How pi and sigma are found.** By column generation: HiGHS solves the program over the groups found so far, the
restricted master problem; pi and sigma are its dual solution, and groups with a negative rc enter. pi is confined to a
box around the best one so far, without which it swings widely (du Merle, Villeneuve, Desrosiers & Hansen 1999). It
starts where the nearest-neighbor bound, which is a feasible dual solution, has it. Once no group is missing, violated
cuts of rank one enter.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple

import numpy as np

from microagg.kernels.bounds import pricing
from microagg.optimum.master_problem import SLICE, Master, Prices, group_costs
from microagg.optimum.program import ALLOWANCE, Program
from microagg.validation import FloatArray, IntArray

#: Maximum number of groups of a root that enter at a time.
GROUPS_PER_ROOT = 3
#: Groups with a reduced cost below this are missing, in squared units of the scaled records.
LIMIT = -1e-7
#: Number of candidates ranked for a root and a size before the search is cut short, at first.
FIRST_EFFORT = 20_000
#: Maximum of this effort: unlimited in practice, yet within 64 bits.
MAX_EFFORT = 10**15
#: Maximum number of groups below a gap of one root and size, at first and in a second attempt, and of candidates ranked
#: for them.
ROOMS, MAX_WORK = (20_000, 400_000), 10**8
#: The search for cuts of rank one starts MIN_TRIES times from each record; if ROUNDS rounds of cuts raise the bound by
#: less than the share MIN_RISE, more often, at most MAX_TRIES times.
MIN_RISE, ROUNDS, MIN_TRIES, MAX_TRIES = 1e-6, 3, 3, 12
#: Size of the box around pi at first, as a share of pi.
BOX = 0.05


class GroupSearch(NamedTuple):
    """A search for groups with a negative reduced cost: prices, cuts, result, and remaining ranges of roots."""

    prices: Prices
    cuts: pricing.Cuts
    result: pricing.Found
    tasks: deque[tuple[int, int]]


@dataclass
class Listing:
    """A search for all groups below a gap: prices, remaining sizes and roots, groups so far, and their number."""

    gap: float
    prices: Prices
    tasks: deque[tuple[int, int]]
    groups: list[IntArray] = field(default_factory=list)
    total: int = 0
    lock: Lock = field(default_factory=Lock)


class SetPartitioning(Program):
    """The program over the current groups, its ``master``. An iteration solves it and searches for groups once.

    Its ``bound`` is that of the ``prices``. It has converged when no group and, ``with_cuts``, no cut is missing
    that could raise the bound. The search for groups runs in ``threads``, by default one for each core.
    """

    def __init__(self, X: FloatArray, k: int, with_cuts: bool = True, threads: int | None = None) -> None:
        super().__init__(X, k)
        self._with_cuts = with_cuts
        self._threads = threads or os.cpu_count() or 1
        n = len(X)
        near = np.square(self._tree.query(self.X, k=np.arange(1, min(n, 2 * k - 2) + 1), workers=-1)[0])
        near = np.pad(near, ((0, 0), (0, 2 * k - 2 - near.shape[1])), mode="edge")
        self._rescale(near[:, :k])
        self._halves = np.cumsum(near / self.unit, axis=1) / 2
        # pi of the best bound so far, that bound without searches cut short, and the size of the box.
        self._center = self._halves[:, k - 1] / k
        self._center_value = float(self._center.sum())
        self.bound = self._center_value * (1 - ALLOWANCE)
        self.prices = Prices(self._center, (), np.empty(0))
        self._box = BOX * np.maximum(self._center, 0.1)
        self._effort = FIRST_EFFORT
        self._current_search: GroupSearch | None = None
        self._listing: Listing | None = None
        self._tries, self._course = MIN_TRIES, [0.0]
        self.master = Master(self.X, k)
        self.master.confine(self._center, self._box)

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """See :meth:`Program.advance`."""
        if self._current_search is None:
            if not self.master.solve(until, go_on):
                if not self.master.unbounded:
                    return False
                self._box *= 4.0
                self.master.confine(self._center, self._box)
                return True
            if not self.master.prices.usable(len(self.X)):
                self.converged = True  # there is nothing to start from
                return True
            self._current_search = self._start(self.master.prices)
        if not self._search(self._current_search, until, go_on):
            return False
        self._update(self._current_search)
        self._current_search = None
        return True

    def groups_below(
        self, gap: float, max_groups: int, until: float, go_on: Callable[[], bool]
    ) -> tuple[bool, IntArray | None]:
        """Find all groups with a reduced cost below ``gap``, at the prices of the best bound.

        ``gap`` is in squared units of the scaled records. A group of s has such a reduced cost if it has a negative one
        at prices raised by gap / s. Returns whether there was time, see :meth:`Program.advance`, and the groups, or
        None for more than ``max_groups``. The next call with the same gap continues a stopped search.
        """
        n, k, prices = len(self.X), self.k, self.prices
        if not (np.isfinite(gap) and prices.usable(n)):
            return True, None
        if self._listing is None or self._listing.gap != gap or self._listing.prices is not prices:
            tasks = deque((size, root) for size in range(k, 2 * k) for root in range(n))
            self._listing = Listing(gap, prices, tasks)
        listing = self._listing
        cuts = pricing.make_cuts(n, prices.cuts, prices.sigma)

        def work(task: tuple[int, int]) -> None:
            if listing.total > max_groups:
                return
            size, root = task
            raised_pi = prices.pi + (gap - LIMIT) / size
            # Much memory takes time, and few roots need it.
            for room in ROOMS:
                priced = pricing.make_all(root, k, room)
                limits = LIMIT, MAX_WORK
                pricing.price(self._blocks, raised_pi, cuts, self._halves, size, size, root, root + 1, *limits, priced)
                if not priced.cut_short[0]:
                    break
            with listing.lock:
                listing.groups.append(np.sort(priced.groups[0, : priced.counts[0]], axis=1))
                listing.total += max_groups + 1 if priced.cut_short[0] else int(priced.counts[0])

        if not _work_off(work, listing.tasks, self._threads, until, go_on):
            return False, None
        self._listing = None
        return True, None if listing.total > max_groups else np.unique(np.concatenate(listing.groups), axis=0)

    def groups_from(self, labels: IntArray) -> IntArray:
        """Groups of fewer than 2k records of a partition, in the form of :attr:`Master.groups`."""
        group_of = labels[self.places]
        order = np.argsort(group_of, kind="stable")
        members = np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1)
        width = 2 * self.k - 1
        groups = np.full((len(members), width), -1, dtype=np.int64)
        fits = [group for group in members if len(group) <= width]
        for row, group in zip(groups, fits, strict=False):
            row[width - len(group) :] = np.sort(group)
        return groups[: len(fits)]

    def partition_sse(self, groups: IntArray) -> float:
        """SSE of the partition into ``groups``, in squared original units."""
        return float(group_costs(self.X, groups).sum()) * self.unit

    def labels_from(self, groups: IntArray) -> IntArray:
        """Labels, shape (n,), of the partition into ``groups`` in the form of :attr:`Master.groups`."""
        labels = np.empty(len(self.X), dtype=np.int64)
        for number, group in enumerate(groups):
            labels[self.places[group[group >= 0]]] = number
        return labels

    def lower_bound(self, prices: Prices, result: pricing.Found) -> float:
        """Lower bound at ``prices``, from a finished search for groups with them, in scaled units."""
        groups_term = _sum_smallest(result.least, len(self.X) // self.k)
        return prices.value + groups_term - ALLOWANCE * (prices.size - groups_term)

    def _start(self, prices: Prices) -> GroupSearch:
        n = len(self.X)
        step = max(1, min(64, n // 32))
        tasks = deque((root, min(n, root + step)) for root in range(0, n, step))
        cuts = pricing.make_cuts(n, prices.cuts, prices.sigma)
        return GroupSearch(prices, cuts, pricing.make_found(n, self.k, GROUPS_PER_ROOT), tasks)

    def _search(self, search: GroupSearch, until: float, go_on: Callable[[], bool]) -> bool:
        """Search until ``until`` or a stop, and return whether all roots are done."""
        prices, cuts, result, tasks = search
        sizes = self.k, 2 * self.k - 1

        def work(roots: tuple[int, int]) -> None:
            limits = LIMIT, self._effort
            pricing.price(self._blocks, prices.pi, cuts, self._halves, *sizes, *roots, *limits, result)

        return _work_off(work, tasks, self._threads, until, go_on)

    def _add_cuts(self) -> int:
        """Add cuts of rank one, and return their number, 0 once they do not raise the bound."""
        course = self._course
        course.append(self.bound)
        if len(course) > ROUNDS and course[-1] - course[-1 - ROUNDS] < MIN_RISE * course[-1]:
            self._tries = min(4 * self._tries, MAX_TRIES + 1)
            course[:] = course[-1:]
        return self.master.add_cuts(self._tries) if self._tries <= MAX_TRIES else 0

    def _update(self, search: GroupSearch) -> None:
        """Use the result of a finished search: its bound, its groups, and a new center and box of pi."""
        self.iterations += 1
        prices, result, master = search.prices, search.result, self.master
        bound = self.lower_bound(prices, result) if prices.usable(len(self.X)) else -np.inf
        if self.bound < bound < np.inf:
            self.bound, self.prices = bound, prices
        cut_short = bool(result.cut_short.any())
        n_new = master.add_groups(result.groups[np.arange(GROUPS_PER_ROOT) < result.counts[:, np.newaxis]])
        confined = master.box_activity > 1e-6
        # The bound if the search had missed no cheaper groups.
        cheapest = np.where(result.counts > 0, result.costs[:, 0], 0.0)
        value = prices.value + _sum_smallest(cheapest, len(cheapest) // self.k)
        # Within the box no dual solution gives a better bound than the master problem's value.
        self._center_value = min(self._center_value, master.value)
        gap = master.value - self._center_value
        if value > self._center_value:
            if confined and value > self._center_value + 0.1 * gap:
                self._box *= 1.5
            self._center, self._center_value = prices.pi, value
        elif value < self._center_value - gap:
            self._box *= 0.7
        if n_new == 0 and cut_short:
            self._effort = min(3 * self._effort, MAX_EFFORT)
        elif n_new == 0 and confined:
            self._box *= 2.0
        self._box = np.clip(self._box, 1e-3, 5.0 * max(1.0, float(self._center.mean())))
        if not cut_short and not confined and gap <= 1e-3 * abs(master.value) + 1e-6:
            n_cuts = self._add_cuts() if self._with_cuts else 0
            self.converged = n_new == 0 and n_cuts == 0
            if n_cuts:
                self._box = BOX * np.maximum(self._center, 0.1)
        master.confine(self._center, self._box)


def _work_off(
    work: Callable[[tuple[int, int]], None],
    tasks: deque[tuple[int, int]],
    threads: int,
    until: float,
    go_on: Callable[[], bool],
) -> bool:
    """Run ``work`` for the tasks in threads, until ``until`` or a stop, and return whether all are done."""
    stop = False

    def run() -> None:
        while not stop and time.perf_counter() < until:
            try:
                task = tasks.popleft()
            except IndexError:
                return
            work(task)

    threads = max(1, min(threads, len(tasks)))
    with ThreadPoolExecutor(threads, thread_name_prefix="microagg-bound") as pool:
        try:
            workers = [pool.submit(run) for _ in range(threads)]
            while wait(workers, timeout=SLICE).not_done:
                stop = stop or not go_on()
        finally:
            stop = True
    for worker in workers:
        worker.result()
    return not tasks


def _sum_smallest(values: FloatArray, count: int) -> float:
    """Sum of the ``count`` smallest of ``values``."""
    return float(np.partition(values, count - 1)[:count].sum())
