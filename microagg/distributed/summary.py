"""Equivalence classes counted on written files, and the report of a release in parts."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
import pandas as pd

from microagg.distributed.parts import Part, Table, frame_of, load, read
from microagg.distributed.passes import Grouped
from microagg.distributed.planning import Job, Layout, Moments
from microagg.metrics.loss import percent
from microagg.metrics.risk.equivalence_classes import max_reidentification
from microagg.metrics.utility.columns import changes_between
from microagg.release.checks import (
    Finding,
    gaps,
    identifiers,
    nothing_confidential,
    order,
    undecided,
    undeclared,
)
from microagg.release.measures import Generalization, Loss, Risk, Stratum, Utility
from microagg.release.report.report import Report
from microagg.validation import FloatArray, check_columns, check_k, check_unique_columns, counted, plain, quoted

# Approximate number of classes in one task of the count.
_CLASSES = 200_000


@dataclass(frozen=True)
class Count:
    """The classes of a file: sets of records that are equal in some columns."""

    records: int
    classes: int
    smallest: int  # the number of records of the smallest class
    below: int  # number of records in classes of fewer than k
    alone: int  # number of records alone in their classes
    smallest_of: dict[tuple[Any, ...], int]  # size of the smallest class of each stratum, by its values


def count(
    path: str | os.PathLike[str], columns: Sequence[Any], strata: Sequence[Any], k: int, client: Any = None
) -> Count:
    """Count the classes of a Parquet file, or of all in a folder.

    Records are grouped by the values themselves, in enough pieces that each is small: by the workers of a ``client`` of
    Dask, or by threads here.

    Parameters
    ----------
    path : path
        A Parquet file, or a folder of them.
    columns, strata : sequence of str
        Records that are equal in these form a class.
    k : int
        Classes of fewer records are counted separately.
    client : distributed.Client, optional
        By default the work is done here.
    """
    table, names = Table.of(path), [*columns, *strata]
    check_columns(pd.DataFrame(columns=table.names), names)
    check_unique_columns(names)
    dask, dataframe = load("dask"), load("dask.dataframe")
    meta = frame_of(table.schema.empty_table().select(names), str(path))
    frame = dataframe.from_map(_frame, list(table.parts), columns=names, meta=meta, enforce_metadata=False)
    pieces = max(1, -(-table.n // (check_k(k) * _CLASSES)))
    sizes = frame.groupby(names, dropna=False, observed=True, sort=False).size(split_out=pieces)
    delayed = dask.delayed(_count_classes)
    tasks = [delayed(piece, list(strata), k) for piece in sizes.to_frame("n").reset_index().to_delayed()]
    counts = dask.compute(*tasks, scheduler="threads") if client is None else client.gather(client.compute(tasks))
    return _merge_counts(counts)


def _frame(part: Part, columns: list[str]) -> pd.DataFrame:
    return frame_of(read(part, columns), part.label)


def _count_classes(sizes: pd.DataFrame, strata: list[str], k: int) -> Count:
    """Count classes whose sizes are in column ``n``."""
    n = sizes["n"]
    strata_sizes: Any = ()
    if strata:
        smallest = sizes.groupby(strata, dropna=False, observed=True, sort=False)["n"].min()
        strata_sizes = smallest.reset_index().itertuples(index=False, name=None)
    return Count(
        records=int(n.sum()),
        classes=len(n),
        smallest=int(n.min()) if len(n) else sys.maxsize,
        below=int(n[n < k].sum()),
        alone=int((n == 1).sum()),
        smallest_of={tuple(map(plain, values)): size for *values, size in strata_sizes},
    )


def _merge_counts(counts: Sequence[Count]) -> Count:
    """Merge the counts of all pieces."""
    smallest_of: dict[tuple[Any, ...], int] = {}
    for each in counts:
        for values, size in each.smallest_of.items():
            smallest_of[values] = min(size, smallest_of.get(values, size))
    return Count(
        records=sum(each.records for each in counts),
        classes=sum(each.classes for each in counts),
        smallest=min(each.smallest for each in counts),
        below=sum(each.below for each in counts),
        alone=sum(each.alone for each in counts),
        smallest_of=smallest_of,
    )


def moments_after(grouped: Sequence[Grouped]) -> Moments | None:
    """Return the moments of the released numbers of all blocks, or None without numbers."""
    moments = [block.moments for block in grouped if block.moments is not None]
    return reduce(Moments.merge, moments) if moments else None


@dataclass(frozen=True, eq=False)
class Sums:
    """Figures of a written release, and its report."""

    job: Job
    layout: Layout
    grouped: Sequence[Grouped]  # the blocks in their order
    count: Count  # of the files as they were written
    columns: tuple[Hashable, ...]  # of the release
    name: str  # of the release

    @property
    def names(self) -> list[Any]:
        """The numeric quasi-identifiers."""
        return [self.job.attributes[j].name for j in self.job.numeric]

    def report(self) -> Report:
        """Return the report of losses and risk."""
        job, plan, before = self.job, self.job.plan, self.layout.moments
        after = moments_after(self.grouped)
        lost = self._loss() if after else None
        return Report(
            k=plan.k,
            scale=plan.scale,
            statistic=plan.statistic,
            n_records=self.count.records,
            n_dropped=job.table.n - before.n,
            dropped=(),
            constant_columns=tuple(self.names[j] for j in np.flatnonzero(before.least == before.greatest)),
            undeclared_columns=undeclared(job.schema, self.columns),
            loss=lost,
            risk=self._risk(),
            utility=self._utility(after) if after else None,
            generalization=None if job.schema.is_numeric and lost is not None else self._generalization(),
            rounding=plan.rounding,
            polished=plan.polish,
            findings=tuple(self._findings()),
        )

    def _loss(self) -> Loss:
        assert self.layout.scaling is not None
        sse = _exact_sums([block.sse for block in self.grouped if block.sse is not None])
        sst = self.layout.moments.sst(self.layout.scaling)
        total, total_sst = math.fsum(sse), math.fsum(sst)
        return Loss(
            sse=total,
            sst=total_sst,
            information_loss=self._percent(total, total_sst),
            lower_bound=None,
            attributes={name: self._percent(float(sse[j]), float(sst[j])) for j, name in enumerate(self.names)},
        )

    def _percent(self, part: float, total: float) -> float:
        """Return the IL: at most 100 % with means, perhaps more with other values."""
        exact = self.job.plan.statistic == "mean" and self.job.plan.rounding == "none"
        if exact and not any(attribute.unit for attribute in self.job.attributes):
            return percent(part, total)
        return 100.0 * part / total if total > 0.0 else 0.0

    def _utility(self, after: Moments) -> Utility:
        before, names = self.layout.moments, self.names
        changes = changes_between(before.correlations(), after.correlations())
        sd, sd_after = (np.sqrt(np.diag(moments.comoments) / moments.n) for moments in (before, after))
        return Utility.between(names, (before.mean, after.mean), (sd, sd_after), changes)

    def _risk(self) -> Risk:
        count, grouped = self.count, self.grouped
        return Risk(
            realized_k=count.smallest,
            max_reidentification_probability=max_reidentification(count.smallest),
            n_groups=sum(block.n_groups for block in grouped),
            n_classes=count.classes,
            largest_group=max(block.largest for block in grouped),
            n_shared=count.records - count.alone,
            strata=tuple(self._strata()),
        )

    def _strata(self) -> Iterator[Stratum]:
        if not self.job.schema.strata:
            return
        n_groups = np.zeros(len(self.layout.strata), dtype=np.int64)
        np.add.at(n_groups, self.layout.stratum_of, [block.n_groups for block in self.grouped])
        for (values, n), groups in zip(self.layout.strata, n_groups.tolist(), strict=True):
            yield Stratum(values, n, groups, self.count.smallest_of[tuple(map(plain, values))])

    def _generalization(self) -> Generalization:
        grouped, job, n = self.grouped, self.job, self.count.records
        lost = _exact_sums([block.lost for block in grouped])
        total, n_groups = math.fsum(lost), sum(block.n_groups for block in grouped)
        changed = _exact_sums([block.changed.astype(np.float64) for block in grouped])
        shows_categories = job.plan.statistic != "generalize"
        categories = [(j, a.name) for j, a in enumerate(job.attributes) if shows_categories and a.kind != "numeric"]
        return Generalization(
            total_information_loss=total,
            information_loss=100.0 * total / (n * len(lost)),
            discernibility=sum(block.discernibility for block in grouped),
            average_class_size=n / n_groups / job.plan.k,
            classification=None,
            attributes={a.name: 100.0 * float(lost[j]) / n for j, a in enumerate(job.attributes)},
            changed={name: 100.0 * changed[j] / n for j, name in categories},
        )

    def _findings(self) -> Iterator[Finding]:
        """Yield the checks of the written files."""
        schema, count, k = self.job.schema, self.count, self.job.plan.k
        label = f"combination of quasi-identifiers{' and strata' if schema.strata else ''}"
        if count.smallest == 1:
            text = (
                f"In {self.name!r} {count.alone:,} of {counted(count.records, 'record')} have a {label} that no other "
                "record has, as k = 1 allows: who knows it finds the record. Choose a higher k."
            )
            yield Finding("warn", "bytes", (), text)
        else:
            text = (
                f"The files in {self.name!r}, read again, have {counted(count.records, 'record')}, and each {label} is "
                f"that of at least {counted(count.smallest, 'record')} (k = {k:,})."
            )
            yield Finding("ok", "bytes", (), text)
        yield from identifiers(schema, self.columns)
        yield undecided(undeclared(schema, self.columns))
        columns = [name for name in self.columns if name not in (*schema.quasi_identifiers, *schema.strata)]
        if columns:
            text = (
                f"Whether {quoted(columns)}, released as {'it is' if len(columns) == 1 else 'they are'}, may identify "
                "records, determine quasi-identifiers or follow from them, or have one value in a class, and whether "
                "released values of two quasi-identifiers go together, is not counted of files in parts: release a "
                "sample of the file in memory, and read its findings."
            )
            yield Finding("warn", "unchecked", tuple(columns), text)
        yield from nothing_confidential(schema)
        yield from gaps(count.records, self.job.table.n - count.records)
        yield order(None)


def _exact_sums(arrays: Sequence[FloatArray]) -> FloatArray:
    """Sums of arrays of one shape, exactly rounded and so independent of their order."""
    return np.array([math.fsum(column) for column in zip(*arrays, strict=True)])
