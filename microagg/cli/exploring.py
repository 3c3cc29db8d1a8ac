"""Commands that explore: data sets, algorithms and their steps, sweeps, lower bounds, printed tables, the dashboard."""

from __future__ import annotations

import importlib.util
import inspect
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from microagg import datasets
from microagg.cli import flags
from microagg.cli.group import check_targets, is_stopped, print_json, working, write_files
from microagg.errors import DataError, ParameterError
from microagg.progress import watched
from microagg.release.options import split
from microagg.release.source import Compared
from microagg.tables import to_csv
from microagg.validation import plain, read_ks

# The commands import what needs scikit-learn and Numba themselves.
if TYPE_CHECKING:
    import pandas as pd

    from microagg.algorithms.base import Param
    from microagg.algorithms.method import Method
    from microagg.optimum.bounds import Bound
    from microagg.studies.experiment import Result

# The environment variable that names the first file of the dashboard, and the maximum number of values of k.
FILE, _MAX_KS = "MICROAGG_FILE", 1_000


@click.command("datasets", cls=flags.Command)
def data_sets() -> None:
    """List the data sets for --data.

    \b
    Example:
      microagg datasets
    """
    for entry in map(datasets.describe, datasets.NAMES):
        n, d = ("drawn" if size is None else f"{size:,}" for size in entry.shape)
        note = "" if datasets.is_available(entry.name) else "  (not on this machine: add --download)"
        click.echo(f"{entry.name:<14} {n:>7} × {d:<6} {entry.title}{note}")


@click.command(cls=flags.Command)
@click.argument("key", required=False)
def methods(key: str | None) -> None:
    """List the algorithms for --method, or explain the algorithm KEY: its flags, its steps, its source.

    \b
    Examples:
      microagg methods
      microagg methods v-mdav
    """
    from microagg.algorithms.registry import ALGORITHMS, algorithm

    if key is not None:
        click.echo(_describe(key))
        return
    for name in ALGORITHMS:
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


@flags.with_flags(flags.column_flags("by"), algorithms=True)
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
    from microagg import explain
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


@flags.with_flags(flags.column_flags(), algorithms=True)
@click.command(cls=flags.Command)
@click.option("methods", "--method", multiple=True, metavar="KEY,…", help="Algorithms. Default: mdav-star.")
@click.option("ks", "--k", "-k", multiple=True, required=True, metavar="2-10,20", help="Values and ranges of k.")
@click.option("--polish", is_flag=True, help="Improve every partition by local search.")
@click.option("--out", metavar="FILE", help="Write the table to this .csv or .json file. Default: print it as CSV.")
@flags.force_flag
@flags.json_flag
def sweep(
    methods: Iterable[str], ks: Iterable[str], polish: bool, out: str | None, force: bool, as_json: bool, **args: Any
) -> None:
    """Run each algorithm at each k on FILE or a data set, and list the information loss.

    A parameter of an algorithm may have several values, such as --gamma 0,0.1,0.2. The best is taken at each k.

    \b
    Examples:
      microagg sweep --data census --method mdav,mdav-star,v-mdav --k 2-10,20
      microagg sweep people.csv --qi age,income --method v-mdav --gamma 0,0.2,0.4 --k 5 --out losses.csv
    """
    check_targets([out], [args["file"]], force=force)
    if out is not None and PurePath(out).suffix.lower() not in (".csv", ".json"):
        raise ParameterError(f"the name of a table must end in .csv or .json, not {out!r}.")
    chosen = _parse_methods([word for text in methods or ("mdav-star",) for word in split(text)], args, polish)
    scale = args.pop("scale") or "zscore"
    compared = Compared.of(flags.make_source(flags.read_data(args), args), scale, sample=0)
    k_values, too_large = read_ks(",".join(ks), len(compared.rows), _MAX_KS)
    if too_large:
        raise ParameterError(f"k can be at most {len(compared.rows):,}, the number of records: leave larger ones out.")
    if not k_values:
        raise ParameterError("--k has no value: write one or more, such as --k 3,5,10-20.")
    table = _sweep(compared, chosen, k_values)
    if out is not None:
        write_files({out: (_as_json(table) if out.lower().endswith(".json") else to_csv(table)).encode()}, force=force)
    if as_json:
        click.echo(_as_json(table))
    elif out is None:
        click.echo(to_csv(table), nl=False)


def _parse_methods(keys: Iterable[str], args: dict[str, Any], polish: bool) -> list[Method]:
    """The algorithms, each with its parameters."""
    from microagg.algorithms.method import Method
    from microagg.algorithms.registry import algorithm

    texts, methods, used = flags.pop_params(args), [], set()
    for key in keys:
        names = {param.name for param in algorithm(key).params} & set(texts)
        used |= names
        words = {name: split(texts[name]) for name in sorted(names)}
        params = {
            name: [flags.read_params(key, {name: word})[name] for word in of_name]
            for name, of_name in words.items()
            if of_name
        }
        methods.append(Method(key, params, polish))
    if not methods:
        raise ParameterError("--method names no algorithm: name one or more, or leave it out.")
    if unused := sorted(set(texts) - used):
        raise ParameterError(f"none of the algorithms has a flag --{flags.dashed(unused[0])}: leave it out.")
    return methods


def _sweep(compared: Compared, methods: list[Method], ks: list[int]) -> pd.DataFrame:
    from microagg.studies.experiment import sweep

    classes, strata = compared.problem.classes, compared.strata
    with working("Preparing the algorithms") as show, watched(lambda *_: not is_stopped()):

        def progress(done: int, total: int, result: Result) -> None:
            show(f"{done:,} of {total:,} done: {result.method.label}, k = {result.k:,}")

        return sweep(compared.data, methods, ks, classes=classes, strata=strata, progress=progress)


def _as_json(table: pd.DataFrame) -> str:
    rows = plain(table.astype(object).where(table.notna(), None).to_dict("records"))
    return json.dumps({"rows": rows}, indent=2, ensure_ascii=False) + "\n"


@flags.with_flags(flags.column_flags())
@click.command(cls=flags.Command)
@flags.k_flag
@click.option("--seconds", type=float, default=10.0, show_default=True, help="The maximum number of seconds.")
@flags.json_flag
def bound(k: int, seconds: float, as_json: bool, **args: Any) -> None:
    """Compute a lower bound on the information loss of all partitions of FILE into groups of at least k records.

    With --by, groups stay within the strata; the bound is then that of nearest neighbors.

    \b
    Example:
      microagg bound --data tarragona --k 3 --seconds 30
    """
    from microagg.optimum.bounds import linear_program
    from microagg.optimum.formatting import percent

    scale = args.pop("scale") or "zscore"
    problem = Compared.of(flags.make_source(flags.read_data(args), args), scale, sample=0).problem
    with working("Proving") as show, warnings.catch_warnings():
        warnings.simplefilter("ignore")

        def watch(best: Bound) -> bool:
            show(f"Lower bound: {percent(best.information_loss)}")
            return True

        if problem.mixed or problem.parts:
            [proof] = problem.floor([k])
        else:
            proof = linear_program(problem.data, k, seconds, watch)
    if as_json:
        figures = dict(vars(proof))
        if problem.mixed:
            figures["total_information_loss"] = figures.pop("sse")
        print_json(figures)
        return
    end = "; more time will not raise it" if proof.converged else ""
    if proof.optimal:
        end = ", and a known partition meets it: that partition is optimal"
    of = " of the largest Total-IL" if problem.mixed else ""
    click.echo(f"Lower bound for groups of at least {k:,}: {proof.information_loss:.4g} %{of}{end}.")


@click.command(cls=flags.Command)
@click.argument("paper", required=False)
@click.option("--table", default="", metavar="NAME", help="A part of the table's name. Default: all tables.")
@click.option("--out", metavar="FILE", help="Write the figures to this CSV file. Default: print them.")
@flags.force_flag
def reproduce(paper: str | None, table: str, out: str | None, force: bool) -> None:
    """Recompute the figures of PAPER and compare them with the printed ones. Without PAPER, list the printed tables.

    \b
    Examples:
      microagg reproduce
      microagg reproduce "Thaeter & Reischuk 2018" --table Census
    """
    from microagg.studies import literature

    if paper is None:
        for title, name, count in literature.tables():
            click.echo(f"{title}: {name} ({count} figures)")
        return
    check_targets([out], [], force=force)
    with working("Computing the figures") as show, watched(lambda *_: not is_stopped()):
        figures = literature.reproduce(paper, table, lambda done, total: show(f"{done:,} of {total:,} figures"))
    text = to_csv(figures)
    if out is not None:
        write_files({out: text.encode()}, force=force)
    else:
        click.echo(text, nl=False)
    click.echo(f"{literature.conclusion(figures[figures['ours'] != ''])}.", err=True)
