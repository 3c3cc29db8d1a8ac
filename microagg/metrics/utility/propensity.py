"""Utility by a model: whether it distinguishes released records from originals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from microagg.errors import DataError
from microagg.metrics.utility.columns import Table, pair_columns
from microagg.validation import FloatArray, IntArray

#: The maximum number of records that :func:`propensity` compares.
SAMPLE_COMPARED = 20_000

#: The maximum number of attributes of :func:`propensity`.
MOST_ATTRIBUTES = 1_000

# The maximum number of numeric attributes for products as terms of the model.
_MOST_IN_PRODUCTS = 10
# The number of categories of an attribute that are terms, the most frequent ones.
_MOST_TERMS = 20
# The minimum number of originals for each term of the model: with fewer it would memorize records.
_RECORDS_PER_TERM = 5


@dataclass(frozen=True)
class Propensity:
    """Result of :func:`propensity`.

    ``pmse`` is the propensity-score mean squared error, 0 to 0.25, and ``share`` its share of that, 0 to 1. ``n``
    records were compared.
    """

    pmse: float
    share: float
    n: int


def propensity(before: Table, after: Table, *, random_state: int = 0) -> Propensity:
    """Ability of a model to distinguish released records from originals: 0 if it cannot (low is good).

    A logistic regression predicts for each record of both tables the probability p of being released; pMSE is the mean
    of (p − ½)². Its terms are the numeric attributes, standardized, and their squares; for up to ten also the products
    of two, if there are five records for each term; and the 20 most frequent categories of other attributes. Other
    differences, such as values that occur k times, are not detected.

    Parameters
    ----------
    before, after : array of finite numbers, shape (n, d), or DataFrame
        Originals and release, in the same order; columns of a frame may hold categories. Of more than
        :data:`SAMPLE_COMPARED` records, so many are drawn by the seed ``random_state``.

    Raises
    ------
    DataError
        As :func:`microagg.metrics.utility.columns.pair_columns`; if no attribute varies, there are more than
        :data:`MOST_ATTRIBUTES`, or fewer than five records for each term.

    References
    ----------
    Woo, Reiter, Oganian & Karr (2009), Global measures of data utility for microdata masked for disclosure limitation.
    """
    columns = pair_columns(before, after, matched=True)
    if len(columns) > MOST_ATTRIBUTES:
        raise DataError(
            f"{len(columns):,} attributes are too many to tell originals and release apart by: compare at most "
            f"{MOST_ATTRIBUTES:,}."
        )
    n = len(columns[0].before)
    rows = np.arange(n)
    if n > SAMPLE_COMPARED:
        rows = np.random.default_rng(random_state).choice(n, SAMPLE_COMPARED, replace=False)
    both = [np.concatenate([column.before[rows], column.after[rows]]) for column in columns]
    numbers = _standardize([values for column, values in zip(columns, both, strict=True) if column.numeric])
    indicators: list[FloatArray] = []
    for column, values in zip(columns, both, strict=True):
        if not column.numeric:
            codes, counts = np.unique(values, return_counts=True)
            frequent = codes[np.argsort(-counts, kind="stable")][:_MOST_TERMS]
            indicators += [(values == code).astype(np.float64) for code in frequent[: len(codes) - 1]]
    scores = _scores(_terms(numbers, indicators, len(rows)), np.repeat([0, 1], len(rows)))
    pmse = float(np.square(scores - 0.5).mean())
    return Propensity(pmse, 4.0 * pmse, len(rows))


def _standardize(columns: Sequence[FloatArray]) -> list[FloatArray]:
    """Columns, each of shape (n,), with mean 0 and variance 1, without columns of one value."""
    # The smallest value is subtracted first: a large offset then costs no precision.
    centered = [values - values.min() for values in columns if (values != values[0]).any()]
    return [(values - values.mean()) / values.std() for values in centered if values.std() > 0.0]


def _terms(numbers: list[FloatArray], indicators: list[FloatArray], n: int) -> FloatArray:
    """Terms of the model for ``n`` originals, shape (2 n, terms)."""
    d = len(numbers)
    # The square of two values is redundant.
    squared = [j for j in range(d) if len(np.unique(numbers[j])) > 2]
    simple = d + len(squared) + len(indicators)
    if not simple:
        raise DataError("no attribute varies: there is nothing to tell originals and release apart by.")
    if n < _RECORDS_PER_TERM * simple:
        raise DataError(
            f"{n:,} records are too few to tell originals and release apart by {simple:,} terms, which takes "
            f"{_RECORDS_PER_TERM * simple:,}: compare fewer attributes."
        )
    with_products = d <= _MOST_IN_PRODUCTS and n >= _RECORDS_PER_TERM * (simple + d * (d - 1) // 2)
    pairs = [(j, j) for j in squared] + (list(combinations(range(d), 2)) if with_products else [])
    return np.column_stack(_standardize([*numbers, *(numbers[i] * numbers[j] for i, j in pairs), *indicators]))


def _scores(terms: FloatArray, released: IntArray) -> FloatArray:
    """Probability of each row of being released, by a logistic regression."""
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    # Practically without a penalty; if the terms separate the tables, probabilities tend towards 0 and 1.
    model = LogisticRegression(C=1e6, tol=1e-6, max_iter=500, solver="newton-cholesky")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", LinAlgWarning)  # redundant terms: the solver has a fallback
        return np.asarray(model.fit(terms, released).predict_proba(terms)[:, 1])
