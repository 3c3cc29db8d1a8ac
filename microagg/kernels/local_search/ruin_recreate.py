"""Iterations of ruin and recreate: a few neighboring groups are taken apart and put together otherwise.

In one iteration a random record's group and some groups near to it are chosen, and their records are given new groups
in one of two ways:

- path: they are put in the order of a path, to the nearest record each time, from a random one of them, which is cut
  optimally;
- growing: a random one of them forms a group with its k-1 nearest, again and again; what is left joins the group that
  grows least.

Then local search repairs these groups and those around them, see :func:`~.descent.repair`. If the SSE has not fallen in
the end, nor risen by a little, all is undone. By how much it may rise is drawn as in simulated annealing. An iteration
takes time in proportion to what it changes, whatever the number of records.

Random numbers come from SplitMix64 (Steele, Lea & Flood 2014), so a seed gives the same partition everywhere.

Sources: ruin and recreate, Schrimpf et al. 2000; simulated annealing, Kirkpatrick, Gelatt & Vecchi 1983; the path is
that of NPN-MHM, Domingo-Ferrer et al. 2006.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.kernels.local_search.descent import repair, rows_of
from microagg.kernels.local_search.moves import has_few_groups
from microagg.kernels.local_search.state import (
    State,
    begin,
    clear_queue,
    gain_of,
    make_state,
    members_of,
    regroup,
    squared_distance,
    undo,
)
from microagg.kernels.paths import order_of, split_path
from microagg.validation import FloatArray, IntArray

#: How many groups are taken apart in one iteration, at most.
_MOST_GROUPS = 5

#: An iteration is undone if it takes more than this many examined records to repair.
_MOST_EXAMINED = 5_000

#: The generator of random numbers: one number, in an array because it changes.
Seed = NDArray[np.uint64]


@njit(cache=True, nogil=True)
def _draw(seed: Seed) -> int:
    """Return the next random number of 53 bits."""
    seed[0] += np.uint64(0x9E3779B97F4A7C15)
    z = seed[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((z ^ (z >> np.uint64(31))) >> np.uint64(11))


@njit(cache=True, nogil=True)
def draw_below(seed: Seed, most: int) -> int:
    """Return a random whole number from 0 to ``most`` - 1."""
    return _draw(seed) % most


@njit(cache=True, nogil=True)
def draw_share(seed: Seed) -> float:
    """Return a random number from 0 up to, but not including, 1."""
    return _draw(seed) / 9007199254740992.0


@njit(cache=True, nogil=True)
def _groups_around(state: State, record: int, most: int, seed: Seed) -> IntArray:
    """Return up to ``most`` groups: that of a record, and those of random ones of the records nearest to it."""
    groups = np.empty(most, dtype=np.int64)
    groups[0] = state.labels[record]
    count = 1
    neighbors = state.neighbors
    center = record
    for _ in range(4 * most):
        if count == most or neighbors.shape[1] == 0:
            break
        if has_few_groups(state):
            other = draw_below(seed, len(state.labels))
        else:
            other = neighbors[center, draw_below(seed, neighbors.shape[1])]
        group = state.labels[other]
        for i in range(count):
            if groups[i] == group:
                break
        else:
            groups[count] = group
            count += 1
        # All neighbors of a record deep inside a large group are in this group: go on from one of them.
        center = other
    return groups[:count]


@njit(cache=True, nogil=True)
def _records_of(state: State, groups: IntArray) -> IntArray:
    """Return the records of some groups, ascending."""
    count = 0
    for group in groups:
        count += state.sizes[group]
    records = np.empty(count, dtype=np.int64)
    filled = 0
    for group in groups:
        for record in members_of(state, group):
            records[filled] = record
            filled += 1
    return records[order_of(records)]


@njit(cache=True, nogil=True)
def _nearest_next(rows: FloatArray, start: int) -> IntArray:
    """Return the records of ``rows`` as a path from ``start``, each time to the nearest one not yet on it."""
    m = len(rows)
    order = np.arange(m)
    order[0], order[start] = start, 0
    for i in range(m - 1):
        best, least = i + 1, np.inf
        for other in range(i + 1, m):
            distance = squared_distance(rows, order[other], rows, order[i])
            if distance < least:
                best, least = other, distance
        order[i + 1], order[best] = order[best], order[i + 1]
    return order


@njit(cache=True, nogil=True)
def _grown(rows: FloatArray, k: int, number: int, seed: Seed) -> IntArray:
    """Return labels of ``number`` groups of ``rows``, each of k records around a random one, and the others added."""
    m, d = rows.shape
    labels = np.full(m, -1)
    centers = np.zeros((number, d))
    sizes = np.zeros(number)
    left = np.arange(m)
    distances = np.empty(m)
    for group in range(number):
        chosen = left[draw_below(seed, len(left))]
        for i in range(len(left)):
            distances[i] = squared_distance(rows, left[i], rows, chosen)
        order = order_of(distances[: len(left)])
        for i in order[:k]:
            labels[left[i]] = group
            for j in range(d):
                centers[group, j] += rows[left[i], j] / k
        sizes[group] = k
        left = left[order[k:]]
    for record in left:
        best, least = 0, np.inf
        for group in range(number):
            growth = sizes[group] / (sizes[group] + 1.0) * squared_distance(rows, record, centers, group)
            if growth < least:
                best, least = group, growth
        labels[record] = best
        for j in range(d):
            centers[best, j] += (rows[record, j] - centers[best, j]) / (sizes[best] + 1.0)
        sizes[best] += 1.0
    return labels


@njit(cache=True, nogil=True)
def _number_of_groups(records: int, groups: int, k: int, seed: Seed) -> int:
    """Return into how many groups to divide ``records`` records of ``groups`` groups: now and then one fewer."""
    most = records // k
    number = groups + draw_below(seed, most - groups + 1)
    return number - 1 if number > 1 and draw_below(seed, 4) == 0 else number


@njit(cache=True, nogil=True)
def ruin_and_recreate(state: State, k: int, seed: Seed) -> None:
    """Give the records of a few neighboring groups new groups at random."""
    record = draw_below(seed, len(state.labels))
    groups = _groups_around(state, record, 2 + draw_below(seed, _MOST_GROUPS - 1), seed)
    records = _records_of(state, groups)
    rows = rows_of(state.X, records)
    if draw_below(seed, 2) == 0:
        labels = split_path(rows, _nearest_next(rows, draw_below(seed, len(rows))), k)
    else:
        labels = _grown(rows, k, _number_of_groups(len(records), len(groups), k, seed), seed)
    regroup(state, records, labels)


class Annealing(NamedTuple):
    """A partition that iterations change, and the best one so far; made by :func:`make_annealing`."""

    state: State  # the partition that is being changed
    best: IntArray  # shape (n,): the labels of the best partition so far
    # shape (2,): by how much the SSE of the partition, and of the best one, is below that at the beginning
    gains: FloatArray
    seed: Seed  # shape (1,): the generator of random numbers


@njit(cache=True, nogil=True)
def make_annealing(X: FloatArray, labels: IntArray, k: int, neighbors: IntArray, seed: Seed) -> Annealing:
    """Return what :func:`anneal` begins with; arguments as for :func:`~.state.make_state`."""
    return Annealing(make_state(X, labels, k, neighbors), labels.copy(), np.zeros(2), seed)


@njit(cache=True, nogil=True)
def anneal(annealing: Annealing, k: int, first: int, last: int, total: int, temperature: float) -> None:
    """Do the iterations from ``first`` to ``last`` - 1 of a round of ``total``.

    In an iteration the SSE may rise by a random number from the exponential distribution: a rise is kept with the
    probability exp(-rise / mean), as in simulated annealing. The mean goes from ``temperature``, in squared units of X,
    at the beginning of the round down to 0 at its end.
    """
    state, gains = annealing.state, annealing.gains
    for i in range(first, last):
        begin(state)
        ruin_and_recreate(state, k, annealing.seed)
        settled = repair(state, k, _MOST_EXAMINED)
        gain, least = gain_of(state)
        allowed = -temperature * (1.0 - i / total) * np.log(1.0 - draw_share(annealing.seed))
        if not settled or gain < least - allowed:
            clear_queue(state)
            undo(state)
            continue
        gains[0] += gain
        if gains[0] > gains[1] + least:
            gains[1] = gains[0]
            for record in range(len(state.labels)):
                annealing.best[record] = state.labels[record]
