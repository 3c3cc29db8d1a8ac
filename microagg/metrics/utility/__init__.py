"""What analysts still get right from what is released in place of the originals.

Measures of one figure, each with its result and what is to be said about it in :data:`MEASURES`:

- :func:`il1s` record by record, :func:`moments` for means, variances, quantiles, correlations and eigenvalues, both of
  numbers;
- :func:`hellinger` and :func:`wasserstein` for the distribution of each attribute, :func:`propensity` for all of them
  together, of numbers and of categories;
- :func:`prediction` for a target that somebody wants to predict.

The information loss IL is :func:`microagg.metrics.information_loss`.
"""

from typing import TYPE_CHECKING

from microagg.lazy import loader

if TYPE_CHECKING:
    from microagg.metrics.utility.changes import LEVELS, Moments, moments
    from microagg.metrics.utility.deviations import IL1s, il1s
    from microagg.metrics.utility.distributions import BINS, Distances, hellinger, wasserstein
    from microagg.metrics.utility.measures import MEASURES
    from microagg.metrics.utility.predicting import Prediction, prediction
    from microagg.metrics.utility.propensity_score import Propensity, propensity

__all__ = [
    "BINS",
    "LEVELS",
    "MEASURES",
    "Distances",
    "IL1s",
    "Moments",
    "Prediction",
    "Propensity",
    "hellinger",
    "il1s",
    "moments",
    "prediction",
    "propensity",
    "wasserstein",
]

# Where each name lives; "" for a module of its own.
_HOMES = {
    **dict.fromkeys(("LEVELS", "Moments", "moments"), "changes"),
    **dict.fromkeys(("IL1s", "il1s"), "deviations"),
    **dict.fromkeys(("BINS", "Distances", "hellinger", "wasserstein"), "distributions"),
    "MEASURES": "measures",
    **dict.fromkeys(("Prediction", "prediction"), "predicting"),
    **dict.fromkeys(("Propensity", "propensity"), "propensity_score"),
}

__getattr__ = loader(__name__, _HOMES)
