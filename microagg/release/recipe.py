"""Recipes, with all choices behind a release and digests, and the programs that make it again.

``Plan.replay`` in :mod:`microagg.release.plan` replays a recipe.
"""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from pprint import pformat
from typing import Any

import numpy as np
import pandas as pd

from microagg import __version__
from microagg.columns.taxonomy import category
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.release.choices import ALWAYS, OPTIONS, Choices, recorded
from microagg.release.options import is_literal
from microagg.release.prepare import Prepared
from microagg.release.recoding import Recoding
from microagg.release.source import stratum_codes
from microagg.tables import digest_array, digest_bytes, read_file
from microagg.tables.original import alike
from microagg.validation import FloatArray, IntArray, is_whole, quoted

# The digests in a recipe, and the values of entries that older recipes lack.
_DIGESTS = ("input_sha256", "strata_sha256", "strata_values_sha256", "classes_sha256", "weights_sha256")
_ADDED = {"strata_values_sha256": None, "weights_sha256": None}


def _defaults() -> dict[str, Any]:
    """Values of the entries that older recipes lack."""
    return {option.name: option.before for option in OPTIONS if option.before is not ALWAYS} | _ADDED


def write(prepared: Prepared, recoding: Recoding) -> dict[str, Any]:
    """The recipe of a release, for JSON."""
    return chosen(prepared) | {
        "n": len(prepared.source.table),
        **dict(_digests(prepared)),
        # In the order of the file if no seed restores the order of the release.
        "release_sha256": _digest_release(recoding, prepared.order if is_whole(prepared.choices.shuffle) else None),
    }


def chosen(prepared: Prepared) -> dict[str, Any]:
    """All choices behind a release, and the versions that made it, for JSON."""
    source, estimator, choices = prepared.source, prepared.estimator, prepared.choices
    key, params = (None, ()) if estimator is None else (estimator.info.key, estimator.params)
    param_values = {param.name: getattr(estimator, param.name) for param in params if param.name != "random_state"}
    values = dict(choices.values) | source.schema.arguments() | {"missing": source.missing}
    return written(Choices(choices.k, key, param_values, values))


def written(choices: Choices) -> dict[str, Any]:
    """Choices with the roles and types of columns, and the versions of the programs, for JSON."""
    return {
        "versions": {"microagg": __version__, "numpy": np.__version__},
        "method": choices.method,
        "k": choices.k,
        "params": dict(choices.params),
        **{
            option.name: option.kind.written(value)
            for option in recorded()
            if (value := choices.values[option.name]) is not None or not option.only_chosen
        },
    }


def check(recipe: Any, further: Sequence[str] = ("n", *_DIGESTS, "release_sha256")) -> None:
    """Raise :class:`ParameterError` unless a recipe has all choices and ``further`` entries, in forms of a release.

    Programs are made only of recipes checked here, as a recipe may come from anybody.
    """
    if not isinstance(recipe, Mapping):
        raise ParameterError(f"a recipe must be a dict such as Release.recipe, not {type(recipe).__name__}.")
    keys = ("versions", "method", "k", "params", *(option.name for option in recorded()), *further)
    lacking = [key for key in keys if key not in recipe and key not in _defaults()]
    if lacking:
        raise ParameterError(f"the recipe has no {quoted(lacking)}: pass Release.recipe as it was written.")
    damaged = [key for key, value in recipe.items() if not _has_form(key, value)]
    if damaged:
        raise ParameterError(
            f"the recipe holds under {quoted(damaged)} what no release has written: pass Release.recipe as it was."
        )
    _check_method(recipe["method"], recipe["params"])


def _has_form(key: str, value: Any) -> bool:
    """Whether a release may have written this entry, so that nothing else gets into a program."""
    if not is_literal(value):
        return False
    if key in ("n", "k"):
        return is_whole(value) and value >= (0 if key == "n" else 1)
    if key in ("versions", "params") and not isinstance(value, Mapping):
        return False
    if key == "versions":  # a program has them in a comment, which a line break would end
        return all(isinstance(text, str) and text.isprintable() for pair in value.items() for text in pair)
    if key == "params":
        return all(isinstance(name, str) for name in value)
    if key == "method":
        return value is None or isinstance(value, str)
    return all(option.kind.has_form(value) for option in OPTIONS if option.name == key)


def _check_method(method: str | None, params: Mapping[str, Any]) -> None:
    from microagg.algorithms.registry import algorithm  # which needs scikit-learn and Numba

    params_by_name = {} if method is None else {param.name: param for param in algorithm(method).params}
    if unknown := [name for name in params if name not in params_by_name]:
        owner = "no method" if method is None else f"{method}, which has no such parameter"
        raise ParameterError(
            f"the recipe holds under 'params' {quoted(unknown)} of {owner}: pass it as it was written."
        )
    for name, value in params.items():
        params_by_name[name].check(value)


def choices(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords of :func:`microagg.microaggregate` in a recipe, without those of the engine."""
    entries = _defaults() | dict(recipe)
    options = {option.name: option.kind.read(entries[option.name]) for option in recorded()}
    return {"method": entries["method"], "k": entries["k"], "method_params": dict(entries["params"]), **options}


def check_same_data(prepared: Prepared, recipe: Mapping[str, Any]) -> None:
    """Raise :class:`DataError` if columns, strata, classes or weights differ from the recipe's."""
    recorded = _defaults() | dict(recipe)
    strata = f"the strata ({quoted(prepared.source.schema.strata)})"
    subjects = {
        "input_sha256": "the quasi-identifiers",
        "strata_sha256": strata,
        "strata_values_sha256": strata,
        "classes_sha256": f"the classes ({recipe['classes']!r})",
        "weights_sha256": f"the weights ({recipe.get('weights')!r})",
    }
    for key, digest in _digests(prepared):
        if digest != recorded[key] and (key != "strata_values_sha256" or recorded[key]):  # older recipes lack it
            raise DataError(
                f"{subjects[key]} differ from those the recipe was made for: use the same file, with its records in "
                "the same order."
            )


def check_same_release(new_recipe: Mapping[str, Any], recipe: Mapping[str, Any]) -> None:
    """Raise :class:`MicroaggError` if the new release has other values than the one of ``recipe``."""
    if new_recipe["release_sha256"] != recipe["release_sha256"]:
        raise MicroaggError(
            f"the release comes out otherwise than recorded: the recipe was made with {_versions(recipe)}, this is "
            f"{_versions(new_recipe)}; install the versions of the recipe to reproduce it. If they are the same, "
            f"the method {recipe['method']!r} has changed since: make the release anew."
        )


def _digests(prepared: Prepared) -> Iterator[tuple[str, str | None]]:
    """Yield the digests of the data. Each is computed only if those before it match the recipe."""
    yield "input_sha256", _digest(prepared.source.encoded)
    source, has_strata = prepared.source, bool(prepared.source.schema.strata)
    yield "strata_sha256", _digest(stratum_codes(source.strata, source.n_released)) if has_strata else None
    values = [[category(value).removesuffix(" 00:00:00") for value in part.values] for part in source.strata]
    yield "strata_values_sha256", digest_bytes(json.dumps(values).encode()) if has_strata else None
    yield "classes_sha256", None if source.classes is None else _digest(source.classes)
    yield "weights_sha256", None if source.weights is None else _digest(source.weights)


def _digest(array: FloatArray | IntArray) -> str:
    """SHA-256 of an array's values. -0.0 counts as 0.0, and all NaN as one."""
    return digest_array(np.where(np.isnan(array), np.nan, array + 0.0))


def _digest_release(recoding: Recoding, order: IntArray | None) -> str:
    """SHA-256 of the released values, in ``order`` if it is not the file's.

    The values are numbers, ranks and nodes, or texts, whatever types the columns have.
    """
    if recoding.values is not None:
        return _digest(recoding.values if order is None else recoding.values[order])
    parts = []
    for column in recoding.columns:
        codes, distinct = pd.factorize(column if order is None else column.iloc[order])
        parts.append(_digest(codes) + json.dumps(list(distinct)))
    return digest_bytes("\n".join(parts).encode("ascii"))


def is_like(recipe: Mapping[str, Any], name: str, original: str) -> bool:
    """Whether a file of this name is written in the style of the file named ``original``."""
    return bool(recipe.get("written") == "original" and original and alike(name, original))


# Releases as programs in Python.

# Lines are wrapped at this width if possible.
_WIDTH = 100


def script(
    recipe: Mapping[str, Any],
    file: str | os.PathLike[str] = "",
    *,
    dataset: str = "",
    seed: int | None = None,
    reading: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    recipe_file: str | os.PathLike[str] | None = None,
) -> str:
    """Write a Python program that makes the release of ``recipe`` from its file and saves it.

    The program contains all choices that differ from the defaults. With groups formed elsewhere it replays
    ``recipe_file``, the recipe as JSON.

    Parameters
    ----------
    recipe : mapping
        :attr:`Release.recipe`, which may have been through JSON.
    file : path
        The original file as the program opens it, read with ``reading``, the further arguments of
        :func:`microagg.tables.read_file`. In place of it: a ``dataset`` of :func:`microagg.datasets.load`, and the
        ``seed`` of one that is generated.
    out : path, optional
        The protected file; by default ``people_protected.csv`` for ``people.xlsx``.

    Returns
    -------
    str
        The program.

    Raises
    ------
    ParameterError
        If the recipe is not complete; if neither ``file`` nor ``dataset`` is named, or both.
    """
    check(recipe)
    source = os.fspath(file)
    if bool(dataset) == bool(source):
        raise ParameterError("a release is made from a file or from a data set: name one of them.")
    stem = dataset or PurePath(source).stem
    target = os.fspath(out) if out is not None else f"{stem}_protected.csv"
    recipe_path = os.fspath(recipe_file) if recipe_file is not None else f"{stem}_recipe.json"
    if dataset:
        read = _call("microagg.datasets.load", [repr(dataset)], {} if seed is None else {"seed": seed})
    else:
        read = _call("read_file", [repr(source)], changed_reading(reading or {}))
    replayed = recipe.get("labels") is not None
    like = "" if dataset else ", like=original"
    lines = [
        *(["import json"] if replayed else []),
        "from pathlib import Path",
        "",
        "import microagg",
        *([] if dataset else ["from microagg.tables import read_file"]),
        "",
        f"# The release was made with {_versions(recipe)}; other versions may form other groups.",
        f"original = {read}",
        *([f'recipe = json.loads(Path({recipe_path!r}).read_text(encoding="utf-8"))'] if replayed else []),
        f"release = {'microagg.replay(original.frame, recipe)' if replayed else _making(recipe)}",
        "print(release.report.summary())",
        f"Path({target!r}).write_bytes(release.export({PurePath(target).name!r}{like})[0])",
    ]
    return "\n".join(lines) + "\n"


def _versions(recipe: Mapping[str, Any]) -> str:
    return " and ".join(f"{name} {version}" for name, version in recipe["versions"].items())


def changed_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`microagg.tables.read_file` that are not its defaults; ParameterError for other names."""
    defaults = {name: parameter.default for name, parameter in inspect.signature(read_file).parameters.items()}
    del defaults["source"]
    if unknown := [name for name in reading if name not in defaults]:
        raise ParameterError(f"read_file has no argument {quoted(unknown)}: it has {quoted(list(defaults))}.")
    return {name: value for name, value in reading.items() if value != defaults[name]}


def _making(recipe: Mapping[str, Any]) -> str:
    from microagg.algorithms.registry import algorithm  # which needs scikit-learn and Numba

    values = choices(recipe)
    options = {option.name: values[option.name] for option in OPTIONS if option.is_chosen(values[option.name])}
    defaults = {param.name: param.default for param in algorithm(recipe["method"]).params}
    params = {name: value for name, value in recipe["params"].items() if value != defaults.get(name)}
    further = {"method_params": params} if params else {}
    arguments = {"k": recipe["k"], "method": recipe["method"], **options, **further}
    return _call("microagg.microaggregate", ["original.frame"], arguments)


def _call(function: str, positional: list[str], named: Mapping[str, Any]) -> str:
    """Source text of a call, on one line or with one argument a line."""
    short = f"{function}({', '.join([*positional, *(f'{name}={value!r}' for name, value in named.items())])})"
    if len(named) <= 2 and len(short) <= _WIDTH - 10:
        return short
    arguments = [*positional, *(f"{name}={_literal(name, value)}" for name, value in named.items())]
    return f"{function}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def _literal(name: str, value: Any) -> str:
    """Source text of the argument ``name``, on several lines if it is long."""
    margin = len(name) + 5
    text = pformat(value, width=_WIDTH - margin, compact=True, sort_dicts=False)
    return text.replace("\n", "\n" + " " * margin)
