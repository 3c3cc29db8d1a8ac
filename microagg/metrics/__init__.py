"""What a partition costs and guarantees."""

from microagg.metrics import bounds, generalization, risk, utility
from microagg.metrics.bounds import gap
from microagg.metrics.losing import (
    Losing,
    attribute_shares,
    cumulated,
    groups_losing_most,
    record_shares,
    records_losing_most,
)
from microagg.metrics.loss import group_sse, information_loss, record_sse, sse, sst
from microagg.metrics.overlap import grouped_alike, matched_groups

__all__ = [
    "Losing",
    "attribute_shares",
    "bounds",
    "cumulated",
    "gap",
    "generalization",
    "group_sse",
    "grouped_alike",
    "groups_losing_most",
    "information_loss",
    "matched_groups",
    "record_shares",
    "record_sse",
    "records_losing_most",
    "risk",
    "sse",
    "sst",
    "utility",
]
