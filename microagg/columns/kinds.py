"""The kind of values of a column, and values that look like missing-value codes."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types

from microagg.columns import dates, numerals
from microagg.columns.names import CODE, folded
from microagg.columns.numerals import AsNumbers, is_number_text, is_sure, offers
from microagg.columns.taxonomy import category
from microagg.columns.values import ColumnValues
from microagg.tables.stata_spss import means_no_value
from microagg.validation import FloatArray, listing

# The kind of a column, one of :data:`microagg.columns.records.KINDS`, and its form: of dates one of
# :data:`microagg.columns.dates.FORMS`, of text that is numbers one of :data:`microagg.columns.numerals.NOTATIONS`,
# empty for others.
KindAndForm = tuple[str, str]

NUMERIC, ORDINAL, NOMINAL = (("numeric", ""), ("ordinal", ""), ("nominal", ""))
CATEGORIES = (ORDINAL, NOMINAL)
# Dates whose order of day and month the column shows, and dates whose order it does not show.
_CLEAR_DATES = tuple(("numeric", form) for form in dates.FORMS if dates.day_first(form) is None)
_UNCLEAR_DATES = tuple(("numeric", form) for form in dates.FORMS if dates.day_first(form) is not None)

# Texts for a missing value in any column.
_NO_VALUE = frozenset(
    ("", "?", "??", "-", "--", ".", "..", "n/a", "n.a.", "#n/a", "k.a.", "k. a.", "nan", "null", "<na>")
)
#: Texts for a missing value among numbers and dates, which may be categories among other texts.
NO_NUMBER = _NO_VALUE | frozenset(
    (
        *("unknown", "missing", "none", "na", "not available", "no answer", "refused", "don't know"),
        *("ka", "unbekannt", "keine angabe", "fehlt", "weiss nicht", "sin dato", "desconocido", "s/d", "nc", "inconnu"),
    )
)

# Marks of suppressed cells among numbers: of Eurostat (":"), the ONS ("[c]"), Destatis ("/") and the US Census Bureau
# ("(d)", "(s)"); and counts below a threshold ("<5").
_SUPPRESSED = re.compile(r"\*+|\.{2,3}|…|/|: ?[a-z]{0,2}|<=? ?\d+|\([cdsx]\)|\[[cdsx]\]|n\.?p\.?|suppressed")

# The minimum share of numbers, or dates, in a text column; other values are then exceptions.
_MIN_SHARE = 0.95
# The maximum number of distinct exceptions.
_MAX_EXCEPTIONS = 5
# The number of distinct values of a first test, as most text is neither number nor date.
_N_TESTED = 200

_NEGATIVE_CODES = (-1, -7, -8, -9, -77, -88, -97, -98, -99, -777, -888, -997, -998, -999, -9999, -99999)
_POSITIVE_CODES = (97, 98, 99, 777, 888, 997, 998, 999, 7777, 8888, 9997, 9998, 9999, 99999, 999999, 9999999)
# Among decimals -9 and 99 may be measurements; -77 and less, if no other is negative, hardly.
_CODE_AMONG_DECIMALS = -77

#: A value that looks like a code and occurs at least this often is hardly a measurement.
REPEATED = 5

# Days that programs and people enter for a missing date, and their minimum distance from all other days.
_CODE_DAYS = np.array(
    ["1753-01-01", "1800-01-01", "1899-12-30", "1899-12-31", "1900-01-01", "1901-01-01", "2099-12-31", "9999-12-31"],
    dtype="M8[D]",
)
_CODE_DISTANCE = np.timedelta64(5 * 365, "D")

# The number of examples of ambiguous dates.
_EXAMPLES = 3

# Whole numbers with at most this many distinct values may be categories; with more than the second, they are not.
_FEW_NUMBERS = 20
_MOST_CATEGORIES = 200
# Nominal categories with at least this share of numbers are hardly names.
_NUMBER_CATEGORIES = 0.8


@dataclass(frozen=True, eq=False)
class Reading:
    """The kind of values of a column."""

    #: The likeliest kind and form, empty if a column cannot be a quasi-identifier; and all possible ones.
    kind: KindAndForm = ("", "")
    kinds: tuple[KindAndForm, ...] = ()
    #: The values that look like missing-value codes.
    missing_codes: tuple[Any, ...] = ()
    reasons: tuple[str, ...] = ()
    #: The number of each distinct value, NaN for other values and missing-value codes; None without numbers.
    numbers: FloatArray | None = None
    #: The possible readings of text as numbers if a person has to decide; two if it is ambiguous.
    offers: tuple[AsNumbers, ...] = ()
    #: Whether the name indicates that digits are codes, such as those of places.
    is_code: bool = False
    #: Whether the missing-value codes may be values, so that they count as missing only if a person decides so.
    doubtful: bool = False
    #: The first few texts of dates whose order of day and month is unclear.
    unclear: tuple[str, ...] = ()
    #: Whether labels of the file say which values are missing-value codes.
    labelled: bool = False

    @property
    def is_date(self) -> bool:
        """Whether the values are dates, or text whose order of day and month is clear."""
        return self.kind in _CLEAR_DATES


_YES_OR_NO = Reading(NOMINAL, (NOMINAL, NUMERIC), reasons=("yes or no",))


def read_kind(column: ColumnValues, labels: Mapping[Any, str] | None = None) -> Reading:
    """The kind of values of a column: by its type, and for text, by the texts; ``labels`` are those of numbers."""
    dtype = column.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        if not dtype.ordered:
            return Reading(NOMINAL, CATEGORIES)
        # "Refused" is no step of an order, unless there is no other.
        absent = np.array([means_no_value(text) for text in column.texts], dtype=np.bool_)
        absent &= not absent.all()
        reasons = ("the file gives the categories an order", *_codes(column, absent))
        return Reading(ORDINAL, CATEGORIES, column.values(absent), reasons, doubtful=bool(absent.any()))
    if types.is_bool_dtype(dtype):
        return _YES_OR_NO
    if types.is_datetime64_any_dtype(dtype):
        return _dates(column)
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        # Objects too may have a type of numbers.
        distinct = column.distinct if isinstance(column.distinct.dtype, np.dtype) else pd.to_numeric(column.distinct)
        return _numbers(column, distinct.to_numpy(dtype=np.float64, na_value=np.nan), labels or {})
    if column.n_distinct and (types.is_string_dtype(dtype) or types.is_object_dtype(dtype)):
        return _objects(column)
    return Reading(reasons=() if column.n_distinct == 0 else (holds_neither(column.distinct),))


def number_categories(name: Hashable, categories: Sequence[str]) -> str:
    """Clause on nominal categories that are mostly numbers. Empty if they are few, or codes by the name or zeros."""
    n = sum(is_sure([text.strip()]) for text in categories)
    if n <= _FEW_NUMBERS or n < _NUMBER_CATEGORIES * len(categories) or CODE.in_name(name):
        return ""
    return f"{n} of {len(categories)} categories are numbers"


def holds_neither(present: pd.Series[Any]) -> str:
    """Sentence on values that cannot be a quasi-identifier."""
    return f"holds neither numbers, nor dates, nor categories, but {type(present.iloc[0]).__name__}"


def _objects(column: ColumnValues) -> Reading:
    if types.is_object_dtype(column.dtype):
        kinds = {type(value) for value in column.distinct}
        if kinds <= {bool, np.bool_}:
            return _YES_OR_NO
        if all(issubclass(kind, datetime.date) for kind in kinds):
            return _dates(column)
        plain_types = (str, bool, np.bool_, int, float, np.number, decimal.Decimal)
        if not all(issubclass(kind, plain_types) and not issubclass(kind, np.complexfloating) for kind in kinds):
            return Reading(reasons=(holds_neither(column.distinct),))
    for reader in (_digits, _number_text, _date_text):
        if (reading := reader(column)) is not None:
            return reading
    is_na_text = np.array([text == "NA" for text in column.texts], dtype=np.bool_)
    doubtful, codes = bool(is_na_text.any()), _absent(column, _NO_VALUE) | is_na_text
    doubt = ", which may be a value too, such as a country or initials" if doubtful else ""
    return Reading(NOMINAL, CATEGORIES, column.values(codes), _codes(column, codes, doubt), doubtful=doubtful)


def _absent(column: ColumnValues, words: frozenset[str]) -> NDArray[np.bool_]:
    return np.array([text in words for text in column.folded], dtype=np.bool_)


def _codes(column: ColumnValues, absent: NDArray[np.bool_], doubt: str = "") -> tuple[str, ...]:
    """Sentence on the values that may stand for missing ones, if there are any."""
    if not absent.any():
        return ()
    values = [repr(value) if isinstance(value, str) else category(value) for value in column.values(absent)]
    names, count = listing(values, 3), column.n_where(absent)
    verb, pronoun = ("is", "it") if count == 1 else ("are", "them")
    return (f"{count:,} of {column.n_present:,} {verb} {names}{doubt}: treat {pronoun} as missing?",)


# --- numbers ----------------------------------------------------------------------------------------------------------


def figure(value: float, *others: float) -> str:
    """A number for readers: thousands separators if it or one of ``others`` is 10,000 or more."""
    comma = "," if max(map(abs, (value, *others))) >= 10_000 else ""
    # A negative zero is 0.
    return format(value + 0.0, f"{comma}.0f" if value == np.floor(value) or abs(value) >= 100_000 else f"{comma}.6g")


def interval(numbers: FloatArray) -> str:
    """``1,581 to 95,880``: the least and the greatest number, written alike."""
    low, high = float(numbers.min()), float(numbers.max())
    separated = 0 if low >= 1_000 and high <= 2_100 else 10_000  # years have no thousands separators
    return f"{figure(low, high, separated)} to {figure(high, low, separated)}"


def _numbers(column: ColumnValues, numbers: FloatArray, labels: Mapping[Any, str] = {}) -> Reading:
    """The reading of a column whose distinct values are ``numbers``, shape (distinct values,), some with ``labels``."""
    finite = np.isfinite(numbers)
    if not finite.any():
        return Reading(NUMERIC, (NUMERIC,))
    whole = bool((numbers[finite] == np.floor(numbers[finite])).all())
    coded = _number_codes(numbers, finite)
    if not whole:
        coded &= (numbers <= _CODE_AMONG_DECIMALS) | (column.counts >= REPEATED)
    labelled = {code: text for code, text in labels.items() if code in numbers}
    no_values = [code for code, text in labelled.items() if means_no_value(text)]
    # The file itself says which values are codes.
    coded = np.isin(numbers, no_values) if labelled else coded
    present = np.where(coded | ~finite, np.nan, numbers)
    usual = present[finite & ~coded]
    values = [f"{figure(code)} is {text!r}" for code, text in sorted(labelled.items()) if code not in no_values]
    doubts = [listing(values, _MAX_EXCEPTIONS)] if values else []
    if coded.any():
        message = f" ({listing([repr(labelled[code]) for code in no_values], 3)})" if labelled else ""
        doubts += _codes(column, coded, message or f", far from all others ({interval(usual)})")
    if infinite := column.n_where(np.isinf(numbers)):
        doubts.append(f"{infinite:,} of {column.n_present:,} are infinite: recode them, or have them missing")
    is_long = whole and len(usual) > 0 and usual.min() >= 10
    lengths = {len(str(int(value))) for value in (usual.min(), usual.max())} if is_long else set()
    if code := _code_of_digits(column.name, lengths):
        kind, kinds, hints = NOMINAL, (*CATEGORIES, NUMERIC), [code]
    else:
        kind, kinds = NUMERIC, (NUMERIC, *(CATEGORIES if len(usual) <= _MOST_CATEGORIES else ()))
        hints = [f"from {interval(usual)}"] if len(usual) > 1 else []
        if hints and whole and usual.min() >= 1900 and usual.max() <= 2100:
            hints.append("may be years")
        elif hints and whole and len(usual) <= _FEW_NUMBERS:
            hints.append("perhaps categories")
    reasons = (*hints, *doubts)
    return Reading(kind, kinds, column.values(coded), reasons, present, is_code=bool(code), labelled=bool(labelled))


def _number_codes(numbers: FloatArray, finite: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each distinct number looks like a missing-value code: far from all possible values."""
    negative, positive = np.isin(numbers, _NEGATIVE_CODES), np.isin(numbers, _POSITIVE_CODES)
    others = numbers[finite & ~negative & ~positive]
    coded = np.zeros(len(numbers), dtype=np.bool_)
    if not len(others):
        return coded
    if others.min() >= 0:
        # A change by -1 is a value among small numbers, and no age or income.
        coded |= negative & ((numbers < -1) | (others.max() >= 10))
    # Next to 97, 98 is an age: the first number that is far from all below it is a code, and so are those above.
    greatest = others.max()
    for value in np.sort(numbers[positive]):
        if value >= max(2 * greatest, greatest + 10):
            return coded | (positive & (numbers >= value))
        greatest = max(greatest, value)
    return coded


def _code_of_digits(name: Hashable, lengths: Collection[int]) -> str:
    """Reason to read digits as codes: the name indicates it, and all have equally many. Empty if not."""
    word = CODE.in_name(name)
    return f"{min(lengths)} digits each, and the name says {word!r}: a code" if word and len(lengths) == 1 else ""


# --- text -------------------------------------------------------------------------------------------------------------


def _digits(column: ColumnValues) -> Reading | None:
    """The reading of a column of digits that are codes: they have leading zeros, or the name indicates it."""
    absent = _absent(column, _NO_VALUE)
    texts = [text for text, is_missing in zip(column.texts, absent, strict=True) if not is_missing]
    if not texts or not all(text.isascii() and text.isdigit() for text in texts):
        return None
    lengths = sorted({len(text) for text in texts})
    if any(len(text) > 1 and text[0] == "0" for text in texts):
        digits = f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
        reason = f"{digits} digits, leading zeros: a code"
    elif not (reason := _code_of_digits(column.name, lengths)):
        return None
    reasons = (reason, *_codes(column, absent))
    return Reading(NOMINAL, CATEGORIES, column.values(absent), reasons, is_code=CODE.in_name(column.name) is not None)


def _is_unlikely(column: ColumnValues, fits: Callable[[str], bool]) -> bool:
    """Whether so few of the first distinct values fit, or are missing, that the others need no test."""
    first = list(zip(column.texts.iloc[:_N_TESTED], column.folded, strict=False))
    return sum(plain in NO_NUMBER or fits(text) for text, plain in first) < 0.5 * len(first)


def _is_number(text: str) -> bool:
    return any(numerals.parse(text, notation) is not None for notation in numerals.NOTATIONS)


def _number_text(column: ColumnValues) -> Reading | None:
    """The reading of text that is numbers except for a few values. None if it is not certain."""
    if _is_unlikely(column, _is_number):
        return None
    numbers = numerals.values(column.texts.tolist())
    fits = is_number_text(numbers)
    odd = _exceptions(column, fits)
    text = np.array([isinstance(value, str) for value in column.distinct], dtype=np.bool_)
    if odd is None or not is_sure(column.texts[fits & text].tolist()):
        return _offered_numbers(column, numbers) if text.all() else None
    reading = _numbers(column, numbers[numerals.POINT])
    codes, reasons = (*column.values(odd), *reading.missing_codes), (_exceptions_note("number", column, odd),)
    return replace(reading, missing_codes=codes, reasons=(*reasons, *reading.reasons))


def _offered_numbers(column: ColumnValues, numbers: Mapping[str, FloatArray]) -> Reading | None:
    """The reading of text as categories that may be read as numbers."""
    readings, sentence = offers(column, numbers, _is_no_value(column))
    if not sentence:
        return None
    absent = _absent(column, _NO_VALUE)
    kinds = (*CATEGORIES, *(("numeric", read.notation) for read in readings))
    is_clear = len(readings) == 1 and not readings[0].is_like_code and not CODE.in_name(column.name)
    if is_clear and _exceptions(column, ~np.isnan(numbers[readings[0].notation])) is not None:
        read = readings[0]
        parsed = numbers[read.notation]
        coded = _number_codes(parsed, ~np.isnan(parsed)) & (column.counts >= REPEATED)
        usual = parsed[~coded & ~np.isnan(parsed)]
        note = f", far from all others ({interval(usual)})" if coded.any() else ""
        reasons = (sentence, *_codes(column, coded, note))
        codes, counts = (*read.codes, *column.values(coded)), (*read.counts, *column.counts[coded].tolist())
        read = replace(read, n=read.n - column.n_where(coded), codes=codes, counts=counts)
        parsed = np.where(coded, np.nan, parsed)
        return Reading(kinds[-1], kinds, column.values(absent), reasons, parsed, offers=(read,))
    reasons = (sentence, *(() if readings else _codes(column, absent)))
    return Reading(NOMINAL, kinds, column.values(absent), reasons, offers=readings)


def are_marks(codes: Iterable[Any]) -> bool:
    """Whether missing-value codes among numbers are marks of suppressed cells, except for words and numbers."""
    texts = [folded(code.strip()) for code in codes if isinstance(code, str) and not _is_number(code)]
    marks = [_SUPPRESSED.fullmatch(text) is not None for text in texts if text not in NO_NUMBER]
    return bool(marks) and all(marks)


def _is_no_value(column: ColumnValues) -> NDArray[np.bool_]:
    """Which distinct values are words for a missing value, or marks of suppressed cells, among numbers and dates."""
    texts = column.folded
    return np.array([text in NO_NUMBER or _SUPPRESSED.fullmatch(text) is not None for text in texts], dtype=np.bool_)


def _exceptions(column: ColumnValues, fits: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Which distinct values do not fit, if they are few or words for missing values. None otherwise."""
    odd = ~fits
    n_fit, n_odd = column.n_where(fits), column.n_where(odd & ~_is_no_value(column))
    is_fitting = n_fit > 0 and n_fit >= _MIN_SHARE * (n_fit + n_odd)
    return odd if is_fitting and np.count_nonzero(odd) <= _MAX_EXCEPTIONS else None


def _exceptions_note(noun: str, column: ColumnValues, odd: NDArray[np.bool_]) -> str:
    """Sentence on text that is numbers, or dates, except for the ``odd`` values."""
    n = column.n_present
    if not odd.any():
        return f"text, but all {n:,} are {noun}s"
    count = column.n_where(odd)
    names = listing([repr(value) for value in column.values(odd)], 3)
    verb, pronoun = ("is", "it") if count == 1 else ("are", "them")
    advice = f": treat {pronoun} as missing?"
    if any(sign.isdigit() for text in column.texts[odd] for sign in text):  # "90+" says more than "missing"
        advice = f", which is no {noun}: recode {pronoun}, or treat {pronoun} as missing?"
    return f"{n - count:,} of {n:,} are {noun}s, {count:,} {verb} {names}{advice}"


# --- dates ------------------------------------------------------------------------------------------------------------


def _dates(column: ColumnValues) -> Reading:
    """The reading of a column of a type of dates."""
    values = column.distinct
    if isinstance(column.dtype, pd.DatetimeTZDtype) or any(getattr(value, "tzinfo", None) for value in values):
        return Reading(reasons=("times with a time zone: remove the zone to use them as dates",))
    moments = values if types.is_datetime64_any_dtype(values) else pd.to_datetime(values, errors="coerce")
    # Years before 1677 and after 2262 fit into seconds, and not into the nanoseconds of older versions of pandas.
    return _dated(column, moments.to_numpy().astype("M8[s]"), _CLEAR_DATES, np.zeros(len(values), dtype=np.bool_))


def _code_days(days: NDArray[np.datetime64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which of the distinct ``days`` stand for missing ones: frequent, and years from all others."""
    coded = np.isin(days, _CODE_DAYS) & (counts >= REPEATED)
    others = days[~np.isnat(days) & ~coded]
    if not coded.any() or not len(others):
        return np.zeros(len(days), dtype=np.bool_)
    is_far: NDArray[np.bool_] = (days < others.min() - _CODE_DISTANCE) | (days > others.max() + _CODE_DISTANCE)
    return coded & is_far


def _dated(
    column: ColumnValues, moments: NDArray[np.datetime64], kinds: tuple[KindAndForm, ...], odd: NDArray[np.bool_]
) -> Reading:
    """The reading of a column whose distinct values are ``moments``, NaT for the ``odd`` ones."""
    days = moments.astype("M8[D]")
    coded = _code_days(days, column.counts)
    present = days[~coded & ~np.isnat(days)]
    yearly = len(present) > 1 and bool((present == present.astype("M8[Y]")).all())
    reasons = []
    if len(present):
        # Python itself writes no dates before the year 1 and after 9999.
        first, last = np.datetime_as_string([present.min(), present.max()])
        reasons.append(f"dates from {first} to {last}{', all of them the first day of a year' if yearly else ''}")
    reasons += [_exceptions_note("date", column, odd)] if odd.any() else []
    codes = column.values(odd | coded)
    return Reading(_CLEAR_DATES[yearly], kinds, codes, (*reasons, *_codes(column, coded)))


def _date_text(column: ColumnValues) -> Reading | None:
    """The reading of text that is dates except for a few values."""
    if _is_unlikely(column, dates.is_dated):
        return None
    fits = np.array([dates.is_dated(text) for text in column.texts], dtype=np.bool_)
    odd = _exceptions(column, fits)
    if odd is None:
        return None
    order = dates.order(column.texts[fits])
    if order.is_clear:
        days = [dates.parse(text, day_first=order.day_first is not None) for text in column.texts]
        moments = np.array(days, dtype="M8[s]")
        # Without days such as the 31st of June.
        odd = _exceptions(column, ~np.isnat(moments))
        return None if odd is None else _dated(column, moments, (*_CLEAR_DATES, NOMINAL), odd)
    if order.day_first and order.month_first:
        examples = f"{order.day_first!r} has the day first and {order.month_first!r} the month"
        reason = f"dates, but {examples}: recode those of one kind, such as 2001-12-31"
        return Reading(NOMINAL, CATEGORIES, column.values(odd), (reason,))
    first = tuple(column.texts[fits][:_EXAMPLES])
    reason = f"dates such as {order.unclear!r}, but it is not clear which number is the day: say so"
    return Reading(NOMINAL, (*CATEGORIES, *_UNCLEAR_DATES), column.values(odd), (reason,), unclear=first)
