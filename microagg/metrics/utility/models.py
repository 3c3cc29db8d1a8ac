"""What models tell: how well released records from originals, and what learning from the release is worth."""

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
from microagg.metrics.utility.columns import Column, Table, columns_of
from microagg.progress import checkpoint
from microagg.tables.frames import as_pandas
from microagg.validation import FloatArray, IntArray, check_whole, is_name, is_whole

#: How many originals, and as many released records, :func:`propensity` compares by default.
SAMPLE_COMPARED = 20_000

#: Of how many attributes at most.
MOST_ATTRIBUTES = 1_000

# Of so many numeric attributes at most products are terms of the model: of more they would be very many.
_MOST_IN_PRODUCTS = 10
# Categories of an attribute that are a term each, the most frequent ones.
_MOST_TERMS = 20
# Originals for each term of the model: with fewer it would learn records by heart.
_RECORDS_PER_TERM = 5


@dataclass(frozen=True)
class Propensity:
    """What :func:`propensity` returns.

    ``pmse`` is the propensity-score mean squared error, 0 to c (1 − c), c being the share of released records: 0.25
    where they are as many as the originals. ``share`` is the same as a share of the most it can be, 0 to 1, and
    ``ratio`` the same over what is expected where released records are drawn from a model of the originals that holds,
    (terms / N) (1 − c)² c for N records of both tables: 1 is as good as that, 2 as records of another sample.

    ``n`` originals and ``n_released`` records were compared, by a model of ``terms`` terms beside the constant, among
    which may be ``products`` of two attributes.
    """

    pmse: float
    share: float
    ratio: float
    n: int
    n_released: int
    terms: int
    products: bool


def propensity(before: Table, after: Table, *, sample: int = SAMPLE_COMPARED, random_state: int = 0) -> Propensity:
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
    sample, random_state : int
        Of more records in a table so many are drawn, the same ones of both if they have equally many; and the seed.

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
    check_whole("sample", sample, 1)
    check_whole("random_state", random_state, 0)
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


def _varying(columns: Sequence[Column]) -> list[Column]:
    """Return the columns of more than one value, before or after."""
    if len(columns) > MOST_ATTRIBUTES:
        raise DataError(
            f"{len(columns):,} attributes are too many to tell originals and release apart by: pass at most "
            f"{MOST_ATTRIBUTES:,}."
        )
    varying = [c for c in columns if (c.before != c.before[0]).any() or (c.after != c.before[0]).any()]
    if not varying:
        raise DataError("no attribute varies: there is nothing to tell originals and release apart by.")
    return varying


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
        deviations = values - values.min()
        deviations -= deviations.mean()
        if (sd := deviations.std()) > 0.0 and (values != values[0]).any():
            table.append(deviations / sd)
    return np.column_stack(table) if table else np.empty((len(columns[0]) if columns else 0, 0))


def _indicators(columns: Sequence[Column], rows: IntArray, rows_after: IntArray) -> list[FloatArray]:
    """Return for each category that is a term 1 where a record has it and 0 elsewhere; all but one of an attribute."""
    indicators = []
    for column in columns:
        values = np.concatenate([column.before[rows], column.after[rows_after]])
        codes, counts = np.unique(values, return_counts=True)
        frequent = codes[np.argsort(-counts, kind="stable")][:_MOST_TERMS]
        indicators += [(values == code).astype(np.float64) for code in frequent[: len(codes) - 1]]
    return indicators


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
    terms = [*numbers.T, *(numbers[:, i] * numbers[:, j] for i, j in pairs), *indicators]
    return _standardized(terms), products


def _scores(terms: FloatArray, released: FloatArray) -> FloatArray:
    """Return the probability of each row of being a released one, by a logistic regression."""
    from scipy.linalg import LinAlgWarning
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    # Practically without a penalty; where the terms tell all records apart, probabilities just go on towards 0 and 1.
    model = LogisticRegression(C=1e6, tol=1e-6, max_iter=500, solver="newton-cholesky")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", LinAlgWarning)  # terms that say the same: the solver takes another way then
        return np.asarray(model.fit(terms, released).predict_proba(terms)[:, 1])


# --- predicting a target ----------------------------------------------------------------------------------------------

#: From how many records :func:`prediction` learns and is tested by default, half of them each.
SAMPLE_PREDICTED = 50_000

#: How many records are needed at least, and how many of each class.
LEAST_RECORDS, LEAST_PER_CLASS = 40, 4

#: How many classes there may be.
MOST_CLASSES = 50

#: How many features there may be: the time grows with them whatever the number of records.
MOST_FEATURES = 300

# Of few records halves are drawn several times, as long as these are at most so many in all, and chance counts less.
_RECORDS_REPEATED = 10_000
_MOST_REPEATS = 10
# Categories that the model tells apart: it takes no more than 255 values.
_MOST_CATEGORIES = 250
# Below this advantage over the baseline there is nothing that a release could keep.
_LEAST_ADVANTAGE = 0.01


@dataclass(frozen=True)
class Prediction:
    """What :func:`prediction` returns. Metrics are means over the repeats.

    ``original``, ``released`` and ``baseline`` are the metric of the model that has learned from originals, of that
    which has learned from the release of the same records, and of always predicting the mean, or the most frequent
    class, of the originals learned from: R² = 1 − Σ (y − ŷ)² / Σ (y − ȳ)², at most 1; or the share of records whose
    class is predicted, 0 to 1. ``n_train`` records were learned from, and on ``n_test`` others the metric was taken, in
    each of the ``repeats``.
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
        """What the release keeps of the advantage that originals have over the baseline: 1 is all, 0 nothing.

        Chance may take it a little above 1; a release from which worse is learned than the baseline has less than 0.
        None where originals are not better than the baseline by at least 0.01.
        """
        advantage = self.original - self.baseline
        return (self.released - self.baseline) / advantage if advantage >= _LEAST_ADVANTAGE else None


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
    """Return how well a target is predicted after learning from the release, and from the originals; high is good.

    Half of the records, drawn at random (of each class half), are learned from, once as they were and once as released;
    on the other half, as it was, both models are tested. Targets that are text, categories, booleans or numbers of two
    values (also in the release) are classes; all other numbers are predicted as such. Ranges of numbers in the release,
    such as ``[17, 23]``, count as their middle; a category that was not learned counts as missing.

    Parameters
    ----------
    before, after : DataFrame of pandas or polars, or pyarrow.Table, n rows
        Originals and their release, in the same order.
    target, features : column name, and sequence of column names
        What is predicted, and by what.
    random_state, sample : int
        Of more records so many are drawn; the seed is that of this draw, and of the models.
    repeats : int, optional
        How often halves are drawn; by default as often as 10,000 records allow, at least once and at most 10 times.

    Raises
    ------
    ParameterError
        If there are no features or more than :data:`MOST_FEATURES`, the target or a feature twice is among them, or
        ``sample``, ``random_state`` or ``repeats`` is not a whole number, of at least :data:`LEAST_RECORDS`, 0 and 1.
    DataError
        As :func:`microagg.metrics.utility.columns.columns_of`; if the target is constant, also in one of the halves,
        has more than :data:`MOST_CLASSES` classes, or one of fewer than :data:`LEAST_PER_CLASS` records; or if there
        are fewer than :data:`LEAST_RECORDS` records.

    References
    ----------
    LeFevre, DeWitt & Ramakrishnan (2006), Workload-aware anonymization, learn from releases; Esteban, Hyland & Rätsch
    (2017), Real-valued (medical) time series generation with recurrent conditional GANs, test on originals. Both models
    are scikit-learn's HistGradientBoosting, after Ke et al. (2017), LightGBM, with the same settings.
    """
    check_whole("sample", sample, LEAST_RECORDS)
    check_whole("random_state", random_state, 0)
    features = _checked_features(target, features, repeats)
    goal, *columns = columns_of(as_pandas(before), as_pandas(after), [target, *features], matched=True)
    classes = _has_classes(goal)
    n = min(len(goal.before), sample)
    count = max(1, min(_MOST_REPEATS, _RECORDS_REPEATED // n)) if repeats is None else repeats
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
    """Return the metric of originals, release and baseline, by name, each the mean over ``count`` repeats."""
    rng, metrics = np.random.default_rng(random_state), np.empty((count, 3))
    for at in range(count):
        train, test = _halves(goal.before, classes, sample, rng)
        inputs = _inputs(columns, train)
        trial = _Trial(inputs, train, test, goal.before, classes, random_state)
        checkpoint("learning from the originals", at / count)
        metrics[at, 0] = trial.metric(trial.learned(inputs.before, goal.before))
        checkpoint("learning from the release", (at + 0.5) / count)
        metrics[at, 1] = trial.metric(trial.learned(inputs.after, goal.after))
        metrics[at, 2] = trial.metric(trial.guessed())
    return dict(zip(("original", "released", "baseline"), metrics.mean(axis=0).tolist(), strict=True))


class _Inputs(NamedTuple):
    """The features before and after, each of shape (n, d), and which of them are categories."""

    before: FloatArray
    after: FloatArray
    categorical: NDArray[np.bool_]


class _Trial(NamedTuple):
    """One draw of the halves: the positions of the records of each, and what all models of it have in common."""

    inputs: _Inputs
    train: IntArray
    test: IntArray
    y: FloatArray
    classes: bool
    random_state: int

    def learned(self, X: FloatArray, y: FloatArray) -> FloatArray:
        """Return what a model that has learned ``y`` from ``X`` predicts for the originals that are held out."""
        from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
        from threadpoolctl import threadpool_limits

        X, y = X[self.train], y[self.train]
        if (y == y[0]).all():
            return np.full(len(self.test), y[0])
        kind = HistGradientBoostingClassifier if self.classes else HistGradientBoostingRegressor
        model = kind(
            # A round grows a tree for each class: of many classes, fewer rounds.
            max_iter=max(20, 100 // len(np.unique(y))) if self.classes else 50,
            learning_rate=0.2,
            max_leaf_nodes=16,
            min_samples_leaf=10,
            early_stopping=False,
            categorical_features=self.inputs.categorical,
            random_state=self.random_state,
        )
        # On two threads it is no quicker, and on cores that others use it waits for them many times over.
        with threadpool_limits(1, user_api="openmp"):
            return np.asarray(model.fit(X, y).predict(self.inputs.before[self.test]))

    def guessed(self) -> FloatArray:
        """Return the mean, or the most frequent class, of the originals learned from, for each that is held out."""
        learned = self.y[self.train]
        values, counts = np.unique(learned, return_counts=True)
        return np.full(len(self.test), values[counts.argmax()] if self.classes else learned.mean())

    def metric(self, predicted: FloatArray) -> float:
        """Return the accuracy of predicted classes, or R² of predicted numbers."""
        y = self.y[self.test]
        if self.classes:
            return float((y == predicted).mean())
        return 1.0 - float(np.square(y - predicted).sum() / np.square(y - y.mean()).sum())


def _checked_features(target: Any, features: Sequence[Any], repeats: int | None) -> Sequence[Any]:
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
    twice = [name for at, name in enumerate(features) if name in features[:at]]
    if twice:
        raise ParameterError(f"features must name each column once, not {twice[0]!r} twice.")
    return features


def _has_classes(goal: Column) -> bool:
    """Whether a target has classes; raise DataError if there is nothing to predict, or too little to learn from."""
    values, counts = np.unique(goal.before, return_counts=True)
    classes = not goal.numeric or (len(values) == 2 and bool(np.isin(goal.after, values).all()))
    n = len(goal.before)
    if len(values) == 1:
        raise DataError(f"column {goal.name!r} holds one value only in the originals: choose another target.")
    if n < LEAST_RECORDS:
        raise DataError(
            f"{n} records are too few to learn from one half and test on the other: it takes {LEAST_RECORDS}."
        )
    if classes and len(values) > MOST_CLASSES:
        raise DataError(
            f"column {goal.name!r} has {len(values):,} classes, and at most {MOST_CLASSES} are predicted: merge some, "
            "or choose another target."
        )
    if classes and counts.min() < LEAST_PER_CLASS:
        at = int(counts.argmin())
        named = goal.categories[int(values[at])] if goal.categories else f"{values[at]:g}"
        raise DataError(
            f"column {goal.name!r} has the class {named!r} in {counts[at]} of the records, and it takes "
            f"{LEAST_PER_CLASS} to learn and test: merge it with another one, or choose another target."
        )
    return classes


def _halves(y: FloatArray, classes: bool, sample: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the positions of the records to learn from and of those to test on, each class in both."""
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
    """Return the codes of categories as ranks of their frequency in what is learned from; NaN for the rare ones."""
    one, other = column.before.astype(np.int64), column.after.astype(np.int64)
    many = int(max(one.max(), other.max())) + 1
    counts = np.bincount(one[train], minlength=many) + np.bincount(other[train], minlength=many)
    ranks = np.full(many, np.nan)
    most = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    ranks[most] = np.arange(len(most))
    return ranks[one], ranks[other]
