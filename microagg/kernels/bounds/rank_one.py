"""Cuts of rank one that a fractional solution of set partitioning violates; see :mod:`microagg.optimum.enumerated`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.kernels.compiled import borrows, kernel
from microagg.validation import FloatArray, IntArray

#: How many records a cut may have.
WIDTH = 9

#: After so many steps, and up to twice as many, a record's multiplier may change again.
_REST = 3


class Cut(NamedTuple):
    """A cut of rank one: multipliers of some records, and what their sums are divided by."""

    records: tuple[int, ...]
    multipliers: tuple[int, ...]
    denominator: int

    @property
    def most(self) -> int:
        """What the groups of a partition add up to at most."""
        return sum(self.multipliers) // self.denominator


@kernel
def violated_cuts(
    groups: IntArray, values: FloatArray, starts: IntArray, rows: IntArray, denominator: int, tries: int, steps: int,
    least: float, seed: int,
) -> tuple[IntArray, IntArray, FloatArray]:  # fmt: skip
    """Find multipliers u / denominator of records whose rank-one cut is violated.

    In a solution the values of the groups of each record sum to 1. Let q be the denominator, T = Σ u, and w(G) = Σ u
    over the members of G. The cut Σ ⌊w(G) / q⌋ x(G) ≤ ⌊T / q⌋ is violated by ((T mod q) - Σ (w(G) mod q) x(G)) / q.
    A tabu search starts ``tries`` times from each record with two of its partners and random multipliers. Each of its
    ``steps`` steps changes the multiplier that raises the violation most.

    ``groups``, shape (m, w), are padded with -1; ``values``, shape (m,), are positive; the groups of record x are
    rows[starts[x] : starts[x + 1]]. The results are the c cuts violated by more than ``least``: their records in
    ascending order, shape (c, :data:`WIDTH`), padded with -1; their multipliers, padded with 0; and their violations.
    """
    np.random.seed(seed)
    n, q = len(starts) - 1, denominator
    cut_records = np.empty((256, WIDTH), dtype=np.int64)
    multipliers = np.empty((256, WIDTH), dtype=np.int64)
    violations = np.empty(256)
    count = 0
    u, rests = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    # w(G) mod q of each group, and the change of each remainder by a step of 0 to q - 1.
    remainders = np.zeros(len(values), dtype=np.int64)
    changes = np.empty((q, q))
    for step in range(q):
        for remainder in range(q):
            changes[step, remainder] = (remainder + step) % q - remainder
    shares = np.empty(q)
    met, near = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    chosen, best, best_u = np.empty(WIDTH, dtype=np.int64), np.empty(WIDTH, dtype=np.int64), np.zeros(n, dtype=np.int64)
    clock = visit = 0
    for record in range(n):
        if starts[record + 1] - starts[record] < 2:
            continue
        visit += 1
        around = near[: _add_partners(groups, starts, rows, record, met, visit, near, 0)].copy()
        for _ in range(tries):
            size, total, value = 0, 0, 0.0
            visit += 1
            candidates = 0
            for number in range(3):
                other = record if number == 0 else around[np.random.randint(len(around))]
                if u[other] == 0:
                    step = 1 + np.random.randint(q - 1)
                    _share(other, values, starts, rows, remainders, shares)
                    value += _change(step, total, changes, shares)
                    _apply(other, step, q, starts, rows, remainders)
                    total = (total + step) % q
                    u[other] = step
                    chosen[size] = other
                    size += 1
                    candidates = _add_partners(groups, starts, rows, other, met, visit, near, candidates)
            best_value, best_size = q * least, 0
            for _ in range(steps):
                clock += 1
                gain, changed, new = -np.inf, -1, 0
                for at in range(candidates):
                    other = near[at]
                    if rests[other] > clock or (u[other] == 0 and size == WIDTH):
                        continue
                    _share(other, values, starts, rows, remainders, shares)
                    for multiplier in range(q):
                        if multiplier == u[other] or (multiplier == 0 and size <= 2):
                            continue
                        new_gain = _change((multiplier - u[other]) % q, total, changes, shares)
                        if new_gain > gain:
                            gain, changed, new = new_gain, other, multiplier
                if changed < 0:
                    break
                step = (new - u[changed]) % q
                _apply(changed, step, q, starts, rows, remainders)
                total = (total + step) % q
                value += gain
                if u[changed] == 0:
                    chosen[size] = changed
                    size += 1
                    candidates = _add_partners(groups, starts, rows, changed, met, visit, near, candidates)
                elif new == 0:
                    at = 0
                    while chosen[at] != changed:
                        at += 1
                    size -= 1
                    chosen[at] = chosen[size]
                    visit += 1
                    candidates = 0
                    for at in range(size):
                        candidates = _add_partners(groups, starts, rows, chosen[at], met, visit, near, candidates)
                u[changed] = new
                rests[changed] = clock + _REST + np.random.randint(_REST)
                if value > best_value + 1e-9:
                    best_value, best_size = value, size
                    for at in range(size):
                        best[at] = chosen[at]
                        best_u[chosen[at]] = u[chosen[at]]
            for at in range(size):
                _apply(chosen[at], q - u[chosen[at]], q, starts, rows, remainders)
                u[chosen[at]] = 0
            if best_size > 0:
                if count == len(violations):
                    cut_records = np.concatenate((cut_records, np.empty_like(cut_records)))
                    multipliers = np.concatenate((multipliers, np.empty_like(multipliers)))
                    violations = np.concatenate((violations, np.empty_like(violations)))
                cut_records[count] = -1
                multipliers[count] = 0
                ordered = np.sort(best[:best_size])
                for at in range(best_size):
                    cut_records[count, at] = ordered[at]
                    multipliers[count, at] = best_u[ordered[at]]
                violations[count] = best_value / q
                count += 1
    return cut_records[:count].copy(), multipliers[:count].copy(), violations[:count].copy()


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
    """Write into ``shares``, shape (q,), what the values of the record's groups with each remainder add up to."""
    for remainder in range(len(shares)):
        shares[remainder] = 0.0
    for place in range(starts[record], starts[record + 1]):
        shares[remainders[rows[place]]] += values[rows[place]]


@borrows
def _change(step: int, total: int, changes: FloatArray, shares: FloatArray) -> float:
    """Return by how much q times the violation changes by a ``step`` of a multiplier; ``total`` is T mod q."""
    change = changes[step, total]
    for remainder in range(len(shares)):
        change -= changes[step, remainder] * shares[remainder]
    return change


@borrows
def _apply(record: int, step: int, q: int, starts: IntArray, rows: IntArray, remainders: IntArray) -> None:
    """Let the multiplier of ``record`` change by ``step``, from 0 to q."""
    for place in range(starts[record], starts[record + 1]):
        remainder = remainders[rows[place]] + step
        remainders[rows[place]] = remainder - q if remainder >= q else remainder
