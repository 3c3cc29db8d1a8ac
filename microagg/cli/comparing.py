"""Many runs: algorithms × values of k, as a table."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

import click
import pandas as pd

from microagg.algorithms.method import Method
from microagg.algorithms.registry import algorithm
from microagg.cli.data import column_flags, data_flags, read_data, source_of
from microagg.cli.flags import Command, given_params, read_params, with_flags
from microagg.cli.output import check_targets, stoppable, working, write_files
from microagg.errors import ParameterError
from microagg.progress import watched
from microagg.release.command import split
from microagg.release.compared import Compared
from microagg.studies.experiment import Result
from microagg.studies.experiment import sweep as sweep_over
from microagg.tables import to_csv
from microagg.validation import plain, read_ks

# More values of k are hardly meant.
_MOST_KS = 1_000


@with_flags(data_flags(), column_flags(), algorithms=True)
@click.command(cls=Command)
@click.option("methods", "--method", multiple=True, metavar="KEY,…", help="Algorithms. Default: mdav-star.")
@click.option("ks", "--k", "-k", required=True, metavar="2-10,20", help="Values of k, and ranges of them.")
@click.option("--polish", is_flag=True, help="Improve every partition by local search.")
@click.option("--out", metavar="FILE", help="The table, .csv or .json; on stdout if not said.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@click.option("as_json", "--json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")
def sweep(
    methods: tuple[str, ...], ks: str, polish: bool, out: str | None, force: bool, as_json: bool, **given: Any
) -> None:
    """Run algorithms × values of k on FILE, or on a data set, and say what each loses.

    A parameter of an algorithm may have several values, such as --gamma 0,0.1,0.2: the best is taken at each k.

    \b
    Examples:
      microagg sweep --data census --method mdav,mdav-star,v-mdav --k 2-10,20
      microagg sweep people.csv --qi age,income --method v-mdav --gamma 0,0.2,0.4 --k 5 --out losses.csv
    """
    check_targets([out], [given["file"]], force=force)
    if out is not None and PurePath(out).suffix.lower() not in (".csv", ".json"):
        raise ParameterError(f"the name of a table must end in .csv or .json, not {out!r}.")
    chosen = _methods([word for text in methods or ("mdav-star",) for word in split(text)], given, polish)
    scale = given.pop("scale") or "zscore"
    compared = Compared.of(source_of(read_data(given), given), scale, sample=0)
    wanted, beyond = read_ks(ks, len(compared.rows), _MOST_KS)
    if beyond:
        raise ParameterError(f"k can be at most {len(compared.rows):,}, the number of records: leave larger ones out.")
    if not wanted:
        raise ParameterError("no value of k is said: write one or more, such as --k 3,5,10-20.")
    table = _table(compared, chosen, wanted)
    if out is not None:
        write_files({out: (_json(table) if out.lower().endswith(".json") else to_csv(table)).encode()}, force=force)
    if as_json:
        click.echo(_json(table))
    elif out is None:
        click.echo(to_csv(table), nl=False)


def _methods(keys: Iterable[str], given: dict[str, Any], polish: bool) -> list[Method]:
    """Return the algorithms with the parameters that were said, each with those that it has."""
    said, found, used = given_params(given), [], set()
    for key in keys:
        own = {param.name for param in algorithm(key).params} & set(said)
        used |= own
        several = [read_params(key, {name: word}) for name in sorted(own) for word in split(said[name])]
        params: dict[str, list[Any]] = {}
        for one in several:
            for name, value in one.items():
                params.setdefault(name, []).append(value)
        found.append(Method(key, params, polish))
    if unused := sorted(set(said) - used):
        raise ParameterError(f"none of the algorithms has a flag --{unused[0].replace('_', '-')}: leave it out.")
    return found


def _table(compared: Compared, methods: list[Method], ks: list[int]) -> pd.DataFrame:
    data = compared.records if compared.X is None else compared.X
    classes = compared.classes if compared.X is None else None
    with working("Preparing the algorithms") as show, stoppable() as stopped:

        def progress(done: int, total: int, result: Result) -> None:
            show(f"{done:,} of {total:,} done: {result.method.label}, k = {result.k:,}")

        with watched(lambda *_: not stopped()):
            return sweep_over(data, methods, ks, classes=classes, strata=compared.strata, progress=progress)


def _json(table: pd.DataFrame) -> str:
    rows = plain(table.astype(object).where(table.notna(), None).to_dict("records"))
    return json.dumps({"rows": rows}, indent=2, ensure_ascii=False) + "\n"
