"""The best move that begins with a record: to another group, in exchange for one of its records, or along three groups.

For a record x, groups A, B, C of a, b, c records, and squared distances d(x, A) to a group's centroid:

- x goes from A to B, if a > k. Gain a / (a - 1) · d(x, A) - b / (b + 1) · d(x, B).
- x of A and y of B change places. Gain d(x, A) + d(y, B) - d(x, B) - d(y, A) + ‖x - y‖² · (1/a + 1/b).
- x goes from A to B and y from B to C, if a > k. Gain a / (a - 1) · d(x, A) - d(x, B) + d(y, B) + ‖x - y‖² / b -
  c / (c + 1) · d(y, C).

The groups B that are tried are those nearest to x. Ties go to what is found first.

Sources: the gains are Lemmas 1 and 2 of Mortazavi, Jalili & Gohargazi 2013 and the exchange of Späth 1980.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microagg.explain.changing import LEAST_GAIN, Groups
from microagg.explain.run import total

# Where there is room for at most this many groups, all of them are tried for each record; else those of its neighbors.
_FEW_GROUPS = 64

#: How many groups are tried for each record, and how many as the middle one of a chain.
WIDTH = 8
_CHAIN_WIDTH = 4

Near = list[tuple[float, int]]


class Move(NamedTuple):
    """A move of record x of group A.

    Attributes
    ----------
    gain : float
        By how much it lowers the SSE.
    record, own : int
        x and A.
    group : int
        B, to which x goes.
    partner : int or None
        The record y of B that leaves it for x, if one does.
    target : int or None
        The group that y goes to: A when they change places, a third group C in a chain.
    """

    gain: float
    record: int
    own: int
    group: int
    partner: int | None = None
    target: int | None = None

    @property
    def groups(self) -> list[int]:
        """A, B and, in a chain, C."""
        third = [] if self.target is None or self.target == self.own else [self.target]
        return [self.own, self.group, *third]


def candidates(groups: Groups, record: int, width: int, without: int | None = None) -> Near:
    """Return the groups that a record may go to, its own and ``without`` aside, nearest first, ``width`` at most.

    Each stands behind the squared distance of the record to its centroid.
    """
    aside = (groups.labels[record], without)
    if len(groups.members) <= _FEW_GROUPS:
        tried: Sequence[int] = [group for group, members in enumerate(groups.members) if members]
    else:
        tried = list(dict.fromkeys(groups.labels[other] for other in groups.neighbors[record]))
    found = [(groups.to_center[group][record], group) for group in tried if group not in aside]
    return sorted(found, key=lambda pair: pair[0])[:width]


def best_move(groups: Groups, x: int) -> Move | None:
    """Return the best move that begins with record ``x``; None if none lowers the SSE by more than rounding."""
    own = groups.labels[x]
    size = groups.size(own)
    near = candidates(groups, x, WIDTH)
    growths = [groups.growth(group, distance) for distance, group in near]
    groups.least_growth[x] = min(growths, default=math.inf)
    freed = size / (size - 1) * groups.to_center[own][x] if size > 1 else 0.0
    best = Move(0.0, x, own, own)
    if size > groups.k:
        for (_, group), growth in zip(near, growths, strict=True):
            if freed - growth > best.gain:
                best = Move(freed - growth, x, own, group)
    for distance, group in near:
        for gain, y in _swaps(groups, x, group, distance):
            if gain > best.gain:
                best = Move(gain, x, own, group, y, own)
    if size > groups.k:
        for distance, group in near[:_CHAIN_WIDTH]:
            best = _best_chain(groups, freed, group, distance, best)
    around = total(groups.sses[group] for group in best.groups)
    return best if best.gain > LEAST_GAIN * around + groups.least_gain else None


def _swaps(groups: Groups, x: int, group: int, distance: float) -> Iterator[tuple[float, int]]:
    """Yield what each exchange of ``x`` with a record of ``group``, at ``distance`` from it, gains, and the record."""
    own = groups.labels[x]
    shares = 1.0 / groups.size(own) + 1.0 / groups.size(group)
    to_own, to_other, between = groups.to_center[own], groups.to_center[group], groups.between[x]
    base = to_own[x] - distance
    for y in groups.members[group]:
        yield base + to_other[y] - to_own[y] + between[y] * shares, y


def _best_chain(groups: Groups, freed: float, group: int, distance: float, best: Move) -> Move:
    """Return the best chain in which the record of ``best`` goes to ``group``, if it gains more; else ``best``.

    ``freed`` is by how much the SSE of its own group falls without it, ``distance`` its distance to ``group``.
    """
    x, own = best.record, best.own
    for y in groups.members[group]:
        gain = freed - distance + groups.to_center[group][y] + groups.between[x][y] / groups.size(group)
        # y costs its next group about what it did when it was last examined: most chains need not be looked at.
        if gain - groups.least_growth[y] > best.gain:
            for to_target, target in candidates(groups, y, WIDTH, own):
                rest = gain - groups.growth(target, to_target)
                if rest > best.gain:
                    best = Move(rest, x, own, group, y, target)
    return best
