"""Groups that keep what is guaranteed of confidential attributes: how it is counted, and a search that keeps it.

What a group lacks is, summed over the rules, by how much its distance is above t, or by which share of l its diversity
is below l; the search takes that times the size of the group, and a price for it, as a loss beside the SSE of numbers
or Total-IL. For one record after the other the best of these changes is made, if it lowers the sum of both: the record
moves to another group, if its own keeps k; or it is exchanged for one of another group. Groups are those that would
lose least by the record. Records are examined again once their group has changed, until nothing is gained.

At a low price groups of little loss are found that lack something, and the price is raised until none does; groups that
lack something even then are merged, the cheapest pair first. Last, the price is so high that nothing may be lacking:
then no move or exchange with the groups that are tried lowers the loss and keeps what is guaranteed. Further rounds
begin with the best groups at a low price again. Where prices begin is drawn, by a fixed seed.

Sources: strategic oscillation, Glover 1977; what is counted, see :mod:`microagg.metrics.risk.disclosure`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.grouping.merging import merge, merge_costs
from microagg.kernels.local_search.state import centered
from microagg.kernels.neighbors.brute_force import squared_distance_of_rows
from microagg.kernels.running import borrows
from microagg.partition import Partition, canonical_labels
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

#: What can be asked for: so many values, so diverse by entropy; a distance of values without an order, and with one.
DISTINCT, ENTROPY, EQUAL, ORDERED = range(4)

#: Figures that differ by no more than this are the same, to within rounding.
ROUNDING = 1e-9

#: With the records of so many groups a record may be exchanged.
WIDTH = 16

# A change must gain this share of what the two groups lose.
_LEAST_GAIN = 1e-9

# Prices are multiples of what a record loses on average: the first one, and in further rounds the lowest and highest
# first one; from then on each is so many times the one before, and there are so many at most. The last price is so
# many times what all records lose.
_FIRST, _LOW, _HIGH, _GROWTH, _PRICES, _HIGHEST = 3.0, 2.0, 100.0, 5.0, 5, 1e12

# Records examined between two checkpoints.
_RECORDS_AT_A_TIME = 256


class Rules(NamedTuple):
    """What each group must keep, by r rules; made by :func:`make_rules`."""

    kinds: IntArray  # shape (r,): DISTINCT, ENTROPY, EQUAL or ORDERED
    bounds: FloatArray  # shape (r,): at least l, or at most t
    codes: IntArray  # shape (r, n): each record's value, from 0, ascending with the value if it has an order
    numbers: IntArray  # shape (r,): how many values m there are
    shares: FloatArray  # shape (r, m): of all records that have each value
    before: FloatArray  # shape (r, m + 1): the sums of the shares of the values before each, and of all
    sums: FloatArray  # shape (r, m + 1): the sums of the cumulated shares of the values before each, and of all


def make_rules(rules: Sequence[tuple[int, float, IntArray, FloatArray]]) -> Rules:
    """Return ``rules``: the kind, l or t, the codes, shape (n,), and the shares of the values, shape (m,)."""
    most = max(len(shares) for _, _, _, shares in rules)
    padded = np.array([np.pad(shares, (0, most - len(shares))) for _, _, _, shares in rules])
    before = np.pad(np.cumsum(padded, axis=1), ((0, 0), (1, 0)))
    return Rules(
        np.array([kind for kind, _, _, _ in rules], dtype=np.int64),
        np.array([bound for _, bound, _, _ in rules], dtype=np.float64),
        np.array([codes for _, _, codes, _ in rules], dtype=np.int64),
        np.array([len(shares) for _, _, _, shares in rules], dtype=np.int64),
        padded,
        before,
        np.pad(np.cumsum(before[:, 1:], axis=1), ((0, 0), (1, 0))),
    )


@njit(cache=True, nogil=True)
def figure(rules: Rules, rule: int, codes: IntArray) -> float:
    """Return how diverse a group with these ``codes``, ascending, shape (size,), is by a rule, or how far from all."""
    kind, number, size = rules.kinds[rule], rules.numbers[rule], len(codes)
    shares, cumulated, sums = rules.shares[rule], rules.before[rule, 1 : number + 1], rules.sums[rule]
    # Of ordered values |P - Q| is added up over the stretches from one value of the group to the next, in which P, its
    # own cumulated share, stays and Q, that of all records, ascends: the terms change their sign at most once.
    total = sums[codes[0]] if kind == ORDERED else 1.0 if kind == EQUAL else 0.0
    start = 0
    while start < size:
        stop = start + 1
        while stop < size and codes[stop] == codes[start]:
            stop += 1
        share = (stop - start) / size
        if kind == DISTINCT:
            total += 1.0
        elif kind == ENTROPY:
            total -= share * np.log(share)
        elif kind == EQUAL:
            overall = shares[codes[start]]
            total += abs(share - overall) - overall
        else:
            level, first = stop / size, codes[start]
            end = codes[stop] if stop < size else number
            crossing = min(max(np.searchsorted(cumulated, level), first), end)
            total += level * (crossing - first) - (sums[crossing] - sums[first])
            total += (sums[end] - sums[crossing]) - level * (end - crossing)
        start = stop
    if kind == ENTROPY:
        return np.exp(total)
    if kind == EQUAL:
        return total / 2.0
    return total / max(number - 1, 1) if kind == ORDERED else total


@njit(cache=True, nogil=True)
def lack(rules: Rules, members: IntArray) -> float:
    """Return what a group of these records lacks of all rules together; 0 if it keeps them."""
    total = 0.0
    for rule in range(len(rules.kinds)):
        codes = rules.codes[rule][members]
        codes.sort()
        bound, held = rules.bounds[rule], figure(rules, rule, codes)
        lacking = held - bound if rules.kinds[rule] >= EQUAL else (bound - held) / bound
        if lacking > ROUNDING:
            total += lacking
    return total


def least_size(rules: Rules, k: int) -> int:
    """Return from which size on, k or more, a group may keep each of the rules, to within a twentieth.

    It is that of a group whose values lie evenly among those of all records: for distances of ordered values none can
    be smaller, but for rounding; for others, hardly.
    """
    ascending, n = np.sort(rules.codes, axis=1), rules.codes.shape[1]
    size = k
    while size < n:
        places = ((np.arange(size) + 0.5) * n / size).astype(np.int64)
        evenly = rules._replace(codes=np.ascontiguousarray(ascending[:, places]))
        if lack(evenly, np.arange(size)) == 0.0:
            return size
        size += 1 + size // 20
    return n


class _State(NamedTuple):
    """A partition under change."""

    groups: mixed.Groups  # extents are those of the groups only where the loss is Total-IL
    rules: Rules
    squares: bool  # whether the loss is the SSE
    centers: FloatArray  # shape (g, d): the centroids of the groups, if it is
    losses: FloatArray  # shape (g,)
    lacks: FloatArray  # shape (g,): what each group lacks, times its size
    waiting: NDArray[np.bool_]  # shape (n,): the records to be examined


@njit(cache=True, nogil=True)
def _members(groups: mixed.Groups, group: int, left: int, joined: int) -> IntArray:
    """Return the records of a group without the record ``left`` and with ``joined``, each -1 for none."""
    members = np.empty(groups.sizes[group] - (left >= 0) + (joined >= 0), dtype=np.int64)
    filled, x = 0, groups.first[group]
    while x >= 0:
        if x != left:
            members[filled] = x
            filled += 1
        x = groups.following[x]
    if joined >= 0:
        members[filled] = joined
    return members


@njit(cache=True, nogil=True)
def _without(groups: mixed.Groups, group: int, x: int, low: FloatArray, high: FloatArray) -> None:
    """Set ``low`` and ``high``, shape (d,), to the extents of a group without its record ``x``, one of several."""
    members = _members(groups, group, x, -1)
    low[:] = groups.points[members[0]]
    high[:] = low
    for y in members[1:]:
        mixed._widen(groups, low, high, y)


@njit(cache=True, nogil=True)
def _refresh(state: _State, group: int) -> None:
    """Compute what a group loses and lacks anew, and let its records be examined again."""
    groups, center = state.groups, state.centers[group]
    members = _members(groups, group, -1, -1)
    if state.squares:
        center[:] = 0.0
        for x in members:
            center += groups.points[x]
        center /= len(members)
        state.losses[group] = 0.0
        for x in members:
            state.losses[group] += squared_distance_of_rows(groups.points, x, state.centers, group)
    else:
        mixed._renew(groups, group)
        state.losses[group] = groups.sizes[group] * groups.extents[group]
    state.lacks[group] = len(members) * lack(state.rules, members)
    for x in members:
        state.waiting[x] = True


@njit(cache=True, nogil=True)
def _refresh_all(state: _State) -> None:
    for group in range(len(state.losses)):
        _refresh(state, group)


@borrows
def _most_lacks(rules: Rules, x: int, y: int) -> float:
    """Return by how much at most what a group lacks, times its size, may fall if ``y`` takes the place of ``x``.

    That moves one record's share of a distribution from one value to another one.
    """
    most = 0.0
    for rule in range(len(rules.kinds)):
        apart = abs(rules.codes[rule, x] - rules.codes[rule, y])
        if apart > 0:
            kind = rules.kinds[rule]
            most += np.inf if kind < EQUAL else 1.0 if kind == EQUAL else apart / (rules.numbers[rule] - 1)
    return most


@njit(cache=True, nogil=True)
def _less_lacks(state: _State, x: int, y: int, group: int, gain: float, price: float, least: float) -> float:
    """Return the ``gain`` of moving ``x`` to a group, from which ``y`` comes in exchange if it is no -1, less lacks.

    If it is not above ``least``, some of what is lacking then may be left out.
    """
    own = state.groups.labels[x]
    gain += price * (state.lacks[own] + state.lacks[group])
    for changed, left, joined in ((own, x, y), (group, y, x)):
        if gain > least:
            members = _members(state.groups, changed, left, joined)
            gain -= price * len(members) * lack(state.rules, members)
    return gain


@njit(cache=True, nogil=True)
def _examine(state: _State, x: int, k: int, price: float, width: int) -> bool:
    """Make the best change of record ``x``, and tell whether there was one."""
    groups, losses = state.groups, state.losses
    points, own, g, d = groups.points, groups.labels[x], len(groups.sizes), groups.points.shape[1]
    size = groups.sizes[own]
    if size < 2:
        return False
    rest_low, rest_high, low, high = np.empty(d), np.empty(d), np.empty(d), np.empty(d)
    to_own = 0.0
    if state.squares:
        to_own = squared_distance_of_rows(points, x, state.centers, own)
        freed = size / (size - 1) * to_own
    else:
        _without(groups, own, x, rest_low, rest_high)
        freed = losses[own] - (size - 1) * mixed.extent(groups, rest_low, rest_high)
    growth = np.full(g, np.inf)
    for group in range(g):
        other = groups.sizes[group]
        if group == own:
            continue
        if state.squares:
            growth[group] = other / (other + 1) * squared_distance_of_rows(points, x, state.centers, group)
        else:
            low[:] = groups.low[group]
            high[:] = groups.high[group]
            mixed._widen(groups, low, high, x)
            growth[group] = (other + 1) * mixed.extent(groups, low, high) - losses[group]
    best, target, partner = 0.0, -1, -1
    for _ in range(min(width, g - 1)):
        group = int(np.argmin(growth))
        grows, growth[group], other = growth[group], np.inf, groups.sizes[group]
        lacking = price * (state.lacks[own] + state.lacks[group])
        least = max(best, _LEAST_GAIN * (losses[own] + losses[group] + lacking))
        if size > k:
            gain = _less_lacks(state, x, -1, group, freed - grows, price, least)
            if gain > least:
                best, target, partner, least = gain, group, -1, gain
        y = groups.first[group] if other > 1 else -1
        while y >= 0:
            if state.squares:
                gain = to_own - (other + 1) / other * grows + squared_distance_of_rows(points, y, state.centers, group)
                gain -= squared_distance_of_rows(points, y, state.centers, own)
                gain += squared_distance_of_rows(points, x, points, y) * (1.0 / size + 1.0 / other)
            else:
                low[:] = rest_low
                high[:] = rest_high
                mixed._widen(groups, low, high, y)
                gain = losses[own] + losses[group] - size * mixed.extent(groups, low, high)
                if gain + lacking > least:
                    _without(groups, group, y, low, high)
                    mixed._widen(groups, low, high, x)
                    gain -= other * mixed.extent(groups, low, high)
            if gain + lacking > least:
                most = _most_lacks(state.rules, x, y)
                could = price * (min(state.lacks[own], most) + min(state.lacks[group], most))
                if most > 0.0 and gain + could > least:
                    gain = _less_lacks(state, x, y, group, gain, price, least)
            if gain > least:
                best, target, partner, least = gain, group, y, gain
            y = groups.following[y]
    if target < 0:
        return False
    mixed._transfer(groups, x, target)
    if partner >= 0:
        mixed._transfer(groups, partner, own)
    _refresh(state, own)
    _refresh(state, target)
    return True


@njit(cache=True, nogil=True)
def _examine_some(state: _State, start: int, stop: int, k: int, price: float, width: int) -> int:
    """Examine those records from ``start`` to ``stop`` - 1 that wait; return how many changes were made."""
    changes = 0
    for x in range(start, stop):
        if state.waiting[x]:
            state.waiting[x] = False
            changes += _examine(state, x, k, price, width)
    return changes


class Search:
    """The search for groups of ``data``, numbers, shape (n, d), or records, of k or more that keep ``rules``."""

    def __init__(self, data: FloatArray | Records, k: int, rules: Rules) -> None:
        self._data, self._k, self._rules = data, k, rules
        self._squares = not isinstance(data, Records)
        self._records = data if isinstance(data, Records) else Records.of_numbers(centered(data))

    def _begin(self, labels: IntArray) -> _State:
        groups = mixed.make_groups(self._records, canonical_labels(labels))
        g = len(groups.sizes)
        state = _State(
            groups,
            self._rules,
            self._squares,
            np.zeros((g, self._records.d)),
            np.zeros(g),
            np.zeros(g),
            np.ones(len(groups.labels), dtype=np.bool_),
        )
        _refresh_all(state)
        return state

    def _descend(self, state: _State, price: float) -> int:
        """Examine all records at a price, and again those whose groups change; return how many changes were made."""
        changes = 0
        state.waiting[:] = True
        while state.waiting.any():
            for start in range(0, len(state.waiting), _RECORDS_AT_A_TIME):
                checkpoint("keeping what is guaranteed")
                stop = min(start + _RECORDS_AT_A_TIME, len(state.waiting))
                changes += _examine_some(state, start, stop, self._k, price, WIDTH)
        return changes

    def kept(self, labels: IntArray, first_price: float = _FIRST) -> tuple[float, Partition]:
        """Return groups that keep the rules, found from those of ``labels``, and their loss."""
        state = self._begin(labels)
        price = first_price * state.losses.sum() / len(state.waiting)
        for _ in range(_PRICES):
            if not state.lacks.any():
                break
            self._descend(state, price)
            price *= _GROWTH
        return self.settled(self.merged(Partition(state.groups.labels, self._k)))

    def merged(self, partition: Partition) -> Partition:
        """Return the groups of ``partition``, merged until they keep the rules."""
        costs = merge_costs(self._data, partition.labels)
        return merge(partition, costs, lambda rows: lack(self._rules, rows) == 0.0)

    def settled(self, partition: Partition) -> tuple[float, Partition]:
        """Return groups of no more loss than those of ``partition``, both of which keep the rules, and their loss."""
        state = self._begin(partition.labels)
        # A record may gain by moving to a group that has changed though its own has not: until none does.
        while self._descend(state, _HIGHEST * (1.0 + state.losses.sum())) > 0:
            pass
        return float(state.losses.sum()), Partition(state.groups.labels, self._k)

    def best(self, starts: Sequence[IntArray], rounds: int) -> IntArray:
        """Return the labels of the best groups that keep the rules, from all starts and more rounds."""
        found = [self.kept(start) for start in starts]
        found += [self.settled(self.merged(Partition(start, self._k))) for start in starts]
        loss, best = min(found, key=lambda own: own[0])
        draw = np.random.default_rng(0)
        for _ in range(rounds):
            state = self._begin(best.labels)
            first = float(np.exp(draw.uniform(np.log(_LOW), np.log(_HIGH))))
            self._descend(state, first * loss / len(best))
            changed_loss, changed = self.kept(state.groups.labels, first * _GROWTH)
            if changed_loss < loss:
                loss, best = changed_loss, changed
        return best.labels
