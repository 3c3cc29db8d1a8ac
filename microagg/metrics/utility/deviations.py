"""How far released values are from the originals, record by record."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.metrics.utility.pairs import Pair
from microagg.validation import FloatArray


@dataclass(frozen=True, eq=False)
class IL1s:
    """What :func:`il1s` returns.

    Attributes
    ----------
    value : float
        IL1s, 0 or more, without unit.
    attributes : array, shape (d,)
        That of each attribute by itself; 0 for those that hold one value only.
    """

    value: float
    attributes: FloatArray


def il1s(X: ArrayLike, released: ArrayLike) -> IL1s:
    """Return how far released values are from the originals on average, in √2 standard deviations; low is good.

    IL1s = Σ |x − x′| / (√2 s) / (n d), the sum over n records and d attributes; s is the standard deviation of the
    original attribute, of the population. Divided by n d it grows neither with the records nor with the attributes;
    some programs print the sum. It is 0 where nothing changes and has no upper bound, but where the means of groups
    are released it is at most 1/√2. Attributes that hold one value only have no part in it.

    Parameters
    ----------
    X, released : array of finite numbers, shape (n, d)
        Records and what is released in their place, in any units.

    Raises
    ------
    DataError
        As :meth:`microagg.metrics.utility.pairs.Pair.of`.

    References
    ----------
    Yancey, Winkler & Creecy (2002), Disclosure risk assessment in perturbative microdata protection;
    Mateo-Sanz, Domingo-Ferrer & Sebé (2005), Probabilistic information loss measures in confidentiality protection of
    continuous microdata.
    """
    pair = Pair.of(X, released)
    attributes = np.abs(pair.before - pair.after).mean(axis=0) / (math.sqrt(2.0) * pair.sd)
    return IL1s(pair.mean(attributes), attributes)
