"""Records in blocks: what is needed to partition a file of which no machine sees the whole.

- :class:`Moments` of parts, which merge to those of all records, so that scales are exact.
- :class:`Cuts`, learned on a sample, which say in which block a record is.
"""

from microagg.blocks.cuts import Cuts
from microagg.blocks.moments import Moments
from microagg.blocks.partition import block_seed

__all__ = ["Cuts", "Moments", "block_seed"]
