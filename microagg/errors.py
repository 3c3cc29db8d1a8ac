"""What microagg raises and warns with: one plain sentence each, the same in the package and on the page.

Every error is a :class:`ValueError`, so callers who know nothing of microagg can catch it as usual.
A message names the column, the record or the parameter, and says what to do.
"""

from __future__ import annotations

import functools
import inspect
import numbers
import reprlib
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin

import lazy_loader

P = ParamSpec("P")
T = TypeVar("T")

# Stands for numpy.typing.ArrayLike, which numpy defines by what it cannot check.
_ARRAY = TypeVar("_ARRAY")


class MicroaggError(ValueError):
    """Base of every error that microagg raises on purpose."""


class DataError(MicroaggError):
    """The data cannot be used as they are: missing values, text, too few records, a broken file."""


class GuaranteeError(MicroaggError, RuntimeError):
    """What was made does not keep what it promises, so that it is withheld: a defect of microagg."""


class ParameterError(MicroaggError):
    """A parameter is unknown, of the wrong kind or out of its bounds."""


class DatasetUnavailableError(MicroaggError):
    """A benchmark file is neither on this machine nor could it be downloaded."""


class ConstantColumnWarning(UserWarning):
    """A column holds one value only, so it cannot be scaled and carries no information."""


class ConvertedColumnWarning(UserWarning):
    """A column of a table of polars or Arrow holds what pandas cannot: it is worked on as something else."""


def brief(value: object) -> str:
    """Return the beginning of how Python writes a value, in one line, and its type."""
    return f"{' '.join(reprlib.repr(value).split())} ({type(value).__name__})"


def names_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a public function: if it fails, and an argument is not of its annotated type, the error names that one.

    Calls that succeed are not checked, and other failures, which are defects of microagg, are raised as they are.
    """

    @functools.wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except MicroaggError:
            raise
        except Exception as error:
            signature = inspect.signature(function)
            for name, value in signature.bind(*args, **kwargs).arguments.items():
                annotation = str(signature.parameters[name].annotation)
                if not _fits(value, _type_of(annotation, function)):
                    raise ParameterError(f"{name} must be {annotation}, not {brief(value)}.") from error
            raise

    return wrapped


def attach(room: str, file: str) -> Any:
    """Return what :func:`lazy_loader.attach_stub` returns, but the functions of the room name their wrong arguments."""
    load, *rest = lazy_loader.attach_stub(room, file)

    def load_wrapped(name: str) -> Any:
        value = load(name)
        if isinstance(value, types.FunctionType):
            value = names_arguments(value)
            value.__module__ = room  # where pickle looks for it
            setattr(sys.modules[room], name, value)
        return value

    return load_wrapped, *rest


def _type_of(annotation: str, function: Callable[..., Any]) -> Any:
    """Return the type that an annotation writes; Any where only type checkers know it."""
    try:
        names = inspect.unwrap(function).__globals__
        return eval(annotation.replace("Series[Any]", "Series"), names, {"ArrayLike": _ARRAY})
    except (AttributeError, NameError, SyntaxError, TypeError):
        return Any


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type, as far as that can be told."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin in (Union, types.UnionType):
        return any(_fits(value, each) for each in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if origin in (int, float):
        number: Any = numbers.Integral if origin is int else numbers.Real
        return type(value) is not bool and isinstance(value, number) and abs(value) <= sys.float_info.max
    try:
        if origin is _ARRAY:
            import numpy as np

            return np.ndim(value) > 0
        has_places = hasattr(value, "__getitem__") and hasattr(value, "__len__") and not hasattr(value, "keys")
        if origin is Sequence and not has_places:
            return False
        if origin in (Iterable, Sequence) and inner:
            return all(_fits(each, inner[0]) for each in value)
        if origin is tuple and Ellipsis not in inner:
            return all(_fits(each, of) for each, of in zip(value, inner, strict=True))
        fits = origin is Any or not isinstance(origin, type) or isinstance(value, origin)
        return fits and (origin.__name__ != "ndarray" or value.dtype.kind in "biuf")
    except (TypeError, ValueError):
        return False
