"""Releases as programs: Python that reads a file, protects it as a recipe says, and writes the protected file."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

from microagg.errors import ParameterError
from microagg.release import recipe as recipes
from microagg.release.choices import OPTIONS
from microagg.tables import read_file
from microagg.validation import quoted

# Lines are broken to be no longer than this, where they can be.
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
    by_recipe: bool = False,
) -> str:
    """Return a program, ready to run, that makes the release of ``recipe`` from its file and writes it.

    All choices that are not the default stand in the program. Groups that were found elsewhere do not: where the recipe
    has such, the program reads the recipe from a file and replays it.

    Parameters
    ----------
    recipe : mapping
        :attr:`Release.recipe`, which may have been through JSON.
    file : path
        The original file, as the program is to open it; left out where it is a data set.
    dataset : str, optional
        The data set of :func:`microagg.datasets.load` in place of a file, and the ``seed`` of one that is generated.
    reading : mapping, optional
        The arguments of :func:`microagg.tables.read_table` with which it was read, besides the file.
    out : path, optional
        The protected file, of a kind that :func:`microagg.tables.write_table` writes; by default
        ``people_protected.csv`` for ``people.xlsx``, in the folder of the program.
    recipe_file : path, optional
        The recipe as JSON, for groups found elsewhere; by default ``people_recipe.json``.
    by_recipe : bool
        Whether the program reads the recipe from that file in any case, so that no choice stands in it.

    Raises
    ------
    ParameterError
        If ``recipe`` is not complete, its method is not known, there is not one of file and data set, or
        :func:`~microagg.tables.read_table` has no such argument.
    """
    recipes.check(recipe)
    if bool(dataset) == bool(os.fspath(file)):
        raise ParameterError("a release is made from a file or from a data set: name one of them.")
    source, stem = os.fspath(file), dataset or PurePath(file).stem
    read = _call("read_table", [repr(source)], chosen_reading(reading or {}))
    target = os.fspath(out) if out is not None else f"{stem}_protected.csv"
    replayed = by_recipe or recipe.get("labels") is not None
    lines = [
        *(["import json"] if replayed else []),
        "from pathlib import Path",
        "",
        "import microagg",
        f"from microagg.tables import {'' if dataset else 'read_table, '}write_table",
        "",
        f"# Chosen with {recipe['versions']!r}; other versions may form other groups.",
        f"frame = {_load(dataset, seed) if dataset else read}",
    ]
    if replayed:
        held = os.fspath(recipe_file) if recipe_file is not None else f"{stem}_recipe.json"
        lines += [
            f'recipe = json.loads(Path({held!r}).read_text(encoding="utf-8"))',
            "release = microagg.replay(frame, recipe)",
        ]
    else:
        lines.append(f"release = {_call('microagg.microaggregate', ['frame'], chosen_in(recipe))}")
    written = f"Path({target!r}).write_bytes(write_table(release.frame, {PurePath(target).name!r}))"
    lines += ["print(release.report.summary())", written]
    return "\n".join(lines) + "\n"


def _load(dataset: str, seed: int | None) -> str:
    return _call("microagg.datasets.load", [repr(dataset)], {} if seed is None else {"seed": seed}) + ".frame"


def chosen_reading(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of the reader that are not the default."""
    known = {name: parameter.default for name, parameter in inspect.signature(read_file).parameters.items()}
    del known["source"]
    if unknown := [name for name in given if name not in known]:
        raise ParameterError(f"read_table has no argument {quoted(unknown)}: it has {quoted(list(known))}.")
    return {name: value for name, value in given.items() if value != known[name]}


def chosen_in(recipe: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keywords of :func:`microagg.microaggregate` that are not the default, the method's own at the end."""
    known = recipes.choices(recipe)
    defaults = {"k": None, "method": None} | {own.name: own.default for own in OPTIONS}
    # A recipe holds an empty list where a role was given to no column.
    chosen = {name: known[name] for name, usual in defaults.items() if known[name] not in (usual, [], {}, ())}
    if "taxonomies" in chosen:
        chosen["taxonomies"] = {name: _with_lists(nested) for name, nested in chosen["taxonomies"].items()}
    from microagg.algorithms.registry import algorithm  # which needs scikit-learn and Numba

    own = {param.name: param.default for param in algorithm(recipe["method"]).params}
    params = {name: value for name, value in recipe["params"].items() if value != own.get(name)}
    # Some have the name of an argument.
    taken = {name: value for name, value in params.items() if name in defaults}
    return (
        chosen
        | ({"method_params": taken} if taken else {})
        | {name: value for name, value in params.items() if name not in taken}
    )


def _with_lists(nested: Any) -> Any:
    """Return a taxonomy of nested mappings with lists where all below a category are leaves."""
    if not isinstance(nested, Mapping):
        return nested
    if all(below is None for below in nested.values()):
        return list(nested)
    return {name: _with_lists(below) for name, below in nested.items()}


def _call(function: str, positional: list[str], named: Mapping[str, Any]) -> str:
    """Return a call of a function, on one line or with one argument a line."""
    short = f"{function}({', '.join([*positional, *(f'{name}={value!r}' for name, value in named.items())])})"
    if len(named) <= 2 and len(short) <= _WIDTH - 10:
        return short
    arguments = [*positional, *(f"{name}={_literal(value, 4, len(name) + 1)}" for name, value in named.items())]
    return f"{function}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def _literal(value: Any, indent: int, taken: int) -> str:
    """Return ``value`` as Python; what is too long for a line with ``taken`` characters more has several.

    ``indent`` is that of the line on which it begins.
    """
    flat = repr(value)
    if not value or not isinstance(value, (dict, list)) or indent + taken + len(flat) < _WIDTH:
        return flat
    inner = indent + 4
    if isinstance(value, dict):
        items = [f"{key!r}: {_literal(below, inner, len(repr(key)) + 2)}" for key, below in value.items()]
    else:
        items = [_literal(item, inner, 0) for item in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    lines: list[str] = []
    for item in items:
        # Names fill their lines; what is nested has lines of its own.
        fits = lines and isinstance(value, list) and inner + len(lines[-1]) + len(item) + 3 <= _WIDTH
        if fits and "\n" not in lines[-1] + item:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{item},")
    margin = " " * inner
    return opening + "\n" + "".join(f"{margin}{line}\n" for line in lines) + " " * indent + closing
