"""Published results: each figure that the papers print, and what the same algorithm gives here."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from microagg import datasets
from microagg.progress import watched
from microagg.studies import literature, reproduction
from microagg.studies.literature import Computed, Figure
from pages.published import best_known, evidence
from pages.shared import jobs, methods, shell, state, tour
from pages.shared.figures import show_figure, show_table
from pages.shared.job_queue import Job
from pages.shared.text import count, escape_markdown, listing, percent

_LIVE = "live_figures"


def body() -> None:
    tour.draw("published")
    for (_, draw), tab in zip(_PARTS.values(), _tabs(), strict=True):
        with tab:
            if tab.open:
                draw()


def _tabs() -> Sequence[Any]:
    key, names = "w_stored", {label: name for name, (label, _) in _PARTS.items()}
    st.session_state[key] = _PARTS[state.current().published.part][0]
    return st.tabs(list(names), key=key, on_change=lambda: state.update(stored=names[st.session_state[key]]))


def _figures() -> None:
    stored = _stored_figures()
    counted = reproduction.tally(literature.figures(), stored.results)
    computed = counted.exact + counted.near + counted.far + counted.random + counted.incomparable + counted.misprints
    left_out = f" {counted.figures - computed} are not computed." if counted.figures > computed else ""
    st.markdown(
        f"**{counted.exact} of {counted.figures} printed figures are reproduced to the last digit**, {counted.near} more "
        f"within 1 %; {counted.far} differ by more. {counted.random} are figures for random data, which cannot be reproduced exactly: "
        f"{counted.agreeing} of ours are within {reproduction.ERRORS} standard errors. {counted.incomparable} are not comparable and "
        f"{count(counted.misprints, 'is a misprint', 'are misprints')}, each with the reason beside it.{left_out}"
    )
    left, right = st.columns(2)
    with left:
        papers = literature.PAPERS
        paper = state.bound(st.selectbox, "Paper", "paper", options=list(papers), format_func=papers.__getitem__)
    figures = [figure for figure in literature.figures() if figure.paper == paper]
    tables = list(dict.fromkeys(figure.table for figure in figures))
    if state.current().published.table not in tables:
        state.update(table=tables[0])
    with right:
        table = state.bound(st.selectbox, "Table", "table", options=tables)
    chosen = [figure for figure in figures if figure.table == table]
    live = _run_here(chosen)
    results = {**stored.results, **live}
    _origin(stored, chosen, live)
    _table(chosen, results)
    _beyond(chosen, results)


def _stored_figures() -> literature.Stored:
    index = evidence.RESULTS / "published.json"
    return _read_stored(index.stat().st_mtime if index.is_file() else 0.0)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read_stored(stamp: float) -> literature.Stored:
    return literature.Stored.read(evidence.RESULTS)


def _run_here(figures: list[Figure]) -> dict[str, Computed]:
    live: dict[str, Computed] = st.session_state.setdefault(_LIVE, {})
    todo = [(figure, figure.recipe) for figure in figures if figure.recipe]
    missing = sorted({recipe.data for _, recipe in todo if not datasets.is_available(recipe.data)})
    identity = tuple(figure.identity for figure, _ in todo)
    if missing:
        st.info(
            f"To compute it here, {', '.join(datasets.describe(name).title for name in missing)} must be on this machine: "
            "the page Data offers to download it."
        )
        return live
    if st.session_state.get("live_table") != identity:
        sets = sum(recipe.sets for _, recipe in todo)

        def begin() -> None:
            st.session_state["live_table"] = identity
            jobs.results().drop("literature")

        st.button(f"Compute this table here and now ({count(sets, 'run')})", on_click=begin)
        return live

    def work(job: Job) -> None:
        jobs.compile_for(job, [recipe.method.key for _, recipe in todo])
        for figure, recipe in todo:
            job.message = f"{figure.method} on {figure.dataset}, k = {figure.k}"
            with watched(lambda *_: job.should_continue()):
                live[figure.identity] = literature.compute(recipe, lambda _: job.check())
            job.step()

    job = jobs.results().start("literature", identity, len(todo), work)
    job.wait(1.0)
    if job.running:
        jobs.watch(job)
    else:
        jobs.ended_early("literature")
    return live


def _origin(stored: literature.Stored, figures: list[Figure], live: dict[str, Computed]) -> None:
    says = "There are no stored results in this installation: compute the table above."
    if here := sum(figure.identity in live for figure in figures):
        says = f"{count(here, 'figure')} computed here in this session; the others are stored results."
    elif stored.date:
        says = f"Stored results, computed on {stored.date} with microagg {stored.version} by benchmarks/published.py."
        says = escape_markdown(says)
    st.caption(says)


def _table(figures: list[Figure], results: dict[str, Computed]) -> None:
    table = reproduction.comparison(figures, results)
    computed = table.dropna(subset="difference")
    if not computed.empty:
        alt = "Difference of our figures from the printed ones in percent, by method; the table below has the numbers."
        show_figure(evidence.differences(computed), title=reproduction.conclusion(computed), key="differences", alt=alt)
    names: dict[str, Any] = {
        "data": "Data set",
        "method": "Method",
        "variant": "Variant",
        "k": "k",
        "printed": f"Printed {figures[0].unit}",
        "ours": "Ours",
        "difference": st.column_config.NumberColumn("Difference (%)", format="%.3f"),
        "verdict": "Verdict",
    }
    if not table["variant"].any():
        del names["variant"]
    show_table(table[list(names)], names, height=min(35 * len(table) + 40, 560))
    for remark, part in table[table["remark"] != ""].groupby("remark", sort=False):
        cells = [f"{data} (k = {', '.join(map(str, dict.fromkeys(ks)))})" for data, ks in part.groupby("data")["k"]]
        st.caption(escape_markdown(f"{listing(list(dict.fromkeys(part['method'])))} on {listing(cells)}: {remark}"))


def _beyond(figures: list[Figure], results: dict[str, Computed]) -> None:
    table = figures[0].table
    if table.startswith("SimU"):
        _curves_of_random_sets()
    if table.startswith("Table 3"):
        _gain_over_mdav(figures, results)
        _convergence()
    if figures[0].paper == "kabir-2010":
        _pairwise_systematic(figures)


def _curves_of_random_sets() -> None:
    gamma, simc = evidence.stored_table("gamma.csv"), evidence.stored_table("simc.csv")
    if gamma.empty or simc.empty:
        return
    for name, title in (("simu", "SimU"), ("simc", "SimC")):
        part = gamma[gamma["data"] == name]
        best = part.loc[part.groupby("k")["information_loss"].idxmin(), ["k", "gamma"]]
        listed = ", ".join(f"{gamma:g} at k = {k}" for gamma, k in zip(best["gamma"], best["k"], strict=True))
        heading = f"V-MDAV on {title}: the γ that loses least on average is {listed}"
        alt = f"Mean information loss of V-MDAV on 25 {title} sets against γ, a line for each k."
        show_figure(evidence.gamma_curves(part), title=heading, key=f"gamma_{name}", alt=alt)
    at = simc.pivot(index="k", columns="method", values="information_loss")
    saved = 100 * (1 - at["mdav-star"] / at["mdav"])
    show_figure(
        evidence.mean_curves(simc.assign(label=simc["method"].map(methods.title_of))),
        title=f"SimC, k = 2 to 100: MDAV* loses up to {saved.max():.0f} % less than MDAV (at k = {saved.idxmax()})",
        key="simc_curves",
        alt="Mean information loss on 25 SimC sets against k for MDAV, MDAV+, V-MDAV and MDAV*.",
    )


def _gain_over_mdav(figures: list[Figure], results: dict[str, Computed]) -> None:
    gains = reproduction.gain_over("MDAV", figures, results)
    if gains.empty:
        return
    st.subheader("Utility gain of IMHM over MDAV")
    st.caption("By how many percent IMHM loses less than MDAV: 100 · (1 − IL / IL of MDAV).")
    names: dict[str, Any] = {"data": "Data set", "variant": "Variant"}
    for name in ("printed", "ours"):
        names[name] = st.column_config.NumberColumn(f"{name.capitalize()} (%)", format="%.2f")
    show_table(gains[list(names)], names, height="auto")


def _convergence() -> None:
    curve = evidence.stored_table("convergence.csv")
    if curve.empty:
        return
    ends = curve.groupby(["data", "k"])["information_loss"].agg(["first", "last"])
    saved = 100 * (1 - ends["last"] / ends["first"])
    title = f"IMHM round by round: it takes {saved.min():.0f} to {saved.max():.0f} % off the loss of its MDAV start"
    alt = "Information loss of IMHM after each step, on Tarragona and Census at k = 3, 5 and 10."
    show_figure(evidence.convergence(curve), title=title, key="convergence", alt=alt)


def _pairwise_systematic(figures: list[Figure]) -> None:
    st.subheader("Why the row of P-S is not comparable")
    name = figures[0].dataset
    st.markdown(
        "The paper compares its own method P-S with a dozen others and finds that it loses less than half. The figures of "
        "the others are for attributes scaled to mean 0 and variance 1; those of P-S are met only on **raw, unscaled "
        "data**, where one attribute with large numbers dominates both distance and loss. Read as scaled figures they "
        "would be impossible: they lie under the floor that no partition can get below. Both readings side by side:"
    )
    if not datasets.is_available(name.lower()):
        st.info(f"{name} is not on this machine: the page Data offers to download it.")
        return
    read = {figure: _readings(name.lower(), figure.k) for figure in figures if figure.method == "P-S"}
    table = [
        {
            "k": figure.k,
            "Printed": percent(figure.value, 4),
            "P-S here, raw data": percent(ours.raw, 4),
            "P-S here, scaled data": percent(ours.scaled, 4),
            "MDAV, scaled data": percent(ours.mdav, 4),
            "Floor, scaled data": percent(ours.floor, 4),
        }
        for figure, ours in read.items()
    ]
    st.table(pd.DataFrame(table), hide_index=True, border="horizontal")
    above = [100 * (ours.scaled / ours.mdav - 1) for ours in read.values()]
    least, most = (f"{abs(value):.1f} % {'more' if value > 0 else 'less'}" for value in (min(above), max(above)))
    st.caption(f"Compared fairly, both on scaled data, P-S loses between {least} and {most} than MDAV.")


@st.cache_data(show_spinner="Running P-S on raw and on scaled data …")
def _readings(name: str, k: int) -> reproduction.Readings:
    return reproduction.readings(name, k)


_PARTS = {
    "printed": ("Printed figures", _figures),
    "adult": ("All of Adult", evidence.show),
    "beyond": ("Beyond the papers", evidence.section),
    "best": ("Best known partitions", best_known.section),
}

shell.show(body)
