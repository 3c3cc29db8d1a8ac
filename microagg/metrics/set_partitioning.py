"""A proven lower bound on the SSE from the linear program of set partitioning.

**The program.** Let G run through all groups of k to 2k-1 records. A group of 2k or more can be split into two of at
least k without raising the SSE, because two centroids fit no worse than one. So the least SSE of all partitions is

    min Σ SSE(G) x_G   such that   Σ_{G ∋ i} x_G = 1 for each record i,   x_G in {0, 1}.

To this come *tolls*: of the groups that hold at least two records of a triple T, a partition has at most one, since
two of them would share a record. So Σ_{|G ∩ T| ≥ 2} x_G ≤ 1 for any triples (subset-row inequalities: Jepsen,
Petersen, Spoorendonk & Pisinger 2008), which fractions that add up half groups violate.

**The bound.** Take any numbers pi_i, one for each record, and any sigma_T ≥ 0, one for each triple. For a partition P

    SSE(P) = Σ_{G in P} SSE(G)
           ≥ Σ_{G in P} SSE(G) + Σ_i pi_i (1 - [groups of P that hold i]) - Σ_T sigma_T (1 - [groups that pay T])
           = Σ_i pi_i - Σ_T sigma_T + Σ_{G in P} rc(G),   rc(G) = SSE(G) - pi(G) + Σ_{|G ∩ T| ≥ 2} sigma_T.

If every group is assigned to one of its members, its root, in whatever way, and r_i ≤ 0 is below the rc of all groups
of root i, then P has at most n / k groups, all with different roots, so

    SSE(P) ≥ Σ_i pi_i - Σ_T sigma_T + the sum of the n / k least r_i.

That holds whatever pi and sigma are. The solver only proposes them: neither its tolerances nor stopping it early can
make the bound wrong. The r_i come from a branch and bound of our own, :mod:`microagg.kernels.bounds.pricing`, over all
records that can be in a group with a negative rc; where its effort is limited it returns a smaller r_i. Sums in
floating point are off by some 1e-16 of their terms, times the number of terms; 1e-9 of the sum of all terms' sizes is
taken off. Records are told apart by index, so that identical ones do no harm.

**How pi and sigma are found.** By column generation: HiGHS solves the program over the groups found so far, pi and
sigma are its dual solution, and groups with a negative rc enter. pi is confined to a box around the best one so far,
without which it swings widely (du Merle, Villeneuve, Desrosiers & Hansen 1999). It starts where the nearest-neighbor
bound, which is a feasible dual solution, has it. Once no group is missing, violated triples enter.
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
from microagg.kernels.bounds.boxes import make_blocks
from microagg.validation import FloatArray, IntArray

#: How many groups a root may contribute at a time.
KEEP = 3

#: How many candidates are weighed for a root and a size before the search is cut short, to begin with.
EFFORT = 20_000

#: More effort than anybody has time for.
MOST_EFFORT = 10**15

#: How far a record's price may go at first in one step, as a share of it.
STEP = 0.05

#: Relative slack for rounding.
SLACK = 1e-9

#: The longest that the solver runs before somebody may stop it, in seconds.
SLICE = 0.5


class Prices(NamedTuple):
    """A dual solution: ``pi``, shape (n,), of any sign, and ``sigma``, shape (number of triples,), not negative."""

    pi: FloatArray
    sigma: FloatArray


class Errand(NamedTuple):
    """A search for groups that is under way: for which prices, what was found, and the ranges of roots left."""

    prices: Prices
    found: pricing.Found
    left: deque[tuple[int, int]]
    tolls: pricing.Tolls


class SetPartitioning:
    """The program over the groups found so far, and the best bound so far.

    Parameters
    ----------
    X : array of float, shape (n, d)
        Finite numbers; at least 2k records, not all equal.
    k : int
        At least 2.

    Attributes
    ----------
    iterations : int
        How many times groups were searched for.
    converged : bool
        Whether no group and no triple that could raise it is missing.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        from scipy.spatial import KDTree

        self.k = k
        n = len(X)
        X = np.ascontiguousarray(X[KDTree(X).indices])
        near = np.square(KDTree(X).query(X, k=np.arange(1, min(n, 2 * k - 2) + 1), workers=-1)[0])
        near = np.pad(near, ((0, 0), (0, 2 * k - 2 - near.shape[1])), mode="edge")
        unit = near[:, :k].sum() / (2 * k * n) or np.square(X - X.mean(axis=0)).sum() / n
        # A power of two, so that nothing is rounded; the solver's tolerances are absolute.
        self._scale = 2.0 ** -round(np.log2(unit) / 2)
        self._blocks = make_blocks(X * self._scale)
        self._halves = np.cumsum(near * self._scale**2, axis=1) / 2
        pi = self._halves[:, k - 1] / k
        self._center = pi
        self._worth = float(pi.sum())
        self._best = self._worth * (1 - SLACK)
        self._box = STEP * np.maximum(pi, 0.1)
        self._limit = -1e-7
        self._effort = EFFORT
        self._errand: Errand | None = None
        self._master = Master(self._blocks.X, k)
        self._master.confine(self._center, self._box)
        self.iterations = 0
        self.converged = False

    @property
    def sse(self) -> float:
        """The best bound, in squared units of X."""
        return self._best / self._scale**2

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one iteration, or less if the clock (``time.perf_counter``) comes to ``until`` or ``go_on`` says no.

        What is begun goes on in the next call. Returns whether the iteration was finished.
        """
        if self._errand is None:
            if not self._master.solve(until, go_on):
                return False
            self._errand = self._start(self._master.prices)
        if not self._search(self._errand, until, go_on):
            return False
        self._learn(self._errand)
        self._errand = None
        return True

    def lower_bound(self, prices: Prices, found: pricing.Found) -> float:
        """Return the bound that ``prices`` give, from a finished search for groups at these prices (scaled units)."""
        n = len(prices.pi)
        least = _sum_of_least(found.least, n // self.k)
        sizes = np.abs(prices.pi).sum() + prices.sigma.sum() - least
        return float(prices.pi.sum() - prices.sigma.sum() + least - SLACK * sizes)

    def _start(self, prices: Prices) -> Errand:
        n = len(prices.pi)
        step = max(1, min(64, n // 32))
        left = deque((first, min(n, first + step)) for first in range(0, n, step))
        tolls = pricing.make_tolls(n, self._master.triples, prices.sigma)
        return Errand(prices, pricing.make_found(n, self.k, KEEP), left, tolls)

    def _search(self, errand: Errand, until: float, go_on: Callable[[], bool]) -> bool:
        stop = False

        def work() -> None:
            while not stop and time.perf_counter() < until:
                try:
                    first, last = errand.left.popleft()
                except IndexError:
                    return
                pricing.price(
                    self._blocks,
                    errand.prices.pi,
                    errand.tolls,
                    self._halves,
                    self.k,
                    first,
                    last,
                    self._limit,
                    self._effort,
                    errand.found,
                )

        threads = min(os.cpu_count() or 1, len(errand.left))
        with ThreadPoolExecutor(max(threads, 1), thread_name_prefix="microagg-bound") as pool:
            try:
                workers = [pool.submit(work) for _ in range(threads)]
                while wait(workers, timeout=SLICE).not_done:
                    stop = stop or not go_on()
            finally:
                stop = True
        for worker in workers:
            worker.result()
        return not errand.left

    def _learn(self, errand: Errand) -> None:
        """Take in what a search has found: a bound, groups, and how far to trust the next prices."""
        self.iterations += 1
        prices, found, master = errand.prices, errand.found, self._master
        self._best = max(self._best, self.lower_bound(prices, found))
        cut_short = bool(found.cut_short.any())
        new = master.add_groups(found.groups[np.arange(KEEP) < found.counts[:, np.newaxis]])
        confined = master.slack > 1e-6
        # The center is chosen by what the prices would be worth if no group had escaped a search that was cut short.
        cheapest = np.where(found.counts > 0, found.costs[:, 0], 0.0)
        worth = float(prices.pi.sum() - prices.sigma.sum() + _sum_of_least(cheapest, len(cheapest) // self.k))
        self._worth = min(self._worth, master.value)
        hoped = master.value - self._worth
        if worth > self._worth:
            if confined and worth > self._worth + 0.1 * hoped:
                self._box *= 1.5
            self._center, self._worth = prices.pi, worth
        elif worth < self._worth - hoped:
            self._box *= 0.7
        if new == 0 and cut_short:
            self._effort = min(3 * self._effort, MOST_EFFORT)
        elif new == 0 and confined:
            self._box *= 2.0
        self._box = np.clip(self._box, 1e-3, 5.0 * max(1.0, float(self._center.mean())))
        if not cut_short and not confined and hoped <= 1e-3 * abs(master.value) + 1e-6:
            added = master.add_triples()
            self.converged = new == 0 and added == 0
            if added:
                self._box = STEP * np.maximum(self._center, 0.1)
        master.confine(self._center, self._box)


def _sum_of_least(values: FloatArray, count: int) -> float:
    """Return the sum of the ``count`` least of ``values``."""
    return float(np.partition(values, count - 1)[:count].sum())


class Master:
    """The linear program over some of the groups and triples, in HiGHS.

    Columns are, for each record, one for a price above the box and one for a price below it, and then the groups; rows
    are the records and then the triples.

    Attributes
    ----------
    groups : array of int, shape (m, 2k - 1)
        Members in ascending order; filled up with -1, which come first.
    triples : array of int, shape (t, 3)
    prices : Prices
        The dual solution.
    value : float
        Its value: within the box no prices give a better bound.
    slack : float
        How far the box keeps the prices from being better still; 0 if it does not matter.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        import highspy

        n = len(X)
        self._X = X
        self.groups = np.empty((0, 2 * k - 1), dtype=np.int64)
        self.triples = np.empty((0, 3), dtype=np.int64)
        self.prices = Prices(np.zeros(n), np.empty(0))
        self.value = self.slack = 0.0
        self._shares = np.empty(0)
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
        """Let each record's price be no further than ``box`` from ``center``, both of shape (n,)."""
        costs = np.concatenate([center + box, box - center])
        self._highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def solve(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Solve the program, and return whether that was finished in time; see :meth:`SetPartitioning.advance`."""
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
        self.prices = Prices(dual[:n], np.maximum(-dual[n:], 0.0))
        self._shares = primal[2 * n :]
        self.slack = float(primal[: 2 * n].sum())
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
        """Add triples that the solution violates; return how many."""
        used = np.flatnonzero(self._shares > 1e-6)
        groups = self.groups[used]
        members = self._members(groups).T.tocsr()
        starts, rows = members.indptr.astype(np.int64), members.indices.astype(np.int64)
        triples, violations = pricing.violated_triples(groups, self._shares[used], starts, rows, 0.02)
        if len(triples) == 0:
            return 0
        triples, first = np.unique(triples, axis=0, return_index=True)
        chosen = []
        times = np.zeros(len(self._X), dtype=np.int64)
        for at in np.argsort(-violations[first], kind="stable"):
            if (times[triples[at]] < 2).all():
                times[triples[at]] += 1
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
