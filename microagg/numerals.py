"""Numbers written as text: what they say, and how a column writes them.

A text may have thousands apart by a blank, an apostrophe or what is not its decimal mark, a plus, a minus before or
behind it, brackets in place of the minus as accountants write them, and a currency or ``%``, of which ``12 %`` is 12.
Whether ``1,234`` is 1234 or 1.234 no text shows alone: the column as a whole may, or somebody has to say.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from microagg.errors import DataError
from microagg.validation import factorized

#: How numbers can be written, by example: with a decimal point, or with a decimal comma.
NOTATIONS = POINT, COMMA = "1,234.5", "1.234,5"

# A blank, one that breaks no line, and those of typesetters: as wide as a figure, thin, narrow.
_BLANKS = " \u00a0\u2007\u2009\u202f"
# A hyphen, the minus, and the dash that text processors make of it.
_MINUS = r"\-\u2212\u2013"
_SIGNS = "$¢£¤¥\u0e3f\u20a0-\u20c0\ufdfc\uff04\uffe0\uffe1\uffe5\uffe6"
# Those of ISO 4217 that stand in many files, and none that is a word, such as ALL.
_CODES = (
    "AED|ARS|AUD|BGN|BHD|BRL|CAD|CHF|CLP|CNY|COP|CZK|DKK|EGP|EUR|GBP|GHS|HKD|HRK|HUF|IDR|ILS|INR|ISK|JPY|KES|KRW|KWD|"
    "LKR|MAD|MXN|MYR|NGN|NOK|NZD|OMR|PEN|PHP|PKR|PLN|QAR|RON|RSD|RUB|SAR|SEK|SGD|THB|TND|TRY|TWD|UAH|USD|UYU|VND|XAF|"
    "XOF|ZAR"
)
_UNIT = rf"(?:[A-Z]{{0,2}}[{_SIGNS}]|{_CODES}|kr\.?|zł|Kč|Ft|Fr\.|SFr\.|Rs\.?)"
_OUTSIDE = re.compile(
    rf"(?P<sign>[+({_MINUS}]?)[{_BLANKS}]*(?P<before>{_UNIT}?)[{_BLANKS}]*(?P<inner>[+({_MINUS}]?)[{_BLANKS}]*"
    rf"(?P<digits>[\d.,](?:[\d.,'’{_BLANKS}]*[\d.])?(?:[eE][-+]?\d+)?)"
    rf"[{_BLANKS}]*(?P<close>[){_MINUS}]?)[{_BLANKS}]*(?P<after>(?:{_UNIT}|%)?)[{_BLANKS}]*(?P<end>[){_MINUS}]?)",
    re.ASCII,
)
_NOT_DIGITS = str.maketrans("", "", f"'’{_BLANKS}")
_EXPONENT = r"(?:[eE][-+]?\d+)?"


def _digits(separator: str, mark: str, further: str = "") -> re.Pattern[str]:
    """Return the form of digits with thousands apart by a ``separator``, always the same, and a decimal ``mark``."""
    grouped = rf"[1-9]\d{{0,2}}(?P<gap>[{separator}'’{_BLANKS}])\d{{3}}(?:(?P=gap)\d{{3}})*"
    return re.compile(rf"(?:(?:{grouped}{further}|\d+)(?:{mark}\d+)?|{mark}\d+){_EXPONENT}", re.ASCII)


# In India all thousands but the last are apart by twos: 12,34,567.
_DIGITS = {POINT: _digits(",", r"\.", r"|[1-9]\d?(?:,\d\d)+,\d{3}|\d+\.(?!\d)"), COMMA: _digits(r"\.", ",")}
# As programs write numbers: this needs no notation.
_PLAIN = re.compile(rf"[-+]?(?:\d+\.?\d*|\.\d+){_EXPONENT}", re.ASCII)
# The largest finite number has 309 digits.
_LONGEST = 400


class Evidence(NamedTuple):
    """What texts show of how numbers are written; each is a text that does, or None.

    Attributes
    ----------
    point, comma : str or None
        A number that can be read with a decimal point only, or with a decimal comma only.
    unclear : str or None
        A number that is another one with each of them, such as ``1,234``.
    """

    point: str | None
    comma: str | None
    unclear: str | None

    @property
    def notations(self) -> tuple[str, ...]:
        """The :data:`NOTATIONS` in which all can be meant: none where texts contradict each other, both if unclear."""
        if self.point and self.comma:
            return ()
        if self.point or self.comma:
            return (POINT,) if self.point else (COMMA,)
        return NOTATIONS if self.unclear else (POINT,)


def parse(text: str, notation: str = POINT) -> float | None:
    """Return the number that a text says, or None if it says none.

    None also where it is not finite, or a whole number with more digits than a 64-bit float holds exactly.
    """
    stripped = text.strip()
    if len(stripped) <= _LONGEST and stripped.isascii() and stripped.isdigit():
        return _exact(stripped)
    parts = _outside(stripped)
    if parts is None or not _DIGITS[notation].fullmatch(parts["digits"]):
        return None
    separator, mark = (",", ".") if notation == POINT else (".", ",")
    digits = parts["digits"].translate(_NOT_DIGITS).replace(separator, "").replace(mark, ".")
    negative = any(sign not in ("", "+") for sign in (parts["sign"], parts["inner"], parts["close"], parts["end"]))
    return _exact(f"-{digits}" if negative else digits)


def unit_of(text: str) -> str:
    """Return the currency, or ``%``, of a text that says a number; empty if there is none."""
    parts = _outside(text.strip())
    return "" if parts is None else parts["before"] or parts["after"]


def is_plain(text: str) -> bool:
    """Whether a number is written as programs write it, ``-1234.5`` or ``1.5e3``, which every program reads alike."""
    return len(text) <= _LONGEST and _PLAIN.fullmatch(text.strip()) is not None


def evidence(texts: Iterable[str]) -> Evidence:
    """Return what ``texts`` show of how numbers are written; such as are no numbers show nothing."""
    point = comma = unclear = None
    for text in texts:
        one, other = parse(text, POINT), parse(text, COMMA)
        if one is not None and other is None:
            point = point or text
        elif other is not None and one is None:
            comma = comma or text
        elif one != other:
            unclear = unclear or text
    return Evidence(point, comma, unclear)


def mixed_units(texts: Iterable[str]) -> tuple[str, str] | None:
    """Return two texts whose numbers do not have the same unit, None if there are none.

    ``€12`` and ``$12`` have not, nor ``12 %`` and ``0.12``; an amount without a currency may have that of the others.
    """
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(unit_of(text), text)
    units = [unit for unit in first if unit or "%" in first]
    return (first[units[0]], first[units[1]]) if len(units) > 1 else None


def notation_of(series: pd.Series[Any]) -> str | None:
    """Return the one of :data:`NOTATIONS` in which a column writes numbers; None where all are plain.

    Raises
    ------
    DataError
        Naming the column and a value: if it is no number, may be two, or values contradict each other.
    """
    if is_numeric_dtype(series) or is_bool_dtype(series):
        return None
    positions, distinct = factorized(series)
    texts = [value for value in distinct if isinstance(value, str)]
    if all(is_plain(text) for text in texts):
        return None
    for i, value in enumerate(distinct):
        if isinstance(value, str) and all(parse(value, notation) is None for notation in NOTATIONS):
            raise DataError(_no_number(series.name, value, int(np.flatnonzero(positions == i)[0])))
    found = evidence(texts)
    if not found.notations:
        raise DataError(
            f"column {series.name!r} has {found.point!r}, with a decimal point or a comma between thousands, and "
            f"{found.comma!r}, where it is the other way about: write all of them alike, such as 1234.5."
        )
    if len(found.notations) > 1:
        assert found.unclear is not None
        one, other = (f"{parse(found.unclear, notation):g}" for notation in NOTATIONS)
        raise DataError(
            f"column {series.name!r} does not show whether {found.unclear!r} is {one} or {other}: write "
            f"numbers={{{series.name!r}: {POINT!r}}} for the first, numbers={{{series.name!r}: {COMMA!r}}} for the "
            "second."
        )
    return found.notations[0]


def read(series: pd.Series[Any], notation: str | None = None) -> pd.Series[Any]:
    """Return a column of numbers as float64, NaN where they are missing; one of a numeric type as it is.

    Parameters
    ----------
    series : Series
        Of text, or of objects that are numbers.
    notation : one of :data:`NOTATIONS`, optional
        How text is written; by default as the column itself shows. Text that is plain has a decimal point by default.

    Raises
    ------
    DataError
        Naming the column and a value: if it is no number, or not finite, or has more digits than a float keeps; if
        amounts are of different currencies; or as :func:`notation_of`.
    """
    if is_numeric_dtype(series) or is_bool_dtype(series):
        return series
    notation = notation or notation_of(series) or POINT
    positions, distinct = factorized(series)
    found = np.full(len(distinct) + 1, np.nan)  # one more for what is missing, which factorize numbers -1
    for i, value in enumerate(distinct):
        number = parse(value, notation) if isinstance(value, str) else _of_object(value)
        if number is None:
            raise DataError(_no_number(series.name, value, int(np.flatnonzero(positions == i)[0]), notation))
        found[i] = number
    _check_units(series.name, [value for value in distinct if isinstance(value, str)])
    return pd.Series(found[positions], index=series.index, name=series.name)


def _outside(text: str) -> dict[str, str] | None:
    """Return a number's digits and what stands around them, None if it has two signs or two units, or is none."""
    if len(text) > _LONGEST or (found := _OUTSIDE.fullmatch(text)) is None:
        return None
    parts = found.groupdict()
    signs = "".join(parts[name] for name in ("sign", "inner", "close", "end"))
    if (len(signs) > 1 and signs != "()") or signs in ("(", ")") or (parts["before"] and parts["after"]):
        return None
    return parts


def _exact(digits: str) -> float | None:
    number = float(digits)
    if not math.isfinite(number):
        return None
    return None if digits.lstrip("+-").isdigit() and Decimal(digits) != Decimal(number) else number


def _of_object(value: Any) -> float | None:
    if not isinstance(value, (Real, Decimal)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _check_units(name: Any, texts: Sequence[str]) -> None:
    if two := mixed_units(texts):
        raise DataError(
            f"column {name!r} has {two[0]!r} and {two[1]!r}, which are not in the same unit: turn all of them into one "
            "first."
        )


def _no_number(name: Any, value: Any, row: int, notation: str = POINT) -> str:
    holds = f"column {name!r} has {value!r} in record {row} (counting from 0), "
    if isinstance(value, str) and re.fullmatch(r"[-+]?\d{16,}", value.strip(), re.ASCII):
        return f"{holds}which has more digits than a number keeps: do not read the column as numbers, or shorten them."
    example = "1234.5" if notation == POINT else "1234,5"
    return f"{holds}which is no number: write it such as {example}, or name it among the missing codes."
