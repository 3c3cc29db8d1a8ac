"""Proofs of optima, in files that anyone can check: ``microagg certify benchmarks/results/certificates/census-3.npz``.

    MICROAGG_DATA_DIR=… python benchmarks/certificates.py --data tarragona --k 3 --seconds 900

Searches and proves at once, on z-scores, until the best partition and the lower bound meet; then the file takes the
place of the stored one. :mod:`microagg.optimum.proof_checker` reads it.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.landscape import load_problem
from benchmarks.tables import RESULTS
from microagg.optimum.branching import Proof
from microagg.optimum.certificate import Certificate, prepare

CERTIFICATES = RESULTS / "certificates"


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


def main() -> None:
    """Read the command line, and prove."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, choices=("census", "tarragona", "eia"))
    parser.add_argument("--k", required=True, type=int)
    parser.add_argument("--seconds", type=float, default=120.0)
    arguments = parser.parse_args()
    prepare()
    name, k = arguments.data, arguments.k
    certificate = Certificate(load_problem(name, 0).data, k).narrow(arguments.seconds)
    if not certificate.bound.optimal or certificate.proof is None:
        parser.exit(1, f"not proven: the gap after {certificate.seconds:.0f} s is {100 * certificate.gap:.5f} %\n")
    write_certificate(CERTIFICATES / f"{name}-{k}.npz", name, k, certificate.proof)
    print(f"proven optimal after {certificate.seconds:.0f} s: {certificate.losses[-1][1]:.7f} %")


if __name__ == "__main__":
    main()
