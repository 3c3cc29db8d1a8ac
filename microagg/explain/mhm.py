"""MHM step by step: the records stand on a line, and dynamic programming finds the best cut of it into groups.

Each possible group of k to 2k - 1 neighbors is an arc from the place where it starts to the place where it stops, as
long as its SSE. The shortest path from one end of the line to the other is the best cut.

Sources: Hansen & Mukherjee 2003; Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006; Mortazavi, Jalili &
Gohargazi 2013 (the SSE of a growing group).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

from microagg.explain.run import Run, least, total, value
from microagg.explain.step import Arc, Focus, Quantity, Step
from microagg.kernels.paths import BETTER

CODE = (
    "put the records on a line: by the sum of their attributes, or as they are given",
    "best(0) ← 0",
    "for each place j = k, …, n:",
    "    best(j) ← the least best(i) + SSE of the records i + 1, …, j, if these are k to 2k − 1",
    "    last(j) ← the records i + 1, …, j that give it; of equal ones the most",
    "j ← n;  while j > 0: last(j) becomes a group;  j ← the place where it starts",
)
_LINE, _BEST, _CUT = 0, 3, 5


# More arcs than this cannot be told apart: then only those to the current place and on the shortest path are shown.
_MOST_ARCS = 150


class _Line(NamedTuple):
    """The records on a line of n + 1 places, from before the first of them to behind the last."""

    order: list[int]  # the records
    costs: dict[tuple[int, int], float]  # the SSE of each possible group, by the places where it starts and stops
    best: list[float]  # the least SSE of the records up to each place; infinite where no groups stop
    start: list[int]  # where the last of these groups starts


def explain(run: Run, order: str) -> Iterator[Step]:
    """Yield the steps of MHM."""
    records, number = list(run.unassigned), len(run.unassigned)
    if order == "sum":
        records.sort(key=lambda record: total(run.row(record)))
    yield run.step("start", "The line", _says_order(run, order), _LINE, Focus(order=tuple(records)))

    costs = {(start, stop): sse for start in range(number) for stop, sse in _costs(run, records, start)}
    line = _Line(records, costs, [0.0] + [math.inf] * number, [0] * (number + 1))
    for stop in range(run.k, number + 1):
        for arc in _ending(line, stop):
            if line.best[arc.start] + arc.cost < line.best[stop] * BETTER:
                line.best[stop], line.start[stop] = line.best[arc.start] + arc.cost, arc.start
        yield _weigh(run, line, stop)
    yield from _cut(run, line)


def _says_order(run: Run, order: str) -> str:
    if order == "given":
        return "The records stand on the line as they are given."
    by = (
        f"by {run.attributes[0]}"
        if len(run.attributes) == 1
        else f"by the sum of their {len(run.attributes)} attributes"
    )
    return f"The records stand on the line {by}."


def _costs(run: Run, order: Sequence[int], start: int) -> Iterator[tuple[int, float]]:
    """Yield where each possible group that starts at a place stops, and its SSE.

    With each record that a group takes in, its SSE grows by m / (m + 1) · ‖x − c‖², where m is its size before, and c
    its centroid.
    """
    center, sse = run.row(order[start]), 0.0
    for size, record in enumerate(order[start : start + 2 * run.k - 1], start=1):
        x = run.row(record)
        sse += (size - 1) / size * total((p - q) * (p - q) for p, q in zip(x, center, strict=True))
        center = tuple(q + (p - q) / size for p, q in zip(x, center, strict=True))
        if size >= run.k:
            yield start + size, sse


def _ending(line: _Line, stop: int) -> list[Arc]:
    """Return the possible groups that stop at a place, the longest first."""
    return [
        Arc(start, stop, line.costs[start, stop], start == line.start[stop])
        for start in range(stop)
        if (start, stop) in line.costs and line.best[start] < math.inf
    ]


def _path(line: _Line, stop: int) -> list[int]:
    """Return the places on the shortest path to a place, from there back to 0."""
    path = [stop]
    while path[-1] > 0:
        path.append(line.start[path[-1]])
    return path


def _arcs(line: _Line, stop: int) -> tuple[Arc, ...]:
    """Return the possible groups up to a place, or of many those that are shown."""
    if len(line.costs) <= _MOST_ARCS:
        return tuple(arc for place in range(1, stop + 1) for arc in _ending(line, place))
    path = _path(line, stop)
    return tuple(arc for place in reversed(path) for arc in _ending(line, place) if place == stop or arc.chosen)


def _weigh(run: Run, line: _Line, stop: int) -> Step:
    """Return the step that compares the possible groups that stop at a place."""
    ending = _ending(line, stop)
    sums = [line.best[arc.start] + arc.cost for arc in ending]
    shown = {*least(sums), *(place for place, arc in enumerate(ending) if arc.chosen)}
    quantities = [
        Quantity(
            f"{run.braced(line.order[arc.start : stop])} as the last group",
            sums[place],
            f"best({arc.start}) + SSE = {value(line.best[arc.start])} + {value(arc.cost)} = {value(sums[place])}",
            arc.chosen,
        )
        for place, arc in enumerate(ending)
        if place in shown
    ]
    last = run.braced(line.order[line.start[stop] : stop])
    what = f"best({stop}) = {value(line.best[stop])}"
    if line.start[stop] == 0:
        text = f"The first {stop} records lose least as one group {last}: {what}."
    else:
        text = f"The first {stop} records lose least with {last} as the last group, after the best cut of the first "
        text += f"{line.start[stop]}: {what}."
    focus = Focus(
        candidates=tuple(line.order[line.start[stop] : stop]), order=tuple(line.order), arcs=_arcs(line, stop)
    )
    return run.step("weigh", f"The best cut of the first {stop}", text, _BEST, focus, quantities)


def _cut(run: Run, line: _Line) -> Iterator[Step]:
    """Yield each group of the shortest path, from the end of the line to its beginning."""
    number = len(line.order)
    path = _path(line, number)
    arcs = tuple(replace(arc, chosen=arc.chosen and arc.stop in path) for arc in _arcs(line, number))
    row = [
        Quantity(f"best({place})", line.best[place], chosen=place in path)
        for place in range(number + 1)
        if line.best[place] < math.inf
    ]
    for stop, start in pairwise(path):
        members = line.order[start:stop]
        group = run.form(members)
        whole = "all" if stop == number else f"the first {stop}"
        remains = (
            f"{start} records remain before it" if start > 0 else f"the cut is complete, and best({number}) its SSE"
        )
        yield run.step(
            "cut",
            "The line is cut",
            f"{run.braced(members)} is the last group of the best cut of {whole}; {remains}.",
            _CUT,
            Focus(group=group, cut=_between(run, line, start), order=tuple(line.order), arcs=arcs),
            row,
        )


def _between(run: Run, line: _Line, place: int) -> tuple[int, float] | None:
    """Return the value at which a line is cut, half-way between two records; None if no value parts the records."""
    if len(run.attributes) > 1:
        return None
    values = [run.row(record)[0] for record in line.order]
    if place == 0 or max(values[:place]) > min(values[place:]):
        return None
    return (0, (values[place - 1] + values[place]) / 2)
