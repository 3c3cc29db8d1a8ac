"""Releases of files that do not fit into memory, made in parts by the workers of Dask."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from microagg.cli.data import Data
from microagg.cli.engines import take_engine
from microagg.cli.files import check_targets, write_files
from microagg.cli.group import FAILS
from microagg.cli.printing import print_json
from microagg.cli.progress import finish, say, working
from microagg.cli.releasing import recipe_text, release_arguments, say_warnings, take
from microagg.distributed import LargeRelease, head_of
from microagg.distributed import release as release_in_parts
from microagg.distributed import replay as replay_in_parts
from microagg.errors import ConstantColumnWarning, ParameterError
from microagg.release import Finding

# The codes of findings that a release in parts may have.
_CODES = ("identifiers", "undecided", "unchecked", "gaps", "order", "bytes")

# What a command got that is for other data than files in parts.
_NOT_IN_PARTS = {
    "dataset": "--data names a data set in memory: name Parquet files",
    "data_seed": "--data-seed is for data sets that are generated: leave it out",
    "download": "--download is for data sets: leave it out",
}


class _HeldError(Exception):
    """Findings hold the release up before anything is done."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__(findings)
        self.findings = findings


def run(given: dict[str, Any]) -> None:
    """Do what ``microagg run --engine dask`` got."""
    who = take_engine(given, in_parts=True)
    targets = _targets(given)
    data = _read_head(given)
    chosen = release_arguments(data, given)
    del chosen["engine"]
    block_size = chosen.pop("block_size", None)
    file = data.origin["file"]
    _deliver(partial(release_in_parts, file, chosen, out=targets["out"], block_size=block_size, **who), targets)


def replay(given: dict[str, Any], recipe: Mapping[str, Any]) -> None:
    """Do what ``microagg replay`` got with the ``recipe`` of a release in parts."""
    who = take_engine(given, in_parts=True)
    targets = _targets(given)
    file = _read_head(given).origin["file"]
    _deliver(partial(replay_in_parts, file, recipe, out=targets["out"], **who), targets)


def _read_head(given: dict[str, Any]) -> Data:
    """Return the first records of the files of a command, and take what says where they are out of what it got."""
    for name, instead in _NOT_IN_PARTS.items():
        if given.pop(name):
            raise ParameterError(f"{instead}.")
    if (file := given.pop("file")) is None:
        raise ParameterError("name a Parquet file, or a folder of them.")
    for name in [name for name in given if name.startswith("read_")]:
        if given.pop(name) not in (None, ()):
            raise ParameterError(
                f"--{name.replace('_', '-')} says how other files than Parquet are read: leave it out."
            )
    return Data(head_of(file), {"file": file, "reading": {}}, None)


def _targets(given: dict[str, Any]) -> dict[str, Any]:
    """Take what is to be written out of what a command got, checked before any work is done."""
    targets = take(given)
    if targets["out"] is None:
        raise ParameterError("with --engine dask a release is written to a folder: add --out.")
    if targets["report"] is not None:
        raise ParameterError("a report as HTML is made in memory only: leave --report out; --json has all figures.")
    check_targets([targets["recipe"]], [given["file"], targets["out"]], force=targets["force"])
    if unknown := [code for code in targets["accept"] if code not in _CODES]:
        raise ParameterError(f"there is no finding {unknown[0]!r} of releases in parts: there are {', '.join(_CODES)}.")
    return targets


def _deliver(make: Callable[..., LargeRelease], targets: Mapping[str, Any]) -> None:
    """Make a release in parts, unless something holds it up, and say what it loses."""
    # Where a job is ended Dask leaves tasks behind, of which this would tell at length; what fails is raised.
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    try:
        with working("Starting workers"), warnings.catch_warnings():
            warnings.simplefilter("ignore", ConstantColumnWarning)
            release = make(
                begins=partial(_begins, targets["accept"]), ends=partial(_ends, targets), connected=_connected
            )
    except _HeldError as held:
        for finding in held.findings:
            say(f"Stop: {finding.text} (--accept {finding.code} releases it all the same)")
        say("Nothing was written.")
        click.get_current_context().exit(FAILS)
    except KeyboardInterrupt:
        left = f"{targets['out']}.working"
        if Path(left, "results").exists():
            say(f"The same command goes on where this ended. Until then {left!r} holds original values.")
        raise
    doubtful = {finding.code for finding in release.findings if finding.level != "ok"}
    for code in targets["accept"]:
        if code not in doubtful:
            say(f"Note: there was nothing to accept of {code}.")
    if accepted := [code for code in targets["accept"] if code in doubtful]:
        release = release.accept(*accepted, reason=targets["reason"])
    written = [target for target in (targets["out"], targets["recipe"]) if target is not None]
    if targets["as_json"]:
        print_json({"written": written, **release.report.to_dict()})
    else:
        click.echo(release.report.summary())
        say_warnings(release.report.warnings)
        say(f"Written: {', '.join(written)}")


def _begins(accepted: Sequence[str], findings: tuple[Finding, ...]) -> None:
    if stops := [each for each in findings if each.level == "stop" and each.code not in accepted]:
        raise _HeldError(stops)


def _ends(targets: Mapping[str, Any], release: LargeRelease) -> None:
    """Write the recipe before the release is there, which is not made again to write it; nothing ends this any more."""
    finish()
    if targets["recipe"] is not None:
        write_files({targets["recipe"]: recipe_text(release.recipe).encode()}, force=targets["force"])


def _connected(dashboard: str) -> None:
    if dashboard:
        say(f"Dask's dashboard: {dashboard}")
