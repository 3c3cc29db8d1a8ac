"""Interval disclosure: how often an original value lies near the released one."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike, NDArray

from microagg.errors import ParameterError
from microagg.validation import FloatArray, check_choice, check_pair, is_real

#: What the width of an interval is measured in; see :func:`interval_disclosure`.
WIDTHS = ("rank", "sd")

# Of so many records a share that is a whole number but for rounding counts as that number.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Intervals:
    """How many original values lie in the interval around the released one.

    Attributes
    ----------
    attributes : array of float, shape (d,)
        Of each attribute, the share of the records of which it holds, from 0 to 1.
    share : float
        Their mean: the share of all values.
    all_attributes : float
        The share of the records of which it holds for each attribute.
    """

    attributes: FloatArray
    share: float
    all_attributes: float


def interval_disclosure(X: ArrayLike, released: ArrayLike, width: float, by: str = "rank") -> Intervals:
    """Return the share of values, 0 to 1 (lower is better), with the original inside an interval around the released.

    An intruder who has found a record knows such a value to within the interval. At 1 he can be sure of it for all.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other.
    width : float
        How far the interval reaches on each side, in what ``by`` says; above 0.
    by : {"rank", "sd"}
        "rank": the released values of an attribute are ranked, and the interval reaches from the value ``width`` · n
        ranks below to that ``width`` · n ranks above, ``width`` being at most 1; there are no values beyond the ends.
        Equal values have all their ranks, whatever their order: the lowest counts below, the highest above (Domingo-
        Ferrer, Mateo-Sanz & Torra 2001).
        "sd": ``width`` times the standard deviation of the original attribute (SDID of Mateo-Sanz, Sebé &
        Domingo-Ferrer 2004). sdcMicro's ``dRisk``, k = 0.05 by default, takes that of the release, which is smaller
        the more has been lost, and counts the records of which it holds for all attributes but at most one.

    Returns
    -------
    Intervals

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If the width or what it is measured in is out of its bounds.
    """
    original, masked = check_pair(X, released)
    check_choice("by", by, WIDTHS)
    _check_width(width, by)
    within = _within_ranks if by == "rank" else _within_deviations
    inside = np.column_stack([within(x, y, float(width)) for x, y in zip(original.T, masked.T, strict=True)])
    attributes = inside.mean(axis=0)
    return Intervals(attributes, float(attributes.mean()), float(inside.all(axis=1).mean()))


def _check_width(width: float, by: str) -> None:
    if not is_real(width) or not isfinite(width) or width <= 0.0:
        raise ParameterError(f"width must be a number above 0, not {width!r}.")
    if by == "rank" and width > 1.0:
        raise ParameterError(f"width must be at most 1, the share of the ranks on each side, not {width!r}.")


def _within_ranks(x: FloatArray, y: FloatArray, width: float) -> NDArray[np.bool_]:
    n = len(y)
    reach = int(width * n + _ROUNDING)
    ascending = np.sort(y)
    _, place, counts = np.unique(y, return_inverse=True, return_counts=True)
    after = np.cumsum(counts)
    lowest = ascending[np.maximum(after - counts - reach, 0)]
    highest = ascending[np.minimum(after - 1 + reach, n - 1)]
    inside: NDArray[np.bool_] = (lowest[place] <= x) & (x <= highest[place])
    return inside


def _within_deviations(x: FloatArray, y: FloatArray, width: float) -> NDArray[np.bool_]:
    inside: NDArray[np.bool_] = np.abs(x - y) <= width * x.std()
    return inside
