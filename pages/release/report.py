"""The risk and the data quality of a release, the report on it, and what it reveals together with an earlier one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import MicroaggError, Release
from microagg.metrics.risk import uniqueness
from microagg.optimum.formatting import in_unit
from microagg.release import Assessment, Figure, Finding, compare_with, read_earlier
from microagg.release.report.document import document
from microagg.tables import ENDINGS
from pages.release import making
from pages.shared import certificate, jobs, limits, methods, state, theme
from pages.shared.figures import download, finish, show_figure, show_table
from pages.shared.text import escape_markdown, percent
from pages.shared.workspace import Workspace

#: The figures that are open, by part, in this order; the others fold. The verdict has the risk and the loss.
_FIRST = {
    "risk": ("record_linkage", "predicted_linkage", "homogeneous", "population_uniques"),
    "utility": ("correlation_change", "prediction", "pmse", "hellinger"),
}
_TITLES: dict[Literal["risk", "utility"], str] = {"risk": "Risk", "utility": "Data quality"}

#: The meaning of the risk that k decides.
RISK = "The largest probability with which an intruder who knows the true quasi-identifiers picks the right record."


def measured(release: Release, identity: Hashable) -> Assessment | None:
    """Return the assessment of a release if it is there."""
    outcome: Assessment | None = jobs.outcome("assessment", (identity, *_questions_of(release)))
    return outcome


def _measure(workspace: Workspace, release: Release, identity: Hashable) -> Assessment | None:
    """Return the assessment of a release; until it is measured, show the progress and return None."""
    target, fraction = _questions_of(release)
    of, keys, n = (identity, target, fraction), [release.recipe["method"] or "mdav-star"], workspace.n_complete
    make = partial(release.assess, target=target, sampling_fraction=fraction)
    return jobs.once("assessment", of, keys, "Measuring risk and data quality", make, n)


def _questions_of(release: Release) -> tuple[Hashable | None, float | None]:
    population = state.current().release.population
    return _target(release), population / 100.0 if 0.0 < population < 100.0 else None


@dataclass(frozen=True)
class Judged:
    """The risk and the loss of a release in percent, with their limits; no risk until it is measured."""

    risk: float | None
    loss: float
    limits: limits.Limits


def judge(release: Release, assessment: Assessment | None) -> Judged:
    """Return the risk that counts on Choose k and the loss, as the largest of the release, with their limits."""
    acceptable, loss = limits.current(), release.report.measured.information_loss
    if not acceptable.by_k and (assessment is None or (figures := assessment.of(acceptable.measure))):
        if assessment is None:
            return Judged(None, loss, acceptable)
        worst = _worst(figures)
        # On Choose k less is better.
        return Judged(100 * (worst.after if worst.measure.better == "low" else 1 / worst.after), loss, acceptable)
    joint = release.report.joint
    risk = max(release.report.risk.max_reidentification_probability, 0 if joint is None else 1 / joint.smallest)
    limit = acceptable.risk if acceptable.by_k else limits.NONE  # no column has what the limit is about
    return Judged(100 * risk, loss, limits.Limits(limit, acceptable.loss))


def show(workspace: Workspace, release: Release, identity: Hashable) -> None:
    """Draw risk and data quality: what matters most as figures, the rest in folded tables."""
    assessment = _measure(workspace, release, identity)
    if assessment is None:
        return
    for part, title in _TITLES.items():
        figures = assessment.part(part)
        of_key = {key: [figure for figure in figures if figure.measure.key == key] for key in _FIRST[part]}
        first = [_worst(of_measure) for of_measure in of_key.values() if of_measure]
        st.header(title, anchor=False)
        _tiles(first)
        if part == "risk":
            _class_sizes(workspace, release, identity)
        if others := [figure for figure in figures if figure not in first]:
            with st.expander(f"Further figures ({len(others)})", key=f"further_{part}"):
                _table(others)
        if part == "risk" and assessment.without_outliers:
            _outliers(assessment)
    for note in assessment.notes:
        st.caption(escape_markdown(note))
    _questions(release)


def _worst(figures: Sequence[Figure]) -> Figure:
    sign = 1.0 if figures[0].measure.better == "low" else -1.0
    return max(figures, key=lambda figure: sign * figure.after)


def _tiles(figures: Sequence[Figure]) -> None:
    if not figures:
        return
    for column, figure in zip(st.columns(len(figures)), figures, strict=True):
        with column:
            measure, before = figure.measure, figure.before
            title, after = escape_markdown(_title(figure)), in_unit(figure.after, measure.unit)
            delta = None if before is None else f"before: {in_unit(before, measure.unit)}"
            better = "The lower, the better." if measure.better == "low" else "The higher, the better."
            says = f"{escape_markdown(measure.meaning)} {better} {escape_markdown(measure.source)}"
            st.metric(title, after, delta=delta, delta_color="off", delta_arrow="off", help=says)
            st.caption(escape_markdown(figure.sentence))


def _title(figure: Figure) -> str:
    return figure.measure.title + ("" if figure.attribute is None else f": {figure.attribute}")


def _table(figures: Sequence[Figure]) -> None:
    rows = [
        {
            "measure": _title(figure),
            "before": "" if figure.before is None else in_unit(figure.before, figure.measure.unit),
            "released": in_unit(figure.after, figure.measure.unit),
            "sentence": figure.sentence,
            "better": "lower" if figure.measure.better == "low" else "higher",
            "source": figure.measure.source,
        }
        for figure in figures
    ]
    columns = {
        "measure": st.column_config.TextColumn("Measure", pinned=True),
        "before": st.column_config.TextColumn("Before", width="small"),
        "released": st.column_config.TextColumn("Released", width="small"),
        "sentence": st.column_config.TextColumn("What it says", width="large"),
        "better": st.column_config.TextColumn("Better", width="small"),
        "source": "Source",
    }
    show_table(pd.DataFrame(rows), row_height=58, columns=columns)


def class_sizes(shares: pd.DataFrame, starts: Sequence[int], k: int) -> go.Figure:
    """Draw the shares of the records, ``before`` and ``released``, in classes that have from ``starts`` records."""
    ends = [*(start - 1 for start in starts[1:]), None]
    names = [
        "unique" if start == 1 else f"{start:,} or more" if end is None else f"{start:,} to {end:,}"
        for start, end in zip(starts, ends, strict=True)
    ]
    figure = go.Figure()
    for name, color in (("before", theme.NEUTRAL), ("released", theme.BLUE)):
        texts = [percent(share) if share else "" for share in shares[name]]
        look = {
            "marker_color": color,
            "textposition": "outside",
            "hovertemplate": "%{y:.3g} % of the records<extra></extra>",
        }
        figure.add_bar(x=names, y=shares[name], name=name, text=texts, constraintext="none", cliponaxis=False, **look)
    figure.add_vline(x=list(starts).index(k) - 0.5, line={"color": theme.HIGHLIGHT, "width": 1, "dash": "dot"})
    figure.update_xaxes(title=f"records in the class (dotted: k = {k:,})", type="category")
    figure.update_yaxes(title="records (%)", range=(0, 112), tickvals=[0, 50, 100])
    figure.update_layout(bargap=0.3, showlegend=True)
    return finish(figure, 260)


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _sizes(identity: Hashable, _release: Release, _names: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sizes of the equivalence classes before and after."""
    frames = (_release.originals(), _release.frame)
    before, after = (uniqueness(frame, _names).sizes for frame in frames)
    return before, after


def _class_sizes(workspace: Workspace, release: Release, identity: Hashable) -> None:
    """Draw how many records look alike before and after: what k means for a person."""
    k = release.report.k
    before, after = _sizes(identity, release, workspace.schema.quasi_identifiers)
    starts = sorted({1, 2, k, 2 * k})
    shares = {
        name: 100 * np.histogram(sizes, [*starts, np.inf], weights=sizes)[0] / sizes.sum()
        for name, sizes in (("before", before), ("released", after))
    }
    unique = 100 * np.count_nonzero(before == 1) / before.sum()
    title = (
        f"Each record now looks like {int(after.min()) - 1:,} or more others; before, {percent(unique)} of the records "
        "were unique"
    )
    alt = "Share of the records by the number of records with the same quasi-identifiers, before and released."
    figure = class_sizes(pd.DataFrame(shares), starts, k)
    show_figure(figure, title=title, key="class_sizes", alt=alt)


def _outliers(measured: Assessment) -> None:
    with st.expander(f"Records at the highest risk ({len(measured.outliers)})", key="outliers"):
        st.markdown(escape_markdown(measured.without_outliers))
        columns = {
            "record": st.column_config.NumberColumn("Record", help="Its row in the release, from 1.", width="small"),
            "attribute": "Farthest in column",
            "outlyingness": st.column_config.NumberColumn(
                "Away from the median (robust sd)",
                format="%.1f",
                help="1.4826 · median absolute deviation is one; above 3.5 a value is a possible outlier "
                "(Iglewicz & Hoaglin 1993).",
            ),
            "probability": st.column_config.NumberColumn("Linked by distance", format="percent"),
        }
        show_table(measured.outliers, height=300, columns=columns)
        st.caption("Only this page shows this list: no file and no report has it.")


def _questions(release: Release) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = ["", *map(str, release.frame.columns)]
        says = (
            "One model learns to predict this column from the release, another from the originals; both are tested on "
            "originals that neither has seen."
        )
        how: dict[str, Any] = {"options": names, "format_func": lambda name: name or "–", "width": 260, "help": says}
        predicted = "" if _target(release) is None else None
        state.bound(st.selectbox, "Column that users will predict", "predicts", selected=predicted, **how)
        says = (
            "100: the file is the whole population. With less, the share of records that would be unique in the population "
            "is estimated."
        )
        how = {"min_value": 0.01, "max_value": 100.0, "step": 1.0, "format": "%g", "width": 260, "help": says}
        state.bound(st.number_input, "Share of the population in the file (%)", "population", **how)


def _target(release: Release) -> Hashable | None:
    """Return the column to predict, as the release names it; None if it has no such column."""
    named = {str(name): name for name in release.frame.columns}
    return named.get(state.current().release.predicts)


def contents(
    workspace: Workspace, release: Release, identity: Hashable, findings: Sequence[Finding], data: bytes
) -> Callable[..., dict[str, Any]] | None:
    """Return what makes the contents of the report, with ``findings`` as checks; None until all is measured."""
    assessment = measured(release, identity)
    if assessment is None:
        return None
    judged = judge(release, assessment)
    verdict = limits.judge("The release", judged.risk or 0.0, judged.loss, judged.limits)
    stated = {"risk": verdict.risk, "loss": verdict.loss}
    with_limits = tuple(
        replace(finding, text=finding.text.replace("limit.", f"limit: {stated[finding.code]}.", 1))
        if finding.code in stated
        else finding
        for finding in findings
    )
    full = replace(release, report=replace(release.report, findings=with_limits))
    return partial(
        full.to_dict,
        assessment=assessment,
        comparison=_comparison(workspace),
        file=data or None,
        file_name=making.released_name(workspace),
        origin=workspace.table.origin,
        read=workspace.table.done,
        labels=workspace.table.variable_labels,
        prepared_on=date.today().isoformat(),
    )


def offer(workspace: Workspace, contents: Callable[..., dict[str, Any]] | None) -> None:
    """Draw the download of the report to sign."""
    says = (
        "A document to print and sign: what is released, why by this method and k, the risk, the information loss and "
        "the checks. It has no original value that the release does not have, and none follows from it."
    )
    _download("Report", contents, f"{making.file_stem(workspace)}_report.html", says)


def offer_further(workspace: Workspace, contents: Callable[..., dict[str, Any]] | None) -> None:
    """Draw the downloads of the report for programs, and of the one with what the report withholds."""
    stem = making.file_stem(workspace)
    with st.container(horizontal=True):
        _download("Report (JSON)", contents, f"{stem}_report.json", "The report for programs.")
        says = "All figures, also those that the report withholds because they reveal values of single persons."
        full = None if contents is None else partial(contents, for_steward=True)
        _download("Report for the steward only", full, f"{stem}_steward_only.html", says)


def _download(label: str, contents: Callable[..., dict[str, Any]] | None, name: str, says: str) -> None:
    waits = contents is None

    def write() -> str:
        assert contents is not None
        about = contents()
        return document(about) if name.endswith(".html") else making.as_json(about)

    help_ = "It is ready once risk and data quality, below, are measured." if waits else says
    download(label, write, name, disabled=waits, help=help_)


def _comparison(workspace: Workspace) -> pd.DataFrame | None:
    """Return the results of the compared methods for :meth:`microagg.Release.to_html`, with floors; None if none."""
    variants = methods.sweep_methods(workspace, methods.compared(workspace))
    ks = certificate.ks_of_runs(workspace, variants)
    if not ks:
        return None
    table = certificate.with_best(workspace, certificate.rows(workspace, variants, ks), ks)
    floors = {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks) if bound.sse > 0}
    chosen = (table["variant"] == methods.chosen(workspace)) & (table["k"] == state.current().k)
    if "guaranteed" in table:
        table["information_loss"] = table["guaranteed"].where(chosen).fillna(table["information_loss"])
    names = [name for name in ("title", "k", "information_loss", "record_linkage") if name in table]
    return table[names].assign(floor=table["k"].map(floors).astype(float), n_records=workspace.n, chosen=chosen)


# --- an earlier release of the same file --------------------------------------------------------------------------------

_HELD, _FILE = "earlier_release", "w_earlier"


def choose_earlier(workspace: Workspace) -> tuple[str, bytes] | None:
    """Draw the uploader; return name and content of what was uploaded for this table, also after other pages."""
    of = workspace.table.identity
    held: tuple[str, bytes] | None = st.session_state.get(_HELD, {}).get(of)

    def take() -> None:
        file = st.session_state[_FILE]
        st.session_state[_HELD] = {of: (file.name, file.getvalue())} if file else {}

    st.markdown("**Earlier release of this file**")
    st.caption(
        "k holds for each release alone. An intruder who holds two releases can compare the classes of both, and often "
        "fewer than k persons share both. A recipe is exact; a file is matched by its unchanged columns."
    )
    st.file_uploader("Recipe (.json) or released file", type=["json", *ENDINGS], key=_FILE, on_change=take)
    if held:
        st.markdown(f"Compared with {escape_markdown(held[0])}.")
        st.button("Remove the earlier release", on_click=lambda: st.session_state.pop(_HELD))
    return held


def with_earlier(workspace: Workspace, release: Release, of: Hashable, name: str, content: bytes) -> Release | None:
    """Return the release with the joint classes of both counted, or blocked by the reason why they cannot be."""

    def make() -> Release:
        try:
            return compare_with(release, read_earlier(content, name))
        except MicroaggError as error:
            finding = Finding("stop", "releases", (), f"The earlier release cannot be compared: {error}")
            return replace(release, report=replace(release.report, findings=(*release.report.findings, finding)))

    keys = [release.recipe["method"] or "mdav-star"]
    return jobs.once("earlier", of, keys, "Comparing with the earlier release", make, workspace.n_complete)
