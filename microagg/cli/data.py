"""Columns as a shell names them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from microagg import datasets
from microagg.api import ENGINES
from microagg.cli.flags import Flag, of_function, of_options
from microagg.cli.output import say
from microagg.columns.gaps import GAPS
from microagg.columns.schema import ROLES as SCHEMA_ROLES
from microagg.columns.schema import Schema
from microagg.errors import DataError, ParameterError
from microagg.release.choices import OPTIONS, said_of
from microagg.release.command import split
from microagg.release.options import Mapped
from microagg.release.source import Source
from microagg.tables import read_file
from microagg.validation import quoted

if TYPE_CHECKING:
    import pandas as pd


def column_of(text: str, names: Mapping[str, Any]) -> Any:
    """Return the column that a text names, ``names`` being all of them.

    Raises
    ------
    DataError
        If there is none; with the nearest name.
    """
    if text in names:
        return names[text]
    folded = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), folded, n=1)
    hint = f"did you mean {folded[near[0]]!r}?" if near else f"the columns are {quoted(names)}."
    raise DataError(f"there is no column {text!r}: {hint}")


def columns_of(texts: Iterable[str], frame: pd.DataFrame) -> list[Any]:
    """Return the columns of ``frame`` that texts name, each of them one or several with commas between.

    Raises
    ------
    DataError
        If there is no such column; with the nearest name.
    """
    names = {str(name): name for name in frame.columns}
    return [column_of(word, names) for text in texts for word in ([text] if text in names else split(text))]


# The data of a command: a file or a data set, and what was said of its columns.

_READING = "read_"
# The options that name columns: several, or one; and those that say more of quasi-identifiers.
_SEVERAL = tuple(own.name for own in OPTIONS if own.kind.shell == "columns")
_ONE = tuple(own.name for own in OPTIONS if own.kind.shell == "column")
_PAIRS = tuple(own.name for own in OPTIONS if own.kind.shell == "pairs")

#: The options that say what columns are, and what is done about gaps in them.
ROLES = (*_SEVERAL, *_ONE, *_PAIRS)


@dataclass(frozen=True, eq=False)
class Data:
    """Records, and where they come from.

    Attributes
    ----------
    frame : DataFrame
    origin : dict
        As arguments of :meth:`microagg.Release.script`.
    schema : Schema or None
        What a data set declares of its columns; None of a file.
    """

    frame: pd.DataFrame
    origin: dict[str, Any]
    schema: Schema | None


def data_flags() -> list[click.Parameter]:
    """Return the argument FILE and the flags of all commands that take data."""
    seed = Flag(["data_seed", "--data-seed"], type=int, help="The seed of a data set that is generated.")
    dataset = Flag(["dataset", "--data"], metavar="NAME", help="A data set instead of a file: see microagg datasets.")
    download = Flag(["--download"], is_flag=True, help="Download the data set if it is not on this machine.")
    reading = of_function(read_file, without=("name",), prefix="read", section="How the file is read")
    return [click.Argument(["file"], required=False), dataset, seed, download, *reading]


def column_flags() -> list[Flag]:
    """Return the flags that say what columns are, and on which scale they are compared."""
    return of_options([own.name for own in OPTIONS if own.name not in (*ROLES, "scale")])


def release_flags(without: Sequence[str] = ()) -> list[Flag]:
    """Return a flag for each argument of ``microaggregate`` that a shell can give, except those ``without``."""
    k = Flag(["k", "--k", "-k"], type=int, required=True, help="The minimum number of records in a group.")
    method = Flag(["--method"], metavar="KEY", help="The algorithm: see microagg methods. Default: 'mdav-star'.")
    engine = Flag(
        ["--engine"],
        type=click.Choice(sorted(ENGINES)),
        help="Where the work is done: in memory, or in blocks of records by the workers of Dask. Default: 'memory'.",
    )
    block = Flag(["--block-size"], type=int, help="With Dask, about how many records are in a block.")
    return [flag for flag in (k, method, *of_options(without), engine, block) if flag.name not in without]


def read_data(given: dict[str, Any]) -> Data:
    """Return the data that a command is to work on, and take what says so out of what it got.

    Raises
    ------
    MicroaggError
        If there is not one of file and data set, or it cannot be read.
    """
    file, dataset, seed = given.pop("file"), given.pop("dataset"), given.pop("data_seed")
    download, reading = given.pop("download"), _reading(given)
    if (file is None) == (dataset is None):
        raise ParameterError("name a file, or a data set by --data, and not both.")
    if dataset is not None:
        if reading:
            flag = f"--read-{next(iter(reading)).replace('_', '-')}"
            raise ParameterError(f"{flag} says how a file is read, and a data set needs no saying: leave it out.")
        loaded = datasets.load(dataset, seed=seed, download=download)
        origin = {"dataset": dataset} | ({} if loaded.seed is None else {"seed": loaded.seed})
        return Data(loaded.frame, origin, loaded.schema)
    if seed is not None:
        raise ParameterError("--data-seed is for data sets that are generated: leave it out.")
    read = read_file(file, **reading)
    for notice in read.notices:
        say(f"Note: {notice.text}")
    return Data(read.frame, {"file": file, "reading": reading}, None)


def _reading(given: dict[str, Any]) -> dict[str, Any]:
    said = {name: given.pop(name) for name in list(given) if name.startswith(_READING)}
    found = {name.removeprefix(_READING): value for name, value in said.items() if value not in (None, ())}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}


def columns_in(data: Data, given: dict[str, Any]) -> dict[str, Any]:
    """Return what was said of columns as arguments of ``microaggregate``, and take it out of what a command got.

    Of a data set, what was not said is as the data set declares it.

    Raises
    ------
    MicroaggError
        If there is no such column, or something else is said of it than can be.
    """
    said = {name: given.pop(name) for name in ROLES if name in given}
    said = {name: value for name, value in said.items() if value not in (None, ())}
    names = {str(name): name for name in data.frame.columns}
    chosen: dict[str, Any] = {}
    for name, value in said.items():
        if name in _SEVERAL:
            chosen[name] = columns_of(value, data.frame)
        elif name in _ONE:
            chosen[name] = column_of(value, names)
        elif name == "missing" and len(value) == 1 and value[0] in GAPS:
            chosen[name] = value[0]
        else:
            chosen[name] = _of_columns(name, value, names)
    return chosen if data.schema is None else _declared(data, chosen)


def _declared(data: Data, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``chosen`` with what the data set declares of the other columns."""
    schema, frame = data.schema, data.frame
    assert schema is not None
    gaps = {name: "drop" for name in schema.quasi_identifiers if frame[name].isna().any()}
    found = schema.arguments() | {"missing": gaps}
    declared = {column for role in SCHEMA_ROLES for column in schema.columns(role)}
    found["others"] = [*found["others"], *(column for column in frame.columns if column not in declared)]
    named = {column for name in _SEVERAL for column in chosen.get(name, ())} | {chosen[n] for n in _ONE if n in chosen}
    for name in _SEVERAL:
        found[name] = [column for column in frame.columns if column in found[name] and column not in named]
    for name in _ONE:
        if found[name] in named:
            del found[name]
    # What is no quasi-identifier any more is released as it is.
    if "quasi_identifiers" in chosen:
        found["others"] += found.pop("quasi_identifiers")
    found = {name: value for name, value in found.items() if value} | dict(chosen)
    return found | said_of(found["quasi_identifiers"], found)


def source_of(data: Data, given: dict[str, Any]) -> Source:
    """Return what releases of the data are made from, as a command's flags on columns say.

    Raises
    ------
    MicroaggError
        If the columns are not what is said of them.
    """
    chosen = columns_in(data, given)
    missing = chosen.pop("missing", "error")
    strata = chosen.pop("by", None)
    return Source.of(data.frame, Schema.infer(data.frame, strata=strata, **chosen), missing)


def _pair(text: str, names: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Return the column of COLUMN=VALUE and its value, None without one; a column's name may have a = itself."""
    heads = [text[:place] for place, sign in enumerate(text) if sign == "="]
    column = next((head for head in [text, *reversed(heads)] if head in names), None)
    if column is None:
        column = heads[0] if heads else text
    return column_of(column, names), text[len(column) + 1 :] if len(text) > len(column) else None


def _of_columns(name: str, texts: Sequence[str], names: Mapping[str, Any]) -> dict[Any, Any]:
    """Return what an option says of each column: ``birth=year``, ``price=1.234,5``, or only the column's name."""
    kind = next(own.kind for own in OPTIONS if own.name == name)
    words, usual = (kind.words, kind.usual) if isinstance(kind, Mapped) else ("word", None)
    may_be_named = isinstance(kind, Mapped) and (kind.named or words == "file")
    found: dict[Any, Any] = {}
    for text in texts:
        column, value = _pair(text, names)
        if not value and not may_be_named:
            raise ParameterError(
                f"--{name.replace('_', '-')} {column} says nothing of the column: write {column}=VALUE."
            )
        if value is None:
            found[column] = usual
        elif words == "several":
            found.setdefault(column, []).append(value)
        else:
            found[column] = split(value) if words == "list" else PurePath(value) if words == "file" else value
    return found
