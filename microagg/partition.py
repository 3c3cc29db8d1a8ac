"""The result of a microaggregation: a partition of n records into groups of at least k."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.errors import DataError
from microagg.validation import FloatArray, IntArray, check_k, check_labels, check_matrix, counted


def canonical_labels(labels: ArrayLike) -> IntArray:
    """Renumber groups 0, 1, 2, … in order of first appearance.

    Two label arrays describe the same partition exactly when their canonical labels are equal.
    """
    array = check_labels(labels)
    _, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.reshape(-1)]


@dataclass(frozen=True, init=False, repr=False, eq=False)
class Partition:
    """A frozen, validated partition of records 0..n-1 into groups of at least ``k`` records.

    Parameters
    ----------
    labels : array of int, shape (n,)
        The group of each record, under any numbering; stored renumbered in order of first appearance.
    k : int
        The minimum group size that the partition guarantees.

    Attributes
    ----------
    k : int
    labels : array of int, shape (n,)
        The group of each record, 0 to g - 1 in order of first appearance; read-only.
    sizes : array of int, shape (g,)
        The number of records in each group; read-only.

    Raises
    ------
    ParameterError
        If ``k`` is not a whole number of at least 1.
    DataError
        If ``labels`` are no 1-D array of whole numbers, or empty, or a group has fewer than ``k`` records.
    """

    k: int
    labels: IntArray
    sizes: IntArray

    def __init__(self, labels: ArrayLike, k: int) -> None:
        canonical = canonical_labels(labels)
        k = check_k(k)
        sizes = np.bincount(canonical)
        if sizes.min() < k:
            small = int(np.flatnonzero(sizes < k)[0])
            raise DataError(
                f"group {small} has {counted(sizes[small], 'record')}, fewer than k={k}: the release would not be "
                f"{k}-anonymous."
            )
        canonical.setflags(write=False)
        sizes.setflags(write=False)
        object.__setattr__(self, "labels", canonical)
        object.__setattr__(self, "sizes", sizes)
        object.__setattr__(self, "k", k)

    def __reduce__(self) -> tuple[type[Partition], tuple[IntArray, int]]:
        # Rebuilding through __init__ keeps the arrays read-only, which plain pickling of arrays would lose.
        return Partition, (np.array(self.labels), self.k)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self.k == other.k and np.array_equal(self.labels, other.labels)

    def __hash__(self) -> int:
        return hash((self.k, self.labels.tobytes()))

    def __len__(self) -> int:
        """The number of records."""
        return len(self.labels)

    def __repr__(self) -> str:
        return f"Partition(n={len(self)}, n_groups={self.n_groups}, k={self.k}, largest={self.sizes.max()})"

    @property
    def n_groups(self) -> int:
        """The number of groups g, an int."""
        return len(self.sizes)

    def groups(self) -> Iterator[IntArray]:
        """Yield the record indices of each group, shape (size,), ascending, in the order of the group numbers."""
        order = np.argsort(self.labels, kind="stable")
        yield from np.split(order, np.cumsum(self.sizes)[:-1])

    def centroids(self, X: ArrayLike, weights: FloatArray | None = None) -> FloatArray:
        """Mean of each group.

        Parameters
        ----------
        X : array of shape (n, d), or (n,) for one attribute
        weights : array of float, shape (n,), optional
            Weight of each record, above 0.

        Returns
        -------
        array of float, shape (g, d)
            In the units of X.

        Raises
        ------
        DataError
            If ``X`` has not n records of numbers, or ``weights`` are not one for each, finite and above 0.
        """
        return group_means(X, self.labels, weights)


def group_means(X: ArrayLike, labels: IntArray, weights: FloatArray | None = None) -> FloatArray:
    """Return the mean of each group 0..g-1 of ``labels``, shape (g, d), in the units of ``X``, shape (n, d).

    With ``weights``, finite and above 0, shape (n,), it is Σ w x / Σ w over the records of the group.

    Means are taken above the group's own minimum: a large common offset costs no precision, whole numbers are added
    without rounding, and a group of equal records has exactly their values.
    """
    data = check_matrix(X, len(labels))
    sizes = np.bincount(labels)
    order = np.argsort(labels, kind="stable")
    starts = np.cumsum(sizes) - sizes
    grouped = data[order]
    low = np.minimum.reduceat(grouped, starts, axis=0)
    grouped -= low[labels[order]]
    totals: FloatArray | IntArray = sizes
    if weights is not None:
        weights = np.asarray(weights)
        if weights.shape != labels.shape or not ((weights > 0) & (weights < np.inf)).all():
            raise DataError(f"weights must be a finite number above 0 for each of {counted(len(labels), 'record')}.")
        grouped *= weights[order, np.newaxis]
        totals = np.add.reduceat(weights[order], starts)
    return low + np.add.reduceat(grouped, starts, axis=0) / totals[:, np.newaxis]


def join_strata(partitions: Sequence[tuple[IntArray, Partition]], k: int) -> Partition:
    """Return the partition of all records made of one partition within each stratum.

    ``partitions`` are the positions of each stratum's records, shape (m,), and the partition of these m records in
    their order; every record is in one stratum.
    """
    labels = np.empty(sum(len(rows) for rows, _ in partitions), dtype=np.int64)
    n_groups = 0
    for rows, partition in partitions:
        labels[rows] = partition.labels + n_groups
        n_groups += partition.n_groups
    return Partition(labels, k)
