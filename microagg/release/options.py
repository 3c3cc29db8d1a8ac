"""Options of a release: what an option is, and the kinds of their values, as recipes, programs and shells have them."""

from __future__ import annotations

import csv
import difflib
import io
import math
import secrets
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np

from microagg.columns.recodes import check_recodes
from microagg.columns.records import GAPS
from microagg.columns.taxonomy import ANYTHING, Taxonomy
from microagg.errors import DataError, MicroaggError, ParameterError
from microagg.partition import canonical_labels
from microagg.validation import check_choice, check_labels, is_real, is_whole, plain, quoted

# The maximum nesting depth of a recipe's values: a taxonomy has fewer levels.
_MAX_DEPTH = 64


def is_literal(value: Any, depth: int = 0) -> bool:
    """Whether a value consists of JSON values, and is not nested deeper than taxonomies are."""
    if value is None or isinstance(value, (str, bool, int)):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if depth > _MAX_DEPTH:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, (str, int)) and is_literal(below, depth + 1) for key, below in value.items())
    return isinstance(value, (list, tuple)) and all(is_literal(item, depth + 1) for item in value)


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(name, (str, int)) for name in value)


# Columns and their values in the arguments of a shell.


def split(text: str) -> list[str]:
    """Words of a text, separated by commas. A word that contains a comma stands in double quotes."""
    return [word.strip() for word in next(csv.reader([text], skipinitialspace=True), []) if word.strip()]


def find_column(text: str, names: Mapping[str, Any]) -> Any:
    """The column named by a text. ``names`` maps texts to all columns.

    DataError if there is no such column.
    """
    if text in names:
        return names[text]
    folded = {name.lower(): name for name in names}
    near = difflib.get_close_matches(text.lower(), folded, n=1)
    hint = f"did you mean {folded[near[0]]!r}?" if near else f"the columns are {quoted(names)}."
    raise DataError(f"there is no column {text!r}: {hint}")


def find_columns(texts: Iterable[str], names: Mapping[str, Any]) -> list[Any]:
    """The columns named by texts, each of one column or several separated by commas (see :func:`find_column`)."""
    return [find_column(word, names) for text in texts for word in ([text] if text in names else split(text))]


def _pair(text: str, names: Mapping[str, Any]) -> tuple[Any, str | None]:
    """Split COLUMN=VALUE. The value is None if there is none. A column's name may contain ``=``."""
    heads = [text[:position] for position, sign in enumerate(text) if sign == "="]
    column = next((head for head in [text, *reversed(heads)] if head in names), None)
    if column is None:
        column = heads[0] if heads else text
    return find_column(column, names), text[len(column) + 1 :] if len(text) > len(column) else None


def _column_values(name: str, texts: Iterable[str], names: Mapping[str, Any]) -> list[tuple[Any, str]]:
    """Split texts COLUMN=VALUE, each of which needs a value."""
    pairs = []
    for column, value in (_pair(text, names) for text in texts):
        if not value:
            flag = f"--{name.replace('_', '-')}"
            raise ParameterError(f"{flag} {column} has no value: write {column}=VALUE.")
        pairs.append((column, value))
    return pairs


class Kind:
    """The type of an option's values: how they are checked, and their form in recipes, programs and shells."""

    type = ""  # the type in a docstring, with a placeholder for the default
    shell = ""  # the kind of flag: "word", "whole", "switch", "columns", "column", "pairs"; empty if there is none
    of_columns = False  # whether it declares roles or types of columns, which are checked with the file

    def check(self, name: str, value: Any) -> Any:
        """Check and convert a value of the option ``name``, or raise :class:`ParameterError`."""
        return value

    def written(self, value: Any) -> Any:
        """A checked value as a recipe contains it, for JSON."""
        return plain(value)

    def has_form(self, value: Any) -> bool:
        """Whether a recipe may contain this literal: by default, whether :meth:`check` accepts what is read of it."""
        try:
            self.check("", self.read(value))
        except MicroaggError:
            return False
        return True

    def read(self, value: Any) -> Any:
        """Convert a recipe's value to the option's value, or raise :class:`ParameterError`."""
        return value

    def in_shell(self, value: Any) -> list[str]:
        """Texts of a flag that say the value."""
        return [str(value)]

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        """The value of a flag with these ``texts``; ``names`` maps texts to all columns."""
        return self.check(name, texts)


class Word(Kind):
    """One of several words."""

    shell = "word"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        self.type = f'{_one_of(self.words)}, default "{{}}"'

    def check(self, name: str, value: Any) -> Any:
        return check_choice(name, value, self.words)


def _one_of(words: Iterable[str]) -> str:
    listed = ", ".join(f'"{word}"' for word in words)
    return f"{{{{{listed}}}}}"


class YesNo(Kind):
    """True or False."""

    type = "bool, default {}"
    shell = "switch"

    def check(self, name: str, value: Any) -> Any:
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterError(f"{name} must be True or False, not {value!r}.")
        return bool(value)


class Seed(Kind):
    """A seed for a random generator, a whole number of at least 0, or None."""

    type = "int, optional"
    shell = "whole"
    allowed = "a whole number of at least 0"

    def check(self, name: str, value: Any) -> Any:
        if value is not None and (not is_whole(value) or value < 0):
            raise ParameterError(f"{name} must be {self.allowed} or None, not {value!r}.")
        return None if value is None else int(value)


class Shuffle(Seed):
    """A random order: True, a seed in the recipe, a ``SeedSequence`` of NumPy, which is not recorded, or None."""

    type = 'bool, "recorded", int or numpy.random.SeedSequence, optional'
    shell = "seed"
    allowed = 'True, "recorded", a whole number of at least 0'

    def check(self, name: str, value: Any) -> Any:
        if value is True or (isinstance(value, np.random.SeedSequence) and is_whole(value.entropy)):
            return value
        if isinstance(value, str) and value == "recorded":
            return secrets.randbits(128)
        return super().check(name, None if value is False else value)

    def written(self, value: Any) -> Any:
        return True if isinstance(value, np.random.SeedSequence) else value


class Groups(Kind):
    """The group of each record, as numbers, or None."""

    type = "array of int, shape (n released records,), optional"

    def check(self, name: str, value: Any) -> Any:
        return None if value is None else check_labels(value)

    def written(self, value: Any) -> Any:
        return None if value is None else canonical_labels(value).tolist()


class Columns(Kind):
    """Names of columns."""

    type = "column name or collection of them, optional"
    shell = "columns"
    of_columns = True

    def has_form(self, value: Any) -> bool:
        return _are_names(value)

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        return find_columns(texts, names)


class Column(Kind):
    """The name of a column, or None."""

    type = "column name, optional"
    shell = "column"
    of_columns = True

    def has_form(self, value: Any) -> bool:
        return value is None or isinstance(value, str) or is_whole(value)

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        return find_column(texts, names)


class Mapped(Kind):
    """A value for each of some columns.

    A recipe contains pairs, as columns may have numbers as names, but JSON keys are texts. If ``named`` is true,
    columns may be listed without values; their value is then ``usual``.
    """

    shell = "pairs"
    of_columns = True

    def __init__(self, *, named: bool = False, usual: Any = None) -> None:
        self.named, self.usual = named, usual

    def check(self, name: str, value: Any) -> Any:
        if not self.named and value is not None and not isinstance(value, Mapping):
            raise ParameterError(f"{name} must map column names to {name}, not be {value!r}: write {{'column': ...}}.")
        return value

    def written(self, value: Any) -> Any:
        names_alone = self.named and not (isinstance(value, Mapping) and any(value.values()))
        return plain(list(value if names_alone else value.items()))

    def read(self, value: Any) -> Any:
        if isinstance(value, Mapping) or (self.named and value and _are_names(value)):
            return value
        pairs = value if isinstance(value, (list, tuple)) else [value]
        if not all(isinstance(pair, (list, tuple)) and len(pair) == 2 and _are_names(pair[:1]) for pair in pairs):
            raise ParameterError(f"{value!r} are no pairs of a column and its setting.")
        return dict(pairs)

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        pairs = (_pair(text, names) for text in texts)
        return {column: self.usual if value is None else value for column, value in pairs}


class Taxonomies(Mapped):
    """A taxonomy for each of some columns. In a shell, its file."""

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        return {column: file and PurePath(file) for column, file in super().of_shell(name, texts, names).items()}


class Listed(Mapped):
    """Values for each of some columns: categories from the lowest to the highest, or missing-value codes.

    In a shell, columns may be repeated; ``divided`` texts have several values, separated by commas.
    """

    def __init__(self, *, divided: bool) -> None:
        super().__init__()
        self.divided = divided

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        values: dict[Any, list[str]] = {}
        for column, text in _column_values(name, texts, names):
            values.setdefault(column, []).extend(split(text) if self.divided else [text])
        return values


class Gaps(Mapped):
    """The treatment of missing values: a word, or one for each of some columns."""

    type = f'{_one_of(GAPS)} or mapping of column name to one of them, default "{{}}"'
    of_columns = False

    def check(self, name: str, value: Any) -> Any:
        return value if isinstance(value, Mapping) else check_choice(name, value, GAPS)

    def written(self, value: Any) -> Any:
        return value if isinstance(value, str) else super().written(value)

    def read(self, value: Any) -> Any:
        return value if isinstance(value, str) else super().read(value)

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        return texts[0] if len(texts) == 1 and texts[0] in GAPS else dict(_column_values(name, texts, names))


class Recodes(Mapped):
    """New values for values of each of some columns.

    In a shell: COLUMN=VALUE=NEW, each in double quotes if it contains ``=``.
    """

    of_columns = False

    def check(self, name: str, value: Any) -> Any:
        return check_recodes(value)

    def read(self, value: Any) -> Any:
        return None if value is None else super().read(value)

    def in_shell(self, value: Any) -> list[str]:
        """Texts COLUMN=VALUE=NEW, one for each value."""
        texts = []
        for column, changes in value.items():
            for old, new in changes.items():
                text = io.StringIO()
                csv.writer(text, lineterminator="", delimiter="=").writerow((column, old, new or ""))
                texts.append(text.getvalue())
        return texts

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        recodes: dict[Any, dict[str, str]] = {}
        for text in texts:
            if len(words := recode_parts(text)) != 3:
                raise ParameterError(
                    f"--{name} {text} does not name a new value: write COLUMN=VALUE=NEW, with double quotes around "
                    "parts that contain a =."
                )
            recodes.setdefault(find_column(words[0], names), {})[words[1]] = words[2]
        return self.check(name, recodes)


def recode_parts(text: str) -> list[str]:
    """Column, value and new value of a text COLUMN=VALUE=NEW. Another number of parts for another text."""
    return next(csv.reader([text], delimiter="="), [])


class Meanings(Recodes):
    """Meanings of values of each of some columns: other values, or their ancestors at a level of a taxonomy."""

    def check(self, name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            pairs = {column: meaning for column, meaning in value.items() if isinstance(meaning, (tuple, list))}
            value = {**value, **{column: _above(f"{name} of {column!r}", meaning) for column, meaning in pairs.items()}}
        return check_recodes(value, name)

    def has_form(self, value: Any) -> bool:
        try:
            meanings = self.read(value) or {}
        except ParameterError:
            return False
        # No recipe names the file of a taxonomy.
        return all(isinstance(each, Mapping) for each in meanings.values()) and super().has_form(value)

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        parts = {text: recode_parts(text) for text in texts}
        recodes = super().of_shell(name, [text for text, words in parts.items() if len(words) != 2], names) or {}
        for column, path in (words for words in parts.values() if len(words) == 2):
            file, _, level = path.rpartition(":")
            recodes[find_column(column, names)] = PurePath(file or level), int(level) if level.isdecimal() else 0
        return self.check(name, recodes)


def _above(option: str, pair: Sequence[Any]) -> dict[str, str | None]:
    """Map each value to its ancestor at a level of a taxonomy, 1 being below the root, and all other values to None."""
    tree = Taxonomy.of(pair[0])
    if len(pair) != 2 or not is_whole(pair[1]) or not 1 <= pair[1] <= tree.height:
        raise ParameterError(f"{option} must be a mapping, or a taxonomy and a level from 1 to {tree.height}.")
    ancestors = tree.lineages[pair[1]]
    nodes = [node for node, depth in enumerate(tree.depths) if depth >= pair[1]]
    return {tree.names[node]: tree.names[ancestors[node]] for node in nodes} | {ANYTHING: None}


class Limits(Mapped):
    """A bound for each of some confidential columns in every class: a number, or a word and a number.

    A number is from ``least`` to ``most``. It must be ``whole`` unless one of ``words`` stands before it.
    """

    of_columns = False

    def __init__(self, least: int, most: float, *, whole: bool, words: Sequence[str] = ()) -> None:
        super().__init__()
        self.least, self.most, self.whole, self.words = least, most, whole, tuple(words)

    def check(self, name: str, value: Any) -> Any:
        value = super().check(name, value)
        return {column: self._check_limit(name, column, limit) for column, limit in value.items()} if value else None

    def _check_limit(self, name: str, column: Any, value: Any) -> Any:
        """Return the bound of a column, a number or a word and a number; raise ParameterError if it is neither."""
        word, number = value if isinstance(value, (tuple, list)) and len(value) == 2 else (None, value)
        is_formed = word in self.words if word is not None else not isinstance(value, (tuple, list))
        fits = is_formed and (is_whole(number) if self.whole and word is None else is_real(number))
        if not fits or not self.least <= number <= self.most:
            upper = "" if math.isinf(self.most) else f" and at most {self.most:g}"
            pairs = "".join(f", or ({word!r}, a number of at least {self.least})" for word in self.words)
            raise ParameterError(
                f"{name} of {column!r} must be a {'whole ' if self.whole else ''}number of at least {self.least}{upper}"
                f"{pairs}, not {value!r}."
            )
        if word is not None:
            return word, float(number)
        return int(number) if self.whole else float(number)

    def read(self, value: Any) -> Any:
        return None if value is None else self.check("", super().read(value))

    def in_shell(self, value: Any) -> list[str]:
        """Texts COLUMN=NUMBER or COLUMN=WORD:NUMBER, one for each column."""
        pairs = {column: limit if isinstance(limit, (list, tuple)) else (limit,) for column, limit in value.items()}
        return [f"{column}={':'.join(map(str, limit))}" for column, limit in pairs.items()]

    def of_shell(self, name: str, texts: Any, names: Mapping[str, Any]) -> Any:
        return self.check(name, {column: self._number(text) for column, text in _column_values(name, texts, names)})

    def _number(self, text: str) -> Any:
        word, sign, after = text.rpartition(":")
        try:
            number = int(after) if self.whole and not sign else float(after)
        except ValueError:
            return text
        return (word, number) if sign else number
