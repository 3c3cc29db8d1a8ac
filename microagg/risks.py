"""What the partitions of a sweep risk: figures of :mod:`microagg.metrics.risk` by which methods are compared."""

from __future__ import annotations

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


@dataclass(frozen=True, eq=False)
class Exposed:
    """What an intruder may know of records, and what may be learned of them.

    Attributes
    ----------
    X : array of float, shape (n, d), or None
        The quasi-identifiers, scaled; None where some are categories, for which there are no centroids to link to.
    confidential : DataFrame
        The confidential attributes of the same records, n rows; there may be none.
    """

    X: FloatArray | None
    confidential: pd.DataFrame

    @cached_property
    def digest(self) -> str:
        """The digest of all of it: with the same one, the same partition has the same risks."""
        frame = self.confidential
        parts = ["" if self.X is None else digest_array(self.X)]
        parts += [f"{name!r}/{digest_array(pd.util.hash_array(frame[name].to_numpy()))}" for name in frame.columns]
        return digest_bytes("/".join(parts).encode("utf-8", "replace"))

    @property
    def n_looked_up(self) -> int:
        """How many records are looked up by :meth:`risks`; 0 where there are categories."""
        n = 0 if self.X is None else len(self.X)
        return LOOKED_UP if n > MOST_LOOKED_UP else n

    def risks(self, partition: Partition) -> dict[str, float]:
        """Return the risks of releasing ``partition``, each a share, 0 to 1, the lower the better.

        They are: ``record_linkage``, of numbers, if each record is released as the centroid of its group, see
        :func:`microagg.metrics.risk.record_linkage`.

        Raises
        ------
        DataError
            If X holds anything but finite numbers.
        """
        found: dict[str, float] = {}
        if self.X is not None:
            released = partition.centroids(self.X)[partition.labels]
            found["record_linkage"] = risk.record_linkage(self.X, released, sample=self.n_looked_up).share
        return found


def with_worst(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of a sweep with the risk of the worst record, 1 / the size of the smallest group, a share."""
    return rows.assign(max_reidentification=1.0 / rows["smallest_group"])


def prepare() -> None:
    """Compile what :meth:`Exposed.risks` needs, or load it where an earlier process left it on disk."""
    X = np.arange(12.0).reshape(6, 2)
    Exposed(X, pd.DataFrame(index=range(6))).risks(Partition([0, 0, 1, 1, 2, 2], 2))
