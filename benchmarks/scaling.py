"""Seconds and memory of MDAV, MDAV+, V-MDAV and MDAV* for 1,000 to 1,000,000 records.

    MICROAGG_DATA_DIR=… python benchmarks/scaling.py     # one factor at a time around 10 attributes, k = 5, uniform
    python benchmarks/scaling.py --d 4 --n 1000000       # these only: d, k and data not given are 10, 5 and uniform

Data are uniform; a mixture of Gaussians; or EIA, standardized, its records drawn with replacement and given 1 % of
noise, its 11 attributes cut off at d or repeated up to it. Each cell runs in a process of its own with kernels
compiled; its seconds are the least of up to ``--repeat`` runs of ``fit_predict``, no further one after three seconds.
A method that takes more than ``--cap`` seconds is not measured on more records of the same kind.

Memory is what the process had in use at its peak over what it had before it read the data, so the data count but the
interpreter and compiled code do not, as a multiple of the data, 8 n d bytes, from 1 MB on. The default grid is stored
in benchmarks/results/scaling.csv and scaling.json.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import gc
import json
import math
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

NS = (1_000, 10_000, 100_000, 1_000_000)
DS = (2, 5, 10, 20)
KS = (3, 5, 10)
DATA = ("uniform", "mixture", "eia")
METHODS = ("mdav-plus", "v-mdav", "mdav", "mdav-star")

#: What is varied one factor at a time.
CENTER = ("uniform", 10, 5)

SEED = 0
COMPONENTS = 20
NOISE = 0.01

#: Records of the run that loads compiled code, so many that a tree is worth it.
WARM_UP = 20_000

#: Seconds that starting a process, loading kernels and reading data may take beside the run itself.
START = 60.0

#: Columns of the stored table.
COLUMNS = ("data", "d", "k", "method", "n", "seconds", "peak_over_input")

Setting = tuple[str, int, int]


# --- data ------------------------------------------------------------------------------------------------------------


def make_data(kind: str, n: int, d: int) -> np.ndarray:
    """Return data of one of ``DATA``, shape (n, d).

    Raises
    ------
    DatasetUnavailableError
        If EIA is asked for, is not on this machine and cannot be downloaded.
    """
    rng = np.random.default_rng(SEED)
    if kind == "uniform":
        return rng.random((n, d))
    if kind == "mixture":
        means = rng.uniform(0.0, 10.0, (COMPONENTS, d))
        return means[rng.integers(COMPONENTS, size=n)] + rng.normal(size=(n, d))
    from microagg import datasets, standardize

    X = standardize(datasets.load("eia").X)
    drawn = X[rng.integers(len(X), size=n)][:, np.arange(d) % X.shape[1]]
    return drawn + rng.normal(scale=NOISE, size=(n, d))


# --- one cell, in a process of its own -------------------------------------------------------------------------------


def memory() -> tuple[int, int]:
    """Return the bytes that this process has in use, and those at its peak, as Linux has them."""
    # Not ru_maxrss, which starts with the size of the process that started this one.
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    now, peak = (int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
    return now, peak


def forget_peak() -> None:
    """Give back what is not in use and let the peak begin anew, where the system can."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def run_cell(method: str, k: int, file: str, repeat: int) -> dict[str, float]:
    """Return seconds and peak memory of a method on the data in ``file``, kernels loaded."""
    from microagg import make

    make(method, k=k).fit(np.load(file, mmap_mode="r")[:WARM_UP].copy())
    forget_peak()
    before, _ = memory()
    X = np.load(file)
    seconds: list[float] = []
    peak = 0
    while not seconds or (len(seconds) < repeat and sum(seconds) < 3.0):
        started = time.perf_counter()
        make(method, k=k).fit_predict(X)
        seconds.append(time.perf_counter() - started)
        peak = peak or memory()[1]
    return {"seconds": min(seconds), "peak": max(peak - before, 0)}


# --- the grid --------------------------------------------------------------------------------------------------------


def settings(options: argparse.Namespace) -> list[Setting]:
    """Return which (data, d, k) to measure: those of the command line, or one factor at a time around ``CENTER``."""
    data, d, k = CENTER
    if options.data or options.d or options.k:
        return [(a, b, c) for a in options.data or [data] for b in options.d or [d] for c in options.k or [k]]
    around = [(data, other, k) for other in DS] + [(other, d, k) for other in DATA] + [(data, d, other) for other in KS]
    return list(dict.fromkeys([CENTER, *around]))


def measure_all(options: argparse.Namespace, folder: str) -> list[dict[str, object]]:
    """Measure and print all cells, each method from few records to many."""
    rows = []
    for setting in settings(options):
        data, d, k = setting
        too_slow = set()
        for n in sorted(options.n):
            if n == min(NS) and setting != CENTER:
                continue
            file = str(Path(folder) / "data.npy")
            np.save(file, make_data(data, n, d))
            for method in options.methods:
                if method in too_slow:
                    continue
                row = measure(setting, n, file, method, options)
                if row is None:
                    too_slow.add(method)
                    print(f"{data}, d = {d}, k = {k}, {method}, n = {n:,}: more than {options.cap:g} s", flush=True)
                    continue
                rows.append(row)
                print(", ".join(f"{name} {plain(value)}" for name, value in row.items()), flush=True)
    return rows


def measure(setting: Setting, n: int, file: str, method: str, options: argparse.Namespace) -> dict[str, object] | None:
    """Return the row of a cell, or None if it takes too long."""
    data, d, k = setting
    cell = {"method": method, "k": k, "file": file, "repeat": options.repeat}
    try:
        done = subprocess.run(
            [sys.executable, __file__, "--cell", json.dumps(cell)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=options.cap + START,
        )
    except subprocess.TimeoutExpired:
        return None
    result = json.loads(done.stdout.splitlines()[-1])
    size = 8 * n * d
    peak = result["peak"] / size if size >= 1e6 else math.nan
    values = (data, d, k, method, n, result["seconds"], peak)
    return dict(zip(COLUMNS, values, strict=True))


def store(rows: list[dict[str, object]], options: argparse.Namespace) -> None:
    """Store the rows, and how they came about."""
    from benchmarks import tables
    from benchmarks.digests import code_digest

    tables.store("scaling.csv", COLUMNS, [{name: plain(row[name]) for name in COLUMNS} for row in rows])
    about: dict[str, Any] = {
        "description": "Seconds and peak memory against the number of records.",
        "command": shlex.join(["python", "benchmarks/scaling.py", *sys.argv[1:]]),
        "seed": SEED,
        **tables.environment(),
        "digests": {key: code_digest([key]) for key in sorted(options.methods)},
    }
    tables.write_json(tables.RESULTS / "scaling.json", about)
    tables.write()


def plain(value: object) -> object:
    """Return a value as it is stored."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return value


def main() -> None:
    """Read the command line, measure, print and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=list(NS), help="numbers of records")
    parser.add_argument("--d", type=int, nargs="+", help="numbers of attributes")
    parser.add_argument("--k", type=int, nargs="+", help="minimum group sizes")
    parser.add_argument("--data", nargs="+", choices=DATA)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--repeat", type=int, default=3, help="runs of a cell, the fastest of which counts (default 3)")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds that a cell may take (default 120)")
    parser.add_argument("--cell", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(run_cell(**options.cell)))
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = measure_all(options, folder)
    is_part = options.data or options.d or options.k
    if not is_part and (options.n, options.methods) == (list(NS), list(METHODS)):
        store(rows, options)


if __name__ == "__main__":
    main()
