"""Disclosure risk of a release: who can be found in it, and what can be learned of whom."""

from microagg.metrics.risk.linkage import Linkage, record_linkage

__all__ = ["Linkage", "record_linkage"]
