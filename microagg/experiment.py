"""Many runs at once: algorithms × values of k on one data set, with progress, cancellation and threads.

Data are an array of numbers, whose loss is the SSE, or :class:`~microagg.records.Records` of mixed attributes, whose
loss is Total-IL; for these there are only the algorithms that work on mixed attributes. The kernels release the
interpreter lock, so threads use all cores without copying the data.
"""

from __future__ import annotations

import itertools
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.base import check_params
from microagg.curves import Knee, knee, largest_k_within
from microagg.errors import ParameterError
from microagg.kernels.local_search.iterated import improve
from microagg.metrics import generalization, loss
from microagg.partition import Partition
from microagg.progress import Cancelled, watched
from microagg.records import Attribute, Records, class_codes
from microagg.registry import ALGORITHMS, algorithm, make
from microagg.taxonomy import Taxonomy
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix, listing

__all__ = [
    "Knee",
    "Method",
    "Problem",
    "Result",
    "knee",
    "largest_k_within",
    "needed",
    "prepare",
    "run",
    "run_one",
    "sweep",
    "unprepared",
]


@dataclass(frozen=True)
class Method:
    """An algorithm with its parameters, each one value or several to pick the best of.

    Parameters
    ----------
    key : str
        The algorithm's key.
    params : mapping of str to a value or a sequence of values
        Parameters left out have their default. Several values mean: run all and keep the lowest SSE (of mixed
        records: the lowest Total-IL), for each k on its own, as the literature does for γ of V-MDAV. Which
        setting is best is known only afterwards: one chosen beforehand loses more.
    polish : bool
        Whether the partition is improved by local search afterwards; see :mod:`microagg.kernels.local_search.descent`.

    Raises
    ------
    ParameterError
        If there is no such algorithm or parameter, or a value is out of bounds.
    """

    key: str
    params: Mapping[str, Any] = field(default_factory=dict)
    polish: bool = False

    def __post_init__(self) -> None:
        cls = algorithm(self.key)
        options = {name: _options(value) for name, value in self.params.items()}
        for name, values in options.items():
            if not values:
                raise ParameterError(f"{name} of {cls.info.title} has no values to try.")
            for value in values:
                check_params(cls, {name: value})
        object.__setattr__(self, "params", {name: v if len(v) > 1 else v[0] for name, v in options.items()})

    def __hash__(self) -> int:
        return hash((self.key, tuple(sorted(self.params.items())), self.polish))

    @classmethod
    def of(cls, given: str | tuple[str, Mapping[str, Any]] | Method) -> Method:
        """Return a method from a key, a pair (key, params), or a method."""
        if isinstance(given, Method):
            return given
        return cls(given) if isinstance(given, str) else cls(*given)

    @property
    def label(self) -> str:
        """The title with what is not at its default, such as ``V-MDAV (γ = 0.3)`` or ``V-MDAV (best γ), polished``."""
        known = {param.name: param for param in algorithm(self.key).params}
        parts = []
        for name, value in self.params.items():
            shown = known[name].symbol or name
            if isinstance(value, tuple):
                parts.append(f"best {shown}")
            elif value != known[name].default:
                parts.append(f"{shown} = {value:g}" if isinstance(value, float) else f"{shown} = {value}")
        title = algorithm(self.key).info.title
        title = f"{title} ({', '.join(parts)})" if parts else title
        return f"{title}, polished" if self.polish else title

    def settings(self) -> list[dict[str, Any]]:
        """Return every combination of parameter values, defaults filled in."""
        names = list(self.params)
        combinations = itertools.product(*(_options(self.params[name]) for name in names))
        return [check_params(algorithm(self.key), dict(zip(names, values, strict=True))) for values in combinations]


def _options(value: Any) -> tuple[Any, ...]:
    several = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
    return tuple(value.tolist() if isinstance(value, np.ndarray) else value) if several else (value,)


class Problem(ABC):
    """What methods partition, and what is measured on the partitions; made by :meth:`of`.

    Attributes
    ----------
    data : array of float, shape (n, d), or Records
    classes : array of int, shape (n,), or None
        The class of each record, numbered from 0.
    """

    data: Any
    classes: IntArray | None = None

    @staticmethod
    def of(data: ArrayLike | Records, classes: ArrayLike | None = None) -> Problem:
        """Return the problem of partitioning ``data``: an array of numbers, or records of mixed attributes.

        Raises
        ------
        DataError
            If the data hold anything but finite numbers, or there is not one class for each record.
        ParameterError
            If classes are given with an array.
        """
        if isinstance(data, Records):
            check_finite(data.values, [str(attribute.name) for attribute in data.attributes])
            return _MixedProblem(data, None if classes is None else class_codes(classes, len(data)))
        if classes is not None:
            raise ParameterError("classes are for records of mixed attributes: leave them out, or pass Records.")
        X = check_matrix(data)
        return _NumericProblem(X, loss.sst(X))

    @abstractmethod
    def polish(self, partition: Partition) -> Partition:
        """Return ``partition`` improved by local search."""

    @abstractmethod
    def fits(self, method: Method) -> None:
        """Raise :class:`ParameterError`, saying why, if ``method`` does not work on these data."""

    @abstractmethod
    def value(self, partition: Partition) -> float:
        """Return what is lost by ``partition``, the measure by which one of several settings is picked."""

    @abstractmethod
    def row(self, partition: Partition, unpolished: Partition) -> dict[str, Any]:
        """Return all measures of ``partition``; ``unpolished`` is what it was before it was polished, if it was."""


@dataclass(frozen=True, eq=False)
class _NumericProblem(Problem):
    """Numbers, whose loss is the SSE, in squared units of the data."""

    data: FloatArray
    sst: float

    def polish(self, partition: Partition) -> Partition:
        return Partition(improve(self.data, partition.labels, partition.k), partition.k)

    def fits(self, method: Method) -> None:
        """All methods work on numbers."""

    def value(self, partition: Partition) -> float:
        return loss.sse(self.data, partition.labels)

    def row(self, partition: Partition, unpolished: Partition) -> dict[str, Any]:
        sse = self.value(partition)
        before = sse if unpolished is partition else self.value(unpolished)
        return {
            "information_loss": loss.percent(sse, self.sst),
            "unpolished": loss.percent(before, self.sst),
            "sse": sse,
        }


@dataclass(frozen=True, eq=False)
class _MixedProblem(Problem):
    """Records of mixed attributes, whose loss is Total-IL."""

    data: Records
    classes: IntArray | None

    def polish(self, partition: Partition) -> Partition:
        raise NotImplementedError("local search works on numbers")

    def fits(self, method: Method) -> None:
        cls = algorithm(method.key)
        if not cls.info.mixed:
            titles = [other.info.title for other in ALGORITHMS.values() if other.info.mixed]
            raise ParameterError(
                f"{cls.info.title} works on arrays of numbers, not on records of mixed attributes: "
                f"choose one of {listing(titles)}."
            )
        if method.polish:
            raise ParameterError("polish works on arrays of numbers, not on records of mixed attributes: leave it out.")
        for param in cls.params if self.classes is None else ():
            if param.needs_classes and any(setting[param.name] != param.default for setting in method.settings()):
                raise ParameterError(
                    f"{param.name} of {cls.info.title} needs the class of each record: pass classes, or leave "
                    f"{param.name} at its default."
                )

    def value(self, partition: Partition) -> float:
        return generalization.total_information_loss(self.data, partition.labels)

    def row(self, partition: Partition, unpolished: Partition) -> dict[str, Any]:
        summary = generalization.summary(self.data, partition.labels, partition.k, self.classes)
        return {"n_records": len(partition), **vars(summary)}


@dataclass(frozen=True)
class Result:
    """One method at one k.

    Attributes
    ----------
    method : Method
    k : int
    params : dict
        The parameters used; where several were tried, those of the lowest loss, the first tried among equals.
    tried : int
        How many parameter settings were tried.
    partition : Partition
    measures : dict
        Of numbers: information_loss (100 · SSE / SST, in percent), unpolished (the same before the partition was
        polished; if it was not, as it is) and sse (in squared units of X). Of records: n_records and the measures of
        :class:`microagg.metrics.generalization.Summary`.
    seconds : float
        Time of the algorithm itself, and of polishing, over all settings tried.
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
        """The SSE, in squared units of X; of an array of numbers only."""
        return float(self.measures["sse"])

    def row(self) -> dict[str, Any]:
        """Return what a table shows of it."""
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


_prepared: set[str] = set()

# The algorithm whose kernels polish.
_POLISH = "local-search"


def unprepared(keys: Iterable[str]) -> list[str]:
    """Return those of ``keys`` whose kernels this process has neither compiled nor loaded yet."""
    return [key for key in dict.fromkeys(keys) if key not in _prepared]


def needed(methods: Iterable[Method]) -> list[str]:
    """Return the algorithms that ``methods`` run, for :func:`prepare`."""
    keys = [key for method in methods for key in ((method.key, _POLISH) if method.polish else (method.key,))]
    return list(dict.fromkeys(keys))


def prepare(keys: Iterable[str], progress: Callable[[int, int, str], None] | None = None) -> None:
    """Compile the kernels of the algorithms ``keys``, or load them where an earlier process left them on disk.

    Compilation takes some seconds per algorithm, once on a machine. ``progress(done, total, title)`` is called before
    each one and, with an empty title, at the end.
    """
    todo = unprepared(keys)
    for done, key in enumerate(todo):
        if progress:
            progress(done, len(todo), algorithm(key).info.title)
        make(key, k=2).fit(np.arange(12.0).reshape(6, 2) % 5)
        if algorithm(key).info.mixed:
            _warm_up(key)
        _prepared.add(key)
    if progress:
        progress(len(todo), len(todo), "")


def _warm_up(key: str) -> None:
    """Run a mixed algorithm on attributes of every kind, with each choice and with classes: each may have kernels."""
    tree = Taxonomy.from_nested({"*": {"a": ["b", "c"], "d": ["e", "f"]}})
    attributes = Attribute("x"), Attribute("y", "ordinal", ("0", "1", "2")), Attribute("z", "nominal", (), tree)
    values = np.array([[0.0, 2, 2], [1, 0, 3], [2, 1, 5], [5, 2, 6], [4, 0, 2], [3, 1, 5], [9, 2, 3]])
    problem = Problem.of(Records(attributes, values), [0, 1, 0, 1, 0, 0, 1])
    params = algorithm(key).params
    # The upper bound, or 1 where there is none, is not the default, so that the classes are used.
    with_classes = {param.name: param.bounds[1] or 1.0 for param in params if param.needs_classes}
    choices = [{param.name: value} for param in params if param.kind == "choice" for value in param.bounds]
    for given in [{}, with_classes, *choices]:
        make(key, k=2, **given).fit(problem.data, problem.classes)


def run_one(problem: Problem, method: Method, k: int) -> Result:
    """Run ``method`` at ``k``; with several settings, the one of the lowest loss is kept, the first among equals."""
    settings = method.settings()
    best: tuple[float, dict[str, Any], Partition, Partition] | None = None
    seconds = 0.0
    for params in settings:
        estimator = make(method.key, k=k, **params)
        started = time.perf_counter()
        found = estimator.fit(problem.data, problem.classes).partition_
        partition = problem.polish(found) if method.polish else found
        seconds += time.perf_counter() - started
        value = problem.value(partition)
        if best is None or value < best[0]:
            best = value, params, partition, found
    assert best is not None
    _, params, partition, found = best
    return Result(method, k, params, len(settings), partition, problem.row(partition, found), seconds)


def run(
    X: ArrayLike | Records,
    cells: Iterable[tuple[Method, int]],
    *,
    classes: ArrayLike | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
    watch: Callable[[Method, int, str, float | None], None] | None = None,
) -> Iterator[Result]:
    """Yield a result for each cell (method, k) as it gets done, on ``workers`` threads (default: the cores).

    ``cancelled()`` is asked before each cell and, by long-running algorithms, now and then; once it is true no further
    cell starts and the iteration ends. ``watch(method, k, message, share)`` is called from within long runs, see
    :func:`microagg.progress.checkpoint`.

    Parameters
    ----------
    X : array of float, shape (n, d), or Records
    classes : array, shape (n,), optional
        The class of each of the records, for parameters that use it and for the classification metric.

    Raises
    ------
    DataError
        If X holds anything but finite numbers, or has fewer records than a k, or if there is not one class for each.
    ParameterError
        If a k is not a whole number of at least 1, classes are given with an array, an algorithm does not work on
        mixed attributes and X are records, or it uses classes and there are none.
    """
    todo = [(method, check_k(k)) for method, k in cells]
    problem = Problem.of(X, classes)
    for method in dict.fromkeys(method for method, _ in todo):
        problem.fits(method)
    for _, k in todo:
        check_enough_records(len(problem.data), k, "X")
    return _on_threads(problem, todo, cancelled, workers or os.cpu_count() or 1, watch)


def _on_threads(
    problem: Problem,
    cells: Iterable[tuple[Method, int]],
    cancelled: Callable[[], bool] | None,
    threads: int,
    watch: Callable[[Method, int, str, float | None], None] | None,
) -> Iterator[Result]:
    """Yield the result of each cell as it gets done; see :func:`run`."""
    waiting = iter(cells)

    def watched_run(method: Method, k: int) -> Result | None:
        def watcher(message: str, share: float | None) -> bool:
            if watch:
                watch(method, k, message, share)
            return not (cancelled and cancelled())

        with watched(watcher):
            try:
                return run_one(problem, method, k)
            except Cancelled:
                return None

    with ThreadPoolExecutor(threads, thread_name_prefix="microagg") as pool:
        running: set[Future[Result | None]] = set()
        while True:
            while len(running) < threads and not (cancelled and cancelled()):
                cell = next(waiting, None)
                if cell is None:
                    break
                running.add(pool.submit(watched_run, *cell))
            if not running:
                return
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                if (result := future.result()) is not None:
                    yield result


def sweep(
    X: ArrayLike | Records,
    algorithms: Iterable[str | tuple[str, Mapping[str, Any]] | Method],
    ks: Iterable[int],
    *,
    classes: ArrayLike | None = None,
    progress: Callable[[int, int, Result], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
) -> pd.DataFrame:
    """Run algorithms × values of k on ``X`` and return a tidy table, one row per pair.

    Parameters
    ----------
    X : array of float, shape (n, d), or Records
        Used as given; see :func:`microagg.standardize` and :meth:`microagg.Schema.records`.
    algorithms : iterable of str, (str, mapping) or Method
        ``"mdav"``, ``("v-mdav", {"gamma": 0.3})``, or with several values to pick the best of:
        ``("v-mdav", {"gamma": [0, 0.1, 0.2]})``, or ``Method("mdav", polish=True)``.
    ks : iterable of int
    progress : callable, optional
        Called as ``progress(done, total, result)`` after each pair, with its :class:`Result`.
    classes, cancelled, workers : optional
        As in :func:`run`; once cancelled, the rows done so far are returned.

    Returns
    -------
    DataFrame
        Columns method, label, k, information_loss (percent), unpolished (the same before a method with ``polish``
        improved it), sse, n_groups, smallest_group, largest_group, params, settings_tried, seconds; in the order of
        ``algorithms``, then ``ks``. ``attrs["complete"]`` says whether all pairs are in it. Of records, n_records
        follows k, and total_information_loss, information_loss (percent of n·d), discernibility, average_class_size and
        classification stand in place of information_loss to sse.

    Raises
    ------
    DataError, ParameterError
        As :func:`run` and :class:`Method`.
    """
    methods = [Method.of(given) for given in algorithms]
    cells = list(dict.fromkeys(itertools.product(methods, ks)))
    prepare(needed(methods))
    rank = {cell: position for position, cell in enumerate(cells)}
    results: list[Result] = []
    for result in run(X, cells, classes=classes, cancelled=cancelled, workers=workers):
        results.append(result)
        if progress:
            progress(len(results), len(cells), result)
    results.sort(key=lambda result: rank[result.method, result.k])
    columns = list(results[0].row()) if results else ["method", "k", "information_loss"]
    table = pd.DataFrame([result.row() for result in results], columns=columns)
    table.attrs["complete"] = len(results) == len(cells)
    return table
