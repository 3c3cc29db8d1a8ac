"""P-S (Pairwise-Systematic): two groups a round, around the records with the least and the greatest sum of attributes.

The records are sorted by the sum of their attributes (equivalently, of the attributes' deviations from their means).

1. While at least 3k records are unassigned: the first and the last of them in that order seed two groups. The first
   one's group takes in the unassigned record that increases its SSE least, which is the one nearest to its centroid,
   until it has k records; the centroid moves each time. Then so does the last one's.
2. If 2k..3k-1 records are left, the first one's group is formed once more, and the others are a group; if k..2k-1 are
   left, they form one group.

Ties go to the lowest record index, which includes the order of records with equal sums. Time O(n²d).

Both the order and the distances are dominated by whatever attribute has the largest values, so standardizing the data
changes everything here.

Source: Kabir, Wang & Zhang 2010.
"""

from __future__ import annotations

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.compiled import kernel
from microagg.kernels.grouping.groups import Groups, form, form_from_rest, grow, make_groups
from microagg.kernels.neighbors.brute_force import ALIVE, Pool, make_pool, passes_at_a_time, tidy
from microagg.kernels.paths import by_value, sums
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


@kernel
def _begin_group(groups: Groups, pool: Pool, order: IntArray, step: int) -> int:
    """Make a group of the first unassigned record of ``order``, or with ``step`` -1 of the last; return its number."""
    place = 0 if step > 0 else len(order) - 1
    while pool.positions[order[place]] < 0:
        place += step
    return form(groups, pool, pool.positions[order[place : place + 1]])


@kernel
def _form_pairs(groups: Groups, pool: Pool, order: IntArray, k: int, rounds: int) -> None:
    """Form two groups a round, for at most ``rounds`` rounds, while 3k records or more are unassigned."""
    for _ in range(rounds):
        if pool.counts[ALIVE] < 3 * k:
            return
        tidy(pool)
        # The last record seeds its group before the first one's group grows, so that it cannot be taken in by that.
        low = _begin_group(groups, pool, order, 1)
        high = _begin_group(groups, pool, order, -1)
        grow(groups, pool, low, k)
        grow(groups, pool, high, k)


class PS(Microaggregator):
    info = Info(
        key="p-s",
        title="P-S",
        family="Fixed-size heuristics",
        summary="Sorts the records by the sum of their attributes and builds groups from both ends inwards.",
        year=2010,
        reference="Kabir, Wang & Zhang 2010",
        sizes="fixed",
        complexity="O(n²d)",
        note="The printed figures belong to raw, unscaled data, where they are met within 0.15 % (relative) for "
        "Tarragona, but not for Census and EIA, so some detail remains unknown. Whether the two groups of a round grow "
        "in turn or one after the other is open; here the first grows first, and the other seed is reserved.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        n, d = X.shape
        pool = make_pool(X)
        groups = make_groups(n, d, k)
        order = by_value(sums(X))
        rounds = max(1, passes_at_a_time(n, d) // (2 * k))
        while pool.counts[ALIVE] >= 3 * k:
            checkpoint("forming groups", 1.0 - pool.counts[ALIVE] / n)
            _form_pairs(groups, pool, order, k, rounds)
        if pool.counts[ALIVE] >= 2 * k:
            grow(groups, pool, _begin_group(groups, pool, order, 1), k)
        form_from_rest(groups, pool)
        return groups.labels
