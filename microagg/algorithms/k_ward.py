"""k-Ward: Ward's hierarchical clustering, kept from joining two groups that are both large enough.

1. Fewer than 2k records form one group.
2. Otherwise, of the two records farthest apart, each forms a group with its k-1 nearest (the one with the lower index
   first; if the other seed went into its group, the record left that is farthest from the first takes its place). All
   other records are groups of their own.
3. Until every group has at least k records: of all pairs of groups that do not both have k or more, merge the one whose
   merger increases the SSE least, by n₁n₂ / (n₁ + n₂) · ‖c₁ - c₂‖² for sizes n and centroids c.
4. Each group of 2k or more records is partitioned in the same way from step 2.

Groups are numbered by their lowest record, and ties go to the pair with the lowest numbers. Each group remembers its
cheapest partner of a higher number and what the merger costs. That changes only when one of the two is merged, when the
remembered cost is still a lower bound: it is measured again only once it is the least of all. Time O(n²d) and O(nd) for
each group measured again; memory O(nd).

Source: Domingo-Ferrer & Mateo-Sanz 2002.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.compiled import kernel
from microagg.kernels.grouping.groups import form, make_groups
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import Pool
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


class Hierarchy(NamedTuple):
    """Groups under merger, each at the position of its lowest record."""

    labels: IntArray  # shape (n,): the position of each record's group
    sizes: IntArray  # shape (n,): 0 where there is no group any more
    sums: FloatArray  # shape (n, d): the coordinate sums of each group; a merger adds two of them
    columns: FloatArray  # shape (d, n): the centroids, one row per attribute
    # shape (n,): the cost of the cheapest merger with a group at a higher position, infinite if there is none, or a
    # lower bound of it where ``outdated``
    costs: FloatArray
    partners: IntArray  # shape (n,): the group of that merger
    outdated: NDArray[np.bool_]  # shape (n,)
    # shape (n,): the cost of a merger of each group with the one that was measured last, infinite if it is not allowed
    work: FloatArray
    small: IntArray  # shape (1,): how many groups have fewer than k records


def _begin(X: FloatArray, pool: Pool, k: int, r: int, s: int) -> Hierarchy:
    """Return the groups of k around r and s and each other record as a group."""
    n, d = X.shape
    groups = make_groups(n, d, k)
    form(groups, pool, brute_force.members_around(pool, r, k))
    # The distances are still those from r.
    form(groups, pool, brute_force.members_around(pool, brute_force.farthest(pool) if pool.positions[s] < 0 else s, k))
    labels = np.arange(n)
    sizes = np.ones(n, dtype=np.int64)
    sums = X.copy()
    columns = X.T.copy()
    for number in range(2):
        members = np.flatnonzero(groups.labels == number)
        group = members[0]
        labels[members] = group
        sizes[members] = 0
        sizes[group] = k
        sums[group] = groups.sums[number]
        columns[:, group] = sums[group] / k
    return Hierarchy(
        labels,
        sizes,
        sums,
        columns,
        np.full(n, np.inf),
        np.full(n, -1, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        np.empty(n),
        np.array([np.sum((sizes > 0) & (sizes < k))]),
    )


@kernel
def _cost_with(groups: Hierarchy, group: int, k: int, start: int, stop: int) -> None:
    """Set ``groups.work`` from ``start`` to ``stop`` to the costs of mergers with ``group``."""
    sizes, work = groups.sizes, groups.work
    size = sizes[group]
    brute_force.squared_distances(groups.columns, start, stop, groups.columns[:, group].copy(), work)
    for other in range(start, stop):
        if sizes[other] == 0 or (size >= k and sizes[other] >= k):
            work[other] = np.inf
        else:
            work[other] = size * sizes[other] / (size + sizes[other]) * work[other]


@kernel
def _measure(groups: Hierarchy, k: int, start: int, stop: int) -> None:
    """Find the cheapest partner of each group at the positions ``start`` to ``stop``."""
    costs, partners, sizes, work = groups.costs, groups.partners, groups.sizes, groups.work
    for group in range(start, stop):
        costs[group] = np.inf
        partners[group] = -1
        groups.outdated[group] = False
        if sizes[group] == 0:
            continue
        _cost_with(groups, group, k, group + 1, len(work))
        for other in range(group + 1, len(work)):
            if work[other] < costs[group]:
                costs[group] = work[other]
                partners[group] = other


@kernel
def _merge(groups: Hierarchy, low: int, high: int, k: int) -> None:
    """Merge the group ``high`` into the group ``low``, and bring the cheapest partners up to date."""
    labels, sizes, costs, partners, work = groups.labels, groups.sizes, groups.costs, groups.partners, groups.work
    groups.small[0] -= (sizes[low] < k) + (sizes[high] < k)
    sizes[low] += sizes[high]
    sizes[high] = 0
    groups.small[0] += sizes[low] < k
    costs[high] = np.inf
    groups.sums[low] += groups.sums[high]
    groups.columns[:, low] = groups.sums[low] / sizes[low]
    for record in range(len(labels)):
        if labels[record] == high:
            labels[record] = low
        if partners[record] == low or partners[record] == high:
            groups.outdated[record] = True
    _cost_with(groups, low, k, 0, low)
    for group in range(low):
        if work[group] < costs[group] or (work[group] == costs[group] and low <= partners[group]):
            costs[group] = work[group]
            partners[group] = low
            groups.outdated[group] = False
    _measure(groups, k, low, low + 1)


@kernel
def _merge_some(groups: Hierarchy, k: int, steps: int) -> None:
    """Merge the cheapest pairs until no group is small, but stop after ``steps`` passes over the groups."""
    for _ in range(steps):
        if groups.small[0] == 0:
            return
        group = np.argmin(groups.costs)
        if groups.outdated[group]:
            _measure(groups, k, group, group + 1)
        else:
            _merge(groups, group, groups.partners[group], k)


def _split(X: FloatArray, k: int, begin: float, share: float) -> IntArray:
    """Return the labels after steps 2 and 3, a ``share`` of the whole run of which ``begin`` is done before."""
    n, d = X.shape
    step = brute_force.passes_at_a_time(n, d)
    pool, reach, partner = brute_force.make_pool(X), np.full(n, np.inf), np.full(n, -1)
    r = s = -1
    while r < 0:
        checkpoint("measuring distances", begin + share * np.count_nonzero(partner >= 0) / (4 * n))
        r, s, _ = brute_force.farthest_pair(X, pool, reach, partner, step)
    groups = _begin(X, pool, k, r, s)
    for start in range(0, n, step):
        checkpoint("measuring distances", begin + share * (n + start) / (4 * n))
        _measure(groups, k, start, min(start + step, n))
    while groups.small[0] > 0:
        checkpoint("merging groups", begin + share * (1 - np.count_nonzero(groups.sizes) / (2 * n)))
        _merge_some(groups, k, step)
    return groups.labels


class KWard(Microaggregator):
    info = Info(
        key="k-ward",
        title="k-Ward",
        family="Graphs and hierarchies",
        summary="Ward's clustering: merges the pair of groups that costs least, but never two that have k records.",
        year=2002,
        reference="Domingo-Ferrer & Mateo-Sanz 2002",
        complexity="O(n²d) to O(n³d)",
        note="Which of the two records farthest apart gets its group first is open; here it is the one with the lower "
        "index. No figures for the benchmarks are at hand.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        n = len(X)
        labels = np.empty(n, dtype=np.int64)
        todo = [np.arange(n)]
        done = number = 0
        while todo:
            members = todo.pop()
            if len(members) < 2 * k:
                labels[members] = number
                number += 1
                done += len(members)
                continue
            whole = len(members) == n
            parts = _split(X[members], k, 0.0 if whole else 0.9 + 0.1 * done / n, 0.9 if whole else 0.0)
            order = np.argsort(parts, kind="stable")
            todo += np.split(members[order], np.flatnonzero(np.diff(parts[order])) + 1)
        return labels
