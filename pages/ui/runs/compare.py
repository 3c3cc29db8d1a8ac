"""The step Compare methods of the page Mixed data: losses, classes and time against k."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from microagg import ALGORITHMS, DataError
from microagg.experiment import Method
from microagg.tables import to_csv
from microagg.variants import MIXED_VARIANTS as VARIANTS
from microagg.variants import PENALTY
from pages.ui import state, widgets
from pages.ui.charts import measures
from pages.ui.charts.layout import show_figure
from pages.ui.data import mixed
from pages.ui.data.tables import Table
from pages.ui.runs import jobs
from pages.ui.text import count, escape_markdown, listing

_SAMPLES = (500, 1000, 2000, 5000, 10_000, 20_000)
_CHART = "mixed_chart"
_MOST_KS = 30

MEASURES = {
    "information_loss": "Information loss",
    "discernibility": "Discernibility",
    "classification": "Classification",
    "seconds": "Time",
}

MEANINGS = {
    "information_loss": "**Total-IL**: for every record and attribute, the width of the released range, or the height "
    "of the common ancestor in the taxonomy, as a share of all there is. 0 % keeps every value, 100 % leaves nothing.",
    "discernibility": "**Discernibility DM**: every record is charged with the size of its group, the records that it "
    "cannot be told from. It is the sum of the squared group sizes, and least when all groups have k records.",
    "classification": "**Classification metric CM**: the share of records that are not of the class most frequent in "
    "their group, and so would be mistaken for it. The lower, the better the release serves to predict the class.",
    "seconds": "**Time** of the method itself on this machine, while others may run beside it.",
}


def show(table: Table) -> None:
    """Draw the step."""
    workspace = mixed.workspace(table)
    _controls(workspace)
    choices = state.current()
    ks = _ks(choices.ks, workspace.n)
    variants = _runnable(choices.variants, workspace)
    if not variants or not ks:
        st.info("Choose at least one method above." if ks else "Choose at least one k above.")
        return
    say_sample(workspace)
    # Large groups first: they take least time, so that there is something to see at once.
    cells = [(choices.method_of_variant(name), k) for k, name in itertools.product(reversed(ks), variants)]
    names = {choices.method_of_variant(name): name for name in variants}
    job = jobs.sweep(workspace, cells, kind="mixed")

    def draw() -> None:
        rows = _rows(workspace, cells, names)
        if rows.empty:
            st.caption("The first results appear here in a moment.")
        else:
            _chart(rows, workspace)

    pick_measure("measure", with_classes=workspace.classes is not None)
    if job.running:
        jobs.watch(job, draw)
        return
    jobs.ended_early("mixed")
    rows = _rows(workspace, cells, names)
    if rows.empty:
        return
    draw()
    _go_on()
    _all_runs(rows)


def _controls(workspace: mixed.Mixed) -> None:
    choices = state.current()
    shown = [name for name, variant in VARIANTS.items() if workspace.classes is not None or not variant.needs_classes]
    state.bound(
        st.pills,
        "Methods",
        "variants",
        options=shown if set(choices.variants) <= set(shown) else list(VARIANTS),
        selection_mode="multi",
        format_func=lambda name: escape_markdown(VARIANTS[name].title),
    )
    one, two, three, four = st.columns([3, 2, 1, 1], vertical_alignment="bottom")
    with one:
        state.bound(
            st.text_input,
            "Values of k, the minimum group size",
            "ks",
            help="Whole numbers with commas between. Every group gets at least k records, so each released combination "
            "of values occurs at least k times.",
        )
    with two:
        _pick_sample(workspace)
    with three:
        state.bound(
            st.number_input,
            "Seed",
            "sample_seed",
            key="w_sample_seed",
            min_value=0,
            step=1,
            disabled=not workspace.is_sample,
            help="The same seed draws the same sample.",
        )
    with four, st.popover("Settings", width="stretch"):
        _settings(workspace.classes is not None)


def _pick_sample(workspace: mixed.Mixed) -> None:
    n = workspace.n_complete
    chosen = workspace.n if workspace.is_sample else 0
    options = [*sorted({size for size in (*_SAMPLES, chosen) if 0 < size < n}), 0]
    st.session_state["w_sample"] = chosen
    st.selectbox(
        "Records compared",
        options,
        key="w_sample",
        format_func=lambda size: f"{size:,} drawn at random" if size else f"all {n:,}",
        on_change=lambda: state.update(sample=st.session_state["w_sample"]),
        help="Most methods compare every record with every other: ten times the records take about a hundred times as long. "
        "But in a sample there are fewer near neighbors, so losses are higher than on all records.",
    )


def _settings(with_classes: bool) -> None:
    keys = dict.fromkeys(variant.key for variant in VARIANTS.values())
    drawn = False
    for key in keys:
        fixed = {name for variant in VARIANTS.values() if variant.key == key for name in variant.fixed}
        if any(p.name not in fixed and (with_classes or not p.needs_classes) for p in ALGORITHMS[key].params):
            widgets.params_of(key, classes=with_classes, without=fixed)
            drawn = True
    if drawn and with_classes:
        st.caption(f"With a class penalty of 0, the method with class penalty takes {PENALTY:g}.")


def _ks(text: str, n: int) -> list[int]:
    """Return the values of k that are written in ``text``, ascending; those beyond n are left out, saying so."""
    found = []
    for word in text.replace(";", " ").replace(",", " ").split():
        if not word.isdecimal() or int(word) < 1:
            raise DataError(f"{word!r} is no value of k: write whole numbers of at least 1, with commas between.")
        found.append(int(word))
    ks = sorted(set(found))
    if len(ks) > _MOST_KS:
        raise DataError(f"{len(ks)} values of k are too many to compare: write at most {_MOST_KS}.")
    if beyond := [k for k in ks if k > n]:
        st.warning(f"There are only {count(n, 'record')}, so there is no k of {listing([f'{k:,}' for k in beyond])}.")
    return [k for k in ks if k <= n]


def _runnable(names: tuple[str, ...], workspace: mixed.Mixed) -> list[str]:
    without = [name for name in names if VARIANTS[name].needs_classes and workspace.classes is None]
    if without:
        st.caption("Without a class, the methods with class penalty are left out: choose one under Attributes.")
    return [name for name in VARIANTS if name in names and name not in without]


def say_sample(workspace: mixed.Mixed) -> None:
    """Say that only a sample is used, with a way to take all records, and how many are left out."""
    left_out = workspace.n_file - workspace.n_complete
    aside = f"{left_out:,} more lack a quasi-identifier and are left out." if left_out else ""
    if not workspace.is_sample:
        if aside:
            st.caption(f"{count(workspace.n, 'record')}. {aside}")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.info(
            f"This is a sample: {workspace.n:,} of {workspace.n_complete:,} records. On all of them losses are lower, often "
            f"by half and more, as there are nearer neighbors. {aside}"
        )
        st.button(f"Take all {workspace.n_complete:,}", on_click=state.update, kwargs={"sample": 0})


def _rows(workspace: mixed.Mixed, cells: list[jobs.Cell], names: dict[Method, str]) -> pd.DataFrame:
    """Return the results so far, with the name and title of each variant."""
    parts = []
    for method, name in names.items():
        part = jobs.results().table(workspace.digest, [cell for cell in cells if cell[0] == method])
        if not part.empty:
            parts.append(part.assign(variant=name, title=VARIANTS[name].title))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def pick_measure(field: str, *, with_classes: bool) -> None:
    """Draw the picker of the measure; ``field`` tells two apart."""
    options = [name for name in state.MEASURES if with_classes or name != "classification"]
    if state.current().measure not in options:
        state.update(measure=options[0])
    state.bound(
        st.segmented_control,
        "Measure",
        "measure",
        key=f"w_{field}",
        options=options,
        format_func=MEASURES.__getitem__,
        required=True,
        label_visibility="collapsed",
    )


def _chart(rows: pd.DataFrame, workspace: mixed.Mixed) -> None:
    choices = state.current()
    measure = choices.measure
    ks = sorted(rows["k"].unique())
    limit: tuple[str, Mapping[int, float]] | None = None
    if measure == "discernibility":
        limit = ("no method can get below", {k: measures.least_discernibility(workspace.n, k) for k in ks})
    elif measure == "classification":
        whole = 1 - max(pd.Series(workspace.classes).value_counts(normalize=True))
        limit = ("all records in one group", dict.fromkeys(ks, whole))
    show_figure(
        measures.measure_curves(rows, measure, limit=limit, selected=(choices.variant, choices.mixed_k)),
        title=measures.summary_of_measure(rows, measure, choices.mixed_k),
        key=_CHART,
        on_select=_select,
        selection_mode="points",
        alt=f"{MEASURES[measure]} against k for {listing(list(dict.fromkeys(rows['title'])))}; the table below has the "
        "same numbers.",
    )
    st.caption(MEANINGS[measure])


def _select() -> None:
    points = st.session_state[_CHART].selection.points
    if not points or "customdata" not in points[0]:
        return
    name, k = points[0]["customdata"][0], int(points[0]["customdata"][1])
    if name in VARIANTS:
        state.update(variant=name, mixed_k=k)


def _go_on() -> None:
    choices = state.current()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            f"See what {VARIANTS[choices.variant].title} releases at k = {choices.mixed_k}".replace("*", r"\*"),
            type="primary",
            on_click=state.update,
            kwargs={"step": "release"},
        )
        st.caption("Click a point to choose another method and k.")


def _all_runs(rows: pd.DataFrame) -> None:
    shown = ["title", "k", "information_loss", "total_information_loss", "discernibility", "classification"]
    shown += ["n_groups", "smallest_group", "largest_group", "params", "seconds"]
    if rows["classification"].isna().all():
        shown.remove("classification")
    st.subheader("All runs")
    st.dataframe(
        rows[shown].sort_values(["k", "information_loss"]).assign(classification=100 * rows["classification"])[shown],
        hide_index=True,
        width="stretch",
        height=320,
        column_config={
            "title": "Method",
            "information_loss": st.column_config.NumberColumn("Total-IL (%)", format="%.3f"),
            "total_information_loss": st.column_config.NumberColumn("Total-IL", format="%.1f"),
            "discernibility": st.column_config.NumberColumn("DM", format="localized"),
            "classification": st.column_config.NumberColumn("CM (%)", format="%.2f"),
            "n_groups": "Groups",
            "smallest_group": "Smallest group",
            "largest_group": "Largest group",
            "params": "Parameters",
            "seconds": st.column_config.NumberColumn("Seconds", format="%.3f"),
        },
    )
    st.download_button(
        "Download this table (CSV)",
        lambda: to_csv(rows.drop(columns=["settings", "title"], errors="ignore")),
        file_name="mixed_data.csv",
        mime="text/csv",
        on_click="ignore",
    )
