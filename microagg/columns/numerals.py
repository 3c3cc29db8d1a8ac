"""Numbers written as text: their values, and the notation of a column.

A text may separate thousands by a blank, an apostrophe or the mark that is not its decimal mark. It may have a plus, a
minus before or behind it, brackets instead of the minus as in accounting, and a currency or ``%``; ``12 %`` is 12.
A single text does not show whether ``1,234`` is 1234 or 1.234: the whole column may, or a person has to decide.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from microagg.columns.names import NUMBERED, PERSONAL
from microagg.columns.taxonomy import category
from microagg.columns.values import ColumnValues
from microagg.errors import DataError
from microagg.validation import FloatArray, factorized, listing

#: Notations of numbers, by example: with a decimal point, or with a decimal comma.
NOTATIONS = POINT, COMMA = "1,234.5", "1.234,5"

# A blank, a no-break space, and the blanks of typesetters: as wide as a figure, thin, narrow.
_BLANKS = " \u00a0\u2007\u2009\u202f"
# A hyphen, the minus, and the dash that text processors make of it.
_MINUS = r"\-\u2212\u2013"
_SIGNS = "$¢£¤¥\u0e3f\u20a0-\u20c0\ufdfc\uff04\uffe0\uffe1\uffe5\uffe6"
# Frequent currency codes of ISO 4217, without words such as ALL.
_CODES = (
    "AED|ARS|AUD|BGN|BHD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|GHS|HKD|HRK|HUF|IDR|ILS|INR|ISK|JPY|KES|KRW|KWD|"
    "LKR|MAD|MXN|MYR|NGN|NOK|NZD|OMR|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TND|TRY|TWD|UAH|USD|UYU|VND|XAF|"
    "XOF|ZAR"
)
_UNIT = rf"(?:[A-Z]{{0,2}}[{_SIGNS}]|{_CODES}|kr\.?|zł|Kč|Ft|Fr\.|SFr\.|Rs\.?)"
# Texts before and behind digits.
_BEFORE = re.compile(rf"([+({_MINUS}]?)[{_BLANKS}]*({_UNIT}?)[{_BLANKS}]*([+({_MINUS}]?)[{_BLANKS}]*")
_BEHIND = re.compile(rf"[{_BLANKS}]*([){_MINUS}]?)[{_BLANKS}]*((?:{_UNIT}|%)?)[{_BLANKS}]*([){_MINUS}]?)")
_PARTS = re.compile(r"(\D*)(\d(?:.*\d)?)(\D*)", re.ASCII | re.DOTALL)
_NOT_DIGITS = str.maketrans("", "", f"'’{_BLANKS}")
_EXPONENT = r"(?:[eE][-+]?\d+)?"


def _digits(separator: str, mark: str, quantifier: str, further: str = "") -> re.Pattern[str]:
    """Pattern of digits with thousands separated by a ``separator``, always the same, and a decimal ``mark``."""
    grouped = rf"[1-9]\d{{0,2}}(?P<gap>[{separator}'’{_BLANKS}])\d{{3}}(?:(?P=gap)\d{{3}})*"
    whole = rf"(?:{grouped}{further}|\d+)(?:{mark}\d{quantifier})?"
    return re.compile(rf"(?:{whole}|{mark}\d+){_EXPONENT}", re.ASCII)


# Programs also write 12. without a decimal. In India digits before the last three form pairs: 12,34,567.
_DIGITS = {POINT: _digits(",", r"\.", "*", r"|[1-9]\d?(?:,\d\d)+,\d{3}"), COMMA: _digits(r"\.", ",", "+")}
# Plain notation, as programs write numbers.
_PLAIN = re.compile(rf"[-+]?(?:\d+\.?\d*|\.\d+){_EXPONENT}", re.ASCII)
# A longer text is not a number: the largest finite one has 309 digits.
_LONGEST = 400


class Evidence(NamedTuple):
    """Evidence in texts for the notation of numbers. Each field is a text that shows it, or None."""

    point: str | None  # a number only with a decimal point
    comma: str | None  # a number only with a decimal comma
    unclear: str | None  # a number in both notations, with different values, such as ``1,234``

    @property
    def notations(self) -> tuple[str, ...]:
        """The possible :data:`NOTATIONS` of all texts: none if they contradict each other, both if unclear."""
        if self.point and self.comma:
            return ()
        if self.point or self.comma:
            return (POINT,) if self.point else (COMMA,)
        return NOTATIONS if self.unclear else (POINT,)


def parse(text: str, notation: str = POINT) -> float | None:
    """The number in a text. None if there is none, or it is infinite, or whole with more digits than a float keeps."""
    parts = _parts(text)
    return None if parts is None else _value(parts, notation)


def values(texts: Sequence[str]) -> dict[str, FloatArray]:
    """Numbers in ``texts`` in each of the :data:`NOTATIONS`, shape (n,), NaN for other texts."""
    numbers = {notation: np.full(len(texts), np.nan) for notation in NOTATIONS}
    for i, text in enumerate(texts):
        if (parts := _parts(text)) is not None:
            for notation in NOTATIONS:
                if (number := _value(parts, notation)) is not None:
                    numbers[notation][i] = number
    return numbers


def is_plain(text: str) -> bool:
    """Whether a number is in plain notation, ``-1234.5`` or ``1.5e3``, which every program reads alike."""
    return len(text) <= _LONGEST and _PLAIN.fullmatch(text.strip()) is not None


def shown_by(texts: Sequence[str], numbers: Mapping[str, FloatArray]) -> Evidence:
    """Evidence for the notation in texts whose :func:`values` are ``numbers``."""
    one, two = numbers[POINT], numbers[COMMA]

    def first(shows: NDArray[np.bool_]) -> str | None:
        return texts[int(shows.argmax())] if shows.any() else None

    differ = ~np.isnan(one) & ~np.isnan(two) & (one != two)
    return Evidence(first(~np.isnan(one) & np.isnan(two)), first(np.isnan(one) & ~np.isnan(two)), first(differ))


def mixed_units(texts: Iterable[str]) -> tuple[str, str] | None:
    """Two texts with numbers of different units, a currency or ``%``. None if there are none.

    Examples are ``€12`` and ``$12``, and ``12 %`` and ``0.12``; an amount without a currency may have any currency.
    """
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(parts.unit if (parts := _parts(text)) else "", text)
    units = [unit for unit in first if unit or "%" in first]
    return (first[units[0]], first[units[1]]) if len(units) > 1 else None


def notation_of(series: pd.Series[Any]) -> str | None:
    """The one of :data:`NOTATIONS` in which a column writes numbers. None if all are plain."""
    if is_numeric_dtype(series) or is_bool_dtype(series):
        return None
    positions, distinct = factorized(series)
    texts = [value for value in distinct if isinstance(value, str)]
    if all(is_plain(text) for text in texts):
        return None
    numbers = values(texts)
    is_other = np.isnan(numbers[POINT]) & np.isnan(numbers[COMMA])
    if is_other.any():
        value = texts[int(is_other.argmax())]
        raise DataError(_number_error(series.name, value, int(np.argmax(positions == distinct.index(value)))))
    evidence = shown_by(texts, numbers)
    if not evidence.notations:
        raise DataError(
            f"column {series.name!r} has {evidence.point!r}, with a decimal point or a comma between thousands, and "
            f"{evidence.comma!r}, where it is the other way about: recode those of one kind, such as 1234.5."
        )
    if len(evidence.notations) > 1:
        assert evidence.unclear is not None
        with_point, with_comma = (f"{parse(evidence.unclear, notation):g}" for notation in NOTATIONS)
        raise DataError(
            f"column {series.name!r} does not show whether {evidence.unclear!r} is {with_point} or {with_comma}: write "
            f"numbers={{{series.name!r}: {POINT!r}}} for the first, numbers={{{series.name!r}: {COMMA!r}}} for the "
            "second."
        )
    return evidence.notations[0]


def read(series: pd.Series[Any], notation: str | None = None) -> pd.Series[Any]:
    """Read a column of text or objects as float64, NaN if missing. A numeric column is returned itself.

    ``notation`` is by default the notation that the column shows.
    """
    if is_numeric_dtype(series) or is_bool_dtype(series):
        return series
    notation = notation or notation_of(series) or POINT
    positions, distinct = factorized(series)
    numbers = [parse(value, notation) if isinstance(value, str) else _convert(value) for value in distinct]
    if None in numbers:
        i = numbers.index(None)
        raise DataError(_number_error(series.name, distinct[i], int(np.argmax(positions == i)), notation))
    if mixed := mixed_units(value for value in distinct if isinstance(value, str)):
        raise DataError(
            f"column {series.name!r} has {mixed[0]!r} and {mixed[1]!r}, which are not in the same unit: recode "
            "those of one of them."
        )
    # One more for missing values, whose position is -1.
    values = np.array([*numbers, np.nan], dtype=np.float64)[positions]
    return pd.Series(values, index=series.index, name=series.name)


class _Parts(NamedTuple):
    digits: str
    negative: bool
    unit: str


def _parts(text: str) -> _Parts | None:
    """Digits, sign and unit of a number. None if the text is not a number."""
    if len(text) > _LONGEST or (match := _PARTS.fullmatch(text.strip())) is None:
        return None
    before, digits, behind = match.groups()
    if behind.startswith("."):
        digits, behind = f"{digits}.", behind[1:]
    sign_and_unit = _around(before, behind)
    if sign_and_unit is None and before.endswith((".", ",")):
        digits = before[-1] + digits
        sign_and_unit = _around(before[:-1], behind)
    return None if sign_and_unit is None else _Parts(digits, *sign_and_unit)


@lru_cache(maxsize=1024)
def _around(before: str, behind: str) -> tuple[bool, str] | None:
    """Whether a number is negative, and its unit. None if it has two signs or units, or other text."""
    if not before and not behind:
        return False, ""
    prefix, suffix = _BEFORE.fullmatch(before), _BEHIND.fullmatch(behind)
    if prefix is None or suffix is None:
        return None
    signs = prefix[1] + prefix[3] + suffix[1] + suffix[3]
    if (len(signs) > 1 and signs != "()") or signs in ("(", ")") or (prefix[2] and suffix[2]):
        return None
    return signs not in ("", "+"), prefix[2] or suffix[2]


def _value(parts: _Parts, notation: str) -> float | None:
    digits = parts.digits
    if not (digits.isascii() and digits.isdigit()):
        if not _DIGITS[notation].fullmatch(digits):
            return None
        separator, mark = (",", ".") if notation == POINT else (".", ",")
        digits = digits.translate(_NOT_DIGITS).replace(separator, "").replace(mark, ".")
    number = float(digits)
    # Only whole numbers of more than 15 digits can differ from their floats.
    if not math.isfinite(number) or (len(digits) > 15 and digits.isdigit() and Decimal(digits) != Decimal(number)):
        return None
    return -number if parts.negative else number


def _convert(value: Any) -> float | None:
    if not isinstance(value, (Real, Decimal)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    # As of text, larger whole numbers may have more digits than a float.
    return number if abs(number) < 2.0**53 or (math.isfinite(number) and number == value) else None


def _number_error(name: Any, value: Any, row: int, notation: str = POINT) -> str:
    start = f"column {name!r} has {value!r} in record {row} (counting from 0), "
    if re.fullmatch(r"[-+]?\d{16,}", str(value).strip(), re.ASCII):
        return f"{start}which has more digits than a number keeps: do not read the column as numbers, or shorten them."
    example = "1234.5" if notation == POINT else "1234,5"
    return f"{start}which is no number: recode it, such as {example}, or name it among the missing codes."


# --- columns of text that may be read as numbers ----------------------------------------------------------------------

# The minimum share of numbers for an offer, and the maximum number of other distinct values.
_MIN_NUMBER_SHARE = 0.8
_MAX_EXCEPTIONS = 20

# A telephone number, leading zeros, and codes that programs read as numbers: 10E2, which is not 100E1.
_LIKE_CODES = re.compile(r"\+\d{7,}|[-+]?0\d+|\d+[eE]\d+", re.ASCII)
# A point between thousands: 1.234, which programs read as a decimal.
_GROUPED = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}", re.ASCII)


@dataclass(frozen=True)
class AsNumbers:
    """A reading of a text column as numbers in one of the :data:`NOTATIONS`."""

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
    if not all(is_plain(text) and not _LIKE_CODES.fullmatch(text) for text in texts):
        return False
    grouped = [text for text in texts if "." in text]
    return not grouped or not all(_GROUPED.fullmatch(text) for text in grouped)


def offers(
    column: ColumnValues, numbers: Mapping[str, FloatArray], silent: NDArray[np.bool_]
) -> tuple[tuple[AsNumbers, ...], str]:
    """The readings of a text column as numbers, and a sentence on them. Two readings if it is ambiguous.

    There are none, with an empty sentence, if too many values are not numbers or the name indicates an identifier; none
    with a sentence if numbers contradict each other. ``numbers`` are the :func:`values` of the distinct values;
    ``silent``, shape (distinct values,), marks words for a missing value.
    """
    fits = is_number_text(numbers)
    is_other = ~fits & ~silent
    n_fit, n_odd = column.n_where(fits), column.n_where(is_other)
    if not n_fit or n_fit < _MIN_NUMBER_SHARE * (n_fit + n_odd) or np.count_nonzero(is_other) > _MAX_EXCEPTIONS:
        return (), ""
    if NUMBERED.in_name(column.name) or PERSONAL.in_name(column.name):
        return (), ""
    evidence = shown_by(column.texts.tolist(), numbers)
    if not evidence.notations:
        conflict = f"of {evidence.point!r} and {evidence.comma!r} one has a decimal comma"
        return (), f"numbers, but {conflict}: recode one of them"
    texts = column.texts[fits].tolist()
    if mixed := mixed_units(texts):
        return (), f"numbers, but {mixed[0]!r} and {mixed[1]!r} are not in the same unit: recode those of one"
    # The first text that is not plain, or may be a code; the first one if there is none.
    doubtful = (text for text in texts if not is_plain(text) or _LIKE_CODES.fullmatch(text))
    example = evidence.unclear if len(evidence.notations) > 1 and evidence.unclear else next(doubtful, texts[0])
    readings = tuple(_as_numbers(column, notation, numbers[notation], example) for notation in evidence.notations)
    first, n = readings[0], column.n_present
    count = f"all {n:,}" if first.n == n else f"{first.n:,} of {n:,}"
    options = " or for ".join(reading.number for reading in readings)
    doubt = ", and nothing shows which" if len(readings) > 1 else ""
    note = f"; not numbers: {first.lost}" if first.lost else ""
    return readings, f"text that reads as numbers: {count}, such as {first.example!r} for {options}{doubt}{note}"


def is_number_text(numbers: Mapping[str, FloatArray]) -> NDArray[np.bool_]:
    """Whether each text is a number in any notation, shape (n,)."""
    return ~np.logical_and.reduce([np.isnan(values) for values in numbers.values()])


def _as_numbers(column: ColumnValues, notation: str, numbers: FloatArray, example: str) -> AsNumbers:
    odd = np.isnan(numbers)
    pairs = sorted(zip(column.values(odd), column.counts[odd].tolist(), strict=True), key=lambda pair: -pair[1])
    codes, counts = tuple(value for value, _ in pairs), tuple(count for _, count in pairs)
    return AsNumbers(notation, example, category(parse(example, notation)), column.n_where(~odd), codes, counts)
