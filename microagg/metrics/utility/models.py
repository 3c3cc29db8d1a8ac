"""Utility by models: whether they distinguish released records from originals, and learn from the release."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.schema import column_names
from microagg.errors import DataError, ParameterError, brief
from microagg.metrics.utility.columns import Column, Table, pair_columns
from microagg.progress import checkpoint
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_whole, is_name, is_whole

#: The default number of originals, and of released records, that :func:`propensity` compares.
SAMPLE_COMPARED = 20_000

#: The maximum number of attributes.
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

    ``pmse`` is the propensity-score mean squared error, 0 to c (1 − c), where c is the share of released records: 0.25
    if they are as many as the originals. ``share`` is its share of the maximum, 0 to 1. ``ratio`` is pMSE over its
    expectation for released records drawn from a correct model of the originals, (terms / N) (1 − c)² c for N records
    of both tables: 1 is as good as that, 2 as another sample.

    ``n`` originals and ``n_released`` records were compared, by a model of ``terms`` terms besides the constant, which
    may include ``products`` of two attributes.
    """

    pmse: float
    share: float
    ratio: float
    n: int
    n_released: int
    terms: int
    products: bool


def propensity(before: Table, after: Table, *, sample: int = SAMPLE_COMPARED, random_state: int = 0) -> Propensity:
    """Ability of a model to distinguish released records from originals: 0 if it cannot (low is good).

    A logistic regression predicts for each record of both tables the probability p of being released; pMSE is the mean
    of (p − c)², where c is the share of released records. Its terms are the numeric attributes, standardized, and their
    squares; for up to ten also the products of two, if there are five originals for each term; and the 20 most frequent
    categories of other attributes. Other differences, such as values that occur k times, are not detected.

    Parameters
    ----------
    before, after : array of finite numbers, shape (n, d) and (m, d), or DataFrame
        Originals and release; columns of a frame may hold categories. If they have equally many records, these are
        taken to be in the same order.
    sample, random_state : int
        The maximum number of records drawn from a table, the same ones if both have equally many; and the seed.

    Raises
    ------
    ParameterError
        If ``sample`` or ``random_state`` is not a whole number, of at least 1 and 0.
    DataError
        As :func:`microagg.metrics.utility.columns.pair_columns`; if no attribute varies, there are more than
        :data:`MOST_ATTRIBUTES`, or fewer than five originals or released records for each term.

    References
    ----------
    Woo, Reiter, Oganian & Karr (2009), Global measures of data utility for microdata masked for disclosure limitation;
    Snoke, Raab, Nowok, Dibben & Slavkovic (2018), General and specific utility measures for synthetic data, for what is
    expected.
    """
    check_whole("sample", sample, 1)
    check_whole("random_state", random_state, 0)
    columns = _varying(pair_columns(before, after))
    rows, rows_after = _draw(columns[0], sample, random_state)
    n, m = len(rows), len(rows_after)
    numbers = _standardize([np.concatenate([c.before[rows], c.after[rows_after]]) for c in columns if c.numeric])
    indicators = _indicators([c for c in columns if not c.numeric], rows, rows_after)
    terms, products = _terms(numbers, indicators, min(n, m))
    scores = _scores(terms, np.repeat([0, 1], [n, m]))
    c = m / (n + m)
    pmse = float(np.square(scores - c).mean())
    expected = terms.shape[1] / (n + m) * (1.0 - c) ** 2 * c
    return Propensity(pmse, pmse / (c * (1.0 - c)), pmse / expected, n, m, terms.shape[1], products)


def _varying(columns: Sequence[Column]) -> list[Column]:
    """Columns with more than one value, before or after."""
    if len(columns) > MOST_ATTRIBUTES:
        raise DataError(
            f"{len(columns):,} attributes are too many to tell originals and release apart by: pass at most "
            f"{MOST_ATTRIBUTES:,}."
        )
    varying = [c for c in columns if (c.before != c.before[0]).any() or (c.after != c.before[0]).any()]
    if not varying:
        raise DataError("no attribute varies: there is nothing to tell originals and release apart by.")
    return varying


def _draw(column: Column, sample: int, random_state: int) -> tuple[IntArray, IntArray]:
    """Positions of the originals and of the released records that are compared."""
    rng = np.random.default_rng(random_state)
    n, m = len(column.before), len(column.after)
    rows = rng.choice(n, sample, replace=False) if n > sample else np.arange(n)
    if n == m:
        return rows, rows
    return rows, rng.choice(m, sample, replace=False) if m > sample else np.arange(m)


def _standardize(columns: Sequence[FloatArray]) -> FloatArray:
    """Columns, each of shape (n,), as a table of mean 0 and variance 1, without columns of one value."""
    table = []
    for values in columns:
        deviations = values - values.min()
        deviations -= deviations.mean()
        if (sd := deviations.std()) > 0.0 and (values != values[0]).any():
            table.append(deviations / sd)
    return np.column_stack(table) if table else np.empty((len(columns[0]) if columns else 0, 0))


def _indicators(columns: Sequence[Column], rows: IntArray, rows_after: IntArray) -> list[FloatArray]:
    """Indicators of the categories that are terms, 1 or 0 for each record. All but one of an attribute."""
    indicators = []
    for column in columns:
        values = np.concatenate([column.before[rows], column.after[rows_after]])
        codes, counts = np.unique(values, return_counts=True)
        frequent = codes[np.argsort(-counts, kind="stable")][:_MOST_TERMS]
        indicators += [(values == code).astype(np.float64) for code in frequent[: len(codes) - 1]]
    return indicators


def _terms(numbers: FloatArray, indicators: list[FloatArray], n: int) -> tuple[FloatArray, bool]:
    """Terms of the model, and whether they include products of two attributes."""
    d = numbers.shape[1]
    # The square of two values is redundant.
    squared = [j for j in range(d) if len(np.unique(numbers[:, j])) > 2]
    simple = d + len(squared) + len(indicators)
    products = 1 < d <= _MOST_IN_PRODUCTS and n >= _RECORDS_PER_TERM * (simple + d * (d - 1) // 2)
    if n < _RECORDS_PER_TERM * simple:
        raise DataError(
            f"{n:,} records are too few to tell originals and release apart by {simple:,} terms, which takes "
            f"{_RECORDS_PER_TERM * simple:,}: pass fewer attributes, or a larger sample."
        )
    pairs = [(j, j) for j in squared] + (list(combinations(range(d), 2)) if products else [])
    terms = [*numbers.T, *(numbers[:, i] * numbers[:, j] for i, j in pairs), *indicators]
    return _standardize(terms), products


def _scores(terms: FloatArray, released: FloatArray) -> FloatArray:
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

#: The default number of records for learning and testing in :func:`prediction`, half for each.
SAMPLE_PREDICTED = 50_000

#: The minimum numbers of records, and of records of each class.
MIN_RECORDS, MIN_PER_CLASS = 40, 4

#: The maximum number of classes.
MOST_CLASSES = 50

#: The maximum number of features, with which the time grows.
MOST_FEATURES = 300

# Halves of few records are drawn several times, up to this total of records, to reduce the effect of chance.
_MAX_REPEATED_RECORDS = 10_000
_MOST_REPEATS = 10
# The maximum number of categories: the model allows 255 values.
_MOST_CATEGORIES = 250
# The minimum advantage over the baseline that a release can keep.
_MIN_ADVANTAGE = 0.01


@dataclass(frozen=True)
class Prediction:
    """Result of :func:`prediction`. Metrics are means over the repeats.

    ``original``, ``released`` and ``baseline`` are the metrics of the model learned from originals, of the model
    learned from the release of the same records, and of always predicting the mean, or the most frequent class, of the
    training originals: R² = 1 − Σ (y − ŷ)² / Σ (y − ȳ)², at most 1; or the share of records with the correct class, 0
    to 1. ``n_train`` records are for learning and ``n_test`` others for the metric, in each of the ``repeats``.
    """

    task: Literal["regression", "classification"]
    metric: Literal["R²", "accuracy"]
    original: float
    released: float
    baseline: float
    n_train: int
    n_test: int
    repeats: int

    @property
    def kept(self) -> float | None:
        """The share of the originals' advantage over the baseline that the release keeps.

        It may be a little above 1 by chance, and is below 0 if the release is worse than the baseline. None if the
        originals are not better than the baseline by at least 0.01.
        """
        advantage = self.original - self.baseline
        return (self.released - self.baseline) / advantage if advantage >= _MIN_ADVANTAGE else None


def prediction(
    before: pd.DataFrame,
    after: pd.DataFrame,
    target: Any,
    features: Sequence[Any],
    *,
    random_state: int = 0,
    sample: int = SAMPLE_PREDICTED,
    repeats: int | None = None,
) -> Prediction:
    """Quality of predicting a target after learning from the release, and from the originals. High is good.

    One model learns from a random half of the records (half of each class) in original form, another from the same
    records as released; both are tested on the other half in original form. Targets that are text, categories, booleans
    or numbers of two values (also in the release) are classes; other targets are numeric. Released ranges of numbers,
    such as ``[17, 23]``, count as their middle; an unknown category counts as missing.

    Parameters
    ----------
    before, after : DataFrame of pandas or polars, or pyarrow.Table, n rows
        Originals and their release, in the same order.
    target, features : column name, and sequence of column names
        The predicted column, and the columns used for it.
    random_state, sample : int
        The seed of the draw and of the models, and the maximum number of records.
    repeats : int, optional
        The number of draws of halves; by default as many as 10,000 records allow, from 1 to 10.

    Raises
    ------
    ParameterError
        If there are no features or more than :data:`MOST_FEATURES`, the target or a feature twice is among them, or
        ``sample``, ``random_state`` or ``repeats`` is not a whole number, of at least :data:`LEAST_RECORDS`, 0 and 1.
    DataError
        As :func:`microagg.metrics.utility.columns.pair_columns`; if the target is constant, also in one of the halves,
        has more than :data:`MOST_CLASSES` classes, or one of fewer than :data:`LEAST_PER_CLASS` records; or if there
        are fewer than :data:`LEAST_RECORDS` records.

    References
    ----------
    LeFevre, DeWitt & Ramakrishnan (2006), Workload-aware anonymization, learn from releases; Esteban, Hyland & Rätsch
    (2017), Real-valued (medical) time series generation with recurrent conditional GANs, test on originals. Both models
    are scikit-learn's HistGradientBoosting, after Ke et al. (2017), LightGBM, with the same settings.
    """
    check_whole("sample", sample, MIN_RECORDS)
    check_whole("random_state", random_state, 0)
    features = _check_features(target, features, repeats)
    goal, *columns = pair_columns(as_pandas(before), as_pandas(after), [target, *features], matched=True)
    classes = _has_classes(goal)
    n = min(len(goal.before), sample)
    count = max(1, min(_MOST_REPEATS, _MAX_REPEATED_RECORDS // n)) if repeats is None else repeats
    means = _mean_metrics(goal, columns, classes, sample, count, random_state)
    return Prediction(
        task="classification" if classes else "regression",
        metric="accuracy" if classes else "R²",
        **means,
        n_train=n - n // 2,
        n_test=n // 2,
        repeats=count,
    )


def _mean_metrics(
    goal: Column, columns: Sequence[Column], classes: bool, sample: int, count: int, random_state: int
) -> dict[str, float]:
    """Metrics of originals, release and baseline, by name, each the mean over ``count`` repeats."""
    rng, metrics = np.random.default_rng(random_state), np.empty((count, 3))
    for repeat in range(count):
        train, test = _halves(goal.before, classes, sample, rng)
        inputs = _inputs(columns, train)
        trial = _Trial(inputs, train, test, goal.before, classes, random_state)
        checkpoint("learning from the originals", repeat / count)
        metrics[repeat, 0] = trial.metric(trial.learned(inputs.before, goal.before))
        checkpoint("learning from the release", (repeat + 0.5) / count)
        metrics[repeat, 1] = trial.metric(trial.learned(inputs.after, goal.after))
        metrics[repeat, 2] = trial.metric(trial.guessed())
    return dict(zip(("original", "released", "baseline"), metrics.mean(axis=0).tolist(), strict=True))


class _Inputs(NamedTuple):
    """The features before and after, each of shape (n, d), and which of them are categories."""

    before: FloatArray
    after: FloatArray
    categorical: NDArray[np.bool_]


class _Trial(NamedTuple):
    """One draw of the halves: positions of the records of each, and common settings of its models."""

    inputs: _Inputs
    train: IntArray
    test: IntArray
    y: FloatArray
    classes: bool
    random_state: int

    def learned(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Predictions for the test half by a model that has learned ``y`` from ``X``."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        X, y = X[self.train], y[self.train]
        if (y == y[0]).all():
            return np.full(len(self.test), y[0])
        kind = HistGradientBoostingClassifier if self.classes else HistGradientBoostingRegressor
        model = kind(
            # A round grows a tree for each class: fewer rounds for many classes.
            max_iter=max(20, 100 // len(np.unique(y))) if self.classes else 50,
            learning_rate=0.2,
            max_leaf_nodes=16,
            min_samples_leaf=10,
            early_stopping=False,
            categorical_features=self.inputs.categorical,
            random_state=self.random_state,
        )
        # Two threads are not faster, and on busy cores they wait for each other.
        with threadpool_limits(1, user_api="openmp"):
            return np.asarray(model.fit(X, y).predict(self.inputs.before[self.test]))

    def guessed(self) -> FloatArray:
        """Mean, or most frequent class, of the training originals, for each record of the test half."""
        learned = self.y[self.train]
        values, counts = np.unique(learned, return_counts=True)
        return np.full(len(self.test), values[counts.argmax()] if self.classes else learned.mean())

    def metric(self, predicted: FloatArray) -> float:
        """Accuracy of predicted classes, or R² of predicted numbers."""
        y = self.y[self.test]
        if self.classes:
            return float((y == predicted).mean())
        return 1.0 - float(np.square(y - predicted).sum() / np.square(y - y.mean()).sum())


def _check_features(target: Any, features: Sequence[Any], repeats: int | None) -> Sequence[Any]:
    if repeats is not None and (not is_whole(repeats) or repeats < 1):
        raise ParameterError(f"repeats must be a whole number of at least 1, or None, not {repeats!r}.")
    if not is_name(target):
        raise ParameterError(f"target must be a column name, not {brief(target)}.")
    features = () if isinstance(features, str) else column_names("features", features)
    if len(features) == 0:
        raise ParameterError("features must be a list of one column name or more.")
    if len(features) > MOST_FEATURES:
        raise ParameterError(f"features must name at most {MOST_FEATURES} columns, not {len(features):,}.")
    if target in features:
        raise ParameterError(f"features must not name the target {target!r}.")
    repeated = [name for position, name in enumerate(features) if name in features[:position]]
    if repeated:
        raise ParameterError(f"features must name each column once, not {repeated[0]!r} twice.")
    return features


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


def _halves(y: FloatArray, classes: bool, sample: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Positions of the records to learn from and to test on, each class in both."""
    rows = rng.permutation(len(y))[:sample]
    if classes:
        rows = rows[np.argsort(y[rows], kind="stable")]
    train, test = rows[::2], rows[1::2]
    if any((y[half] == y[half[0]]).all() for half in (train, test)):
        raise DataError(
            f"the target is the same in all but a few of {len(rows):,} records, too few to learn from one half and "
            "test on the other: choose another target."
        )
    return train, test


def _inputs(columns: Sequence[Column], train: IntArray) -> _Inputs:
    pairs = [(c.before, c.after) if c.numeric else _frequent(c, train) for c in columns]
    X, released = (np.column_stack(side) for side in zip(*pairs, strict=True))
    return _Inputs(X, released, np.array([not column.numeric for column in columns]))


def _frequent(column: Column, train: IntArray) -> tuple[FloatArray, FloatArray]:
    """Codes of categories as ranks of their training frequency. NaN for rare ones."""
    old, new = column.before.astype(np.int64), column.after.astype(np.int64)
    n_codes = int(max(old.max(), new.max())) + 1
    counts = np.bincount(old[train], minlength=n_codes) + np.bincount(new[train], minlength=n_codes)
    ranks = np.full(n_codes, np.nan)
    frequent = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    ranks[frequent] = np.arange(len(frequent))
    return ranks[old], ranks[new]
