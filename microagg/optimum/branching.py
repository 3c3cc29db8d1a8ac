"""The minimum SSE itself: integer programming, and branch and bound over lists of groups.

**Better partitions.** Once the program of :mod:`microagg.optimum.set_partitioning` has converged, its groups and those
of partitions from a search contain better partitions. HiGHS chooses among them as integers, :meth:`.Master.recombine`.

**All groups that count.** With the program's dual values a partition P has SSE(P) ≥ bound + rc(G) for each of its
groups G. So a partition below ``least``, the SSE of the best known one, has only groups with a reduced cost below
least - bound. If these are not too many, they are enumerated, and :class:`Enumerated` minimizes the SSE over them. If
they are too many, only groups with a reduced cost below a part of that distance are enumerated. Either a partition
into these has an SSE below bound + part, and the best is an optimum; or none has, bound + part is a lower bound, and
the next part is larger.

**Bounds.** By :mod:`microagg.optimum.set_partitioning`, SSE(P) ≥ value + Σ_{G in P} rc(G), value = Σ pi - Σ sigma most,
for any pi and sigma ≥ 0 and a partition P into groups of the list. The cuts are those with which the list was made.
Branching decides for pairs of records whether they share a group (Ryan & Foster 1981).

**The proof** is a :class:`Proof`, which :mod:`microagg.optimum.proof_checker` checks without this module.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from itertools import count
from typing import NamedTuple

import numpy as np

from microagg.optimum.master_problem import (
    Prices,
    add_columns,
    add_equations,
    add_rows,
    cut_coefficients,
    cut_limits,
    group_costs,
    membership_matrix,
    most_fractional_pair,
    run,
)
from microagg.optimum.program import ALLOWANCE
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.validation import FloatArray, IntArray

#: A leaf is closed once its bound is at most this share below the SSE of the best known partition.
LEAF_GAP = 1e-7
#: Groups with a smaller reduced cost enter the linear program.
_MAX_REDUCED_COST = -1e-7
#: Maximum number of groups that enter the linear program at a time.
_MAX_ENTERING = 3_000

#: Decisions in their order: pairs of records i < j, and whether both are in one group.
Path = tuple[tuple[int, int, bool], ...]

#: Maximum seconds of one recombination.
_SECONDS = 10.0
#: Maximum numbers of groups enumerated: up to the whole distance or after a first list, and for a first list.
MAX_GROUPS, FIRST_LIST_SIZE = 1_500_000, 20_000
#: Minimum reach of a first list, as a share of the distance.
MIN_REACH = 1e-7
#: Groups are recombined once their number has grown by this factor.
GROWTH = 1.1


class Leaf(NamedTuple):
    """Decisions, and the prices that prove a lower bound for the partitions that satisfy them."""

    path: Path
    prices: Prices


class Proof(NamedTuple):
    """Proof of a lower bound on the SSE of all partitions into groups of at least k, the minimum over the leaves."""

    labels: IntArray  # shape (n,)
    listed: Prices  # by these, a better partition has only groups with a reduced cost below SSE - value: the list
    leaves: tuple[Leaf, ...]  # every partition satisfies the decisions of one of them


class Enumerated:
    """Branch and bound over a list of groups.

    The records ``X``, shape (n, d), are scaled so that prices are about 1. Members of ``groups``, shape (m, 2k - 1),
    are in ascending order; -1 comes first and fills up. ``prices``, which prove ``bound``, listed them. Only partitions
    below ``least`` count, the SSE of the best known partition, which the caller may lower at any time. The groups of a
    better partition are ``best``, shape (g, 2k - 1).
    """

    def __init__(self, X: FloatArray, k: int, groups: IntArray, prices: Prices, bound: float, least: float) -> None:
        from scipy.sparse import csr_array, eye_array

        from microagg.kernels.running import new_solver

        self._X, self._n, self._k = X, len(X), k
        self.groups, self.least = groups, least
        self.best: IntArray | None = None
        self._leaves: list[Leaf] = []
        self._costs = group_costs(X, groups)
        self._members = membership_matrix(groups, self._n)
        self._members_by_record = self._members.tocsc()
        first = prices.without_idle_cuts()
        self._cuts = first.cuts
        self._coefficients = cut_coefficients(self._members, self._cuts).tocsr()
        self._columns = np.empty(0, dtype=np.int64)
        self._values = np.empty(0)
        self._number = count()
        # The current leaf: its path, its best bound, and the prices that prove it; and open leaves.
        self._path: Path | None = ()
        self._bound, self._proving = bound, prices
        self._open: list[tuple[float, int, Path, Prices]] = []
        self._closed = np.inf
        self._allowed = np.ones(len(groups), dtype=bool)
        # Each of the short runs would presolve anew, and on a long list presolving may never end.
        self._highs = new_solver(presolve="off")
        add_equations(self._highs, self._n)
        limits = cut_limits(self._cuts)
        add_rows(self._highs, np.full(len(limits), -np.inf), limits, csr_array((len(limits), 0)))
        # Columns of one record each: without them some decisions might leave no solution.
        self._missing_cost = 10.0 * max(1.0, float(self._costs.max()))
        add_columns(self._highs, np.full(self._n, self._missing_cost), eye_array(self._n, format="csr"))
        self._add_groups(np.argsort(self._reduced_costs(first), kind="stable")[: 3 * self._n])

    @property
    def bound(self) -> float:
        """Lower bound on the SSE of partitions into groups of the list, at most the SSE of the best known partition."""
        current = [self._bound] if self._path is not None else []
        waiting = [bound for bound, *_ in self._open[:1]]
        return float(min([self._closed, self.least, *current, *waiting]))

    @property
    def converged(self) -> bool:
        """Whether no leaf is open."""
        return self._path is None and not self._open

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one step, see :meth:`microagg.optimum.program.Program.advance`."""
        if self._path is None:
            self._take_leaf()
        if self._bound < self._target and not self._solve(until, go_on):
            return False
        # The bound of an integral solution is its SSE to within the solver's tolerances.
        if self._bound >= self._target or self._takes_solution():
            self._close_leaf()
        else:
            self._branch()
        return True

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """All leaves, closed and open, with the prices of their best bounds."""
        current = [] if self._path is None else [Leaf(self._path, self._proving)]
        return (*self._leaves, *current, *(Leaf(path, prices) for _, _, path, prices in self._open))

    @property
    def _target(self) -> float:
        return self.least * (1.0 - LEAF_GAP) - ALLOWANCE * self._n

    def _take_leaf(self) -> None:
        """Make the open leaf with the lowest bound the current one: groups that its decisions forbid are fixed at 0."""
        self._bound, _, self._path, self._proving = heapq.heappop(self._open)
        self._allowed = np.ones(len(self.groups), dtype=bool)
        for i, j, together in self._path:
            n_members = self._members_by_record[:, [i, j]].sum(axis=1)
            self._allowed &= n_members != (1 if together else 2)
        m = len(self._columns)
        columns = np.arange(self._n, self._n + m, dtype=np.int32)
        high = np.where(self._allowed[self._columns], np.inf, 0.0)
        self._highs.changeColsBounds(m, columns, np.zeros(m), high)

    def _close_leaf(self) -> None:
        """Close the current leaf: no partition that satisfies its decisions is better."""
        assert self._path is not None
        self._leaves.append(Leaf(self._path, self._proving))
        self._closed = min(self._closed, self._bound)
        self._path = None

    def _takes_solution(self) -> bool:
        """Take the groups of the solution as the best if they form a partition, and return whether they do."""
        used = self._values > 0.5
        groups = self.groups[self._columns[used]]
        is_partition = (groups >= 0).sum() == self._n and (np.abs(self._values - used) <= 1e-6).all()
        if is_partition:
            self.best = groups
            self.least = min(self.least, float(group_costs(self._X, groups).sum()))
        return bool(is_partition)

    def _reduced_costs(self, prices: Prices) -> FloatArray:
        """Reduced cost of each group of the list, shape (m,)."""
        return np.asarray(self._costs - self._members @ prices.pi + self._coefficients @ prices.sigma)

    def _solve(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Solve the program with all groups that it needs, and return whether there was time."""
        while True:
            if not run(self._highs, until, go_on):
                return False
            self._values = np.array(self._highs.getSolution().col_value)[self._n :]
            prices = self._prices()
            usable = prices.usable(self._n)
            reduced = self._reduced_costs(prices) if usable else np.zeros(len(self._costs))
            bound = self._lower_bound(prices, reduced) if usable else -np.inf
            if self._bound < bound < np.inf:
                self._bound, self._proving = bound, prices.without_idle_cuts()
            absent = self._allowed.copy()
            absent[self._columns] = False
            missing = np.flatnonzero((reduced < _MAX_REDUCED_COST) & absent)
            if len(missing) == 0:
                return True
            self._add_groups(missing[np.argsort(reduced[missing], kind="stable")[:_MAX_ENTERING]])

    def _prices(self) -> Prices:
        """Dual values of the solution."""
        duals = np.array(self._highs.getSolution().row_dual)
        return Prices(duals[: self._n], self._cuts, np.maximum(-duals[self._n :], 0.0))

    def _lower_bound(self, prices: Prices, reduced: FloatArray) -> float:
        """Lower bound for the current leaf, from prices and the reduced costs at them."""
        groups_term = float(reduced[self._allowed].min(initial=0.0)) * (self._n // self._k)
        return prices.value + groups_term - ALLOWANCE * (prices.size - groups_term)

    def _add_groups(self, indices: IntArray) -> None:
        """Add groups of the list to the linear program."""
        from scipy.sparse import hstack

        entries = hstack([self._members[indices], self._coefficients[indices]], format="csr")
        add_columns(self._highs, self._costs[indices], entries)
        self._columns = np.concatenate([self._columns, indices])

    def _branch(self) -> None:
        """Split the current leaf by the pair of records that is most undecided."""
        assert self._path is not None
        used = np.flatnonzero(self._values > 1e-9)
        members = self._members[self._columns[used]]
        pair = most_fractional_pair(self._X, members, self._values[used])
        if pair is None:
            # No groups that satisfy the decisions hold all records: raise the cost of the columns of one record.
            self._missing_cost *= 10.0
            costs = np.full(self._n, self._missing_cost)
            self._highs.changeColsCost(self._n, np.arange(self._n, dtype=np.int32), costs)
            return
        for together in (True, False):
            path = (*self._path, (*pair, together))
            heapq.heappush(self._open, (self._bound, next(self._number), path, self._proving))
        self._path = None


class Branching:
    """Branch and bound from a converged program.

    It has ``converged`` when the lower bound equals the SSE of the best known partition, to within rounding, or when
    too many groups count for a list; a better partition makes them fewer.
    """

    def __init__(self, sets: SetPartitioning) -> None:
        self._sets = sets
        # The groups of the best known partition, in the form of the master problem, and its SSE in squared units of X.
        self.groups: IntArray | None = None
        self.least = np.inf
        self._is_optimal = False
        self._put_together = 0
        # The list, its prices, and the lower bound from it.
        self._list: Enumerated | None = None
        self._listed: Prices | None = None
        self._list_bound = 0.0
        # The reduced cost up to which groups are listed, their maximum number, and the distance at which there were too
        # many.
        self._reach, self._max_groups, self._distance_in_vain = np.inf, MAX_GROUPS, np.inf
        self._update()

    @property
    def sse(self) -> float:
        """Lower bound after the last step, in squared units of X, also for other threads."""
        return self._floor

    @property
    def iterations(self) -> int:
        """Number of iterations of the program."""
        return self._sets.iterations

    @property
    def labels(self) -> IntArray | None:
        """Labels of the best known partition, shape (n,)."""
        return None if self.groups is None else self._sets.labels_from(self.groups)

    @property
    def proof(self) -> Proof | None:
        """Proof of the lower bound in terms of X, or None without one."""
        labels, prices = self.labels, self._listed
        if labels is None or prices is None:
            return None
        # Without a list the prices alone prove it.
        leaves = (Leaf((), prices),) if self._list is None else self._list.leaves
        names, unit = self._sets.places, self._sets.unit

        def plain(prices: Prices) -> Prices:
            pi = np.empty(len(names))
            pi[names] = prices.pi * unit
            cuts = tuple(cut._replace(records=tuple(names[list(cut.records)].tolist())) for cut in prices.cuts)
            return Prices(pi, cuts, prices.sigma * unit)

        def path(pairs: Path) -> Path:
            return tuple((int(names[i]), int(names[j]), together) for i, j, together in pairs)

        named = tuple(Leaf(path(leaf.path), plain(leaf.prices)) for leaf in leaves)
        return Proof(labels, plain(prices), named)

    def offer(self, labels: IntArray) -> None:
        """Offer a partition, shape (n,)."""
        groups = self._sets.groups_from(labels)
        self._sets.master.add_groups(groups)
        # groups_from leaves out groups of 2k records and more, so these may not be a partition.
        self._take_partition(groups)
        self._update()

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one iteration, see :meth:`microagg.optimum.program.Program.advance`."""
        finished = self._step(until, go_on)
        self._update()
        return finished

    def _update(self) -> None:
        """Update the lower bound and ``converged``."""
        self._floor = max(self._sets.bound, self._list_bound) * self._sets.unit
        is_open = self._has_new_groups or self._list is not None or self._is_worth_listing
        self.converged = self._is_optimal or not is_open

    def _step(self, until: float, go_on: Callable[[], bool]) -> bool:
        if self._has_new_groups:
            return self._recombine(until, go_on)
        if self._list is not None:
            return self._branch_and_bound(self._list, until, go_on)
        if self._sets.bound >= self._target:
            self._listed, self._is_optimal = self._sets.prices, True
            return True
        return self._enumerate(until, go_on)

    @property
    def _has_new_groups(self) -> bool:
        return len(self._sets.master.groups) > GROWTH * self._put_together

    @property
    def _rounding(self) -> float:
        """Allowance for rounding in the costs of all groups, as prices are about 1."""
        return ALLOWANCE * len(self._sets.X)

    @property
    def _target(self) -> float:
        """Lower bound at which the best known partition is an optimum, in squared units of the scaled records."""
        return self.least / self._sets.unit * (1 - LEAF_GAP) - self._rounding

    def _take_partition(self, groups: IntArray) -> None:
        """Take ``groups`` as the best known partition if they form one and it is better."""
        sse = self._sets.partition_sse(groups)
        held = np.bincount(groups[groups >= 0], minlength=len(self._sets.X))
        if sse < self.least and (held == 1).all():
            self.groups, self.least = groups, sse

    def _recombine(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Combine the groups of the program into a better partition, and return whether time is left."""
        master, end = self._sets.master, min(until, time.perf_counter() + _SECONDS)
        self._put_together = len(master.groups)
        partition = master.recombine(master.groups, self.groups, end, go_on)
        if partition is not None:
            self._take_partition(partition)
        return time.perf_counter() < until

    @property
    def _is_worth_listing(self) -> bool:
        """Whether the groups to enumerate may be few enough."""
        may_be_few = self._distance < 0.9 * self._distance_in_vain
        return self._target < np.inf and (self._sets.bound >= self._target or may_be_few)

    @property
    def _distance(self) -> float:
        """Difference of the best known SSE and the lower bound, in squared units of the scaled records."""
        return self.least / self._sets.unit - self._sets.bound

    def _enumerate(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Enumerate all groups that count, or if there are too many, those up to a smaller reduced cost."""
        sets = self._sets
        if self._distance_in_vain < np.inf:
            self._reach, self._max_groups, self._distance_in_vain = np.inf, MAX_GROUPS, np.inf
        reach = min(self._reach, self._distance)
        finished, groups = sets.groups_below(reach, self._max_groups, until, go_on)
        if not finished:
            return False
        if groups is not None:
            self._listed, self._reach = sets.prices, reach
            self._list = Enumerated(sets.X, sets.k, groups, self._listed, sets.bound, sets.bound + reach)
        elif self._list_bound > sets.bound or reach < MIN_REACH * self._distance:
            self._distance_in_vain = self._distance
        else:
            self._reach, self._max_groups = reach / 2, FIRST_LIST_SIZE
        return time.perf_counter() < until

    def _branch_and_bound(self, listed: Enumerated, until: float, go_on: Callable[[], bool]) -> bool:
        """Do a step of branch and bound over the enumerated groups."""
        listed.least = min(listed.least, self.least / self._sets.unit)
        finished = listed.advance(until, go_on)
        if listed.best is not None:
            self._take_partition(listed.best)
        # Every partition below the SSE for which the list was made has only groups of the list.
        self._list_bound = max(self._list_bound, listed.bound - self._rounding)
        if self._list_bound >= self._target or (listed.converged and self._distance <= self._reach):
            self._is_optimal = True
        elif listed.converged:
            self._list = self._listed = None
            self._reach, self._max_groups = 2 * self._reach, MAX_GROUPS
        return finished
