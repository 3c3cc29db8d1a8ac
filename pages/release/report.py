"""The disclosure risk and the utility of a release, and the report on it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from microagg import Release
from microagg.optimum.formatting import in_unit
from microagg.release import Assessment, Figure, Finding
from microagg.release.report.document import document
from microagg.studies import pareto
from pages.release import making
from pages.shared import certificate, jobs, limits, methods, state
from pages.shared.figures import download, show_table
from pages.shared.text import escape_markdown
from pages.shared.workspace import Workspace

#: The figures that are open, by part, in this order; the others fold.
_FIRST = {
    "risk": ("max_reidentification", "record_linkage", "homogeneous", "population_uniques"),
    "utility": ("total_information_loss", "information_loss", "correlation_change", "prediction", "pmse"),
}
_TITLES = {"risk": "What is the risk?", "utility": "What is it still good for?"}


def assessment(workspace: Workspace, release: Release, identity: Hashable) -> Assessment | None:
    """Return the assessment of a release; until it is measured, show the progress and return None."""
    target, fraction = _questions_of(release)
    of, keys, n = (identity, target, fraction), [release.recipe["method"] or "mdav-star"], workspace.n_complete
    make = partial(release.assess, target=target, sampling_fraction=fraction)
    return jobs.once("assessment", of, keys, "Measuring risk and utility", make, n)


def _questions_of(release: Release) -> tuple[Hashable | None, float | None]:
    population = state.current().release.population
    return _target(release), population / 100.0 if 0.0 < population < 100.0 else None


def show_assessment(workspace: Workspace, release: Release, identity: Hashable) -> None:
    measured = assessment(workspace, release, identity)
    if measured is None:
        return
    for part in ("risk", "utility"):
        figures = measured.part(part)
        of_key = {key: [figure for figure in figures if figure.measure.key == key] for key in _FIRST[part]}
        first = [_worst(of_measure) for of_measure in of_key.values() if of_measure]
        st.markdown(f"**{_TITLES[part]}**")
        _tiles(first)
        if part == "risk":
            _say_above_limit(figures)
        others = [figure for figure in figures if figure not in first]
        if others:
            with st.expander(f"{len(others)} further figures"):
                _table(others)
    _attributes(measured.attributes)
    if measured.without_outliers:
        _outliers(measured)
    for note in measured.notes:
        st.caption(escape_markdown(note))
    _questions(release)


def _worst(figures: Sequence[Figure]) -> Figure:
    sign = 1.0 if figures[0].measure.better == "low" else -1.0
    return max(figures, key=lambda figure: sign * figure.after)


def _say_above_limit(figures: Sequence[Figure]) -> None:
    """Say if the release exceeds the acceptable risk that is chosen on Choose k."""
    choices = state.current()
    of_measure = [figure for figure in figures if figure.measure.key == choices.compare.risk]
    says = ""
    if of_measure:
        # On the map less is better.
        after = _worst(of_measure).after if of_measure[0].measure.better == "low" else 1.0 / _worst(of_measure).after
        by_groups = len(of_measure) == 1 and not any(figure.measure.key == "predicted_linkage" for figure in figures)
        says = pareto.above_in_words(choices.compare.risk, after, limits.current().risk, by_groups=by_groups)
    if says:
        where = "Which risk counts, and how much of it is acceptable, is chosen on Choose k under Risk and loss."
        st.warning(f"{escape_markdown(says)} {where}")


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


def _attributes(table: pd.DataFrame) -> None:
    number = st.column_config.NumberColumn
    columns = {
        "attribute": st.column_config.TextColumn("Attribute", pinned=True),
        "lost": number("Lost (%)", format="%.2f"),
        "il1s": number("IL1s", format="%.3f", help="Σ |x − x′| / (√2 s) over the records, divided by their number."),
        "mean_change": number("Mean moves by (sd)", format="%.3f"),
        "sd_ratio": number("sd kept (ratio)", format="%.3f", help="Standard deviation after over before: 1 keeps it."),
        "quantile_change": number("A quantile moves by (sd)", format="%.3f"),
        "correlation_change": number("A correlation changes by", format="%.3f"),
        "hellinger": number("Hellinger distance", format="%.3f"),
        "wasserstein": number("Wasserstein distance (sd)", format="%.3f"),
        "interval_disclosure": number("Near the original", format="percent", help="Released within 0.05 sd of it."),
    }
    names = [name for name in columns if name in table]
    with st.expander("Attribute by attribute, those that lose most first"):
        show_table(table[names].head(200), columns)


def _outliers(measured: Assessment) -> None:
    with st.expander("Who carries the risk?"):
        st.markdown(escape_markdown(measured.without_outliers))
        columns = {
            "record": st.column_config.NumberColumn("Record", help="Its place in the release, from 1.", width="small"),
            "attribute": "Farthest in",
            "outlyingness": st.column_config.NumberColumn(
                "Away from the median (robust sd)",
                format="%.1f",
                help="1.4826 · median absolute deviation is one; above 3.5 a value is a possible outlier "
                "(Iglewicz & Hoaglin 1993).",
            ),
            "probability": st.column_config.NumberColumn("Found by distance", format="percent"),
        }
        show_table(measured.outliers, height=300, columns=columns)
        st.caption("This list is for you: it is in no file and no report.")


def _questions(release: Release) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = ["", *map(str, release.frame.columns)]
        says = (
            "A model learns to predict this column from the release, another from the originals, and both are tried on "
            "originals that neither has seen."
        )
        how: dict[str, Any] = {"options": names, "format_func": lambda name: name or "–", "width": 260, "help": says}
        predicted = "" if _target(release) is None else None
        state.bound(st.selectbox, "Users will predict", "predicts", selected=predicted, **how)
        says = "100: it is all of it. With less, it is estimated how many records would be alone in the population."
        how = {"min_value": 0.01, "max_value": 100.0, "step": 1.0, "format": "%g", "width": 260, "help": says}
        state.bound(st.number_input, "The file is a sample of the population (%)", "population", **how)


def _target(release: Release) -> Hashable | None:
    """Return the column to predict, as the release names it; None if it has no such column."""
    named = {str(name): name for name in release.frame.columns}
    return named.get(state.current().release.predicts)


def show(workspace: Workspace, release: Release, identity: Hashable, findings: Sequence[Finding], data: bytes) -> None:
    """Draw the downloads of the report, with ``findings`` as checklist; they wait until risk and utility are measured."""
    stem = making.file_stem(workspace)
    measured: Assessment | None = jobs.outcome("assessment", (identity, *_questions_of(release)))
    full = replace(release, report=replace(release.report, findings=tuple(findings)))
    about = {
        "assessment": measured,
        "comparison": _comparison(workspace),
        "file": data or None,
        "file_name": f"{stem}_protected{state.current().release.format}",
        "origin": workspace.table.origin,
        "read": workspace.table.done,
        "prepared_on": date.today().isoformat(),
    }
    waits = None if measured else "It waits until risk and utility, below, are measured."
    says = (
        "A document to print and sign: what is released, why by this method and k, what can go wrong, what is "
        "lost, and the checklist. No original value stands in it that the release does not have, nor follows from it."
    )
    with st.container(horizontal=True):
        held: dict[str, Any] = {"disabled": waits is not None, "help": waits or says}
        download("Report (HTML)", lambda: document(full.to_dict(**about)), f"{stem}_report.html", **held)
        making.download_json("Report", lambda: full.to_dict(**about), f"{stem}_report", **held | {"help": waits})
        says = "All figures, also those that the report withholds as they give away values of single persons."
        whole = partial(full.to_dict, for_steward=True, **about)
        held["help"] = waits or says
        download("For the steward only (HTML)", lambda: document(whole()), f"{stem}_steward_only.html", **held)
    making.say_report(release.report.summary())


def _comparison(workspace: Workspace) -> pd.DataFrame | None:
    """Return the results of the compared methods for :meth:`microagg.Release.to_html`, with floors; None if none."""
    variants = methods.sweep_methods(workspace, methods.compared(workspace))
    ks = jobs.results().ks(workspace, list(variants))
    if not ks:
        return None
    table = certificate.with_best(workspace, certificate.rows(workspace, variants, ks), ks)
    floors = {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks) if bound.sse > 0}
    chosen = (table["variant"] == methods.chosen(workspace)) & (table["k"] == state.current().k)
    if "guaranteed" in table:
        table["information_loss"] = table["guaranteed"].where(chosen).fillna(table["information_loss"])
    names = [name for name in ("title", "k", "information_loss", "record_linkage") if name in table]
    return table[names].assign(floor=table["k"].map(floors).astype(float), n_records=workspace.n, chosen=chosen)
