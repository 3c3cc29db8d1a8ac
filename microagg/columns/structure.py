"""Roles that several columns show together: replicate weights, nested identifiers, and one weight."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

from microagg.columns.evidence import ColumnValues, is_whole
from microagg.columns.kinds import Reading
from microagg.columns.suggested_roles import LARGEST_HOUSEHOLD, Suggestion, is_nested
from microagg.validation import IntArray

# The minimum number of further persons in households.
_MIN_SUPPORT = 10
# Numbered columns are replicate weights if they are at least so many, have at least so many distinct values, and means
# within this share of that of the weight.
_MIN_REPLICATES, _MIN_VALUES, _NEAR = 5, 20, 0.2
# Ascending numbers are hardly ages or years, but of households, if they are at least so many.
_MIN_HOUSEHOLDS = 150
# The share of records in which a number must count those of a household, or begin with its number.
_MIN_COUNTED = 0.99

Columns = Sequence[ColumnValues | None]


def adjust(suggestions: list[Suggestion], columns: Columns, readings: Sequence[Reading | None]) -> None:
    """Replace in place the suggestions that other columns contradict."""
    _leave_out_replicates(suggestions, columns, readings)
    _leave_out_nested(suggestions, columns, readings)
    _keep_one_weight(suggestions, columns)


def _leave_out(suggestions: list[Suggestion], i: int, reason: str, *, unsure: bool = False) -> None:
    suggestions[i] = suggestions[i]._replace(role="identifiers", reason=reason, unsure=unsure)


def _leave_out_replicates(suggestions: list[Suggestion], columns: Columns, readings: Sequence[Reading | None]) -> None:
    """Make identifiers of numbered columns that each add up to about what the weight adds up to."""
    weight = next((i for i, suggestion in enumerate(suggestions) if suggestion.role == "weights"), None)
    if weight is None:
        return
    series: dict[str, list[int]] = {}
    for i, values in enumerate(columns):
        if values is not None and (match := re.fullmatch(r"(.*\D)\d+", str(values.name), re.DOTALL)):
            series.setdefault(match[1], []).append(i)
    mean = _mean(columns[weight], readings[weight])
    for members in series.values():
        if len(members) < _MIN_REPLICATES or not mean:
            continue
        means = np.array([_mean(columns[i], readings[i]) for i in members])
        if (np.abs(means / mean - 1) <= _NEAR).all():
            name = getattr(columns[weight], "name", None)
            reason = f"one of {len(members)} numbered columns that each add up to about what {name!r} does"
            for i in members:
                _leave_out(suggestions, i, f"{reason}: replicate weights can single out a record, so leave them out")


def _mean(values: ColumnValues | None, reading: Reading | None) -> float:
    """Mean of a column of many numbers that are 0 or greater, NaN of any other."""
    if values is None or reading is None or reading.numbers is None or values.n_distinct < _MIN_VALUES:
        return float("nan")
    numbers = reading.numbers
    return float("nan") if np.nanmin(numbers) < 0 else float(np.nansum(numbers * values.counts)) / values.n_present


def _leave_out_nested(suggestions: list[Suggestion], columns: Columns, readings: Sequence[Reading | None]) -> None:
    """Make identifiers of ascending numbers of households, of persons in them, and of both together."""
    whole = {i: values for i, values in enumerate(columns) if values is not None and _is_whole(values, readings[i])}
    for i, values in enumerate(columns):
        if values is None or suggestions[i].role != "quasi_identifiers":
            continue
        ascends = i in whole and _numbers_households(values, readings[i])
        if ascends or _codes_households(values, readings[i]):
            codes = "ascending numbers" if ascends else "codes"
            reason = f"{values.n_distinct:,} {codes}, each of a few records in a row: perhaps of households"
            _leave_out(suggestions, i, reason, unsure=True)
    households = [
        i
        for i, values in enumerate(columns)
        if values is not None and suggestions[i].role == "identifiers" and is_nested(values)
    ]
    for i, values in whole.items():
        if suggestions[i].role != "quasi_identifiers":
            continue
        for household in households[:2]:
            above = columns[household]
            if above is not None and (reason := _nested_reason(values, readings[i], above, readings[household])):
                _leave_out(suggestions, i, f"{reason}: leave it out", unsure=True)
                break


def _is_whole(values: ColumnValues, reading: Reading | None) -> bool:
    numbers = None if reading is None else reading.numbers
    return numbers is not None and not values.n_missing and is_whole(numbers)


def _numbers_households(values: ColumnValues, reading: Reading | None) -> bool:
    """Whether neighboring records share ascending numbers with few gaps, too many for ages or years."""
    if reading is None or reading.numbers is None or values.n_distinct < _MIN_HOUSEHOLDS or not is_nested(values):
        return False
    is_dense = np.ptp(reading.numbers) <= 2 * values.n_distinct
    return bool(is_dense and (np.diff(reading.numbers) > 0).all())


def _codes_households(values: ColumnValues, reading: Reading | None) -> bool:
    """Whether neighboring records share texts with digits, too many for categories."""
    if reading is None or reading.numbers is not None or reading.is_date or values.n_distinct < _MIN_HOUSEHOLDS:
        return False
    return is_nested(values) and bool(values.texts.str.contains(r"\d").all())


def _nested_reason(values: ColumnValues, reading: Reading | None, above: ColumnValues, of: Reading | None) -> str:
    """Reason why a column numbers persons within the households ``above``. Empty if it does not."""
    if reading is None or reading.numbers is None:
        return ""
    numbers = reading.numbers[values.positions]
    # Equally many records of each are the waves of a panel.
    if above.counts.min() < above.counts.max() and 2 < values.n_distinct <= LARGEST_HOUSEHOLD:
        positions = _position_in(above.positions)
        is_counted, is_further = numbers == positions + reading.numbers.min(), positions > 0
        has_support = reading.numbers.min() in (0, 1) and np.count_nonzero(is_further) >= _MIN_SUPPORT
        if has_support and min(is_counted.mean(), is_counted[is_further].mean()) >= _MIN_COUNTED:
            return f"it counts the records of each {str(above.name)!r}, as the number of a person in a household does"
    if values.n_distinct == values.n and of is not None and of.numbers is not None:
        households = of.numbers[above.positions]
        if any(np.mean(numbers // 10**digits == households) >= _MIN_COUNTED for digits in (1, 2, 3)):
            return f"it begins with {str(above.name)!r} and is different in each record"
    return ""


def _position_in(positions: IntArray) -> IntArray:
    """The position of each record in its block of equal neighbors, from 0, shape (n,)."""
    starts = np.flatnonzero(np.diff(positions, prepend=-1))
    return np.arange(len(positions)) - np.repeat(starts, np.diff(starts, append=len(positions)))


def _keep_one_weight(suggestions: list[Suggestion], columns: Columns) -> None:
    """Leave out all weights but the first that is clear and varies: several together single out a record."""
    weights = [i for i, suggestion in enumerate(suggestions) if suggestion.role == "weights"]
    n_distinct = {i: values.n_distinct for i in weights if (values := columns[i]) is not None}
    first, *further = sorted(weights, key=lambda i: (n_distinct[i] < 2, suggestions[i].unsure)) or [0]
    for i in further:
        name = getattr(columns[first], "name", None)
        reason = f"a weight too, but {name!r} is taken for the weight of a record, so leave it out"
        _leave_out(suggestions, i, reason, unsure=True)
