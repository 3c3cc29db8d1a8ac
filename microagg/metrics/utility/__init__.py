"""What analysts still get right from what is released in place of the originals."""

from microagg.metrics.utility.changes import LEVELS, Moments, moments
from microagg.metrics.utility.deviations import IL1s, il1s
from microagg.metrics.utility.distributions import BINS, Distances, hellinger, wasserstein

__all__ = ["BINS", "LEVELS", "Distances", "IL1s", "Moments", "hellinger", "il1s", "moments", "wasserstein"]
