"""Iterated local search for Total-IL: a few neighboring groups of mixed records are taken apart and put together anew.

First, again and again, one random record leaves each group, and the assignment problem is solved by which each group
takes in one of these. Then, in one iteration, the groups of a random record and of some near to it are chosen, and
their records are given new groups: one after the other, a group begins with a random record, or with the one farthest
from where the group before began, and takes in the record that widens it least until it has k; what is left joins the
group that loses least by it. Then records are moved and exchanged among these groups, see
:func:`microagg.kernels.mixed.improve`. If Total-IL has not fallen in the end, nor risen by as little as simulated
annealing allows, all stays as it was.

Many records are divided into regions of neighboring groups, each of which is searched by itself, twice, with other
borders; what is found does not depend on the number of threads.

Sources: ruin and recreate, Schrimpf et al. 2000; simulated annealing, Kirkpatrick, Gelatt & Vecchi 1983; growing
groups, Byun, Kamra, Bertino & Li 2007; cyclic exchanges, Thompson & Psaraftis 1993.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import NamedTuple

import numpy as np

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.local_search.iterated import Seed, divide, draw_below, records_of, search_regions
from microagg.kernels.mixed import Groups
from microagg.kernels.neighbors.brute_force import nearest, sort_few
from microagg.partition import canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: How many groups are taken apart in one iteration, at most.
_MOST_GROUPS = 5

#: The number of nearest records that are known of each.
_NEIGHBORS = 16

#: One record of each of g groups is exchanged for each g² / 600 iterations, which take as long, but so often at most.
_MOST_EXCHANGES = 80

#: The temperature at the beginning, as a share of a group's mean loss.
_TEMPERATURE = 0.1

#: More records than this are searched region by region, so often.
_MOST_IN_REGION, _ROUNDS = 5_000, 2

# Between two looks at the clock.
_ITERATIONS_AT_A_TIME = 50

#: So often records are moved and exchanged in one iteration, at most.
_MOST_PASSES = 10

# A random share is one of so many whole numbers, divided by it.
_DRAWS = 2**53

#: Less than this share of what some groups lose is no gain.
_LEAST_GAIN = 1e-9


class MixedAnnealing(NamedTuple):
    """A partition that iterations change, and the best one so far; made by :func:`_begin`."""

    groups: Groups  # the partition that is being changed, with room for as many groups as the records can form
    neighbors: IntArray  # shape (n, m): the nearest records of each
    number: IntArray  # shape (1,): how many groups there are
    best: IntArray  # shape (n,): the labels of the best partition so far
    gains: FloatArray  # shape (2,): by how much Total-IL of the partition, and of the best one, is below the first
    seed: Seed  # shape (1,): the generator of random numbers


@kernel
def _neighbors_of(pool: mixed.MixedPool, most: int) -> IntArray:
    """Return the nearest records of each, shape (n, most)."""
    neighbors = np.empty((len(pool.points), most), dtype=np.int64)
    for record in range(len(neighbors)):
        mixed.measure_from(pool, pool.points[record])
        pool.sums[record] = np.inf
        mixed.copy_to(neighbors[record], nearest(pool.sums, len(pool.sums), most))
    return neighbors


@kernel
def _groups_around(annealing: MixedAnnealing, record: int, most: int) -> IntArray:
    """Return up to ``most`` groups: that of a record, and those on a random walk from it to near records."""
    neighbors, labels = annealing.neighbors, annealing.groups.labels
    chosen = np.empty(most, dtype=np.int64)
    chosen[0] = labels[record]
    count = 1
    for _ in range(4 * most):
        if count == most:
            break
        record = neighbors[record, draw_below(annealing.seed, neighbors.shape[1])]
        chosen[count] = labels[record]
        known = 0
        while chosen[known] != labels[record]:
            known += 1
        count = max(count, known + 1)
    return chosen[:count]


@kernel
def _grown(part: Groups, k: int, seed: Seed) -> None:
    """Give all records of ``part`` new groups, as many as it has room for, each of which has k records at least."""
    m, number = len(part.labels), len(part.sizes)
    extents = np.empty(m)
    part.labels[:] = -1
    previous = -1
    for group in range(number):
        start, farthest = -1, -1.0
        if previous >= 0 and draw_below(seed, 2) == 0:
            for x in range(m):
                if part.labels[x] < 0:
                    extent = mixed.extent_with(part, part.points[previous], part.points[previous], x)
                    if extent > farthest:
                        start, farthest = x, extent
        else:
            place = draw_below(seed, m - group * k)
            for x in range(m):
                if part.labels[x] < 0:
                    if place == 0:
                        start = x
                        break
                    place -= 1
        previous = start
        part.labels[start] = group
        mixed.copy_to(part.low[group], part.points[start])
        mixed.copy_to(part.high[group], part.points[start])
        # What the group spans with each record only rises while it grows: what was computed earlier is a lower bound.
        for x in range(m):
            extents[x] = -1.0 if part.labels[x] < 0 else np.inf
        for _ in range(k - 1):
            best, least = -1, np.inf
            for x in range(m):
                if extents[x] < least:
                    extents[x] = mixed.extent_with(part, part.low[group], part.high[group], x)
                    if extents[x] < least:
                        best, least = x, extents[x]
            part.labels[best] = group
            extents[best] = np.inf
            mixed.widen(part, part.low[group], part.high[group], best)
        part.sizes[group] = k
        part.extents[group] = mixed.extent(part, part.low[group], part.high[group])
    for x in range(m):
        if part.labels[x] < 0:
            best, least = -1, np.inf
            for group in range(number):
                extent = mixed.extent_with(part, part.low[group], part.high[group], x)
                growth = (part.sizes[group] + 1) * extent - part.sizes[group] * part.extents[group]
                if growth < least:
                    best, least = group, growth
            part.labels[x] = best
            mixed.widen(part, part.low[best], part.high[best], x)
            part.sizes[best] += 1
            part.extents[best] = mixed.extent(part, part.low[best], part.high[best])
    part.first[:] = -1
    mixed.fill(part)


@kernel
def _part_of(groups: Groups, records: IntArray, number: int) -> Groups:
    """Return some records by themselves, with room for ``number`` groups."""
    m, d = len(records), groups.points.shape[1]
    points = np.empty((m, d))
    for i in range(m):
        mixed.copy_to(points[i], groups.points[records[i]])
    return Groups(
        points,
        groups.nominal,
        groups.domains,
        groups.parents,
        groups.heights,
        np.empty(m, dtype=np.int64),
        np.zeros(number, dtype=np.int64),
        np.empty(number, dtype=np.int64),
        np.empty(m, dtype=np.int64),
        np.empty((number, d)),
        np.empty((number, d)),
        np.empty(number),
    )


@borrows
def _remove(annealing: MixedAnnealing, group: int) -> None:
    """Remove a group without records: the last one gets its number."""
    groups = annealing.groups
    annealing.number[0] -= 1
    last = annealing.number[0]
    if group == last:
        return
    x = groups.first[last]
    while x >= 0:
        groups.labels[x] = group
        x = groups.following[x]
    groups.first[group], groups.sizes[group] = groups.first[last], groups.sizes[last]
    groups.extents[group] = groups.extents[last]
    mixed.copy_to(groups.low[group], groups.low[last])
    mixed.copy_to(groups.high[group], groups.high[last])


@kernel
def _take_over(annealing: MixedAnnealing, chosen: IntArray, records: IntArray, part: Groups) -> None:
    """Put the groups of ``part``, formed by ``records``, in the place of the groups ``chosen``."""
    groups, number = annealing.groups, annealing.number
    places = np.empty(len(part.sizes), dtype=np.int64)
    for i in range(len(places)):
        if i < len(chosen):
            places[i] = chosen[i]
        else:
            places[i] = number[0]
            number[0] += 1
        place = places[i]
        groups.first[place], groups.sizes[place], groups.extents[place] = -1, part.sizes[i], part.extents[i]
        mixed.copy_to(groups.low[place], part.low[i])
        mixed.copy_to(groups.high[place], part.high[i])
    for i in range(len(records)):
        record, place = records[i], places[part.labels[i]]
        groups.labels[record] = place
        groups.following[record] = groups.first[place]
        groups.first[place] = record
    if len(places) < len(chosen):
        # The highest number first, so that the last group is never one that is to be removed as well.
        removed = chosen[len(places) :]
        sort_few(removed)
        for group in removed[::-1]:
            _remove(annealing, group)


@kernel
def _anneal(annealing: MixedAnnealing, k: int, first: int, last: int, total: int, temperature: float) -> None:
    """Do the iterations from ``first`` to ``last`` - 1 of ``total``; as in :func:`.iterated.anneal`."""
    groups, gains, seed = annealing.groups, annealing.gains, annealing.seed
    for i in range(first, last):
        record = draw_below(seed, len(groups.labels))
        if annealing.number[0] < 2:
            return
        chosen = _groups_around(annealing, record, 2 + draw_below(seed, _MOST_GROUPS - 1))
        before, size = 0.0, 0
        for group in chosen:
            before += groups.sizes[group] * groups.extents[group]
            size += groups.sizes[group]
        if before == 0.0:
            continue
        records = np.empty(size, dtype=np.int64)
        filled = 0
        for group in chosen:
            x = groups.first[group]
            while x >= 0:
                records[filled] = x
                filled += 1
                x = groups.following[x]
        most = size // k
        part = _part_of(groups, records, most - draw_below(seed, min(2, most)) if draw_below(seed, 4) == 0 else most)
        _grown(part, k, seed)
        for _ in range(_MOST_PASSES):
            if mixed.improve(part, k, 0, size, mixed.WIDTH) == 0:
                break
        gain, least = before - float((part.sizes * part.extents).sum()), _LEAST_GAIN * before
        allowed = -temperature * (1.0 - i / total) * np.log(1.0 - draw_below(seed, _DRAWS) / _DRAWS)
        if gain < least - allowed:
            continue
        _take_over(annealing, chosen, records, part)
        gains[0] += gain
        if gains[0] > gains[1] + least:
            gains[1] = gains[0]
            mixed.copy_to(annealing.best, groups.labels)


def _begin(groups: Groups, neighbors: IntArray, k: int, seed: Seed) -> MixedAnnealing:
    """Return what iterations begin with: ``groups``, and room for as many as the records can form."""
    number = len(groups.sizes)
    spare = (0, len(groups.labels) // k - number)
    roomy = groups._replace(
        sizes=np.pad(groups.sizes, spare),
        first=np.pad(groups.first, spare),
        low=np.pad(groups.low, (spare, (0, 0))),
        high=np.pad(groups.high, (spare, (0, 0))),
        extents=np.pad(groups.extents, spare),
    )
    return MixedAnnealing(roomy, neighbors, np.array([number]), groups.labels.copy(), np.zeros(2), seed)


@kernel
def _replacement_costs(groups: Groups, leaving: IntArray) -> FloatArray:
    """Return the loss of each group with the ``leaving`` record of each group in the place of its own, shape (g, g)."""
    g, d = groups.low.shape
    costs, low, high = np.zeros((g, g)), np.empty(d), np.empty(d)
    for group in range(g):
        rest, x = 0, groups.first[group]
        while x >= 0:
            if x != leaving[group]:
                if rest == 0:
                    mixed.copy_to(low, groups.points[x])
                    mixed.copy_to(high, groups.points[x])
                mixed.widen(groups, low, high, x)
                rest += 1
            x = groups.following[x]
        for other in range(g if rest > 0 else 0):
            costs[group, other] = groups.sizes[group] * mixed.extent_with(groups, low, high, leaving[other])
    return costs


def _exchange_one_of_each(records: Records, labels: IntArray, draw: np.random.Generator) -> None:
    """Exchange a random record of each group, those of all groups at once, so that Total-IL is the least."""
    from scipy.optimize import linear_sum_assignment

    order = draw.permutation(records.n)
    leaving = np.empty(int(labels.max()) + 1, dtype=np.int64)
    leaving[labels[order]] = order  # the last one of each group stays there
    joining = linear_sum_assignment(_replacement_costs(mixed.make_groups(records, labels), leaving))[1]
    labels[leaving[joining]] = np.arange(len(leaving))


def _search(
    records: Records, labels: IntArray, k: int, iterations: range, total: int, seed: Seed
) -> Iterator[IntArray]:
    """Exchange and move records until nothing is gained, then do these ``iterations`` of ``total``; yield the labels.

    One record of each group is exchanged only before the first of all iterations.
    """
    labels, draw, n = canonical_labels(labels).copy(), np.random.default_rng(seed), records.n
    exchanges = 600 * total // (int(labels.max()) + 1) ** 2 if iterations.start == 0 else 0
    for _ in range(min(exchanges, _MOST_EXCHANGES)):
        _exchange_one_of_each(records, labels, draw)
        yield labels
    groups = mixed.make_groups(records, labels)
    while mixed.improve(groups, k, 0, n, mixed.WIDTH) > 0:
        yield groups.labels
    if not iterations or n < 2:
        return
    temperature = _TEMPERATURE * _loss(groups) / len(groups.sizes)
    neighbors = _neighbors_of(mixed.make_pool(records), min(_NEIGHBORS, n - 1))
    annealing = _begin(groups, neighbors, k, seed)
    for first in iterations[::_ITERATIONS_AT_A_TIME]:
        _anneal(annealing, k, first, min(first + _ITERATIONS_AT_A_TIME, iterations.stop), total, temperature)
        yield annealing.best if iterations.stop == total else annealing.groups.labels


def improve(
    records: Records, labels: IntArray, k: int, iterations: int = 0, seconds: float = 0.0, random_state: int = 0
) -> IntArray:
    """Return the labels of a partition of ``records`` with a Total-IL that is not above that of ``labels``.

    Records are moved and exchanged until nothing is gained, then come ``iterations`` in all. It ends earlier if that
    takes more than ``seconds``, unless these are 0.
    """
    before = canonical_labels(labels)
    labels = before.copy()
    end = time.perf_counter() + seconds if seconds > 0.0 else math.inf
    rounds = _ROUNDS if len(labels) > _MOST_IN_REGION else 1

    def search(part: IntArray, number: int, seed: Seed, stop: threading.Event) -> IntArray:
        share = iterations * len(part) // (rounds * len(labels))
        turns, best = range(number * share, (number + 1) * share), labels[part]
        for found in _search(records.take(part), best, k, turns, rounds * share, seed):
            best = found
            if stop.is_set() or time.perf_counter() > end:
                break
        return canonical_labels(best)

    for number in range(rounds):
        draw = np.random.default_rng([random_state, number])
        regions = [np.arange(int(labels.max()) + 1)]
        if rounds > 1:
            regions = divide(centers_of(records, labels), np.bincount(labels), draw, most=_MOST_IN_REGION)
        parts, firsts = records_of(regions, labels, k)
        searches = [partial(search, part, number, draw.integers(0, 2**63, 1, dtype=np.uint64)) for part in parts]
        with closing(search_regions(labels, parts, firsts, searches)) as shares:
            for share in shares:
                checkpoint("moving and exchanging records", (number + share) / rounds)
        labels = canonical_labels(labels)
    return min((labels, before), key=lambda each: _loss(mixed.make_groups(records, each)))


def _loss(groups: Groups) -> float:
    return float((groups.sizes * groups.extents).sum())


def centers_of(records: Records, labels: IntArray) -> FloatArray:
    """Return where groups lie among each other, shape (g, d): the means of numbers, ranks and nodes, on one scale."""
    means = group_means(records.values, labels)
    spread = np.ptp(means, axis=0)
    return means / np.where(spread > 0.0, spread, 1.0)
