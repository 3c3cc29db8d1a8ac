"""What blocks cost: the loss of a partition found block by block beside that of all records together.

    MICROAGG_DATA_DIR=… python benchmarks/blocks.py              # the plan below, what is stored already left out
    python benchmarks/blocks.py --n 100000 --d 10 --data uniform --methods mdav-plus --k 5 --blocks 2 8

Data are those of scaling.py, standardized; the cuts are learned on ``SAMPLE`` records drawn at random. IL in percent
for one block, which is the run without blocks, and for more, side by side; seconds of learning, assigning and
partitioning on all cores, one block after the other, kernels compiled.

Every figure is stored in benchmarks/results/blocks.csv once it is there: a run that is stopped goes on where it was. IL
depends on nothing but the data and the code; seconds on the machine, and on whatever else it does.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from benchmarks.scaling import DATA, make_data
from benchmarks.storage import Row, store_row, stored
from microagg.columns.records import Attribute
from microagg.distributed.block_cuts import Cuts
from microagg.metrics import information_loss

RESULTS = "blocks.csv"

#: Records from which cuts are learned.
SAMPLE = 100_000
SEED = 0
WARM_UP = 20_000

METHODS = ("mdav-plus", "mdav", "mdav-star")

MANY = (2, 4, 8, 16, 32, 64)

#: What is measured: data, records, attributes, methods, values of k, numbers of blocks.
PLAN = (
    (("uniform",), 1_000_000, 10, ("mdav-plus",), (5, 3, 10), (1, 2)),
    (("uniform",), 1_000_000, 10, ("mdav-plus",), (5,), (8, 32)),
    (("uniform",), 100_000, 10, ("mdav-plus",), (5, 3, 10), (1, *MANY)),
    (("uniform",), 100_000, 10, ("mdav", "mdav-star"), (5,), (1, *MANY)),
    (("mixture", "eia"), 100_000, 10, ("mdav-plus",), (5,), (1, *MANY)),
    (("uniform",), 100_000, 5, ("mdav-plus",), (5,), (1, *MANY)),
    (("uniform",), 100_000, 2, ("mdav-plus",), (5,), (1, *MANY)),
    (("mixture",), 1_000_000, 10, ("mdav-plus",), (5,), (1, 2, 8, 32)),
)

KEY = ("data", "n", "d", "method", "k", "blocks")
COLUMNS = (*KEY, "largest", "il", "seconds")


def measure(X: np.ndarray, method: str, k: int, n_blocks: int) -> Row:
    """Return loss and seconds of one cell."""
    started = time.perf_counter()
    rows = np.random.default_rng(SEED).choice(len(X), min(SAMPLE, len(X)), replace=False)
    attributes = tuple(Attribute(j) for j in range(X.shape[1]))
    cuts = Cuts.learn(X[rows], attributes, n_blocks)
    blocks = cuts.assign(X)
    labels, n_groups = np.empty(len(X), dtype=np.int64), 0
    for block in range(cuts.n_blocks):
        rows = np.flatnonzero(blocks == block)
        partition = microagg.make(method, k=k).fit(X[rows]).partition_
        labels[rows] = n_groups + partition.labels
        n_groups += partition.n_groups
    seconds = time.perf_counter() - started
    return {
        "largest": str(np.bincount(blocks).max()),
        "il": f"{information_loss(X, labels):.6g}",
        "seconds": f"{seconds:.4g}",
    }


def main() -> None:
    """Measure what is not stored yet, and print each row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=DATA)
    for name in ("n", "d", "k", "blocks"):
        parser.add_argument(f"--{name}", nargs="+", type=int)
    parser.add_argument("--methods", nargs="+", choices=METHODS)
    parser.add_argument("--minutes", type=float, default=np.inf, help="no further cell is begun after these")
    given = parser.parse_args()
    plan = PLAN
    if given.n:
        chosen = (given.methods or METHODS, given.k or (3, 5, 10), [1, *(given.blocks or (2, 8, 32))])
        plan = [(given.data or ("uniform",), n, d, *chosen) for n in given.n for d in given.d or [10]]
    ends = time.monotonic() + 60 * given.minutes
    for kinds, n, d, methods, ks, blocks in plan:
        for kind in kinds:
            X = None
            for method, k, n_blocks in itertools.product(methods, ks, blocks):
                key = list(map(str, (kind, n, d, method, k, n_blocks)))
                is_stored = any([row[name] for name in KEY] == key for row in stored(RESULTS))
                if is_stored or time.monotonic() > ends:
                    continue
                if X is None:
                    X = microagg.standardize(make_data(kind, n, d))
                microagg.make(method, k=k).fit(X[:WARM_UP])
                found = measure(X, method, k, n_blocks)
                store_row(RESULTS, COLUMNS, dict(zip(KEY, key, strict=True)) | found, len(KEY))
                print(*key, *(f"{name} {value}" for name, value in found.items()), flush=True)


if __name__ == "__main__":
    main()
