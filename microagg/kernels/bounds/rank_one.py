"""Cuts of rank one that a fractional solution of set partitioning violates; see :mod:`microagg.metrics.enumerated`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

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


@njit(cache=True, nogil=True)
def violated_cuts(
    groups: IntArray,
    values: FloatArray,
    starts: IntArray,
    rows: IntArray,
    denominator: int,
    tries: int,
    steps: int,
    least: float,
    seed: int,
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return multipliers u / denominator of records whose rank-one cut is violated.

    A solution has Σ values of the groups of each record = 1. With T = Σ u and w(G) = Σ u over the members of G, the cut
    Σ ⌊w(G) / q⌋ x(G) ≤ ⌊T / q⌋ is violated by ((T mod q) - Σ (w(G) mod q) x(G)) / q, q being the denominator. From each
    record, ``tries`` times with two of its partners and random multipliers, a search with tabus changes one multiplier
    at a time, ``steps`` times, as raises the violation most.

    Parameters
    ----------
    groups : array of int, shape (m, w)
        Filled up with -1.
    values : array of float, shape (m,)
        Positive.
    starts, rows : array of int, shapes (n + 1,) and (total,)
        The groups of record x are rows[starts[x] : starts[x + 1]].
    denominator, tries, steps : int
    least : float
        By how much a cut must be violated.
    seed : int

    Returns
    -------
    records, multipliers : array of int, shape (c, :data:`WIDTH`)
        Ascending, and what belongs to each; filled up with -1 and 0.
    violations : array of float, shape (c,)
    """
    np.random.seed(seed)
    n, q = len(starts) - 1, denominator
    found = np.empty((256, WIDTH), dtype=np.int64)
    multipliers = np.empty((256, WIDTH), dtype=np.int64)
    violations = np.empty(256)
    count = 0
    u, rests = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    weights = np.zeros(len(values), dtype=np.int64)
    met, near = np.full(n, -1, dtype=np.int64), np.empty(n, dtype=np.int64)
    chosen, best, best_u = np.empty(WIDTH, dtype=np.int64), np.empty(WIDTH, dtype=np.int64), np.zeros(n, dtype=np.int64)
    clock = visit = 0
    for record in range(n):
        if starts[record + 1] - starts[record] < 2:
            continue
        visit += 1
        chosen[0] = record
        partners = _partners(groups, starts, rows, chosen, 1, met, visit, near)
        around = near[:partners].copy()
        for _ in range(tries):
            size, total, value = 0, 0, 0.0
            for number in range(3):
                other = record if number == 0 else around[np.random.randint(partners)]
                if u[other] == 0:
                    step = 1 + np.random.randint(q - 1)
                    value += _change(other, step, total, q, values, starts, rows, weights)
                    _apply(other, step, starts, rows, weights)
                    total += step
                    u[other] = step
                    chosen[size] = other
                    size += 1
            best_value, best_size = q * least, 0
            for _ in range(steps):
                clock += 1
                visit += 1
                candidates = _partners(groups, starts, rows, chosen, size, met, visit, near)
                gain, changed, new = -np.inf, -1, 0
                for at in range(candidates):
                    other = near[at]
                    if rests[other] > clock or (u[other] == 0 and size == WIDTH):
                        continue
                    for multiplier in range(q):
                        if multiplier == u[other] or (multiplier == 0 and size <= 2):
                            continue
                        own = _change(other, multiplier - u[other], total, q, values, starts, rows, weights)
                        if own > gain:
                            gain, changed, new = own, other, multiplier
                if changed < 0:
                    break
                _apply(changed, new - u[changed], starts, rows, weights)
                total += new - u[changed]
                value += gain
                if u[changed] == 0:
                    chosen[size] = changed
                    size += 1
                elif new == 0:
                    at = 0
                    while chosen[at] != changed:
                        at += 1
                    size -= 1
                    chosen[at] = chosen[size]
                u[changed] = new
                rests[changed] = clock + _REST + np.random.randint(_REST)
                if value > best_value + 1e-9:
                    best_value, best_size = value, size
                    for at in range(size):
                        best[at] = chosen[at]
                        best_u[chosen[at]] = u[chosen[at]]
            for at in range(size):
                _apply(chosen[at], -u[chosen[at]], starts, rows, weights)
                u[chosen[at]] = 0
            if best_size > 0:
                if count == len(violations):
                    found = np.concatenate((found, np.empty_like(found)))
                    multipliers = np.concatenate((multipliers, np.empty_like(multipliers)))
                    violations = np.concatenate((violations, np.empty_like(violations)))
                found[count] = -1
                multipliers[count] = 0
                ordered = np.sort(best[:best_size])
                for at in range(best_size):
                    found[count, at] = ordered[at]
                    multipliers[count, at] = best_u[ordered[at]]
                violations[count] = best_value / q
                count += 1
    return found[:count].copy(), multipliers[:count].copy(), violations[:count].copy()


@njit(cache=True, nogil=True)
def _partners(
    groups: IntArray,
    starts: IntArray,
    rows: IntArray,
    chosen: IntArray,
    size: int,
    met: IntArray,
    visit: int,
    near: IntArray,
) -> int:
    """Write into ``near`` the records that share a group with one of the chosen, these among them; return how many."""
    count = 0
    for at in range(size):
        record = chosen[at]
        for place in range(starts[record], starts[record + 1]):
            for other in groups[rows[place]]:
                if other >= 0 and met[other] != visit:
                    met[other] = visit
                    near[count] = other
                    count += 1
    return count


@njit(cache=True, nogil=True)
def _change(
    record: int, step: int, total: int, q: int, values: FloatArray, starts: IntArray, rows: IntArray, weights: IntArray
) -> float:
    """Return by how much q times the violation changes if the record's multiplier changes by ``step``."""
    change = float((total + step) % q - total % q)
    for place in range(starts[record], starts[record + 1]):
        row = rows[place]
        change -= ((weights[row] + step) % q - weights[row] % q) * values[row]
    return change


@njit(cache=True, nogil=True)
def _apply(record: int, step: int, starts: IntArray, rows: IntArray, weights: IntArray) -> None:
    for place in range(starts[record], starts[record + 1]):
        weights[rows[place]] += step
