"""Choose k: information loss against k, over the floor that no method can get below."""

import pandas as pd
import streamlit as st

from microagg import ALGORITHMS, ParameterError, metrics
from microagg.experiment import Knee, knee, largest_k_within
from microagg.tables import to_csv
from pages.ui import shell, state, widgets
from pages.ui.charts import curves
from pages.ui.charts.layout import show_figure
from pages.ui.data.workspace import Workspace, chosen_workspace
from pages.ui.runs import certificate, jobs
from pages.ui.text import escape_markdown, listing, percent

_CHART = "loss_chart"


def body() -> None:
    """Draw the page."""
    st.title("Choose k")
    st.markdown(
        "A larger k protects better and loses more. The curves show what each algorithm loses; the gray floor is proven: "
        "whatever the method, less cannot be lost. The least possible loss lies in the band above it. **Click a point** "
        "to choose that algorithm and k for the other pages."
    )
    workspace = chosen_workspace()
    shell.mention_categories(workspace.table.categories)
    _controls(workspace)
    choices = state.current()
    if not choices.methods:
        st.info("Choose at least one algorithm above.")
        return
    ks = _range(workspace)
    cells = [(choices.sweep_method(key), k) for key in choices.methods for k in ks]
    job = jobs.sweep(workspace, cells)

    def draw() -> None:
        rows = jobs.results().table(workspace.digest, cells)
        if rows.empty:
            st.caption("The first results appear here in a moment.")
        else:
            _chart(workspace, rows, ks)

    if job.running:
        jobs.watch(job, draw)
        return
    jobs.ended_early("sweep")
    rows = jobs.results().table(workspace.digest, cells)
    if not rows.empty:
        searching = certificate.is_searching()
        draw()
        _helper(rows)
        certificate.section(workspace, searching=searching)
        _table(workspace, rows)


def _controls(workspace: Workspace) -> None:
    left, start, end = st.columns([4, 1, 1], vertical_alignment="bottom")
    with left:
        widgets.pick_methods("Algorithms")
    with start:
        state.bound(st.number_input, "k from", "k_from", min_value=1, step=1)
    with end:
        state.bound(st.number_input, "to", "k_to", min_value=1, step=1)
    grids = widgets.has_grid(state.current().methods)
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        state.bound(
            st.segmented_control,
            "Show",
            "view",
            options=["loss", "excess"],
            format_func={"loss": "Loss and floor", "excess": "Difference to the lowest"}.get,
            required=True,
            label_visibility="collapsed",
        )
        widgets.polish("w_polish")
        if grids:
            named = listing([f"{param.symbol or param.name} of {widgets.title_of(key)}" for key, param in grids])
            first = grids[0][1]
            state.bound(
                st.toggle,
                f"Best {named} for each k",
                "best",
                help=f"As the literature reports it: all of {first.grid[0]:g}, {first.grid[1]:g}, …, {first.grid[-1]:g} are "
                "run and the lowest loss is shown, a choice made with the result in view. Off: the value set in the "
                "sidebar or below.",
            )
    if grids and not state.current().best:
        columns = st.columns(4)
        for place, (key, _) in enumerate(grids):
            if key != state.current().method:  # the sidebar has the control of the chosen algorithm
                with columns[place % 4]:
                    widgets.params_of(key)


def _range(workspace: Workspace) -> range:
    choices = state.current()
    if choices.k_from > choices.k_to:
        raise ParameterError(f"k runs from {choices.k_from} to {choices.k_to}: the first must not exceed the second.")
    if choices.k_from > workspace.n:
        raise ParameterError(
            f"k starts at {choices.k_from}, but there are only {workspace.n} records: choose k of at most {workspace.n}."
        )
    if choices.k_to > workspace.n:
        st.warning(f"The data set has {workspace.n} records, so the curve ends at k = {workspace.n}.")
    return range(choices.k_from, min(choices.k_to, workspace.n) + 1)


def _chart(workspace: Workspace, rows: pd.DataFrame, ks: range) -> None:
    choices = state.current()
    bounds = (ks[0], ks[-1])
    selected = (choices.method, choices.k)
    if choices.view == "loss":
        figure = curves.loss_curve(
            rows,
            certificate.floors(workspace, ks),
            ks=bounds,
            best=certificate.best_known(workspace, ks),
            selected=selected,
            limit=choices.limit,
        )
    else:
        figure = curves.excess_curve(rows, ks=bounds, selected=selected)
    show_figure(
        figure,
        title=curves.summary_of_curve(rows),
        key=_CHART,
        on_select=_select,
        selection_mode="points",
        alt=f"Information loss against k for {listing([widgets.title_of(key) for key in choices.methods])}, "
        "over the lower bound; the table below has the same numbers.",
    )


def _select() -> None:
    points = st.session_state[_CHART].selection.points
    if not points or "customdata" not in points[0]:
        return
    row = points[0]
    key, k = row["customdata"][0], int(row["x"])
    if key not in ALGORITHMS:
        return
    choices = state.current()
    if choices.best:
        found = jobs.results().row(chosen_workspace().digest, choices.sweep_method(key), k)
        if found:
            state.set_params(key, found["settings"])
    state.update(method=key, k=k)


def _helper(rows: pd.DataFrame) -> None:
    choices = state.current()
    st.subheader("What to choose")
    st.markdown(
        f"Chosen now: **{escape_markdown(widgets.title_of(choices.method))}, k = {choices.k}**. "
        "Two rules of thumb, for each algorithm:"
    )
    left, right = st.columns([1, 4], vertical_alignment="top")
    with left:
        state.bound(
            st.number_input,
            "Largest acceptable loss (%)",
            "limit",
            min_value=0.0,
            step=1.0,
            format="%g",
            help="The largest k with an information loss of at most this is the best protection at that price.",
        )
    table = []
    for label, part in rows.groupby("label", sort=False):
        ks, losses = part["k"].to_numpy(), part["information_loss"].to_numpy()
        largest = largest_k_within(ks, losses, choices.limit)
        bend = knee(ks, losses)
        at = dict(zip(ks, losses, strict=True))
        table.append(
            {
                "algorithm": escape_markdown(label),
                "largest": "none in this range" if largest is None else f"{largest} ({percent(at[largest])})",
                "knee": "none" if bend is None else f"{bend.k} ({percent(at[bend.k])})",
                "means": _knee_in_words(bend),
            }
        )
    with right:
        st.table(
            pd.DataFrame(table).rename(
                columns={
                    "algorithm": "Algorithm",
                    "largest": f"Largest k with IL ≤ {choices.limit:g} %",
                    "knee": "Knee at k",
                    "means": "What the knee says",
                }
            ),
            border="horizontal",
            hide_index=True,
        )
    st.caption(
        "The largest k within your limit is the strongest protection you can afford: a partition for a larger k also "
        "serves every smaller one. The knee is where the curve is farthest from the straight line between its ends, so "
        "it depends on the range of k shown."
    )


def _knee_in_words(bend: Knee | None) -> str:
    if bend is None:
        return "The loss rises evenly: no k stands out."
    if bend.flattens:
        return "Up to here the loss rises fast, from here on more protection costs less per step."
    return "Up to here protection is cheap, from here on each step costs more."


def _table(workspace: Workspace, rows: pd.DataFrame) -> None:
    ks = sorted(rows["k"].unique())
    floors = dict(zip(ks, certificate.floors(workspace, ks), strict=True))
    gaps = [100 * metrics.gap(loss, floors[k]) for loss, k in zip(rows["information_loss"], rows["k"], strict=True)]
    rows = rows.assign(floor=[floors[k].information_loss for k in rows["k"]], gap=gaps)
    shown = rows[
        [
            "label",
            "k",
            "information_loss",
            "unpolished",
            "gap",
            "sse",
            "n_groups",
            "smallest_group",
            "largest_group",
            "params",
            "seconds",
        ]
    ].sort_values(["k", "information_loss"])
    if not state.current().polish:
        shown = shown.drop(columns="unpolished")
    st.subheader("All runs")
    st.dataframe(
        shown,
        hide_index=True,
        width="stretch",
        height=min(35 * (len(shown) + 1) + 3, 320),
        column_config={
            "label": "Algorithm",
            "information_loss": st.column_config.NumberColumn("IL (%)", format="%.4f"),
            "unpolished": st.column_config.NumberColumn("IL before polishing (%)", format="%.4f"),
            "gap": st.column_config.NumberColumn(
                "Above the optimum at most (%)",
                format="%.2f",
                help="100 · (IL − floor) / floor, the floor being what is proven that no partition can get below. A "
                "search for a better floor, above, lowers it.",
            ),
            "sse": st.column_config.NumberColumn("SSE", format="%.4f", help="In squared units of the scaled data."),
            "n_groups": "Groups",
            "smallest_group": "Smallest group",
            "largest_group": "Largest group",
            "params": "Parameters",
            "seconds": st.column_config.NumberColumn("Seconds", format="%.4f"),
        },
    )
    st.download_button(
        "Download this table (CSV)",
        lambda: to_csv(rows.drop(columns="settings")),
        file_name="information_loss.csv",
        mime="text/csv",
        on_click="ignore",
    )


shell.show(body)
