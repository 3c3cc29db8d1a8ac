"""Choose k: what is lost against k, by each method, and how much nobody can avoid."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from microagg import metrics, sweeps
from microagg.experiment import Knee, Method, knee, largest_k_within
from microagg.ks import spread
from microagg.tables import to_csv
from microagg.variants import VARIANTS
from pages.ui import shell, state, widgets
from pages.ui.charts import curves
from pages.ui.charts.layout import show_figure
from pages.ui.charts.measures import measures
from pages.ui.data import comparison, methods
from pages.ui.data.workspace import Workspace, chosen_workspace
from pages.ui.runs import certificate, floor, jobs
from pages.ui.text import escape_markdown, listing, percent

_CHART = "loss_chart"


def body() -> None:
    """Draw the page."""
    st.markdown(
        "A larger k protects better and loses more. The curves show what each method loses. **Click a point** to choose "
        "that method and k for the pages Clusters and Release."
    )
    workspace = chosen_workspace()
    comparison.controls(workspace)
    ks = comparison.ks(workspace)
    names = methods.compared(workspace)
    if not names:
        st.info("Choose at least one method above.")
        return
    comparison.say_sample(workspace)
    shown = _pick(workspace, names)
    variants = methods.sweep_methods(workspace, names)
    # Polishing takes long: the k that is looked at goes first then.
    order = spread(ks, first=state.current().k if any(method.polish for method in variants) else None)
    cells = [(method, k) for k in order for method in variants]
    job = jobs.sweep(workspace, cells)

    def draw() -> None:
        rows = _rows(workspace, variants, ks)
        if rows.empty:
            st.caption("The first results appear here in a moment.")
            return
        _chart(workspace, rows, shown, ks)
        if workspace.is_numeric:
            floor.status(workspace)

    if job.running:
        jobs.watch(job, draw)
        return
    jobs.ended_early("sweep")
    rows = _rows(workspace, variants, ks)
    if not rows.empty:
        searching = certificate.is_searching()
        floor.while_rising(workspace, ks, draw)
        _helper(workspace, rows)
        certificate.section(workspace, searching=searching)
        _table(workspace, rows, ks)


def _pick(workspace: Workspace, names: Sequence[str]) -> str:
    """Draw what chooses how methods are shown and run, and return the measure."""
    grids = widgets.has_grid(names) if workspace.is_numeric else []
    available = measures(numeric=workspace.is_numeric, classes=workspace.classes is not None)
    with st.container(horizontal=True, vertical_alignment="center"):
        shown = widgets.pick_measure({name: measure.label for name, measure in available.items()}, "w_measure")
        if workspace.is_numeric:
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
                "line at the top or under Settings.",
            )
    return shown


def _rows(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> pd.DataFrame:
    """Return the results so far, with the name and title of each variant."""
    parts = []
    for method, name in variants.items():
        part = jobs.results().table(workspace.digest, [(method, k) for k in ks])
        if not part.empty:
            # A label says which parameters were chosen, but not by what name a setting is known.
            known = VARIANTS[name].fixed or VARIANTS[name].penalty
            parts.append(part.assign(variant=name, title=methods.title(name) if known else method.label))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def _chart(workspace: Workspace, rows: pd.DataFrame, name: str, ks: Sequence[int]) -> None:
    choices = state.current()
    measure = measures(numeric=workspace.is_numeric)[name]
    is_loss = name == "information_loss"
    # Asked for whatever is shown, as the table below needs it, too.
    proven = certificate.floors(workspace, ks)
    line = None
    if name == "discernibility":
        line = (
            "no method can get below",
            {k: float(metrics.generalization.least_discernibility(workspace.n, k)) for k in ks},
        )
    elif name == "classification":
        whole = 1 - max(pd.Series(workspace.classes).value_counts(normalize=True))
        line = ("all records in one group", dict.fromkeys(ks, whole))
    show_figure(
        curves.measure_curves(
            certificate.with_found(workspace, rows, ks),
            name,
            floor=[bound for bound in proven if bound.converged or bound.sse > 0] if is_loss else (),
            best=certificate.best_known(workspace, ks) if is_loss and workspace.is_numeric else None,
            limit=choices.limit if is_loss else None,
            line=line,
            selected=(methods.chosen(workspace), choices.k),
        ),
        title=sweeps.summary(rows, name, choices.k),
        key=_CHART,
        on_select=_select,
        selection_mode="points",
        alt=f"{measure.label} against k for {listing(list(dict.fromkeys(rows['title'])))}; the table below has the same "
        "numbers.",
    )
    st.caption(measure.meaning)


def _select() -> None:
    points = st.session_state[_CHART].selection.points
    if not points or not isinstance(points[0].get("customdata"), list):
        return
    name, k = points[0]["customdata"][:2]
    choices = state.current()
    if name in VARIANTS and choices.best:
        workspace = chosen_workspace()
        [method] = methods.sweep_methods(workspace, [name])
        found = jobs.results().row(workspace.digest, method, int(k))
        if found:
            state.set_params(VARIANTS[name].key, found["settings"])
    if name in VARIANTS or name == state.FOUND:
        state.update(method=name, k=int(k))


def _helper(workspace: Workspace, rows: pd.DataFrame) -> None:
    choices = state.current()
    loss = "IL" if workspace.is_numeric else "Total-IL"
    st.subheader("What to choose")
    left, right = st.columns([1, 4], vertical_alignment="top")
    with left:
        state.bound(
            st.number_input,
            "Largest acceptable loss (%)",
            "limit",
            min_value=0.0,
            step=1.0,
            format="%g",
            help="The largest k with an information loss of at most this is the best protection at that price. The page "
            "Release warns of a release that loses more.",
        )
    table = []
    for title, part in rows.groupby("title", sort=False):
        ks, losses = part["k"].to_numpy(), part["information_loss"].to_numpy()
        largest = largest_k_within(ks, losses, choices.limit)
        bend = knee(ks, losses)
        at = dict(zip(ks, losses, strict=True))
        table.append(
            {
                "Method": escape_markdown(title),
                f"Largest k with {loss} ≤ {choices.limit:g} %": "none of these"
                if largest is None
                else f"{largest} ({percent(at[largest])})",
                "Knee at k": "none" if bend is None else f"{bend.k} ({percent(at[bend.k])})",
                "The loss rises": _rise_in_words(bend),
            }
        )
    with right:
        st.table(pd.DataFrame(table), border="horizontal", hide_index=True)
    st.caption(
        "The largest k within your limit, which the page Release uses too, is the strongest protection you can afford: a "
        "partition for a larger k also serves every smaller one. The knee is where the curve is farthest from the "
        "straight line between its ends, so it depends on the values of k shown."
    )
    _go_on(workspace)


def _rise_in_words(bend: Knee | None) -> str:
    if bend is None:
        return "evenly: no k stands out"
    return "fast up to the knee, slowly after it" if bend.flattens else "slowly up to the knee, fast after it"


def _go_on(workspace: Workspace) -> None:
    name, k = methods.chosen(workspace), state.current().k
    if name == state.FOUND and certificate.found(workspace, k) is None:
        st.warning(
            f"The chosen partition is the best that a search has found at k = {k}, and this session has not searched "
            "there: search again below, or click a point."
        )
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"Chosen now: **{escape_markdown(methods.title(name))}, k = {k}**.", width="content")
        shell.link("clusters", "Clusters →")
        shell.link("release", "**Release →**")


def _table(workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int]) -> None:
    number = st.column_config.NumberColumn
    columns: dict[str, Any] = {"title": "Method", "k": "k"}
    if workspace.is_numeric:
        rows = certificate.with_found(workspace, rows, ks)
        floors = {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks)}
        gaps = [100 * metrics.gap(loss, floors[k]) for loss, k in zip(rows["information_loss"], rows["k"], strict=True)]
        rows = rows.assign(floor=rows["k"].map(floors), gap=gaps)
        columns |= {
            "information_loss": number("IL (%)", format="%.4f"),
            "unpolished": number("IL before polishing (%)", format="%.4f"),
            "gap": number(
                "Above the optimum at most (%)",
                format="%.2f",
                help="100 · (IL − floor) / floor, the floor being what is proven that no partition can get below. A "
                "search for a better floor, above, lowers it.",
            ),
            "sse": number("SSE", format="%.4f", help="In squared units of the scaled data."),
        }
        if not state.current().polish:
            del columns["unpolished"]
    else:
        columns |= {
            "information_loss": number("Total-IL (%)", format="%.3f"),
            "total_information_loss": number("Total-IL", format="%.1f"),
            "discernibility": number("DM", format="localized"),
        }
        if workspace.classes is not None:
            columns["classification"] = number("CM", format="percent")
    columns |= {
        "n_groups": "Groups",
        "smallest_group": "Smallest group",
        "largest_group": "Largest group",
        "params": "Parameters",
        "seconds": number("Seconds", format="%.4f"),
    }
    st.subheader("All runs")
    st.dataframe(
        rows[list(columns)].sort_values(["k", "information_loss"]),
        hide_index=True,
        width="stretch",
        height=min(35 * (len(rows) + 1) + 3, 320),
        column_config=columns,
    )
    st.download_button(
        "Download this table (CSV)",
        lambda: to_csv(rows.drop(columns=["settings", "title"])),
        file_name="information_loss.csv",
        mime="text/csv",
        on_click="ignore",
    )


shell.show(body)
