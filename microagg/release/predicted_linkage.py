"""Linkage by prediction: the gain of an intruder who computes released columns from known quasi-identifiers.

k-anonymity counts only the quasi-identifiers. A released column that follows from them, such as a sum, net income or an
age group, still distinguishes the records of a class. Here several models predict each such column from the original
quasi-identifiers, always without the predicted record, and an intruder picks the record of the person's class that
agrees best with the prediction.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.metrics.risk.equivalence_classes import coded, combined
from microagg.progress import checkpoint
from microagg.release.column_counts import CHANCE, COMMON, measured
from microagg.release.prediction_models import (
    Features,
    Model,
    code_models,
    features_of,
    follows,
    formulas,
    number_models,
)
from microagg.validation import FloatArray, IntArray, quoted

#: About the maximum number of examined records; larger files are sampled by whole classes, at random.
SAMPLE = 4000

#: Numbers with at most this many distinct values are predicted as categories, such as the answers 1 to 5.
FEW_VALUES = 20

#: A column follows nearly if this share of its variance, or of its records' categories, is predicted.
NEARLY = 0.95

# Linkage counts if it exceeds a random pick in the class by this many standard errors, among one of these shares of the
# records about which the intruder is most certain. Shares of fewer records than the last number are skipped.
_ERRORS, _SUREST, _MIN_RECORDS = 4.0, (1.0, 0.5, 0.2, 0.1, 0.05), 50

# The maximum number of compared records of a class; in larger classes linkage looks easier than it is.
_LARGEST_CLASS = 1000

# A record that contradicts an exact prediction, in units of log-likelihood.
_CONTRADICTION = -50.0


@dataclass(frozen=True)
class Predicted:
    """The gain of an intruder who predicts ``columns`` from the quasi-identifiers of a person.

    Attributes
    ----------
    columns : tuple of column names
        The released columns, predicted together.
    sources : tuple of column names
        The quasi-identifiers used for the prediction, most important first.
    exact : bool
        Whether at least 99 % of the records (:data:`microagg.release.prediction_models.EXACT`) are predicted exactly.
    nearly : bool
        Whether 95 % (:data:`NEARLY`) of the variance, or of the categories, are predicted.
    share : float
        The share of the records, 0 to 1, that the intruder picks rightly in their classes.
    by_chance : float
        The share, 0 to 1, if any record of the class is picked: the number of classes / n.
    if_known : float
        The share, 0 to 1, if the intruder knew the columns themselves: a better formula gives no more.
    n_certain : int
        The records that an exact prediction distinguishes from all others of their class.
    highest : float
        The largest probability, 0 to 1. If the prediction is exact, or nearly so, it is that of an intruder who knows
        the columns, otherwise the share among the records about which the intruder is most certain.
    n : int
        The number of examined records.
    """

    columns: tuple[Hashable, ...]
    sources: tuple[Hashable, ...]
    exact: bool
    nearly: bool
    share: float
    by_chance: float
    if_known: float
    n_certain: int
    highest: float
    n: int

    def __str__(self) -> str:
        """The gain of the intruder as a sentence."""
        names = quoted(self.columns)
        verb = "computes" if self.exact else "predicts"
        certain = f", {self.n_certain:,} of {self.n:,} with certainty" if self.n_certain else ""
        perfect = "" if self.exact or not self.nearly else f" ({100.0 * self.if_known:.3g} % by a perfect prediction)"
        return (
            f"An intruder who also {verb} {names} from {quoted(self.sources)} picks the right record for "
            f"{100.0 * self.share:.3g} % of the persons{perfect}{certain}; the highest probability is "
            f"{100.0 * self.highest:.3g} %."
        )


def predicted_linkage(originals: pd.DataFrame, released: pd.DataFrame, classes: IntArray) -> tuple[Predicted, ...]:
    """The released columns whose prediction helps an intruder to pick the right record, worst first.

    The intruder knows the original values of a person, and the class of the record. Numbers are predicted by linear
    regression, also of logarithms, by the neighbors in one attribute, and by a regression tree; categories by the
    neighbors and by a tree. The record itself is left out, or its fold of a cross-validation. The model with the most
    linked records counts. Several columns are also predicted together.

    Linkage counts if it is 4 standard errors above a random pick in the class, and for all exact predictions.

    Parameters
    ----------
    originals : DataFrame, shape (n, d)
        The original quasi-identifiers, without missing values.
    released : DataFrame, shape (n, m)
        The columns that are released unchanged, in the same order.
    classes : array of shape (n,)
        The equivalence class of each record in the release, from 0. Of about more than :data:`SAMPLE` records, whole
        classes are drawn.

    Raises
    ------
    DataError
        If the tables and ``classes`` do not have the same number of records.

    Notes
    -----
    For an intruder who combines the prediction with the distance from the released quasi-identifiers this is an upper
    bound: within a class, the latter are equal.
    """
    if not len(originals) == len(released) == len(classes):
        raise DataError(
            f"there are {len(originals)} originals, {len(released)} released records and {len(classes)} classes: give "
            "as many of each."
        )
    if not len(released.columns) or not len(originals.columns) or len(originals) < 3:
        return ()
    rows = _sample_classes(classes, SAMPLE)
    features = features_of(originals.iloc[rows])
    pairs = _Pairs.of(classes[rows])
    predictions = []
    for name in released.columns:
        checkpoint("Predicting released columns from the quasi-identifiers")
        if (prediction := _best_prediction(features, released[name].iloc[rows], pairs)) is not None:
            predictions.append(prediction)
    results = [_measure(prediction, released, classes, pairs) for prediction in predictions]
    helpful = [prediction for prediction, result in zip(predictions, results, strict=True) if result is not None]
    # Several helpful columns are predicted together; if at most one is helpful, all of them may help together.
    jointly = helpful if len(helpful) > 1 else predictions
    if len(jointly) > 1:
        results.append(_measure(_combine(jointly), released, classes, pairs))
    return tuple(sorted(filter(None, results), key=lambda result: (-result.highest, -result.share)))


def _sample_classes(classes: IntArray, sample: int) -> IntArray:
    """Records, ascending, of random classes that have about ``sample`` records together."""
    if len(classes) <= sample:
        return np.arange(len(classes))
    sizes = np.bincount(classes)
    drawn = np.random.default_rng(0).permutation(len(sizes))
    drawn = drawn[: int(np.searchsorted(np.cumsum(sizes[drawn]), sample)) + 1]
    rows = np.flatnonzero(np.isin(classes, drawn))
    # A class larger than the sample is sampled, too.
    return rows if len(rows) <= 2 * sample else np.sort(np.random.default_rng(0).choice(rows, sample, False))


class _Pairs(NamedTuple):
    """Each record with each record of its class, including itself."""

    record: IntArray  # shape (p,), in the order of ``starts``
    candidate: IntArray  # shape (p,)
    starts: IntArray  # shape (n,): the first pair of each record
    order: IntArray  # shape (n,): the record of these pairs
    sizes: IntArray  # shape (n,): the number of its pairs

    @classmethod
    def of(cls, classes: IntArray) -> _Pairs:
        """Pairs of records in the same of ``classes``, shape (n,)."""
        order = np.argsort(classes, kind="stable")
        _, codes, counts = np.unique(classes[order], return_inverse=True, return_counts=True)
        firsts = np.cumsum(counts) - counts
        # In a class that is too large, a record is compared with the records after it, in a ring.
        position = np.arange(len(order)) - firsts[codes]
        sizes = np.minimum(counts, _LARGEST_CLASS)[codes]
        starts = np.cumsum(sizes) - sizes
        step = np.arange(int(sizes.sum())) - np.repeat(starts, sizes)
        neighbor = (np.repeat(position, sizes) + step) % np.repeat(counts[codes], sizes)
        return cls(np.repeat(order, sizes), order[np.repeat(firsts[codes], sizes) + neighbor], starts, order, sizes)

    def picked(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probability that each record is picked by the highest score, and the certainty of the intruder.

        ``scores``, shape (p,), are log-likelihoods; both results have shape (n,).
        """
        best = np.maximum.reduceat(scores, self.starts)
        gap = np.repeat(best, self.sizes) - scores
        is_best = gap <= 1e-12 * (1.0 + np.abs(np.repeat(best, self.sizes)))
        ties = np.add.reduceat(is_best.astype(np.float64), self.starts)
        hit = np.logical_or.reduceat(is_best & (self.record == self.candidate), self.starts)
        likelihood = np.add.reduceat(np.exp(-gap), self.starts)
        probability, sureness = np.empty(len(self.order)), np.empty(len(self.order))
        # Rounded, as the order of the sum of likelihoods depends on the record.
        probability[self.order], sureness[self.order] = hit / ties, np.round(1.0 / likelihood, 9)
        return probability, sureness


class _Prediction(NamedTuple):
    """The agreement of each candidate of the pairs with the prediction for a record."""

    columns: tuple[Hashable, ...]
    sources: tuple[Hashable, ...]
    exact: bool
    nearly: bool
    scores: FloatArray  # shape (p,): log-likelihoods


def _best_prediction(features: Features, series: pd.Series[Any], pairs: _Pairs) -> _Prediction | None:
    """The prediction of a column with the most linked records. None if there is nothing to predict."""
    codes = coded(series)
    present = codes >= 0
    counts = np.bincount(codes[present], minlength=1)
    if counts.max() >= COMMON * len(codes) or np.count_nonzero(present) < 3:
        return None
    numbers = measured(series)
    is_number = numbers is not None and np.isfinite(numbers[present]).all() and len(counts) > FEW_VALUES
    ordered = numbers[present] if is_number and numbers is not None else None
    features = features._replace(values=features.values[present])
    exact_scores = np.where(codes[pairs.candidate] == codes[pairs.record], 0.0, _CONTRADICTION)
    # A record without a value is not predicted: another record of the class is picked instead.
    absent = ~present[pairs.candidate]
    exact_scores[absent] = 10 * _CONTRADICTION
    for combined_values, sources in formulas(features):
        if follows(combined_values, codes[present], ordered):
            return _Prediction((series.name,), sources, True, True, exact_scores)
    by_chance = math.log(counts.max() / counts.sum()) * counts.sum()
    may_be_exact = bool(by_chance < math.log(CHANCE / len(features.names)))
    best, best_rank = None, (False, -1.0)
    for model in code_models(features, codes[present]) if ordered is None else number_models(features, ordered):
        exact = model.exact and may_be_exact
        scores = exact_scores if exact else np.where(absent, 10 * _CONTRADICTION, _scores(model, codes, present, pairs))
        rank = (exact, float(pairs.picked(scores)[0].mean()))
        if rank > best_rank:
            nearly = exact or model.fit >= NEARLY
            best_rank = rank
            best = _Prediction((series.name,), tuple(model.sources), exact, nearly, scores)
    return best


def _combine(predictions: Sequence[_Prediction]) -> _Prediction:
    """The prediction of all columns at once."""
    columns = tuple(name for prediction in predictions for name in prediction.columns)
    sources = tuple(dict.fromkeys(name for prediction in predictions for name in prediction.sources))
    scores = np.sum([prediction.scores for prediction in predictions], axis=0)
    return _Prediction(columns, sources, False, False, scores)


def _scores(model: Model, codes: IntArray, present: NDArray[np.bool_], pairs: _Pairs) -> FloatArray:
    positions = np.cumsum(present) - 1  # among the records with a value
    record, candidate = positions[pairs.record], positions[pairs.candidate]
    if model.true is None:
        scores = model.predicted[record, np.maximum(codes[pairs.candidate], 0)]
    else:
        scores = -0.5 * np.square((model.true[candidate] - model.predicted[record]) / model.error)
    return np.where(present[pairs.record], np.maximum(scores, _CONTRADICTION * 1e6), 0.0)


def _measure(prediction: _Prediction, released: pd.DataFrame, classes: IntArray, pairs: _Pairs) -> Predicted | None:
    """Measure the gain of a prediction."""
    probability, sureness = pairs.picked(prediction.scores)
    n, share = len(probability), float(probability.mean())
    chance = np.empty(n)
    chance[pairs.order] = 1.0 / pairs.sizes
    surest, highest = np.argsort(-sureness, kind="stable"), 0.0
    for part in _SUREST:
        m = math.ceil(part * n)
        linked, expected = float(probability[surest[:m]].mean()), chance[surest[:m]]
        error = math.sqrt(float((expected * (1.0 - expected)).sum())) / m
        if (part == 1.0 or m >= _MIN_RECORDS) and linked > float(expected.mean()) + _ERRORS * error:
            highest = max(highest, linked)
    codes = [coded(released[name]) for name in prediction.columns]
    sizes, joint = np.bincount(classes)[classes], combined(classes, *codes)
    if_known = np.bincount(joint)[joint]
    if prediction.exact:
        highest = max(highest, float((if_known < sizes).any()))
    if highest == 0.0:
        return None
    return Predicted(
        *prediction[:4],
        share=share,
        by_chance=float(chance.mean()),
        if_known=float((1.0 / if_known).mean()),
        n_certain=int(np.count_nonzero((if_known == 1) & (sizes > 1))) if prediction.exact else 0,
        highest=float((1.0 / if_known).max()) if prediction.nearly else highest,
        n=n,
    )
