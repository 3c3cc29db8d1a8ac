"""Steps of an explained run, the run itself in plain Python, and two runs side by side.

Written to be read. Ties fall as in the compiled kernels because every sum has the same order: squared distances add
the attributes in order, a group's sums add its records in the order in which they joined, and the
centroid of the unassigned records has correctly rounded sums. Ties go to the lowest record or group.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError, names_arguments
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix

#: Maximum number of records of an explained run.
MOST_RECORDS = 300

# Maximum numbers of records in a text (a larger set has the first ones and the last one), of terms of a sum, and of
# candidates in a list.
_MOST_NAMED, _FIRST_NAMED, _MOST_TERMS, _MOST_LISTED = 12, 5, 3, 5

#: What a step does: nothing yet; finds records; compares quantities, of which the chosen one decides; makes a group;
#: lets a record join one; cuts a set in two.
Kind = Literal["start", "look", "weigh", "form", "join", "cut"]


@dataclass(frozen=True)
class Quantity:
    """A number in a decision."""

    name: str  # for example "open a new group"
    value: float  # usually in squared units of the records
    formula: str = ""  # with its numbers: "SSE{5, 6, 19} / 3 = 122 / 3"
    chosen: bool = False  # whether it decides


@dataclass(frozen=True)
class Focus:
    """Records, points and lines of a step, for a picture."""

    seed: int | None = None  # the record in question
    candidates: tuple[int, ...] = ()  # records that may form a group with it
    point: tuple[float, ...] | None = None  # from which distances are measured; shape (d,)
    point_name: str = ""  # for example "centroid of all"
    radius: float | None = None  # maximum distance of the candidates from ``seed``
    group: int | None = None  # index in ``Step.groups`` of the group in question
    lines: tuple[tuple[int, int], ...] = ()  # pairs of records whose distance matters
    cuts: tuple[tuple[int, float], ...] = ()  # attributes, each with a value at which it is cut
    order: tuple[int, ...] = ()  # the records in the order of the line, if there is one


@dataclass(frozen=True)
class Step:
    """One step of an explained run."""

    kind: Kind
    title: str  # a few words
    text: str  # one sentence with the numbers put in: "5 joins {1, 2, 3}: 32.19 is less than 40.67."
    groups: tuple[tuple[int, ...], ...]  # after it, in the order of forming, their records in the order of joining
    unassigned: tuple[int, ...]  # the records that are in no group after it, by index
    line: int  # which line of the algorithm's pseudo-code it carries out, from 0
    focus: Focus = field(default_factory=Focus)
    quantities: tuple[Quantity, ...] = ()
    decision: str = ""  # the comparison that decides, and what follows: "4 > 0.2 · 1: 5 stays out"

    @property
    def labels(self) -> IntArray:
        """Group of each record, shape (n,), numbered by first appearance, or -1 for an unassigned record."""
        labels = np.full(sum(map(len, self.groups)) + len(self.unassigned), -1, dtype=np.int64)
        for group, members in enumerate(self.groups):
            labels[list(members)] = group
        return labels if self.unassigned else canonical_labels(labels)


@names_arguments
def value(number: float) -> str:
    """Return a number in full if it has at most seven digits, two of them decimals, otherwise with four digits."""
    full = f"{round(number, 2):.7g}"
    return full if math.isclose(float(full), number, rel_tol=1e-12, abs_tol=1e-300) else f"{number:.4g}"


def equal(*numbers: float) -> str:
    """Return the sign of an equation with these numbers: "≈" if any of them is rounded, otherwise "="."""
    exact = (math.isclose(float(value(number)), number, rel_tol=1e-12, abs_tol=1e-300) for number in numbers)
    return "=" if all(exact) else "≈"


def total(numbers: Iterable[float]) -> float:
    """Return the sum, added one after the other."""
    # Not sum(): from Python 3.12 on it compensates the rounding of floats, and ties would depend on the version.
    result = 0.0
    for number in numbers:
        result += number
    return result


def least(costs: Sequence[float]) -> list[int]:
    """Return the indices of the five smallest costs, the smallest first, ties by index."""
    return sorted(range(len(costs)), key=lambda i: costs[i])[:_MOST_LISTED]


def squares(a: Sequence[float], b: Sequence[float]) -> str:
    """Return the formula of a squared distance with the numbers put in: "(5 − 3)² = 4"."""
    squared = total((p - q) * (p - q) for p, q in zip(a, b, strict=True))
    if len(a) > _MOST_TERMS:
        return f"sum of {len(a)} squared differences: {value(squared)}"
    terms = (f"({value(p)} − {operand(q)})²" for p, q in zip(a, b, strict=True))
    return f"{' + '.join(terms)} {equal(squared, *a, *b)} {value(squared)}"


def operand(number: float) -> str:
    """Return a number as it stands after a sign, in parentheses if it is negative."""
    return f"({value(number)})" if number < 0 else value(number)


def distances_to(X: FloatArray, point: Sequence[float]) -> FloatArray:
    """Return the squared Euclidean distance of every record of ``X``, shape (n, d), to a point, shape (n,)."""
    squared = np.zeros(len(X))
    for column, coordinate in zip(X.T, point, strict=True):
        squared += np.square(column - coordinate)
    return squared


class Run:
    """The state of a run over the records ``X``, shape (n, d), and the names of records and attributes in texts."""

    def __init__(self, X: FloatArray, k: int, names: Sequence[str], attributes: Sequence[str]) -> None:
        self.X, self.k, self.names, self.attributes = X, k, names, attributes
        self.groups: list[list[int]] = []  # the records of each in the order in which they joined
        self.unassigned = list(range(len(X)))  # by index

    # ---- Words -----------------------------------------------------------------------------------------------------

    def braced(self, records: Iterable[int]) -> str:
        """Text of a set of records, with one attribute from left to right: {1, 2, 3} or {1, 2, …, 99}."""
        listed = list(records)
        if self.X.shape[1] == 1:
            listed.sort(key=lambda record: (self.X[record, 0], record))
        names = [self.names[record] for record in listed]
        if len(names) > _MOST_NAMED:
            names[_FIRST_NAMED:-1] = ["…"]
        return "{" + ", ".join(names) + "}"

    def left(self) -> str:
        """Text of the number of unassigned records: "2 records are left"."""
        number = len(self.unassigned)
        return f"{number or 'no'} record{' is' if number == 1 else 's are'} left"

    def step(
        self, kind: Kind, title: str, text: str, line: int, focus: Focus, quantities: Iterable[Quantity] = ()
    ) -> Step:
        """Return a step that leaves the groups as they are now."""
        groups = tuple(tuple(members) for members in self.groups)
        return Step(kind, title, text, groups, tuple(self.unassigned), line, focus, tuple(quantities))

    # ---- Distances and sums ----------------------------------------------------------------------------------------

    def distance(self, record: int, point: Sequence[float]) -> float:
        """Return the squared Euclidean distance of a record to a point."""
        return total((a - b) * (a - b) for a, b in zip(self.row(record), point, strict=True))

    def row(self, record: int) -> tuple[float, ...]:
        """Return the values of a record."""
        return tuple(self.X[record].tolist())

    def centroid(self, members: Sequence[int]) -> tuple[float, ...]:
        """Return the attributes' means over a group, added in its order."""
        return tuple(total(column) / len(members) for column in self.X[list(members)].T.tolist())

    def middle(self, records: Sequence[int]) -> tuple[float, ...]:
        """Return the attributes' means over records, whatever their order: with correctly rounded sums."""
        return tuple(math.fsum(column) / len(records) for column in self.X[list(records)].T.tolist())

    def sse(self, members: Sequence[int]) -> float:
        """Return the sum of squared distances of a group's records to its centroid."""
        center = self.centroid(members)
        return total(self.distance(record, center) for record in members)

    def growth(self, group: int, record: int) -> float:
        """Growth of the SSE of a group when a record joins (Mortazavi et al. 2013, Lemma 1)."""
        size = len(self.groups[group])
        return size / (size + 1) * self.distance(record, self.centroid(self.groups[group]))

    # ---- Nearest and farthest records ------------------------------------------------------------------------------

    def farthest(self, point: Sequence[float], among: Sequence[int]) -> int:
        """Return the record that is farthest from a point, ties by position."""
        return among[int(np.argmax(distances_to(self.X, point)[list(among)]))]

    def nearest(self, record: int, number: int, among: Sequence[int]) -> list[int]:
        """Return the other records nearest to a record, nearest first."""
        squared = distances_to(self.X, self.row(record))
        return sorted((i for i in among if i != record), key=lambda i: (squared[i], i))[:number]

    def around(self, record: int, among: Sequence[int]) -> list[int]:
        """Return a record and its k - 1 nearest."""
        return [record, *self.nearest(record, self.k - 1, among)]

    def radius(self, record: int, members: Iterable[int]) -> float:
        """Return the distance, not squared, of a record to the farthest of ``members``."""
        squared = distances_to(self.X, self.row(record))
        return math.sqrt(max((squared[member] for member in members), default=0.0))

    # ---- What changes the state ------------------------------------------------------------------------------------

    def form(self, members: Sequence[int]) -> int:
        """Make a group of unassigned records, and return its number."""
        self.groups.append(list(members))
        chosen = set(members)
        self.unassigned = [record for record in self.unassigned if record not in chosen]
        return len(self.groups) - 1

    def join(
        self,
        record: int,
        group: int,
        title: str,
        text: str,
        line: int,
        quantities: Iterable[Quantity],
        point: tuple[float, ...] | None = None,
    ) -> Step:
        """Let an unassigned record join a group, and return the step."""
        self.groups[group].append(record)
        self.unassigned.remove(record)
        focus = Focus(seed=record, point=point, point_name="centroid", group=group)
        return self.step("join", title, text, line, focus, quantities)


def make_run(X: ArrayLike, k: int, names: Sequence[str] | None = None, attributes: Sequence[str] | None = None) -> Run:
    """Create a run before its first step. For parameters and errors see :func:`microagg.explain.steps`."""
    matrix = np.ascontiguousarray(check_matrix(X))
    check_finite(matrix)
    if len(matrix) > MOST_RECORDS:
        raise DataError(f"{len(matrix)} records are too many to be watched: give at most {MOST_RECORDS}.")
    check_enough_records(len(matrix), check_k(k), "X")
    if names is None:
        names = _values(matrix[:, 0].tolist()) if matrix.shape[1] == 1 else [str(i) for i in range(len(matrix))]
    elif len(names) != len(matrix):
        raise ParameterError(f"{len(names)} names for {len(matrix)} records: give one for each.")
    if attributes is None:
        usual = {1: ["the value"], 2: ["x", "y"]}
        attributes = usual.get(matrix.shape[1]) or [f"attribute {i + 1}" for i in range(matrix.shape[1])]
    elif len(attributes) != matrix.shape[1]:
        raise ParameterError(f"{len(attributes)} names for {matrix.shape[1]} attributes: give one for each.")
    if not all(isinstance(name, str) for name in (*names, *attributes)):
        raise ParameterError("names and attributes must be text: turn other names into text first.")
    return Run(matrix, k, names, attributes)


def _values(numbers: Sequence[float]) -> list[str]:
    """Return numbers with six significant digits, or with more if different ones would look equal."""
    names: list[str] = []
    for digits in range(6, 18):
        names = [f"{number:.{digits}g}" for number in numbers]
        if len(set(names)) >= len(set(numbers)):
            break
    return names


# --- two runs side by side --------------------------------------------------------------------------------------------


def _state(step: Step) -> frozenset[frozenset[int]]:
    return frozenset(map(frozenset, step.groups))


def _rounds(steps: Sequence[Step]) -> list[list[int]]:
    """Indices of the steps of each round, which ends with the step that changes the groups."""
    rounds: list[list[int]] = [[]]
    state: frozenset[frozenset[int]] = frozenset()
    for i, step in enumerate(steps):
        rounds[-1].append(i)
        if _state(step) != state:
            state = _state(step)
            rounds.append([])
    return [indices for indices in rounds if indices]


@names_arguments
def lockstep(first: Sequence[Step], second: Sequence[Step]) -> list[tuple[int, int]]:
    """Pairs of steps of two runs that can be compared.

    In each round both take the steps up to the next change of their groups. The one with fewer steps waits at that
    change, and the one with fewer rounds at its end.

    Parameters
    ----------
    first, second : sequence of Step
        The steps of each run.

    Returns
    -------
    list of (int, int)
        Indices of steps of both runs, in order.
    """
    pairs: list[tuple[int, int]] = []
    pair = (0, 0)
    rounds: Iterator[tuple[list[int], list[int]]] = zip_longest(_rounds(first), _rounds(second), fillvalue=[])
    for first_round, second_round in rounds:
        ticks = max(len(first_round), len(second_round))
        for tick in range(ticks):
            pair = (_index_at(first_round, tick, ticks, pair[0]), _index_at(second_round, tick, ticks, pair[1]))
            pairs.append(pair)
    return pairs


def _index_at(indices: Sequence[int], tick: int, ticks: int, before: int) -> int:
    """Index at a tick of a round. The last index, where the groups change, comes at the last tick."""
    *looking, acting = indices or [before]
    if tick == ticks - 1:
        return acting
    return looking[min(tick, len(looking) - 1)] if looking else before


@names_arguments
def first_difference(first: Sequence[Step], second: Sequence[Step], pairs: Sequence[tuple[int, int]]) -> int | None:
    """First pair of steps with different groups of the two runs.

    Parameters
    ----------
    first, second : sequence of Step
        The steps of each run.
    pairs : sequence of (int, int)
        Those of ``lockstep(first, second)``.

    Returns
    -------
    int or None
        Index of the pair; None if all are equal.

    Raises
    ------
    ParameterError
        If ``pairs`` are not those of ``lockstep(first, second)``.
    """
    differ = (i for i, (a, b) in enumerate(pairs) if _state(first[a]) != _state(second[b]))
    try:
        return next(differ, None)
    except IndexError:
        raise ParameterError("pairs must be those of lockstep(first, second).") from None
