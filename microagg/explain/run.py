"""A run in plain steps: the records, the groups so far, and the arithmetic that every explained algorithm needs.

Written to be read. So that ties fall as in the compiled kernels, every sum has the same order as there: squared
distances add the attributes in order, a group's sums add its records in the order in which they joined, and the
centroid of the unassigned records has correctly rounded sums. Ties go to the lowest record or group.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError, ParameterError
from microagg.explain.step import Focus, Kind, Quantity, Step
from microagg.validation import FloatArray, check_enough_records, check_finite, check_k

#: More records than this are too many to be watched.
MOST_RECORDS = 300


def value(number: float) -> str:
    """Return a number with four significant digits; with five where that is all of it."""
    five = f"{number:.5g}"
    return five if math.isclose(float(five), number, rel_tol=1e-12, abs_tol=1e-300) else f"{number:.4g}"


def total(numbers: Iterable[float]) -> float:
    """Return the sum, added one after the other."""
    # Not sum(): from Python 3.12 on it compensates the rounding of floats, and ties would depend on the version.
    result = 0.0
    for number in numbers:
        result += number
    return result


class Run:
    """The state of a run.

    Attributes
    ----------
    X : array of float, shape (n, d)
    k : int
    groups : list of list of int
        The records of each group in the order in which they joined.
    unassigned : list of int
        By index.
    """

    def __init__(self, X: FloatArray, k: int, names: Sequence[str]) -> None:
        self.X, self.k, self._names = X, k, names
        self.groups: list[list[int]] = []
        self.unassigned = list(range(len(X)))

    # ---- Words -----------------------------------------------------------------------------------------------------

    def name(self, record: int) -> str:
        """Return what a record is called."""
        return self._names[record]

    def braced(self, records: Iterable[int]) -> str:
        """Return records as a set: {1, 2, 3}; from left to right where they lie on a line."""
        listed = list(records)
        if self.X.shape[1] == 1:
            listed.sort(key=lambda record: (self.X[record, 0], record))
        return "{" + ", ".join(self._names[record] for record in listed) + "}"

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
        return Step(
            kind,
            title,
            text,
            tuple(tuple(members) for members in self.groups),
            tuple(self.unassigned),
            line,
            focus or Focus(),
            tuple(quantities),
        )

    # ---- Distances and sums ----------------------------------------------------------------------------------------

    def distances(self, point: Sequence[float]) -> FloatArray:
        """Return the squared Euclidean distance of every record to a point, shape (n,)."""
        squares = np.zeros(len(self.X))
        for attribute, coordinate in enumerate(point):
            squares += np.square(self.X[:, attribute] - coordinate)
        return squares

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
        """Return by how much the SSE of a group grows when a record joins (Mortazavi et al. 2013, Lemma 1)."""
        size = len(self.groups[group])
        return size / (size + 1) * self.distance(record, self.centroid(self.groups[group]))

    # ---- Who is near, who is far -----------------------------------------------------------------------------------

    def farthest(self, point: Sequence[float], among: Sequence[int]) -> int:
        """Return the record that is farthest from a point; of equally far ones the first."""
        return among[int(np.argmax(self.distances(point)[list(among)]))]

    def nearest(self, record: int, number: int, among: Sequence[int]) -> list[int]:
        """Return the records nearest to a record, nearest first; it is none of them."""
        squares = self.distances(self.row(record))
        others = [other for other in among if other != record]
        return sorted(others, key=lambda other: (squares[other], other))[:number]

    def around(self, record: int, among: Sequence[int]) -> list[int]:
        """Return a record and its k - 1 nearest."""
        return [record, *self.nearest(record, self.k - 1, among)]

    def radius(self, record: int, members: Iterable[int]) -> float:
        """Return the distance of a record to the farthest of others; not squared."""
        squares = self.distances(self.row(record))
        return math.sqrt(max((squares[member] for member in members), default=0.0))

    # ---- What changes the state ------------------------------------------------------------------------------------

    def form(self, members: Sequence[int]) -> int:
        """Make a group of unassigned records, and return its number."""
        self.groups.append(list(members))
        taken = set(members)
        self.unassigned = [record for record in self.unassigned if record not in taken]
        return len(self.groups) - 1

    def join(self, group: int, record: int) -> None:
        """Let an unassigned record join a group."""
        self.groups[group].append(record)
        self.unassigned.remove(record)


def make_run(X: ArrayLike, k: int, names: Sequence[str] | None = None) -> Run:
    """Return a run of which nothing has been done yet.

    Parameters
    ----------
    X : array-like, shape (n, d)
        At most :data:`MOST_RECORDS` records.
    k : int
        The minimum group size.
    names : sequence of str, length n, optional
        What the texts call the records; by default their value where there is one attribute, and their index otherwise.

    Raises
    ------
    DataError
        If X is not a finite matrix of numbers, has fewer than k records or too many to be watched.
    ParameterError
        If k is not a whole number of at least 1, or the names are not one for each record.
    """
    matrix = _matrix(X)
    check_enough_records(len(matrix), check_k(k), "X")
    if names is None:
        names = _values(matrix[:, 0].tolist()) if matrix.shape[1] == 1 else [str(place) for place in range(len(matrix))]
    elif len(names) != len(matrix):
        raise ParameterError(f"{len(names)} names for {len(matrix)} records: give one for each.")
    return Run(matrix, k, names)


def _values(numbers: Sequence[float]) -> list[str]:
    """Return numbers with six significant digits, or as many as it takes to tell different ones apart."""
    names: list[str] = []
    for digits in range(6, 18):
        names = [f"{number:.{digits}g}" for number in numbers]
        if len(set(names)) >= len(set(numbers)):
            break
    return names


def _matrix(X: ArrayLike) -> FloatArray:
    try:
        matrix = np.asarray(X, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise DataError(
            "X is not a matrix of numbers: give a row for each record, a number for each attribute."
        ) from None
    if matrix.ndim != 2 or matrix.shape[1] == 0:
        raise DataError(f"X has shape {matrix.shape}: give a row for each record, a number for each attribute.")
    check_finite(matrix)
    if len(matrix) > MOST_RECORDS:
        raise DataError(f"{len(matrix)} records are too many to be watched: give at most {MOST_RECORDS}.")
    return matrix
