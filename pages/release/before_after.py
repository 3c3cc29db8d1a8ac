"""Before and after: distributions, correlations and the table side by side; attribute by attribute."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st
from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

from microagg import Release
from microagg.columns.taxonomy import ANYTHING
from microagg.release import Assessment, attribute_changes, correlation_changes, distribution
from pages.shared import state, theme
from pages.shared.figures import finish, show_figure, show_table
from pages.shared.text import count, escape_html, escape_markdown, number, percent, shortened
from pages.shared.workspace import Workspace

_MOST_CATEGORIES = 12

_SHOWN_RECORDS, _SHOWN_OF_A_GROUP = 60, 12

# The most attributes shown: the first ones, or of losses and figures the most affected ones.
_SHOWN_BESIDE, _SHOWN_CORRELATED, _SHOWN_LOSSES, _SHOWN_CHANGES = 30, 60, 20, 200


def draw_distribution(counts: pd.DataFrame, released: str) -> go.Figure:
    lies = not is_numeric_dtype(counts.index) and not is_datetime64_any_dtype(counts.index)
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
        figure.update_yaxes(type="category", autorange="reversed")
    figure.update_layout(barmode="group", bargap=0.2, showlegend=True)
    return finish(figure, max(220, 26 * len(counts) + 90) if lies else 280)


def correlations(before: np.ndarray, after: np.ndarray, names: list[str]) -> go.Figure:
    """Draw the change of the correlation of each pair of ``names``; both arrays have shape (d, d)."""
    change = np.where(np.triu(np.ones_like(before, dtype=bool)), np.nan, after - before)
    largest = max(0.05, float(np.nanmax(np.abs(change), initial=0)))
    labels = [escape_html(name)[:24] for name in names]
    figure = go.Figure().add_heatmap(
        z=change,
        x=labels,
        y=labels,
        zmin=-largest,
        zmax=largest,
        colorscale=[[0, theme.VERMILLION], [0.5, "rgba(127, 140, 153, 0.12)"], [1, theme.BLUE]],
        customdata=np.stack([before, after], axis=-1),
        hovertemplate="%{y} and %{x}<br>%{customdata[0]:.3f} before, %{customdata[1]:.3f} released<extra></extra>",
        colorbar={"title": {"text": "change"}, "thickness": 12},
        hoverongaps=False,
    )
    figure.update_xaxes(showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False)
    return finish(figure, min(160 + 26 * len(names), 620))


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
    figure.update_xaxes(title="information loss (%)", range=room)
    figure.update_yaxes(type="category", autorange="reversed")
    return finish(figure, 90 + (40 if labels else 24) * len(shown))


def show(workspace: Workspace, release: Release, identity: Hashable, measured: Assessment | None) -> None:
    before, changes, (names, old, new) = _changes(identity, release, workspace)
    st.header("Before and after", anchor=False)
    name = _pick(workspace, str(changes["attribute"][0]))
    left, right = st.columns(2, gap="large") if len(names) > 1 else (st.container(), None)
    with left:
        _distribution(workspace, name, before, release, identity)
    if right:
        with right:
            _correlations(list(map(str, names)), old, new)
            _say_first(_SHOWN_CORRELATED, workspace.d)
    _side_by_side(before, release, list(workspace.columns))
    st.header("Attribute by attribute", anchor=False)
    most = changes.iloc[0]
    labels = workspace.table.variable_labels
    title = f"{workspace.table.with_label(shortened(most.attribute))} has the highest loss: {percent(most.lost)}"
    show_figure(losses(changes, labels), title=title, key="losses", alt="The information loss of each attribute.")
    _say_first(_SHOWN_LOSSES, workspace.d, "most affected")
    _attributes(changes, None if measured is None else measured.attributes, labels, workspace.d)


def _say_first(limit: int, d: int, which: str = "first") -> None:
    if limit < d:
        st.caption(f"These are the {which} {limit:,} of {d:,} quasi-identifiers.")


@st.cache_resource(scope="session", max_entries=2, show_spinner="Comparing the release with the file …")
def _changes(identity: Hashable, _release: Release, _workspace: Workspace) -> tuple[pd.DataFrame, pd.DataFrame, Any]:
    """Return the records before, in the order of the release, the changes of each attribute, and correlations."""
    before, after, schema = _release.originals(), _release.frame, _workspace.schema
    lost = _release.report.lost
    names = sorted(lost, key=lost.__getitem__, reverse=True)[:_SHOWN_CHANGES]
    changes = attribute_changes(before, after, schema, _release.report, columns=names)
    return before, changes, correlation_changes(before, after, schema, _SHOWN_CORRELATED)


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _counts(identity: Hashable, name: str, _before: pd.Series, _release: Release) -> pd.DataFrame:
    return distribution(_before, _release.frame[name], _release.partition.labels)


@st.fragment
def _attributes(changes: pd.DataFrame, measured: pd.DataFrame | None, labels: Mapping[str, str], d: int) -> None:
    """Draw the table of all figures of each of ``d`` attributes once it is opened."""
    folded = st.expander("All figures of each attribute", key="attributes", on_change="rerun")
    if not folded.open:
        return
    table = changes[["attribute", "lost", "changed"]].copy()
    if labels:
        table["label"] = [labels.get(str(name), "") for name in table["attribute"]]
    if changes["mean_before"].notna().any():
        for figure in ("mean", "sd"):
            table[figure] = [_arrow(row, figure) for _, row in changes.iterrows()]
    if measured is not None:
        table = table.merge(measured.drop(columns="lost"), on="attribute", how="left")
    number = st.column_config.NumberColumn
    columns = {
        "attribute": st.column_config.TextColumn("Attribute", pinned=True),
        "label": "Label",
        "lost": number("Loss (%)", format="%.2f"),
        "changed": number("Values changed (%)", format="%.1f"),
        "mean": "Mean, before → released",
        "sd": "Standard deviation, before → released",
        "sd_ratio": number("sd ratio", format="%.3f", help="Standard deviation after over before: 1 keeps it."),
        "correlation_change": number("A correlation changes by", format="%.3f"),
        "hellinger": number("Hellinger distance", format="%.3f"),
        "interval_disclosure": number("Near the original", format="percent", help="Released within 0.05 sd of it."),
    }
    with folded:
        show_table(table[[name for name in columns if name in table]], columns)
        _say_first(_SHOWN_CHANGES, d, "most affected")


def _arrow(change: pd.Series, figure: str) -> str:
    before, after = float(change[f"{figure}_before"]), float(change[f"{figure}_after"])
    return "" if np.isnan(before) else f"{number(before)} → {number(after)}"


def _pick(workspace: Workspace, first: str) -> str:
    """Draw the choice of an attribute, at first the one with the highest loss, and return it."""
    if state.current().attribute not in workspace.columns:
        state.update(attribute=first)
    how: dict[str, Any] = {"options": workspace.columns, "format_func": workspace.table.with_label, "width": 420}
    return str(state.bound(st.selectbox, "Attribute", "attribute", key="w_release_attribute", **how))


def _distribution(workspace: Workspace, name: str, before: pd.DataFrame, release: Release, identity: Hashable) -> None:
    change = attribute_changes(before, release.frame, workspace.schema, release.report, columns=[name]).iloc[0]
    old, new = before[name], release.frame[name]
    released = "released"
    if change["sd_before"] > 0:
        shrinks = 100 * (1 - change["sd_after"] / change["sd_before"])
        old_mean, _, new_mean = _arrow(change, "mean").partition(" → ")
        mean = f"stays {old_mean}" if old_mean == new_mean else f"goes from {old_mean} to {new_mean}"
        says = f"the spread shrinks by {shrinks:.2g} %, the mean {mean}"
    elif is_numeric_dtype(old) and not is_numeric_dtype(new):
        says = f"on average a range spans {change['lost']:.3g} % of all values"
        released = "released, ranges spread evenly"
    else:
        says = f"from {count(old.nunique(), 'value')} to {new.nunique():,}"
    show_figure(
        draw_distribution(_counts(identity, name, old, release), released),
        title=f"{workspace.table.with_label(name)}: {says}",
        key="before_after",
        alt=f"How many records have which {name}, before and released.",
    )


def _correlations(names: list[str], old: np.ndarray, new: np.ndarray) -> None:
    change = np.nan_to_num(np.abs(new - old))
    i, j = divmod(int(change.argmax()), len(names))
    title = f"The correlation of {names[j]} and {names[i]} changes most: by {change[i, j]:.2g}"
    alt = "By how much the correlation of each pair of numeric attributes changed."
    show_figure(correlations(old, new, names), title=title, key="correlations", alt=alt)


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
    for name in names:
        pairs[f"{name} "] = old[name].astype(object).map(_short).to_numpy()
        pairs[f"→ {name}"] = new[name].astype(object).map(_short).to_numpy()
    view = pd.DataFrame({"group": labels[order] + 1, **pairs}, index=range(len(order)))
    band = (labels[order] % 2).astype(bool)

    def tint(column: pd.Series) -> list[str]:
        bold = "font-weight: 600" if str(column.name).startswith("→ ") else ""
        return [f"background-color: {theme.BAND if dark else 'transparent'}; {bold}" for dark in band]

    group = st.column_config.NumberColumn("Group", pinned=True, width="small")
    says = (
        f"{len(order)} of {count(len(labels), 'record')}, group by group, at most {_SHOWN_OF_A_GROUP} of each: each "
        "original value and the released one (→)."
    )
    if (new.astype(object) == ANYTHING).to_numpy().any():
        says += f" {escape_markdown(ANYTHING)} stands for anything."
    with folded:
        show_table(view.style.apply(tint, axis=0), {"group": group}, height=420)
        st.caption(says)
        _say_first(_SHOWN_BESIDE, len(columns))


def _short(value: object) -> str:
    if isinstance(value, pd.Timestamp):
        # Python itself writes no dates after the year 9999.
        return str(value.to_datetime64().astype("datetime64[D]"))
    return f"{value:.6g}" if isinstance(value, float) else str(value)
