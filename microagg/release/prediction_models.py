"""Models that predict a column from quasi-identifiers, always without the predicted record."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.taxonomy import category
from microagg.release.column_counts import CHANCE, in_order, log_orders, measured
from microagg.validation import FloatArray, IntArray

#: A prediction is exact if at least this share of the records is predicted to the last digit.
EXACT = 0.99

_FOLDS = 5

# The number of numeric quasi-identifiers that are combined in pairs, and the maximum probability of chance per formula.
_MOST_COMBINED, _CHANCE_OF_MANY = 8, CHANCE / 1000


class Features(NamedTuple):
    """The quasi-identifiers as numbers, shape (n, d). Categories by level, or in alphabetical order."""

    values: FloatArray
    names: tuple[Hashable, ...]
    numeric: NDArray[np.bool_]  # shape (d,): whether they are numbers or dates


def features_of(originals: pd.DataFrame) -> Features:
    """Read the original quasi-identifiers as numbers."""
    columns, numeric = [], []
    for name in originals.columns:
        numbers = measured(originals[name])
        numeric.append(numbers is not None)
        columns.append(_ranks(originals[name]) if numbers is None else np.nan_to_num(numbers))
    return Features(np.column_stack(columns), tuple(originals.columns), np.array(numeric))


def _ranks(series: pd.Series[Any]) -> FloatArray:
    if isinstance(series.dtype, pd.CategoricalDtype) and series.cat.ordered:
        return np.asarray(series.cat.codes, dtype=np.float64)
    texts = np.array([category(value) for value in series], dtype=object)
    return np.asarray(np.unique(texts, return_inverse=True)[1], dtype=np.float64)


class Model(NamedTuple):
    """Predictions of a model for the records with a value."""

    sources: Sequence[Hashable]
    exact: bool
    fit: float  # the share of the variance, or of the records, that is predicted
    # For numbers: predicted and true values, shape (n,), on the same scale, and the standard error. For categories:
    # log-probabilities, shape (n, values).
    predicted: FloatArray
    true: FloatArray | None = None
    error: float = 1.0


def number_models(features: Features, y: FloatArray) -> Iterator[Model]:
    """Yield models of numbers, shape (n,)."""
    from sklearn.tree import DecisionTreeRegressor

    half_unit = 0.5 * np.diff(np.unique(y)).min() + 1e-9 * np.abs(y).max()

    def model(predicted: FloatArray, sources: Sequence[Hashable], true: FloatArray, rounded: FloatArray) -> Model:
        error = max(float(np.sqrt(np.square(true - predicted).mean())), 1e-12 * float(np.abs(true).max() or 1.0))
        fit = 1.0 - error**2 / float(true.var()) if true.var() > 0.0 else 0.0
        exact = bool(np.mean(np.abs(rounded - y) <= half_unit) >= EXACT)
        return Model(sources, exact, fit, predicted, true, error)

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
        rounded = _by_few_digits(X[:, usable][:, relevant], target, coefficients[relevant], logarithms)
        yield model(predicted, sources, target, rounded)
    by_neighbors = [_neighbors_mean(x, y) for x in features.values.T]
    nearest = min(range(len(by_neighbors)), key=lambda j: float(np.square(by_neighbors[j] - y).sum()))
    predicted = by_neighbors[nearest]
    yield model(predicted, [features.names[nearest]], y, predicted)
    tree = DecisionTreeRegressor(min_samples_leaf=5, random_state=0)
    predicted, sources = _cross_validated(tree, features, y, 1)
    yield model(predicted[:, 0], sources, y, predicted[:, 0])


def code_models(features: Features, codes: IntArray) -> Iterator[Model]:
    """Yield models of categories, whose ``codes``, shape (n,), are from 0."""
    from sklearn.tree import DecisionTreeClassifier

    n, n_values = len(codes), int(codes.max()) + 1
    prior = np.bincount(codes, minlength=n_values) / n

    def model(shares: FloatArray, sources: Sequence[Hashable], share_right: float) -> Model:
        fit = float(np.mean(shares.argmax(axis=1) == codes))
        return Model(sources, share_right >= EXACT, fit, np.log(0.99 * shares + 0.01 * prior))

    by_neighbors = [_neighbors_mode(x, codes) for x in features.values.T]
    right = [float(np.mean(guess == codes)) for guess in by_neighbors]
    nearest = int(np.argmax(right))
    shares = (1.0 - right[nearest]) * np.tile(prior, (n, 1))
    shares[np.arange(n), by_neighbors[nearest]] += right[nearest]
    yield model(shares, [features.names[nearest]], right[nearest])
    for leaf in (1, 10) if n_values <= n / 4 else ():
        tree = DecisionTreeClassifier(min_samples_leaf=leaf, random_state=0)
        shares, sources = _cross_validated(tree, features, codes, n_values)
        yield model(shares, sources, float(np.mean(shares.argmax(axis=1) == codes)))


def _cross_validated(tree: Any, features: Features, y: Any, width: int) -> tuple[FloatArray, list[Hashable]]:
    """Predictions by trees learned from the other folds, shape (n, width), and the most important features."""
    predicted, importance = np.zeros((len(y), width)), np.zeros(len(features.names))
    n_folds = min(_FOLDS, len(y))
    fold = np.random.default_rng(0).permutation(len(y)) % n_folds
    for number in range(n_folds):
        left_out = np.flatnonzero(fold == number)
        tree.fit(features.values[fold != number], y[fold != number])
        if hasattr(tree, "classes_"):
            predicted[np.ix_(left_out, tree.classes_)] = tree.predict_proba(features.values[left_out])
        else:
            predicted[left_out, 0] = tree.predict(features.values[left_out])
        importance += tree.feature_importances_
    order = np.argsort(-importance, kind="stable")[:3]
    return predicted, [features.names[j] for j in order if importance[j] > 0.1]


def formulas(features: Features) -> Iterator[tuple[FloatArray, tuple[Hashable, ...]]]:
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


def follows(x: FloatArray, codes: IntArray, ordered: FloatArray | None) -> bool:
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


def _by_few_digits(X: FloatArray, y: FloatArray, coefficients: FloatArray, logarithms: bool) -> FloatArray:
    """Values of a formula with few digits, on the scale of the column.

    Typical columns are computed by such a formula: a sum, a difference, a mean, a ratio, or weight / height².
    """
    digits = 1 if logarithms else 2
    rounded = np.array([float(f"{2 * factor:.{digits - 1}e}") / 2 for factor in coefficients])
    constant = float(np.median(y - X @ rounded))
    if logarithms:
        factor = float(f"{math.exp(min(constant, 700.0)):.3g}")
        return np.asarray(factor * np.exp(np.minimum(X @ rounded, 700.0)))
    constant = 0.0 if abs(constant) < 0.01 * y.std() else float(f"{constant:.3g}")
    return np.asarray(X @ rounded + constant)


def _neighbors_mean(x: FloatArray, y: FloatArray) -> FloatArray:
    """Mean of ``y`` over the other records with the same ``x``, else interpolated between neighbors."""
    distinct, codes, counts = np.unique(x, return_inverse=True, return_counts=True)
    sums = np.bincount(codes, weights=y)
    m = len(distinct)
    if m == 1:
        return (sums[0] - y) / max(len(y) - 1, 1)
    means, ranks = sums / counts, np.arange(m)
    below, above = np.maximum(ranks - 1, 0), np.minimum(ranks + 1, m - 1)
    below, above = np.where(below == ranks, above, below), np.where(above == ranks, below, above)
    width = distinct[above] - distinct[below]
    fraction = np.divide(distinct - distinct[below], width, out=np.zeros(m), where=width > 0.0)
    between = means[below] + fraction * (means[above] - means[below])
    return np.where(counts[codes] > 1, (sums[codes] - y) / np.maximum(counts[codes] - 1, 1), between[codes])


def _neighbors_mode(x: FloatArray, codes: IntArray) -> IntArray:
    """Most frequent code of the other records with the same ``x``, else of the next lower ``x``."""
    ranks, n_codes = np.unique(x, return_inverse=True)[1], int(codes.max()) + 1
    pairs, inverse, counts = np.unique(ranks * n_codes + codes, return_inverse=True, return_counts=True)
    values, pair_ranks = pairs % n_codes, pairs // n_codes
    # The first and the second most frequent code of each rank.
    order = np.lexsort((values, -counts, pair_ranks))
    starts = np.searchsorted(pair_ranks[order], np.arange(int(ranks.max()) + 1))
    ends = np.append(starts[1:], len(order))
    first = order[starts]
    second = order[np.minimum(starts + 1, ends - 1)]
    # Without the record itself, its code has one record less.
    is_first = inverse == first[ranks]
    beaten = is_first & (counts[inverse] - 1 <= counts[second[ranks]]) & (second[ranks] != first[ranks])
    guess = np.where(beaten, values[second[ranks]], values[first[ranks]])
    alone = np.bincount(ranks)[ranks] == 1
    neighbor = np.where(ranks > 0, ranks - 1, min(1, len(starts) - 1))
    return np.where(alone, values[first[neighbor]], guess).astype(np.int64)
