"""Commands that make a release, in memory or by the workers of Dask, or replay a recipe."""

from __future__ import annotations

import json
import logging
import tempfile
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

import click

from microagg.api import microaggregate
from microagg.api import replay as replay_recipe
from microagg.cli import flags
from microagg.cli.group import FAILS, check_targets, finish, print_json, working, write_files
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import ConstantColumnWarning, DataError, ParameterError
from microagg.release import Finding, Release, compare_with
from microagg.release.checks import CHECKS
from microagg.release.choices import USUAL_METHOD
from microagg.release.recipe import check as check_recipe
from microagg.release.recipe import choices as choices_of
from microagg.release.report.report import FOR_STEWARD
from microagg.tables import written_ending

if TYPE_CHECKING:
    from microagg.distributed import LargeRelease


# The files of a release, and a line on stderr that is not a result.
_FILES = ("out", "report", "steward_report", "recipe")
_print = partial(click.echo, err=True)

# --- releases in parts: of files that do not fit into memory, by the workers of Dask ----------------------------------

# Flags that are not for files in parts.
_NOT_IN_PARTS = {
    "dataset": "--data is for releases in memory: name Parquet files",
    "data_seed": "--data-seed is for generated data sets: leave it out",
    "download": "--download is for data sets: leave it out",
}


def _pop_engine(args: dict[str, Any], *, in_parts: bool) -> dict[str, Any]:
    """Remove the Dask flags from ``args`` and return those that are set, as arguments of ``distributed.release``."""
    values = {name: args.pop(name, None) for name in ("scheduler", "workers", "memory_limit", "block_size")}
    engine = {name: value for name, value in values.items() if value is not None}
    if engine and not in_parts:
        flag = f"--{flags.dashed(next(iter(engine)))}"
        raise ParameterError(f"{flag} needs --engine dask: add --engine dask, or leave out {flag}.")
    if "scheduler" in engine and engine.keys() & {"workers", "memory_limit"}:
        raise ParameterError("--scheduler cannot be combined with --workers or --memory-limit: leave out either.")
    # The parameter for a Dask client also accepts the address of a scheduler.
    return {("client" if name == "scheduler" else name): value for name, value in engine.items()}


def _release_in_parts(args: dict[str, Any], recipe: Mapping[str, Any] | None = None) -> None:
    """Run ``microagg run --engine dask``, or ``microagg replay`` with the ``recipe`` of a release in parts."""
    from microagg import distributed  # which needs Numba

    engine = _pop_engine(args, in_parts=True)
    targets = _pop_targets(args)
    if targets["out"] is None:
        raise ParameterError("--engine dask writes the release to a folder: add --out FOLDER.")
    if targets["against"] is not None:
        raise ParameterError("--against is for releases in memory: leave it out.")
    if targets["report"] is not None or targets["steward_report"] is not None:
        raise ParameterError("HTML reports are for releases in memory: use --json for all figures instead.")
    check_targets([targets["recipe"]], [args["file"], targets["out"]], force=targets["force"])
    codes = [check.code for check in CHECKS.values() if check.in_parts]
    if unknown := [code for code in targets["accept"] if code not in codes]:
        raise ParameterError(f"--engine dask has no problem {unknown[0]!r}: the problems are {', '.join(codes)}.")
    data = _read_head(args)
    file, out = data.origin["file"], targets["out"]
    if recipe is not None:
        _deliver_parts(partial(distributed.replay, file, recipe, out=out, **engine), targets)
        return
    chosen = _release_arguments(data, args)
    del chosen["engine"]
    _deliver_parts(partial(distributed.release, file, chosen, out=out, **engine), targets)


def _read_head(args: dict[str, Any]) -> flags.Data:
    """Read the first records of Parquet files, and remove the flags that name them from the arguments."""
    from microagg.distributed import Table

    for name, advice in _NOT_IN_PARTS.items():
        if args.pop(name):
            raise ParameterError(f"{advice}.")
    if (file := args.pop("file")) is None:
        raise ParameterError("name a Parquet file, or a folder of them.")
    if reading := flags.take_reading(args):
        raise ParameterError(f"--read-{flags.dashed(next(iter(reading)))} is not for Parquet files: leave it out.")
    return flags.Data(Table.of(file).head(), {"file": file, "reading": {}}, None)


def _deliver_parts(make: Callable[..., LargeRelease], targets: Mapping[str, Any]) -> None:
    """Make a release in parts, unless a finding blocks it, and print its report."""
    # If a job is ended, Dask leaves tasks behind and logs them at length; errors are raised anyway.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    stops: list[Finding] = []

    def before(findings: tuple[Finding, ...]) -> None:
        stops.extend(each for each in findings if each.level == "stop" and each.code not in targets["accept"])
        if stops:
            click.get_current_context().exit(FAILS)

    def after(release: LargeRelease) -> None:
        # Before the release is complete, as it is not made again for its recipe; from here on, signals are ignored.
        finish()
        if targets["recipe"] is not None:
            write_files({targets["recipe"]: recipe_text(release.recipe)}, force=targets["force"])

    try:
        with working("Starting workers"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantColumnWarning)
            release = make(before=before, after=after)
    finally:
        if stops:
            _print_stops(stops)
    doubtful = {each.code for each in release.findings if each.level != "ok"}
    for code in targets["accept"]:
        if code not in doubtful:
            _print(f"Note: --accept {code} was not needed: there is no such problem.")
    if accepted := [code for code in targets["accept"] if code in doubtful]:
        release = release.accept(*accepted, reason=targets["reason"])
    written = _target_files(targets)
    if targets["as_json"]:
        print_json({"notice": FOR_STEWARD, "written": written, **release.report.to_dict()})
    else:
        click.echo(release.report.summary())
        _print_warnings(release.report.warnings)
        _print(f"Written: {', '.join(written)}")


# --- releases in memory: made, or replayed from a recipe --------------------------------------------------------------


@flags.with_flags(flags.release_flags(), flags.engine_flags(), flags.target_flags(), algorithms=True)
@click.command(cls=flags.Command)
def run(**args: Any) -> None:
    """Make a k-anonymous release of FILE or a data set.

    The release replaces each quasi-identifier (--qi) by the mean of its group (see --statistic) and leaves out the
    columns of --drop. A protected file of the same kind as FILE keeps its format; means keep the decimals of FILE
    unless you add --rounding none. The guarantees are checked on the written file. Without --out, the command writes
    nothing and prints the information loss.

    A problem blocks the file with exit code 1 until you fix it, or accept it with --accept CODE and --reason TEXT.

    \b
    Examples:
      microagg run people.csv --k 5 --qi age,income --confidential illness --drop name --out people_k5.csv
      microagg run people.xlsx --k 5 --method v-mdav --gamma 0.3 --qi age,income --out a.parquet --report a.html
      microagg run --data census --k 5 --rounding file
      microagg run register.parquet --engine dask --k 5 --qi age,income --memory-limit 2GiB --out register_k5
    """
    if args["engine"] == "dask":
        _release_in_parts(args)
        return
    _pop_engine(args, in_parts=False)
    targets = take_targets(args)
    data = flags.read_data(args)
    chosen = _release_arguments(data, args)
    if data.read is not None:
        chosen.setdefault("rounding", "file")
    deliver(make(lambda: microaggregate(data.frame, **chosen)), data, targets)


@flags.with_flags(flags.engine_flags(), flags.target_flags())
@click.command(cls=flags.Command)
@click.argument("recipe_file", metavar="RECIPE")
def replay(recipe_file: str, **args: Any) -> None:
    """Repeat the release of RECIPE from its FILE, and check that the result is the same.

    \b
    Example:
      microagg replay people_recipe.json people.csv --out people_k5.csv
    """
    recipe = read_recipe(recipe_file)
    if recipe.get("engine") == "dask":
        _release_in_parts(args, recipe)
        return
    _pop_engine(args, in_parts=False)
    targets = take_targets(args, recipe_file)
    data = read_original(recipe, args)
    deliver(make(lambda: replay_recipe(data.frame, recipe)), data, targets)


def read_original(recipe: Mapping[str, Any], args: dict[str, Any]) -> flags.Data:
    """Read the data of a recipe, with labels as categories if it has them so."""
    with_labels = args | {"read_labels": True}
    data = flags.read_data(args)
    is_labelled = data.read is not None and _has_labels(recipe, data.read.value_labels)
    return flags.read_data(with_labels) if is_labelled else data


def _has_labels(recipe: Mapping[str, Any], labels: Mapping[str, Mapping[Any, str]]) -> bool:
    """Whether a recipe has labels of columns as categories that are read as numbers by default."""
    check_recipe(recipe)
    chosen = choices_of(recipe)
    categories = {name: Taxonomy.of(tree).values for name, tree in (chosen["taxonomies"] or {}).items()}
    # Recoded values are no longer labels.
    categories |= (chosen["ordinal"] or {}) | (chosen["recode"] or {})
    return any({*categories.get(name, ())} & {*texts.values()} for name, texts in labels.items())


def make(release: Callable[[], Release]) -> Release:
    """Call ``release`` and show its progress. Warnings of constant columns are in its report."""
    with working("Grouping the records"), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantColumnWarning)
        return release()


def _release_arguments(data: flags.Data, args: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a command as arguments of :func:`microagg.microaggregate`."""
    texts = flags.pop_params(args)
    chosen = flags.columns_in(data, args) | {name: value for name, value in args.items() if value is not None}
    return chosen | {"method_params": flags.read_params(args.get("method") or USUAL_METHOD, texts)}


def read_recipe(path: str) -> dict[str, Any]:
    """Read a recipe from its file."""
    try:
        recipe = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"the recipe {path!r} cannot be read ({error.strerror}): check its name and folder.") from None
    except ValueError:
        raise DataError(
            f"the file {path!r} is not a recipe in JSON: name a file that --recipe wrote. To check a released file, "
            "use microagg verify --qi."
        ) from None
    if not isinstance(recipe, dict):
        raise DataError(f"the file {path!r} is not a recipe: name a file that --recipe wrote.")
    return recipe


def take_targets(args: dict[str, Any], *sources: str) -> dict[str, Any]:
    """Remove the files to write from the arguments of a command, and check them before the work."""
    targets = _pop_targets(args)
    read = (args.get("file"), targets["against"], *sources)
    check_targets([targets[name] for name in _FILES], read, force=targets["force"])
    if targets["out"] is not None:
        written_ending(targets["out"])
    elif _target_files(targets):
        raise ParameterError("reports and recipes describe a protected file: add --out.")
    return targets


def _pop_targets(args: dict[str, Any]) -> dict[str, Any]:
    targets = {name: args.pop(name) for name in (*_FILES, "against", "accept", "reason", "force", "as_json")}
    if targets["accept"] and not targets["reason"].strip():
        raise ParameterError("--accept needs a reason for the report: add --reason TEXT.")
    return targets


def deliver(release: Release, data: flags.Data, targets: Mapping[str, Any]) -> None:
    """Write the files, unless a finding blocks them, and print the report."""
    if targets["against"] is not None:
        with working("Comparing with the earlier release"):
            release = compare_with(release, targets["against"])
    if targets["accept"]:
        release = release.accept(*targets["accept"], reason=targets["reason"])
    out, findings, protected = targets["out"], [*release.findings], b""
    if out is not None:
        protected, check = release.export(PurePath(out).name, like=data.read)
        findings.insert(0, check)
    stops = [each for each in findings if each.level == "stop" and each not in release.report.accepted]
    written = _target_files(targets) if out is not None and not stops else []
    if written:
        write_files({out: protected} | _recipe_and_reports(release, data, targets, protected), force=targets["force"])
    if targets["as_json"]:
        report = release.report.to_dict() | {"findings": [vars(each) for each in findings]}
        print_json({"notice": FOR_STEWARD, "written": written, **report})
    else:
        click.echo(release.report.summary())
        of_file = [each for each in findings if each.code == "bytes" and each.level == "warn"]
        _print_warnings([*of_file, *release.report.warnings])
    if stops:
        _print_stops(stops, blocked=out is not None)
    if written and not targets["as_json"]:
        _print(f"Written: {', '.join(written)}")
    if out is not None and stops:
        click.get_current_context().exit(FAILS)


def _print_warnings(findings: Iterable[Finding]) -> None:
    """Print warnings, and findings that were accepted."""
    for finding in findings:
        _print(finding.text if finding.code == "accepted" else f"Warning: {finding.text}")


def _print_stops(stops: Iterable[Finding], *, blocked: bool = True) -> None:
    for finding in stops:
        acceptable = CHECKS[finding.code].acceptable
        advice = f" (to release despite it, add --accept {finding.code} and --reason TEXT)" if acceptable else ""
        _print(f"Problem: {finding.text}{advice}")
    if blocked:
        _print("Nothing was written.")


def _target_files(targets: Mapping[str, Any]) -> list[str]:
    return [targets[name] for name in _FILES if targets[name] is not None]


def _recipe_and_reports(
    release: Release, data: flags.Data, targets: Mapping[str, Any], protected: bytes
) -> dict[str, bytes]:
    files = {}
    if targets["recipe"] is not None:
        files[targets["recipe"]] = recipe_text(release.recipe)
    reports = [name for name in ("report", "steward_report") if targets[name] is not None]
    if not reports:
        return files
    origin = dict(data.origin)
    if "file" in origin:
        # The report is passed on, so it has no folders.
        origin["file"] = PurePath(origin["file"]).name
    with working("Writing the report"), tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"
        contents: dict[str, Any] = {"file": protected, "file_name": PurePath(targets["out"]).name, "origin": origin}
        notices = () if data.read is None else tuple(notice.text for notice in data.read.done)
        contents |= {"read": notices, "assessment": release.assess()}
        for name in reports:
            release.to_html(path, **contents, for_steward=name == "steward_report")
            files[targets[name]] = path.read_bytes()
    return files


def recipe_text(recipe: Mapping[str, Any]) -> bytes:
    """Text of a recipe file."""
    return json.dumps(recipe, indent=2, ensure_ascii=False).encode()
