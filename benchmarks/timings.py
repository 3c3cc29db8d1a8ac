"""Seconds and information loss of every algorithm on the benchmarks, kernels compiled, best of a few runs.

MICROAGG_DATA_DIR=… python benchmarks/timings.py [--ks 3 10] [--data census eia]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from microagg import ALGORITHMS, datasets, experiment, make, metrics, standardize


def best_of(key: str, X, k: int) -> tuple[float, float]:
    """Return the least seconds of up to three runs, one if it is long, and the loss."""
    seconds = []
    while len(seconds) < 3 and sum(seconds) < 3.0:
        started = time.perf_counter()
        labels = make(key, k=k).fit_predict(X)
        seconds.append(time.perf_counter() - started)
    return min(seconds), metrics.information_loss(X, labels)


def main() -> None:
    """Measure and print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ks", type=int, nargs="*", default=[3, 10])
    parser.add_argument("--data", nargs="*", default=["census", "tarragona", "eia"])
    arguments = parser.parse_args()
    sets = {name: standardize(datasets.load(name).X) for name in arguments.data}
    experiment.prepare(ALGORITHMS)
    cells = [(name, k) for name in sets for k in arguments.ks]
    print("| algorithm | " + " | ".join(f"{name} k={k}: s, IL %" for name, k in cells) + " |")
    print("|---" * (1 + len(cells)) + "|")
    for key in ALGORITHMS:
        row = [best_of(key, sets[name], k) for name, k in cells]
        print(f"| {key} | " + " | ".join(f"{seconds:.4f}, {loss:.4f}" for seconds, loss in row) + " |", flush=True)


if __name__ == "__main__":
    main()
