"""Linkage by prediction: the gain of an intruder who computes released columns from known quasi-identifiers.

k-anonymity counts only the quasi-identifiers. A released column that follows from them, such as a sum, net income or an
age group, still distinguishes the records of a class. Here several models predict each such column from the original
quasi-identifiers, always without the predicted record, and an intruder picks the record of the person's class that
agrees best with the prediction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.taxonomy import category
from microagg.metrics.risk.equivalence_classes import coded, combined
from microagg.progress import checkpoint
from microagg.release.column_counts import CHANCE, COMMON, in_order, log_orders, measured
from microagg.tables import digest_array
from microagg.validation import FloatArray, IntArray, quoted

#: About the maximum number of examined records; larger files are sampled by whole classes, at random.
SAMPLE = 5000

#: Numbers with at most this many distinct values are predicted as categories, such as the answers 1 to 5.
FEW_VALUES = 20

#: A prediction is exact if at least this share of the records is predicted exactly.
EXACT = 0.99

#: A column follows nearly if this share of its variance, or of its records' categories, is predicted.
NEARLY = 0.95

# Linkage counts if it exceeds a random pick in the class by this many standard errors, among one of these shares of the
# records about which the intruder is most certain. Shares of fewer records than the last number are skipped.
_ERRORS, _SUREST, _MIN_RECORDS = 4.0, (1.0, 0.5, 0.2, 0.1, 0.05), 50

# The number of numeric quasi-identifiers that are combined in pairs, and the maximum probability of chance per formula.
_MOST_COMBINED, _CHANCE_OF_MANY = 8, CHANCE / 1000

# The folds of a cross-validation.
_FOLDS = 5

# The maximum number of compared records of a class; in larger classes linkage looks easier than it is.
_LARGEST_CLASS = 1000

# A record that contradicts an exact prediction, in units of log-likelihood.
_CONTRADICTION = -50.0

# The maximum number of columns of a file whose models are kept for its next release.
_MOST_KEPT = 50


@dataclass(frozen=True)
class Predicted:
    """The gain of an intruder who predicts ``columns`` from a person's quasi-identifiers; shares are from 0 to 1."""

    columns: tuple[Hashable, ...]  # released columns, predicted together
    sources: tuple[Hashable, ...]  # the quasi-identifiers used for the prediction, most important first
    exact: bool  # whether at least EXACT of the records are predicted exactly
    nearly: bool  # whether NEARLY of the variance, or of the categories, is predicted
    share: float  # of the records, that the intruder picks rightly in their classes
    by_chance: float  # the share if any record of the class is picked: the number of classes / n
    if_known: float  # the share if the intruder knew the columns themselves: a better formula gives no more
    n_certain: int  # records that an exact prediction distinguishes from all others of their class
    # The largest probability of a record: that of an intruder who knows the columns if they are nearly predicted,
    # otherwise the share among the records about which the intruder is most certain.
    highest: float
    n: int  # examined records
    n_records: int  # records of the release

    def __str__(self) -> str:
        """The gain of the intruder as a sentence."""
        names = quoted(self.columns)
        verb = "computes" if self.exact else "predicts"
        certain = f", {self.n_certain:,} of {self.n_records:,} with certainty" if self.n_certain else ""
        perfect = "" if self.exact or not self.nearly else f" ({100.0 * self.if_known:.3g} % by a perfect prediction)"
        return (
            f"An intruder who also {verb} {names} from {quoted(self.sources)} picks the right record for "
            f"{100.0 * self.share:.3g} % of the persons{perfect}{certain}, each with a probability of at most "
            f"{100.0 * self.highest:.3g} %."
        )


def predicted_linkage(
    originals: pd.DataFrame, released: pd.DataFrame, classes: IntArray, models: Models | None = None
) -> tuple[Predicted, ...]:
    """The released columns whose prediction helps an intruder to pick the right record, worst first.

    The intruder knows the original quasi-identifiers of a person, ``originals``, shape (n, d), and the class of the
    record in the release. Each of the columns that are ``released`` unchanged, shape (n, m), is predicted by several
    models, without the record itself or its fold of a cross-validation; the model with the most linked records counts.
    Several columns are also predicted together. Linkage counts if it is 4 standard errors above a random pick in the
    class, and for all exact predictions. Of more than about :data:`SAMPLE` records, whole classes are drawn.

    Models of all records do not depend on ``classes``: ``models`` keeps them for the next release of the same file.

    For an intruder who combines the prediction with the distance from the released quasi-identifiers this is an upper
    bound: within a class, the latter are equal.
    """
    if not len(released.columns) or not len(originals.columns) or len(originals) < 3:
        return ()
    rows = _sample_classes(classes, SAMPLE)
    features = _features_of(originals.iloc[rows])
    pairs = _Pairs.of(classes[rows])
    models = Models() if models is None or len(rows) < len(classes) else models
    predictions = []
    for name in released.columns:
        checkpoint("Predicting released columns from the quasi-identifiers")
        if (prediction := _best_prediction(features, released[name].iloc[rows], pairs, models)) is not None:
            predictions.append(prediction)
    models.drop_unused()
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


def _best_prediction(features: _Features, series: pd.Series[Any], pairs: _Pairs, models: Models) -> _Prediction | None:
    """The prediction of a column with the most linked records. None if there is nothing to predict."""
    codes = coded(series)
    present = codes >= 0
    counts = np.bincount(codes[present], minlength=1)
    if counts.max() >= COMMON * len(codes) or np.count_nonzero(present) < 3:
        return None
    numbers = measured(series)
    is_number = numbers is not None and np.isfinite(numbers[present]).all() and len(counts) > FEW_VALUES
    ordered = numbers[present] if is_number and numbers is not None else None
    exact_scores = np.where(codes[pairs.candidate] == codes[pairs.record], 0.0, _CONTRADICTION)
    # A record without a value is not predicted: another record of the class is picked instead.
    absent = ~present[pairs.candidate]
    exact_scores[absent] = 10 * _CONTRADICTION
    formula, learned = models.learn(features, codes, ordered)
    if formula:
        return _Prediction((series.name,), formula, True, True, exact_scores)
    by_chance = math.log(counts.max() / counts.sum()) * counts.sum()
    may_be_exact = bool(by_chance < math.log(CHANCE / len(features.names)))
    best, best_rank = None, (False, -1.0)
    for model in learned:
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


def _scores(model: _Model, codes: IntArray, present: NDArray[np.bool_], pairs: _Pairs) -> FloatArray:
    positions = np.cumsum(present) - 1  # among the records with a value
    record, candidate = positions[pairs.record], positions[pairs.candidate]
    scores = model.scores(record, candidate, np.maximum(codes[pairs.candidate], 0))
    return np.where(present[pairs.record], np.maximum(scores, _CONTRADICTION * 1e6), 0.0)


def _measure(prediction: _Prediction, released: pd.DataFrame, classes: IntArray, pairs: _Pairs) -> Predicted | None:
    """Measure the gain of a prediction. None if it links no more records than a random pick in the class."""
    probability, certainty = pairs.picked(prediction.scores)
    by_chance = np.empty(len(probability))
    by_chance[pairs.order] = 1.0 / pairs.sizes
    highest = _highest_linkage(probability, certainty, by_chance)
    known_classes = combined(classes, *(coded(released[name]) for name in prediction.columns))
    sizes, known_sizes = np.bincount(classes)[classes], np.bincount(known_classes)[known_classes]
    if highest == 0.0 and not (prediction.exact and (known_sizes < sizes).any()):
        return None
    if prediction.nearly:
        highest = float((1.0 / known_sizes).max())
    return Predicted(
        columns=prediction.columns,
        sources=prediction.sources,
        exact=prediction.exact,
        nearly=prediction.nearly,
        share=float(probability.mean()),
        by_chance=float(by_chance.mean()),
        if_known=float((1.0 / known_sizes).mean()),
        n_certain=int(np.count_nonzero((known_sizes == 1) & (sizes > 1))) if prediction.exact else 0,
        highest=highest,
        n=len(probability),
        n_records=len(classes),
    )


def _highest_linkage(probability: FloatArray, certainty: FloatArray, by_chance: FloatArray) -> float:
    """Highest share of linked records among the most certain ones, or 0 if no share is significantly above chance."""
    most_certain, highest = np.argsort(-certainty, kind="stable"), 0.0
    for fraction in _SUREST:
        n = math.ceil(fraction * len(probability))
        rows = most_certain[:n]
        linked, expected = float(probability[rows].mean()), by_chance[rows]
        standard_error = math.sqrt(float((expected * (1.0 - expected)).sum())) / n
        is_significant = linked > float(expected.mean()) + _ERRORS * standard_error
        if is_significant and (fraction == 1.0 or n >= _MIN_RECORDS):
            highest = max(highest, linked)
    return highest


# Models that predict a column from quasi-identifiers, always without the predicted record.


class Models:
    """What was learned to predict columns; kept by who releases a file several times, and freed with it."""

    def __init__(self) -> None:
        self._learned: dict[Hashable, tuple[tuple[Hashable, ...], tuple[_Model, ...]]] = {}
        self._used: set[Hashable] = set()

    def learn(
        self, features: _Features, codes: IntArray, ordered: FloatArray | None
    ) -> tuple[tuple[Hashable, ...], tuple[_Model, ...]]:
        """The columns of a formula that a column follows from and, without one, models of the records with a value.

        ``codes``, shape (n,), are its values, -1 if missing, and ``ordered`` its numbers without the missing ones.
        """
        key = (features.digest, features.names, digest_array(codes), None if ordered is None else digest_array(ordered))
        self._used.add(key)
        if key in self._learned:
            return self._learned[key]
        features, codes = features._replace(values=features.values[codes >= 0]), codes[codes >= 0]
        formula = next((names for values, names in _formulas(features) if _follows(values, codes, ordered)), ())
        models = _code_models(features, codes) if ordered is None else _number_models(features, ordered)
        learned = formula, () if formula else tuple(models)
        if len(self._used) <= _MOST_KEPT:
            self._learned[key] = learned
        return learned

    def drop_unused(self) -> None:
        """Drop what was not used since the last call: it is of other columns."""
        used, self._used = self._used, set()
        self._learned = {key: learned for key, learned in [*self._learned.items()] if key in used}


class _Features(NamedTuple):
    """The quasi-identifiers as numbers, shape (n, d). Categories by level, or in alphabetical order."""

    values: FloatArray
    names: tuple[Hashable, ...]
    numeric: NDArray[np.bool_]  # shape (d,): whether they are numbers or dates
    digest: str


def _features_of(originals: pd.DataFrame) -> _Features:
    """Read the original quasi-identifiers as numbers."""
    columns, numeric = [], []
    for name in originals.columns:
        numbers = measured(originals[name])
        numeric.append(numbers is not None)
        columns.append(_ranks(originals[name]) if numbers is None else np.nan_to_num(numbers))
    values = np.column_stack(columns)
    return _Features(values, tuple(originals.columns), np.array(numeric), digest_array(np.vstack([values, numeric])))


def _ranks(series: pd.Series[Any]) -> FloatArray:
    if isinstance(series.dtype, pd.CategoricalDtype) and series.cat.ordered:
        return np.asarray(series.cat.codes, dtype=np.float64)
    texts = np.array([category(value) for value in series], dtype=object)
    return np.asarray(np.unique(texts, return_inverse=True)[1], dtype=np.float64)


class _Model(NamedTuple):
    """Predictions of a model for the records with a value."""

    sources: Sequence[Hashable]
    exact: bool
    fit: float  # the share of the variance, or of the records, that is predicted
    # Log-likelihoods of candidates for records, all of shape (p,): of their numbers among those with a value, and of
    # the candidates' codes.
    scores: Callable[[IntArray, IntArray, IntArray], FloatArray]


def _number_models(features: _Features, y: FloatArray) -> Iterator[_Model]:
    """Yield models of numbers, shape (n,)."""
    from sklearn.tree import DecisionTreeRegressor

    half_unit = 0.5 * np.diff(np.unique(y)).min() + 1e-9 * np.abs(y).max()

    def model(predicted: FloatArray, sources: Sequence[Hashable], true: FloatArray, guesses: FloatArray) -> _Model:
        error = max(float(np.sqrt(np.square(true - predicted).mean())), 1e-12 * float(np.abs(true).max() or 1.0))
        fit = 1.0 - error**2 / float(true.var()) if true.var() > 0.0 else 0.0
        exact = bool(np.mean(np.abs(guesses - y) <= half_unit) >= EXACT)
        return _Model(sources, exact, fit, lambda i, j, _: -0.5 * np.square((true[j] - predicted[i]) / error))

    columns = np.flatnonzero(features.numeric)
    linear = features.values[:, columns]
    for X, target, logarithms in ((linear, y, False), (_logarithms(linear), _logarithms(y), True)):
        # Numbers up to 0 have no logarithms.
        usable = np.isfinite(X).all(axis=0) & (X.min(axis=0) < X.max(axis=0))
        if not usable.any() or not np.isfinite(target).all() or usable.sum() + 2 > len(y) / 2:
            continue
        predicted, coefficients = _left_out_regression(X[:, usable], target)
        weights = np.abs(coefficients) * X[:, usable].std(axis=0)
        relevant = [j for j in np.argsort(-weights, kind="stable") if weights[j] > 0.01 * weights.max()]
        sources = [features.names[j] for j in columns[usable][relevant]]
        yield model(predicted, sources, target, np.exp(np.minimum(predicted, 700.0)) if logarithms else predicted)
    for leaf in (1, 5):
        tree = DecisionTreeRegressor(min_samples_leaf=leaf, random_state=0)
        predicted, sources = _cross_validated(tree, features, y, 1)
        yield model(predicted[:, 0], sources, y, predicted[:, 0])


def _code_models(features: _Features, codes: IntArray) -> Iterator[_Model]:
    """Yield models of categories, whose ``codes``, shape (n,), are from 0."""
    from scipy.sparse import csr_array
    from sklearn.tree import DecisionTreeClassifier

    n, n_values = len(codes), int(codes.max()) + 1
    prior = np.bincount(codes, minlength=n_values) / n

    # Most shares are 0: tables of all would take much memory.
    def model(shares: Any, others: FloatArray, sources: Sequence[Hashable], right: float, fit: float) -> _Model:
        def scores(records: IntArray, _: IntArray, values: IntArray) -> FloatArray:
            return np.log(0.99 * (shares[records, values] + others[values]) + 0.01 * prior[values])

        return _Model(sources, right >= EXACT, fit, scores)

    guesses = [_nearest_code(x, codes) for x in features.values.T]
    right = [float(np.mean(guess == codes)) for guess in guesses]
    best = int(np.argmax(right))
    share, guess, others = right[best], guesses[best], (1.0 - right[best]) * prior
    likeliest = np.where(share + others[guess] > others.max(), guess, others.argmax())
    shares = csr_array((np.full(n, share), guess, np.arange(n + 1)), (n, n_values))
    yield model(shares, others, [features.names[best]], share, float(np.mean(likeliest == codes)))
    for leaf in (1, 10) if n_values <= n / 4 else ():
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
        table, sources = _cross_validated(tree, features, codes, n_values)
        fit = float(np.mean(table.argmax(axis=1) == codes))
        yield model(csr_array(table), np.zeros(n_values), sources, fit, fit)


def _cross_validated(tree: Any, features: _Features, y: Any, width: int) -> tuple[FloatArray, list[Hashable]]:
    """Predictions by trees learned from the other folds, shape (n, width), and the most important features."""
    from sklearn.base import clone

    predicted, importance = np.zeros((len(y), width)), np.zeros(len(features.names))
    n_folds = min(_FOLDS, len(y))
    fold = np.random.default_rng(0).permutation(len(y)) % n_folds

    def learned(number: int) -> Any:
        return clone(tree).fit(features.values[fold != number], y[fold != number])

    with ThreadPoolExecutor() as pool:  # learning releases the interpreter lock
        for number, each in enumerate(pool.map(learned, range(n_folds))):
            left_out = np.flatnonzero(fold == number)
            if hasattr(each, "classes_"):
                predicted[np.ix_(left_out, each.classes_)] = each.predict_proba(features.values[left_out])
            else:
                predicted[left_out, 0] = each.predict(features.values[left_out])
            importance += each.feature_importances_
    order = np.argsort(-importance, kind="stable")[:3]
    return predicted, [features.names[j] for j in order if importance[j] > 0.1]


def _formulas(features: _Features) -> Iterator[tuple[FloatArray, tuple[Hashable, ...]]]:
    """Yield usual formulas of one or two quasi-identifiers, in any unit: values, shape (n,), and the columns.

    They are the column itself, its last digits, and of two columns sum, difference, product, maximum, minimum and
    ratios, also of squares.
    """
    values, names = features.values, features.names
    for j, name in enumerate(names):
        yield values[:, j], (name,)
    numeric = np.flatnonzero(features.numeric)[:_MOST_COMBINED].tolist()
    for j in numeric:
        for digits in (1, 2, 3):
            yield values[:, j] % 10**digits, (names[j],)
    for i, j in combinations(numeric, 2):
        a, b = values[:, i], values[:, j]
        results = [a + b, a - b, a * b, np.maximum(a, b), np.minimum(a, b)]
        if (a != 0.0).all() and (b != 0.0).all():
            results += [a / b, a / b**2, a**2 / b]
        for result in results:
            yield result, (names[i], names[j])


def _follows(x: FloatArray, codes: IntArray, ordered: FloatArray | None) -> bool:
    """Whether a column rises or falls with ``x`` or, without an order, has a range of ``x`` for each of its values.

    False if this is likely by chance. ``codes`` are its values, and ``ordered`` its numbers, if it has any.
    """
    counts = np.bincount(codes)
    counts = counts[counts > 0]
    orders = log_orders(counts)
    if ordered is not None:
        return orders > -math.log(_CHANCE_OF_MANY) and bool(in_order(x, {None: ordered}))
    order = np.lexsort((codes, x))
    ascending, changes = x[order], np.flatnonzero(np.diff(codes[order]))
    return bool(
        len(changes) + 1 == len(counts)
        and (ascending[changes] < ascending[changes + 1]).all()
        and math.lgamma(len(counts) + 1.0) - orders < math.log(_CHANCE_OF_MANY)
    )


def _logarithms(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(values > 0.0, np.log(values), np.nan)


def _left_out_regression(X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Predictions for each record by a linear regression of all others, and the coefficients."""
    center, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    Z = np.column_stack([np.ones(len(X)), (X - center) / spread])
    inverse = np.linalg.pinv(Z, rcond=1e-10)
    fitted = inverse @ y
    leverage = np.einsum("ij,ji->i", Z, inverse)
    residuals = (y - Z @ fitted) / np.maximum(1.0 - leverage, 1e-6)
    return y - residuals, fitted[1:] / spread


def _nearest_code(x: FloatArray, codes: IntArray) -> IntArray:
    """Code of the other record that is nearest in ``x``; of equally near ones any, as a file may be sorted."""
    order, places = np.random.default_rng(0).permutation(len(x)), np.arange(len(x))
    order = order[np.argsort(x[order], kind="stable")]
    gaps = np.concatenate([[np.inf], np.diff(x[order]), [np.inf]])
    nearest = np.empty_like(codes)
    nearest[order] = codes[order][np.where(gaps[:-1] <= gaps[1:], places - 1, places + 1)]
    return nearest
