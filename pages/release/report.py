"""The risk and the data quality of a release, the report on it, and what it reveals together with an earlier one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg import MicroaggError, Release
from microagg.metrics.risk import uniqueness
from microagg.optimum.formatting import in_unit
from microagg.release import Assessment, Figure, Finding
from microagg.release.report.document import document
from microagg.studies.experiment import Method
from microagg.tables import ENDINGS
from pages.release import making
from pages.shared import certificate, jobs, methods, released, state, theme
from pages.shared.figures import download, finish, show_figure, show_table
from pages.shared.released import EARLIER
from pages.shared.text import escape_markdown, percent
from pages.shared.workspace import Workspace

# The title of each part, and the figures of it that are open; the others fold. The verdict has the risk and the loss.
_PARTS = {
    "risk": ("Risk", ("record_linkage", "predicted_linkage", "homogeneous")),
    "utility": ("Data quality", ("correlation_change", "pmse", "hellinger")),
}

#: The meaning of the risk that k decides.
RISK = "The largest probability with which an intruder who knows the true quasi-identifiers picks the right record."


def show(workspace: Workspace, release: Release, identity: Hashable) -> None:
    """Draw risk and data quality: what matters most as figures, the rest in folded tables."""
    assessment = released.measure(workspace, release, identity)
    if assessment is None:
        return
    for part, (title, keys) in _PARTS.items():
        figures = assessment.part(part)
        first = [released.worst(of_measure) for key in keys if (of_measure := assessment.of(key))]
        st.header(title, anchor=False)
        _draw_tiles(first)
        if part == "risk":
            _class_sizes(workspace, release, identity)
        if others := [figure for figure in figures if figure not in first]:
            with st.expander(f"Further figures ({len(others)})", key=f"further_{part}"):
                _table(others)
    for note in assessment.notes:
        st.caption(escape_markdown(note))


def _draw_tiles(figures: Sequence[Figure]) -> None:
    """Draw figures side by side: the value after the release, the value before, and a sentence."""
    # Streamlit needs at least one column, even if there are no figures.
    for column, figure in zip(st.columns(len(figures) or 1), figures, strict=False):
        measure = figure.measure
        delta = None if figure.before is None else f"before: {in_unit(figure.before, measure.unit)}"
        direction = "lower" if measure.better == "low" else "higher"
        explanation = f"{measure.meaning} The {direction}, the better. {measure.source}"
        with column:
            st.metric(
                escape_markdown(_title(figure)),
                in_unit(figure.after, measure.unit),
                delta=delta,
                delta_color="off",
                delta_arrow="off",
                help=escape_markdown(explanation),
            )
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


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _sizes(identity: Hashable, _release: Release, _names: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """The sizes of the equivalence classes before and after."""
    before, after = (uniqueness(frame, _names).sizes for frame in (_release.originals(), _release.frame))
    return before, after


def _class_sizes(workspace: Workspace, release: Release, identity: Hashable) -> None:
    """Draw the share of the records in classes of each size, before and after: what k means for a person."""
    k = release.report.k
    before, after = _sizes(identity, release, workspace.schema.quasi_identifiers)
    starts = sorted({1, 2, k, 2 * k})
    names = [f"{start:,} to {end - 1:,}" for start, end in itertools.pairwise(starts)] + [f"{starts[-1]:,} or more"]
    figure = go.Figure()
    for name, sizes, color in (("before", before, theme.NEUTRAL), ("released", after, theme.BLUE)):
        shares = 100 * np.histogram(sizes, [*starts, np.inf], weights=sizes)[0] / sizes.sum()
        figure.add_bar(
            x=["unique", *names[1:]],
            y=shares,
            name=name,
            marker_color=color,
            text=[percent(share) if share else "" for share in shares],
            textposition="outside",
            hovertemplate="%{y:.3g} % of the records<extra></extra>",
            constraintext="none",
            cliponaxis=False,
        )
    figure.add_vline(x=starts.index(k) - 0.5, line={"color": theme.HIGHLIGHT, "width": 1, "dash": "dot"})
    figure.update_xaxes(title=f"records in the class (dotted: k = {k:,})", type="category")
    figure.update_yaxes(title="records (%)", range=(0, 112), tickvals=[0, 50, 100])
    figure.update_layout(bargap=0.3, showlegend=True)
    unique = 100 * np.count_nonzero(before == 1) / before.sum()
    title = (
        f"Each record now looks like {int(after.min()) - 1:,} or more others; before, {percent(unique)} of the records "
        "were unique"
    )
    alt = "Share of the records by the number of records with the same quasi-identifiers, before and released."
    show_figure(finish(figure, 260), title=title, key="class_sizes", alt=alt)


def contents(
    workspace: Workspace, release: Release, assessment: Assessment | None, findings: Sequence[Finding], data: bytes
) -> Callable[..., dict[str, Any]] | None:
    """Return what makes the contents of the report, with ``findings`` as checks; None until all is measured."""
    if assessment is None or not is_compared(workspace):
        return None
    verdict = released.judge("The release", release, assessment)
    stated = {"risk": verdict.risk_with_limit, "loss": verdict.loss_with_limit}
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


# Label, ending of the file's name and tooltip of the two reports, by whether they are for the steward only.
_REPORTS = {
    False: (
        "Report",
        "report",
        "A document to print and sign: what is released, why by this method and k, the risk, the information loss and "
        "the checks. It has no original value that the release does not have, and none follows from it.",
    ),
    True: (
        "Report for the steward only",
        "steward_only",
        "All figures, also those that the report withholds because they reveal values of single persons.",
    ),
}


def offer(workspace: Workspace, contents: Callable[..., dict[str, Any]] | None, *, for_steward: bool = False) -> None:
    """Draw the download of the report to sign, or of the one for the steward; disabled without ``contents``."""
    label, ending, says = _REPORTS[for_steward]

    def write() -> str:
        assert contents is not None
        return document(contents(for_steward=for_steward))

    if contents is None:
        says = "It is ready once risk and data quality, below, are measured and compared."
    name = f"{making.file_stem(workspace)}_{ending}.html"
    download(label, write, name, disabled=contents is None, help=says)


def _cells(workspace: Workspace) -> tuple[dict[Method, str], list[int], list[jobs.Cell], bool]:
    """Return the methods and the values of k that the report compares, the runs to compute, and whether with risks."""
    try:
        ks = {*certificate.compared_ks(workspace)[0], state.current().k}
    except MicroaggError:  # Choose k shows what is wrong
        ks = {state.current().k}
    ks = {k for k in ks if k <= certificate.most_k(workspace)}
    name, variants = methods.chosen(workspace), methods.sweep_methods(workspace, methods.compared(workspace))
    if name != state.FOUND and name not in variants.values():
        variants[methods.method(workspace, name)] = name
    cells = [(method, k) for k in sorted(ks) for method in variants]
    risks = bool(workspace.requested)  # the loss with guarantees is computed with them
    return variants, sorted(ks), cells if risks else certificate.not_stored(workspace, cells), risks


def compare(workspace: Workspace) -> None:
    """Compute what the report compares, so that it has the same figures whatever pages were opened before."""
    _, ks, cells, risks = _cells(workspace)
    job = jobs.sweep(workspace, cells, risks=risks)
    if job.running:
        st.caption("The report also compares the release with other methods and values of k:")
        jobs.watch(job)
    else:
        jobs.ended_early("sweep")
        certificate.while_rising(workspace, ks, lambda: None)


def is_compared(workspace: Workspace) -> bool:
    """Whether all that the report compares is computed."""
    _, ks, cells, risks = _cells(workspace)
    certificate.floors(workspace, ks)  # starts to complete them
    return not certificate.is_rising(workspace) and not any(
        jobs.results().lacks(workspace, cell, risks=risks) for cell in cells
    )


def _comparison(workspace: Workspace) -> pd.DataFrame | None:
    """Return the results of the compared methods for :meth:`microagg.Release.to_html`, with floors; None if none."""
    variants, ks, _, _ = _cells(workspace)
    table = certificate.with_best(workspace, certificate.rows(workspace, variants, ks), ks)
    if table.empty:
        return None
    floors = {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks) if bound.sse > 0}
    chosen = (table["variant"] == methods.chosen(workspace)) & (table["k"] == state.current().k)
    if "guaranteed" in table:
        table["information_loss"] = table["guaranteed"].where(chosen).fillna(table["information_loss"])
    return table[["title", "k", "information_loss"]].assign(
        floor=table["k"].map(floors).astype(float), n_records=workspace.n, chosen=chosen
    )


# --- an earlier release of the same file --------------------------------------------------------------------------------

_FILE = "w_earlier"


def choose_earlier(workspace: Workspace) -> None:
    """Draw the uploader; what was uploaded for this table is held also after other pages."""
    of = workspace.table.identity
    held: tuple[str, bytes] | None = st.session_state.get(EARLIER, {}).get(of)

    def take() -> None:
        file = st.session_state[_FILE]
        st.session_state[EARLIER] = {of: (file.name, file.getvalue())} if file else {}

    st.markdown("**Earlier release of this file**")
    st.caption(
        "k holds for each release alone. An intruder who holds two releases can compare the classes of both, and often "
        "fewer than k persons share both. A recipe is exact; a file is matched by its unchanged columns."
    )
    st.file_uploader("Recipe (.json) or released file", type=["json", *ENDINGS], key=_FILE, on_change=take)
    if held:
        st.markdown(f"Compared with {escape_markdown(held[0])}.")
        st.button("Remove the earlier release", on_click=lambda: st.session_state.pop(EARLIER))
