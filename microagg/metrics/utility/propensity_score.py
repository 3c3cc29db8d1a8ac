"""How well a model can tell released records from originals, by all attributes together."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from microagg.errors import DataError, ParameterError
from microagg.metrics.utility.columns import Column, Table, columns_of
from microagg.validation import FloatArray, IntArray, is_whole

#: How many originals, and as many released records, :func:`propensity` compares by default.
SAMPLE = 20_000

#: Of how many attributes at most.
MOST_ATTRIBUTES = 1_000

# Of so many numeric attributes at most products are terms of the model: of more they would be very many.
_MOST_IN_PRODUCTS = 10
# Categories of an attribute that are a term each, the most frequent ones.
_MOST_CATEGORIES = 20
# Originals for each term of the model: with fewer it would learn records by heart.
_RECORDS_PER_TERM = 5


@dataclass(frozen=True)
class Propensity:
    """What :func:`propensity` returns.

    Attributes
    ----------
    pmse : float
        The propensity-score mean squared error, 0 to c (1 − c), c being the share of released records: 0.25 where they
        are as many as the originals.
    share : float
        The same as a share of the most it can be, 0 to 1.
    ratio : float
        The same over what is expected where released records are drawn from a model of the originals that holds,
        (terms / N) (1 − c)² c for N records of both tables: 1 is as good as that, 2 as records of another sample.
    n, n_released : int
        How many originals and released records were compared.
    terms : int
        The terms of the model beside the constant.
    products : bool
        Whether products of two attributes are among them.
    """

    pmse: float
    share: float
    ratio: float
    n: int
    n_released: int
    terms: int
    products: bool


def propensity(before: Table, after: Table, *, sample: int = SAMPLE, random_state: int = 0) -> Propensity:
    """Return how well a model tells released records from originals: 0 if it cannot at all; low is good.

    A logistic regression predicts for each record of both tables the probability p of being a released one; pMSE is the
    mean of (p − c)², c being the share of released records. Its terms are the numeric attributes, standardized, and
    their squares; of up to ten also the products of two, if there are five originals for each term; and the 20 most
    frequent categories of other attributes. What these terms do not show, such as values that occur k times, is not
    noticed.

    Parameters
    ----------
    before, after : array of finite numbers, shape (n, d) and (m, d), or DataFrame
        Originals and release; columns of a frame may hold categories. If they have equally many records, these are
        taken to be in the same order.
    sample : int
        Of more records in a table so many are drawn, the same ones of both if they have equally many.
    random_state : int
        Of this draw.

    Returns
    -------
    Propensity

    Raises
    ------
    ParameterError
        If ``sample`` or ``random_state`` is not a whole number, of at least 1 and 0.
    DataError
        As :func:`microagg.metrics.utility.columns.columns_of`; if no attribute varies, there are more than
        :data:`MOST_ATTRIBUTES`, or fewer than five originals or released records for each term.

    References
    ----------
    Woo, Reiter, Oganian & Karr (2009), Global measures of data utility for microdata masked for disclosure limitation;
    Snoke, Raab, Nowok, Dibben & Slavkovic (2018), General and specific utility measures for synthetic data, for what is
    expected.
    """
    check_draw(sample, random_state)
    columns = _varying(columns_of(before, after))
    rows, rows_after = _drawn(columns[0], sample, random_state)
    n, m = len(rows), len(rows_after)
    numbers = _standardized([np.concatenate([c.before[rows], c.after[rows_after]]) for c in columns if c.numeric])
    indicators = _indicators([c for c in columns if not c.numeric], rows, rows_after)
    terms, products = _terms(numbers, indicators, min(n, m))
    scores = _scores(terms, np.repeat([0, 1], [n, m]))
    c = m / (n + m)
    pmse = float(np.square(scores - c).mean())
    expected = terms.shape[1] / (n + m) * (1.0 - c) ** 2 * c
    return Propensity(pmse, pmse / (c * (1.0 - c)), pmse / expected, n, m, terms.shape[1], products)


def check_draw(sample: int, random_state: int, least_sample: int = 1) -> None:
    """Raise :class:`ParameterError` unless both are whole numbers, of at least ``least_sample`` and 0."""
    for name, value, least in (("sample", sample, least_sample), ("random_state", random_state, 0)):
        if not is_whole(value) or value < least:
            raise ParameterError(f"{name} must be a whole number of at least {least}, not {value!r}.")


def _varying(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of more than one value, before or after."""
    if len(columns) > MOST_ATTRIBUTES:
        raise DataError(
            f"{len(columns):,} attributes are too many to tell originals and release apart by: pass at most "
            f"{MOST_ATTRIBUTES:,}."
        )
    found = [c for c in columns if (c.before != c.before[0]).any() or (c.after != c.before[0]).any()]
    if not found:
        raise DataError("no attribute varies: there is nothing to tell originals and release apart by.")
    return found


def _drawn(column: Column, sample: int, random_state: int) -> tuple[IntArray, IntArray]:
    """Return the positions of the originals and of the released records that are compared."""
    rng = np.random.default_rng(random_state)
    n, m = len(column.before), len(column.after)
    rows = rng.choice(n, sample, replace=False) if n > sample else np.arange(n)
    if n == m:
        return rows, rows
    return rows, rng.choice(m, sample, replace=False) if m > sample else np.arange(m)


def _standardized(columns: Sequence[FloatArray]) -> FloatArray:
    """Return columns, each of shape (n,), as a table of mean 0 and variance 1 without those that hold one value."""
    table = []
    for values in columns:
        own = values - values.min()
        own -= own.mean()
        if (sd := own.std()) > 0.0 and (values != values[0]).any():
            table.append(own / sd)
    return np.column_stack(table) if table else np.empty((len(columns[0]) if columns else 0, 0))


def _indicators(columns: Sequence[Column], rows: IntArray, rows_after: IntArray) -> list[FloatArray]:
    """Return for each category that is a term 1 where a record has it and 0 elsewhere.

    Of an attribute all but one are terms: the last follows from the others.
    """
    found = []
    for column in columns:
        values = np.concatenate([column.before[rows], column.after[rows_after]])
        codes, counts = np.unique(values, return_counts=True)
        frequent = codes[np.argsort(-counts, kind="stable")][:_MOST_CATEGORIES]
        found += [(values == code).astype(np.float64) for code in frequent[: len(codes) - 1]]
    return found


def _terms(numbers: FloatArray, indicators: list[FloatArray], n: int) -> tuple[FloatArray, bool]:
    """Return the terms of the model, and whether products of two attributes are among them."""
    d = numbers.shape[1]
    # Of two values the square says nothing new.
    squared = [j for j in range(d) if len(np.unique(numbers[:, j])) > 2]
    simple = d + len(squared) + len(indicators)
    products = 1 < d <= _MOST_IN_PRODUCTS and n >= _RECORDS_PER_TERM * (simple + d * (d - 1) // 2)
    if n < _RECORDS_PER_TERM * simple:
        raise DataError(
            f"{n:,} records are too few to tell originals and release apart by {simple:,} terms, which takes "
            f"{_RECORDS_PER_TERM * simple:,}: pass fewer attributes, or a larger sample."
        )
    pairs = [(j, j) for j in squared] + (list(combinations(range(d), 2)) if products else [])
    made = [*numbers.T, *(numbers[:, i] * numbers[:, j] for i, j in pairs), *indicators]
    return _standardized(made), products


def _scores(terms: FloatArray, released: FloatArray) -> FloatArray:
    """Return the probability of each row of being a released one, by a logistic regression."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    # Practically without a penalty; where the terms tell all records apart, probabilities just go on towards 0 and 1.
    model = LogisticRegression(C=1e6, tol=1e-6, max_iter=500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return np.asarray(model.fit(terms, released).predict_proba(terms)[:, 1])
