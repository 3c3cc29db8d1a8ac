"""Tables from Stata files."""

from __future__ import annotations

import contextlib
import io
import warnings
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_numeric_dtype
from pandas.io.stata import StataReader

from microagg.errors import DataError, MicroaggError
from microagg.tables.checks import check_cells, check_names, refuse_no_records
from microagg.tables.labels import labelled
from microagg.tables.notices import Reading

# In a table of labels, codes from here on are the missing values ., .a to .z.
_MISSING_CODES = 2_147_483_621


def read_dta(data: bytes, label: str, labels: bool, max_cells: int) -> Reading:
    """Return the table of a Stata file; see :func:`microagg.tables.read_file`."""
    try:
        frame, label_of, tables = _parse(data, label, max_cells)
    except MicroaggError:
        raise
    except Exception as error:  # whatever a parser raises that believes what a damaged file says of itself
        raise DataError(
            f"the file {label!r} is a damaged Stata file, or of an unknown version ({type(error).__name__}): "
            "save it as .dta again."
        ) from None
    columns = {}
    for name, table in zip(frame.columns, label_of, strict=True):
        known = {int(code): text for code, text in tables.get(table, {}).items() if int(code) < _MISSING_CODES}
        column = frame[name]
        if labels and known and is_numeric_dtype(column.dtype):
            columns[name] = labelled(column, known, ordered=False, label=label)
        else:
            columns[name] = _widened(column)
    return Reading(pd.DataFrame(columns))


def _parse(data: bytes, label: str, max_cells: int) -> tuple[pd.DataFrame, list[str], dict[str, dict[Any, str]]]:
    """Return the codes, for each column the name of its table of labels or "", and these tables."""
    # pandas warns of dates it leaves as numbers (those with leap seconds), and of text that is no valid UTF-8.
    with warnings.catch_warnings(), StataReader(io.BytesIO(data), convert_categoricals=False) as reader:
        warnings.simplefilter("ignore")
        names = list(reader.variable_labels())
        # Its own header may say anything; what is read is no longer than the file, and no more than the limit.
        parser: Any = reader
        most = max_cells // max(len(names), 1) + 1
        # pandas ends an iteration where there is nothing to read.
        frame = pd.DataFrame()
        with contextlib.suppress(StopIteration):
            frame = parser.read(nrows=most)
        if len(frame) == 0:
            refuse_no_records(label)
        check_cells(len(frame), len(frame.columns), max_cells, label, at_least=True)
        check_names([str(name) for name in frame.columns], label)
        # Labels come last: asked for them earlier, pandas would not look up the long texts.
        tables: dict[str, dict[Any, str]] = parser.value_labels()
        label_of: list[str] = list(parser._lbllist)  # nothing public tells which column has which
    return frame.reset_index(drop=True), label_of, tables


def _widened(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return integers with 64 bits, and empty texts as missing."""
    if is_integer_dtype(column.dtype):
        return column.astype(np.int64)
    if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
        return column.mask(column == "", None)
    return column
