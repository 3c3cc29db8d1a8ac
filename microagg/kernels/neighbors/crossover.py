"""Whether neighbors are found by passes over all unassigned records or in a k-d tree of them.

Both give the same groups. Passes (:mod:`.brute_force`) have no overhead and use the processor's vector units, so they
are faster for few records. The tree (:mod:`.tree_pool`) visits a part of many records, which depends on the data: of
16,000 records with 16 evenly spread attributes nine tenths, of as many with 40 attributes that lie in clusters one in
twelve. So where there are enough records for a tree to pay at all, one is made and asked for the neighbors of some of
them.
"""

from __future__ import annotations

import numpy as np

from microagg.kernels.neighbors.kd_tree import LEAF
from microagg.kernels.neighbors.lookahead import SPARE, list_nearest
from microagg.kernels.neighbors.tree_pool import TreePool, make_tree_pool
from microagg.validation import FloatArray

#: Once fewer records than this are unassigned, passes finish the work.
FEWEST = 2_000

# Beyond so many attributes a tree would visit nearly all records of most data, and take as much memory as they do.
_MOST_ATTRIBUTES = 100

# Of how many records, evenly spread over the table, the nearest are looked for.
_ASKED = 32


def tree_if_faster(X: FloatArray, k: int, least: int) -> TreePool | None:
    """Return the records ``X``, shape (n, d), in a tree if it finds the k - 1 nearest faster than passes do, else None.

    ``least`` is the number of records from which on it does where it need not visit any: what building it and removing
    records from it costs, in records passed over.
    """
    n, d = X.shape
    if n < max(least, FEWEST) or d > _MOST_ATTRIBUTES:
        return None
    pool = make_tree_pool(X)
    # To visit a leaf takes about as long as to pass over as many records as it has room for.
    return pool if n >= least + LEAF * _leaves_visited(pool, k - 1 + SPARE) else None


def _leaves_visited(pool: TreePool, most: int) -> float:
    """Return how many leaves a search for the ``most`` nearest records visits, on average."""
    asked = np.linspace(0, len(pool.X) - 1, _ASKED).astype(np.int64)
    return list_nearest(pool, asked, np.full((_ASKED, most), -1)) / _ASKED
