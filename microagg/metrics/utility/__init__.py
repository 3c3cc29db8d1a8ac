"""What analysts still get right from what is released in place of the originals.

Measures of one figure, each with its result, and with its description in :data:`MEASURES`:

- :func:`il1s` record by record, :func:`moments` for means, variances, quantiles, correlations and eigenvalues, both of
  numbers;
- :func:`hellinger` and :func:`wasserstein` for the distribution of each attribute, :func:`propensity` for all of them
  together, of numbers and of categories;
- :func:`prediction` for a target that somebody wants to predict.

The information loss IL is :func:`microagg.metrics.information_loss`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
