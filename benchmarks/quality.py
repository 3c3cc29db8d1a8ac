"""How low the loss gets, and how far from the optimum it can be at most: our searches against every printed figure.

    MICROAGG_DATA_DIR=… python benchmarks/quality.py                     # 24 cells, about an hour
    MICROAGG_DATA_DIR=… python benchmarks/quality.py --data census --k 3 5 10
    MICROAGG_DATA_DIR=… python benchmarks/quality.py --together          # search and floor at once: half an hour

For each of Tarragona, Census and EIA (z-scores) and each k: the lowest standardized figure of the five papers; MDAV and
local search from MDAV*, with their seconds; what a search has found after 1, 10 and 60 seconds, the time of its start
included; the floor that a linear program has proven in as much time; and the gap between the last two, 100 · (IL -
floor) / floor. Cells are written as they get done, to benchmarks/results/quality.csv, which the page "Published
results" and the READMEs show; ``--data`` and ``--k`` replace only the cells they name.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks import tables  # noqa: E402 - the checkout comes first
from microagg import literature, make, metrics  # noqa: E402
from microagg.experiment import Method  # noqa: E402
from microagg.metrics.bounds import LinearProgram  # noqa: E402
from microagg.search import Search  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "quality.csv"
DATA = ("tarragona", "census", "eia")
KS = (3, 4, 5, 6, 10, 25, 50, 100)
MARKS = (1, 10, 60)
COLUMNS = (
    "data",
    "k",
    "printed",
    "printed_by",
    "mdav",
    "mdav_seconds",
    "local_search",
    "local_search_seconds",
    *(f"search_{mark}" for mark in MARKS),
    "floor",
    "floor_seconds",
    "converged",
    "gap",
    "together",
    "cores",
    "date",
)


def timed(key: str, X, k: int, repeat: int = 3) -> tuple[float, float]:
    """Return the IL of an algorithm, and its seconds, the least of some runs."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        labels = make(key, k=k).fit(X).labels_
        seconds.append(time.perf_counter() - started)
    return metrics.information_loss(X, labels), min(seconds)


def search(X, k: int) -> dict[str, float]:
    """Return what a search has found by each of MARKS."""
    started = time.perf_counter()
    own = Search(X, k)
    found = {}
    for mark in MARKS:
        own.improve(seconds=max(started + mark - time.perf_counter(), 0.0))
        found[f"search_{mark}"] = own.information_loss
    return found


def data_of(name: str):
    """Return a benchmark's z-scores, shape (n, d)."""
    return literature.data_for(literature.Recipe(name, Method("mdav"), 3))


def heuristics(name: str, k: int) -> dict[str, float]:
    """Return what MDAV and local search lose, and their seconds."""
    row = {}
    for key, column in (("mdav", "mdav"), ("local-search", "local_search")):
        row[column], row[f"{column}_seconds"] = timed(key, data_of(name), k)
    return row


def cell(name: str, k: int, *, together: bool) -> dict:
    """Return a row of the table."""
    X = data_of(name)
    best = literature.lowest_printed(name, k)
    row = {"data": name, "k": k, "printed": best.information_loss, "printed_by": best.method, **heuristics(name, k)}
    with ThreadPoolExecutor(1) as thread:
        above = thread.submit(search, X, k)
        if not together:
            above.result()
        bound = LinearProgram(X, k).improve(MARKS[-1])
        row |= above.result()
    row |= {"floor": bound.information_loss, "floor_seconds": bound.seconds, "converged": int(bound.converged)}
    row["gap"] = 100 * metrics.gap(row[f"search_{MARKS[-1]}"], bound)
    return row | {"together": int(together), "cores": os.cpu_count(), "date": datetime.date.today().isoformat()}


def warm_up() -> None:
    """Compile everything, or load it from disk."""
    X = data_of("tarragona")[:200]
    for key in ("mdav", "local-search"):
        make(key, k=3).fit(X)
    for k in (3, 10):
        Search(X, k).improve(iterations=10)
        LinearProgram(X, k).improve(2.0)


def stored() -> dict[tuple[str, int], dict]:
    """Return the rows stored so far."""
    if not RESULTS.is_file():
        return {}
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return {(row["data"], int(row["k"])): row for row in csv.DictReader(file)}


def store(rows: dict[tuple[str, int], dict]) -> None:
    """Write all rows, in order."""
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for name in DATA:
            for k in KS:
                row = rows.get((name, k), {})
                if row:
                    writer.writerow({c: f"{v:.6g}" if isinstance(v := row[c], float) else v for c in COLUMNS})


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=DATA)
    parser.add_argument("--k", nargs="*", type=int, default=list(KS), choices=KS)
    parser.add_argument("--local", action="store_true", help="only MDAV and local search, the rest as stored")
    parser.add_argument("--together", action="store_true", help="search and prove the floor at the same time")
    arguments = parser.parse_args()
    warm_up()
    rows = stored()
    for name in arguments.data:
        for k in arguments.k:
            if arguments.local:
                row = rows[name, k] = {**rows[name, k], **heuristics(name, k)}
                store(rows)
                print(name, k, row["mdav_seconds"], row["local_search"], row["local_search_seconds"], flush=True)
                continue
            row = rows[name, k] = cell(name, k, together=arguments.together)
            store(rows)
            print(
                f"{name} k={k}: printed {row['printed']:.6g} ({row['printed_by']}), MDAV {row['mdav']:.6g} in "
                f"{row['mdav_seconds']:.3g} s, local search {row['local_search']:.6g} in "
                f"{row['local_search_seconds']:.3g} s, search {row['search_1']:.6g} {row['search_10']:.6g} "
                f"{row['search_60']:.6g}, floor {row['floor']:.6g} in {row['floor_seconds']:.3g} s"
                f"{' (converged)' if row['converged'] else ''}, gap {row['gap']:.3g} %",
                flush=True,
            )
    tables.write()


if __name__ == "__main__":
    main()
