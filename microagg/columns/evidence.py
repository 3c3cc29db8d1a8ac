"""Evidence in columns: the words of a name, distinct values, text that is numbers.

Suggestions of kinds (:mod:`microagg.columns.kinds`) and of roles (:mod:`microagg.columns.suggested_roles`) use it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns import numerals
from microagg.columns.taxonomy import category
from microagg.validation import FloatArray, IntArray, listing


def folded(text: str) -> str:
    """Text in small letters without accents: ``"Salud (Región)"`` becomes ``"salud (region)"``."""
    return text.lower() if text.isascii() else _without_accents(text).casefold()


def _without_accents(text: str) -> str:
    # Marks of scripts other than Latin, Greek and Cyrillic stay, as they change words; invisible ones go.
    letters = (letter for letter in unicodedata.normalize("NFKD", text) if not "\u0300" <= letter <= "\u036f")
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


class Words:
    """Words that indicate what a column is: ``whole`` words, also in the plural, and ``beginnings`` of longer ones."""

    def __init__(self, whole: str, beginnings: str = "") -> None:
        self.whole, self.beginnings = frozenset(whole.split()), tuple(beginnings.split())

    def in_name(self, name: Hashable) -> str | None:
        """The first part of a column's name that is one of these words, None if there is none."""
        for part in parts(name):
            if part in self.whole or part.removesuffix("s") in self.whole or part.startswith(self.beginnings):
                return part
        return None


def parts(name: Hashable) -> list[str]:
    """Words of a column's name, folded: ``"hh_weight2"`` and ``"HHWeight"`` have ``hh`` and ``weight``."""
    return list(_parts(str(name)))


# Every rule examines the same name.
@lru_cache(maxsize=16)
def _parts(name: str) -> tuple[str, ...]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", _without_accents(name))
    return tuple(word.casefold() for word in words)


#: Numbers that an office or a file assigns to a person.
NUMBERED = Words(
    "id ident uid uuid guid ssn nr nummer numero nif dni nir siren siret iban matricule matricula passport ausweis "
    "aktenzeichen hid pid hhid idno caseid rowid recid indid persid persnr hhnr seqn seqno serialno pidp hidp",
    "identif",
)

#: Names and addresses of persons.
PERSONAL = Words(
    "surname lastname firstname fullname forename vorname nachname familienname nombre apellido nom prenom "
    "mail email phone telephone telefon telefono tel mobile handy fax address adresse anschrift direccion street "
    "strasse calle rue",
)

#: Codes, such as those of places: digits without a quantity.
CODE = Words("zip zipcode postcode postalcode postal plz cp code icd isco nace fips nuts", "postleit")


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """A column and its distinct values."""

    name: Hashable
    dtype: Any
    #: The position of each record's value among the distinct ones, -1 if it is missing, shape (n,).
    positions: IntArray
    distinct: pd.Series[Any]  # in the order of the records, shape (distinct values,)

    @classmethod
    def of(cls, series: pd.Series[Any]) -> Self | None:
        """Values of a column, None if they cannot be compared, such as lists."""
        try:
            positions, distinct = pd.factorize(series)
        except TypeError:
            return None
        positions = positions.astype(np.int64, copy=False)
        return cls(series.name, series.dtype, positions, pd.Series(distinct))

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
        """The number of records with each distinct value, shape (distinct values,)."""
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
        """Number of records with one of the ``chosen`` distinct values, shape (distinct values,)."""
        return int(self.counts[chosen].sum())

    def values(self, chosen: NDArray[np.bool_]) -> tuple[Any, ...]:
        """The ``chosen`` distinct values as Python's own types."""
        if not chosen.any():  # as of most columns
            return ()
        return tuple(value.item() if isinstance(value, np.generic) else value for value in self.distinct[chosen])


# So many of the first numbers show in most columns whether all are whole.
_FIRST = 100


def is_whole(numbers: FloatArray) -> bool:
    """Whether none of the numbers has a fraction or is missing."""
    first = numbers[:_FIRST]
    return bool((first == np.floor(first)).all() and (numbers == np.floor(numbers)).all())


# --- text that reads as numbers ---------------------------------------------------------------------------------------

# The minimum share of numbers for an offer, and the maximum number of other distinct values.
_MIN_NUMBER_SHARE = 0.8
_MAX_EXCEPTIONS = 20

# A telephone number, leading zeros, and codes that programs read as numbers: 10E2, which is not 100E1.
_LIKE_CODES = re.compile(r"\+\d{7,}|[-+]?0\d+|\d+[eE]\d+", re.ASCII)
# A point between thousands: 1.234, which programs read as a decimal.
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}", re.ASCII)


@dataclass(frozen=True)
class AsNumbers:
    """A reading of a text column as numbers in one of the :data:`microagg.columns.numerals.NOTATIONS`."""

    notation: str
    #: A text of the column, and its number in plain notation.
    example: str
    number: str
    n: int  # the records with a number
    #: The other values, which would count as missing, most frequent first; and the number of records with each.
    codes: tuple[str, ...]
    counts: tuple[int, ...]

    @property
    def n_codes(self) -> int:
        """The records with a value that is not a number."""
        return sum(self.counts)

    def without(self, values: Sequence[str], counts: Sequence[int]) -> Self:
        """Move some numbers to the missing-value codes."""
        codes, n = (*self.codes, *values), self.n - sum(counts)
        return replace(self, n=n, codes=codes, counts=(*self.counts, *counts))

    @property
    def is_like_code(self) -> bool:
        """Whether the text may be a code of digits, such as a telephone number, rather than a number."""
        return _LIKE_CODES.fullmatch(self.example) is not None

    @property
    def lost(self) -> str:
        """The other values and their counts as text, such as ``'unknown' (12), '< 5' (3)``. Empty if none."""
        texts = [f"{value!r} ({count:,})" for value, count in zip(self.codes, self.counts, strict=True)]
        return listing(texts, 6)


def is_sure(texts: Sequence[str]) -> bool:
    """Whether ``texts``, all of them numbers, are unambiguous, so that nobody has to confirm them."""
    if not all(numerals.is_plain(text) and not _LIKE_CODES.fullmatch(text) for text in texts):
        return False
    grouped = [text for text in texts if "." in text]
    return not grouped or not all(_GROUPED.fullmatch(text) for text in grouped)


def offers(
    column: ColumnValues, numbers: Mapping[str, FloatArray], silent: NDArray[np.bool_]
) -> tuple[tuple[AsNumbers, ...], str]:
    """The readings of a text column as numbers, and a sentence on them. Two readings if it is ambiguous.

    There are none, with an empty sentence, if too many values are not numbers or the name indicates an identifier; none
    with a sentence if numbers contradict each other. ``numbers`` are the :func:`microagg.columns.numerals.values` of
    the distinct values; ``silent``, shape (distinct values,), marks words for a missing value.
    """
    fits = says_number(numbers)
    is_other = ~fits & ~silent
    n_fit, n_odd = column.n_where(fits), column.n_where(is_other)
    if not n_fit or n_fit < _MIN_NUMBER_SHARE * (n_fit + n_odd) or np.count_nonzero(is_other) > _MAX_EXCEPTIONS:
        return (), ""
    if NUMBERED.in_name(column.name) or PERSONAL.in_name(column.name):
        return (), ""
    evidence = numerals.shown_by(column.texts.tolist(), numbers)
    if not evidence.notations:
        conflict = f"of {evidence.point!r} and {evidence.comma!r} one has a decimal comma"
        return (), f"numbers, but {conflict}: recode one of them"
    texts = column.texts[fits].tolist()
    if mixed := numerals.mixed_units(texts):
        return (), f"numbers, but {mixed[0]!r} and {mixed[1]!r} are not in the same unit: recode those of one"
    # The first text that is not plain, or may be a code; the first one if there is none.
    doubtful = (text for text in texts if not numerals.is_plain(text) or _LIKE_CODES.fullmatch(text))
    example = evidence.unclear if len(evidence.notations) > 1 and evidence.unclear else next(doubtful, texts[0])
    readings = tuple(_as_numbers(column, notation, numbers[notation], example) for notation in evidence.notations)
    first, n = readings[0], column.n_present
    count = f"all {n:,}" if first.n == n else f"{first.n:,} of {n:,}"
    options = " or for ".join(reading.number for reading in readings)
    doubt = ", and nothing shows which" if len(readings) > 1 else ""
    note = f"; not numbers: {first.lost}" if first.lost else ""
    return readings, f"text that reads as numbers: {count}, such as {first.example!r} for {options}{doubt}{note}"


def says_number(numbers: Mapping[str, FloatArray]) -> NDArray[np.bool_]:
    """Whether each text is a number in any notation, shape (n,)."""
    return ~np.logical_and.reduce([np.isnan(values) for values in numbers.values()])


def _as_numbers(column: ColumnValues, notation: str, numbers: FloatArray, example: str) -> AsNumbers:
    odd = np.isnan(numbers)
    pairs = sorted(zip(column.values(odd), column.counts[odd].tolist(), strict=True), key=lambda pair: -pair[1])
    codes, counts = tuple(value for value, _ in pairs), tuple(count for _, count in pairs)
    number = numerals.parse(example, notation)
    return AsNumbers(notation, example, category(number), column.n_where(~odd), codes, counts)
