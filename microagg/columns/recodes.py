"""Recodings of columns before anything else, and the meanings by which confidential values are counted.

A recoding maps values, written as by :func:`microagg.columns.taxonomy.category`, to new values; of numbers also ranges:
``[40, 50)`` from 40 to less than 50, ``>=90``, ``<0``. A value itself comes before ranges, and the first range that
holds it counts. Other values stay.
"""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import (
    is_bool_dtype,
    is_datetime64_any_dtype,
    is_float_dtype,
    is_integer_dtype,
    is_numeric_dtype,
    is_object_dtype,
    is_unsigned_integer_dtype,
)

from microagg.columns import numerals
from microagg.columns.kinds import NO_NUMBER, read_kind
from microagg.columns.names import folded
from microagg.columns.records import is_number, without_codes
from microagg.columns.schema import column_names
from microagg.columns.taxonomy import ANYTHING, category, code_length
from microagg.columns.values import ColumnValues
from microagg.errors import DataError, ParameterError
from microagg.validation import (
    FloatArray,
    IntArray,
    check_columns,
    check_present,
    counted,
    factorized,
    float_type,
    listing,
    quoted,
    shortest,
    widened,
)

#: New values of a column by the texts of old ones; None is missing.
Recoding = Mapping[str, str | None]

_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_SPAN = re.compile(rf"([\[(])\s*({_NUMBER})\s*,\s*({_NUMBER})\s*([\])])", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_BEYOND = re.compile(rf"([<>]=?)\s*({_NUMBER})", re.ASCII)


def check_recodes(recode: Any, option: str = "recode") -> dict[Hashable, dict[str, str | None]] | None:
    """Recodings by column with all values as text, None if empty."""
    if recode is None:
        return None
    if not isinstance(recode, Mapping):
        raise ParameterError(f"{option} must map columns to recodings, not be {recode!r}: write {{'column': ...}}.")
    checked = {name: _checked_recoding(f"{option} of {name!r}", changes) for name, changes in recode.items() if changes}
    return checked or None


def _checked_recoding(option: str, changes: Any) -> dict[str, str | None]:
    if not isinstance(changes, Mapping):
        raise ParameterError(
            f"{option} must map values to what they become, such as {{'f': 'female'}}, not be {changes!r}."
        )
    for value in changes:
        if value is None or value is pd.NA or value != value:
            raise ParameterError(f"{option} maps a missing value: set the treatment of missing values with missing=.")
    for value in changes.values():
        if value is not None and not isinstance(value, (str, int, float, np.number)):
            raise ParameterError(f"{option} has {value!r} for a new value: give text, a number, or None.")
    return {
        category(value): None if new is None or new == "" or new != new else category(new)
        for value, new in changes.items()
    }


def recoded(
    frame: pd.DataFrame, recodes: Mapping[Hashable, Recoding] | None, options: Mapping[str, Any] | None = None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Recode columns of ``frame`` and return it and the ``options`` of :meth:`microagg.Schema.infer` that still hold.

    Text that is numbers can have ranges, too, read by the options ``numbers`` and ``missing_codes``. Numbers stay
    numbers unless some become text; then all are categories, in the order of the numbers if ranges are mapped and the
    numbers of each new value do not overlap those of another one.
    """
    options = dict(options or {})
    numbers = options.get("numbers")
    notations = dict(numbers) if isinstance(numbers, Mapping) else dict.fromkeys(column_names("numbers", numbers))
    for name, form in notations.items():
        if form == numerals.COMMA and name in frame and is_float_dtype(frame[name].dtype):
            raise DataError(
                f"column {name!r} holds numbers that were read with a decimal point, so {form!r} is too late: read the "
                "file with decimal=',' or leave the column out of numbers."
            )
    if not recodes:
        return frame, options
    check_columns(frame, list(recodes), " (it is to be recoded)")
    result = frame.copy(deep=False)
    for name, changes in recodes.items():
        series: pd.Series[Any] = frame[name]
        changes = {_written(old, series): new for old, new in changes.items()}
        if is_number(series.dtype):
            result[name] = _recoded_numbers(series, series, changes)
        elif name in notations or (not is_bool_dtype(series) and _has_range(series, changes)):
            codes = (options.get("missing_codes") or {}).get(name, ())
            codes = [codes] if isinstance(codes, str) or not isinstance(codes, Iterable) else codes
            uncoded = without_codes(series, {*changes, *map(category, codes)})
            result[name] = _recoded_numbers(series, numerals.read(uncoded, notations.get(name)), changes)
        else:
            result[name] = _recoded_values(series, changes)
        if name in notations and not is_number(result[name].dtype):
            options["numbers"] = notations = {column: form for column, form in notations.items() if column != name}
    return result, options


def _written(value: str, series: pd.Series[Any]) -> str:
    """A value as :func:`category` writes those of a column: -999.0 as -999 among numbers, a day as its midnight."""
    if is_number(series.dtype) and re.fullmatch(_NUMBER, value, re.ASCII):
        return category(_number(value))
    return f"{value} 00:00:00" if is_datetime64_any_dtype(series) and _DAY.fullmatch(value) else value


def new_value(value: str, changes: Recoding) -> str | None:
    """New value of a value, both as text."""
    if value not in changes and re.fullmatch(_NUMBER, value, re.ASCII):
        number = _number(value)
        hits = (new for text, new in changes.items() if (span := bounds(text)) and _is_within(number, span))
        return next(hits, value)
    return changes.get(value, value)


def compose(first: Recoding, then: Recoding) -> dict[str, str | None]:
    """The recoding ``first`` followed by the recoding ``then`` of the new values."""
    after = {value: new if new is None else new_value(new, then) for value, new in first.items()}
    return after | {value: new for value, new in then.items() if new_value(value, first) == value}


def _has_range(series: pd.Series[Any], changes: Recoding) -> bool:
    ranges = [text for text in changes if bounds(text)]
    return bool(ranges) and not set(ranges) <= {category(value) for value in factorized(series)[1]}


def _direct_hits(series: pd.Series[Any], changes: Recoding) -> tuple[NDArray[np.bool_], NDArray[Any], Collection[str]]:
    """Which records have a mapped value, and the new ones, both of shape (n,), and all values as text."""
    positions, distinct = factorized(series)
    texts = [category(value) for value in distinct]
    is_recoded = np.array([*(text in changes for text in texts), False])[positions]
    return is_recoded, np.array([*map(changes.get, texts), None], dtype=object)[positions], set(texts)


def _recoded_values(series: pd.Series[Any], changes: Recoding) -> pd.Series[Any]:
    is_recoded, new_texts, _ = _direct_hits(series, changes)
    if all(text is None for text in new_texts[is_recoded]):
        return without_codes(series, set(changes))
    texts = _replaced_texts(series, is_recoded, new_texts)
    if is_datetime64_any_dtype(series) and all(_DAY.fullmatch(new) for new in new_texts[is_recoded] if new):
        with contextlib.suppress(ValueError):  # there is no 31st of June
            return texts.astype(series.dtype)
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return texts.infer_objects()
    before = [category(level) for level in series.cat.categories.to_numpy()]
    levels = _levels(before, [changes.get(level, level) for level in before])
    return texts.astype(pd.CategoricalDtype(levels, bool(series.cat.ordered)))


def _levels(before: Sequence[str], after: Sequence[str | None]) -> list[str]:
    """Recoded categories in their order: each at the place of the one that was it before, otherwise of the lowest."""
    staying = {old for old, new in zip(before, after, strict=True) if old == new}
    levels = dict.fromkeys(new for old, new in zip(before, after, strict=True) if old == new or new not in staying)
    return [level for level in levels if level is not None]


def _replaced_texts(series: pd.Series[Any], is_recoded: NDArray[np.bool_], new_texts: NDArray[Any]) -> pd.Series[Any]:
    """Values of a column as text, the new ones of the recoded records."""
    positions, distinct = factorized(series)
    texts = np.where(is_recoded, new_texts, np.array([*map(category, distinct), None], dtype=object)[positions])
    return pd.Series(texts, index=series.index, name=series.name)


def _recoded_numbers(series: pd.Series[Any], numbers: pd.Series[Any], changes: Recoding) -> pd.Series[Any]:
    """Recode a column whose values, except those mapped directly, were read as ``numbers``."""
    is_recoded, new_texts, texts = _direct_hits(series, changes)
    dtype, numbers = numbers.dtype, widened(numbers)
    values = numbers.to_numpy(dtype=np.float64, na_value=np.nan)
    by_range = np.zeros(len(values), dtype=np.bool_)
    whole: Any = "UInt64" if is_unsigned_integer_dtype(dtype) else "Int64"
    exact = numbers.astype(whole) if is_integer_dtype(dtype) else pd.Series(values)
    for text, new_text in changes.items():
        if text not in texts and (span := bounds(text)):
            in_range = ~is_recoded & _is_within(exact, span).to_numpy(dtype=np.bool_, na_value=False)
            new_texts[in_range], is_recoded[in_range], by_range[in_range] = new_text, True, True
    distinct_texts = set(new_texts[is_recoded]) - {None}
    new_numbers = {text: _number(text) for text in distinct_texts if re.fullmatch(_NUMBER, text, re.ASCII)}
    if len(new_numbers) < len(distinct_texts):
        return _ordered_if_disjoint(_replaced_texts(numbers, is_recoded, new_texts), values, by_range)
    result_values = numbers.astype(object).to_numpy(copy=True)
    result_values[is_recoded] = [None if text is None else new_numbers[text] for text in new_texts[is_recoded]]
    result = pd.Series(result_values, index=series.index, name=series.name)
    return _as_numbers(result, dtype, [*map(float, new_numbers.values())])


def _as_numbers(values: pd.Series[Any], dtype: Any, new_numbers: Collection[float]) -> pd.Series[Any]:
    """Recoded values in the type of their column if it holds the ``new_numbers`` exactly, else in a wider one."""
    if is_integer_dtype(dtype):
        if all(number.is_integer() for number in new_numbers):
            return _as_integers(values.map(int, na_action="ignore"), dtype)
        if long := next((value for value in values.dropna() if value != float(value)), None):
            raise ParameterError(
                f"{values.name!r} has {long} beside fractions after recoding, and a fraction has not so many digits: "
                "recode to whole numbers, or to a text."
            )
    with np.errstate(over="ignore"):
        fit = all(number in (shortest(number, dtype), float(float_type(dtype)(number))) for number in new_numbers)
    floats = values.where(values.notna(), np.nan)  # None and NA are no floats
    return floats.astype(dtype if is_float_dtype(dtype) and fit else np.float64)


def _number(text: str) -> float:
    """The number in a text, whole ones of up to 64 bits with all digits."""
    number = float(text)
    return int(text) if abs(number) <= 2**64 and re.fullmatch(r"[-+]?\d+", text, re.ASCII) else number


def _as_integers(values: pd.Series[Any], dtype: Any) -> pd.Series[Any]:
    """Whole numbers in the type of their column, or in one of 64 bits if it does not hold all of them."""
    known = values.dropna()
    types: list[Any] = ["Int64", "UInt64"] if len(known) < len(values) else [dtype, "int64", "uint64"]
    for each in types:
        limits = np.iinfo(pd.Series(dtype=each).to_numpy().dtype)
        if known.empty or (limits.min <= known.min() and known.max() <= limits.max):
            return values.astype(each)
    raise ParameterError(
        f"{values.name!r} has {max(known, key=abs)} after recoding, more than an integer of 64 bits holds: "
        "recode to smaller numbers, or to a text."
    )


def _ordered_if_disjoint(texts: pd.Series[Any], values: FloatArray, by_range: NDArray[np.bool_]) -> pd.Series[Any]:
    """Texts as ordered categories if the ``values`` of each are all above those of the one before."""
    spans = pd.Series(values).groupby(texts.to_numpy(), sort=False).agg(["min", "max"]).sort_values("min")
    disjoint = (spans["min"].to_numpy()[1:] > spans["max"].to_numpy()[:-1]).all()
    if not by_range.any() or spans.isna().any(axis=None) or not disjoint:
        return texts.infer_objects()
    return texts.astype(pd.CategoricalDtype(spans.index.tolist(), ordered=True))


def bounds(text: str) -> tuple[float, bool, float, bool] | None:
    """Lowest number of a range and whether it is included, and the highest likewise. None for other texts."""
    if match := _SPAN.fullmatch(text.strip()):
        return _number(match[2]), match[1] == "[", _number(match[3]), match[4] == "]"
    if match := _BEYOND.fullmatch(text.strip()):
        closed, number = match[1].endswith("="), _number(match[2])
        return (-math.inf, False, number, closed) if match[1][0] == "<" else (number, closed, math.inf, False)
    return None


def _is_within(values: Any, span: tuple[float, bool, float, bool]) -> Any:
    low, from_low, high, to_high = span
    above = values >= low if from_low else values > low
    return above & (values <= high if to_high else values < high)


def intervals(values: FloatArray, limits: Sequence[float]) -> dict[str, str | None]:
    """Recode finite ``values``, shape (n,), at least one, to intervals that begin at ``limits``.

    Values below the first limit and from the last on form an interval, too, if there are any. Intervals of whole
    numbers are named 40–49, others 40.5 to <50; below and above them <18 and 90+.
    """
    whole = bool((values == np.round(values)).all()) and all(float(limit).is_integer() for limit in limits)
    limits = sorted(set(limits))
    written = [category(limit) for limit in limits]
    ranges: dict[str, str | None] = {f"<{written[0]}": f"<{written[0]}"} if values.min() < limits[0] else {}
    for (low, high), (first, stop) in zip(pairwise(limits), pairwise(written), strict=True):
        last = category(high - 1)
        name = (first if low == high - 1 else f"{first}–{last}") if whole else f"{first} to <{stop}"
        ranges[f"[{first}, {stop})"] = name
    return ranges | ({f">={written[-1]}": f"{written[-1]}+"} if values.max() >= limits[-1] else {})


# --- meanings ---------------------------------------------------------------------------------------------------------

# A reader learns the same from hiv, HIV and "hiv ", and nothing from n/a, so counts of confidential columns use the
# values of :func:`meant`. The released column is unchanged.


def essence(value: str) -> str:
    """The value in small letters without accents, and without blanks and punctuation that have no meaning."""
    plain = " ".join(folded(value).split())
    if plain.replace(" ", "").isalnum() or not any(map(str.isalpha, plain)):
        return plain  # 1.5 and 15, or 1-2 and 12, are not the same
    # Dots and commas in numbers stay.
    plain = re.sub(r"(?<!\d)[.,;:!?'\"`´’]|[.,;:!?'\"`´’](?!\d)", "", plain)
    # Blood groups A+ and A- are not the same either: signs count unless they are between letters.
    plain = re.sub(r"(?<=[^\W\d]) ?[-_/] ?(?=[^\W\d])", " ", plain)
    return " ".join(plain.split())


# Texts without information on a person; "none" may be a diagnosis, and NC a state.
_NO_VALUES = frozenset(map(essence, NO_NUMBER)) - {"none", "nc"}


def meant(series: pd.Series[Any], changes: Recoding | None = None) -> pd.Series[Any]:
    """A column with one value for all its spelling variants. Words for a missing value become missing.

    Numbers, dates and booleans are unchanged. Texts with the same :func:`essence` become one value; empty texts and
    words such as ``n/a`` and ``unknown`` become missing; ordered categories keep their order. ``changes`` map values
    with all their spelling variants, or ranges of numbers, to other meanings, and ``*`` all other values. A meaning
    maps to itself.
    """
    mapping = {essence(old): essence(new or "") for old, new in (changes or {}).items()}
    has_type = is_number(series.dtype) or is_datetime64_any_dtype(series)
    if changes and (has_type or any(map(bounds, changes))):
        series = recoded(series.to_frame(series.name), {series.name: changes})[0][series.name]
        mapping = {new: new for new in mapping.values()} | {old: new for old, new in mapping.items() if old == ANYTHING}
    if (is_numeric_dtype(series) or is_datetime64_any_dtype(series)) and ANYTHING not in mapping:
        return series

    def meaning(text: str) -> str | None:
        # Files have an apostrophe before texts that look like formulas, and whole floats as 1.0.
        plain = essence(re.sub(r"^([-+]?\d+)\.0+$", r"\1", text.removeprefix("'")))
        default = plain if plain in _NO_VALUES else mapping.get(ANYTHING, plain)
        return None if (result_text := mapping.get(plain, default)) in _NO_VALUES else result_text

    positions, distinct = _factorized_texts(series)
    meanings = np.array([*map(meaning, map(category, distinct)), meaning("")], dtype=object)
    result = pd.Series(meanings[positions], series.index, dtype=object, name=series.name)
    if not getattr(series.dtype, "ordered", False):
        return result
    before = [category(level) for level in series.cat.categories.to_numpy()]
    levels = _levels([*map(essence, before)], [*map(meaning, before)])
    return result.astype(pd.CategoricalDtype(levels, ordered=True))


def meanings_of(
    columns: Mapping[Any, pd.Series[Any]] | pd.DataFrame,
    names: Iterable[Hashable],
    meanings: Mapping[Any, Recoding] | None,
) -> dict[Hashable, pd.Series[Any]]:
    """Columns ``names``, with the declared ``meanings`` of their values, if any."""
    declared = meanings or {}
    return {name: meant(columns[name], declared[name]) if name in declared else columns[name] for name in names}


def _factorized_texts(series: pd.Series[Any]) -> tuple[IntArray, list[Any]]:
    """Position of each record's value among the distinct ones, shape (n,), -1 if missing, and these values."""
    if not is_object_dtype(series):
        return factorized(series)
    # Among objects 1 equals True. Half characters are in no text of Arrow, which pandas would make of them.
    texts = [None if absent else category(value) for value, absent in zip(series, series.isna(), strict=True)]
    return factorized(pd.Series(texts, dtype=object, name=series.name))


def check_meant(
    series: pd.Series[Any], used: NDArray[np.bool_], so: str = "", values: pd.Series[Any] | None = None
) -> None:
    """Raise DataError with the first ``used`` record, shape (n,), with no value, or a word for a missing one."""
    meanings, problem, remedy = meant(series if values is None else values), "no value", ""
    absent = series[used & meanings.isna().to_numpy()].iloc[:1].dropna()
    text = category(absent.iloc[0]).strip() if len(absent) else ""
    if text:
        problem = f"{text!r}, which stands for no value,"
    if text or not is_numeric_dtype(series):
        remedy = f", or say what it means, such as meanings={{{series.name!r}: {{{text!r}: 'not tested'}}}}"
    check_present(meanings, used, problem, so, remedy)


def counted_as(series: pd.Series[Any], meanings: pd.Series[Any]) -> str:
    """Sentence on the values of a column that count as one, or as missing. Empty if each is its own meaning."""
    positions, distinct = _factorized_texts(series)
    codes = pd.factorize(meanings)[0]
    if len(distinct) == codes.max(initial=-1) + 1 and np.array_equal(positions < 0, codes < 0):
        return ""
    sets: dict[int, list[str]] = {}
    for row in np.flatnonzero(~pd.Series(positions).duplicated() & (positions >= 0)):
        text = category(distinct[positions[row]])
        if text.strip():
            sets.setdefault(codes[row], []).append(text)
    without = sets.pop(-1, [])
    verb = "counts" if len(without) == 1 else "count"
    clauses = [f"{quoted(without)} {verb} as no value"] if without else []
    clauses += [f"{listing([*map(repr, texts)], 5)} count as one value" for texts in sets.values() if len(texts) > 1]
    return f"In column {str(series.name)!r}, {listing(clauses, 4)}." if clauses else ""


def doubts(series: pd.Series[Any]) -> tuple[Any, ...]:
    """Numbers of a column that look like missing-value codes, though they count as values."""
    column = ColumnValues.of(series) if is_number(series.dtype) else None
    return () if column is None else read_kind(column).missing_codes


# --- suggestions ------------------------------------------------------------------------------------------------------

# The minimum and maximum number of suggested intervals.
_MIN_INTERVALS, _MAX_INTERVALS = 4, 12
# Longer texts are not codes of places, trades or illnesses.
_LONGEST_CODE = 12
#: The new category for rare ones.
OTHER = "other"


class Suggestion(NamedTuple):
    """A recoding that makes a column coarser, its description (after the word “with”), and its effect."""

    words: str
    effect: str
    recoding: dict[str, str | None]


def extreme_recodings(values: FloatArray, k: int) -> list[Suggestion]:
    """Recoding that merges the k lowest and the k highest of finite numbers, shape (n,), if possible."""
    if len(values) < 2 * k:
        return []
    ascending = np.sort(values)
    low, high = float(ascending[k - 1]), float(ascending[-k])
    n = int(np.count_nonzero((values < low) | (values > high)))
    if low >= high or not n:
        return []
    coded: dict[str, str | None] = {f"<{category(low)}": category(low), f">{category(high)}": category(high)}
    effect = f"{counted(n, 'record')} changed, at least {k:,} have each of the two"
    return [Suggestion(f"numbers below {low:,.15g} made that, and above {high:,.15g} that", effect, coded)]


def interval_recodings(values: FloatArray) -> list[Suggestion]:
    """Recodings of finite numbers, shape (n,), to a few intervals of round width, narrowest first."""
    suggestions, distinct = [], len(np.unique(values))
    if distinct <= _MAX_INTERVALS:
        return []
    for width in (digit * 10.0**power for power in range(-3, 9) for digit in (1, 2, 5)):
        with np.errstate(over="ignore", invalid="ignore"):
            first, last = np.floor(values.min() / width), np.floor(values.max() / width)
            fits = _MIN_INTERVALS <= last - first + 1 <= _MAX_INTERVALS
        if fits:
            limits = [round(float(step * width), 9) for step in np.arange(first, last + 2)]
            ranges = intervals(values, limits)
            words = f"intervals of {width:,.10g}, such as {next(iter(ranges.values()))}"
            effect = f"{len(np.unique(values // width)):,} values instead of {distinct:,}"
            suggestions.append(Suggestion(words, effect, ranges))
    return suggestions


def category_recodings(counts: Mapping[str, int], k: int) -> list[Suggestion]:
    """Recodings of categories from their ``counts``: codes shortened, or else rare ones merged."""
    suggestions = []
    length = code_length(counts)
    before = len(counts)
    for characters in range(length - 1, 0, -1) if length <= _LONGEST_CODE else ():
        shortened: dict[str, str | None] = {code: code[:characters] + "*" * (length - characters) for code in counts}
        if 1 < (n_left := len(set(shortened.values()))) < before:
            example = next(iter(shortened.values()))
            words = f"the first {'character' if characters == 1 else f'{characters} characters'}, such as {example}"
            suggestions.append(Suggestion(words, f"{n_left:,} values instead of {len(counts):,}", shortened))
        before = min(before, n_left)
    rare = [value for value, n in counts.items() if n < k]
    if not suggestions and 1 < len(rare) < len(counts):
        words = f"the {len(rare):,} values of fewer than {k:,} records made {OTHER!r}"
        effect = f"{counted(sum(counts[value] for value in rare), 'record')} changed"
        suggestions.append(Suggestion(words, effect, dict.fromkeys(rare, OTHER)))
    return suggestions


# --- spelling variants ------------------------------------------------------------------------------------------------

# A value may be a typing error of another if its length is in this range, it occurs in at most this share of the
# records, and the other in more, and at least this many times as often.
_MIN_LENGTH = 6
_MAX_LENGTH = 200
_MAX_TYPO_SHARE = 0.01
_MIN_RATIO = 5
# More single letters are grades or groups, not initials.
_MOST_INITIALS = 3


def near_duplicates(series: pd.Series[Any]) -> tuple[tuple[str, ...], ...]:
    """Sets of categories that may be spelling variants of one, each with the most frequent first.

    They differ only by capitals, blanks, accents, or punctuation between or after letters; or, with 6 to 200 letters,
    by one letter, if one of the two variants is in at most 1 % of the records and the other in more, and at least 5
    times as often; or one is a letter, one of at most three, and the only word with this initial, if each word has one.
    """
    if (column := ColumnValues.of(series)) is None:
        return ()
    pairs = zip(column.distinct, column.counts.tolist(), strict=True)
    counts = {value: n for value, n in pairs if isinstance(value, str)}
    sets: dict[str, list[str]] = {}
    for value in counts:
        sets.setdefault(essence(value), []).append(value)
    totals = {key: sum(counts[value] for value in values) for key, values in sets.items()}
    for typo, correct in _typing_errors(totals).items():
        sets[correct] += sets.pop(typo)
    for letter, word in _initials(sets).items():
        sets[word] += sets.pop(letter)
    variants = (values for values in sets.values() if len(values) > 1)
    return tuple(sorted(tuple(sorted(values, key=lambda value: (-counts[value], value))) for values in variants))


def _initials(keys: Collection[str]) -> dict[str, str]:
    """The only word with each letter as its initial, such as f for female. Empty if a word has no such letter."""
    letters = {key for key in keys if len(key) == 1 and key.isalpha()}
    words = [key for key in keys if len(key) > 2 and key.isalpha()]
    by_initial = {word[0]: word for word in words}
    fits = len(letters) + len(words) == len(keys) and len(letters) <= _MOST_INITIALS
    return by_initial if fits and len(by_initial) == len(words) and by_initial.keys() <= letters else {}


def _typing_errors(counts: Mapping[str, int]) -> dict[str, str]:
    """Frequent spelling variant for each rare one that differs from it by one letter. Of several, the most frequent."""
    bound = max(1, _MAX_TYPO_SHARE * sum(counts.values()))
    # Time grows with a text's length, and sentences are not categories.
    counts = {key: n for key, n in counts.items() if _MIN_LENGTH <= len(key) <= _MAX_LENGTH}
    frequent = sorted((key for key, n in counts.items() if n > bound), key=lambda key: (counts[key], key))
    corrections: dict[str, str] = {}
    for key in (key for key, n in counts.items() if n <= bound):
        near = [match for match in frequent if counts[match] >= _MIN_RATIO * counts[key] and _is_one_off(key, match)]
        corrections |= {key: near[-1]} if near else {}
    return corrections


def _is_one_off(text: str, variant: str) -> bool:
    """Whether two texts differ by one letter left out, added, changed or swapped with the next, not by other signs."""
    i = 0
    while i < min(len(text), len(variant)) and text[i] == variant[i]:
        i += 1
    first, second = text[i:], variant[i:]
    cases = (
        (first[1:] == second, first[:1]),
        (first == second[1:], second[:1]),
        (first[1:] == second[1:], first[:1] + second[:1]),
        (first[:2] == second[1::-1] and first[2:] == second[2:], first[:2]),
    )
    return any(fits and letters.isalpha() for fits, letters in cases)
