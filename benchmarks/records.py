"""The best partitions known of the benchmarks, and what is proven of the least loss: improve them, or offer better.

    MICROAGG_DATA_DIR=… nice python benchmarks/records.py --seconds 3600
    MICROAGG_DATA_DIR=… python benchmarks/records.py --seconds 600 --data census --k 4 5
    MICROAGG_DATA_DIR=… python benchmarks/records.py --offer groups.csv --data census --k 5 --by "A. Nother 2027"

Cells are Census, Tarragona, EIA, SimU, SimC (seeds 0 to 4), wine and breast_cancer (z-scores) at k = 2..20, 25, 50 and
100, and the complete records of Adult (Total-IL) at a few k. For the time given, the cell with the widest gap for the
time of another turn gets one: search and floor at once (:class:`microagg.optimum.certificate.Certificate`), from the
best partition known, of stored runs too, for twice as long as its longest turn so far. A better partition or a higher
floor is stored at once in ``microagg/studies/landscape/`` (best.csv, best.npz), where ``microagg.landscape.best`` and
the pages find it; the tables of the READMEs are written anew in the end.

What is offered is a CSV file with a column ``group``, or with one column: the group of each record, in the order of the
file, as the pages let one download it. Its loss is computed here from the records alone, and it is stored if lower.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from pathlib import Path

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import adult, tables
from benchmarks.landscape import FOLDER, is_random, load_problem, with_seed
from benchmarks.tables import replace
from microagg import MicroaggError
from microagg.columns.records import Records
from microagg.errors import DataError
from microagg.metrics.generalization import total_information_loss
from microagg.optimum import certificate
from microagg.optimum.bounds import gap
from microagg.optimum.certificate import Certificate
from microagg.partition import Partition
from microagg.studies import experiment, landscape

TABLE, LABELS = "best.csv", "best.npz"
COLUMNS = ("data", "seed", "k", "best", "best_by", "since", "floor", "floor_by", "spent")

#: The data sets, and of each the values of k.
KS = dict.fromkeys(landscape.DATA, landscape.KS) | {"adult": adult.KS}

#: The seconds of a first turn, and of the longest.
FIRST, LONGEST = 4.0, 600.0

#: A loss that is lower by a smaller share than this is the same, summed in another order.
ALIKE = 1e-9

Cell = tuple[str, int, int]  # data, seed and k


@cache
def data_of(name: str, seed: int) -> np.ndarray | Records:
    """Return the z-scores of a benchmark, shape (n, d), or the complete records of Adult."""
    return adult.load()[0] if name == "adult" else load_problem(name, seed).data


def lost(data: np.ndarray | Records, labels: np.ndarray) -> float:
    """Return what a partition loses in percent, computed from the records alone."""
    if isinstance(data, Records):
        return 100 * total_information_loss(data, labels) / (data.n * data.d)
    table = pd.DataFrame(data)
    within = table - table.groupby(labels).transform("mean")
    return 100 * float(np.square(within).to_numpy().sum() / np.square(table - table.mean()).to_numpy().sum())


@dataclass
class Library:
    """What is stored: a row for each cell, and the labels of those whose partition is no other cell's."""

    folder: Path = FOLDER
    cells: dict[Cell, dict] = field(default_factory=dict)
    labels: dict[Cell, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if (self.folder / TABLE).is_file():
            rows = pd.read_csv(self.folder / TABLE).to_dict("records")
            self.cells = {(row["data"], row["seed"], row["k"]): row for row in rows}
        if (self.folder / LABELS).is_file():
            with np.load(self.folder / LABELS) as stored:
                for name in stored:
                    data, seed, k = name.split("-")
                    self.labels[data, int(seed), int(k)] = stored[name].astype(np.int64)

    def start(self, cell: Cell) -> np.ndarray | None:
        """Return the labels of the best partition known that serves a cell; None if there is none."""
        data, seed, k = cell
        serving = [at for at in sorted(self.labels) if at[:2] == (data, seed) and at[2] >= k]
        return self.labels[serving[0]] if serving else None

    def offer(self, cell: Cell, labels: np.ndarray, loss: float, by: str) -> bool:
        """Take a partition if it loses less than what is known, and return whether it does; it serves smaller k."""
        row, today = self._row(cell), datetime.date.today().isoformat()
        if not loss < row["best"] * (1 - ALIKE):
            return False
        self.labels[cell] = Partition(labels, cell[2]).labels
        for other in [row, *self._same(cell, smaller=True)]:
            if loss < other["best"] * (1 - ALIKE):
                other.update(best=loss, best_by=by, since=today)
                if other is not row:
                    self.labels.pop((*cell[:2], other["k"]), None)
        return True

    def prove(self, cell: Cell, floor: float, by: str) -> bool:
        """Take a floor if it is higher than what is known, and return whether it is; it holds for larger k, too."""
        row = self._row(cell)
        floor *= 1 - 1e-11  # what rounding may have taken, so that it holds as it stands
        higher = floor > row["floor"] * (1 + ALIKE)
        for other in [row, *self._same(cell, smaller=False)]:
            if floor > other["floor"] * (1 + ALIKE):
                other.update(floor=floor, floor_by=by)
        return higher

    def _row(self, cell: Cell) -> dict:
        new = dict(zip(COLUMNS, (*cell, np.inf, "", "", 0.0, "", 0.0), strict=True))
        return self.cells.setdefault(cell, new)

    def _same(self, cell: Cell, *, smaller: bool) -> list[dict]:
        """Return the rows of the same data for smaller k, or for larger ones."""
        of, k = cell[:2], cell[2]
        return [row for at, row in self.cells.items() if at[:2] == of and (at[2] < k if smaller else at[2] > k)]

    def write(self) -> None:
        """Store everything, so that equal contents are equal files."""
        order = list(KS)
        cells = sorted(self.cells, key=lambda cell: (order.index(cell[0]), *cell[1:]))
        rows = [{name: self.cells[cell][name] for name in COLUMNS} for cell in cells]
        labels = {}
        for data, seed, k in cells:
            if (own := self.labels.get((data, seed, k))) is not None:
                labels[f"{data}-{seed}-{k}"] = own.astype(np.uint8 if own.max() < 256 else np.uint16)
        content = BytesIO()
        np.savez_compressed(content, **labels)
        replace(self.folder / LABELS, content.getvalue())
        text = pd.DataFrame(rows).to_csv(index=False, float_format="%.12g", lineterminator="\n")
        replace(self.folder / TABLE, text.encode())


def all_cells() -> list[Cell]:
    """Return all cells there are."""
    return [
        (name, seed, k)
        for name, ks in KS.items()
        for seed in range(landscape.SEEDS if name != "adult" and is_random(name) else 1)
        for k in ks
    ]


def turn(library: Library, cell: Cell, seconds: float) -> str:
    """Search for a better partition and prove a higher floor, and return in words what came of it."""
    data, (_, _, k) = data_of(*cell[:2]), cell
    own = Certificate(data, k, library.start(cell)).narrow(seconds)
    better = library.offer(cell, own.labels, lost(data, own.labels), "search")
    bound = own.bound
    by = "programs" if bound.iterations else "known optimum" if bound.converged else "nearest neighbors"
    higher = library.prove(cell, bound.information_loss, by)
    row = library.cells[cell]
    row["spent"] = max(row["spent"], round(seconds, 1))
    says = f"{cell[0]}-{cell[1]} k={k} {seconds:.0f} s: {row['best']:.6g} over {row['floor']:.6g}"
    return f"{says} ({100 * gap(row['best'], row['floor']):.3f} %){' better' * better}{' higher' * higher}"


def take_runs(library: Library, cells: list[Cell]) -> None:
    """Take the partitions of stored runs that lose less than what is known, found again."""
    runs = landscape.runs()
    runs["of"] = runs["seed"].where(runs["data"].map(is_random), 0)
    lowest = runs.loc[runs.groupby(["data", "of", "k"])["information_loss"].idxmin()]
    for run in lowest.to_dict("records"):
        cell = (run["data"], run["of"], run["k"])
        known = library.cells.get(cell, {"best": np.inf})["best"]
        if cell in cells and run["information_loss"] < known * (1 - ALIKE):
            method = with_seed(landscape.METHODS[run["method"]], run["seed"])
            result = experiment.run_one(load_problem(*cell[:2]), method, cell[2])
            labels = result.partition.labels
            library.offer(cell, labels, lost(data_of(*cell[:2]), labels), run["method"])
            library.write()


def improve(library: Library, cells: list[Cell], seconds: float) -> None:
    """Give turns to the cells whose gap is widest for the time of another one, as long as there is time for it."""
    certificate.prepare()
    certificate.prepare_mixed()
    until = time.monotonic() + seconds
    while True:
        promises = {}
        for cell in cells:
            row = library.cells.get(cell, {"best": np.inf, "floor": 0.0, "spent": 0.0})
            length = min(max(FIRST, 2 * row["spent"]), LONGEST)
            share = min(gap(row["best"], row["floor"]), 1e9)
            if share > certificate.CLOSED:
                promises[cell] = share / length, length
        if not promises:
            return
        cell = max(promises, key=lambda at: promises[at][0])
        if time.monotonic() + promises[cell][1] > until:
            return
        print(turn(library, cell, promises[cell][1]), flush=True)
        library.write()


def read_offer(path: Path) -> np.ndarray:
    """Return the group of each record from a file; :class:`DataError` says what is wrong with it."""
    table = pd.read_csv(path)
    if "group" not in table and table.shape[1] != 1:
        raise DataError(f"{path} has the columns {', '.join(map(str, table))}: name that of the groups 'group'.")
    groups = table["group"] if "group" in table else table.iloc[:, 0]
    if groups.isna().any():
        raise DataError(f"record {int(np.flatnonzero(groups.isna())[0])} of {path} (from 0) has no group: fill it in.")
    return pd.factorize(groups)[0]


def offer(library: Library, cell: Cell, path: Path, by: str) -> str:
    """Check a partition that somebody offers, take it if it is better, and return in words what came of it."""
    data, labels = data_of(*cell[:2]), read_offer(path)
    if len(labels) != len(data):
        raise DataError(f"{path} has groups for {len(labels):,} records, but {cell[0]} has {len(data):,}.")
    Partition(labels, cell[2])  # raises if a group is too small
    before, loss = library.cells[cell]["best"], lost(data, labels)
    if not library.offer(cell, labels, loss, by):
        return f"It loses {loss:.9g} %, no less than {before:.9g} %, which is known: nothing is stored."
    library.write()
    return f"It loses {loss:.9g} %, less than {before:.9g} %, which was known: it is stored as found by {by}."


def main() -> None:
    """Read the command line; improve, or take an offer."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600.0, help="in all")
    parser.add_argument("--data", nargs="*", default=list(KS), choices=list(KS))
    parser.add_argument("--seed", nargs="*", type=int, default=list(range(landscape.SEEDS)), help="of random data")
    parser.add_argument("--k", nargs="*", type=int)
    parser.add_argument("--offer", type=Path, metavar="FILE", help="the group of each record, CSV; for one cell")
    parser.add_argument("--by", default="", help="who found it, and when")
    given = parser.parse_args()
    cells = [
        cell
        for cell in all_cells()
        if cell[0] in given.data and cell[1] in given.seed and (given.k is None or cell[2] in given.k)
    ]
    library = Library()
    if given.offer is None:
        take_runs(library, cells)
        improve(library, cells, given.seconds)
        tables.write()
        return
    if len(cells) != 1 or not given.by:
        parser.error(
            f"say which of {len(cells)} cells it is for, with --data, --k and --seed, and with --by who found it"
        )
    try:
        print(offer(library, cells[0], given.offer, given.by))
    except (MicroaggError, OSError, ValueError) as error:
        parser.error(str(error))


if __name__ == "__main__":
    main()
