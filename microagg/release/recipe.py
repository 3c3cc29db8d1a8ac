"""Recipes: all choices behind a release, with digests of the data and of what was released."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from microagg import __version__
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.release.choices import OPTIONS, Choices, recorded
from microagg.release.options import ALWAYS, is_literal
from microagg.release.prepare import Prepared
from microagg.release.recoding import Recoding
from microagg.release.source import stratum_codes
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, IntArray, is_whole, quoted

# What recipes hold of the release besides its choices, and what those hold that were written before it was added.
_DIGESTS = ("input_sha256", "strata_sha256", "classes_sha256", "weights_sha256")
_ADDED = {"weights_sha256": None}


def _before() -> dict[str, Any]:
    """Return what those recipes say that were written before recipes held it."""
    return {own.name: own.before for own in OPTIONS if own.before is not ALWAYS} | _ADDED


def write(prepared: Prepared, recoding: Recoding) -> dict[str, Any]:
    """Return the recipe of a release, made of what JSON can hold."""
    return chosen(prepared) | {
        "n": len(prepared.source.given),
        **dict(_digests(prepared)),
        "release_sha256": _digest_release(recoding, prepared.order),
    }


def chosen(prepared: Prepared) -> dict[str, Any]:
    """Return all choices behind a release, and the versions that made it, made of what JSON can hold."""
    estimator, missing = prepared.estimator, prepared.source.missing
    params = () if estimator is None else estimator.params
    return written(
        Choices(
            prepared.choices.k,
            None if estimator is None else estimator.info.key,
            {param.name: getattr(estimator, param.name) for param in params if param.name != "random_state"},
            dict(prepared.choices.values) | prepared.source.schema.arguments() | {"missing": missing},
        )
    )


def written(choices: Choices) -> dict[str, Any]:
    """Return choices with all that columns are, and the versions of the programs, as JSON can hold them."""
    return {
        "versions": {"microagg": __version__, "numpy": np.__version__},
        "method": choices.method,
        "k": choices.k,
        "params": dict(choices.params),
        **{own.name: own.kind.written(choices.values[own.name]) for own in recorded()},
    }


def check(recipe: Any, further: Sequence[str] = ("n", *_DIGESTS, "release_sha256")) -> None:
    """Raise :class:`ParameterError` unless ``recipe`` is complete, and holds only what a release may have written.

    All that is made of a recipe, programs and commands too, is made of one that was checked here: anybody may send one.
    Complete are all choices, and what it holds ``further``.
    """
    if not isinstance(recipe, Mapping):
        raise ParameterError(f"a recipe must be a dict such as Release.recipe, not {type(recipe).__name__}.")
    keys = ("versions", "method", "k", "params", *(option.name for option in recorded()), *further)
    lacking = [key for key in keys if key not in recipe and key not in _before()]
    if lacking:
        raise ParameterError(f"the recipe has no {quoted(lacking)}: pass Release.recipe as it was written.")
    damaged = [key for key, value in recipe.items() if not _has_its_form(key, value)]
    if damaged:
        raise ParameterError(
            f"the recipe holds under {quoted(damaged)} what no release has written: pass Release.recipe as it was."
        )
    _check_method(recipe["method"], recipe["params"])


def _has_its_form(key: str, value: Any) -> bool:
    """Whether a part of a recipe is what a release may have written, so that nothing else gets into a program."""
    if not is_literal(value):
        return False
    if key in ("n", "k"):
        return is_whole(value) and value >= (0 if key == "n" else 1)
    if key in ("versions", "params"):
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    if key == "method":
        return value is None or isinstance(value, str)
    return all(own.kind.has_form(value) for own in OPTIONS if own.name == key)


def _check_method(method: str | None, params: Mapping[str, Any]) -> None:
    """Raise :class:`ParameterError` unless there is such a method with such parameters."""
    from microagg.algorithms.registry import algorithm  # which needs scikit-learn and Numba

    known = {} if method is None else {param.name: param for param in algorithm(method).params}
    if unknown := [name for name in params if name not in known]:
        whose = "no method" if method is None else f"{method}, which has no such parameter"
        raise ParameterError(
            f"the recipe holds under 'params' {quoted(unknown)} of {whose}: pass it as it was written."
        )
    for name, value in params.items():
        known[name].check(value)


def choices(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of :func:`microagg.microaggregate` that a recipe holds, but those of the engine."""
    known = _before() | dict(recipe)
    options = {own.name: own.kind.read(known[own.name]) for own in recorded()}
    return {"method": known["method"], "k": known["k"], "method_params": dict(known["params"]), **options}


def check_same_data(prepared: Prepared, recipe: Mapping[str, Any]) -> None:
    """Raise :class:`DataError` if quasi-identifiers, strata, classes or weights are not those of the recipe."""
    says = {
        "input_sha256": "the quasi-identifiers differ from those the recipe was made for (their SHA-256 is another)",
        "strata_sha256": f"the strata ({quoted(prepared.source.schema.strata)}) divide the records otherwise than "
        "those the recipe was made for",
        "classes_sha256": f"the classes ({recipe['classes']!r}) divide the records otherwise than those the recipe was "
        "made for",
        "weights_sha256": f"the weights ({recipe.get('weights')!r}) differ from those the recipe was made for",
    }
    for key, digest in _digests(prepared):
        if digest != (_before() | dict(recipe))[key]:
            raise DataError(f"{says[key]}: use the same file, with its records in the same order.")


def check_same_release(made: Mapping[str, Any], recipe: Mapping[str, Any]) -> None:
    """Raise :class:`MicroaggError` if the recipe of the release just made tells of other values than ``recipe``."""
    if made["release_sha256"] != recipe["release_sha256"]:
        then, now = (" and ".join(f"{name} {v}" for name, v in one["versions"].items()) for one in (recipe, made))
        raise MicroaggError(
            f"the release comes out otherwise than recorded: the recipe was made with {then}, this is {now}; "
            "install the versions of the recipe to reproduce it."
        )


def _digests(prepared: Prepared) -> Iterator[tuple[str, str | None]]:
    """Yield the digests of what is released from; each is computed only if those before it are the recipe's."""
    yield "input_sha256", _digest(prepared.source.encoded)
    source = prepared.source
    divided = bool(source.schema.strata)
    yield "strata_sha256", _digest(stratum_codes(source.strata, len(source.records))) if divided else None
    yield "classes_sha256", None if source.classes is None else _digest(source.classes)
    yield "weights_sha256", None if source.weights is None else _digest(source.weights)


def _digest(array: FloatArray | IntArray) -> str:
    """Return the SHA-256 of an array's values, one for -0.0 and 0.0 and one for every NaN."""
    return digest_array(np.where(np.isnan(array), np.nan, array + 0.0))


def _digest_release(recoding: Recoding, order: IntArray | None) -> str:
    """Return the SHA-256 of what is released, in its ``order``, if that is not the file's.

    It is one of numbers, ranks and nodes, or texts; whatever types the columns have.
    """
    if recoding.values is not None:
        return _digest(recoding.values if order is None else recoding.values[order])
    parts = []
    for column in recoding.columns:
        codes, distinct = pd.factorize(column if order is None else column.iloc[order])
        parts.append(_digest(codes) + json.dumps(list(distinct)))
    return digest_bytes("\n".join(parts).encode("ascii"))
