"""The weights of records, such as the number of persons that each stands for in a sample survey, and their release."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.errors import DataError
from microagg.partition import Partition
from microagg.validation import FloatArray, check_finite, check_present, numeric_matrix

#: What becomes of the column of weights: each record gets the mean weight of its group, or its own, or none.
RELEASE_WEIGHTS = ("mean", "keep", "drop")


def find(frame: pd.DataFrame, name: Any, kept: NDArray[np.bool_]) -> FloatArray | None:
    """Return the weights of the records of ``frame`` that are ``kept``; None where no column is named for them.

    Raises
    ------
    DataError
        If the column is not numeric, or one of these records has no weight, or none that is finite and above 0.
    """
    if name is None:
        return None
    check_present(frame[name], kept, "no weight")
    weights = numeric_matrix(frame, [name], "weights")
    # Ones in place of what is left out, not a shorter column: a message must number the records as the caller does.
    weights[~kept] = 1.0
    check_finite(weights, [name])
    if len(small := np.flatnonzero(weights[:, 0] <= 0.0)):
        row = int(small[0])
        more = f", one of {len(small):,} such records" if len(small) > 1 else ""
        raise DataError(
            f"column {name!r} has the weight {weights[row, 0]:g} in record {row} (counting from 0){more}, but weights "
            "must be above 0: leave out such records first, or do not name the column as the weights."
        )
    return weights[kept, 0]


def replace(released: pd.DataFrame, name: Any, weights: FloatArray, partition: Partition, how: str) -> None:
    """Replace the column of weights of ``released`` as ``how``, one of :data:`RELEASE_WEIGHTS`, says.

    ``weights``, shape (n,), are those of its records. With "mean" the total weight of every group stays what it was.
    """
    if how == "drop":
        del released[name]
    elif how == "mean":
        released[name] = partition.centroids(weights)[partition.labels, 0]
