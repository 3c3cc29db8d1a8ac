"""The second phase of TFRP-2, MDAV-2, DBA-2 and GSMS-T2: dissolve groups where that pays, then split those too large.

The decompose pass looks once at each group, in a given order. Each of its records is sent to the nearest centroid among
the other groups that still exist and have room; centroids stay as they are during the trial. If the SSE of all
groups concerned strictly falls, the group is dissolved and the centroids of those that took in its records move;
otherwise nothing happens. Groups only grow, so none ends below k; those that reach 2k are split in the end.

Records stand in each group by index, those that were sent there after them as they came, and sums are added in
that order. Ties go to the lowest group number. "Strictly" means by more than a billionth, so that equal sums which only
rounding tells apart count as equal. Time O(n²d/k).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.neighbors.brute_force import squared_distances
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# After a decomposition, the groups concerned must have less than this share of the SSE they had before.
FALLEN = 1.0 - 1e-9

# Groups tried between two checkpoints.
STEP = 256


class Chains(NamedTuple):
    """A partition whose groups can be walked along and appended to; made by :func:`make_chains`.

    Attributes
    ----------
    labels : array of int, shape (n,)
        The group of each record; the numbers of dissolved groups no longer occur.
    first, last : arrays of int, shape (groups,)
        The first and last record of each group.
    following : array of int, shape (n,)
        The record after each record in its group, -1 after the last.
    sizes : array of int, shape (groups,)
    sums : array of float, shape (groups, d)
        The coordinate sums of each group, added in the order of its records.
    centroids : array of float, shape (d, groups)
        One row per attribute; NaN in the first for a group that has been dissolved.
    sse : array of float, shape (groups,)
    """

    labels: IntArray
    first: IntArray
    last: IntArray
    following: IntArray
    sizes: IntArray
    sums: FloatArray
    centroids: FloatArray
    sse: FloatArray


@njit(cache=True, nogil=True)
def _append(X: FloatArray, chains: Chains, group: int, record: int) -> None:
    """Make ``record`` the last of ``group``, whose centroid and SSE are then out of date."""
    if chains.sizes[group] == 0:
        chains.first[group] = record
    else:
        chains.following[chains.last[group]] = record
    chains.last[group] = record
    chains.following[record] = -1
    chains.sizes[group] += 1
    chains.labels[record] = group
    for j in range(X.shape[1]):
        chains.sums[group, j] += X[record, j]


@njit(cache=True, nogil=True)
def _sse_along(X: FloatArray, chains: Chains, group: int, center: FloatArray) -> float:
    """Return the sum of squared distances of the records of ``group`` to ``center``."""
    sse = 0.0
    record = chains.first[group]
    while record >= 0:
        distance = 0.0
        for j in range(len(center)):
            difference = X[record, j] - center[j]
            distance += difference * difference
        sse += distance
        record = chains.following[record]
    return sse


@njit(cache=True, nogil=True)
def _measure(X: FloatArray, chains: Chains, group: int) -> None:
    """Bring the centroid and the SSE of ``group`` up to date."""
    center = chains.sums[group] / chains.sizes[group]
    chains.centroids[:, group] = center
    chains.sse[group] = _sse_along(X, chains, group, center)


@njit(cache=True, nogil=True)
def make_chains(X: FloatArray, labels: IntArray) -> Chains:
    """Return the partition ``labels`` (numbers 0, 1, 2, … without a gap) of ``X``, shape (n, d), as chains."""
    n, d = X.shape
    number = labels.max() + 1
    chains = Chains(
        np.empty(n, dtype=np.int64),
        np.empty(number, dtype=np.int64),
        np.empty(number, dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.zeros(number, dtype=np.int64),
        np.zeros((number, d)),
        np.empty((d, number)),
        np.empty(number),
    )
    for record in range(n):
        _append(X, chains, labels[record], record)
    for group in range(number):
        _measure(X, chains, group)
    return chains


@njit(cache=True, nogil=True)
def _nearest_with_room(
    X: FloatArray, chains: Chains, record: int, coming: IntArray, most: int, work: FloatArray
) -> int:
    """Return the group with the nearest centroid that can take one more, ``coming`` counted in; -1 if there is none."""
    number = len(work)
    squared_distances(chains.centroids, 0, number, X[record], work)
    best = -1
    least = np.inf
    for group in range(number):
        if work[group] < least and chains.sizes[group] + coming[group] < most:
            least = work[group]
            best = group
    return best


@njit(cache=True, nogil=True)
def decompose_some(X: FloatArray, chains: Chains, order: IntArray, most: int) -> None:
    """Try to dissolve the groups ``order``, one after the other, into groups of at most ``most`` records."""
    number = len(chains.sizes)
    work = np.empty(number)
    coming = np.zeros(number, dtype=np.int64)
    for group in order:
        size = chains.sizes[group]
        members = np.empty(size, dtype=np.int64)
        targets = np.empty(size, dtype=np.int64)
        own = chains.centroids[0, group]
        chains.centroids[0, group] = np.nan  # its own centroid is nobody's nearest
        coming[:] = 0
        record = chains.first[group]
        for m in range(size):
            members[m] = record
            targets[m] = _nearest_with_room(X, chains, record, coming, most, work)
            if targets[m] < 0:
                break
            coming[targets[m]] += 1
            record = chains.following[record]
        if coming.sum() < size:
            chains.centroids[0, group] = own
            continue
        before = chains.sse[group]
        after = 0.0
        for target in range(number):
            if coming[target] == 0:
                continue
            center = chains.sums[target].copy()
            for m in range(size):
                if targets[m] == target:
                    center += X[members[m]]
            center /= chains.sizes[target] + coming[target]
            sse = _sse_along(X, chains, target, center)
            for m in range(size):
                if targets[m] == target:
                    distance = 0.0
                    for j in range(len(center)):
                        difference = X[members[m], j] - center[j]
                        distance += difference * difference
                    sse += distance
            before += chains.sse[target]
            after += sse
        if not after < FALLEN * before:
            chains.centroids[0, group] = own
            continue
        for m in range(size):
            _append(X, chains, targets[m], members[m])
        chains.sizes[group] = 0
        chains.sse[group] = 0.0
        for target in range(number):
            if coming[target] > 0:
                _measure(X, chains, target)


def decompose(X: FloatArray, labels: IntArray, order: Literal["sse", "reverse"], most: int) -> IntArray:
    """Return ``labels`` after one decompose pass over the groups, the numbers of dissolved groups left out.

    Parameters
    ----------
    X : array of float, shape (n, d)
    labels : array of int, shape (n,)
        Group numbers 0, 1, 2, … without a gap, in the order in which the groups were made.
    order : {"sse", "reverse"}
        Which group is tried first: the one with the largest SSE before the pass, or the one made last.
    most : int
        The size up to which groups may grow.
    """
    chains = make_chains(X, labels)
    number = len(chains.sizes)
    groups = np.argsort(-chains.sse, kind="stable") if order == "sse" else np.arange(number - 1, -1, -1)
    for start in range(0, number, STEP):
        checkpoint("dissolving groups", start / number)
        decompose_some(X, chains, groups[start : start + STEP], most)
    return chains.labels


def split_large(X: FloatArray, labels: IntArray, k: int, base: Callable[[FloatArray, int], IntArray]) -> IntArray:
    """Return ``labels`` with every group of 2k or more records partitioned by ``base``, which takes (X, k)."""
    labels = labels.copy()
    number = labels.max() + 1
    for group in np.flatnonzero(np.bincount(labels) >= 2 * k):
        members = np.flatnonzero(labels == group)
        labels[members] = number + base(X[members], k)
        number = labels.max() + 1
    return labels
