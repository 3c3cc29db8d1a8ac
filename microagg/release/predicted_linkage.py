"""Linkage by prediction: what an intruder gains who computes released columns from the quasi-identifiers that he knows.

k-anonymity counts the quasi-identifiers alone. A released column that follows from them, such as their sum, net beside
gross income or an age group beside age, tells the records of a class apart all the same. Here several models predict
each such column from the original quasi-identifiers, always without the record that is predicted, and an intruder picks
the record of the person's class that agrees best with the prediction.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.taxonomy import category
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk.equivalence_classes import coded, combined
from microagg.progress import checkpoint
from microagg.release.column_counts import CHANCE, COMMON, in_order, log_orders, measured
from microagg.validation import FloatArray, IntArray, is_whole, listing, plain, quoted

#: Of more records, whole classes of about so many are looked at, drawn at random.
SAMPLE = 4000

#: Numbers with at most so many distinct values are predicted as categories, such as the answers 1 to 5.
FEW_VALUES = 20

#: A column follows exactly if at least this share of its records is predicted to the last digit, and nearly if so large
#: a share of its variance, or of its records' categories, is predicted.
EXACT, NEARLY = 0.99, 0.95

# Linkage pays if it is so many standard errors above the chance of picking any record of the class; and the shares of
# the records, those about which the intruder is surest, for which that is looked at, if they are so many records.
_ERRORS, _SUREST, _LEAST_RECORDS = 4.0, (1.0, 0.5, 0.2, 0.1, 0.05), 50

# Of larger classes so many records are compared, which makes linkage look easier than it is.
_LARGEST_CLASS = 1000

# A record that contradicts an exact prediction, in units of log-likelihood.
_CONTRADICTION = -50.0

_FOLDS = 5

# Of so many numeric quasi-identifiers pairs are combined, and how likely chance may be for each of these many formulas.
_MOST_COMBINED, _CHANCE_OF_MANY = 8, CHANCE / 1000


@dataclass(frozen=True)
class Predicted:
    """What an intruder gains who predicts ``columns`` from the quasi-identifiers of a person.

    Attributes
    ----------
    columns : tuple of column names
        The released columns that are predicted together.
    sources : tuple of column names
        The quasi-identifiers that they are predicted from, the most important ones first.
    formula : str
        How, in words, such as ``income + spouse``.
    exact : bool
        Whether at least 99 % of the records (:data:`EXACT`) are predicted exactly.
    nearly : bool
        Whether 95 % (:data:`NEARLY`) of the variance, or of the categories, are predicted.
    share : float
        The share of the records, 0 to 1, that the intruder picks rightly in their classes.
    by_chance : float
        The share, 0 to 1, if any record of the class is picked: the number of classes / n.
    if_known : float
        The share, 0 to 1, if the intruder knew the columns themselves: a better formula gives no more.
    n_certain : int
        The records that an exact prediction tells from all others of their class.
    highest : float
        The largest probability, 0 to 1. Where the prediction is exact, or nearly so, it is that of an intruder who
        knows the columns themselves, otherwise the share among the records about which the intruder is surest.
    n : int
        How many records were looked at.
    """

    columns: tuple[Hashable, ...]
    sources: tuple[Hashable, ...]
    formula: str
    exact: bool
    nearly: bool
    share: float
    by_chance: float
    if_known: float
    n_certain: int
    highest: float
    n: int

    def __str__(self) -> str:
        """What the intruder gains, as a sentence."""
        names = quoted(self.columns)
        how = "computes" if self.exact else "predicts"
        certain = f", {self.n_certain:,} of {self.n:,} with certainty" if self.n_certain else ""
        perfect = "" if self.exact or not self.nearly else f" ({100.0 * self.if_known:.3g} % by a perfect prediction)"
        return (
            f"An intruder who also {how} {names} from {quoted(self.sources)} picks the right record for "
            f"{100.0 * self.share:.3g} % of the persons{perfect}{certain}; the highest probability is "
            f"{100.0 * self.highest:.3g} %."
        )

    @property
    def how(self) -> str:
        """How the columns are predicted, as a sentence; it helps an intruder, so no report to pass on has it."""
        return f" The prediction: {self.formula}."


def predicted_linkage(
    originals: pd.DataFrame, released: pd.DataFrame, classes: IntArray, *, sample: int = SAMPLE
) -> tuple[Predicted, ...]:
    """Return the released columns whose prediction helps an intruder to pick the right record, the worst first.

    The intruder knows the original values of a person, and in which class the record is. Numbers are predicted by
    linear regression, also of logarithms, by the neighbors in one attribute, and by a regression tree; categories by
    the neighbors and by a tree. The record itself is left out, or the fold of a cross-validation that it is in. The
    model counts by which most records are found. Several columns are also predicted together.

    Linkage counts where it is 4 standard errors above picking any record of the class, and for all exact predictions.

    Parameters
    ----------
    originals : DataFrame, shape (n, d)
        The original quasi-identifiers, without missing values.
    released : DataFrame, shape (n, m)
        The columns that are released as they are, in the same order.
    classes : array of shape (n,)
        The number of each record's equivalence class in the release, from 0.
    sample : int
        Of more records whole classes of about so many are drawn.

    Raises
    ------
    DataError
        If the tables and ``classes`` do not have the same number of records.
    ParameterError
        If ``sample`` is not a whole number of at least 1.

    Notes
    -----
    For an intruder who goes by the distance from the released quasi-identifiers and by the prediction together this is
    an upper bound: within a class, the former are equal.
    """
    if not len(originals) == len(released) == len(classes):
        raise DataError(
            f"there are {len(originals)} originals, {len(released)} released records and {len(classes)} classes: give "
            "as many of each."
        )
    if not is_whole(sample) or sample < 1:
        raise ParameterError(f"sample must be a whole number of at least 1, not {sample!r}.")
    if not len(released.columns) or not len(originals.columns) or len(originals) < 3:
        return ()
    rows = _drawn_classes(classes, int(sample))
    features = _features(originals.iloc[rows])
    pairs = _Pairs.of(classes[rows])
    predictions = []
    for name in released.columns:
        checkpoint("Predicting released columns from the quasi-identifiers")
        if (prediction := _best_prediction(features, released[name].iloc[rows], pairs)) is not None:
            predictions.append(prediction)
    results = [_measured(prediction, released, classes, pairs) for prediction in predictions]
    helpful = [prediction for prediction, result in zip(predictions, results, strict=True) if result is not None]
    # Several that help are predicted together; where at most one does, all of them may help together.
    jointly = helpful if len(helpful) > 1 else predictions
    if len(jointly) > 1:
        results.append(_measured(_together(jointly), released, classes, pairs))
    return tuple(sorted(filter(None, results), key=lambda result: (-result.highest, -result.share)))


def _drawn_classes(classes: IntArray, sample: int) -> IntArray:
    """Return the records, ascending, of as many classes, drawn at random, as have ``sample`` records together."""
    if len(classes) <= sample:
        return np.arange(len(classes))
    sizes = np.bincount(classes)
    drawn = np.random.default_rng(0).permutation(len(sizes))
    drawn = drawn[: int(np.searchsorted(np.cumsum(sizes[drawn]), sample)) + 1]
    rows = np.flatnonzero(np.isin(classes, drawn))
    # A class larger than the sample is not looked at whole.
    return rows if len(rows) <= 2 * sample else np.sort(np.random.default_rng(0).choice(rows, sample, False))


class _Pairs(NamedTuple):
    """Each record with each record of its class, itself among them."""

    record: IntArray  # shape (p,), in the order of ``starts``
    candidate: IntArray  # shape (p,)
    starts: IntArray  # shape (n,): where the pairs of each record begin
    order: IntArray  # shape (n,): the record whose pairs begin there
    sizes: IntArray  # shape (n,): how many there are

    @classmethod
    def of(cls, classes: IntArray) -> _Pairs:
        """Return the pairs of records that are in ``classes``, shape (n,)."""
        order = np.argsort(classes, kind="stable")
        _, codes, counts = np.unique(classes[order], return_inverse=True, return_counts=True)
        firsts = np.cumsum(counts) - counts
        # In a class that is too large a record is compared with those that follow it, in a ring.
        place = np.arange(len(order)) - firsts[codes]
        sizes = np.minimum(counts, _LARGEST_CLASS)[codes]
        starts = np.cumsum(sizes) - sizes
        step = np.arange(int(sizes.sum())) - np.repeat(starts, sizes)
        around = (np.repeat(place, sizes) + step) % np.repeat(counts[codes], sizes)
        return cls(np.repeat(order, sizes), order[np.repeat(firsts[codes], sizes) + around], starts, order, sizes)

    def picked(self, scores: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return with what probability each record is picked by the highest score, and how sure the intruder is.

        ``scores``, shape (p,), are log-likelihoods; both results are of shape (n,).
        """
        best = np.maximum.reduceat(scores, self.starts)
        gap = np.repeat(best, self.sizes) - scores
        is_best = gap <= 1e-12 * (1.0 + np.abs(np.repeat(best, self.sizes)))
        ties = np.add.reduceat(is_best.astype(np.float64), self.starts)
        hit = np.logical_or.reduceat(is_best & (self.record == self.candidate), self.starts)
        likelihood = np.add.reduceat(np.exp(-gap), self.starts)
        probability, sureness = np.empty(len(self.order)), np.empty(len(self.order))
        # Rounded, as the order in which likelihoods are added up depends on which record is the own one.
        probability[self.order], sureness[self.order] = hit / ties, np.round(1.0 / likelihood, 9)
        return probability, sureness


class _Features(NamedTuple):
    """The quasi-identifiers as numbers, shape (n, d): of categories their places by level, or in the alphabet."""

    values: FloatArray
    names: tuple[Hashable, ...]
    numeric: NDArray[np.bool_]  # shape (d,): whether they are numbers or dates


def _features(originals: pd.DataFrame) -> _Features:
    columns, numeric = [], []
    for name in originals.columns:
        numbers = measured(originals[name])
        numeric.append(numbers is not None)
        columns.append(_places(originals[name]) if numbers is None else np.nan_to_num(numbers))
    return _Features(np.column_stack(columns), tuple(originals.columns), np.array(numeric))


def _places(series: pd.Series[Any]) -> FloatArray:
    if isinstance(series.dtype, pd.CategoricalDtype) and series.cat.ordered:
        return np.asarray(series.cat.codes, dtype=np.float64)
    texts = np.array([category(value) for value in series], dtype=object)
    return np.asarray(np.unique(texts, return_inverse=True)[1], dtype=np.float64)


class _Prediction(NamedTuple):
    """How well each candidate of the pairs agrees with what is predicted of a record."""

    columns: tuple[Hashable, ...]
    sources: tuple[Hashable, ...]
    formula: str
    exact: bool
    nearly: bool
    scores: FloatArray  # shape (p,): log-likelihoods


def _best_prediction(features: _Features, series: pd.Series[Any], pairs: _Pairs) -> _Prediction | None:
    """Return the prediction of a column by which most records are picked; None if there is nothing to predict."""
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
    # Whoever has no value is not predicted: another record of the class is taken for that person's.
    absent = ~present[pairs.candidate]
    exact_scores[absent] = 10 * _CONTRADICTION
    for combined_values, sources, formula in _formulas(features):
        if _follows(combined_values, codes[present], ordered):
            return _Prediction((series.name,), sources, formula, True, True, exact_scores)
    by_chance = math.log(counts.max() / counts.sum()) * counts.sum()
    may_be_exact = bool(by_chance < math.log(CHANCE / len(features.names)))
    best, best_rank = None, (False, -1.0)
    for model in _of_codes(features, codes[present]) if ordered is None else _of_numbers(features, ordered):
        exact = model.exact and may_be_exact
        scores = exact_scores if exact else np.where(absent, 10 * _CONTRADICTION, _scores(model, codes, present, pairs))
        rank = (exact, float(pairs.picked(scores)[0].mean()))
        if rank > best_rank:
            nearly = exact or model.fit >= NEARLY
            best_rank = rank
            best = _Prediction((series.name,), tuple(model.sources), model.formula, exact, nearly, scores)
    return best


def _together(predictions: Sequence[_Prediction]) -> _Prediction:
    """Return the prediction of all columns at once."""
    columns = tuple(name for each in predictions for name in each.columns)
    sources = tuple(dict.fromkeys(name for each in predictions for name in each.sources))
    scores = np.sum([each.scores for each in predictions], axis=0)
    return _Prediction(columns, sources, "all of them together", False, False, scores)


class _Model(NamedTuple):
    """What a model predicts of the records that have a value."""

    sources: Sequence[Hashable]
    formula: str
    exact: bool
    fit: float  # the share of the variance, or of the records, that is predicted
    # Of numbers the predicted ones, shape (n,), the true ones on the same scale, and the standard error; of categories
    # log-probabilities, shape (n, values).
    predicted: FloatArray
    true: FloatArray | None = None
    error: float = 1.0


def _scores(model: _Model, codes: IntArray, present: NDArray[np.bool_], pairs: _Pairs) -> FloatArray:
    place = np.cumsum(present) - 1  # among those that have a value
    record, candidate = place[pairs.record], place[pairs.candidate]
    if model.true is None:
        scores = model.predicted[record, np.maximum(codes[pairs.candidate], 0)]
    else:
        scores = -0.5 * np.square((model.true[candidate] - model.predicted[record]) / model.error)
    return np.where(present[pairs.record], np.maximum(scores, _CONTRADICTION * 1e6), 0.0)


def _of_numbers(features: _Features, y: FloatArray) -> Iterator[_Model]:
    """Yield models of numbers, shape (n,)."""
    from sklearn.tree import DecisionTreeRegressor

    half_unit = 0.5 * np.diff(np.unique(y)).min() + 1e-9 * np.abs(y).max()

    def model(
        predicted: FloatArray, sources: Sequence[Hashable], formula: str, true: FloatArray, rounded: FloatArray
    ) -> _Model:
        error = max(float(np.sqrt(np.square(true - predicted).mean())), 1e-12 * float(np.abs(true).max() or 1.0))
        fit = 1.0 - error**2 / float(true.var()) if true.var() > 0.0 else 0.0
        exact = bool(np.mean(np.abs(rounded - y) <= half_unit) >= EXACT)
        return _Model(sources, formula, exact, fit, predicted, true, error)

    columns = np.flatnonzero(features.numeric)
    linear = features.values[:, columns]
    for X, target, sign in ((linear, y, " + "), (_logarithms(linear), _logarithms(y), " · ")):
        # Without logarithms of numbers up to 0.
        usable = np.isfinite(X).all(axis=0) & (X.min(axis=0) < X.max(axis=0))
        if not usable.any() or not np.isfinite(target).all() or usable.sum() + 2 > len(y) / 2:
            continue
        predicted, coefficients = _left_out_regression(X[:, usable], target)
        weights = np.abs(coefficients) * X[:, usable].std(axis=0)
        chosen = [j for j in np.argsort(-weights, kind="stable") if weights[j] > 0.01 * weights.max()]
        sources = [features.names[j] for j in columns[usable][chosen]]
        rounded, factors, constant = _simple(X[:, usable][:, chosen], target, coefficients[chosen], sign == " · ")
        formula = _formula(list(zip(factors, sources, strict=True)), constant, sign)
        yield model(predicted, sources, formula, target, rounded)
    by_one = [_neighbors_mean(x, y) for x in features.values.T]
    nearest = min(range(len(by_one)), key=lambda j: float(np.square(by_one[j] - y).sum()))
    name, predicted = features.names[nearest], by_one[nearest]
    yield model(predicted, [name], f"a function of {plain(name)!r}", y, predicted)
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    predicted, sources = _cross_validated(tree, features, y, 1)
    yield model(predicted[:, 0], sources, f"a regression tree of {_listed(sources)}", y, predicted[:, 0])


def _of_codes(features: _Features, codes: IntArray) -> Iterator[_Model]:
    """Yield models of categories, whose ``codes``, shape (n,), are from 0."""
    from sklearn.tree import DecisionTreeClassifier

    n, n_values = len(codes), int(codes.max()) + 1
    prior = np.bincount(codes, minlength=n_values) / n

    def model(shares: FloatArray, sources: Sequence[Hashable], formula: str, share_right: float) -> _Model:
        fit = float(np.mean(shares.argmax(axis=1) == codes))
        return _Model(sources, formula, share_right >= EXACT, fit, np.log(0.99 * shares + 0.01 * prior))

    by_one = [_neighbors_mode(x, codes) for x in features.values.T]
    right = [float(np.mean(guess == codes)) for guess in by_one]
    nearest = int(np.argmax(right))
    shares = (1.0 - right[nearest]) * np.tile(prior, (n, 1))
    shares[np.arange(n), by_one[nearest]] += right[nearest]
    name = features.names[nearest]
    yield model(shares, [name], f"determined by {plain(name)!r}", right[nearest])
    for leaf in (1, 10) if n_values <= n / 4 else ():
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
        shares, sources = _cross_validated(tree, features, codes, n_values)
        share_right = float(np.mean(shares.argmax(axis=1) == codes))
        how = "determined by" if share_right >= EXACT else "a tree of"
        yield model(shares, sources, f"{how} {_listed(sources)}", share_right)


def _cross_validated(tree: Any, features: _Features, y: Any, width: int) -> tuple[FloatArray, list[Hashable]]:
    """Return what trees learned from the other folds predict, shape (n, width), and the most important features."""
    predicted, importance = np.zeros((len(y), width)), np.zeros(len(features.names))
    n_folds = min(_FOLDS, len(y))
    fold = np.random.default_rng(0).permutation(len(y)) % n_folds
    for each in range(n_folds):
        left_out = np.flatnonzero(fold == each)
        tree.fit(features.values[fold != each], y[fold != each])
        if hasattr(tree, "classes_"):
            predicted[np.ix_(left_out, tree.classes_)] = tree.predict_proba(features.values[left_out])
        else:
            predicted[left_out, 0] = tree.predict(features.values[left_out])
        importance += tree.feature_importances_
    order = np.argsort(-importance, kind="stable")[:3]
    return predicted, [features.names[j] for j in order if importance[j] > 0.1]


def _formulas(features: _Features) -> Iterator[tuple[FloatArray, tuple[Hashable, ...], str]]:
    """Yield what people compute of one or two quasi-identifiers, in any unit: shape (n,), of which, and how."""
    values, names = features.values, features.names
    for j, name in enumerate(names):
        yield values[:, j], (name,), f"a function of {plain(name)!r}"
    numeric = np.flatnonzero(features.numeric)[:_MOST_COMBINED].tolist()
    for j in numeric:
        for digits in (1, 2, 3):
            yield values[:, j] % 10**digits, (names[j],), f"the last {digits} digits of {plain(names[j])!r}"
    for i, j in combinations(numeric, 2):
        a, b = values[:, i], values[:, j]
        pairs = {"{} + {}": a + b, "{} - {}": a - b, "{} · {}": a * b}
        pairs |= {"larger of {} and {}": np.maximum(a, b), "smaller of {} and {}": np.minimum(a, b)}
        if (a != 0.0).all() and (b != 0.0).all():
            pairs |= {"{} / {}": a / b, "{} / {}²": a / b**2, "{}² / {}": a**2 / b}
        for formula, result in pairs.items():
            yield result, (names[i], names[j]), formula.format(plain(names[i]), plain(names[j]))


def _follows(x: FloatArray, codes: IntArray, ordered: FloatArray | None) -> bool:
    """Whether a column rises or falls with ``x`` or, without an order, has a range of ``x`` for each of its values.

    Not where this is likely by chance. ``codes`` are its values, and ``ordered`` its numbers, if it has such.
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
    """Return what a linear regression of all other records predicts of each, and the coefficients."""
    center, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0.0, spread, 1.0)
    Z = np.column_stack([np.ones(len(X)), (X - center) / spread])
    inverse = np.linalg.pinv(Z, rcond=1e-10)
    fitted = inverse @ y
    leverage = np.einsum("ij,ji->i", Z, inverse)
    residuals = (y - Z @ fitted) / np.maximum(1.0 - leverage, 1e-6)
    return y - residuals, fitted[1:] / spread


def _simple(
    X: FloatArray, y: FloatArray, coefficients: FloatArray, logarithms: bool
) -> tuple[FloatArray, FloatArray, float]:
    """Return what a formula of few digits gives, on the scale of the column, its coefficients and its constant.

    People compute columns by such a formula: a sum, a difference, a mean, a ratio, or weight / height².
    """
    digits = 1 if logarithms else 2
    rounded = np.array([float(f"{2 * factor:.{digits - 1}e}") / 2 for factor in coefficients])
    constant = float(np.median(y - X @ rounded))
    if logarithms:
        factor = float(f"{math.exp(min(constant, 700.0)):.3g}")
        return factor * np.exp(np.minimum(X @ rounded, 700.0)), rounded, factor
    constant = 0.0 if abs(constant) < 0.01 * y.std() else float(f"{constant:.3g}")
    return X @ rounded + constant, rounded, constant


def _neighbors_mean(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return for each record the mean of ``y`` of the others with its ``x``, else what lies between its neighbors."""
    distinct, codes, counts = np.unique(x, return_inverse=True, return_counts=True)
    sums = np.bincount(codes, weights=y)
    m = len(distinct)
    if m == 1:
        return (sums[0] - y) / max(len(y) - 1, 1)
    means, places = sums / counts, np.arange(m)
    below, above = np.maximum(places - 1, 0), np.minimum(places + 1, m - 1)
    below, above = np.where(below == places, above, below), np.where(above == places, below, above)
    width = distinct[above] - distinct[below]
    part = np.divide(distinct - distinct[below], width, out=np.zeros(m), where=width > 0.0)
    between = means[below] + part * (means[above] - means[below])
    return np.where(counts[codes] > 1, (sums[codes] - y) / np.maximum(counts[codes] - 1, 1), between[codes])


def _neighbors_mode(x: FloatArray, codes: IntArray) -> IntArray:
    """Return for each record the most frequent code of the others with its ``x``, else that of the record below."""
    places, many = np.unique(x, return_inverse=True)[1], int(codes.max()) + 1
    pairs, inverse, counts = np.unique(places * many + codes, return_inverse=True, return_counts=True)
    values, of_place = pairs % many, pairs // many
    # The first and the second most frequent code of each place.
    order = np.lexsort((values, -counts, of_place))
    starts = np.searchsorted(of_place[order], np.arange(int(places.max()) + 1))
    ends = np.append(starts[1:], len(order))
    first = order[starts]
    second = order[np.minimum(starts + 1, ends - 1)]
    # Without the record itself its code has one record less.
    is_first = inverse == first[places]
    beaten = is_first & (counts[inverse] - 1 <= counts[second[places]]) & (second[places] != first[places])
    guess = np.where(beaten, values[second[places]], values[first[places]])
    alone = np.bincount(places)[places] == 1
    neighbor = np.where(places > 0, places - 1, min(1, len(starts) - 1))
    return np.where(alone, values[first[neighbor]], guess).astype(np.int64)


def _listed(names: Sequence[Hashable]) -> str:
    return listing([repr(plain(name)) for name in names], 3) if names else "the quasi-identifiers"


def _formula(terms: Sequence[tuple[float, Hashable]], constant: float, sign: str) -> str:
    """Return a linear combination, or a product of powers, as text."""
    if sign == " · ":
        powers = [f"{name}" if power == 1 else f"{name}^{power:g}" for power, name in terms]
        return sign.join(powers if constant == 1 else [f"{constant:g}", *powers])
    text = "".join(
        f"{' - ' if factor < 0 else ' + '}{'' if abs(factor) == 1 else f'{abs(factor):g} · '}{name}"
        for factor, name in terms
    )
    return text.removeprefix(" + ") + (f" {'-' if constant < 0 else '+'} {abs(constant):g}" if constant else "")


def _measured(prediction: _Prediction, released: pd.DataFrame, classes: IntArray, pairs: _Pairs) -> Predicted | None:
    """Measure what a prediction gains; None if it is nothing."""
    probability, sureness = pairs.picked(prediction.scores)
    n, share = len(probability), float(probability.mean())
    chance = np.empty(n)
    chance[pairs.order] = 1.0 / pairs.sizes
    surest, highest = np.argsort(-sureness, kind="stable"), 0.0
    for part in _SUREST:
        m = math.ceil(part * n)
        linked, expected = float(probability[surest[:m]].mean()), chance[surest[:m]]
        error = math.sqrt(float((expected * (1.0 - expected)).sum())) / m
        if (part == 1.0 or m >= _LEAST_RECORDS) and linked > float(expected.mean()) + _ERRORS * error:
            highest = max(highest, linked)
    codes = [coded(released[name]) for name in prediction.columns]
    sizes, joint = np.bincount(classes)[classes], combined(classes, *codes)
    if_known = np.bincount(joint)[joint]
    if prediction.exact:
        highest = max(highest, float((if_known < sizes).any()))
    if highest == 0.0:
        return None
    return Predicted(
        *prediction[:5],
        share=share,
        by_chance=float(chance.mean()),
        if_known=float((1.0 / if_known).mean()),
        n_certain=int(np.count_nonzero((if_known == 1) & (sizes > 1))) if prediction.exact else 0,
        highest=float((1.0 / if_known).max()) if prediction.nearly else highest,
        n=n,
    )
