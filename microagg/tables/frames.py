"""Tables of pandas, polars and Arrow: taken as pandas has them, and given back as what they were.

Also the digests of data, of which equal data have equal ones.
"""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Collection, Hashable
from typing import TYPE_CHECKING, Any, NoReturn, TypeGuard

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.errors import ConvertedColumnWarning, DataError, ParameterError
from microagg.tables.arrow import check_single_values, is_text_type, to_series
from microagg.validation import IntArray, check_unique_columns, optional_import

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


#: What tables may be, for messages.
KINDS = "a DataFrame of pandas or polars, or a pyarrow.Table"


def is_table(given: Any) -> TypeGuard[IntoDataFrame]:
    """Whether ``given`` is a table with named columns, of one of the :data:`KINDS`."""
    return isinstance(given, pd.DataFrame) or _implementation(given) in ("polars", "pyarrow")


def as_pandas(table: IntoDataFrame) -> pd.DataFrame:
    """Return a table of any of the :data:`KINDS` as a DataFrame of pandas; one of pandas is returned itself.

    Parameters
    ----------
    table : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        With unique column names on one level, and no lists or records in its cells. What is not computed yet, such as a
        LazyFrame of polars, is to be collected first.

    Returns
    -------
    DataFrame, shape (n, columns)
        Under the index 0..n-1 unless it is one of pandas. Whole numbers beside missing values stay whole, decimals are
        numbers where floats hold them exactly and text otherwise, and all else is as
        :func:`microagg.tables.arrow.to_series` says, the same as in a Parquet file.

    Warns
    -----
    ConvertedColumnWarning
        Naming each column whose values pandas cannot hold as they are.

    Raises
    ------
    DataError
        If it is no such table, names occur more than once or on several levels, a column holds what is no single value,
        or pyarrow is not installed, which tables of polars need as well.
    """
    if not isinstance(table, pd.DataFrame):
        return _from_arrow(_as_arrow(table))
    if table.columns.nlevels > 1:
        raise DataError(f"the column names have {table.columns.nlevels} levels: flatten them to one first.")
    check_unique_columns(list(table.columns))
    return table


def as_given(
    frame: pd.DataFrame, like: IntoDataFrame, rows: IntArray | None, changed: Collection[Hashable]
) -> IntoDataFrame:
    """Return ``frame`` as a table of the kind of ``like``, whose records and columns it has, or some of them.

    Columns that are not ``changed`` are those of ``like`` itself, to the last digit and in their own type, whatever
    pandas made of them. Of the others, texts, dates and times have the type that they had. Categories that ``frame``
    does not know are not in the table either, nor is what was noted of the table or its columns.

    Parameters
    ----------
    frame : DataFrame, shape (m, some columns)
        Made from ``as_pandas(like)``.
    like : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
    rows : array of int, shape (m,), or None
        The positions of the records of ``frame`` in ``like``; None for all of them in their order.
    changed : collection of column names
    """
    if isinstance(like, pd.DataFrame):
        return frame
    pa = optional_import("pyarrow", "files")
    import narwhals

    given, arrow = narwhals.from_native(like, eager_only=True), _as_arrow(like)
    columns, fields = [], []
    for name in frame.columns:
        field = arrow.schema.field(name)
        if name in changed or pa.types.is_dictionary(field.type):
            columns.append(_in_type(pa.array(frame[name], from_pandas=True), field.type))
            fields.append(pa.field(name, columns[-1].type))
        else:
            columns.append(arrow.column(name) if rows is None else arrow.column(name).take(pa.array(rows)))
            fields.append(field.remove_metadata())
    table = pa.Table.from_arrays(columns, schema=pa.schema(fields))
    back = narwhals.DataFrame.from_arrow(table, backend=given.implementation)
    return back.with_columns(*_orders(given, frame)).to_native()


def _implementation(given: Any) -> str:
    """Return which package a table comes from, "" for what is no table of any that can be read."""
    package = type(given).__module__.partition(".")[0]
    if package not in ("polars", "pyarrow"):
        return ""
    from narwhals import dependencies

    found = dependencies.is_polars_dataframe(given) or dependencies.is_pyarrow_table(given)
    return package if found else ""


def _as_arrow(table: Any) -> Any:
    """Return a table of polars or Arrow as one of Arrow, or raise :class:`DataError`."""
    if not _implementation(table):
        raise DataError(_refusal(table))
    pa = optional_import("pyarrow", "files", "a table of polars", "pass one of pandas")
    import narwhals

    check_unique_columns(table.column_names if hasattr(table, "column_names") else table.columns)
    given = narwhals.from_native(table, eager_only=True)
    for name, kind in given.schema.items():
        if kind == narwhals.Object:  # of which Arrow would get the addresses in memory
            _refuse_type(table, name)
    try:
        arrow = given.to_arrow()
    except pa.ArrowException:
        for name in given.columns:
            try:
                given.select(name).to_arrow()
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
    if hasattr(table, "collect"):
        return f"the data must be {KINDS}, not {kind}, of which nothing is computed yet: pass what .collect() returns."
    if isinstance(table, (str, os.PathLike)):
        return f"the data must be {KINDS}, not the name of a file: microagg.tables.read_table(name) reads it."
    for method in ("to_pandas", "to_arrow"):
        if hasattr(table, method):
            return f"the data must be {KINDS}, not {kind}: pass what .{method}() returns."
    return f"the data must be {KINDS}, not {kind}: pandas.DataFrame(X, columns=[...]) makes one of an array."


def _from_arrow(arrow: Any) -> pd.DataFrame:
    columns: dict[str, pd.Series[Any]] = {}
    for name in arrow.column_names:
        columns[name], notices = to_series(arrow.column(name), name, "")
        for notice in notices:
            warnings.warn(notice.text, ConvertedColumnWarning, stacklevel=4)
    # The columns are not copied into blocks, for which there would have to be room twice.
    return pd.DataFrame(columns, index=pd.RangeIndex(arrow.num_rows), columns=arrow.column_names, copy=False)


def _in_type(column: Any, kind: Any) -> Any:
    """Return a column of pyarrow as texts, dates, times or categories of the type ``kind``, if it holds such."""
    pa = optional_import("pyarrow", "files")
    types = pa.types
    if types.is_dictionary(column.type) and types.is_dictionary(kind):
        values = _in_type(column.dictionary, kind.value_type)
        # As many categories as there were at most, so that the type of the positions has room for them.
        return pa.DictionaryArray.from_arrays(column.indices.cast(kind.index_type), values, ordered=kind.ordered)
    is_time = types.is_timestamp(column.type) and (types.is_date(kind) or types.is_timestamp(kind))
    is_text = is_text_type(column.type) and is_text_type(kind)
    return column.cast(kind) if is_time or is_text else column


def _orders(given: Any, frame: pd.DataFrame) -> list[Any]:
    """Return how columns of polars' type Enum get it again, with the categories that ``frame`` has."""
    import narwhals

    return [
        narwhals.col(name).cast(narwhals.Enum(list(frame[name].cat.categories)))
        for name, kind in given.schema.items()
        if isinstance(kind, narwhals.Enum) and name in frame.columns and _is_category(frame[name])
    ]


def _is_category(series: pd.Series[Any]) -> bool:
    return isinstance(series.dtype, pd.CategoricalDtype)


def digest_bytes(data: bytes | bytearray | memoryview) -> str:
    """Return the SHA-256 sum of ``data`` as 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def digest_array(X: ArrayLike) -> str:
    """Return the SHA-256 sum of an array's type, shape and values as 64 hexadecimal digits.

    Arrays with the same values give the same digest however they lie in memory.

    Raises
    ------
    ParameterError
        If the array holds Python objects, whose bytes say nothing about their values.
    """
    array = np.asarray(X)
    if array.dtype.hasobject:
        raise ParameterError(f"X must be an array of numbers, not of {array.dtype}.")
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)
    return digest.hexdigest()
