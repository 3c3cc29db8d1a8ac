"""Printed figures: each figure that the papers print, and the result of the same algorithm here."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from microagg import datasets
from microagg.algorithms.method import VARIANTS
from microagg.metrics.generalization import least_discernibility
from microagg.optimum.bounds import Bound
from microagg.studies import literature, sweeps
from microagg.studies.literature import Computed, Figure
from pages.evidence import figures
from pages.shared import curves, measures, methods, state, theme
from pages.shared.figures import download, show_figure, show_table
from pages.shared.text import count, escape_markdown, listing

_ADULT_COMMAND = "python benchmarks/adult.py"  # makes the stored results on Adult

_AGAINST = {
    "k": "Against k",
    "records": "Against the number of records",
    "class_penalty": "Effect of the class penalty",
}


def section() -> None:
    index = figures.RESULTS / "published.json"
    results = _stored_figures(index.stat().st_mtime if index.is_file() else 0.0)
    _tally(results)
    left, right = st.columns(2)
    with left:
        paper = state.bound(st.selectbox, "Paper", "paper", options=list(state.PAPERS), format_func=state.PAPERS.get)
    if paper == state.BYUN:
        _adult()
        _coverage(results, paper)
        return
    of_paper = [figure for figure in literature.figures() if figure.paper == paper]
    tables = list(dict.fromkeys(figure.table for figure in of_paper))
    if state.current().evidence.table not in tables:
        state.update(table=tables[0])
    with right:
        table = state.bound(st.selectbox, "Table", "table", options=tables)
    chosen = [figure for figure in of_paper if figure.table == table]
    _source(results, paper, table)
    _table(chosen, results.results)
    if table.startswith("Table 3"):
        _gain_over_mdav(chosen, results.results)
    if paper == "thaeter-reischuk":
        _differences_of_mdav_star(of_paper, results.results)
    if paper == "kabir-2010":
        _pairwise_systematic(chosen)
    _coverage(results, paper)


def _tally(results: literature.Stored) -> None:
    counted = literature.tally(literature.figures(), results.results)
    computed = counted.exact + counted.near + counted.far + counted.random + counted.incomparable + counted.misprints
    left_out = f" {counted.figures - computed} are not computed." if counted.figures > computed else ""
    st.markdown(
        f"**{counted.exact} of {counted.figures} printed figures are reproduced exactly**, {counted.near} more within 1 %; "
        f"{counted.far} differ by more. {counted.random} are means over random data, which nobody can reproduce exactly: "
        f"{counted.agreeing} of ours are within {literature.ERRORS} standard errors. {counted.incomparable} are not "
        f"comparable and {count(counted.misprints, 'is a misprint', 'are misprints')}; remarks below each table say "
        f"why.{left_out}"
    )


@st.cache_resource(max_entries=1, show_spinner=False)
def _stored_figures(stamp: float) -> literature.Stored:
    return literature.Stored.read(figures.RESULTS)


def _source(results: literature.Stored, paper: str, table: str) -> None:
    source = "This installation has no stored results."
    if results.date:
        by = f"stored by benchmarks/published.py with microagg {results.version}"
        source = f"Source: results of {results.date}, {by}."
    st.caption(f"{escape_markdown(source)} This command computes the table again:")
    st.code(f'microagg reproduce "{state.PAPERS[paper]}" --table "{table}"', language="bash")


def _table(chosen: list[Figure], results: dict[str, Computed]) -> None:
    table = literature.comparison(chosen, results)
    table["method"] = table["method"].str.replace("mu-", "µ-")
    computed = table.dropna(subset="difference")
    if not computed.empty:
        st.markdown(f"**{escape_markdown(literature.conclusion(computed))}**")
    names: dict[str, Any] = {
        "data": "Data set",
        "method": "Method",
        "variant": "Variant",
        "k": "k",
        "printed": st.column_config.TextColumn(f"Printed {chosen[0].unit}", alignment="right"),
        "ours": st.column_config.TextColumn("Ours", alignment="right"),
        "difference": st.column_config.NumberColumn("Difference (%)", format="%.3f"),
        "verdict": "Verdict",
    }
    if not table["variant"].any():
        del names["variant"]
    rounded = table["difference"].round(3) + 0.0  # without a minus before 0
    show_table(table.assign(difference=rounded)[list(names)], names, height=min(35 * len(table) + 40, 560))
    remarks = []
    for remark, part in table[table["remark"] != ""].groupby("remark", sort=False):
        cells = [f"{data} (k = {', '.join(map(str, dict.fromkeys(ks)))})" for data, ks in part.groupby("data")["k"]]
        remarks.append(escape_markdown(f"{listing(list(dict.fromkeys(part['method'])))} on {listing(cells)}: {remark}"))
    if remarks:
        st.caption("  \n".join(remarks))


def _gain_over_mdav(chosen: list[Figure], results: dict[str, Computed]) -> None:
    gains = literature.gain_over("MDAV", chosen, results)
    if gains.empty:
        return
    st.header("Utility gain of IMHM over MDAV")
    st.caption("By how many percent the loss of IMHM is lower: 100 · (1 − IL / IL of MDAV).")
    names: dict[str, Any] = {"data": "Data set", "variant": "Variant"}
    for name in ("printed", "ours"):
        names[name] = st.column_config.NumberColumn(f"{name.capitalize()} (%)", format="%.2f")
    show_table(gains[list(names)], names, height="auto")


def _differences_of_mdav_star(of_paper: list[Figure], results: dict[str, Computed]) -> None:
    """The 50 differences of Table 3, which this project has only as they follow from the printed losses."""
    columns: dict[str, Any] = {"data": "Data set", "k": "k"}
    parts = []
    for base in ("MDAV", "V-MDAV"):
        gains = literature.gain_over(base, [each for each in of_paper if each.method in (base, "MDAV*")], results)
        if gains.empty:
            return
        gains = gains.assign(printed=-gains["printed"].round(1), ours=-gains["ours"].round(1))
        names = {name: f"{base}: {name}" for name in ("printed", "ours")}
        for column in names.values():
            columns[column] = st.column_config.NumberColumn(f"From {column} (%)", format="%.1f")
        parts.append(gains.rename(columns=names).set_index(["data", "k"])[list(names.values())])
    # The one-dimensional example has no MDAV.
    table = parts[0].join(parts[1], how="inner").reset_index()
    with st.expander("Differences of MDAV\\* from MDAV and from V-MDAV (Table 3 of the paper)"):
        st.markdown(
            "Loss of MDAV\\* minus that of the other method, in percent of the latter. Table 3 of the paper prints these 50 "
            "differences. We do not have them as printed: the columns show what follows from the printed losses and from "
            "ours. Part (a) of Table 3 is titled as a comparison with MDAV+, but its numbers compare MDAV\\* with MDAV."
        )
        show_table(table, columns)


def _coverage(results: literature.Stored, paper: str) -> None:
    items = literature.coverage(results.results)
    items = items[items["paper"] == paper]
    rows = []
    for row in items.to_dict("records"):
        counts = f"{row['counts']}. " if row["counts"] else ""
        item, content, reason = map(escape_markdown, (row["item"], row["content"], counts + row["reason"]))
        verdict = row["verdict"].capitalize() or "Not run"
        rows.append({"Item": f"**{item}**  \n{content}", "Verdict": f"**{verdict}**  \n{reason}"})
    totals = listing([f"{total} {verdict}" for verdict, total in items["verdict"].value_counts().items() if verdict])
    with st.expander(f"Coverage of this paper: {len(rows)} tables, figures, algorithms and claims"):
        st.caption(f"{totals}. Counts are those of the stored results.")
        st.table(pd.DataFrame(rows), hide_index=True, border="horizontal")


def _pairwise_systematic(chosen: list[Figure]) -> None:
    st.header("Why the row of P-S is not comparable")
    name = chosen[0].dataset
    st.markdown(
        "The paper compares its method P-S with a dozen others and reports less than half of their loss. The figures of "
        "the others are for attributes scaled to mean 0 and variance 1. Those of P-S are reproduced only on **raw, "
        "unscaled data**, where one attribute with large numbers dominates both distance and loss. On scaled data they "
        "would be impossible: they are below the lower bound. Both readings side by side:"
    )
    if not datasets.is_available(name.lower()):
        st.info(f"To compute both readings, download {name} on the page Data.")
        return
    readings = {figure: _readings(name.lower(), figure.k) for figure in chosen if figure.method == "P-S"}
    table = [
        {
            "k": figure.k,
            "Printed (%)": figure.value,
            "P-S here, raw data (%)": ours.raw,
            "P-S here, scaled data (%)": ours.scaled,
            "MDAV, scaled data (%)": ours.mdav,
            "Lower bound, scaled data (%)": ours.floor,
        }
        for figure, ours in readings.items()
    ]
    rounded = pd.DataFrame(table).style.format(
        lambda number: f"{number:#.4g}" if isinstance(number, float) else str(number)
    )
    st.table(rounded, hide_index=True, border="horizontal")
    above = [100 * (ours.scaled / ours.mdav - 1) for ours in readings.values()]
    least, most = (f"{abs(value):.1f} % {'higher' if value > 0 else 'lower'}" for value in (min(above), max(above)))
    st.caption(f"Both on scaled data, the loss of P-S is between {least} and {most} than that of MDAV.")


@st.cache_data(show_spinner="Running P-S on raw and on scaled data …")
def _readings(name: str, k: int) -> literature.Readings:
    return literature.readings(name, k)


def _adult() -> None:
    st.markdown(
        "Figures 6 to 11 of the paper, on all 30,162 complete records of Adult. The taxonomies are those of this project, "
        "not those of the paper."
    )
    results = figures.stored_table("adult.csv")
    if results.empty:
        st.info("This installation has no stored results. This command makes them in some minutes:")
        st.code(_ADULT_COMMAND, language="bash")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        against = methods.pick_one(_AGAINST, "w_against", "against", "Against")
        if against != "class_penalty":
            labels = {name: each.label for name, each in measures.CATEGORIES.items()}
            measure = methods.pick_one(labels, "w_stored_measure")
    part = results[results["experiment"] == against]
    if against == "class_penalty":
        _class_penalties(part)
    else:
        _curves(part, measure)
    st.caption(f"Source: {count(len(results), 'run')}, one after the other, stored by this command:")
    st.code(_ADULT_COMMAND, language="bash")
    download("Download the stored results (CSV)", (figures.RESULTS / "adult.csv").read_bytes, "adult.csv")


def _curves(rows: pd.DataFrame, measure: str) -> None:
    """Draw a measure of the methods that the dashboard has, by the label of their runs."""
    variants = {variant.method().label: variant for variant in VARIANTS.values()}
    rows = rows[rows["label"].isin(list(variants))]
    rows = rows.assign(
        variant=[variants[label].name for label in rows["label"]],
        title=[variants[label].title for label in rows["label"]],
    )
    against, most = state.current().evidence.against, rows["n_records"].max()
    k, where = state.current().k, ""
    if against != "k":
        k, where = int(rows["k"].iloc[0]), f" and {most:,} records"
    line = None
    if measure == "discernibility":
        column = "k" if against == "k" else "n_records"
        places = sorted({(row[column], row["n_records"], row["k"]) for row in rows.to_dict("records")})
        line = ("lower bound", {at: least_discernibility(n, k) for at, n, k in places})
    floor = []
    if (against, measure) == ("k", "information_loss"):
        floor = [
            Bound(int(row["k"]), row["total_information_loss"], row["information_loss"], seconds=0.0, converged=True)
            for row in figures.stored_table("adult_floor.csv").to_dict("records")
        ]
    show_figure(
        curves.measure_curves(rows, measure, against=against, floor=floor, line=line),
        title=sweeps.summary(rows[rows["n_records"] == most], measure, k, where),
        key="stored_chart",
        alt=f"{measures.CATEGORIES[measure].label} on Adult a{_AGAINST[against][1:]}; the file to download has the numbers.",
    )
    meaning = measures.CATEGORIES[measure].meaning
    further = f" {measures.FLOOR}" if floor else ""
    st.caption("**Time** on the machine that made the results." if measure == "seconds" else f"{meaning}{further}")


def _class_penalties(rows: pd.DataFrame) -> None:
    penalties = rows["params"].str.extract(r"class_penalty=([\d.]+)", expand=False).astype(float)
    rows = rows.assign(penalty=penalties, percent=100 * rows["classification"]).sort_values("penalty")
    losses = rows["information_loss"]
    # Points that all but coincide share a label.
    cluster = (losses.diff().abs() >= 0.03 * (losses.max() - losses.min())).cumsum()
    names = rows["penalty"].map("{:g}".format).groupby(cluster).transform(", ".join)
    notes = [f"class penalty {row.penalty:g}: CM {row.percent:.3g} %" for row in rows.itertuples()]
    rows = rows.assign(label=VARIANTS["k-member"].title, color=theme.style("k-member").color, note=notes)
    titles = measures.CATEGORIES["information_loss"].axis, measures.CATEGORIES["classification"].axis
    figure = figures.lines(rows, "information_loss", "percent", titles)
    figure.update_traces(mode="lines+markers+text", text=names.mask(cluster.duplicated(keep="last"), ""))
    figure.update_traces(textposition="top right", cliponaxis=False)
    alt = "Classification metric against Total-IL of greedy k-member for each class penalty."
    show_figure(figure, title="Greedy k-member: classes against loss, by class penalty", key="stored_tradeoff", alt=alt)
    st.caption(" ".join(measures.CATEGORIES[name].meaning for name in ("classification", "information_loss")))
