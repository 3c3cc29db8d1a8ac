"""Columns without loss of values: results of every reader, and inputs of every writer.

Cells that no number or date represents stay text, with a notice: a number must keep the information of its cell, so
``01067``, ``+49``, ``10E2`` and numbers with more digits than a float stay text, although Python can convert them.
Before writing, a column becomes plain: numbers, booleans, dates, categories or text.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import operator
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import infer_dtype, is_bool_dtype, is_complex_dtype, is_float_dtype, is_integer_dtype

from microagg.tables.notices import MISSING, Notice, Offer
from microagg.validation import counted, shortened

with contextlib.suppress(ImportError):  # cells of pyarrow imply the package
    import pyarrow as pa
    import pyarrow.compute as pc

#: A column of a file as a Series of n cells, and notices on it.
Filled = tuple["pd.Series[Any]", list[Notice]]

#: Whole numbers up to the first are exact as 64-bit floats, and numbers with at most as many digits as the second
#: are printed as they were read.
EXACT_WHOLE, EXACT_DIGITS = 2**53, 15

#: The type of text in pandas: a special one since version 3, objects before.
TEXT: Any = pd.Series(["text"]).dtype

# The first day that Python can print, and the first one after those.
_FIRST_DAY, _DAY_AFTER_LAST = np.datetime64("0001-01-01", "s"), np.datetime64("10000-01-01", "s")

#: The separator of cells in a chunk; text files with this character are refused.
SEPARATOR = "\0"

#: An offer to read a text file with a decimal comma.
DECIMAL_COMMA = Offer("The decimal mark is a comma", {"decimal": ","})

# The maximum number of characters of a cell in a notice, and the number of cells that a column is first judged by.
_MAX_QUOTED, _N_FIRST = 40, 50
_BLANKS = " \t"

# No float has more digits than this.
_MAX_DIGITS = 800

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)?\.[0-9]+")
# Powers of ten in the form of programs; 10E2 is more likely a code.
_POWER = re.compile(r"-?(?:[0-9]|(?:0|[1-9][0-9]*)?\.[0-9]+)[eE][+-]?[0-9]+")
# Decimals with at most 15 digits, none of them superfluous.
_SHORT = r"^-?(?:0|[1-9][0-9]{0,8})\.(?:[0-9]{0,5}[1-9]|0)$"
# A point that may stand between thousands.
_GROUPED = re.compile(r"-?[1-9][0-9]{0,2}\.[0-9]{3}")
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf(?:inity)?)", re.IGNORECASE)


def texts(cells: Iterable[str | None]) -> pd.Series[Any]:
    """Texts, shape (n,), as a column of pandas' type for text, even if all are missing."""
    return pd.Series(list(cells), dtype=TEXT)


def whole_numbers(values: NDArray[Any], absent: NDArray[np.bool_] | None) -> pd.Series[Any]:
    """Whole numbers as a column, of a nullable type if some are ``absent``, as floats would have a point."""
    if absent is None or not absent.any():
        return pd.Series(values, copy=False)
    return pd.Series(pd.arrays.IntegerArray(values, absent), copy=False)


def printable_dates(series: pd.Series[Any], name: str, unit: str | None = None, zone: str = "") -> Filled:
    """The column, as text with a notice if it has dates beyond the years 1 to 9999, which Python cannot print.

    The text has the precision ``unit`` of numpy, by default that of the column, and the ``zone`` at its end.
    """
    # In seconds, as nanoseconds reach no further than from 1677 to 2262.
    moments = series.to_numpy()
    seconds = moments.astype("M8[s]")
    absent = np.isnat(seconds)
    beyond = np.flatnonzero(~absent & ((seconds < _FIRST_DAY) | (seconds >= _DAY_AFTER_LAST)))
    if not len(beyond):
        return series, []
    printed = np.char.replace(moments.astype(f"M8[{unit}]" if unit else moments.dtype).astype(str), "T", " ")
    cells = [None if is_absent else f"{text}{zone}" for text, is_absent in zip(printed, absent, strict=True)]
    reason = f"{counted(len(beyond), 'date')} beyond the years 1 to 9999"
    return texts(cells), [kept_as_text(name, reason, str(cells[beyond[0]]), int((~absent).sum()))]


def clock(seconds: float) -> str:
    """A time of day, or a duration, as hours, minutes and seconds such as 14:05:00."""
    minutes, milliseconds = divmod(round(abs(seconds) * 1000), 60_000)
    fraction = f".{milliseconds % 1000:03}" if milliseconds % 1000 else ""
    return f"{'-' if seconds < 0 else ''}{minutes // 60:02}:{minutes % 60:02}:{milliseconds // 1000:02}{fraction}"


def kept_as_text(name: str, what: str, example: str, values: int) -> Notice:
    """Notice that a column of so many ``values`` stays text because of ``what`` it holds."""
    text = f"column {name!r} holds {what}, such as {example}: all its {counted(values, 'value')} are kept as text."
    return Notice("kept-as-text", text, column=name, example=example)


def plain_column(series: pd.Series[Any]) -> pd.Series[Any]:
    """Convert a column to one of the types that files have, without its index.

    Booleans, numbers and dates without a time zone stay; those in a column of objects get their common type. Categories
    with names stay categories, categories of intervals get the interval's text as name, and categories of numbers or
    dates become numbers or dates. Anything else, such as numbers beside text, dates with a time zone or durations,
    becomes text: ``str`` of each cell.
    """
    column: Any = series.reset_index(drop=True)
    dtype = column.dtype
    if is_category(column):
        categories = column.cat.categories
        if isinstance(categories, pd.IntervalIndex):
            return column.cat.rename_categories([str(category) for category in categories])
        return column if all(isinstance(name, str) for name in categories) else _plain_objects(column)
    if isinstance(dtype, pd.SparseDtype):
        return plain_column(column.sparse.to_dense())
    if dtype == np.float16:
        return column.astype(np.float32)
    # Complex numbers, and floats longer than 64 bits, fit nowhere.
    fits = getattr(dtype, "itemsize", 8) <= 8 and not is_complex_dtype(dtype)
    is_number = is_bool_dtype(dtype) or is_integer_dtype(dtype) or is_float_dtype(dtype)
    return column if (fits and is_number) or is_date(column) else _plain_objects(column)


def is_date(series: pd.Series[Any]) -> bool:
    """Whether the column holds dates without a time zone."""
    return isinstance(series.dtype, np.dtype) and series.dtype.kind == "M"


def is_category(series: pd.Series[Any]) -> bool:
    """Whether the column holds categories."""
    return isinstance(series.dtype, pd.CategoricalDtype)


def is_text(series: pd.Series[Any]) -> bool:
    """Whether a column of :func:`plain_column` holds text, other than the names of categories."""
    is_number = is_integer_dtype(series.dtype) or is_float_dtype(series.dtype)
    return not (is_number or is_category(series) or is_date(series) or is_bool_dtype(series))


def as_text(series: pd.Series[Any]) -> pd.Series[Any]:
    """Texts, ``str`` of each cell, as a column of objects, with None for missing values."""
    cells = series.astype(object)
    texts = [None if absent else str(cell) for cell, absent in zip(cells, cells.isna(), strict=True)]
    return pd.Series(texts, dtype=object)


def is_midnight(series: pd.Series[Any]) -> bool:
    """Whether a column of dates has no time of day."""
    present = series.dropna()
    return bool((present == present.dt.normalize()).all())


def _plain_objects(column: pd.Series[Any]) -> pd.Series[Any]:
    """A column of objects as the common type of all, or as text."""
    cells = column.astype(object)
    kind = infer_dtype(cells, skipna=True)
    # Whole numbers may have more than 64 bits, and dates exceed the range of pandas.
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        if kind in ("boolean", "integer"):
            return cells.astype("boolean" if kind == "boolean" else "Int64")
        if kind in ("floating", "mixed-integer-float", "decimal"):
            numbers = cells.astype(np.float64)
            if all(_is_exact(cell, number) for cell, number in zip(cells, numbers, strict=True)):
                return numbers
        if kind in ("date", "datetime", "datetime64") and not any(getattr(cell, "tzinfo", None) for cell in cells):
            return pd.to_datetime(cells)
    return as_text(column)


def _is_exact(cell: Any, number: float) -> bool:
    """Whether a cell of a column of numbers equals the 64-bit float."""
    if isinstance(cell, Decimal):
        return bool(Decimal(repr(number)) == cell) or cell.is_nan()
    return bool(pd.isna(cell) or cell == number)


# --- columns of text files --------------------------------------------------------------------------------------------


@dataclass
class _Count:
    """The number of cells of some kind, and the first of them."""

    cells: int = 0
    example: str = ""

    def add(self, cell: str, cells: int = 1) -> None:
        self.example = self.example or cell
        self.cells += cells


@dataclass
class _Numbers:
    """The numbers of a column, chunk by chunk, and the losses of its cells as numbers."""

    values: list[NDArray[Any]] = field(default_factory=list)  # int64, float64, or Python integers beyond 64 bits
    present: list[NDArray[np.bool_]] = field(default_factory=list)
    has_points: bool = False
    lossy: _Count = field(default_factory=_Count)  # cells that lose information as numbers
    powers: _Count = field(default_factory=_Count)  # of ten without a point: 1e5 may be a code
    respelled: _Count = field(default_factory=_Count)  # cells with another text than their float


class ArrowCells(Sequence[str]):
    """The cells of a column as a pyarrow array, which readers take whole, and as a sequence of chunks."""

    def __init__(self, cells: Any, size: int) -> None:
        self.cells, self.size = cells, size  # of a chunk

    def __len__(self) -> int:
        return -(-len(self.cells) // self.size)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(len(self))[index]]
        return SEPARATOR.join(self.cells.slice(range(len(self))[index] * self.size, self.size).to_pylist())


def cells_in(chunks: Sequence[str]) -> Iterator[str]:
    """Yield the cells of a column, one for each record."""
    return itertools.chain.from_iterable(chunk.split(SEPARATOR) for chunk in chunks)


def read_text_column(chunks: Sequence[str], name: str, decimal: str, missing: Sequence[str]) -> Filled:
    """Convert the ``chunks`` of a column, see :data:`SEPARATOR`, and return it with its notices.

    In a column of numbers, cells in :data:`MISSING` are missing, too.
    """
    absent = frozenset(["", *missing])
    numbers = _read_numbers(chunks, decimal, absent.union(MISSING))
    notices: list[Notice] = []
    if numbers is not None and any(map(len, numbers.values)):
        column = _number_column(numbers)
        if column is not None:
            if column.dtype.kind == "f" and decimal == "." and (notice := _thousands_notice(name, chunks, absent)):
                return column, [notice]
            is_respelled = column.dtype.kind == "f" and numbers.respelled.cells
            return column, [_respelled_notice(name, numbers.respelled, decimal)] if is_respelled else []
        notices = [_lossy_notice(name, numbers.lossy, decimal)]
    elif numbers is not None and absent.issuperset(cells_in(chunks)):
        return pd.Series(np.full(sum(map(len, numbers.present)), np.nan)), _missing_in_text(chunks, name, missing)
    return _texts(chunks, absent), notices + _missing_in_text(chunks, name, missing)


def is_number(cell: str, decimal: str = ".") -> bool:
    """Whether a cell may be a number, even if it would lose information."""
    return _NUMBER.fullmatch(_swap_marks(cell, decimal).strip(_BLANKS)) is not None


def is_number_but_for(chunks: Sequence[str], decimal: str) -> bool:
    """Whether all cells are numbers except the first. Some must be."""
    first, *rest = chunks[0].split(SEPARATOR)
    if not first.strip() or is_number(first, decimal) or first in MISSING:
        return False
    sample = [cell for cell in rest[:50] if cell not in ("", *MISSING)]
    if not sample or not all(is_number(cell, decimal) for cell in sample):
        return False
    return _read_numbers([SEPARATOR.join(rest), *chunks[1:]], decimal, frozenset(["", *MISSING])) is not None


def _swap_marks(text: str, decimal: str) -> str:
    """Cells with a point as the decimal mark, or the reverse."""
    return text.translate({44: 46, 46: 44}) if decimal == "," else text


def _read_numbers(chunks: Sequence[str], decimal: str, absent: frozenset[str]) -> _Numbers | None:
    if isinstance(chunks, ArrowCells):
        with contextlib.suppress(pa.ArrowInvalid):
            return _arrow_numbers(chunks, decimal, absent)
    numbers = _Numbers()
    for chunk in chunks:
        cells = _swap_marks(chunk, decimal).split(SEPARATOR)
        present = (
            np.ones(len(cells), bool) if absent.isdisjoint(cells) else np.array([cell not in absent for cell in cells])
        )
        values = _values(cells if present.all() else list(itertools.compress(cells, present)), numbers)
        if values is None:
            return None
        numbers.values.append(values)
        numbers.present.append(present)
    if not numbers.has_points and numbers.powers.cells:
        numbers.lossy.add(numbers.powers.example, numbers.powers.cells)
    return numbers


def _arrow_numbers(chunks: ArrowCells, decimal: str, absent: frozenset[str]) -> _Numbers | None:
    """Like :func:`_read_numbers`, all cells at once. ArrowInvalid if some may lose information as numbers."""
    cells = chunks.cells
    for mark, new in ((".", "\1"), (",", "."), ("\1", ",")) if decimal == "," else ():
        cells = pc.replace_substring(cells, mark, new)
    present = pc.invert(pc.is_in(cells, pa.array([*absent])))
    cells = cells.filter(present)
    if not all(map(is_number, cells[:_N_FIRST].to_pylist())):
        return None
    numbers = _Numbers(present=[present.to_numpy(zero_copy_only=False)])
    if pc.all(pc.match_substring_regex(cells, "^(?:0|-?[1-9][0-9]{0,17})$"), min_count=0).as_py():
        numbers.values.append(pc.cast(cells, pa.int64()).to_numpy())
        return numbers
    # Cells that Python writes in the same way lose nothing. Arrow writes 1.0 as 1, and 1e-05 as 0.00001.
    is_same = pc.match_substring_regex(cells, _SHORT).to_numpy(zero_copy_only=False)
    others = cells.filter(pa.array(~is_same))
    may_be = pc.match_substring_regex(others, rf"^[ \t]*{_NUMBER.pattern}[ \t]*$", ignore_case=True)
    if not pc.all(may_be, min_count=0).as_py():
        return None
    values = pc.cast(cells, pa.float64()).to_numpy()
    printed = pc.cast(values[~is_same], pa.string())
    is_same[~is_same] = pc.and_(pc.equal(others, printed), pc.match_substring_regex(others, r"^[^e]*\.[^e]*$"))
    is_same &= (values == 0) | (np.abs(values) >= 1e-4)
    numbers.values, numbers.has_points = [values], bool(is_same.any())
    _classify(Counter(cells.filter(pa.array(~is_same)).to_pylist()), numbers)
    if numbers.lossy.cells or not numbers.has_points:
        raise pa.ArrowInvalid
    return numbers


def _values(cells: list[str], numbers: _Numbers) -> NDArray[Any] | None:
    """Cells as integers or floats, or None if one is not a number. ``numbers`` counts their losses."""
    if not cells:
        return np.empty(0, dtype=np.int64)
    with contextlib.suppress(ValueError):
        integers = list(map(int, cells))
        if list(map(str, integers)) == cells:
            numbers.respelled.add(cells[0], len(cells))
            return _integers(integers)
    try:
        floats = list(map(float, cells))
    except ValueError:
        return None
    # Cells that Python writes in the same way, with a point, lose nothing.
    lossless = [text if "." in text else "" for text in map(repr, floats)]
    unusual = Counter(itertools.compress(cells, map(operator.ne, cells, lossless)))
    numbers.has_points |= unusual.total() < len(cells)
    if not _classify(unusual, numbers):
        return None
    if not numbers.lossy.cells and not any("." in cell or "e" in cell or "E" in cell for cell in cells):
        return _integers(list(map(int, cells)))
    return np.array(floats)


def _integers(values: list[int]) -> NDArray[Any]:
    try:
        return np.array(values, dtype=np.int64)
    except OverflowError:
        return np.array(values, dtype=object)


def _classify(cells: Counter[str], numbers: _Numbers) -> bool:
    """Count the losses of distinct cells as numbers. Return False if one is not a number."""
    long_cells: list[tuple[str, int]] = []
    for cell, count in cells.items():
        text = cell.strip(_BLANKS)
        if _WHOLE.fullmatch(text):
            if text == "-0" or len(text) > _MAX_DIGITS:
                numbers.lossy.add(cell, count)
            elif len(text) > EXACT_DIGITS:
                long_cells.append((cell, count))
        elif _DECIMAL.fullmatch(text) or _POWER.fullmatch(text):
            if not _is_lossless(text):
                numbers.lossy.add(cell, count)
            if "." in text:
                numbers.has_points = True
            else:
                numbers.powers.add(cell, count)
        elif _NUMBER.fullmatch(text):
            numbers.lossy.add(cell, count)
        else:
            return False
        if repr(float(text)) != text:
            numbers.respelled.add(cell, count)
    for cell, count in long_cells if numbers.has_points else ():
        if not _is_float(int(cell)):
            numbers.lossy.add(cell, count)
    return True


def _is_float(value: int) -> bool:
    return Decimal(repr(float(str(value)))) == value


def _is_lossless(text: str) -> bool:
    """Whether the float of ``text`` has all its digits. 0.10000000000000001, written as 0.1, has."""
    digits = re.split("[eE]", text)[0].replace(".", "").lstrip("-0")
    value = float(text)
    if math.isinf(value) or (value == 0 and digits) or len(digits) > _MAX_DIGITS:
        return False
    if len(digits) <= EXACT_DIGITS and (value == 0 or abs(value) > 1e-300):
        return True
    return Decimal(text) in (Decimal(repr(value)), Decimal(f"{value:.{len(digits) - 1}e}"))


def _number_column(numbers: _Numbers) -> pd.Series[Any] | None:
    present = np.concatenate(numbers.present)
    is_whole = all(values.dtype.kind != "f" for values in numbers.values)
    for values in numbers.values if not is_whole else ():
        if values.dtype.kind != "f":
            for value in values[(values > EXACT_WHOLE) | (values < -EXACT_WHOLE)].tolist():
                if not _is_float(value):
                    numbers.lossy.add(str(value))
    values = np.concatenate(numbers.values)
    if is_whole and values.dtype == object and (values.min() < 0 or values.max() >= 2**64):
        for value in values[(values < -(2**63)) | (values >= 2**63)]:
            numbers.lossy.add(str(value))
    if numbers.lossy.cells:
        return None
    if not is_whole:
        column = np.full(len(present), np.nan)
    else:
        column = np.zeros(len(present), dtype=np.uint64 if values.dtype == object else np.int64)
    column[present] = values
    return whole_numbers(column, ~present) if is_whole else pd.Series(column, copy=False)


def _texts(chunks: Sequence[str], absent: frozenset[str]) -> pd.Series[Any]:
    """Cells as text, or as booleans if all have Python's form: ``TRUE`` is text."""
    words: dict[str, Any] = {"True": True, "False": False, **dict.fromkeys(absent, np.nan)}
    if isinstance(chunks, ArrowCells) and np.object_ != TEXT:
        cells = chunks.cells
        if not pc.all(pc.is_in(cells, pa.array([*words]))).as_py():
            present = pc.if_else(pc.is_in(cells, pa.array([*absent])), pa.scalar(None, cells.type), cells)
            return pd.Series(TEXT.__from_arrow__(present), copy=False)
    if all(words.keys() >= set(chunk.split(SEPARATOR)) for chunk in chunks):
        values = [words[cell] for cell in cells_in(chunks)]
        return pd.Series(np.array(values, dtype=np.bool_ if set(map(type, values)) == {bool} else object))
    parts = []
    for chunk in chunks:
        cells = chunk.split(SEPARATOR)
        shared: dict[str, str | None] = dict(zip(cells, cells, strict=True))  # equal texts are one object
        shared.update(dict.fromkeys(absent))
        parts.append(texts(map(shared.__getitem__, cells)))
    return pd.concat(parts, ignore_index=True)


def brief(cell: str) -> str:
    """A cell in quotes, shortened if it is long."""
    return repr(shortened(cell, _MAX_QUOTED))


def _lossy_notice(name: str, lossy: _Count, decimal: str) -> Notice:
    cell = _swap_marks(lossy.example, decimal)
    text = (
        f"Column {brief(name)} is kept as text because of {counted(lossy.cells, 'cell')} such as {brief(cell)}: as a "
        f"number, it would become {repr(float(lossy.example) + 0.0).removesuffix('.0')}."
    )
    return Notice("kept-as-text", text, column=name, example=cell)


def _respelled_notice(name: str, respelled: _Count, decimal: str) -> Notice:
    """Notice of cells in a column of floats with another text than their float: ``1.50`` and 1.5."""
    cell = _swap_marks(respelled.example, decimal)
    text = (
        f"Column {brief(name)} is read as numbers, of which {respelled.cells:,} will be written otherwise, such as "
        f"{brief(cell)} as {float(respelled.example)!r}, which is the same number."
    )
    return Notice("respelled", text, column=name, example=cell)


def _thousands_notice(name: str, chunks: Sequence[str], absent: Collection[str]) -> Notice | None:
    """Notice of a column of floats whose points may all stand between thousands: ``1.200``, ``12.500`` and ``850``."""
    with_point = (cell for cell in cells_in(chunks) if ("." in cell or "e" in cell.lower()) and cell not in absent)
    example = next(with_point)
    if not all(_GROUPED.fullmatch(cell.strip(_BLANKS)) for cell in itertools.chain([example], with_point)):
        return None
    text = (
        f"Column {brief(name)} is read as decimal numbers, such as {brief(example)} as {float(example)!r}, though each "
        f"point has three digits behind it: does it stand between thousands, as in {example.replace('.', '')}?"
    )
    return Notice("thousands", text, column=name, example=example, offers=(DECIMAL_COMMA,))


def _missing_in_text(chunks: Sequence[str], name: str, missing: Sequence[str]) -> list[Notice]:
    """Notice of the words in a column of text that count as missing, as they may be names or codes."""
    if isinstance(chunks, ArrowCells):
        present = chunks.cells.filter(pc.is_in(chunks.cells, pa.array(missing, pa.string()))).to_pylist()
        chunks = [SEPARATOR.join(present)] if present else []
    counting = frozenset(word for word in missing if any(word in chunk for chunk in chunks))
    words = Counter(cell for cell in cells_in(chunks) if cell in counting) if counting else Counter()
    if not words:
        return []
    count, first = words.total(), next(iter(words))
    text = (
        f"In column {brief(name)}, {counted(count, 'cell')} such as {brief(first)} count{'s' if count == 1 else ''} as "
        "missing. It may be text of its own, as NA is for Namibia."
    )
    others = [word for word in missing if word not in words]
    offer = Offer(f"Take {', '.join(sorted(words))} as text", {"missing": others})
    return [Notice("missing-words", text, column=name, example=first, offers=(offer,))]
