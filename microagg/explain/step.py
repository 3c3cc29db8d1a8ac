"""One step of an explained run: what was looked at, what decided, what was done, and the state after.

Two runs are shown beside each other round by round, however many steps each takes to decide (:func:`lockstep`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

import numpy as np
import pandas as pd

from microagg.errors import ParameterError, names_arguments
from microagg.partition import canonical_labels
from microagg.validation import IntArray

#: What a step does: nothing yet; finds records; compares quantities, of which the chosen one decides; makes a group;
#: lets records join one; moves records between groups; cuts a set in two; nothing any more.
Kind = Literal["start", "look", "weigh", "form", "join", "move", "cut", "end"]


@dataclass(frozen=True)
class Quantity:
    """A number that was looked at."""

    name: str  # what it is, in words: "open a new group"
    value: float  # in squared units of the records, if nothing else is said
    formula: str = ""  # how it comes about, with the numbers put in: "SSE{5, 6, 19} / 3 = 122 / 3"
    chosen: bool = False  # whether it is the one that decided


@dataclass(frozen=True)
class Arc:
    """A possible group of records next to each other on a line, in the graph whose shortest path is the optimum."""

    start: int  # it holds the records at the places start, …, stop - 1 of the line
    stop: int
    cost: float  # its SSE
    chosen: bool = False  # whether it is on the shortest path to ``stop`` that is known


@dataclass(frozen=True)
class Focus:
    """What a step looks at, for a picture of it."""

    seed: int | None = None  # the record that the step is about
    candidates: tuple[int, ...] = ()  # records that may form a group with it, or join one
    point: tuple[float, ...] | None = None  # from which distances are measured, or a centroid that moved; shape (d,)
    radius: float | None = None  # the distance from ``seed`` within which the candidates are
    group: int | None = None  # the place in ``Step.groups`` of the group that the step is about
    lines: tuple[tuple[int, int], ...] = ()  # pairs of records whose distance is looked at
    cuts: tuple[tuple[int, float], ...] = ()  # attributes, each with a value at which it is cut
    order: tuple[int, ...] = ()  # the records as they stand on the line that is cut, where the algorithm makes one
    arcs: tuple[Arc, ...] = ()  # the possible groups looked at so far; where these are too many, those that matter now


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

    @property
    def labels(self) -> IntArray:
        """The group of each record, shape (n,), numbered by first appearance; -1 where a record is unassigned."""
        labels = np.full(sum(map(len, self.groups)) + len(self.unassigned), -1, dtype=np.int64)
        for group, members in enumerate(self.groups):
            labels[list(members)] = group
        return labels if self.unassigned else canonical_labels(labels)


@names_arguments
def table(steps: Iterable[Step], names: Sequence[str]) -> pd.DataFrame:
    """Return a row for each step: what it did, why, and the groups after it; the n records are called ``names``."""

    def listed(records: Iterable[int]) -> str:
        return ", ".join(names[record] for record in records)

    steps = list(steps)
    if steps and len(names) != (n := len(steps[0].labels)):
        raise ParameterError(f"{len(names)} names for {n} records: give one for each.")
    return pd.DataFrame(
        [
            {
                "step": place,
                "kind": step.kind,
                "title": step.title,
                "text": step.text,
                "quantities": "; ".join(f"{each.name}: {each.value!r}" for each in step.quantities),
                "groups": " | ".join(listed(members) for members in step.groups),
                "unassigned": listed(step.unassigned),
            }
            for place, step in enumerate(steps, start=1)
        ],
        columns=["step", "kind", "title", "text", "quantities", "groups", "unassigned"],
    )


def _state(step: Step) -> frozenset[frozenset[int]]:
    return frozenset(map(frozenset, step.groups))


def _rounds(steps: Sequence[Step]) -> list[list[int]]:
    """Return the places of the steps, round by round: each ends with the step that changes the groups."""
    rounds: list[list[int]] = [[]]
    state: frozenset[frozenset[int]] = frozenset()
    for place, step in enumerate(steps):
        rounds[-1].append(place)
        if _state(step) != state:
            state = _state(step)
            rounds.append([])
    return [places for places in rounds if places]


@names_arguments
def lockstep(first: Sequence[Step], second: Sequence[Step]) -> list[tuple[int, int]]:
    """Return pairs of places in two runs, one after the other, that are to be looked at together.

    In each round both take the steps up to the next change of their groups. The one with fewer steps waits at that
    change, and the one with fewer rounds at its end.
    """
    pairs: list[tuple[int, int]] = []
    at = (0, 0)
    rounds: Iterator[tuple[list[int], list[int]]] = zip_longest(_rounds(first), _rounds(second), fillvalue=[])
    for one, two in rounds:
        for tick in range(ticks := max(len(one), len(two))):
            at = (_at(one, tick, ticks, at[0]), _at(two, tick, ticks, at[1]))
            pairs.append(at)
    return pairs


def _at(places: Sequence[int], tick: int, ticks: int, before: int) -> int:
    """Return the place at a tick of a round: the last one, where the groups change, waits for the last tick."""
    *looking, acting = places or [before]
    if tick == ticks - 1:
        return acting
    return looking[min(tick, len(looking) - 1)] if looking else before


@names_arguments
def first_difference(first: Sequence[Step], second: Sequence[Step], pairs: Sequence[tuple[int, int]]) -> int | None:
    """Return the first of ``pairs`` at which the groups of two runs differ; None if they never do."""
    differ = (place for place, (one, two) in enumerate(pairs) if _state(first[one]) != _state(second[two]))
    try:
        return next(differ, None)
    except IndexError:
        raise ParameterError("pairs must be those of lockstep(first, second).") from None
