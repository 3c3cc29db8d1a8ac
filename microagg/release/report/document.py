"""The report as one HTML document, made of its contents."""

from __future__ import annotations

import importlib
import math
import shlex
from collections.abc import Mapping
from importlib import resources
from typing import Any

from microagg.errors import DataError
from microagg.optimum.formatting import in_unit, percent
from microagg.release.report import figures

# Of more attributes the table has those that lose most.
_MOST_ATTRIBUTES = 40

# A program of more characters stays folded on paper, as one has that names thousands of columns.
_MOST_PRINTED = 5_000

_LEVELS = {"stop": "Stop", "warn": "To think about", "ok": "In order"}
_BETTER = {"low": "lower is better", "high": "higher is better"}

# The columns of the table of attributes: heading, and what is in it.
_ATTRIBUTES = {
    "lost": ("Lost", "percent"),
    "sd_ratio": ("Standard deviation kept", "share"),
    "mean_change": ("Mean moves by (sd)", "number"),
    "quantile_change": ("A quantile moves by (sd)", "number"),
    "correlation_change": ("A correlation changes by", "number"),
    "hellinger": ("Hellinger distance", "number"),
    "interval_disclosure": ("Released near the original", "share"),
}


def document(contents: Mapping[str, Any]) -> str:
    """Return the report as HTML that needs no other file.

    Parameters
    ----------
    contents : mapping
        As :meth:`microagg.Release.to_dict` returns it.

    Raises
    ------
    DataError
        If Jinja2 or Matplotlib is not installed.
    """
    for module, package in (("jinja2", "Jinja2"), ("matplotlib", "Matplotlib")):
        try:
            importlib.import_module(module)
        except ImportError:
            raise DataError(
                f"the report as HTML needs the package {package}: install microagg[report], or write it by to_json."
            ) from None
    import jinja2

    files = resources.files(__package__)
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"written": _written, "percent": percent, "counted": "{:,}".format}
    template = environment.from_string(files.joinpath("report.html").read_text(encoding="utf-8"))
    return template.render(
        **contents,
        whole=len(contents["program"]["text"]) < _MOST_PRINTED,
        style=files.joinpath("report.css").read_text(encoding="utf-8"),
        drawn=_drawn(contents),
        check=_check(contents["file"]),
        levels=_LEVELS,
        better=_BETTER,
        findings=_findings(contents["report"]),
        attributes=_attributes(contents["assessment"]),
        ranges={measure["key"]: _range(measure) for measure in contents["measures"]},
    )


def _drawn(contents: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures by their names, empty texts where there is nothing to be drawn."""
    found = {"loss": "", "risk": "", "kept": ""}
    comparison, assessment = contents["comparison"], contents["assessment"]
    if comparison and comparison["rows"]:
        own = _own(contents)
        found["loss"] = figures.loss_against_k(comparison["rows"], own, "loss")
        if any(row.get("record_linkage") is not None for row in comparison["rows"]):
            found["risk"] = figures.risk_and_loss(comparison["rows"], own, "risk")
    if assessment:
        found["kept"] = figures.spreads_and_correlations(assessment["attributes"], "kept")
    return found


def _own(contents: Mapping[str, Any]) -> dict[str, Any]:
    """Return the row of the comparison that was chosen; what is known of the release if it is not among them."""
    chosen = [row for row in contents["comparison"]["rows"] if row["chosen"]]
    if chosen:
        return dict(chosen[0])
    report = contents["report"]
    # Where there are categories it is Total-IL that was compared.
    lost = report["generalization"] or report["loss"]
    return {"title": None, "k": report["k"], "information_loss": lost["information_loss"]}


def _check(file: Mapping[str, Any] | None) -> list[dict[str, str]]:
    """Return how the digest of the file is computed on each system."""
    name = file["name"] if file and file["name"] else "FILE"
    return [
        {"system": "Linux", "command": f"sha256sum -- {shlex.quote(name)}"},
        {"system": "macOS", "command": f"shasum -a 256 -- {shlex.quote(name)}"},
        {"system": "Windows", "command": f'certutil -hashfile "{name}" SHA256'},
    ]


def _findings(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the findings, the worst first, each with whether it was overridden."""
    found = [finding | {"accepted": finding in report["accepted"]} for finding in report["findings"]]
    return sorted(found, key=lambda finding: list(_LEVELS).index(finding["level"]))


def _attributes(assessment: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the table of attributes in words: headings and rows."""
    table = assessment["attributes"] if assessment else []
    shown = [name for name in _ATTRIBUTES if any(row.get(name) is not None for row in table)]
    return {
        "headings": [_ATTRIBUTES[name][0] for name in shown],
        "rows": [
            [str(row["attribute"]), *(_written(row.get(name), _ATTRIBUTES[name][1]) for name in shown)]
            for row in table[:_MOST_ATTRIBUTES]
        ],
        "more": max(len(table) - _MOST_ATTRIBUTES, 0),
    }


def _written(value: float | None, unit: str) -> str:
    """Return a figure in its unit; a dash where there is none."""
    return "–" if value is None else in_unit(value, unit)


def _range(measure: Mapping[str, Any]) -> str:
    """Return the lowest and the highest value of a measure in words."""
    low, high = (
        None if bound is None or math.isinf(bound) else _written(bound, measure["unit"]) for bound in measure["bounds"]
    )
    if low is None:
        return "any number" if high is None else f"at most {high}"
    return f"{low} or more" if high is None else f"from {low} to {high}"
