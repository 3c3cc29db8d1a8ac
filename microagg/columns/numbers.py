"""How a column of text reads as numbers, for somebody to say whether it should."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microagg import numerals
from microagg.columns.counts import Column
from microagg.columns.words import NUMBERED, PERSONAL
from microagg.taxonomy import category
from microagg.validation import FloatArray, listing

# The share of records that must be numbers for an offer, and the largest number of other distinct values.
_MOST = 0.8
_EXCEPTIONS = 20

# A telephone number, leading zeros, and what a program may have made 1000 of: 10E2, which is not 100E1.
_LIKE_CODES = re.compile(r"\+\d{7,}|[-+]?0\d+|\d+[eE]\d+", re.ASCII)
# With a point for a decimal comma's thousands: 1.234, which programs read as 1.234 all the same.
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}", re.ASCII)


@dataclass(frozen=True)
class AsNumbers:
    """How a column of text reads as numbers in one of the :data:`microagg.numerals.NOTATIONS`.

    Attributes
    ----------
    notation : str
    example, number : str
        A text of the column, and the number that it is, as programs write it.
    n : int
        The records that say a number.
    missing_codes : tuple of str
        The values that are no number, and would count as missing; the most frequent first.
    counts : tuple of int
        The records that have each of them.
    """

    notation: str
    example: str
    number: str
    n: int
    missing_codes: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def n_codes(self) -> int:
        """The records that say no number, though they have a value."""
        return sum(self.counts)

    @property
    def is_like_code(self) -> bool:
        """Whether the text may be a code of digits, such as a telephone number, rather than a number."""
        return _LIKE_CODES.fullmatch(self.example) is not None

    @property
    def lost(self) -> str:
        """The values that are no number with their counts, as text: ``'unknown' (12), '< 5' (3)``; empty if none."""
        each = [f"{value!r} ({count:,})" for value, count in zip(self.missing_codes, self.counts, strict=True)]
        return listing(each, 6)


def is_sure(texts: Sequence[str]) -> bool:
    """Whether ``texts``, all of them numbers, are written so plainly that they need not be asked about."""
    if not all(numerals.is_plain(text) and not _LIKE_CODES.fullmatch(text) for text in texts):
        return False
    grouped = [text for text in texts if "." in text]
    return not grouped or not all(_GROUPED.fullmatch(text) for text in grouped)


def offers(
    column: Column, numbers: Mapping[str, FloatArray], silent: NDArray[np.bool_]
) -> tuple[tuple[AsNumbers, ...], str]:
    """Return how a column of text can be read as numbers, and a sentence on it: two ways where nothing shows which.

    None, and an empty sentence, if too much of it is no number, or its name says that it is no quantity; none with a
    sentence where numbers contradict each other.

    Parameters
    ----------
    column : Column
    numbers : mapping of notation to array, shape (distinct values,)
        What the distinct values say, see :func:`microagg.numerals.values`.
    silent : array of bool, shape (distinct values,)
        Which distinct values say that there is no value.
    """
    fits = says_number(numbers)
    rest = ~fits & ~silent
    n_fit, n_odd = column.n_where(fits), column.n_where(rest)
    if not n_fit or n_fit < _MOST * (n_fit + n_odd) or np.count_nonzero(rest) > _EXCEPTIONS:
        return (), ""
    if NUMBERED.in_name(column.name) or PERSONAL.in_name(column.name):
        return (), ""
    shown = numerals.shown_by(column.texts.tolist(), numbers)
    if not shown.notations:
        return (
            (),
            f"numbers, but of {shown.point!r} and {shown.comma!r} one has a decimal comma: write all of them alike",
        )
    texts = column.texts[fits].tolist()
    if two := numerals.mixed_units(texts):
        return (), f"numbers, but {two[0]!r} and {two[1]!r} are not in the same unit: turn them into one in the file"
    example = shown.unclear if len(shown.notations) > 1 and shown.unclear else _telling(texts)
    found = tuple(_in_notation(column, notation, numbers[notation], example) for notation in shown.notations)
    return found, _said(column, found)


def says_number(numbers: Mapping[str, FloatArray]) -> NDArray[np.bool_]:
    """Return which texts say a number in whatever notation, shape (n,)."""
    return ~np.logical_and.reduce([np.isnan(each) for each in numbers.values()])


def _telling(texts: list[str]) -> str:
    """Return the first text that is not plain, or may be a code; the first one if there is none."""
    return next((text for text in texts if not numerals.is_plain(text) or _LIKE_CODES.fullmatch(text)), texts[0])


def _in_notation(column: Column, notation: str, numbers: FloatArray, example: str) -> AsNumbers:
    lost = np.isnan(numbers)
    each = sorted(zip(column.values(lost), column.counts[lost].tolist(), strict=True), key=lambda pair: -pair[1])
    codes, counts = tuple(value for value, _ in each), tuple(count for _, count in each)
    number = numerals.parse(example, notation)
    return AsNumbers(notation, example, category(number), column.n_where(~lost), codes, counts)


def _said(column: Column, found: tuple[AsNumbers, ...]) -> str:
    first, n = found[0], column.n_present
    count = f"all {n:,}" if first.n == n else f"{first.n:,} of {n:,}"
    meant = " or for ".join(each.number for each in found)
    which = ", and nothing shows which" if len(found) > 1 else ""
    lost = f"; no numbers are {first.lost}" if first.lost else ""
    return f"text that reads as numbers: {count}, such as {first.example!r} for {meant}{which}{lost}"
