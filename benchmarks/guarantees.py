"""What t-closeness costs: the loss of four ways to get it, on six files, at several k and t.

    MICROAGG_DATA_DIR=… python benchmarks/guarantees.py [--data census …] [--k 3 5 10] [--t 0.05 0.1 0.15 0.25]

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
from benchmarks.tables import RESULTS
from tests.messy import messy_survey

KS = (3, 5, 10)
TS = (0.05, 0.1, 0.15, 0.25)
METHODS = ("mdav", "k-anonymity-first", "t-closeness-first", "least-loss")

#: The quasi-identifiers of the paper's files.
PAPER = ("TAXINC", "POTHVAL")

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


def main() -> None:
    """Read the command line, measure and store."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=FILES, default=list(FILES))
    parser.add_argument("--k", nargs="+", type=int, default=list(KS))
    parser.add_argument("--t", nargs="+", type=float, default=list(TS))
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    given = parser.parse_args()
    rows = [
        measure(name, k, t, key)
        for name in given.data
        for k in given.k
        if k in FEW_KS.get(name, KS)
        for t in given.t
        for key in given.methods
    ]
    if [given.data, given.k, given.t, given.methods] == [list(FILES), list(KS), list(TS), list(METHODS)]:
        table = pd.DataFrame(rows)
        table.to_csv(RESULTS / "guarantees.csv", index=False, float_format="%.10g", lineterminator="\n")
        tables.write()


if __name__ == "__main__":
    main()
