"""Floors for many records: from nearest neighbors and from Lagrangian decomposition, beside what MDAV* loses.

    python benchmarks/floors.py                                  # the plan below, what is stored already left out
    python benchmarks/floors.py --data uniform --d 10 --k 3 --seconds 60

Data are those of scaling.py, standardized. In one run, kernels compiled: the nearest-neighbor bound, its seconds, the
bound that ``LinearProgram`` has proven after the time given, that of nearest neighbors included, and the loss of
MDAV*; all IL in percent, and what the floor is in percent of that of nearest neighbors. Every row is printed and stored
in benchmarks/results/floors.csv; another run of the same row replaces it. What is proven in a given time depends on the
machine, and on whatever else it does.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import microagg  # noqa: E402 - the checkout comes first
from benchmarks import tables  # noqa: E402
from benchmarks.scaling import DATA, make_data  # noqa: E402
from microagg.metrics import information_loss  # noqa: E402
from microagg.optimum import (  # noqa: E402
    bounds,
    certificate,
)

RESULTS = Path(__file__).parent / "results" / "floors.csv"
COLUMNS = ("data", "n", "d", "k", "neighbors", "neighbors_seconds", "floor", "seconds", "iterations", "mdav_star")

#: Data, attributes and values of k.
PLAN = (("uniform", "mixture"), (5, 10), (3, 5, 10))


def measure(data: str, n: int, d: int, k: int, seconds: float) -> dict[str, str]:
    """Return one row of the table."""
    X = microagg.standardize(make_data(data, n, d))
    neighbors = bounds.nearest_neighbor(X, k)
    began = time.perf_counter()
    program = bounds.LinearProgram(X, k)
    floor = program.improve(max(seconds - (time.perf_counter() - began), 0.0))
    loss = information_loss(X, microagg.make("mdav-star", k=k).fit_predict(X))
    figures = (
        f"{neighbors.information_loss:.5g}", f"{neighbors.seconds:.1f}", f"{floor.information_loss:.5g}",
        f"{floor.seconds:.0f}", str(floor.iterations), f"{loss:.5g}",
    )  # fmt: skip
    return dict(zip(COLUMNS, (data, str(n), str(d), str(k), *figures), strict=True))


def store(row: dict[str, str]) -> None:
    """Store a row in the place of an earlier one of the same data and k."""
    key = tuple(row[name] for name in COLUMNS[:4])
    rows = {tuple(own[name] for name in COLUMNS[:4]): own for own in _stored()}
    rows[key] = row
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows[own] for own in sorted(rows, key=lambda own: (own[0] != "uniform", *map(int, own[1:]))))


def _stored() -> list[dict[str, str]]:
    return tables.stored(RESULTS.name) if RESULTS.exists() else []


def main() -> None:
    """Measure what is asked for, or what is missing of the plan."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--data", nargs="+", choices=list(DATA))
    parser.add_argument("--d", type=int, nargs="+")
    parser.add_argument("--k", type=int, nargs="+")
    parser.add_argument("--seconds", type=float, default=60.0)
    given = parser.parse_args()
    chosen = given.data or given.d or given.k
    kinds, ds, ks = (own or planned for own, planned in zip((given.data, given.d, given.k), PLAN, strict=True))
    known = {tuple(row[name] for name in COLUMNS[:4]) for row in _stored()}
    certificate.prepare()
    for data, d, k in itertools.product(kinds, ds, ks):
        if not chosen and (data, str(given.n), str(d), str(k)) in known:
            continue
        row = measure(data, given.n, d, k, given.seconds)
        share = 100 * float(row["floor"]) / float(row["neighbors"])
        print(", ".join(f"{name} {value}" for name, value in row.items()), f"({share:.1f} % of neighbors)", flush=True)
        store(row)
    tables.write()


if __name__ == "__main__":
    main()
