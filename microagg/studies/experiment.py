"""Many runs at once: algorithms × values of k on one data set, with progress, cancellation and threads.

Data are an array of numbers, whose loss is the SSE, or :class:`~microagg.columns.records.Records` of mixed attributes,
whose loss is Total-IL, for which there are only the algorithms that work on mixed attributes; see
:mod:`microagg.optimum.problem`.
The kernels release the interpreter lock, so threads use all cores without copying the data.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextvars import copy_context
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.algorithms.method import Given, Method
from microagg.algorithms.registry import algorithm, make
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import names_arguments
from microagg.optimum.problem import Problem
from microagg.partition import Partition
from microagg.progress import Cancelled, checkpoint, watched
from microagg.validation import check_k, check_whole

__all__ = ["Method", "Problem", "Result", "needed", "prepare", "run", "run_one", "sweep", "unprepared"]


@dataclass(frozen=True)
class Result:
    """One method at one k.

    ``params`` are the parameters used; if several settings were ``tried``, those with the lowest loss, the first of
    ties. For numbers, ``measures`` are information_loss (100 · SSE / SST, in percent), unpolished (the same before
    polishing) and sse (in squared units of X); for records, n_records and the measures of
    :class:`microagg.metrics.generalization.Summary`. ``seconds`` is the time of the algorithm, and of polishing, over
    all settings.
    """

    method: Method
    k: int
    params: dict[str, Any]
    tried: int
    partition: Partition
    measures: dict[str, Any]
    seconds: float

    @property
    def information_loss(self) -> float:
        """The information loss in percent."""
        return float(self.measures["information_loss"])

    @property
    def sse(self) -> float:
        """The SSE of an array of numbers, in squared units of X."""
        return float(self.measures["sse"])

    def row(self) -> dict[str, Any]:
        """Row of a table."""
        return {
            "method": self.method.key,
            "label": self.method.label,
            "k": self.k,
            **self.measures,
            "n_groups": self.partition.n_groups,
            "smallest_group": int(self.partition.sizes.min()),
            "largest_group": int(self.partition.sizes.max()),
            "params": ", ".join(f"{name}={value}" for name, value in self.params.items()),
            "settings_tried": self.tried,
            "seconds": self.seconds,
        }


# The algorithms with compiled kernels, each with a flag for its kernels for many records. A lock is held while one is
# prepared: another thread that needs the same one waits instead of compiling it again.
_prepared: set[tuple[str, bool]] = set()
_preparing = threading.Lock()

# The algorithm for polishing.
_POLISH = "local-search"

#: The number of records from which algorithms use their kernels for many records, if they have any.
MANY = 4_200

# Warming up for many records: enough records for all algorithms, few attributes and small groups; algorithms without
# these kernels stop after some checkpoints.
_N_RECORDS, _N_ATTRIBUTES, _K, _N_CHECKPOINTS = 14_000, 2, 5, 20


@names_arguments
def unprepared(keys: Iterable[str], n: int = 0) -> list[str]:
    """The distinct ``keys`` whose kernels for n records are neither compiled nor loaded yet."""
    return [key for key in dict.fromkeys(keys) if (key, n >= MANY) not in _prepared]


@names_arguments
def needed(methods: Iterable[Method]) -> list[str]:
    """Distinct algorithms of ``methods``, for :func:`prepare`. With local search if one is polished."""
    keys = [key for method in methods for key in ((method.key, _POLISH) if method.polish else (method.key,))]
    return list(dict.fromkeys(keys))


@names_arguments
def prepare(keys: Iterable[str], progress: Callable[[int, int, str], None] | None = None, *, n: int = 0) -> None:
    """Compile the kernels of algorithms, or load them if an earlier process has stored them.

    Compilation takes some seconds per algorithm, once on a machine.

    Parameters
    ----------
    keys : iterable of str
        Keys of algorithms.
    progress : callable, optional
        Called with the number done, the total and the next title: before each algorithm and, with an empty title, at
        the end.
    n : int
        The expected number of records: there are other kernels for many.

    Raises
    ------
    ParameterError
        If there is no such algorithm.
    """
    todo = unprepared(keys, n)
    for done, key in enumerate(todo):
        if progress:
            progress(done, len(todo), algorithm(key).info.title)
        # This thread may not be paused while others wait for it.
        with _preparing, watched(lambda *_: True):
            if (key, False) not in _prepared:
                make(key, k=2).fit(np.arange(12.0).reshape(6, 2) % 5)
                if algorithm(key).info.mixed:
                    _warm_up(key)
                _prepared.add((key, False))
            if n >= MANY and (key, True) not in _prepared:
                _warm_up_for_many(key)
                _prepared.add((key, True))
    if progress:
        progress(len(todo), len(todo), "")


def _warm_up_for_many(key: str) -> None:
    """Start a run with the smallest number of records that counts as many for all algorithms."""
    counter = itertools.count(1)
    with contextlib.suppress(Cancelled), watched(lambda *_: next(counter) < _N_CHECKPOINTS):
        make(key, k=_K).fit(np.random.default_rng(0).normal(size=(_N_RECORDS, _N_ATTRIBUTES)))


def _warm_up(key: str) -> None:
    """Run a mixed algorithm on attributes of every kind, with each choice and with classes: each may have kernels."""
    tree = Taxonomy.from_nested({"*": {"a": ["b", "c"], "d": ["e", "f"]}})
    attributes = Attribute("x"), Attribute("y", "ordinal", ("0", "1", "2")), Attribute("z", "nominal", (), tree)
    values = np.array([[0.0, 2, 2], [1, 0, 3], [2, 1, 5], [5, 2, 6], [4, 0, 2], [3, 1, 5], [9, 2, 3]])
    problem = Problem.of(Records(attributes, values), [0, 1, 0, 1, 0, 0, 1])
    params = algorithm(key).params
    # The upper bound, or 1 without one, is not the default, so that the classes are used.
    with_classes = {param.name: param.bounds[1] or 1.0 for param in params if param.needs_classes}
    choices = [{param.name: value} for param in params if param.kind == "choice" for value in param.bounds]
    for chosen in [{}, with_classes, *choices]:
        make(key, k=2, **chosen).fit(problem.data, problem.classes)


@names_arguments
def run_one(problem: Problem, method: Method, k: int) -> Result:
    """Run a method at one k, within the strata of ``problem``.

    Parameters
    ----------
    problem : Problem
    method : Method
        Of several settings, the one with the lowest loss counts, the first of ties.
    k : int
        The minimum number of records in a group.

    Returns
    -------
    Result
        The loss is that of all records.

    Raises
    ------
    DataError
        If there are fewer than ``k`` records, in all or in a stratum.
    ParameterError
        If ``k`` is not a whole number of at least 1, or the method does not fit.
    """
    problem.fits(method)
    problem.check_sizes(check_k(k))
    settings = method.settings()
    best: tuple[float, dict[str, Any], Partition, Partition] | None = None
    seconds = 0.0
    for params in settings:
        estimator = make(method.key, k=k, **params)
        started = time.perf_counter()
        unpolished = problem.partition(estimator)
        partition = problem.polish(unpolished) if method.polish else unpolished
        seconds += time.perf_counter() - started
        value = problem.value(partition)
        if best is None or value < best[0]:
            best = value, params, partition, unpolished
    assert best is not None
    _, params, partition, unpolished = best
    return Result(method, k, params, len(settings), partition, problem.row(partition, unpolished), seconds)


@names_arguments
def run(
    X: ArrayLike | Records,
    cells: Iterable[tuple[Method, int]],
    *,
    classes: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    workers: int | None = None,
) -> Iterator[Result]:
    """Run methods at several k, on several threads.

    A watcher of the iterating thread, see :mod:`microagg.progress`, also watches the others, and is called by all of
    them: before each cell and at checkpoints of long-running algorithms.

    Parameters
    ----------
    X : array of float, shape (n, d), or Records
    cells : iterable of (Method, int)
        Methods, each with its k.
    classes : array, shape (n,), optional
        The class of each of the records, for parameters that use it and for the classification metric.
    strata : array of int, shape (n,), optional
        The number of the stratum of each record, at least 0; groups stay within strata.
    workers : int, optional
        The number of threads; by default the number of cores.

    Yields
    ------
    Result
        One for each cell when it is done.

    Raises
    ------
    DataError, ParameterError
        As :meth:`.Problem.of`; if X or a stratum has fewer records than a k; if a k is not a whole number of at least
        1, or an algorithm does not work on mixed attributes, or without classes, and X are such records.
    Cancelled
        If the watcher cancels the run. No further cell starts then; finished results have been yielded.
    """
    todo = [(method, check_k(k)) for method, k in cells]
    problem = Problem.of(X, classes, strata=strata)
    for method in dict.fromkeys(method for method, _ in todo):
        problem.fits(method)
    for _, k in todo:
        problem.check_sizes(k)
    return _on_threads(problem, todo, check_whole("workers", (os.cpu_count() or 1) if workers is None else workers, 1))


def _on_threads(problem: Problem, cells: Iterable[tuple[Method, int]], threads: int) -> Iterator[Result]:
    """Yield the result of each cell when it is done (see :func:`run`)."""
    waiting = iter(cells)
    cancelled: Cancelled | None = None
    with ThreadPoolExecutor(threads, thread_name_prefix="microagg") as pool:
        running: set[Future[Result]] = set()
        while True:
            while len(running) < threads and cancelled is None and (cell := next(waiting, None)) is not None:
                method, k = cell
                try:
                    checkpoint(f"{method.label}, k = {k}")
                except Cancelled as error:
                    cancelled = error
                else:
                    # The thread inherits the watcher of this one.
                    running.add(pool.submit(copy_context().run, run_one, problem, method, k))
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                try:
                    yield future.result()
                except Cancelled as error:
                    cancelled = error
    if cancelled is not None:
        raise cancelled


@names_arguments
def sweep(
    X: ArrayLike | Records,
    algorithms: Iterable[Given],
    ks: Iterable[int],
    *,
    classes: ArrayLike | None = None,
    strata: ArrayLike | None = None,
    progress: Callable[[int, int, Result], None] | None = None,
    workers: int | None = None,
) -> pd.DataFrame:
    """Run algorithms × values of k on ``X`` and return a tidy table, one row per pair.

    Parameters
    ----------
    X : array of float, shape (n, d), or Records
        Used without scaling; see :func:`microagg.standardize` and :meth:`microagg.Schema.records`.
    algorithms : iterable of str, (str, mapping), Method, or algorithms
        ``"mdav"``, ``("v-mdav", {"gamma": 0.3})``, or with several values to pick the best of: ``("v-mdav", {"gamma":
        [0, 0.1, 0.2]})``, or ``Method("mdav", polish=True)``; or a class or an instance of one, also a registered one,
        see :func:`microagg.register`.
    ks : iterable of int
    progress : callable, optional
        Called as ``progress(done, total, result)`` after each pair, with its :class:`Result`.
    classes, strata, workers : optional
        As in :func:`run`. If the sweep is watched, see :mod:`microagg.progress`, and cancelled, the rows done so far
        are returned.

    Returns
    -------
    DataFrame
        A :meth:`Result.row` for each pair, in the order of ``algorithms``, then ``ks``. ``attrs["complete"]`` is true
        if it has all pairs. For numbers, the measures are information_loss (percent), unpolished (the same before a
        method with ``polish`` improved it) and sse; for Records, n_records and those of
        :class:`microagg.metrics.generalization.Summary`.

    Raises
    ------
    DataError, ParameterError
        As :func:`run` and :class:`Method`.
    """
    methods = [Method.of(algorithm_spec) for algorithm_spec in algorithms]
    cells = list(dict.fromkeys(itertools.product(methods, ks)))
    prepare(needed(methods))
    rank = {cell: position for position, cell in enumerate(cells)}
    results: list[Result] = []
    with contextlib.suppress(Cancelled):
        for result in run(X, cells, classes=classes, strata=strata, workers=workers):
            results.append(result)
            if progress:
                progress(len(results), len(cells), result)
    results.sort(key=lambda result: rank[result.method, result.k])
    columns = list(results[0].row()) if results else ["method", "k", "information_loss"]
    table = pd.DataFrame([result.row() for result in results], columns=columns)
    table.attrs["complete"] = len(results) == len(cells)
    return table
