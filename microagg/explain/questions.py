"""Questions before the steps that decide something, each with the step itself as the answer.

They ask which record is farthest, which group a record joins, where a line is cut, or which quantity decides. Records
that are equal for the step are right answers, too.
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
    if before is None or step.kind not in ("join", "cut"):
        return None
    if step.kind == "cut":
        return _cut(run, step, before)
    return None if step.quantities == before.quantities else _joins(run, step, before)


def _farthest(run: Run, step: Step) -> Question | None:
    """Ask for the record that is farthest from a point or from another record."""
    seed, point, lines = step.focus.seed, step.focus.point, step.focus.lines
    other = lines[0][0] if lines else None
    origin = point if other is None else run.row(other)
    if seed is None or origin is None:
        return None
    squared = distances_to(run.X, origin)
    right = tuple(record for record in step.unassigned if squared[record] == squared[seed])
    if other is not None:
        return Question(f"Which unassigned record is farthest from {run.name(other)}? Click it.", right, seed=other)
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
    """Ask which group a record joins."""
    focus = step.focus
    assert focus.seed is not None
    assert focus.group is not None
    text = f"Which group does {run.name(focus.seed)} join? Click one of its records."
    return Question(text, before.groups[focus.group], seed=focus.seed)


def _cut(run: Run, step: Step, before: Step) -> Question | None:
    """Ask where the records are cut. Those next to a new cut are right."""
    focus, former, labels = step.focus, before.labels, step.labels
    line, alike = list(focus.order), run.X
    if not line and focus.group is not None and focus.cuts:
        # A set is cut by an attribute, and its left part has its number.
        alike = run.X[:, [focus.cuts[0][0]]]
        left_part = set(step.groups[focus.group])
        line = sorted(before.groups[focus.group], key=lambda record: (alike[record, 0], record not in left_part))
    neighbors = {
        record
        for pair in pairwise(line)
        if labels[pair[0]] != labels[pair[1]] and former[pair[0]] == former[pair[1]]
        for record in pair
    }
    if not neighbors:
        return None
    right = tuple(record for record in line if any(np.array_equal(alike[record], alike[near]) for near in neighbors))
    shows = ("order",) if focus.order else ("order", "candidates", "group")
    return Question(f"{step.title}: where? Click a record beside the cut.", right, shows=shows)
