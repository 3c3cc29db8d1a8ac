"""The columns of the data set in use: suggested or declared at first, then as the user decides.

The address holds decisions and entries, each with a digest of its column: they hold only for that column.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Any, TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from microagg import DataError
from microagg import columns as package
from microagg.columns import Column, category_counts, guess_columns, numerals, summary
from microagg.columns.recodes import check_recodes, compose, near_duplicates, recoded
from microagg.columns.records import is_number
from microagg.columns.schema import Schema
from microagg.columns.taxonomy import Taxonomy, suggest_taxonomies
from microagg.release.choices import OPTIONS
from microagg.release.column_counts import Following, following
from microagg.release.options import recode_parts
from microagg.tables import digest_bytes
from microagg.validation import FloatArray
from pages.shared import decisions, state, tables
from pages.shared.decisions import Entry, decision_of, entry_of
from pages.shared.tables import Table

#: The titles of the roles.
ROLES = {
    "identifiers": "Identifier (left out)",
    "quasi_identifiers": "Quasi-identifier",
    "confidential": "Confidential",
    "strata": "Stratum",
    "weights": "Weight",
    "others": "Other",
}

_RECODE = next(option for option in OPTIONS if option.name == "recode")
MOST_SPELLED = 500  # values among which spelling variants are looked for
_DECIDED = "decided_columns"
_SURE = "sure"  # in the address: only those suggestions are accepted that leave no question open

Value = TypeVar("Value")


# --- what a column is -------------------------------------------------------------------------------------------------


@st.cache_resource(scope="session", max_entries=6, show_spinner="Looking at the columns …")
def _suggest_columns(identity: str, _table: Table) -> dict[str, Column]:
    labels = _table.variable_labels, _table.value_labels
    start = {column.name: column for column in guess_columns(_table.frame, _table.schema, *labels)}
    return start if _table.schema is not None else decisions.consistent(start, _following(_table))


@st.cache_resource(scope="session", max_entries=10_000, show_spinner=False)
def _compute_once(identity: str, subject: Hashable, _compute: Callable[[], Any]) -> Any:
    """Call ``_compute`` once for each table and ``subject``, and return its result."""
    return _compute()


def figures(table: Table, read: Schema | None = None) -> pd.DataFrame:
    """Return a summary of the columns by name; with ``read``, text read as numbers or dates counts as such."""

    def compute() -> pd.DataFrame:
        return summary(table.frame if read is None else read.read(table.frame)).set_axis(table.frame.columns)

    decided = read and (state.current().columns, state.current().agreed)
    return _compute_once(table.identity, ("summary", decided), compute)


def columns(table: Table) -> dict[str, Column]:
    """Return the columns of ``table`` by name, as decided so far."""
    choices = state.current()
    decided = (table.identity, choices.columns, choices.agreed)
    # A run of a page needs it often, and a file may have a thousand columns.
    before, all_columns = st.session_state.get(_DECIDED, ((), {}))
    if before != decided:
        all_columns = _apply_decisions(table, choices.columns, choices.agreed)
        st.session_state[_DECIDED] = decided, all_columns
    return all_columns


def _apply_decisions(table: Table, entries: tuple[str, ...], agreed: str) -> dict[str, Column]:
    """Return the columns after the decisions that the address holds as ``entries`` and ``agreed``."""
    all_columns = dict(_suggest_columns(table.identity, table))
    digest, _, scope = agreed.partition(".")
    if digest and digest == _digest(table):
        # A column that would be lost as a whole needs its own decision.
        open_ones = doubts(table) if scope == _SURE else _would_be_lost(table, all_columns)
        all_columns = {
            name: dataclasses.replace(column, decided=name not in open_ones) for name, column in all_columns.items()
        }
    for entry in map(decision_of, entries):
        if entry.name in all_columns and entry.changes["role"] in ROLES and _is_same(table, entry):
            all_columns[entry.name] = all_columns[entry.name].decide(**entry.changes)
    return all_columns


def _is_same(table: Table, entry: Entry) -> bool:
    """Whether the column of an entry has the entry's digest; old entries without one pass."""
    return not entry.digest or entry.digest == _column_digest(table, entry.name)


def _column_digest(table: Table, name: str) -> str:
    """Return a digest of a column's type and values, too short to reveal the values."""

    def compute() -> str:
        column = table.original.frame[name]
        values = pd.util.hash_pandas_object(column, index=False, categorize=True).to_numpy()
        return digest_bytes(f"{column.dtype}".encode() + values.tobytes())[:6]

    return _compute_once(table.original.identity, ("digest", name), compute)


def _entries() -> list[Entry]:
    return [*map(decision_of, state.current().columns), *map(entry_of, state.current().entered)]


def changed(table: Table) -> list[str]:
    """Return the columns that differ from those that were decided on."""
    names = [each.name for each in _entries() if each.name in table.frame and not _is_same(table, each)]
    return list(dict.fromkeys(names))


def is_agreed_of_another(table: Table) -> bool:
    """Whether the user accepted the suggestions for another file, or for this one read otherwise."""
    agreed = state.current().agreed.partition(".")[0]
    return bool(agreed) and agreed != _digest(table)


def unknown(table: Table) -> list[str]:
    return list(dict.fromkeys(entry.name for entry in _entries() if entry.name not in table.frame.columns))


def forget(table: Table) -> None:
    """Callback: forget the decisions in the address for missing or changed columns."""
    removed, choices = {*unknown(table), *changed(table)}, state.current()
    agreed = "" if is_agreed_of_another(table) else choices.agreed
    decided = tuple(text for text in choices.columns if decision_of(text).name not in removed)
    entered = tuple(text for text in choices.entered if entry_of(text).name not in removed)
    state.update(agreed=agreed, columns=decided, entered=entered, cut=False)


def take_over(table: Table) -> None:
    """Callback: repeat the earlier decisions for columns that have changed."""
    choices, again = state.current(), changed(table)
    for entry in map(decision_of, choices.columns):
        if entry.name in again and not _is_same(table, entry):
            decide(table, entry.name, **entry.changes)
    for entry in map(entry_of, choices.entered):
        if entry.name in again:
            [(option, value)] = entry.changes.items()
            enter(table, option, entry.name, value)


def _digest(table: Table) -> str:
    digests = (f"{name}\n{_column_digest(table, name)}" for name in table.frame.columns)
    return digest_bytes("\n".join(digests).encode("utf-8", "replace"))[:8]


def decide(table: Table, name: str, **changes: Any) -> None:
    column = columns(table)[name].decide(**changes)
    digest = _column_digest(table, name)
    form = f".{column.form}" if column.form else ""
    text = f"{column.role}.{column.kind}.{column.gaps}.{int(column.codes)}.{digest}{form}:{name}"
    state.update(columns=(*(old for old in state.current().columns if decision_of(old).name != name), text))


def agree(table: Table) -> None:
    """Accept all suggestions but those that would lose a whole column; a callback."""
    state.update(agreed=_digest(table))


def accept_sure(table: Table) -> None:
    """Accept the suggestions that leave no question open; a callback."""
    state.update(agreed=f"{_digest(table)}.{_SURE}")


def accept(table: Table, names: Iterable[str]) -> None:
    """Accept the suggestions for some columns; a callback."""
    for name in names:
        decide(table, name)


def doubts(table: Table) -> dict[str, str]:
    """Return the columns whose suggestions need a decision, whether it was made or not, with the reason."""
    if table.schema is not None:  # data sets declare their roles
        return {}
    start = _suggest_columns(table.identity, table)
    return decisions.doubts(start, _would_be_lost(table, start), _sources(table))


def _following(table: Table) -> list[Following]:
    return _compute_once(table.identity, "following", lambda: following(table.frame))


def _sources(table: Table) -> dict[str, str]:
    return decisions.sources(_suggest_columns(table.identity, table), _following(table))


def why(table: Table) -> dict[str, str]:
    """Return why each column has the role that is suggested, and what is to be decided of it."""
    declared = table.schema is not None
    usual = {
        name: "" if declared and column.role != "identifiers" else decisions.reason(column)
        for name, column in columns(table).items()
    }
    undecided_ones = set(undecided(table))
    open_doubts = {name: doubt for name, doubt in doubts(table).items() if name in undecided_ones}
    return usual | (_sources(table) if declared else {}) | open_doubts


def undecided(table: Table) -> list[str]:
    return [name for name, column in columns(table).items() if not column.decided]


def would_be_lost(table: Table) -> dict[str, str]:
    """Return the suggestions that would lose a whole column, with the reason."""
    return _would_be_lost(table, {name: column for name, column in columns(table).items() if not column.decided})


def _would_be_lost(table: Table, all_columns: Mapping[str, Column]) -> dict[str, str]:
    if table.schema is not None:  # data sets declare their roles
        return {}
    n = len(table.frame)
    nested = {name: tree for (option, name), tree in entered(table).items() if option == "taxonomies"}
    flat = {name: name not in nested or Taxonomy.of(nested[name]).is_flat for name in all_columns}
    reasons = {name: package.would_be_lost(each, n, flat=flat[name]) for name, each in all_columns.items()}
    return {name: why for name, why in reasons.items() if why}


def quasi_identifiers(table: Table) -> list[str]:
    return [name for name, column in columns(table).items() if column.is_quasi_identifier and column.kind]


def categorical(table: Table) -> list[str]:
    """Return the quasi-identifiers with an order or a taxonomy."""
    return [name for name, column in columns(table).items() if column.is_quasi_identifier and column.is_categorical]


def class_candidates(table: Table) -> list[str]:
    """Return the columns that can be the class: confidential or a stratum, with few values, none missing."""
    return [name for name, column in columns(table).items() if column.can_be_class]


def arguments(table: Table) -> dict[str, Any]:
    """Return the decisions on columns as arguments of :func:`microagg.microaggregate`."""
    all_columns = columns(table)
    kinds = {name: all_columns[name].kind for name in quasi_identifiers(table)}
    class_label = state.current().classes or (table.schema.classes if table.schema else None)
    options = package.arguments(
        table.frame,
        all_columns.values(),
        taxonomies={name: taxonomy_of(table, name) for name, kind in kinds.items() if kind == "nominal"},
        ordinal={name: levels_of(table, name) for name, kind in kinds.items() if kind == "ordinal"},
        # A column stops being a candidate when its role changes.
        classes=class_label if class_label in class_candidates(table) else None,
    )
    for (option, name), value in entered(table).items():
        # taxonomy_of and levels_of have used the entries of these two options.
        if option not in ("taxonomies", "ordinal"):
            options[option] = {**options.get(option, {}), name: value}
    return options


def guarantees(table: Table) -> dict[str, dict[str, Any]]:
    """Return the guarantees beyond k for confidential and shared columns, as arguments of :func:`microagg.microaggregate`."""
    release, secrets = state.current().release, confidential(table)
    shared = [name for name, column in columns(table).items() if column.role == "identifiers"]  # by households
    limits = {"diversity": (release.diversity, [*secrets, *shared]), "closeness": (release.closeness, secrets)}
    texts_of_columns = {
        option: [text for text in texts if state.column_of(text) in names] for option, (texts, names) in limits.items()
    }
    return {option: state.limits(option, texts) for option, texts in texts_of_columns.items() if texts}


def confidential(table: Table) -> list[str]:
    return [name for name, column in columns(table).items() if column.role == "confidential"]


# --- categories: their counts, orders and taxonomies ------------------------------------------------------------------


def _once(table: Table, name: str, find: Callable[[pd.Series], Value]) -> Value:
    """Call ``find`` once with the values of a column that are not missing, and return its result."""
    column = columns(table)[name]
    subject = find.__name__, name, column.kind, column.form, column.codes
    return _compute_once(table.identity, subject, lambda: find(column.present(table.frame[name])))


def counts(table: Table, name: str) -> dict[str, int]:
    """Return the number of records with each value of a column, ascending, in the form of taxonomies."""
    return _once(table, name, category_counts)


def alike(table: Table) -> dict[str, tuple[tuple[str, ...], ...]]:
    """Return sets of spelling variants for each column that has some."""
    names = [name for name, column in columns(table).items() if _is_spelled(column)]
    return {name: sets for name in names if (sets := _once(table, name, near_duplicates))}


def _is_spelled(column: Column) -> bool:
    """Whether spelling variants matter: categories to group on, and values counted in classes or strata."""
    if column.is_quasi_identifier:
        return column.is_categorical
    return column.role in ("confidential", "strata") and column.n_distinct <= MOST_SPELLED


def chosen_table() -> Table:
    """Return the chosen data set with recoded values. For errors see :func:`.tables.chosen_table`."""
    table = tables.chosen_table()
    recode = {name: changes for name, changes in recodes().items() if name in table.frame.columns}
    if not recode:
        return table
    recoding = _recode_arguments(table, recode)
    return _recoded(f"{table.identity} {recoding!r}", table, recoding)


def recode(name: str, changes: Mapping[str, str | None]) -> None:
    """Callback: recode values of a column on top of its earlier recoding."""
    set_recoding(name, compose(recodes().get(name, {}), changes))


def recodes() -> dict[str, dict[str, str | None]]:
    texts = state.current().recode
    names = {name: name for name in (recode_parts(text)[0] for text in texts)}
    return _RECODE.kind.of_shell("recode", texts, names) or {}


def set_recoding(column: str, changes: Mapping[str, str | None]) -> None:
    """Callback: replace the recoding of a column."""
    others = {name: recoding for name, recoding in recodes().items() if name != column}
    state.update(recode=tuple(_RECODE.kind.in_shell(others | ({column: changes} if changes else {}))))


def _recode_arguments(table: Table, recode: Mapping[str, Any]) -> dict[str, Any]:
    """Return recodings as arguments of :func:`microagg.microaggregate`, with those that read their text as numbers."""
    chosen = [column for name, column in columns(table).items() if name in recode]
    read = [each for each in chosen if each.as_numbers and each.role in ("quasi_identifiers", "weights")]
    options = {
        "recode": recode,
        "numbers": {each.name: each.form for each in read},
        "missing_codes": {each.name: each.missing_codes for each in read if each.missing_codes},
    }
    return {name: value for name, value in options.items() if value or name == "recode"}


@st.cache_resource(scope="session", max_entries=6, show_spinner=False)
def _recoded(identity: str, _table: Table, _recoding: Mapping[str, Any]) -> Table:
    frame, _ = recoded(_table.frame, check_recodes(_recoding["recode"]), _recoding)
    return dataclasses.replace(_table, frame=frame, identity=identity, before=_table, recoding=_recoding)


def numbers_of(table: Table, name: str) -> FloatArray | None:
    """Return the finite numbers of a column without missing-value codes, or None if it has none or also text."""
    column = columns(table)[name]

    def numbers(series: pd.Series) -> FloatArray:
        try:
            read = series if column.as_numbers is None else numerals.read(series, column.form)
        except DataError:
            return np.empty(0)
        values = read.to_numpy(dtype=float, na_value=np.nan)
        return values[np.isfinite(values)]

    numeric = is_number(table.frame[name].dtype) or column.as_numbers is not None
    finite = _once(table, name, numbers) if numeric else np.empty(0)
    return finite if len(finite) else None


def suggested(table: Table, name: str) -> tuple[tuple[str, Taxonomy], ...]:
    return _once(table, name, suggest_taxonomies)


def _flat(series: pd.Series) -> Taxonomy:
    return Taxonomy.flat(category_counts(series))


def entered(table: Table) -> dict[tuple[str, str], Any]:
    """Return the entries for columns, by option of a release and column, as recipes hold them."""

    def compute() -> dict[tuple[str, str], Any]:
        entries = [entry for entry in map(entry_of, texts) if entry.name in table.frame.columns]
        same = [entry for entry in entries if _is_same(table, entry)]
        return {(option, entry.name): value for entry in same for option, value in entry.changes.items()}

    texts = state.current().entered
    return _compute_once(table.identity, ("entered", texts), compute)


def enter(table: Table, option: str, name: str, value: Any) -> None:
    """Store the value of an option for a column in the form of recipes, or remove it with None."""
    texts = []
    for text in state.current().entered:
        entry = entry_of(text)
        if entry.name != name or option not in entry.changes:
            texts.append(text)
    if value is not None:
        pair = json.dumps([name, value], ensure_ascii=False)
        texts.append(f"{option}.{_column_digest(table, name)}:{pair}")
    state.update(entered=tuple(texts))


def is_entered(table: Table, name: str) -> bool:
    """Whether the order of a column was entered, or declared by the data set or the column's type."""
    ordered = bool(getattr(table.frame[name].dtype, "ordered", False))
    return ordered or ("ordinal", name) in entered(table) or bool(table.schema and name in table.schema.ordinal)


def levels_of(table: Table, name: str) -> tuple[str, ...]:
    """Return the order of a column's categories: as entered or declared, else ascending."""
    declared = table.schema.ordinal.get(name) if table.schema else None
    return tuple(entered(table).get(("ordinal", name)) or declared or counts(table, name))


def taxonomy_of(table: Table, name: str) -> Taxonomy:
    """Return the taxonomy of a column: as entered or declared, else flat."""
    nested = entered(table).get(("taxonomies", name))
    return Taxonomy.of(nested) if nested else declared_taxonomy(table, name) or _once(table, name, _flat)


def declared_taxonomy(table: Table, name: str) -> Taxonomy | None:
    return table.schema.taxonomies.get(name) if table.schema else None


def uncovered(table: Table, name: str) -> list[str]:
    """Return the values of a column that its taxonomy or order lacks."""
    column = columns(table)[name]
    if not column.is_categorical:
        return []
    covered = set(levels_of(table, name) if column.kind == "ordinal" else taxonomy_of(table, name).values)
    return [value for value in counts(table, name) if value not in covered]
