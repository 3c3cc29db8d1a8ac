"""Does a lower loss mean a higher risk? Five methods on Census and Tarragona, by loss and by disclosure risk.

    python benchmarks/risk_and_loss.py [--data census tarragona] [--k 3 5 10] [--iterations 20000]

A row for each data set, k and method: information loss, the share of records linked rightly by distance and by
Mahalanobis distance, the share of released values within 0.05 standard deviations of the original, all in percent. The
search begins with MDAV* and does so many iterations. Needs the data sets, see the README.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from microagg.metrics import information_loss, risk
from microagg.partition import group_means

METHODS = ("mdav", "mdav-star", "v-mdav", "imhm")


def figures(X: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return loss and risks of releasing the groups' means, in percent."""
    released = group_means(X, labels)[labels]
    return {
        "IL": information_loss(X, labels),
        "linked": 100 * risk.record_linkage(X, released).share,
        "linked (Mahalanobis)": 100 * risk.record_linkage(X, released, distance="mahalanobis").share,
        "within 0.05 sd": 100 * risk.interval_disclosure(X, released, 0.05, by="sd").share,
    }


def main() -> None:
    """Print the table, and by data set and k the rank correlation of loss and risk over the methods."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=["census", "tarragona"])
    parser.add_argument("--k", nargs="+", type=int, default=[3, 5, 10])
    parser.add_argument("--iterations", type=int, default=20_000)
    given = parser.parse_args()
    rows = []
    for name in given.data:
        X = microagg.standardize(microagg.datasets.load(name).X)
        for k in given.k:
            found = {key: microagg.make(key, k=k).fit(X).labels_ for key in METHODS}
            found["search"] = microagg.Search(X, k=k).improve(iterations=given.iterations).labels
            rows += [{"data": name, "k": k, "method": key} | figures(X, labels) for key, labels in found.items()]
    table = pd.DataFrame(rows)
    print(table.to_string(index=False, float_format="{:.2f}".format))
    ranks = table.groupby(["data", "k"])[["IL", "linked"]].apply(
        lambda part: part["IL"].corr(part["linked"], "spearman")
    )
    print("\nrank correlation of loss and records linked, over the methods:\n" + ranks.round(2).to_string())


if __name__ == "__main__":
    main()
