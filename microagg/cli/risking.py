"""The risk of a release: of one's own, made again from its recipe, or of anybody's file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from microagg import release as releases
from microagg.cli.columns import columns_of
from microagg.cli.data import data_flags, read_data
from microagg.cli.flags import Command, with_flags
from microagg.cli.printing import print_json
from microagg.cli.progress import working
from microagg.cli.releasing import make, read_recipe
from microagg.errors import ParameterError
from microagg.release.assessment import Figure


@with_flags(data_flags())
@click.command(cls=Command)
@click.argument("first", metavar="RECIPE|RELEASED")
@click.option("columns", "--qi", "--quasi-identifiers", multiple=True, metavar="COLUMN,…", help="Those of RELEASED.")
@click.option("--confidential", multiple=True, metavar="COLUMN,…", help="What somebody wants to learn from RELEASED.")
@click.option("--original", metavar="FILE", help="What RELEASED was made from, the same records in the same order.")
@click.option("--target", metavar="COLUMN", help="The column that a model is to predict; with RECIPE.")
@click.option("--sampling-fraction", type=float, help="Which share of the population a random sample is.")
@click.option("as_json", "--json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")
def risk(
    first: str,
    columns: Sequence[str],
    confidential: Sequence[str],
    original: str | None,
    target: str | None,
    sampling_fraction: float | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Measure what is known of whom, in anybody's file (with --qi), or in a release beside its original FILE.

    With --qi, RELEASED is anybody's file: who is alone, how large classes are, what they say of --confidential; with
    its --original also who is found by distance. Flags on how files are read hold for both.

    With RECIPE, the release is made again from FILE, and it is said too what analysts still get right.

    \b
    Examples:
      microagg risk people_recipe.json people.csv --target income
      microagg risk people_k5.csv --qi age,income --confidential illness --original people.csv
    """
    if columns:
        if given["file"] is not None:
            raise ParameterError(f"with --qi, name the original by --original {given['file']}: {first!r} is no recipe.")
        if target is not None:
            raise ParameterError("--target needs a recipe: leave it out, or leave out --qi and name RECIPE and FILE.")
        released = read_data({**given, "file": first}).frame
        before = None if original is None else read_data({**given, "file": original}).frame
        names, learned = columns_of(columns, released), columns_of(confidential, released)
        with working("Measuring"):
            figures = releases.risks_of_file(released, names, learned, before, sampling_fraction=sampling_fraction)
        if as_json:
            print_json({"file": first, "n_records": len(released), "figures": [_row(figure) for figure in figures]})
        else:
            click.echo("\n".join(figure.sentence for figure in figures))
        return
    if confidential or original is not None:
        raise ParameterError("--confidential and --original belong to a released file: name its columns by --qi, too.")
    recipe = read_recipe(first)
    if recipe.get("engine") == "dask":
        raise ParameterError("risks of a release in parts are not measured: release a sample of the file in memory.")
    data = read_data(given)
    release = make(lambda: releases.replay(data.frame, recipe))
    with working("Measuring"):
        found = release.assess(target=target, sampling_fraction=sampling_fraction)
    print_json(found.to_dict()) if as_json else click.echo(found.summary())


def _row(figure: Figure) -> dict[str, Any]:
    said = {"measure": figure.measure.key, "attribute": figure.attribute, "before": figure.before}
    return said | {"after": figure.after, "sentence": figure.sentence}
