"""Groups whose confidential values are close to those of all records: k-anonymity first, and t-closeness first.

k-anonymity first and t-closeness first form groups alternately around the record farthest from the centroid of the
unassigned records, and around the unassigned one farthest from that. Without a limit t both form the groups of
MDAV-generic. With mixed attributes, center and distances are those of :mod:`microagg.algorithms.mdav`.

``k-anonymity-first`` (Algorithm 2 of the source):

1. The record and its k-1 nearest unassigned records form a group.
2. While the group exceeds t, the next nearest unassigned record replaces the record of the group by which its distance
   from all records falls most, if it falls.
3. Fewer than 2k records that are left form one group.

``t-closeness-first`` (Algorithm 3):

1. The size of groups is k' = max(k, ⌈n / (2 (n - 1) t + 1)⌉), or more, so that fewer than one record for each group are
   left over: k' + ⌊(n mod k') / ⌊n / k'⌋⌋.
2. The records are ranked by their confidential value, and cut into k' buckets of ⌊n / k'⌋ records; those left over come
   to the bucket in the middle, or by halves to the two in the middle.
3. A group takes from each bucket the unassigned record nearest to the one it begins around. While a bucket has more
   records than there are groups to come, the group takes one more from the one that has most.

Groups that still exceed t are merged by :func:`microagg.microaggregate`, as the source does after Algorithm 2. If all
values differ, all groups of Algorithm 3 meet t, except for records that are left over (Proposition 2).

Ties go to the lowest record index, of buckets to the lower; amounts that differ by less than rounding makes tie. Time
O(n²d/k) for the groups, and O(n²) exchanges at most that are tried with each of k records.

Source: Soria-Comas, Domingo-Ferrer, Sánchez & Martínez 2015, Sections 6 and 7.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.columns.records import Records
from microagg.errors import ParameterError
from microagg.kernels.bases import Candidates, group_in_turns
from microagg.kernels.compiled import kernel
from microagg.kernels.local_search.guarded import EQUAL, ROUNDING, Rules, lack
from microagg.validation import FloatArray, IntArray


@kernel
def _refined(candidates: Candidates, seed: int, k: int, rules: Rules) -> IntArray:
    """Return the positions of a group that begins with ``seed`` and exceeds its limits by little."""
    candidates.distances[seed] = -1.0
    order = np.argsort(candidates.distances, kind="mergesort")[: candidates.number]  # NaN comes last
    group = order[:k].copy()
    lacks = lack(rules, candidates.records[group])
    for position in order[k:]:
        if lacks == 0.0:
            break
        least, place = lacks - ROUNDING, -1
        for i in range(k):
            tried = group.copy()
            tried[i] = position
            then = lack(rules, candidates.records[tried])
            if then < least:
                least, place, lacks = then - ROUNDING, i, then
        if place >= 0:
            group[place] = position
    return group


@kernel
def _from_buckets(candidates: Candidates, buckets: IntArray, left: IntArray, to_come: int) -> IntArray:
    """Positions of the nearest record of each bucket, and of a second one from a bucket with too many records.

    ``buckets``, shape (n,), is the bucket of each record; ``left`` is the number of records left in each bucket;
    ``to_come`` is the number of groups that follow this one.
    """
    chosen = np.full((len(left), 2), -1)
    distances = candidates.distances
    for position in range(len(distances)):
        distance = distances[position]
        if np.isnan(distance):
            continue
        nearest_two = chosen[buckets[candidates.records[position]]]
        if nearest_two[0] < 0 or distance < distances[nearest_two[0]]:
            nearest_two[1] = nearest_two[0]
            nearest_two[0] = position
        elif nearest_two[1] < 0 or distance < distances[nearest_two[1]]:
            nearest_two[1] = position
    left -= 1
    fullest = int(np.argmax(left))
    if left[fullest] <= to_come:
        return chosen[:, 0].copy()
    left[fullest] -= 1
    return np.append(chosen[:, 0], chosen[fullest, 1])


class KAnonymityFirst(Microaggregator):
    info = Info(
        key="k-anonymity-first",
        title="k-anonymity first",
        family="Closeness",
        summary="MDAV that exchanges records of a group for the next nearest until its confidential values are close.",
        year=2015,
        reference="Soria-Comas, Domingo-Ferrer, Sánchez & Martínez 2015, Algorithm 2",
        sizes="fixed",
        complexity="O(n²d/k + n²k²)",
        mixed=True,
        numbers_by_sse=True,
        keeps_rules=True,
        note="Diversity is kept in the same way, and several attributes by the sum of what each exceeds.",
    )

    def _partition(self, X: FloatArray | Records, k: int, rules: Rules | None = None) -> IntArray:
        if rules is None:
            return group_in_turns(X, k, 2 * k)
        return group_in_turns(X, k, 2 * k, lambda candidates, seed: _refined(candidates, seed, k, rules))


class TClosenessFirst(Microaggregator):
    info = Info(
        key="t-closeness-first",
        title="t-closeness first",
        family="Closeness",
        summary="Ranks the records by a confidential value, and takes one of each of k buckets into a group.",
        year=2015,
        reference="Soria-Comas, Domingo-Ferrer, Sánchez & Martínez 2015, Algorithm 3",
        sizes="fixed",
        complexity="O(n²d/k)",
        mixed=True,
        numbers_by_sse=True,
        keeps_rules=True,
        note="Which groups take the records that are left over. Of several attributes the first one of which closeness "
        "is asked for is ranked; values without an order are, by how they are sorted.",
    )

    def _partition(self, X: FloatArray | Records, k: int, rules: Rules | None = None) -> IntArray:
        if rules is None:
            return group_in_turns(X, k, 2 * k)
        if (rules.kinds < EQUAL).all():
            raise ParameterError(
                "t-closeness-first needs to know how close groups have to be: ask for the closeness of a confidential "
                "column, such as closeness={'column': 0.2}, or choose another method."
            )
        ranked = int(np.argmax(rules.kinds >= EQUAL))
        buckets, number = _buckets(rules.codes[ranked], k, float(rules.bounds[ranked]))
        left = np.bincount(buckets)
        to_come = iter(range(number - 1, -1, -1))
        return group_in_turns(
            X, len(left), 1, lambda candidates, seed: _from_buckets(candidates, buckets, left, next(to_come))
        )


def _buckets(codes: IntArray, k: int, t: float) -> tuple[IntArray, int]:
    """Return the bucket of each record, by the ``codes`` of their values, shape (n,), and the number of groups."""
    n = len(codes)
    # Rounding must not make a whole number one more.
    size = max(k, int(np.ceil(n / (2 * (n - 1) * t + 1) - ROUNDING)))
    size += (n % size) // (n // size)
    number = n // size
    sizes = np.full(size, number)
    over = n - number * size
    sizes[(size - 1) // 2] += over - over // 2
    sizes[size // 2] += over // 2
    buckets = np.empty(n, dtype=np.int64)
    buckets[np.argsort(codes, kind="stable")] = np.repeat(np.arange(size), sizes)
    return buckets, number
