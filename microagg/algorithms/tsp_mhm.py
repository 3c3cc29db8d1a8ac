"""TSP-MHM: a short tour through all records, cut open and then cut into groups optimally.

1. Tour: nearest point next from one end of the diameter, back to its beginning. It is then shortened. For
   each record a by index, the first of these moves that makes the tour shorter is made, again and again. Distances are
   not squared here, and c is one of a's ten nearest records, the nearest first:

   a. 2-opt: the edges from a and from c to what follows them (then: to what precedes them) are replaced by the edge
      from a to c and the one between those two.
   b. Or-opt: the one, two or three records that begin (then: end) with a move to c's side, a next to c, behind c (then:
      before it). Records around the place where the array begins stay.

   The tour is done once there is no such move at any record.
2. Its longest edge is cut, the first of them among equals.
3. The path is cut by :func:`microagg.kernels.paths.split_path`, in time O(nkd).

Ties go to the lowest record index. Time O(n²d) for the tour and the lists of nearest records, and some tens of passes
of O(nd) each to shorten it.

Source: Heaton & Mukherjee 2011. Which tour is built, how it is improved and where it is cut was chosen here.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.neighbors.brute_force import squared_distance_of_rows, squared_lengths
from microagg.kernels.neighbors.neighbor_lists import find_neighbors
from microagg.kernels.paths import nearest_point_next, split_path
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# How many of its nearest records each record tries to be joined with.
NEIGHBORS = 10

# A tour must become shorter by more than rounding: by this share of the edges that are taken out.
LEAST_GAIN = 1e-9


@borrows
def _distance(X: FloatArray, a: int, b: int) -> float:
    return np.sqrt(squared_distance_of_rows(X, a, X, b))


@borrows
def _two_opt(X: FloatArray, tour: IntArray, place: IntArray, neighbors: IntArray, a: int) -> bool:
    """Do the first 2-opt move at record ``a`` that shortens the tour, and tell whether there was one."""
    n = len(tour)
    for step in (1, -1):
        b = tour[(place[a] + step) % n]
        a_b = _distance(X, a, b)
        for c in neighbors[a]:
            a_c = _distance(X, a, c)
            if a_c >= a_b:
                break
            e = tour[(place[c] + step) % n]
            old = a_b + _distance(X, c, e)
            if old - (a_c + _distance(X, b, e)) <= LEAST_GAIN * old:
                continue
            low, high = min(place[a], place[c]), max(place[a], place[c])
            if step > 0:
                low += 1
            else:
                high -= 1
            while low < high:
                tour[low], tour[high] = tour[high], tour[low]
                place[tour[low]], place[tour[high]] = low, high
                low += 1
                high -= 1
            if low == high:
                place[tour[low]] = low
            return True
    return False


@kernel
def _move(tour: IntArray, place: IntArray, low: int, high: int, gap: int, turned: bool) -> None:
    """Move the records at the places ``low`` to ``high`` to between the places ``gap - 1`` and ``gap``."""
    block = tour[low : high + 1][:: -1 if turned else 1]
    moved = np.concatenate((tour[high + 1 : gap], block)) if gap > high else np.concatenate((block, tour[gap:low]))
    for i in range(len(moved)):
        position = min(low, gap) + i
        tour[position] = moved[i]
        place[moved[i]] = position


@kernel
def _or_opt(X: FloatArray, tour: IntArray, place: IntArray, neighbors: IntArray, a: int) -> bool:
    """Move a block of one to three records that starts or ends with ``a`` next to a near record ``c``.

    Do the first such Or-opt move that shortens the tour, and tell whether there was one.
    """
    n = len(tour)
    for size in range(1, 4):
        for a_is_first in (True, False):
            low = place[a] if a_is_first else place[a] - size + 1
            high = low + size - 1
            if low < 1 or high > n - 2:
                continue
            before, after = tour[low - 1], tour[high + 1]
            far_end = tour[high] if a_is_first else tour[low]
            old = _distance(X, before, tour[low]) + _distance(X, tour[high], after)
            saved = old - _distance(X, before, after)
            for c in neighbors[a]:
                a_c = _distance(X, a, c)
                if a_c >= saved:
                    break
                if low <= place[c] <= high:
                    continue
                for step in (1, -1):
                    e = tour[(place[c] + step) % n]
                    if low <= place[e] <= high:
                        continue
                    if saved - (a_c + _distance(X, far_end, e) - _distance(X, c, e)) <= LEAST_GAIN * old:
                        continue
                    # Behind c the block must begin with a, before c it must end with it.
                    _move(tour, place, low, high, place[c] + (step > 0), a_is_first != (step > 0))
                    return True
    return False


@kernel
def _improve(X: FloatArray, tour: IntArray, place: IntArray, neighbors: IntArray) -> int:
    """Shorten the tour at each record in turn, and return how often it was."""
    moves = 0
    for a in range(len(tour)):
        while _two_opt(X, tour, place, neighbors, a) or _or_opt(X, tour, place, neighbors, a):
            moves += 1
    return moves


def tour_path(X: FloatArray) -> IntArray:
    """Return the records of ``X``, shape (n, d), in the order of a short tour cut at its longest edge."""
    tour = nearest_point_next(X)
    neighbors = find_neighbors(X, NEIGHBORS // 2, exact=True)
    place = np.empty(len(X), dtype=np.int64)
    place[tour] = np.arange(len(X))
    while True:
        checkpoint("shortening the tour")
        if _improve(X, tour, place, neighbors) == 0:
            break
    longest = int(np.sqrt(squared_lengths(X[tour] - X[np.roll(tour, -1)])).argmax())
    return np.roll(tour, -1 - longest)


class TSPMHM(Microaggregator):
    info = Info(
        key="tsp-mhm",
        title="TSP-MHM",
        family="Paths and optimal splits",
        summary="Visits all records on a short round trip, and cuts it optimally into groups.",
        year=2011,
        reference="Heaton & Mukherjee 2011",
        complexity="O(n²d + nkd)",
        note="How the tour is made and where it is opened was settled here: nearest point next from one end of the "
        "diameter, shortened by 2-opt and Or-opt among the ten nearest records, cut at its longest edge.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        return split_path(X, tour_path(X), k)
