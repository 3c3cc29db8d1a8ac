"""The records of the page Step by step."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from microagg import DataError
from microagg.columns.numerals import COMMA, POINT, parse
from microagg.explain import MOST_RECORDS
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray
from pages.shared import state
from pages.shared.text import count
from pages.shared.workspace import chosen_workspace

_DECIMAL_COMMA = re.compile(r"\d,\d")


@dataclass(frozen=True, eq=False)
class Watched:
    X: FloatArray  # shape (n, d), as the algorithms get them
    names: tuple[str, ...]  # length n
    attributes: tuple[str, ...]  # length d
    remark: str = ""  # how they were read or drawn

    @cached_property
    def identity(self) -> str:
        return digest_bytes(f"{digest_array(self.X)}/{self.names}/{self.attributes}".encode())


def watched() -> Watched:
    """Return the chosen records; raise MicroaggError if they are no numbers, too few, or too many."""
    choices = state.current()
    if choices.steps.records == "line":
        return on_a_line(choices.steps.line)
    if choices.steps.records == "plane":
        return on_a_plane(choices.steps.points)
    return _of_the_data_set(choices.steps.n_records)


def on_a_line(text: str) -> Watched:
    """Read numbers separated by commas, semicolons, blanks or line breaks; commas may be decimal marks."""
    words, notation = _words(text)
    values = [_number(word, notation) for word in words]
    _check_number(len(values))
    names = tuple(f"{value:.15g}" for value in values)
    remark = ""
    if notation == COMMA:
        remark = f"Commas within numbers were read as decimal commas: {', '.join(names)}."
    elif _DECIMAL_COMMA.search(text) and re.search(r",\s", text):
        remark = (
            f"Every comma was read as the end of a number: {', '.join(names)}. If you separate numbers by semicolons, "
            "commas are decimal marks."
        )
    return Watched(np.array(values)[:, np.newaxis], names, ("value of the record",), remark)


def on_a_plane(text: str) -> Watched:
    """Read points typed as ``x y; x y; …``; they are named A, B, C and so on."""
    points = []
    for place, pair in enumerate(re.split(r"[;\n]+", text.strip().strip(";")), start=1):
        words, notation = _words(pair)
        if len(words) != 2:
            raise DataError(f"point {place}, {pair.strip()!r}, is not two numbers: write x, a blank, y.")
        points.append([_number(word, notation) for word in words])
    _check_number(len(points))
    return Watched(np.array(points), letters(len(points)), ("x", "y"))


def letters(number: int) -> tuple[str, ...]:
    """Return names of points: letters, or numbers if there are more than 26."""
    return tuple(string.ascii_uppercase[:number]) if number <= 26 else tuple(map(str, range(1, number + 1)))


def _of_the_data_set(few: int) -> Watched:
    """Return a fixed sample of the chosen data set, scaled as on all pages."""
    workspace = chosen_workspace()
    if workspace.X is None:
        raise DataError(
            "the quasi-identifiers are not all numbers, and only numbers are explained step by step: choose another data "
            "set, or other columns on the page Data."
        )
    rows = np.arange(workspace.n)
    if workspace.n > few:
        rows = np.sort(np.random.default_rng(0).choice(workspace.n, few, replace=False))
    names = tuple(str(name) for name in workspace.frame.index[rows])
    sample = f"{count(len(rows), 'record')} of {workspace.n:,}, drawn at random" if workspace.n > few else "All records"
    remark = f"{sample}, scaled as on the other pages, each named by its row."
    return Watched(workspace.X[rows], names, workspace.columns, remark)


def _words(text: str) -> tuple[list[str], str]:
    """Return the words between the separators, and whether numbers have a decimal point or comma."""
    # A comma between two digits is a decimal mark where something else separates the numbers.
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


def _check_number(number: int) -> None:
    if not 2 <= number <= MOST_RECORDS:
        raise DataError(f"{count(number, 'record')} cannot be shown step by step: give between 2 and {MOST_RECORDS}.")
