"""How well a model that has learned from the release predicts originals that it has not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.errors import DataError, ParameterError
from microagg.metrics.utility.columns import Column, columns_of
from microagg.metrics.utility.propensity_score import check_draw
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray, check_frame

#: From how many records :func:`prediction` learns and is tested by default, half of them each.
SAMPLE = 50_000

#: How many records are needed at least, and how many of each class.
LEAST_RECORDS, LEAST_PER_CLASS = 40, 4

#: How many classes there may be.
MOST_CLASSES = 50

# Categories that the model tells apart: it takes no more than 255 values.
_MOST_CATEGORIES = 250
# Below this advantage over the baseline there is nothing that a release could keep.
_LEAST_ADVANTAGE = 0.01


@dataclass(frozen=True)
class Prediction:
    """What :func:`prediction` returns.

    Attributes
    ----------
    task : {"regression", "classification"}
    metric : {"R²", "accuracy"}
        R² = 1 − Σ (y − ŷ)² / Σ (y − ȳ)², at most 1; or the share of records whose class is predicted, 0 to 1.
    original : float
        The metric of the model that has learned from originals.
    released : float
        The metric of the model that has learned from the release of the same records.
    baseline : float
        The metric of always predicting the mean, or the most frequent class, of the originals learned from.
    n_train, n_test : int
        How many records were learned from, and on how many others the metric was taken.
    """

    task: Literal["regression", "classification"]
    metric: Literal["R²", "accuracy"]
    original: float
    released: float
    baseline: float
    n_train: int
    n_test: int

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
    sample: int = SAMPLE,
) -> Prediction:
    """Return how well a target is predicted after learning from the release, and from the originals; high is good.

    Half of the records, drawn at random (of each class half), are learned from, once as they were and once as they are
    released; on the other half, as it was, both models are tested. A model is a gradient boosting of trees over
    histograms, with the same settings for both. Targets that are text, categories, booleans or numbers of two values
    (also in the release) are classes; all other numbers are predicted as such. Ranges of numbers in the release, such
    as ``[17, 23]``, count as their middle; a category that was not learned counts as missing.

    Parameters
    ----------
    before, after : DataFrame, n rows
        Originals and their release, in the same order.
    target : column name
    features : sequence of column names
        What the target is predicted by; not the target.
    random_state : int
        Of the draw, and of the models.
    sample : int
        Of more records so many are drawn.

    Raises
    ------
    ParameterError
        If there are no features, the target or a feature twice is among them, or ``sample`` or ``random_state`` is not
        a whole number, of at least :data:`LEAST_RECORDS` and 0.
    DataError
        As :func:`microagg.metrics.utility.columns.columns_of`; if the target is constant, also in one of the halves,
        has more than :data:`MOST_CLASSES` classes, or one of fewer than :data:`LEAST_PER_CLASS` records; or if there
        are fewer than :data:`LEAST_RECORDS` records.

    References
    ----------
    LeFevre, DeWitt & Ramakrishnan (2006), Workload-aware anonymization, learn classes and numbers from releases;
    Esteban, Hyland & Rätsch (2017), Real-valued (medical) time series generation with recurrent conditional GANs, test
    on originals what is learned from other records. The model is scikit-learn's HistGradientBoosting, after Ke et al.
    (2017), LightGBM.
    """
    check_draw(sample, random_state, LEAST_RECORDS)
    _check_features(target, features)
    check_frame(before)
    check_frame(after)
    goal, *columns = columns_of(before, after, [target, *features], matched=True)
    classes = _is_classes(goal)
    _check_target(goal, classes)
    train, test = _halves(goal.before, classes, sample, random_state)
    X, released, categorical = _inputs(columns, train)
    y, baseline = goal.before, _baseline(goal.before, train, test, classes)

    def tested(inputs: FloatArray, outputs: FloatArray) -> float:
        predicted = _learned(inputs[train], outputs[train], X[test], categorical, classes, random_state)
        return _metric(y[test], predicted, classes)

    checkpoint("learning from the originals", 0.0)
    own = tested(X, y)
    checkpoint("learning from the release", 0.5)
    other = tested(released, goal.after)
    return Prediction(
        task="classification" if classes else "regression",
        metric="accuracy" if classes else "R²",
        original=own,
        released=other,
        baseline=baseline,
        n_train=len(train),
        n_test=len(test),
    )


def _check_features(target: Any, features: Sequence[Any]) -> None:
    if isinstance(features, str) or len(features) == 0:
        raise ParameterError("features must be a list of one column name or more.")
    if target in features:
        raise ParameterError(f"features must not name the target {target!r}.")
    twice = [name for at, name in enumerate(features) if name in features[:at]]
    if twice:
        raise ParameterError(f"features must name each column once, not {twice[0]!r} twice.")


def _is_classes(goal: Column) -> bool:
    values = np.unique(goal.before)
    return not goal.numeric or (len(values) == 2 and bool(np.isin(goal.after, values).all()))


def _check_target(goal: Column, classes: bool) -> None:
    """Raise :class:`DataError` if there is nothing to predict, or too little to learn from."""
    values, counts = np.unique(goal.before, return_counts=True)
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


def _halves(y: FloatArray, classes: bool, sample: int, random_state: int) -> tuple[IntArray, IntArray]:
    """Return the positions of the records to learn from and of those to test on, each class in both."""
    rows = np.random.default_rng(random_state).permutation(len(y))[:sample]
    if classes:
        rows = rows[np.argsort(y[rows], kind="stable")]
    train, test = rows[::2], rows[1::2]
    if any((y[half] == y[half[0]]).all() for half in (train, test)):
        raise DataError(
            f"the target is the same in all but a few of {len(rows):,} records, too few to learn from one half and "
            "test on the other: choose another target."
        )
    return train, test


def _inputs(columns: Sequence[Column], train: IntArray) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Return the features before and after, each of shape (n, d), and which of them are categories."""
    tables = []
    for column in columns:
        pair = (column.before, column.after)
        tables.append(pair if column.numeric else _frequent(pair, train))
    X, released = (np.column_stack([table[side] for table in tables]) for side in (0, 1))
    return X, released, np.array([not column.numeric for column in columns])


def _frequent(codes: tuple[FloatArray, FloatArray], train: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the codes of categories as ranks of their frequency in what is learned from; NaN for the rare ones."""
    one, other = (own.astype(np.int64) for own in codes)
    many = int(max(one.max(), other.max())) + 1
    counts = np.bincount(one[train], minlength=many) + np.bincount(other[train], minlength=many)
    ranks = np.full(many, np.nan)
    most = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    ranks[most] = np.arange(len(most))
    return ranks[one], ranks[other]


def _learned(
    X: FloatArray, y: FloatArray, unseen: FloatArray, categorical: NDArray[np.bool_], classes: bool, random_state: int
) -> FloatArray:
    """Return what a model that has learned ``y`` from ``X`` predicts for ``unseen``."""
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    if (y == y[0]).all():
        return np.full(len(unseen), y[0])
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(
        # A round grows a tree for each class: of many classes, fewer rounds.
        max_iter=max(20, 100 // len(np.unique(y))) if classes else 50,
        learning_rate=0.2,
        max_leaf_nodes=16,
        min_samples_leaf=10,
        early_stopping=False,
        categorical_features=categorical,
        random_state=random_state,
    )
    # On two threads it is no quicker, and on cores that others use it waits for them many times over.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(model.fit(X, y).predict(unseen))


def _baseline(y: FloatArray, train: IntArray, test: IntArray, classes: bool) -> float:
    if not classes:
        return _metric(y[test], np.full(len(test), y[train].mean()), classes)
    values, counts = np.unique(y[train], return_counts=True)
    return _metric(y[test], np.full(len(test), values[counts.argmax()]), classes)


def _metric(y: FloatArray, predicted: FloatArray, classes: bool) -> float:
    """Return the accuracy of predicted classes, or R² of predicted numbers."""
    if classes:
        return float((y == predicted).mean())
    return 1.0 - float(np.square(y - predicted).sum() / np.square(y - y.mean()).sum())
