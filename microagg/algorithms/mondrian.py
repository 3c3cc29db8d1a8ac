"""Mondrian: cuts the records in two at a median, again and again, as long as both parts have at least k.

Values are numbers, ranks of ordered categories, and the positions of categories among the leaves of their taxonomy, in
the order of the tree. The width of an attribute in a set is the largest minus the smallest of its values over the
domain; over the number of leaves less one for a nominal attribute.

1. Begin with all records as one set.
2. Take the attributes by width, the widest first, of equal ones the first; those of width 0 are left out. The first one
   that allows a cut cuts the set in two, and each part goes through this step. v is the lower median of its values:

   ``cut="strict"``: records with values up to v go left, the others right; or, where that makes the smaller part
   larger, those with values below v go left. Both must have at least k records.

   ``cut="relaxed"``: the first half of the records by value, of equal values by index, goes left, and the one in the
   middle, if there is one. Both must have at least k records, so there is a cut whenever there are 2k.
3. Sets without a cut are the groups.

Time O(nd log² n): the medians are found by sorting.

Sources: LeFevre, DeWitt & Ramakrishnan 2006; the comparison in Byun, Kamra, Bertino & Li 2007.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator, Param, Preset
from microagg.columns.records import Records
from microagg.kernels.compiled import kernel
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray

# Sets of fewer values are cut so fast that they need no checkpoint.
_MANY_VALUES = 10_000


def _columns_of(records: Records) -> tuple[FloatArray, FloatArray]:
    """Return the values by attribute, shape (d, n), and the largest possible difference in each."""
    columns = np.array(records.values.T, dtype=np.float64, order="C")
    domains = records.domains.copy()
    for j, attribute in enumerate(records.attributes):
        if attribute.taxonomy is not None:
            columns[j] = np.searchsorted(attribute.taxonomy.leaves, columns[j])
            domains[j] = len(attribute.taxonomy.leaves) - 1
    return columns, domains


@kernel
def _widths(columns: FloatArray, domains: FloatArray, members: IntArray) -> FloatArray:
    """Return the width of each attribute among ``members``, shape (d,)."""
    widths = np.zeros(len(domains))
    for j in range(len(domains)):
        column = columns[j]
        low = high = column[members[0]]
        for record in members:
            low = min(low, column[record])
            high = max(high, column[record])
        if domains[j] > 0.0:
            widths[j] = (high - low) / domains[j]
    return widths


@kernel
def _cut_by(column: FloatArray, members: IntArray, spare: IntArray, k: int, relaxed: bool) -> int:
    """Move the records that go left to the front of ``members``, both parts ascending, and return how many they are.

    0, and nothing is moved, if that cut is not allowed.
    """
    size = len(members)
    values = column[members]
    v = np.sort(values)[(size - 1) // 2]
    below, up_to = int(np.count_nonzero(values < v)), int(np.count_nonzero(values <= v))
    strict = up_to if min(up_to, size - up_to) >= min(below, size - below) else below
    left = (size + 1) // 2 if relaxed else strict
    room = left - below  # for records at the median itself
    if min(left, size - left) < k:
        return 0
    to_left = to_right = 0
    for i in range(size):
        at_median = values[i] == v
        if values[i] < v or (at_median and room > 0):
            if at_median:
                room -= 1
            members[to_left] = members[i]
            to_left += 1
        else:
            spare[to_right] = members[i]
            to_right += 1
    members[left:] = spare[:to_right]
    return left


@kernel
def _cut_at_widest(
    columns: FloatArray, domains: FloatArray, members: IntArray, spare: IntArray, k: int, relaxed: bool
) -> int:
    """Do as :func:`_cut_by` for the widest attribute that allows it."""
    if len(members) < 2 * k:
        return 0
    widths = _widths(columns, domains, members)
    for j in np.argsort(-widths, kind="mergesort"):  # stable
        if widths[j] <= 0.0:
            break
        left = _cut_by(columns[j], members, spare, k, relaxed)
        if left > 0:
            return left
    return 0


class Mondrian(Microaggregator):
    info = Info(
        key="mondrian",
        title="Mondrian",
        family="Mixed attributes",
        summary="Cuts the records in two at the median of the attribute with the widest range, again and again.",
        year=2006,
        reference="LeFevre, DeWitt & Ramakrishnan 2006; the comparison in Byun, Kamra, Bertino & Li 2007",
        complexity="O(nd log² n)",
        mixed=True,
        presets=(
            Preset("mondrian", "Mondrian, strict", {"cut": "strict"}),
            Preset("mondrian-relaxed", "Mondrian, relaxed", {"cut": "relaxed"}),
        ),
        order_of_attributes_matters=True,
        note="The paper cuts ordered values; categories are ordered here as the leaves of their taxonomy are. At the "
        "start all numeric attributes are equally wide, so their order matters: the first is cut. A strict cut keeps "
        "equal values together, the median's with the smaller side, so groups may have 2k records or more; groups of "
        "identical records are not cut either way.",
    )
    params = (
        Param(
            "cut",
            "choice",
            ("strict", "relaxed"),
            "strict",
            "Whether records with equal values in the attribute to cut stay together (strict), or may go to both "
            "sides so that the sides are equally large (relaxed).",
        ),
    )

    def _partition(self, records: Records, k: int, *, cut: str) -> IntArray:
        columns, domains = _columns_of(records)
        n, order, labels = records.n, np.arange(records.n), np.empty(records.n, dtype=np.int64)
        spare, sets, groups, done = np.empty_like(order), [order], 0, 0
        while sets:
            members = sets.pop()
            if members.size * len(columns) > _MANY_VALUES:
                checkpoint("cutting", done / n)
            left = _cut_at_widest(columns, domains, members, spare, k, cut == "relaxed")
            if left > 0:
                sets += [members[left:], members[:left]]
            else:
                labels[members] = groups
                groups, done = groups + 1, done + len(members)
        return labels
