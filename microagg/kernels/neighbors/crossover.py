"""Which way to find neighbors: passes over all unassigned records, or a k-d tree of them.

Both give the same groups. Passes (:mod:`.pool`) have no overhead and use the processor's vector units, so they are
faster for few records; the tree (:mod:`.tree`) looks at a small part of many records, the smaller the fewer attributes
there are. Measured on uniform data, the worst case, and on EIA resampled with noise, on two cores: the tree wins from
about 10,000 records on with up to 6 attributes, from 25,000 with 10, and needs ten times as many for 10 more.
"""

from __future__ import annotations

#: When so few records are left unassigned, passes over them finish the work.
FEWEST = 4_000

#: From so many records on a tree pays, with few attributes, and how many times as many each further one takes.
_CROSSOVER = 10_000
_FEW_ATTRIBUTES = 6
_FACTOR = 1.25


def prefers_tree(n: int, d: int) -> bool:
    """Return whether ``n`` records with ``d`` attributes are better served by a tree."""
    # Beyond some dozens of attributes a tree looks at everything, and the power would overflow.
    return d <= 100 and n >= _CROSSOVER * _FACTOR ** max(d - _FEW_ATTRIBUTES, 0)
