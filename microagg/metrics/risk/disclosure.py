"""Disclosure by released values: their distances from the originals, and records that dominate figures."""

from __future__ import annotations

from math import isfinite

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from microagg.errors import ParameterError
from microagg.partition import canonical_labels
from microagg.validation import FloatArray, check_finite, check_matrix, check_pair, is_real

# The prior-posterior rule: p, the minimum relative error of an estimate, and q, the prior relative error of the rest.
_P, _Q = 0.1, 0.5


def interval_disclosure(X: ArrayLike, released: ArrayLike, width: float) -> FloatArray:
    """Share of the records, 0 to 1 (lower is better), with the original in an interval around the released value.

    An intruder who identifies a record knows the value to within the interval, for certain if the share is 1.

    Parameters
    ----------
    X, released : arrays, shape (n, d)
        The originals and the release, record i of the one being record i of the other.
    width : float
        The width of the interval on each side, in standard deviations of the original attribute; above 0. sdcMicro's
        ``dRisk``, k = 0.05 by default, takes those of the release, which are smaller the more has been lost.

    Returns
    -------
    array of shape (d,)
        The share for each attribute.

    Raises
    ------
    DataError
        If X and the release are not finite numbers of the same shape.
    ParameterError
        If the width is not a number above 0.

    References
    ----------
    Mateo-Sanz, Sebé & Domingo-Ferrer 2004, Outlier protection in continuous microdata masking: SDID.
    """
    original, masked = check_pair(X, released)
    if not is_real(width) or not isfinite(width) or width <= 0.0:
        raise ParameterError(f"width must be a number above 0, not {width!r}.")
    return np.asarray((np.abs(original - masked) <= width * original.std(axis=0)).mean(axis=0))


def dominated(X: ArrayLike, labels: ArrayLike, weights: FloatArray | None = None) -> NDArray[np.bool_]:
    """Whether figures on each attribute reveal a value of it, by the prior-posterior rule (p, q).

    Figures add to a release the changes |x − median of its group|. A record dominates if an intruder who knows the next
    largest change, and the sum of the other squared ones to within q = 50 %, computes its value to within p = 10 % of
    its distance from the median of all, and the median of the group is farther from it than that.

    Parameters
    ----------
    X : array of finite numbers, shape (n, d)
        The originals, in any units.
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    weights : array, shape (n,), optional
        Above 0, if figures are weighted.

    Returns
    -------
    array of bool, shape (d,)

    Raises
    ------
    DataError
        If X holds anything but finite numbers, or labels are not whole numbers, one for each record.

    References
    ----------
    Hundepool, Domingo-Ferrer, Franconi, Giessing, Schulte Nordholt, Spicer & de Wolf (2012), Statistical disclosure
    control, Section 4.2.
    """
    groups = canonical_labels(labels)
    data = check_matrix(X, len(groups))
    check_finite(data)
    medians = pd.DataFrame(data).groupby(groups).median().to_numpy()
    change = np.abs(data - medians[groups])
    bound = np.minimum(_P * np.abs(data - np.median(data, axis=0)), change)
    largest = change.max(axis=0)
    change, bound = (values / np.where(largest > 0.0, largest, 1.0) for values in (change, bound))
    counts = np.ones((len(data), 1)) if weights is None else weights[:, np.newaxis]
    parts = counts * np.square(change)
    first, second_index = parts.max(axis=0), -min(2, len(data))
    second = np.partition(parts, second_index, axis=0)[second_index]
    rest = parts.sum(axis=0) - parts - np.where(parts == first, second, first)
    return np.asarray(((bound < change) & (_Q * rest < counts * bound * (2.0 * change + bound))).any(axis=0))
