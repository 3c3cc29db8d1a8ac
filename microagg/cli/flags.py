"""Flags made of what is declared elsewhere: the arguments of functions, and the parameters of algorithms."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from microagg.errors import ParameterError
from microagg.release.choices import OPTIONS
from microagg.release.options import Option

if TYPE_CHECKING:
    from microagg.algorithms.base import Param


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


class Argument(NamedTuple):
    """What the docstring of a function says of an argument: its type and its first sentence."""

    kind: str
    help: str


def described(function: Callable[..., Any]) -> dict[str, Argument]:
    """Return what the docstring of ``function`` says of its arguments, by name."""
    _, _, after = (inspect.getdoc(function) or "").partition("Parameters\n----------\n")
    section = re.split(r"\n\n\w+\n-{3,}\n", after)[0]
    found: dict[str, Argument] = {}
    for names, kind, text in re.findall(r"^(\w[\w, ]*) : (.+)((?:\n(?: .*)?)*)", section, re.MULTILINE):
        for name in names.split(", "):
            found[name] = Argument(kind, first_sentence(text))
    return found


def first_sentence(text: str) -> str:
    """Return the first sentence of documentation, without its markup."""
    plain = re.sub(r":\w+:`~?([^`]*)`", r"\1", " ".join(text.split())).replace("``", "")
    return f"{re.split(r'(?<=[a-zA-Z0-9_][a-zA-Z0-9_)])[.](?: |$)|; ', plain)[0].rstrip('.')}."


def of_options(without: Sequence[str] = ()) -> list[Flag]:
    """Return a flag for each option of a release that a shell can give, except those ``without``.

    What is not given is None, so that the default stays the option's.
    """
    found = []
    for own in OPTIONS:
        if own.kind.shell and own.name not in without:
            names = [own.name, f"--{_dashed(own.name)}", *([own.flag] if own.flag else [])]
            said = first_sentence(own.help) + _default(own.default)
            found.append(Flag(names, **_told(own), default=None, help=said))
    return found


def _told(own: Option) -> dict[str, Any]:
    """Return how click reads an option."""
    told: dict[str, dict[str, Any]] = {
        "word": {"type": click.Choice(sorted(getattr(own.kind, "words", ())))},
        "whole": {"type": int},
        "switch": {"is_flag": True, "flag_value": True},
        "columns": {"multiple": True, "metavar": "COLUMN,…"},
        "column": {"type": str, "metavar": "COLUMN"},
        "pairs": {"multiple": True, "metavar": own.metavar},
    }
    return told[own.kind.shell]


def of_function(
    function: Callable[..., Any],
    *,
    without: Sequence[str] = (),
    prefix: str = "",
    section: str = "Options",
) -> list[Flag]:
    """Return a flag for each argument by keyword of ``function``, except those ``without``.

    What is not given is None, whatever the default of the function, so that the default stays the function's.

    Parameters
    ----------
    function : callable
        Its docstring says what the arguments are.
    without : sequence of str
    prefix : str
        What the flags and the values that the command gets begin with, such as ``read``.
    section : str
        The heading in the help.
    """
    says = described(function)
    found = []
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.kind is not inspect.Parameter.KEYWORD_ONLY or name in without:
            continue
        flag = Flag(
            [
                f"{prefix}_{name}" if prefix else name,
                f"--{prefix}-{_dashed(name)}" if prefix else f"--{_dashed(name)}",
            ],
            **_type(says[name].kind, parameter.default),
            **({"required": True} if parameter.default is inspect.Parameter.empty else {"default": None}),
            help=says[name].help + _default(parameter.default),
        )
        flag.section = section
        found.append(flag)
    return found


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
    found = []
    for name, owners in having.items():
        first = owners[0][1]
        flag = Flag(
            [f"param_{name}", f"--{'method-' if name in taken else ''}{_dashed(name)}"],
            metavar=first.kind.upper(),
            help=f"{first.help} ({', '.join(key for key, _ in owners)})",
        )
        flag.section = "Parameters of single algorithms (microagg methods KEY says them in full)"
        found.append(flag)
    return found


def given_params(given: dict[str, Any]) -> dict[str, str]:
    """Take the parameters of algorithms out of what a command got, and return those that were said, as text."""
    said = {name: given.pop(name) for name in list(given) if name.startswith("param_")}
    return {name.removeprefix("param_"): text for name, text in said.items() if text is not None}


def read_params(key: str, said: Mapping[str, str]) -> dict[str, Any]:
    """Return the parameters of the algorithm ``key`` from their text.

    Raises
    ------
    ParameterError
        If there is no such algorithm, it has no such parameter, or a value is out of bounds.
    """
    from microagg.algorithms.registry import algorithm

    cls = algorithm(key)
    known = {param.name: param for param in cls.params}
    for name in said:
        if name not in known:
            takes = f"its flags are {', '.join(f'--{_dashed(own)}' for own in known)}" if known else "it has no flags"
            raise ParameterError(f"{cls.info.title} ({key}) has no flag --{_dashed(name)}: {takes}.")
    return {name: known[name].read(text) for name, text in said.items()}


def with_flags(
    *groups: Sequence[click.Parameter], algorithms: bool = False
) -> Callable[[click.Command], click.Command]:
    """Return a decorator that puts further flags on a command, after its own; those of ``algorithms`` when needed.

    These are made after ``groups``, of which they are not to have the names.
    """

    def add(command: click.Command) -> click.Command:
        command.params += [flag for group in groups for flag in group]
        if algorithms and isinstance(command, Command):
            taken = [flag.name or "" for group in groups for flag in group]
            command.later = lambda: of_algorithms(taken)
        return command

    return add
