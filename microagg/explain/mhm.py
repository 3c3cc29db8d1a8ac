"""MHM step by step: dynamic programming finds the best cut of a line of records into groups.

Sources: Hansen & Mukherjee 2003; Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006; Mortazavi, Jalili &
Gohargazi 2013 (the SSE of a growing group).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from microagg.explain.run import Focus, Quantity, Run, Step, equal, least, total, value
from microagg.kernels.paths import BETTER

MHM_CODE = (
    "put the records on a line: by the sum of their attributes, or as they are given",
    "best(0) ← 0;  best(j) ← ∞ for each place j = 1, …, k − 1",
    "for each place j = k, …, n:",
    "    best(j) ← the least best(i) + SSE of the records i + 1, …, j, if these are k to 2k − 1",
    "    last(j) ← the records i + 1, …, j that give it; of equal ones the most",
    "j ← n;  while j > 0: last(j) becomes a group;  j ← the place where it starts",
)


class Cuts(NamedTuple):
    """The best cuts of n rows on a line, at places from 0, before the first row, to n, after the last."""

    costs: dict[tuple[int, int], float]  # the SSE of each possible group, by the places where it starts and stops
    best: list[float]  # the least SSE of the rows up to each place; infinite where no groups stop
    start: list[int]  # where the last of these groups starts

    def path(self, stop: int) -> list[int]:
        """Return the places where the best groups up to a place begin and end, from there back to 0."""
        path = [stop]
        while path[-1] > 0:
            path.append(self.start[path[-1]])
        return path


def best_cuts(rows: Sequence[Sequence[float]], k: int) -> Cuts:
    """Find the cuts of ``rows``, in their order, into groups of k to 2k - 1 that minimize the SSE.

    With each row that a group takes in, its SSE grows by m / (m + 1) · ‖x − c‖², where m is its size before, and c its
    centroid.
    """
    n = len(rows)
    cuts = Cuts({}, [0.0] + [math.inf] * n, [0] * (n + 1))
    for start in range(n - k + 1):
        center, sse = list(rows[start]), 0.0
        for size, row in enumerate(rows[start : start + 2 * k - 1], start=1):
            differences = [p - q for p, q in zip(row, center, strict=True)]
            sse += (size - 1) / size * total(difference * difference for difference in differences)
            center = [q + difference / size for q, difference in zip(center, differences, strict=True)]
            if size >= k:
                cuts.costs[start, start + size] = sse
                if cuts.best[start] + sse < cuts.best[start + size] * BETTER:
                    cuts.best[start + size], cuts.start[start + size] = cuts.best[start] + sse, start
    return cuts


def explain_mhm(run: Run, order: str) -> Iterator[Step]:
    """Yield the steps of MHM."""
    records, number = list(run.unassigned), len(run.attributes)
    rule = "as they are given"
    if order == "sum":
        records.sort(key=lambda record: total(run.row(record)))
        rule = f"by {run.attributes[0] if number == 1 else f'the sum of their {number} attributes'}"
    yield run.step("start", "The line", f"The records stand on the line {rule}.", 0, Focus(order=tuple(records)))
    cuts = best_cuts([run.row(record) for record in records], run.k)
    for stop in range(run.k, len(records) + 1):
        yield _compare(run, records, cuts, stop)
    yield from _cut_line(run, records, cuts)


def _sum(start: int, best: float, cost: float) -> str:
    both = best + cost
    parts = f"{equal(best, cost)} {value(best)} + {value(cost)}"
    return f"best({start}) + SSE {parts} {equal(best, cost, both)} {value(both)}"


def _compare(run: Run, order: list[int], cuts: Cuts, stop: int) -> Step:
    """Return the step that compares the possible groups that stop at a place."""
    starts = [start for start in range(stop) if (start, stop) in cuts.costs and cuts.best[start] < math.inf]
    sums = [cuts.best[start] + cuts.costs[start, stop] for start in starts]
    best_start = cuts.start[stop]
    listed = {*least(sums), starts.index(best_start)}
    quantities = [
        Quantity(
            f"{run.braced(order[starts[i] : stop])} as the last group",
            sums[i],
            _sum(starts[i], cuts.best[starts[i]], cuts.costs[starts[i], stop]),
            starts[i] == best_start,
        )
        for i in sorted(listed)
    ]
    name = run.braced(order[best_start:stop])
    end = f"as one group {name}"
    if best_start:
        end = f"with {name} as the last group, after the best cut of the first {best_start}"
    lowest = f"best({stop}) {equal(cuts.best[stop])} {value(cuts.best[stop])}"
    text = f"The first {stop} records have the lowest SSE {end}: {lowest}."
    focus = Focus(candidates=tuple(order[best_start:stop]), order=tuple(order))
    return run.step("weigh", f"The best cut of the first {stop}", text, 3, focus, quantities)


def _cut_line(run: Run, order: list[int], cuts: Cuts) -> Iterator[Step]:
    """Yield each of the best groups, from the end of the line to its beginning."""
    number = len(order)
    path = cuts.path(number)
    row = [
        Quantity(f"best({place})", cuts.best[place], chosen=place in path)
        for place in range(number + 1)
        if cuts.best[place] < math.inf
    ]
    for stop, start in pairwise(path):
        members = order[start:stop]
        group = run.form(members)
        records_text = "all" if stop == number else f"the first {stop}"
        complete = f"the cut is complete, and best({number}) its SSE"
        remains = f"{start} records remain before it" if start > 0 else complete
        text = f"{run.braced(members)} is the last group of the best cut of {records_text}; {remains}."
        focus = Focus(group=group, cuts=_place_value(run, order, start), order=tuple(order))
        yield run.step("cut", "The line is cut", text, 5, focus, row)


def _place_value(run: Run, order: list[int], place: int) -> tuple[tuple[int, float], ...]:
    """Value of a cut of the line, half-way between two records, or nothing if no value separates them."""
    if len(run.attributes) > 1:
        return ()
    values = [run.row(record)[0] for record in order]
    if place == 0 or max(values[:place]) > min(values[place:]):
        return ()
    return ((0, (values[place - 1] + values[place]) / 2),)
