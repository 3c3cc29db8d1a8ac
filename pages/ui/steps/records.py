"""The records that are watched step by step: typed numbers, points on a plane, or a few records of the chosen data set."""

from __future__ import annotations

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from microagg import DataError
from microagg.explain import MOST_RECORDS
from microagg.numerals import COMMA, POINT, parse
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray
from pages.ui import state
from pages.ui.data.workspace import chosen_workspace
from pages.ui.text import count

_DECIMAL_COMMA = re.compile(r"\d,\d")


@dataclass(frozen=True, eq=False)
class Watched:
    """Records that are watched.

    Attributes
    ----------
    X : array of float, shape (n, d)
        As the algorithms get them.
    names : tuple of str, length n
    attributes : tuple of str, length d
    remark : str
        What is to be said about how they were read or taken; may be empty.
    """

    X: FloatArray
    names: tuple[str, ...]
    attributes: tuple[str, ...]
    remark: str = ""

    @cached_property
    def identity(self) -> str:
        """What tells these records from others."""
        return digest_bytes(f"{digest_array(self.X)}/{self.names}/{self.attributes}".encode())


def watched() -> Watched:
    """Return the records that are chosen.

    Raises
    ------
    MicroaggError
        If something that was typed is not a number, or there are too few or too many records, or the data set has no
        quasi-identifiers that are numbers.
    """
    choices = state.current()
    if choices.records == "line":
        return on_a_line(choices.line)
    if choices.records == "plane":
        return on_a_plane(choices.points)
    return _of_the_data_set(choices.few)


def on_a_line(text: str) -> Watched:
    """Return numbers typed with commas, semicolons, blanks or line breaks between, commas also as decimal marks."""
    words, notation = _words(text)
    values = [_number(word, notation) for word in words]
    _check_number(len(values))
    says = ", ".join(_written(value) for value in values)
    remark = ""
    if notation == COMMA:
        remark = f"Commas within numbers were read as decimal commas: {says}."
    elif _DECIMAL_COMMA.search(text) and re.search(r",\s", text):
        remark = (
            f"Every comma was read as the end of a number: {says}. With semicolons between, commas are decimal marks."
        )
    return Watched(np.array(values)[:, np.newaxis], tuple(map(_written, values)), ("value of the record",), remark)


def on_a_plane(text: str) -> Watched:
    """Return points typed as ``x y; x y; …``; they are called A, B, C, ..."""
    points = []
    for place, pair in enumerate(re.split(r"[;\n]+", text.strip().strip(";")), start=1):
        words, notation = _words(pair)
        if len(words) != 2:
            raise DataError(f"point {place}, {pair.strip()!r}, is not two numbers: write x, a blank, y.")
        points.append([_number(word, notation) for word in words])
    _check_number(len(points))
    return Watched(np.array(points), letters(len(points)), ("x", "y"))


def written(points: Sequence[Sequence[float]]) -> str:
    """Return points, each of x and y, as :func:`on_a_plane` reads them."""
    return "; ".join(" ".join(_written(value) for value in point) for point in points)


def letters(number: int) -> tuple[str, ...]:
    """Return that many short names: A to Z, then numbers."""
    return tuple(string.ascii_uppercase[:number]) if number <= 26 else tuple(str(i) for i in range(1, number + 1))


def _of_the_data_set(few: int) -> Watched:
    """Return some records of the chosen data set, scaled as for all pages; always the same ones."""
    workspace = chosen_workspace()
    if workspace.X is None:
        raise DataError(
            "its quasi-identifiers are not all numbers, and only numbers are explained step by step: choose another data "
            "set, or other columns on the page Data."
        )
    rows = np.arange(workspace.n)
    if workspace.n > few:
        rows = np.sort(np.random.default_rng(0).choice(workspace.n, few, replace=False))
    names = tuple(str(name) for name in workspace.frame.index[rows])
    taken = f"{count(len(rows), 'record')} of {workspace.n:,}, drawn at random" if workspace.n > few else "All records"
    remark = f"{taken}, scaled as on the other pages, each named by its row."
    return Watched(workspace.X[rows], names, workspace.columns, remark)


def _words(text: str) -> tuple[list[str], str]:
    """Return what is between the separators, and whether numbers are written with a decimal point or comma.

    A comma between two digits is a decimal mark where something else separates the numbers.
    """
    separated = ";" in text or "\n" in text.strip() or bool(re.search(r"\d\s+[-+]?[\d.,]", text.strip()))
    if separated and _DECIMAL_COMMA.search(text) and not re.search(r",\s", text):
        return [word for word in re.split(r"[;\s]+", text) if word], COMMA
    return [word for word in re.split(r"[,;\s]+", text) if word], POINT


def _number(word: str, notation: str) -> float:
    value = parse(word, notation)
    if value is None:
        raise DataError(f"{word!r} is not a number: write numbers, with commas or blanks between.")
    if not np.isfinite(value):
        raise DataError(f"{word!r} is too large: write numbers below 1e300.")
    return value


def _written(value: float) -> str:
    return f"{value:.15g}"


def _check_number(number: int) -> None:
    if not 2 <= number <= MOST_RECORDS:
        few = "is too few" if number == 1 else "are too few"
        verdict = few if number < 2 else "are too many to be watched"
        raise DataError(f"{count(number, 'record')} {verdict}: give between 2 and {MOST_RECORDS}.")
