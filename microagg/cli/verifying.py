"""Commands that check a certificate, the k of a file, and the risk of a release or a file."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path, PurePath
from typing import Any

import click
import pandas as pd

from microagg import datasets, standardize
from microagg.api import replay
from microagg.cli.flags import Command, dashed, json_flag, take_reading, with_flags, with_guarantees
from microagg.cli.group import FAILS, print_json, working
from microagg.cli.releasing import make, read_original, read_recipe
from microagg.columns.recodes import counted_as, meanings_of, meant
from microagg.errors import DataError, ParameterError
from microagg.metrics.loss import percent, sst
from microagg.metrics.risk import equivalence_classes
from microagg.metrics.risk.equivalence_classes import SmallClasses
from microagg.release import as_written, compare_with
from microagg.release.choices import OPTIONS
from microagg.release.guarantees import Guarantee, as_read, requested
from microagg.release.guarantees import count as count_guarantees
from microagg.release.options import find_columns
from microagg.release.report.report import FOR_STEWARD
from microagg.tables.reading import TEXT_ENDINGS
from microagg.validation import check_k, counted, quoted


@click.command(cls=Command)
@click.argument("file")
@click.option("--download", is_flag=True, help="Download the data set if it is not on this machine.")
@json_flag
def certify(file: str, download: bool, as_json: bool) -> None:
    """Check whether the certificate FILE proves that its partition of a data set has the lowest information loss.

    The check trusts no claim in FILE: it lists the groups and adds up the numbers, without a solver. Exit codes: 0 if
    the partition is optimal, 1 if the certificate proves less, 2 if the file is damaged or cannot be checked, and 70
    after a fault of microagg itself.

    \b
    Example:
      microagg certify benchmarks/results/certificates/census-3.npz
    """
    from microagg.optimum import proof_checker  # which needs Numba

    claim = proof_checker.read(Path(file))
    X = datasets.load(claim.data, download=download).X
    with working("Checking"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        X = standardize(X)
        result = proof_checker.check(X, claim)
    total = sst(X)
    loss, bound = percent(result.sse, total), percent(result.floor, total)
    if as_json:
        figures = {"file": file, "data": claim.data, "n_records": len(X), "k": claim.k, "optimal": result.is_optimal}
        print_json(figures | {"information_loss": loss, "floor": bound})
    elif result.is_optimal:
        click.echo(
            f"Proven optimal: the partition of {claim.data} ({len(X):,} records) into groups of at least {claim.k} has "
            f"an information loss of {loss:.7f} %, and the lower bound is {bound:.7f} %."
        )
    else:
        click.echo(
            f"Not proven optimal: the partition of {claim.data} has an information loss of {loss:.7f} %, and the "
            f"certificate proves a lower bound of only {max(bound, 0.0):.7f} %."
        )
    if not result.is_optimal:
        click.get_current_context().exit(FAILS)


# The k-anonymity of any file.


@with_guarantees
@click.command(cls=Command)
@click.argument("file")
@click.option(
    "columns", "--qi", "--quasi-identifiers", required=True, multiple=True, metavar="COLUMN,…", help="Such as age,sex."
)
@click.option("k", "--k", "-k", type=int, required=True, help="The minimum number of records in an equivalence class.")
@click.option("--confidential", multiple=True, metavar="COLUMN,…", help="Columns for --diversity and --closeness.")
@json_flag
def verify(
    file: str, columns: Sequence[str], k: int, confidential: Sequence[str], as_json: bool, **options: Any
) -> None:
    """Check whether at least k records of FILE share each combination of quasi-identifiers.

    --diversity and --closeness check confidential columns, too. In them, columns of numbers, or of dates such as
    2001-12-31, are ordered; other columns are not. Spelling variants count as one value. Empty cells and words such as
    n/a count as no value, unless --meanings gives them one.

    FILE may be anyone's, or a folder of Parquet files, which are read one by one. In quasi-identifiers, cells of a CSV
    file are compared letter by letter, and an empty cell is a value. A file that is not in UTF-8 needs --read-encoding.
    Name the strata with --qi, too. Exit codes: 0 if k and all guarantees hold, 1 if not, 2 if the file cannot be read
    or a flag is wrong, and 70 after a fault of microagg itself.

    \b
    Examples:
      microagg verify people_k5.csv --qi age,income --k 5
      microagg verify people_k5.csv --qi age --k 5 --confidential illness --diversity illness=2
    """
    k = check_k(k)
    reading = take_reading(options)
    requested = {name: texts for name, texts in options.items() if texts}
    guarantees: tuple[Guarantee, ...] = ()
    spellings: list[str] = []
    if Path(file).is_dir():
        if reading:
            flag = f"--read-{dashed(next(iter(reading)))}"
            raise ParameterError(f"{flag} is for single files, not for a folder of Parquet files: leave it out.")
        if requested:
            flag = f"--{next(iter(requested))}"
            raise ParameterError(f"{flag} needs a single file, but {file!r} is a folder: verify each of its files.")
        names, n, count = _count_folder(file, columns, k)
    else:
        names, n, count, guarantees, spellings = _count(file, columns, k, confidential, requested, reading)
    broken = [guarantee for guarantee in guarantees if not guarantee.holds]
    holds = count.smallest >= k and not broken
    if as_json:
        figures = {"file": file, "quasi_identifiers": names, "k": k, "holds": holds, "n_records": n}
        figures |= {"smallest_class": count.smallest, "below_k": count.records, "unique": count.unique}
        counts = [asdict(guarantee) | {"holds": guarantee.holds} for guarantee in guarantees]
        print_json(figures | ({"guarantees": counts} if requested else {}))
    else:
        small = f"; {count.records:,} are in classes below k, {count.unique:,} of them unique" if count.records else ""
        start = f"k = {k:,} {'does not hold' if small else 'holds'} in {PurePath(file).name!r}: the smallest class has"
        click.echo(f"{start} {counted(count.smallest, 'record')} of {n:,}{small}.")
        for guarantee in guarantees:
            click.echo(f"{'Holds' if guarantee.holds else 'Does not hold'}: {guarantee}.")
        click.echo("\n".join(spellings), nl=bool(spellings))
    if not holds:
        click.get_current_context().exit(FAILS)


def _count(
    file: str,
    columns: Sequence[str],
    k: int,
    confidential: Sequence[str],
    flags: Mapping[str, Sequence[str]],
    reading: Mapping[str, Any],
) -> tuple[list[str], int, SmallClasses, tuple[Guarantee, ...], list[str]]:
    """Columns of a file, its number of records, small classes, guarantees, and spelling variants."""
    try:
        data = Path(file).read_bytes()
    except FileNotFoundError:
        raise DataError(f"there is no file {file!r}: check its name and folder.") from None
    except OSError as error:
        raise DataError(f"the file {file!r} cannot be read ({error.strerror}): check its permissions.") from None
    if PurePath(file).suffix.lower() in TEXT_ENDINGS:
        reading = {"header": True, **reading}
    table = as_written(data, PurePath(file).name, reading=reading)
    names = _find_keys(columns, _names_by_text(table))
    secrets, kinds = find_columns(confidential, _names_by_text(table)), {option.name: option.kind for option in OPTIONS}
    options = {name: kinds[name].of_shell(name, texts, _names_by_text(table)) for name, texts in flags.items()}
    for name, limits in options.items():
        if lacking := [column for column in limits if column not in secrets]:
            raise ParameterError(f"--{name} names {quoted(lacking)}: name it with --confidential, too.")
    rules = requested(options.get("diversity"), options.get("closeness"))
    classes = equivalence_classes.numbered(table, names)
    read = {column: as_read(table[column], decimal=reading.get("decimal", ".")) for column, _, _ in rules}
    values = meanings_of(read, read, options.get("meanings"))
    spellings = [text for column in read if (text := counted_as(table[column], meant(values[column])))]
    guarantees = count_guarantees(values, classes, rules)
    return names, len(table), equivalence_classes.small_classes(classes, k), guarantees, spellings


def _find_keys(texts: Sequence[str], names: Mapping[str, Any]) -> list[Any]:
    """The quasi-identifiers named by --qi, at least one."""
    if not (columns := find_columns(texts, names)):
        raise ParameterError("--qi names no column: name at least one.")
    return columns


def _names_by_text(table: pd.DataFrame) -> dict[str, Any]:
    return {str(name): name for name in table.columns}


def _count_folder(folder: str, columns: Sequence[str], k: int) -> tuple[list[str], int, SmallClasses]:
    """Columns, number of records and small classes of the Parquet files in a folder."""
    from microagg.distributed import Table, count  # which needs Dask

    names = _find_keys(columns, {name: name for name in Table.of(folder).names})
    counted = count(folder, names, [], k)
    return names, counted.records, SmallClasses(counted.smallest, counted.below, counted.alone)


@with_flags()
@click.command(cls=Command)
@click.argument("recipe_file", metavar="RECIPE")
@click.option("--against", metavar="FILE", help="Measure the joint risk with an earlier release: its recipe or file.")
@json_flag
def risk(recipe_file: str, against: str | None, as_json: bool, **args: Any) -> None:
    """Measure the disclosure risk and the data quality of a release, repeated from its RECIPE and FILE.

    \b
    Example:
      microagg risk people_recipe.json people.csv
    """
    recipe = read_recipe(recipe_file)
    if recipe.get("engine") == "dask":
        raise ParameterError("microagg risk cannot measure a release in parts: release a sample of the file in memory.")
    data = read_original(recipe, args)
    release = make(lambda: replay(data.frame, recipe))
    with working("Measuring"):
        release = release if against is None else compare_with(release, against)
        assessment = release.assess()
    print_json({"notice": FOR_STEWARD, **assessment.to_dict()}) if as_json else click.echo(assessment.summary())
