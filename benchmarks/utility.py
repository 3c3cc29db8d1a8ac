"""Seconds of each measure of utility.

    python benchmarks/utility.py                     # 1,000,000 records of 10 attributes in groups of 5
    python benchmarks/utility.py --n 1000 --d 10000  # wide data

Data are correlated and skewed. Groups are cut from the order of the records by their first principal component, a cheap
stand-in for an algorithm, and the means of groups are released. The last column of the frames is a class to predict.
Seconds include loading libraries, of which most is scikit-learn's, where they are loaded first.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from microagg import DataError  # noqa: E402 - found by the path above
from microagg.metrics import utility  # noqa: E402


def make_data(n: int, d: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return records, shape (n, d), and what is released in their place."""
    rng = np.random.default_rng(0)
    common = rng.normal(size=(n, 1))
    X = np.exp(0.5 * (common * rng.random(d) + rng.normal(size=(n, d))))
    order = np.argsort(common[:, 0])
    groups = np.empty(n, dtype=np.int64)
    groups[order] = np.minimum(np.arange(n) // k, n // k - 1)
    sizes = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, weights=X[:, j]) / sizes for j in range(d)])
    return X, means[groups]


def frames(X: np.ndarray, released: np.ndarray) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return both tables as frames with a class of five besides."""
    names = [f"x{j}" for j in range(X.shape[1])]
    classes = np.array(list("abcde"))[
        np.digitize(X[:, 0] * X[:, -1], np.quantile(X[:, 0] * X[:, -1], [0.2, 0.4, 0.6, 0.8]))
    ]
    before, after = (pd.DataFrame(table, columns=names).assign(group=classes) for table in (X, released))
    return before, after


def measure(title: str, compute: Callable[[], object]) -> None:
    """Print how long something takes, and what it says."""
    start = time.perf_counter()
    try:
        says = compute()
    except DataError as error:
        says = f"refused: {error}"
    print(f"{title:<24}{time.perf_counter() - start:8.2f} s   {says}", flush=True)


def main() -> None:
    """Print the seconds of all measures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, default=1_000_000)
    parser.add_argument("--d", type=int, default=10)
    parser.add_argument("--k", type=int, default=5)
    given = parser.parse_args()
    X, released = make_data(given.n, given.d, given.k)
    before, after = frames(X, released)
    names = list(before.columns[:-1])
    weights = np.random.default_rng(1).integers(1, 9, given.n).astype(float)
    print(f"{given.n:,} records, {given.d:,} attributes, groups of {given.k}")
    measure("il1s", lambda: utility.il1s(X, released).value)
    measure("moments", lambda: utility.moments(X, released).quantile_change)
    measure("moments, weighted", lambda: utility.moments(X, released, weights).quantile_change)
    measure("hellinger", lambda: utility.hellinger(X, released).value)
    measure("hellinger, frames", lambda: utility.hellinger(before, after).value)
    measure("wasserstein", lambda: utility.wasserstein(X, released).value)
    measure("propensity", lambda: utility.propensity(X, released))
    measure("propensity, frames", lambda: utility.propensity(before, after))
    measure("prediction of a number", lambda: utility.prediction(before, after, names[-1], names[:-1]))
    measure("prediction of a class", lambda: utility.prediction(before, after, "group", names))


if __name__ == "__main__":
    main()
