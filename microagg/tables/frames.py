"""Tables of pandas, polars and Arrow: converted to pandas, and back to their kind.

Each column of pandas has exactly the values of the column of Arrow, or there is a notice. Also digests of data.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import uuid
import warnings
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.errors import ConvertedColumnWarning, DataError, ParameterError
from microagg.tables.lossless import (
    EXACT_DIGITS,
    Filled,
    as_text,
    is_category,
    kept_as_text,
    printable_dates,
    texts,
    whole_numbers,
)
from microagg.tables.notices import Notice
from microagg.validation import IntArray, check_unique_columns, counted, optional_import

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

with contextlib.suppress(ImportError):  # a column of pyarrow implies the package
    import pyarrow as pa
    import pyarrow.compute as pc


#: The kinds of tables, for messages.
KINDS = "a DataFrame of pandas or polars, or a pyarrow.Table"


def is_table(table: Any) -> TypeGuard[IntoDataFrame]:
    """Whether an object is one of the :data:`KINDS` of tables."""
    return isinstance(table, pd.DataFrame) or _is_other_table(table)


def as_pandas(table: IntoDataFrame) -> pd.DataFrame:
    """Convert a table of any of the :data:`KINDS`, shape (n, columns), to a DataFrame of pandas.

    A DataFrame of pandas is returned itself; others get the index 0..n-1 and columns as from a Parquet file
    (:func:`to_series`), with a :class:`ConvertedColumnWarning` for each whose values pandas cannot hold. DataError if
    it is no table, names occur twice or on several levels, or a column has lists or records.
    """
    if isinstance(table, pd.DataFrame):
        if table.columns.nlevels > 1:
            raise DataError(f"the column names have {table.columns.nlevels} levels: flatten them to one first.")
        check_unique_columns(list(table.columns))
        return table
    arrow = _as_arrow(table)
    columns: dict[str, pd.Series[Any]] = {}
    for name in arrow.column_names:
        columns[name], notices = to_series(arrow.column(name), name, "")
        for notice in notices:
            warnings.warn(notice.text, ConvertedColumnWarning, stacklevel=3)
    # The columns are not copied into blocks, which would take twice the memory.
    return pd.DataFrame(columns, index=pd.RangeIndex(arrow.num_rows), columns=arrow.column_names, copy=False)


def as_given(
    frame: pd.DataFrame, like: IntoDataFrame, rows: IntArray | None, changed: Collection[Hashable]
) -> IntoDataFrame:
    """Convert ``frame``, made from ``as_pandas(like)`` at the positions ``rows``, to a table of the kind of ``like``.

    Columns that are not ``changed`` are those of ``like``, exactly and in their type. Of the others, texts, dates and
    times keep their type. Categories that ``frame`` does not have, and metadata, are left out.
    """
    if isinstance(like, pd.DataFrame):
        return frame
    import narwhals

    table, arrow = narwhals.from_native(like, eager_only=True), _as_arrow(like)
    columns, fields = [], []
    for name in frame.columns:
        field = arrow.schema.field(name)
        if name in changed or pa.types.is_dictionary(field.type):
            columns.append(_cast_like(pa.array(frame[name], from_pandas=True), field.type))
            fields.append(pa.field(name, columns[-1].type))
        else:
            column = arrow.column(name)
            if rows is None:  # copied, as a pickle of a part of a table holds all of it
                copies = [chunk.take(pa.array(np.arange(len(chunk)))) for chunk in column.chunks]
                columns.append(pa.chunked_array(copies, column.type))
            else:
                columns.append(column.take(pa.array(rows)))
            fields.append(field.remove_metadata())
    result = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    back = narwhals.DataFrame.from_arrow(result, backend=table.implementation)
    # Columns of polars' type Enum get this type again, with the categories of the frame.
    orders = [
        narwhals.col(name).cast(narwhals.Enum(list(frame[name].cat.categories)))
        for name, kind in table.schema.items()
        if isinstance(kind, narwhals.Enum) and name in frame.columns and is_category(frame[name])
    ]
    return back.with_columns(*orders).to_native()


def _is_other_table(table: Any) -> bool:
    if type(table).__module__.partition(".")[0] not in ("polars", "pyarrow"):
        return False
    from narwhals import dependencies

    return dependencies.is_polars_dataframe(table) or dependencies.is_pyarrow_table(table)


def _as_arrow(table: Any) -> Any:
    """Convert a table of polars or Arrow to Arrow."""
    if not _is_other_table(table):
        raise DataError(_refusal(table))
    optional_import("pyarrow", "files", "a table of polars", "pass one of pandas")
    import narwhals

    check_unique_columns(table.column_names if hasattr(table, "column_names") else table.columns)
    frame = narwhals.from_native(table, eager_only=True)
    for name, kind in frame.schema.items():
        if kind == narwhals.Object:  # Arrow would get their memory addresses
            _refuse_type(table, name)
    try:
        arrow = frame.to_arrow()
    except pa.ArrowException:
        for name in frame.columns:
            try:
                frame.select(name).to_arrow()
            except pa.ArrowException:
                _refuse_type(table, name)
        raise
    check_single_values(arrow.schema)
    return arrow


def _refuse_type(table: Any, name: str) -> NoReturn:
    raise DataError(
        f"column {name!r} is of the type {table.schema[name]}, which neither Arrow nor pandas knows: turn it into "
        "numbers or text first."
    )


def _refusal(table: Any) -> str:
    kind = f"{type(table).__module__.partition('.')[0]}.{type(table).__name__}".removeprefix("builtins.")
    if isinstance(table, (str, os.PathLike)):
        return f"the data must be {KINDS}, not the name of a file: microagg.tables.read_table(name) reads it."
    advice = "pandas.DataFrame(X, columns=[...]) makes one of an array"
    for method in ("to_arrow", "to_pandas"):
        if hasattr(table, method):
            advice = f"pass what .{method}() returns"
    if hasattr(table, "collect"):
        kind, advice = f"{kind}, of which nothing is computed yet", "pass what .collect() returns"
    return f"the data must be {KINDS}, not {kind}: {advice}."


def _cast_like(column: Any, kind: Any) -> Any:
    """Cast a column of pyarrow to the type ``kind`` if both are texts, times or categories."""
    types = pa.types
    if types.is_dictionary(column.type) and types.is_dictionary(kind):
        values = _cast_like(column.dictionary, kind.value_type)
        # There are no more categories than before, so the type of the positions suffices.
        return pa.DictionaryArray.from_arrays(column.indices.cast(kind.index_type), values, ordered=kind.ordered)
    is_time = types.is_timestamp(column.type) and (types.is_date(kind) or types.is_timestamp(kind))
    is_text = is_text_type(column.type) and is_text_type(kind)
    return column.cast(kind) if is_time or is_text else column


# --- columns of Arrow -------------------------------------------------------------------------------------------------


def to_series(column: Any, name: str, label: str) -> Filled:
    """Convert a column of pyarrow, of any type but nested ones, to pandas, with notices of changes.

    Whole numbers beside missing values have pandas' nullable types, such as Int64. Decimals are whole numbers or floats
    if these are exact, and text otherwise. Times of day, and dates beyond the years 1 to 9999, are text. Half floats
    are floats of 32 bits. Bytes are text if they are UTF-8, and hexadecimal otherwise. ``label`` is the name of the
    file in messages.
    """
    types, kind = pa.types, column.type
    if is_text_type(getattr(kind, "value_type", kind)):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid:
            location = f" of the file {label!r}" if label else ""
            raise DataError(
                f"column {name!r}{location} holds text that is not in UTF-8, as Parquet and Arrow demand: export it "
                "again with text in UTF-8, or leave the column out."
            ) from None
    if isinstance(kind, pa.BaseExtensionType):
        return _extension(column, name)
    for fits, convert in (
        (types.is_dictionary, _dictionary),
        (types.is_decimal, _decimals),
        (types.is_integer, _whole_numbers),
        (types.is_floating, _floats),
        (types.is_date, _dates),
        (types.is_timestamp, _timestamps),
        (is_bytes_type, _bytes),
    ):
        if fits(kind):
            return convert(column, name)
    if types.is_time(kind):
        return _through_pandas(pc.replace_substring_regex(column.cast(pa.string()), r"\.0+$", "")), []
    if types.is_boolean(kind) or types.is_null(kind) or types.is_duration(kind) or is_text_type(kind):
        return _through_pandas(column), []
    return texts([None if cell is None else str(cell) for cell in column.to_pylist()]), []


def check_single_values(schema: Any, where: str = "") -> None:
    """Raise DataError for the first column with lists or records. ``where`` names the table in messages."""
    for column in schema:
        # Intervals of pandas are stored as records.
        if pa.types.is_nested(getattr(column.type, "storage_type", column.type)) and not _is_pandas_type(column.type):
            raise DataError(
                f"column {column.name!r}{where} holds lists or records ({column.type}): "
                "leave it out, or unfold it into columns of single values."
            )


def is_text_type(kind: Any) -> bool:
    """Whether a type of pyarrow is a type of texts."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_bytes_type(kind: Any) -> bool:
    """Whether a type of pyarrow is a type of bytes without an encoding."""
    types = pa.types
    kinds = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view)
    return any(fits(kind) for fits in kinds)


def is_category_type(kind: Any) -> bool:
    """Whether values of a type of pyarrow become categories if a dictionary stores them."""
    return bool(is_text_type(kind) or pa.types.is_integer(kind) or pa.types.is_boolean(kind))


def _is_pandas_type(kind: Any) -> bool:
    return str(getattr(kind, "extension_name", "")).startswith("pandas.")


def _through_pandas(column: Any) -> pd.Series[Any]:
    frame: pd.DataFrame = pa.table({"column": column}).to_pandas(ignore_metadata=True)
    return frame["column"]


def _through_numpy(column: Any) -> pd.Series[Any]:
    """A column of numbers as a writable array."""
    values = column.to_numpy()
    return pd.Series(values if values.flags.writeable else values.copy(), copy=False)


def _count_and_example(series: pd.Series[Any]) -> tuple[int, str]:
    """Number of values that are not missing, and the first of them. "" if all are missing."""
    present = series.dropna()
    return len(present), str(present.iloc[0]) if len(present) else ""


def _whole_numbers(column: Any, name: str) -> Filled:
    values = _through_numpy(column.fill_null(0) if column.null_count else column)
    return whole_numbers(values.to_numpy(), column.is_null().to_numpy() if column.null_count else None), []


def _floats(column: Any, name: str) -> Filled:
    single = column.cast(pa.float32()) if column.type == pa.float16() else column
    undefined = int(pc.sum(pc.is_nan(single)).as_py() or 0) if column.null_count else 0
    text = (
        f"column {name!r} has NaN (not a number) in {counted(undefined, 'cell')}, and no value in "
        f"{counted(column.null_count, 'cell')}: all of them count as missing."
    )
    notice = Notice("nan-is-missing", text, column=name, example="NaN")
    return _through_numpy(single), [notice] if undefined else []


def _decimals(column: Any, name: str) -> Filled:
    text = column.cast(pa.string())
    if column.type.scale <= 0:
        with contextlib.suppress(pa.ArrowInvalid):  # more than 64 bits, or an exponent
            return _whole_numbers(text.cast(pa.int64()), name)
    # By way of the text to the nearest float; pyarrow's conversion of decimals may miss it by one.
    numbers = text.cast(pa.float64())
    if column.type.precision <= EXACT_DIGITS or _prints_back(column, numbers):
        return _through_numpy(numbers), []
    inexact = next(
        str(cell)
        for cell, number in zip(text.drop_null(), numbers.drop_null(), strict=True)
        if not _prints_back(pa.chunked_array([[str(cell)]]).cast(column.type), pa.chunked_array([[number.as_py()]]))
    )
    values = len(column) - column.null_count
    reason = "decimals with more digits than a float keeps"
    return _through_pandas(text), [kept_as_text(name, reason, inexact, values)]


def _prints_back(column: Any, numbers: Any) -> bool:
    """Whether all floats, as printed, equal the decimals of a column."""
    try:
        return bool(numbers.cast(pa.string()).cast(column.type).equals(column))
    except pa.ArrowInvalid:  # more digits than the column's type has
        return False


def _dates(column: Any, name: str) -> Filled:
    return _timestamps(column.cast(pa.timestamp("s" if pa.types.is_date32(column.type) else "ms")), name, unit="D")


def _timestamps(column: Any, name: str, unit: str | None = None) -> Filled:
    """Times, or texts to the ``unit`` if there is one, if some are beyond the printable ones."""
    zone = column.type.tz
    series = _through_numpy(column.cast(pa.timestamp(column.type.unit)))
    series, notices = printable_dates(series, name, unit, "+00:00" if zone else "")
    if zone is None or notices:
        return series, notices
    try:
        return _through_pandas(column), []
    except (KeyError, ValueError, pa.ArrowException):  # a time zone unknown to this machine
        moved = _through_pandas(column.cast(pa.timestamp(column.type.unit, "UTC")))
    count, example = _count_and_example(moved)
    text = (
        f"column {name!r} has {counted(count, 'time')} in the time zone {zone!r}, which this machine does not know: "
        f"read as times in UTC, such as {example}."
    )
    return moved, [Notice("unknown-time-zone", text, column=name, example=example)] if count else []


def _bytes(column: Any, name: str) -> Filled:
    plain = column.cast(pa.large_binary())
    try:
        series = _through_pandas(plain.cast(pa.large_string()))
        description = "bytes without an encoding: they are read as text in UTF-8"
    except pa.ArrowInvalid:
        cells = [None if cell is None else cell.hex() for cell in plain.to_pylist()]
        series = _through_pandas(pa.chunked_array([cells], pa.large_string()))
        description = "bytes that are no text: they are kept in hexadecimal"
    count, example = _count_and_example(series)
    text = f"column {name!r} holds {counted(count, 'cell')} of {description}, such as {example[:40]!r}."
    return series, [Notice("bytes", text, column=name, example=example[:40])] if count else []


def _dictionary(column: Any, name: str) -> Filled:
    values = column.type.value_type
    if is_category_type(values):
        unified = column.unify_dictionaries()
        categories = unified.chunk(0).dictionary if unified.num_chunks else pa.array([], values)
        # Pandas has no repeated or missing categories.
        if not categories.null_count and len(categories.unique()) == len(categories):
            return _through_pandas(unified), []
    return to_series(column.cast(values), name, "")


def _extension(column: Any, name: str) -> Filled:
    kind = str(column.type.extension_name)
    if _is_pandas_type(column.type):  # periods and intervals
        return texts(list(as_text(_through_pandas(column)))), []
    stored = pa.chunked_array([chunk.storage for chunk in column.chunks], column.type.storage_type)
    if kind == "arrow.uuid":
        return texts([None if cell is None else str(uuid.UUID(bytes=cell)) for cell in stored.to_pylist()]), []
    series, notices = to_series(stored, name, "")
    count, example = _count_and_example(series)
    text = (
        f"column {name!r} has the type {kind!r}, unknown here: its {counted(count, 'value')} are read "
        f"as they are stored ({column.type.storage_type}), such as {example[:40]!r}."
    )
    return series, [Notice("other-type", text, column=name, example=example[:40]), *notices]


def digest_bytes(data: bytes | bytearray | memoryview) -> str:
    """SHA-256 digest of ``data``.

    Parameters
    ----------
    data : bytes
        What is digested.

    Returns
    -------
    str
        64 hexadecimal digits.
    """
    return hashlib.sha256(data).hexdigest()


def digest_array(X: ArrayLike) -> str:
    """SHA-256 digest of an array's type, shape and values, whatever its memory layout.

    Parameters
    ----------
    X : array
        Numbers, of any shape.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    ParameterError
        If it has Python objects, whose bytes do not represent their values.
    """
    array = np.asarray(X)
    if array.dtype.hasobject:
        raise ParameterError(f"X must be an array of numbers, not of {array.dtype}.")
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
