"""A release in parts: a folder of protected files, what is to be known of it, and the recipe that makes it again."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from microagg.distributed.parts import load
from microagg.release import Finding, Report
from microagg.validation import counted, plain


@dataclass(frozen=True, eq=False, repr=False)
class LargeRelease:
    """A protected table in a folder of Parquet files, and what is to be known about it.

    Attributes
    ----------
    path : Path
        The folder, as Dask, Spark, pandas and polars read it.
    report : Report
        What the release loses and guarantees; its figures are sums over blocks.
    recipe : dict
        What :func:`microagg.replay` needs, besides the original files, to make the release again.
    seconds : dict of str to float
        How long each stage took, of those that were not done before.
    """

    path: Path
    report: Report
    recipe: dict[str, Any]
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def frame(self) -> Any:
        """The protected table as a frame of Dask."""
        return load("dask.dataframe").read_parquet(str(self.path))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is to be known before giving the files to anybody."""
        return (*self.report.findings, *self.report.in_spite)

    def accept(self, *codes: str, reason: str) -> Self:
        """Return the same release in spite of some findings; see :meth:`microagg.Release.accept`."""
        return replace(self, report=self.report.accept(*codes, reason=reason))

    def to_dict(self) -> dict[str, Any]:
        """Return the report and the recipe, as JSON can hold them."""
        return {"report": self.report.to_dict(), "recipe": plain(self.recipe)}

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the report and the recipe as JSON."""
        Path(path).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        report = self.report
        return (
            f"LargeRelease({str(self.path)!r}, {counted(report.n_records, 'record')}, "
            f"{counted(report.risk.n_groups, 'group')} by {self.recipe['method']}, {report.in_short})"
        )
