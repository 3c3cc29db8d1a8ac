"""The least SSE of all partitions into groups of a list: linear programming, cuts of rank one, and branching.

The list holds all groups that a partition better than the best known can have, see :mod:`microagg.optimum.branching`.
As no group is to be looked for elsewhere, cuts cost little, and a group's reduced cost is a sum.

**Bounds.** By :mod:`microagg.optimum.set_partitioning`, SSE(P) ≥ value + Σ_{G in P} rc(G), value = Σ pi - Σ sigma most,
for any pi and sigma ≥ 0 and a partition P into groups of the list. So groups with a reduced cost above least - value
leave the list; the fewer they are, the more the next cuts raise the bound. What is left is divided by whether pairs of
records share a group (Ryan & Foster 1981).

**What is proven** stands in :class:`Proof`, which can be checked without any of this: see
:mod:`microagg.optimum.proof_checker`.
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from microagg.kernels.bounds.rank_one import Cut
from microagg.optimum.master_problem import (
    LEAST_TRIES,
    MOST_TRIES,
    Prices,
    add_columns,
    add_equations,
    add_rows,
    coefficients_of,
    costs_of,
    divided_pairs,
    members_of,
    most_of,
    run,
    violated,
)
from microagg.optimum.program import ALLOWANCE, Multipliers, proven, usable
from microagg.validation import FloatArray, IntArray

#: A leaf is closed once its bound is at most this share below the SSE of the best partition known.
CLOSE = 1e-7
#: Groups with a smaller reduced cost are missing in the linear program.
_MISSING = -1e-7
#: How many groups enter the linear program at a time.
_GROUPS = 3_000
#: The bound must rise by this share of what is missing in so many rounds of cuts; how many there are at most elsewhere
#: than at the root, and at the root.
_RISE, _ROUNDS, _ROUNDS_BELOW, _MOST_ROUNDS = 0.03, 4, 2, 200
#: How many pairs are tried before one is decided on, and for how many iterations of the simplex method.
_PAIRS, _ITERATIONS = 4, 30
#: Of so many leaves that are begun one is followed to its end, for better partitions; all are until one is found.
_DIVES = 5
#: How many cuts without a price are dropped, at the root and elsewhere.
_IDLE, _IDLE_BELOW = 30, 500
#: The list's prices are kept for the proof whenever so large a share of it is left.
_KEPT = 0.7

#: Pairs of records i < j in the order in which they were decided on, and whether both are to be in one group.
Path = tuple[tuple[int, int, bool], ...]


class Leaf(NamedTuple):
    """Decisions, and prices by which no partition that keeps to them is better than their bound."""

    path: Path
    prices: Prices


class Proof(NamedTuple):
    """Why no partition into groups of at least k has a smaller SSE, but for what the leaves' bounds are below it."""

    labels: IntArray  # shape (n,)
    # With these, all groups that a better partition can have are found: those whose reduced cost is below what its SSE
    # is above their value.
    listed: Prices
    filters: tuple[Prices, ...]  # one after the other they leave fewer of these groups
    leaves: tuple[Leaf, ...]  # every partition keeps to the decisions of one of them


class Enumerated:
    """Branch and bound over a list of groups.

    The records ``X``, shape (n, d), are scaled so that prices are about 1. Members of ``groups``, shape (m, 2k - 1),
    are in ascending order, filled up with -1, which come first; they were found by ``prices``, which prove ``bound``.
    Nothing is looked for that is not below ``least``, the SSE of the best partition known, which may be lowered from
    outside at any time. Once a better partition has been found, its groups, shape (g, 2k - 1), are ``best``.
    """

    def __init__(self, X: FloatArray, k: int, groups: IntArray, prices: Prices, bound: float, least: float) -> None:
        import highspy
        from scipy.sparse import csc_array, eye_array

        from microagg.kernels.running import new_solver

        self._X, self._n, self._k = X, len(X), k
        self.groups, self.least = groups, least  # the groups are those that are left of the list
        self.best: IntArray | None = None
        self.filters: list[Prices] = []  # as in Proof
        self._leaves: list[Leaf] = []
        self._costs = costs_of(X, groups)
        self._members = members_of(groups, self._n).tocsc()
        self._cuts: list[Cut] = []
        self._coefficients = csc_array((len(groups), 0))
        self._columns = np.empty(0, dtype=np.int64)
        self._values = np.empty(0)
        self._number, self._seed, self._tries, self._rounds = count(), 0, LEAST_TRIES, 0
        # The leaf that is worked on, its bounds after each round of cuts, the prices of the best one, and what waits.
        self._here: Path | None = ()
        self._course: list[float] = [bound]
        self._proving = prices
        self._open: list[tuple[float, int, Path, Prices]] = []
        self._closed = np.inf
        self._allowed = np.ones(len(groups), dtype=bool)
        # The list's reduced costs at the best prices for all of it, these, and their bound.
        self._root, self._root_prices, self._root_bound = np.zeros(len(groups)), prices, -np.inf
        self._begun, self._dives = 0, False
        self._no_limit = highspy.kHighsIInf
        # Presolving is begun anew by each of the short runs, and a list may be too long for it ever to end.
        self._highs = new_solver(presolve="off")
        add_equations(self._highs, self._n)
        # Columns that hold one record each: without them there might be no solution under some decisions.
        self._missing_cost = 10.0 * max(1.0, float(self._costs.max()))
        add_columns(self._highs, np.full(self._n, self._missing_cost), eye_array(self._n, format="csr"))
        self._add_cuts([cut for cut, sigma in zip(prices.cuts, prices.sigma, strict=True) if sigma > 0.0])
        sigma = prices.sigma[prices.sigma > 0.0]
        self._add_groups(np.argsort(self._reduced(prices.pi, sigma), kind="stable")[: 3 * self._n])

    @property
    def bound(self) -> float:
        """What no partition into groups of the list has an SSE below; the least SSE known if that is lower."""
        here = [max(self._course)] if self._here is not None else []
        waiting = [bound for bound, *_ in self._open[:1]]
        return float(min([self._closed, self.least, *here, *waiting]))

    @property
    def converged(self) -> bool:
        """Whether no leaf is open."""
        return self._here is None and not self._open

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one round, as :meth:`microagg.optimum.program.Program.advance`."""
        if self._here is None:
            bound, _, path, proving = heapq.heappop(self._open)
            self._begun += 1
            self._dives = self.best is None or self._begun % _DIVES == 0
            self._begin(bound, path, proving)
        if max(self._course) < self._enough and not self._solve(until, go_on):
            return False
        self._shorten()
        if max(self._course) >= self._enough:
            self._close()
        elif self._is_whole():
            self._take()
            self._close()  # its bound is below that SSE by the solver's tolerances
        elif not self._cut():
            return self._divide(until, go_on)
        return True

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The leaves, closed and open, and the prices of the best bound of each."""
        here = [] if self._here is None else [Leaf(self._here, self._proving)]
        return (*self._leaves, *here, *(Leaf(path, prices) for _, _, path, prices in self._open))

    @property
    def _enough(self) -> float:
        return self.least * (1.0 - CLOSE) - ALLOWANCE * self._n

    def _begin(self, bound: float, path: Path, proving: Prices) -> None:
        """Begin to work on a leaf."""
        self._here, self._proving, self._course = path, proving, [bound]
        self._allowed = ~self._against(path)
        self._confine(self._allowed[self._columns])

    def _close(self) -> None:
        """Close the leaf that is worked on: no partition that keeps to its decisions is better."""
        assert self._here is not None
        self._leaves.append(Leaf(self._here, self._proving))
        self._closed = min(self._closed, max(self._course))
        self._here = None

    def _take(self) -> None:
        """Let the groups of the solution, which are a partition, be the best."""
        self.best = self.groups[self._columns[self._values > 0.5]]
        self.least = min(self.least, float(costs_of(self._X, self.best).sum()))

    def _is_whole(self) -> bool:
        used = self._values > 0.5
        covers = self._members[self._columns[used]].sum() == self._n
        return bool(covers and (np.abs(self._values - used) <= 1e-6).all())

    def _reduced(self, pi: FloatArray, sigma: FloatArray) -> FloatArray:
        """Return the reduced cost of each group of the list, shape (m,)."""
        return np.asarray(self._costs - self._members @ pi + self._coefficients @ sigma)

    def _solve(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Solve the program with all groups that it needs, and return whether that was finished in time."""
        highs, n = self._highs, self._n
        while True:
            if not run(highs, until, go_on):
                return False
            solution = highs.getSolution()
            dual = np.array(solution.row_dual)
            self._values = np.array(solution.col_value)[n:]
            pi, sigma = dual[:n], np.maximum(-dual[n:], 0.0)
            reduced = self._bound_by(pi, sigma)
            absent = self._allowed.copy()
            absent[self._columns] = False
            missing = np.flatnonzero((reduced < _MISSING) & absent)
            if len(missing) == 0:
                self._course.append(max(self._course))
                return True
            self._add_groups(missing[np.argsort(reduced[missing], kind="stable")[:_GROUPS]])

    def _bound_by(self, pi: FloatArray, sigma: FloatArray) -> FloatArray:
        """Take the bound of a dual solution into account; return the reduced costs, 0 if it proves nothing."""
        multipliers = Multipliers(pi, (self._n,)), Multipliers(sigma, (len(self._cuts),), low=0.0)
        if not usable(*multipliers):
            return np.zeros(len(self._costs))
        reduced = self._reduced(pi, sigma)

        def prove() -> float:
            least = float(reduced[self._allowed].min(initial=0.0)) * (self._n // self._k)
            of_cuts = float(sigma @ most_of(self._cuts))
            sizes = float(np.abs(pi).sum()) + of_cuts - least
            return float(pi.sum()) - of_cuts + least - ALLOWANCE * sizes

        bound = proven(prove, *multipliers)
        if bound > max(self._course):
            used = np.flatnonzero(sigma > 0.0)
            self._proving = Prices(pi, tuple(self._cuts[at] for at in used), sigma[used])
            self._course[-1] = bound
            if self._here == ():
                self._root, self._root_prices, self._root_bound = reduced, self._proving, bound
        return reduced

    def _shorten(self) -> None:
        """Take groups off the list that no better partition has."""
        stays = self._root <= self.least - self._root_bound + 2.0 * ALLOWANCE * self._n
        if stays.mean() > _KEPT:
            return
        if not self.filters or self.filters[-1] is not self._root_prices:
            self.filters.append(self._root_prices)
        gone = np.flatnonzero(~stays[self._columns])
        if len(gone):
            self._highs.deleteCols(len(gone), (gone + self._n).astype(np.int32))
        held = stays[self._columns]
        self._values, self._columns = self._values[held], (np.cumsum(stays) - 1)[self._columns[held]]
        self.groups, self._costs, self._root = self.groups[stays], self._costs[stays], self._root[stays]
        self._members = self._members.tocsr()[stays].tocsc()
        self._coefficients = self._coefficients.tocsr()[stays].tocsc()
        self._allowed = self._allowed[stays]

    def _add_groups(self, at: IntArray) -> None:
        """Let groups of the list enter the linear program."""
        from scipy.sparse import hstack

        entries = hstack([self._members.tocsr()[at], self._coefficients.tocsr()[at]], format="csr")
        add_columns(self._highs, self._costs[at], entries)
        self._columns = np.concatenate([self._columns, at])

    def _add_cuts(self, cuts: Sequence[Cut]) -> None:
        """Let cuts enter the linear program."""
        if not cuts:
            return
        from scipy.sparse import hstack

        new = coefficients_of(self._members, cuts)
        entries = new.tocsr()[self._columns].T.tocsr()
        entries.indices += self._n
        add_rows(self._highs, np.full(len(cuts), -np.inf), most_of(cuts), entries)
        self._coefficients = hstack([self._coefficients, new], format="csc")
        self._cuts.extend(cuts)

    def _drop_cuts(self) -> None:
        """Drop the cuts that have no price, once they are many."""
        sigma = np.maximum(-np.array(self._highs.getSolution().row_dual)[self._n :], 0.0)
        gone = np.flatnonzero(sigma < 1e-9)
        if len(gone) < (_IDLE if self._here == () else _IDLE_BELOW):
            return
        self._highs.deleteRows(len(gone), (gone + self._n).astype(np.int32))
        stay = np.flatnonzero(sigma >= 1e-9)
        self._coefficients = self._coefficients[:, stay]
        self._cuts = [self._cuts[at] for at in stay]

    def _cut(self) -> bool:
        """Add cuts that the solution violates; return False if there are none, or they hardly help."""
        course, least = self._course, self.least
        if self._here != ():
            if len(course) - 1 > min(_ROUNDS_BELOW, _MOST_ROUNDS):
                return False
            tries = LEAST_TRIES
        else:
            self._rounds += 1
            if self._rounds > _MOST_ROUNDS:
                return False
            if len(course) > _ROUNDS + 1 and course[-1] - course[-1 - _ROUNDS] < _RISE * (least - course[-1]):
                self._tries *= 4
                self._course = course[-1:]
            tries = self._tries
        self._drop_cuts()
        cuts = self._violated(tries)
        while not cuts and self._here == () and self._tries <= MOST_TRIES:
            self._tries *= 4
            cuts = self._violated(self._tries)
        self._add_cuts(cuts)
        return bool(cuts)

    def _violated(self, tries: int) -> list[Cut]:
        if tries > MOST_TRIES:
            return []
        self._seed += 1
        return violated(self.groups[self._columns], self._values, self._n, tries, self._seed)

    def _against(self, path: Path) -> Any:
        """Whether each group of the list goes against one of the decisions, shape (m,)."""
        against = np.zeros(len(self.groups), dtype=bool)
        for i, j, together in path:
            held = self._members[:, [i, j]].sum(axis=1)
            against |= held == 1 if together else held == 2
        return against

    def _confine(self, usable: Any) -> None:
        """Let only some groups of the linear program have a value above 0."""
        m = len(usable)
        places = np.arange(self._n, self._n + m, dtype=np.int32)
        self._highs.changeColsBounds(m, places, np.zeros(m), np.where(usable, np.inf, 0.0))

    def _divide(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Divide the leaf that is worked on by the pair that promises most; return whether there was time for it."""
        assert self._here is not None
        highs, path = self._highs, self._here
        basis, before = highs.getBasis(), highs.getObjectiveValue()
        highs.setOptionValue("simplex_iteration_limit", _ITERATIONS)
        best, chosen, likely = -1.0, None, True
        used = np.flatnonzero(self._values > 1e-9)
        members = self._members.tocsr()[self._columns[used]]
        try:
            for i, j in divided_pairs(self._X, members, self._values[used], _PAIRS).tolist():
                score, gains = 1.0, []
                for together in (True, False):
                    if time.perf_counter() >= until or not go_on():
                        return False
                    self._confine((self._allowed & ~self._against(((i, j, together),)))[self._columns])
                    highs.setBasis(basis)
                    highs.run()
                    gain = min(highs.getObjectiveValue() - before, self._enough - max(self._course))
                    score *= max(gain, 1e-6)
                    gains.append(gain)
                if score > best:
                    best, chosen, likely = score, (i, j), gains[0] <= gains[1]
        finally:
            highs.setOptionValue("simplex_iteration_limit", self._no_limit)
            self._confine(self._allowed[self._columns])
            highs.setBasis(basis)
        if chosen is None:
            # No groups that keep to the decisions hold all records: solve it again, without such a way out.
            self._missing_cost *= 10.0
            costs = np.full(self._n, self._missing_cost)
            highs.changeColsCost(self._n, np.arange(self._n, dtype=np.int32), costs)
            return True
        bound, proving, self._here = max(self._course), self._proving, None
        for together in (not likely, likely):
            decided = (*path, (*chosen, together))
            if self._dives and together == likely:
                self._begin(bound, decided, proving)
            else:
                heapq.heappush(self._open, (bound, next(self._number), decided, proving))
        return True
