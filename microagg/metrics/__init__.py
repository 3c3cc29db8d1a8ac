"""What a partition costs and guarantees."""

from microagg.metrics import bounds, generalization
from microagg.metrics.bounds import gap
from microagg.metrics.losing import Losing, groups_losing_most, record_shares, records_losing_most
from microagg.metrics.loss import group_sse, information_loss, record_sse, sse, sst

__all__ = [
    "Losing",
    "bounds",
    "gap",
    "generalization",
    "group_sse",
    "groups_losing_most",
    "information_loss",
    "record_shares",
    "record_sse",
    "records_losing_most",
    "sse",
    "sst",
]
