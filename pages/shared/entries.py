"""Entries of an address or a project that say how a file is read, or what options of a release say of a column."""

from __future__ import annotations

import inspect
import json
from typing import Any, NamedTuple

from microagg.columns import numerals
from microagg.columns.schema import check_levels
from microagg.columns.taxonomy import Taxonomy
from microagg.release.choices import OPTIONS
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
