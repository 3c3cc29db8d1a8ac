"""The minimum SSE itself: integer programming and lists of groups on top of the program of set partitioning.

**Better partitions.** Once the program of :mod:`microagg.optimum.set_partitioning` has converged, its groups and those
of partitions from a search contain better partitions. HiGHS chooses among them as integers, :func:`recombine`.

**All groups that count.** With the program's dual values a partition P has SSE(P) ≥ bound + rc(G) for each of its
groups G. So a partition below ``least``, the SSE of the best known one, has only groups with a reduced cost below
least - bound. If these are not too many, they are enumerated, and :mod:`microagg.optimum.enumerated` minimizes the SSE
over them; its proof does not depend on the solver. If they are too many, only groups with a reduced cost below a part
of that distance are enumerated. Either a partition into these has an SSE below bound + part, and the best is an
optimum; or none has, bound + part is a lower bound, and the next part is larger.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from microagg.optimum.enumerated import LEAF_GAP, Enumerated, Leaf, Path, Proof
from microagg.optimum.master_problem import (
    Prices,
    add_columns,
    add_equations,
    add_rows,
    cut_coefficients,
    cut_limits,
    group_costs,
    membership_matrix,
)
from microagg.optimum.program import ALLOWANCE
from microagg.optimum.set_partitioning import SetPartitioning
from microagg.validation import IntArray

#: Seconds between two calls of ``go_on`` by the solver.
_SECONDS_BETWEEN_CALLS = 0.2
#: The solver ignores smaller gains, as a share of the SSE.
MIN_GAIN = 1e-7


def recombine(
    sets: SetPartitioning, groups: IntArray, start: IntArray | None, until: float, go_on: Callable[[], bool]
) -> IntArray | None:
    """Combine some of ``groups`` into the best partition, and return its groups, or None if none was found.

    ``start`` are the groups of an initial partition, which counts only if ``groups`` has all of them. The solver stops
    at ``until`` (``time.perf_counter``) or when ``go_on`` returns False.
    """
    import highspy
    from scipy.sparse import csr_array, hstack

    from microagg.kernels.running import new_solver

    n, m, cuts = len(sets.X), len(groups), sets.master.cuts
    members, limits = membership_matrix(groups, n), cut_limits(cuts)
    time_left = max(until - time.perf_counter(), 0.01)
    highs = new_solver(mip_rel_gap=MIN_GAIN, mip_abs_gap=0.0, time_limit=time_left)
    add_equations(highs, n)
    add_rows(highs, np.full(len(limits), -np.inf), limits, csr_array((len(limits), 0)))
    entries = hstack([members, cut_coefficients(members, cuts)], format="csr")
    columns = add_columns(highs, group_costs(sets.X, groups), entries, high=1.0)
    highs.changeColsIntegrality(m, columns, np.full(m, highspy.HighsVarType.kInteger))
    keys_of_start = {group.tobytes() for group in start} if start is not None else set()
    values = np.array([float(group.tobytes() in keys_of_start) for group in groups])
    if keys_of_start and values.sum() == len(keys_of_start):
        solution = highspy.HighsSolution()
        solution.col_value = values.tolist()
        highs.setSolution(solution)
    last_call = [time.perf_counter()]

    def ask(event: Any) -> None:
        if time.perf_counter() > last_call[0] + _SECONDS_BETWEEN_CALLS:
            if not go_on():
                event.interrupt()
            last_call[0] = time.perf_counter()

    highs.cbMipInterrupt.subscribe(ask)
    highs.run()
    if highs.getInfo().primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    chosen = np.flatnonzero(np.array(highs.getSolution().col_value) > 0.5)
    # The solver is not trusted: every record must be in exactly one of the groups.
    is_partition = (np.asarray(members[chosen].sum(axis=0)) == 1.0).all()
    return groups[chosen] if is_partition else None


#: Maximum seconds of one recombination.
_SECONDS = 10.0
#: Maximum numbers of groups enumerated: up to the whole distance or after a first list, and for a first list.
MAX_GROUPS, FIRST_LIST_SIZE = 1_500_000, 20_000
#: Minimum reach of a first list, as a share of the distance.
MIN_REACH = 1e-7
#: Groups are recombined once their number has grown by this factor.
GROWTH = 1.1


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
        partition = recombine(self._sets, master.groups, self.groups, end, go_on)
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
