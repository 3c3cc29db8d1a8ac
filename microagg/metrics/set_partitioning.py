"""A proven lower bound on the SSE from the linear program of set partitioning, whose columns are groups.

**The program.** Let G run through all groups of k to 2k-1 records. A group of 2k or more can be split into two of at
least k without raising the SSE, because two centroids fit no worse than one. So the least SSE of all partitions is

    min Σ SSE(G) x_G   such that   Σ_{G ∋ i} x_G = 1 for each record i,   x_G in {0, 1},

and without the demand that x_G be 0 or 1 no more than that. To tighten it come *subset-row cuts* (Jepsen, Petersen,
Spoorendonk & Pisinger 2008): of the groups that hold at least two records of a triple T a partition has at most one, as
two of them would share a record, so

    Σ_{|G ∩ T| ≥ 2} x_G ≤ 1   for any triples T.

**The bound.** Take any numbers pi_i, one for each record, and any sigma_T ≥ 0, one for each triple: dual values. For a
partition P each record is in one group, and at most one group G has |G ∩ T| ≥ 2, so

    SSE(P) = Σ_{G in P} SSE(G)
           ≥ Σ_{G in P} SSE(G) + Σ_i pi_i (1 - [groups of P with i]) - Σ_T sigma_T (1 - [groups of P with |G ∩ T| ≥ 2])
           = Σ_i pi_i - Σ_T sigma_T + Σ_{G in P} rc(G),   rc(G) = SSE(G) - Σ_{i in G} pi_i + Σ_{|G ∩ T| ≥ 2} sigma_T,

where [groups …] is their number. Let every group be assigned to one of its members, its root, in whatever way, and let
r_i ≤ 0 be a lower bound on the rc of all groups of root i. P has at most n / k groups, all with different roots, so

    SSE(P) ≥ Σ_i pi_i - Σ_T sigma_T + the sum of the n / k least r_i.

That holds whatever pi and sigma are. The solver only proposes them: neither its tolerances nor stopping it early can
make the bound wrong. The r_i come from a branch and bound of our own, :mod:`microagg.kernels.bounds.pricing`, over all
records that can be in a group with a negative rc; where its effort is limited it returns a smaller r_i. For rounding,
:data:`~microagg.metrics.program.ALLOWANCE` of the sum of the sizes of all terms is taken off. Records are told apart by
index, so that identical ones do no harm.

**How pi and sigma are found.** By column generation: HiGHS solves the program over the groups found so far, the
restricted master problem; pi and sigma are its dual solution, and groups with a negative rc enter. pi is confined to a
box around the best one so far, without which it swings widely (du Merle, Villeneuve, Desrosiers & Hansen 1999). It
starts where the nearest-neighbor bound, which is a feasible dual solution, has it. Once no group is missing, violated
subset-row cuts enter.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any, NamedTuple

import numpy as np

from microagg.kernels.bounds import pricing
from microagg.kernels.bounds.separation import violated_triples
from microagg.metrics.program import ALLOWANCE, Program
from microagg.validation import FloatArray, IntArray

#: How many groups a root may contribute at a time.
KEEP = 3

#: Only groups with a reduced cost below this are looked for; squared units of the scaled records.
LIMIT = -1e-7

#: How many candidates are ranked for a root and a size before the search is cut short, to begin with.
EFFORT = 20_000

#: What the effort may grow to: without end in practice, yet within 64 bits.
MOST_EFFORT = 10**15

#: How far the box around pi reaches at first, as a share of pi.
BOX = 0.05

#: By how much a subset-row cut must be violated to enter.
LEAST_VIOLATION = 0.02

#: For how many seconds at most the solver runs before it is asked whether to go on.
SLICE = 0.5


class Duals(NamedTuple):
    """A dual solution: ``pi``, shape (n,), of any sign, and ``sigma``, shape (number of triples,), not negative."""

    pi: FloatArray
    sigma: FloatArray


class GroupSearch(NamedTuple):
    """A search for groups with a negative reduced cost: at which duals, what is found, and the ranges of roots left."""

    duals: Duals
    cuts: pricing.Cuts
    found: pricing.Found
    left: deque[tuple[int, int]]


class SetPartitioning(Program):
    """The program over the groups found so far. An iteration solves it and searches for groups once.

    It has converged when no group and no cut that could raise the bound is missing.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        super().__init__(X, k)
        n = len(X)
        near = np.square(self._tree.query(self._X, k=np.arange(1, min(n, 2 * k - 2) + 1), workers=-1)[0])
        near = np.pad(near, ((0, 0), (0, 2 * k - 2 - near.shape[1])), mode="edge")
        self._rescale(near[:, :k])
        self._halves = np.cumsum(near / self._unit, axis=1) / 2
        # pi of the best bound so far, what that bound would be had no search been cut short, and the reach of the box.
        self._center = self._halves[:, k - 1] / k
        self._center_value = float(self._center.sum())
        self._best = self._center_value * (1 - ALLOWANCE)
        self._box = BOX * np.maximum(self._center, 0.1)
        self._effort = EFFORT
        self._begun: GroupSearch | None = None
        self._master = Master(self._X, k)
        self._master.confine(self._center, self._box)

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """See :meth:`Program.advance`."""
        if self._begun is None:
            if not self._master.solve(until, go_on):
                return False
            self._begun = self._start(self._master.duals)
        if not self._search(self._begun, until, go_on):
            return False
        self._update(self._begun)
        self._begun = None
        return True

    def lower_bound(self, duals: Duals, found: pricing.Found) -> float:
        """Return the bound that ``duals`` give, from a finished search for groups with them (scaled units)."""
        n = len(duals.pi)
        least = _sum_of_least(found.least, n // self.k)
        sizes = np.abs(duals.pi).sum() + duals.sigma.sum() - least
        return float(duals.pi.sum() - duals.sigma.sum() + least - ALLOWANCE * sizes)

    def _start(self, duals: Duals) -> GroupSearch:
        n = len(duals.pi)
        step = max(1, min(64, n // 32))
        left = deque((first, min(n, first + step)) for first in range(0, n, step))
        cuts = pricing.make_cuts(n, self._master.triples, duals.sigma)
        return GroupSearch(duals, cuts, pricing.make_found(n, self.k, KEEP), left)

    def _search(self, search: GroupSearch, until: float, go_on: Callable[[], bool]) -> bool:
        """Search on all cores, as long as :meth:`advance` may; return whether all roots are done."""
        duals, cuts, found, left = search
        stop = False

        def work() -> None:
            while not stop and time.perf_counter() < until:
                try:
                    first, last = left.popleft()
                except IndexError:
                    return
                pricing.price(
                    self._blocks, duals.pi, cuts, self._halves, self.k, first, last, LIMIT, self._effort, found
                )

        threads = min(os.cpu_count() or 1, len(left))
        with ThreadPoolExecutor(max(threads, 1), thread_name_prefix="microagg-bound") as pool:
            try:
                workers = [pool.submit(work) for _ in range(threads)]
                while wait(workers, timeout=SLICE).not_done:
                    stop = stop or not go_on()
            finally:
                stop = True
        for worker in workers:
            worker.result()
        return not left

    def _update(self, search: GroupSearch) -> None:
        """Take in what a finished search has found: a bound, groups, and how far the next pi may be from the center."""
        self.iterations += 1
        duals, found, master = search.duals, search.found, self._master
        self._best = max(self._best, self.lower_bound(duals, found))
        cut_short = bool(found.cut_short.any())
        new = master.add_groups(found.groups[np.arange(KEEP) < found.counts[:, np.newaxis]])
        confined = master.box_activity > 1e-6
        # What the bound would be if the cheapest groups found were the cheapest there are.
        cheapest = np.where(found.counts > 0, found.costs[:, 0], 0.0)
        value = float(duals.pi.sum() - duals.sigma.sum() + _sum_of_least(cheapest, len(cheapest) // self.k))
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
            added = master.add_triples()
            self.converged = new == 0 and added == 0
            if added:
                self._box = BOX * np.maximum(self._center, 0.1)
        master.confine(self._center, self._box)


def _sum_of_least(values: FloatArray, count: int) -> float:
    """Return the sum of the ``count`` least of ``values``."""
    return float(np.partition(values, count - 1)[:count].sum())


class Master:
    """The restricted master problem: the program over some of the groups and triples, in HiGHS.

    Columns are two for each record, which keep its pi at most at the upper and at least at the lower end of the box,
    and then the groups; rows are the records and then the triples.

    Attributes
    ----------
    groups : array of int, shape (m, 2k - 1)
        Members in ascending order; filled up with -1, which come first.
    triples : array of int, shape (t, 3)
    duals : Duals
    value : float
        The value of these duals: no pi within the box gives a better bound.
    box_activity : float
        The sum of the primal values of the columns of the box; 0 if the box does not keep pi from anything better.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        import highspy

        n = len(X)
        self._X = X
        self.groups = np.empty((0, 2 * k - 1), dtype=np.int64)
        self.triples = np.empty((0, 3), dtype=np.int64)
        self.duals = Duals(np.zeros(n), np.empty(0))
        self.value = self.box_activity = 0.0
        self._values = np.empty(0)
        self._known: set[bytes] = set()
        self._infinity = highspy.kHighsInf
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in {"output_flag": False, "threads": 1, "simplex_strategy": 4}.items():
            self._highs.setOptionValue(option, value)
        nothing, each = np.empty(0, dtype=np.int32), np.arange(n, dtype=np.int32)
        self._highs.addRows(n, np.ones(n), np.ones(n), 0, np.zeros(n, dtype=np.int32), nothing, np.empty(0))
        open_end = np.full(n, self._infinity)
        for sign in (1.0, -1.0):
            self._highs.addCols(n, np.zeros(n), np.zeros(n), open_end, n, each, each, np.full(n, sign))

    def confine(self, center: FloatArray, box: FloatArray) -> None:
        """Let each record's pi be no further than ``box`` from ``center``, both of shape (n,)."""
        costs = np.concatenate([center + box, box - center])
        self._highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def solve(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Solve the program, and return whether that was finished in time; see :meth:`Program.advance`."""
        n, highs = len(self._X), self._highs
        while True:
            now = time.perf_counter()
            if now >= until or not go_on():
                return False
            # The solver counts the time of all its runs.
            highs.setOptionValue("time_limit", highs.getRunTime() + max(min(until - now, SLICE), 0.01))
            highs.run()
            if highs.getModelStatus() == self._optimal:
                break
        solution = highs.getSolution()
        dual, primal = np.array(solution.row_dual), np.array(solution.col_value)
        self.duals = Duals(dual[:n], np.maximum(-dual[n:], 0.0))
        self._values = primal[2 * n :]
        self.box_activity = float(primal[: 2 * n].sum())
        self.value = highs.getObjectiveValue()
        return True

    def add_groups(self, groups: IntArray) -> int:
        """Add those of ``groups``, shape (m, 2k - 1), filled up with -1, that are new; return how many."""
        groups = np.sort(groups, axis=1)
        new = []
        for at, group in enumerate(groups):
            key = group.tobytes()
            if key not in self._known:
                self._known.add(key)
                new.append(at)
        if not new:
            return 0
        from scipy.sparse import hstack

        groups = groups[new]
        m = len(new)
        members = self._members(groups)
        entries = hstack([members, _at_least_two(members, self._members(self.triples))], format="csr")
        entries.sort_indices()
        self._highs.addCols(
            m,
            self._costs(groups),
            np.zeros(m),
            np.full(m, self._infinity),
            entries.nnz,
            entries.indptr[:-1].astype(np.int32),
            entries.indices.astype(np.int32),
            entries.data,
        )
        self.groups = np.concatenate([self.groups, groups])
        return m

    def add_triples(self) -> int:
        """Add triples whose cuts the solution violates, no record in more than two of them; return how many."""
        used = np.flatnonzero(self._values > 1e-6)
        groups = self.groups[used]
        members = self._members(groups).T.tocsr()
        starts, rows = members.indptr.astype(np.int64), members.indices.astype(np.int64)
        triples, violations = violated_triples(groups, self._values[used], starts, rows, LEAST_VIOLATION)
        if len(triples) == 0:
            return 0
        triples, first = np.unique(triples, axis=0, return_index=True)
        chosen = []
        uses = np.zeros(len(self._X), dtype=np.int64)
        for at in np.argsort(-violations[first], kind="stable"):
            if (uses[triples[at]] < 2).all():
                uses[triples[at]] += 1
                chosen.append(at)
        triples = triples[chosen]
        t = len(triples)
        entries = _at_least_two(self._members(triples), self._members(self.groups))
        entries.sort_indices()
        self._highs.addRows(
            t,
            np.full(t, -self._infinity),
            np.ones(t),
            entries.nnz,
            entries.indptr[:-1].astype(np.int32),
            (entries.indices + 2 * len(self._X)).astype(np.int32),
            entries.data,
        )
        self.triples = np.concatenate([self.triples, triples])
        return t

    def _members(self, groups: IntArray) -> Any:
        """Return which records are in which of ``groups``, a sparse matrix of shape (m, n)."""
        from scipy.sparse import csr_array

        there = groups >= 0
        ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        return csr_array((np.ones(ends[-1]), groups[there], ends), shape=(len(groups), len(self._X)))

    def _costs(self, groups: IntArray) -> FloatArray:
        """Return the SSE of each group; the bound does not rest on it."""
        there = groups >= 0
        sizes = there.sum(axis=1)
        centers = (self._members(groups) @ self._X) / sizes[:, np.newaxis]
        costs = np.zeros(len(groups))
        for a in range(groups.shape[1]):
            differences = self._X[groups[there[:, a], a]] - centers[there[:, a]]
            costs[there[:, a]] += np.square(differences).sum(axis=1)
        return costs


def _at_least_two(some: Any, others: Any) -> Any:
    """Return 1 where a row of ``some`` and a row of ``others`` have two or more records in common."""
    common = (some @ others.T).tocsr()
    common.data = (common.data > 1.5).astype(np.float64)
    common.eliminate_zeros()
    return common
