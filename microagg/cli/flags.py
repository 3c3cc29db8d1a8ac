"""Flags made of what is declared elsewhere, and what they say: data and columns, options, parameters of algorithms."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
from microagg.release.choices import OPTIONS, USUAL_METHOD, said_of
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
    """A flag that stands under a heading of its own in the help."""

    section = "Options"


class Command(click.Command):
    """A command whose help has its flags under headings, and with flags that are made only when they are needed.

    Those of the algorithms need scikit-learn and Numba, which take longer to load than most mistakes to be found.
    """

    later: Callable[[], Sequence[click.Parameter]] | None = None

    def load(self) -> None:
        """Make the flags that have not been made yet."""
        if self.later is not None:
            make, self.later = self.later, None
            self.params += make()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of a command line; all flags are made if there is one that is not known."""
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


def _described(function: Callable[..., Any]) -> dict[str, tuple[str, str]]:
    """Return what the docstring of ``function`` says of its arguments, by name: the type and the first sentence."""
    _, _, after = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-{3,}\n", after)[0]
    arguments = re.findall(r"^(\w[\w, ]*) : (.+)((?:\n(?: .*)?)*)", section, re.MULTILINE)
    return {name: (kind, first_sentence(text)) for names, kind, text in arguments for name in names.split(", ")}


def first_sentence(text: str) -> str:
    """Return the first sentence of documentation, without its markup."""
    plain = re.sub(r":\w+:`~?([^`]*)`", r"\1", " ".join(text.split())).replace("``", "")
    return f"{re.split(r'(?<=[a-zA-Z0-9_][a-zA-Z0-9_)])[.](?: |$)|; ', plain)[0].rstrip('.')}."


def of_options(without: Sequence[str] = ()) -> list[Flag]:
    """Return a flag for each option of a release that a shell can give, except those ``without``.

    What is not given is None, so that the default stays the option's.
    """
    flags = []
    for option in OPTIONS:
        if option.kind.shell and option.name not in without:
            names = [option.name, f"--{_dashed(option.name)}", *([option.flag] if option.flag else [])]
            says = first_sentence(option.help) + _default(option.default)
            hidden = bool(option.deprecated)
            flags.append(Flag(names, **_told(option), default=None, help=says, hidden=hidden))
    return flags


def _told(option: Option) -> dict[str, Any]:
    told: dict[str, dict[str, Any]] = {
        "word": {"type": click.Choice(sorted(getattr(option.kind, "words", ())))},
        "whole": {"type": int},
        "seed": {"type": _seed, "is_flag": False, "flag_value": True, "metavar": "[SEED|recorded]"},
        "switch": {"is_flag": True, "flag_value": True},
        "columns": {"multiple": True, "metavar": "COLUMN,…"},
        "column": {"type": str, "metavar": "COLUMN"},
        "pairs": {"multiple": True, "metavar": option.metavar},
    }
    return told[option.kind.shell]


def _seed(told: Any) -> Any:
    """Return the value of --shuffle: a seed, "recorded", or True where there is none."""
    if not (told in (True, "recorded") or told.isdecimal()):
        raise click.BadParameter(f"{told!r} is neither a seed nor 'recorded': write FILE before --shuffle.")
    return int(told) if told not in (True, "recorded") else told


def reader_flags() -> list[Flag]:
    """Return a flag for each argument by keyword of :func:`microagg.tables.read_file`, but the name.

    What is not given is None, so that the default stays that of the function.
    """
    says, flags = _described(read_file), []
    for name, parameter in inspect.signature(read_file).parameters.items():
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY and name != "name":
            kind, help_text = says[name]
            names = [f"read_{name}", f"--read-{_dashed(name)}"]
            told = _type(kind, parameter.default)
            flag = Flag(names, **told, default=None, help=help_text + _default(parameter.default))
            flag.section = "How the file is read"
            flags.append(flag)
    return flags


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _default(value: Any) -> str:
    return f" Default: {value!r}." if isinstance(value, (str, int)) and value is not False else ""


def _type(kind: str, default: Any) -> dict[str, Any]:
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
    """Return a flag for each parameter that some algorithm has; one whose name is ``taken`` begins with ``--method-``.

    A seed that is taken means the same there.
    """
    from microagg.algorithms.registry import ALGORITHMS  # which needs scikit-learn and Numba

    having: dict[str, list[tuple[str, Param]]] = {}
    for key, cls in ALGORITHMS.items():
        for param in cls.params:
            if param.name not in taken or param.name != "random_state":
                having.setdefault(param.name, []).append((key, param))
    flags = []
    for name, owners in having.items():
        first = owners[0][1]
        flag = Flag(
            [f"param_{name}", f"--{'method-' if name in taken else ''}{_dashed(name)}"],
            metavar=first.kind.upper(),
            help=f"{first.help} ({', '.join(key for key, _ in owners)})",
        )
        flag.section = "Parameters of single algorithms (microagg methods KEY says them in full)"
        flags.append(flag)
    return flags


def given_params(args: dict[str, Any]) -> dict[str, str]:
    """Take the parameters of algorithms out of what a command got, and return those that were said, as text."""
    texts = {name: args.pop(name) for name in list(args) if name.startswith("param_")}
    return {name.removeprefix("param_"): text for name, text in texts.items() if text is not None}


def read_params(key: str, texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of the algorithm ``key`` from their text, or raise :class:`ParameterError`."""
    from microagg.algorithms.registry import algorithm

    cls = algorithm(key)
    params = {param.name: param for param in cls.params}
    for name in texts:
        if name not in params:
            takes = (
                f"its flags are {', '.join(f'--{_dashed(other)}' for other in params)}" if params else "it has no flags"
            )
            raise ParameterError(f"{cls.info.title} ({key}) has no flag --{_dashed(name)}: {takes}.")
    return {name: params[name].read(text) for name, text in texts.items()}


def with_flags(
    *groups: Sequence[click.Parameter], algorithms: bool = False
) -> Callable[[click.Command], click.Command]:
    """Return a decorator that puts on a command, after its own flags, those on its data and those of ``groups``.

    Those of ``algorithms`` are made when they are needed, and are not to have the names of these.
    """

    def add(command: click.Command) -> click.Command:
        further = [flag for group in (data_flags(), *groups) for flag in group]
        command.params += further
        if algorithms and isinstance(command, Command):
            taken = [flag.name or "" for flag in further]
            command.later = lambda: of_algorithms(taken)
        return command

    return add


# The options that name columns: several, or one; and those that say more of quasi-identifiers.
_SEVERAL = tuple(option.name for option in OPTIONS if option.kind.shell == "columns")
_ONE = tuple(option.name for option in OPTIONS if option.kind.shell == "column")
_PAIRS = tuple(option.name for option in OPTIONS if option.kind.shell == "pairs")

# What says what is guaranteed beyond k, and how it is counted.
_BEYOND_K = (Limits, Meanings)

#: The options that say what columns are, and what is done about gaps in them.
ROLES = (*_SEVERAL, *_ONE, *_PAIRS)


@dataclass(frozen=True, eq=False)
class Data:
    """Records, where they come from as arguments of Release.script, and what a data set declares; None of a file."""

    frame: pd.DataFrame
    origin: dict[str, Any]
    schema: Schema | None
    read: Reading | None = None  # of a file, what was read of it

    @property
    def done(self) -> tuple[str, ...]:
        """What was left out or mended as a file was read."""
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
    """Return the flags that say what columns are, and on which scale they are compared."""
    others = {
        option.name for option in OPTIONS if option.name not in (*ROLES, "scale") or isinstance(option.kind, _BEYOND_K)
    }
    return of_options(list(others))


def with_guarantees(command: click.Command) -> click.Command:
    """Put on a command the flags of what is guaranteed beyond k, and of how a file is read."""
    command.params += reader_flags() + of_options(
        [option.name for option in OPTIONS if not isinstance(option.kind, _BEYOND_K)]
    )
    return command


def release_flags(without: Sequence[str] = ()) -> list[Flag]:
    """Return a flag for each argument of ``microaggregate`` that a shell can give, except those ``without``."""
    k = Flag(["k", "--k", "-k"], type=int, required=True, help="The minimum number of records in a group.")
    method = Flag(["--method"], metavar="KEY", help=f"The algorithm: see microagg methods. Default: {USUAL_METHOD!r}.")
    engine = Flag(
        ["--engine"],
        type=click.Choice(sorted(ENGINES)),
        help="Where the work is done: in memory, or in blocks of records by the workers of Dask. Default: 'memory'.",
    )
    block = Flag(["--block-size"], type=int, help="With Dask, about how many records are in a block.")
    return [flag for flag in (k, method, *of_options(without), engine, block) if flag.name not in without]


def engine_flags() -> list[Flag]:
    """Return the flags that say who works on a release in parts."""
    flags = [
        Flag(["--scheduler"], metavar="ADDRESS", help="The scheduler of Dask, such as tcp://10.0.0.5:8786."),
        Flag(["--workers"], type=int, metavar="N", help="How many workers are started here. Default: one a core."),
        Flag(["--memory-limit"], metavar="SIZE", help="Of each worker that is started here, such as 2GiB."),
    ]
    for flag in flags:
        flag.section = "With --engine dask, for files that do not fit into memory"
    return flags


def target_flags() -> list[Flag]:
    """Return the flags of commands that write a release."""
    flags = [
        Flag(["--out"], metavar="FILE", help="The protected file: .csv, .parquet, .xlsx, .dta or .sav."),
        Flag(["--report"], metavar="FILE", help="The report to print and sign, as HTML."),
        Flag(["--steward-report"], metavar="FILE", help="The same with all figures, for the data steward only."),
        Flag(["--recipe"], metavar="FILE", help="What microagg replay needs to make the release again, as JSON."),
        Flag(["--against"], metavar="FILE", help="The recipe or file of an earlier release, to count what both tell."),
        Flag(["--accept"], multiple=True, metavar="CODE", help="Release in spite of this finding; needs --reason."),
        Flag(["--reason"], default="", help="Why a finding is accepted; the report says so."),
        Flag(["--force"], is_flag=True, help="Overwrite files that are there."),
        Flag(["as_json", "--json"], is_flag=True, help=_JSON_HELP),
    ]
    for flag in flags:
        flag.section = "What is written"
    return flags


def take_reading(args: dict[str, Any]) -> dict[str, Any]:
    """Take what says how a file is read out of what a command got."""
    options = {name.removeprefix("read_"): args.pop(name) for name in list(args) if name.startswith("read_")}
    options = {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}
    return {name: value for name, value in options.items() if value not in (None, [])}


def read_data(args: dict[str, Any]) -> Data:
    """Return the data that a command is to work on, and take what says so out of what it got."""
    file, dataset, seed, download = (args.pop(name) for name in ("file", "dataset", "data_seed", "download"))
    reading = take_reading(args)
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
    for notice in (*read.done, *read.notices):
        say(f"Note: {notice.text}")
    return Data(read.frame, {"file": file, "reading": reading}, None, read)


def columns_in(data: Data, args: dict[str, Any]) -> dict[str, Any]:
    """Return what was said of columns as arguments of ``microaggregate``, and take it out of what a command got.

    Of a data set, what was not said is as the data set declares it.
    """
    values = {name: value for name in ROLES if name in args and (value := args.pop(name)) not in (None, ())}
    names = {str(name): name for name in data.frame.columns}
    kinds = {option.name: option.kind for option in OPTIONS}
    chosen = {name: kinds[name].of_shell(name, value, names) for name, value in values.items()}
    return (
        chosen if data.schema is None else _declared(recoded(data.frame, chosen.get("recode"))[0], data.schema, chosen)
    )


def _declared(frame: pd.DataFrame, schema: Schema, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``chosen`` with what the data set declares of the other columns."""
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
    return args | said_of(args["quasi_identifiers"], args)


def source_of(data: Data, args: dict[str, Any]) -> Source:
    """Return what releases of the data are made from, as a command's flags on columns say."""
    chosen = columns_in(data, args)
    missing, strata = chosen.pop("missing", "error"), chosen.pop("by", None)
    frame, chosen = recoded(data.frame, chosen.pop("recode", None), chosen)
    return Source.of(frame, Schema.infer(frame, strata=strata, **chosen), missing)
