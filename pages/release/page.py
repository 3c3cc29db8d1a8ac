"""Release: the verdict with the files, problems with their remedies, and what the release risks and keeps."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from microagg import Release
from microagg.release import Finding, guarantees
from pages.release import before_after, checks, files
from pages.shared import certificate, columns, jobs, limits, methods, recodings, released, shell, state
from pages.shared.measures import RISKS
from pages.shared.text import count, describe_released, escape_markdown, sentence
from pages.shared.workspace import Workspace, chosen_workspace

_RANGES = {"text": "Text", "columns": "Two columns", "middle": "Their middle"}
_STATISTICS = {"mean": "Mean", "median": "Median", "ancestor": "Range or common ancestor", "set": "Range or set"}


def body() -> None:
    workspace = chosen_workspace()
    card, below = st.container(), st.container(key="checks")
    with st.expander("Options: values of a group, guarantees beyond k, earlier release", key="release_options"):
        _values(workspace)
        _beyond_k(workspace)
        files.choose_earlier(workspace)
    with card:
        identity = released.identity(workspace)
        release = released.release_of(workspace, identity)
        if release is None:
            if state.current().k > certificate.most_k(workspace):
                st.button("Choose another k →", on_click=shell.lead_to, args=("choose_k",))
            return
        data, counted = files.written(identity, files.released_name(workspace), release, workspace.table.read)
        release, identity = released.with_earlier(workspace, release, identity)
        if release is None:
            return
    # It waits a moment for the figures, or else the page is drawn twice.
    measured = released.measure(workspace, release, identity, partial(jobs.once, draws=False))
    verdict = released.judge("The release", release, measured)
    findings = checks.all_findings(workspace, release, counted, verdict)
    accepted = checks.accepted(release, identity)
    compared = files.compared(workspace)
    contents = files.contents(workspace, compared, accepted, measured, findings, data)
    with card, st.container(border=True, key="verdict"):
        left, right = st.columns(2, gap="medium", vertical_alignment="bottom")
        with left:
            _verdict(workspace, release, findings, counted, verdict, identity)
        with right:
            ready = not checks.problems(findings, identity)
            with st.container(horizontal=True, key="files"):
                files.show(workspace, accepted, data, ready=ready)
                files.offer(workspace, contents)
                files.recipe_button(workspace, accepted.recipe)
            if data:
                files.show_renamed(accepted)
    with below:
        checks.show(workspace, findings, identity)
    before_after.risk_and_quality(workspace, release, identity)
    if measured is None and released.measured(release, identity):
        st.rerun()  # the verdict and the report have what was measured
    before_after.show(workspace, release, identity, measured)
    st.header("Further files", anchor=False)
    files.offer(workspace, contents, for_steward=True)
    with st.expander("Report in words"):
        st.markdown("\n".join(f"- {escape_markdown(line)}" for line in accepted.report.summary().splitlines()))
    files.program(workspace, accepted)
    if measured:
        files.compute(workspace, compared)
        if contents is None and files.is_computed(workspace, compared):
            st.rerun()


def _verdict(
    workspace: Workspace,
    release: Release,
    findings: Sequence[Finding],
    counted: Finding,
    verdict: limits.Verdict,
    identity: Hashable,
) -> None:
    """Draw whether the file can be released, with k, risk, loss and records, each once."""
    st.header(checks.headline(findings, identity), anchor=False)
    n, dropped = workspace.n_complete, workspace.source.n_dropped
    realized, k = release.report.risk.realized_k, state.current().k
    with st.container(horizontal=True, gap="medium", key="verdict_figures"):
        of = "not met" if counted.level == "stop" else "counted" if realized == k else f"counted; {k:,} chosen"
        _figure("k", f"{realized:,}", of, met=counted.level == "ok", message=sentence(counted.text))
        name = limits.risk_name(verdict.limits)
        message = before_after.RISK if verdict.limits.by_k else RISKS[verdict.limits.measure].meaning
        _limited(f"{name[:1].upper()}{name[1:]}", verdict.risk, verdict.limits.risk, verdict.meets_risk, message)
        message = f"{release.report.measure} of the released quasi-identifiers."
        _limited("Loss", verdict.loss, verdict.limits.loss, verdict.meets_loss, message)
        left_out = f"{count(dropped, 'record')} with missing values left out." if dropped else None
        _figure("Records", f"{n:,}", f"of {n + dropped:,}" if dropped else "all", message=left_out)
    _compare(workspace, release)


def _limited(label: str, value: float | None, limit: float, is_met: bool, message: str) -> None:
    """Draw a figure in percent with its limit; None if it is not measured yet."""
    if value is None:
        _figure(label, "…", "being measured")
    else:
        met = None if limit == limits.NONE else is_met
        _figure(label, limits.written(value, limit), limits.in_words(limit), met=met, message=message)


def _figure(label: str, value: str, note: str, *, met: bool | None = None, message: str | None = None) -> None:
    """Draw a figure with a note below it: green if it is ``met``, orange if not, gray without a limit."""
    color: Any
    color, icon = {True: ("green", "✓ "), False: ("orange", "⚠ "), None: ("gray", "")}[met]
    st.metric(label, value, f"{icon}{note}", delta_color=color, delta_arrow="off", help=message, width="content")


def _compare(workspace: Workspace, release: Release) -> None:
    """Say by which loss methods are compared if it is another one; offer the best known partition if its loss is lower."""
    if workspace.is_sample or workspace.requested:
        return
    k, name = state.current().k, methods.chosen(workspace)
    best = certificate.best(workspace, k)
    if name == state.FOUND and best is not None:
        loss = best.information_loss
    elif (runs := certificate.rows(workspace, {methods.method(workspace, name): name}, [k])).empty:
        return
    else:
        loss = runs["information_loss"][0]
    if text := describe_released(loss, release.report.measured.information_loss, release.report.measure):
        st.caption(escape_markdown(text))
    if best is not None and best.information_loss < loss * (1 - certificate.ROUNDING):
        label = methods.offer(state.FOUND, best.information_loss, loss)
        st.button(label, on_click=state.update, kwargs={"method": state.FOUND}, key="take_best", wrap=True)


def _values(workspace: Workspace) -> None:
    statistic = released.statistic(workspace)
    message = (
        "Mean or median of numbers and dates, the middle one of ordered categories, the most frequent one of others. Or "
        "what the records of a group have in common: [30, 45] and Blue collar, or {Craft-repair, Sales}."
    )
    label = "Values of a group become their"
    state.either(label, "statistic", _STATISTICS, selected=statistic, wrap=True, help=message)
    if statistic in ("mean", "median"):
        message = (
            "Off: means have as many decimals as the file, and integers stay integers. k is counted after rounding."
        )
        state.bound(st.toggle, "Keep all digits", "exact", help=message)
    else:
        message = (
            "Ranges of numbers and dates: as text such as [30, 45], as two columns of numbers such as age_lower and "
            "age_upper, or as the middle of the range, 37.5."
        )
        state.either("Ranges are written as", "ranges", _RANGES, help=message)
    if shuffle := state.current().release.shuffle:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button("Keep the row order of the file", on_click=state.update, kwargs={"shuffle": None})
            message = (
                "The recipe then holds the seed of the row order: anyone who has it can restore the order of the file."
            )

            def record(on: bool) -> None:
                state.update(shuffle="recorded" if on else True)

            state.tied(st.toggle, "Record the row order", "w_recorded", shuffle == "recorded", record, help=message)
    recodings.show(workspace.table)


def _beyond_k(workspace: Workspace) -> None:
    """Draw the guarantees for confidential columns in each class, beyond k."""
    names = columns.confidential(workspace.table)
    if not names:
        return
    requested = columns.guarantees(workspace.table)
    st.markdown("**Guarantees beyond k**")
    st.caption(
        "All records of a group may have the same confidential value: finding a person's group then reveals it. Groups "
        "without the guarantee are merged, which raises the loss; Least loss forms groups that have it, at a lower loss."
    )
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox("Confidential column", names, key="w_guaranteed", width=230)
        limit, t = (requested.get(option, {}).get(name) for option in ("diversity", "closeness"))
        distinct, entropy = (None, limit[1]) if isinstance(limit, tuple) else (limit, None)
        message = "Distinct l-diversity: each class has at least this number of values of the column."
        _limit("Distinct values, at least", "distinct", name, distinct, message, min_value=1, step=1)
        message = (
            "Entropy l-diversity: the values of each class are as diverse as this number of equally frequent ones. It "
            "replaces distinct values."
        )
        how: dict[str, Any] = {"min_value": 1.0, "step": 0.1, "format": "%g"}
        _limit("Equally frequent values, at least", "entropy", name, entropy, message, **how)
        message = (
            "t-closeness: the earth mover's distance of the values of a class from those of all records, from 0, the "
            "same, to 1; of numbers, dates and ordered categories by their ranks."
        )
        how = {"min_value": 0.0, "max_value": 1.0, "step": 0.05, "format": "%g"}
        _limit("Distance from all records, at most", "closeness", name, t, message, **how)
    if requested:
        st.caption(f"Requested: {escape_markdown(guarantees.describe(guarantees.requested(**requested)))}.")


def _limit(label: str, rule: str, name: str, value: float | None, message: str, **bounds: Any) -> None:
    """Draw the field of a limit by a rule of :class:`microagg.release.guarantees.Guarantee`; empty for none."""
    option = "closeness" if rule == "closeness" else "diversity"

    def take(entered: float | None) -> None:
        state.guarantee(option, name, ("entropy", entered) if rule == "entropy" and entered is not None else entered)

    how = {"value": None, "placeholder": "none", "help": message, "width": 230}
    state.tied(st.number_input, label, f"w_{rule}", value, take, **how, **bounds)


shell.show(body)
