"""Greedy k-member: groups that grow by the record whose joining loses the least information.

I(c) is the sum of the shares of the domains that the records of a group c span (see
:mod:`microagg.kernels.mixed`), its information loss is IL(c) = |c| · I(c). Its minority are the records
that are not of its most frequent class.

1. r is a random record.
2. While at least k records are unassigned: the one farthest from r begins a group. While that has fewer than k
   records, it takes in the unassigned record x with the least

       IL(c ∪ {x}) - IL(c) + class_penalty · (minority of c ∪ {x} - minority of c).

   Then r is the record taken in last (``furthest_from="last"``) or the one that began the group (``"seed"``).
3. Fewer than k records are left: in random order, each joins the group for which the same difference is least; that
   group's extents change at once. So groups have k to 2k-1 records.

|c| and IL(c) are the same for all x, so step 2 compares (|c| + 1) · I(c ∪ {x}), to which the penalty is added. Ties go
to the lowest record index, or to the group formed first.

Extents only widen while a group grows, so what was found for a record earlier is a lower bound now, and only records
whose bound is less than the best so far are measured again. Time O(n²d), and little more than O(n²d/k) where few are.

Source: Byun, Kamra, Bertino & Li 2007.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from microagg.algorithms.base import Info, Microaggregator, Param, Preset
from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.mixed import MixedPool
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


class MixedGroups(NamedTuple):
    """Groups under construction; made by :func:`make_mixed_groups`."""

    labels: IntArray  # shape (n,): the group of each record, -1 while unassigned
    classes: IntArray  # shape (n,): the class of each record
    sizes: IntArray  # shape (n // k,): how many records each group has
    majorities: IntArray  # shape (n // k,): how many of them are of its most frequent class
    low: FloatArray  # shape (n // k, d): the least number or rank in each group; the common ancestor of its categories
    high: FloatArray  # shape (n // k, d): the greatest number or rank in each group; that ancestor once more
    of_class: IntArray  # shape (c,): how many records of each class are in the group begun last
    extra: FloatArray  # shape (c,): what a further record of each class adds to the cost of that group
    point: FloatArray  # shape (d,): the numbers, ranks and nodes of r
    number: IntArray  # shape (1,): how many groups there are


def make_mixed_groups(records: Records, k: int, classes: IntArray, first: int) -> MixedGroups:
    """Return no groups yet, with room for as many as ``records`` can form, and the record ``first`` as r."""
    n, d = records.values.shape
    most, number = n // k, int(classes.max()) + 1
    return MixedGroups(
        np.full(n, -1, dtype=np.int64),
        classes.copy(),
        np.zeros(most, dtype=np.int64),
        np.zeros(most, dtype=np.int64),
        np.zeros((most, d)),
        np.zeros((most, d)),
        np.zeros(number, dtype=np.int64),
        np.zeros(number),
        records.values[first].astype(np.float64),
        np.zeros(1, dtype=np.int64),
    )


@borrows
def _widen(pool: MixedPool, low: FloatArray, high: FloatArray, record: int) -> None:
    """Widen extents, shape (d,), by ``record``, and relate ``pool.tables`` to their nodes."""
    mixed.widen(pool, low, high, record)
    for j in range(len(low)):
        if pool.nominal[j]:
            mixed.relate(pool.tables[j], pool.heights[j], pool.parents[j], int(low[j]))


@borrows
def _enter(pool: MixedPool, groups: MixedGroups, group: int, position: int, alike: int) -> None:
    """Move the record at ``position`` into ``group``, which has ``alike`` others of its class."""
    groups.labels[pool.records[position]] = group
    groups.sizes[group] += 1
    groups.majorities[group] = max(groups.majorities[group], alike + 1)
    mixed.remove(pool, position)


@kernel
def _begin(pool: MixedPool, groups: MixedGroups, position: int) -> None:
    """Begin a group with the record at ``position``, and set ``pool.sums`` to the distances from it."""
    group = groups.number[0]
    groups.number[0] += 1
    point = mixed.point_at(pool, position)
    mixed.copy_to(groups.low[group], point)
    mixed.copy_to(groups.high[group], point)
    groups.of_class[:] = 0
    groups.of_class[groups.classes[pool.records[position]]] = 1
    _enter(pool, groups, group, position, 0)
    mixed.measure_from(pool, point)


@borrows
def _least_increase(pool: MixedPool, groups: MixedGroups, group: int, penalty: float) -> tuple[int, int]:
    """Return the position of the unassigned record whose joining ``group`` costs least, and how many were measured.

    ``pool.sums`` are lower bounds of I with each record, and become tighter ones.
    """
    low, high = groups.low[group], groups.high[group]
    # Fields are taken out of the tuples once: to do so inside the loops would cost more than the arithmetic there.
    points, records, sums, nominal = pool.points, pool.records, pool.sums, pool.nominal
    tables, domains, classes, extra_of = pool.tables, pool.domains, groups.classes, groups.extra
    times = groups.sizes[group] + 1
    floor = times * mixed.extent(pool, low, high)
    if penalty > 0.0:
        # A record adds to the minority unless its class is, or ties with, the most frequent one.
        for its_class in range(len(extra_of)):
            extra_of[its_class] = 0.0 if groups.of_class[its_class] == groups.majorities[group] else penalty
    best = -1
    least = np.inf
    measured = 0
    for position in range(pool.counts[EXTENT]):
        if not times * sums[position] < least:
            continue
        record = records[position]
        extra = 0.0
        if penalty > 0.0:
            extra = extra_of[classes[record]]
            if not times * sums[position] + extra < least:
                continue
        measured += 1
        total = 0.0
        for j in range(len(low)):
            value = points[record, j]
            if nominal[j]:
                total += tables[j, int(value)]
            elif domains[j] > 0.0:
                total += (max(high[j], value) - min(low[j], value)) / domains[j]
            if not times * total + extra < least:
                break  # no later term lowers it
        sums[position] = max(total, sums[position])
        if times * total + extra < least:
            least = times * total + extra
            best = position
            if least <= floor:
                break  # no record costs less, and all further ones have higher indices
    return best, measured


@kernel
def _form_groups(pool: MixedPool, groups: MixedGroups, k: int, penalty: float, from_seed: bool, most: int) -> bool:
    """Do step 2, or go on with it, until about ``most`` shares were added; return whether it is done."""
    d = len(pool.domains)
    spent = 0
    while spent < most:
        mixed.tidy(pool)
        group = groups.number[0] - 1
        if group < 0 or groups.sizes[group] == k:
            if pool.counts[ALIVE] < k:
                return True
            mixed.measure_from(pool, groups.point)
            position = mixed.farthest(pool)
            if from_seed:
                mixed.copy_to(groups.point, mixed.point_at(pool, position))
            _begin(pool, groups, position)
            spent += 2 * d * pool.counts[EXTENT]
        else:
            position, measured = _least_increase(pool, groups, group, penalty)
            if not from_seed:
                mixed.copy_to(groups.point, mixed.point_at(pool, position))
            its_class = groups.classes[pool.records[position]]
            _widen(pool, groups.low[group], groups.high[group], pool.records[position])
            _enter(pool, groups, group, position, groups.of_class[its_class])
            groups.of_class[its_class] += 1
            spent += pool.counts[EXTENT] + d * measured
    return False


@kernel
def _join_best(pool: MixedPool, groups: MixedGroups, record: int, penalty: float) -> None:
    """Let a record join the group that it costs least."""
    number = groups.number[0]
    alike = np.zeros(number, dtype=np.int64)
    for other in range(len(groups.labels) if penalty > 0.0 else 0):
        if groups.labels[other] >= 0 and groups.classes[other] == groups.classes[record]:
            alike[groups.labels[other]] += 1
    best = -1
    least = np.inf
    for group in range(number):
        low, high, size = groups.low[group], groups.high[group], groups.sizes[group]
        cost = (size + 1) * mixed.extent_with(pool, low, high, record) - size * mixed.extent(pool, low, high)
        if alike[group] < groups.majorities[group]:
            cost += penalty
        if cost < least:
            least = cost
            best = group
    mixed.widen(pool, groups.low[best], groups.high[best], record)
    _enter(pool, groups, best, pool.positions[record], alike[best])


class KMember(Microaggregator):
    info = Info(
        key="k-member",
        title="Greedy k-member",
        family="Mixed attributes",
        summary="Groups begin far apart and grow by the record that widens their ranges and categories least.",
        year=2007,
        reference="Byun, Kamra, Bertino & Li 2007",
        sizes="fixed",
        complexity="O(n²d)",
        mixed=True,
        presets=(
            Preset("k-member", "Greedy k-member", {}),
            # benchmarks/adult.py finds that a penalty of 2 keeps classes together at a modest price.
            Preset("k-member-classes", "Greedy k-member with class penalty", {"class_penalty": 2.0}),
        ),
        deterministic=False,
        note="The algorithm printed in the paper (Fig. 5) looks for the next group far from the record added last, its "
        "text far from the one that began the group. Without class_penalty, |c| and IL(c) are the same for all records "
        "that may join, so they are left out when these are compared.",
    )
    params = (
        Param(
            "furthest_from",
            "choice",
            ("last", "seed"),
            "last",
            "The record that the next group starts far from: the one added last, as in the paper's Fig. 5, or the one "
            "that started the group before, as in its text.",
        ),
        Param(
            "class_penalty",
            "float",
            (0.0, None),
            0.0,
            "The cost of a record outside its group's most frequent class, in units of information loss; 0 ignores "
            "class labels.",
            needs_classes=True,
        ),
        Param(
            "random_state",
            "int",
            (0, None),
            0,
            "The seed of the first record and of the order of those left over: the same seed gives the same groups.",
        ),
    )

    def _partition(
        self, records: Records, k: int, *, furthest_from: str, class_penalty: float, random_state: int,
        classes: IntArray,
    ) -> IntArray:  # fmt: skip
        n, from_seed = records.n, furthest_from == "seed"
        if k == 1:
            return np.arange(n)
        rng = np.random.default_rng(random_state)
        groups = make_mixed_groups(records, k, classes, int(rng.integers(n)))
        pool = mixed.make_pool(records)
        while not _form_groups(pool, groups, k, class_penalty, from_seed, mixed.TERMS_AT_A_TIME):
            checkpoint("forming groups", float(1.0 - (pool.counts[ALIVE] / n) ** 2))
        rest = np.flatnonzero(groups.labels < 0)
        for record in rng.permutation(rest):
            checkpoint("assigning the records left over", 1.0)
            _join_best(pool, groups, record, class_penalty)
        return groups.labels
