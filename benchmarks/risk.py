"""Seconds that each measure of risk takes on many records, kernels compiled.

    python benchmarks/risk.py [-n 1000000] [-d 10] [-k 5] [--sample 100000]

The records are independent and normal, in which neighbors are hardest to find; groups halve the records at the median
of the attribute with the widest range until fewer than 2k are left. ``--sample`` looks up only so many in linkage.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from microagg.metrics import risk
from microagg.partition import group_means


def halved(X: np.ndarray, k: int) -> np.ndarray:
    """Return groups of k to 2k - 1 records."""
    labels, groups = np.empty(len(X), dtype=np.int64), 0
    todo = [np.arange(len(X))]
    while todo:
        rows = todo.pop()
        if len(rows) < 2 * k:
            labels[rows], groups = groups, groups + 1
            continue
        middle = len(rows) // 2
        order = rows[np.argpartition(X[rows, np.ptp(X[rows], axis=0).argmax()], middle)]
        todo += [order[:middle], order[middle:]]
    return labels


def measures(n: int, d: int, k: int, sample: int | None) -> dict[str, Callable[[], float]]:
    """Return what is measured, under its name."""
    X = np.random.default_rng(0).normal(size=(n, d))
    labels = halved(X, k)
    released = group_means(X, labels)[labels]
    before, after = pd.DataFrame(X).round(1), pd.DataFrame(released)
    pay, town = X[:, 0], np.array(list("abcdefgh"))[(X[:, 1] * 2).astype(int) % 8]
    known = list(before.columns)
    sizes = risk.uniqueness(before, known[:2]).sizes
    linkage = risk.record_linkage(X, released, sample=sample)
    return {
        "record linkage": lambda: risk.record_linkage(X, released, sample=sample).share,
        "record linkage, Mahalanobis": lambda: (
            risk.record_linkage(X, released, distance="mahalanobis", sample=sample).share
        ),
        "record linkage, 3 attributes": lambda: (
            risk.record_linkage(X, released, attributes=range(min(d, 3)), sample=sample).share
        ),
        "interval disclosure, ranks": lambda: risk.interval_disclosure(X, released, 0.1).share,
        "interval disclosure, sd": lambda: risk.interval_disclosure(X, released, 0.05, by="sd").share,
        "uniqueness before": lambda: risk.uniqueness(before, known).share,
        "uniqueness after": lambda: risk.uniqueness(after, known).share,
        "uniqueness with each": lambda: sum(
            found.share for found in risk.uniqueness_with_each(before, known[:1], known[1:]).values()
        ),
        "homogeneity, numbers": lambda: risk.homogeneity(pay, labels).t_closeness,
        "homogeneity, categories": lambda: risk.homogeneity(town, labels).t_closeness,
        "records at risk": lambda: risk.records_at_risk(X, released, linkage=linkage).outlyingness[0],
        "leaving out": lambda: risk.leaving_out(X, labels, np.arange(min(20, n - 1))).after,
        "population uniques, Pitman": lambda: risk.population_uniques(sizes, 0.05, "pitman").share,
        "population uniques, Zayatz": lambda: risk.population_uniques(sizes, 0.05, "zayatz").share,
        "individual risk": lambda: risk.individual_risk(before, known[:2], np.full(n, 20.0)).share,
    }


def main() -> None:
    """Print the seconds and the figure of each measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=1_000_000)
    parser.add_argument("-d", type=int, default=10)
    parser.add_argument("-k", type=int, default=5)
    parser.add_argument("--sample", type=int, default=None)
    given = parser.parse_args()
    measures(200, given.d, given.k, None)  # compiles
    for name, measure in measures(given.n, given.d, given.k, given.sample).items():
        start, computed = time.perf_counter(), time.process_time()
        figure = measure()
        seconds, computed = time.perf_counter() - start, time.process_time() - computed
        print(f"{name:32}{seconds:8.2f} s {computed:8.2f} s of all threads   {figure:.6g}", flush=True)


if __name__ == "__main__":
    main()
