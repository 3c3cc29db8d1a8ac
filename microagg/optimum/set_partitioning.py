"""A proven lower bound on the SSE from the linear program of set partitioning, whose columns are groups.

**The program.** Let G run through all groups of k to 2k-1 records. A group of 2k or more can be split into two of at
least k without raising the SSE, because two centroids fit no worse than one. So the least SSE of all partitions is

    min Σ SSE(G) x_G   such that   Σ_{G ∋ i} x_G = 1 for each record i,   x_G in {0, 1},

and without the demand that x_G be 0 or 1 no more than that.

**Cuts of rank one** tighten it. Let u_i ≥ 0 be whole numbers and q > 1. As each record is in one group, Σ_G w(G) x_G =
Σ_i u_i, w(G) being the sum of the u of its members. Dividing by q and rounding down what multiplies whole numbers gives

    Σ_G ⌊w(G) / q⌋ x_G ≤ ⌊Σ_i u_i / q⌋        (Gomory 1958; Chvátal 1973).

Among them are the *subset-row cuts* (Jepsen, Petersen, Spoorendonk & Pisinger 2008), u = 1 for three records and q = 2:
of the groups that hold at least two of these a partition has at most one, as two would share a record.

**The bound.** Take any numbers pi_i, one for each record, and any sigma_c ≥ 0, one for each cut: dual values. A
partition P keeps to the cuts and has each record in one group, so

    SSE(P) = Σ_{G in P} SSE(G)
           ≥ Σ_{G in P} SSE(G) + Σ_i pi_i (1 - [groups of P with i]) - Σ_c sigma_c (most_c - Σ_{G in P} ⌊w_c(G) / q_c⌋)
           = Σ_i pi_i - Σ_c sigma_c most_c + Σ_{G in P} rc(G),
    rc(G) = SSE(G) - Σ_{i in G} pi_i + Σ_c sigma_c ⌊w_c(G) / q_c⌋,   most_c = ⌊Σ_i u_ci / q_c⌋,

where [groups …] is their number. Let every group be assigned to one of its members, its root, in whatever way, and let
r_i ≤ 0 be a lower bound on the rc of all groups of root i. P has at most n / k groups, all with different roots, so

    SSE(P) ≥ Σ_i pi_i - Σ_c sigma_c most_c + the sum of the n / k least r_i.

That holds whatever pi and sigma are; the solver only proposes them. The r_i come from a branch and bound of our own,
:mod:`microagg.kernels.bounds.pricing`, over all records that can be in a group with a negative rc; where its effort is
limited it returns a smaller r_i.

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
from microagg.optimum.master_problem import LEAST_TRIES, SLICE, Duals, Master, Prices, costs_of, most_of
from microagg.optimum.program import ALLOWANCE, Multipliers, Program, proven, usable
from microagg.validation import FloatArray, IntArray

#: How many groups a root may contribute at a time.
KEEP = 3
#: Only groups with a reduced cost below this are looked for; squared units of the scaled records.
LIMIT = -1e-7
#: How many candidates are ranked for a root and a size before the search is cut short, to begin with.
EFFORT = 20_000
#: What the effort may grow to: without end in practice, yet within 64 bits.
MOST_EFFORT = 10**15
#: How many groups below a gap are kept of one root and size, at first and if they are more, and how many candidates may
#: be ranked for them.
ROOM, MOST_WORK = (20_000, 400_000), 10**8
#: Cuts of rank one are tried harder, and in the end no more, once the bound has risen by less than this share in so
#: many rounds of them; how often a record begins one at most.
LEAST_RISE, ROUNDS, TRIES = 1e-6, 3, 12
#: How far the box around pi reaches at first, as a share of pi.
BOX = 0.05


class GroupSearch(NamedTuple):
    """A search for groups with a negative reduced cost: at which duals, what is found, and the ranges of roots left."""

    duals: Duals
    cuts: pricing.Cuts
    result: pricing.Found
    left: deque[tuple[int, int]]


@dataclass
class Listing:
    """A search for all groups below a gap: at which duals, the sizes and roots left, what is found, and how many."""

    gap: float
    duals: Duals
    left: deque[tuple[int, int]]
    groups: list[IntArray] = field(default_factory=list)
    total: int = 0
    lock: Lock = field(default_factory=Lock)


class SetPartitioning(Program):
    """The program over the groups found so far, its ``master``. An iteration solves it and searches for groups once.

    Its ``bound`` has the dual values ``duals``. It has converged when no group and, ``with_cuts``, no cut that could
    raise the bound is missing. Groups are searched for in so many
    ``threads``, by default in as many as there are cores.
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
        # pi of the best bound so far, what that bound would be had no search been cut short, and the reach of the box.
        self._center = self._halves[:, k - 1] / k
        self._center_value = float(self._center.sum())
        self.bound = self._center_value * (1 - ALLOWANCE)
        self.duals = Duals(self._center, np.empty(0))
        self._first = self.bound, self.duals
        self._box = BOX * np.maximum(self._center, 0.1)
        self._effort = EFFORT
        self._begun: GroupSearch | None = None
        self._verifying: GroupSearch | None = None
        self._listing: Listing | None = None
        self._tries, self._course = LEAST_TRIES, [0.0]
        self.master = Master(self.X, k)
        self.master.confine(self._center, self._box)

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """See :meth:`Program.advance`."""
        if self._begun is None:
            if not self.master.solve(until, go_on):
                if not self.master.unbounded:
                    return False
                self._box *= 4.0
                self.master.confine(self._center, self._box)
                return True
            if not usable(*self._multipliers(self.master.duals)):
                self.converged = True  # there is nothing to go on from
                return True
            self._begun = self._start(self.master.duals)
        if not self._search(self._begun, until, go_on):
            return False
        self._update(self._begun)
        self._begun = None
        return True

    def groups_below(
        self, gap: float, most: int, until: float, go_on: Callable[[], bool]
    ) -> tuple[bool, IntArray | None]:
        """Return whether there was time, and all groups with a reduced cost below ``gap``; None if over ``most``.

        ``gap`` is in squared units of the scaled records; the dual values are those with the best bound. A group of s
        has such a reduced cost if it has a negative one at prices raised by gap / s. What is begun goes on in the next
        call if the gap is the same. For time see :meth:`Program.advance`.
        """
        n, k, duals, master = len(self.X), self.k, self.duals, self.master
        if not (np.isfinite(gap) and usable(*self._multipliers(duals))):
            return True, None
        if self._listing is None or self._listing.gap != gap or self._listing.duals is not duals:
            left = deque((size, root) for size in range(k, 2 * k) for root in range(n))
            self._listing = Listing(gap, duals, left)
        listing = self._listing
        cuts = pricing.make_cuts(n, master.cuts, duals.sigma)

        def work(task: tuple[int, int]) -> None:
            if listing.total > most:
                return
            size, root = task
            prices = duals.pi + (gap - LIMIT) / size
            # Room for many takes its time, and few roots need it.
            for room in ROOM:
                priced = pricing.make_all(root, k, room)
                limits = LIMIT, MOST_WORK
                pricing.price(self._blocks, prices, cuts, self._halves, size, size, root, root + 1, *limits, priced)
                if not priced.cut_short[0]:
                    break
            with listing.lock:
                listing.groups.append(np.sort(priced.groups[0, : priced.counts[0]], axis=1))
                listing.total += most + 1 if priced.cut_short[0] else int(priced.counts[0])

        if not _do_all(work, listing.left, self._threads, until, go_on):
            return False, None
        self._listing = None
        return True, None if listing.total > most else np.unique(np.concatenate(listing.groups), axis=0)

    def verify(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Search once more with the dual values of the best bound, which is lowered if they do not prove it.

        To be called before anything is concluded from both. Returns whether there was time, as :meth:`Program.advance`.
        """
        if self._verifying is None:
            # A copy, so that what is verified is what is used afterwards.
            duals = Duals(*(np.array(values) for values in self.duals))
            if not usable(*self._multipliers(duals)):
                self.bound, self.duals = min(self._first[0], self.bound), self._first[1]
                return True
            self._verifying = self._start(duals)
        if not self._search(self._verifying, until, go_on):
            return False
        proves = self._proven(self._verifying), self._verifying.duals
        self._verifying = None
        # Where they prove less than the first ones do, those are taken.
        bound, self.duals = max(proves, self._first, key=lambda pair: pair[0])
        self.bound = min(self.bound, bound)
        return True

    @property
    def prices(self) -> Prices:
        """The dual values with the best bound."""
        duals = self.duals
        return Prices(duals.pi, tuple(self.master.cuts[: len(duals.sigma)]), duals.sigma)

    def groups_of(self, labels: IntArray) -> IntArray:
        """Return the groups of a partition of fewer than 2k records each, in the form of :attr:`Master.groups`."""
        group_of = labels[self.places]
        order = np.argsort(group_of, kind="stable")
        members = np.split(order, np.flatnonzero(np.diff(group_of[order])) + 1)
        width = 2 * self.k - 1
        groups = np.full((len(members), width), -1, dtype=np.int64)
        fits = [group for group in members if len(group) <= width]
        for row, group in zip(groups, fits, strict=False):
            row[width - len(group) :] = np.sort(group)
        return groups[: len(fits)]

    def sse_of(self, groups: IntArray) -> float:
        """Return the SSE of the partition into ``groups``, in squared units of X."""
        return float(costs_of(self.X, groups).sum()) * self.unit

    def labels_of(self, groups: IntArray) -> IntArray:
        """Return the labels, shape (n,), of the partition into ``groups``, in the form of :attr:`Master.groups`."""
        labels = np.empty(len(self.X), dtype=np.int64)
        for number, group in enumerate(groups):
            labels[self.places[group[group >= 0]]] = number
        return labels

    def lower_bound(self, duals: Duals, result: pricing.Found) -> float:
        """Return the bound that ``duals`` give, from a finished search for groups with them (scaled units)."""
        n = len(duals.pi)
        least = _sum_of_least(result.least, n // self.k)
        sizes = np.abs(duals.pi).sum() - least
        sizes += duals.sigma @ most_of(self.master.cuts[: len(duals.sigma)])
        return float(self.master.value_of(duals) + least - ALLOWANCE * sizes)

    def _multipliers(self, duals: Duals) -> tuple[Multipliers, ...]:
        """Return what dual values must be like."""
        of_cuts = Multipliers(duals.sigma, (min(len(duals.sigma), len(self.master.cuts)),), low=0.0)
        return Multipliers(duals.pi, (len(self.X),)), of_cuts

    def _proven(self, search: GroupSearch) -> float:
        """Return the bound that a finished search gives."""
        return proven(lambda: self.lower_bound(search.duals, search.result), *self._multipliers(search.duals))

    def _start(self, duals: Duals) -> GroupSearch:
        n = len(duals.pi)
        step = max(1, min(64, n // 32))
        left = deque((first, min(n, first + step)) for first in range(0, n, step))
        cuts = pricing.make_cuts(n, self.master.cuts, duals.sigma)
        return GroupSearch(duals, cuts, pricing.make_found(n, self.k, KEEP), left)

    def _search(self, search: GroupSearch, until: float, go_on: Callable[[], bool]) -> bool:
        """Search as long as :meth:`advance` may; return whether all roots are done."""
        duals, cuts, result, left = search
        sizes = self.k, 2 * self.k - 1

        def work(roots: tuple[int, int]) -> None:
            limits = LIMIT, self._effort
            pricing.price(self._blocks, duals.pi, cuts, self._halves, *sizes, *roots, *limits, result)

        return _do_all(work, left, self._threads, until, go_on)

    def _add_cuts(self) -> int:
        """Add cuts of rank one; return how many, 0 once they do not raise the bound."""
        course = self._course
        course.append(self.bound)
        if len(course) > ROUNDS and course[-1] - course[-1 - ROUNDS] < LEAST_RISE * course[-1]:
            self._tries = min(4 * self._tries, TRIES + 1)
            course[:] = course[-1:]
        return self.master.add_cuts(self._tries) if self._tries <= TRIES else 0

    def _update(self, search: GroupSearch) -> None:
        """Take in what a finished search has found: a bound, groups, and how far the next pi may be from the center."""
        self.iterations += 1
        duals, result, master = search.duals, search.result, self.master
        bound = self._proven(search)
        if bound > self.bound:
            self.bound, self.duals = bound, duals
        cut_short = bool(result.cut_short.any())
        new = master.add_groups(result.groups[np.arange(KEEP) < result.counts[:, np.newaxis]])
        confined = master.box_activity > 1e-6
        # What the bound would be if the cheapest groups found were the cheapest there are.
        cheapest = np.where(result.counts > 0, result.costs[:, 0], 0.0)
        value = master.value_of(duals) + _sum_of_least(cheapest, len(cheapest) // self.k)
        # Within the box no dual solution gives a better bound than the master problem's value.
        self._center_value = min(self._center_value, master.value)
        gap = master.value - self._center_value
        if value > self._center_value:
            if confined and value > self._center_value + 0.1 * gap:
                self._box *= 1.5
            self._center, self._center_value = duals.pi, value
        elif value < self._center_value - gap:
            self._box *= 0.7
        if new == 0 and cut_short:
            self._effort = min(3 * self._effort, MOST_EFFORT)
        elif new == 0 and confined:
            self._box *= 2.0
        self._box = np.clip(self._box, 1e-3, 5.0 * max(1.0, float(self._center.mean())))
        if not cut_short and not confined and gap <= 1e-3 * abs(master.value) + 1e-6:
            added = self._add_cuts() if self._with_cuts else 0
            self.converged = new == 0 and added == 0
            if added:
                self._box = BOX * np.maximum(self._center, 0.1)
        master.confine(self._center, self._box)


def _do_all(
    work: Callable[[tuple[int, int]], None],
    left: deque[tuple[int, int]],
    threads: int,
    until: float,
    go_on: Callable[[], bool],
) -> bool:
    """Do the work that is left, as long as :meth:`Program.advance` may, and return whether all is done."""
    stop = False

    def do() -> None:
        while not stop and time.perf_counter() < until:
            try:
                task = left.popleft()
            except IndexError:
                return
            work(task)

    threads = max(1, min(threads, len(left)))
    with ThreadPoolExecutor(threads, thread_name_prefix="microagg-bound") as pool:
        try:
            workers = [pool.submit(do) for _ in range(threads)]
            while wait(workers, timeout=SLICE).not_done:
                stop = stop or not go_on()
        finally:
            stop = True
    for worker in workers:
        worker.result()
    return not left


def _sum_of_least(values: FloatArray, count: int) -> float:
    """Return the sum of the ``count`` least of ``values``."""
    return float(np.partition(values, count - 1)[:count].sum())
