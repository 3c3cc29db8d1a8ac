"""Columns as a shell names them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from microagg import datasets
from microagg.api import ENGINES
from microagg.cli.flags import Flag, of_function, of_options
from microagg.cli.output import say
from microagg.columns import arguments, first_decisions
from microagg.columns.gaps import GAPS
from microagg.columns.schema import Schema
from microagg.errors import DataError, ParameterError
from microagg.release.choices import OPTIONS
from microagg.release.command import split
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
_KINDS = tuple(own.name for own in OPTIONS if own.kind.shell == "pairs" and own.kind.of_columns)

#: The options that say what columns are, and what is done about gaps in them.
ROLES = (*_SEVERAL, *_ONE, *_KINDS, "missing")


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
        elif name == "missing":
            chosen[name] = _missing(value, names)
        else:
            chosen[name] = _kinds(name, value, names)
    return chosen if data.schema is None else _declared(data, chosen)


def _declared(data: Data, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``chosen`` with what the data set declares of the other columns."""
    schema = data.schema
    assert schema is not None
    found = arguments(
        data.frame,
        first_decisions(data.frame, schema),
        taxonomies=schema.taxonomies,
        ordinal=schema.ordinal,
        classes=schema.classes,
    )
    named = {column for name in _SEVERAL for column in chosen.get(name, ())} | {chosen[n] for n in _ONE if n in chosen}
    for name in _SEVERAL:
        found[name] = [column for column in found.get(name, ()) if column not in named]
    for name in _ONE:
        if found.get(name) in named:
            del found[name]
    # What is no quasi-identifier any more is released as it is.
    if "quasi_identifiers" in chosen:
        found["others"] += found.pop("quasi_identifiers")
    found = {name: value for name, value in found.items() if value} | dict(chosen)
    used = set(found["quasi_identifiers"])
    for name in (*_KINDS, "missing"):
        if isinstance(found.get(name), Mapping):
            found[name] = {column: value for column, value in found[name].items() if column in used}
    return found


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


def _pairs(texts: Iterable[str], names: Mapping[str, Any]) -> list[tuple[Any, str | None]]:
    return [_pair(text, names) for text in texts]


def _missing(texts: Sequence[str], names: Mapping[str, Any]) -> Any:
    if len(texts) == 1 and texts[0] in GAPS:
        return texts[0]
    return _said("missing", texts, names)


def _said(name: str, texts: Iterable[str], names: Mapping[str, Any]) -> dict[Any, str]:
    found = {}
    for column, value in _pairs(texts, names):
        if not value:
            raise ParameterError(
                f"--{name.replace('_', '-')} {column} says nothing of the column: write {column}=VALUE."
            )
        found[column] = value
    return found


def _ordinal(texts: Sequence[str], names: Mapping[str, Any]) -> dict[Any, Any]:
    return {column: split(value) for column, value in _said("ordinal", texts, names).items()}


def _missing_codes(texts: Sequence[str], names: Mapping[str, Any]) -> dict[Any, Any]:
    found: dict[Any, list[str]] = {}
    for text in texts:
        for column, value in _said("missing_codes", [text], names).items():
            found.setdefault(column, []).append(value)
    return found


def _taxonomies(texts: Sequence[str], names: Mapping[str, Any]) -> dict[Any, Any]:
    return {column: None if value is None else PurePath(value) for column, value in _pairs(texts, names)}


def _kinds(name: str, texts: Sequence[str], names: Mapping[str, Any]) -> dict[Any, Any]:
    """Return what is said of the kinds of columns: ``birth=year``, ``price=1.234,5``, or only the column's name."""
    readers: dict[str, Callable[[Sequence[str], Mapping[str, Any]], dict[Any, Any]]] = {
        "ordinal": _ordinal,
        "missing_codes": _missing_codes,
        "taxonomies": _taxonomies,
    }
    if name in readers:
        return readers[name](texts, names)
    usual = "day" if name == "dates" else None
    return {column: usual if value is None else value for column, value in _pairs(texts, names)}
