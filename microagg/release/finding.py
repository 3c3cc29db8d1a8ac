"""A finding on a release, and the release with what its checks count more than once."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from microagg.columns.schema import ROLES, Schema
from microagg.metrics.risk.equivalence_classes import SmallClasses, coded, combined, small_classes
from microagg.release import column_counts
from microagg.release.column_counts import Rarity
from microagg.release.guarantees import Guarantee
from microagg.release.predicted_linkage import Predicted
from microagg.validation import MOST_NAMED, IntArray, check_choice, counted, listing, plain

#: What a finding asks for: not to release the file as it is, to think about it, or nothing.
LEVELS = ("stop", "warn", "ok")

#: A column identifies by itself if at least this share of its records has a value that fewer than k records have: far
#: more than have rare values at the ends of a distribution, far fewer than have weights or amounts of money, which are
#: nearly unique (of the records of Adult, 72 % have a weight that fewer than k = 3 have).
RARE = 0.2


@dataclass(frozen=True)
class Finding:
    """One matter that a steward must know of before releasing a file.

    Attributes
    ----------
    level : {"stop", "warn", "ok"}
        "stop": do not release the file like this. "warn": think about it, also where nobody could look. "ok": counted,
        and nothing is wrong. Another one is a :class:`ParameterError`.
    code : str
        The matter in one word, such as "identifying"; it does not change between versions.
    columns : tuple of column names
        Those that it concerns; empty where it concerns the whole file.
    text : str
        The reason in numbers, and what to do about it.
    """

    level: str
    code: str
    columns: tuple[Hashable, ...]
    text: str

    def __post_init__(self) -> None:
        check_choice("level", self.level, LEVELS)


@dataclass(frozen=True, eq=False)
class File:
    """A release with what is counted of it more than once."""

    released: pd.DataFrame
    original: pd.DataFrame
    schema: Schema
    k: int
    classes: IntArray
    secrets: Mapping[Hashable, pd.Series[Any]]
    n_dropped: int
    shuffled: Any
    guaranteed: Sequence[Guarantee]
    predicted: Sequence[Predicted] | None
    _coded: dict[Hashable, IntArray] = field(default_factory=dict)

    @property
    def n(self) -> int:
        """The number of released records."""
        return len(self.released)

    def codes(self, name: Hashable) -> IntArray:
        """Codes of the released values of a column, shape (n,)."""
        if name not in self._coded:
            self._coded[name] = coded(self.released[name])
        return self._coded[name]

    @property
    def rare_below(self) -> int:
        """A value that fewer records have is rare; with k of 1, one that only one record has."""
        return max(self.k, 2)

    @cached_property
    def undeclared(self) -> tuple[Hashable, ...]:
        """The released columns that have no role."""
        return undeclared(self.schema, self.released.columns)

    @cached_property
    def confidential(self) -> tuple[Hashable, ...]:
        """The confidential columns that are released."""
        return self._present(self.schema.confidential)

    @cached_property
    def others(self) -> tuple[Hashable, ...]:
        """The columns left as they are that have a role other than confidential."""
        weights = () if self.weights_of_classes else self.schema.columns("weights")
        return self._present((*self.schema.others, *weights))

    @property
    def unchanged(self) -> tuple[Hashable, ...]:
        """The columns left as they are."""
        return (*self.confidential, *self.others, *self.undeclared)

    @cached_property
    def weights_of_classes(self) -> bool:
        """Whether each class has one weight, which then tells no more than its quasi-identifiers."""
        names = self._present(self.schema.columns("weights"))
        return len(names) > 0 and bool(combined(self.classes, *map(self.codes, names)).max() == self.classes.max())

    def below(self, *names: Hashable) -> SmallClasses:
        """Count the records in classes of fewer than k for an intruder who also knows ``names``."""
        return small_classes(combined(self.classes, *map(self.codes, names)), self.k)

    def splitting(self, names: Sequence[Hashable]) -> dict[Hashable, SmallClasses]:
        """Return the columns each of which alone, with the quasi-identifiers, puts records in classes below k."""
        counts = {name: self.below(name) for name in names}
        return {name: count for name, count in counts.items() if count.records}

    def rare(self, names: Sequence[Hashable]) -> dict[Hashable, Rarity]:
        """Return the columns that identify by themselves."""
        counts = {name: column_counts.rarity(self.codes(name), self.rare_below) for name in names}
        return {name: count for name, count in counts.items() if count.rare and count.share >= RARE}

    def describe(self, count: SmallClasses) -> str:
        """Describe records in small classes, of all records."""
        return f"{count.records:,} of {counted(self.n, 'record')} ({count.unique:,} unique)"

    def _present(self, names: Sequence[Hashable]) -> tuple[Hashable, ...]:
        return tuple(name for name in names if name in self.released.columns)


def undeclared(schema: Schema, columns: Iterable[Hashable]) -> tuple[Hashable, ...]:
    """Return the ``columns`` of a release that have no role."""
    declared = {name for role in ROLES for name in schema.columns(role)}
    return tuple(name for name in columns if name not in declared)


def describe_alone(splitting: Mapping[Hashable, SmallClasses], names: Sequence[Hashable]) -> str:
    """Describe what columns do alone, as a sentence that follows others; nothing where there is only one."""
    if len(names) == 1:
        return ""
    if not splitting:
        return " None of them does so alone."
    each = [f"{plain(name)!r} {count.records:,} ({count.unique:,} unique)" for name, count in splitting.items()]
    return f" Each alone: {listing(each, MOST_NAMED)}."
