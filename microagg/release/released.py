"""What was made of a file: the protected one, its groups, what is to be known of it, and its recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from microagg.partition import Partition
from microagg.release.report.report import Report
from microagg.release.source import Source


@dataclass(frozen=True, eq=False, repr=False)
class Released:
    """A protected file and what is to be known about it.

    Attributes
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table
        The protected file, of the kind that was given.
    partition : Partition
        The groups of the released records, in their order.
    report : Report
        What the release loses and guarantees.
    recipe : dict
        What :func:`microagg.replay` needs, besides the original file, to reproduce the release; JSON can hold it. It
        has digests of the original values, so it belongs with the original, not with the release.
    """

    frame: Any
    partition: Partition
    report: Report
    recipe: dict[str, Any]
    _released: pd.DataFrame
    _source: Source | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled and copied: not the original file, which must not go where the release goes."""
        return self.__dict__ | {"_source": None}

    def to_pandas(self) -> pd.DataFrame:
        """Return the protected file as a DataFrame of pandas, whatever kind was given; not a copy.

        It is what files are written from. See :func:`microagg.tables.frames.as_pandas` for what becomes of types that
        pandas does not have.
        """
        return self._released

    @property
    def has_originals(self) -> bool:
        """Whether the original file is at hand, so that the release can be compared with it: not after copying."""
        return self._source is not None
