"""The release of the choices, its risk and its loss: Choose k and Release have their figures from here."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import streamlit as st

from microagg import ConstantColumnWarning, DataError, MicroaggError, Release
from microagg.release import Assessment, Figure, Finding, compare_with, plan, read_earlier
from microagg.release.predicted_linkage import Models
from microagg.release.prepare import prepare
from microagg.tables import digest_array, digest_bytes
from microagg.validation import quoted
from pages.shared import certificate, columns, jobs, limits, methods, state
from pages.shared.limits import Verdict
from pages.shared.workspace import Workspace

#: The earlier release that the session holds: name and content, by the identity of its table.
EARLIER = "earlier_release"

_SEEDS = "seeds_of_orders"

# How a result is computed once: jobs.once draws the progress, jobs.background does not.
Once = Callable[..., Any]

# The arguments ``statistic`` and ``categories`` of :func:`microagg.microaggregate` for each statistic of the page.
_STATISTICS = {
    "mean": ("mean", "ancestor"),
    "median": ("median", "ancestor"),
    "ancestor": ("generalize", "ancestor"),
    "set": ("generalize", "set"),
}


def statistic(workspace: Workspace) -> str:
    """Return the statistic of a group, as :attr:`Choices.statistic`: by default means of numbers, else ranges."""
    return state.current().release.statistic or ("mean" if workspace.is_numeric else "ancestor")


def arguments(workspace: Workspace) -> dict[str, Any]:
    """Return all choices as arguments of :func:`microagg.microaggregate`; DataError if a search's partition is missing."""
    choices = state.current()
    how, categories = _STATISTICS[statistic(workspace)]
    rounding = "none" if choices.release.exact else "file"
    values = {"k": choices.k, "statistic": how, "categories": categories, "rounding": rounding}
    options = columns.arguments(workspace.table) | columns.guarantees(workspace.table) | choices.options() | values
    # The table already has numbers where text was read as numbers to be recoded.
    options |= {name: value | options.get(name, {}) for name, value in workspace.table.recoding.items()}
    name = methods.chosen(workspace)
    if name != state.FOUND:
        method = methods.method(workspace, name)
        return options | {"method": method.key, "polish": method.polish, "method_params": method.params}
    best = certificate.best(workspace, choices.k)
    if best is None:
        raise DataError(
            f"no search has been made at k = {choices.k} in this session: search on the page Choose k, or choose a method."
        )
    if workspace.is_sample:
        raise DataError(
            "the search was made on a sample, so its groups are not those of the file: compare all records."
        )
    return options | {"method": best.method.key, "labels": best.partition.labels}


def identity(workspace: Workspace) -> Hashable:
    """Return what tells this release from others; errors as :func:`arguments`."""
    options = arguments(workspace)
    texts = {name: digest_array(value) if isinstance(value, np.ndarray) else value for name, value in options.items()}
    return workspace.table.identity, digest_bytes(repr(sorted(texts.items())).encode("utf-8", "replace"))


def release_of(workspace: Workspace, identity: Hashable, once: Once = jobs.once) -> Release | None:
    """Return the release of all complete records; None until it is made."""
    frame, options = workspace.table.original.frame, arguments(workspace)
    if options["shuffle"]:  # in the same order whenever this session makes it
        seed = st.session_state.setdefault(_SEEDS, {}).setdefault(identity, np.random.SeedSequence())
        options["shuffle"] = seed.entropy if options["shuffle"] == "recorded" else seed
    work, n = partial(make, frame, options, jobs.results().models), workspace.n_complete
    release = once("release", identity, [options["method"]], "Grouping all records", work, n)
    return None if release is None else _with_bound(workspace, release)


def _with_bound(workspace: Workspace, release: Release) -> Release:
    """Return the release with the highest lower bound of a search if its own is lower, as Choose k has it."""
    report, searched = release.report, certificate.certificates(workspace)
    loss, is_comparable = report.measured, (report.measure == "IL") == workspace.is_numeric and not workspace.is_sample
    bound = max((each.bound.information_loss for k, each in searched.items() if k <= report.k), default=0.0)
    if loss.lower_bound is None or bound <= loss.lower_bound or not is_comparable:
        return release
    raised: Any = replace(loss, lower_bound=bound)
    numbers, categories = (raised, None) if loss is report.loss else (report.loss, raised)
    return replace(release, report=replace(report, loss=numbers, generalization=categories))


def make(frame: pd.DataFrame, options: dict[str, Any], models: Models) -> Release:
    """Return the release of ``frame`` with these arguments of :func:`microagg.microaggregate`."""
    # The report says it. Not within catch_warnings: jobs run in threads, and one that ends would undo what others ignore.
    warnings.simplefilter("ignore", ConstantColumnWarning)
    return plan.make(replace(prepare(frame, plan.Plan.checked(**options)), models=models), frame)


def with_earlier(
    workspace: Workspace, release: Release, identity: Hashable, once: Once = jobs.once
) -> tuple[Release | None, Hashable]:
    """Return the release compared with the earlier one that the session holds, if any, and its identity.

    If they cannot be compared, the reason blocks the release. None until they are.
    """
    held = _held(workspace)
    if held is None:
        return release, identity
    name, content = held

    def compare() -> Release:
        try:
            return compare_with(release, read_earlier(content, name))
        except MicroaggError as error:
            finding = Finding("stop", "releases", (), f"The earlier release cannot be compared: {error}")
            return replace(release, report=replace(release.report, findings=(*release.report.findings, finding)))

    of, keys = (identity, name, digest_bytes(content)), [release.recipe["method"] or "mdav-star"]
    return once("earlier", of, keys, "Comparing with the earlier release", compare, workspace.n_complete), of


def _held(workspace: Workspace) -> tuple[str, bytes] | None:
    """Return name and content of the earlier release; None without one."""
    held: tuple[str, bytes] | None = st.session_state.get(EARLIER, {}).get(workspace.table.identity)
    return held


def _assessed(release: Release, identity: Hashable) -> Hashable:
    """Return what tells an assessment from others: its sentences have the lower bound, which a search raises."""
    return identity, release.report.measured.lower_bound


def measured(release: Release, identity: Hashable) -> Assessment | None:
    """Return the assessment of a release if it is there."""
    assessments = jobs.results().outcomes.get("assessment")
    return assessments.get(_assessed(release, identity)) if assessments else None


def measure(workspace: Workspace, release: Release, identity: Hashable, once: Once = jobs.once) -> Assessment | None:
    """Return the assessment of a release; None until it is measured."""
    keys, n = [release.recipe["method"] or "mdav-star"], workspace.n_complete
    return once("assessment", _assessed(release, identity), keys, "Measuring risk and data quality", release.assess, n)


def worst(figures: Sequence[Figure]) -> Figure:
    """Return the figure of the highest risk or the lowest quality among those of one measure."""
    sign = 1.0 if figures[0].measure.better == "low" else -1.0
    return max(figures, key=lambda figure: sign * figure.after)


def judge(subject: str, release: Release, assessment: Assessment | None) -> Verdict:
    """Judge a release by its loss and by the risk whose limit is set on Choose k, unknown until it is measured."""
    acceptable, loss = limits.current(), release.report.measured.information_loss
    if not acceptable.by_k:
        if assessment is None:
            return Verdict(subject, None, loss, acceptable)
        if figures := assessment.of(acceptable.measure):
            highest = worst(figures)
            # On Choose k less is better.
            risk = highest.after if highest.measure.better == "low" else 1 / highest.after
            return Verdict(subject, 100 * risk, loss, acceptable)
        acceptable = limits.Limits(loss=acceptable.loss)  # no column has what the limit is about
    return Verdict(subject, 100 * release.report.highest_risk, loss, acceptable)


class Cause(NamedTuple):
    """What decides the risk of a release: the groups, or what ``raises`` it, such as a prediction of ``columns``."""

    sentence: str
    raises: bool = False
    columns: tuple[Hashable, ...] = ()


def cause(release: Release, verdict: Verdict) -> Cause:
    """Return what decides the risk of a release: its groups, an earlier release, or a prediction; and what cures it."""
    risk, joint, acceptable = release.report.risk, release.report.joint, verdict.limits
    if verdict.risk is None or not acceptable.by_k:
        return Cause("")
    of_groups = 100 * risk.of_classes
    if limits.is_within(verdict.risk, of_groups):
        k, n = acceptable.smallest_k, len(release.partition.labels)
        return Cause(f"Groups of at least {k:,} records would meet it{f', but there are only {n:,}' if k > n else ''}.")
    raised = f"raises it from {limits.written(of_groups, acceptable.risk)}"
    if joint is not None and limits.is_within(verdict.risk, 100 * joint.of_classes):
        return Cause(f"The earlier release {raised}.", raises=True)
    names = max(risk.predicted, key=lambda predicted: predicted.highest).columns
    them = "them" if len(names) > 1 else "it"
    advice = f"leave {them} out or protect {them} too"
    return Cause(f"The quasi-identifiers predict {quoted(names)}, which {raised}: {advice}.", True, names)


def unprotected(workspace: Workspace) -> list[Hashable]:
    """Return the columns that are released as they are, so that their values may raise the risk that k decides."""
    schema = workspace.schema
    protected = {*schema.quasi_identifiers, *schema.strata, *schema.identifiers}
    return [name for name in workspace.frame.columns if name not in protected]


def in_background(workspace: Workspace) -> tuple[Release, Verdict] | None:
    """Return the release of the choices and its verdict, as Release has them; start to make it if need be.

    None until it is made, and if it cannot be made, which Release explains. None for a benchmark whose columns are all
    protected, too: the figures of its stored partitions need no release.
    """
    if workspace.benchmark is not None and not unprotected(workspace) and _held(workspace) is None:
        return None
    try:
        of = identity(workspace)
    except MicroaggError:
        return None
    release = release_of(workspace, of, jobs.background)
    if release is not None:
        release, of = with_earlier(workspace, release, of, jobs.background)
    if release is None:
        return None
    assessment = None if limits.current().by_k else measure(workspace, release, of, jobs.background)
    verdict = judge("The release", release, assessment)
    return None if verdict.risk is None else (release, verdict)


def is_under_way() -> bool:
    """Whether :func:`in_background` is making something."""
    return any(job.running for kind, job in jobs.results().jobs.items() if kind in ("release", "earlier", "assessment"))
