"""The best assignment of records to given centroids, where every group must have a size within bounds.

Record i in group g weighs w(i, g), its distance to the centroid or the square of that. Least total weight, each record
in one group, each group with ``low`` to ``high`` records: a transportation problem, whose vertices are whole numbers,
which linear programming therefore solves. The solver HiGHS is given only a few of the edges from records to groups:

1. Each record to its nearest centroids, each centroid to its nearest records, and the initial assignment, which makes
   the problem feasible.
2. The solution comes with dual prices u of the records and v of the groups, which give the reduced cost w - u - v of
   every edge that was left out. Edges with a reduced cost below zero are added, and the problem is solved again. If
   there are none, the solution is optimal among all edges.
3. Where several assignments are optimal, the simplex method ends at any of them. All move along edges and group sizes
   whose reduced cost is zero: record by record, the group with the lowest number that an optimum allows is taken, so
   that the result depends neither on the solver's version nor on the edges it was given.

A reduced cost counts as zero within 1e-9 of the mean weight of a record in the initial assignment.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microagg.kernels.compiled import kernel
from microagg.kernels.grouping.groups import members_by_group
from microagg.progress import Cancelled, checkpoint
from microagg.validation import FloatArray, IntArray

# Edges that the solver is given at first: centroids per record, and records per centroid in units of the least size.
CENTROIDS_PER_RECORD = 20
RECORDS_PER_PLACE = 5

#: A change of the SSE by which an algorithm that assigns again and again goes on: more than this share of the SST.
LEAST_GAIN = 1e-10

# Reduced costs within this of zero, in mean weights, count as zero. The solver is told to be ten times as exact.
ZERO = 1e-9

# Between two checkpoints: weights that are computed, steps of the solver, each of some milliseconds at most, and zero
# edges that are passed over.
_WEIGHTS_AT_A_TIME = 4_000_000
_STEPS_AT_A_TIME = 20
_EDGES_AT_A_TIME = 50_000_000


def _cheap_edges(
    X: FloatArray, centers: FloatArray, u: FloatArray, v: FloatArray, metric: str, most: float
) -> tuple[IntArray, FloatArray]:
    """Return all edges whose reduced cost is at most ``most``, record · m + group, ascending, and the reduced costs."""
    from scipy.spatial.distance import cdist

    edges, costs = [], []
    size = max(1, _WEIGHTS_AT_A_TIME // len(centers))
    for start in range(0, len(X), size):
        checkpoint("assigning the records")
        rows = slice(start, start + size)
        reduced = cdist(X[rows], centers, metric) - u[rows, np.newaxis] - v
        cheap = np.flatnonzero(reduced <= most)
        edges.append(start * len(centers) + cheap)
        costs.append(reduced.ravel()[cheap])
    return np.concatenate(edges), np.concatenate(costs)


@kernel
def _lowest_numbers(
    labels: IntArray, edges: IntArray, free: IntArray, low: int, high: int, start: int, stop: int
) -> None:
    """Give each record from ``start`` to ``stop`` the lowest group number that it can have; ``labels`` change.

    It can have those of the optimal assignments in which all records before it are where they are. ``edges`` are those
    whose reduced cost is zero, ``free`` tells of which groups the size may change at no cost. A record can go to a
    group that can pass on a surplus record, along such edges of later records, to the group that it leaves. Node m
    stands for the groups that may keep the surplus or give up a record.
    """
    n, m = len(labels), len(free)
    firsts = np.searchsorted(edges, np.arange(n + 1) * m)
    members, begins = members_by_group(labels, m)
    previous = np.empty(m + 1, dtype=np.int64)
    moved = np.empty(m + 1, dtype=np.int64)
    queue = np.empty(m + 1, dtype=np.int64)
    for record in range(start, stop):
        home = labels[record]
        for edge in range(firsts[record], firsts[record + 1]):
            target = edges[edge] - record * m
            if target >= home:
                break
            previous[:] = -1
            previous[target] = target
            queue[0] = target
            head, tail = 0, 1
            while head < tail and previous[home] < 0:
                node = queue[head]
                head += 1
                if node == m:
                    for group in range(m):
                        if previous[group] < 0 and free[group] and begins[group + 1] - begins[group] > low:
                            previous[group], moved[group] = m, -1
                            queue[tail] = group
                            tail += 1
                    continue
                if previous[m] < 0 and free[node] and begins[node + 1] - begins[node] < high:
                    previous[m], moved[m] = node, -1
                    queue[tail] = m
                    tail += 1
                for member in members[begins[node] : begins[node + 1]]:
                    if member <= record:
                        continue
                    for way in range(firsts[member], firsts[member + 1]):
                        group = edges[way] - member * m
                        if previous[group] < 0:
                            previous[group], moved[group] = node, member
                            queue[tail] = group
                            tail += 1
            if previous[home] < 0:
                continue
            node = home
            while node != target:
                if moved[node] >= 0:
                    labels[moved[node]] = node
                node = previous[node]
            labels[record] = target
            members, begins = members_by_group(labels, m)
            break


def _solve(
    weights: FloatArray, records: IntArray, groups: IntArray, n: int, m: int, low: int, high: int
) -> tuple[IntArray, FloatArray, FloatArray]:
    """Compute the labels of an optimal assignment along the edges, and the dual prices of records and groups."""
    import highspy

    from microagg.kernels.running import new_solver

    # Presolving takes longer than it saves here.
    solver = new_solver(presolve="off", solver="simplex")
    nothing = np.empty(0, dtype=np.int32)
    least, most = np.repeat([1.0, low], [n, m]), np.repeat([1.0, high], [n, m])
    solver.addRows(n + m, least, most, 0, np.zeros(n + m, dtype=np.int32), nothing, np.empty(0))
    edges = len(weights)
    ends = np.column_stack([records, n + groups]).ravel().astype(np.int32)
    begins = 2 * np.arange(edges, dtype=np.int32)
    open_end = np.full(edges, highspy.kHighsInf)
    solver.addCols(edges, weights, np.zeros(edges), open_end, 2 * edges, begins, ends, np.ones(2 * edges))
    # If the solver fails with the strict tolerance because of rounding, use its default.
    _, default_tolerance = solver.getOptionValue("dual_feasibility_tolerance")
    for tolerance in (0.1 * ZERO, default_tolerance):
        solver.setOptionValue("dual_feasibility_tolerance", tolerance)
        solver.clearSolver()
        _run(solver)
        status = solver.getModelStatus()
        if status == highspy.HighsModelStatus.kOptimal:
            break
    else:
        raise RuntimeError(f"HiGHS has not solved the assignment: {solver.modelStatusToString(status)}")
    solution = solver.getSolution()
    labels = np.empty(n, dtype=np.int64)
    chosen = np.array(solution.col_value) > 0.5
    labels[records[chosen]] = groups[chosen]
    prices = np.array(solution.row_dual)
    return labels, prices[:n], prices[n:]


def _run(solver: Any) -> None:
    """Let the solver solve its program, with checkpoints between some of its steps."""
    steps, refused = 0, None

    def watch(event: Any) -> None:
        nonlocal steps, refused
        steps += 1
        if steps % _STEPS_AT_A_TIME == 0 and refused is None:
            try:
                checkpoint("assigning the records")
            except Cancelled as cancelled:
                # It must not pass through the solver, which only ends if it is told to.
                refused = cancelled
        if refused is not None:
            event.interrupt()

    solver.cbSimplexInterrupt += watch
    solver.run()
    solver.cbSimplexInterrupt -= watch
    if refused is not None:
        raise refused


def assign(X: FloatArray, centers: FloatArray, labels: IntArray, low: int, high: int, *, squared: bool) -> IntArray:
    """Return the labels of the assignment of least total weight, as the module describes it.

    ``X`` has the shape (n, d), ``centers`` (m, d). ``labels``, shape (n,), are any assignment whose groups have ``low``
    to ``high`` records; they are returned if they weigh nothing. With ``squared`` a weight is the square of a distance.
    """
    from scipy.spatial import KDTree

    n, m = len(X), len(centers)
    metric, rows = "sqeuclidean" if squared else "euclidean", np.arange(n)

    def weights(records: IntArray, groups: IntArray) -> FloatArray:
        squares = np.square(X[records] - centers[groups]).sum(axis=1)
        return np.asarray(squares if squared else np.sqrt(squares))

    unit = weights(rows, labels).mean()
    if unit == 0.0 or m == 1:
        return labels
    near = KDTree(centers).query(X, min(m, CENTROIDS_PER_RECORD))[1].reshape(n, -1)
    around = KDTree(X).query(centers, min(n, RECORDS_PER_PLACE * low))[1].reshape(m, -1)
    candidates = [rows[:, np.newaxis] * m + near, around * m + np.arange(m)[:, np.newaxis], rows * m + labels]
    edges = np.unique(np.concatenate([part.ravel() for part in candidates]))
    while True:
        records, groups = np.divmod(edges, m)
        best, u, v = _solve(weights(records, groups) / unit, records, groups, n, m, low, high)
        cheap, costs = _cheap_edges(X, centers, u * unit, v * unit, metric, ZERO * unit)
        missing = np.setdiff1d(cheap[costs < -ZERO * unit], edges, assume_unique=True)
        if len(missing) == 0:
            break
        edges = np.union1d(edges, missing)
        checkpoint("assigning the records once more, with more choice")
    free = (np.abs(v) <= ZERO).astype(np.int64)
    size = max(1, _EDGES_AT_A_TIME // max(len(cheap), 1))
    for start in range(0, n, size):
        checkpoint("assigning the records")
        _lowest_numbers(best, cheap, free, low, high, start, min(start + size, n))
    return best
