"""The parts of a release: the protected file with its groups and recipe, and the figures of its assessment."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from microagg.metrics.risk.measures import Measure
from microagg.partition import Partition
from microagg.release.prepare import Prepared
from microagg.release.report.report import Report
from microagg.validation import plain


@dataclass(frozen=True, eq=False, repr=False)
class Released:
    """A protected file with its report.

    Attributes
    ----------
    frame : DataFrame of pandas or polars, or pyarrow.Table, shape (n, columns)
        The protected file, of the kind that was given, with the n records released.
    partition : Partition
        The groups of the released records, in their order.
    report : Report
    recipe : dict
        What :func:`microagg.replay` needs, besides the original file, to reproduce the release; JSON can hold it. It
        has digests of the original values, so it belongs with the original, not with the release.
    """

    frame: Any
    partition: Partition
    report: Report
    recipe: dict[str, Any]
    _released: pd.DataFrame
    _prepared: Prepared | None = None

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling and copying, without the original file: it must not go where the release goes."""
        return self.__dict__ | {"_prepared": None}

    def to_pandas(self) -> pd.DataFrame:
        """The protected file as a DataFrame of pandas, from which files are written, not a copy.

        See :func:`microagg.tables.frames.as_pandas` for types that pandas does not have.
        """
        return self._released

    @property
    def has_originals(self) -> bool:
        """Whether the original file is at hand, to compare the release with it: not after copying."""
        return self._prepared is not None


def in_quotes(name: Hashable) -> str:
    """Name of an attribute in quotation marks, as sentences contain it."""
    return repr(str(name))


@dataclass(frozen=True)
class Figure:
    """One measure of a release.

    Attributes
    ----------
    part : {"risk", "utility"}
    measure : Measure
        What it is, and which direction is good.
    after, before : float
        Its value for the release, in the unit of ``measure``, and for the originals, were they released as they are;
        None where that is of no interest.
    sentence : str
        The figure in words.
    attribute : hashable, optional
        The column that it concerns.
    n : int, optional
        The number of records that were used, where not all were.
    """

    part: Literal["risk", "utility"]
    measure: Measure
    after: float
    sentence: str
    before: float | None = None
    attribute: Hashable | None = None
    n: int | None = None


@dataclass(frozen=True, eq=False)
class Assessment:
    """The disclosure risk and the utility of a release (see :meth:`microagg.Release.assess`).

    Attributes
    ----------
    figures : tuple of Figure
        Those that matter most first, risks before utility.
    attributes : DataFrame
        A row for each quasi-identifier, those that lose most first: ``attribute``, ``lost`` (percent), and for numbers
        that are released as numbers or ranges ``sd_ratio``, ``correlation_change`` and ``interval_disclosure``, for all
        ``hellinger``; NaN where a measure does not apply. For the steward's eyes where
        :attr:`microagg.release.Report.dominated` names an attribute.
    n_records : int
    notes : tuple of str
        What could not be measured, and why; sentences.
    """

    figures: tuple[Figure, ...]
    attributes: pd.DataFrame
    n_records: int
    notes: tuple[str, ...] = ()

    def of(self, key: str) -> tuple[Figure, ...]:
        """Figures of the measure ``key``: one for each column that it concerns. Empty if it was not measured."""
        return tuple(figure for figure in self.figures if figure.measure.key == key)

    def part(self, part: str) -> tuple[Figure, ...]:
        """Figures of ``part``, "risk" or "utility"."""
        return tuple(figure for figure in self.figures if figure.part == part)

    def to_dict(self) -> dict[str, Any]:
        """All figures and the table of attributes, for JSON. None if a value does not apply."""
        figures = [
            {
                "part": figure.part,
                "measure": figure.measure.key,
                "attribute": "" if figure.attribute is None else figure.attribute,
                "before": figure.before,
                "after": figure.after,
                "unit": figure.measure.unit,
                "better": figure.measure.better,
                "n": self.n_records if figure.n is None else figure.n,
                "sentence": figure.sentence,
                "source": figure.measure.source,
            }
            for figure in self.figures
        ]
        attributes = self.attributes.astype(object).where(self.attributes.notna(), None).to_dict("records")
        return plain(
            {"n_records": self.n_records, "figures": figures, "attributes": attributes, "notes": list(self.notes)}
        )

    def summary(self) -> str:
        """Sentences of the figures, one per line."""
        return "\n".join(figure.sentence for figure in self.figures)
