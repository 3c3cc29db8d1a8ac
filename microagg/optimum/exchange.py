"""Local search for Total-IL: records moved and exchanged among the groups of a partition of mixed records.

>>> import numpy as np
>>> from microagg.columns.records import Records
>>> records = Records.of_numbers(np.array([[1.0], [9.0], [2.0], [8.0]]))
>>> exchange(records, [0, 0, 1, 1], k=2).labels
array([0, 1, 0, 1])
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from microagg.columns.records import Records
from microagg.errors import DataError
from microagg.kernels import mixed
from microagg.partition import Partition
from microagg.progress import checkpoint
from microagg.validation import check_finite

# Between two checkpoints so many records are examined.
_RECORDS_AT_A_TIME = 256


def exchange(records: Records, labels: ArrayLike, k: int) -> Partition:
    """Return groups of at least ``k`` with a Total-IL that is not above that of ``labels``, and mostly below it.

    Passes over all records are repeated until none of them changes anything, see
    :mod:`microagg.kernels.mixed`. The number of groups stays the same. Between pieces there is a
    :func:`microagg.progress.checkpoint`. Where there are strata, it is for the records of one of them.

    Parameters
    ----------
    records : Records
    labels : array of int, shape (n,)
        The group of each record, under any numbering.
    k : int

    Raises
    ------
    DataError
        If the records hold anything but finite numbers, there is not one label for each record, or a group has fewer
        than k records.
    ParameterError
        If k is not a whole number of at least 1.
    Cancelled
        If the run is watched, see :mod:`microagg.progress`, and cancelled.
    """
    check_finite(records.values, [str(attribute.name) for attribute in records.attributes])
    partition = Partition(np.asarray(labels), k)
    if len(partition) != len(records):
        raise DataError(f"there are {len(records)} records, but labels for {len(partition)}.")
    groups = mixed.make_groups(records, partition.labels)
    changes = -1
    while changes:
        changes = 0
        for start in range(0, len(records), _RECORDS_AT_A_TIME):
            stop = min(start + _RECORDS_AT_A_TIME, len(records))
            changes += mixed.improve(groups, partition.k, start, stop, mixed.WIDTH)
            checkpoint("exchanging records")
    return Partition(groups.labels, partition.k)
