"""Options of a release: what an option is, and the kinds of their values."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from microagg.columns.gaps import GAPS
from microagg.errors import ParameterError
from microagg.partition import canonical_labels
from microagg.validation import check_choice, check_labels, is_whole, plain

# How deep what a recipe holds may be nested: a taxonomy has fewer levels.
_DEEPEST = 64


def is_literal(value: Any, depth: int = 0) -> bool:
    """Whether a value is made of what JSON can hold, and not nested deeper than taxonomies are."""
    if value is None or isinstance(value, (str, bool, int)):
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, (str, int)) and is_literal(below, depth + 1) for key, below in value.items())
    return isinstance(value, (list, tuple)) and all(is_literal(item, depth + 1) for item in value)


def _is_named(pair: Any) -> bool:
    return isinstance(pair, (list, tuple)) and len(pair) == 2 and isinstance(pair[0], (str, int))


def _are_names(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(name, (str, int)) for name in value)


class Kind:
    """What the values of an option are: how they are checked, and what a recipe holds of them.

    ``shell`` says how a shell is told: "word", "whole", "switch", "columns", "column" or "pairs"; empty if it cannot.
    ``of_columns`` says whether it says what columns are.
    """

    shell = ""
    of_columns = False

    def described(self, default: Any) -> str:
        """Return the kind in the words of a docstring."""
        raise NotImplementedError

    def check(self, name: str, value: Any) -> Any:
        """Return the value as it is used; raise :class:`ParameterError` if it is none. What columns are is checked with
        the file.
        """
        return value

    def written(self, value: Any) -> Any:
        """Return a checked value as a recipe holds it, made of what JSON can hold."""
        return value

    def has_form(self, value: Any) -> bool:
        """Whether a recipe may hold this, which is a literal."""
        raise NotImplementedError

    def read(self, value: Any) -> Any:
        """Return what a recipe holds as it is given."""
        return value


@dataclass(frozen=True)
class Word(Kind):
    """One of some words."""

    words: tuple[str, ...]
    shell = "word"

    def described(self, default: Any) -> str:
        """Return the words."""
        words = ", ".join(f'"{word}"' for word in self.words)
        return f'{{{words}}}, default "{default}"'

    def check(self, name: str, value: Any) -> Any:
        """Return the word."""
        check_choice(name, value, self.words)
        return value

    def has_form(self, value: Any) -> bool:
        """Whether it is one of the words."""
        return isinstance(value, str) and value in self.words


class YesNo(Kind):
    """True or False."""

    shell = "switch"

    def described(self, default: Any) -> str:
        """Return the type and the default."""
        return f"bool, default {default}"

    def check(self, name: str, value: Any) -> Any:
        """Return it as a bool of Python."""
        if not isinstance(value, (bool, np.bool_)):
            raise ParameterError(f"{name} must be True or False, not {value!r}.")
        return bool(value)

    def has_form(self, value: Any) -> bool:
        """Whether it is one of the two."""
        return isinstance(value, bool)


class Seed(Kind):
    """A whole number of at least 0 that a generator begins with, or None."""

    shell = "whole"

    def described(self, default: Any) -> str:
        """Return the type."""
        return "int, optional"

    def check(self, name: str, value: Any) -> Any:
        """Return it as an int of Python."""
        if value is not None and (not is_whole(value) or value < 0):
            raise ParameterError(f"{name} must be a whole number of at least 0 or None, not {value!r}.")
        return None if value is None else int(value)

    def has_form(self, value: Any) -> bool:
        """Whether it is such a number or None."""
        return value is None or (is_whole(value) and value >= 0)


class Groups(Kind):
    """A group for each record, as numbers, or None."""

    def described(self, default: Any) -> str:
        """Return the type."""
        return "array of int, shape (n released records,), optional"

    def check(self, name: str, value: Any) -> Any:
        """Return them as an array of integers."""
        return None if value is None else check_labels(value)

    def written(self, value: Any) -> Any:
        """Return them numbered in the order in which they appear."""
        return None if value is None else canonical_labels(value).tolist()

    def has_form(self, value: Any) -> bool:
        """Whether they are whole numbers, or None."""
        return value is None or (isinstance(value, (list, tuple)) and all(map(is_whole, value)))


class Columns(Kind):
    """Names of columns."""

    shell = "columns"
    of_columns = True

    def described(self, default: Any) -> str:
        """Return the type."""
        return "column name or collection of them, optional"

    def written(self, value: Any) -> Any:
        """Return a list of names."""
        return plain(value)

    def has_form(self, value: Any) -> bool:
        """Whether it is a list of names."""
        return _are_names(value)


class Column(Kind):
    """The name of a column, or None."""

    shell = "column"
    of_columns = True

    def described(self, default: Any) -> str:
        """Return the type."""
        return "column name, optional"

    def written(self, value: Any) -> Any:
        """Return the name."""
        return plain(value)

    def has_form(self, value: Any) -> bool:
        """Whether it is a name or None."""
        return value is None or isinstance(value, str) or is_whole(value)


@dataclass(frozen=True)
class Mapped(Kind):
    """Something about each of some columns.

    A recipe holds pairs: a column may be called by a number, which no key in JSON can be. Where ``named``, columns may
    be only named, too, which then means ``usual``. ``words`` says what a shell gives for a column: one "word", a "list"
    of them with commas between, "several", each by a flag of its own, or the name of a "file", or none.
    """

    named: bool = False
    usual: Any = None
    words: str = "word"
    shell = "pairs"
    of_columns = True

    def check(self, name: str, value: Any) -> Any:
        """Return the mapping."""
        if not self.named and value is not None and not isinstance(value, Mapping):
            raise ParameterError(f"{name} must map column names to {name}, not be {value!r}: write {{'column': ...}}.")
        return value

    def written(self, value: Any) -> Any:
        """Return pairs, or only the names where nothing is said of any column."""
        names_alone = self.named and not (isinstance(value, Mapping) and any(value.values()))
        return plain(list(value if names_alone else value.items()))

    def has_form(self, value: Any) -> bool:
        """Whether they are pairs, a mapping, or names where these will do."""
        if isinstance(value, Mapping):
            return True
        return isinstance(value, (list, tuple)) and (all(map(_is_named, value)) or (self.named and _are_names(value)))

    def read(self, value: Any) -> Any:
        """Return the mapping, or the names."""
        return value if self.named and value and _are_names(value) else dict(value)


class Gaps(Kind):
    """What is done about missing values: a word, or one for each of some columns."""

    shell = "pairs"

    def described(self, default: Any) -> str:
        """Return the words."""
        words = ", ".join(f'"{word}"' for word in GAPS)
        return f'{{{words}}} or mapping of column name to one of them, default "{default}"'

    def check(self, name: str, value: Any) -> Any:
        """Return the word or the mapping."""
        if not isinstance(value, Mapping):
            check_choice(name, value, GAPS)
        return value

    def written(self, value: Any) -> Any:
        """Return the word, or pairs."""
        return value if isinstance(value, str) else plain(list(value.items()))

    def has_form(self, value: Any) -> bool:
        """Whether it is one of the words, or pairs."""
        if isinstance(value, str):
            return value in GAPS
        return isinstance(value, Mapping) or (isinstance(value, (list, tuple)) and all(map(_is_named, value)))

    def read(self, value: Any) -> Any:
        """Return the word or the mapping."""
        return value if isinstance(value, str) else dict(value)


#: Recipes have held this from the first.
ALWAYS = object()


@dataclass(frozen=True)
class Option:
    """Something that can be chosen for a release.

    Attributes
    ----------
    name : str
        The keyword of :func:`microagg.microaggregate`, and the key of a recipe.
    kind : Kind
    default : object
    help : str
        What documentation says of it; the help of the shell has the first sentence.
    type : str
        Its type in a docstring, where the kind does not say it.
    flag, metavar : str
        A second flag of the shell, and how the shell's help calls its value.
    before : object
        What it was before recipes held it, as a recipe would; :data:`ALWAYS` if they always have.
    not_in_parts : str
        What to do instead where a release in parts cannot have it; empty if it can.
    in_report : bool
        Whether the report has words of its own for it.
    counted : tuple of str
        Of an option that holds values of the file, which no report may name: what the report calls it, and the noun by
        which it counts them.
    """

    name: str
    kind: Kind
    default: Any
    help: str
    type: str = ""
    flag: str = ""
    metavar: str = ""
    before: Any = ALWAYS
    not_in_parts: str = ""
    in_report: bool = True
    counted: tuple[str, ...] = ()

    def documented(self) -> str:
        """Return its part of a docstring."""
        text = textwrap.fill(self.help, 112, break_long_words=False, break_on_hyphens=False)
        return f"{self.name} : {self.type or self.kind.described(self.default)}\n{textwrap.indent(text, '    ')}"
