"""Cuts of rank one that a fractional solution violates; see :mod:`microagg.optimum.set_partitioning`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.kernels.compiled import borrows, kernel
from microagg.validation import FloatArray, IntArray

#: Maximum number of records of a cut.
WIDTH = 9

# Maximum number of moves from a start.
_MOVES = 15


class Cut(NamedTuple):
    """A cut of rank one: multipliers of some records, and the denominator of their sums."""

    records: tuple[int, ...]
    multipliers: tuple[int, ...]
    denominator: int

    @property
    def most(self) -> int:
        """Maximum of the sum over the groups of a partition."""
        return sum(self.multipliers) // self.denominator


@kernel
def violated_cuts(
    groups: IntArray, values: FloatArray, starts: IntArray, rows: IntArray, denominator: int, tries: int, least: float,
    seed: int,
) -> tuple[IntArray, IntArray, FloatArray]:  # fmt: skip
    """Find multipliers u / denominator of records whose rank-one cut is violated.

    In a solution the values of the groups of each record sum to 1. Let q be the denominator, T = Σ u, and w(G) = Σ u
    over the members of G. The cut Σ ⌊w(G) / q⌋ x(G) ≤ ⌊T / q⌋ is violated by ((T mod q) - Σ (w(G) mod q) x(G)) / q.
    A search starts ``tries`` times from each record with two of its partners and random multipliers. Each step changes
    the multiplier that raises the violation most, until none does.

    ``groups``, shape (m, w), are padded with -1; ``values``, shape (m,), are positive; the groups of record x are
    rows[starts[x] : starts[x + 1]]. The results are the c cuts violated by more than ``least``: their records, shape
    (c, :data:`WIDTH`), padded with -1; their multipliers, padded with 0; and their violations.
    """
    np.random.seed(seed)
    n, q = len(starts) - 1, denominator
    cut_records, cut_multipliers = np.empty((256, WIDTH), dtype=np.int64), np.empty((256, WIDTH), dtype=np.int64)
    violations = np.empty(256)
    count = 0
    u = np.zeros(n, dtype=np.int64)
    remainders = np.zeros(len(values), dtype=np.int64)  # w(G) mod q of each group
    shares = np.empty(q)
    met, near = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    chosen = np.empty(WIDTH, dtype=np.int64)
    visit = 0
    for record in range(n):
        if starts[record + 1] - starts[record] < 2:
            continue
        visit += 1
        around = near[: _add_partners(groups, starts, rows, record, met, visit, near, 0)].copy()
        for _ in range(tries):
            visit += 1
            size, total, value, candidates = 0, 0, 0.0, 0
            for move in range(_MOVES):
                changed, step, gain = -1, 0, 1e-9
                if move < 3:
                    changed = record if move == 0 else around[np.random.randint(len(around))]
                    step = 1 + np.random.randint(q - 1)
                    if u[changed] > 0:
                        continue
                    _share(changed, values, starts, rows, remainders, shares)
                    gain = _gain(step, total, shares)
                else:
                    for other in near[:candidates]:
                        if u[other] == 0 and size == WIDTH:
                            continue
                        _share(other, values, starts, rows, remainders, shares)
                        for multiplier in range(1, q):
                            new_gain = _gain((multiplier - u[other]) % q, total, shares)
                            if new_gain > gain:
                                changed, step, gain = other, (multiplier - u[other]) % q, new_gain
                    if changed < 0:
                        break
                value += gain
                total = (total + step) % q
                if u[changed] == 0:
                    chosen[size] = changed
                    size += 1
                    candidates = _add_partners(groups, starts, rows, changed, met, visit, near, candidates)
                u[changed] = (u[changed] + step) % q
                for row in rows[starts[changed] : starts[changed + 1]]:
                    remainders[row] = (remainders[row] + step) % q
            if value > q * least:
                if count == len(violations):
                    cut_records = np.concatenate((cut_records, np.empty_like(cut_records)))
                    cut_multipliers = np.concatenate((cut_multipliers, np.empty_like(cut_multipliers)))
                    violations = np.concatenate((violations, np.empty_like(violations)))
                cut_records[count], cut_multipliers[count] = -1, 0
                cut_records[count, :size] = np.sort(chosen[:size])
                cut_multipliers[count, :size] = u[cut_records[count, :size]]
                violations[count] = value / q
                count += 1
            for other in chosen[:size]:
                u[other] = 0
                remainders[rows[starts[other] : starts[other + 1]]] = 0
    return cut_records[:count].copy(), cut_multipliers[:count].copy(), violations[:count].copy()


@borrows
def _add_partners(
    groups: IntArray, starts: IntArray, rows: IntArray, record: int, met: IntArray, visit: int, near: IntArray,
    count: int,
) -> int:  # fmt: skip
    """Add to the ``count`` in ``near`` the records that share a group with ``record``, if not met in this ``visit``."""
    for place in range(starts[record], starts[record + 1]):
        for other in groups[rows[place]]:
            if other >= 0 and met[other] != visit:
                met[other] = visit
                near[count] = other
                count += 1
    return count


@borrows
def _share(
    record: int, values: FloatArray, starts: IntArray, rows: IntArray, remainders: IntArray, shares: FloatArray
) -> None:
    """Write the sums of the values of the record's groups with each remainder into ``shares``, shape (q,)."""
    shares[:] = 0.0
    for place in range(starts[record], starts[record + 1]):
        shares[remainders[rows[place]]] += values[rows[place]]


@borrows
def _gain(step: int, total: int, shares: FloatArray) -> float:
    """Change of q times the violation by a ``step`` of a multiplier; ``total`` is T mod q."""
    q = len(shares)
    gain = float((total + step) % q - total)
    for remainder in range(q):
        gain -= ((remainder + step) % q - remainder) * shares[remainder]
    return gain
