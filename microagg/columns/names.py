"""What the name of a column says: its words, and the large surveys that have a column of this name.

The words stand in ``name_words.csv`` (English, German, Spanish, French), the names of surveys in ``survey_names.csv``;
anybody can extend both.
"""

from __future__ import annotations

import csv
import re
import unicodedata
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

PATH, _WORDS_PATH = (Path(__file__).with_name(f"{name}.csv") for name in ("survey_names", "name_words"))

#: Roles in that file besides those of a schema, with the latter: both need a word on the design of the sample.
PSU, REPLICATE_WEIGHTS = "psu", "replicate_weights"


def folded(text: str) -> str:
    """Text in small letters without accents: ``"Salud (Región)"`` becomes ``"salud (region)"``."""
    return text.lower() if text.isascii() else _without_accents(text).casefold()


def _without_accents(text: str) -> str:
    # Marks of scripts other than Latin, Greek and Cyrillic stay, as they change words; invisible ones go.
    letters = (letter for letter in unicodedata.normalize("NFKD", text) if not "\u0300" <= letter <= "\u036f")
    return "".join(letter for letter in letters if unicodedata.category(letter) != "Cf")


def parts(name: Hashable) -> tuple[str, ...]:
    """Words of a column's name, folded: ``"hh_weight2"`` and ``"HHWeight"`` have ``hh`` and ``weight``."""
    return _parts(str(name))


# Every rule examines the same name.
@lru_cache(maxsize=16)
def _parts(name: str) -> tuple[str, ...]:
    words = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+", _without_accents(name))
    return tuple(word.casefold() for word in words)


@dataclass(frozen=True)
class Words:
    """Words that indicate what a column is."""

    whole: frozenset[str]  # as they are or in the plural
    beginnings: tuple[str, ...] = ()
    labels: str = ""  # pattern of labels; empty if they have the same words as names

    def in_name(self, name: Hashable) -> str | None:
        """The first part of a column's name that is one of these words, None if there is none."""
        for part in parts(name):
            if part in self.whole or part.removesuffix("s") in self.whole or part.startswith(self.beginnings):
                return part
        return None

    def are_in_label(self, label: str) -> bool:
        """Whether the label of a column has some of these words."""
        return bool(re.search(self.labels, label, re.IGNORECASE) if self.labels else self.in_name(label))


@cache
def words(*groups: str) -> Words:
    """The words of some groups of the file."""
    rows = [row for row in _read(_WORDS_PATH) if row["group"] in groups]
    whole, beginnings = (" ".join(row[column] for row in rows).split() for column in ("words", "beginnings"))
    return Words(frozenset(whole), tuple(beginnings), "|".join(row["labels"] for row in rows if row["labels"]))


@cache
def _read(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


#: Numbers that an office or a file assigns; names and addresses of persons; codes, which are digits without a quantity.
NUMBERED, PERSONAL, CODE = words("numbered"), words("personal"), words("code")


@dataclass(frozen=True)
class KnownName:
    """A row of ``survey_names.csv``."""

    name: str  # folded; ``#`` stands for any digits, ``?`` for one letter
    survey: str
    role: str  # of a schema, :data:`PSU` or :data:`REPLICATE_WEIGHTS`
    kind: str  # one of :data:`microagg.columns.records.KINDS`, empty for identifiers and weights
    meaning: str
    alone: str  # "yes" if hardly any other file has this name; others count only beside one of the same survey
    source: str  # title and host of the codebook

    @property
    def sentence(self) -> str:
        """What the column is, for reasons."""
        return f"the name is that of {self.survey} for: {self.meaning}"


def known_names(columns: Iterable[Hashable]) -> dict[Hashable, KnownName]:
    """Columns of one file whose names a survey has, with the row of each: of a survey that the file seems to be of."""
    exact, patterns = _survey_names()
    rows_by_column = {}
    for column in columns:
        name = str(column).lower()
        rows_by_column[column] = exact.get(name) or [row for pattern, row in patterns if pattern.fullmatch(name)]
    surveys = {row.survey for rows in rows_by_column.values() for row in rows if row.alone == "yes"}
    fitting = {column: [row for row in rows if row.survey in surveys] for column, rows in rows_by_column.items()}
    return {column: rows[0] for column, rows in fitting.items() if rows}


@cache
def _survey_names() -> tuple[dict[str, tuple[KnownName, ...]], tuple[tuple[re.Pattern[str], KnownName], ...]]:
    """Rows by name, and those whose name is a pattern with it."""
    exact: dict[str, tuple[KnownName, ...]] = {}
    patterns = []
    for row in (KnownName(**row) for row in _read(PATH)):
        if {"#", "?"} & set(row.name):
            expression = re.escape(row.name).replace(r"\#", r"\d+").replace(r"\?", "[a-z]")
            patterns.append((re.compile(expression), row))
        else:
            exact[row.name] = (*exact.get(row.name, ()), row)
    return exact, tuple(patterns)
