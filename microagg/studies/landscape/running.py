"""Runs on the benchmarks of the landscape: an algorithm of one's own beside those that are stored."""

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
    """Return whether a data set is drawn from a seed."""
    return datasets.describe(name).kind == "synthetic"


def seeds_of(method: Method, data: str) -> range:
    """Return the seeds with which a method runs on a data set."""
    return range(SEEDS if is_random(data) or not algorithm(method.key).info.deterministic else 1)


def with_seed(method: Method, seed: int) -> Method:
    """Return a method with a seed, if it takes one."""
    if algorithm(method.key).info.deterministic:
        return method
    return Method(method.key, {**method.params, "random_state": seed}, method.polish)


def problem_of(name: str, seed: int) -> Problem:
    """Return a data set's z-scores, as what is partitioned; it is downloaded where it is not on this machine."""
    return Problem.of(standardize(datasets.load(name, seed=seed if is_random(name) else None).X))


def row_of(data: str, seed: int, name: str, result: experiment.Result, seconds: float) -> dict[str, Any]:
    """Return a row of :func:`~microagg.studies.landscape.store.runs`, without its SSE."""
    row = result.row()
    chosen = [value for param, value in result.params.items() if isinstance(result.method.params.get(param), tuple)]
    columns = ("k", "information_loss", "n_groups", "smallest_group", "largest_group")
    figures = {column: row[column] for column in columns}
    return {"data": data, "seed": seed, "method": name, **figures, "chosen": chosen[0] if chosen else None} | {
        "seconds": seconds
    }


def lacking(mine: Given) -> list[str]:
    """Return on which of :data:`DATA` a method, given as to :func:`compare`, has not been run at every k."""
    name = store.name_of(Method.of(mine))
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
    """Run an algorithm of your own on the benchmarks, and return it against a stored method, cell by cell.

    From then on and for this process it is, under its key, a method of :func:`duel`, :func:`matrix` and :func:`pareto`
    beside the stored ones. Runs that are there already are not repeated unless the class is another one.

    Parameters
    ----------
    mine : class, instance, str, (str, mapping) or Method
        As in :func:`microagg.studies.experiment.sweep`; a class or an instance is registered, see
        :func:`microagg.register`.
    rival : str
        The method it is held against, one of :data:`METHODS`.
    data, ks : iterables
        On which of :data:`DATA` and :data:`KS`; z-scores, random sets with each of their seeds. :func:`matrix` has the
        means of what was run at all of both.
    progress : callable, optional
        Called as ``progress(data, seed, k)`` before each run.

    Returns
    -------
    DataFrame
        As :func:`duel` of both, where both were run.

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
    method_name = store.own_name(method)
    done = set(store.runs().query("method == @method_name")[["data", "seed", "k"]].itertuples(index=False, name=None))
    experiment.prepare(experiment.needed([method]))
    for name in data:
        cells = [(seed, k) for seed in seeds_of(method, name) for k in ks if (name, seed, k) not in done]
        # Whoever interrupts it later keeps these.
        store.add_rows(list(_runs(method, name, cells, progress)))
        conclusions.forget()
    return conclusions.duel(method_name, rival)


def _runs(
    method: Method, data: str, cells: Iterable[tuple[int, int]], progress: Callable[[str, int, int], None] | None
) -> Iterator[dict[str, Any]]:
    """Run a method on a data set for each seed and k of ``cells``, and yield the rows of the results."""
    for seed, of_seed in groupby(cells, key=itemgetter(0)):
        problem = problem_of(data, seed)
        for _, k in of_seed:
            if progress:
                progress(data, seed, k)
            began = time.process_time()
            result = experiment.run_one(problem, with_seed(method, seed), k)
            yield row_of(data, seed, store.own_name(method), result, time.process_time() - began)
