"""Whether neighbors are found by passes over all unassigned records or in a k-d tree of them.

Both give the same groups. Passes (:mod:`.brute_force`) have no overhead and use the processor's vector units, so they
are faster for few records. The tree (:mod:`.tree_pool`) visits a small part of many records, the smaller the fewer
attributes there are. Measured on two cores, on uniform data, the worst case, and on EIA resampled with noise: the tree
is faster from about 10,000 records on with up to 6 attributes, from 25,000 with 10, and from ten times as many for each
10 attributes more.
"""

from __future__ import annotations

#: Once fewer records than this are unassigned, passes finish the work.
FEWEST = 4_000

# From this many records on a tree is faster, with up to a few attributes ...
_CROSSOVER = 10_000
_FEW_ATTRIBUTES = 6

# ... and by what factor that number grows with each further attribute.
_FACTOR = 1.25


def prefers_tree(n: int, d: int) -> bool:
    """Return whether a tree finds neighbors faster among ``n`` records with ``d`` attributes."""
    # Beyond some dozens of attributes a tree visits all records, and the power would overflow.
    return d <= 100 and n >= _CROSSOVER * _FACTOR ** max(d - _FEW_ATTRIBUTES, 0)
