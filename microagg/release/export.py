"""The file that leaves the house, read again: whether its own bytes keep what the release promises."""

from __future__ import annotations

import io
import os
from collections.abc import Hashable, Mapping
from pathlib import Path, PurePath

import pandas as pd

from microagg.columns.schema import Schema
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import equivalence_classes
from microagg.release.findings import Finding
from microagg.tables import read_table, renamed_columns, write_table, written_ending
from microagg.validation import check_k, check_unique_columns, counted, quoted


def export(frame: pd.DataFrame, name: str, schema: Schema, k: int) -> tuple[bytes, Finding]:
    """Return a release as the bytes of a file, and what was counted on these.

    See :func:`check_export`; errors are those of :func:`microagg.tables.write_table`.
    """
    data = write_table(frame, name)
    renamed = renamed_columns(frame, written_ending(name))
    return data, check_export(data, name, schema, k, renamed=renamed)


def as_written(data: bytes, name: str, delimiter: str = ",") -> pd.DataFrame:
    """Return the table of a file in which equal cells are those that are written alike; see :func:`check_export`.

    It is a :class:`DataError` if the file cannot be read, has no records, or two columns of one name; a
    :class:`ParameterError` if the delimiter is not one character.
    """
    if len(delimiter) != 1:
        raise ParameterError(f"delimiter must be one character, not {delimiter!r}.")
    if PurePath(name).suffix.lower() != ".csv":
        return read_table(data, name=name)
    return _read_csv(data, name, delimiter)


def check_export(
    data: bytes, name: str, schema: Schema, k: int, *, delimiter: str = ",", renamed: Mapping[str, str] | None = None
) -> Finding:
    """Return what the very bytes of a file say about its k-anonymity.

    A class is a set of records whose quasi-identifiers and strata are written with the same characters (in a CSV file)
    or have the same values (in others); an empty cell counts as a value of its own.

    A file whose ``name`` ends in ``.csv`` is read as text in UTF-8, with ``delimiter`` between its fields, others by
    :func:`microagg.tables.read_table`. A column's name in it may begin with the ``'`` that keeps spreadsheets from
    taking it for a formula; ``renamed`` says what it calls columns whose names it cannot hold, see
    :func:`microagg.tables.renamed_columns`.

    Returns
    -------
    Finding
        Of code "bytes": "ok" with the size of the smallest class, or "stop" if that is less than k, or an identifier is
        in the file; with k of 1, "warn" if that is 1.

    Raises
    ------
    DataError
        If the file cannot be read, has no records, two columns of one name, or lacks a quasi-identifier or stratum.
    ParameterError
        If k is not a whole number of at least 1, or the delimiter not one character.
    """
    k = check_k(k)
    table = as_written(data, name, delimiter)
    table = table.rename(columns={written: column for column, written in (renamed or {}).items()})
    identifiers = tuple(column for column in schema.identifiers if _written(column, table) is not None)
    if identifiers:
        text = f"The file {name!r} has {quoted(identifiers)}, which name the records: write it again without them."
        return Finding("stop", "bytes", identifiers, text)
    found = [_find(column, table, name) for column in (*schema.quasi_identifiers, *schema.strata)]
    count = equivalence_classes.small_classes(equivalence_classes.numbered(table, found), k)
    n, what = counted(len(table), "record"), f"combination of quasi-identifiers{' and strata' if schema.strata else ''}"
    level = "ok"
    text = f"The file {name!r}, read again, has {n}, and each {what} is that of at least "
    text += f"{counted(count.smallest, 'record')} (k = {k:,})."
    if count.records:
        level = "stop"
        text = (
            f"In the file {name!r} {count.records:,} of {n} have a {what} that fewer than k = {k:,} records have "
            f"({count.unique:,} are unique): do not give it to anybody; write it again, with all digits."
        )
    elif count.unique:
        level = "warn"
        text = (
            f"In the file {name!r} {count.unique:,} of {n} have a {what} that no other record has, as k = 1 allows: "
            "who knows it finds the record. Choose a higher k."
        )
    return Finding(level, "bytes", (), text)


def _read_csv(data: bytes, name: str, delimiter: str) -> pd.DataFrame:
    try:
        # The header is read as a record, for pandas would rename columns of one name. No cell is taken for a number or
        # for missing, and no line is skipped: what counts is what is written.
        table = pd.read_csv(
            io.BytesIO(data),
            header=None,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
            sep=delimiter,
            encoding="utf-8-sig",
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"the file {name!r} cannot be read again ({error}): write it again.") from None
    names = [str(cell) for cell in table.iloc[0]]
    check_unique_columns(names)
    if len(table) == 1:
        raise DataError(f"the file {name!r} has a header, but no records: write it again.")
    return table.iloc[1:].set_axis(names, axis=1)


def _written(column: Hashable, table: pd.DataFrame) -> Hashable | None:
    """Return what a column is called in the file, None if it is not there."""
    # Names of workbooks lose surrounding blanks when they are read.
    candidates = [column, str(column), f"'{column}", str(column).strip()]
    return next((written for written in candidates if written in table.columns), None)


def _find(column: Hashable, table: pd.DataFrame, name: str) -> Hashable:
    written = _written(column, table)
    if written is None:
        columns = quoted(table.columns)
        raise DataError(f"the file {name!r} has no column {column!r}: its columns are {columns}. Write it again.")
    return written


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write ``text`` in UTF-8, with line ends of one kind on every system; :class:`DataError` if that fails."""
    try:
        # Half of a pair of code units, which a column name can have, is in no UTF-8.
        Path(path).write_bytes(text.encode("utf-8", "replace"))
    except OSError as error:
        raise DataError(f"the file {os.fspath(path)!r} cannot be written: {error.strerror}.") from None
