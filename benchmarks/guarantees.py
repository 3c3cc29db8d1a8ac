"""What t-closeness costs: the loss of four ways to get it, on six files, at several k and t.

    MICROAGG_DATA_DIR=… python benchmarks/guarantees.py [--data census …] [--k 3 5 10] [--t 0.05 0.1 0.15 0.25]
    python benchmarks/guarantees.py --picture             # only: draw the stored results

Each way is a release by ``microaggregate`` with ``closeness``. Groups of MDAV are merged, the cheapest pair first or as
in Algorithm 1 of Soria-Comas, Domingo-Ferrer, Sánchez & Martínez 2015, whichever loses less; k-anonymity first and
t-closeness first are their Algorithms 2 and 3, what lacks something still being merged; Least loss forms its groups
within t. The loss is IL of numbers, and Total-IL in percent of the most there is where there are categories. Results
go to benchmarks/results/guarantees.csv once all is done, if all was asked for, and to the README. Needs the data sets;
runs follow each other, so that their seconds can be compared.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from benchmarks import tables
from benchmarks.storage import RESULTS, ROOT, Row, stored
from tests.e2e.conftest import chromium_path
from tests.messy import messy_survey

PICTURE = ROOT / "docs" / "images" / "closeness.png"
KS = (3, 5, 10)
TS = (0.05, 0.1, 0.15, 0.25)
METHODS = ("mdav", "k-anonymity-first", "t-closeness-first", "least-loss")

#: The quasi-identifiers of the paper's files.
PAPER = ("TAXINC", "POTHVAL")

#: The method of pages whose style a way has, where it is another.
KEYS = {"mdav": "mdav-generic-mixed"}

#: So many records of Adult and of the hospital's file are taken.
RECORDS = 1_000


def adult(secret: str) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return some complete records of Adult, and what its columns are."""
    data = microagg.datasets.load("adult")
    frame = data.frame.dropna(subset=list(data.quasi_identifiers)).sample(RECORDS, random_state=0)
    names = [name for name in data.quasi_identifiers if name != secret]
    own = {attribute.name: attribute for attribute in data.schema.attributes if attribute.name in names}
    return frame, {
        "quasi_identifiers": names,
        "taxonomies": {name: attribute.taxonomy for name, attribute in own.items() if attribute.taxonomy},
        "ordinal": {name: list(attribute.levels) for name, attribute in own.items() if attribute.levels},
    }


def hospital() -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return a survey as a hospital has it, and what its columns are."""
    frame = messy_survey()
    frame["age"] = pd.to_numeric(frame["age"], errors="coerce")
    return frame.dropna().head(RECORDS), {"quasi_identifiers": ["age", "rent", "children", "weight"]}


def census(secret: str, names: Sequence[str] = ()) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return Census, and its quasi-identifiers: all others, if not some ``names``."""
    frame = microagg.datasets.load("census").frame
    return frame, {"quasi_identifiers": list(names) or [name for name in frame.columns if name != secret]}


#: The files: what makes each, and its confidential column.
FILES = {
    "adult": ("Adult", "income", lambda: adult("income")),
    "adult-occupation": ("Adult", "occupation", lambda: adult("occupation")),
    "hospital": ("Hospital", "diagnosis", hospital),
    "census": ("Census", "INTVAL", lambda: census("INTVAL")),
    "census-fedtax": ("Census, 2 attributes", "FEDTAX", lambda: census("FEDTAX", PAPER)),
    "census-fica": ("Census, 2 attributes", "FICA", lambda: census("FICA", PAPER)),
}

#: Where values hardly repeat it takes long: of these files, those of the paper, one k is enough.
FEW_KS = {"census-fedtax": (5,), "census-fica": (5,)}


def measure(name: str, k: int, t: float, method: str) -> dict[str, object]:
    """Return a row: what a release loses, and what it took."""
    title, secret, make = FILES[name]
    frame, columns = make()
    if method == "mdav" and ("taxonomies" in columns):
        method = "mdav-generic-mixed"
    start = time.perf_counter()
    release = microagg.microaggregate(frame, k=k, method=method, confidential=secret, closeness={secret: t}, **columns)
    seconds = time.perf_counter() - start
    report = release.report
    lost = report.generalization if "taxonomies" in columns else report.loss
    assert lost is not None
    [held] = report.guaranteed
    row = {"data": title, "confidential": secret, "n": len(frame), "k": k, "t": t, "method": method}
    row |= {"loss": lost.information_loss, "groups": release.partition.n_groups, "held": held.counted}
    print(*row.values(), f"{seconds:.1f} s", flush=True)
    return row | {"seconds": f"{seconds:.3g}"}


def figure(rows: list[Row]):
    """Return the picture of what is stored: loss against t at k = 5, file by file."""
    import plotly.express as px

    from pages.shared import theme

    frame = pd.DataFrame(rows).astype({"t": float, "loss": float}).query("k == '5'")
    frame["file"] = frame["data"] + ", " + frame["confidential"]
    frame["way"] = [tables.way(row) for row in frame.to_dict("records")]
    styles = {title: theme.style(KEYS.get(way, way)) for way, title in tables.CLOSENESS.items()}
    chart = px.line(
        frame.replace({"way": tables.CLOSENESS}),
        x="t",
        y="loss",
        color="way",
        line_dash="way",
        symbol="way",
        facet_col="file",
        facet_col_wrap=3,
        facet_row_spacing=0.14,
        color_discrete_map={title: style.color for title, style in styles.items()},
        line_dash_map={title: style.dash for title, style in styles.items()},
        symbol_map={title: style.symbol for title, style in styles.items()},
        labels={"loss": "Loss (%)", "way": ""},
        template="plotly_white",
        width=1_200,
        height=620,
    )
    chart.for_each_annotation(lambda title: title.update(text=title.text.removeprefix("file=")))
    chart.update_xaxes(tickvals=list(TS))
    chart.update_yaxes(rangemode="tozero", matches=None, showticklabels=True)
    return chart.update_layout(legend={"orientation": "h", "y": -0.11, "x": 0.5, "xanchor": "center"})


def draw(chart) -> None:
    """Store the picture as Chromium draws it."""
    from playwright.sync_api import sync_playwright

    page_text = chart.to_html(include_plotlyjs=True, config={"staticPlot": True})
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=["--no-sandbox", "--disable-gpu"])
        viewport = {"width": chart.layout.width, "height": chart.layout.height}
        page = browser.new_page(viewport=viewport, device_scale_factor=2)
        page.set_content(page_text)
        page.locator(".legendtext").first.wait_for()
        page.locator(".plot-container").screenshot(path=PICTURE)
        browser.close()


def main() -> None:
    """Read the command line, measure, store and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--k", nargs="+", type=int, default=list(KS))
    parser.add_argument("--t", nargs="+", type=float, default=list(TS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--picture", action="store_true", help="only: draw the stored results")
    given = parser.parse_args()
    if not given.picture:
        rows = [
            measure(name, k, t, key)
            for name in given.data
            for k in given.k
            if k in FEW_KS.get(name, KS)
            for t in given.t
            for key in given.methods
        ]
        if [given.data, given.k, given.t, given.methods] != [list(FILES), list(KS), list(TS), list(METHODS)]:
            return
        table = pd.DataFrame(rows)
        table.to_csv(RESULTS / "guarantees.csv", index=False, float_format="%.10g", lineterminator="\n")
        tables.write()
    draw(figure(stored("guarantees.csv")))


if __name__ == "__main__":
    main()
