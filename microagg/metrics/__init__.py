"""What a partition costs and guarantees."""

from typing import TYPE_CHECKING

from microagg.lazy import loader

if TYPE_CHECKING:
    from microagg.metrics import bounds, generalization, mixed_bounds, risk, utility
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
    "mixed_bounds",
    "record_shares",
    "record_sse",
    "records_losing_most",
    "risk",
    "sse",
    "sst",
    "utility",
]

# Where each name lives; "" for a module of its own.
_HOMES = {
    **dict.fromkeys(("bounds", "generalization", "mixed_bounds", "risk", "utility"), ""),
    "gap": "bounds",
    **dict.fromkeys(
        ("Losing", "attribute_shares", "cumulated", "groups_losing_most", "record_shares", "records_losing_most"),
        "losing",
    ),
    **dict.fromkeys(("group_sse", "information_loss", "record_sse", "sse", "sst"), "loss"),
    **dict.fromkeys(("grouped_alike", "matched_groups"), "overlap"),
}

__getattr__ = loader(__name__, _HOMES)
