"""The best partition that can be put together from some groups, by integer programming.

Set partitioning, see :mod:`microagg.metrics.set_partitioning`, needs few groups for its bound, those that compete at
its prices; together with the groups of partitions that a search has found they hold better ones than either knows.
HiGHS chooses among them as integers.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

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

    It ends when the clock (``time.perf_counter``) comes to ``until`` or ``go_on`` says no.

    Parameters
    ----------
    members : sparse array, shape (m, n)
        1 where a group holds a record.
    costs : array of float, shape (m,)
        The SSE of each group.
    cuts : sparse array, shape (m, t)
        Coefficients of the groups in inequalities that every partition keeps to.
    most : array of float, shape (t,)
        What they add up to at most.
    start : array of int, optional
        The groups of a partition to begin with.
    """
    import highspy
    from scipy.sparse import hstack

    from microagg.solver import new_solver

    (m, n), t = members.shape, cuts.shape[1]
    time_left = max(until - time.perf_counter(), 0.01)
    highs = new_solver(mip_rel_gap=LEAST_GAIN, mip_abs_gap=0.0, time_limit=time_left)
    columns, nothing = np.arange(m, dtype=np.int32), np.empty(0, dtype=np.int32)
    least = np.append(np.ones(n), np.full(t, -highspy.kHighsInf))
    highs.addRows(n + t, least, np.append(np.ones(n), most), 0, np.zeros(n + t, dtype=np.int32), nothing, np.empty(0))
    entries = hstack([members, cuts], format="csr")
    ends, rows = entries.indptr[:-1].astype(np.int32), entries.indices.astype(np.int32)
    highs.addCols(m, costs, np.zeros(m), np.ones(m), entries.nnz, ends, rows, entries.data)
    highs.changeColsIntegrality(m, columns, np.full(m, highspy.HighsVarType.kInteger))
    if start is not None:
        solution = highspy.HighsSolution()
        chosen = np.zeros(m)
        chosen[start] = 1.0
        solution.col_value = chosen.tolist()
        highs.setSolution(solution)
    asked = [time.perf_counter()]

    def ask(event: Any) -> None:
        if time.perf_counter() > asked[0] + ASKS_EVERY:
            if not go_on():
                event.interrupt()
            asked[0] = time.perf_counter()

    highs.cbMipInterrupt.subscribe(ask)
    highs.run()
    info = highs.getInfo()
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None
    found = np.flatnonzero(np.array(highs.getSolution().col_value) > 0.5)
    # What the solver says is not taken on trust: every record must be in exactly one of the groups.
    whole = (np.asarray(members.tocsr()[found].sum(axis=0)) == 1.0).all()
    return found if whole else None
