"""Algorithms step by step."""

from __future__ import annotations

from typing import Any

import click

from microagg import explain
from microagg.cli.data import column_flags, data_flags, read_data, source_of
from microagg.cli.files import check_targets, write_files
from microagg.cli.flags import Command, given_params, read_params, with_flags
from microagg.cli.printing import print_json
from microagg.errors import DataError
from microagg.explain.player import animation


@with_flags(data_flags(), column_flags(), algorithms=True)
@click.command(cls=Command)
@click.option("--k", "-k", type=int, default=3, show_default=True, help="The minimum number of records in a group.")
@click.option("--method", default="mdav-star", show_default=True, metavar="KEY", help="The algorithm.")
@click.option("--html", metavar="FILE", help="Write an animation to this file instead.")
@click.option("--force", is_flag=True, help="Overwrite a file that is there.")
@click.option("as_json", "--json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")
def steps(k: int, method: str, html: str | None, force: bool, as_json: bool, **given: Any) -> None:
    """Watch an algorithm decide on FILE, or on a data set, step by step: at most 300 records.

    Numbers are taken as they are where there is one quasi-identifier, and standardized where there are more, unless
    --scale says otherwise.

    \b
    Examples:
      microagg steps --data toy --method mdav-star --k 3
      microagg steps people.csv --qi age,income --method v-mdav --gamma 0.3 --html v-mdav.html
    """
    check_targets([html], [given["file"]], force=force)
    params = read_params(method, given_params(given))
    scale = given.pop("scale")
    source = source_of(read_data(given), given)
    if not source.schema.is_numeric:
        raise DataError("some quasi-identifiers are categories: name only columns of numbers by --qi.")
    names = [str(name) for name in source.schema.quasi_identifiers]
    X = source.numbers(scale or ("none" if len(names) == 1 else "zscore")).Z
    attributes = names if len(names) > 1 else None
    found = list(explain.steps(method, X, k=k, attributes=attributes, **params))
    if html is not None:
        write_files({html: animation(method, X, k=k, attributes=attributes, **params).encode()}, force=force)
    if as_json:
        said = [{"kind": step.kind, "title": step.title, "text": step.text, "line": step.line} for step in found]
        print_json({"method": method, "k": k, "steps": said, "labels": found[-1].labels.tolist()})
    elif html is None:
        for number, step in enumerate(found, start=1):
            click.echo(f"{number:>4}  {step.text}")
