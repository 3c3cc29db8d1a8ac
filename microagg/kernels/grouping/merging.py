"""Groups that lack what is guaranteed are merged, the cheapest pair first.

While a group violates a guarantee, of all pairs with such a group the one is merged by which the loss grows least: the
SSE of numbers, or Total-IL. Of equal pairs it is the one with the first groups, by their first records. Algorithm 1 of
Soria-Comas, Domingo-Ferrer, Sánchez & Martínez, "t-Closeness through microaggregation", IEEE TKDE 27(11), 2015, merges
groups, too, but takes the one with the greatest distance and the one nearest to it: it loses less in some cases and
more in others. Each violating group keeps its cheapest partner; a merger costs one look at all groups, and one for each
whose partner it was: O(g²) for g groups.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.partition import Partition
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


class Costs(Protocol):
    """What mergers cost, groups being numbered by their first records."""

    def of(self, group: int) -> FloatArray:
        """Return by how much the loss grows if ``group`` is merged with each, shape (g,)."""

    def join(self, one: int, other: int) -> None:
        """Merge the group ``other`` into ``one``."""


class Squares:
    """SSE: n₁ n₂ / (n₁ + n₂) times the squared distance of the means."""

    def __init__(self, Z: FloatArray, labels: IntArray) -> None:
        self.sizes = np.bincount(labels).astype(np.float64)
        self.sums = [np.bincount(labels, weights=column) for column in Z.T]
        self.means = [sums / self.sizes for sums in self.sums]

    def of(self, group: int) -> FloatArray:
        """Return by how much it grows if ``group`` is merged with each, shape (g,)."""
        apart = np.zeros(len(self.sizes))
        for means in self.means:
            gap = means - means[group]
            gap *= gap
            apart += gap
        own = self.sizes[group]
        return np.asarray(apart * (self.sizes * own / (self.sizes + own)))

    def join(self, one: int, other: int) -> None:
        """Merge the group ``other`` into ``one``."""
        self.sizes[one] += self.sizes[other]
        for sums, means in zip(self.sums, self.means, strict=True):
            sums[one] += sums[other]
            means[one] = sums[one] / self.sizes[one]


class Shares:
    """Total-IL: of each group its size times what its records have in common, as shares of the domains."""

    def __init__(self, records: Records, labels: IntArray) -> None:
        found = mixed.make_groups(records, labels)
        self.records, self.sizes = records, found.sizes.astype(np.float64)
        self.low, self.high = found.low, found.high
        self.own = self.sizes * found.extents

    def _union(self, group: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what the group and each other have in common, lowest and highest, and their shares of the domains."""
        low, high = np.minimum(self.low, self.low[group]), np.maximum(self.high, self.high[group])
        shares = np.zeros_like(low)
        for j, attribute in enumerate(self.records.attributes):
            if attribute.taxonomy is not None:
                nodes = self.low[:, j].astype(np.int64)
                common = np.zeros(len(nodes), dtype=np.int64)
                for lineage in attribute.taxonomy.lineages:
                    common = np.where(lineage[nodes] == lineage[nodes[group]], lineage[nodes], common)
                low[:, j] = high[:, j] = common
                shares[:, j] = attribute.taxonomy.heights[common]
            elif self.records.domains[j] > 0.0:
                shares[:, j] = (high[:, j] - low[:, j]) / self.records.domains[j]
        return low, high, shares

    def of(self, group: int) -> FloatArray:
        """Return by how much it grows if ``group`` is merged with each, shape (g,)."""
        sizes = self.sizes + self.sizes[group]
        return np.asarray(sizes * self._union(group)[2].sum(axis=1) - (self.own + self.own[group]))

    def join(self, one: int, other: int) -> None:
        """Merge the group ``other`` into ``one``."""
        low, high, shares = self._union(one)
        self.low[one], self.high[one] = low[other], high[other]
        self.sizes[one] += self.sizes[other]
        self.own[one] = self.sizes[one] * shares[other].sum()


def merge_costs(data: FloatArray | Records, labels: IntArray) -> Costs:
    """Return what mergers of the groups ``labels``, from 0, cost: of numbers by SSE, of records by Total-IL."""
    return Shares(data, labels) if isinstance(data, Records) else Squares(data, labels)


def merge(partition: Partition, costs: Costs, is_met: Callable[[IntArray], bool]) -> Partition:
    """Return the partition whose groups were merged until ``is_met`` holds for the records of each, shape (size,).

    It must hold for all records together, or the last group violates it still.
    """
    members = list(partition.groups())
    violates = np.array([not is_met(rows) for rows in members])
    merged = np.zeros(len(members), dtype=bool)
    price, partner = np.full(len(members), np.inf), np.full(len(members), -1)

    def look(group: int) -> FloatArray:
        costs_of = costs.of(group)
        costs_of[merged] = np.inf
        costs_of[group] = np.inf
        partner[group] = costs_of.argmin()
        price[group] = costs_of[partner[group]]
        return costs_of

    for group in np.flatnonzero(violates):
        look(int(group))
    while violates.any() and np.count_nonzero(~merged) > 1:
        checkpoint("merging groups")
        cheapest = np.flatnonzero(price == price.min())
        one, other = min((int(min(i, partner[i])), int(max(i, partner[i]))) for i in cheapest)
        costs.join(one, other)
        members[one] = np.concatenate([members[one], members[other]])
        merged[other], violates[other], price[other] = True, False, np.inf
        violates[one] = not is_met(members[one])
        for group in np.flatnonzero(violates & ((partner == one) | (partner == other))):
            look(int(group))
        costs_of = look(one)
        if not violates[one]:
            price[one] = np.inf
        nearer = violates & ((costs_of < price) | ((costs_of == price) & (one < partner)))
        nearer[one] = False
        partner[nearer], price[nearer] = one, costs_of[nearer]
    labels = np.empty(len(partition), dtype=np.int64)
    for group in np.flatnonzero(~merged):
        labels[members[group]] = group
    return Partition(labels, partition.k)
