"""Compare the algorithms for mixed attributes on Adult, as Byun, Kamra, Bertino & Li do in Figures 6 to 11.

    MICROAGG_DATA_DIR=… python benchmarks/adult.py
    python benchmarks/adult.py --restamp                  # new digests, after benchmarks/labels.py

Three experiments on the complete records, with the kinds and taxonomies of ``datasets.load("adult").schema`` and the
income as class: k from 2 to 100 on all records; from 1,000 records to all at one k; and what ``class_penalty`` costs
and gains, from which that of the other two was chosen. Results go to benchmarks/results/adult.csv, one row for each
run with its experiment in the first column, and what they depend on to adult.json; a test holds both against the code.
What no method can lose less than at each k goes to benchmarks/results/adult_floor.csv.
Runs follow each other, so that their seconds can be compared.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import tables
from benchmarks.digests import code_digest
from benchmarks.tables import RESULTS, ROOT
from microagg import datasets
from microagg.columns.records import Records
from microagg.columns.taxonomy import Taxonomy
from microagg.optimum.problem import Problem
from microagg.studies import experiment
from microagg.studies.experiment import Method

TAXONOMIES = ROOT / "sample_data" / "taxonomies" / "adult"

#: The lowest CM of PENALTIES at a Total-IL of at most MODEST times that without a penalty, on all records at k = FIXED.
PENALTY = 2.0
PENALTIES = (0.0, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)
MODEST = 1.1

KS = (2, 5, 10, 20, 50, 100)
SIZES = (1_000, 5_000, 10_000, 15_000, 20_000, 25_000, 30_162)
FIXED = 10
SEED = 0

METHODS = (
    Method("k-member"),
    Method("k-member", {"furthest_from": "seed"}),
    Method("k-member", {"class_penalty": PENALTY}),
    Method("mondrian"),
    Method("mondrian", {"cut": "relaxed"}),
    Method("mdav-generic-mixed"),
)


def load() -> tuple[Records, np.ndarray]:
    """Return the complete records of Adult, and the income of each.

    Raises
    ------
    DatasetUnavailableError
        If the file is not on this machine and cannot be downloaded.
    """
    data = datasets.load("adult")
    complete = data.frame.dropna(subset=list(data.quasi_identifiers))
    return data.schema.records(complete), complete["income"].to_numpy()


def subset(n: int, size: int) -> np.ndarray:
    """Return which ``size`` of ``n`` records to take, in order; a larger subset contains the smaller ones."""
    return np.sort(np.random.default_rng(SEED).permutation(n)[:size])


def compute(
    name: str, records: Records, classes: np.ndarray, cells: Iterable[tuple[Method, int]]
) -> list[dict[str, object]]:
    """Return a row for each cell, in their order."""
    rows = []
    for result in experiment.run(records, cells, classes=classes, workers=1):
        row = {"experiment": name, **result.row()}
        rows.append(row)
        print(
            f"{name}: {row['label']}, k = {row['k']}, n = {row['n_records']:,}: "
            f"Total-IL {row['information_loss']:.3f} % ({row['seconds']:.2f} s)",
            flush=True,
        )
    return rows


def compute_all(records: Records, classes: np.ndarray) -> pd.DataFrame:
    """Return the rows of all experiments."""
    experiment.prepare(method.key for method in METHODS)
    rows = compute("k", records, classes, [(method, k) for method in METHODS for k in KS])
    for size in SIZES:
        taken = subset(len(records), size)
        rows += compute("records", records.take(taken), classes[taken], [(method, FIXED) for method in METHODS])
    penalized = [Method("k-member", {"class_penalty": penalty}) for penalty in PENALTIES]
    rows += compute("class_penalty", records, classes, [(method, FIXED) for method in penalized])
    return pd.DataFrame(rows)


def store_floors(records: Records) -> None:
    """Prove what no method can lose less than for each of KS, all at once, and store it; print the seconds."""
    bounds = Problem.of(records).floor(KS)
    columns = {
        "k": [bound.k for bound in bounds],
        "total_information_loss": [bound.sse for bound in bounds],
        "information_loss": [bound.information_loss for bound in bounds],
    }
    pd.DataFrame(columns).to_csv(RESULTS / "adult_floor.csv", index=False, float_format="%.12g", lineterminator="\n")
    print(f"floors: {bounds[0].seconds:.1f} s")


def digests() -> dict[str, str]:
    """Return digests of the code and the taxonomies that the results depend on."""
    found = {key: code_digest([key]) for key in sorted({method.key for method in METHODS})}
    trees = "".join(f"{file.stem}\n{Taxonomy.read(file).to_text()}" for file in sorted(TAXONOMIES.glob("*.txt")))
    return {**found, "taxonomies": hashlib.sha256(trees.encode()).hexdigest()[:16]}


def store(table: pd.DataFrame) -> None:
    """Store the rows, and what they depend on."""
    rows = [row | {"seconds": f"{row['seconds']:.3g}"} for row in table.to_dict("records")]
    text = [{name: f"{cell:.12g}" if isinstance(cell, float) else cell for name, cell in row.items()} for row in rows]
    tables.store("adult.csv", list(table.columns), text)
    about = {
        "description": "Complete records of Adult: k, the number of records and class_penalty varied, one at a time.",
        "command": "python benchmarks/adult.py",
        "k": FIXED,
        "subset_seed": SEED,
        "class_penalty": PENALTY,
        **tables.environment(),
        "digests": digests(),
    }
    tables.write_json(RESULTS / "adult.json", about)


def checks(table: pd.DataFrame) -> dict[str, bool]:
    """Return what the paper finds and whether it is so here, in words."""
    compared = table[table["experiment"] != "class_penalty"]
    penalty = f"class_penalty = {PENALTY:g}"
    aware = compared["label"].str.contains(penalty, regex=False)
    cells = ["experiment", "k", "n_records"]

    def everywhere(column: str, one: pd.Series, others: pd.Series, below: Callable) -> bool:
        worst = compared[one].groupby(cells)[column].max()
        best = compared[others].groupby(cells)[column].min()
        return bool(below(worst, best).all())

    greedy, cut = compared["method"] == "k-member", compared["method"] == "mondrian"
    scan = table[table["experiment"] == "class_penalty"].set_axis(list(PENALTIES))
    modest = scan[scan["total_information_loss"] <= MODEST * scan["total_information_loss"].iloc[0]]
    return {
        "k-member loses less (Total-IL) than Mondrian, for every k and number of records": everywhere(
            "total_information_loss", greedy, cut, pd.Series.lt
        ),
        "k-member has the smaller DM, too": everywhere("discernibility", greedy, cut, pd.Series.lt),
        f"CM is lowest with {penalty}, for every k and number of records": everywhere(
            "classification", aware, ~aware, pd.Series.lt
        ),
        f"{penalty} has the lowest CM at a Total-IL of at most {MODEST:g} times that without": bool(
            modest["classification"].idxmin() == PENALTY
        ),
    }


def show(table: pd.DataFrame) -> None:
    """Print the rows, and what the paper finds."""
    print(table.drop(columns=["method", "params", "settings_tried"]).to_string(index=False))
    for finding, holds in checks(table).items():
        print(f"{'yes' if holds else 'NO '}  {finding}")


def restamp() -> None:
    """Store the digests of the code as it is beside the results as they are, once labels are shown to be the same."""
    path = RESULTS / "adult.json"
    about = json.loads(path.read_text(encoding="utf-8")) | {"digests": digests()}
    tables.write_json(path, about)


def main() -> None:
    """Read the command line; compute, store and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--restamp", action="store_true", help="new digests only, after benchmarks/labels.py")
    if parser.parse_args().restamp:
        restamp()
        return
    records, classes = load()
    table = compute_all(records, classes)
    store(table)
    store_floors(records)
    tables.write()
    show(table)


if __name__ == "__main__":
    main()
