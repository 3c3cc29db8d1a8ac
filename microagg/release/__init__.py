"""Releases of a file: :func:`microaggregate` makes one, :func:`replay` makes it again from its recipe."""

from typing import TYPE_CHECKING

from microagg.lazy import loader

if TYPE_CHECKING:
    from microagg.release.anybodys import risks_of_file
    from microagg.release.api import microaggregate, replay
    from microagg.release.assessment import Assessment, Figure
    from microagg.release.changes import attribute_changes, correlation_changes, distribution
    from microagg.release.export import as_written, check_export
    from microagg.release.findings import Finding
    from microagg.release.recoding import CATEGORIES, STATISTICS
    from microagg.release.released import Release
    from microagg.release.remedies import Change, Remedy, loss_finding, try_remedies
    from microagg.release.report import Report
    from microagg.release.rounding import ROUNDINGS
    from microagg.release.weights import RELEASE_WEIGHTS

__all__ = [
    "CATEGORIES",
    "RELEASE_WEIGHTS",
    "ROUNDINGS",
    "STATISTICS",
    "Assessment",
    "Change",
    "Figure",
    "Finding",
    "Release",
    "Remedy",
    "Report",
    "as_written",
    "attribute_changes",
    "check_export",
    "correlation_changes",
    "distribution",
    "loss_finding",
    "microaggregate",
    "replay",
    "risks_of_file",
    "try_remedies",
]

# Where each name lives; "" for a module of its own.
_HOMES = {
    "risks_of_file": "anybodys",
    **dict.fromkeys(("microaggregate", "replay"), "api"),
    **dict.fromkeys(("Assessment", "Figure"), "assessment"),
    **dict.fromkeys(("attribute_changes", "correlation_changes", "distribution"), "changes"),
    **dict.fromkeys(("as_written", "check_export"), "export"),
    "Finding": "findings",
    **dict.fromkeys(("CATEGORIES", "STATISTICS"), "recoding"),
    "Release": "released",
    **dict.fromkeys(("Change", "Remedy", "loss_finding", "try_remedies"), "remedies"),
    "Report": "report",
    "ROUNDINGS": "rounding",
    "RELEASE_WEIGHTS": "weights",
}

__getattr__ = loader(__name__, _HOMES)
