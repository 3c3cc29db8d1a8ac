"""What the partitions of a sweep risk: figures of :mod:`microagg.metrics.risk` by which methods are compared."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from microagg.metrics import risk
from microagg.partition import Partition
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray

#: Of more than MOST_LOOKED_UP records, LOOKED_UP are looked up in a release, the same ones in each.
MOST_LOOKED_UP, LOOKED_UP = 10_000, 5_000

#: So many confidential attributes count at most, the first ones of the file.
MOST_CONFIDENTIAL = 30


@dataclass(frozen=True, eq=False)
class Exposed:
    """What an intruder may know of records, and what may be learned of them.

    Attributes
    ----------
    X : array of float, shape (n, d), or None
        The quasi-identifiers, scaled; None where some are categories, for which there are no centroids to link to.
    frame : DataFrame
        The confidential attributes of the same records, n rows; there may be none.
    """

    X: FloatArray | None
    frame: pd.DataFrame

    @cached_property
    def counted(self) -> tuple[Hashable, ...]:
        """The confidential attributes that count.

        They have no gaps and two values or more, as one that all records have is known to everybody. They are the first
        :data:`MOST_CONFIDENTIAL` of such.
        """
        fit = [name for name in self.frame.columns if not self.frame[name].isna().any() and _varies(self.frame[name])]
        return tuple(fit[:MOST_CONFIDENTIAL])

    @cached_property
    def digest(self) -> str:
        """The digest of all that counts: with the same one, the same partition has the same risks."""
        parts = ["" if self.X is None else digest_array(self.X)]
        parts += [f"{name!r}/{digest_array(_hashed(self.frame[name]))}" for name in self.counted]
        return digest_bytes("/".join(parts).encode("utf-8", "replace"))

    @property
    def n_looked_up(self) -> int:
        """How many records are looked up by :meth:`risks`; 0 where there are categories."""
        n = 0 if self.X is None else len(self.X)
        return LOOKED_UP if n > MOST_LOOKED_UP else n

    def risks(self, partition: Partition) -> dict[str, float]:
        """Return the risks of releasing ``partition``, each a share, 0 to 1, the lower the better.

        - ``record_linkage``, of numbers only: the share of records whose nearest released record is their own, if each
          is released as the centroid of its group, see :func:`microagg.metrics.risk.record_linkage`. It is that of
          :attr:`n_looked_up` records, drawn at random.
        - ``homogeneous`` and ``t_closeness``, if any confidential attribute counts: the share of records in groups with
          one value only, and t of t-closeness, see :func:`microagg.metrics.risk.homogeneity`. Of several attributes
          each is that of the worst.

        Raises
        ------
        DataError
            If X holds anything but finite numbers, or the partition is not one of as many records.
        """
        shares: dict[str, float] = {}
        if self.X is not None:
            released = partition.centroids(self.X)[partition.labels]
            shares["record_linkage"] = risk.record_linkage(self.X, released, sample=self.n_looked_up).share
        if self.counted:
            learned = [risk.homogeneity(self.frame[name], partition.labels) for name in self.counted]
            shares["homogeneous"] = max(own.homogeneous for own in learned)
            shares["t_closeness"] = max(own.t_closeness for own in learned)
        return shares


def with_worst(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a sweep with ``max_reidentification``, 1 / the size of the smallest group, a share."""
    return rows.assign(max_reidentification=1.0 / rows["smallest_group"])


def _varies(values: pd.Series) -> bool:
    return bool((_hashed(values) != _hashed(values.iloc[:1])).any())


def _hashed(values: pd.Series) -> np.ndarray:
    """Return a number for each value, equal for equal ones, whatever they are."""
    return pd.util.hash_array(values.to_numpy())
