"""Releases in parts by the workers of Dask: seconds of each pass, records a second, memory; and the loss of blocks.

    python benchmarks/in_parts.py --records 1000000
    python benchmarks/in_parts.py --records 10000000 --workers 2 --memory 2GiB --store
    MICROAGG_DATA_DIR=… python benchmarks/in_parts.py --blocks                 # what is not stored of BLOCKS

Data are a mixture of 20 Gaussians, as in benchmarks/scaling.py, generated in parts from seeds and written as Parquet
files. They and the release stand in a folder of its own below ``--folder``, which is deleted at the end. Workers are
processes that are limited to ``--memory`` each: Dask ends those that take more. Their peak is the largest resident set
that the operating system saw (``getrusage``), so it has the interpreter and compiled code in it, and pages of files.

``--store`` writes the row to benchmarks/results/in_parts.csv, from which the README's table is.

``--blocks`` compares the loss of a partition by blocks with that of all records together, on standardized data of
scaling.py. Cuts are learned on SAMPLE random records. IL is in percent; seconds are those of learning, assigning and
partitioning on all cores, block by block, with compiled kernels. Each row is stored in benchmarks/results/blocks.csv at
once: a run that was stopped continues there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.scaling import WARM_UP, make_data
from benchmarks.tables import Row, store_row, stored

SEED, COMPONENTS, PART = 0, 20, 250_000

#: Columns of the stored table; seconds of passes stand under their names.
PASSES = ("encode", "assign", "sort", "group", "write", "count")
COLUMNS = (
    *("records", "attributes", "k", "method", "workers", "memory", "block_size", "seconds", "records_a_second"),
    *PASSES,
    *("peak_worker_mib", "working_folder_mib", "information_loss", "realized_k"),
    "cpu",
)


def generate(folder: Path, n: int, d: int) -> Path:
    """Write ``n`` records with ``d`` attributes to Parquet files in a folder, and return it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    centers = np.random.default_rng(SEED).normal(scale=3.0, size=(COMPONENTS, d))
    folder.mkdir()
    for number, start in enumerate(range(0, n, 4 * PART)):
        with pq.ParquetWriter(folder / f"part-{number:04d}.parquet", _schema(d)) as writer:
            for first in range(start, min(start + 4 * PART, n), PART):
                size = min(PART, n - first)
                draw = np.random.default_rng(np.random.SeedSequence([SEED, first]))
                X = centers[draw.integers(COMPONENTS, size=size)] + draw.normal(size=(size, d))
                columns = [*X.T, draw.integers(10, size=size)]
                writer.write_table(pa.Table.from_arrays([pa.array(c) for c in columns], schema=_schema(d)))
    return folder


def _schema(d: int) -> Any:
    import pyarrow as pa

    return pa.schema([*((f"a{j}", pa.float64()) for j in range(d)), ("illness", pa.int64())])


def peak() -> float:
    """Return the most memory that this process has had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def in_parts(source: Path, out: Path, given: dict[str, Any], workers: int, memory: str, block: int | None) -> Any:
    """Return a release in parts, its seconds, the peaks of the workers and the size of the working folder, in MiB."""
    from distributed import Client, LocalCluster

    from microagg.distributed import release
    from microagg.progress import watched

    held = [0.0]
    folder = out.with_name(f"{out.name}.working")

    def hear(message: str, share: float | None) -> bool:
        if message.endswith(message.split(" of ")[-1]) and share is not None:
            sizes = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
            held[0] = max(held[0], sum(sizes) / 2**20)
        print(f"\r{message} ", end="", flush=True)
        return True

    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            memory_limit=memory,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            local_directory=str(out.parent),
        ) as cluster,
        Client(cluster) as client,
    ):
        before = set(client.run(os.getpid).values())
        start = time.perf_counter()
        with watched(hear):
            made = release(source, given, out=out, client=client, block_size=block)
        seconds = time.perf_counter() - start
        peaks = list(client.run(peak).values())
        if set(client.run(os.getpid).values()) != before:
            raise RuntimeError("a worker was ended: it took more memory than it may")
    print()
    return made, seconds, peaks, held[0]


def main() -> None:
    """Measure one row, print it, and store it if that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--attributes", type=int, default=10)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--method", default="mdav-star")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory", default="2GiB")
    parser.add_argument("--block-size", type=int)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--store", action="store_true")
    parser.add_argument("--blocks", action="store_true", help="measure the loss of blocks instead")
    asked = parser.parse_args()
    if asked.blocks:
        compare_blocks()
        return
    folder = Path(tempfile.mkdtemp(prefix="microagg-", dir=asked.folder))
    try:
        row = measure(folder, asked)
    finally:
        shutil.rmtree(folder)
    print(json.dumps(row, indent=1))
    if asked.store:
        store_row("in_parts.csv", COLUMNS, row, 7)


def measure(folder: Path, asked: argparse.Namespace) -> dict[str, Any]:
    """Return one row of the table."""
    source = generate(folder / "in", asked.records, asked.attributes)
    given = {"k": asked.k, "method": asked.method, "confidential": "illness"}
    given["quasi_identifiers"] = [f"a{j}" for j in range(asked.attributes)]
    made, seconds, peaks, held = in_parts(source, folder / "out", given, asked.workers, asked.memory, asked.block_size)
    report = made.report
    if report.n_records != asked.records or report.risk.realized_k < asked.k or not (folder / "out").is_dir():
        raise RuntimeError("the release does not hold what it must")
    values = (
        *(asked.records, asked.attributes, asked.k, asked.method, asked.workers, asked.memory),
        *(made.recipe["block_size"], round(seconds, 1), round(asked.records / seconds)),
        *(round(made.seconds[name], 1) for name in PASSES),
        *(round(max(peaks)), round(held), round(report.loss.information_loss, 4), report.risk.realized_k),
        f"{os.cpu_count()} x {platform.processor() or platform.machine()}",
    )
    return dict(zip(COLUMNS, values, strict=True))


# --- the loss of blocks -----------------------------------------------------------------------------------------------

#: Records from which cuts are learned.
SAMPLE = 100_000

MANY = (1, 2, 4, 8, 16, 32, 64)

#: What is measured: data, records, attributes, method, k, numbers of blocks.
BLOCKS = (
    *(
        ("uniform", 1_000_000, 10, "mdav-plus", k, blocks)
        for k, blocks in ((5, (1, 2, 8, 32)), (3, (1, 2)), (10, (1, 2)))
    ),
    *(("uniform", 100_000, 10, "mdav-plus", k, MANY) for k in (5, 3, 10)),
    *(("uniform", 100_000, 10, method, 5, MANY) for method in ("mdav", "mdav-star")),
    *((data, 100_000, 10, "mdav-plus", 5, MANY) for data in ("mixture", "eia")),
    *(("uniform", 100_000, d, "mdav-plus", 5, MANY) for d in (5, 2)),
    ("mixture", 1_000_000, 10, "mdav-plus", 5, (1, 2, 8, 32)),
)
BLOCK_KEY = ("data", "n", "d", "method", "k", "blocks")


def block_row(X: np.ndarray, method: str, k: int, n_blocks: int) -> Row:
    """Return loss and seconds of a partition by blocks."""
    import microagg
    from microagg.columns.records import Attribute
    from microagg.distributed.block_cuts import Cuts

    started = time.perf_counter()
    rows = np.random.default_rng(SEED).choice(len(X), min(SAMPLE, len(X)), replace=False)
    cuts = Cuts.learn(X[rows], tuple(Attribute(j) for j in range(X.shape[1])), n_blocks)
    blocks = cuts.assign(X)
    labels, n_groups = np.empty(len(X), dtype=np.int64), 0
    for block in range(cuts.n_blocks):
        rows = np.flatnonzero(blocks == block)
        partition = microagg.make(method, k=k).fit(X[rows]).partition_
        labels[rows] = n_groups + partition.labels
        n_groups += partition.n_groups
    seconds = time.perf_counter() - started
    loss = microagg.metrics.information_loss(X, labels)
    return {"largest": str(np.bincount(blocks).max()), "il": f"{loss:.6g}", "seconds": f"{seconds:.4g}"}


def compare_blocks() -> None:
    """Measure what is not stored yet, and print each row."""
    import microagg

    for data, n, d, method, k, numbers in BLOCKS:
        keys = [dict(zip(BLOCK_KEY, map(str, (data, n, d, method, k, blocks)), strict=True)) for blocks in numbers]
        missing = [key for key in keys if not any(key.items() <= row.items() for row in stored("blocks.csv"))]
        if not missing:
            continue
        X = microagg.standardize(make_data(data, n, d))
        microagg.make(method, k=k).fit(X[:WARM_UP])
        for key in missing:
            row = key | block_row(X, method, k, int(key["blocks"]))
            store_row("blocks.csv", list(row), row, len(BLOCK_KEY))
            print(*row.values(), flush=True)


if __name__ == "__main__":
    main()
