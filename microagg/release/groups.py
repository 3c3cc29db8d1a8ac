"""Groups that were found elsewhere: a partition that was searched for at length, or one from another program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from microagg.errors import DataError
from microagg.release import strata
from microagg.validation import IntArray, counted


def check_given(
    labels: IntArray, k: int, parts: Sequence[strata.Part], columns: Sequence[Any], aside: str = ""
) -> None:
    """Raise :class:`DataError` unless ``labels`` are those of groups of at least ``k`` within the strata.

    There must be a label for each record of the strata ``parts``, whose columns are ``columns``. Messages say ``aside``
    after the number of records.
    """
    n = sum(len(part.rows) for part in parts)
    if len(labels) != n:
        raise DataError(
            f"there are labels for {counted(len(labels), 'record')}, but {n:,} are released{aside}: give one for each "
            "of these, in the order of the file."
        )
    groups, sizes = np.unique(labels, return_counts=True)
    if sizes.min() < k:
        small = int(sizes.argmin())
        raise DataError(
            f"the group with the label {groups[small]} has {counted(int(sizes[small]), 'record')}, fewer than k={k}: "
            "give labels of larger groups, or choose a lower k."
        )
    first: dict[int, strata.Part] = {}
    for part in parts:
        for group in np.unique(labels[part.rows]).tolist():
            if group in first:
                one, other = (strata.name(columns, stratum.values) for stratum in (first[group], part))
                raise DataError(
                    f"the group with the label {group} has records of the strata {one} and {other}: "
                    "give labels of groups that stay within one stratum."
                )
            first[group] = part
