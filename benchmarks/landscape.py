"""What every algorithm loses, on seven data sets and 22 values of k: the results on the page "Evidence".

    MICROAGG_DATA_DIR=… NUMBA_NUM_THREADS=1 nice python benchmarks/landscape.py               # over an hour
    MICROAGG_DATA_DIR=… NUMBA_NUM_THREADS=1 nice python benchmarks/landscape.py --only mdav-star v-mdav
    python benchmarks/landscape.py --restamp                        # new digests, after benchmarks/labels.py

Every method of ``microagg.studies.landscape.METHODS`` partitions Census, Tarragona, EIA, SimU, SimC, wine and
breast_cancer (z-scores) at k = 2..20, 25, 50 and 100; random sets, and randomized algorithms, with the seeds 0 to 4.
What benchmarks/records.py has found beyond them, and the floors, are its own.
What is stored is kept, and only what is missing, or whose code has changed, is computed: a run that was stopped goes
on where it was. Runs go from quick methods to slow ones, and each table is written after each method and data set.

Seconds are those of the processor (``time.process_time``) on one core, so that what else runs on the machine hardly
matters; of a method with several settings, all of them together. A method that takes more than ``--bound`` seconds at
one k is not run on that data set any further, and what is left out so is stored with the reason. Results go to
``microagg/studies/landscape/``, as the dashboard and notebooks have no folder ``benchmarks``.
"""

from __future__ import annotations

import argparse
import datetime
import gzip
import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

import microagg
from benchmarks import adult
from benchmarks.digests import code_digest
from benchmarks.tables import ROOT, replace, write_json
from microagg import datasets
from microagg.algorithms.registry import algorithm
from microagg.metrics.loss import sst
from microagg.progress import Cancelled, watched
from microagg.studies import experiment, landscape
from microagg.studies.experiment import Method, Problem
from microagg.studies.landscape.store import PARTITIONS
from microagg.tables import digest_array

FOLDER = ROOT / "microagg" / "studies" / "landscape"
RUNS, SETS, ABOUT = (FOLDER / name for name in ("runs.csv.gz", "sets.csv", "about.json"))

#: Slow methods, the slowest last; all others come before them.
SLOW = ("local-search", "imhm", "iterated-local-search", "pcl", "rimhm", "least-loss")

#: Of the most expensive one, only some k are run.
FEW_KS = {"rimhm": (3, 5, 10, 20)}

RUN_COLUMNS = (
    *("data", "seed", "method", "k", "information_loss"),
    *("n_groups", "smallest_group", "largest_group", "chosen", "seconds"),
)


def is_random(name: str) -> bool:
    """Return whether a data set is drawn from a seed."""
    return datasets.describe(name).kind == "synthetic"


def seeds_of(method: Method, data: str) -> range:
    """Return the seeds of a method's runs on a data set."""
    return range(landscape.SEEDS if is_random(data) or not algorithm(method.key).info.deterministic else 1)


def with_seed(method: Method, seed: int) -> Method:
    """Return the method with a seed, if it takes one."""
    if algorithm(method.key).info.deterministic:
        return method
    return Method(method.key, {**method.params, "random_state": seed}, method.polish)


def load_problem(name: str, seed: int) -> Problem:
    """Return the z-scores of a data set as a problem. It is downloaded if it is not on this machine."""
    return Problem.of(microagg.standardize(datasets.load(name, seed=seed if is_random(name) else None).X))


def result_row(data: str, seed: int, name: str, result: experiment.Result, seconds: float) -> dict:
    """Return the row of :func:`~microagg.studies.landscape.store.runs`, without its SSE."""
    row = result.row()
    chosen = [value for param, value in result.params.items() if isinstance(result.method.params.get(param), tuple)]
    columns = ("k", "information_loss", "n_groups", "smallest_group", "largest_group")
    figures = {column: row[column] for column in columns}
    return {"data": data, "seed": seed, "method": name, **figures, "chosen": chosen[0] if chosen else None} | {
        "seconds": seconds
    }


def raw(name: str, seed: int) -> np.ndarray:
    """Return the quasi-identifiers of a data set in their original units, shape (n, d)."""
    return datasets.load(name, seed=seed if is_random(name) else None, download=False).X


class Results:
    """The tables stored so far."""

    def __init__(self) -> None:
        self.about = json.loads(ABOUT.read_text(encoding="utf-8")) if ABOUT.is_file() else {}
        self.about.setdefault("digests", {})
        self.about.setdefault("left_out", [])
        self.runs = pd.read_csv(RUNS) if RUNS.is_file() else pd.DataFrame(columns=RUN_COLUMNS)
        self._drop_outdated()

    def _drop_outdated(self) -> None:
        """Forget what code computed that has changed since."""
        fresh = {
            name for name, method in landscape.METHODS.items() if self.about["digests"].get(name) == digest(method)
        }
        self.runs = self.runs[self.runs["method"].isin(fresh)]
        self.about["left_out"] = [entry for entry in self.about["left_out"] if entry["method"] in fresh]

    def has(self, method: str, data: str, seed: int) -> set[int]:
        """Return the k for which there is a run."""
        own = self.runs
        return set(own.loc[(own["method"] == method) & (own["data"] == data) & (own["seed"] == seed), "k"])

    def is_left_out(self, method: str, data: str, bound: float) -> bool:
        """Return whether a method is known to take more than ``bound`` seconds at some k on a data set."""
        return any(entry["bound"] >= bound for entry in self._left_out(method, data))

    def leave_out(self, method: str, data: str, k: int, bound: float) -> None:
        """Keep in mind that a method is not run any further on a data set."""
        self.about["left_out"].append({"method": method, "data": data, "k": k, "bound": bound})

    def forget_left_out(self, method: str, data: str) -> None:
        """Forget that a method took too long on a data set."""
        gone = self._left_out(method, data)
        self.about["left_out"] = [entry for entry in self.about["left_out"] if entry not in gone]

    def _left_out(self, method: str, data: str) -> list[dict]:
        return [entry for entry in self.about["left_out"] if (entry["method"], entry["data"]) == (method, data)]

    def add(self, method: str, rows: list[dict]) -> None:
        """Add runs of a method."""
        self.about["digests"][method] = digest(landscape.METHODS[method])
        if rows:
            new = pd.DataFrame(rows, columns=RUN_COLUMNS)
            self.runs = new if self.runs.empty else pd.concat([self.runs, new], ignore_index=True)
            # Another call may have run the same meanwhile.
            self.runs = self.runs.drop_duplicates(["data", "seed", "method", "k"])

    def write(self) -> None:
        """Store the tables, in an order that makes differences readable."""
        FOLDER.mkdir(exist_ok=True)
        by = {"data": landscape.DATA.index, "method": list(landscape.METHODS).index}
        runs = self.runs.sort_values(
            ["method", "data", "seed", "k"],
            key=lambda column: column.map(by[column.name]) if column.name in by else column,
        )
        runs = runs.assign(seconds=[f"{value:.2g}" for value in runs["seconds"]])
        # Without the time of writing in the file's head, equal results are equal files.
        how = {"index": False, "lineterminator": "\n"}
        text = runs.to_csv(float_format="%.12g", **how)
        replace(RUNS, gzip.compress(text.encode(), compresslevel=9, mtime=0))
        self.about |= {
            "command": "python benchmarks/landscape.py",
            "date": datetime.date.today().isoformat(),
            "version": microagg.__version__,
            "digests": {name: own for name, own in sorted(self.about["digests"].items()) if name in landscape.METHODS},
        }
        write_json(ABOUT, self.about)


@cache
def digest(method: Method) -> str:
    """Return a digest of the code that a method runs."""
    return code_digest(experiment.needed([method]))


def order_of_methods() -> list[str]:
    """Return all methods, those that are asked for most and the quick ones first."""
    first = ("mdav-star", "v-mdav", "mdav", "mdav-plus", "cbfs", "v-mdav-best")
    rest = [name for name in landscape.METHODS if name not in {*first, *SLOW}]
    return [*first, *rest, *SLOW]


def write_sets() -> None:
    """Store what is known of each data set: its digest, by which it is recognized, and its size and spread."""
    rows = []
    for name in landscape.DATA:
        for seed in range(landscape.SEEDS if is_random(name) else 1):
            X = raw(name, seed)
            spread = sst(microagg.standardize(X))
            rows.append(
                {"data": name, "seed": seed, "n": X.shape[0], "d": X.shape[1], "sst": f"{spread:.12g}"}
                | {"digest": digest_array(X)}
            )
    # Of Adult, the largest possible Total-IL is what one SST is of numbers.
    records = adult.load()[0]
    rows.append(
        {"data": "adult", "seed": 0, "n": records.n, "d": records.d, "sst": f"{records.n * records.d}"}
        | {"digest": landscape.digest_records(records)}
    )
    replace(SETS, pd.DataFrame(rows).to_csv(index=False, lineterminator="\n").encode())


def run(problem: Problem, method: Method, k: int, bound: float) -> tuple[experiment.Result, float]:
    """Return a method's result at one k, and the seconds of the processor; raise Cancelled after ``bound`` of them."""
    started = time.process_time()
    with watched(clock(bound)):
        result = experiment.run_one(problem, method, k)
    return result, time.process_time() - started


def run_all(name: str, data: str, seed: int, bound: float) -> bool:
    """Run a method at every k that is missing on a data set, and return whether there was anything to do."""
    problem, results = load_problem(data, seed), Results()
    method = landscape.METHODS[name]
    todo = [k for k in landscape.KS if k in FEW_KS.get(name, landscape.KS) and k <= len(problem.data)]
    missing = [k for k in todo if k not in results.has(name, data, seed)]
    if not missing or results.is_left_out(name, data, bound):
        return False
    experiment.prepare(experiment.needed([method]))
    rows, too_long = [], None
    for k in missing:
        try:
            result, seconds = run(problem, with_seed(method, seed), k, bound)
        except Cancelled:
            seconds = bound
        else:
            rows.append(result_row(data, seed, name, result, seconds))
        if seconds >= bound:
            too_long = k
            break
    # Another call of this script may have stored something meanwhile.
    results = Results()
    results.add(name, rows)
    results.forget_left_out(name, data)
    if too_long:
        results.leave_out(name, data, too_long, bound)
    results.write()
    return True


def write_partitions() -> None:
    """Store the partitions of the methods that pages show at first, which takes seconds."""
    labels = {}
    for data in landscape.DATA:
        problem = load_problem(data, 0)
        for name in landscape.WITH_PARTITIONS:
            results = [experiment.run_one(problem, landscape.METHODS[name], k) for k in landscape.KS]
            # A record's groups at all k beside each other compress best.
            labels[f"{data}-0-{name}"] = np.transpose([each.partition.labels for each in results]).astype(np.uint16)
    np.savez_compressed(FOLDER / PARTITIONS, **labels)


def restamp() -> None:
    """Store the digests of the code as it is beside the results as they are, once labels are shown to be the same."""
    about = json.loads(ABOUT.read_text(encoding="utf-8"))
    now = {name: digest(method) for name, method in landscape.METHODS.items()}
    about["digests"] = {name: own for name, own in now.items() if name in about["digests"]}
    write_json(ABOUT, about)


def clock(seconds: float) -> Callable[..., bool]:
    """Return what says whether the processor has worked for less than ``seconds`` since now."""
    started = time.process_time()
    return lambda *_: time.process_time() - started < seconds


def units(only: list[str]) -> Iterator[tuple[str, str, int]]:
    """Yield (method, data set, seed) in the order in which they are computed."""
    for name in [name for name in order_of_methods() if name not in SLOW[1:]]:
        if not only or name in only:
            yield from units_of(name)
    # Of the slow ones, too, the first seed comes before the second of any.
    slow = [unit for name in SLOW[1:] if not only or name in only for unit in units_of(name)]
    yield from sorted(slow, key=lambda unit: unit[2])


def units_of(name: str) -> list[tuple[str, str, int]]:
    """Return (method, data set, seed) of a method, the first seed of every data set before the second of any."""
    seeds = {data: seeds_of(landscape.METHODS[name], data) for data in landscape.DATA}
    return sorted([(name, data, seed) for data in seeds for seed in seeds[data]], key=lambda unit: unit[2])


def main() -> None:
    """Read the command line, and measure."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[], choices=landscape.METHODS)
    parser.add_argument("--data", nargs="*", default=list(landscape.DATA), choices=landscape.DATA)
    parser.add_argument("--bound", type=float, default=20.0, help="seconds of the processor for one run")
    parser.add_argument(
        "--minutes", type=float, default=90.0, help="after which no further method or data set is begun"
    )
    parser.add_argument("--restamp", action="store_true", help="new digests only, after benchmarks/labels.py")
    arguments = parser.parse_args()
    if arguments.restamp:
        restamp()
        return
    began = time.monotonic()
    write_sets()
    for name, data, seed in units(arguments.only):
        if data not in arguments.data:
            continue
        if time.monotonic() - began > 60 * arguments.minutes:
            print(f"stopped after {arguments.minutes:g} minutes: call it again to go on")
            break
        started = time.monotonic()
        if run_all(name, data, seed, arguments.bound):
            print(f"{name} on {data}, seed {seed}: {time.monotonic() - started:.1f} s", flush=True)
    write_partitions()


if __name__ == "__main__":
    main()
