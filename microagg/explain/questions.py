"""What comes next? A question before each step that decides something, made of the step itself, which is the answer.

It asks which record is farthest, joins or moves, which group is dissolved or joined, where a line is cut, or which of
the quantities that are compared decides. Records that the step cannot tell apart are right answers, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from microagg.explain.run import Run, distances_to
from microagg.explain.step import Step


@dataclass(frozen=True)
class Question:
    """A question about a step, to be asked before it is shown."""

    text: str  # "Which group does 4 join? Click one of its records."
    right: tuple[int, ...]  # every right answer: records or, where there are options, places in these
    options: tuple[str, ...] = ()  # what can be answered; nothing: any record
    seed: int | None = None  # the record that the question is about
    shows: tuple[str, ...] = ()  # what else of the step's focus may be seen with the question


def questions(run: Run, steps: Sequence[Step]) -> Iterator[Question | None]:
    """Yield the question before each step, and None before those that decide nothing or what was asked already.

    ``run`` has the records and what they are called; its groups do not matter.
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
    """Ask for the record that is found, where it is the one farthest from a point or from another record."""
    focus = step.focus
    if focus.seed is None or focus.point is None:
        return None
    squared = distances_to(run.X, focus.point)
    right = tuple(record for record in step.unassigned if squared[record] == squared[focus.seed])
    if focus.lines:
        other = focus.lines[0][0]
        return Question(f"Which unassigned record is farthest from {run.name(other)}? Click it.", right, seed=other)
    text = "Which unassigned record is farthest from the cross, the centroid? Click it."
    return Question(text, right, shows=("point", "measured"))


def _decides(run: Run, step: Step) -> Question | None:
    """Ask which of the quantities that are compared is chosen."""
    right = tuple(place for place, each in enumerate(step.quantities) if each.chosen)
    if len(step.quantities) < 2 or len(right) != 1:
        return None
    seed, text = step.focus.seed, step.title
    text = text if seed is None else f"{run.name(seed)}: {text[0].lower()}{text[1:]}"
    text += "" if text.endswith("?") else ": which is it?"
    return Question(text, right, tuple(each.name for each in step.quantities), seed, ("lines", "group", "order"))


def _joins(run: Run, step: Step, before: Step) -> Question:
    """Ask which record a group takes in or, where the record is given, which group it joins."""
    focus = step.focus
    assert focus.seed is not None
    assert focus.group is not None
    members = before.groups[focus.group]
    if not focus.candidates:
        return Question(
            f"Which group does {run.name(focus.seed)} join? Click one of its records.", members, seed=focus.seed
        )
    # The quantities are those of the record that joins and, in their order, of the candidates.
    least, *others = (each.value for each in step.quantities)
    equal = (record for record, value in zip(focus.candidates, others, strict=True) if value == least)
    text = f"Which record does {run.braced(members)} take in? Click it."
    return Question(text, _alike(run, [focus.seed, *equal], before.unassigned), shows=("group",))


def _moves(run: Run, step: Step) -> Question:
    """Ask which record moves, or which group is dissolved."""
    focus = step.focus
    seeds = () if focus.seed is None else (focus.seed,)
    click = "it" if not focus.candidates else "one of them" if seeds else "one of its records"
    return Question(f"{step.title}: which? Click {click}.", (*seeds, *focus.candidates))


def _cut(run: Run, step: Step, before: Step) -> Question | None:
    """Ask where the records that are cut are parted now; those beside a new cut are right."""
    focus, old, new = step.focus, before.labels, step.labels
    line, inside, alike = list(focus.order), set(focus.candidates), run.X
    if not line and focus.group is not None and focus.cuts:
        # A set is cut by an attribute, and what was the set is its left part now.
        alike = run.X[:, [focus.cuts[0][0]]]
        left = set(step.groups[focus.group])
        line = sorted(before.groups[focus.group], key=lambda record: (alike[record, 0], record not in left))
    neighbors = {
        record
        for pair in pairwise(line)
        if new[pair[0]] != new[pair[1]] and (old[pair[0]] == old[pair[1]] or inside.issuperset(pair))
        for record in pair
    }
    if not neighbors:
        return None
    right = tuple(record for record in line if any(np.array_equal(alike[record], alike[other]) for other in neighbors))
    shows = ("order", "candidates", "group") if focus.candidates or not focus.order else ("order",)
    return Question(f"{step.title}: where? Click a record beside the cut.", right, shows=shows)


def _alike(run: Run, records: Iterable[int], among: Iterable[int]) -> tuple[int, ...]:
    """Return the records of ``among`` that have the values of one of ``records``."""
    rows = {run.row(record) for record in records}
    return tuple(record for record in among if run.row(record) in rows)
