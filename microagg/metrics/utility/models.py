"""Utility by models: whether they distinguish released records from originals, and learn from the release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import pandas as pd

from microagg.columns.schema import column_names
from microagg.errors import DataError, ParameterError, brief
from microagg.metrics.utility.columns import Column, Table, pair_columns
from microagg.progress import checkpoint
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, is_name

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
        :data:`SAMPLE_COMPARED` records, so many are drawn.
    random_state : int
        The seed of the draw.

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
            f"{len(columns):,} attributes are too many to tell originals and release apart by: pass at most "
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
            f"{_RECORDS_PER_TERM * simple:,}: pass fewer attributes."
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


# --- predicting a target ----------------------------------------------------------------------------------------------

#: The maximum number of records for learning and testing in :func:`prediction`, half for each.
SAMPLE_PREDICTED = 50_000

#: The minimum numbers of records, and of records of each class.
MIN_RECORDS, MIN_PER_CLASS = 40, 4

#: The maximum number of classes.
MOST_CLASSES = 50

#: The maximum number of features, with which the time grows.
MOST_FEATURES = 300

#: Halves of few records are drawn so often at most, up to a total of records, to reduce the effect of chance.
MOST_REPEATS, MAX_REPEATED_RECORDS = 10, 10_000

# The maximum number of categories: the model allows 255 values.
_MOST_CATEGORIES = 250
# The minimum advantage over the baseline that a release can keep.
_MIN_ADVANTAGE = 0.01


@dataclass(frozen=True)
class Prediction:
    """Result of :func:`prediction`. Metrics are means over the draws.

    ``original``, ``released`` and ``baseline`` are the metrics of the model learned from originals, of the model
    learned from the release of the same records, and of always predicting the mean, or the most frequent class, of the
    training originals: R² = 1 − Σ (y − ŷ)² / Σ (y − ȳ)², at most 1; or the share of records with the correct class, 0
    to 1. ``n_train`` records are for learning and ``n_test`` others for the metric, in each draw.
    """

    metric: Literal["R²", "accuracy"]
    original: float
    released: float
    baseline: float
    n_train: int
    n_test: int

    @property
    def kept(self) -> float | None:
        """The share of the originals' advantage over the baseline that the release keeps.

        It may be a little above 1 by chance, and is below 0 if the release is worse than the baseline. None if the
        originals are not better than the baseline by at least 0.01.
        """
        advantage = self.original - self.baseline
        return (self.released - self.baseline) / advantage if advantage >= _MIN_ADVANTAGE else None


def prediction(
    before: pd.DataFrame, after: pd.DataFrame, target: Any, features: Sequence[Any], *, random_state: int = 0
) -> Prediction:
    """Quality of predicting a target after learning from the release, and from the originals. High is good.

    One model learns from a random half of the records (half of each class) in original form, another from the same
    records as released; both are tested on the other half in original form. Targets that are text, categories, booleans
    or numbers of two values (also in the release) are classes; other targets are numeric. Released ranges of numbers,
    such as ``[17, 23]``, count as their middle; an unknown category counts as missing.

    Parameters
    ----------
    before, after : DataFrame of pandas or polars, or pyarrow.Table, n rows
        Originals and their release, in the same order. Of more than :data:`SAMPLE_PREDICTED` records, so many are
        drawn.
    target, features : column name, and sequence of column names
        The predicted column, and the columns used for it.
    random_state : int
        The seed of the draws and of the models.

    Raises
    ------
    ParameterError
        If the target is no column name, there are no features or more than :data:`MOST_FEATURES`, or the target is
        among them.
    DataError
        As :func:`microagg.metrics.utility.columns.pair_columns`; if the target is constant, also in one of the halves,
        has more than :data:`MOST_CLASSES` classes, or one of fewer than :data:`MIN_PER_CLASS` records; or if there are
        fewer than :data:`MIN_RECORDS` records.

    References
    ----------
    LeFevre, DeWitt & Ramakrishnan (2006), Workload-aware anonymization, learn from releases; Esteban, Hyland & Rätsch
    (2017), Real-valued (medical) time series generation with recurrent conditional GANs, test on originals. Both models
    are scikit-learn's HistGradientBoosting, after Ke et al. (2017), LightGBM, with the same settings.
    """
    if not is_name(target):
        raise ParameterError(f"target must be a column name, not {brief(target)}.")
    names = column_names("features", features)
    if not 1 <= len(names) <= MOST_FEATURES or target in names:
        raise ParameterError(f"features must be a list of 1 to {MOST_FEATURES} column names without the target.")
    goal, *columns = pair_columns(as_pandas(before), as_pandas(after), [target, *names], matched=True)
    classes = _has_classes(goal)
    n = min(len(goal.before), SAMPLE_PREDICTED)
    repeats = max(1, min(MOST_REPEATS, MAX_REPEATED_RECORDS // n))
    rng, metrics = np.random.default_rng(random_state), np.empty((repeats, 3))
    for repeat in range(repeats):
        train, test = _halves(goal.before, classes, n, rng)
        X, released = _inputs(columns, train)
        y, truth = goal.before[train], goal.before[test]
        categorical = [not column.numeric for column in columns]
        checkpoint("learning from the originals", repeat / repeats)
        from_originals = _learn(X[train], y, X[test], classes, categorical, random_state)
        checkpoint("learning from the release", (repeat + 0.5) / repeats)
        from_release = _learn(released[train], goal.after[train], X[test], classes, categorical, random_state)
        values, counts = np.unique(y, return_counts=True)
        constant = np.full(len(test), values[counts.argmax()] if classes else y.mean())
        metrics[repeat] = [_metric(truth, each, classes) for each in (from_originals, from_release, constant)]
    of_originals, of_release, baseline = metrics.mean(axis=0).tolist()
    return Prediction("accuracy" if classes else "R²", of_originals, of_release, baseline, n - n // 2, n // 2)


def _learn(
    X: FloatArray, y: FloatArray, unseen: FloatArray, classes: bool, categorical: list[bool], random_state: int
) -> FloatArray:
    """Predictions for ``unseen`` records by a model that has learned ``y`` from ``X``."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    if (y == y[0]).all():
        return np.full(len(unseen), y[0])
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(
        # A round grows a tree for each class: fewer rounds for many classes.
        max_iter=max(20, 100 // len(np.unique(y))) if classes else 50,
        learning_rate=0.2,
        max_leaf_nodes=16,
        min_samples_leaf=10,
        early_stopping=False,
        categorical_features=categorical,
        random_state=random_state,
    )
    # Two threads are not faster, and on busy cores they wait for each other.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(model.fit(X, y).predict(unseen))


def _metric(truth: FloatArray, predicted: FloatArray, classes: bool) -> float:
    """Accuracy of predicted classes, or R² of predicted numbers."""
    from sklearn.metrics import accuracy_score, r2_score

    return float(accuracy_score(truth, predicted) if classes else r2_score(truth, predicted))


def _has_classes(goal: Column) -> bool:
    """Whether a target has classes."""
    values, counts = np.unique(goal.before, return_counts=True)
    classes = not goal.numeric or (len(values) == 2 and bool(np.isin(goal.after, values).all()))
    n = len(goal.before)
    if len(values) == 1:
        raise DataError(f"column {goal.name!r} holds one value only in the originals: choose another target.")
    if n < MIN_RECORDS:
        raise DataError(
            f"{n} records are too few to learn from one half and test on the other: it takes {MIN_RECORDS}."
        )
    if classes and len(values) > MOST_CLASSES:
        raise DataError(
            f"column {goal.name!r} has {len(values):,} classes, and at most {MOST_CLASSES} are predicted: merge some, "
            "or choose another target."
        )
    if classes and counts.min() < MIN_PER_CLASS:
        rarest = int(counts.argmin())
        class_name = goal.categories[int(values[rarest])] if goal.categories else f"{values[rarest]:g}"
        raise DataError(
            f"column {goal.name!r} has the class {class_name!r} in {counts[rarest]} of the records, and it takes "
            f"{MIN_PER_CLASS} to learn and test: merge it with another one, or choose another target."
        )
    return classes


def _halves(y: FloatArray, classes: bool, n: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Positions of the records to learn from and to test on, ``n`` in all, each class in both."""
    rows = rng.permutation(len(y))[:n]
    if classes:
        rows = rows[np.argsort(y[rows], kind="stable")]
    train, test = rows[::2], rows[1::2]
    if any((y[half] == y[half[0]]).all() for half in (train, test)):
        raise DataError(
            f"the target is the same in all but a few of {n:,} records, too few to learn from one half and test on "
            "the other: choose another target."
        )
    return train, test


def _inputs(columns: Sequence[Column], train: IntArray) -> tuple[FloatArray, FloatArray]:
    """The features before and after, each of shape (n, d); NaN for rare categories of the ``train`` records."""
    pairs = [(c.before, c.after) if c.numeric else _frequent(c, train) for c in columns]
    X, released = (np.column_stack(side) for side in zip(*pairs, strict=True))
    return X, released


def _frequent(column: Column, train: IntArray) -> tuple[FloatArray, FloatArray]:
    """Codes of categories as ranks of their training frequency. NaN for rare ones."""
    old, new = column.before.astype(np.int64), column.after.astype(np.int64)
    counts = sum(np.bincount(codes[train], minlength=len(column.categories)) for codes in (old, new))
    ranks = np.full(len(column.categories), np.nan)
    frequent = np.argsort(-np.asarray(counts), kind="stable")[:_MOST_CATEGORIES]
    ranks[frequent] = np.arange(len(frequent))
    return ranks[old], ranks[new]
