"""The report as one HTML document made of its contents: equal contents give equal text."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Mapping
from importlib import resources
from typing import Any

from microagg.errors import DataError
from microagg.optimum.formatting import in_unit, percent

# The maximum number of attributes in the table: the ones with the highest loss.
_MOST_ATTRIBUTES = 40

# The maximum number of methods in the table of losses: the ones with the lowest loss at the chosen k.
_MOST_METHODS = 8

_LEVELS = {"stop": "Problem", "warn": "Warning", "ok": "Passed"}
_BETTER = {"low": "lower is better", "high": "higher is better"}

# The columns of the table of attributes: heading and unit.
_ATTRIBUTES = {
    "lost": ("Information loss", "percent"),
    "sd_ratio": ("Standard deviation kept", "share"),
    "correlation_change": ("A correlation changes by", "number"),
    "hellinger": ("Hellinger distance", "number"),
    "interval_disclosure": ("Released near the original", "share"),
}


def document(contents: Mapping[str, Any]) -> str:
    """Render the contents of :meth:`microagg.Release.to_dict` as HTML that needs no other file.

    DataError if Jinja2 is not installed.
    """
    try:
        import jinja2
    except ImportError:
        raise DataError("the report as HTML needs the package Jinja2: install microagg[report].") from None

    files = resources.files(__package__)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"written": _format_figure, "percent": percent, "counted": "{:,}".format}
    report = contents["report"]
    findings = [finding | {"accepted": finding in report["accepted"]} for finding in report["findings"]]
    template = environment.from_string(files.joinpath("report.html").read_text(encoding="utf-8"))
    text = template.render(
        **contents,
        style=files.joinpath("report.css").read_text(encoding="utf-8"),
        losses=_losses(contents),
        shell_name=shlex.quote((contents["file"] or {}).get("name") or "FILE"),
        levels=_LEVELS,
        better=_BETTER,
        findings=sorted(findings, key=lambda finding: list(_LEVELS).index(finding["level"])),
        attributes=_attributes(contents["assessment"]),
        ranges={measure["key"]: _range(measure) for measure in contents["measures"]},
    )
    # A number and its unit stand in one line; commands stay as they are typed.
    return re.sub(r"(<code.*?</code>)|(?<=\d) %", lambda part: part[1] or "\u00a0%", text, flags=re.S)


def _losses(contents: Mapping[str, Any]) -> dict[str, Any] | None:
    """The table of the losses compared: a row for each k, a column for each method. None if nothing was compared."""
    if not contents["comparison"]:
        return None
    rows, chosen_k = contents["comparison"]["rows"], contents["report"]["k"]
    by_cell = {(row["k"], row["title"]): row for row in rows}
    here = {title: row["information_loss"] for (k, title), row in by_cell.items() if k == chosen_k}
    titles = sorted({row["title"] for row in rows}, key=lambda title: (here.get(title, math.inf), title))
    chosen = [row["title"] for row in rows if row["chosen"]]
    shown = list(dict.fromkeys([*chosen, *titles]))[:_MOST_METHODS]
    floors = {row["k"]: row["floor"] for row in rows if row.get("floor") is not None}
    return {
        "methods": shown,
        "more": len(titles) - len(shown),
        "has_floor": bool(floors),
        "rows": [
            {"k": k, "cells": [by_cell.get((k, title)) for title in shown], "floor": floors.get(k)}
            for k in sorted({row["k"] for row in rows})
        ],
    }


def _attributes(assessment: Mapping[str, Any] | None) -> dict[str, Any]:
    table = assessment["attributes"] if assessment else []
    columns = [name for name in _ATTRIBUTES if any(row.get(name) is not None for row in table)]
    return {
        "headings": [_ATTRIBUTES[name][0] for name in columns],
        "rows": [
            [str(row["attribute"]), *(_format_figure(row.get(name), _ATTRIBUTES[name][1]) for name in columns)]
            for row in table[:_MOST_ATTRIBUTES]
        ],
        "more": max(len(table) - _MOST_ATTRIBUTES, 0),
    }


def _format_figure(value: float | None, unit: str) -> str:
    """Format a figure in its unit. A dash for None."""
    return "–" if value is None else in_unit(value, unit)


def _range(measure: Mapping[str, Any]) -> str:
    """Lowest and highest value of a measure as text."""
    ends = (None if bound is None or math.isinf(bound) else bound for bound in measure["bounds"])
    low, high = (None if bound is None else in_unit(bound, measure["unit"]) for bound in ends)
    if low is None:
        return "any number" if high is None else f"at most {high}"
    return f"{low} or more" if high is None else f"from {low} to {high}"
