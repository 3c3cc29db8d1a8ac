"""Clusters: the groups of the chosen partition on a plane, beside another algorithm's."""

import numpy as np
import pandas as pd
import streamlit as st
from sklearn.decomposition import PCA

from microagg import metrics
from microagg.experiment import Method, Result
from pages.ui import shell, state, widgets
from pages.ui.charts.clusters import View, clusters, group_sizes
from pages.ui.charts.layout import CONFIG, show_figure
from pages.ui.data.workspace import Workspace, chosen_workspace
from pages.ui.runs import certificate, jobs
from pages.ui.text import count, escape_markdown, gap_in_words, number, percent

_COMPONENTS = ("PC 1", "PC 2")
_MOST_LOSING = 20


def body() -> None:
    """Draw the page."""
    st.title("Clusters")
    st.markdown(
        "Each group is outlined, its records in one color; the small crosses are the centroids that would be released. "
        "Tight groups lose little. Groups may overlap here although they are apart in the other attributes."
    )
    workspace = chosen_workspace()
    shell.mention_categories(workspace.table.categories)
    _controls(workspace)
    choices = state.current()
    results = jobs.partitions(workspace, [(choices.method_of(key), choices.k) for key in _keys()])
    view = _view(workspace)
    floor = certificate.floors(workspace, [choices.k])[0]
    _verdict(results, floor)
    columns = st.columns(len(results))
    shares = [_shares(workspace, result) for result in results]
    for column, result, share in zip(columns, results, shares, strict=True):
        with column:
            _metrics(result, floor)
            show_figure(
                clusters(view, result.partition.labels, share, workspace.table.frame.index),
                title=f"{result.method.label} at k = {choices.k}, {count(workspace.n, 'record')}",
                key=f"clusters_{result.method.key}",
                config=CONFIG,
                alt=f"Records of {workspace.table.title} on {view.names[0]} and {view.names[1]}, "
                f"grouped by {result.method.label} with k = {choices.k}.",
            )
    _remarks(view, workspace)
    show_figure(
        group_sizes([(result.method.key, result.method.label, result.partition.sizes) for result in results]),
        title=_sizes_in_words(results),
        key="sizes",
        alt="How many groups have how many records, per algorithm.",
    )
    _losers(workspace, results[0], shares[0])


def _keys() -> list[str]:
    choices = state.current()
    return [choices.method] if choices.second == choices.method else [choices.method, choices.second]


def _controls(workspace: Workspace) -> None:
    axes = [*_COMPONENTS[: min(2, workspace.d)], *workspace.columns]
    choices = state.current()
    fixed = {name: _usable(getattr(choices, name), axes, place) for place, name in enumerate("xy")}
    if fixed != {"x": choices.x, "y": choices.y}:
        state.update(**fixed)
    columns = st.columns(4, vertical_alignment="bottom")
    with columns[0]:
        widgets.pick_method(f"Beside {widgets.title_of(choices.method)}".replace("*", r"\*"), "second")
    with columns[1]:
        state.bound(st.selectbox, "Across", "x", options=axes, help="PC: principal component of the scaled attributes.")
    with columns[2]:
        state.bound(st.selectbox, "Up", "y", options=axes)
    with columns[3]:
        state.bound(
            st.selectbox,
            "Frame",
            "frame",
            options=["all", "center"],
            format_func={"all": "All records", "center": "The dense middle"}.get,
            help="The dense middle leaves out the outer 2 % on each side, so that skewed data can be seen.",
        )


def _usable(name: str, axes: list[str], place: int) -> str:
    return name if name in axes else axes[min(place, len(axes) - 1)]


@st.cache_resource(scope="session", max_entries=4, show_spinner="Computing principal components …")
def _components(digest: str, _X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    pca = PCA(n_components=min(2, *_X.shape), svd_solver="full")
    points = pca.fit_transform(_X)
    return points, np.nan_to_num(pca.explained_variance_ratio_)


def _view(workspace: Workspace) -> View:
    choices = state.current()
    axes, names = [], []
    for name in (choices.x, choices.y):
        if name in workspace.columns:
            axes.append(workspace.raw[:, workspace.columns.index(name)])
            names.append(str(name))
        else:
            points, explained = _components(workspace.digest, workspace.X)
            place = _COMPONENTS.index(name)
            axes.append(points[:, place])
            names.append(f"principal component {place + 1} ({100 * explained[place]:.0f} % of the variance)")
    return View.of(np.stack(axes, axis=1), (names[0], names[1]), central=choices.frame == "center")


@st.cache_resource(scope="session", max_entries=24, show_spinner=False)
def _record_shares(digest: str, method: Method, k: int, _workspace: Workspace, _result: Result) -> np.ndarray:
    losses = metrics.record_sse(_workspace.X, _result.partition.labels)
    return 100 * losses / losses.sum() if losses.sum() > 0 else losses


def _shares(workspace: Workspace, result: Result) -> np.ndarray:
    return _record_shares(workspace.digest, result.method, result.k, workspace, result)


def _verdict(results: list[Result], floor: metrics.bounds.Bound) -> None:
    if len(results) == 1:
        return
    better, worse = sorted(results, key=lambda result: result.sse)
    if worse.sse <= better.sse * (1 + 1e-9):
        says = f"{better.method.label} and {worse.method.label} lose the same at k = {floor.k}."
    else:
        saved = 100 * (1 - better.sse / worse.sse)
        says = f"At k = {floor.k}, {better.method.label} loses {saved:.3g} % less than {worse.method.label}."
    st.markdown(f"**{escape_markdown(says)}**")


def _metrics(result: Result, floor: metrics.bounds.Bound) -> None:
    sizes = result.partition.sizes
    with st.container(horizontal=True):
        st.metric(
            "Information loss",
            percent(result.information_loss),
            help="IL = 100 · SSE / SST on the scaled data.",
            width="content",
        )
        st.metric(
            "Floor",
            percent(floor.information_loss),
            help="Proven: whatever the method, less cannot be lost at this k. A search on the page Choose k raises it.",
            width="content",
        )
        st.metric(
            "Groups",
            f"{result.partition.n_groups:,}",
            help=f"Of {sizes.min()} to {sizes.max()} records.",
            width="content",
        )
    said = gap_in_words(result.information_loss, floor.information_loss)
    st.caption(f"{said[0].upper()}{said[1:]}.")


def _remarks(view: View, workspace: Workspace) -> None:
    if len(view.shown) < workspace.n:
        st.info(
            f"{workspace.n:,} records are more than can be drawn without lag: a random sample of {len(view.shown):,} is "
            "shown, without outlines. All figures are for all records."
        )
    outside = view.outside()
    if outside:
        st.caption(f"{count(outside, 'record')} lie outside the frame; drag the chart, or choose “All records”.")


def _sizes_in_words(results: list[Result]) -> str:
    parts = []
    for result in results:
        exact = 100 * float((result.partition.sizes == result.k).mean())
        parts.append(f"{result.method.label}: {exact:.0f} % have exactly k")
    return "Group sizes. " + "; ".join(parts)


def _losers(workspace: Workspace, result: Result, shares: np.ndarray) -> None:
    st.subheader("Records that lose most")
    order = np.argsort(-shares, kind="stable")[:_MOST_LOSING]
    if shares[order[0]] == 0:
        st.caption("No record loses anything: all members of each group are equal.")
        return
    labels = result.partition.labels
    released = result.partition.centroids(workspace.raw)[labels]
    moved = np.abs(workspace.X - result.partition.centroids(workspace.X)[labels])
    rows = []
    for record in order:
        most = int(moved[record].argmax())
        before, after = workspace.raw[record, most], released[record, most]
        rows.append(
            {
                "record": str(workspace.table.frame.index[record]),
                "group": f"{labels[record] + 1} ({result.partition.sizes[labels[record]]} records)",
                "share": shares[record],
                "attribute": str(workspace.columns[most]),
                "change": f"{number(before)} → {number(after)}",
            }
        )
    together = shares[order].sum()
    st.caption(
        f"By {escape_markdown(result.method.label)}: these {len(order)} of {count(workspace.n, 'record')} carry "
        f"{together:.3g} % of the SSE. Outliers have no near neighbors, so their groups are wide."
    )
    st.dataframe(
        pd.DataFrame(rows),
        hide_index=True,
        width="stretch",
        column_config={
            "record": "Record",
            "group": "Group",
            "share": st.column_config.ProgressColumn(
                "Share of the SSE (%)", format="%.3f", min_value=0.0, max_value=float(shares[order[0]])
            ),
            "attribute": "Attribute changed most",
            "change": "Value → released",
        },
    )


shell.show(body)
