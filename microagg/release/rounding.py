"""Means and medians in the form in which the file has its numbers: as many decimals, and whole ones as integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_integer_dtype

from microagg.validation import FloatArray

#: Whether means and medians are left as they are, or rounded as the file has its numbers.
ROUNDINGS = ("none", "file")

#: Numbers with more decimals than this were computed, and are not rounded.
MOST_DECIMALS = 9


def decimals(numbers: NDArray[Any]) -> int | None:
    """Return with how many decimals all ``numbers``, shape (n,), can be written; None if more than MOST_DECIMALS.

    ``numbers`` are in the type of their column, without missing values: 0.1 of 32 bits has one decimal.
    """
    if np.issubdtype(numbers.dtype, np.integer):
        return 0
    wide = numbers.astype(np.float64)
    for places in range(MOST_DECIMALS + 1):
        if (np.round(wide, places).astype(numbers.dtype) == numbers).all():
            return places
    return None


def rounded(chosen: FloatArray, series: pd.Series[Any], numbers: NDArray[Any]) -> FloatArray:
    """Return ``chosen``, what replaces the values of a column, with as many decimals as these have, half to even.

    ``numbers``, shape (n,), are the values of the column ``series`` in their own type. Shares of booleans are not
    rounded, and neither is what replaces numbers with more than :data:`MOST_DECIMALS` decimals.
    """
    places = None if is_bool_dtype(series) else decimals(numbers)
    # Adding 0 turns -0.0, which is what -0.3 is rounded to, into 0.0.
    return chosen if places is None else np.round(chosen, places) + 0.0


def in_own_type(chosen: pd.Series[Any], series: pd.Series[Any]) -> pd.Series[Any]:
    """Return whole numbers in the integer type of the column ``series`` that they replace, if they fit into it.

    Where that column is not of integers, they stay float64.
    """
    if not is_integer_dtype(series):
        return chosen
    own: Any = series.dtype
    limits = np.iinfo(getattr(own, "numpy_dtype", own))
    # Compared as Python numbers: numpy would round the largest integer of 64 bits up to one that does not fit.
    fits = limits.min <= float(chosen.min()) and float(chosen.max()) <= limits.max
    return chosen.astype(series.dtype) if fits else chosen
