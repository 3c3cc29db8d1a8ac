"""A run in plain steps: records, groups so far, and the arithmetic of the explained algorithms.

Written to be read. Ties fall as in the compiled kernels because every sum has the same order: squared distances add
the attributes in order, a group's sums add its records in the order in which they joined, and the
centroid of the unassigned records has correctly rounded sums. Ties go to the lowest record or group.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError, names_arguments
from microagg.explain.step import Focus, Kind, Quantity, Step
from microagg.validation import FloatArray, check_enough_records, check_finite, check_k, check_matrix

#: Maximum number of records of an explained run.
MOST_RECORDS = 300
# A larger set is named by its first records and its last one.
_MOST_NAMED = 12
_FIRST_NAMED = 5
# Maximum number of terms of a sum in a text.
_MOST_TERMS = 3
# Maximum number of candidates in a list.
_MOST_LISTED = 5


@names_arguments
def value(number: float) -> str:
    """Return a number in full if it has at most seven significant digits, otherwise with four."""
    seven = f"{number:.7g}"
    return seven if math.isclose(float(seven), number, rel_tol=1e-12, abs_tol=1e-300) else f"{number:.4g}"


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
        return f"the squares of {len(a)} differences: {value(squared)}"
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
        self._columns: list[list[float]] = X.T.tolist()
        # The range of each attribute.
        self.domains = [max(column) - min(column) for column in self._columns]

    # ---- Words -----------------------------------------------------------------------------------------------------

    def name(self, record: int) -> str:
        """Name of a record in texts."""
        return self.names[record]

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
        self,
        kind: Kind,
        title: str,
        text: str,
        line: int,
        focus: Focus | None = None,
        quantities: Iterable[Quantity] = (),
    ) -> Step:
        """Return a step that leaves the groups as they are now."""
        groups = tuple(tuple(members) for members in self.groups)
        return Step(kind, title, text, groups, tuple(self.unassigned), line, focus or Focus(), tuple(quantities))

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

    def spans(self, members: Sequence[int]) -> list[float]:
        """Range of each attribute in a group, as a share of its range over all records."""
        shares = []
        for column, domain in zip(self._columns, self.domains, strict=True):
            values = [column[record] for record in members]
            shares.append((max(values) - min(values)) / domain if domain > 0 else 0.0)
        return shares

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

    # ---- Steps that several algorithms take ------------------------------------------------------------------------

    def centroid_step(self, center: Sequence[float]) -> Step:
        """Return the step that finds the centroid of all records, which stays where it is."""
        text = "All records together have this centroid. It does not move during the run."
        focus = Focus(point=tuple(center), point_name="centroid of all")
        return self.step("start", "The centroid of all", text, 0, focus)

    def farthest_step(self, record: int, center: Sequence[float], of: str) -> Step:
        """Return the step that finds the unassigned record farthest from ``center``, the centroid of ``of``."""
        text = f"{self.name(record)} is the unassigned record farthest from the centroid of {of}."
        formula = squares(self.row(record), center)
        distance = Quantity("squared distance to the centroid", self.distance(record, center), formula)
        focus = Focus(seed=record, point=tuple(center), point_name=f"centroid of {of}")
        return self.step("look", "The farthest record", text, 2, focus, [distance])

    def form_around(self, seed: int, line: int, why: str | None = None) -> Step:
        """Make a group of a record and its k - 1 nearest unassigned ones, and return that step.

        Its text ends with ``why`` or with the number of unassigned records.
        """
        members = self.around(seed, self.unassigned)
        group = self.form(members)
        ending = f"; {self.left()}" if why is None else f": {why}"
        nearest = "nearest" if self.k == 2 else f"{self.k - 1} nearest"
        beginning = f"{self.name(seed)} " + ("alone becomes" if self.k == 1 else f"and its {nearest} become")
        text = f"{beginning} the group {self.braced(members)}{ending}."
        focus = Focus(seed=seed, candidates=tuple(members[1:]), radius=self.radius(seed, members), group=group)
        return self.step("form", "A new group", text, line, focus)

    def form_of_rest(self, line: int) -> Step:
        """Make one group of all unassigned records, fewer than 2k, and return that step."""
        members, count_text = list(self.unassigned), self.left()
        group = self.form(members)
        become = "becomes a group" if len(members) == 1 else "become one group"
        text = f"{self.braced(members)} {become}: {count_text}, too few for two groups of {self.k}."
        return self.step("form", "One group of the rest", text, line, Focus(group=group))

    def join_nearest_centroids(self, line: int, *, moving: bool) -> Iterator[Step]:
        """Let each unassigned record, by index, join the group with the nearest centroid, and yield these steps.

        The centroids stay where they are now or, if ``moving``, follow each record that joins.
        """
        centers = [self.centroid(members) for members in self.groups]
        names = [self.braced(members) for members in self.groups]
        for record in list(self.unassigned):
            row, distances = self.row(record), [self.distance(record, center) for center in centers]
            group, *runners_up = least(distances)
            text = f"{self.name(record)} joins {names[group]}, whose centroid is the nearest"
            text += f"{', and moves that centroid' if moving else ''}."
            quantities = [
                Quantity(f"to the centroid of {names[i]}", distances[i], squares(row, centers[i]), i == group)
                for i in (group, *runners_up)
            ]
            yield self.join(record, group, "A record left over", text, line, quantities, point=centers[group])
            if moving:
                centers[group], names[group] = self.centroid(self.groups[group]), self.braced(self.groups[group])


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
