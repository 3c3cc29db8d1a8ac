"""What a partition costs and guarantees."""

from microagg.metrics import bounds, generalization
from microagg.metrics.bounds import gap
from microagg.metrics.loss import group_sse, information_loss, record_sse, sse, sst

__all__ = ["bounds", "gap", "generalization", "group_sse", "information_loss", "record_sse", "sse", "sst"]
