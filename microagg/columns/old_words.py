"""Earlier words for the roles and kinds of columns, in links, projects and calls; translated here and nowhere else."""

from __future__ import annotations

from microagg.columns import numerals

_ROLES = {
    "identifier": "identifiers",
    "quasi-identifier": "quasi_identifiers",
    "stratum": "strata",
    "weight": "weights",
    "other": "others",
}
_KINDS = {
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


def translated(role: str, kind: str, form: str) -> tuple[str, str, str]:
    """Role, kind and form in present words, which stay unchanged."""
    return (_ROLES.get(role, role), *_KINDS.get(kind, (kind, form)))
