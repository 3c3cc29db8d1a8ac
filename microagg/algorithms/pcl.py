"""PCL (probability-constrained Lloyd): a quantizer whose cells must hold at least k records.

1. The cells are the groups of MDAV.
2. Each cell q has a cost c(q) besides its centroid: a record goes where squared distance + cost is least. The costs are
   those at which every cell gets at least k records at the least sum of squared distances.
3. Centroids are computed again, and so on while the SSE falls by more than 1e-10 of the SST.

The paper tunes the costs numerically. Here they are exact: the records are assigned by linear programming
(:mod:`microagg.kernels.grouping.assignment`), whose prices of the cells are the costs, with their signs reversed. A
cell with more than k records costs nothing, all others at most nothing; records between two cells at equal cost go
where sizes need them. The number of cells is that of MDAV and there is no upper bound on sizes.

Ties go to the lowest group number. Time: that of MDAV, then O(nmd) and a sparse linear program a round, m = n/k.

Source: Rebollo-Monedero, Forné, Pallarès & Parra-Arnau 2013.
"""

from __future__ import annotations

import numpy as np

from microagg.algorithms.base import Info, Microaggregator
from microagg.kernels.bases import mdav
from microagg.kernels.grouping.assignment import LEAST_GAIN, assign
from microagg.partition import canonical_labels, group_means
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


class PCL(Microaggregator):
    info = Info(
        key="pcl",
        title="PCL",
        family="Iterative optimization",
        summary="Lloyd's k-means with a cost for each cell, tuned so that every cell holds at least k records.",
        year=2013,
        reference="Rebollo-Monedero, Forné, Pallarès & Parra-Arnau 2013",
        complexity="O(n²d/k) a round, and a sparse linear program",
        note="The paper tunes the costs numerically and leaves open how cells are rounded to whole records. Here both "
        "are exact: linear programming assigns the records, and its prices are the costs. Cells start as the groups "
        "of MDAV; of several optimal assignments the one with the lowest group numbers is taken.",
    )

    def _partition(self, X: FloatArray, k: int) -> IntArray:
        least = LEAST_GAIN * np.square(X - group_means(X, np.zeros(len(X), dtype=np.int64))).sum()
        labels = canonical_labels(mdav(X, k))
        centers = group_means(X, labels)
        sse = np.square(X - centers[labels]).sum()
        step = 0
        while True:
            step += 1
            checkpoint(f"round {step}")
            new = canonical_labels(assign(X, centers, labels, k, len(X), squared=True))
            new_centers = group_means(X, new)
            new_sse = np.square(X - new_centers[new]).sum()
            if sse - new_sse <= least:
                return labels
            labels, centers, sse = new, new_centers, new_sse
