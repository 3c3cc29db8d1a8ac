"""Published results: each figure that the papers print, and what the same algorithm gives here."""

from pathlib import Path

import pandas as pd
import streamlit as st

from microagg import datasets, literature, metrics
from microagg.experiment import Method
from microagg.literature import Computed, Figure
from microagg.registry import ALGORITHMS
from pages.ui import shell, state, widgets
from pages.ui.charts import published
from pages.ui.charts.layout import show_figure
from pages.ui.published import beyond
from pages.ui.runs import jobs
from pages.ui.text import count, escape_markdown, percent

RESULTS = Path(__file__).parents[1] / "benchmarks" / "results"
_LIVE = "live_figures"


def body() -> None:
    """Draw the page."""
    st.title("Published results")
    printed, further = st.tabs(["Printed figures", "Beyond the papers"])
    with printed:
        _figures()
    with further:
        beyond.section()


def _figures() -> None:
    stored, outdated = _stored()
    _count(stored)
    choices = state.current()
    left, right = st.columns(2)
    with left:
        state.bound(
            st.selectbox, "Paper", "paper", options=list(literature.PAPERS), format_func=literature.PAPERS.__getitem__
        )
    figures = [figure for figure in literature.figures() if figure.paper == state.current().paper]
    tables = list(dict.fromkeys(figure.table for figure in figures))
    if choices.table not in tables:
        state.update(table=tables[0])
    with right:
        state.bound(st.selectbox, "Table", "table", options=tables)
    shown = [figure for figure in figures if figure.table == state.current().table]
    live = _run_here(shown)
    results = {**stored.results, **live}
    _origin(stored, outdated, shown, live)
    _table(shown, results)
    _beyond(shown, results)


def _stored() -> tuple[literature.Stored, list[str]]:
    """Return the stored results, and the algorithms whose code has changed since."""
    index = RESULTS / "published.json"
    return _read_stored(index.stat().st_mtime if index.is_file() else 0.0)


@st.cache_resource(max_entries=1, show_spinner=False)
def _read_stored(stamp: float) -> tuple[literature.Stored, list[str]]:
    # Telling what is outdated parses every algorithm's code, which does not change while the server runs.
    stored = literature.Stored.read(RESULTS)
    return stored, stored.outdated()


def _count(stored: literature.Stored) -> None:
    verdicts = [
        (figure, literature.verdict(figure, stored.results.get(figure.identity))) for figure in literature.figures()
    ]
    exact = sum(verdict.exact for _, verdict in verdicts)
    kinds = pd.Series([figure.kind for figure, _ in verdicts]).value_counts()
    near = sum(
        figure.kind == "exact" and not verdict.exact and verdict.difference is not None and abs(verdict.difference) <= 1
        for figure, verdict in verdicts
    )
    errors = [verdict.standard_errors for _, verdict in verdicts if verdict.standard_errors is not None]
    st.markdown(
        f"**{exact} of {len(verdicts)} printed figures are reproduced to the last digit**, {near} more within 1 %. "
        f"{kinds.get('random', 0)} are figures for random data, which nobody can meet exactly: "
        f"{sum(error <= 3 for error in errors)} of ours are within 3 standard errors. "
        f"{kinds.get('incomparable', 0)} are not comparable and {kinds.get('misprint', 0)} is a misprint, each with the "
        "reason beside it."
    )


def _run_here(figures: list[Figure]) -> dict[str, Computed]:
    """Offer to compute the table now, and return what has been computed in this session."""
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
    asked = st.session_state.get("live_table") == identity
    if not asked:
        sets = sum(recipe.sets for _, recipe in todo)

        def begin() -> None:
            st.session_state["live_table"] = identity
            jobs.results().jobs.pop("literature", None)

        st.button(f"Compute this table here and now ({count(sets, 'run')})", on_click=begin)
        return live

    def work(job: jobs.Job) -> None:
        jobs.compile_for(job, [recipe.method.key for _, recipe in todo])
        for figure, recipe in todo:
            job.message = f"{figure.method} on {figure.dataset}, k = {figure.k}"
            live[figure.identity] = literature.compute(recipe, lambda _: job.check())
            job.done += 1

    job = jobs.results().start("literature", identity, len(todo), work)
    job.wait(1.0)
    if job.running:
        jobs.watch(job)
    else:
        jobs.ended_early("literature")
    return live


def _origin(stored: literature.Stored, outdated: list[str], figures: list[Figure], live: dict[str, Computed]) -> None:
    here = sum(figure.identity in live for figure in figures)
    if here:
        st.caption(f"{count(here, 'figure')} computed here in this session; the others are stored results.")
    elif stored.date:
        says = f"Stored results, computed on {stored.date} with microagg {stored.version} by benchmarks/published.py."
        changed = {figure.recipe.method.key for figure in figures if figure.recipe} & set(outdated)
        if changed:
            names = ", ".join(sorted(widgets.title_of(key) for key in changed))
            says += f" The code of {names} has changed since."
        st.caption(escape_markdown(says))
    else:
        st.caption("There are no stored results in this installation: compute the table above.")


def _table(figures: list[Figure], results: dict[str, Computed]) -> None:
    rows = []
    for figure in figures:
        ours = results.get(figure.identity)
        verdict = literature.verdict(figure, ours)
        digits = len(figure.printed.split(".")[1]) if "." in figure.printed else 0
        value = "" if ours is None else f"{ours.value:.{digits}f}"
        rows.append(
            {
                "data": figure.dataset,
                "method": figure.method,
                "variant": figure.variant,
                "k": figure.k,
                "printed": figure.printed + (f" ± {figure.sd:g}" if figure.sd is not None else ""),
                "ours": value + (f" ± {ours.sd:.{digits}f}" if ours and ours.sd is not None else ""),
                "difference": verdict.difference,
                "verdict": verdict.name,
                "errors": verdict.standard_errors,
                "remark": figure.remark,
            }
        )
    table = pd.DataFrame(rows)
    differences = table.dropna(subset="difference")
    if not differences.empty:
        show_figure(
            published.differences(differences),
            title=_conclusion(differences),
            key="differences",
            alt="Difference of our figures from the printed ones in percent, by method; the table below has the numbers.",
        )
    table = table.drop(columns="errors" if table["variant"].any() else ["errors", "variant"])
    st.dataframe(
        table,
        hide_index=True,
        width="stretch",
        height=min(35 * len(table) + 40, 560),
        column_config={
            "data": "Data set",
            "method": "Method",
            "variant": "Variant",
            "k": "k",
            "printed": f"Printed {figures[0].unit}",
            "ours": "Ours",
            "difference": st.column_config.NumberColumn("Difference (%)", format="%.3f"),
            "verdict": "Verdict",
            "remark": st.column_config.TextColumn("Remark", width="large"),
        },
    )


def _conclusion(table: pd.DataFrame) -> str:
    exact = int((table["verdict"] == "to the last digit").sum())
    errors = table["errors"].dropna()
    if len(errors) < len(table):
        return f"{exact} of {len(table)} figures of this table are met to the last digit"
    near = int((errors <= 3).sum())
    if near == len(errors):
        return f"All {near} figures for random data are within {errors.max():.1f} standard errors of print"
    return f"{near} of {len(errors)} figures for random data are within 3 standard errors of print"


def _beyond(figures: list[Figure], results: dict[str, Computed]) -> None:
    """Show what belongs to a table besides its figures."""
    table = figures[0].table
    if table.startswith("SimU"):
        _curves_of_random_sets()
    if table.startswith("Table 3"):
        _gain_over_mdav(figures, results)
        _convergence()
    if figures[0].paper == "kabir-2010":
        _pairwise_systematic(figures)


def _curves_of_random_sets() -> None:
    gamma, simc = _stored_curve("gamma.csv"), _stored_curve("simc.csv")
    if gamma is not None:
        for name, title in (("simu", "SimU"), ("simc", "SimC")):
            part = gamma[gamma["data"] == name]
            best = part.loc[part.groupby("k")["information_loss"].idxmin(), ["k", "gamma"]]
            listed = ", ".join(f"{gamma:g} at k = {k}" for gamma, k in zip(best["gamma"], best["k"], strict=True))
            show_figure(
                published.gamma_curves(part),
                title=f"V-MDAV on {title}: the γ that loses least on average is {listed}",
                key=f"gamma_{name}",
                alt=f"Mean information loss of V-MDAV on 25 {title} sets against γ, a line for each k.",
            )
    if simc is not None:
        means = simc.assign(label=simc["method"].map(widgets.title_of))
        at = means.pivot(index="k", columns="method", values="information_loss")
        saved = 100 * (1 - at["mdav-star"] / at["mdav"])
        show_figure(
            published.mean_curves(means),
            title=f"SimC, k = 2 to 100: MDAV* loses up to {saved.max():.0f} % less than MDAV (at k = {saved.idxmax()})",
            key="simc_curves",
            alt="Mean information loss on 25 SimC sets against k for MDAV, MDAV+, V-MDAV and MDAV*.",
        )


def _gain_over_mdav(figures: list[Figure], results: dict[str, Computed]) -> None:
    mdav = {(f.dataset, f.k): f for f in figures if f.method == "MDAV"}
    rows = []
    for figure in figures:
        base = mdav.get((figure.dataset, figure.k))
        if figure.method == "MDAV" or base is None:
            continue
        ours, ours_base = results.get(figure.identity), results.get(base.identity)
        if not (ours and ours_base):
            continue
        rows.append(
            {
                "Data set": figure.dataset,
                "Variant": figure.variant,
                "k": figure.k,
                "Printed (%)": 100 * (1 - figure.value / base.value),
                "Ours (%)": 100 * (1 - ours.value / ours_base.value),
            }
        )
    if rows:
        st.subheader("Utility gain of IMHM over MDAV")
        st.caption("By how many percent IMHM loses less than MDAV: 100 · (1 − IL / IL of MDAV).")
        config = {name: st.column_config.NumberColumn(format="%.2f") for name in ("Printed (%)", "Ours (%)")}
        st.dataframe(pd.DataFrame(rows), hide_index=True, width="stretch", column_config=config)


def _convergence() -> None:
    curve = _stored_curve("convergence.csv")
    if curve is None:
        return
    ends = curve.groupby(["data", "k"])["information_loss"].agg(["first", "last"])
    saved = 100 * (1 - ends["last"] / ends["first"])
    show_figure(
        published.convergence(curve),
        title=f"IMHM round by round: it takes {saved.min():.0f} to {saved.max():.0f} % off the loss of its MDAV start",
        key="convergence",
        alt="Information loss of IMHM after each step, on Tarragona and Census at k = 3, 5 and 10.",
    )


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
    if "p-s" not in ALGORITHMS:
        return
    rows, above = [], []
    for figure in figures:
        if figure.method != "P-S":
            continue
        raw, scaled, mdav, floor = _both_readings(name.lower(), figure.k)
        above.append(100 * (scaled / mdav - 1))
        rows.append(
            {
                "k": figure.k,
                "Printed": percent(figure.value),
                "P-S here, raw data": percent(raw),
                "P-S here, scaled data": percent(scaled),
                "MDAV, scaled data": percent(mdav),
                "Floor, scaled data": percent(floor),
            }
        )
    st.table(pd.DataFrame(rows), hide_index=True, border="horizontal")
    least, most = (f"{abs(value):.1f} % {'more' if value > 0 else 'less'}" for value in (min(above), max(above)))
    st.caption(f"Compared fairly, both on scaled data, P-S loses between {least} and {most} than MDAV.")


@st.cache_data(show_spinner="Running P-S on raw and on scaled data …")
def _both_readings(name: str, k: int) -> tuple[float, float, float, float]:
    """Return IL in percent: of P-S on raw data, and on scaled data that of P-S, of MDAV, and the floor."""
    recipes = (
        literature.Recipe(name, Method("p-s"), k, scaled=False),
        literature.Recipe(name, Method("p-s"), k),
        literature.Recipe(name, Method("mdav"), k),
    )
    raw, scaled, mdav = (literature.compute(recipe).value for recipe in recipes)
    floor = metrics.bounds.nearest_neighbor(literature.data_for(recipes[1]), k).information_loss
    return raw, scaled, mdav, floor


@st.cache_data(show_spinner=False)
def _read_curve(path: str, stamp: float) -> pd.DataFrame:
    return pd.read_csv(path)


def _stored_curve(name: str) -> pd.DataFrame | None:
    path = RESULTS / name
    return _read_curve(str(path), path.stat().st_mtime) if path.is_file() else None


shell.show(body)
