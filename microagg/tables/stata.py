"""Tables from Stata files."""

from __future__ import annotations

import contextlib
import io
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import is_integer_dtype, is_numeric_dtype
from pandas.io.stata import StataReader

from microagg.errors import DataError, MicroaggError
from microagg.tables.checks import check_cells, check_names, refuse_no_records
from microagg.tables.columns import printable_dates
from microagg.tables.labels import labelled
from microagg.tables.limits import check_memory
from microagg.tables.notices import Notice, Reading
from microagg.validation import counted

# How many records are read at a time.
_RECORDS = 1 << 16

# What reading takes beside the columns themselves, in bytes: as many records as objects of Python.
_BESIDE = 30_000_000

# In a table of labels, codes from here on are the missing values ., .a to .z.
_MISSING_CODES = 2_147_483_621


def read_dta(data: bytes, label: str, labels: bool, max_cells: int) -> Reading:
    """Return the table of a Stata file; see :func:`microagg.tables.read_file`."""
    try:
        found = _parse(data, label, max_cells)
    except MicroaggError:
        raise
    except Exception as error:  # whatever a parser raises that believes what a damaged file says of itself
        raise DataError(
            f"the file {label!r} is a damaged Stata file, or of an unknown version ({type(error).__name__}): "
            "save it as .dta again."
        ) from None
    columns: dict[str, pd.Series[Any]] = {}
    notices: list[Notice] = []
    for name, table, form in zip(list(found.columns), found.label_of, found.formats, strict=True):
        known = {int(code): text for code, text in found.tables.get(table, {}).items() if int(code) < _MISSING_CODES}
        column = pd.concat(found.columns.pop(name), ignore_index=True)
        if labels and known and is_numeric_dtype(column.dtype):
            columns[name] = labelled(column.rename(name), known, ordered=False, label=label)
            continue
        columns[name], said = printable_dates(_widened(column), name)
        notices += said
        if form.startswith(("%tC", "tC")):
            columns[name] = pd.Series(pd.to_numeric(column.astype(object), errors="coerce"))
            notices += _leap_seconds(columns[name], name)
    return Reading(pd.DataFrame(columns, copy=False), tuple(notices))


@dataclass
class _Found:
    """What a file holds: the parts of each column, and of each the name of its table of labels or "" and its format."""

    columns: dict[str, list[pd.Series[Any]]]
    label_of: list[str]
    formats: list[str]
    tables: dict[str, dict[Any, str]]


class _Reader(StataReader):
    """pandas' reader, which holds what it makes of long texts against what a file may take before it makes it."""

    size, label = 0, ""

    def _insert_strls(self, data: pd.DataFrame) -> pd.DataFrame:
        # Records only point at long texts, and many of them may point at the same one.
        reader: Any = self
        texts: dict[str, str] = getattr(reader, "GSO", {})
        if texts:
            kinds = zip(range(data.shape[1]), reader._typlist, strict=True)
            keys = [key for i, kind in kinds if kind == "Q" for key in data.iloc[:, i]]
            check_memory(_BESIDE + 2 * sum(len(texts[str(key)]) for key in keys), self.size, self.label)
        inserted: pd.DataFrame = getattr(super(), "_insert_strls")(data)  # noqa: B009
        return inserted


def _parse(data: bytes, label: str, max_cells: int) -> _Found:
    """Return the codes in parts of as many records as are read at a time, and what they mean."""
    parts: dict[str, list[pd.Series[Any]]] = {}
    records = kept = 0
    # pandas warns of dates it leaves as numbers (those with leap seconds), and of text that is no valid UTF-8.
    with warnings.catch_warnings(), _Reader(io.BytesIO(data), convert_categoricals=False) as reader:
        warnings.simplefilter("ignore")
        reader.size, reader.label = len(data), label
        names = list(reader.variable_labels())
        # Its own header may say anything; what is read is no longer than the file, and no more than the limit.
        parser: Any = reader
        most = max_cells // max(len(names), 1) + 1
        # pandas ends an iteration where there is nothing to read.
        with contextlib.suppress(StopIteration):
            while records < most and len(part := parser.read(nrows=min(_RECORDS, most - records))):
                check_names([str(name) for name in part.columns], label)
                records += len(part)
                kept += int(part.memory_usage(index=False, deep=True).sum())
                check_memory(_BESIDE + kept, len(data), label)
                for name in part.columns:
                    parts.setdefault(str(name), []).append(part[name].reset_index(drop=True))
        if records == 0:
            refuse_no_records(label)
        check_cells(records, len(names), max_cells, label, at_least=True)
        # Labels come last: asked for them earlier, pandas would not look up the long texts.
        tables: dict[str, dict[Any, str]] = parser.value_labels()
        # Nothing public tells which column has which, and in which format it is.
        return _Found(parts, list(parser._lbllist), list(parser._fmtlist), tables)


def _leap_seconds(column: pd.Series[Any], name: str) -> list[Notice]:
    present = column.dropna()
    if not len(present):
        return []
    return [
        Notice(
            "leap-seconds",
            f"column {name!r} holds {counted(len(present), 'time')} that count leap seconds (Stata's format %tC): they "
            f"are read as numbers, milliseconds since 1960, such as {present.iloc[0]:.0f}.",
            column=name,
            count=len(present),
            example=f"{present.iloc[0]:.0f}",
        )
    ]


def _widened(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return integers with 64 bits, and empty texts as missing."""
    if is_integer_dtype(column.dtype):
        return column.astype(np.int64)
    if pd.api.types.is_string_dtype(column.dtype) or column.dtype == object:
        return column.mask(column == "", None)
    return column
