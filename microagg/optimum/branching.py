"""The least SSE itself: integer programming, and lists of groups, on top of the program of set partitioning.

**Better partitions.** Where the program of :mod:`microagg.optimum.set_partitioning` has converged, its groups, together
with those of the partitions that a search has found, hold better partitions than are known; HiGHS chooses among them as
integers, :func:`recombine`.

**All groups that count.** With the program's dual values a partition P has SSE(P) ≥ bound + rc(G) for each of its
groups G. So a partition with an SSE below the least known is made only of groups with a reduced cost below the gap,
least - bound. Where these are not too many, they are all enumerated, and the least SSE over them is found by
:mod:`microagg.optimum.enumerated`. What it proves holds whatever the solver says. Where they are too many, those with a
reduced cost below a part of the gap are: either a partition into these has an SSE below bound + part, and the best is
an optimum, or none has, and bound + part is a floor, from which it goes on with a larger part.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from microagg.optimum.enumerated import CLOSE, Enumerated, Leaf, Path, Proof
from microagg.optimum.master_problem import (
    Prices,
    add_columns,
    add_equations,
    add_rows,
    coefficients_of,
    costs_of,
    most_of,
)
from microagg.optimum.program import ALLOWANCE
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.validation import FloatArray, IntArray

#: How often, in seconds, the solver asks whether to go on.
ASKS_EVERY = 0.2
#: The solver need not look for what is better by a smaller share of the SSE.
LEAST_GAIN = 1e-7


def recombine(
    members: Any,
    costs: FloatArray,
    cuts: Any,
    most: FloatArray,
    start: IntArray | None,
    until: float,
    go_on: Callable[[], bool],
) -> IntArray | None:
    """Return the groups of the best partition found of n records into some of m groups, ascending; None without any.

    The sparse ``members``, shape (m, n), are 1 where a group holds a record, ``costs``, shape (m,), the groups' SSE.
    The sparse ``cuts``, shape (m, t), are coefficients of the groups in inequalities that every partition keeps to, and
    ``most``, shape (t,), what they add up to at most. ``start`` are the groups of a partition to begin with. It ends
    when the clock (``time.perf_counter``) comes to ``until`` or ``go_on`` says no.
    """
    import highspy
    from scipy.sparse import csr_array, hstack

    from microagg.kernels.running import new_solver

    m, n = members.shape
    time_left = max(until - time.perf_counter(), 0.01)
    highs = new_solver(mip_rel_gap=LEAST_GAIN, mip_abs_gap=0.0, time_limit=time_left)
    add_equations(highs, n)
    add_rows(highs, np.full(len(most), -np.inf), most, csr_array((len(most), 0)))
    columns = add_columns(highs, costs, hstack([members, cuts], format="csr"), high=1.0)
    highs.changeColsIntegrality(m, columns, np.full(m, highspy.HighsVarType.kInteger))
    if start is not None:
        solution = highspy.HighsSolution()
        chosen = np.zeros(m)
        chosen[start] = 1.0
        solution.col_value = chosen.tolist()
        highs.setSolution(solution)
    last_call = [time.perf_counter()]

    def ask(event: Any) -> None:
        if time.perf_counter() > last_call[0] + ASKS_EVERY:
            if not go_on():
                event.interrupt()
            last_call[0] = time.perf_counter()

    highs.cbMipInterrupt.subscribe(ask)
    highs.run()
    info = highs.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    groups = np.flatnonzero(np.array(highs.getSolution().col_value) > 0.5)
    # What the solver says is not taken on trust: every record must be in exactly one of the groups.
    whole = (np.asarray(members.tocsr()[groups].sum(axis=0)) == 1.0).all()
    return groups if whole else None


def best_of(
    sets: SetPartitioning, groups: IntArray, start: IntArray | None, until: float, go_on: Callable[[], bool]
) -> IntArray | None:
    """Return those of ``groups`` that are the best partition found, as :func:`recombine`; None without any.

    It begins with the partition into the groups ``start``, if ``groups`` has all of these. The program's cuts help.
    """
    cuts, members = sets.master.cuts, sets.master.members_of(groups)
    place_of = {group.tobytes(): place for place, group in enumerate(groups)}
    places = [place_of.get(group.tobytes()) for group in start] if start is not None else [None]
    at = None if None in places else np.array(places, dtype=np.int64)
    coefficients = coefficients_of(members, cuts)
    chosen = recombine(members, costs_of(sets.X, groups), coefficients, most_of(cuts), at, until, go_on)
    return None if chosen is None else groups[chosen]


#: For how many seconds the best partition is put together from the groups known at most.
SECONDS = 10.0
#: Up to which shares of the gap it is tried to enumerate groups; if there is no partition into these, up to FURTHER
#: times as much, and so on.
FURTHER = 2.0
SHARES = tuple(FURTHER**-step for step in range(24))
#: How many groups are enumerated at most: up to the whole gap or once a part of it was done, and up to a first part.
MOST_GROUPS, SHORT = 1_500_000, 20_000
#: By which factor the number of groups grows until they are put together anew.
GROWTH = 1.1


class Branching:
    """Branch and bound from a program that has converged.

    It has ``converged`` when the floor is the SSE of the best partition known, to within rounding, or when the groups
    that count are too many to be listed; a better partition makes them fewer.
    """

    def __init__(self, sets: SetPartitioning) -> None:
        self._sets = sets
        # The groups of the best partition known, as those of the master problem, and its SSE in squared units of X.
        self.groups: IntArray | None = None
        self.least = np.inf
        self._is_optimal = False
        self._put_together = 0
        # What is enumerated, by which prices, the floor that it gives, at which gap it was last tried, up to which
        # reduced cost there was a list, up to which ones it is still to be tried, and how many groups there may be.
        self._list: Enumerated | None = None
        self._listed: Prices | None = None
        self._whole, self._gap, self._reach = 0.0, np.inf, 0.0
        self._reaches: deque[float] = deque()
        self._most = MOST_GROUPS
        self._verified = False
        self._note()

    @property
    def sse(self) -> float:
        """The floor, in squared units of X, as it was after the last step: others may ask in the middle of one."""
        return self._floor

    @property
    def iterations(self) -> int:
        """How many iterations the program has done."""
        return self._sets.iterations

    @property
    def labels(self) -> IntArray | None:
        """Those of the best partition known, shape (n,)."""
        return None if self.groups is None else self._sets.labels_of(self.groups)

    @property
    def proof(self) -> Proof | None:
        """What bounds the SSE, in terms of X; None if there is no bound, or pairs have been decided on for it."""
        labels, prices = self.labels, self._listed
        if labels is None or prices is None:
            return None
        # Without a list the prices themselves prove it.
        filters, leaves = ([], (Leaf((), prices),)) if self._list is None else (self._list.filters, self._list.leaves)
        names, unit = self._sets.places, self._sets.unit

        def plain(prices: Prices) -> Prices:
            pi = np.empty(len(names))
            pi[names] = prices.pi * unit
            cuts = tuple(cut._replace(records=tuple(names[list(cut.records)].tolist())) for cut in prices.cuts)
            return Prices(pi, cuts, prices.sigma * unit)

        def path(pairs: Path) -> Path:
            return tuple((int(names[i]), int(names[j]), together) for i, j, together in pairs)

        named = tuple(Leaf(path(leaf.path), plain(leaf.prices)) for leaf in leaves)
        return Proof(labels, plain(prices), tuple(map(plain, filters)), named)

    def offer(self, labels: IntArray) -> None:
        """Take a partition into account that is known from elsewhere."""
        groups = self._sets.groups_of(labels)
        self._sets.master.add_groups(groups)
        # Without groups of 2k records and more, which no optimum needs, it may be no partition.
        self._take(groups)
        self._note()

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one iteration, as :meth:`microagg.optimum.program.Program.advance`."""
        finished = self._step(until, go_on)
        self._note()
        return finished

    def _note(self) -> None:
        """Note the floor, and whether anything is open."""
        self._floor = max(self._sets.bound, self._whole) * self._sets.unit
        is_open = not self._verified or self._has_new_groups or self._list is not None or self._is_worth_all
        self.converged = self._is_optimal or not is_open

    def _step(self, until: float, go_on: Callable[[], bool]) -> bool:
        # All that follows rests on the program's last bound and dual values.
        if not self._verified:
            self._verified = self._sets.verify(until, go_on)
            return self._verified
        if self._has_new_groups:
            return self._recombine(until, go_on)
        if self._list is not None:
            return self._go_through(self._list, until, go_on)
        if self._sets.bound >= self._enough:
            self._listed, self._is_optimal = self._sets.prices, True
            return True
        return self._enumerate(until, go_on)

    @property
    def _has_new_groups(self) -> bool:
        return len(self._sets.master.groups) > GROWTH * self._put_together

    @property
    def _rounding(self) -> float:
        """What the costs of all groups may be off by, where the prices are about 1."""
        return ALLOWANCE * len(self._sets.X)

    @property
    def _enough(self) -> float:
        """What the floor must be for the best partition to be an optimum, in squared units of the scaled records."""
        return self.least / self._sets.unit * (1 - CLOSE) - self._rounding

    def _take(self, groups: IntArray) -> None:
        """Let ``groups`` be those of the best partition known if they are one, and better."""
        sse = self._sets.sse_of(groups)
        held = np.bincount(groups[groups >= 0], minlength=len(self._sets.X))
        if sse < self.least and (held == 1).all():
            self.groups, self.least = groups, sse

    def _recombine(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Put the best partition together from the groups known; return whether there was time for more."""
        master, end = self._sets.master, min(until, time.perf_counter() + SECONDS)
        self._put_together = len(master.groups)
        partition = best_of(self._sets, master.groups, self.groups, end, go_on)
        if partition is not None:
            self._take(partition)
        return time.perf_counter() < until

    @property
    def _is_worth_all(self) -> bool:
        """Whether to enumerate groups: for the first time, with a smaller gap, with more of it, or as it has begun."""
        again = self._missing < 0.9 * self._gap or self._reach > 0.0 or self._reaches
        return self._enough < np.inf and (self._sets.bound >= self._enough or bool(again))

    @property
    def _missing(self) -> float:
        """By how much the least SSE known is above the bound, in squared units of the scaled records."""
        return self.least / self._sets.unit - self._sets.bound

    def _enumerate(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Enumerate all groups that count, or if they are too many those that do if the optimum is nearer the bound."""
        sets = self._sets
        if not self._reaches or self._missing < 0.9 * self._gap:
            self._gap = self._missing
            shares = SHARES if self._reach == 0.0 else [min(1.0, FURTHER * self._reach / self._gap)]
            self._reaches = deque(share * self._gap for share in shares)
            self._most = MOST_GROUPS
        reach = self._reaches[0]
        finished, groups = sets.groups_below(reach, self._most, until, go_on)
        if not finished:
            return False
        self._reaches.popleft()
        self._most = SHORT
        if groups is not None:
            self._listed, self._reach = sets.prices, reach
            self._reaches.clear()
            self._list = Enumerated(sets.X, sets.k, groups, self._listed, sets.bound, sets.bound + reach)
        elif not self._reaches:
            self._reach = 0.0
        return time.perf_counter() < until

    def _go_through(self, listed: Enumerated, until: float, go_on: Callable[[], bool]) -> bool:
        """Do a step of branch and bound over the groups enumerated."""
        listed.least = min(listed.least, self.least / self._sets.unit)
        finished = listed.advance(until, go_on)
        if listed.best is not None:
            self._take(listed.best)
        # Whatever is better than what the list was made for is a partition into groups of it.
        self._whole = max(self._whole, listed.bound - self._rounding)
        if self._whole >= self._enough or (listed.converged and self._missing <= self._reach):
            self._is_optimal = True
        elif listed.converged:
            self._list = self._listed = None
        return finished
