"""Records in blocks: what is needed to partition a file of which no machine sees the whole.

- :class:`Moments` of parts, which merge to those of all records, so that scales are exact.
- :class:`Cuts`, learned on a sample, which say in which block a record is.
- :func:`partition_block` and :func:`partition_blocks`: each block by itself, with the seed of :func:`block_seed`.
- :func:`near_cuts` and :func:`repair`: groups near cuts improved by local search across them.
- :func:`nearest_sums`: what a block contributes to a proven floor of the loss of all records.
"""

from microagg.blocks.cuts import Cuts
from microagg.blocks.floor import nearest_sums
from microagg.blocks.moments import Moments
from microagg.blocks.partition import (
    DEFAULT_BLOCK,
    MIXED_BLOCK,
    block_seed,
    partition_block,
    partition_blocks,
    usual_block,
)
from microagg.blocks.repair import near_cuts, repair

__all__ = [
    "DEFAULT_BLOCK",
    "MIXED_BLOCK",
    "Cuts",
    "Moments",
    "block_seed",
    "near_cuts",
    "nearest_sums",
    "partition_block",
    "partition_blocks",
    "repair",
    "usual_block",
]
