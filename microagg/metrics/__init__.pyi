from . import generalization as generalization, risk as risk, utility as utility
from .loss import (
    LargestLosses as LargestLosses,
    attribute_shares as attribute_shares,
    cumulated as cumulated,
    grouped_alike as grouped_alike,
    groups_losing_most as groups_losing_most,
    information_loss as information_loss,
    record_shares as record_shares,
    record_sse as record_sse,
    records_losing_most as records_losing_most,
    sse as sse,
    sst as sst,
)
