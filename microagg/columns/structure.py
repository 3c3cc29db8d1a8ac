"""What values show of a column: integers that are codes, and roles that several columns show together.

Replicate weights, numbers of persons in households, and a second weight show only beside other columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from microagg.columns.kinds import NUMERIC, REPEATED
from microagg.columns.names import words
from microagg.columns.suggested_roles import LARGEST_HOUSEHOLD, Evidence, Suggestion, is_nested
from microagg.columns.values import ColumnValues, are_whole
from microagg.validation import FloatArray, IntArray, listing

# --- integers that are codes of categories ----------------------------------------------------------------------------

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
_CODED, _CODED_SUFFIX = words("coded"), re.compile(r".*[^_\W]_?code", re.IGNORECASE)
_MOST_CODES, _RECORDS_OF_CODE = 1000, 4
# Codes of one digit with a gap between them, each with at least this share of the records, and how many there are.
_MOST_DIGITS, _MIN_SHARE, _MIN_CODES = 9, 0.01, 3
# A gap is an integer with at most these parts of the records of frequent ones, which have so many at least; the second
# part is that of integers up to the last number.
_SHORT_DEPTH, _DEPTH, _HIGH, _LARGEST_CODE = 4, 10, 30, 12
# Counts, whose names say it, may be heaped.
_QUANTITY = words("quantity")
# How many records for each integer from the lowest to the highest show that a rare one is no quantity.
_MIN_RECORDS = 10


def kind_of_codes(column: Evidence) -> tuple[str, str]:
    """The kind of a column of integers that are codes, and the reason. Empty if they seem to be quantities."""
    values, numbers, row = column.values, column.reading.numbers, column.survey_name
    # Lists of codes are shorter than this.
    if column.reading.kind != NUMERIC or numbers is None or len(numbers) > 2 * _MOST_CODES:
        return "", ""
    present = column.numbers
    if not len(present) or not are_whole(present):
        return "", ""
    if row is not None and row.kind:
        return ("", "") if row.kind == "numeric" else (row.kind, f"{row.survey} has codes here")
    if kind := _kind_in_label(present, column.label):
        return kind, "the label lists codes"
    if 2 <= len(present) <= min(_MOST_CODES, values.n_present / _RECORDS_OF_CODE):
        word = _CODED.in_name(values.name)
        if word or _CODED_SUFFIX.fullmatch(str(values.name)):
            return "nominal", f"integers, and the name says {word or str(values.name)!r}: codes"
    # Changes, and opinions for and against, are -1 in many records.
    if set(present) == {-1.0, 0.0, 1.0} and values.n_where(numbers == -1) < _MIN_SHARE * values.n_present:
        return "nominal", "-1 is rare besides 0 and 1: codes"
    if (
        len(present) < _MIN_CODES
        or _QUANTITY.in_name(values.name)
        or not _has_gaps(present, values.counts[~np.isnan(numbers)])
    ):
        return "", ""
    codes = listing([str(int(number)) for number in np.sort(present)], _MOST_DIGITS)
    return "nominal", f"of the integers {codes} some are rare between frequent ones: codes"


def _kind_in_label(present: FloatArray, label: str) -> str:
    """Ordinal or nominal if the label lists the codes of most values, of which there are three or more."""
    codes = [float(code) for code in _CODE.findall(label)]
    if len(present) < _MIN_CODES or np.isin(present, codes).mean() < _MIN_EXPLAINED:
        return ""
    meanings = _CODE.split(label)[2::2]
    is_graded = sum(bool(_GRADED.search(meaning)) for meaning in meanings) >= len(meanings) / 2
    return "nominal" if _REST.search(" ".join(meanings)) or not is_graded else "ordinal"


def _has_gaps(present: FloatArray, counts_of_present: IntArray) -> bool:
    """Whether few integers nearly lack one between frequent ones, as codes do and quantities do not.

    Above one digit or with 0, as quantities may be rounded, or 0 in many records: two of them, which are rarer still.
    """
    low, high, n = present.min(), present.max(), counts_of_present.sum()
    # In fewer records an integer may be rare by chance.
    if low < 0 or high > _LARGEST_CODE or n < _MIN_RECORDS * (high - low):
        return False
    is_short = low >= 1 and high <= _MOST_DIGITS
    counts = np.zeros(int(high - low) + 1)
    counts[(present - low).astype(np.int64)] = counts_of_present
    # The lower one of the highest counts on both sides.
    peaks = np.minimum(np.maximum.accumulate(counts), np.maximum.accumulate(counts[::-1])[::-1])
    least = max(_MIN_SHARE * n, REPEATED)
    is_frequent = counts >= least
    is_valley = (peaks >= max(least, _HIGH)) & (counts <= peaks / (_SHORT_DEPTH if is_short else _DEPTH))
    n_valleys = np.count_nonzero(np.diff(is_valley.astype(np.int64)) == 1)
    if n_valleys >= (1 if is_short else 2) and _has_several_distances(is_frequent & ~is_valley):
        return True
    is_rare = (peaks >= least) & (counts < _MIN_SHARE * n)
    return is_short and bool(is_rare.any()) and _has_several_distances(is_frequent)


def _has_several_distances(is_code: NDArray[np.bool_]) -> bool:
    """Whether integers, of which some are codes, have unequal distances; those of rounded numbers are equal."""
    steps = np.diff(np.flatnonzero(is_code))
    return len(steps) >= _MIN_CODES - 1 and len(set(steps)) > 1


# --- roles that several columns show together -------------------------------------------------------------------------

# The minimum number of further persons in households.
_MIN_SUPPORT = 10
# Numbered columns are replicate weights if they are at least so many, have at least so many distinct values, and means
# within this share of that of the weight.
_MIN_REPLICATES, _MIN_VALUES, _NEAR = 5, 20, 0.2
# Ascending numbers are hardly ages or years, but of households, if they are at least so many.
_MIN_HOUSEHOLDS = 150
# The share of records in which a number must count those of a household, or begin with its number.
_MIN_COUNTED = 0.99


def adjust(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Replace in place the suggestions that other columns contradict."""
    _leave_out_replicates(suggestions, columns)
    _leave_out_households(suggestions, columns)
    _leave_out_persons(suggestions, columns)
    _keep_one_weight(suggestions, columns)


def _leave_out(suggestions: list[Suggestion], i: int, reason: str, *, unsure: bool = True) -> None:
    suggestions[i] = suggestions[i]._replace(role="identifiers", reason=reason, unsure=unsure)


def _leave_out_replicates(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Make identifiers of numbered columns that each add up to about what the weight adds up to."""
    weight = next((i for i, suggestion in enumerate(suggestions) if suggestion.role == "weights"), None)
    if weight is None or not (mean := _mean(columns[weight])):
        return
    series: dict[str, list[int]] = {}
    for i, column in enumerate(columns):
        if match := re.fullmatch(r"(.*\D)\d+", str(column.values.name), re.DOTALL):
            series.setdefault(match[1], []).append(i)
    for members in series.values():
        if len(members) < _MIN_REPLICATES:
            continue
        means = np.array([_mean(columns[i]) for i in members])
        if (np.abs(means / mean - 1) <= _NEAR).all():
            name = columns[weight].values.name
            reason = (
                f"one of {len(members)} numbered columns that each add up to about what {name!r} does: "
                "replicate weights can single out a record, so leave them out"
            )
            for i in members:
                _leave_out(suggestions, i, reason, unsure=False)


def _mean(column: Evidence) -> float:
    """Mean of a column of many numbers that are 0 or greater, NaN of any other."""
    values, numbers = column.values, column.reading.numbers
    if numbers is None or values.n_distinct < _MIN_VALUES or np.nanmin(numbers) < 0:
        return float("nan")
    return float(np.nansum(numbers * values.counts)) / values.n_present


def _leave_out_households(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Make identifiers of ascending numbers, and of codes, of households."""
    for i, column in enumerate(columns):
        if suggestions[i].role == "quasi_identifiers" and (what := _households(column)):
            reason = f"{column.values.n_distinct:,} {what}, each of a few records in a row: perhaps of households"
            _leave_out(suggestions, i, reason)


def _households(column: Evidence) -> str:
    """What neighboring records share if it is too many for ages, years or categories: numbers or codes."""
    values, numbers = column.values, column.reading.numbers
    if values.n_distinct < _MIN_HOUSEHOLDS or not is_nested(values):
        return ""
    if numbers is None:
        is_code = not column.reading.is_date and values.texts.str.contains(r"\d").all()
        return "codes" if is_code else ""
    is_dense = are_whole(numbers) and np.ptp(numbers) <= 2 * values.n_distinct
    return "ascending numbers" if is_dense and (np.diff(numbers) > 0).all() else ""


def _leave_out_persons(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Make identifiers of numbers of persons in households, and of those of household and person together."""
    households = [
        column
        for suggestion, column in zip(suggestions, columns, strict=True)
        if suggestion.role == "identifiers" and is_nested(column.values)
    ]
    for i, column in enumerate(columns):
        numbers = column.reading.numbers
        if suggestions[i].role != "quasi_identifiers" or column.values.n_missing or numbers is None:
            continue
        if are_whole(numbers):
            reasons = (_nested_reason(column.values, numbers, household) for household in households[:2])
            if reason := next(filter(None, reasons), ""):
                _leave_out(suggestions, i, f"{reason}: leave it out")


def _nested_reason(values: ColumnValues, distinct: FloatArray, household: Evidence) -> str:
    """Reason why a column numbers persons within households. Empty if it does not."""
    numbers, above = distinct[values.positions], household.values
    # Equally many records of each are the waves of a panel.
    if above.counts.min() < above.counts.max() and 2 < values.n_distinct <= LARGEST_HOUSEHOLD:
        positions = _position_in(above.positions)
        is_counted, is_further = numbers == positions + distinct.min(), positions > 0
        has_support = distinct.min() in (0, 1) and np.count_nonzero(is_further) >= _MIN_SUPPORT
        if has_support and min(is_counted.mean(), is_counted[is_further].mean()) >= _MIN_COUNTED:
            return f"it counts the records of each {str(above.name)!r}, as the number of a person in a household does"
    if values.n_distinct == values.n and household.reading.numbers is not None:
        of_household = household.reading.numbers[above.positions]
        if any(np.mean(numbers // 10**digits == of_household) >= _MIN_COUNTED for digits in (1, 2, 3)):
            return f"it begins with {str(above.name)!r} and is different in each record"
    return ""


def _position_in(positions: IntArray) -> IntArray:
    """The position of each record in its block of equal neighbors, from 0, shape (n,)."""
    starts = np.flatnonzero(np.diff(positions, prepend=-1))
    return np.arange(len(positions)) - np.repeat(starts, np.diff(starts, append=len(positions)))


def _keep_one_weight(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Leave out all weights but the first that is clear and varies: several together single out a record."""
    weights = [i for i, suggestion in enumerate(suggestions) if suggestion.role == "weights"]
    weights.sort(key=lambda i: (columns[i].values.n_distinct < 2, suggestions[i].unsure))
    for i in weights[1:]:
        name = columns[weights[0]].values.name
        reason = f"a weight too, but {name!r} is taken for the weight of a record, so leave it out"
        _leave_out(suggestions, i, reason)
