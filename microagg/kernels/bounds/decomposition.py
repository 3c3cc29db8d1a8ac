"""Lagrangian decomposition by records: the least share that each can have in the SSE, and steps of the multipliers.

What the shares and the multipliers are, and why their sum is a lower bound, is said in
:mod:`microagg.optimum.lagrangian_decomposition`, whose notation this is: record i, the root, has a copy of its group of
k, with members j and l beside it; R_i is its reach, rho_i its cut, and lambda_ij and mu_ijl are the multipliers.

**The least share.** A root's share of a group is a sum over ordered pairs of two other members,

    Σ_j Σ_{l ≠ j} c_jl,   c_jl = (½ w_jl + mu_ijl) / (k (k-2)) + ½ (lambda_ij + lambda_il) / (k-2),

each pair being in it twice. To find a lower bound of the least such sum, each j chooses the k - 2 records l with the
least c_jl as if for itself, which costs B_j; and the root chooses the k - 1 records j with the least B_j: the bound of
Gilmore (1962) and Lawler (1963) for quadratic assignment. For k = 3 and mu = 0 it is the least sum itself.

**Records that are not listed** all count as one record y, which can be chosen any number of times, with the least that
any of them can cost: w_jy = p_j + ½ rho_i and w_yy = rho_i, with multipliers of 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.kernels.neighbors.brute_force import squared_distance_of_rows
from microagg.validation import FloatArray, IntArray

Int32Array = NDArray[np.int32]
Float32Array = NDArray[np.float32]

#: The multipliers of triples are whole multiples of this, so that sums of them are exact: squared units of scaled X.
QUANTUM = 2.0**-20

# A multiplier of a triple that is larger than so many quanta, or would be by such a step, stays as it is: 32 bits hold
# what the last step before makes of it.
_LARGEST, _LARGEST_STEP = 1 << 30, 1 << 26

# The step of a pair is in proportion to this share of its squared distance where that is more than the scales.
_FAR = 1 / 9


class Lists(NamedTuple):
    """The m records nearest to each of n; see :func:`make_lists`."""

    near: Int32Array  # shape (n, m): the records listed, nearest first
    distances: FloatArray  # shape (n, m): their squared distances
    back: NDArray[np.int16]  # shape (n, m): where the record stands in the list of each of ``near``; -1 if not mutual
    reach: FloatArray  # shape (n,): R, no record that is not listed is nearer; infinite if all are listed
    cuts: FloatArray  # shape (n,): rho, at most R


class Choices(NamedTuple):
    """What the records choose at given multipliers; made by :func:`make_choices`."""

    shares: FloatArray  # shape (n,): a lower bound on the least share of each record, squared units of X
    sizes: FloatArray  # shape (n,): a number that the sizes of the terms of each share add up to about, or to less
    # shape (n, m): how many times each listed record is chosen, where a record in the group counts once; that
    # is the slope of the share in lambda
    chosen: Float32Array
    # shape (n, (k - 1) (k - 2), 2): places j and l in the list, for each pair chosen with both listed; then -1.
    # Without multipliers of triples there is no room for any.
    pairs: NDArray[np.int16]


def make_lists(near: Int32Array) -> Lists:
    """Return lists of the records ``near``, shape (n, m), for :func:`measure` and :func:`find_mutual` to fill."""
    n, m = near.shape
    return Lists(near, np.empty((n, m)), np.full((n, m), -1, dtype=np.int16), np.empty(n), np.empty(n))


@njit(cache=True, nogil=True)
def measure(X: FloatArray, lists: Lists, rank: int, first: int, last: int) -> None:
    """Write the distances of the records first <= i < last; the cut is that of the record at ``rank`` in the list."""
    n, m = lists.near.shape
    for i in range(first, last):
        for a in range(m):
            lists.distances[i, a] = squared_distance_of_rows(X, i, X, lists.near[i, a])
        lists.cuts[i] = lists.distances[i, rank]
        lists.reach[i] = np.inf if m == n - 1 else lists.distances[i, m - 1]


@njit(cache=True, nogil=True)
def find_mutual(lists: Lists, first: int, last: int) -> None:
    """Write where the records first <= i < last stand in the lists of others; all distances must be there."""
    near, distances, back, reach, _ = lists
    for i in range(first, last):
        for a in range(near.shape[1]):
            j = near[i, a]
            if distances[i, a] < reach[i] and distances[i, a] < reach[j]:
                # Nearer than the last one listed, it is in the other list, too.
                back[i, a] = _place(near, j, i)


def make_choices(n: int, m: int, k: int, triples: bool) -> Choices:
    """Return room for the choices of n records with lists of m, with multipliers of triples or without."""
    room = (k - 1) * (k - 2) if triples else 0
    return Choices(
        np.zeros(n), np.zeros(n), np.zeros((n, m), dtype=np.float32), np.full((n, room, 2), -1, dtype=np.int16)
    )


@njit(cache=True, nogil=True)
def _place(near: Int32Array, i: int, other: int) -> int:
    """Return the place of a record in the list of i; -1 if it is not there."""
    for a in range(near.shape[1]):
        if near[i, a] == other:
            return a
    return -1


@njit(cache=True, nogil=True)
def _insert(least: FloatArray, which: IntArray, count: int, value: float, number: int) -> None:
    """Insert a value below the greatest among the ``count`` least so far, ascending, and its number in ``which``."""
    at = count - 1
    while at > 0 and least[at - 1] > value:
        least[at], which[at] = least[at - 1], which[at - 1]
        at -= 1
    least[at], which[at] = value, number


@njit(cache=True, nogil=True)
def _weigh(
    columns: FloatArray, root_shares: FloatArray, cuts: FloatArray, a: int, distances: FloatArray, weights: FloatArray
) -> None:
    """Write w of listed record ``a`` with each listed record to ``weights``, shape (m,), without multipliers.

    ``columns``, shape (d, m), are the listed records. ``root_shares`` is the root's share of the distance to each of
    them, ``cuts`` are their cuts, and ``distances``, shape (m,), is work space.
    """
    # Bitwise equal to squared_distance_of_rows, for either order of the two records.
    distances[:] = 0.0
    for column in columns:
        coordinate = column[a]
        for b in range(len(distances)):
            difference = column[b] - coordinate
            distances[b] += difference * difference
    root_share, cut = root_shares[a], cuts[a]
    for b in range(len(distances)):
        distance = distances[b]
        ends = 0.5 * (min(distance, cut) + min(distance, cuts[b]))
        weights[b] = root_share + root_shares[b] + (distance - ends)


@njit(cache=True, nogil=True)
def choose(
    X: FloatArray, lists: Lists, k: int, pairwise: FloatArray, triple: Int32Array, first: int, last: int,
    choices: Choices,
) -> None:  # fmt: skip
    """Write the bound on the least share of each record first <= i < last at these multipliers, and its choices.

    ``X``, shape (n, d), are the records. ``pairwise``, shape (n, m), is lambda of each listed record; it is 0 if the
    pair is not mutual. ``triple``, shape (n, m, m), is mu of each two listed records, in quanta; it is 0 for a triple
    without a multiplier. Shape (0, m, m) means that no triple has one.
    """
    if k == 2:
        _choose_one(lists, pairwise, first, last, choices)
        return
    m = lists.near.shape[1]
    inner, outer = k - 2, k - 1
    scale = 1.0 / (k * inner)
    columns, root_shares, cuts = np.empty((X.shape[1], m)), np.empty(m), np.empty(m)
    distances, values, costs = np.empty(m), np.empty(m), np.empty(m)
    least, which = np.empty(inner), np.empty((m + 1, inner), dtype=np.int64)
    best, rows = np.empty(outer), np.empty(outer, dtype=np.int64)
    half, quantum = 0.5 * scale, scale * QUANTUM
    for i in range(first, last):
        for a in range(m):
            j = lists.near[i, a]
            for t in range(X.shape[1]):
                columns[t, a] = X[j, t]
            cuts[a] = lists.cuts[j]
            root_shares[a] = 0.5 * min(lists.distances[i, a], lists.cuts[i])
        unlisted = 0.5 * lists.cuts[i] if lists.reach[i] < np.inf else np.inf
        largest = 0.0
        for a in range(m):
            costs[a] = 0.5 * pairwise[i, a] / inner
            largest = max(largest, abs(pairwise[i, a]))
        # Number m represents all records that are not listed.
        least[:] = unlisted * scale
        which[m] = m
        for a in range(m):
            value = costs[a] + half * (root_shares[a] + unlisted)
            if value < least[inner - 1]:
                _insert(least, which[m], inner, value, a)
        best[:], rows[:] = least.sum(), m
        for a in range(m):
            _weigh(columns, root_shares, cuts, a, distances, values)
            for b in range(m):
                values[b] = half * values[b] + (costs[a] + costs[b])
            if len(triple) > 0:
                for b in range(m):
                    values[b] += quantum * triple[i, a, b]
            values[a] = np.inf
            least[:] = costs[a] + half * (root_shares[a] + unlisted)
            which[a] = m
            for b in range(m):
                if values[b] < least[inner - 1]:
                    _insert(least, which[a], inner, values[b], b)
            total = least.sum()
            if total < best[outer - 1]:
                _insert(best, rows, outer, total, a)
        choices.chosen[i] = 0.0
        share = best.sum()
        count = 0
        for t in range(outer):
            a = rows[t]
            if a < m:
                choices.chosen[i, a] += 0.5
            for b in which[a]:
                if b == m:
                    continue
                choices.chosen[i, b] += 0.5 / inner
                if a < m and len(triple) > 0:
                    choices.pairs[i, count, 0], choices.pairs[i, count, 1] = a, b
                    count += 1
        choices.pairs[i, count:] = -1
        choices.shares[i] = share
        choices.sizes[i] = abs(share) + 3.0 * (outer * largest + lists.distances[i, m - 1])


@njit(cache=True, nogil=True)
def _choose_one(lists: Lists, pairwise: FloatArray, first: int, last: int, choices: Choices) -> None:
    """Do as :func:`choose` for k = 2: each chooses the one other record that costs least.

    What neither end of a pair pays, as one of them does not list the other, is paid by the end that lists it.
    """
    near, distances, _, reach, _ = lists
    for i in range(first, last):
        share, chosen, largest = 0.25 * reach[i], -1, 0.0
        for a in range(near.shape[1]):
            distance = distances[i, a]
            value = 0.5 * (distance - 0.5 * min(distance, reach[near[i, a]])) + pairwise[i, a]
            largest = max(largest, abs(pairwise[i, a]))
            if value < share:
                share, chosen = value, a
        choices.chosen[i] = 0.0
        if chosen >= 0:
            choices.chosen[i, chosen] = 1.0
        choices.shares[i] = share
        choices.sizes[i] = abs(share) + 3.0 * (largest + distances[i, near.shape[1] - 1])


@njit(cache=True, nogil=True)
def step_pairs(
    lists: Lists, choices: Choices, scales: FloatArray, step: float, weight: float, drift: Float32Array,
    pairwise: FloatArray, first: int, last: int,
) -> None:  # fmt: skip
    """Raise lambda of mutual pairs i < j, first <= i < last, where i chooses j and j not i; lower it where only j does.

    The step goes along ``drift``, shape (n, m), which takes up the new slope with ``weight``. It is ``step``
    times the lesser of both ``scales``, shape (n,), or what is in proportion to the distance where that is more. lambda
    of j and i remains that of i and j with the other sign.
    """
    near, distances, back, _, _ = lists
    for i in range(first, last):
        for a in range(near.shape[1]):
            j, b = near[i, a], back[i, a]
            if b >= 0 and i < j:
                slope = choices.chosen[i, a] - choices.chosen[j, b]
                drift[i, a] += weight * (slope - drift[i, a])
                pairwise[i, a] += step * max(min(scales[i], scales[j]), _FAR * distances[i, a]) * drift[i, a]
                pairwise[j, b] = -pairwise[i, a]


@njit(cache=True, nogil=True)
def step_triples(
    lists: Lists, choices: Choices, scales: FloatArray, step: float, triple: Int32Array, first: int, last: int
) -> None:
    """Raise mu of what the records first <= i < last have chosen, and lower the five others of the same triple.

    The sum of the six remains 0, exactly. The step is ``step`` times the least of the three ``scales``, shape (n,).
    Not to be called for two ranges at a time, as it writes to the rows of records outside its own.
    """
    near, _, back, _, _ = lists
    places = np.empty((6, 3), dtype=np.int64)
    for i in range(first, last):
        for at in range(choices.pairs.shape[1]):
            a, b = choices.pairs[i, at, 0], choices.pairs[i, at, 1]
            if a < 0:
                break
            if back[i, a] < 0 or back[i, b] < 0:
                continue
            j, other = near[i, a], near[i, b]
            one, two = _place(near, j, other), _place(near, other, j)
            if one < 0 or two < 0 or back[j, one] < 0:
                continue
            fifth = round(step * min(scales[i], min(scales[j], scales[other])) / QUANTUM)
            if fifth == 0 or fifth > _LARGEST_STEP:
                continue
            places[:2, 0], places[2:4, 0], places[4:, 0] = i, j, other
            places[0, 1] = places[1, 2] = a
            places[0, 2] = places[1, 1] = b
            places[2, 1] = places[3, 2] = back[i, a]
            places[2, 2] = places[3, 1] = one
            places[4, 1] = places[5, 2] = back[i, b]
            places[4, 2] = places[5, 1] = two
            largest = 0
            for t in range(6):
                largest = max(largest, abs(int(triple[places[t, 0], places[t, 1], places[t, 2]])))
            if largest > _LARGEST:
                continue
            for t in range(6):
                triple[places[t, 0], places[t, 1], places[t, 2]] -= fifth
            triple[i, a, b] += 6 * fifth
