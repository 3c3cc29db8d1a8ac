"""MDAV-generic for numeric, ordinal and nominal attributes together.

The distance of two records is the sum over the attributes of the shares of the domains that lie between them (see
:mod:`microagg.kernels.mixed`), not squared. The central record of a set has the mean of each numeric
attribute, the lower median of each ordinal one and the most frequent category of each nominal one, of equally frequent
ones the first in the taxonomy.

1. While at least 3k records are unassigned: r is the one farthest from the central record of the unassigned, s the one
   farthest from r. r and its k-1 nearest unassigned records form a group; then s and its k-1 nearest among those left.
   If s went with r, the record left that is farthest from r takes its place.
2. If 2k..3k-1 records are left, the one farthest from their central record and its k-1 nearest form a group.
3. The others form one group.

Ties go to the lowest record index. Time O(n²d/k).

Source: Domingo-Ferrer & Torra 2005.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.compiled import kernel
from microagg.kernels.mixed import MixedPool, Unassigned, central_record, form, leave, make_unassigned
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, nearest
from microagg.progress import checkpoint
from microagg.validation import IntArray


@kernel
def _form(pool: MixedPool, unassigned: Unassigned, seed: int, k: int) -> None:
    """Form a group of the record at the position ``seed`` and its k-1 nearest; ``pool.sums`` are the distances."""
    group = unassigned.number[0]
    leave(unassigned, pool, group, seed)
    form(unassigned, pool, nearest(pool.sums, pool.counts[EXTENT], k - 1))


@kernel
def _farthest_from_center(pool: MixedPool, unassigned: Unassigned) -> int:
    """Return the position r farthest from the central record, and set ``pool.sums`` to the distances from r."""
    mixed.tidy(pool)
    mixed.measure_from(pool, central_record(unassigned, pool.counts[ALIVE]))
    r = mixed.farthest(pool)
    mixed.measure_from(pool, mixed.point_at(pool, r))
    return r


@kernel
def _form_in_pairs(pool: MixedPool, unassigned: Unassigned, k: int, most: int) -> None:
    """Do step 1, until about ``most`` shares were added."""
    spent = 0
    while spent < most and pool.counts[ALIVE] >= 3 * k:
        r = _farthest_from_center(pool, unassigned)
        s = mixed.farthest(pool, r)
        _form(pool, unassigned, r, k)
        if np.isnan(pool.sums[s]):
            s = mixed.farthest(pool)  # the distances are still those from r
        mixed.measure_from(pool, mixed.point_at(pool, s))
        _form(pool, unassigned, s, k)
        spent += 3 * len(pool.domains) * pool.counts[EXTENT]


class MDAVGenericMixed(Microaggregator):
    """MDAV-generic for mixed attributes."""

    info = Info(
        key="mdav-generic-mixed",
        title="MDAV-generic (mixed)",
        family="Mixed attributes",
        summary="MDAV whose center has the mean of numbers, the median of ordered and the most frequent of other "
        "categories.",
        year=2005,
        reference="Domingo-Ferrer & Torra 2005",
        sizes="fixed",
        complexity="O(n²d/k)",
        mixed=True,
        note="The distance is the sum of the shares of Byun, Kamra, Bertino & Li 2007, not squared, so that taxonomies "
        "count and nothing has to be scaled.",
    )

    def _partition(self, records: Records, k: int) -> IntArray:
        pool = mixed.make_pool(records)
        unassigned = make_unassigned(records)
        while pool.counts[ALIVE] >= 3 * k:
            checkpoint("forming groups", float(1.0 - (pool.counts[ALIVE] / records.n) ** 2))
            _form_in_pairs(pool, unassigned, k, mixed.TERMS_AT_A_TIME)
        if pool.counts[ALIVE] >= 2 * k:
            _form(pool, unassigned, _farthest_from_center(pool, unassigned), k)
        labels = unassigned.labels
        labels[labels < 0] = unassigned.number[0]
        return labels
