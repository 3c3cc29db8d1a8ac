"""The restricted master problem of set partitioning: its linear program over some of the groups, in HiGHS.

Its cuts, its dual values and the bound itself are in :mod:`microagg.optimum.set_partitioning`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np

from microagg.kernels.bounds.rank_one import Cut, violated_cuts
from microagg.kernels.running import THREADS
from microagg.optimum.program import usable
from microagg.validation import FloatArray, IntArray

#: A sum of values within this distance of an integer counts as that integer.
_INTEGRALITY = 1e-6
#: Maximum seconds between two calls of ``go_on``.
SLICE = 0.5
#: Cuts of rank one: minimum violation, maximum number that enters at a time, and maximum number of these per record.
_VIOLATION, _CUTS, _USES = 0.01, 300, 4
#: Their denominators.
_DENOMINATORS = 2, 3, 4, 5


#: Seconds between two calls of ``go_on`` by the integer solver, and the smallest gain that it looks for, as a share of
#: the SSE.
_SECONDS_BETWEEN_CALLS, _MIN_GAIN = 0.2, 1e-7


class Prices(NamedTuple):
    """Dual values of the records, of any sign, and of cuts, at least 0."""

    pi: FloatArray  # shape (n,)
    cuts: tuple[Cut, ...]
    sigma: FloatArray  # shape (c,)

    @property
    def value(self) -> float:
        """Lower bound that they prove if no group has a negative reduced cost."""
        return float(self.pi.sum()) - float(self.sigma @ cut_limits(self.cuts))

    @property
    def size(self) -> float:
        """Sum of the sizes of the terms of :attr:`value`."""
        return float(np.abs(self.pi).sum()) + float(self.sigma @ cut_limits(self.cuts))

    def usable(self, n: int) -> bool:
        """Whether they can prove a bound for ``n`` records."""
        return usable(self.pi, n) and usable(self.sigma, len(self.cuts), low=0.0)

    def without_idle_cuts(self) -> Prices:
        """The same prices with only the cuts whose dual value is not 0."""
        used = np.flatnonzero(self.sigma > 0.0)
        return Prices(self.pi, tuple(self.cuts[cut] for cut in used), self.sigma[used])


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
        # The solution: its prices; its value, an upper bound on the bounds of all pi within the box; the primal values
        # of the groups at that time, shape (m,) or shorter; and the sum of those of the columns of the box, 0 if the
        # box does not restrict pi.
        self.prices = Prices(np.zeros(n), (), np.empty(0))
        self.value = self.box_activity = 0.0
        self.values = np.empty(0)
        # Whether the last solve had no solution: no dual values within the box suit the groups.
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
        """Confine pi to ``center`` ± ``box``, both of shape (n,)."""
        costs = np.concatenate([center + box, box - center])
        self._highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs)

    def solve(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Solve the program, and return whether it was solved in time, see :meth:`Program.advance`."""
        n, highs = len(self._X), self._highs
        self.unbounded = False
        if not run(highs, until, go_on):
            return False
        if highs.getModelStatus() != self._optimal:
            self.unbounded = True
            return False
        solution = highs.getSolution()
        dual, primal = np.array(solution.row_dual), np.array(solution.col_value)
        self.prices = Prices(dual[:n], tuple(self.cuts), np.maximum(-dual[self._rows_of_cuts], 0.0))
        self.values = primal[self._columns]
        self.box_activity = float(primal.sum() - self.values.sum())
        self.value = highs.getObjectiveValue()
        return True

    def add_groups(self, groups: IntArray) -> int:
        """Add the new ones of ``groups``, shape (m, 2k - 1), filled up with -1, and return their number."""
        groups = np.sort(groups, axis=1)
        new_rows = []
        for row, group in enumerate(groups):
            key = group.tobytes()
            if key not in self._keys:
                self._keys.add(key)
                new_rows.append(row)
        if not new_rows:
            return 0
        from scipy.sparse import hstack

        groups = groups[new_rows]
        members = membership_matrix(groups, len(self._X))
        rows = np.concatenate([np.arange(len(self._X)), self._rows_of_cuts])
        entries = hstack([members, cut_coefficients(members, self.cuts)], format="csr")
        entries.indices = rows[entries.indices]
        self._columns = np.append(self._columns, add_columns(self._highs, group_costs(self._X, groups), entries))
        self.groups = np.concatenate([self.groups, groups])
        return len(new_rows)

    def add_cuts(self, tries: int) -> int:
        """Add cuts of rank one that the solution violates, and return their number."""
        self._seed += 1
        cuts = find_violated_cuts(self.groups[: len(self.values)], self.values, len(self._X), tries, self._seed)
        if cuts:
            entries = cut_coefficients(membership_matrix(self.groups, len(self._X)), cuts).T.tocsr()
            entries.indices = self._columns[entries.indices]
            rows = add_rows(self._highs, np.full(len(cuts), -np.inf), cut_limits(cuts), entries)
            self._rows_of_cuts = np.append(self._rows_of_cuts, rows)
            self.cuts.extend(cuts)
        return len(cuts)

    def recombine(
        self, groups: IntArray, start: IntArray | None, until: float, go_on: Callable[[], bool]
    ) -> IntArray | None:
        """Combine some of ``groups`` into the best partition, and return its groups, or None if none was found.

        ``start`` are the groups of an initial partition, which counts only if ``groups`` has all of them. It stops at
        ``until`` (``time.perf_counter``) or when ``go_on`` returns False.
        """
        import highspy
        from scipy.sparse import csr_array, hstack

        from microagg.kernels.running import new_solver

        n, m, cuts = len(self._X), len(groups), self.cuts
        members, limits = membership_matrix(groups, n), cut_limits(cuts)
        time_left = max(until - time.perf_counter(), 0.01)
        highs = new_solver(mip_rel_gap=_MIN_GAIN, mip_abs_gap=0.0, time_limit=time_left)
        add_equations(highs, n)
        add_rows(highs, np.full(len(limits), -np.inf), limits, csr_array((len(limits), 0)))
        entries = hstack([members, cut_coefficients(members, cuts)], format="csr")
        columns = add_columns(highs, group_costs(self._X, groups), entries, high=1.0)
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


def run(highs: Any, until: float, go_on: Callable[[], bool]) -> bool:
    """Run the solver, and return whether it finished in time, see :meth:`Program.advance`."""
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
    """Add the rows of a sparse matrix to a program, each between ``low`` and ``high``, and return their numbers."""
    start, m = highs.getNumRow(), len(low)
    ends, columns = entries.indptr[:-1].astype(np.int32), entries.indices.astype(np.int32)
    highs.addRows(m, low, high, entries.nnz, ends, columns, entries.data)
    return np.arange(start, start + m, dtype=np.int32)


def add_columns(highs: Any, costs: FloatArray, entries: Any, high: float = np.inf) -> IntArray:
    """Add the rows of a sparse matrix to a program as columns from 0 to ``high``, and return their numbers."""
    start, m = highs.getNumCol(), len(costs)
    ends, rows = entries.indptr[:-1].astype(np.int32), entries.indices.astype(np.int32)
    highs.addCols(m, costs, np.zeros(m), np.full(m, high), entries.nnz, ends, rows, entries.data)
    return np.arange(start, start + m, dtype=np.int32)


def add_equations(highs: Any, n: int) -> None:
    """Add n equations to a program: each record is in one group. Groups follow as columns."""
    from scipy.sparse import csr_array

    add_rows(highs, np.ones(n), np.ones(n), csr_array((n, 0)))


def membership_matrix(groups: IntArray, n: int) -> Any:
    """Sparse matrix, shape (m, n), with a 1 for each record in each of m ``groups``, which are filled up with -1."""
    from scipy.sparse import csr_array

    is_member = groups >= 0
    ends = np.concatenate([[0], np.cumsum(is_member.sum(axis=1))])
    return csr_array((np.ones(ends[-1]), groups[is_member], ends), shape=(len(groups), n))


def group_costs(X: FloatArray, groups: IntArray) -> FloatArray:
    """SSE of each of m ``groups``, filled up with -1, shape (m,)."""
    is_member = groups >= 0
    sizes = is_member.sum(axis=1)
    centers = (membership_matrix(groups, len(X)) @ X) / sizes[:, np.newaxis]
    costs = np.zeros(len(groups))
    for a in range(groups.shape[1]):
        differences = X[groups[is_member[:, a], a]] - centers[is_member[:, a]]
        costs[is_member[:, a]] += np.square(differences).sum(axis=1)
    return costs


def most_fractional_pair(X: FloatArray, members: Any, values: FloatArray) -> tuple[int, int] | None:
    """Pair of records i < j that share groups in part, or None: those far apart with a value near a half come first.

    ``members`` has the form of :func:`membership_matrix`; ``values`` are those of the groups in a solution.
    """
    from scipy.sparse import diags_array, triu

    together = triu((members.T @ diags_array(values) @ members).tocsr(), k=1).tocoo()
    is_fractional = np.abs(together.data - np.round(together.data)) > _INTEGRALITY
    if not is_fractional.any():
        return None
    shares, first, second = (part[is_fractional] for part in (together.data, together.row, together.col))
    best = np.argmax(np.square(X[first] - X[second]).sum(axis=1) * shares * (1.0 - shares))
    return int(first[best]), int(second[best])


def cut_limits(cuts: Sequence[Cut]) -> FloatArray:
    """Right side of each cut, shape (c,): the maximum of the sum over the groups of a partition."""
    return np.array([float(cut.most) for cut in cuts])


def cut_coefficients(members: Any, cuts: Sequence[Cut]) -> Any:
    """Coefficients of m groups, in the form of :func:`membership_matrix`, in c cuts: a sparse matrix, shape (m, c)."""
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


def find_violated_cuts(groups: IntArray, values: FloatArray, n: int, tries: int, seed: int) -> list[Cut]:
    """Find cuts of rank one that a solution violates, the most violated first, with a limited number per record.

    ``groups``, shape (m, 2k - 1), are filled up with -1; ``values``, shape (m,), are theirs in the solution. The search
    starts ``tries`` times from each record.
    """
    used = np.flatnonzero(values > 1e-7)
    groups_by_record = membership_matrix(groups[used], n).T.tocsr()
    starts, rows = groups_by_record.indptr.astype(np.int64), groups_by_record.indices.astype(np.int64)

    def search(denominator: int) -> tuple[IntArray, IntArray, FloatArray]:
        return violated_cuts(groups[used], values[used], starts, rows, denominator, tries, _VIOLATION, seed)

    with ThreadPoolExecutor(THREADS) as executor:
        results = list(executor.map(search, _DENOMINATORS))
    violations_by_cut: dict[Cut, float] = {}
    for denominator, (records, multipliers, violations) in zip(_DENOMINATORS, results, strict=True):
        for members, weights, violation in zip(records.tolist(), multipliers.tolist(), violations, strict=True):
            size = sum(record >= 0 for record in members)
            violations_by_cut[Cut(tuple(members[:size]), tuple(weights[:size]), denominator)] = float(violation)
    cuts: list[Cut] = []
    uses = np.zeros(n, dtype=np.int64)
    for cut in sorted(violations_by_cut, key=lambda cut: -violations_by_cut[cut]):
        members = list(cut.records)
        if (uses[members] < _USES).all() and len(cuts) < _CUTS:
            uses[members] += 1
            cuts.append(cut)
    return cuts
