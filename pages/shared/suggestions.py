"""Why a role is suggested for a column, and what a person has to decide of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from microagg.columns import Column
from microagg.release.column_counts import Following


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
                reason = f"follows from {source!r}{how}, which is confidential: leave it out, or give both one role"
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
