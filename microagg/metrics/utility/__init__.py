"""What analysts still get right from what is released in place of the originals."""

from microagg.metrics.utility.changes import LEVELS, Moments, moments
from microagg.metrics.utility.deviations import IL1s, il1s
from microagg.metrics.utility.distributions import BINS, Distances, hellinger, wasserstein
from microagg.metrics.utility.propensity_score import Propensity, propensity

__all__ = [
    "BINS",
    "LEVELS",
    "Distances",
    "IL1s",
    "Moments",
    "Propensity",
    "hellinger",
    "il1s",
    "moments",
    "propensity",
    "wasserstein",
]
