"""Releases of a file: :func:`microaggregate` makes one, :func:`replay` makes it again from its recipe."""

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
    "try_remedies",
]
