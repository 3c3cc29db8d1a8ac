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
import itertools
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from benchmarks import tables
from benchmarks.scaling import DATA, make_data
from benchmarks.storage import store_row, stored
from microagg.metrics import information_loss
from microagg.optimum import bounds, certificate

RESULTS = "floors.csv"
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
    known = {tuple(row[name] for name in COLUMNS[:4]) for row in stored(RESULTS)}
    certificate.prepare()
    for data, d, k in itertools.product(kinds, ds, ks):
        if not chosen and (data, str(given.n), str(d), str(k)) in known:
            continue
        row = measure(data, given.n, d, k, given.seconds)
        share = 100 * float(row["floor"]) / float(row["neighbors"])
        print(", ".join(f"{name} {value}" for name, value in row.items()), f"({share:.1f} % of neighbors)", flush=True)
        store_row(RESULTS, COLUMNS, row, 4)
    tables.write()


if __name__ == "__main__":
    main()
