"""Commands for data sets, algorithms, their steps, and the dashboard."""

from __future__ import annotations

import importlib.util
import inspect
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from microagg import datasets
from microagg.cli import flags
from microagg.cli.output import check_targets, print_json, write_files
from microagg.errors import DataError

if TYPE_CHECKING:
    from microagg.algorithms.base import Param

# The environment variable that names the first file of the dashboard.
FILE = "MICROAGG_FILE"


@click.command("datasets", cls=flags.Command)
@flags.json_flag
def data_sets(as_json: bool) -> None:
    """List the data sets for --data.

    \b
    Example:
      microagg datasets
    """
    entries = [datasets.describe(name) for name in datasets.NAMES]
    if as_json:
        rows = [
            {"name": entry.name, "title": entry.title, "kind": entry.kind, "shape": entry.shape}
            | {"here": datasets.is_available(entry.name), "description": entry.description}
            for entry in entries
        ]
        print_json({"datasets": rows})
        return
    for entry in entries:
        n, d = ("drawn" if size is None else f"{size:,}" for size in entry.shape)
        note = "" if datasets.is_available(entry.name) else "  (not on this machine: add --download)"
        click.echo(f"{entry.name:<14} {n:>7} × {d:<6} {entry.title}{note}")


@click.command(cls=flags.Command)
@click.argument("key", required=False)
@flags.json_flag
def methods(key: str | None, as_json: bool) -> None:
    """List the algorithms for --method, or explain the algorithm KEY: its flags, its steps, its source.

    \b
    Examples:
      microagg methods
      microagg methods v-mdav
    """
    from microagg.algorithms.registry import ALGORITHMS, algorithm  # which needs scikit-learn and Numba

    keys = list(ALGORITHMS) if key is None else [key]
    if as_json:
        print_json({"methods": [_as_dict(name) for name in keys]})
    elif key is not None:
        click.echo(_describe(key))
    else:
        for name in keys:
            names = "".join(f" --{flags.dashed(param.name)}" for param in algorithm(name).params)
            click.echo(f"{name:<22} {algorithm(name).info.title}{names}")


def _describe(key: str) -> str:
    from microagg.algorithms.registry import algorithm
    from microagg.studies.bibliography import cite

    cls = algorithm(key)
    info = cls.info
    lines = [f"{info.title} ({key}): {info.summary}", ""]
    lines += [line for param in cls.params for line in _describe_param(param)] or ["It has no flags."]
    kinds = "numbers and categories" if info.mixed else "numbers"
    lines += ["", f"Works on {kinds}. Time {info.complexity}.", f"Source: {info.reference}"]
    lines += [f"Left open by the source: {info.note}"] if info.note else []
    return "\n".join([*lines, "", cite(cls), "", inspect.getdoc(inspect.getmodule(cls)) or ""])


def _describe_param(param: Param) -> list[str]:
    symbol = f" ({param.symbol})" if param.symbol else ""
    classes = " Any other value needs --classes." if param.needs_classes else ""
    return [
        f"--{flags.dashed(param.name)}  {param.described_kind()}, default {param.default}{symbol}",
        f"    {param.help}{classes}",
    ]


def _as_dict(key: str) -> dict[str, Any]:
    from microagg.algorithms.registry import algorithm

    cls = algorithm(key)
    keys = ("title", "family", "summary", "year", "reference", "sizes", "complexity", "deterministic", "note", "mixed")
    params = [
        {"name": param.name, "kind": param.kind, "bounds": param.bounds, "choices": param.choices}
        | {"default": param.default, "help": param.help, "symbol": param.symbol}
        for param in cls.params
    ]
    return {"key": key, **{name: getattr(cls.info, name) for name in keys}, "params": params}


@flags.with_flags(flags.column_flags(), algorithms=True)
@click.command(cls=flags.Command)
@click.option("--k", "-k", type=int, default=3, show_default=True, help="The minimum number of records in a group.")
@click.option("--method", default="mdav-star", show_default=True, metavar="KEY", help="The algorithm.")
@click.option("--html", metavar="FILE", help="Write an animation to this file instead of printing the steps.")
@flags.force_flag
@flags.json_flag
def steps(k: int, method: str, html: str | None, force: bool, as_json: bool, **args: Any) -> None:
    """Show the steps of an algorithm on FILE or a data set of at most 300 records.

    A single quasi-identifier keeps its unit; several are standardized. --scale overrides this.

    \b
    Examples:
      microagg steps --data toy --method mdav-star --k 3
      microagg steps people.csv --qi age,income --method v-mdav --gamma 0.3 --html v-mdav.html
    """
    from microagg import explain  # which needs scikit-learn and Numba
    from microagg.explain.player import animation

    check_targets([html], [args["file"]], force=force)
    params = flags.read_params(method, flags.pop_params(args))
    scale = args.pop("scale")
    source = flags.make_source(flags.read_data(args), args)
    if not source.schema.is_numeric:
        raise DataError("some quasi-identifiers are categories: name only numeric columns with --qi.")
    names = [str(name) for name in source.schema.quasi_identifiers]
    X = source.numbers(scale or ("none" if len(names) == 1 else "zscore")).Z
    attributes = names if len(names) > 1 else None
    decisions = list(explain.steps(method, X, k=k, attributes=attributes, **params))
    if html is not None:
        write_files({html: animation(method, X, k=k, attributes=attributes, **params).encode()}, force=force)
    if as_json:
        rows = [{"kind": step.kind, "title": step.title, "text": step.text, "line": step.line} for step in decisions]
        print_json({"method": method, "k": k, "steps": rows, "labels": decisions[-1].labels.tolist()})
    elif html is None:
        for number, step in enumerate(decisions, start=1):
            click.echo(f"{number:>4}  {step.text}")


@click.command(cls=flags.Command)
@click.argument("file", required=False)
@click.option("--port", type=click.IntRange(1, 65_535), help="The port. Default: the first free one from 8501 on.")
@click.option("--browser/--no-browser", default=True, show_default=True, help="Open the dashboard in a browser.")
def dashboard(file: str | None, port: int | None, browser: bool) -> int:
    """Open the dashboard, with FILE if you name one.

    By default only this machine can reach the dashboard. Ctrl-C stops it. Streamlit's environment variables, such as
    STREAMLIT_SERVER_ADDRESS, configure it.

    \b
    Examples:
      microagg dashboard
      microagg dashboard people.csv
    """
    missing = [name for name in ("streamlit", "plotly") if importlib.util.find_spec(name) is None]
    if missing:
        raise DataError(f'the dashboard needs {" and ".join(missing)}: pip install "microagg[dashboard]".')
    if file is not None and not Path(file).is_file():
        raise DataError(f"there is no file {file!r}: check its name and folder.")
    package = Path(__file__).parents[1]
    installed = package / "_dashboard" / "app.py"
    app = installed if installed.is_file() else package.parent / "app.py"
    # -P: files in the working folder do not replace modules.
    words = [sys.executable, "-P", "-m", "streamlit", "run", str(app), "--server.headless", str(not browser).lower()]
    words += [] if port is None else ["--server.port", str(port)]
    variables = {} if file is None else {FILE: str(Path(file).resolve())}
    return subprocess.call(words, env=os.environ | variables)
