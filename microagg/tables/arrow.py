"""Columns of pyarrow as columns of pandas, of which each holds exactly what stood in the file, or says otherwise."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Callable
from typing import Any

import pandas as pd

from microagg.errors import DataError
from microagg.tables.lossless import EXACT_DIGITS, Filled, kept_as_text, printable_dates, texts, whole_numbers
from microagg.tables.notices import Notice
from microagg.validation import counted

with contextlib.suppress(ImportError):  # whoever has a column of pyarrow has the package
    import pyarrow as pa
    import pyarrow.compute as pc


def to_series(column: Any, name: str, label: str) -> Filled:
    """Return a column of a file as pandas knows it, and what there is to say of it.

    Parameters
    ----------
    column : pyarrow.ChunkedArray of n cells
        Of any type but nested ones.
    name : str
        The column's name.
    label : str
        The file's name, for messages; empty of what is in no file.

    Returns
    -------
    series : Series of n cells
        Whole numbers beside missing values have pandas' nullable types, such as Int64. Decimals are whole numbers or
        floats where these hold them exactly, and text otherwise. Times of day, and dates beyond the years 1 to 9999,
        are text. Half floats are floats of 32 bits. Bytes are text where they are UTF-8, and hexadecimal otherwise.
    notices : list of Notice

    Raises
    ------
    DataError
        If a text is not in UTF-8.
    """
    types = pa.types
    kind = column.type
    rules: tuple[tuple[Callable[[Any], bool], Callable[[Any, str], Filled]], ...] = (
        (lambda kind: isinstance(kind, pa.BaseExtensionType), _extension),
        (types.is_dictionary, _dictionary),
        (types.is_decimal, _decimals),
        (types.is_integer, _whole_numbers),
        (types.is_floating, _floats),
        (types.is_date, _dates),
        (types.is_time, _times_of_day),
        (types.is_timestamp, _timestamps),
        (_is_bytes, _bytes),
    )
    if is_text_type(_values_type(kind)):
        _check_utf8(column, name, label)
    for fits, convert in rules:
        if fits(kind):
            return convert(column, name)
    if types.is_boolean(kind) or types.is_null(kind) or types.is_duration(kind) or is_text_type(kind):
        return _by_pandas(column), []
    return texts([None if cell is None else str(cell) for cell in column.to_pylist()]), []


def check_single_values(schema: Any, where: str = "") -> None:
    """Raise :class:`DataError` naming the first column of a table that is not made of single values.

    ``where`` is what messages say of the table, such as `` of the file 'people.parquet'``.
    """
    types = pa.types
    for column in schema:
        if types.is_nested(getattr(column.type, "storage_type", column.type)) and not _is_of_pandas(column.type):
            raise DataError(
                f"column {column.name!r}{where} holds lists or records ({column.type}): "
                "leave it out, or unfold it into columns of single values."
            )


def converted_bytes(column: Any) -> int:
    """Return about how many bytes :func:`to_series` takes for a column beside its own."""
    types = pa.types
    kind = _values_type(column.type)
    if types.is_decimal(kind):
        per_cell = 32 + int(kind.precision)
    elif types.is_time(kind):
        per_cell = 40
    elif types.is_date(kind) or types.is_timestamp(kind):
        per_cell = 24
    elif _is_bytes(kind):
        return 48 * len(column) + 3 * int(column.nbytes)
    elif types.is_boolean(kind) or types.is_null(kind) or kind != column.type:
        per_cell = 10
    else:
        return 0 if is_text_type(kind) else int(column.nbytes)
    return per_cell * len(column)


def is_text_type(kind: Any) -> bool:
    """Whether a type of pyarrow is that of texts."""
    types = pa.types
    is_view = getattr(types, "is_string_view", lambda _: False)
    return bool(types.is_string(kind) or types.is_large_string(kind) or is_view(kind))


def is_category_type(kind: Any) -> bool:
    """Whether values of a type of pyarrow, if they stand in a dictionary, become categories."""
    types = pa.types
    return bool(is_text_type(kind) or types.is_integer(kind) or types.is_boolean(kind))


def plain_text(part: Any) -> Any:
    """Return a dictionary of texts and positions in it as these texts, of pyarrow's type for large ones."""
    return part.dictionary.cast(pa.large_string()).take(part.indices)


def _is_of_pandas(kind: Any) -> bool:
    """Whether a type is one of pandas' own, whose intervals are stored as records."""
    return str(getattr(kind, "extension_name", "")).startswith("pandas.")


def _values_type(kind: Any) -> Any:
    return getattr(kind, "value_type", kind)


def _is_bytes(kind: Any) -> bool:
    types = pa.types
    is_view = getattr(types, "is_binary_view", lambda _: False)
    return bool(
        types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind) or is_view(kind)
    )


def _by_pandas(column: Any) -> pd.Series[Any]:
    """Return a column as pyarrow makes it pandas'."""
    frame: pd.DataFrame = pa.table({"column": column}).to_pandas(ignore_metadata=True)
    return frame["column"]


def _by_numpy(column: Any) -> pd.Series[Any]:
    """Return a column of numbers in an array of its own, which may be written to."""
    values = column.to_numpy()
    return pd.Series(values if values.flags.writeable else values.copy(), copy=False)


def _check_utf8(column: Any, name: str, label: str) -> None:
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        where = f" of the file {label!r}" if label else ""
        raise DataError(
            f"column {name!r}{where} holds text that is not in UTF-8, as Parquet and Arrow demand: export it "
            "again with text in UTF-8, or leave the column out."
        ) from None


def _whole_numbers(column: Any, name: str) -> Filled:
    values = _by_numpy(column.fill_null(0) if column.null_count else column)
    return whole_numbers(values.to_numpy(), column.is_null().to_numpy() if column.null_count else None), []


def _floats(column: Any, name: str) -> Filled:
    single = column.cast(pa.float32()) if column.type == pa.float16() else column
    notices = []
    undefined = int(pc.sum(pc.is_nan(single)).as_py() or 0) if column.null_count else 0
    if undefined:
        notices.append(
            Notice(
                "nan-is-missing",
                f"column {name!r} has NaN (not a number) in {counted(undefined, 'cell')}, and no value in "
                f"{counted(column.null_count, 'cell')}: all of them count as missing.",
                column=name,
                count=undefined,
                example="NaN",
            )
        )
    return _by_numpy(single), notices


def _decimals(column: Any, name: str) -> Filled:
    text = column.cast(pa.string())
    if column.type.scale <= 0:
        try:
            return _whole_numbers(text.cast(pa.int64()), name)
        except pa.ArrowInvalid:
            pass  # more than 64 bits, or written with an exponent
    # The nearest float is that of the text; pyarrow's own way from decimals to floats may miss it by one.
    numbers = text.cast(pa.float64())
    if column.type.precision <= EXACT_DIGITS or _prints_back(column, numbers):
        return _by_numpy(numbers), []
    inexact = next(
        cell
        for cell, number in zip(text, numbers, strict=True)
        if cell.is_valid and not _is_exact(column, cell, number)
    )
    values = len(column) - column.null_count
    return _by_pandas(text), [
        kept_as_text(name, "decimals with more digits than a float keeps", str(inexact), values, values)
    ]


def _prints_back(column: Any, numbers: Any) -> bool:
    """Whether all floats are, as they are printed, the decimals of a column."""
    try:
        return bool(numbers.cast(pa.string()).cast(column.type).equals(column))
    except pa.ArrowInvalid:  # more digits than the column's type has
        return False


def _is_exact(column: Any, text: Any, number: Any) -> bool:
    return _prints_back(pa.chunked_array([[text.as_py()]]).cast(column.type), pa.chunked_array([[number.as_py()]]))


def _dates(column: Any, name: str) -> Filled:
    return _timestamps(column.cast(pa.timestamp("s" if pa.types.is_date32(column.type) else "ms")), name, unit="D")


def _timestamps(column: Any, name: str, unit: str | None = None) -> Filled:
    """Return times; where they are beyond those that can be printed, as text, to the ``unit`` if it is given."""
    zone = column.type.tz
    series = _by_numpy(column.cast(pa.timestamp(column.type.unit)))
    series, notices = printable_dates(series, name, unit, "+00:00" if zone else "")
    if zone is None or notices:
        return series, notices
    try:
        return _by_pandas(column), []
    except (KeyError, ValueError, pa.ArrowException):  # a zone that this machine does not know
        moved = _by_pandas(column.cast(pa.timestamp(column.type.unit, "UTC")))
    present = moved.dropna()
    count = len(present)
    notice = Notice(
        "unknown-time-zone",
        f"column {name!r} has {counted(count, 'time')} in the time zone {zone!r}, which this machine does not know: "
        f"read as times in UTC, such as {present.iloc[0] if count else ''}.",
        column=name,
        count=count,
        example=str(present.iloc[0]) if count else "",
    )
    return moved, [notice] if count else []


def _times_of_day(column: Any, name: str) -> Filled:
    return _by_pandas(pc.replace_substring_regex(column.cast(pa.string()), r"\.0+$", "")), []


def _bytes(column: Any, name: str) -> Filled:
    plain = column.cast(pa.large_binary())
    try:
        text = plain.cast(pa.large_string())
        how = "bytes without an encoding: they are read as text in UTF-8"
    except pa.ArrowInvalid:
        text = pa.chunked_array([_as_hexadecimal(chunk) for chunk in plain.chunks], pa.large_string())
        how = "bytes that are no text: they are kept in hexadecimal"
    series = _by_pandas(text)
    present = series.dropna()
    example = str(present.iloc[0])[:40] if len(present) else ""
    notice = Notice(
        "bytes",
        f"column {name!r} holds {counted(len(present), 'cell')} of {how}, such as {example!r}.",
        column=name,
        count=len(present),
        example=example,
    )
    return series, [notice] if len(present) else []


def _as_hexadecimal(chunk: Any) -> Any:
    return pa.array([None if cell is None else cell.hex() for cell in chunk.to_pylist()], pa.large_string())


def _dictionary(column: Any, name: str) -> Filled:
    values = column.type.value_type
    if is_category_type(values):
        unified = column.unify_dictionaries()
        found = unified.chunk(0).dictionary if unified.num_chunks else pa.array([], values)
        # A category that occurs twice in a dictionary, or that is missing, is none for pandas.
        if not found.null_count and len(found.unique()) == len(found):
            return _by_pandas(unified), []
    return to_series(column.cast(values), name, "")


def _extension(column: Any, name: str) -> Filled:
    kind = str(column.type.extension_name)
    if kind.startswith("pandas."):  # periods and intervals
        found = _by_pandas(column)
        return texts([None if absent else str(cell) for cell, absent in zip(found, found.isna(), strict=True)]), []
    stored = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    if kind == "arrow.uuid":
        return texts([None if cell is None else str(uuid.UUID(bytes=cell)) for cell in stored.to_pylist()]), []
    if kind == "arrow.bool8":
        return _by_pandas(stored.cast(pa.bool_())), []
    series, notices = to_series(stored, name, "")
    if kind == "arrow.json":
        return series, notices
    present = series.dropna()
    example = str(present.iloc[0])[:40] if len(present) else ""
    mine = Notice(
        "other-type",
        f"column {name!r} has the type {kind!r}, unknown here: its {counted(len(present), 'value')} are read "
        f"as they are stored ({column.type.storage_type}), such as {example!r}.",
        column=name,
        count=len(present),
        example=example,
    )
    return series, [mine, *notices]
