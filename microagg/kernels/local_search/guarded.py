"""Groups that keep what is guaranteed of confidential attributes: how it is counted, and a search that keeps it.

What a group lacks is, summed over the rules, by how much its distance is above t, or by which share of l its diversity
is below l; the search takes that times the size of the group, and a price for it, as a loss beside the SSE of numbers
or Total-IL. For one record after the other the best of these changes is made, if it lowers the sum of both: the record
moves to another group, if its own keeps k; or it is exchanged for one of another group. Groups are those that would
lose least by the record. Records are examined again once their group has changed, until nothing is gained.

At a low price groups of little loss are found that lack something, and the price is raised until none does; groups that
lack something even then are merged (:mod:`microagg.kernels.grouping.merging`). Last, the price is so high that nothing
may be lacking: then no move or exchange with the groups that are tried lowers the loss and keeps what is guaranteed.
Further rounds begin with the best groups at a low price again. Where prices begin is drawn, by a fixed seed.

Sources: strategic oscillation, Glover 1977; what is counted, see :mod:`microagg.metrics.risk.disclosure`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.merging import merge_cheapest, merge_costs, merge_worst
from microagg.kernels.local_search.state import centered
from microagg.kernels.neighbors.brute_force import squared_distance_of_rows
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

# So many further rounds are enough for few records, of which a round examines few.
_ROUNDS = 300

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


@kernel
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


@kernel
def _lack_of(rules: Rules, rule: int, codes: IntArray) -> float:
    """Return what a group with these ``codes``, ascending, lacks of a rule; 0 if it keeps it."""
    bound, held = rules.bounds[rule], figure(rules, rule, codes)
    lacking = held - bound if rules.kinds[rule] >= EQUAL else (bound - held) / bound
    return lacking if lacking > ROUNDING else 0.0


@kernel
def _codes_of(rules: Rules, members: IntArray) -> IntArray:
    """Return the codes of these records by each rule, ascending, shape (r, size)."""
    codes = np.empty((len(rules.kinds), len(members)), dtype=np.int64)
    for rule in range(len(codes)):
        codes[rule] = np.sort(rules.codes[rule][members])
    return codes


@kernel
def lack(rules: Rules, members: IntArray) -> float:
    """Return what a group of these records lacks of all rules together; 0 if it keeps them."""
    total, codes = 0.0, _codes_of(rules, members)
    for rule in range(len(codes)):
        total += _lack_of(rules, rule, codes[rule])
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
    rests: mixed.Rests  # likewise
    rules: Rules
    squares: bool  # whether the loss is the SSE
    centers: FloatArray  # shape (g, d): the centroids of the groups, if it is
    losses: FloatArray  # shape (g,)
    lacks: FloatArray  # shape (g,): what each group lacks, times its size
    waiting: NDArray[np.bool_]  # shape (n,): the records to be examined


@kernel
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


@kernel
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
        mixed.renew(groups, group)
        if len(members) > 1:
            mixed.leave_each_out(groups, group, state.rests)
        state.losses[group] = groups.sizes[group] * groups.extents[group]
    state.lacks[group] = len(members) * lack(state.rules, members)
    for x in members:
        state.waiting[x] = True


@kernel
def _refresh_all(state: _State) -> None:
    for group in range(len(state.losses)):
        _refresh(state, group)


@borrows
def _most_lacks(rules: Rules, x: int, y: int) -> float:
    """Bound the decrease of a group's lack, times its size, if ``y`` replaces ``x``.

    The exchange moves the share of one record from one value of the distribution to another.
    """
    most = 0.0
    for rule in range(len(rules.kinds)):
        code_distance = abs(rules.codes[rule, x] - rules.codes[rule, y])
        if code_distance > 0:
            kind = rules.kinds[rule]
            most += np.inf if kind < EQUAL else 1.0 if kind == EQUAL else code_distance / (rules.numbers[rule] - 1)
    return most


@kernel
def _replaced(codes: IntArray, left: int, joined: int) -> IntArray:
    """Return ``codes``, ascending, with the code ``joined`` in the place of one that is ``left``."""
    changed = codes.copy()
    place = np.searchsorted(codes, left)
    while place + 1 < len(codes) and changed[place + 1] < joined:
        changed[place] = changed[place + 1]
        place += 1
    while place > 0 and changed[place - 1] > joined:
        changed[place] = changed[place - 1]
        place -= 1
    changed[place] = joined
    return changed


@borrows
def _known_lack(rules: Rules, lacks_by_code: FloatArray, y: int) -> float:
    """Lack of the group after an exchange for ``y``; NaN if ``lacks_by_code``, shape (r, m), does not have it yet."""
    total = 0.0
    for rule in range(len(lacks_by_code)):
        total += lacks_by_code[rule, rules.codes[rule, y]]
    return total


@kernel
def _lack_after(rules: Rules, codes: IntArray, lacks_by_code: FloatArray, x: int, y: int, leaves: bool) -> float:
    """Lack of a group with these ``codes``, shape (r, size), after the exchange of ``x`` and ``y``.

    It depends on the value of ``y`` alone: it is computed once for each value and stored in ``lacks_by_code``. If
    ``leaves`` is true, ``x`` leaves the group and ``y`` joins it, else the reverse.
    """
    for rule in range(len(codes)):
        code_x, code_y = rules.codes[rule, x], rules.codes[rule, y]
        if np.isnan(lacks_by_code[rule, code_y]):
            changed = _replaced(codes[rule], code_x, code_y) if leaves else _replaced(codes[rule], code_y, code_x)
            lacks_by_code[rule, code_y] = _lack_of(rules, rule, changed)
    return _known_lack(rules, lacks_by_code, y)


@kernel
def _examine(state: _State, x: int, k: int, price: float, width: int) -> bool:
    """Make the best change of record ``x``; return whether there was one."""
    groups, rests, rules, losses, lacks = state.groups, state.rests, state.rules, state.losses, state.lacks
    points, group_of_x, g = groups.points, groups.labels[x], len(groups.sizes)
    size = groups.sizes[group_of_x]
    if size < 2:
        return False
    to_group_of_x = 0.0
    if state.squares:
        to_group_of_x = squared_distance_of_rows(points, x, state.centers, group_of_x)
        freed = size / (size - 1) * to_group_of_x
    else:
        freed = losses[group_of_x] - (size - 1) * rests.extents[x]
    # The groups whose loss grows least if the record joins, and the growth, ascending; ties by group number.
    near, growth = np.full(min(width, g - 1), -1), np.full(min(width, g - 1) + 1, np.inf)
    for group in range(g):
        other = groups.sizes[group]
        if group == group_of_x:
            continue
        if state.squares:
            grows = other / (other + 1) * squared_distance_of_rows(points, x, state.centers, group)
        else:
            grows = (other + 1) * mixed.extent_with(groups, groups.low[group], groups.high[group], x) - losses[group]
        i = len(near)
        while i > 0 and grows < growth[i - 1]:
            i -= 1
            growth[i + 1] = growth[i]
            if i + 1 < len(near):
                near[i + 1] = near[i]
        if i < len(near):
            near[i], growth[i] = group, grows
    # The lack of the group of x, without x and after exchanges, does not depend on the other group.
    lacks_without = np.nan
    codes_of_x_group, other_codes = np.empty((0, 0), dtype=np.int64), np.empty((0, 0), dtype=np.int64)
    lacks_of_x_group, lacks_of_other = np.empty((0, 0)), np.empty((0, 0))
    best, target, partner = 0.0, -1, -1
    for i in range(len(near)):
        group, grows, other = near[i], growth[i], groups.sizes[near[i]]
        lacking = price * (lacks[group_of_x] + lacks[group])
        least = max(best, _LEAST_GAIN * (losses[group_of_x] + losses[group] + lacking))
        if size > k and freed - grows + lacking > least:
            if np.isnan(lacks_without):
                lacks_without = (size - 1) * lack(rules, _members(groups, group_of_x, x, -1))
            gain = freed - grows + lacking - price * lacks_without
            if gain > least:
                gain -= price * (other + 1) * lack(rules, _members(groups, group, -1, x))
            if gain > least:
                best, target, partner, least = gain, group, -1, gain
        fresh = True
        y = groups.first[group] if other > 1 else -1
        while y >= 0:
            joined, y = y, groups.following[y]
            most = _most_lacks(rules, x, joined)
            could = price * (min(lacks[group_of_x], most) + min(lacks[group], most)) if most > 0.0 else 0.0
            if state.squares:
                gain = to_group_of_x - (other + 1) / other * grows
                gain += squared_distance_of_rows(points, joined, state.centers, group)
                gain -= squared_distance_of_rows(points, joined, state.centers, group_of_x)
                gain += squared_distance_of_rows(points, x, points, joined) * (1.0 / size + 1.0 / other)
            else:
                # The loss of neither group is less than its loss without the record that joins.
                gain = losses[group_of_x] + losses[group] - size * rests.extents[x]
                if gain - other * rests.extents[joined] + could <= least:
                    continue
                gain = losses[group_of_x] + losses[group]
                gain -= size * mixed.extent_with(groups, rests.low[x], rests.high[x], joined)
                if gain - other * rests.extents[joined] + could <= least:
                    continue
                gain -= other * mixed.extent_with(groups, rests.low[joined], rests.high[joined], x)
            if gain + could <= least:
                continue
            if most > 0.0:
                if len(codes_of_x_group) == 0:
                    codes_of_x_group = _codes_of(rules, _members(groups, group_of_x, -1, -1))
                    lacks_of_x_group = np.full(rules.shares.shape, np.nan)
                    lacks_of_other = np.full(rules.shares.shape, np.nan)
                if fresh:
                    other_codes, fresh = _codes_of(rules, _members(groups, group, -1, -1)), False
                    lacks_of_other[:] = np.nan
                after = _known_lack(rules, lacks_of_x_group, joined)
                if np.isnan(after):
                    after = _lack_after(rules, codes_of_x_group, lacks_of_x_group, x, joined, True)
                gain += lacking - price * size * after
                if gain <= least:
                    continue
                after = _known_lack(rules, lacks_of_other, joined)
                if np.isnan(after):
                    after = _lack_after(rules, other_codes, lacks_of_other, x, joined, False)
                gain -= price * other * after
            if gain > least:
                best, target, partner, least = gain, group, joined, gain
    if target < 0:
        return False
    mixed.transfer(groups, x, target)
    if partner >= 0:
        mixed.transfer(groups, partner, group_of_x)
    _refresh(state, group_of_x)
    _refresh(state, target)
    return True


@kernel
def _examine_some(state: _State, start: int, stop: int, k: int, price: float, width: int) -> tuple[int, int]:
    """Examine those records from ``start`` to ``stop`` - 1 that wait; return how many, and how many were changed."""
    examined, changes = 0, 0
    for x in range(start, stop):
        if state.waiting[x]:
            state.waiting[x] = False
            examined += 1
            changes += _examine(state, x, k, price, width)
    return examined, changes


class Search:
    """The search for groups of ``data``, numbers, shape (n, d), or records, of k or more that keep ``rules``."""

    def __init__(self, data: FloatArray | Records, k: int, rules: Rules) -> None:
        self._data, self._k, self._rules = data, k, rules
        self._squares = not isinstance(data, Records)
        self._records = data if isinstance(data, Records) else Records.of_numbers(centered(data))
        self._examined = 0  # records so far, as often as they were

    def _begin(self, labels: IntArray) -> _State:
        groups = mixed.make_groups(self._records, canonical_labels(labels))
        g = len(groups.sizes)
        state = _State(
            groups,
            mixed.Rests(np.empty_like(groups.points), np.empty_like(groups.points), np.empty(len(groups.points))),
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
                examined, changed = _examine_some(state, start, stop, self._k, price, WIDTH)
                self._examined += examined
                changes += changed
        return changes

    def improve(self, labels: IntArray, first_price: float = _FIRST) -> tuple[float, Partition]:
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
        """Merge the groups of ``partition`` until they satisfy the rules, in the order with the lower loss."""
        if not self._begin(partition.labels).lacks.any():
            return partition
        candidates = [
            merging(partition, merge_costs(self._data, partition.labels), lambda rows: lack(self._rules, rows))
            for merging in (merge_cheapest, merge_worst)
        ]
        return min(candidates, key=lambda candidate: float(self._begin(candidate.labels).losses.sum()))

    def settled(self, partition: Partition) -> tuple[float, Partition]:
        """Return groups of no more loss than those of ``partition``, both of which keep the rules, and their loss."""
        state = self._begin(partition.labels)
        # A record may gain by moving to a group that has changed though its own has not: until none does.
        while self._descend(state, _HIGHEST * (1.0 + state.losses.sum())) > 0:
            pass
        return float(state.losses.sum()), Partition(state.groups.labels, self._k)

    def best(self, starts: Iterable[IntArray], most: int) -> IntArray:
        """Return the labels of the best groups that keep the rules, from one or more starts and further rounds.

        No other start is begun once ``most`` records were examined, and no round once as many were in rounds, or
        after 300 of them.
        """
        loss, best = np.inf, None
        for start in starts:
            changed_loss, changed = self.improve(start)
            if changed_loss < loss:
                loss, best = changed_loss, changed
            if self._examined >= most:
                break
        assert best is not None  # there is a start
        draw, self._examined = np.random.default_rng(0), 0
        for _ in range(_ROUNDS):
            if self._examined >= most:
                break
            state = self._begin(best.labels)
            first = float(np.exp(draw.uniform(np.log(_LOW), np.log(_HIGH))))
            self._descend(state, first * loss / len(best))
            changed_loss, changed = self.improve(state.groups.labels, first * _GROWTH)
            if changed_loss < loss:
                loss, best = changed_loss, changed
        return best.labels
