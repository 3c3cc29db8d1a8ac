"""Whether integers are codes of categories: by the survey, the label, the name's words, or gaps between the codes."""

from __future__ import annotations

import re

import numpy as np

from microagg.columns.evidence import ColumnValues, Words, is_whole
from microagg.columns.kinds import NUMERIC, REPEATED, Reading
from microagg.columns.survey_names import KnownName
from microagg.validation import FloatArray, listing

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
    return ("nominal", f"the integers {_listed(present)} have gaps: codes") if _has_gaps(values, numbers) else ("", "")


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
    """Whether a few integers of one digit, none 0, nearly lack one that lies between frequent ones."""
    present = numbers[~np.isnan(numbers)]
    if len(present) < _MIN_CODES or present.min() < 1 or present.max() > _MOST_DIGITS:
        return False
    is_frequent = values.counts >= max(_MIN_SHARE * values.n_present, REPEATED)
    frequent = numbers[is_frequent & ~np.isnan(numbers)]
    # In fewer records an integer may be rare by chance.
    if len(frequent) < _MIN_CODES or values.n_present < _MIN_RECORDS * np.ptp(present):
        return False
    steps = np.diff(np.sort(frequent))
    used = numbers[(values.counts >= _MIN_SHARE * values.n_present) & ~np.isnan(numbers)]
    has_gap = len(np.setdiff1d(np.arange(frequent.min(), frequent.max()), used)) > 0
    # Rounded numbers have equal distances.
    return has_gap and len(set(steps)) > 1


def _listed(present: FloatArray) -> str:
    return listing([str(int(number)) for number in np.sort(present)], _MOST_DIGITS)
