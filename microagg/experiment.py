"""Many runs at once: algorithms × values of k on one data set, with progress, cancellation and threads.

The kernels release the interpreter lock, so threads use all cores without copying the data.
"""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from microagg.base import check_params
from microagg.errors import ParameterError
from microagg.metrics import loss
from microagg.partition import Partition
from microagg.progress import Cancelled, watched
from microagg.registry import algorithm, make
from microagg.validation import FloatArray, check_enough_records, check_finite, check_k, check_matrix


@dataclass(frozen=True)
class Method:
    """An algorithm with its parameters, each one value or several to pick the best of.

    Parameters
    ----------
    key : str
        The algorithm's key.
    params : mapping of str to a value or a sequence of values
        Parameters left out have their default. Several values mean: run all and keep the lowest SSE, for each k on
        its own, as the literature does for γ of V-MDAV. Such a choice is made with the result in view.

    Raises
    ------
    ParameterError
        If there is no such algorithm or parameter, or a value is out of bounds.
    """

    key: str
    params: Mapping[str, Any] = field(default_factory=dict)

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
        return hash((self.key, tuple(sorted(self.params.items()))))

    @classmethod
    def of(cls, given: str | tuple[str, Mapping[str, Any]] | Method) -> Method:
        """Return a method from a key, a pair (key, params), or a method."""
        if isinstance(given, Method):
            return given
        return cls(given) if isinstance(given, str) else cls(*given)

    @property
    def label(self) -> str:
        """The title with what is not at its default, such as ``V-MDAV (γ = 0.3)`` or ``V-MDAV (best γ)``."""
        known = {param.name: param for param in algorithm(self.key).params}
        parts = []
        for name, value in self.params.items():
            shown = known[name].symbol or name
            if isinstance(value, tuple):
                parts.append(f"best {shown}")
            elif value != known[name].default:
                parts.append(f"{shown} = {value:g}" if isinstance(value, float) else f"{shown} = {value}")
        title = algorithm(self.key).info.title
        return f"{title} ({', '.join(parts)})" if parts else title

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
        Time of the algorithm itself, over all settings tried.
    """

    method: Method
    k: int
    params: dict[str, Any]
    tried: int
    partition: Partition
    sse: float
    information_loss: float
    seconds: float

    def row(self) -> dict[str, Any]:
        """Return what a table shows of it."""
        return {
            "method": self.method.key,
            "label": self.method.label,
            "k": self.k,
            "information_loss": self.information_loss,
            "sse": self.sse,
            "n_groups": self.partition.n_groups,
            "smallest_group": int(self.partition.sizes.min()),
            "largest_group": int(self.partition.sizes.max()),
            "params": ", ".join(f"{name}={value}" for name, value in self.params.items()),
            "settings_tried": self.tried,
            "seconds": self.seconds,
        }


_prepared: set[str] = set()


def unprepared(keys: Iterable[str]) -> list[str]:
    """Return those of ``keys`` whose kernels this process has neither compiled nor loaded yet."""
    return [key for key in dict.fromkeys(keys) if key not in _prepared]


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
        _prepared.add(key)
    if progress:
        progress(len(todo), len(todo), "")


def run_one(X: FloatArray, method: Method, k: int, sst: float | None = None) -> Result:
    """Run ``method`` at ``k`` on ``X``, shape (n, d); with several settings, the one with the lowest SSE is kept."""
    whole = loss.sst(X) if sst is None else sst
    settings = method.settings()
    best: tuple[float, dict[str, Any], Partition] | None = None
    seconds = 0.0
    for params in settings:
        estimator = make(method.key, k=k, **params)
        started = time.perf_counter()
        partition = estimator.fit(X).partition_
        seconds += time.perf_counter() - started
        sse = loss.sse(X, partition.labels)
        if best is None or sse < best[0]:
            best = sse, params, partition
    assert best is not None
    return Result(method, k, best[1], len(settings), best[2], best[0], loss.percent(best[0], whole), seconds)


def run(
    X: ArrayLike,
    cells: Iterable[tuple[Method, int]],
    *,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
    watch: Callable[[Method, int, str, float | None], None] | None = None,
) -> Iterator[Result]:
    """Yield a :class:`Result` for each cell (method, k) as it gets done, on ``workers`` threads (default: the cores).

    ``cancelled()`` is asked before each cell and, by long-running algorithms, now and then; once it is true no further
    cell starts and the iteration ends. ``watch(method, k, message, share)`` is called from within long runs, see
    :func:`microagg.progress.checkpoint`.

    Raises
    ------
    DataError
        If X (shape (n, d)) is not finite numbers, or has fewer records than a k.
    ParameterError
        If a k is not a whole number of at least 1.
    """
    data = check_matrix(X)
    check_finite(data)
    todo = [(method, check_k(k)) for method, k in cells]
    for _, k in todo:
        check_enough_records(len(data), k, "X")
    whole = loss.sst(data)
    waiting = iter(todo)
    threads = workers or os.cpu_count() or 1

    def watched_run(method: Method, k: int) -> Result | None:
        def watcher(message: str, share: float | None) -> bool:
            if watch:
                watch(method, k, message, share)
            return not (cancelled and cancelled())

        with watched(watcher):
            try:
                return run_one(data, method, k, whole)
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
    X: ArrayLike,
    algorithms: Iterable[str | tuple[str, Mapping[str, Any]] | Method],
    ks: Iterable[int],
    *,
    progress: Callable[[int, int, Result], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
    workers: int | None = None,
) -> pd.DataFrame:
    """Run algorithms × values of k on ``X`` and return a tidy table, one row per pair.

    Parameters
    ----------
    X : array of float, shape (n, d)
        Used as given; see :func:`microagg.standardize`.
    algorithms : iterable of str, (str, mapping) or Method
        ``"mdav"``, ``("v-mdav", {"gamma": 0.3})``, or with several values to pick the best of:
        ``("v-mdav", {"gamma": [0, 0.1, 0.2]})``.
    ks : iterable of int
    progress : callable, optional
        Called as ``progress(done, total, result)`` after each pair.
    cancelled : callable, optional
        Asked before each pair; once it is true the rows done so far are returned.
    workers : int, optional
        Threads; by default one per core.

    Returns
    -------
    DataFrame
        Columns method, label, k, information_loss (percent), sse, n_groups, smallest_group, largest_group, params,
        settings_tried, seconds; in the order of ``algorithms``, then ``ks``. ``attrs["complete"]`` says whether all
        pairs are in it.

    Raises
    ------
    DataError, ParameterError
        As :func:`run` and :class:`Method`.
    """
    methods = [Method.of(given) for given in algorithms]
    cells = list(dict.fromkeys(itertools.product(methods, ks)))
    prepare(method.key for method in methods)
    rank = {cell: position for position, cell in enumerate(cells)}
    results: list[Result] = []
    for result in run(X, cells, cancelled=cancelled, workers=workers):
        results.append(result)
        if progress:
            progress(len(results), len(cells), result)
    results.sort(key=lambda result: rank[result.method, result.k])
    columns = list(Result.row(results[0])) if results else ["method", "k", "information_loss"]
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
