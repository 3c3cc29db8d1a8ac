"""One step of an explained run: its focus, the quantities that decide, its text, and the groups after it.

Two runs can be compared round by round, whatever their numbers of steps (:func:`lockstep`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

import numpy as np

from microagg.errors import ParameterError, names_arguments
from microagg.partition import canonical_labels
from microagg.validation import IntArray

#: What a step does: nothing yet; finds records; compares quantities, of which the chosen one decides; makes a group;
#: lets a record join one; cuts a set in two.
Kind = Literal["start", "look", "weigh", "form", "join", "cut"]


@dataclass(frozen=True)
class Quantity:
    """A number in a decision."""

    name: str  # for example "open a new group"
    value: float  # usually in squared units of the records
    formula: str = ""  # with its numbers: "SSE{5, 6, 19} / 3 = 122 / 3"
    chosen: bool = False  # whether it decides


@dataclass(frozen=True)
class Focus:
    """Records, points and lines of a step, for a picture."""

    seed: int | None = None  # the record in question
    candidates: tuple[int, ...] = ()  # records that may form a group with it
    point: tuple[float, ...] | None = None  # from which distances are measured; shape (d,)
    point_name: str = ""  # for example "centroid of all"
    radius: float | None = None  # maximum distance of the candidates from ``seed``
    group: int | None = None  # index in ``Step.groups`` of the group in question
    lines: tuple[tuple[int, int], ...] = ()  # pairs of records whose distance matters
    cuts: tuple[tuple[int, float], ...] = ()  # attributes, each with a value at which it is cut
    order: tuple[int, ...] = ()  # the records in the order of the line, if there is one


@dataclass(frozen=True)
class Step:
    """One step of an explained run."""

    kind: Kind
    title: str  # a few words
    text: str  # one sentence with the numbers put in: "5 joins {1, 2, 3}: 32.1875 is less than 40.67."
    groups: tuple[tuple[int, ...], ...]  # after it, in the order of forming, their records in the order of joining
    unassigned: tuple[int, ...]  # the records that are in no group after it, by index
    line: int  # which line of the algorithm's pseudo-code it carries out, from 0
    focus: Focus = field(default_factory=Focus)
    quantities: tuple[Quantity, ...] = ()
    decision: str = ""  # the comparison that decides, and what follows: "4 > 0.2 · 1: 5 stays out"

    @property
    def labels(self) -> IntArray:
        """Group of each record, shape (n,), numbered by first appearance, or -1 for an unassigned record."""
        labels = np.full(sum(map(len, self.groups)) + len(self.unassigned), -1, dtype=np.int64)
        for group, members in enumerate(self.groups):
            labels[list(members)] = group
        return labels if self.unassigned else canonical_labels(labels)


def _state(step: Step) -> frozenset[frozenset[int]]:
    return frozenset(map(frozenset, step.groups))


def _rounds(steps: Sequence[Step]) -> list[list[int]]:
    """Indices of the steps of each round, which ends with the step that changes the groups."""
    rounds: list[list[int]] = [[]]
    state: frozenset[frozenset[int]] = frozenset()
    for i, step in enumerate(steps):
        rounds[-1].append(i)
        if _state(step) != state:
            state = _state(step)
            rounds.append([])
    return [indices for indices in rounds if indices]


@names_arguments
def lockstep(first: Sequence[Step], second: Sequence[Step]) -> list[tuple[int, int]]:
    """Return pairs of indices of two runs that can be compared, in order.

    In each round both take the steps up to the next change of their groups. The one with fewer steps waits at that
    change, and the one with fewer rounds at its end.
    """
    pairs: list[tuple[int, int]] = []
    pair = (0, 0)
    rounds: Iterator[tuple[list[int], list[int]]] = zip_longest(_rounds(first), _rounds(second), fillvalue=[])
    for first_round, second_round in rounds:
        ticks = max(len(first_round), len(second_round))
        for tick in range(ticks):
            pair = (_index_at(first_round, tick, ticks, pair[0]), _index_at(second_round, tick, ticks, pair[1]))
            pairs.append(pair)
    return pairs


def _index_at(indices: Sequence[int], tick: int, ticks: int, before: int) -> int:
    """Index at a tick of a round. The last index, where the groups change, comes at the last tick."""
    *looking, acting = indices or [before]
    if tick == ticks - 1:
        return acting
    return looking[min(tick, len(looking) - 1)] if looking else before


@names_arguments
def first_difference(first: Sequence[Step], second: Sequence[Step], pairs: Sequence[tuple[int, int]]) -> int | None:
    """Return the first of ``pairs`` with different groups of the two runs, or None if all are equal."""
    differ = (i for i, (a, b) in enumerate(pairs) if _state(first[a]) != _state(second[b]))
    try:
        return next(differ, None)
    except IndexError:
        raise ParameterError("pairs must be those of lockstep(first, second).") from None
