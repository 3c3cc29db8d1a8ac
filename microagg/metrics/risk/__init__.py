"""Disclosure risk of a release: who can be found in it, and what can be learned of whom."""

from microagg.metrics.risk.diversity import Homogeneity, homogeneity
from microagg.metrics.risk.intervals import Intervals, interval_disclosure
from microagg.metrics.risk.linkage import Linkage, record_linkage
from microagg.metrics.risk.uniques import Uniqueness, uniqueness, uniqueness_with_each

__all__ = [
    "Homogeneity",
    "Intervals",
    "Linkage",
    "Uniqueness",
    "homogeneity",
    "interval_disclosure",
    "record_linkage",
    "uniqueness",
    "uniqueness_with_each",
]
