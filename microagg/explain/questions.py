"""Questions before the steps that decide something, each with the step itself as the answer.

They ask which record is farthest, joins or moves, which group is dissolved or joined, where a line is cut, or which
quantity decides. Records that are equal for the step are right answers, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from microagg.explain.run import Run, distances_to
from microagg.explain.step import Step


@dataclass(frozen=True)
class Question:
    """A question about a step, before the step itself."""

    text: str  # "Which group does 4 join? Click one of its records."
    right: tuple[int, ...]  # all right answers: records, or indices of options
    options: tuple[str, ...] = ()  # possible answers; if empty, all records
    seed: int | None = None  # the record in question
    shows: tuple[str, ...] = ()  # other parts of the step's focus that the question may show


def questions(run: Run, steps: Sequence[Step]) -> Iterator[Question | None]:
    """Yield the question before each step, or None if the step decides nothing new.

    ``run`` has the records and their names; its groups do not matter.
    """
    before: Step | None = None
    for step in steps:
        yield _question(run, step, before)
        before = step


def _question(run: Run, step: Step, before: Step | None) -> Question | None:
    if step.kind == "look":
        return _farthest(run, step)
    if step.kind == "weigh":
        return _decides(run, step)
    if before is None or step.kind not in ("join", "move", "cut"):
        return None
    if step.kind == "join":
        return None if step.quantities == before.quantities else _joins(run, step, before)
    return _moves(run, step) if step.kind == "move" else _cut(run, step, before)


def _farthest(run: Run, step: Step) -> Question | None:
    """Ask for the record that is farthest from a point or from another record."""
    focus = step.focus
    if focus.seed is None or focus.point is None:
        return None
    squared = distances_to(run.X, focus.point)
    right = tuple(record for record in step.unassigned if squared[record] == squared[focus.seed])
    if focus.lines:
        origin = focus.lines[0][0]
        return Question(f"Which unassigned record is farthest from {run.name(origin)}? Click it.", right, seed=origin)
    text = "Which unassigned record is farthest from the cross, the centroid? Click it."
    return Question(text, right, shows=("point", "measured"))


def _decides(run: Run, step: Step) -> Question | None:
    """Ask which of the quantities decides."""
    right = tuple(i for i, each in enumerate(step.quantities) if each.chosen)
    if len(step.quantities) < 2 or len(right) != 1:
        return None
    seed, text = step.focus.seed, step.title
    text = text if seed is None else f"{run.name(seed)}: {text[0].lower()}{text[1:]}"
    text += "" if text.endswith("?") else ": which is it?"
    return Question(text, right, tuple(each.name for each in step.quantities), seed, ("lines", "group", "order"))


def _joins(run: Run, step: Step, before: Step) -> Question:
    """Ask which record a group takes in, or which group a record joins."""
    focus = step.focus
    assert focus.seed is not None
    assert focus.group is not None
    members = before.groups[focus.group]
    if not focus.candidates:
        return Question(
            f"Which group does {run.name(focus.seed)} join? Click one of its records.", members, seed=focus.seed
        )
    # The quantities are those of the joining record and of the candidates, in their order.
    lowest, *candidate_values = (each.value for each in step.quantities)
    equal = (record for record, value in zip(focus.candidates, candidate_values, strict=True) if value == lowest)
    text = f"Which record does {run.braced(members)} take in? Click it."
    rows = {run.row(record) for record in (focus.seed, *equal)}
    right = tuple(record for record in before.unassigned if run.row(record) in rows)
    return Question(text, right, shows=("group",))


def _moves(run: Run, step: Step) -> Question:
    """Ask which record moves, or which group is dissolved."""
    focus = step.focus
    seeds = () if focus.seed is None else (focus.seed,)
    click = "one of them" if seeds else "one of its records"
    click = click if focus.candidates else "it"
    return Question(f"{step.title}: which? Click {click}.", (*seeds, *focus.candidates))


def _cut(run: Run, step: Step, before: Step) -> Question | None:
    """Ask where the records are cut. Those next to a new cut are right."""
    focus, former, labels = step.focus, before.labels, step.labels
    line, inside, alike = list(focus.order), set(focus.candidates), run.X
    if not line and focus.group is not None and focus.cuts:
        # A set is cut by an attribute, and its left part has its number.
        alike = run.X[:, [focus.cuts[0][0]]]
        left_part = set(step.groups[focus.group])
        line = sorted(before.groups[focus.group], key=lambda record: (alike[record, 0], record not in left_part))
    neighbors = {
        record
        for pair in pairwise(line)
        if labels[pair[0]] != labels[pair[1]] and (former[pair[0]] == former[pair[1]] or inside.issuperset(pair))
        for record in pair
    }
    if not neighbors:
        return None
    right = tuple(record for record in line if any(np.array_equal(alike[record], alike[near]) for near in neighbors))
    shows = ("order", "candidates", "group") if focus.candidates or not focus.order else ("order",)
    return Question(f"{step.title}: where? Click a record beside the cut.", right, shows=shows)
