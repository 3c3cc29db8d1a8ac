"""How far from the optimum, when search and floor tell each other what they find, until both meet.

    MICROAGG_DATA_DIR=… python benchmarks/optima.py --data census --k 3 --seconds 600

For each of the sets (z-scores) and each k: the loss of the best partition, the floor, and after how many seconds
they were there or met (:class:`microagg.certificate.Certificate`), kernels compiled. Rows are written as they get
done to benchmarks/results/optima.csv, which benchmarks/README.md shows. What proves an optimum is written to
benchmarks/results/certificates, where benchmarks/check_optimum.py checks it. Only a better result than the one of a row
takes its place.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import os
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

import numpy as np  # noqa: E402 - the checkout comes first

from benchmarks import tables  # noqa: E402 - the checkout comes first
from benchmarks.quality import DATA, KS, data_of  # noqa: E402
from microagg.certificate import Certificate, prepare  # noqa: E402
from microagg.metrics.enumerated import Proof  # noqa: E402

RESULTS = Path(__file__).parent / "results" / "optima.csv"
CERTIFICATES = RESULTS.parent / "certificates"
COLUMNS = ("data", "k", "loss", "floor", "gap", "optimal", "seconds", "cores", "busy", "date")


def stored() -> dict[tuple[str, int], dict]:
    """Return the rows stored so far."""
    if not RESULTS.is_file():
        return {}
    with RESULTS.open(encoding="utf-8", newline="") as file:
        return {(row["data"], int(row["k"])): row for row in csv.DictReader(file)}


def write_certificate(path: Path, name: str, k: int, proof: Proof) -> None:
    """Write what proves the bound on a data set, as z-scores, as benchmarks/check_optimum.py reads it."""
    prices = [proof.listed, *proof.kept, *(leaf.prices for leaf in proof.leaves)]
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


def cell(name: str, k: int, seconds: float) -> dict:
    """Return a row of the table, and write the certificate of an optimum."""
    busy = os.getloadavg()[0]
    own = Certificate(data_of(name), k).narrow(seconds)
    if own.bound.optimal and own.proof is not None:
        write_certificate(CERTIFICATES / f"{name}-{k}.npz", name, k, own.proof)
    row = {"data": name, "k": k, "loss": f"{own.found[-1][1]:.7f}", "floor": f"{own.proven[-1][1]:.7f}"}
    row |= {"gap": f"{100 * own.gap:.5f}", "optimal": int(own.bound.optimal), "seconds": f"{own.seconds:.0f}"}
    return row | {"cores": os.cpu_count(), "busy": f"{busy:.1f}", "date": datetime.date.today().isoformat()}


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", nargs="*", default=list(DATA), choices=DATA)
    parser.add_argument("--k", nargs="*", type=int, default=list(KS), choices=KS)
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    prepare()
    rows = stored()
    for name in arguments.data:
        for k in arguments.k:
            row = cell(name, k, arguments.seconds)
            print(row, flush=True)
            if (name, k) not in rows or float(row["gap"]) <= float(rows[name, k]["gap"]) or int(row["optimal"]):
                rows[name, k] = row
            with RESULTS.open("w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows[key] for key in sorted(rows))
    tables.write()


if __name__ == "__main__":
    main()
