"""Explained algorithms that cut: MHM a line of records, Mondrian sets of records.

- MHM: dynamic programming finds the best cut of a line of records into groups. Sources: Hansen & Mukherjee 2003;
  Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz & Sebé 2006; Mortazavi, Jalili & Gohargazi 2013 (the SSE of a growing
  group).
- Mondrian: sets are cut in two at the median of their widest attribute, again and again. Sources: LeFevre, DeWitt &
  Ramakrishnan 2006; the comparison in Byun, Kamra, Bertino & Li 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from microagg.explain.run import Focus, Quantity, Run, Step, equal, least, operand, total, value
from microagg.kernels.paths import BETTER

# --- MHM --------------------------------------------------------------------------------------------------------------

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
    return (
        f"best({start}) + SSE {equal(best, cost)} {value(best)} + {value(cost)} {equal(best, cost, both)} {value(both)}"
    )


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


# --- Mondrian ---------------------------------------------------------------------------------------------------------

MONDRIAN_CODE = (
    "all records are one set",
    "for each set S, the left part of a cut before the right one:",
    "    for each attribute in which the records of S differ, the widest in S first:",
    "        v ← the lower median of its values in S",
    "        strict: values up to v go left, or only those below v if the smaller part is larger then",
    "        relaxed: the first half of the records by value goes left, of equal values by index",
    "        if both parts have at least k records: S is cut;  on with the next set",
    "    if no attribute allows a cut: S is a group",
)


class _Parts(NamedTuple):
    """A set of records in two parts, by the median of an attribute."""

    attribute: int
    median: float
    left: list[int]  # by index
    right: list[int]  # by index


def explain_mondrian(run: Run, cut: str) -> Iterator[Step]:
    """Yield the steps of Mondrian. The groups of a step are the sets so far."""
    domain = run.form(list(run.unassigned))
    text = f"All records are one set, to be cut as long as both parts have {run.k} records or more."
    yield run.step("start", "One set", text, 0, Focus(group=domain))
    open_sets = [domain]
    while open_sets:
        group, number = open_sets.pop(), len(run.groups)
        yield from _treat(run, group, cut)
        if len(run.groups) > number:
            # The left part has taken the place of the set. It is the next, so it goes on top.
            open_sets += [number, group]


def _treat(run: Run, group: int, cut: str) -> Iterator[Step]:
    """Yield the steps that try the attributes of a set, the widest first, until one allows a cut."""
    members = run.groups[group]
    if len(members) < 2 * run.k:
        yield _keep(run, group, f"it has fewer than the 2 · {run.k} = {2 * run.k} records that two parts need")
        return
    ranges = np.ptp(run.X, axis=0)
    widths = (np.ptp(run.X[members], axis=0) / np.where(ranges > 0.0, ranges, 1.0)).tolist()
    by_width = sorted(range(len(widths)), key=lambda attribute: -widths[attribute])
    rank = "widest"
    for attribute in by_width:
        if widths[attribute] == 0:
            break
        yield _weigh(run, group, widths, attribute, rank)
        parts = _parts(run, members, attribute, cut)
        if min(len(parts.left), len(parts.right)) >= run.k:
            yield _cut_set(run, group, parts, cut)
            return
        yield _refuse(run, group, parts)
        rank = "next widest"
    reason = f"no cut leaves {run.k} records on both sides" if max(widths) > 0 else "all its records are equal"
    yield _keep(run, group, reason)


def _parts(run: Run, members: Sequence[int], attribute: int, cut: str) -> _Parts:
    """Return the parts into which an attribute would cut a set."""
    column: list[float] = run.X[:, attribute].tolist()
    by_value = sorted(members, key=lambda record: (column[record], record))
    median = column[by_value[(len(members) - 1) // 2]]
    if cut == "relaxed":
        left = set(by_value[: (len(members) + 1) // 2])
    else:
        up_to = {record for record in members if column[record] <= median}
        below = {record for record in members if column[record] < median}
        # The records at the median stand with those below it, unless that makes the parts less equal.
        left = max(up_to, below, key=lambda side: min(len(side), len(members) - len(side)))
    return _Parts(
        attribute,
        median,
        [record for record in members if record in left],
        [record for record in members if record not in left],
    )


def _weigh(run: Run, group: int, widths: Sequence[float], attribute: int, rank: str) -> Step:
    """Return the step that compares the widths of a set's attributes and chooses one."""
    members = run.groups[group]
    share = "all" if widths[attribute] == 1 else value(widths[attribute])
    if len(widths) == 1:
        text = f"In {run.braced(members)} the only attribute spans {share} of its range."
    else:
        name = run.attributes[attribute]
        text = f"{name} is the {rank} attribute of {run.braced(members)}: it spans {share} of its range."
    quantities = [
        Quantity(f"width of {run.attributes[j]}", width, _width_formula(run, members, j, width), j == attribute)
        for j, width in enumerate(widths)
    ]
    return run.step("weigh", f"The {rank} attribute", text, 2, Focus(group=group), quantities)


def _width_formula(run: Run, members: Sequence[int], attribute: int, width: float) -> str:
    column = run.X[:, attribute]
    low, high = column[list(members)].min(), column[list(members)].max()
    minimum, maximum = column.min(), column.max()
    if minimum == maximum:
        return "all records have the same value"
    sign = equal(low, high, minimum, maximum, width)
    return f"({value(high)} − {operand(low)}) / ({value(maximum)} − {operand(minimum)}) {sign} {value(width)}"


def _refuse(run: Run, group: int, parts: _Parts) -> Step:
    """Return the step that finds one of the parts too small."""
    name, left, right = run.attributes[parts.attribute], len(parts.left), len(parts.right)
    text = f"The median of {name} would leave {left} and {right} records, and both parts need {run.k}."
    focus = Focus(group=group, cuts=_median_value(run, parts))
    return run.step("look", "No cut here", text, 3, focus, _sizes(run, parts))


def _cut_set(run: Run, group: int, parts: _Parts, cut: str) -> Step:
    """Replace a set by its left part, append the right part as a new set, and return the step."""
    name = run.attributes[parts.attribute]
    if cut == "relaxed":
        rule = f"the first half by {name}"
    else:
        holds_median = any(run.X[record, parts.attribute] == parts.median for record in parts.left)
        rule = f"{name} {'up to' if holds_median else 'below'} {value(parts.median)}"
    run.groups[group] = parts.left
    run.groups.append(parts.right)
    text = f"{run.braced(parts.left)} go left ({rule}), {run.braced(parts.right)} go right."
    focus = Focus(group=group, cuts=_median_value(run, parts))
    return run.step("cut", "A cut at the median", text, 6, focus, _sizes(run, parts))


def _keep(run: Run, group: int, reason: str) -> Step:
    """Return the step that makes a set a group."""
    members = run.groups[group]
    return run.step("form", "A group", f"{run.braced(members)} is a group: {reason}.", 7, Focus(group=group))


def _median_value(run: Run, parts: _Parts) -> tuple[tuple[int, float]]:
    """Return the value of a cut: half-way between the parts, or the value that both have."""
    column = run.X[:, parts.attribute]
    return ((parts.attribute, float(column[parts.left].max() + column[parts.right].min()) / 2),)


def _sizes(run: Run, parts: _Parts) -> list[Quantity]:
    """Return the median and the sizes of both parts."""
    number = len(parts.left) + len(parts.right)
    rank = f"value {(number + 1) // 2} of {number} in order: {value(parts.median)}"
    return [
        Quantity(f"median of {run.attributes[parts.attribute]}", parts.median, rank),
        Quantity("records on the left", len(parts.left)),
        Quantity("records on the right", len(parts.right)),
    ]
