"""What codebooks say of columns: names in large surveys, and integers that are codes of categories.

The names stand in ``survey_names.csv``, which anybody can extend. A name that other files have too counts only in a
file with a distinctive name of the same survey. Codes show by the survey, the label, words of the name, or gaps between
the codes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from microagg.columns.evidence import ColumnValues, Words, is_whole
from microagg.columns.kinds import NUMERIC, REPEATED, Reading
from microagg.validation import FloatArray, listing

PATH = Path(__file__).with_name("survey_names.csv")

#: Roles in the file besides those of a schema, with the latter: both need a word on the design of the sample.
PSU, REPLICATE_WEIGHTS = "psu", "replicate_weights"


@dataclass(frozen=True)
class KnownName:
    """A row of the file."""

    #: Folded; ``#`` stands for any digits, ``?`` for one letter.
    name: str
    survey: str
    role: str  # of a schema, :data:`PSU` or :data:`REPLICATE_WEIGHTS`
    kind: str  # one of :data:`microagg.columns.records.KINDS`, empty for identifiers and weights
    meaning: str
    alone: str  # "yes" if hardly any other file has this name, otherwise "no"
    source: str  # title and host of the codebook

    @property
    def is_distinctive(self) -> bool:
        """Whether hardly any other file has this name."""
        return self.alone == "yes"

    @property
    def sentence(self) -> str:
        """What the column is, for reasons."""
        return f"the name is that of {self.survey} for: {self.meaning}"


@cache
def survey_names() -> tuple[KnownName, ...]:
    """The rows of the file, in its order."""
    with PATH.open(encoding="utf-8", newline="") as file:
        return tuple(KnownName(**row) for row in csv.DictReader(file))


def known_names(columns: Iterable[Hashable]) -> dict[Hashable, KnownName]:
    """Columns of one file whose names a survey has, with the row of each: of a survey that the file seems to be of."""
    rows_by_column = {column: rows for column in columns if (rows := _rows_of(str(column).lower()))}
    surveys = {row.survey for rows in rows_by_column.values() for row in rows if row.is_distinctive}
    chosen = {
        column: next((row for row in rows if row.is_distinctive or row.survey in surveys), None)
        for column, rows in rows_by_column.items()
    }
    return {column: row for column, row in chosen.items() if row is not None}


def _rows_of(name: str) -> tuple[KnownName, ...]:
    exact, patterns = _index()
    if name in exact:
        return exact[name]
    return tuple(row for pattern, row in patterns if pattern.fullmatch(name))


@cache
def _index() -> tuple[dict[str, tuple[KnownName, ...]], tuple[tuple[re.Pattern[str], KnownName], ...]]:
    """Rows by name, and those whose name is a pattern with it."""
    exact: dict[str, tuple[KnownName, ...]] = {}
    patterns = []
    for row in survey_names():
        if {"#", "?"} & set(row.name):
            expression = re.escape(row.name).replace(r"\#", r"\d+").replace(r"\?", "[a-z]")
            patterns.append((re.compile(expression), row))
        else:
            exact[row.name] = (*exact.get(row.name, ()), row)
    return exact, tuple(patterns)


# --- codes of categories ----------------------------------------------------------------------------------------------

# Codes with a meaning, such as "1: Married, 2: Widowed"; the share of the values that such a list explains.
_CODE = re.compile(r"(?<![\d.])(-?\d{1,3})\s*[:=](?!\d)")
_MIN_EXPLAINED = 0.8
# Meanings without an order, and those with one.
_REST = re.compile(r"\b(other|unknown|missing|refused|don.t know|not? (applicable|answer|stated))\b", re.IGNORECASE)
_GRADED = re.compile(
    r"\d|\b(very|moderate\w*|little|much|less|more|low|high|never|always|often|seldom|poor|fair|good|excellent"
    r"|(dis)?agree|drop\w*)\b",
    re.IGNORECASE,
)

# Columns whose integers are codes, of which there are at most as many and of which each stands for some records.
_CODED = Words(
    "sex gender race ethnicity region province marital religion occupation industry relationship nationality language "
    "citizenship geschlecht familienstand beruf staatsangehorigkeit sexo parentesco ocupacion sexe profession etni "
    "marstat comp",
    "ethnic occup branch bundesland",
)
_CODED_SUFFIX = re.compile(r".*[^_\W]_?code", re.IGNORECASE)
_MOST_CODES, _RECORDS_OF_CODE = 1000, 4
# Codes of one digit with a gap between them, each with at least this share of the records, and how many there are.
_MOST_DIGITS, _MIN_SHARE, _MIN_CODES = 9, 0.01, 3
# A gap is an integer with at most these parts of the records of frequent ones, which have so many at least; the second
# part is that of integers up to the last number.
_SHORT_DEPTH, _DEPTH, _HIGH, _LARGEST_CODE = 4, 10, 30, 12
# Counts, whose names say it, may be heaped.
_QUANTITY = Words("day hour year yr month week number num count time size age")
# How many records for each integer from the lowest to the highest show that a rare one is no quantity.
_MIN_RECORDS = 10


def kind_of_codes(values: ColumnValues, reading: Reading, label: str, survey_name: KnownName | None) -> tuple[str, str]:
    """The kind of a column of integers that are codes, and the reason. Empty if they seem to be quantities."""
    numbers = reading.numbers
    if reading.kind != NUMERIC or numbers is None:
        return "", ""
    # Lists of codes are shorter than this.
    present = numbers[~np.isnan(numbers)] if len(numbers) <= 2 * _MOST_CODES else np.array([])
    if not len(present) or not is_whole(present):
        return "", ""
    if survey_name is not None and survey_name.kind:
        return ("", "") if survey_name.kind == "numeric" else (survey_name.kind, f"{survey_name.survey} has codes here")
    if kind := _kind_in_label(present, label):
        return kind, "the label lists codes"
    if 2 <= len(present) <= min(_MOST_CODES, values.n_present / _RECORDS_OF_CODE):
        word = _CODED.in_name(values.name)
        if word or _CODED_SUFFIX.fullmatch(str(values.name)):
            return "nominal", f"integers, and the name says {word or str(values.name)!r}: codes"
    # Changes, and opinions for and against, are -1 in many records.
    if set(present) == {-1.0, 0.0, 1.0} and values.n_where(numbers == -1) < _MIN_SHARE * values.n_present:
        return "nominal", "-1 is rare besides 0 and 1: codes"
    if len(present) < _MIN_CODES or _QUANTITY.in_name(values.name) or not _has_gaps(values, numbers):
        return "", ""
    return "nominal", f"of the integers {_listed(present)} some are rare between frequent ones: codes"


def _kind_in_label(present: FloatArray, label: str) -> str:
    """Ordinal or nominal if the label lists the codes of most values, of which there are three or more."""
    codes = _CODE.findall(label)
    is_listed = np.isin(present, [float(code) for code in codes]) if codes else np.zeros(len(present), dtype=np.bool_)
    if len(present) < _MIN_CODES or is_listed.mean() < _MIN_EXPLAINED:
        return ""
    meanings = _CODE.split(label)[2::2]
    is_graded = sum(bool(_GRADED.search(meaning)) for meaning in meanings) >= len(meanings) / 2
    return "nominal" if _REST.search(" ".join(meanings)) or not is_graded else "ordinal"


def _has_gaps(values: ColumnValues, numbers: FloatArray) -> bool:
    """Whether few integers nearly lack one between frequent ones, as codes do and quantities do not.

    Above one digit or with 0, as quantities may be rounded, or 0 in many records: two of them, which are rarer still.
    """
    is_present = ~np.isnan(numbers)
    present = numbers[is_present]
    low, high = present.min(), present.max()
    # In fewer records an integer may be rare by chance.
    if low < 0 or high > _LARGEST_CODE or values.n_present < _MIN_RECORDS * (high - low):
        return False
    is_short = low >= 1 and high <= _MOST_DIGITS
    counts = np.zeros(int(high - low) + 1)
    counts[(present - low).astype(np.int64)] = values.counts[is_present]
    # The lower one of the highest counts on both sides.
    peaks = np.minimum(np.maximum.accumulate(counts), np.maximum.accumulate(counts[::-1])[::-1])
    least = max(_MIN_SHARE * values.n_present, REPEATED)
    is_frequent = counts >= least
    is_valley = (peaks >= max(least, _HIGH)) & (counts <= peaks / (_SHORT_DEPTH if is_short else _DEPTH))
    n_valleys = np.count_nonzero(np.diff(is_valley.astype(np.int64)) == 1)
    if n_valleys >= (1 if is_short else 2) and _has_several_distances(is_frequent & ~is_valley):
        return True
    is_rare = (peaks >= least) & (counts < _MIN_SHARE * values.n_present)
    return is_short and bool(is_rare.any()) and _has_several_distances(is_frequent)


def _has_several_distances(is_code: NDArray[np.bool_]) -> bool:
    """Whether integers, of which some are codes, have unequal distances; those of rounded numbers are equal."""
    steps = np.diff(np.flatnonzero(is_code))
    return len(steps) >= _MIN_CODES - 1 and len(set(steps)) > 1


def _listed(present: FloatArray) -> str:
    return listing([str(int(number)) for number in np.sort(present)], _MOST_DIGITS)
