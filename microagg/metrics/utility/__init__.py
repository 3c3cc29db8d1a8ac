"""What analysts still get right from what is released in place of the originals."""

from microagg.metrics.utility.changes import LEVELS, Moments, moments
from microagg.metrics.utility.deviations import IL1s, il1s

__all__ = ["LEVELS", "IL1s", "Moments", "il1s", "moments"]
