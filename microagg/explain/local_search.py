"""Local search step by step: each change that lowers the SSE, until no change does.

Failed attempts are not steps. The changes and the order of attempts are those of
:mod:`microagg.kernels.local_search.descent`; see :mod:`microagg.explain.changing` for the moves of a record.

Source: chosen here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from microagg.algorithms.base import start_labels
from microagg.algorithms.registry import algorithm
from microagg.explain.changing import WIDTH, Groups, Move, along_line, best_move, candidates
from microagg.explain.mhm import best_cuts
from microagg.explain.run import Run, difference, equal, value
from microagg.explain.step import Focus, Kind, Quantity, Step
from microagg.validation import counted, listing

CODE = (
    "make the groups of the start",
    "cut each group of 2k records or more along a line through it",
    "repeat",
    "    for each record x, of group A, until there is nothing to gain:",
    "        x goes to another group B, if A keeps k records; or",
    "        x and a record y of B change places; or",
    "        x goes to B and y of B to a third group, if A keeps k records",
    "        a group that has 2k records now is cut",
    "    for each group:",
    "        it and a group near to it are cut anew along a line; or",
    "        it is dissolved: each record joins the group whose SSE grows least",
    "        records move on (lines 4 to 8); unless the SSE has fallen by then, all of this is undone",
    "until nothing lowers the SSE",
)
_START, _CUT_LARGE, _GO, _SWAP, _CHAIN, _CUT, _CUT_ANEW, _DISSOLVE, _END = 0, 1, 4, 5, 6, 7, 9, 10, 12
# A group is cut anew together with each of this many groups near to it.
_CUT_WIDTH = 3
# How many records are examined at most after one change of whole groups, and after all of them, for each record.
_MOST_EXAMINED = 2_000
_BUDGET_OF_RECORD = 2_000


def explain(run: Run, *, start: str) -> Iterator[Step]:
    """Yield the steps of local search from the groups of the algorithm ``start``."""
    search = _Search(run, Groups(run.X, start_labels(start, run.X, run.k).tolist(), run.k))
    yield search.begin(algorithm(start).info.title)
    yield from search.descend()
    yield search.end()


class _Search:
    """Local search over the groups of a run."""

    def __init__(self, run: Run, groups: Groups) -> None:
        self._run, self._groups, self._k = run, groups, run.k
        self._moves = 0
        self._examined = 0
        self._budget = _BUDGET_OF_RECORD * len(run.X) // (run.k + 10)
        self._failed_cuts, self._failed_dissolutions = 0, 0
        run.unassigned = []

    # ---- The search ------------------------------------------------------------------------------------------------

    def descend(self) -> Iterator[Step]:
        """Yield the changes that lower the SSE, until no change does."""
        groups = self._groups
        for group in range(len(groups.members)):
            groups.begin()
            yield from self._cut_if_large(group, _CUT_LARGE)
        gained = True
        while gained:
            yield from self._settle_all()
            gained = False
            self._failed_cuts, self._failed_dissolutions = 0, 0
            for group in range(len(groups.members)):
                budget = min(_MOST_EXAMINED, max(0, self._budget - self._examined))
                for change in (self._cut_anew, self._dissolve):
                    if groups.members[group] and (steps := change(group, budget)):
                        gained = True
                        yield from steps

    def _settle_all(self) -> Iterator[Step]:
        """Examine all records until none finds a move."""
        moves_before = -1
        while moves_before != self._moves:
            moves_before = self._moves
            self._groups.begin()
            self._groups.push(range(len(self._run.X)))
            yield from self._settle()

    def _settle(self, budget: float = math.inf) -> Iterator[Step]:
        """Examine the records that are waiting, ``budget`` of them at most, and make the best move of each."""
        while self._groups.queue and budget > 0:
            move = best_move(self._groups, self._groups.pop())
            if move is not None:
                self._moves += 1
                yield self._make(move)
                for group in move.groups:
                    yield from self._renew(group)
            budget -= 1

    def _renew(self, group: int) -> Iterator[Step]:
        """Queue the records of a changed group, and cut it if it is too large."""
        self._groups.push(self._groups.members[group])
        yield from self._cut_if_large(group, _CUT)

    def _keeps(self, steps: list[Step], budget: int) -> bool:
        """Undo a change unless the SSE falls, perhaps after further moves. Return whether it stays.

        The further moves are added to its ``steps``.
        """
        gain, noise = self._groups.gain()
        if gain <= noise and budget > 0:
            self._groups.push_touched()
            while self._groups.queue and budget > 0:
                steps += self._settle(1)
                self._examined += 1
                budget -= 1
            gain, noise = self._groups.gain()
        if gain > noise:
            self._groups.push_touched()
            steps += self._settle(_MOST_EXAMINED)
            return True
        self._groups.queue.clear()
        self._groups.undo()
        return False

    def _cut_anew(self, group: int, budget: int) -> list[Step]:
        """Steps of a new cut of a group with a near one, without any if that gains nothing."""
        groups = self._groups
        for _, near_group in candidates(groups, groups.members[group][0], _CUT_WIDTH):
            groups.begin()
            steps = [self._cut([group, near_group], _CUT_ANEW)]
            if self._keeps(steps, budget):
                return steps
            self._failed_cuts += 1
        return []

    def _dissolve(self, group: int, budget: int) -> list[Step]:
        """Steps that dissolve a group, without any if that gains nothing."""
        groups = self._groups
        before, members = groups.sse, sorted(groups.members[group])
        groups.begin()
        for record in members:
            near = candidates(groups, record, WIDTH)
            if not near:
                groups.undo()
                return []
            growths = [groups.growth(other, distance) for distance, other in near]
            _, best = near[growths.index(min(growths))]
            groups.move(record, best)
            groups.refresh(best)
        groups.refresh(group)
        text = f"{self._run.braced(members)} is dissolved: each of its records joins the group whose SSE grows least"
        focus = Focus(candidates=tuple(members))
        steps = [self._changed_step("move", "A group is dissolved", text, _DISSOLVE, focus, before)]
        for other in list(groups.touched)[1:]:  # the first is the one that was dissolved
            steps += self._renew(other)
        if self._keeps(steps, budget):
            return steps
        self._failed_dissolutions += 1
        return []

    # ---- Texts of the steps ----------------------------------------------------------------------------------------

    def begin(self, title: str) -> Step:
        """Return the step that shows the groups of the start."""
        sse = self._groups.sse
        text = f"Local search begins with the groups of {title}; their SSE is {value(sse)}."
        return self._current_run().step("start", f"The groups of {title}", text, _START, None, [Quantity("SSE", sse)])

    def end(self) -> Step:
        """Last step, with the numbers of failed attempts."""
        sse = self._groups.sse
        tried = [f"no move of {counted(len(self._run.X), 'record')}"]
        if self._failed_cuts:
            tried.append(f"none of {counted(self._failed_cuts, 'cut')} of two groups")
        if self._failed_dissolutions:
            tried.append(f"none of {counted(self._failed_dissolutions, 'dissolution')}")
        text = f"{listing(tried).capitalize()} lowers the SSE: it stays at {value(sse)}."
        final = Quantity("SSE", sse, chosen=True)
        return self._current_run().step("end", "Nothing lowers the SSE any more", text, _END, None, [final])

    def _make(self, move: Move) -> Step:
        """Make a move, and return its step."""
        groups, run, x = self._groups, self._run, move.record
        before, gain = groups.sse, Quantity("gain", move.gain, _formula(groups, move), chosen=True)
        title, line, text = _describe_move(run, groups, move)
        groups.move(x, move.group)
        if move.partner is not None and move.target is not None:
            groups.move(move.partner, move.target)
        for group in move.groups:
            groups.refresh(group)
        partners = () if move.partner is None else (move.partner,)
        focus = Focus(
            seed=x,
            candidates=partners,
            point=run.centroid(groups.members[move.group]),
            group=sum(map(bool, groups.members[: move.group])),  # its place among those that have records
            lines=tuple((x, partner) for partner in partners),
        )
        return self._changed_step("move", title, text, line, focus, before, gain)

    def _cut(self, cut_groups: Sequence[int], line: int) -> Step:
        """Cut the records of some groups anew along a line through them, and return the step."""
        groups, run, before = self._groups, self._run, self._groups.sse
        former = listing([_set_text(run, groups.members[group]) for group in cut_groups])
        records = sorted(record for group in cut_groups for record in groups.members[group])
        rows = [groups.rows[record] for record in records]
        order = along_line(rows)
        path = best_cuts([rows[i] for i in order], self._k).path(len(rows))
        pieces = [[records[i] for i in order[start:stop]] for stop, start in pairwise(path)]
        groups.regroup(pieces, records)
        cut = listing([_set_text(run, piece) for piece in reversed(pieces)])
        if line == _CUT_ANEW:
            title, text = "Two groups are cut anew", f"{former} are cut anew along a line through them, into {cut}"
        else:
            many = f"{len(records)} records, enough for {len(records) // self._k} groups"
            title, text = "A large group is cut", f"{former} has {many}: along a line through it, it is cut into {cut}"
        focus = Focus(candidates=tuple(records), order=tuple(records[i] for i in order))
        return self._changed_step("cut", title, text, line, focus, before)

    def _changed_step(
        self, kind: Kind, title: str, text: str, line: int, focus: Focus, before: float, gain: Quantity | None = None
    ) -> Step:
        """Step of a finished change, with the SSE before and after it."""
        after = self._groups.sse
        is_repaired = line in (_CUT_ANEW, _DISSOLVE)
        if math.isclose(before, after, rel_tol=1e-9):
            course = f"stays at {value(after)}{', and falls by what follows' if is_repaired else ''}"
        elif after < before:
            course = f"falls from {value(before)} to {value(after)}"
        else:
            course = f"rises from {value(before)} to {value(after)}, and falls below {value(before)} by what follows"
        gain = gain or Quantity("gain", before - after, difference(before, after), chosen=True)
        quantities = Quantity("SSE before", before), Quantity("SSE after", after), gain
        return self._current_run().step(kind, title, f"{text}; the SSE {course}.", line, focus, quantities)

    def _current_run(self) -> Run:
        """Return the run with the groups as they are now, the records of each by index."""
        self._run.groups = [sorted(members) for members in self._groups.members if members]
        return self._run

    def _cut_if_large(self, group: int, line: int) -> Iterator[Step]:
        if self._groups.size(group) >= 2 * self._k:
            yield self._cut([group], line)


def _set_text(run: Run, records: Iterable[int]) -> str:
    return run.braced(sorted(records))


def _describe_move(run: Run, groups: Groups, move: Move) -> tuple[str, int, str]:
    """Title of a move, its line of the pseudo-code, and a sentence that describes it."""
    x = run.name(move.record)
    source, target = (_set_text(run, groups.members[group]) for group in (move.source, move.group))
    if move.partner is None or move.target is None:
        return "A record goes to another group", _GO, f"{x} goes from {source} to {target}"
    y = run.name(move.partner)
    if move.target == move.source:
        return "Two records change places", _SWAP, f"{x} of {source} and {y} of {target} change places"
    third = _set_text(run, groups.members[move.target])
    return "A chain along three groups", _CHAIN, f"{x} goes from {source} to {target}, and {y} from there to {third}"


def _formula(groups: Groups, move: Move) -> str:
    """Formula of the gain of a move with its numbers, see :mod:`microagg.explain.changing`."""
    x, y, to_center = move.record, move.partner, groups.to_center
    a, b = groups.size(move.source), groups.size(move.group)
    freed, to_group = to_center[move.source][x], to_center[move.group][x]
    leaving = f"{a}/{a - 1} · {value(freed)}"
    if y is None or move.target is None:
        sign = equal(freed, to_group, move.gain)
        return f"{leaving} − {b}/{b + 1} · {value(to_group)} {sign} {value(move.gain)}"
    y_leaves, y_joins, between = to_center[move.group][y], to_center[move.target][y], groups.between[x][y]
    if move.target == move.source:
        text = f"{value(freed)} + {value(y_leaves)} − {value(to_group)} − {value(y_joins)}"
        text += f" + (1/{a} + 1/{b}) · {value(between)}"
    else:
        c = groups.size(move.target)
        text = f"{leaving} − {value(to_group)} + {value(y_leaves)} + 1/{b} · {value(between)}"
        text += f" − {c}/{c + 1} · {value(y_joins)}"
    sign = equal(freed, to_group, y_leaves, y_joins, between, move.gain)
    return f"{text} {sign} {value(move.gain)}"
