"""The check of a written file: whether its bytes keep k and the guarantees beyond it."""

from __future__ import annotations

import io
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import PurePath
from typing import Any

import pandas as pd

from microagg.columns.recodes import Recoding, meanings_of
from microagg.columns.schema import Schema
from microagg.errors import DataError
from microagg.metrics.risk import equivalence_classes
from microagg.release.findings import Finding
from microagg.release.guarantees import as_read, describe_counts
from microagg.release.guarantees import count as count_guarantees
from microagg.release.read_back import Style, difference
from microagg.tables import read_table
from microagg.tables.notices import refuse_no_records
from microagg.tables.reading import TEXT_ENDINGS
from microagg.tables.stata_spss import with_kinds
from microagg.tables.text import read_cells
from microagg.validation import IntArray, check_k, check_unique_columns, counted, quoted


def as_written(data: bytes, name: str, reading: Mapping[str, Any] | None = None) -> pd.DataFrame:
    """The table of a file, where cells are equal if they are written alike (see :func:`check_export`).

    Parameters
    ----------
    data : bytes
        Content of the file.
    name : str
        Name of the file; its ending says the kind.
    reading : mapping, optional
        Keywords of :func:`microagg.tables.read_file`. The cells of a text file are compared as text. A CSV file without
        them is one that microagg wrote, with a line for each record.

    Returns
    -------
    DataFrame of shape (n records, number of columns)

    Raises
    ------
    DataError
        If the file cannot be read, or has no records.
    """
    return _kinds_as_values(_read(data, name, reading))


def _kinds_as_values(table: pd.DataFrame) -> pd.DataFrame:
    """The table with kinds of missing values as values, which they are to who reads the file."""
    return pd.DataFrame({name: with_kinds(table, name) for name in table}) if table.attrs else table


def _read(data: bytes, name: str, reading: Mapping[str, Any] | None) -> pd.DataFrame:
    ending = PurePath(name).suffix.lower()
    if ending == ".csv" and not reading:
        return _read_csv(data, name)
    if ending not in TEXT_ENDINGS or not reading:
        return read_table(data, name=name, **(reading or {}))
    try:
        cells = read_cells(data, name, reading)
    except DataError:
        read_table(data, name=name, **reading)  # its error has offers that were tried
        raise
    if cells.empty:
        refuse_no_records(name)
    return cells


def check_export(
    data: bytes,
    name: str,
    schema: Schema,
    k: int,
    *,
    renamed: Mapping[str, str] | None = None,
    guarantees: Sequence[tuple[Any, str, float]] = (),
    orders: Mapping[Any, Sequence[str] | bool] | None = None,
    reading: Mapping[str, Any] | None = None,
    meanings: Mapping[Any, Recoding] | None = None,
    released: pd.DataFrame | None = None,
    measured: Mapping[Any, tuple[str, bool]] | None = None,
    filled: Collection[Hashable] = (),
) -> Finding:
    """Check the k-anonymity of the very bytes of a file, the guarantees beyond it, and the values.

    A class is a set of records whose quasi-identifiers and strata are written with the same characters (in a CSV file)
    or have the same values (in others); an empty cell counts as a value of its own.

    Parameters
    ----------
    data, name : bytes and str
        The file. Column names may begin with the ``'`` that prevents spreadsheets from reading formulas.
    schema, k : Schema and int
        The roles of the columns, and the requested size of the smallest class.
    reading : mapping, optional
        The arguments of :func:`microagg.tables.read_file`.
    renamed : mapping, optional
        The new names of columns whose names the file cannot hold.
    guarantees, orders, meanings : optional
        Columns, rules and bounds of guarantees beyond k, the orders of their values and their meanings.
    released : DataFrame, optional
        The release, of which the file must have each value, as far as this kind of file can hold it.
    measured : optional
        The columns whose numbers, dates and ranges may be texts in the style of an original: their decimal mark, empty
        for the usual one, and whether the day is before the month.
    filled : optional
        The columns whose missing values may be texts in the file.

    Returns
    -------
    Finding
        Of code "bytes": "stop" if the smallest class has fewer than k records, an identifier is in the file, a
        guarantee does not hold, or a value is not the released one; "warn" if the smallest class has one record, as
        k = 1 allows; otherwise "ok".

    Raises
    ------
    DataError
        If the file cannot be read, has no records, two columns of one name, or lacks a quasi-identifier or stratum.
    """
    k = check_k(k)
    reading, original_names = reading or {}, {written: column for column, written in (renamed or {}).items()}
    values = _read(data, name, reading).rename(columns=original_names)
    table = _kinds_as_values(values)
    identifiers = tuple(column for column in schema.identifiers if _written(column, table) is not None)
    if identifiers:
        text = f"The file {name!r} has {quoted(identifiers)}, which name the records: write it again without them."
        return Finding("stop", "bytes", identifiers, text)
    if released is not None:
        usual = Style(PurePath(name).suffix.lower(), reading.get("decimal", "."), absent=reading.get("missing", ()))
        styles = _styles(released, usual, measured or {}, filled)
        if text := _difference(released, _readings(data, name, values, original_names), styles, name):
            text = f"In the file {name!r} {text}: do not give it to anybody; choose another kind of file."
            return Finding("stop", "bytes", (), text)
    columns = [_find(column, table, name) for column in (*schema.quasi_identifiers, *schema.strata)]
    classes = equivalence_classes.numbered(table, columns)
    mark = reading.get("decimal", ".")
    read = {
        column: as_read(table[_find(column, table, name)], (orders or {}).get(column, True), mark)
        for column, _, _ in guarantees
    }
    guaranteed = count_guarantees(meanings_of(read, read, meanings), classes, guarantees)
    level, text = _counts_of_file(name, classes, schema, k)
    if broken := [str(counts) for counts in guaranteed if not counts.holds]:
        level = "stop"
        text = (
            f"In the file {name!r} a guarantee beyond k does not hold: {'; '.join(broken)}. Do not give it to anybody; "
            "write it again, with all values of these columns."
        )
    elif guaranteed and level != "stop":
        text += f" {describe_counts(guaranteed)}"
    return Finding(level, "bytes", (), text)


def _readings(data: bytes, name: str, table: pd.DataFrame, renamed: Mapping[str, str]) -> Iterator[pd.DataFrame]:
    """Yield the ``table`` of a file, and, for one of Stata or SPSS, what else its cells may say to a reader."""
    yield table
    if PurePath(name).suffix.lower() in (".dta", ".sav"):
        yield _kinds_as_values(table)
        yield from (read_table(data, name=name, labels=labels).rename(columns=renamed) for labels in (True, False))


def _styles(
    released: pd.DataFrame, usual: Style, measured: Mapping[Any, tuple[str, bool]], filled: Collection[Hashable]
) -> dict[Any, Style]:
    """The style of each column; for ``measured`` and ``filled`` see :func:`check_export`."""
    styles: dict[Any, Style] = dict.fromkeys(released, usual)
    for column, (mark, day_first) in measured.items():
        styles[column] = usual._replace(decimal=mark or usual.decimal, day_first=day_first, is_measured=True)
    return styles | {column: styles[column]._replace(is_filled=True) for column in filled}


def _difference(
    released: pd.DataFrame, readings: Iterator[pd.DataFrame], styles: Mapping[Any, Style], name: str
) -> str:
    """Describe how a file differs from the release in size or in a value. Empty if it does not."""
    first = next(readings)
    sizes = [f"{counted(n, 'record')} with {counted(d, 'column')}" for n, d in (first.shape, released.shape)]
    if sizes[0] != sizes[1]:
        return f"are {sizes[0]}, and in the release {sizes[1]}"
    by_column = ({column: each[_find(column, each, name)] for column in released} for each in chain([first], readings))
    return difference(released, by_column, styles)


def _counts_of_file(name: str, classes: IntArray, schema: Schema, k: int) -> tuple[str, str]:
    count = equivalence_classes.small_classes(classes, k)
    n, key = counted(len(classes), "record"), f"combination of quasi-identifiers{' and strata' * bool(schema.strata)}"
    if count.records:
        return "stop", (
            f"In the file {name!r} {count.records:,} of {n} have a {key} that fewer than k = {k:,} records have "
            f"({count.unique:,} are unique): do not give it to anybody; write it again, with all digits."
        )
    if count.unique:
        return "warn", (
            f"In the file {name!r} {count.unique:,} of {n} have a {key} that no other record has, as k = 1 allows: an "
            "intruder who knows it identifies the record. Choose a higher k."
        )
    smallest = counted(count.smallest, "record")
    return "ok", f"The file {name!r}, read again, has {n}, and each {key} is that of at least {smallest} (k = {k:,})."


def _read_csv(data: bytes, name: str) -> pd.DataFrame:
    try:
        # The header is read as a record, as pandas would rename repeated columns. No cell is parsed as a number or
        # as missing, and no line is skipped: the written characters count.
        table = pd.read_csv(
            io.BytesIO(data),
            header=None,
            dtype=str,
            keep_default_na=False,
            na_filter=False,
            skip_blank_lines=False,
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
    """Name of a column in the file."""
    # Names of workbooks lose surrounding blanks when they are read.
    candidates = [column, str(column), f"'{column}", str(column).strip()]
    return next((written for written in candidates if written in table.columns), None)


def _find(column: Hashable, table: pd.DataFrame, name: str) -> Hashable:
    written = _written(column, table)
    if written is None:
        columns = quoted(table.columns)
        raise DataError(f"the file {name!r} has no column {column!r}: its columns are {columns}. Write it again.")
    return written
