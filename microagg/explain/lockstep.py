"""Two explained runs beside each other: both act in the same round, however many steps each takes to decide."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from microagg.explain.step import Step

State = frozenset[frozenset[int]]


def _state(step: Step) -> State:
    return frozenset(frozenset(members) for members in step.groups)


def _rounds(steps: Sequence[Step]) -> list[list[int]]:
    """Return the places of the steps, round by round: each ends with the step that changes the groups."""
    rounds: list[list[int]] = [[]]
    state: State = frozenset()
    for place, step in enumerate(steps):
        rounds[-1].append(place)
        if _state(step) != state:
            state = _state(step)
            rounds.append([])
    return [places for places in rounds if places]


def lockstep(first: Sequence[Step], second: Sequence[Step]) -> list[tuple[int, int]]:
    """Return pairs of places in two runs, one after the other, that are to be looked at together.

    In each round both take the steps up to the next change of their groups. The one with fewer steps waits at that
    change, and the one with fewer rounds at its end.
    """
    pairs: list[tuple[int, int]] = []
    at = (0, 0)
    rounds: Iterator[tuple[list[int], list[int]]] = zip_longest(_rounds(first), _rounds(second), fillvalue=[])
    for one, two in rounds:
        ticks = max(len(one), len(two))
        for tick in range(ticks):
            at = (_at(one, tick, ticks, at[0]), _at(two, tick, ticks, at[1]))
            pairs.append(at)
    return pairs


def _at(places: Sequence[int], tick: int, ticks: int, before: int) -> int:
    """Return the place at a tick of a round: the last one, where the groups change, waits for the last tick."""
    *looking, acting = places or [before]
    if tick == ticks - 1:
        return acting
    return looking[min(tick, len(looking) - 1)] if looking else before


def first_difference(first: Sequence[Step], second: Sequence[Step], pairs: Sequence[tuple[int, int]]) -> int | None:
    """Return the first of ``pairs`` at which the groups of two runs differ; None if they never do."""
    for place, (one, two) in enumerate(pairs):
        if _state(first[one]) != _state(second[two]):
            return place
    return None
