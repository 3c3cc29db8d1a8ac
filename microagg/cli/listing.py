"""Lists: the data sets, and the algorithms."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

import click

from microagg import datasets
from microagg.cli.flags import Command
from microagg.cli.printing import print_json

if TYPE_CHECKING:
    from microagg.base import Param

_JSON = click.option("as_json", "--json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")


@click.command("datasets", cls=Command)
@_JSON
def data_sets(as_json: bool) -> None:
    """List the data sets that --data takes.

    \b
    Example:
      microagg datasets
    """
    entries = [datasets.describe(name) for name in datasets.NAMES]
    if as_json:
        rows = [
            {
                "name": entry.name,
                "title": entry.title,
                "kind": entry.kind,
                "shape": entry.shape,
                "here": datasets.is_available(entry.name),
                "description": entry.description,
            }
            for entry in entries
        ]
        print_json({"datasets": rows})
        return
    for entry in entries:
        n, d = ("drawn" if size is None else f"{size:,}" for size in entry.shape)
        here = "" if datasets.is_available(entry.name) else "  (not on this machine: --download)"
        click.echo(f"{entry.name:<14} {n:>7} × {d:<6} {entry.title}{here}")


@click.command(cls=Command)
@click.argument("key", required=False)
@_JSON
def methods(key: str | None, as_json: bool) -> None:
    """List the algorithms that --method takes, or say all about the one called KEY: its flags, its steps, its source.

    \b
    Examples:
      microagg methods
      microagg methods v-mdav
    """
    from microagg.registry import ALGORITHMS, algorithm  # which needs scikit-learn and Numba

    keys = list(ALGORITHMS) if key is None else [key]
    if as_json:
        print_json({"methods": [_as_dict(each) for each in keys]})
    elif key is not None:
        click.echo(_in_full(key))
    else:
        for each in keys:
            flags = "".join(f" --{param.name.replace('_', '-')}" for param in algorithm(each).params)
            click.echo(f"{each:<22} {algorithm(each).info.title}{flags}")


def _in_full(key: str) -> str:
    from microagg.registry import algorithm

    cls = algorithm(key)
    info = cls.info
    lines = [f"{info.title} ({key}): {info.summary}", ""]
    lines += [line for param in cls.params for line in _lines(param)] or ["It has no flags of its own."]
    kinds = "numbers and categories" if info.mixed else "numbers"
    lines += ["", f"Works on {kinds}. Time {info.complexity}.", f"Source: {info.reference}"]
    lines += [f"What the source leaves open: {info.note}"] if info.note else []
    return "\n".join([*lines, "", inspect.getdoc(inspect.getmodule(cls)) or ""])


def _lines(param: Param) -> list[str]:
    flag = f"--{param.name.replace('_', '-')}"
    symbol = f" ({param.symbol})" if param.symbol else ""
    classes = " Any other value needs --classes." if param.needs_classes else ""
    return [f"{flag}  {param.described_kind()}, default {param.default}{symbol}", f"    {param.help}{classes}"]


def _as_dict(key: str) -> dict[str, Any]:
    from microagg.registry import algorithm

    cls = algorithm(key)
    said = ("title", "family", "summary", "year", "reference", "sizes", "complexity", "deterministic", "note", "mixed")
    params = [
        {"name": param.name, "kind": param.kind, "bounds": param.bounds, "choices": param.choices}
        | {"default": param.default, "help": param.help, "symbol": param.symbol}
        for param in cls.params
    ]
    return {"key": key, **{name: getattr(cls.info, name) for name in said}, "params": params}
