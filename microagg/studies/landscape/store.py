"""The stored comparison: methods, data sets and values of k, every run, and bounds of the optimal losses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.algorithms.base import is_own
from microagg.algorithms.method import VARIANTS, Method
from microagg.algorithms.registry import ALGORITHMS, algorithm
from microagg.columns.records import Records
from microagg.errors import ParameterError
from microagg.optimum.nearest_neighbors import Bound
from microagg.partition import Partition
from microagg.tables import digest_array, digest_bytes
from microagg.validation import check_choice, check_k, check_matrix

#: The data sets, the benchmarks of the literature first; all are z-scored, with all their quasi-identifiers.
DATA = ("census", "tarragona", "eia", "simu", "simc", "wine", "breast_cancer")

#: The minimum group sizes.
KS = (*range(2, 21), 25, 50, 100)

#: The methods whose partitions are stored, for every k, of the data sets with seed 0.
WITH_PARTITIONS = ("mdav-star", "v-mdav")

#: Random data sets, and runs of a randomized algorithm, have the seeds 0, 1, … below this.
SEEDS = 5


def _methods() -> dict[str, Method]:
    methods = {
        name: variant.method()
        for name, variant in VARIANTS.items()
        if not (is_own(algorithm(variant.key)) or variant.needs_classes or variant.needs_closeness)
    }
    for key, cls in ALGORITHMS.items():
        if is_own(cls):
            continue
        if grids := {param.name: param.grid for param in cls.params if param.grid and not param.needs_classes}:
            methods[f"{key}-best"] = Method(key, grids)
    return methods


#: The compared methods by name: every variant of an algorithm at its defaults, see
#: :data:`microagg.algorithms.method.VARIANTS`, and ``v-mdav-best`` with the best γ of the literature's grid for each k.
METHODS = _methods()


def check_stored(k: int) -> None:
    """Raise :class:`~microagg.errors.ParameterError` if no results are stored for k."""
    if k not in KS:
        raise ParameterError(f"nothing is stored for k = {k!r}: there is k = 2 to 20, 25, 50 and 100.")


def title(name: str) -> str:
    """Name of a method of :data:`METHODS` in tables and charts, such as ``V-MDAV (best γ)``."""
    check_choice("name", name, list(METHODS))
    return VARIANTS[name].title if name in VARIANTS else METHODS[name].label


# --- the stored tables ------------------------------------------------------------------------------------------------

_FOLDER, _RUNS = Path(__file__).parent, "runs.csv.gz"
PARTITIONS = "partitions.npz"

# The scale of all stored results.
_SCALE = "zscore"


@cache
def about() -> dict[str, Any]:
    """Date and circumstances of the results.

    The key ``left_out`` has the method, the data set and the first k of missing runs, and the processor time in seconds
    (``bound``) that they exceed; ``digests`` identify the code by method.
    """
    contents: dict[str, Any] = json.loads((_FOLDER / "about.json").read_text(encoding="utf-8"))
    return contents


def runs() -> pd.DataFrame:
    """Every run of a method on a data set at one k.

    The columns are data, seed (of a random data set, and of a randomized algorithm; 0 if nothing is random), method (a
    name of METHODS), k, information_loss (percent), sse (of the z-scores), n_groups, smallest_group, largest_group
    (records), chosen (the best setting of a method with several, else NaN) and seconds (of the processor, all settings
    together).
    """
    return _runs().copy()


def limits() -> pd.DataFrame:
    """Bounds of the optimal loss for each data set, seed and k.

    The columns are data (of :data:`DATA`, and ``adult``), seed, k, best (the information loss of the partition of
    :func:`best`, for Adult Total-IL, percent), best_by (its source; "search" is this project's), since (the day),
    floor (the lower bound, percent) and floor_by (its proof: "programs", "nearest neighbors" or "known optimum").
    """
    return _limits().copy()


@cache
def _sets() -> pd.DataFrame:
    return pd.read_csv(_FOLDER / "sets.csv").set_index(["data", "seed"])


@cache
def _runs() -> pd.DataFrame:
    table = pd.read_csv(_FOLDER / _RUNS)
    # All runs on a real data set use the same records.
    sst_by_seed = {name: dict(part["sst"].droplevel(0)) for name, part in _sets().groupby(level=0)}
    pairs = zip(table["data"], table["seed"], strict=True)
    sst = np.array([sst_by_seed[data].get(seed, sst_by_seed[data][0]) for data, seed in pairs])
    table.insert(list(table.columns).index("information_loss") + 1, "sse", table["information_loss"] * sst / 100)
    return table


@cache
def _limits() -> pd.DataFrame:
    return pd.read_csv(_FOLDER / "best.csv").drop(columns="spent")


@cache
def _limits_of(data: str, seed: int) -> pd.DataFrame:
    table = _limits()
    return table[(table["data"] == data) & (table["seed"] == seed)]


def between(data: str, seed: int, ks: Iterable[int]) -> dict[int, tuple[float, float]]:
    """Best known loss and lower bound for any k.

    A partition for a larger k also serves a smaller one, and a lower bound for a smaller k holds for a larger one.

    Parameters
    ----------
    data, seed : str and int
        Name and seed of a data set, as :func:`recognize` returns them.
    ks : iterable of int

    Returns
    -------
    dict of int to (float, float)
        By k, in percent; infinity and 0 if none is stored.
    """
    all_ks, best, floor = (_limits_of(data, seed)[name].to_numpy() for name in ("k", "best", "floor"))
    return {k: (float(best[all_ks >= k].min(initial=np.inf)), float(floor[all_ks <= k].max(initial=0.0))) for k in ks}


@dataclass(frozen=True, eq=False)
class Best:
    """The best known partition of a benchmark into groups of at least ``k``. Made by :func:`best`."""

    data: str
    seed: int
    k: int
    partition: Partition
    information_loss: float  # percent; of Adult, Total-IL in percent of the largest possible
    bound: Bound  # the proven lower bound
    optimal: bool  # whether both are equal up to rounding
    by: str  # its source; "search" is this project's
    since: str  # the day, such as "2026-11-25"


def best(data: str, k: int, seed: int = 0) -> Best:
    """The best known partition of a benchmark, and the proven lower bound of the loss.

    >>> from microagg import landscape
    >>> known = landscape.best("census", k=3)
    >>> known.partition.n_groups, round(known.information_loss, 4), known.optimal
    (359, 4.6679, True)

    Parameters
    ----------
    data : str
        One of :data:`DATA`, by the z-scores of all its quasi-identifiers; or ``adult``, its complete records by
        Total-IL. Records are in the order of the file.
    k : int
        A partition for a larger k also serves a smaller one, and a bound for a smaller k holds for a larger one.
    seed : int
        The seed of a random data set, 0 for others.

    Raises
    ------
    ParameterError
        If there is no such data set, or nothing is stored for so large a k.
    """
    from microagg.optimum.certificate import is_closed  # which loads all programs

    k, rows = check_k(k), _limits_of(data, seed)
    if rows.empty:
        raise _not_stored("partitions", data, seed, _limits()["data"].unique())
    if k > (max_k := rows["k"].max()):
        raise ParameterError(f"the partitions that are stored of {data!r} are for k up to {max_k}, not for k={k}.")
    row = rows[rows["k"] >= k].iloc[0]
    # If partitions for a larger k have no higher loss, none are stored for a smaller one.
    names = (f"{data}-{seed}-{stored_k}" for stored_k in rows.loc[rows["k"] >= k, "k"])
    with np.load(_FOLDER / "best.npz") as file:
        labels = file[next(name for name in names if name in file)].astype(np.int64)
    loss, lower = float(row["best"]), between(data, seed, [k])[k][1]
    bound = Bound(k, lower * float(_sets()["sst"][data, seed]) / 100, lower, 0.0)
    return Best(data, seed, k, Partition(labels, k), loss, bound, is_closed(loss, lower), row["best_by"], row["since"])


def _not_stored(noun: str, data: str, seed: int, names: Iterable[str]) -> ParameterError:
    return ParameterError(
        f"there are no stored {noun} on {data!r} with seed {seed!r}: there are those on {', '.join(names)}."
    )


def recognize(values: ArrayLike | Records, scale: str = _SCALE) -> tuple[str, int] | None:
    """Stored data set that has the same records.

    Parameters
    ----------
    values : array of float, shape (n, d), or Records
        All quasi-identifiers with records in their original order: numbers in their original units, as in
        ``Dataset.X``, or records with categories.
    scale : str
        The scale of the distances. Of numbers, only results on "zscore" are stored.

    Returns
    -------
    (str, int) or None
        Name and seed; None if there is none.

    Raises
    ------
    DataError
        If ``values`` are not numbers.
    """
    if isinstance(values, Records):
        return _set_by_digest().get(digest_records(values))
    if scale != _SCALE:
        return None
    array = check_matrix(values)
    if array.shape not in set(zip(_sets()["n"], _sets()["d"], strict=True)):
        return None
    return _set_by_digest().get(digest_array(array))


def digest_records(records: Records) -> str:
    """Digest of records with categories, including their domains and taxonomies."""
    return digest_bytes(f"{digest_array(records.values)}/{records.attributes!r}".encode())


@cache
def _set_by_digest() -> dict[str, tuple[str, int]]:
    return dict(zip(_sets()["digest"], _sets().index, strict=True))


def stored(data: str, seed: int, method: Method, ks: Iterable[int]) -> pd.DataFrame:
    """Stored results of a method on a data set in the form of a sweep.

    Parameters
    ----------
    data, seed : str and int
        Name and seed of a data set, as :func:`recognize` returns them.
    method : Method
        It is compared with stored ones by its settings, including defaults.
    ks : iterable of int

    Returns
    -------
    DataFrame
        A row for each k with a result, in the order of ``ks``. The columns are those of
        :meth:`microagg.studies.experiment.Result.row` and ``settings``, the parameters as a mapping; seconds are those
        of the processor. Without rows there are no columns.

    Raises
    ------
    ParameterError
        If no such data set is stored, or a k is not a whole number of at least 1.
    """
    checked_ks = [check_k(k) for k in ks]
    if (data, seed) not in _sets().index:
        raise _not_stored("results", data, seed, DATA)
    name, run_seed = stored_name(method), _seed_of(method, data, seed)
    if name is None or run_seed is None:
        return pd.DataFrame()
    by_k = _rows(name, data, run_seed)
    return pd.DataFrame([_row(method, by_k[k]) for k in checked_ks if k in by_k])


def partition(data: str, seed: int, method: Method, k: int) -> Partition | None:
    """Partition that a method, one of :data:`WITH_PARTITIONS`, gives on a data set; None if it is not stored."""
    with np.load(_FOLDER / PARTITIONS) as file:
        name = f"{data}-{seed}-{stored_name(method)}"
        if k not in KS or name not in file:
            return None
        return Partition(file[name][:, KS.index(k)].astype(np.int64), k)


def stored_name(method: Method) -> str | None:
    """Name of a stored method, with any seed. None if it is not stored."""
    for name, candidate in METHODS.items():
        if candidate.key == method.key and not method.polish and _unseeded(candidate) == _unseeded(method):
            return name
    return None


def _unseeded(method: Method) -> list[dict[str, Any]]:
    return [{key: value for key, value in each.items() if key != "random_state"} for each in method.settings()]


def _seed_of(method: Method, data: str, seed: int) -> int | None:
    """Seed of the runs of a method on a data set. None if there are none with the method's seed."""
    if algorithm(method.key).info.deterministic:
        return seed
    [run_seed, *others] = {int(settings["random_state"]) for settings in method.settings()}
    is_random = len(_sets().loc[data]) > 1
    # For random data sets, only runs with the seed of the data set are stored.
    return None if others or (is_random and run_seed != seed) else run_seed


@cache
def _rows(name: str, data: str, seed: int) -> dict[int, dict[str, Any]]:
    """Runs of a method on a data set by k."""
    table = _runs()
    chosen = table[(table["method"] == name) & (table["data"] == data) & (table["seed"] == seed)]
    return {row["k"]: {str(column): value for column, value in row.items()} for row in chosen.to_dict("records")}


def _row(method: Method, run: Mapping[str, Any]) -> dict[str, Any]:
    settings = method.settings()
    params = dict(settings[0])
    params |= {name: float(run["chosen"]) for name, value in method.params.items() if isinstance(value, tuple)}
    return {
        "method": method.key,
        "label": method.label,
        "k": run["k"],
        "information_loss": run["information_loss"],
        "unpolished": run["information_loss"],
        **{name: run[name] for name in ("sse", "n_groups", "smallest_group", "largest_group")},
        "params": ", ".join(f"{name}={value}" for name, value in params.items()),
        "settings_tried": len(settings),
        "seconds": run["seconds"],
        "settings": params,
    }
