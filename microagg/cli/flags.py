"""Flags of commands, made from declarations elsewhere: data and columns, options, parameters of algorithms."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click
import pandas as pd

from microagg import datasets
from microagg.api import ENGINES
from microagg.columns.recodes import recoded
from microagg.columns.schema import ROLES as SCHEMA_ROLES
from microagg.columns.schema import Schema
from microagg.errors import ParameterError
from microagg.release.choices import OPTIONS, USUAL_METHOD, Option, options_by_column
from microagg.release.options import Limits, Meanings
from microagg.release.recipe import changed_reading
from microagg.release.source import Source
from microagg.tables import Reading, read_file

if TYPE_CHECKING:
    from microagg.algorithms.base import Param


# Flags of several commands.
_JSON_HELP, _FORCE_HELP = "Print only one JSON object, on stdout.", "Overwrite existing files."
json_flag = click.option("as_json", "--json", is_flag=True, help=_JSON_HELP)
force_flag = click.option("--force", is_flag=True, help=_FORCE_HELP)
k_flag = click.option("--k", "-k", type=int, required=True, help="The minimum number of records in a group.")


class Flag(click.Option):
    """A flag under a heading, its ``section``, in the help."""

    def __init__(self, *names: Any, section: str = "Options", **options: Any) -> None:
        super().__init__(*names, **options)
        self.section = section


class Command(click.Command):
    """A command whose help has headings, and whose flags of algorithms are made only when needed.

    Loading scikit-learn and Numba for them takes longer than finding most mistakes.
    """

    later: Callable[[], Sequence[click.Parameter]] | None = None

    def load(self) -> None:
        """Make the remaining flags."""
        if self.later is not None:
            make, self.later = self.later, None
            self.params += make()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse a command line; if a flag is unknown, create the remaining flags and parse again."""
        # click removes arguments from the list that it parses, so the second attempt needs a copy.
        args_for_retry = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            if self.later is None:
                raise
            self.load()
            return super().parse_args(ctx, args_for_retry)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. An error that begins with the name of an argument begins with that of its flag."""
        try:
            return super().invoke(ctx)
        except ParameterError as error:
            name, _, rest = str(error).partition(" ")
            keys = [re.sub("^(param|read|data)_", "", param.name or "") for param in self.params]
            flags = {key: max(param.opts, key=len) for key, param in zip(keys, self.params, strict=True)}
            raise ParameterError(f"{name if name == 'k' else flags.get(name, name)} {rest}") from error

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the flags, those without a heading first."""
        self.load()
        sections: dict[str, list[tuple[str, str]]] = {"Options": []}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is not None and isinstance(param, click.Option):
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for title, records in sections.items():
            with formatter.section(title):
                formatter.write_dl(records)


def _documented_arguments(function: Callable[..., Any]) -> dict[str, tuple[str, str]]:
    """Type and first sentence of each documented argument of ``function``, by name."""
    _, _, after = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-{3,}\n", after)[0]
    arguments = re.findall(r"^(\w[\w, ]*) : (.+)((?:\n(?: .*)?)*)", section, re.MULTILINE)
    return {name: (kind, first_sentence(text)) for names, kind, text in arguments for name in names.split(", ")}


def first_sentence(text: str) -> str:
    """The first sentence of documentation, without its markup."""
    plain = re.sub(r":\w+:`~?([^`]*)`", r"\1", " ".join(text.split())).replace("``", "")
    return f"{re.split(r'(?<=[a-zA-Z0-9_][a-zA-Z0-9_)])[.](?: |$)|; ', plain)[0].rstrip('.')}."


def option_flags(fits: Callable[[Option], bool] = lambda option: True) -> list[Flag]:
    """A flag for each option of a release that fits. Its default is None, so that the option's applies."""
    flags, keywords = [], {option.name for option in OPTIONS}
    for option in OPTIONS:
        if option.kind.shell and not option.deprecated and fits(option):
            names = [option.name, f"--{dashed(option.name)}", *([option.flag] if option.flag else [])]
            text = " ".join(filter(None, [option.help.splitlines()[0], option.shell]))
            text = re.sub(r"``([^`]*)``", lambda word: f"--{dashed(word[1])}" if word[1] in keywords else word[1], text)
            text += "" if "Default:" in text else _default(option.default)
            flags.append(Flag(names, **_click_type(option), default=None, help=text))
    return flags


def _click_type(option: Option) -> dict[str, Any]:
    types: dict[str, dict[str, Any]] = {
        "word": {"type": click.Choice(sorted(getattr(option.kind, "words", ())))},
        "whole": {"type": int},
        "seed": {"type": _seed, "is_flag": False, "flag_value": True, "metavar": "[SEED|recorded]"},
        "switch": {"is_flag": True, "flag_value": True},
        "columns": {"multiple": True, "metavar": "COLUMN,…"},
        "column": {"type": str, "metavar": "COLUMN"},
        "pairs": {"multiple": True, "metavar": option.metavar},
    }
    return types[option.kind.shell]


def _seed(text: Any) -> Any:
    """Value of --shuffle: a seed, "recorded", or True without one."""
    if text in (True, "recorded"):
        return text
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r} is neither a seed nor 'recorded'. Write FILE before --shuffle.")
    return int(text)


def reader_flags() -> list[Flag]:
    """A flag for each keyword argument of :func:`microagg.tables.read_file` except the name, by default None."""
    documentation, flags = _documented_arguments(read_file), []
    for name, parameter in inspect.signature(read_file).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "name":
            kind, help_text = documentation[name]
            names = [f"read_{name}", f"--read-{dashed(name)}"]
            settings = _documented_type(kind, parameter.default) | {"help": help_text + _default(parameter.default)}
            flags.append(Flag(names, **settings, default=None, section="Reading FILE"))
    return flags


def reading_words(reading: Mapping[str, Any]) -> list[str]:
    """Words of a shell that read a file with these arguments of :func:`microagg.tables.read_file`."""
    words = []
    for name, value in changed_reading(reading).items():
        flag = f"--read-{dashed(name)}"
        if isinstance(value, bool):
            # A flag that is off by default has no value.
            words += [flag, "no"] if not value else [flag, "yes"] if name in ("header", "labels") else [flag]
            continue
        for text in map(str, (value or [""]) if isinstance(value, (list, tuple)) else [value]):
            # One word if the text could be mistaken for a flag.
            words += [f"{flag}={text}"] if text[:1] == "-" else [flag, text]
    return words


def dashed(name: str) -> str:
    """A name in the form of flags."""
    return name.replace("_", "-")


def _default(value: Any) -> str:
    return f" Default: {value!r}." if isinstance(value, (str, int)) and value is not False else ""


def _documented_type(kind: str, default: Any) -> dict[str, Any]:
    """Click settings of an argument with this ``kind`` in its docstring."""
    if kind.startswith("sequence of str"):
        return {"multiple": True, "metavar": "TEXT"}
    if match := re.match(r"\{[^}]*\}", kind):
        return {"type": click.Choice(sorted(map(str, ast.literal_eval(match[0]))))}
    if kind.startswith("bool"):
        # A flag that is on by default needs a value to be switched off.
        return {"is_flag": True, "flag_value": True} if default is False else {"type": bool, "metavar": "yes|no"}
    if kind.startswith("int"):
        return {"type": int}
    return {"type": str, "metavar": "TEXT"}


def algorithm_flags(taken: Sequence[str] = ()) -> list[Flag]:
    """A flag for each parameter of algorithms, with the prefix ``--method-`` if its name is ``taken``.

    A seed that is taken is shared.
    """
    from microagg.algorithms.registry import ALGORITHMS  # which needs scikit-learn and Numba

    owners: dict[str, list[tuple[str, Param]]] = {}
    for key, cls in ALGORITHMS.items():
        for param in cls.params:
            if param.name not in taken or param.name != "random_state":
                owners.setdefault(param.name, []).append((key, param))
    section = "Parameters of single algorithms (details: microagg methods KEY)"
    return [
        Flag(
            [f"param_{name}", f"--{'method-' if name in taken else ''}{dashed(name)}"],
            metavar=params[0][1].kind.upper(),
            help=f"{params[0][1].help} ({', '.join(key for key, _ in params)})",
            section=section,
        )
        for name, params in owners.items()
    ]


def _pop_prefixed(args: dict[str, Any], prefix: str) -> dict[str, Any]:
    """Remove the arguments with a prefix and return those that are set, without the prefix."""
    values = {name.removeprefix(prefix): args.pop(name) for name in list(args) if name.startswith(prefix)}
    return {name: value for name, value in values.items() if value not in (None, ())}


def pop_params(args: dict[str, Any]) -> dict[str, str]:
    """Remove the parameters of algorithms from the arguments of a command and return their texts."""
    return _pop_prefixed(args, "param_")


def read_params(key: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Parse the parameters of the algorithm ``key``. ParameterError if it has no such parameter or value."""
    from microagg.algorithms.registry import algorithm

    cls = algorithm(key)
    params = {param.name: param for param in cls.params}
    for name in texts:
        if name not in params:
            names = ", ".join(f"--{dashed(param)}" for param in params)
            advice = f"Its flags are {names}" if names else "It has no flags"
            raise ParameterError(f"{cls.info.title} ({key}) has no flag --{dashed(name)}. {advice}.")
    return {name: params[name].read(text) for name, text in texts.items()}


def with_flags(
    *groups: Sequence[click.Parameter], algorithms: bool = False
) -> Callable[[click.Command], click.Command]:
    """Decorator that adds the flags of data, of ``groups`` and, if needed, of ``algorithms`` to a command."""

    def add(command: click.Command) -> click.Command:
        further = [flag for group in (data_flags(), *groups) for flag in group]
        command.params += further
        if algorithms and isinstance(command, Command):
            taken = [flag.name or "" for flag in further]
            command.later = lambda: algorithm_flags(taken)
        return command

    return add


# The options that name several columns, or one, and those that describe columns and missing values.
_SEVERAL, _ONE, _PAIRS = (
    tuple(option.name for option in OPTIONS if option.kind.shell == kind) for kind in ("columns", "column", "pairs")
)
_ROLES = (*_SEVERAL, *_ONE, *_PAIRS)

# The kinds of options for guarantees beyond k.
_GUARANTEES = (Limits, Meanings)


@dataclass(frozen=True, eq=False)
class Data:
    """The records of a command."""

    frame: pd.DataFrame
    origin: dict[str, Any]  # their source, as arguments of Release.script
    schema: Schema | None  # of a data set; None for a file
    read: Reading | None = None  # of a file


def data_flags() -> list[click.Parameter]:
    """The argument FILE and the flags of all commands with data."""
    seed = Flag(["data_seed", "--data-seed"], type=int, help="The seed of a generated data set.")
    dataset = Flag(["dataset", "--data"], metavar="NAME", help="A data set instead of FILE: see microagg datasets.")
    download = Flag(["--download"], is_flag=True, help="Download the data set if it is not on this machine.")
    return [click.Argument(["file"], required=False), dataset, seed, download, *reader_flags()]


def column_flags(*unused: str) -> list[Flag]:
    """The flags that describe columns, and the scale for comparisons, which count each record once: without weights.

    ``unused`` are other options without a flag.
    """
    names = {*_ROLES, "scale"} - {"weights", *unused}
    return option_flags(lambda option: option.name in names and not isinstance(option.kind, _GUARANTEES))


def with_guarantees(command: click.Command) -> click.Command:
    """Add the flags of guarantees beyond k, and of reading a file, to a command."""
    command.params += reader_flags() + option_flags(lambda option: isinstance(option.kind, _GUARANTEES))
    return command


def release_flags() -> list[Flag]:
    """A flag for each argument of ``microaggregate``."""
    k = Flag(["k", "--k", "-k"], type=int, required=True, help="The minimum number of records in a group.")
    text = f"The algorithm: see microagg methods. Default: {USUAL_METHOD!r}, with moderate effort."
    method = Flag(["--method"], metavar="KEY", help=text)
    engine = Flag(
        ["--engine"],
        type=click.Choice(sorted(ENGINES)),
        help="Make the release in memory, or in blocks of records by the workers of Dask. Default: 'memory'.",
    )
    block = Flag(["--block-size"], type=int, help="The approximate number of records in a block, with Dask.")
    return [k, method, *option_flags(), engine, block]


def engine_flags() -> list[Flag]:
    """The flags for workers of a release in parts."""
    flag = partial(Flag, section="With --engine dask, for files that do not fit into memory")
    return [
        flag(["--scheduler"], metavar="ADDRESS", help="The address of a Dask scheduler, such as tcp://10.0.0.5:8786."),
        flag(["--workers"], type=int, metavar="N", help="The number of workers to start here. Default: one per core."),
        flag(["--memory-limit"], metavar="SIZE", help="The memory limit of each worker started here, such as 2GiB."),
    ]


def target_flags() -> list[Flag]:
    """The flags of commands that write a release."""
    flag = partial(Flag, section="Output")
    return [
        flag(["--out"], metavar="FILE", help="The protected file: .csv, .parquet, .xlsx, .dta or .sav."),
        flag(["--report"], metavar="FILE", help="The report to print and sign, as HTML."),
        flag(["--steward-report"], metavar="FILE", help="A report with all figures, for the data steward only."),
        flag(["--recipe"], metavar="FILE", help="The recipe, as JSON: microagg replay repeats the release."),
        flag(["--against"], metavar="FILE", help="An earlier recipe or file, to check both releases together."),
        flag(["--accept"], multiple=True, metavar="CODE", help="Release despite this problem. Needs --reason."),
        flag(["--reason"], default="", help="The reason for accepting a problem. The report quotes it."),
        flag(["--force"], is_flag=True, help=_FORCE_HELP),
        flag(["as_json", "--json"], is_flag=True, help=_JSON_HELP),
    ]


def take_reading(args: dict[str, Any]) -> dict[str, Any]:
    """Remove the flags for reading a file from the arguments of a command and return those that are set."""
    reading = _pop_prefixed(args, "read_")
    return {name: list(value) if isinstance(value, tuple) else value for name, value in reading.items()}


def read_data(args: dict[str, Any]) -> Data:
    """Read the data of a command, and remove the flags that name them from its arguments."""
    file, dataset, seed, download = (args.pop(name) for name in ("file", "dataset", "data_seed", "download"))
    reading = take_reading(args)
    if (file is None) == (dataset is None):
        raise ParameterError("name a file, or a data set with --data, and not both.")
    if dataset is not None:
        if reading:
            flag = dashed(next(iter(reading)))
            raise ParameterError(
                f"--read-{flag} says how a file is read, but --data names a data set: leave --read-{flag} out."
            )
        loaded = datasets.load(dataset, seed=seed, download=download)
        origin = {"dataset": dataset} | ({} if loaded.seed is None else {"seed": loaded.seed})
        return Data(loaded.frame, origin, loaded.schema)
    if seed is not None:
        raise ParameterError("--data-seed is for generated data sets: leave it out.")
    read = read_file(file, **reading)
    for notice in (*read.done, *read.notices):
        click.echo(f"Note: {notice.text}", err=True)
    return Data(read.frame, {"file": file, "reading": reading}, None, read)


def columns_in(data: Data, args: dict[str, Any]) -> dict[str, Any]:
    """Remove the flags on columns from the arguments of a command and return them as arguments of ``microaggregate``.

    Other columns of a data set have its declarations.
    """
    values = {name: value for name in _ROLES if name in args and (value := args.pop(name)) not in (None, ())}
    names = {str(name): name for name in data.frame.columns}
    kinds = {option.name: option.kind for option in OPTIONS}
    chosen = {name: kinds[name].of_shell(name, value, names) for name, value in values.items()}
    if data.schema is None:
        return chosen
    return _declared(recoded(data.frame, chosen.get("recode"))[0], data.schema, chosen)


def _declared(frame: pd.DataFrame, schema: Schema, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments ``chosen``, completed by the data set's declarations of other columns."""
    gaps = {n: "drop" for n in schema.quasi_identifiers if frame[n].isna().any()}
    args = schema.arguments() | {"missing": gaps}
    declared = {column for role in SCHEMA_ROLES for column in schema.columns(role)}
    args["others"] = [*args["others"], *(column for column in frame.columns if column not in declared)]
    taken = {column for n in _SEVERAL for column in chosen.get(n, ())} | {chosen[n] for n in _ONE if n in chosen}
    for n in _SEVERAL:
        args[n] = [column for column in frame.columns if column in args[n] and column not in taken]
    for n in _ONE:
        if args[n] in taken:
            del args[n]
    # Former quasi-identifiers are released unchanged.
    if "quasi_identifiers" in chosen:
        args["others"] += args.pop("quasi_identifiers")
    args = {n: value for n, value in args.items() if value} | dict(chosen)
    return args | options_by_column(args["quasi_identifiers"], args)


def make_source(data: Data, args: dict[str, Any]) -> Source:
    """Source of releases of the data, by the flags on columns."""
    chosen = columns_in(data, args)
    return Source.of_options(*recoded(data.frame, chosen.pop("recode", None), chosen))
