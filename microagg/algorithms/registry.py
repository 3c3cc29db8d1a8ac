"""The algorithms by their keys: those of the package, and users' own.

A class of this package that declares an ``info`` is found by itself. A user's is registered, see :func:`register`, or
stands in a file that ``MICROAGG_PLUGINS`` names, or in an installed package with an entry point.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import re
import sys
import warnings
from importlib.metadata import entry_points
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, TypeVar

import numpy as np

from microagg.algorithms.base import REGISTERED, Info, Microaggregator, check_params, is_own
from microagg.columns.records import Records
from microagg.errors import MicroaggError, ParameterError
from microagg.validation import check_k, nearest_keys

#: Every algorithm by its key, family by family.
ALGORITHMS: MappingProxyType[str, type[Microaggregator]] = MappingProxyType(REGISTERED)

#: The environment variable with the files of own algorithms, separated as in PATH.
FILES = "MICROAGG_PLUGINS"

#: The entry points of installed packages with own algorithms: each a class, or a module that holds some.
ENTRY_POINTS = "microagg.algorithms"

#: What an import has left out, and why: sentences.
left_out: list[str] = []

_Class = TypeVar("_Class", bound=type[Microaggregator])


def algorithm(key: str) -> type[Microaggregator]:
    """Return the class registered under ``key``, or raise :class:`ParameterError` with the nearest keys."""
    try:
        return ALGORITHMS[key]
    except (KeyError, TypeError):
        raise ParameterError(f"there is no algorithm {key!r}: {nearest_keys(key, ALGORITHMS)}") from None


def definition(key: str) -> str:
    """Return how an algorithm decides, step by step, as its file says it, in Markdown.

    Raises
    ------
    ParameterError
        If there is no such algorithm.
    """
    text = inspect.getdoc(inspect.getmodule(algorithm(key))) or ""
    _, _, steps = text.partition("\n\n")
    steps = re.sub(r"\n\nSources?:(?s:.*)", "", steps)
    steps = re.sub(r":(?:mod|func|class):`~?([^`]*)`", r"`\1`", steps)
    # Markdown knows no steps with letters: each is a paragraph of its own.
    steps = re.sub(r"(?m)^( +)([a-h])\. ", r"\n\1\2\\. ", steps)
    steps = re.sub(r"(?<=[\w)]) - (?=[\w(‖])|(?<=k)-(?=\d)|(?<=u)-(?=k)", " − ", steps)
    # A star in a formula is no Markdown.
    return re.sub(r"``([^`]*)``", r"`\1`", steps).replace("*", r"\*")


def make(key: str, k: int = 3, **params: Any) -> Microaggregator:
    """Return an estimator for the algorithm ``key``, its parameters checked.

    Parameters
    ----------
    key : str
        One of :data:`ALGORITHMS`.
    k : int, default 3
        The least number of records in a group.
    **params
        The parameters of the algorithm; those left out have their default.

    Raises
    ------
    ParameterError
        If there is no such algorithm or parameter, or a value is out of bounds.
    """
    cls = algorithm(key)
    return cls(k=check_k(k), **check_params(cls, params))


# Users' own algorithms.


def register(cls: _Class) -> _Class:
    """Check an algorithm of one's own, and have it found by its key wherever algorithms are, for this process.

    As a decorator or called with a class, from a script or a notebook; a class registered again, such as after a change
    in a notebook, takes the place of the one before. The repository has a template, ``docs/algorithm_template.py``.
    It is tried on 23 and on k records, some of them equal, at k = 3 and 5, with the parameters at their defaults.

    Parameters
    ----------
    cls : type
        A subclass of :class:`~microagg.algorithms.base.Microaggregator` with an ``info`` of its own.

    Returns
    -------
    type
        The class itself.

    Raises
    ------
    ParameterError
        If it is no such class, its key is that of an algorithm of the package, or what it returns is no partition into
        groups of at least k, differs between two runs though ``info.deterministic``, or changes the records.
    """
    _check(cls)
    REGISTERED[cls.info.key] = cls
    # What is not loaded yet, or is being loaded, will find it.
    getattr(sys.modules.get("microagg.algorithms.method"), "refresh", lambda: None)()
    return cls


def load_user_algorithms() -> None:
    """Register what :data:`FILES` and :data:`ENTRY_POINTS` name; what cannot be is left out with a warning."""
    for path in filter(None, os.environ.get(FILES, "").split(os.pathsep)):
        _register_from(path, lambda path=path: load_file(path))
    for point in entry_points(group=ENTRY_POINTS):
        _register_from(point.value, lambda point=point: _register_all(point.load()))


def load_file(path: str) -> None:
    """Run a Python file and register the algorithms that it defines.

    Raises
    ------
    ParameterError
        If the file does not exist, fails to run or defines no algorithm, or if :func:`register` refuses one.
    """
    name, file = Path(path).stem, str(Path(path).resolve())
    if getattr(sys.modules.get(name), "__file__", None) == file:  # already imported
        _register_all(sys.modules[name])
        return
    try:
        # The name is the one of an import, unless another module has that name.
        if (importable := importlib.util.find_spec(name)) is not None and importable.origin != file:
            name = f"microagg_own_{name}"
        spec = importlib.util.spec_from_file_location(name, path)
        if spec is None or spec.loader is None or not Path(path).is_file():
            raise ParameterError(f"there is no Python file {path}: name one that ends in .py.")
        module = sys.modules[name] = importlib.util.module_from_spec(spec)  # pickle looks for it there
        try:
            spec.loader.exec_module(module)
        except BaseException:
            sys.modules.pop(name, None)  # otherwise the next attempt would register the half of it that is there
            raise
    except MicroaggError:
        raise
    except Exception as error:
        raise ParameterError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    _register_all(module)


def algorithms_in(module: ModuleType) -> list[type[Microaggregator]]:
    """Return the classes that a module defines and that declare an ``info``."""
    classes = [value for value in vars(module).values() if isinstance(value, type) and "info" in vars(value)]
    return [cls for cls in classes if issubclass(cls, Microaggregator) and cls.__module__ == module.__name__]


def _register_from(source: str, register_it: Any) -> None:
    try:
        register_it()
    except Exception as error:  # whatever somebody else's code raises, the package goes on without it
        left_out.append(f"the algorithm of {source} is left out: {error}")
        warnings.warn(left_out[-1], stacklevel=2)


def _register_all(source: Any) -> None:
    """Register a class, or the algorithms of a module that are not registered yet."""
    if isinstance(source, type):
        register(source)
        return
    classes = algorithms_in(source)
    if not classes:
        raise ParameterError(f"{source.__name__} defines no subclass of Microaggregator with an info.")
    for cls in classes:
        if REGISTERED.get(cls.info.key) is not cls:
            register(cls)


def _check(cls: Any) -> None:
    if not (inspect.isclass(cls) and issubclass(cls, Microaggregator)):
        raise ParameterError(f"{cls!r} is no subclass of microagg.Microaggregator: derive your class from it.")
    name, info = cls.__name__, vars(cls).get("info")
    if not isinstance(info, Info):
        raise ParameterError(f"{name} has no info: declare one, info = microagg.Info(key=…, title=…, …).")
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", str(info.key)):
        raise ParameterError(f"the key {info.key!r} of {name} is not of lowercase letters, digits and single hyphens.")
    taken = REGISTERED.get(info.key)
    if taken is not None and not is_own(taken):
        raise ParameterError(f"the key {info.key!r} of {name} is that of {taken.info.title}: choose another.")
    if not is_own(cls):
        raise ParameterError(f"{name} is in the package microagg itself, which finds it without being told.")
    if any(not preset.name.startswith(info.key) for preset in info.presets):
        raise ParameterError(f"the names of the presets of {name} must begin with its key, {info.key!r}.")
    X = np.random.default_rng(0).normal(size=(23, 3)).round(1)
    X[4] = X[9]
    for k in (3, 5):
        for part in (X, X[:k]):
            _try(cls, part, k)


def _try(cls: type[Microaggregator], X: np.ndarray, k: int) -> None:
    """Partition ``X`` twice; raise ParameterError if a result is wrong or the two differ."""
    name, before, runs = f"{cls.__name__}(k={k})", X.copy(), []
    for _ in range(2):
        try:
            runs.append(cls(k).fit(Records.of_numbers(X) if cls.info.reads_records(numeric=True) else X).labels_)
        except MicroaggError as error:
            raise ParameterError(f"{name} fails on {len(X)} records: {error}") from error
        if len(runs[-1]) != len(X):
            raise ParameterError(f"{name} returns {len(runs[-1])} labels for {len(X)} records: one for each is needed.")
        if not np.array_equal(X, before):
            raise ParameterError(f"{name} changes the records it is given: let it work on a copy.")
    if cls.info.deterministic and not np.array_equal(*runs):
        raise ParameterError(f"{name} gives other groups when it is run again: set info.deterministic to False.")
