"""Runs on the benchmarks of the landscape: a user's algorithm in comparison with the stored ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

import pandas as pd

from microagg import datasets
from microagg.algorithms.method import Given, Method
from microagg.algorithms.registry import algorithm
from microagg.columns.scaling import standardize
from microagg.optimum.problem import Problem
from microagg.studies import experiment
from microagg.studies.landscape import conclusions, store
from microagg.studies.landscape.store import DATA, KS, SEEDS
from microagg.validation import check_choice


def is_random(name: str) -> bool:
    """Whether a data set is drawn from a seed."""
    return datasets.describe(name).kind == "synthetic"


def seeds_of(method: Method, data: str) -> range:
    """Seeds of a method's runs on a data set."""
    return range(SEEDS if is_random(data) or not algorithm(method.key).info.deterministic else 1)


def with_seed(method: Method, seed: int) -> Method:
    """The method with a seed, if it takes one."""
    if algorithm(method.key).info.deterministic:
        return method
    return Method(method.key, {**method.params, "random_state": seed}, method.polish)


def load_problem(name: str, seed: int) -> Problem:
    """The z-scores of a data set as a problem. It is downloaded if it is not on this machine."""
    return Problem.of(standardize(datasets.load(name, seed=seed if is_random(name) else None).X))


def result_row(data: str, seed: int, name: str, result: experiment.Result, seconds: float) -> dict[str, Any]:
    """Row of :func:`~microagg.studies.landscape.store.runs`, without its SSE."""
    row = result.row()
    chosen = [value for param, value in result.params.items() if isinstance(result.method.params.get(param), tuple)]
    columns = ("k", "information_loss", "n_groups", "smallest_group", "largest_group")
    figures = {column: row[column] for column in columns}
    return {"data": data, "seed": seed, "method": name, **figures, "chosen": chosen[0] if chosen else None} | {
        "seconds": seconds
    }


def lacking(mine: Given) -> list[str]:
    """The :data:`DATA` on which a method, given as in :func:`compare`, has not been run at every k."""
    name = store.stored_name(Method.of(mine))
    if name is None:
        return list(DATA)
    missing = conclusions.incomplete()
    return list(missing.loc[missing["method"] == name, "data"])


def compare(
    mine: Given,
    rival: str = "mdav-star",
    *,
    data: Iterable[str] = DATA,
    ks: Iterable[int] = KS,
    progress: Callable[[str, int, int], None] | None = None,
) -> pd.DataFrame:
    """Run a user's algorithm on the benchmarks, and compare it with a stored method, cell by cell.

    In this process it is then, under its key, a method of :func:`duel`, :func:`matrix` and :func:`pareto` like the
    stored ones. Runs are not repeated unless the class has changed.

    Parameters
    ----------
    mine : class, instance, str, (str, mapping) or Method
        As in :func:`microagg.studies.experiment.sweep`; a class or an instance is registered, see
        :func:`microagg.register`.
    rival : str
        The method for comparison, one of :data:`METHODS`.
    data, ks : iterables
        A part of :data:`DATA` and :data:`KS`; z-scores, random sets with each of their seeds. :func:`matrix` has the
        means of methods with all of both.
    progress : callable, optional
        Called as ``progress(data, seed, k)`` before each run.

    Returns
    -------
    DataFrame
        As :func:`duel` of both, for common runs.

    Raises
    ------
    ParameterError
        If there is no such method, data set or k, or the algorithm is refused.
    DatasetUnavailableError
        If a benchmark is not on this machine and cannot be downloaded.
    """
    data, ks = list(data), list(ks)
    for name in data:
        check_choice("data", name, list(DATA))
    for k in ks:
        store.check_stored(k)
    check_choice("rival", rival, list(store.METHODS))
    method = Method.of(mine)
    method_name = store.register_name(method)
    done = set(store.runs().query("method == @method_name")[["data", "seed", "k"]].itertuples(index=False, name=None))
    experiment.prepare(experiment.needed([method]))
    for name in data:
        cells = [(seed, k) for seed in seeds_of(method, name) for k in ks if (name, seed, k) not in done]
        # A later interruption keeps these.
        store.add_rows(list(_runs(method, name, cells, progress)))
        conclusions.forget()
    return conclusions.duel(method_name, rival)


def _runs(
    method: Method, data: str, cells: Iterable[tuple[int, int]], progress: Callable[[str, int, int], None] | None
) -> Iterator[dict[str, Any]]:
    """Run a method on a data set for each seed and k of ``cells``, and yield the rows of the results."""
    for seed, seed_cells in groupby(cells, key=itemgetter(0)):
        problem = load_problem(data, seed)
        for _, k in seed_cells:
            if progress:
                progress(data, seed, k)
            started = time.process_time()
            result = experiment.run_one(problem, with_seed(method, seed), k)
            yield result_row(data, seed, store.register_name(method), result, time.process_time() - started)
