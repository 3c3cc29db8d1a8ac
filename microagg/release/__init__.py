"""Releases of a file: :func:`microaggregate` makes one, :func:`replay` makes it again from its recipe."""

from microagg.release.api import Release, microaggregate, replay
from microagg.release.recoding import CATEGORIES, STATISTICS
from microagg.release.report import Report

__all__ = ["CATEGORIES", "STATISTICS", "Release", "Report", "microaggregate", "replay"]
