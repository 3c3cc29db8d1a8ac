"""Anybody's file: whether it is k-anonymous."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path, PurePath

import click
import pandas as pd

from microagg import classes
from microagg.classes import Below
from microagg.cli.columns import columns_of
from microagg.cli.flags import Command
from microagg.cli.group import FAILS
from microagg.cli.printing import print_json
from microagg.errors import DataError, ParameterError
from microagg.release import as_written
from microagg.tables import DELIMITERS
from microagg.validation import check_k, counted

# As much of a file as holds its first line.
_HEADER = 1_000_000


@click.command(cls=Command)
@click.argument("file")
@click.option("columns", "--qi", "--quasi-identifiers", required=True, multiple=True, metavar="COLUMN,…")
@click.option("k", "--k", "-k", type=int, required=True, help="What is to be counted: the least size of a class.")
@click.option("--delimiter", metavar="CHARACTER", help="Between the cells of a CSV file; found by itself if not said.")
@click.option("as_json", "--json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")
def verify(file: str, columns: Sequence[str], k: int, delimiter: str | None, as_json: bool) -> None:
    """Count whether each combination of the quasi-identifiers of FILE is that of at least k records.

    FILE may be anybody's, or a folder of Parquet files, which are read one after the other. Cells of a CSV file are
    compared letter by letter, and an empty one counts as a value. Name the strata among the quasi-identifiers. The exit
    code is 0 if k holds, 1 if it does not, and 2 if the input is bad.

    \b
    Example:
      microagg verify people_k5.csv --qi age,income --k 5
    """
    name, k = PurePath(file).name, check_k(k)
    if Path(file).is_dir():
        if delimiter is not None:
            raise ParameterError("--delimiter is for CSV files, and a folder is read as Parquet files: leave it out.")
        names, n, count = _count_folder(file, columns, k)
    else:
        names, n, count = _count(file, columns, k, delimiter)
    holds = count.smallest >= k
    if as_json:
        found = {"file": file, "quasi_identifiers": names, "k": k, "holds": holds, "n_records": n}
        print_json(found | {"smallest_class": count.smallest, "below_k": count.records, "unique": count.unique})
    else:
        click.echo(_sentence(name, k, n, count.smallest, count.records, count.unique))
    if not holds:
        click.get_current_context().exit(FAILS)


def _count(file: str, columns: Sequence[str], k: int, delimiter: str | None) -> tuple[list[str], int, Below]:
    """Return the columns of a file, the number of its records, and how many are in small classes."""
    data = _bytes(file)
    table = as_written(data, PurePath(file).name, _delimiter(data) if delimiter is None else delimiter)
    names = columns_of(columns, table)
    return names, len(table), classes.below(classes.numbered(table, names), k)


def _count_folder(folder: str, columns: Sequence[str], k: int) -> tuple[list[str], int, Below]:
    """Return the same of the Parquet files in a folder."""
    from microagg.distributed import columns_of_files, count_here  # which loads what others do without

    names = columns_of(columns, pd.DataFrame(columns=columns_of_files(folder)))
    found = count_here(folder, names, k)
    return names, found.records, Below(found.smallest, found.below, found.alone)


def _sentence(name: str, k: int, n: int, smallest: int, few: int, unique: int) -> str:
    of = f"k = {k:,} {'holds' if not few else 'does not hold'} in {name!r}: the smallest class has"
    size = f"{counted(smallest, 'record')} of {n:,}"
    return f"{of} {size}." if not few else f"{of} {size}; {few:,} are in classes below k, {unique:,} of them unique."


def _bytes(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {file!r}: check its name and folder.") from None
    except OSError as error:
        raise DataError(f"the file {file!r} cannot be read ({error.strerror}): check its permissions.") from None


def _delimiter(data: bytes) -> str:
    """Return the character between the names in the first line of a text file: the one that makes most of them."""
    header = io.StringIO(data[:_HEADER].decode("utf-8-sig", "replace"))
    line = header.readline()
    return max((",", *DELIMITERS), key=lambda delimiter: len(next(csv.reader([line], delimiter=delimiter), [])))
