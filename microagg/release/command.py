"""Releases as commands: what to type in a shell to make one again; see :mod:`microagg.cli`."""

from __future__ import annotations

import csv
import io
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from microagg.errors import ParameterError
from microagg.release import recipe as recipes
from microagg.release.choices import OPTIONS
from microagg.release.script import chosen_in, chosen_reading

# Lines are broken after words so that they are no longer than this, where they can be.
_WIDTH = 100


def split(text: str) -> list[str]:
    """Return the words of a text with commas between them; one with a comma of its own stands in double quotes."""
    return [word.strip() for word in next(csv.reader([text], skipinitialspace=True), []) if word.strip()]


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
    """Return the command that makes the release of ``recipe`` from its file, and why it reads the recipe, if it does.

    It reads the recipe where a choice has no flag; then the second text names these choices, and else is empty.

    Parameters
    ----------
    recipe, file, dataset, seed, reading, out, recipe_file
        As for :func:`microagg.release.script.script`.
    accept : sequence of str
        The codes of findings in spite of which it is released, and the ``reason``.

    Raises
    ------
    ParameterError
        If ``recipe`` is not complete, its method is not known, there is not one of file and data set, or
        :func:`~microagg.tables.read_table` has no such argument.
    """
    recipes.check(recipe)
    source, stem = os.fspath(file), dataset or PurePath(file).stem
    if bool(dataset) == bool(source):
        raise ParameterError("a release is made from a file or from a data set: name one of them.")
    lacking = _without_flag(recipe)
    target = os.fspath(out) if out is not None else f"{stem}_protected.csv"
    held = os.fspath(recipe_file) if recipe_file is not None else f"{stem}_recipe.json"
    words = [["microagg", "replay", held] if lacking else ["microagg", "run"]]
    # A name that begins with a - would be taken for a flag.
    words[0] += [f".{os.sep}{source}" if source.startswith("-") else source] if source else ["--data", dataset]
    words += [["--data-seed", str(seed)]] if seed is not None else []
    words += [word for name, value in chosen_reading(reading or {}).items() for word in _flag(f"read_{name}", value)]
    if not lacking:
        chosen = chosen_in(recipe)
        # Parameters of the method that have the name of an argument.
        own = {f"method_{name}": value for name, value in chosen.pop("method_params", {}).items()}
        words += [word for name, value in (chosen | own).items() for word in _flag(name, value)]
    words += [word for code in accept for word in _flag("accept", code)]
    words += _flag("reason", reason) if accept else []
    return _broken([*words, *_flag("out", target)]), "" if not lacking else f"No flag says {', '.join(lacking)}."


def _without_flag(recipe: Mapping[str, Any]) -> list[str]:
    """Return the choices that a shell cannot give."""
    # Groups that were found elsewhere need no method.
    chosen = chosen_in(recipe) if recipe["method"] is not None else {}
    found = ["the taxonomies"] if "taxonomies" in chosen else []
    found += ["the groups"] if recipe.get("labels") is not None else []
    odd = [name for name, levels in chosen.get("ordinal", {}).items() if split(_joined(levels)) != list(levels)]
    return [*found, *(f"the order of {name!r}" for name in odd)]


def _joined(words: Iterable[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(words)
    return text.getvalue()


def _flag(name: str, value: Any) -> Iterator[list[str]]:
    """Yield what a shell is told of one argument, flag by flag."""
    flag = {"quasi_identifiers": "--qi", "identifiers": "--drop"}.get(name, f"--{name.replace('_', '-')}")
    if isinstance(value, bool):
        # Those that are off by themselves have no value.
        yield [flag, "no"] if not value else [flag, "yes"] if name in ("read_header", "read_labels") else [flag]
    elif isinstance(value, Mapping):
        for column, own in value.items():
            for text in _values(name, own):
                yield _pair(flag, f"{column}{text}")
    elif isinstance(value, (list, tuple)) and not name.startswith("read_"):
        together = not any(set(str(column)) & set(',"\n') or str(column) != str(column).strip() for column in value)
        if together and not any(own.name == name and own.kind.shell == "pairs" for own in OPTIONS):
            yield _pair(flag, ",".join(map(str, value)))
        else:
            yield from (_pair(flag, str(column)) for column in value)
    elif isinstance(value, (list, tuple)):
        yield from (_pair(flag, str(text)) for text in value or [""])
    else:
        yield _pair(flag, str(value))


def _values(name: str, own: Any) -> list[str]:
    """Return what follows a column's name, each with its own flag."""
    if own is None:
        return [""]
    if name == "ordinal":
        return [f"={_joined(own)}"]
    return [f"={one}" for one in own] if isinstance(own, (list, tuple)) else [f"={own}"]


def _pair(flag: str, text: str) -> list[str]:
    return [f"{flag}={text}"] if text.startswith("-") else [flag, text]


def _broken(words: list[list[str]]) -> str:
    """Return the command with its words quoted, on lines that a shell takes for one."""
    lines = [""]
    for group in words:
        text = shlex.join(group)
        if lines[-1] and len(lines[-1]) + len(text) + 3 > _WIDTH:
            lines.append(f"  {text}")
        else:
            lines[-1] = f"{lines[-1]} {text}" if lines[-1] else text
    return " \\\n".join(lines) + "\n"
