"""Lower bounds on the SSE: no partition into groups of at least k, by whatever method, can lose less."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from microagg.metrics.loss import percent, sst
from microagg.validation import check_enough_records, check_finite, check_k, check_matrix


@dataclass(frozen=True)
class Bound:
    """A proven lower bound.

    Attributes
    ----------
    k : int
        The minimum group size it holds for.
    sse : float
        No partition into groups of at least k has a lower SSE; squared units of X.
    information_loss : float
        The same as 100 · SSE / SST, in percent.
    seconds : float
        The time it took.
    """

    k: int
    sse: float
    information_loss: float
    seconds: float


def nearest_neighbor(X: ArrayLike, k: int) -> Bound:
    """Return the nearest-neighbor bound for groups of at least ``k`` records of ``X``, shape (n, d).

    See :func:`nearest_neighbor_curve`.
    """
    return nearest_neighbor_curve(X, [k])[0]


def nearest_neighbor_curve(X: ArrayLike, ks: Iterable[int]) -> list[Bound]:
    """Return the nearest-neighbor bound for each of ``ks``, from one neighbor search.

    The SSE of a group of s records is the sum of the squared distances of its ordered pairs, divided by 2s. A record
    of the group contributes at least the sum of its s-1 smallest squared distances, over 2s; that does not fall as s
    grows, so s = k gives

        SSE ≥ 1 / (2k) · Σ over records of the sum of the k-1 smallest squared distances to other records.

    The result is lowered by a relative 1e-9, far more than rounding can amount to, so it stays a bound in floating
    point.

    Raises
    ------
    DataError
        If X is not finite numbers or has fewer records than the largest k.
    ParameterError
        If a k is not a whole number of at least 1.
    """
    from scipy.spatial import KDTree

    started = time.perf_counter()
    data = check_matrix(X)
    check_finite(data)
    wanted = [check_k(k) for k in ks]
    largest = max(wanted, default=1)
    check_enough_records(len(data), largest, "X")
    # Every record is nearest to itself, at 0. Among duplicates another one may be reported in its place, at 0 too, so
    # dropping the first of the sorted distances is right in either case.
    distances, _ = KDTree(data).query(data, k=np.arange(1, largest + 1), workers=-1)
    totals = np.cumsum(np.square(distances[:, 1:]).sum(axis=0))
    whole = sst(data)
    seconds = time.perf_counter() - started
    bounds = []
    for k in wanted:
        floor = float(totals[k - 2]) / (2 * k) * (1 - 1e-9) if k > 1 else 0.0
        bounds.append(Bound(k, floor, percent(floor, whole), seconds))
    return bounds
