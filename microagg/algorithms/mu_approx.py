"""µ-Approx: builds a forest of short edges, cuts its trees to size, and makes groups of them.

1. Forest. While some tree has fewer than k records (each record is one at first): of the tree of the lowest such
   record, the only record without an outgoing edge gets one to the nearest record outside the tree. (Of its k-1 nearest
   records, at least one is outside.)
2. Cuts. A tree of more than max(2k-1, 3k-5) records is cut at its longest edge that leaves at least k records on both
   sides. If there is none, then there is just one record, the hub, all of whose branches have fewer than k. Branches
   are collected, the largest first, until they have k-1 or more; they and the hub are one tree. The others are another,
   whose branches are connected to the first of them. Should these be only k-1 records, the hub goes with them instead.
   Both are repeated until no tree is larger.
3. Groups. A tree of 2k or more records gives two: the record farthest from its centroid with its k-1 nearest, and the
   others. Smaller trees are groups.

No group has more than 2k-1 records. Ties go to the lowest record index, among equally long edges and equally large
branches as well. Time O(n²d), and O(n) for each hub.

Source: Domingo-Ferrer, Sebé & Solanas 2008, as far as Kabir, Wang & Zhang 2010 tell; forest and cuts after Aggarwal,
Feder, Kenthapadi, Motwani, Panigrahy, Thomas & Zhu 2005, whom it builds upon.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.compiled import kernel
from microagg.kernels.grouping.division import cut_longest_edges, divide_at_hubs, roots, split_large
from microagg.kernels.grouping.groups import form_from_rest, make_groups
from microagg.kernels.grouping.moving_mean import form_group
from microagg.kernels.neighbors.brute_force import make_pool, passes_at_a_time, squared_distances
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


@kernel
def _connect(
    columns: FloatArray, parents: IntArray, lengths: FloatArray, trees: IntArray, k: int, start: int, edges: int
) -> int:
    """Add at most ``edges`` edges to the trees of the records from ``start`` on; return the record to continue with.

    ``columns``, shape (d, n), are the attributes; ``trees``, shape (n,), is the tree of each record.
    """
    n = len(parents)
    sizes = np.bincount(trees, minlength=n)
    distances = np.empty(n)
    record = start
    while record < n:
        tree = trees[record]
        if sizes[tree] >= k:
            record += 1
            continue
        if edges == 0:
            break
        edges -= 1
        root = record
        while parents[root] >= 0:
            root = parents[root]
        squared_distances(columns, 0, n, columns[:, root].copy(), distances)
        best = -1
        for other in range(n):
            if trees[other] != tree and (best < 0 or distances[other] < distances[best]):
                best = other
        parents[root] = best
        lengths[root] = distances[best]
        sizes[trees[best]] += sizes[tree]
        for other in range(n):
            if trees[other] == tree:
                trees[other] = trees[best]
    return record


def _two_groups(X: FloatArray, k: int) -> IntArray:
    """Return the labels of the record farthest from the centroid with its k-1 nearest, and of the others."""
    pool = make_pool(X)
    groups = make_groups(len(X), X.shape[1], k)
    form_group(groups, pool, k)
    form_from_rest(groups, pool)
    return groups.labels


def grow_forest(X: FloatArray, k: int) -> tuple[IntArray, FloatArray]:
    """Return the parents and the squared edge lengths of the forest of ``X``, shape (n, d); see step 1."""
    n = len(X)
    columns = X.T.copy()
    parents = np.full(n, -1, dtype=np.int64)
    lengths = np.full(n, np.inf)
    trees = np.arange(n)
    record = 0
    while record < n:
        checkpoint("growing the forest", record / n)
        record = _connect(columns, parents, lengths, trees, k, record, passes_at_a_time(*X.shape))
    return parents, lengths


class MuApprox(Microaggregator):
    info = Info(
        key="mu-approx",
        title="µ-Approx",
        family="Graphs and hierarchies",
        summary="Links each record to a near one until all trees have k records, and cuts the large ones to size.",
        year=2008,
        reference="Domingo-Ferrer, Sebé & Solanas 2008",
        complexity="O(n²d)",
        note="Open are the order in which trees are linked (here the one of the lowest record first), at which edge a "
        "tree is cut (the longest), and how one without such an edge is divided and stays connected. The printed "
        "figures are missed by 0.3 to 10 % (relative), half of them from below.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        most = max(2 * k - 1, 3 * k - 5)
        parents, lengths = grow_forest(X, k)
        cut_longest_edges(parents, lengths, k, most)
        divide_at_hubs(parents, k, most)
        return split_large(X, roots(parents), k, _two_groups)
