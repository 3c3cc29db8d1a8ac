"""Each block partitioned by itself, all of them in memory."""

from __future__ import annotations

import numpy as np


def block_seed(seed: int, block: int) -> int:
    """Return the ``random_state`` with which a block is partitioned, from the seed of the whole run.

    The seeds of blocks are independent of each other, and of how many blocks there are.
    """
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])
