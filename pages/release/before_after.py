"""What a release risks and keeps: figures, class sizes, distributions, records side by side, attribute by attribute."""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from microagg import Release
from microagg.columns.taxonomy import ANYTHING
from microagg.metrics.risk import uniqueness
from microagg.optimum.formatting import in_unit
from microagg.release import Assessment, Figure, Report, distribution
from pages.shared import released, state, theme
from pages.shared.figures import finish, show_figure, show_table
from pages.shared.text import count, escape_html, escape_markdown, number, percent, shortened, unbroken
from pages.shared.workspace import Workspace

# The title of each part, and the figures of it that are open; the others fold. The verdict has the risk and the loss.
_PARTS = {
    "risk": ("Risk", ("record_linkage", "predicted_linkage", "homogeneous")),
    "utility": ("Data quality", ("correlation_change", "pmse", "hellinger")),
}

#: The meaning of the risk that k decides.
RISK = "The largest probability with which an intruder who knows the true quasi-identifiers picks the right record."

_MOST_CATEGORIES = 12

_SHOWN_RECORDS, _SHOWN_OF_A_GROUP = 60, 12

# The most attributes shown: the first ones, or of losses and figures the most affected ones.
_SHOWN_BESIDE, _SHOWN_LOSSES, _SHOWN_CHANGES = 30, 20, 200


def risk_and_quality(workspace: Workspace, release: Release, identity: Hashable) -> None:
    """Draw risk and data quality: what matters most as figures, the rest in folded tables."""
    assessment = released.measure(workspace, release, identity)
    if assessment is None:
        return
    for part, (title, keys) in _PARTS.items():
        figures = assessment.part(part)
        # The first prediction is the one that decides the risk of the verdict.
        first = [
            of_measure[0] if key == "predicted_linkage" else released.worst(of_measure)
            for key in keys
            if (of_measure := assessment.of(key))
        ]
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
        explanation = escape_markdown(f"{measure.meaning} The {direction}, the better. {measure.source}")
        title, after = escape_markdown(measure.title), in_unit(figure.after, measure.unit)
        with column:
            st.metric(title, after, delta, delta_color="off", delta_arrow="off", help=explanation)
            st.caption(escape_markdown(figure.sentence))


def _title(figure: Figure) -> str:
    return figure.measure.title + ("" if figure.attribute is None else f": {figure.attribute}")


def _table(figures: Sequence[Figure]) -> None:
    rows = [
        {
            "measure": _title(figure),
            "before": "" if figure.before is None else in_unit(figure.before, figure.measure.unit),
            "released": in_unit(figure.after, figure.measure.unit),
            "sentence": unbroken(figure.sentence),
            "better": "lower" if figure.measure.better == "low" else "higher",
            "source": figure.measure.source,
        }
        for figure in figures
    ]
    columns = {
        "measure": st.column_config.TextColumn("Measure", pinned=True),
        "before": st.column_config.TextColumn("Before", width="small", alignment="right"),
        "released": st.column_config.TextColumn("Released", width="small", alignment="right"),
        "sentence": st.column_config.TextColumn("What it says", width=460),
        "better": st.column_config.TextColumn("Better", width="small"),
        "source": st.column_config.TextColumn("Source", width=280),
    }
    table = pd.DataFrame(rows)
    table = table.loc[:, (table != "").any()]  # no column "Before" if no measure has a value before
    lines = 1 + max(map(len, table["sentence"])) // 62
    show_table(table, row_height=max(72, 18 * lines + 10), columns=columns)  # lines are broken in rows above 64 pixels


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _originals(identity: Hashable, _release: Release) -> pd.DataFrame:
    """The records before, in the order of the release: a copy of the file if this is another order, or lacks some."""
    return _release.originals()


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _sizes(identity: Hashable, _release: Release, _names: Sequence[Hashable]) -> tuple[np.ndarray, np.ndarray]:
    """The sizes of the equivalence classes before and after."""
    before, after = (uniqueness(frame, _names).sizes for frame in (_originals(identity, _release), _release.frame))
    return before, after


def _class_sizes(workspace: Workspace, release: Release, identity: Hashable) -> None:
    """Draw the share of the records in classes of each size, before and after: what k means for a person."""
    k = release.report.k
    before, after = _sizes(identity, release, workspace.schema.quasi_identifiers)
    starts = sorted({1, 2, k, 2 * k})
    spans = [dict.fromkeys((f"{start:,}", f"{end - 1:,}")) for start, end in itertools.pairwise(starts)]
    names = [*map(" to ".join, spans), f"{starts[-1]:,} or more"]
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
    figure.add_vline(x=starts.index(k) - 0.5, line={"color": theme.NEUTRAL, "width": 2, "dash": "dot"})
    figure.update_xaxes(title=f"records in the class (dotted: k = {k:,})", type="category")
    figure.update_yaxes(title="records (%)", range=(0, 112), tickvals=[0, 50, 100])
    figure.update_layout(bargap=0.3, showlegend=True)
    unique = 100 * np.count_nonzero(before == 1) / before.sum()
    title = (
        f"Each record now looks like {int(after.min()) - 1:,} or more others; before, {percent(unique)} of the records "
        "were unique"
    )
    alt = "Share of the records by the number of records with the same quasi-identifiers, before and released."
    room = {"l": 67, "b": 94} if k < 500 else None  # the words below the bars of a larger k may be slanted
    show_figure(finish(figure, 260, room), title=title, key="class_sizes", alt=alt)


# --- before and after -------------------------------------------------------------------------------------------------


def _has_order(values: pd.Series | pd.Index) -> bool:
    return is_numeric_dtype(values) or is_datetime64_any_dtype(values)


def draw_distribution(counts: pd.DataFrame, released: str) -> go.Figure:
    lies = not _has_order(counts.index)
    if lies:
        frequent = [counts[name].nlargest(_MOST_CATEGORIES).index for name in counts]
        counts = counts.loc[list(dict.fromkeys([*frequent[0], *frequent[1]]))]
    named = ["* (anything)" if value == ANYTHING else escape_html(value)[:40] for value in counts.index]
    values = named if lies else counts.index.to_numpy()
    hover = "<b>%{y}</b><br>%{x:,}" if lies else "about %{x}<br>%{y:,.0f}"
    figure = go.Figure()
    for column, name, color in (("before", "before", theme.NEUTRAL), ("released", released, theme.BLUE)):
        numbers = counts[column].to_numpy()
        figure.add_bar(
            x=numbers if lies else values,
            y=values if lies else numbers,
            orientation="h" if lies else "v",
            name=name,
            marker={"color": color},
            hovertemplate=f"{hover} records {name}<extra></extra>",
        )
    figure.update_xaxes(title="records" if lies else "value")
    figure.update_yaxes(title=None if lies else "records")
    if lies:
        figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    figure.update_layout(barmode="group", bargap=0.2, showlegend=True)
    room = {"l": 77, "b": 94} if is_numeric_dtype(counts.index) else None  # of others the texts are of any size
    return finish(figure, max(220, 26 * len(counts) + 90) if lies else 280, room)


def losses(changes: pd.DataFrame, labels: Mapping[str, str]) -> go.Figure:
    """Draw the loss of each attribute, the highest first, with the ``labels`` of variables below their names."""
    shown = changes.head(_SHOWN_LOSSES)
    names = [[name, *filter(None, [labels.get(str(name))])] for name in shown["attribute"]]
    figure = go.Figure().add_bar(
        x=shown["lost"],
        y=["<br>".join(escape_html(shortened(text, 32)) for text in each) for each in names],
        orientation="h",
        marker={"color": theme.BLUE},
        text=[percent(lost) for lost in shown["lost"]],
        textposition="outside",
        hovertemplate="<b>%{y}</b><br>loss %{x:.3g} %<extra></extra>",
    )
    room = [0, 1.3 * max(float(shown["lost"].max()), 0.1)]  # for the labels at the ends
    # Each bar has its number: ticks would go beyond 100 %, and lines would cross the numbers.
    figure.update_xaxes(title="information loss (%)", range=room, showticklabels=False)
    figure.update_yaxes(type="category", autorange="reversed", showgrid=False)
    return finish(figure, 90 + (40 if labels else 24) * len(shown))


def show(workspace: Workspace, release: Release, identity: Hashable, measured: Assessment | None) -> None:
    before, lost = _originals(identity, release), release.report.lost
    names = sorted(lost, key=lost.__getitem__, reverse=True)
    st.header("Before and after", anchor=False)
    _distribution(workspace, _pick(workspace, str(names[0])), before, release, identity)
    _side_by_side(before, release, list(workspace.columns))
    st.header("Attribute by attribute", anchor=False)
    labels = workspace.table.variable_labels
    title = f"{workspace.table.with_label(shortened(names[0]))} has the highest loss: {percent(lost[names[0]])}"
    changes = _changes(before, release.report, names[:_SHOWN_CHANGES])
    show_figure(losses(changes, labels), title=title, key="losses", alt="The information loss of each attribute.")
    _show_first(_SHOWN_LOSSES, workspace.d, "most affected")
    _attributes(changes, None if measured is None else measured.attributes, labels, workspace.d)


def _show_first(limit: int, d: int, which: str = "first") -> None:
    if limit < d:
        st.caption(f"These are the {which} {limit:,} of {d:,} quasi-identifiers.")


def _changes(before: pd.DataFrame, report: Report, names: Sequence[Hashable]) -> pd.DataFrame:
    """Return the loss and the moments of quasi-identifiers; moments are NaN but for numbers released as numbers."""
    utility = report.utility.attributes if report.utility else ()
    moments = {each.name: vars(each) for each in utility if is_numeric_dtype(before[each.name])}
    rows = [{"attribute": name, "lost": report.lost[name]} | moments.get(name, {}) for name in names]
    return pd.DataFrame(rows, columns=["attribute", "lost", "mean_before", "mean_after", "sd_before", "sd_after"])


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _counts(identity: Hashable, name: str, _before: pd.Series, _release: Release) -> pd.DataFrame:
    return distribution(_before, _release.frame[name], _release.partition.labels)


@st.fragment
def _attributes(changes: pd.DataFrame, measured: pd.DataFrame | None, labels: Mapping[str, str], d: int) -> None:
    """Draw the table of all figures of each of ``d`` attributes once it is opened."""
    folded = st.expander("All figures of each attribute", key="attributes", on_change="rerun")
    if not folded.open:
        return
    table = changes[["attribute", "lost"]].copy()
    if labels:
        table["label"] = [labels.get(str(name), "") for name in table["attribute"]]
    if changes["mean_before"].notna().any():
        for figure in ("mean", "sd"):
            table[figure] = [_arrow(row, figure) for _, row in changes.iterrows()]
    if measured is not None:
        table = table.merge(measured.drop(columns="lost"), on="attribute", how="left")
        if "interval_disclosure" in table:
            table["interval_disclosure"] *= 100
    number = st.column_config.NumberColumn
    columns = {
        "attribute": st.column_config.TextColumn("Attribute", pinned=True),
        "label": "Label",
        "lost": number("Loss (%)", format="%.2f"),
        "mean": "Mean, before → released",
        "sd": "Standard deviation, before → released",
        "sd_ratio": number("sd ratio", format="%.3f", help="Standard deviation after over before: 1 keeps it."),
        "correlation_change": number("A correlation changes by", format="%.3f"),
        "hellinger": number("Hellinger distance", format="%.3f"),
        "interval_disclosure": number("Near the original (%)", format="%.2f", help="Released within 0.05 sd of it."),
    }
    with folded:
        show_table(table[[name for name in columns if name in table]], columns)
        _show_first(_SHOWN_CHANGES, d, "most affected")


def _arrow(change: pd.Series, figure: str) -> str:
    before, after = float(change[f"{figure}_before"]), float(change[f"{figure}_after"])
    return "" if np.isnan(before) else f"{number(before)} → {number(after)}"


def _pick(workspace: Workspace, first: str) -> str:
    """Draw the choice of an attribute, at first the one with the highest loss, and return it."""
    chosen = state.current().attribute
    # Not stored, or else Data would open this column.
    how: dict[str, Any] = {"selected": chosen if chosen in workspace.columns else first, "options": workspace.columns}
    how |= {"format_func": workspace.table.with_label, "width": 420}
    return str(state.bound(st.selectbox, "Attribute", "attribute", key="w_release_attribute", **how))


def _distribution(workspace: Workspace, name: str, before: pd.DataFrame, release: Release, identity: Hashable) -> None:
    change = _changes(before, release.report, [name]).iloc[0]
    old, new = before[name], release.frame[name]
    released = "released"
    if change["sd_before"] > 0:
        shrinks = 100 * (1 - change["sd_after"] / change["sd_before"])
        old_mean, _, new_mean = _arrow(change, "mean").partition(" → ")
        mean = f"stays {old_mean}" if old_mean == new_mean else f"goes from {old_mean} to {new_mean}"
        message = f"the spread {'grows' if shrinks < 0 else 'shrinks'} by {percent(abs(shrinks), 2)}, the mean {mean}"
    elif _has_order(old) and not _has_order(new):
        message = f"on average a range spans {percent(change['lost'])} of all values"
        released = "released, ranges spread evenly"
    else:
        masked = 100 * float(new.eq(ANYTHING).mean())
        message = (
            f"{percent(masked)} of the records have * (anything)"
            if masked
            else f"from {count(old.nunique(), 'value')} to {new.nunique():,}"
        )
    show_figure(
        draw_distribution(_counts(identity, name, old, release), released),
        title=f"{workspace.table.with_label(name)}: {message}",
        key="before_after",
        alt=f"How many records have which {name}, before and released.",
    )


@st.fragment
def _side_by_side(before: pd.DataFrame, release: Release, columns: Sequence[str]) -> None:
    """Draw the records before and after once this is opened."""
    folded = st.expander("Records side by side", key="side_by_side", on_change="rerun")
    if not folded.open:
        return
    names, labels = list(columns)[:_SHOWN_BESIDE], release.partition.labels
    order = labels.argsort(kind="stable")
    order = order[pd.Series(labels[order]).groupby(labels[order]).cumcount() < _SHOWN_OF_A_GROUP][:_SHOWN_RECORDS]
    old, new = before[names].iloc[order], release.frame[names].iloc[order]
    pairs: dict[str, np.ndarray] = {}
    shown: dict[str, Any] = {"group": st.column_config.NumberColumn("Group", pinned=True, width="small")}
    for title, values in [each for name in names for each in ((f"{name} ", old[name]), (f"→ {name}", new[name]))]:
        pairs[title] = values.astype(object).map(_short).to_numpy()
        shown[title] = st.column_config.TextColumn(alignment="right" if is_numeric_dtype(values) else "left")
    view = pd.DataFrame({"group": labels[order] + 1, **pairs}, index=range(len(order)))
    band = (labels[order] % 2).astype(bool)

    def tint(column: pd.Series) -> list[str]:
        bold = "font-weight: 600" if str(column.name).startswith("→ ") else ""
        return [f"background-color: {theme.BAND if dark else 'transparent'}; {bold}" for dark in band]

    message = (
        f"{len(order)} of {count(len(labels), 'record')}, group by group, at most {_SHOWN_OF_A_GROUP} of each: each "
        "original value and the released one (→)."
    )
    if (new.astype(object) == ANYTHING).to_numpy().any():
        message += f" {escape_markdown(ANYTHING)} stands for anything."
    with folded:
        show_table(view.style.apply(tint, axis=0), shown, height=420)
        st.caption(message)
        _show_first(_SHOWN_BESIDE, len(columns))


def _short(value: object) -> str:
    if isinstance(value, pd.Timestamp):
        # Python itself writes no dates after the year 9999.
        return str(value.to_datetime64().astype("datetime64[D]"))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
