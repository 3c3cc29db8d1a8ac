"""Tables to files of every kind, which lose no digit and run no formula."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pandas as pd
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype, is_timedelta64_dtype

from microagg.errors import DataError, ParameterError
from microagg.tables.frames import as_pandas
from microagg.tables.lossless import check_text, is_category, is_text, plain_column
from microagg.tables.notices import has_surrogates
from microagg.tables.writing_excel import write_xlsx
from microagg.tables.writing_statistics import MAX_TEXT, file_names, write_dta, write_sav
from microagg.validation import check_unique_columns, optional_import

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


#: The endings of the files that :func:`write_table` writes.
WRITTEN_ENDINGS = (".csv", ".parquet", ".xlsx", ".dta", ".sav")

# How many cells pandas writes at a time: each time it converts every column anew, which takes most of the time where
# there are thousands of columns and few records at a time.
_CELLS = 2_000_000

# A spreadsheet takes text that starts with one of these for a formula.
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write_table(frame: IntoDataFrame, name: str) -> bytes:
    """Return ``frame`` as the bytes of a CSV, Parquet, Excel, Stata or SPSS file; the ending of ``name`` says which.

    Equal frames give equal bytes with the same versions of the packages: no file tells when it was written. The index
    is left out. ``frame`` is not changed.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n records, number of columns)
        With names of columns that are unique as text: 1 and "1" are the same in a file.
    name : str
        What the file will be called, ending in one of :data:`WRITTEN_ENDINGS`.

    Returns
    -------
    bytes
        The file. CSV is in UTF-8.

    Raises
    ------
    DataError
        If there is no column, names are blank or not unique, or the kind of file cannot hold the table: too many
        records, columns or characters, infinity (.xlsx, .dta, .sav), numbers beyond those of Stata, a zero character.
        Also if a package is missing that writes it.
    ParameterError
        If the ending is another one.

    Notes
    -----
    - Columns keep their names in .csv (but see :func:`to_csv`), .parquet and .xlsx. Stata and SPSS do not take every
      name; those changed keep the full name as the variable's label, and :func:`renamed_columns` lists them.
    - What stands in a column of objects is written as what all of it is: booleans, numbers, dates or text. Numbers
      beside text become text, and so do dates with a time zone and durations in .xlsx, .dta and .sav, and periods
      and intervals.
    - Text is never a formula: .xlsx files hold it as text whatever it starts with, and only .csv files need a ``'``
      before it. An empty text is a missing value but for .parquet; SPSS also drops blanks at the end of a text.
    - Whole numbers that would lose digits become text: beyond 10^15 in .xlsx, 2^53 in .sav and 2^53 - 1 in .dta. In a
      column with missing values, or beyond 2^31 in .dta, they are read again as floats.
    - Dates before March 1900 become text in .xlsx, in which days are wrong before, and so do columns of times finer
      than a millisecond in .xlsx, .dta and .sav. The other dates are dates.
    - Booleans become 0 and 1 in .dta and .sav.
    - Categories that are text keep their names and order in .parquet, .dta and .sav, but Stata does not know whether
      the order means something. They become text where their labels are too long (together 32,000 bytes in Stata, each
      120 bytes in SPSS), and in .csv and .xlsx. Categories that are numbers become numbers.
    """
    ending = written_ending(name)
    frame = as_pandas(frame)
    names = _names(frame)
    plain = frame.reset_index(drop=True)
    columns = {given: plain.iloc[:, j] for j, given in enumerate(names)}
    _check_texts(columns, ending)
    if ending == ".csv":
        return to_csv(plain).encode()
    if ending == ".parquet":
        return write_parquet(columns, name)
    if ending == ".xlsx":
        return write_xlsx(columns)
    return write_dta(columns) if ending == ".dta" else write_sav(columns, name)


def renamed_columns(frame: IntoDataFrame, ending: str) -> dict[str, str]:
    """Return the columns that a file calls by another name: the name in ``frame``, as text, and that in the file.

    Stata and SPSS take letters, digits and ``_`` only, in at most 32 characters and 64 bytes: ``education-num``
    becomes ``education_num``, and ``2020`` becomes ``v_2020``. In .csv files, names that a spreadsheet would take for
    formulas get a ``'`` before them. The other files take every name.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        With names of columns that are unique as text.
    ending : str
        One of :data:`WRITTEN_ENDINGS`.

    Raises
    ------
    DataError
        If names are not unique, or one that has to be changed is too long for the label that keeps it.
    ParameterError
        If the ending is another one.
    """
    written_ending(f"table{ending}")
    names = _names(as_pandas(frame))
    finals = [_harmless(name) for name in names] if ending == ".csv" else file_names(names, ending)
    return {name: final for name, final in zip(names, finals, strict=True) if name != final}


def to_csv(frame: IntoDataFrame) -> str:
    """Return ``frame`` as the text of a CSV file that loses no digit and runs no formula.

    Numbers are written with the fewest digits that read back as the same number. Text cells and column names that
    start with ``=``, ``+``, ``-``, ``@``, a tab or a carriage return get a leading ``'``, because a spreadsheet would
    take them for formulas; numbers never do, and neither does text that is a negative number. The index is left out
    unless it has a name.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        Any columns; missing values become empty cells.

    Returns
    -------
    str
        With a header line; to be encoded as UTF-8.
    """
    # Names of a frame of pandas are not looked at, as it may hold two columns of one name.
    plain = frame if isinstance(frame, pd.DataFrame) else as_pandas(frame)
    if any(name is not None for name in plain.index.names):
        plain = plain.reset_index(allow_duplicates=True)
    table = plain.reset_index(drop=True)
    names = [_harmless(str(name)) for name in plain.columns]
    returns = any("\r" in name for name in names)
    columns: dict[int, Any] = {}
    for j, (_, series) in enumerate(table.items()):
        columns[j] = series
        if isinstance(series.dtype, pd.StringDtype) and not series.str.startswith(_FORMULA_STARTS, na=False).any():
            returns = returns or bool(series.str.contains("\r", regex=False, na=False).any())
        elif _may_hold_text(series):
            cells = [_harmless(cell) for cell in series.astype(object)]
            columns[j] = pd.Series(cells, index=table.index, dtype=object)
            returns = returns or any(isinstance(cell, str) and "\r" in cell for cell in cells)
    written = pd.DataFrame(columns, index=table.index).set_axis(names, axis=1)
    # Only with this line ending does the writer put quotes around a bare carriage return within a cell.
    rows = max(1, _CELLS // max(1, written.shape[1]))
    return written.to_csv(index=False, lineterminator="\r\n" if returns else "\n", chunksize=rows)


def _harmless(cell: Any) -> Any:
    formula = isinstance(cell, str) and cell.startswith(_FORMULA_STARTS) and not re.fullmatch(r"-\d+(\.\d+)?", cell)
    return f"'{cell}" if formula else cell


def _may_hold_text(series: pd.Series[Any]) -> bool:
    return not (is_numeric_dtype(series) or is_datetime64_any_dtype(series))


def written_ending(name: str) -> str:
    """Return the ending of a file to write, or raise :class:`ParameterError` if no such file is written."""
    ending = PurePath(name).suffix.lower()
    if ending not in WRITTEN_ENDINGS:
        listed = f"{', '.join(WRITTEN_ENDINGS[:-1])} or {WRITTEN_ENDINGS[-1]}"
        raise ParameterError(f"the name of a file to write must end in {listed}, not {name!r}.")
    return ending


def _names(frame: pd.DataFrame) -> list[str]:
    """Return the column names as text if there are any, and all are unique and not blank."""
    names = [str(column) for column in frame.columns]
    if not names:
        raise DataError("the table has no columns: choose at least one to write.")
    check_unique_columns(names)
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise DataError(f"column {position} (counting from 1) has no name: give it one.")
        if has_surrogates(name) or "\0" in name:
            raise DataError(f"the column name {name!r} holds a character that no file can hold: rename the column.")
    return names


def _check_texts(columns: dict[str, pd.Series[Any]], ending: str) -> None:
    """Raise :class:`DataError` if a text has characters, or too many of them, that the file cannot hold."""
    for name, series in columns.items():
        if is_text(series) or is_category(series):
            plain = series if isinstance(series.dtype, pd.StringDtype) else plain_column(series)
            check_text(plain, name, ending, MAX_TEXT if ending == ".sav" else None)


def write_parquet(columns: Mapping[str, pd.Series[Any]], name: str) -> bytes:
    """Return columns as a Parquet file; see :func:`microagg.tables.write_table`."""
    pa = optional_import("pyarrow", "files", f"writing {name!r}", "choose .csv")
    pq = optional_import("pyarrow.parquet", "files")
    arrays = []
    for series in columns.values():
        column = _storable(series)
        # Without a type, a column of missing values only would not be text any more.
        arrays.append(pa.array(column, type=pa.string() if is_text(column) and column.dtype == object else None))
    stream = io.BytesIO()
    pq.write_table(pa.Table.from_arrays(arrays, names=list(columns)), stream)
    return stream.getvalue()


def _storable(series: pd.Series[Any]) -> pd.Series[Any]:
    """Return what pyarrow stores as it is, which is more than other files take, or a plain column."""
    dtype = series.dtype
    if is_datetime64_any_dtype(dtype) or is_timedelta64_dtype(dtype):
        return series
    return plain_column(series)
