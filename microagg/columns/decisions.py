"""What somebody decided about the columns of a file, and how :func:`microagg.microaggregate` is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Self

import pandas as pd
from pandas.api.types import is_numeric_dtype

from microagg.columns.evidence import AsNumbers
from microagg.columns.guess import ROLES, ColumnGuess, guess_columns
from microagg.columns.schema import Schema
from microagg.columns.summary import category_counts
from microagg.columns.taxonomy import Taxonomy, category
from microagg.tables.frames import as_pandas
from microagg.validation import check_choice

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

#: A column with more distinct values than this is hardly the class that users of a release predict.
MOST_CLASSES = 50

# What the kinds of a schema's attributes, and the units of its dates, are called here.
_DECLARED_KINDS = {"numeric": "number", "ordinal": "ordered", "nominal": "category", "day": "date", "year": "year"}

_NOTHING: Mapping[Any, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Decision:
    """What a column is: guessed or declared at first (:meth:`of`), then as somebody decides (:meth:`decide`).

    Attributes
    ----------
    guess : ColumnGuess
    role : str
        One of :data:`microagg.columns.ROLES`.
    kind : str
        One of :attr:`kinds`; empty of a column that can be no quasi-identifier.
    gaps : str
        One of :attr:`possible_gaps`: what is done about missing values if it is a quasi-identifier.
    codes : bool
        Whether the :attr:`possible_codes` count as missing.
    decided : bool
        Whether somebody, or the data set itself, said so; otherwise it is a guess.
    """

    guess: ColumnGuess
    role: str
    kind: str
    gaps: str
    codes: bool
    decided: bool

    @classmethod
    def of(cls, guess: ColumnGuess, schema: Schema | None = None) -> Self:
        """Return what ``schema`` declares of a column, or what is guessed of it where there is no schema."""
        kind = "year" if guess.kind == "date" and guess.unit == "year" else guess.kind or ""
        if schema is None:
            # Whether 99999 is a number or stands for a missing value is asked; "n/a" can be nothing else.
            codes = guess.n_codes > 0 and not guess.doubtful
            return cls(guess, guess.role, kind, guess.gaps or "drop", codes, False)
        role = next((role for role, says in ROLES.items() if guess.name in schema.columns(says)), "other")
        for attribute in schema.attributes:
            if attribute.name == guess.name:
                kind = _DECLARED_KINDS[attribute.unit or attribute.kind]
        # The literature's figures for data sets with a schema are for the complete records.
        return cls(guess, role, kind, "drop", False, True)

    def decide(self, **changes: Any) -> Self:
        """Return what the column is after ``changes`` of ``role``, ``kind``, ``gaps`` or ``codes``.

        A kind or a treatment of gaps that the column cannot have is not taken; where the treatment so far does not fit
        the kind any more, the records are left out. Text that becomes numbers, or categories again, has other codes:
        what is no number counts as missing, unless ``codes`` say otherwise.

        Raises
        ------
        ParameterError
            If there is no such role.
        """
        check_choice("role", changes.get("role", self.role), tuple(ROLES))
        if changes.get("kind", self.kind) not in self.kinds:
            changes["kind"] = self.kind
        new = replace(self, **{"gaps": self.gaps, **changes}, decided=True)
        if new.as_numbers != self.as_numbers and "codes" not in changes:
            new = replace(new, codes=new.n_codes > 0 and (new.as_numbers is not None or not self.guess.doubtful))
        possible = new.possible_gaps
        return replace(new, gaps=next((gaps for gaps in (new.gaps, self.gaps) if gaps in possible), "drop"))

    @property
    def name(self) -> Any:
        """The name of the column."""
        return self.guess.name

    @property
    def is_quasi_identifier(self) -> bool:
        """Whether it is microaggregated, if it has a kind."""
        return self.role == "quasi-identifier"

    @property
    def is_number(self) -> bool:
        """Whether its values are numbers, or text that is read as such."""
        return self.kind in ("number", "comma")

    @property
    def as_numbers(self) -> AsNumbers | None:
        """How its text is read as numbers where its kind says that it is, None where that needs no saying."""
        offered = self.guess.as_numbers
        return offered[-1 if self.kind == "comma" else 0] if offered and self.is_number else None

    @property
    def is_categorical(self) -> bool:
        """Whether its values have an order or a taxonomy."""
        return self.kind in ("ordered", "category")

    @property
    def kinds(self) -> tuple[str, ...]:
        """Its possible kinds: ``number``, ``comma``, ``date`` (by the day), ``year``, ``ordered`` or ``category``.

        Where nothing shows what a comma is, it can be ``comma``, with a decimal comma, or ``number``, with a point.
        """
        further = {"comma": len(self.guess.as_numbers) > 1, "year": "date" in self.guess.kinds}
        known = ("number", "comma", "date", "year", "ordered", "category")
        return tuple(kind for kind in known if kind in self.guess.kinds or further.get(kind))

    @property
    def possible_gaps(self) -> tuple[str, ...]:
        """What can be done about gaps (:data:`microagg.columns.gaps.GAPS`); only a taxonomy takes one more."""
        return ("drop", "category", "impute") if self.kind == "category" else ("drop", "impute")

    @property
    def possible_codes(self) -> tuple[Any, ...]:
        """The values that look like codes for missing ones; of text that is read as numbers, all that are none."""
        return self.guess.missing_codes if self.as_numbers is None else self.as_numbers.missing_codes

    @property
    def n_codes(self) -> int:
        """The records that have one of the :attr:`possible_codes`."""
        return self.guess.n_codes if self.as_numbers is None else self.as_numbers.n_codes

    @property
    def n_missing(self) -> int:
        """The records in which it is missing, codes for missing counted where they are one."""
        return self.guess.n_missing + (self.n_codes if self.codes else 0)

    @property
    def missing_codes(self) -> tuple[str, ...]:
        """The values that count as missing, as taxonomies write them."""
        return tuple(category(value) for value in self.possible_codes) if self.codes else ()

    @property
    def can_be_class(self) -> bool:
        """Whether it can be the class: confidential or a stratum, with 2 to MOST_CLASSES values, none missing."""
        few = 2 <= self.guess.n_distinct <= MOST_CLASSES
        return self.role in ("confidential", "stratum") and few and not self.guess.n_missing

    def present(self, series: pd.Series[Any]) -> pd.Series[Any]:
        """Return the column without the cells that are codes for missing, where these count as such."""
        return series[~series.isin(self.possible_codes)] if self.codes else series


def first_decisions(
    frame: IntoDataFrame, schema: Schema | None = None, n_table: int | None = None
) -> dict[Any, Decision]:
    """Return what ``schema`` declares of each column of ``frame``, by name, or what is guessed without one.

    ``n_table`` is how many records the table has of which ``frame`` is a sample.

    Raises
    ------
    DataError
        If ``frame`` is not a table of pandas, polars or Arrow with unique column names on one level.
    """
    return {guess.name: Decision.of(guess, schema) for guess in guess_columns(frame, n_table)}


def arguments(
    frame: IntoDataFrame,
    decisions: Mapping[Any, Decision],
    *,
    taxonomies: Mapping[Any, Taxonomy] = _NOTHING,
    ordinal: Mapping[Any, Sequence[str]] = _NOTHING,
    classes: Any = None,
) -> dict[str, Any]:
    """Return ``decisions`` as the arguments of :func:`microagg.microaggregate` that say what columns are.

    Parameters
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
    decisions : mapping of column name to Decision
        The role of a column on which nobody decided is the guessed one. Of several columns of weights the first counts,
        the others are released as they are. Quasi-identifiers that can be none are left out.
    taxonomies, ordinal : mapping of column name to Taxonomy, and to categories from the lowest up
        Categories without a taxonomy stand side by side, those without an order are in ascending order; what is given
        for columns of other kinds is left out.
    classes : column name, optional

    Returns
    -------
    dict
        Without what is empty; so there is no ``quasi_identifiers`` where no column is one.
    """
    frame = as_pandas(frame)
    numeric = {name for name, dtype in zip(frame.columns, frame.dtypes, strict=True) if is_numeric_dtype(dtype)}
    of_role = {role: tuple(name for name, c in decisions.items() if c.role == role) for role in ROLES}
    chosen = {name: c for name, c in decisions.items() if c.is_quasi_identifier and c.kind}
    trees, orders = {}, {}
    for name, column in chosen.items():
        if column.kind == "category":
            trees[name] = taxonomies.get(name) or Taxonomy.flat(category_counts(column.present(frame[name])))
        elif column.kind == "ordered":
            orders[name] = ordinal.get(name) or tuple(category_counts(column.present(frame[name])))
    given: dict[str, Any] = {
        "quasi_identifiers": tuple(chosen),
        "confidential": of_role["confidential"],
        "identifiers": of_role["identifier"],
        "by": of_role["stratum"],
        "weights": next(iter(of_role["weight"]), None),
        "others": (*of_role["other"], *of_role["weight"][1:]),
        "classes": classes,
        "taxonomies": trees,
        "ordinal": orders,
        "dates": {n: "year" if c.kind == "year" else "day" for n, c in chosen.items() if c.kind in ("date", "year")},
        "numbers": {n: _notation(c) for n, c in chosen.items() if c.is_number and n not in numeric},
        "missing_codes": {n: c.missing_codes for n, c in chosen.items() if c.missing_codes},
        "missing": {n: c.gaps for n, c in chosen.items() if c.n_missing},
    }
    return {argument: value for argument, value in given.items() if value not in (None, (), {})}


def _notation(column: Decision) -> str | None:
    return None if column.as_numbers is None else column.as_numbers.notation
