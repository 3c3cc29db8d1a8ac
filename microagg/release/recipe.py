"""Recipes, with all choices behind a release and digests, and the programs and commands that make it again."""

from __future__ import annotations

import inspect
import json
import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from microagg import __version__
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.release.choices import OPTIONS, Choices, recorded
from microagg.release.options import ALWAYS, Option, flag_words, is_literal
from microagg.release.prepare import Prepared
from microagg.release.recoding import Recoding
from microagg.release.source import stratum_codes
from microagg.tables import digest_array, digest_bytes, read_file
from microagg.tables.original import alike
from microagg.validation import FloatArray, IntArray, is_whole, quoted

# The digests in a recipe, and the values of entries that older recipes lack.
_DIGESTS = ("input_sha256", "strata_sha256", "classes_sha256", "weights_sha256")
_ADDED = {"weights_sha256": None}


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
    """Check that a recipe is complete and contains only values that a release may have written.

    Programs and commands are made only of recipes checked here, as a recipe may come from anybody. Complete are all
    choices and the ``further`` entries.

    ParameterError if an entry is missing or has another form.
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
    if key in ("versions", "params"):
        return isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
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


def check_same_data(prepared: Prepared, recipe: Mapping[str, Any], hint: str = "") -> None:
    """Raise :class:`DataError`, with a ``hint``, if columns, strata, classes or weights differ from the recipe's."""
    texts = {
        "input_sha256": "the quasi-identifiers differ from those the recipe was made for (their SHA-256 is another)",
        "strata_sha256": f"the strata ({quoted(prepared.source.schema.strata)}) divide the records otherwise than "
        "those the recipe was made for",
        "classes_sha256": f"the classes ({recipe['classes']!r}) divide the records otherwise than those the recipe was "
        "made for",
        "weights_sha256": f"the weights ({recipe.get('weights')!r}) differ from those the recipe was made for",
    }
    for key, digest in _digests(prepared):
        if digest != (_defaults() | dict(recipe))[key]:
            raise DataError(f"{texts[key]}: use the same file, with its records in the same order.{hint}")


def check_same_release(new_recipe: Mapping[str, Any], recipe: Mapping[str, Any]) -> None:
    """Raise :class:`MicroaggError` if the new release has other values than the one of ``recipe``."""
    if new_recipe["release_sha256"] != recipe["release_sha256"]:
        old, new = (" and ".join(f"{name} {v}" for name, v in one["versions"].items()) for one in (recipe, new_recipe))
        hint = ""
        if recipe.get("diversity") or recipe.get("closeness"):
            hint = (
                " Spelling variants of a confidential value once counted as several values: if the file has some, the "
                "guarantees of the recipe do not hold, so make the release anew."
            )
        raise MicroaggError(
            f"the release comes out otherwise than recorded: the recipe was made with {old}, this is {new}; "
            f"install the versions of the recipe to reproduce it.{hint}"
        )


def _digests(prepared: Prepared) -> Iterator[tuple[str, str | None]]:
    """Yield the digests of the data. Each is computed only if those before it match the recipe."""
    yield "input_sha256", _digest(prepared.source.encoded)
    source, has_strata = prepared.source, bool(prepared.source.schema.strata)
    yield "strata_sha256", _digest(stratum_codes(source.strata, len(source.records))) if has_strata else None
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


# Releases as programs in Python and as commands of a shell.

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
    by_recipe: bool = False,
) -> str:
    """Write a Python program that makes the release of ``recipe`` from its file and saves it.

    The program contains all choices that differ from the defaults, but no groups formed elsewhere: if the recipe has
    them, the program reads the recipe from a file and replays it.

    Parameters
    ----------
    recipe : mapping
        :attr:`Release.recipe`, which may have been through JSON.
    file : path
        The original file as the program opens it; omitted for a data set.
    dataset : str, optional
        The data set of :func:`microagg.datasets.load` in place of a file, and the ``seed`` of one that is generated.
    reading : mapping, optional
        The further arguments of :func:`microagg.tables.read_table` with which the file was read.
    out, recipe_file : path, optional
        The protected file, of a kind that :func:`microagg.tables.write_table` writes, and the recipe as JSON, for
        groups formed elsewhere; by default ``people_protected.csv`` and ``people_recipe.json`` for ``people.xlsx``.
    by_recipe : bool
        Whether the program always reads the recipe from that file and contains no choices.

    Raises
    ------
    ParameterError
        If ``recipe`` is not complete, its method is not known, there is not one of file and data set, or
        :func:`~microagg.tables.read_table` has no such argument.
    """
    source, target, recipe_path = _files(recipe, file, dataset, out, recipe_file)
    is_as_original, has_codes = is_like(recipe, target, source), False
    if PurePath(target).suffix.lower() in (".dta", ".sav") and recipe.get("written") == "original":
        # Such a file has the labels of the columns of another, and codes for categories of missing values.
        is_as_original = is_as_original or PurePath(source or "").suffix.lower() in (".dta", ".sav", ".zsav")
        has_codes = "category" in str(recipe.get("missing"))
    exports = is_as_original or has_codes or recipe.get("ranges", "text") != "text"
    if dataset:
        reader = ""
        read = _call("microagg.datasets.load", [repr(dataset)], {} if seed is None else {"seed": seed}) + ".frame"
    else:
        reader = "read_file" if is_as_original else "read_table"
        read = _call(reader, [repr(source)], _chosen_reading(reading or {}))
    imports = ", ".join(filter(None, [reader, "" if exports else "write_table"]))
    replayed = by_recipe or recipe.get("labels") is not None
    frame = "original.frame" if is_as_original else "frame"
    name = PurePath(target).name
    written = f"write_table(release.frame, {name!r})"
    if exports:
        written = f"release.export({name!r}{', like=original' if is_as_original else ''})[0]"
    lines = [
        *(["import json"] if replayed else []),
        "from pathlib import Path",
        "",
        "import microagg",
        *([f"from microagg.tables import {imports}"] if imports else []),
        "",
        f"# Chosen with {recipe['versions']!r}; other versions may form other groups.",
        f"{frame.removesuffix('.frame')} = {read}",
        *([f'recipe = json.loads(Path({recipe_path!r}).read_text(encoding="utf-8"))'] if replayed else []),
        f"release = {f'microagg.replay({frame}, recipe)' if replayed else _making(recipe, frame)}",
        "print(release.report.summary())",
        f"Path({target!r}).write_bytes({written})",
    ]
    return "\n".join(lines) + "\n"


def _making(recipe: Mapping[str, Any], frame: str) -> str:
    named, params = _params(recipe)
    options = {option.name: option.kind.in_program(value) for option, value in _options(recipe).items()}
    arguments = {"k": recipe["k"], "method": recipe["method"], **options}
    arguments |= ({"method_params": named} if named else {}) | params
    return _call("microagg.microaggregate", [frame], arguments)


def _files(recipe: Any, file: Any, dataset: str, out: Any, recipe_file: Any) -> tuple[str, str, str]:
    """Check the recipe and return the original, the protected file and the recipe file, by default with usual names."""
    check(recipe)
    if bool(dataset) == bool(os.fspath(file)):
        raise ParameterError("a release is made from a file or from a data set: name one of them.")
    stem = dataset or PurePath(file).stem
    target = os.fspath(out) if out is not None else f"{stem}_protected.csv"
    return os.fspath(file), target, os.fspath(recipe_file) if recipe_file is not None else f"{stem}_recipe.json"


def _chosen_reading(reading: Mapping[str, Any]) -> dict[str, Any]:
    defaults = {name: parameter.default for name, parameter in inspect.signature(read_file).parameters.items()}
    del defaults["source"]
    if unknown := [name for name in reading if name not in defaults]:
        raise ParameterError(f"read_table has no argument {quoted(unknown)}: it has {quoted(list(defaults))}.")
    return {name: value for name, value in reading.items() if value != defaults[name]}


def _options(recipe: Mapping[str, Any]) -> dict[Option, Any]:
    values = choices(recipe)
    return {option: values[option.name] for option in OPTIONS if option.is_chosen(values[option.name])}


def _params(recipe: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters of the method that differ from their defaults: those named like an argument, and the others."""
    from microagg.algorithms.registry import algorithm  # which needs scikit-learn and Numba

    defaults = {param.name: param.default for param in algorithm(recipe["method"]).params}
    chosen = {name: value for name, value in recipe["params"].items() if value != defaults.get(name)}
    named = {name: chosen.pop(name) for name in ("k", "method", *(option.name for option in OPTIONS)) if name in chosen}
    return named, chosen


def _call(function: str, positional: list[str], named: Mapping[str, Any]) -> str:
    """Source text of a call, on one line or with one argument a line."""
    short = f"{function}({', '.join([*positional, *(f'{name}={value!r}' for name, value in named.items())])})"
    if len(named) <= 2 and len(short) <= _WIDTH - 10:
        return short
    arguments = [*positional, *(f"{name}={_literal(value, 4, len(name) + 1)}" for name, value in named.items())]
    return f"{function}(\n" + "".join(f"    {argument},\n" for argument in arguments) + ")"


def _literal(value: Any, indent: int, taken: int) -> str:
    """Source text of ``value``, on several lines if it is too long for one with ``taken`` more characters.

    ``indent`` is the indentation of the line where it begins.
    """
    flat = repr(value)
    if not value or not isinstance(value, (dict, list)) or indent + taken + len(flat) < _WIDTH:
        return flat
    inner = indent + 4
    if isinstance(value, dict):
        items = [f"{key!r}: {_literal(item, inner, len(repr(key)) + 2)}" for key, item in value.items()]
    else:
        items = [_literal(item, inner, 0) for item in value]
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    lines: list[str] = []
    for item in items:
        # Names fill their lines; nested values have separate lines.
        fits = lines and isinstance(value, list) and inner + len(lines[-1]) + len(item) + 3 <= _WIDTH
        if fits and "\n" not in lines[-1] + item:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{item},")
    margin = " " * inner
    return opening + "\n" + "".join(f"{margin}{line}\n" for line in lines) + " " * indent + closing


def command(
    recipe: Mapping[str, Any],
    file: str | os.PathLike[str] = "",
    *,
    dataset: str = "",
    seed: int | None = None,
    reading: Mapping[str, Any] | None = None,
    out: str | os.PathLike[str] | None = None,
    recipe_file: str | os.PathLike[str] | None = None,
    accept: Sequence[str] = (),
    reason: str = "",
) -> tuple[str, str]:
    """Write the command that makes the release of ``recipe`` from its file, and why it reads the recipe, if it does.

    It reads the recipe if a choice has no flag; the second text then names these choices, otherwise it is empty.
    ``accept`` has the codes of accepted findings, with the ``reason``; other parameters and errors are those of
    :func:`script`.
    """
    source, target, recipe_path = _files(recipe, file, dataset, out, recipe_file)
    chosen = _options(recipe)
    lacking = [words for option, value in chosen.items() for words in option.kind.not_in_shell(value)]
    words = [["microagg", "replay", recipe_path] if lacking else ["microagg", "run"]]
    # A name that begins with a - would be taken for a flag.
    words[0] += [f".{os.sep}{source}" if source.startswith("-") else source] if source else ["--data", dataset]
    words += [["--data-seed", str(seed)]] if seed is not None else []
    words += reading_words(reading or {})
    if not lacking:
        taken, params = _params(recipe)
        words += [*_flags("k", recipe["k"]), *_flags("method", recipe["method"])]
        words += [word for option, value in chosen.items() for word in option.words(value)]
        if source and recipe.get("written") == "original" and recipe["rounding"] == "none":
            words += _flags("rounding", "none")  # of a file that is written as it was, the shell rounds otherwise
        named = params | {f"method_{name}": value for name, value in taken.items()}
        words += [word for name, value in named.items() for word in _flags(name, value)]
    words += [word for code in accept for word in _flags("accept", code)]
    words += _flags("reason", reason) if accept else []
    return _wrap_lines([*words, *_flags("out", target)]), "" if not lacking else f"No flag says {', '.join(lacking)}."


def reading_words(reading: Mapping[str, Any]) -> list[list[str]]:
    """Flags of a shell for reading a file."""
    return [words for name, value in _chosen_reading(reading).items() for words in _flags(f"read_{name}", value)]


def _flags(name: str, value: Any) -> list[list[str]]:
    """Flags of a shell for one argument of the reader or the method."""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        # Those that are off by themselves have no value.
        return [[flag, "no"] if not value else [flag, "yes"] if name in ("read_header", "read_labels") else [flag]]
    texts = (value or [""]) if isinstance(value, (list, tuple)) else [value]
    return [flag_words(flag, str(text)) for text in texts]


def _wrap_lines(words: list[list[str]]) -> str:
    """Return the command with its words quoted, on lines that a shell takes for one."""
    lines = [""]
    for group in words:
        text = shlex.join(group)
        if lines[-1] and len(lines[-1]) + len(text) + 3 > _WIDTH:
            lines.append(f"  {text}")
        else:
            lines[-1] = f"{lines[-1]} {text}" if lines[-1] else text
    return " \\\n".join(lines) + "\n"
