"""What columns show: the words of a name, distinct values, which column settles another, text that reads as numbers.

Guesses of kinds (:mod:`microagg.columns.kinds`) and of roles (:mod:`microagg.columns.guess`) rest on it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns import numerals
from microagg.columns.taxonomy import category
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_columns, listing

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


def folded(text: str) -> str:
    """Return ``text`` in small letters without accents: ``"Salud (Región)"`` becomes ``"salud (region)"``."""
    return text.lower() if text.isascii() else _without_accents(text).casefold()


def _without_accents(text: str) -> str:
    # Signs of other writings than Latin, Greek and Cyrillic stay, as they make other words; invisible ones go.
    letters = (letter for letter in unicodedata.normalize("NFKD", text) if not "\u0300" <= letter <= "\u036f")
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


class Words:
    """Words that tell what a column is: ``whole`` ones, also in the plural, and what longer ones begin with."""

    def __init__(self, whole: str, beginnings: str = "") -> None:
        self.whole, self.beginnings = frozenset(whole.split()), tuple(beginnings.split())

    def in_name(self, name: Hashable) -> str | None:
        """Return the first part of a column's name that is one of these words, None if there is none."""
        for part in parts(name):
            if part in self.whole or part.removesuffix("s") in self.whole or part.startswith(self.beginnings):
                return part
        return None


def parts(name: Hashable) -> list[str]:
    """Return the words of a column's name, folded: ``"hh_weight2"`` and ``"HHWeight"`` have ``hh`` and ``weight``."""
    return list(_parts(str(name)))


# Every rule looks at the name anew, one column after another.
@lru_cache(maxsize=16)
def _parts(name: str) -> tuple[str, ...]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", _without_accents(name))
    return tuple(word.casefold() for word in words)


#: Numbers that an office or a file gives to somebody.
NUMBERED = Words(
    "id ident uid uuid guid ssn nr nummer numero nif dni nir siren siret iban matricule matricula passport ausweis "
    "aktenzeichen",
    "identif",
)

#: Names of persons, and where and how they can be reached.
PERSONAL = Words(
    "surname lastname firstname fullname forename vorname nachname familienname nombre apellido nom prenom "
    "mail email phone telephone telefon telefono tel mobile handy fax address adresse anschrift direccion street "
    "strasse calle rue",
)

#: Codes of places and the like: digits that do not count anything.
CODE = Words("zip zipcode postcode postalcode postal plz cp code icd isco nace fips nuts", "postleit")


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """A column and its distinct values."""

    name: Hashable
    dtype: Any
    #: The position of each record's value among the distinct ones, -1 where it is missing, shape (n,).
    positions: IntArray
    distinct: pd.Series[Any]  # the values that occur, in the order of the records, shape (distinct values,)
    n_table: int  # the number of records of the table, of which these may be a sample in its order

    @classmethod
    def of(cls, series: pd.Series[Any], n_table: int | None = None) -> Self | None:
        """Return the values of a column, None where they cannot be compared, such as lists."""
        try:
            positions, distinct = pd.factorize(series)
        except TypeError:
            return None
        positions = positions.astype(np.int64, copy=False)
        return cls(series.name, series.dtype, positions, pd.Series(distinct), n_table or len(series))

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.positions)

    @cached_property
    def n_missing(self) -> int:
        """The number of records without a value."""
        return int(np.count_nonzero(self.positions < 0))

    @property
    def n_present(self) -> int:
        """The number of records with a value."""
        return self.n - self.n_missing

    @property
    def n_distinct(self) -> int:
        """The number of distinct values."""
        return len(self.distinct)

    @cached_property
    def counts(self) -> IntArray:
        """How many records have each distinct value, shape (distinct values,)."""
        return np.bincount(self.positions[self.positions >= 0], minlength=self.n_distinct)

    @cached_property
    def texts(self) -> pd.Series[str]:
        """The distinct values as text without blanks around it, shape (distinct values,)."""
        values = self.distinct.to_numpy(dtype=object)
        return pd.Series([(value if type(value) is str else category(value)).strip() for value in values], dtype=object)

    @cached_property
    def folded(self) -> list[str]:
        """The same texts in small letters without accents."""
        return [folded(text) for text in self.texts]

    def n_where(self, chosen: NDArray[np.bool_]) -> int:
        """Return the number of records that have one of the ``chosen`` distinct values, shape (distinct values,)."""
        return int(self.counts[chosen].sum())

    def values(self, chosen: NDArray[np.bool_]) -> tuple[Any, ...]:
        """Return the ``chosen`` distinct values as Python's own."""
        if not chosen.any():  # as of most columns
            return ()
        return tuple(value.item() if isinstance(value, np.generic) else value for value in self.distinct[chosen])


# --- columns that settle each other's values -------------------------------------------------------------------------

# Records that are looked at first: they rule out nearly every pair of columns.
_SAMPLE = 2_000

# Above the position of any value.
_NONE = np.iinfo(np.int64).max


def determined_by(frame: IntoDataFrame, columns: Sequence[Any] | None = None) -> dict[Hashable, tuple[Hashable, ...]]:
    """Return the columns that determine each of ``columns`` (by default all); those that none does are left out.

    A column determines another if records that agree in it agree in the other, as a city determines its country.
    Records in which one of the two is missing are not compared. Columns with one value, or with more distinct values
    than half the records, take no part: they determine nothing, or trivially everything.

    Raises
    ------
    DataError
        If ``frame`` is not a table with unique column names on one level, or lacks a column.
    """
    frame = as_pandas(frame)
    names = list(frame.columns if columns is None else columns)
    check_columns(frame, names)
    counted = [values for name in names if (values := ColumnValues.of(frame[name])) and can_determine(values)]
    table = determinations(counted)
    return {
        column.name: tuple(counted[i].name for i in np.flatnonzero(table[:, j]))
        for j, column in enumerate(counted)
        if table[:, j].any()
    }


def can_determine(column: ColumnValues) -> bool:
    """Whether a column has enough values to say something of others, and few enough to say it of several records."""
    return 2 <= column.n_distinct <= column.n / 2


def determinations(columns: Sequence[ColumnValues]) -> NDArray[np.bool_]:
    """Return which of the d ``columns`` determine which, shape (d, d): True in row i, column j if i determines j.

    Both must be present in at least half of the records; no column counts as determining itself.
    """
    d = len(columns)
    table = np.zeros((d, d), dtype=np.bool_)
    if d < 2:
        return table
    positions = np.column_stack([column.positions for column in columns])
    sample = positions[:: -(-len(positions) // _SAMPLE)]
    for i in range(d):
        others = np.array([j for j in range(d) if j != i])
        others = others[_determined(sample, i, others)]
        if len(others):
            shared = (positions[:, [i]] >= 0) & (positions[:, others] >= 0)
            others = others[2 * shared.sum(axis=0) >= len(positions)]
        if len(others):
            table[i, others[_determined(positions, i, others)]] = True
    return table


def _determined(positions: IntArray, i: int, others: IntArray) -> NDArray[np.bool_]:
    """Return for each of ``others`` whether it has one value at most within each value of column ``i``."""
    present = positions[positions[:, i] >= 0]
    if not len(present):
        return np.ones(len(others), dtype=np.bool_)
    ordered = present[np.argsort(present[:, i], kind="stable")]
    starts = np.flatnonzero(np.diff(ordered[:, i], prepend=-1))
    values = ordered[:, others]
    highest = np.maximum.reduceat(values, starts, axis=0)
    lowest = np.minimum.reduceat(np.where(values < 0, _NONE, values), starts, axis=0)
    # Where no record has a value, the highest is that of a gap and the lowest stayed above all.
    return np.asarray(((lowest == highest) | (highest < 0)).all(axis=0))


# --- text that reads as numbers ---------------------------------------------------------------------------------------

# The share of records that must be numbers for an offer, and the largest number of other distinct values.
_MOST = 0.8
_EXCEPTIONS = 20

# A telephone number, leading zeros, and what a program may have made 1000 of: 10E2, which is not 100E1.
_LIKE_CODES = re.compile(r"\+\d{7,}|[-+]?0\d+|\d+[eE]\d+", re.ASCII)
# With a point for a decimal comma's thousands: 1.234, which programs read as 1.234 all the same.
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}", re.ASCII)


@dataclass(frozen=True)
class AsNumbers:
    """How a column of text reads as numbers in one of the :data:`microagg.columns.numerals.NOTATIONS`."""

    notation: str
    #: A text of the column, and the number that it is, as programs write it.
    example: str
    number: str
    n: int  # the records that say a number
    #: The values that are no number, and would count as missing, the most frequent first; and the records with each.
    codes: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def n_codes(self) -> int:
        """The records that say no number, though they have a value."""
        return sum(self.counts)

    def without(self, values: Sequence[str], counts: Sequence[int]) -> Self:
        """Return the same with numbers that stand for missing ones among the codes for missing ones."""
        codes, n = (*self.codes, *values), self.n - sum(counts)
        return replace(self, n=n, codes=codes, counts=(*self.counts, *counts))

    @property
    def is_like_code(self) -> bool:
        """Whether the text may be a code of digits, such as a telephone number, rather than a number."""
        return _LIKE_CODES.fullmatch(self.example) is not None

    @property
    def lost(self) -> str:
        """The values that are no number with their counts, as text: ``'unknown' (12), '< 5' (3)``; empty if none."""
        each = [f"{value!r} ({count:,})" for value, count in zip(self.codes, self.counts, strict=True)]
        return listing(each, 6)


def is_sure(texts: Sequence[str]) -> bool:
    """Whether ``texts``, all of them numbers, are unambiguous, so that nobody has to confirm them."""
    if not all(numerals.is_plain(text) and not _LIKE_CODES.fullmatch(text) for text in texts):
        return False
    grouped = [text for text in texts if "." in text]
    return not grouped or not all(_GROUPED.fullmatch(text) for text in grouped)


def offers(
    column: ColumnValues, numbers: Mapping[str, FloatArray], silent: NDArray[np.bool_]
) -> tuple[tuple[AsNumbers, ...], str]:
    """Return the ways to read a column of text as numbers, and a sentence on them; two ways where it is ambiguous.

    There are none, with an empty sentence, if too many values are no numbers or the name is that of an identifier; none
    with a sentence if numbers contradict each other. ``numbers`` are the :func:`microagg.columns.numerals.values` of
    the distinct values, and ``silent``, shape (distinct values,), says which of these stand for a missing one.
    """
    fits = says_number(numbers)
    rest = ~fits & ~silent
    n_fit, n_odd = column.n_where(fits), column.n_where(rest)
    if not n_fit or n_fit < _MOST * (n_fit + n_odd) or np.count_nonzero(rest) > _EXCEPTIONS:
        return (), ""
    if NUMBERED.in_name(column.name) or PERSONAL.in_name(column.name):
        return (), ""
    evidence = numerals.shown_by(column.texts.tolist(), numbers)
    if not evidence.notations:
        one = f"of {evidence.point!r} and {evidence.comma!r} one has a decimal comma"
        return (), f"numbers, but {one}: recode one of them"
    texts = column.texts[fits].tolist()
    if two := numerals.mixed_units(texts):
        return (), f"numbers, but {two[0]!r} and {two[1]!r} are not in the same unit: recode those of one"
    # The first text that is not plain, or may be a code; the first one if there is none.
    telling = (text for text in texts if not numerals.is_plain(text) or _LIKE_CODES.fullmatch(text))
    example = evidence.unclear if len(evidence.notations) > 1 and evidence.unclear else next(telling, texts[0])
    readings = tuple(_as_numbers(column, notation, numbers[notation], example) for notation in evidence.notations)
    first, n = readings[0], column.n_present
    count = f"all {n:,}" if first.n == n else f"{first.n:,} of {n:,}"
    meant = " or for ".join(each.number for each in readings)
    which = ", and nothing shows which" if len(readings) > 1 else ""
    lost = f"; not numbers: {first.lost}" if first.lost else ""
    return readings, f"text that reads as numbers: {count}, such as {first.example!r} for {meant}{which}{lost}"


def says_number(numbers: Mapping[str, FloatArray]) -> NDArray[np.bool_]:
    """Return which texts are numbers in any notation, shape (n,)."""
    return ~np.logical_and.reduce([np.isnan(each) for each in numbers.values()])


def _as_numbers(column: ColumnValues, notation: str, numbers: FloatArray, example: str) -> AsNumbers:
    lost = np.isnan(numbers)
    each = sorted(zip(column.values(lost), column.counts[lost].tolist(), strict=True), key=lambda pair: -pair[1])
    codes, counts = tuple(value for value, _ in each), tuple(count for _, count in each)
    number = numerals.parse(example, notation)
    return AsNumbers(notation, example, category(number), column.n_where(~lost), codes, counts)
