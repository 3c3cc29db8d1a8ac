"""Tables to SPSS files."""

from __future__ import annotations

import datetime as dt
import io
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from microagg.errors import DataError
from microagg.tables.lossless import (
    EXACT_WHOLE,
    as_exact,
    as_text,
    check_finite_numbers,
    file_names,
    is_category,
    is_date,
    is_midnight,
    is_text,
    plain_column,
)
from microagg.tables.statistics import codes_of
from microagg.validation import optional_import

#: How many bytes a text of SPSS has at most.
MAX_TEXT = 32_767

# How many bytes the label of a value has at most.
_MAX_LABEL = 120

# The day and the time of writing stand at these bytes; two files of one table should be the same.
_STAMP = slice(92, 109)
_WRITTEN_BY_SPSS = b"01 Jan 8000:00:00"


def write_sav(columns: Mapping[str, pd.Series[Any]], name: str) -> bytes:
    """Return columns as an SPSS file; see :func:`microagg.tables.write_table`."""
    pyreadstat = optional_import("pyreadstat", "statistics", f"writing {name!r}", "choose .csv")
    names = list(columns)
    table: dict[str, pd.Series[Any]] = {}
    value_labels: dict[str, dict[Any, str]] = {}
    measures: dict[str, str] = {}
    formats: dict[str, str] = {}
    for final, given in zip(file_names(names, ".sav"), names, strict=True):
        column = as_exact(plain_column(columns[given]))
        if is_category(column) and any(len(text.encode()) > _MAX_LABEL for text in column.cat.categories):
            column = as_text(column)
        if is_category(column):
            measures[final] = "ordinal" if column.cat.ordered else "nominal"
            column, value_labels[final] = codes_of(column)
        check_finite_numbers(column, given, ".sav")
        table[final], form = _storable(column)
        if form:
            formats[final] = form
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.sav"
        pyreadstat.write_sav(
            pd.DataFrame(table),
            str(path),
            column_labels={final: given for final, given in zip(table, names, strict=True) if final != given},
            variable_value_labels=value_labels,
            variable_measure=measures,
            variable_format=formats,
        )
        data = bytearray(path.read_bytes())
    data[_STAMP] = _WRITTEN_BY_SPSS
    return bytes(data)


def _storable(column: pd.Series[Any]) -> tuple[pd.Series[Any], str]:
    """Return a column as pyreadstat takes it, and the format in which SPSS shows it, or "" for the usual one."""
    if is_date(column):
        # With another unit than microseconds or nanoseconds, pyreadstat takes the numbers for something else.
        return column.astype("datetime64[us]"), "DATE11" if is_midnight(column) else "DATETIME23.3"
    if is_text(column):
        return as_text(column), ""
    whole = is_bool_dtype(column.dtype) or is_integer_dtype(column.dtype)
    numbers = pd.Series(
        column.astype("Float64" if not is_float_dtype(column.dtype) else column.dtype).to_numpy(
            dtype=np.float64, na_value=np.nan
        )
    )
    if not whole:
        return numbers, ""
    longest = max((len(f"{number:.0f}") for number in numbers.dropna()), default=1)
    return numbers, f"F{longest}.0"


# Tables to Stata files.

#: How many variables a file of Stata 14 to 19 has at most.
MAX_COLUMNS = 32_767

# Larger numbers of 64 and of 32 bits are missing values in Stata.
_LARGEST, _LARGEST_SINGLE = 2.0**1023, 2.0**127

# The bytes that the labels of one variable may have together, and those of a text of fixed width.
_MAX_LABELS, _MAX_FIXED = 32_000, 2_045

# A file tells when it was written; two files of one table should be the same.
_WRITTEN_BY_STATA = dt.datetime(1980, 1, 1)


def write_dta(columns: Mapping[str, pd.Series[Any]]) -> bytes:
    """Return columns as a file of Stata 14; see :func:`microagg.tables.write_table`."""
    # By pandas: pyreadstat writes the time of writing, no floats of 32 bits, and whole numbers in 32 bits at least.
    if len(columns) > MAX_COLUMNS:
        raise DataError(
            f"the table has {len(columns):,} columns, and a Stata file holds {MAX_COLUMNS:,}: choose .csv or .parquet."
        )
    names = list(columns)
    table: dict[str, pd.Series[Any]] = {}
    value_labels: dict[Any, dict[Any, str]] = {}
    dates: dict[Any, Any] = {}
    long_texts = []
    for final, name in zip(file_names(names, ".dta"), names, strict=True):
        column = as_exact(plain_column(columns[name]), EXACT_WHOLE - 1)
        if is_category(column) and sum(len(text.encode()) + 1 for text in column.cat.categories) > _MAX_LABELS:
            column = as_text(column)
        if is_category(column):
            column, value_labels[final] = codes_of(column)
        elif is_text(column):
            # A column of missing values only would be refused.
            column = as_text(column).fillna("")
            if any(len(text) * 4 > _MAX_FIXED and len(text.encode()) > _MAX_FIXED for text in column):
                long_texts.append(final)
        elif is_date(column):
            dates[final] = "td" if is_midnight(column) else "tc"
        else:
            check_finite_numbers(column, name, ".dta", _LARGEST)
            column = _number(column)
        table[final] = column
    stream = io.BytesIO()
    pd.DataFrame(table).to_stata(
        stream,
        write_index=False,
        version=118,
        time_stamp=_WRITTEN_BY_STATA,
        convert_dates=dates,
        convert_strl=long_texts,
        value_labels={final: labels for final, labels in value_labels.items() if labels},
        variable_labels={final: name for final, name in zip(table, names, strict=True) if final != name},
    )
    return stream.getvalue()


def _number(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return numbers with a type that pandas narrows to one of Stata's without losing a digit."""
    if is_bool_dtype(column.dtype):
        return column.astype("boolean").astype("Int8")
    if is_integer_dtype(column.dtype):
        return column.astype("Int64") if column.isna().any() else column.astype(np.int64)
    if column.dtype != np.float32 or (column.abs() >= _LARGEST_SINGLE).any():
        return pd.Series(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return column
