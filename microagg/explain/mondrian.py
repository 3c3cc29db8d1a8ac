"""Mondrian step by step: sets of records are cut in two at the median of their widest attribute, again and again.

Sources: LeFevre, DeWitt & Ramakrishnan 2006; the comparison in Byun, Kamra, Bertino & Li 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from microagg.explain.run import Run, equal, operand, value
from microagg.explain.step import Focus, Quantity, Step

CODE = (
    "all records are one set",
    "for each set S, the left part of a cut before the right one:",
    "    for each attribute in which the records of S differ, the widest in S first:",
    "        v ← the lower median of its values in S",
    "        strict: values up to v go left, or only those below v if the smaller part is larger then",
    "        relaxed: the first half of the records by value goes left, of equal values by index",
    "        if both parts have at least k records: S is cut;  on with the next set",
    "    if no attribute allows a cut: S is a group",
)
_ALL, _WIDEST, _MEDIAN, _CUT, _GROUP = 0, 2, 3, 6, 7


class _Parts(NamedTuple):
    """A set of records in two parts, by the median of an attribute."""

    attribute: int
    median: float
    left: list[int]  # by index
    right: list[int]  # by index


def explain(run: Run, cut: str) -> Iterator[Step]:
    """Yield the steps of Mondrian. The groups of a step are the sets so far."""
    domain = run.form(list(run.unassigned))
    text = f"All records are one set, to be cut as long as both parts have {run.k} records or more."
    yield run.step("start", "One set", text, _ALL, Focus(group=domain))
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
    widths = run.spans(members)
    by_width = sorted(range(len(widths)), key=lambda attribute: -widths[attribute])
    rank = "widest"
    for attribute in by_width:
        if widths[attribute] == 0:
            break
        yield _weigh(run, group, widths, attribute, rank)
        parts = _parts(run, members, attribute, cut)
        if min(len(parts.left), len(parts.right)) >= run.k:
            yield _cut(run, group, parts, cut)
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
    return run.step("weigh", f"The {rank} attribute", text, _WIDEST, Focus(group=group), quantities)


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
    focus = Focus(group=group, cuts=_cut_value(run, parts))
    return run.step("look", "No cut here", text, _MEDIAN, focus, _sizes(run, parts))


def _cut(run: Run, group: int, parts: _Parts, cut: str) -> Step:
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
    focus = Focus(group=group, cuts=_cut_value(run, parts))
    return run.step("cut", "A cut at the median", text, _CUT, focus, _sizes(run, parts))


def _keep(run: Run, group: int, reason: str) -> Step:
    """Return the step that makes a set a group."""
    members = run.groups[group]
    return run.step("form", "A group", f"{run.braced(members)} is a group: {reason}.", _GROUP, Focus(group=group))


def _cut_value(run: Run, parts: _Parts) -> tuple[tuple[int, float]]:
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
