"""Whether a certificate proves an optimum."""

from __future__ import annotations

import warnings
from pathlib import Path

import click

from microagg import datasets, standardize
from microagg.cli.flags import Command
from microagg.cli.group import FAILS
from microagg.cli.printing import print_json
from microagg.cli.progress import working
from microagg.metrics.loss import percent, sst


@click.command(cls=Command)
@click.argument("file")
@click.option("--download", is_flag=True, help="Download the data set if it is not on this machine.")
@click.option("as_json", "--json", is_flag=True, help="Print one JSON object, and nothing else, on stdout.")
def certify(file: str, download: bool, as_json: bool) -> None:
    """Check whether the certificate FILE proves that no partition of its data set loses less than the one it names.

    Nothing in FILE is believed: groups are listed and numbers added up, without any solver. The exit code is 0 if the
    partition is an optimum, 1 if less is proven, and 2 if the file is damaged or cannot be checked.

    \b
    Example:
      microagg certify benchmarks/results/certificates/census-3.npz
    """
    from microagg.metrics import proof_checker  # which needs Numba

    held = proof_checker.read(Path(file))
    X = datasets.load(held.data, download=download).X
    with working("Checking"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = standardize(X)
        proven = proof_checker.check(X, held)
    total = sst(X)
    lost, least = percent(proven.sse, total), percent(proven.floor, total)
    if as_json:
        about = {"file": file, "data": held.data, "n_records": len(X), "k": held.k, "optimal": proven.is_optimal}
        print_json(about | {"information_loss": lost, "floor": least})
    elif proven.is_optimal:
        click.echo(
            f"Proven: no partition of {held.data} ({len(X):,} records) into groups of at least {held.k} loses less "
            f"than {least:.7f} %, and the one of the certificate loses {lost:.7f} %: it is an optimum."
        )
    else:
        click.echo(
            f"Not proven to be an optimum: the partition of {held.data} loses {lost:.7f} %, and what the certificate "
            f"proves is only that none loses less than {max(least, 0.0):.7f} %."
        )
    if not proven.is_optimal:
        click.get_current_context().exit(FAILS)
