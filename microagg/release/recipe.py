"""Recipes: all choices behind a release, with digests of the data and of what was released."""

from __future__ import annotations

import inspect
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from microagg import __version__
from microagg.columns.gaps import GAPS
from microagg.columns.scaling import SCALES
from microagg.columns.schema import ROLES
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.partition import canonical_labels
from microagg.release import strata
from microagg.release.prepare import Prepared, prepare
from microagg.release.recoding import CATEGORIES, ROUNDINGS, STATISTICS, Recoding
from microagg.release.weights import RELEASE_WEIGHTS
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, IntArray, is_whole, plain, quoted

# What was chosen: the arguments of prepare but the data, under the same names.
_CHOICES = tuple(inspect.signature(prepare).parameters)[1:]

# Those of them that a recipe holds in the form in which they are checked.
_AS_THEY_ARE = (
    "categories",
    "scale",
    "statistic",
    "random_state",
    "rounding",
    "release_weights",
    "polish",
    "shuffle",
)

# What recipes did not hold from the beginning, and what it was then: those already written can still be replayed.
_ADDED: dict[str, Any] = {
    "weights": None,
    "others": [],
    "dates": [],
    "numbers": [],
    "missing_codes": [],
    "rounding": "none",
    "release_weights": "mean",
    "polish": False,
    "labels": None,
    "shuffle": None,
    "weights_sha256": None,
}

# Mappings from columns, which are held as pairs: a column may be called by a number, which no key in JSON can be.
_MAPPINGS = ("taxonomies", "ordinal", "dates", "missing_codes")

# What those of them may be that are words.
_WORDS: dict[str, tuple[str, ...]] = {
    "categories": CATEGORIES,
    "scale": tuple(SCALES),
    "statistic": STATISTICS,
    "rounding": ROUNDINGS,
    "release_weights": RELEASE_WEIGHTS,
}

# How deep what a recipe holds may be nested: a taxonomy has fewer levels.
_DEEPEST = 64

# All that a recipe holds, in the order in which it is written.
_DIGESTS = ("input_sha256", "strata_sha256", "classes_sha256", "weights_sha256")
_KEYS = ("versions", *_CHOICES, "n", *_DIGESTS, "release_sha256")


def write(prepared: Prepared, recoding: Recoding) -> dict[str, Any]:
    """Return the recipe of a release, made of what JSON can hold."""
    recipe = chosen(prepared) | {
        "n": len(prepared.source.given),
        **dict(_digests(prepared)),
        "release_sha256": _digest_release(recoding, prepared.order),
    }
    return {key: recipe[key] for key in _KEYS}


def chosen(prepared: Prepared) -> dict[str, Any]:
    """Return all choices behind a release, and the versions that made it, made of what JSON can hold."""
    schema, estimator, missing = prepared.schema, prepared.estimator, prepared.source.missing
    params = () if estimator is None else estimator.params
    recipe = {
        "versions": {"microagg": __version__, "numpy": np.__version__},
        "method": None if estimator is None else estimator.info.key,
        "k": prepared.k,
        "params": {param.name: getattr(estimator, param.name) for param in params if param.name != "random_state"},
        **{"by" if role == "strata" else role: plain(getattr(schema, role)) for role in ROLES},
        "taxonomies": [[plain(name), taxonomy.to_nested()] for name, taxonomy in schema.taxonomies.items()],
        "ordinal": [[plain(name), list(levels)] for name, levels in schema.ordinal.items()],
        "dates": plain(list(schema.dates.items())),
        "numbers": plain(_numbers(schema.numbers)),
        "missing_codes": plain(list(schema.missing_codes.items())),
        "missing": missing if isinstance(missing, str) else plain(list(missing.items())),
        **{name: getattr(prepared, name) for name in _AS_THEY_ARE},
        "labels": None if prepared.labels is None else canonical_labels(prepared.labels).tolist(),
    }
    return {key: recipe[key] for key in ("versions", *_CHOICES)}


def _numbers(numbers: Mapping[Any, str | None]) -> list[Any]:
    """Return the columns of numbers, with how they are written where one does not write them plainly."""
    return list(numbers.items() if any(numbers.values()) else numbers)


def check(recipe: Any) -> None:
    """Raise :class:`ParameterError` unless ``recipe`` is complete, and holds only what a release may have written.

    All that is made of a recipe, programs and commands too, is made of one that was checked here: anybody may send one.
    """
    if not isinstance(recipe, Mapping):
        raise ParameterError(f"a recipe must be a dict such as Release.recipe, not {type(recipe).__name__}.")
    lacking = [key for key in _KEYS if key not in recipe and key not in _ADDED]
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
    if not _is_literal(value):
        return False
    if key in ("n", "k"):
        return is_whole(value) and value >= (0 if key == "n" else 1)
    if key in ("random_state", "shuffle"):
        return value is None or (is_whole(value) and value >= 0)
    if key in _WORDS:
        return isinstance(value, str) and value in _WORDS[key]
    if key == "polish":
        return isinstance(value, bool)
    if key in ("versions", "params"):
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
    if key == "labels":
        return value is None or (isinstance(value, (list, tuple)) and all(map(is_whole, value)))
    if key in ("classes", "weights", "method"):
        return value is None or isinstance(value, str) or (is_whole(value) and key != "method")
    if key in ("quasi_identifiers", "confidential", "identifiers", "by", "others"):
        return isinstance(value, (list, tuple)) and _are_names(value)
    if key == "numbers":
        return isinstance(value, (list, tuple)) and (_are_names(value) or all(map(_is_named, value)))
    if key == "missing" and isinstance(value, str):
        return value in GAPS
    if key in _MAPPINGS or key == "missing":
        return isinstance(value, Mapping) or (isinstance(value, (list, tuple)) and all(map(_is_named, value)))
    return True


def _is_literal(value: Any, depth: int = 0) -> bool:
    """Whether a value is made of what JSON can hold, and not nested deeper than taxonomies are."""
    if value is None or isinstance(value, (str, bool, int)):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, (str, int)) and _is_literal(below, depth + 1) for key, below in value.items())
    return isinstance(value, (list, tuple)) and all(_is_literal(item, depth + 1) for item in value)


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


def _is_named(pair: Any) -> bool:
    return isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], (str, int))


def _are_names(value: Any) -> bool:
    return all(isinstance(name, (str, int)) for name in value)


def choices(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of :func:`microagg.release.prepare.prepare` that a recipe holds."""
    known = _ADDED | dict(recipe)
    mappings = _MAPPINGS if isinstance(known["missing"], str) else (*_MAPPINGS, "missing")
    if not _are_names(known["numbers"]):
        mappings = (*mappings, "numbers")
    return {key: dict(known[key]) if key in mappings else known[key] for key in _CHOICES}


def check_same_data(prepared: Prepared, recipe: Mapping[str, Any]) -> None:
    """Raise :class:`DataError` if quasi-identifiers, strata, classes or weights are not those of the recipe."""
    says = {
        "input_sha256": "the quasi-identifiers differ from those the recipe was made for (their SHA-256 is another)",
        "strata_sha256": f"the strata ({quoted(prepared.schema.strata)}) divide the records otherwise than those the "
        "recipe was made for",
        "classes_sha256": f"the classes ({recipe['classes']!r}) divide the records otherwise than those the recipe was "
        "made for",
        "weights_sha256": f"the weights ({recipe.get('weights')!r}) differ from those the recipe was made for",
    }
    for key, digest in _digests(prepared):
        if digest != (_ADDED | dict(recipe))[key]:
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
    divided = bool(prepared.schema.strata)
    yield "strata_sha256", _digest(strata.codes(prepared.strata, len(prepared.records))) if divided else None
    yield "classes_sha256", None if prepared.classes is None else _digest(prepared.classes)
    yield "weights_sha256", None if prepared.weights is None else _digest(prepared.weights)


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
