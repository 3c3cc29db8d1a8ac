"""Tables to SPSS files."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_float_dtype, is_integer_dtype

from microagg.errors import DataError
from microagg.tables.columns import (
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

#: How many bytes a text of SPSS has at most.
MAX_TEXT = 32_767

# How many bytes the label of a value has at most.
_MAX_LABEL = 120

# The day and the time of writing stand at these bytes; two files of one table should be the same.
_STAMP = slice(92, 109)
_WRITTEN = b"01 Jan 8000:00:00"


def write_sav(columns: Mapping[str, pd.Series[Any]], name: str) -> bytes:
    """Return columns as an SPSS file; see :func:`microagg.tables.write_table`."""
    try:
        import pyreadstat
    except ImportError:
        raise DataError(
            f"writing {name!r} needs the package pyreadstat: install microagg[statistics], or choose .csv."
        ) from None
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
    data[_STAMP] = _WRITTEN
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
