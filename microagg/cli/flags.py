"""Flags of commands, made of declarations elsewhere: data and columns, options, parameters of algorithms."""

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
from click.shell_completion import CompletionItem

from microagg import datasets
from microagg.api import ENGINES
from microagg.cli.output import say
from microagg.columns.recodes import recoded
from microagg.columns.schema import ROLES as SCHEMA_ROLES
from microagg.columns.schema import Schema
from microagg.errors import ParameterError
from microagg.release.choices import OPTIONS, USUAL_METHOD, options_by_column
from microagg.release.options import Limits, Meanings, Option
from microagg.release.source import Source
from microagg.tables import Reading, read_file

if TYPE_CHECKING:
    from microagg.algorithms.base import Param


_JSON_HELP = "Print one JSON object, and nothing else, on stdout."

#: Flags of several commands.
json_flag = click.option("as_json", "--json", is_flag=True, help=_JSON_HELP)
force_flag = click.option("--force", is_flag=True, help="Overwrite a file that is there.")
k_flag = click.option("--k", "-k", type=int, required=True, help="The minimum number of records in a group.")


class Flag(click.Option):
    """A flag under a heading, its ``section``, in the help."""

    def __init__(self, *names: Any, section: str = "Options", **options: Any) -> None:
        super().__init__(*names, **options)
        self.section = section


class Command(click.Command):
    """A command whose help has headings, and whose flags of algorithms are made only when needed.

    They need scikit-learn and Numba, which take longer to load than most mistakes to be found.
    """

    later: Callable[[], Sequence[click.Parameter]] | None = None

    def load(self) -> None:
        """Make the flags that have not been made yet."""
        if self.later is not None:
            make, self.later = self.later, None
            self.params += make()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of a command line; all flags are made if one is unknown."""
        words = list(args)
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption:
            if self.later is None:
                raise
            self.load()
            return super().parse_args(ctx, words)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return what a shell may complete, flags of algorithms among them."""
        self.load()
        return super().shell_complete(ctx, incomplete)

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
    """Return what the docstring of ``function`` says of its arguments, by name: the type and the first sentence."""
    _, _, after = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-{3,}\n", after)[0]
    arguments = re.findall(r"^(\w[\w, ]*) : (.+)((?:\n(?: .*)?)*)", section, re.MULTILINE)
    return {name: (kind, first_sentence(text)) for names, kind, text in arguments for name in names.split(", ")}


def first_sentence(text: str) -> str:
    """Return the first sentence of documentation, without its markup."""
    plain = re.sub(r":\w+:`~?([^`]*)`", r"\1", " ".join(text.split())).replace("``", "")
    return f"{re.split(r'(?<=[a-zA-Z0-9_][a-zA-Z0-9_)])[.](?: |$)|; ', plain)[0].rstrip('.')}."


def of_options(fits: Callable[[Option], bool] = lambda option: True) -> list[Flag]:
    """Return a flag for each option of a release that fits; its default is None, so that the option's holds."""
    flags = []
    for option in OPTIONS:
        if option.kind.shell and fits(option):
            names = [option.name, f"--{dashed(option.name)}", *([option.flag] if option.flag else [])]
            says = first_sentence(option.help) + _default(option.default)
            hidden = bool(option.deprecated)
            flags.append(Flag(names, **_click_type(option), default=None, help=says, hidden=hidden))
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
    """Return the value of --shuffle: a seed, "recorded", or True where there is none."""
    if text in (True, "recorded"):
        return text
    if not text.isdecimal():
        raise click.BadParameter(f"{text!r} is neither a seed nor 'recorded': write FILE before --shuffle.")
    return int(text)


def reader_flags() -> list[Flag]:
    """Return a flag for each keyword argument of :func:`microagg.tables.read_file` but the name, by default None."""
    says, flags = _documented_arguments(read_file), []
    for name, parameter in inspect.signature(read_file).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "name":
            kind, help_text = says[name]
            names = [f"read_{name}", f"--read-{dashed(name)}"]
            about = _documented_type(kind, parameter.default) | {"help": help_text + _default(parameter.default)}
            flags.append(Flag(names, **about, default=None, section="How the file is read"))
    return flags


def dashed(name: str) -> str:
    """Return a name as a flag has it."""
    return name.replace("_", "-")


def _default(value: Any) -> str:
    return f" Default: {value!r}." if isinstance(value, (str, int)) and value is not False else ""


def _documented_type(kind: str, default: Any) -> dict[str, Any]:
    """Return how click reads an argument whose docstring says that it is of this ``kind``."""
    if kind.startswith("sequence of str"):
        return {"multiple": True, "metavar": "TEXT"}
    if match := re.match(r"\{[^}]*\}", kind):
        return {"type": click.Choice(sorted(map(str, ast.literal_eval(match[0]))))}
    if kind.startswith("bool"):
        # What is not off by itself must be able to be switched off.
        return {"is_flag": True, "flag_value": True} if default is False else {"type": bool, "metavar": "yes|no"}
    if kind.startswith("int"):
        return {"type": int}
    return {"type": str, "metavar": "TEXT"}


def of_algorithms(taken: Sequence[str] = ()) -> list[Flag]:
    """Return a flag for each parameter of algorithms, with the prefix ``--method-`` if its name is ``taken``.

    A seed that is taken is shared.
    """
    from microagg.algorithms.registry import ALGORITHMS  # which needs scikit-learn and Numba

    owners: dict[str, list[tuple[str, Param]]] = {}
    for key, cls in ALGORITHMS.items():
        for param in cls.params:
            if param.name not in taken or param.name != "random_state":
                owners.setdefault(param.name, []).append((key, param))
    section = "Parameters of single algorithms (microagg methods KEY says them in full)"
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
    """Remove the arguments with a prefix, and return them without it."""
    return {name.removeprefix(prefix): args.pop(name) for name in list(args) if name.startswith(prefix)}


def given_params(args: dict[str, Any]) -> dict[str, str]:
    """Remove the parameters of algorithms from the arguments of a command, and return their texts."""
    return {name: text for name, text in _pop_prefixed(args, "param_").items() if text is not None}


def read_params(key: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Parse the parameters of the algorithm ``key``. Raises ParameterError if it has no such parameter or value."""
    from microagg.algorithms.registry import algorithm

    cls = algorithm(key)
    params = {param.name: param for param in cls.params}
    for name in texts:
        if name not in params:
            names = ", ".join(f"--{dashed(other)}" for other in params)
            takes = f"its flags are {names}" if names else "it has no flags"
            raise ParameterError(f"{cls.info.title} ({key}) has no flag --{dashed(name)}: {takes}.")
    return {name: params[name].read(text) for name, text in texts.items()}


def with_flags(
    *groups: Sequence[click.Parameter], algorithms: bool = False
) -> Callable[[click.Command], click.Command]:
    """Return a decorator that adds the flags of data, of ``groups`` and, if needed, of ``algorithms`` to a command."""

    def add(command: click.Command) -> click.Command:
        further = [flag for group in (data_flags(), *groups) for flag in group]
        command.params += further
        if algorithms and isinstance(command, Command):
            taken = [flag.name or "" for flag in further]
            command.later = lambda: of_algorithms(taken)
        return command

    return add


# The options that name several columns, or one, and those that describe quasi-identifiers.
_SEVERAL = tuple(option.name for option in OPTIONS if option.kind.shell == "columns")
_ONE = tuple(option.name for option in OPTIONS if option.kind.shell == "column")
_PAIRS = tuple(option.name for option in OPTIONS if option.kind.shell == "pairs")

# The kinds of options for guarantees beyond k, and how they are counted.
_GUARANTEES = (Limits, Meanings)

#: The options that say what columns are, and what is done about gaps in them.
ROLES = (*_SEVERAL, *_ONE, *_PAIRS)


@dataclass(frozen=True, eq=False)
class Data:
    """The records that a command works on."""

    frame: pd.DataFrame
    origin: dict[str, Any]  # where they come from, as arguments of Release.script
    schema: Schema | None  # of a data set; None for a file
    read: Reading | None = None  # of a file

    @property
    def done(self) -> tuple[str, ...]:
        """Notices of what was left out or mended when the file was read."""
        return () if self.read is None else tuple(notice.text for notice in self.read.done)

    def rounding(self, chosen: Mapping[str, Any]) -> dict[str, str]:
        """Return the rounding to add to what was chosen: that of a file, which is written as it was, if none is."""
        is_usual = self.read is not None and chosen.get("written") != "standard" and "rounding" not in chosen
        return {"rounding": "file"} if is_usual else {}


def data_flags() -> list[click.Parameter]:
    """Return the argument FILE and the flags of all commands that take data."""
    seed = Flag(["data_seed", "--data-seed"], type=int, help="The seed of a data set that is generated.")
    dataset = Flag(["dataset", "--data"], metavar="NAME", help="A data set instead of a file: see microagg datasets.")
    download = Flag(["--download"], is_flag=True, help="Download the data set if it is not on this machine.")
    return [click.Argument(["file"], required=False), dataset, seed, download, *reader_flags()]


def column_flags() -> list[Flag]:
    """Return the flags that describe columns, and the scale on which they are compared."""
    return of_options(lambda option: option.name in (*ROLES, "scale") and not isinstance(option.kind, _GUARANTEES))


def with_guarantees(command: click.Command) -> click.Command:
    """Add the flags of guarantees beyond k, and of how a file is read, to a command."""
    command.params += reader_flags() + of_options(lambda option: isinstance(option.kind, _GUARANTEES))
    return command


def release_flags(without: Sequence[str] = ()) -> list[Flag]:
    """Return a flag for each argument of ``microaggregate``, except those ``without``."""
    k = Flag(["k", "--k", "-k"], type=int, required=True, help="The minimum number of records in a group.")
    method = Flag(["--method"], metavar="KEY", help=f"The algorithm: see microagg methods. Default: {USUAL_METHOD!r}.")
    engine = Flag(
        ["--engine"],
        type=click.Choice(sorted(ENGINES)),
        help="Where the work is done: in memory, or in blocks of records by the workers of Dask. Default: 'memory'.",
    )
    block = Flag(["--block-size"], type=int, help="With Dask, about how many records are in a block.")
    return [flag for flag in (k, method, *of_options(), engine, block) if flag.name not in without]


def engine_flags() -> list[Flag]:
    """Return the flags that say who works on a release in parts."""
    flag = partial(Flag, section="With --engine dask, for files that do not fit into memory")
    return [
        flag(["--scheduler"], metavar="ADDRESS", help="The scheduler of Dask, such as tcp://10.0.0.5:8786."),
        flag(["--workers"], type=int, metavar="N", help="How many workers are started here. Default: one a core."),
        flag(["--memory-limit"], metavar="SIZE", help="Of each worker that is started here, such as 2GiB."),
    ]


def target_flags() -> list[Flag]:
    """Return the flags of commands that write a release."""
    flag = partial(Flag, section="What is written")
    return [
        flag(["--out"], metavar="FILE", help="The protected file: .csv, .parquet, .xlsx, .dta or .sav."),
        flag(["--report"], metavar="FILE", help="The report to print and sign, as HTML."),
        flag(["--steward-report"], metavar="FILE", help="The same with all figures, for the data steward only."),
        flag(["--recipe"], metavar="FILE", help="What microagg replay needs to make the release again, as JSON."),
        flag(["--against"], metavar="FILE", help="The recipe or file of an earlier release, to count what both tell."),
        flag(["--accept"], multiple=True, metavar="CODE", help="Release in spite of this finding; needs --reason."),
        flag(["--reason"], default="", help="Why a finding is accepted; the report says so."),
        flag(["--force"], is_flag=True, help="Overwrite files that are there."),
        flag(["as_json", "--json"], is_flag=True, help=_JSON_HELP),
    ]


def take_reading(args: dict[str, Any]) -> dict[str, Any]:
    """Remove the flags on how a file is read from the arguments of a command, and return those that are set."""
    reading = _pop_prefixed(args, "read_")
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in reading.items()
        if value not in (None, ())
    }


def read_data(args: dict[str, Any]) -> Data:
    """Read the data of a command, and remove the flags that name them from its arguments."""
    file, dataset, seed, download = (args.pop(name) for name in ("file", "dataset", "data_seed", "download"))
    reading = take_reading(args)
    if (file is None) == (dataset is None):
        raise ParameterError("name a file, or a data set by --data, and not both.")
    if dataset is not None:
        if reading:
            flag = dashed(next(iter(reading)))
            raise ParameterError(
                f"--read-{flag} says how a file is read, and a data set needs no saying: leave it out."
            )
        loaded = datasets.load(dataset, seed=seed, download=download)
        origin = {"dataset": dataset} | ({} if loaded.seed is None else {"seed": loaded.seed})
        return Data(loaded.frame, origin, loaded.schema)
    if seed is not None:
        raise ParameterError("--data-seed is for data sets that are generated: leave it out.")
    read = read_file(file, **reading)
    for notice in (*read.done, *read.notices):
        say(f"Note: {notice.text}")
    return Data(read.frame, {"file": file, "reading": reading}, None, read)


def columns_in(data: Data, args: dict[str, Any]) -> dict[str, Any]:
    """Remove the flags on columns from the arguments of a command, and return them as arguments of ``microaggregate``.

    Other columns of a data set are as it declares them.
    """
    values = {name: value for name in ROLES if name in args and (value := args.pop(name)) not in (None, ())}
    names = {str(name): name for name in data.frame.columns}
    kinds = {option.name: option.kind for option in OPTIONS}
    chosen = {name: kinds[name].of_shell(name, value, names) for name, value in values.items()}
    if data.schema is None:
        return chosen
    return _declared(recoded(data.frame, chosen.get("recode"))[0], data.schema, chosen)


def _declared(frame: pd.DataFrame, schema: Schema, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments ``chosen``, completed by what the data set declares of the other columns."""
    gaps = {name: "drop" for name in schema.quasi_identifiers if frame[name].isna().any()}
    args = schema.arguments() | {"missing": gaps}
    declared = {column for role in SCHEMA_ROLES for column in schema.columns(role)}
    args["others"] = [*args["others"], *(column for column in frame.columns if column not in declared)]
    named = {column for name in _SEVERAL for column in chosen.get(name, ())} | {chosen[n] for n in _ONE if n in chosen}
    for name in _SEVERAL:
        args[name] = [column for column in frame.columns if column in args[name] and column not in named]
    for name in _ONE:
        if args[name] in named:
            del args[name]
    # What is no quasi-identifier any more is released as it is.
    if "quasi_identifiers" in chosen:
        args["others"] += args.pop("quasi_identifiers")
    args = {name: value for name, value in args.items() if value} | dict(chosen)
    return args | options_by_column(args["quasi_identifiers"], args)


def source_of(data: Data, args: dict[str, Any]) -> Source:
    """Return the source of releases of the data, by the flags on columns."""
    chosen = columns_in(data, args)
    return Source.of_options(*recoded(data.frame, chosen.pop("recode", None), chosen))
