"""The restricted master problem of set partitioning: its linear program over some of the groups, in HiGHS.

The program, its cuts and its dual values are those of :mod:`microagg.optimum.set_partitioning`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from microagg.kernels.bounds.rank_one import Cut, violated_cuts
from microagg.kernels.running import THREADS
from microagg.validation import FloatArray, IntArray

#: How far a sum of values may be from a whole number to be taken for it.
WHOLE = 1e-6
#: For how many seconds at most the solver runs before it is asked whether to go on.
SLICE = 0.5
#: Cuts of rank one: by how much they must be violated, how many enter at a time, in how many of these a record may be.
_VIOLATION, _CUTS, _USES = 0.01, 300, 4
#: Their denominators; how often each record begins one at first, and how often at most; the steps of each.
_DENOMINATORS, LEAST_TRIES, MOST_TRIES, _STEPS = (2, 3, 4, 5), 3, 48, 12


class Prices(NamedTuple):
    """A dual solution: of each record, of any sign, shape (n,), and of some cuts, not negative, shape (c,)."""

    pi: FloatArray
    cuts: tuple[Cut, ...]
    sigma: FloatArray


class Duals(NamedTuple):
    """A dual solution: of the records and the cuts."""

    pi: FloatArray  # shape (n,): of any sign
    sigma: FloatArray  # shape (number of cuts,): not negative


class Master:
    """The restricted master problem: the program over some of the groups and cuts, in HiGHS.

    The first columns are two for each record, which keep its pi at most at the upper and at least at the lower end of
    the box, the first rows are the records; then come groups and cuts, as they are added.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        import highspy
        from scipy.sparse import eye_array

        from microagg.kernels.running import new_solver

        n = len(X)
        self._X = X
        # Of shape (m, 2k - 1): members in ascending order, filled up with -1, which come first.
        self.groups = np.empty((0, 2 * k - 1), dtype=np.int64)
        self.cuts: list[Cut] = []
        # The solution: its duals; its value, which no pi within the box gives a better bound than; the primal values of
        # the groups that there were, shape (m,) or shorter; and the sum of those of the columns of the box, 0 if this
        # does not keep pi from anything better.
        self.duals = Duals(np.zeros(n), np.empty(0))
        self.value = self.box_activity = 0.0
        self.values = np.empty(0)
        # Whether it had no solution when it was last to be solved: no dual values within the box suit the groups.
        self.unbounded = False
        # The rows of cuts and the columns of groups, in the order in which they were added.
        self._rows_of_cuts = np.empty(0, dtype=np.int32)
        self._columns = np.empty(0, dtype=np.int32)
        self._seed = 0
        self._keys: set[bytes] = set()
        self._optimal = highspy.HighsModelStatus.kOptimal
        self._highs = new_solver(simplex_strategy=4)
        add_equations(self._highs, n)
        for sign in (1.0, -1.0):
            add_columns(self._highs, np.zeros(n), sign * eye_array(n, format="csr"))

    def confine(self, center: FloatArray, box: FloatArray) -> None:
        """Let each record's pi be no further than ``box`` from ``center``, both of shape (n,)."""
        costs = np.concatenate([center + box, box - center])
        self._highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def solve(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Solve the program, and return whether that was finished in time; see :meth:`Program.advance`."""
        n, highs = len(self._X), self._highs
        self.unbounded = False
        if not run(highs, until, go_on):
            return False
        if highs.getModelStatus() != self._optimal:
            self.unbounded = True
            return False
        solution = highs.getSolution()
        dual, primal = np.array(solution.row_dual), np.array(solution.col_value)
        self.duals = Duals(dual[:n], np.maximum(-dual[self._rows_of_cuts], 0.0))
        self.values = primal[self._columns]
        self.box_activity = float(primal.sum() - self.values.sum())
        self.value = highs.getObjectiveValue()
        return True

    def add_groups(self, groups: IntArray) -> int:
        """Add those of ``groups``, shape (m, 2k - 1), filled up with -1, that are new; return how many."""
        groups = np.sort(groups, axis=1)
        new = []
        for at, group in enumerate(groups):
            key = group.tobytes()
            if key not in self._keys:
                self._keys.add(key)
                new.append(at)
        if not new:
            return 0
        from scipy.sparse import hstack

        groups = groups[new]
        members = self.members_of(groups)
        rows = np.concatenate([np.arange(len(self._X)), self._rows_of_cuts])
        entries = hstack([members, coefficients_of(members, self.cuts)], format="csr")
        entries.indices = rows[entries.indices]
        self._columns = np.append(self._columns, add_columns(self._highs, costs_of(self._X, groups), entries))
        self.groups = np.concatenate([self.groups, groups])
        return len(new)

    def add_cuts(self, tries: int) -> int:
        """Add cuts of rank one that the solution violates, see :func:`violated`, and return how many."""
        self._seed += 1
        cuts = violated(self.groups[: len(self.values)], self.values, len(self._X), tries, self._seed)
        if cuts:
            entries = coefficients_of(self.members_of(self.groups), cuts).T.tocsr()
            entries.indices = self._columns[entries.indices]
            rows = add_rows(self._highs, np.full(len(cuts), -np.inf), most_of(cuts), entries)
            self._rows_of_cuts = np.append(self._rows_of_cuts, rows)
            self.cuts.extend(cuts)
        return len(cuts)

    def value_of(self, duals: Duals) -> float:
        """Return what a dual solution proves if no group has a negative reduced cost."""
        return float(duals.pi.sum()) - float(duals.sigma @ most_of(self.cuts[: len(duals.sigma)]))

    def members_of(self, groups: IntArray) -> Any:
        """Return which records are in which of ``groups``, as :func:`members_of`."""
        return members_of(groups, len(self._X))


def run(highs: Any, until: float, go_on: Callable[[], bool]) -> bool:
    """Run the solver, and return whether it came to its end in time; see :meth:`Program.advance`."""
    import highspy

    while True:
        now = time.perf_counter()
        if now >= until or not go_on():
            return False
        # The solver counts the time of all its runs.
        highs.setOptionValue("time_limit", highs.getRunTime() + max(min(until - now, SLICE), 0.01))
        highs.run()
        if highs.getModelStatus() != highspy.HighsModelStatus.kTimeLimit:
            return True


def add_rows(highs: Any, low: FloatArray, high: FloatArray, entries: Any) -> IntArray:
    """Add rows between ``low`` and ``high`` to a program, the rows of a sparse matrix, and return their numbers."""
    first, m = highs.getNumRow(), len(low)
    ends, columns = entries.indptr[:-1].astype(np.int32), entries.indices.astype(np.int32)
    highs.addRows(m, low, high, entries.nnz, ends, columns, entries.data)
    return np.arange(first, first + m, dtype=np.int32)


def add_columns(highs: Any, costs: FloatArray, entries: Any, high: float = np.inf) -> IntArray:
    """Add columns from 0 to ``high`` to a program, the rows of a sparse matrix, and return their numbers."""
    first, m = highs.getNumCol(), len(costs)
    ends, rows = entries.indptr[:-1].astype(np.int32), entries.indices.astype(np.int32)
    highs.addCols(m, costs, np.zeros(m), np.full(m, high), entries.nnz, ends, rows, entries.data)
    return np.arange(first, first + m, dtype=np.int32)


def add_equations(highs: Any, n: int) -> None:
    """Add to a program that each of n records is in one group; groups are to follow as columns."""
    from scipy.sparse import csr_array

    add_rows(highs, np.ones(n), np.ones(n), csr_array((n, 0)))


def members_of(groups: IntArray, n: int) -> Any:
    """Return which of n records are in which of m ``groups``, filled up with -1: a sparse matrix of shape (m, n)."""
    from scipy.sparse import csr_array

    there = groups >= 0
    ends = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
    return csr_array((np.ones(ends[-1]), groups[there], ends), shape=(len(groups), n))


def costs_of(X: FloatArray, groups: IntArray) -> FloatArray:
    """Return the SSE of each of m ``groups``, filled up with -1, shape (m,)."""
    there = groups >= 0
    sizes = there.sum(axis=1)
    centers = (members_of(groups, len(X)) @ X) / sizes[:, np.newaxis]
    costs = np.zeros(len(groups))
    for a in range(groups.shape[1]):
        differences = X[groups[there[:, a], a]] - centers[there[:, a]]
        costs[there[:, a]] += np.square(differences).sum(axis=1)
    return costs


def divided_pairs(X: FloatArray, members: Any, values: FloatArray, most: int) -> IntArray:
    """Return ``most`` pairs of records i < j that share groups to a part only, shape (m, 2), the most promising first.

    These are records of ``X`` far apart that do so to a half. The groups are given as by :func:`members_of`, with their
    ``values`` in a solution.
    """
    from scipy.sparse import diags_array, triu

    both = triu((members.T @ diags_array(values) @ members).tocsr(), k=1).tocoo()
    divided = np.abs(both.data - np.round(both.data)) > WHOLE
    pairs, shares = np.column_stack([both.row, both.col]).astype(np.int64)[divided], both.data[divided]
    promise = np.square(X[pairs[:, 0]] - X[pairs[:, 1]]).sum(axis=1) * shares * (1.0 - shares)
    order: IntArray = np.argsort(-promise, kind="stable")[:most]
    return pairs[order]


def most_of(cuts: Sequence[Cut]) -> FloatArray:
    """Return what the groups of a partition add up to at most in each of some cuts, shape (c,)."""
    return np.array([float(cut.most) for cut in cuts])


def coefficients_of(members: Any, cuts: Sequence[Cut]) -> Any:
    """Return those of m groups, given as by :func:`members_of`, in some cuts: a sparse matrix of shape (m, c)."""
    from scipy.sparse import csc_array, csr_array

    if not cuts:
        return csc_array((members.shape[0], 0))
    ends = np.cumsum([0, *(len(cut.records) for cut in cuts)])
    weights = np.concatenate([cut.multipliers for cut in cuts]).astype(np.float64)
    records = np.concatenate([cut.records for cut in cuts])
    coefficients = (members @ csr_array((weights, records, ends), shape=(len(cuts), members.shape[1])).T).tocsc()
    coefficients.data //= np.repeat([float(cut.denominator) for cut in cuts], np.diff(coefficients.indptr))
    coefficients.eliminate_zeros()
    return coefficients


def violated(groups: IntArray, values: FloatArray, n: int, tries: int, seed: int) -> list[Cut]:
    """Return cuts of rank one that a solution violates, the most violated first, no record being in too many.

    ``groups``, shape (m, 2k - 1), are filled up with -1; ``values``, shape (m,), are theirs. From each record ``tries``
    cuts begin.
    """
    used = np.flatnonzero(values > 1e-7)
    of_records = members_of(groups[used], n).T.tocsr()
    starts, rows = of_records.indptr.astype(np.int64), of_records.indices.astype(np.int64)

    def search(denominator: int) -> tuple[IntArray, IntArray, FloatArray]:
        return violated_cuts(groups[used], values[used], starts, rows, denominator, tries, _STEPS, _VIOLATION, seed)

    with ThreadPoolExecutor(THREADS) as executor:
        of_denominators = list(executor.map(search, _DENOMINATORS))
    violation_of: dict[Cut, float] = {}
    for denominator, (records, multipliers, violations) in zip(_DENOMINATORS, of_denominators, strict=True):
        for members, weights, violation in zip(records.tolist(), multipliers.tolist(), violations, strict=True):
            size = sum(record >= 0 for record in members)
            violation_of[Cut(tuple(members[:size]), tuple(weights[:size]), denominator)] = float(violation)
    cuts: list[Cut] = []
    uses = np.zeros(n, dtype=np.int64)
    for cut in sorted(violation_of, key=lambda cut: -violation_of[cut]):
        members = list(cut.records)
        if (uses[members] < _USES).all() and len(cuts) < _CUTS:
            uses[members] += 1
            cuts.append(cut)
    return cuts
