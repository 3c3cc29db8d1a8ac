"""Seconds and memory of MDAV, MDAV+, V-MDAV and MDAV* for 1,000 to 1,000,000 records.

    MICROAGG_DATA_DIR=… python benchmarks/scaling.py     # one factor at a time around 10 attributes, k = 5, uniform
    python benchmarks/scaling.py --full --minutes 0      # every d, k and data with every other, however long it takes
    python benchmarks/scaling.py --d 4 --n 1000000       # these only: d, k and data not given are 10, 5 and uniform
    python benchmarks/scaling.py --anonypyx PYTHON       # also anonypyx, of the interpreter it is installed for
    python benchmarks/scaling.py --compile               # how long compiling takes
    python benchmarks/scaling.py --picture               # draw docs/images/scaling.png from the stored results

Data are uniform; a mixture of Gaussians; or EIA, standardized, its records drawn with replacement and given 1 % of
noise, its 11 attributes cut off at d or repeated up to it. Each cell runs in a process of its own with kernels
compiled; its seconds are the least of up to ``--repeat`` runs of ``fit_predict``, no further one after three seconds.
A run by brute force must give the same groups.

Memory is what the process had in use at its peak over what it had before it read the data, so the data count but the
interpreter and compiled code do not; a multiple of the data, 8 n d bytes, is given from 1 MB. "x brute force" is how
many times longer the same algorithm takes where ``crossover.tree_if_faster`` never gives a tree, measured in the same
run up to ``--brute-cap`` seconds; ``~`` marks what was extrapolated from fewer records, times n². The exponent of
growth is that between a number of records and the one before.

Cells that would probably take more than ``--cap`` seconds, by the exponent so far, or for which ``--minutes`` do not
suffice are left out, and listed. The default grid and ``--full`` are stored in benchmarks/results/scaling.csv and
scaling.json; others only with ``--store``. How many cores other processes kept busy meanwhile is stored beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import ctypes
import gc
import hashlib
import json
import math
import os
import platform
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

RESULTS = Path(__file__).parent / "results"
PICTURE = ROOT / "docs" / "images" / "scaling.png"

NS = (1_000, 10_000, 100_000, 1_000_000)
DS = (2, 5, 10, 20)
KS = (3, 5, 10)
DATA = ("uniform", "mixture", "eia")
METHODS = ("mdav-plus", "v-mdav", "mdav", "mdav-star")

#: What is varied one factor at a time.
CENTER = ("uniform", 10, 5)

#: anonypyx keeps the distances of all pairs, 8 n² bytes.
ANONYPYX = "anonypyx"
ANONYPYX_NS = (1_000, 2_000, 5_000, 10_000)

SEED = 0
COMPONENTS = 20
NOISE = 0.01

#: Records of the run that loads compiled code, so many that a tree is worth it.
WARM_UP = 20_000

#: Seconds that starting a process, loading kernels and reading data may take beside the run itself.
START = 60.0

#: What must never be.
OTHER_GROUPS = "gives other groups than the tree"

#: Seconds below which a kernel's own compile time is not told.
LEAST_COMPILING = 0.2

#: Columns of the stored table.
COLUMNS = (
    "data",
    "d",
    "k",
    "method",
    "n",
    "tree",
    "seconds",
    "records_per_second",
    "peak_mb",
    "peak_over_input",
    "exponent",
    "brute_seconds",
    "brute_is_extrapolated",
    "brute_over_seconds",
    "anonypyx_over_seconds",
    "cores_of_others",
)


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
    """Return the bytes that this process has in use, and those at its peak."""
    try:
        # Not ru_maxrss: on Linux that starts with the size of the process that started this one.
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        now, peak = (int(status[name].split()[0]) * 1024 for name in ("VmRSS", "VmHWM"))
        return now, peak
    except (OSError, KeyError):
        import resource

        unit = 1 if sys.platform == "darwin" else 1024
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
        return peak, peak


def forget_peak() -> None:
    """Give back what is not in use and let the peak begin anew, where the system can."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
        Path("/proc/self/clear_refs").write_text("5")


def run_cell(method: str, k: int, brute: bool, file: str, repeat: int) -> dict[str, float | str]:
    """Return seconds, peak memory and a digest of the groups of a method on the data in ``file``, kernels loaded."""
    by_tree: list[bool] = []
    if method == ANONYPYX:
        import pandas as pd
        from anonypyx.microaggregation import MDAVGeneric

        def run(X: np.ndarray) -> bytes:
            frame = pd.DataFrame(X)
            MDAVGeneric(frame, list(frame.columns)).partition(k)
            return b""
    else:
        from microagg import make
        from microagg.kernels.neighbors import lookahead

        choose = lookahead.tree_if_faster

        def tree_if_faster(X: np.ndarray, k: int, least: int) -> object:
            chosen = None if brute else choose(X, k, least)
            by_tree.append(chosen is not None)
            return chosen

        lookahead.tree_if_faster = tree_if_faster

        def run(X: np.ndarray) -> bytes:
            return make(method, k=k).fit_predict(X).tobytes()

    run(np.load(file, mmap_mode="r")[: 500 if method == ANONYPYX else WARM_UP].copy())
    by_tree.clear()
    forget_peak()
    before, _ = memory()
    X = np.load(file)
    seconds: list[float] = []
    groups: set[bytes] = set()
    peak = 0
    while not seconds or (len(seconds) < repeat and sum(seconds) < 3.0):
        started = time.perf_counter()
        groups.add(run(X))
        seconds.append(time.perf_counter() - started)
        peak = peak or memory()[1]
    if len(groups) > 1:
        raise RuntimeError(f"{method} does not give the same groups each time")
    digest = hashlib.sha256(groups.pop()).hexdigest()
    return {"seconds": min(seconds), "peak": max(peak - before, 0), "tree": any(by_tree), "groups": digest}


COMPILE = """
import json, sys, time
import numpy as np
method, tree = sys.argv[1], sys.argv[2] == "tree"
from numba.core import event
from microagg import make
from microagg.kernels.neighbors import crossover
from microagg.kernels.neighbors.kd_tree import make_tree_pool
crossover.tree_if_faster = lambda X, k, least: make_tree_pool(X) if tree else None
X = np.random.default_rng(0).random((12_000 if tree else 200, 3))
estimator = make(method, k=3)
own, running = {}, []
with event.install_recorder("numba:compile") as record:
    started = time.perf_counter()
    estimator.fit(X)
    first = time.perf_counter() - started
started = time.perf_counter()
estimator.fit(X)
again = time.perf_counter() - started
for when, what in record.buffer:
    if what.is_start:
        running.append([what.data["dispatcher"].py_func, when, 0.0])
    else:
        function, since, inner = running.pop()
        name = f"{function.__module__}.{function.__qualname__}"
        own[name] = own.get(name, 0.0) + when - since - inner
        if running:
            running[-1][2] += when - since
print(json.dumps({"seconds": first - again, "kernels": own}))
"""


def compile_times(cache: str, method: str, way: str) -> dict:
    """Return the seconds of compiling, or of loading what is in ``cache``, for a method's one way."""
    done = subprocess.run(
        [sys.executable, "-c", COMPILE, method, way],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "NUMBA_CACHE_DIR": cache},
    )
    return json.loads(done.stdout.splitlines()[-1])


def show_compile_times(methods: list[str]) -> None:
    """Print how long each method takes to compile with an empty cache, and to load from a full one."""
    kernels: dict[str, float] = {}
    print("| method | way | compiling, s | loading, s | kernels |")
    print("|---|---|---:|---:|---:|")
    for method in methods:
        for way in ("brute force", "tree"):
            with tempfile.TemporaryDirectory() as cache:
                cold = compile_times(cache, method, way)
                cached = compile_times(cache, method, way)
            own = {name: seconds for name, seconds in cold["kernels"].items() if name.startswith("microagg.")}
            own["numba's own functions"] = sum(cold["kernels"].values()) - sum(own.values())
            print(
                f"| {method} | {way} | {cold['seconds']:.2f} | {cached['seconds']:.2f} | {len(own) - 1} |", flush=True
            )
            for name, seconds in own.items():
                kernels[name] = max(seconds, kernels.get(name, 0.0))
    print(f"\n| kernel, those of {LEAST_COMPILING:g} s or more | compiling, s, without what it calls |")
    print("|---|---:|")
    for name, seconds in sorted(kernels.items(), key=lambda item: -item[1]):
        if seconds >= LEAST_COMPILING:
            print(f"| {name.removeprefix('microagg.')} | {seconds:.2f} |")


# --- the grid --------------------------------------------------------------------------------------------------------


Setting = tuple[str, int, int]
Key = tuple[Setting, str, int]


@dataclass
class Run:
    """A run over the grid: how it was asked for, and what has been measured.

    Attributes
    ----------
    options : Namespace
        The command line.
    folder : str
        Where data are kept meanwhile.
    measured : dict of (setting, method, n) to dict
        What :func:`run_cell` returns of each cell as the package chooses, and the cores that others kept busy.
    brute : dict of (setting, method, n) to float
        Seconds by brute force.
    left_out : dict of str to list of str
        Reasons, and the cells.
    """

    options: argparse.Namespace
    folder: str
    measured: dict[Key, dict[str, Any]] = field(default_factory=dict)
    brute: dict[Key, float] = field(default_factory=dict)
    left_out: dict[str, list[str]] = field(default_factory=dict)
    started: float = field(default_factory=time.perf_counter)

    def file(self, setting: Setting, n: int) -> str:
        """Return the file that holds the data, made now if need be."""
        path = Path(self.folder) / f"{setting[0]}-{n}-{setting[1]}.npy"
        if not path.exists():
            np.save(path, make_data(setting[0], n, setting[1]))
        return str(path)

    def leave_out(self, reason: str, setting: Setting, method: str, n: int, brute: bool) -> None:
        """Note that a cell is left out, and why."""
        way = " by brute force" if brute else ""
        self.left_out.setdefault(reason, []).append(f"{method}{way}: {told(setting)}, n = {n:,}")

    def measure(self, setting: Setting, method: str, n: int, brute: bool = False) -> None:
        """Measure a cell, or note why not."""
        cap = self.options.brute_cap if brute else self.options.cap
        expected = self.expected(setting, method, n, brute)
        if expected > cap:
            self.leave_out(f"would take more than {cap:g} s", setting, method, n, brute)
            return
        if self.options.minutes and self.elapsed() + expected > 60 * self.options.minutes:
            self.leave_out(f"the {self.options.minutes:g} minutes are over", setting, method, n, brute)
            return
        cell = {"method": method, "k": setting[2], "brute": brute, "file": self.file(setting, n)}
        command = [self.options.anonypyx if method == ANONYPYX else sys.executable, __file__]
        command += ["--cell", json.dumps({**cell, "repeat": self.options.repeat})]
        before, started = busy_elsewhere(), time.perf_counter()
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=cap + START)
        except subprocess.TimeoutExpired:
            self.leave_out(f"took more than {cap:g} s", setting, method, n, brute)
            return
        if done.returncode:
            print(done.stderr, file=sys.stderr)
            self.leave_out(f"failed: {done.stderr.splitlines()[-1]}", setting, method, n, brute)
            return
        others = (busy_elsewhere() - before) / (time.perf_counter() - started)
        found = json.loads(done.stdout.splitlines()[-1])
        key = (setting, method, n)
        if brute:
            if key in self.measured and found["groups"] != self.measured[key]["groups"]:
                self.leave_out(OTHER_GROUPS, setting, method, n, brute)
                return
            self.brute[key] = found["seconds"]
        else:
            self.measured[key] = {**found, "others": others}
            if not found["tree"]:
                self.brute[key] = found["seconds"]
        way = ", brute force" if brute else ""
        print(
            f"{self.elapsed() / 60:5.1f} min: {told(setting)}, {method}{way}, n = {n:,}: {found['seconds']:.4g} s, "
            f"{found['peak'] / 1e6:.1f} MB (others: {others:.1f} cores)",
            flush=True,
        )

    def elapsed(self) -> float:
        """Return the seconds since the run began."""
        return time.perf_counter() - self.started

    def sizes(self, setting: Setting, method: str, below: float, brute: bool) -> list[tuple[int, float]]:
        """Return the numbers of records measured so far and the seconds of each."""
        cells = self.brute if brute else {key: cell["seconds"] for key, cell in self.measured.items()}
        return sorted((n, s) for (at, by, n), s in cells.items() if at == setting and by == method and n < below)

    def expected(self, setting: Setting, method: str, n: int, brute: bool) -> float:
        """Return how long a cell will take by those with fewer records: growing as it did, at most as n²."""
        known = self.sizes(setting, method, n, brute)
        if not known:
            return 0.0
        growth = 2.0
        if method == ANONYPYX:
            growth = 3.0  # its n² distances outgrow the caches
        elif not brute and len(known) > 1:
            growth = min(max(exponent(known[-2], known[-1]), 1.0), 2.0)
        last, seconds = known[-1]
        return seconds * (n / last) ** growth

    def brute_seconds(self, key: Key) -> tuple[float, bool]:
        """Return the seconds by brute force, nan if nothing is known, and whether they are extrapolated."""
        setting, method, n = key
        if key in self.brute:
            return self.brute[key], False
        known = self.sizes(setting, method, n, True)
        return (known[-1][1] * (n / known[-1][0]) ** 2, True) if known else (math.nan, False)

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield a row for each cell measured, in the order of the table."""
        for key, cell in self.measured.items():
            setting, method, n = key
            seconds, peak = cell["seconds"], cell["peak"]
            size = 8 * n * setting[1]
            before = self.sizes(setting, method, n, False)
            brute, extrapolated = self.brute_seconds(key) if method != ANONYPYX else (math.nan, False)
            other = self.measured.get((setting, ANONYPYX, n), {}).get("seconds", math.nan)
            yield {
                "data": setting[0],
                "d": setting[1],
                "k": setting[2],
                "method": method,
                "n": n,
                "tree": bool(cell["tree"]),
                "seconds": seconds,
                "records_per_second": n / seconds,
                "peak_mb": peak / 1e6,
                "peak_over_input": peak / size if size >= 1e6 else math.nan,
                "exponent": exponent(before[-1], (n, seconds)) if before else math.nan,
                "brute_seconds": brute,
                "brute_is_extrapolated": extrapolated,
                "brute_over_seconds": brute / seconds if cell["tree"] else math.nan,
                "anonypyx_over_seconds": other / seconds if method != ANONYPYX else math.nan,
                "cores_of_others": max(cell["others"], 0.0),
            }


def busy_elsewhere() -> float:
    """Return the seconds that all cores have worked so far, less those for this process and its cells."""
    try:
        # Of user, nice, system, idle, iowait, irq, softirq and steal all but idle and iowait.
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except OSError:
        return math.nan
    own = os.times()
    worked = (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
    return worked - own.user - own.system - own.children_user - own.children_system


def told(setting: Setting) -> str:
    """Return a setting in words."""
    return f"{setting[0]}, d = {setting[1]}, k = {setting[2]}"


def exponent(one: tuple[int, float], other: tuple[int, float]) -> float:
    """Return e of seconds growing as n^e between two (n, seconds)."""
    return math.log(other[1] / one[1]) / math.log(other[0] / one[0])


def settings(options: argparse.Namespace) -> list[Setting]:
    """Return which (data, d, k) to measure, the most important first."""
    if one_at_a_time(options):
        data, d, k = CENTER
        around = [(data, other, k) for other in DS] + [(other, d, k) for other in DATA]
        around += [(data, d, other) for other in KS]
        return list(dict.fromkeys([CENTER, *around]))
    data, d, k = ([value] for value in CENTER)
    if options.full:
        data, d, k = DATA, DS, KS
    data, d, k = options.data or data, options.d or d, options.k or k
    return sorted(((a, b, c) for a in data for b in d for c in k), key=lambda setting: setting != CENTER)


def one_at_a_time(options: argparse.Namespace) -> bool:
    """Return whether d, k and the data are varied one at a time; all but ``CENTER`` then begin at 10,000 records."""
    return not (options.full or options.data or options.d or options.k)


def measure_all(options: argparse.Namespace, folder: str) -> Run:
    """Measure all cells: the first setting in every way, the others as the package chooses, then by brute force."""
    run = Run(options, folder)
    every = settings(options)
    first = every[0]

    def ns(setting: Setting) -> list[int]:
        return sorted(n for n in options.n if setting == first or not one_at_a_time(options) or n > min(NS))

    def brute(setting: Setting) -> None:
        for n in ns(setting):
            for method in options.methods:
                if (setting, method, n) not in run.brute:
                    run.measure(setting, method, n, brute=True)

    for setting in every:
        for n in ns(setting):
            for method in options.methods:
                run.measure(setting, method, n)
        if setting == first:
            brute(setting)
            if has_anonypyx(options.anonypyx):
                for n in ANONYPYX_NS:
                    if n <= max(options.n):
                        run.measure(setting, ANONYPYX, n)
            else:
                print("anonypyx is not installed: not compared (--anonypyx PYTHON names an interpreter that has it)")
    for setting in every[1:]:
        brute(setting)
    return run


def has_anonypyx(python: str) -> bool:
    """Return whether an interpreter can import anonypyx."""
    return not subprocess.run([python, "-c", "import anonypyx"], capture_output=True).returncode


# --- tables and picture ----------------------------------------------------------------------------------------------


def show(run: Run) -> None:
    """Print a Markdown table for each setting, and what was left out."""
    rows = list(run.rows())
    compared = any(row["method"] == ANONYPYX for row in rows)
    for setting in dict.fromkeys((row["data"], row["d"], row["k"]) for row in rows):
        print(f"\n{told(setting)}\n")
        header = ["n", "method", "seconds", "records/s", "peak MB", "x data", "exponent", "x brute force"]
        header += ["x anonypyx"] if compared else []
        print("| " + " | ".join(header) + " |")
        print("|---:|---" + "|---:" * (len(header) - 2) + "|")
        own = [row for row in rows if (row["data"], row["d"], row["k"]) == setting]
        for row in sorted(own, key=lambda row: row["n"]):
            mark = "~" if row["brute_is_extrapolated"] else ""
            cells = [
                f"{row['n']:,}",
                row["method"],
                f"{row['seconds']:.4g}",
                f"{row['records_per_second']:,.0f}",
                f"{row['peak_mb']:.0f}",
                number(row["peak_over_input"], ".1f"),
                number(row["exponent"], ".2f"),
                number(row["brute_over_seconds"], ",.1f", mark),
            ]
            cells += [number(row["anonypyx_over_seconds"], ",.0f")] if compared else []
            print("| " + " | ".join(cells) + " |")
    for reason, cells in run.left_out.items():
        print(f"\nLeft out, {reason}:")
        for cell in cells:
            print(f"  {cell}")


def number(value: float, digits: str, mark: str = "") -> str:
    """Return a number for the table, nothing if there is none."""
    return "" if math.isnan(value) else f"{mark}{value:{digits}}"


def store(run: Run, command: list[str]) -> None:
    """Store the rows, and how they came about."""
    import numba

    import microagg
    from benchmarks import tables
    from benchmarks.digests import code_digest

    RESULTS.mkdir(exist_ok=True)
    rows = list(run.rows())
    with (RESULTS / "scaling.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            writer.writerow([plain(row[column]) for column in COLUMNS])
    versions = {
        "microagg": microagg.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
    }
    if any(row["method"] == ANONYPYX for row in rows):
        asked = "import importlib.metadata as m; print(m.version('anonypyx'))"
        done = subprocess.run([run.options.anonypyx, "-c", asked], capture_output=True, text=True, check=True)
        versions[ANONYPYX] = done.stdout.strip()
    about = {
        "description": "Seconds and peak memory against the number of records; anonypyx is its MDAV-generic.",
        "command": shlex.join(["python", "benchmarks/scaling.py", *command]),
        "seed": SEED,
        "minutes": round(run.elapsed() / 60, 1),
        "machine": {"processor": processor(), "cores": os.cpu_count()},
        "versions": versions,
        "digests": {key: code_digest([key]) for key in sorted(run.options.methods)},
        "left_out": run.left_out,
    }
    (RESULTS / "scaling.json").write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    tables.write()


def plain(value: object) -> object:
    """Return a value as it is stored."""
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return value


def processor() -> str:
    """Return the model of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def figure(rows: list[dict[str, str]], about: dict):
    """Return the picture of what is stored: seconds against records at ``CENTER``."""
    import plotly.graph_objects as go

    from microagg import ALGORITHMS
    from pages.shared import theme

    own = [row for row in rows if (row["data"], int(row["d"]), int(row["k"])) == CENTER]
    chart = go.Figure()

    def draw(ns: list[int], seconds: list[float], name: str, style: theme.Style, rank: int, **more: object) -> None:
        chart.add_scatter(
            x=ns,
            y=seconds,
            name=name,
            mode="lines+markers",
            line={"color": style.color, "width": 2.5, "dash": style.dash},
            marker={"color": style.color, "size": 9, "symbol": style.symbol},
            legendrank=rank,
            **more,
        )

    def series(method: str, column: str, extrapolated: bool | None = None) -> tuple[list[int], list[float]]:
        kept = [row for row in own if row["method"] == method and row[column]]
        if extrapolated is False:
            kept = [row for row in kept if row["brute_is_extrapolated"] == "False"]
        elif extrapolated:  # with the last measured, so that the line goes on
            first = next((i for i, row in enumerate(kept) if row["brute_is_extrapolated"] == "True"), len(kept))
            kept = kept[max(first - 1, 0) :] if first < len(kept) else []
        return [int(row["n"]) for row in kept], [float(row[column]) for row in kept]

    ns, seconds = series(ANONYPYX, "seconds")
    if ns:
        name = f"anonypyx {about['versions'][ANONYPYX]}"
        draw(ns, seconds, name, theme.Style(theme.NEUTRAL, "x", "solid"), 1)
    draw(
        *series("mdav", "brute_seconds", False), "MDAV, brute force", theme.Style(theme.INK, "circle-open", "solid"), 2
    )
    ns, seconds = series("mdav", "brute_seconds", True)
    if ns:
        draw(ns, seconds, "extrapolated as n²", theme.Style(theme.INK, "circle-open", "dot"), 3)
    times = {method: dict(zip(*series(method, "seconds"), strict=True)) for method in METHODS}
    times = {method: seconds for method, seconds in times.items() if seconds}
    largest = min(max(seconds) for seconds in times.values())
    for place, method in enumerate(sorted(times, key=lambda method: -times[method][largest])):
        draw(*series(method, "seconds"), ALGORITHMS[method].info.title, theme.style(method), 4 + place)

    last = [seconds[largest] for seconds in times.values()]
    growth = [seconds[largest] / seconds[largest // 10] for seconds in times.values()]
    setting = f"Uniform data, {CENTER[1]} attributes, k = {CENTER[2]}, {about['machine']['cores']} cores."
    growing = (
        f"Ten times the records take {min(growth):.0f} to {max(growth):.0f} times as long; by brute force, 100 times."
    )
    chart.update_layout(
        width=800,
        height=480,
        template="plotly_white",
        font={"family": "Source Sans 3, Source Sans Pro, Helvetica, Arial, sans-serif", "size": 14, "color": theme.INK},
        title={
            "text": f"<b>{largest:,} records in {min(last):.0f} to {max(last):.0f} seconds</b><br>"
            f"<span style='font-size:14px'>{setting} {growing}</span>",
            "x": 18 / 800,
            "y": 0.95,
            "font": {"size": 20},
        },
        margin={"l": 72, "r": 190, "t": 84, "b": 58},
        legend={"x": 1.02, "y": 1.0, "yanchor": "top", "font": {"size": 14}},
    )
    axis = {"type": "log", "gridcolor": "#E3E7EB", "linecolor": theme.NEUTRAL, "ticks": "outside", "zeroline": False}
    ticks = {"x": NS, "y": (0.001, 0.01, 0.1, 1, 10, 100, 1_000, 10_000)}
    for update, name, title in ((chart.update_xaxes, "x", "Records"), (chart.update_yaxes, "y", "Seconds")):
        update(
            **axis,
            title={"text": title, "font": {"size": 14}, "standoff": 10},
            tickvals=ticks[name],
            ticktext=[f"{tick:,}" for tick in ticks[name]],
            tickcolor=theme.NEUTRAL,
        )
    return chart


def draw(chart, picture: Path) -> None:
    """Draw a figure of Plotly, with a legend, into a file, in Chromium."""
    import shutil

    from playwright.sync_api import sync_playwright

    browser_path = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser_path is None:
        raise SystemExit("The picture needs Chromium: install it.")
    page_text = chart.to_html(include_plotlyjs=True, config={"staticPlot": True})
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "picture.html"
        file.write_text(page_text, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(
            viewport={"width": chart.layout.width, "height": chart.layout.height}, device_scale_factor=2
        )
        page.goto(file.as_uri())
        page.locator(".legendtext").first.wait_for()
        page.locator(".plot-container").screenshot(path=picture)
        browser.close()
    print(f"drawn: {picture.relative_to(ROOT)}")


# --- command line ----------------------------------------------------------------------------------------------------


def main() -> None:
    """Read the command line, measure, print, store and draw."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, nargs="+", default=list(NS), help="numbers of records")
    parser.add_argument("--d", type=int, nargs="+", help="numbers of attributes")
    parser.add_argument("--k", type=int, nargs="+", help="minimum group sizes")
    parser.add_argument("--data", nargs="+", choices=DATA)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--repeat", type=int, default=3, help="runs of a cell, the fastest of which counts (default 3)")
    parser.add_argument("--full", action="store_true", help="every d, k and data not given, with every other")
    parser.add_argument("--cap", type=float, default=120.0, help="seconds that a cell may take (default 120)")
    parser.add_argument("--brute-cap", type=float, default=60.0, help="the same for brute force (default 60)")
    parser.add_argument("--minutes", type=float, default=20.0, help="for the whole run, 0 for no limit (default 20)")
    parser.add_argument("--anonypyx", metavar="PYTHON", default=sys.executable, help="interpreter that has anonypyx")
    parser.add_argument("--store", action="store_true", help="store the results of any grid, and draw them")
    parser.add_argument("--compile", action="store_true", help="only: how long compiling takes")
    parser.add_argument("--picture", action="store_true", help="only: draw the stored results")
    parser.add_argument("--cell", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.cell:
        print(json.dumps(run_cell(**options.cell)))
        return
    if options.compile:
        show_compile_times(options.methods)
        return
    if not options.picture:
        with tempfile.TemporaryDirectory() as folder:
            run = measure_all(options, folder)
        show(run)
        if OTHER_GROUPS in run.left_out:
            raise SystemExit(f"Brute force {OTHER_GROUPS}: nothing stored.")
        whole = one_at_a_time(options) or (options.full and not (options.data or options.d or options.k))
        whole = whole and options.n == list(NS) and options.methods == list(METHODS)
        if not (whole or options.store):
            print("\nNot stored: not the whole grid (--store stores it all the same).")
            return
        store(run, ["PYTHON" if word == options.anonypyx else word for word in sys.argv[1:]])
    with (RESULTS / "scaling.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    draw(figure(rows, json.loads((RESULTS / "scaling.json").read_text(encoding="utf-8"))), PICTURE)


if __name__ == "__main__":
    main()
