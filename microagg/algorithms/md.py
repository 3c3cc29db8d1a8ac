"""MD (Maximum Distance) and M-d: two groups a round, around the two unassigned records farthest apart.

``md``

1. While at least 2k records are unassigned: r and s are the two of them farthest apart. One of them and its k-1
   nearest unassigned records form a group, then the other and its k-1 nearest among those left.
2. If k..2k-1 records are left they form one group; fewer than k join the group with the nearest centroid, one by one,
   centroids frozen.

``first`` chooses which of the two comes first. If the second seed went into the first group, the record left that is
farthest from the first seed takes its place. Ties go to the lowest record index.

``m-d``

1. Compute the Euclidean minimum spanning tree of all records.
2. Visit its edges, the longest first, and remove each one that leaves at least k records on both sides.
3. Trees of fewer than 2k records are groups. Each other tree is partitioned as MD does, the record with the lower index
   first; but a group takes in the unassigned record that increases its SSE least, which is the one nearest to its
   centroid, until it has k.

Among equally long edges the one with the lowest record index comes first, in the tree as in the visit, which makes the
tree unique.

Of the distances only those that may be the largest are measured again in each round (see
:mod:`microagg.kernels.neighbors.brute_force`): time O(n²d) for the first ones and O(nd) for each record measured
again, instead of O(n³d/k); for a tree of m records, up to O(m³d/k).

Sources: Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer, Solanas & Martínez-Ballesté 2006 (``md``); Laszlo & Mukherjee
2005 (``m-d``).
"""

from __future__ import annotations

from functools import partial

from microagg.algorithms.base import Info, Microaggregator, Param
from microagg.kernels.bases import md
from microagg.kernels.grouping.division import cut_longest_edges, minimum_spanning_tree, roots, split_large
from microagg.validation import FloatArray, IntArray


class MD(Microaggregator):
    info = Info(
        key="md",
        title="MD",
        family="Fixed-size heuristics",
        summary="Two groups a round, around the two records farthest apart: what MDAV was made to speed up.",
        year=2002,
        reference="Domingo-Ferrer & Mateo-Sanz 2002; Domingo-Ferrer, Solanas & Martínez-Ballesté 2006",
        sizes="fixed",
        complexity="O(n²d) to O(n³d/k)",
        note="Which of the two records comes first is open. Printed figures for Census: k = 3, 4, 10 need s first, "
        "k = 5 and 10 r first. Left-over records join the nearest group one by one.",
    )
    params = (
        Param(
            "first",
            "choice",
            ("s", "r"),
            "s",
            "Which of the two records farthest apart gets its group first; r is the one with the lower index.",
        ),
    )

    def _partition(self, X: FloatArray, k: int, *, first: str) -> IntArray:
        return md(X, k, first == "r")


class MstMd(Microaggregator):
    info = Info(
        key="m-d",
        title="M-d",
        family="Graphs and hierarchies",
        summary="Removes the longest edges of the minimum spanning tree, and partitions large remaining trees around "
        "the records farthest apart.",
        year=2005,
        reference="Laszlo & Mukherjee 2005",
        complexity="O(n²d) to O(n³d/k)",
        note="How large trees are partitioned is open, and was chosen by the printed figures. With groups that grow "
        "around their centroids, and the lower record of the farthest pair first, six of eight are reproduced exactly "
        "and two within 0.1 % (relative); with groups around their seeds, as in MD, they are missed by up to "
        "0.4 %, or 0.6 % with the higher record first.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        parents, lengths = minimum_spanning_tree(X)
        cut_longest_edges(parents, lengths, k, 2 * k - 1)  # smaller trees have no edge to remove
        return split_large(X, roots(parents), k, partial(md, r_first=True, growing=True))
