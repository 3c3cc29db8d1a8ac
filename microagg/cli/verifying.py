"""Anybody's file: whether it is k-anonymous."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path, PurePath

import click

from microagg import classes
from microagg.cli.columns import columns_of
from microagg.cli.flags import Command
from microagg.cli.group import FAILS
from microagg.cli.printing import print_json
from microagg.errors import DataError
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

    FILE may be anybody's. Cells of a CSV file are compared letter by letter, and an empty one counts as a value. Name
    the strata among the quasi-identifiers. The exit code is 0 if k holds, 1 if it does not, and 2 if the input is bad.

    \b
    Example:
      microagg verify people_k5.csv --qi age,income --k 5
    """
    data, name = _bytes(file), PurePath(file).name
    delimiter = _delimiter(data) if delimiter is None else delimiter
    table = as_written(data, name, delimiter)
    names = columns_of(columns, table)
    n, count = len(table), classes.below(classes.numbered(table, names), check_k(k))
    holds = count.smallest >= k
    if as_json:
        found = {"file": file, "quasi_identifiers": names, "k": k, "holds": holds, "n_records": n}
        print_json(found | {"smallest_class": count.smallest, "below_k": count.records, "unique": count.unique})
    else:
        click.echo(_sentence(name, k, n, count.smallest, count.records, count.unique))
    if not holds:
        click.get_current_context().exit(FAILS)


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
