"""The promise of a release, its risk, its loss and what stands against it, in a sentence or two for lay people."""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping
from pathlib import Path, PurePath
from typing import Any

import pandas as pd

from microagg.errors import DataError, ParameterError
from microagg.optimum.formatting import percent
from microagg.release import recipe as recipes
from microagg.release.assessment import Assessment, Figure
from microagg.release.choices import OPTIONS
from microagg.release.released import Released
from microagg.release.report.choices import choices, stand_ins
from microagg.release.report.comparing import compared
from microagg.release.report.report import Report
from microagg.release.script import script
from microagg.tables import digest_bytes
from microagg.validation import counted, plain, shortened


def promise(report: Report, assessment: Assessment | None) -> dict[str, str]:
    """Return what is promised, what remains of the risk, what is lost and what stands against it, as sentences."""
    return {
        "promise": _promised(report),
        "risk": _risk(report, assessment),
        "loss": _lost(report),
        "against": _against(report),
    }


def _promised(report: Report) -> str:
    realized = report.risk.realized_k
    strata = " and strata" if report.risk.strata else ""
    return (
        "Nobody in this release stands out by what others are taken to know of a person: each combination of released "
        f"quasi-identifiers{strata} is shared by at least {counted(realized, 'record')}. This was counted on the "
        f"release itself; k = {report.k:,} was asked for."
        if realized > 1
        else f"k = {report.k:,} was asked for, so nothing is promised: records may be alone with their released "
        f"quasi-identifiers{strata}."
    )


def _risk(report: Report, assessment: Assessment | None) -> str:
    realized = report.risk.realized_k
    said = [
        "Somebody who knows the true quasi-identifiers of a person, and nothing else, picks the right record with a "
        f"probability of at most 1 in {realized:,} ({percent(100.0 / realized)})."
    ]
    figures = [] if assessment is None else assessment.of("homogeneous")
    if figures:
        worst = max(figures, key=lambda figure: figure.after)
        said.append(
            f"A second danger is that all who share these attributes share a secret, too. {worst.sentence}"
            if worst.after > 0.0
            else "Nor do these attributes tell a confidential value for certain: those who share them have several."
        )
    return " ".join(said)


def _lost(report: Report) -> str:
    if report.loss is not None:
        said = (
            f"Released values lose {percent(report.loss.information_loss)} of the spread of these attributes, by which "
            f"records differ{_no_less(report.k, report.loss.lower_bound)}."
        )
        if (common := report.generalization) is None:
            return said
        least = _no_less(report.k, common.lower_bound)
        return f"{said} With categories counted too, {percent(common.information_loss)} is lost{least}."
    common = report.generalization
    assert common is not None  # a release has numbers, or measures what groups have in common
    return (
        f"Released values lose {percent(common.information_loss)} of the detail of these attributes"
        f"{_no_less(report.k, common.lower_bound)}: 0 % would leave them as they were, 100 % would leave nothing."
    )


def _no_less(k: int, least: float | None) -> str:
    """Return what no release could lose less than, in percent, in brackets; empty where that is not known."""
    return "" if least is None else f" (no release in groups of at least {k:,} could lose less than {percent(least)})"


def _against(report: Report) -> str:
    """Return how many findings say that the file should not be released like this; empty if none does."""
    stops = [finding for finding in report.findings if finding.level == "stop"]
    overridden = [finding for finding in stops if finding in report.accepted]
    left = len(stops) - len(overridden)
    said = []
    if left:
        says = "says" if left == 1 else "say"
        said.append(
            f"{counted(left, 'finding')} of the checklist (section 6) {says}: do not release the file like this."
        )
    if overridden:
        that = ", which says" if len(overridden) == 1 else ", which say"
        codes = ", ".join(dict.fromkeys(finding.code for finding in overridden))
        said.append(
            f"The file is released in spite of {counted(len(overridden), 'finding')} ({codes}){that} not to, for this "
            f"reason: {report.reason.removesuffix('.')}."
        )
    return " ".join(said)


# What the report on a release says, as JSON can hold it; the document is made of nothing else.
#
# It will be passed on, so no value of the original file stands in it that the release does not hold: no digests of
# originals, no labels of records left out, no values that gaps were filled with, and no categories of a recipe.

# Of more columns in one role the report names so many.
_MOST_NAMES = 60

# The roles in the order of the report, by their key in a recipe: what they are called, and what they are for.
_ROLES = {
    "quasi_identifiers": "Quasi-identifiers: others may know them of a person",
    "confidential": "Confidential attributes: what the release is about",
    "by": "Strata: groups stay within their values",
    "weights": "Weights of the records",
    "others": "Other columns: neither known to others nor confidential",
    "undeclared": "Columns about which nothing was decided",
    "identifiers": "Identifiers: they name a person",
}


def contents(
    release: Released,
    *,
    assessment: Assessment | None = None,
    comparison: pd.DataFrame | None = None,
    file: str | os.PathLike[str] | bytes | None = None,
    file_name: str = "",
    title: str = "",
    prepared_by: str = "",
    prepared_on: str = "",
    origin: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return what the report says; see :meth:`microagg.Release.to_html` for the parameters.

    Raises
    ------
    DataError
        If ``file`` cannot be read, or ``comparison`` lacks a column or has other than numbers there.
    ParameterError
        If ``assessment`` is none.
    """
    if assessment is not None and not isinstance(assessment, Assessment):
        raise ParameterError(f"assessment must be what Release.assess returns, not {type(assessment).__name__}.")
    known = _file(file, file_name)
    found = {
        "title": title or (f"Release of {known['name']}" if known and known["name"] else "Release of a protected file"),
        "prepared": {"by": prepared_by, "on": prepared_on},
        "file": known,
        "columns": _columns(release),
        "promise": promise(release.report, assessment),
        "report": _report(release),
        "comparison": None if comparison is None else compared(comparison, release),
        "assessment": None if assessment is None else _assessment(assessment),
        "choices": [{"what": what, "how": how} for what, how in choices(release.recipe, release.report)],
        "versions": dict(release.recipe["versions"]) | {"Python": platform.python_version()},
        "program": _program(release, known, origin),
        "measures": [] if assessment is None else _measures(assessment),
    }
    finite: dict[str, Any] = _finite(plain(found))
    return finite


def _file(file: str | os.PathLike[str] | bytes | None, name: str) -> dict[str, Any] | None:
    if file is None:
        return {"name": name, "bytes": None, "sha256": None} if name else None
    if isinstance(file, bytes):
        data = file
    else:
        name = name or PurePath(file).name
        try:
            data = Path(file).read_bytes()
        except OSError as error:
            raise DataError(f"the released file {os.fspath(file)!r} cannot be read: {error.strerror}.") from None
    return {"name": name, "bytes": len(data), "sha256": digest_bytes(data)}


def _columns(release: Released) -> list[dict[str, Any]]:
    """Return the columns by their role, and what became of them."""
    known = recipes.choices(release.recipe)
    roles = {role: _as_list(known.get(role)) for role in _ROLES} | {"undeclared": release.report.undeclared_columns}
    confidential = list(roles["confidential"])
    roles["confidential"] = confidential + [name for name in _as_list(known["classes"]) if name not in confidential]
    found, seen = [], set()
    for role, words in _ROLES.items():
        names = [name for name in roles[role] if name not in seen]
        seen.update(names)
        # Quasi-identifiers have a row for each way in which they are replaced.
        fates = {"released as they are": names} if names else {}
        if role == "quasi_identifiers":
            fates = {f"replaced by {words}": replaced for words, replaced in stand_ins(known).items()}
        for fate, names in fates.items():
            if role == "weights" and release.report.release_weights == "mean":
                fate = "replaced by the mean weight of their group"
            if not set(names) & set(release.to_pandas().columns):
                fate = "left out"
            shown = [shortened(plain(name), 80) for name in names[:_MOST_NAMES]]
            found.append({"role": words, "fate": fate, "n": len(names), "columns": shown})
    return found


def _as_list(given: Any) -> list[Any]:
    return [] if given is None else list(given) if isinstance(given, (list, tuple)) else [given]


def _report(release: Released) -> dict[str, Any]:
    found = release.report.to_dict()
    del found["dropped"]
    for filled in found["filled"]:
        del filled["value"]
    return found


def _assessment(assessment: Assessment) -> dict[str, Any]:
    """Return risks and utility, those that are nearest to the worst they can be first."""
    table = assessment.to_dict()
    figures = sorted(
        zip(assessment.figures, table["figures"], strict=True), key=lambda own: badness(own[0]), reverse=True
    )
    ordered = [row | {"title": figure.measure.title} for figure, row in figures]
    return table | {"figures": ordered}


def badness(figure: Figure) -> float:
    """Return how near a figure is to the worst that it can be, from 0 to 1; without a worst, 1 is never reached."""
    low, high = figure.measure.bounds
    unit = 100.0 if figure.measure.unit == "percent" else 1.0
    value = figure.after / unit
    if figure.measure.better == "high":
        # Such are at best infinite, or a share of what the originals allow, of which all is the best.
        return min(max(1.0 - value, 0.0), 1.0) if figure.measure.unit == "share" else 1.0 / max(value, 1.0)
    if math.isinf(high):
        return min(max(value, 0.0), 1.0) if figure.measure.unit in ("share", "percent") else value / (1.0 + value)
    return (value - low) / (high - low)


def _measures(assessment: Assessment) -> list[dict[str, Any]]:
    measures = {figure.measure.key: figure.measure for figure in assessment.figures}
    return [vars(measure) | {"bounds": list(measure.bounds)} for measure in measures.values()]


def _program(release: Released, file: Mapping[str, Any] | None, origin: Mapping[str, Any] | None) -> dict[str, str]:
    """Return the program that makes the release again, and what is to be said of it."""
    recipe = release.recipe
    given: dict[str, Any] = dict(origin) if origin else {"file": "original.csv"}
    if (given.get("reading") or {}).get("missing"):
        says = "The program names values of the original file, so it is kept with it: Release.script writes it."
        return {"says": says, "text": ""}
    # These hold values of the original file, or what undoes the random order.
    secret = any(recipe.get(own.name) for own in OPTIONS if own.counted)
    secret = secret or recipe.get("shuffle") is not None
    out = file["name"] if file and file["name"] else None
    text = script(recipe, **given, out=out, by_recipe=secret)
    says = "" if origin else "“original.csv” stands for the original file. "
    if "replay(" in text:
        says += (
            "It reads the recipe from a file of its own, which is kept with the original, as it may hold values of it, "
            "or what would undo the random order."
        )
    return {"says": says.strip(), "text": text}


def _finite(value: Any) -> Any:
    """Return ``value`` with None in place of infinities and of what is no number, which JSON does not know."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
