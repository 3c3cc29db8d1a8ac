"""Many runs at once: algorithms × values of k on one data set, with progress, cancellation and threads.

Data are an array of numbers, whose loss is the SSE, or :class:`~microagg.records.Records` of mixed attributes, whose
loss is Total-IL; for these there are only the algorithms that work on mixed attributes. The kernels release the
interpreter lock, so threads use all cores without copying the data.
"""

from __future__ import annotations

import functools
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any, TypeVar, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.base import Microaggregator, check_params, class_codes
from microagg.errors import ParameterError
from microagg.kernels.local_search.iterated import improve
from microagg.metrics import generalization, loss
from microagg.partition import Partition
from microagg.progress import Cancelled, watched
from microagg.records import Attribute, Records
from microagg.registry import ALGORITHMS, algorithm, make
from microagg.taxonomy import Taxonomy
from microagg.validation import FloatArray, IntArray, check_enough_records, check_finite, check_k, check_matrix, listing

_R = TypeVar("_R")


@dataclass(frozen=True)
class Method:
    """An algorithm with its parameters, each one value or several to pick the best of.

    Parameters
    ----------
    key : str
        The algorithm's key.
    params : mapping of str to a value or a sequence of values
        Parameters left out have their default. Several values mean: run all and keep the lowest SSE (of mixed
        records: the lowest Total-IL), for each k on its own, as the literature does for γ of V-MDAV. Such a choice is
        made with the result in view.
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


@dataclass(frozen=True)
class Result:
    """One method at one k.

    Attributes
    ----------
    method : Method
    k : int
    params : dict
        The parameters used; where several were tried, those of the lowest SSE, the first tried among equals.
    tried : int
        How many parameter settings were tried.
    partition : Partition
    sse : float
        In squared units of X.
    information_loss : float
        100 · SSE / SST, in percent.
    seconds : float
        Time of the algorithm itself, and of polishing, over all settings tried.
    unpolished : float
        The information loss before it was polished, in percent; if it was not, as it is.
    """

    method: Method
    k: int
    params: dict[str, Any]
    tried: int
    partition: Partition
    sse: float
    information_loss: float
    seconds: float
    unpolished: float

    def row(self) -> dict[str, Any]:
        """Return what a table shows of it."""
        return {
            "method": self.method.key,
            "label": self.method.label,
            "k": self.k,
            "information_loss": self.information_loss,
            "unpolished": self.unpolished,
            "sse": self.sse,
            **_how(self),
        }


@dataclass(frozen=True)
class MixedResult:
    """One method at one k, on records of mixed attributes.

    Attributes
    ----------
    method : Method
    k : int
    params : dict
        The parameters used; where several were tried, those of the lowest Total-IL, the first tried among equals.
    tried : int
        How many parameter settings were tried.
    partition : Partition
    summary : Summary
        Its measures.
    seconds : float
        Time of the algorithm itself, over all settings tried.
    """

    method: Method
    k: int
    params: dict[str, Any]
    tried: int
    partition: Partition
    summary: generalization.Summary
    seconds: float

    def row(self) -> dict[str, Any]:
        """Return what a table shows of it."""
        return {
            "method": self.method.key,
            "label": self.method.label,
            "k": self.k,
            "n_records": len(self.partition),
            **vars(self.summary),
            **_how(self),
        }


def _how(result: Result | MixedResult) -> dict[str, Any]:
    """Return the columns that both kinds of results end with."""
    return {
        "n_groups": result.partition.n_groups,
        "smallest_group": int(result.partition.sizes.min()),
        "largest_group": int(result.partition.sizes.max()),
        "params": ", ".join(f"{name}={value}" for name, value in result.params.items()),
        "settings_tried": result.tried,
        "seconds": result.seconds,
    }


_prepared: set[str] = set()

# The algorithm whose kernels polish.
_POLISH = "local-search"


def unprepared(keys: Iterable[str]) -> list[str]:
    """Return those of ``keys`` whose kernels this process has neither compiled nor loaded yet."""
    return [key for key in dict.fromkeys(keys) if key not in _prepared]


def needed(methods: Iterable[Method]) -> list[str]:
    """Return the algorithms that ``methods`` run, for :func:`prepare`."""
    return list(dict.fromkeys(key for method in methods for key in (method.key, *([_POLISH] if method.polish else []))))


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
    attributes = (
        Attribute("x"),
        Attribute("y", "ordinal", levels=("0", "1", "2")),
        Attribute("z", "nominal", (), tree),
    )
    values = np.array([[0.0, 2, 2], [1, 0, 3], [2, 1, 5], [5, 2, 6], [4, 0, 2], [3, 1, 5], [9, 2, 3]])
    records, classes = Records(attributes, values), np.array([0, 1, 0, 1, 0, 0, 1])
    params = algorithm(key).params
    heeding = {param.name: param.bounds[1] or 1.0 for param in params if param.needs_classes}
    choices = [{param.name: value} for param in params if param.kind == "choice" for value in param.bounds]
    for given in [{}, heeding, *choices]:
        make(key, k=2, **given).fit(records, classes)


def _best(
    method: Method, k: int, fit: Callable[[Microaggregator], Partition], value: Callable[[Partition], float]
) -> tuple[dict[str, Any], int, Partition, float, float]:
    """Return the parameters of the lowest value, how many were tried, their partition, its value, and seconds."""
    settings = method.settings()
    best: tuple[dict[str, Any], Partition, float] | None = None
    seconds = 0.0
    for params in settings:
        estimator = make(method.key, k=k, **params)
        started = time.perf_counter()
        partition = fit(estimator)
        seconds += time.perf_counter() - started
        reached = value(partition)
        if best is None or reached < best[2]:
            best = params, partition, reached
    assert best is not None
    return best[0], len(settings), best[1], best[2], seconds


def run_one(X: FloatArray, method: Method, k: int, sst: float | None = None) -> Result:
    """Run ``method`` at ``k`` on ``X``, shape (n, d); with several settings, the one with the lowest SSE is kept."""
    whole = loss.sst(X) if sst is None else sst
    before: dict[Partition, Partition] = {}

    def fit(estimator: Microaggregator) -> Partition:
        found = estimator.fit(X).partition_
        if not method.polish:
            return found
        polished = Partition(improve(X, found.labels, k), k)
        before[polished] = found
        return polished

    params, tried, partition, sse, seconds = _best(method, k, fit, lambda partition: loss.sse(X, partition.labels))
    information_loss = loss.percent(sse, whole)
    unpolished = information_loss
    if method.polish:
        unpolished = loss.percent(loss.sse(X, before[partition].labels), whole)
    return Result(method, k, params, tried, partition, sse, information_loss, seconds, unpolished)


def run_one_mixed(records: Records, method: Method, k: int, classes: ArrayLike | None = None) -> MixedResult:
    """Run ``method`` at ``k`` on ``records``; with several settings, the one with the lowest Total-IL is kept.

    ``classes``, shape (n,), are given to the algorithm and to the classification metric.
    """
    params, tried, partition, _, seconds = _best(
        method,
        k,
        lambda estimator: estimator.fit(records, classes).partition_,
        lambda partition: generalization.total_information_loss(records, partition.labels),
    )
    summary = generalization.summary(records, partition.labels, k, classes)
    return MixedResult(method, k, params, tried, partition, summary, seconds)


def check_mixed(method: Method, *, with_classes: bool) -> None:
    """Raise :class:`ParameterError` unless ``method`` works on records of mixed attributes, with or without classes."""
    cls = algorithm(method.key)
    if not cls.info.mixed:
        titles = [other.info.title for other in ALGORITHMS.values() if other.info.mixed]
        raise ParameterError(
            f"{cls.info.title} works on arrays of numbers, not on records of mixed attributes: "
            f"choose one of {listing(titles)}."
        )
    if method.polish:
        raise ParameterError("polish works on arrays of numbers, not on records of mixed attributes: leave it out.")
    heeded = [
        param.name
        for param in cls.params
        if param.needs_classes and any(setting[param.name] != param.default for setting in method.settings())
    ]
    if heeded and not with_classes:
        raise ParameterError(
            f"{heeded[0]} of {cls.info.title} needs the class of each record: pass classes, or leave {heeded[0]} at "
            "its default."
        )


@overload
def run(
    X: Records,
    cells: Iterable[tuple[Method, int]],
    *,
    classes: ArrayLike | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
    watch: Callable[[Method, int, str, float | None], None] | None = None,
) -> Iterator[MixedResult]: ...


@overload
def run(
    X: ArrayLike,
    cells: Iterable[tuple[Method, int]],
    *,
    classes: ArrayLike | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
    watch: Callable[[Method, int, str, float | None], None] | None = None,
) -> Iterator[Result]: ...


def run(
    X: ArrayLike | Records,
    cells: Iterable[tuple[Method, int]],
    *,
    classes: ArrayLike | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
    watch: Callable[[Method, int, str, float | None], None] | None = None,
) -> Iterator[Any]:
    """Yield a result for each cell (method, k) as it gets done, on ``workers`` threads (default: the cores).

    ``cancelled()`` is asked before each cell and, by long-running algorithms, now and then; once it is true no further
    cell starts and the iteration ends. ``watch(method, k, message, share)`` is called from within long runs, see
    :func:`microagg.progress.checkpoint`.

    Parameters
    ----------
    X : array of float, shape (n, d), or Records
        What is yielded is a :class:`Result` of an array and a :class:`MixedResult` of records.
    classes : array, shape (n,), optional
        The class of each of the records, for parameters that heed it and for the classification metric.

    Raises
    ------
    DataError
        If X holds anything but finite numbers, or has fewer records than a k, or if there is not one class for each.
    ParameterError
        If a k is not a whole number of at least 1, classes are given with an array, an algorithm does not work on
        mixed attributes and X are records, or it heeds classes and there are none.
    """
    todo = [(method, check_k(k)) for method, k in cells]
    one: Callable[[Method, int], Result | MixedResult]
    if isinstance(X, Records):
        check_finite(X.values, [str(attribute.name) for attribute in X.attributes])
        codes: IntArray | None = None if classes is None else class_codes(classes, len(X))
        for method in dict.fromkeys(method for method, _ in todo):
            check_mixed(method, with_classes=codes is not None)
        n, one = len(X), functools.partial(run_one_mixed, X, classes=codes)
    else:
        if classes is not None:
            raise ParameterError("classes are for records of mixed attributes: leave them out, or pass Records.")
        data = check_matrix(X)
        check_finite(data)
        n, one = len(data), functools.partial(run_one, data, sst=loss.sst(data))
    for _, k in todo:
        check_enough_records(n, k, "X")
    return _on_threads(one, todo, cancelled, workers or os.cpu_count() or 1, watch)


def _on_threads(
    one: Callable[[Method, int], _R],
    cells: Iterable[tuple[Method, int]],
    cancelled: Callable[[], bool] | None,
    threads: int,
    watch: Callable[[Method, int, str, float | None], None] | None,
) -> Iterator[_R]:
    """Yield ``one(method, k)`` for each cell as it gets done; see :func:`run`."""
    waiting = iter(cells)

    def watched_run(method: Method, k: int) -> _R | None:
        def watcher(message: str, share: float | None) -> bool:
            if watch:
                watch(method, k, message, share)
            return not (cancelled and cancelled())

        with watched(watcher):
            try:
                return one(method, k)
            except Cancelled:
                return None

    with ThreadPoolExecutor(threads, thread_name_prefix="microagg") as pool:
        running: set[Future[_R | None]] = set()
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
    progress: Callable[[int, int, Any], None] | None = None,
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
    classes : array, shape (n,), optional
        The class of each of the records of mixed attributes.
    progress : callable, optional
        Called as ``progress(done, total, result)`` after each pair, with a :class:`Result` or :class:`MixedResult`.
    cancelled : callable, optional
        Asked before each pair; once it is true the rows done so far are returned.
    workers : int, optional
        Threads; by default one per core.

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
    results: list[Result | MixedResult] = []
    data: Any = X  # which of the two kinds of results there are, makes no difference here
    for result in run(data, cells, classes=classes, cancelled=cancelled, workers=workers):
        results.append(result)
        if progress:
            progress(len(results), len(cells), result)
    results.sort(key=lambda result: rank[result.method, result.k])
    columns = list(results[0].row()) if results else ["method", "k", "information_loss"]
    table = pd.DataFrame([result.row() for result in results], columns=columns)
    table.attrs["complete"] = len(results) == len(cells)
    return table


def largest_k_within(ks: ArrayLike, losses: ArrayLike, limit: float) -> int | None:
    """Return the largest of ``ks`` whose loss is at most ``limit``, or None if there is none.

    A larger k may lose less than a smaller one, as heuristics are not monotone; its partition serves both.
    """
    within = np.asarray(ks)[np.asarray(losses) <= limit]
    return int(within.max()) if len(within) else None


@dataclass(frozen=True)
class Knee:
    """The bend of a loss curve.

    Attributes
    ----------
    k : int
        Where the curve is farthest from the straight line between its ends.
    flattens : bool
        True if the curve lies above that line there: the loss rises faster than average before the knee and more
        slowly after. False: it rises more slowly before and faster after.
    distance : float
        The vertical distance to the line, as a share of the curve's rise.
    """

    k: int
    flattens: bool
    distance: float


def knee(ks: ArrayLike, losses: ArrayLike) -> Knee | None:
    """Return the knee of a loss curve, or None if it has fewer than three points, does not rise, or is straight.

    The point of greatest distance from the chord, after Satopää, Albrecht, Irwin & Raghavan 2011 ("Kneedle"), without
    smoothing. A curve that departs from the chord by less than 2 % of its rise counts as straight.
    """
    order = np.argsort(ks)
    x = np.asarray(ks, dtype=np.float64)[order]
    y = np.asarray(losses, dtype=np.float64)[order]
    if len(x) < 3 or y[-1] <= y[0]:
        return None
    above = (y - y[0]) / (y[-1] - y[0]) - (x - x[0]) / (x[-1] - x[0])
    at = int(np.abs(above).argmax())
    distance = float(above[at])
    return Knee(int(x[at]), distance > 0, abs(distance)) if abs(distance) >= 0.02 else None
