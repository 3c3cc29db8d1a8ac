"""A lower bound on Total-IL of mixed records: what the narrowest closed group around each record loses.

Total-IL is the sum over the records of the extent of the record's group, see :mod:`microagg.metrics.generalization`.
A group that holds a record r lies in its own closure: in each numeric or ordinal attribute a range that contains r's
value, in each nominal one all categories below an ancestor of r's. With c(r) for the least extent of such a closure
that holds at least k records of the file, r among them,

    Total-IL ≥ Σ over records of c(r).

It is never below the nearest-neighbor bound of :mod:`microagg.optimum.nearest_neighbors`: in a closure of k records one
other is at least as far from r as r's (k-1)-th nearest.

c(r) is found by branch and bound. Attribute by attribute, nominal ones first, the ancestor or the two ends of the range
are chosen. What has been chosen leaves some records; with what it adds to the extent, the (k-1)-th smallest distance
from r among these, in the attributes that are still open, is a bound of all that can follow. A search that becomes too
long ends with the lowest bound of what it has left open, or the least extent found if that is lower: c(r) is no lower.

Extents are sums of d shares, each rounded by a relative 1e-15 or so, and the sum over n records by n times that:
lowered by a relative 1e-9, what comes out is a bound in floating point, too.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.validation import FloatArray

# A search ends after so many nodes, or where more than so many wait.
_NODES, _WAITING = 3_000, 20_000

# What is farther than the narrowest closure known by this share cannot be in a narrower one, even with rounding.
_MARGIN = 1e-9


@njit(cache=True, nogil=True)
def _least_extent(
    shares: FloatArray, above: NDArray[np.bool_], numeric: NDArray[np.bool_], others: int, least: float
) -> float:
    """Return a bound of the extents of closures around a record that hold so many others, ``least`` being one of them.

    ``shares``, shape (n, d), are those of each other record and the record; ``above`` says whose value is larger.
    """
    n, d = shares.shape
    # Of each node that waits the extent below and above the record in the attributes chosen, their number and sum.
    down, up = np.empty((_WAITING, d)), np.empty((_WAITING, d))
    chosen, fixed, bounds = np.zeros(_WAITING, np.int64), np.zeros(_WAITING), np.zeros(_WAITING)
    waiting, nodes = 1, 0
    rest, left = np.empty(n), np.empty(n, np.int64)
    while waiting > 0:
        waiting -= 1
        if bounds[waiting] >= least:
            continue
        nodes += 1
        if nodes > _NODES:
            return float(min(least, bounds[: waiting + 1].min()))
        j, extent, below, beyond = chosen[waiting], fixed[waiting], down[waiting].copy(), up[waiting].copy()
        m = 0
        for x in range(n):
            inside, distance = True, 0.0
            for q in range(d):
                if q < j:
                    inside = inside and shares[x, q] <= (beyond[q] if above[x, q] else below[q])
                else:
                    distance += shares[x, q]
            if inside and extent + distance < least:
                rest[m], left[m] = distance, x
                m += 1
        if m < others:
            continue
        bound = extent + np.partition(rest[:m], others - 1)[others - 1]
        if bound >= least:
            continue
        if j == d:
            least = extent
            continue
        here, side = shares[left[:m], j], above[left[:m], j]
        # A common ancestor has one height; a range has two ends.
        ends = np.unique(here if not numeric[j] else np.append(here[side], 0.0))
        starts = np.unique(np.append(here[~side], 0.0)) if numeric[j] else np.zeros(1)
        for p in range(len(ends) - 1, -1, -1):
            for q in range(len(starts) - 1, -1, -1):
                wider = extent + ends[p] + starts[q]
                if wider >= least:
                    continue
                if waiting == _WAITING:
                    return float(min(least, bound, bounds.min()))
                down[waiting], up[waiting] = below, beyond
                up[waiting, j] = ends[p]
                down[waiting, j] = starts[q] if numeric[j] else ends[p]
                chosen[waiting], fixed[waiting], bounds[waiting] = j + 1, wider, max(bound, wider)
                waiting += 1
    return least


class Closures:
    """The least extents of closures of k of the ``records``, 2 at least, record by record."""

    def __init__(self, records: Records, k: int) -> None:
        self._k, self._domains = k, records.domains
        # Equal records have the same closures. In random order those that gain much are not all last.
        values, counts = np.unique(records.values, axis=0, return_counts=True)
        order = np.random.default_rng(0).permutation(len(counts))
        self._values, self.counts = values[order], counts[order]
        self._pool = mixed.make_pool(records)
        self._order = np.argsort(~records.nominal, kind="stable")
        self._numeric = ~records.nominal[self._order]
        self._all = np.array(records.values)

    def gain(self, i: int) -> float:
        """Return by how much c(r) is at least above the (k-1)-th smallest distance, for ``counts[i]`` equal records."""
        record, k = self._values[i], self._k
        shares, above = np.zeros_like(self._all), self._all > record
        for j, domain in enumerate(self._domains):
            if self._pool.nominal[j]:
                mixed.relate(self._pool, j, int(record[j]))
                shares[:, j] = self._pool.tables[j][self._all[:, j].astype(np.int64)]
            elif domain > 0.0:
                shares[:, j] = np.abs(self._all[:, j] - record[j]) / domain
        above[:, self._pool.nominal] = False
        shares, above = shares[:, self._order], above[:, self._order]
        distances = shares.sum(axis=1)
        near = np.argpartition(distances, k - 1)[:k]
        larger = np.where(above[near], shares[near], 0.0).max(axis=0)
        smaller = np.where(above[near], 0.0, shares[near]).max(axis=0)
        extent, nearest = float((larger + smaller).sum()), float(distances[near].max())
        inside = distances <= extent * (1 + _MARGIN)
        # The record itself counts as one of the k, at distance 0.
        return max(_least_extent(shares[inside], above[inside], self._numeric, k, extent) - nearest, 0.0)
