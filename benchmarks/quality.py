"""How low the loss gets, and how far from the optimum it can be at most: search and floor against every printed figure.

    MICROAGG_DATA_DIR=… python benchmarks/quality.py                     # 24 cells, two minutes each
    MICROAGG_DATA_DIR=… python benchmarks/quality.py --data census --k 3 5 10
    MICROAGG_DATA_DIR=… python benchmarks/quality.py --data tarragona --k 3 --seconds 900
    MICROAGG_DATA_DIR=… python benchmarks/quality.py --methods           # only MDAV and Least loss, the rest as stored

For each of Tarragona, Census and EIA (z-scores) and each k: the lowest standardized figure of the four papers; MDAV and
Least loss at its usual effort, with their seconds; what is found after 1, 10 and 60 seconds and in the end, when search
and floor run at once and tell each other what they find (:class:`microagg.optimum.certificate.Certificate`, kernels
compiled) until both meet, which proves an optimum; the floor that is proven by then; and the gap, 100 · (IL - floor) /
floor. The best found is that of the search or of Least loss.

Cells are written as they get done, to benchmarks/results/quality.csv, which the page "Evidence", the landscape
and the READMEs show. What proves an optimum is written to benchmarks/results/certificates, where `microagg certify`
checks it; a partition that is better than what is known is stored by benchmarks/records.py. A cell takes the place of a
stored one only if its gap is no larger or, where both are proven optimal, it was proven no later.
"""

from __future__ import annotations

import argparse
import datetime
import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import records, tables
from benchmarks.tables import RESULTS, store, stored
from microagg import datasets, make, metrics
from microagg.optimum.bounds import gap
from microagg.optimum.branching import Proof
from microagg.optimum.certificate import Certificate, prepare
from microagg.studies import literature
from microagg.studies.experiment import Method

TABLE, CERTIFICATES = "quality.csv", RESULTS / "certificates"
DATA = ("tarragona", "census", "eia")
KS = (3, 4, 5, 6, 10, 25, 50, 100)
MARKS = (1, 10, 60)
COLUMNS = (
    *("data", "k", "printed", "printed_by", "mdav", "mdav_seconds", "least_loss", "least_loss_seconds"),
    *(f"search_{mark}" for mark in MARKS),
    *("search", "floor", "gap", "optimal", "seconds", "cores", "busy", "date"),
)


@dataclass(frozen=True)
class Printed:
    """The lowest loss, in percent, that the papers print for a data set and k, and by which method of which paper."""

    method: str
    paper: str
    information_loss: float


def lowest_printed(name: str, k: int) -> Printed | None:
    """Return the lowest figure that the papers print for z-scores of all attributes; None if there is none at this k.

    What they print as SSE is taken as a share of n·d, the SST of z-scores. Figures that cannot be compared are left
    out.
    """
    printed = []
    for figure in literature.figures():
        recipe = figure.recipe
        if (figure.dataset.lower(), figure.k) != (name, k) or figure.kind in {"incomparable", "misprint"}:
            continue
        if figure.unit == "γ" or (recipe and (recipe.without or not recipe.scaled)):
            continue
        share = 100.0 / np.prod(datasets.describe(name).shape) if figure.unit == "SSE" else 1.0
        printed.append(Printed(figure.method, literature.PAPERS[figure.paper], figure.value * share))
    return min(printed, key=lambda figure: figure.information_loss, default=None)


def timed(key: str, X, k: int, repeat: int = 3) -> tuple[float, float]:
    """Return the IL of an algorithm, and its seconds, the least of some runs."""
    seconds = []
    for _ in range(repeat):
        started = time.perf_counter()
        labels = make(key, k=k).fit(X).labels_
        seconds.append(time.perf_counter() - started)
    return metrics.information_loss(X, labels), min(seconds)


def data_of(name: str):
    """Return a benchmark's z-scores, shape (n, d)."""
    return literature.data_for(literature.Recipe(name, Method("mdav"), 3))


def heuristics(name: str, k: int) -> dict[str, float | str]:
    """Return what MDAV and Least loss lose, and their seconds."""
    row: dict[str, float | str] = {}
    for key, column in (("mdav", "mdav"), ("least-loss", "least_loss")):
        loss, row[f"{column}_seconds"] = timed(key, data_of(name), k)
        row[column] = f"{loss:.7f}"
    return row


def cell(name: str, k: int, seconds: float) -> tuple[dict, Certificate]:
    """Return a row of the table, and the best partition found with what is proven."""
    X, busy = data_of(name), os.getloadavg()[0]
    best = lowest_printed(name, k)
    row = {"data": name, "k": k, "printed": best.information_loss, "printed_by": best.method, **heuristics(name, k)}
    own = Certificate(X, k).narrow(seconds)
    row |= {f"search_{mark}": found_by(own.losses, mark) for mark in MARKS}
    row |= {
        "search": f"{own.losses[-1][1]:.7f}",
        "floor": f"{own.lower_bounds[-1][1]:.7f}",
        "gap": f"{100 * own.gap:.5f}",
    }
    row |= {"optimal": int(own.bound.optimal), "seconds": f"{own.seconds:.0f}"}
    row |= {"cores": os.cpu_count(), "busy": f"{busy:.1f}", "date": datetime.date.today().isoformat()}
    return with_best(row), own


def with_best(row: dict) -> dict:
    """Return a row whose best found is that of Least loss where that is lower."""
    found, floor = min(float(row["search"]), float(row["least_loss"])), float(row["floor"])
    return row | {"search": f"{found:.7f}", "gap": f"{100 * gap(found, floor):.5f}"}


def takes_place(row: dict, of: dict) -> bool:
    """Return whether a cell takes the place of a stored one."""
    by = "seconds" if int(row["optimal"]) and int(of["optimal"]) else "gap"
    return float(row[by]) <= float(of[by])


def found_by(found: list[tuple[float, float]], mark: float) -> float:
    """Return the last of (seconds, loss) by then."""
    return [loss for seconds, loss in found if seconds <= mark][-1]


def write_certificate(path: Path, name: str, k: int, proof: Proof) -> None:
    """Write what proves the bound on a data set, as z-scores, as microagg.optimum.proof_checker reads it."""
    prices = [proof.listed, *(leaf.prices for leaf in proof.leaves)]
    cuts = list(dict.fromkeys(cut for own in prices for cut in own.cuts))
    numbers = {cut: at for at, cut in enumerate(cuts)}
    paths = [leaf.path for leaf in proof.leaves]
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        path,
        data=name,
        k=k,
        labels=proof.labels,
        denominators=[cut.denominator for cut in cuts],
        cut_ends=np.cumsum([0, *(len(cut.records) for cut in cuts)]),
        cut_records=np.array([record for cut in cuts for record in cut.records], dtype=np.int64),
        cut_multipliers=np.array([u for cut in cuts for u in cut.multipliers], dtype=np.int64),
        pi=np.array([own.pi for own in prices]),
        price_ends=np.cumsum([0, *(len(own.cuts) for own in prices)]),
        price_cuts=np.array([numbers[cut] for own in prices for cut in own.cuts], dtype=np.int64),
        sigma=np.concatenate([own.sigma for own in prices]),
        path_ends=np.cumsum([0, *map(len, paths)]),
        decisions=np.array([decision for path in paths for decision in path], dtype=np.int64).reshape(-1, 3),
    )


def store_cells(rows: dict[tuple[str, int], dict]) -> None:
    """Write all rows, in order."""
    cells = [rows[name, k] for name in DATA for k in KS if (name, k) in rows]
    store(TABLE, COLUMNS, [{c: f"{v:.6g}" if isinstance(v := row[c], float) else v for c in COLUMNS} for row in cells])


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=DATA)
    parser.add_argument("--k", nargs="*", type=int, default=list(KS), choices=KS)
    parser.add_argument("--methods", action="store_true", help="only MDAV and Least loss, the rest as stored")
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    make("mdav", k=3).fit(data_of("tarragona")[:200])
    prepare()
    rows = {(row["data"], int(row["k"])): row for row in stored(TABLE)}
    library = records.Library()
    for name in arguments.data:
        for k in arguments.k:
            if arguments.methods:
                rows[name, k] = with_best({**rows[name, k], **heuristics(name, k)})
                store_cells(rows)
                continue
            row, own = cell(name, k, arguments.seconds)
            if library.offer((name, 0, k), own.labels, records.lost(data_of(name), own.labels), "search"):
                library.write()
            print(row, flush=True)
            if (name, k) not in rows or takes_place(row, rows[name, k]):
                rows[name, k] = row
                if own.bound.optimal and own.proof is not None:
                    write_certificate(CERTIFICATES / f"{name}-{k}.npz", name, k, own.proof)
            store_cells(rows)
    tables.write()


if __name__ == "__main__":
    main()
