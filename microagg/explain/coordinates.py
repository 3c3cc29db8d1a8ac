"""Records drawn on a plane: principal components of numbers, and principal coordinates of mixed attributes.

Classical scaling (Gower 1966, Some distance properties of latent root and vector methods used in multivariate analysis,
Biometrika 53) finds points whose Euclidean distances approximate given ones. Of squared distances D it takes the
eigenvectors of B = -½ J D J, where J subtracts the mean. Each, times the square root of its eigenvalue, is an axis, the
largest eigenvalue first. If distances are not Euclidean, as those of mixed attributes, some eigenvalues are negative:
no axis can show them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from microagg.algorithms.base import Param
from microagg.columns.records import Records
from microagg.columns.scaling import centered
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import DataError
from microagg.validation import FloatArray, IntArray, check_finite

# Time grows with the cube of the sample, and memory with its square: some 100 MB at most.
_SAMPLE = Param("sample", "int", (1, 2_000), 1_000, "How many records are drawn at most.")
_RANDOM_STATE = Param("random_state", "int", (0, None), 0, "The seed of the sample.")
# How many rows of the matrix of distances are computed at once.
_ROWS = 256
# From this skewness on an axis that is not linear is suited.
_SKEWED = 2.0
# Eigenvalues below this share of the largest consist of rounding errors, as do smaller differences of coordinates.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Points on a plane that stand for records."""

    # Shape (m, 2): the coordinates of each record, in the unit of the distance: of mixed attributes 1 is the whole
    # domain of one attribute. The mean of each axis is 0, and the largest by its absolute value is positive.
    points: FloatArray
    # Shape (2,): the eigenvalue of each axis as a share of the sum of the absolute values of all, 0 to 1. Negative ones
    # count too, so that the shares do not claim what the plane cannot show (Mardia, Kent & Bibby 1979, Multivariate
    # Analysis, Section 14.4). 0 for an axis on which all points are equal.
    shares: FloatArray
    rows: IntArray  # shape (m,): the positions of the records, ascending


def principal_coordinates(records: Records, *, sample: int = 1_000, random_state: int = 0) -> Coordinates:
    """Return points on a plane whose distances are near to those of the records.

    The distance of two records is the sum over their attributes of |x - y| / domain for numbers and ranks, and of the
    height of the lowest common ancestor as a share of that of the taxonomy for nominal values (Byun, Kamra, Bertino &
    Li, Definitions 2 to 5). Where two axes have equal shares, any rotation of them would do as well.

    Parameters
    ----------
    records : Records, n records with d attributes
    sample : int, 1 to 2,000, default 1,000
        Of more records as many are drawn at random; fewer are all taken.
    random_state : int, default 0
        The seed of the sample; the same seed gives the same points.

    Raises
    ------
    DataError
        If there are 0 records, or values are missing or infinite.
    ParameterError
        If ``sample`` or ``random_state`` is not a whole number, or out of its bounds.
    """
    max_records, seed = _SAMPLE.check(sample), _RANDOM_STATE.check(random_state)
    if not len(records):
        raise DataError("there are no records, so there is nothing to draw.")
    check_finite(records.values, [str(attribute.name) for attribute in records.attributes])
    rows = np.arange(len(records))
    if len(records) > max_records:
        rows = np.sort(np.random.default_rng(seed).choice(len(records), max_records, replace=False))
    points, shares = _scaled_to_plane(_distances(records.take(rows)))
    return Coordinates(points, shares, rows)


def principal_components(X: FloatArray) -> Coordinates:
    """Return the records of ``X``, shape (n, d), on the two axes of largest variance.

    Coordinates have the unit of X; ``shares`` are parts of the variance. With one attribute the second axis is 0.
    """
    _, _, deviations = centered(X)
    values, vectors = np.linalg.eigh(deviations.T @ deviations)
    points, shares = np.zeros((len(X), 2)), np.zeros(2)
    for axis in range(min(2, X.shape[1])):
        if values[-1 - axis] > _ROUNDING * values[-1]:
            points[:, axis] = _positive(deviations @ vectors[:, -1 - axis])
            shares[axis] = values[-1 - axis] / values.clip(0.0).sum()
    return Coordinates(points, shares, np.arange(len(X)))


def suited_scale(values: FloatArray) -> str:
    """Return a scale of an axis that separates ``values``, shape (n,): "linear", "log" or "asinh".

    It is linear unless the skewness, the third moment over the cube of the standard deviation, exceeds 2. Of skewed
    values that are all above 0 it is the logarithm, of others the inverse hyperbolic sine of :func:`on_scale`, if that
    makes them less skewed. NaN is left out.
    """
    finite = values[np.isfinite(values)]
    usual = _skewness(finite)
    if usual <= _SKEWED:
        return "linear"
    scale = "log" if finite.min() > 0.0 else "asinh"
    return scale if _skewness(on_scale(finite, scale)) < usual else "linear"


def on_scale(values: FloatArray, scale: str, unit: float | None = None) -> FloatArray:
    """Return ``values`` on an axis with a scale of :func:`suited_scale`.

    They are log10(x), or asinh(x / unit), which is linear near 0 and logarithmic further away; ``unit`` is by default
    that of :func:`asinh_unit`.
    """
    if scale == "log":
        return np.log10(values)
    return np.arcsinh(values / (unit or asinh_unit(values))) if scale == "asinh" else values


def asinh_unit(values: FloatArray) -> float:
    """Return the median of the absolute ``values`` that are not 0, or 1 if all are 0."""
    sizes = np.abs(values[np.isfinite(values) & (values != 0.0)])
    return float(np.median(sizes)) if len(sizes) else 1.0


def _skewness(values: FloatArray) -> float:
    """Return the absolute skewness, 0 of values that are all equal."""
    deviations = values - values.mean() if len(values) else values
    spread = float(np.abs(deviations).max(initial=0.0))
    if spread == 0.0:
        return 0.0
    deviations = deviations / spread
    return abs(float(np.mean(deviations**3)) / float(np.mean(deviations**2)) ** 1.5)


def _distances(records: Records) -> FloatArray:
    """Return the distances of all records, shape (m, m)."""
    from scipy.spatial.distance import cdist

    ranged = np.flatnonzero(~records.nominal & (records.domains > 0.0))
    shares = records.values[:, ranged] / records.domains[ranged]
    distances: FloatArray = cdist(shares, shares, "cityblock")
    for j, attribute in enumerate(records.attributes):
        if attribute.taxonomy is not None:
            nodes, node_indices = np.unique(records.values[:, j].astype(np.int64), return_inverse=True)
            between = _heights_of_common_ancestors(attribute.taxonomy, nodes)
            for start in range(0, len(records), _ROWS):
                block = slice(start, start + _ROWS)
                distances[block] += between[node_indices[block]][:, node_indices]
    return distances


def _heights_of_common_ancestors(taxonomy: Taxonomy, nodes: IntArray) -> FloatArray:
    """Heights of the lowest common ancestors of each two of m ``nodes``, as shares, shape (m, m)."""
    heights = np.ones((len(nodes), len(nodes)))
    for lineage in taxonomy.lineages:
        ancestors = lineage[nodes]
        same = ancestors[:, np.newaxis] == ancestors
        np.copyto(heights, taxonomy.heights[ancestors], where=same)
    return heights


def _scaled_to_plane(distances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the first two principal coordinates, shape (m, 2), and their shares. Overwrites ``distances``."""
    from scipy.linalg import eigh

    points, shares = np.zeros((len(distances), 2)), np.zeros(2)
    products = np.square(distances, out=distances)
    products -= products.mean(axis=0)
    products -= products.mean(axis=1, keepdims=True)
    products *= -0.5
    eigenvalues = eigh(products, eigvals_only=True)
    largest = float(np.abs(eigenvalues).max())
    if largest == 0.0:
        return points, shares
    axes = min(2, len(distances))
    values, vectors = eigh(products, subset_by_index=(len(distances) - axes, len(distances) - 1))
    for axis, (value, vector) in enumerate(zip(values[::-1], vectors.T[::-1], strict=True)):
        if value > _ROUNDING * largest:
            points[:, axis] = np.sqrt(value) * _positive(vector)
            shares[axis] = value / np.abs(eigenvalues).sum()
    return points, shares


def _positive(vector: FloatArray) -> FloatArray:
    """Return ``vector`` with the sign by which its largest element is positive, of equally large ones the first."""
    sizes = np.abs(vector)
    # Elements that differ by rounding count as equal: otherwise the sign would depend on the machine.
    index = int(np.argmax(sizes >= (1.0 - _ROUNDING) * sizes.max()))
    return vector if vector[index] > 0.0 else -vector
