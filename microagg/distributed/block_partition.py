"""The partition of a block."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone

from microagg.algorithms.base import Microaggregator
from microagg.algorithms.registry import algorithm
from microagg.columns.records import Records
from microagg.partition import Partition
from microagg.validation import FloatArray

#: Default average number of records of a block. Measured in benchmarks/blocks.py: a million records, evenly
#: spread over ten attributes, lose at most 1.6 % more in two blocks than together, for k = 3, 5 and 10.
DEFAULT_BLOCK = 500_000

#: The same for methods for mixed attributes, which compare every record of a block with every other.
MIXED_BLOCK = 10_000


def usual_block(method: str) -> int:
    """Default average number of records of a block for an algorithm, by its key."""
    info = algorithm(method).info
    return MIXED_BLOCK if info.mixed and not info.numbers_by_sse else DEFAULT_BLOCK


def block_seed(seed: int, block: int) -> int:
    """Return a block's ``random_state`` from the run's, independent of the others' and of how many there are."""
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])


def partition_block(
    X: FloatArray | Records, k: int, estimator: Microaggregator, block: int, *, seed: int = 0
) -> Partition:
    """Partition the records ``X`` of one block, shape (m, d): of numbers, on a scale.

    The minimum group size ``k`` replaces that of the estimator, which is not changed. An estimator with a
    ``random_state`` gets that of :func:`block_seed`.
    """
    copied = clone(estimator).set_params(k=k)
    if "random_state" in copied.get_params():
        copied.set_params(random_state=block_seed(seed, block))
    return copied.fit(X).partition_
