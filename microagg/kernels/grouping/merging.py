"""Groups that lack what is guaranteed are merged, in one of two orders, until none lacks it.

*Cheapest pair first*: of all pairs with a group that violates a guarantee, the one is merged by which the loss grows
least: the SSE of numbers, or Total-IL. Of equal pairs it is the one with the first groups, by their first records. Each
violating group keeps its cheapest partner; a merger costs one look at all groups, and one for each whose partner it
was: O(g²) for g groups.

*Worst group first* is Algorithm 1 of Soria-Comas, Domingo-Ferrer, Sánchez & Martínez, "t-Closeness through
microaggregation", IEEE TKDE 27(11), 2015: the group that lacks most is merged with the one whose centroid is nearest,
or, of records with categories, by which Total-IL grows least. Neither order is better everywhere
(``benchmarks/guarantees.py``).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.partition import Partition
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


class Squares:
    """SSE: n₁ n₂ / (n₁ + n₂) times the squared distance of the means."""

    def __init__(self, Z: FloatArray, labels: IntArray) -> None:
        self.sizes = np.bincount(labels).astype(np.float64)
        self.sums = [np.bincount(labels, weights=column) for column in Z.T]
        self.means = [sums / self.sizes for sums in self.sums]

    def of(self, group: int) -> FloatArray:
        """Growth of the loss if ``group`` is merged with each group, shape (g,)."""
        group_size = self.sizes[group]
        return np.asarray(self.distances(group) * (self.sizes * group_size / (self.sizes + group_size)))

    def distances(self, group: int) -> FloatArray:
        """Squared distances of all means from the mean of ``group``, shape (g,)."""
        totals = np.zeros(len(self.sizes))
        for means in self.means:
            gap = means - means[group]
            gap *= gap
            totals += gap
        return totals

    def join(self, one: int, other: int) -> None:
        """Merge the group ``other`` into ``one``."""
        self.sizes[one] += self.sizes[other]
        for sums, means in zip(self.sums, self.means, strict=True):
            sums[one] += sums[other]
            means[one] = sums[one] / self.sizes[one]


class Shares:
    """Total-IL: of each group its size times what its records have in common, as shares of the domains."""

    def __init__(self, records: Records, labels: IntArray) -> None:
        groups = mixed.make_groups(records, labels)
        self.records, self.sizes = records, groups.sizes.astype(np.float64)
        self.low, self.high = groups.low, groups.high
        self.losses = self.sizes * groups.extents

    def _union(self, group: int, others: slice = slice(None)) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what the group and each other have in common, lowest and highest, and their shares of the domains."""
        low = np.minimum(self.low[others], self.low[group])
        high = np.maximum(self.high[others], self.high[group])
        shares = np.zeros_like(low)
        for j, attribute in enumerate(self.records.attributes):
            if attribute.taxonomy is not None:
                node = int(self.low[group, j])
                of_nodes = np.zeros(len(attribute.taxonomy.names), dtype=np.int64)
                for lineage in attribute.taxonomy.lineages:
                    of_nodes = np.where(lineage == lineage[node], lineage, of_nodes)
                common = of_nodes[self.low[others, j].astype(np.int64)]
                low[:, j] = high[:, j] = common
                shares[:, j] = attribute.taxonomy.heights[common]
            elif self.records.domains[j] > 0.0:
                shares[:, j] = (high[:, j] - low[:, j]) / self.records.domains[j]
        return low, high, shares

    def of(self, group: int) -> FloatArray:
        """Growth of the loss if ``group`` is merged with each group, shape (g,)."""
        sizes = self.sizes + self.sizes[group]
        return np.asarray(sizes * self._union(group)[2].sum(axis=1) - (self.losses + self.losses[group]))

    distances = of

    def join(self, one: int, other: int) -> None:
        """Merge the group ``other`` into ``one``."""
        low, high, shares = self._union(one, slice(other, other + 1))
        self.low[one], self.high[one] = low[0], high[0]
        self.sizes[one] += self.sizes[other]
        self.losses[one] = self.sizes[one] * shares[0].sum()


#: What mergers cost, groups being numbered by their first records.
Costs = Squares | Shares


def merge_costs(data: FloatArray | Records, labels: IntArray) -> Costs:
    """Return what mergers of the groups ``labels``, from 0, cost: of numbers by SSE, of records by Total-IL."""
    return Shares(data, labels) if isinstance(data, Records) else Squares(data, labels)


def merge_cheapest(partition: Partition, costs: Costs, lacks: Callable[[IntArray], float]) -> Partition:
    """Return the partition whose groups were merged, the cheapest pair first, until none lacks anything.

    ``lacks`` says how much a group of records, shape (size,), lacks, 0 if nothing. All records together must lack
    nothing, or the last group does still.
    """
    members = list(partition.groups())
    violates = np.array([lacks(rows) > 0.0 for rows in members])
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
        violates[one] = lacks(members[one]) > 0.0
        for group in np.flatnonzero(violates & ((partner == one) | (partner == other))):
            look(int(group))
        costs_of = look(one)
        if not violates[one]:
            price[one] = np.inf
        nearer = violates & ((costs_of < price) | ((costs_of == price) & (one < partner)))
        nearer[one] = False
        partner[nearer], price[nearer] = one, costs_of[nearer]
    return _partition(members, ~merged, partition)


def merge_worst(partition: Partition, costs: Costs, lacks: Callable[[IntArray], float]) -> Partition:
    """Return the partition whose groups were merged, the one that lacks most first, until none lacks anything.

    Of groups that lack the same, and of those that are equally near, the first by its first record is taken.
    ``lacks`` is as for :func:`merge_cheapest`.
    """
    members = list(partition.groups())
    lacking = np.array([lacks(rows) for rows in members])
    left = np.ones(len(members), dtype=bool)
    while lacking.max() > 0.0 and np.count_nonzero(left) > 1:
        checkpoint("merging groups")
        worst = int(lacking.argmax())
        distances = np.where(left, costs.distances(worst), np.inf)
        distances[worst] = np.inf
        one, other = sorted((worst, int(distances.argmin())))
        costs.join(one, other)
        members[one] = np.concatenate([members[one], members[other]])
        left[other], lacking[other], lacking[one] = False, 0.0, lacks(members[one])
    return _partition(members, left, partition)


def _partition(members: list[IntArray], left: NDArray[np.bool_], before: Partition) -> Partition:
    """Return the groups that are left of those ``before``, with the records that they have now."""
    labels = np.empty(len(before), dtype=np.int64)
    for group in np.flatnonzero(left):
        labels[members[group]] = group
    return Partition(labels, before.k)
