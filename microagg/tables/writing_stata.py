"""Tables to Stata files."""

from __future__ import annotations

import datetime as dt
import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_integer_dtype

from microagg.errors import DataError
from microagg.tables.columns import (
    EXACT_WHOLE,
    as_exact,
    as_text,
    check_finite_numbers,
    is_category,
    is_date,
    is_midnight,
    is_text,
    plain_column,
)
from microagg.tables.labels import codes_of
from microagg.tables.names import file_names

#: How many variables a file of Stata 14 to 19 has at most.
MAX_COLUMNS = 32_767

# Larger numbers of 64 and of 32 bits are missing values in Stata.
_LARGEST, _LARGEST_SINGLE = 2.0**1023, 2.0**127

# The bytes that the labels of one variable may have together, and those of a text of fixed width.
_MAX_LABELS, _MAX_FIXED = 32_000, 2_045

# A file tells when it was written; two files of one table should be the same.
_WRITTEN = dt.datetime(1980, 1, 1)


def write_dta(columns: Mapping[str, pd.Series[Any]]) -> bytes:
    """Return columns as a file of Stata 14; see :func:`microagg.tables.write_table`."""
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
        time_stamp=_WRITTEN,
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
