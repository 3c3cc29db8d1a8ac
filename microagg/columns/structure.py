"""What values show of a column: integers that are codes, and roles that several columns show together.

Replicate weights and a second weight show only beside other columns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from microagg.columns.kinds import NUMERIC, REPEATED
from microagg.columns.names import words
from microagg.columns.suggested_roles import Evidence, Suggestion
from microagg.columns.values import are_whole
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
# Codes of one digit with gaps between them: their number, and the share of the records that each has. Counts, whose
# names say it, may be heaped. In fewer records for each integer, one may be rare by chance.
_MOST_DIGITS, _MIN_CODES, _MIN_SHARE, _MIN_RECORDS = 9, 3, 0.01, 10
_QUANTITY = words("quantity")


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


def _has_gaps(present: FloatArray, counts: IntArray) -> bool:
    """Whether digits that are frequent have rare ones between them; those of rounded numbers have equal distances."""
    low, high, n = present.min(), present.max(), counts.sum()
    if low < 0 or high > _MOST_DIGITS or n < _MIN_RECORDS * (high - low):
        return False
    steps = np.diff(np.sort(present[counts >= max(_MIN_SHARE * n, REPEATED)]))
    return len(steps) >= _MIN_CODES - 1 and len(set(steps)) > 1


# --- roles that several columns show together -------------------------------------------------------------------------

# Numbered columns are replicate weights if they are at least so many, have at least so many distinct values, and means
# within this share of that of the weight.
_MIN_REPLICATES, _MIN_VALUES, _NEAR = 5, 20, 0.2


def adjust(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Replace in place the suggestions that other columns contradict."""
    _leave_out_replicates(suggestions, columns)
    _keep_one_weight(suggestions, columns)


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
                suggestions[i] = suggestions[i]._replace(role="identifiers", reason=reason, unsure=False)


def _mean(column: Evidence) -> float:
    """Mean of a column of many numbers that are 0 or greater, NaN of any other."""
    values, numbers = column.values, column.reading.numbers
    if numbers is None or values.n_distinct < _MIN_VALUES or np.nanmin(numbers) < 0:
        return float("nan")
    return float(np.nansum(numbers * values.counts)) / values.n_present


def _keep_one_weight(suggestions: list[Suggestion], columns: Sequence[Evidence]) -> None:
    """Leave out all weights but the first that is clear and varies: several together single out a record."""
    weights = [i for i, suggestion in enumerate(suggestions) if suggestion.role == "weights"]
    weights.sort(key=lambda i: (columns[i].values.n_distinct < 2, suggestions[i].unsure))
    for i in weights[1:]:
        name = columns[weights[0]].values.name
        reason = f"a weight too, but {name!r} is taken for the weight of a record, so leave it out"
        suggestions[i] = suggestions[i]._replace(role="identifiers", reason=reason, unsure=True)
