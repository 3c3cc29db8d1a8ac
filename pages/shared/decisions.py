"""Decisions on files and columns: as an address or a project holds them, and those that suggestions for columns need."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from microagg.columns import Column, numerals
from microagg.columns.schema import check_levels
from microagg.columns.taxonomy import Taxonomy
from microagg.release.choices import OPTIONS
from microagg.release.column_counts import Following
from microagg.release.options import Mapped, is_literal, recode_parts
from microagg.tables import read_file

_ARGUMENTS = {name: parameter.default for name, parameter in inspect.signature(read_file).parameters.items()}

# Earlier words for the roles and kinds of columns, in links and projects.
_OLD_ROLES = {
    "identifier": "identifiers",
    "quasi-identifier": "quasi_identifiers",
    "stratum": "strata",
    "weight": "weights",
    "other": "others",
}
_OLD_KINDS = {
    "number": ("numeric", ""),
    "comma": ("numeric", numerals.COMMA),
    "date": ("numeric", "day"),
    "year": ("numeric", "year"),
    "day-first": ("numeric", "day d/m"),
    "month-first": ("numeric", "day m/d"),
    "day-first-year": ("numeric", "year d/m"),
    "month-first-year": ("numeric", "year m/d"),
    "ordered": ("ordinal", ""),
    "category": ("nominal", ""),
}


def argument(text: str) -> str:
    """Return ``text`` if it is NAME=JSON with an argument of the file reader and a valid value, else raise ValueError."""
    name, _, written = text.partition("=")
    value, usual = json.loads(written), _ARGUMENTS.get(name)
    kind = list if name == "missing" else bool if name == "header" else str if usual is None else type(usual)
    is_listed = name in _ARGUMENTS and name not in ("source", "name", "max_cells")
    fits = all(isinstance(cell, str) for cell in value) if kind is list else kind is not int or 0 <= value < 1e9
    if not is_listed or type(value) is not kind or not fits:
        raise ValueError
    return text


def option_of_column(text: str) -> str:
    """Return ``text`` if it is OPTION.DIGEST:JSON with an option's value for a column: [column, value]."""
    head, _, written = text.partition(":")
    option = {each.name: each for each in OPTIONS}[head.partition(".")[0]]
    pair = json.loads(written)
    of_columns = isinstance(option.kind, Mapped) and option.kind.of_columns
    if not of_columns or not is_literal(pair) or not isinstance(pair[0], str) or not option.kind.has_form([pair]):
        raise ValueError
    if option.name == "taxonomies":
        Taxonomy.from_nested(pair[1])
    elif option.name == "ordinal":
        check_levels(*pair)
    return text


def recoding(text: str) -> str:
    """Return ``text`` if it is COLUMN=VALUE=NEW."""
    if len(recode_parts(text)) != 3:
        raise ValueError
    return text


class Entry(NamedTuple):
    """What the address says of a column: decisions, or the value of one option of a release."""

    name: str
    digest: str  # of the column's type and values; old entries have none
    changes: dict[str, Any]


def decision_of(text: str) -> Entry:
    """Read a decision, ``role.kind.gaps.codes.digest.form:name``, in which parts may be empty or left out at the end."""
    parts, _, name = text.partition(":")
    role, kind, gaps, codes, digest, form = (*parts.split(".", 5), "", "", "", "", "")[:6]
    role, (kind, form) = _OLD_ROLES.get(role, role), _OLD_KINDS.get(kind, (kind, form))
    return Entry(name, digest, {"role": role, "kind": kind, "form": form, "gaps": gaps, "codes": codes == "1"})


def entry_of(text: str) -> Entry:
    """Read the value of an option, ``option.digest:[name, value]``."""
    parts, _, pair = text.partition(":")
    option, _, digest = parts.partition(".")
    name, value = json.loads(pair)
    return Entry(name, digest, {option: value})


def consistent(all_columns: Mapping[str, Column], pairs: Iterable[Following]) -> dict[str, Column]:
    """Return the columns without quasi-identifiers that follow from a confidential column.

    A release has confidential columns as they are, so they would reveal the quasi-identifier, and block it.
    """
    adjusted = dict(all_columns)
    for pair in sorted(pairs, key=lambda pair: not pair.mutual):
        how = " one to one" if pair.mutual else ""
        for name, source in ((pair.column, pair.source), (pair.source, pair.column))[: 1 + pair.mutual]:
            column = adjusted[str(name)]
            if column.is_quasi_identifier and all_columns[str(source)].role == "confidential":
                reason = (
                    f"follows from {source!r}{how}, which is confidential: leave it out, or give both the same role"
                )
                reasons = (reason, *column.reasons[1:])
                adjusted[str(name)] = replace(column, role="identifiers", unsure=True, reasons=reasons)
    return adjusted


def sources(all_columns: Mapping[str, Column], pairs: Iterable[Following]) -> dict[str, str]:
    """Return the columns that follow from another one which is not left out, with a sentence on that."""
    sentences: dict[str, str] = {}
    for pair in sorted(pairs, key=lambda pair: not pair.mutual):
        if all_columns[str(pair.source)].role != "identifiers":
            sentences.setdefault(str(pair.column), pair.sentence)
    return sentences


def doubts(all_columns: Mapping[str, Column], lost: Mapping[str, str], following: Mapping[str, str]) -> dict[str, str]:
    """Return the columns whose suggestions need a decision, with the reason; ``lost`` would be lost as a whole."""
    reasons = {}
    for name, column in all_columns.items():
        if column.may_be_numbers or column.may_be_dates:
            reasons[name] = _joined(_reasons(column)[::-1])
        elif name in lost:
            reasons[name] = lost[name]
        elif name in following and column.role != "identifiers":
            reasons[name] = following[name]
        elif column.needs_decision:
            # Questions on the values come last.
            reasons[name] = _joined(_reasons(column) if column.unsure else _reasons(column)[::-1])
    return reasons


def reason(column: Column) -> str:
    return _joined(_reasons(column))


def _joined(reasons: Sequence[str]) -> str:
    """Join reasons; a question ends its sentence."""
    return re.sub(r"\?; (.)", lambda match: f"? {match[1].upper()}", "; ".join(reasons))


def _reasons(column: Column) -> tuple[str, ...]:
    """Return the reasons of a suggestion without the last one, which counts missing values, if there are any."""
    return column.reasons[:-1] if column.n_empty else column.reasons
