"""Errors and warnings of microagg, and checks of arguments by their annotations.

Every error is a :class:`ValueError`, so all callers can catch it as usual. A message is one sentence that names the
column, the record or the parameter, and the remedy.
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

# Stands for numpy.typing.ArrayLike, which cannot be checked.
_ARRAY = TypeVar("_ARRAY")


class MicroaggError(ValueError):
    """Base of every error that microagg raises on purpose."""


class DataError(MicroaggError):
    """The data cannot be used as they are: missing values, text, too few records, a broken file."""


class GuaranteeError(MicroaggError, RuntimeError):
    """A release breaks a guarantee and is withheld: a defect of microagg."""


class ParameterError(MicroaggError):
    """A parameter is unknown, of the wrong kind or out of its bounds."""


class DatasetUnavailableError(MicroaggError):
    """A benchmark file is neither on this machine nor could it be downloaded."""


class ConstantColumnWarning(UserWarning):
    """A column holds one value only, so it cannot be scaled and carries no information."""


class ConvertedColumnWarning(UserWarning):
    """A column of polars or Arrow has values that pandas cannot hold, and is converted."""


def brief(value: object) -> str:
    """Return the beginning of the ``repr`` of a value, in one line, and its type."""
    return f"{' '.join(reprlib.repr(value).split())} ({type(value).__name__})"


def names_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Decorate a public function so that its errors name an argument that is not of its annotated type.

    Successful calls are not checked. Other errors, which are defects of microagg, stay as they are.
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
                if not _fits(value, _find_type(annotation, function)):
                    raise ParameterError(f"{name} must be {annotation}, not {brief(value)}.") from error
            raise

    return wrapped


def attach(room: str, file: str) -> Any:
    """Like :func:`lazy_loader.attach_stub`, but with :func:`names_arguments` for all functions of the room."""
    load, *functions = lazy_loader.attach_stub(room, file)

    def load_wrapped(name: str) -> Any:
        value = load(name)
        if isinstance(value, types.FunctionType):
            value = names_arguments(value)
            value.__module__ = room  # where pickle looks for it
            setattr(sys.modules[room], name, value)
        return value

    return load_wrapped, *functions


def _find_type(annotation: str, function: Callable[..., Any]) -> Any:
    """Type of an annotation, or Any for one that exists only in stubs."""
    try:
        names = inspect.unwrap(function).__globals__
        return eval(annotation.replace("Series[Any]", "Series"), names, {"ArrayLike": _ARRAY})
    except (AttributeError, NameError, SyntaxError, TypeError):
        return Any


def _fits(value: Any, kind: Any) -> bool:
    """Whether a value is of a type, if that can be checked."""
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
            return all(_fits(each, member_kind) for each, member_kind in zip(value, inner, strict=True))
        fits = origin is Any or not isinstance(origin, type) or isinstance(value, origin)
        return fits and (origin.__name__ != "ndarray" or value.dtype.kind in "biuf")
    except (TypeError, ValueError):
        return False
