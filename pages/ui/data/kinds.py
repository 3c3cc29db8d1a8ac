"""The state of the page Mixed data: what each column is, which records are compared, and what replaces their values.

Kinds, orders and taxonomies are edited live and stay in the session, for each table of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd
import streamlit as st
from pandas.api.types import is_bool_dtype, is_integer_dtype, is_numeric_dtype

from microagg import DataError
from microagg.records import Kind
from microagg.tables import digest_bytes
from microagg.taxonomy import Taxonomy, category
from pages.ui.data.tables import Table, is_category, is_recurrent

#: A column with more distinct values than this is not offered as the class.
MOST_CLASSES = 50

#: Numbers with more distinct values than this are not offered as categories.
MOST_CATEGORIES = 200

#: The largest file that is read as a taxonomy, in bytes.
MOST_TAXONOMY = 1 << 20


_SETUPS = "mixed_setups"


@dataclass(frozen=True)
class Setup:
    """What the user says a table's columns are.

    Attributes
    ----------
    quasi_identifiers : tuple of str
    identifiers : tuple of str
        The columns that a release leaves out.
    class_column : str or None
    kinds : mapping of column to kind
        Of every column that can be a quasi-identifier.
    levels : mapping of column to tuple of str
        The orders that were entered or that the data set declares.
    taxonomies : mapping of column to Taxonomy
        Likewise.
    """

    quasi_identifiers: tuple[str, ...]
    identifiers: tuple[str, ...] = ()
    class_column: str | None = None
    kinds: Mapping[str, Kind] = field(default_factory=dict)
    levels: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    taxonomies: Mapping[str, Taxonomy] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Equal digests say the same of the quasi-identifiers and the class."""
        said: list[object] = [self.class_column]
        for name in self.quasi_identifiers:
            said += [name, self.kinds[name], self.levels.get(name), self.taxonomies.get(name)]
        return digest_bytes(repr(said).encode())


# --- what a column can be ---------------------------------------------------------------------------------------------


def default_kind(series: pd.Series) -> Kind | None:
    """Return what a column is taken for at first; None if it cannot be a quasi-identifier."""
    if is_bool_dtype(series):
        return "nominal"
    if is_numeric_dtype(series):
        return "numeric" if series.dtype.kind != "c" else None
    if isinstance(series.dtype, pd.CategoricalDtype):
        return "ordinal" if series.dtype.ordered else "nominal"
    present = series.dropna()
    return "nominal" if len(present) and all(isinstance(value, str) for value in present) else None


@dataclass(frozen=True)
class Column:
    """How many distinct values a column has, and in how many records it is missing."""

    distinct: int
    missing: int


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _columns(identity: str, _frame: pd.DataFrame) -> dict[str, Column]:
    return {name: Column(int(_frame[name].nunique()), int(_frame[name].isna().sum())) for name in _frame.columns}


def columns(table: Table) -> dict[str, Column]:
    """Return the figures of each column."""
    return _columns(table.identity, table.frame)


def possible_kinds(table: Table, column: str) -> list[Kind]:
    """Return the kinds that a column can have, the one it is taken for first."""
    if default_kind(table.frame[column]) == "numeric":
        few = columns(table)[column].distinct <= MOST_CATEGORIES
        return ["numeric", "ordinal", "nominal"] if few else ["numeric"]
    return ["nominal", "ordinal"]


@st.cache_resource(scope="session", max_entries=200, show_spinner=False)
def _counts(identity: str, column: str, _frame: pd.DataFrame) -> dict[str, int]:
    series = _frame[column]
    number = series.value_counts().to_dict()
    if isinstance(series.dtype, pd.CategoricalDtype) and series.dtype.ordered:
        order = [value for value in series.cat.categories if number[value]]
    else:
        order = sorted(series.dropna().unique())
    found: dict[str, int] = {}
    for value in order:
        name = category(value)
        found[name] = found.get(name, 0) + int(number[value])
    return found


def counts(table: Table, column: str) -> dict[str, int]:
    """Return how many records have each value of a column; values as taxonomies write them, ascending."""
    return _counts(table.identity, column, table.frame)


def candidates(table: Table) -> list[str]:
    """Return the columns that can be quasi-identifiers."""
    return list(_start(table.identity, table).kinds)


def class_candidates(table: Table, setup: Setup) -> list[str]:
    """Return the columns that can be the class: neither quasi-identifiers nor left out, with few values."""
    taken = {*setup.quasi_identifiers, *setup.identifiers}
    return [
        column
        for column in table.frame.columns
        if column not in taken and 2 <= columns(table)[column].distinct <= MOST_CLASSES
    ]


@st.cache_resource(scope="session", max_entries=8, show_spinner=False)
def _start(identity: str, _table: Table) -> Setup:
    frame, schema = _table.frame, _table.schema
    kinds = {column: kind for column in frame.columns if (kind := default_kind(frame[column]))}
    if schema:
        kinds |= {str(attribute.name): attribute.kind for attribute in schema.attributes}
        return Setup(
            tuple(str(name) for name in schema.quasi_identifiers),
            tuple(str(name) for name in schema.identifiers),
            next((str(name) for name in schema.confidential if frame[name].nunique() <= MOST_CLASSES), None),
            kinds,
            {str(name): levels for name, levels in schema.ordinal.items()},
            {str(name): taxonomy for name, taxonomy in schema.taxonomies.items()},
        )
    identifiers = tuple(column for column in frame.columns if _names_records(frame[column]))
    return Setup(
        tuple(c for c, kind in kinds.items() if c not in identifiers and (kind == "numeric" or _recurs(frame[c]))),
        identifiers,
        None,
        kinds,
    )


def _recurs(series: pd.Series) -> bool:
    return is_category(series) or (isinstance(series.dtype, pd.CategoricalDtype) and is_recurrent(series))


def _names_records(series: pd.Series) -> bool:
    """Return whether each value occurs once, as names and numbers of records do."""
    if len(series) < 3 or not series.is_unique:
        return False
    if is_numeric_dtype(series):
        return is_integer_dtype(series) and len(series) > 20 and series.is_monotonic_increasing
    return default_kind(series) is not None


# --- what the user says -----------------------------------------------------------------------------------------------


def setup(table: Table) -> Setup:
    """Return what the user says of the columns of ``table``, or what is assumed at first."""
    return st.session_state.setdefault(_SETUPS, {}).get(table.identity) or _start(table.identity, table)


def change(table: Table, **changes: Any) -> None:
    """Change the setup of ``table``."""
    st.session_state[_SETUPS][table.identity] = dataclasses.replace(setup(table), **changes)


def levels_of(table: Table, column: str) -> tuple[str, ...]:
    """Return the order of an ordinal column: as entered, else ascending."""
    return setup(table).levels.get(column) or tuple(counts(table, column))


def taxonomy_of(table: Table, column: str) -> Taxonomy:
    """Return the taxonomy of a nominal column: as entered or declared, else flat."""
    return setup(table).taxonomies.get(column) or Taxonomy.flat(counts(table, column))


def uncovered(table: Table, column: str) -> list[str]:
    """Return the values of a categorical column that its taxonomy or order does not have."""
    kind = setup(table).kinds[column]
    if kind == "numeric":
        return []
    known = set(levels_of(table, column) if kind == "ordinal" else taxonomy_of(table, column).values)
    return [value for value in counts(table, column) if value not in known]


def with_values(taxonomy: Taxonomy, values: list[str]) -> str:
    """Return the text of ``taxonomy`` with further ``values`` below its root, as deep as the others."""
    below = (f"{'  ' * depth}{value}\n" for value in values for depth in range(1, taxonomy.height + 1))
    return taxonomy.to_text() + "".join(below)


def parse_levels(text: str) -> tuple[str, ...]:
    """Return the categories written one on a line.

    Raises
    ------
    DataError
        If there are none, or one stands there twice.
    """
    levels = tuple(line.strip() for line in text.splitlines() if line.strip())
    if not levels:
        raise DataError("the order is empty: write one category on each line, the lowest first.")
    if len(set(levels)) < len(levels):
        twice = next(level for level in levels if levels.count(level) > 1)
        raise DataError(f"the order has the category {twice!r} twice: name it once.")
    return levels


def read_taxonomy(name: str, content: bytes) -> Taxonomy:
    """Return the taxonomy in an uploaded file: nested JSON or indented text, as its name ends.

    Raises
    ------
    DataError
        If it is too large, not UTF-8, or no taxonomy.
    """
    if len(content) > MOST_TAXONOMY:
        raise DataError(f"the file {name!r} is larger than {MOST_TAXONOMY / 1e6:.0f} MB, so it is hardly a taxonomy.")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"the file {name!r} is not UTF-8 text: save it as such.") from None
    try:
        return Taxonomy.from_string(text, nested=name.lower().endswith(".json"))
    except DataError as error:
        raise DataError(f"in the file {name!r}, {error}") from None


def roles(table: Table, said: Setup) -> dict[str, Any]:
    """Return what ``said`` means to :func:`microagg.microaggregate` and :meth:`microagg.Schema.infer`, by argument."""
    kinds = {name: said.kinds[name] for name in said.quasi_identifiers}
    return {
        "quasi_identifiers": said.quasi_identifiers,
        "taxonomies": {name: taxonomy_of(table, name) for name, kind in kinds.items() if kind == "nominal"},
        "ordinal": {name: levels_of(table, name) for name, kind in kinds.items() if kind == "ordinal"},
    }
