from . import generalization as generalization, risk as risk, utility as utility
from .loss import (
    group_sse as group_sse,
    grouped_alike as grouped_alike,
    information_loss as information_loss,
    matched_groups as matched_groups,
    record_sse as record_sse,
    sse as sse,
    sst as sst,
)
from .loss_contributions import (
    Losing as Losing,
    attribute_shares as attribute_shares,
    cumulated as cumulated,
    groups_losing_most as groups_losing_most,
    record_shares as record_shares,
    records_losing_most as records_losing_most,
)
