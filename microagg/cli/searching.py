"""Commands for sweeps, lower bounds, and printed tables."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import click
import pandas as pd

from microagg.algorithms.method import Method
from microagg.algorithms.registry import algorithm
from microagg.cli import flags
from microagg.cli.output import check_targets, print_json, stoppable, working, write_files
from microagg.errors import ParameterError
from microagg.optimum.bounds import Bound, linear_program
from microagg.optimum.formatting import percent
from microagg.optimum.problem import Problem
from microagg.progress import watched
from microagg.release.options import split
from microagg.release.source import Compared, Source
from microagg.studies.experiment import Result
from microagg.studies.experiment import sweep as sweep_over
from microagg.tables import to_csv
from microagg.validation import FloatArray, plain, read_ks

# The maximum number of values of k.
_MAX_KS = 1_000


@flags.with_flags(flags.column_flags(), algorithms=True)
@click.command(cls=flags.Command)
@click.option("methods", "--method", multiple=True, metavar="KEY,…", help="Algorithms. Default: mdav-star.")
@click.option("ks", "--k", "-k", required=True, metavar="2-10,20", help="Values and ranges of k.")
@click.option("--polish", is_flag=True, help="Improve every partition by local search.")
@click.option("--out", metavar="FILE", help="Write the table to this .csv or .json file. Default: print it as CSV.")
@flags.force_flag
@flags.json_flag
def sweep(
    methods: tuple[str, ...], ks: str, polish: bool, out: str | None, force: bool, as_json: bool, **args: Any
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
    k_values, too_large = read_ks(ks, len(compared.rows), _MAX_KS)
    if too_large:
        raise ParameterError(f"k can be at most {len(compared.rows):,}, the number of records: leave larger ones out.")
    if not k_values:
        raise ParameterError("--k has no value: write one or more, such as --k 3,5,10-20.")
    table = _sweep_table(compared, chosen, k_values)
    if out is not None:
        write_files({out: (_as_json(table) if out.lower().endswith(".json") else to_csv(table)).encode()}, force=force)
    if as_json:
        click.echo(_as_json(table))
    elif out is None:
        click.echo(to_csv(table), nl=False)


def _parse_methods(keys: Iterable[str], args: dict[str, Any], polish: bool) -> list[Method]:
    """The algorithms, each with its parameters."""
    texts, methods, used = flags.pop_params(args), [], set()
    for key in keys:
        names = {param.name for param in algorithm(key).params} & set(texts)
        used |= names
        choices = [flags.read_params(key, {name: word}) for name in sorted(names) for word in split(texts[name])]
        params: dict[str, list[Any]] = {}
        for params_of_choice in choices:
            for name, value in params_of_choice.items():
                params.setdefault(name, []).append(value)
        methods.append(Method(key, params, polish))
    if unused := sorted(set(texts) - used):
        raise ParameterError(f"none of the algorithms has a flag --{flags.dashed(unused[0])}: leave it out.")
    return methods


def _sweep_table(compared: Compared, methods: list[Method], ks: list[int]) -> pd.DataFrame:
    data, classes = compared.data, compared.problem.classes
    with working("Preparing the algorithms") as show, stoppable() as stopped:

        def progress(done: int, total: int, result: Result) -> None:
            show(f"{done:,} of {total:,} done: {result.method.label}, k = {result.k:,}")

        with watched(lambda *_: not stopped()):
            return sweep_over(data, methods, ks, classes=classes, strata=compared.strata, progress=progress)


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

    \b
    Example:
      microagg bound --data tarragona --k 3 --seconds 30
    """
    scale = args.pop("scale") or "zscore"
    source = flags.make_source(flags.read_data(args), args)
    if not source.schema.is_numeric:
        _bound_mixed(source, k, as_json)
        return
    X = _matrix(source, scale)
    with working("Proving") as show:

        def watch(best: Bound) -> bool:
            show(f"Lower bound: {percent(best.information_loss)}")
            return True

        proof = linear_program(X, k, seconds, watch)
    if as_json:
        print_json(vars(proof))
    else:
        end = "; more time will not raise it" if proof.converged else ""
        if proof.optimal:
            end = ", and a known partition meets it: that partition is optimal"
        click.echo(f"Lower bound for groups of at least {k:,}: {proof.information_loss:.4g} %{end}.")


def _bound_mixed(source: Source, k: int, as_json: bool) -> None:
    """Print a lower bound for mixed records. Its time depends only on their number."""
    with working("Proving"):
        [result] = Problem.of(source.records).floor([k])
    if as_json:
        losses = {"total_information_loss": result.sse, "information_loss": result.information_loss}
        print_json({"k": k, **losses, "seconds": result.seconds, "converged": result.converged})
    else:
        click.echo(
            f"Lower bound for groups of at least {k:,}: a Total-IL of {result.information_loss:.4g} % of its maximum; "
            "more time will not raise it."
        )


def _matrix(source: Source, scale: str) -> FloatArray:
    """The scaled quasi-identifiers."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return source.numbers(scale).Z


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
    from microagg.studies import reproduction

    if paper is None:
        for title, name, count in reproduction.tables():
            click.echo(f"{title}: {name} ({count} figures)")
        return
    check_targets([out], [], force=force)
    with working("Computing the figures") as show, stoppable() as stopped, watched(lambda *_: not stopped()):
        figures = reproduction.reproduce(paper, table, lambda done, total: show(f"{done:,} of {total:,} figures"))
    text = to_csv(figures)
    if out is not None:
        write_files({out: text.encode()}, force=force)
    else:
        click.echo(text, nl=False)
    click.echo(f"{reproduction.conclusion(figures[figures['ours'] != ''])}.", err=True)
