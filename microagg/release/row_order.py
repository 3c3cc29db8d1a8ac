"""The random order of the released records."""

from __future__ import annotations

import numpy as np

from microagg.validation import IntArray


def random_order(shuffle: bool | int | np.random.SeedSequence, n: int) -> IntArray:
    """Draw the order of ``n`` records, as positions in the file's order.

    With True instead of a seed, NumPy draws 128 bits from the operating system, which nothing records.
    """
    return np.random.default_rng(None if shuffle is True else shuffle).permutation(n)
