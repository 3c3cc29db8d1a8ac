"""How low, and how far from the optimum: the search for the least loss, and what no partition can get below."""

from __future__ import annotations

import warnings
from typing import Any

import click

from microagg.api import microaggregate
from microagg.cli.data import Data, column_flags, columns_in, data_flags, read_data, release_flags, source_of
from microagg.cli.flags import Command, with_flags
from microagg.cli.output import print_json, working
from microagg.cli.releasing import deliver, make, take_targets, target_flags
from microagg.errors import DataError, ParameterError
from microagg.optimum.bounds import Bound, linear_program
from microagg.optimum.formatting import percent
from microagg.optimum.problem import Problem
from microagg.optimum.search import Search
from microagg.release.source import Source
from microagg.validation import FloatArray, quoted

_SECONDS = click.option("--seconds", type=float, default=10.0, show_default=True, help="How long to go on.")


@with_flags(data_flags(), column_flags())
@click.command(cls=Command)
@click.option("--k", "-k", type=int, required=True, help="The minimum number of records in a group.")
@_SECONDS
@click.option("as_json", "--json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")
def bound(k: int, seconds: float, as_json: bool, **given: Any) -> None:
    """Prove what no partition of FILE into groups of at least k records can lose less than.

    \b
    Example:
      microagg bound --data tarragona --k 3 --seconds 30
    """
    scale = given.pop("scale") or "zscore"
    source = source_of(read_data(given), given)
    if not source.schema.is_numeric:
        _bound_of_mixed(source, k, as_json)
        return
    X = _matrix(source, scale)
    with working("Proving") as show:

        def watch(best: Bound) -> bool:
            show(f"Proven: no partition loses less than {percent(best.information_loss)}")
            return True

        found = linear_program(X, k, seconds, watch)
    if as_json:
        print_json(vars(found))
    else:
        ends = "; more time will not raise it" if found.converged else ""
        if found.optimal:
            ends = ", and one is known that loses no more: no method can do better"
        click.echo(f"No partition into groups of at least {k:,} loses less than {found.information_loss:.4g} %{ends}.")


def _bound_of_mixed(source: Source, k: int, as_json: bool) -> None:
    """Print what no partition of mixed records loses less than; the time it takes depends on their number alone."""
    with working("Proving"):
        [found] = Problem.of(source.schema.records(source.frame)).floor([k])
    if as_json:
        lost = {"total_information_loss": found.sse, "information_loss": found.information_loss}
        print_json({"k": k, **lost, "seconds": found.seconds, "converged": found.converged})
    else:
        click.echo(
            f"No partition into groups of at least {k:,} has a Total-IL below {found.information_loss:.4g} % of the "
            "most that can be lost; more time will not raise it."
        )


@with_flags(data_flags(), release_flags(["method", "polish", "random_state", "engine", "block_size"]), target_flags())
@click.command(cls=Command)
@_SECONDS
@click.option("--random-state", type=int, default=0, show_default=True, help="The seed of the search.")
def search(seconds: float, random_state: int, **given: Any) -> None:
    """Look for the partition of FILE that loses least, for some seconds, and make a release of it.

    \b
    Example:
      microagg search people.csv --k 5 --seconds 60 --qi age,income --confidential illness --out people_k5.csv
    """
    targets = take_targets(given)
    data = read_data(given)
    chosen = {name: value for name, value in given.items() if value is not None}
    found = _search(data, chosen, seconds, random_state)
    columns = columns_in(data, chosen)
    release = make(lambda: microaggregate(data.frame, **columns, **chosen, method="mdav-star", labels=found.labels))
    deliver(release, data, targets)


def _search(data: Data, chosen: dict[str, Any], seconds: float, seed: int) -> Search:
    source = source_of(data, dict(chosen))
    if source.schema.strata:
        raise ParameterError("the search knows no strata: leave --by out, or take microagg run --polish.")
    X = _matrix(source, chosen.get("scale") or "zscore")
    with working("Searching") as show:

        def watch(loss: float, _: float) -> bool:
            show(f"The best partition so far loses {percent(loss)}")
            return True

        return Search(X, chosen["k"], random_state=seed).improve(seconds, watch=watch)


def _matrix(source: Source, scale: str) -> FloatArray:
    """Return the scaled quasi-identifiers, or raise :class:`DataError` if some are categories."""
    if not source.schema.is_numeric:
        named = quoted([attribute.name for attribute in source.schema.attributes if attribute.kind != "numeric"])
        raise DataError(f"{named}: there are categories, for which no such loss is known; leave them out of --qi.")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return source.numbers(scale).Z
