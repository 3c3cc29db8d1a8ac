"""A release in parts, from files that do not fit into memory to a folder of protected files, and its report."""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any, Self

import numpy as np

from microagg.algorithms.registry import algorithm
from microagg.columns.schema import Schema
from microagg.distributed import cluster, passes, planning
from microagg.distributed.cluster import Stages
from microagg.distributed.parts import Count, Table, count, load, stratum_key
from microagg.distributed.planning import FINAL, JOB, LAYOUT, OUTPUT, Job, Layout, Moments
from microagg.distributed.working_folder import RELEASED, check_room, working_on
from microagg.errors import DataError, GuaranteeError, ParameterError
from microagg.metrics.loss import percent
from microagg.metrics.risk.equivalence_classes import max_reidentification
from microagg.metrics.utility.columns import changes_between
from microagg.progress import checkpoint
from microagg.release import Finding, Report
from microagg.release import recipe as recipes
from microagg.release.checks import gaps, identifiers, order, undecided
from microagg.release.choices import USUAL_METHOD, Choices, options_by_column
from microagg.release.findings import nothing_confidential, undeclared
from microagg.release.measures import Generalization, Loss, Risk, Stratum, Utility
from microagg.release.report.report import FOR_STEWARD
from microagg.tables import digest_bytes
from microagg.validation import FloatArray, counted, is_whole, plain, quoted

# Default average number of records of a block: of numbers, and for methods for mixed attributes, which compare every
# record of a block with every other. Measured in benchmarks/in_parts.py: a million records, evenly spread over ten
# attributes, lose at most 1.6 % more in two blocks than together, for k = 3, 5 and 10.
_BLOCK, _MIXED_BLOCK = 500_000, 10_000


@dataclass(frozen=True, eq=False, repr=False)
class LargeRelease:
    """A protected table in a folder of Parquet files, its report and its recipe."""

    path: Path  # the folder, as Dask, Spark, pandas and polars read it
    report: Report  # losses and risk, as sums over blocks
    recipe: dict[str, Any]  # input of microagg.replay, together with the original files
    seconds: dict[str, float] = field(default_factory=dict)  # of each stage

    @property
    def frame(self) -> Any:
        """The protected table as a frame of Dask."""
        return load("dask.dataframe").read_parquet(str(self.path))

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The checks to read before the files are published."""
        return (*self.report.findings, *self.report.in_spite)

    def accept(self, *codes: str, reason: str) -> Self:
        """The same release, stating that it is made in spite of some findings.

        Parameters
        ----------
        *codes, reason
            As for :meth:`microagg.Release.accept`.

        Raises
        ------
        ParameterError
            As :meth:`microagg.Release.accept`.
        """
        return replace(self, report=self.report.accept(*codes, reason=reason))

    def to_dict(self) -> dict[str, Any]:
        """Return the report and the recipe as JSON values, for the data steward only."""
        return {"notice": FOR_STEWARD, "report": self.report.to_dict(), "recipe": plain(self.recipe)}

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the report and the recipe as JSON, for the data steward only.

        Parameters
        ----------
        path : path
            The file; an existing one is replaced.
        """
        Path(path).write_text(json.dumps(self.to_dict(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        report = self.report
        return (
            f"LargeRelease({str(self.path)!r}, {counted(report.n_records, 'record')}, "
            f"{counted(report.risk.n_groups, 'group')} by {self.recipe['method']}, {report.in_short})"
        )


def release(
    data: Any,
    arguments: Mapping[str, Any],
    *,
    out: Any,
    block_size: int | None = None,
    client: Any = None,
    workers: int | None = None,
    memory_limit: str | None = None,
    recipe: Mapping[str, Any] | None = None,
    before: Callable[[tuple[Finding, ...]], None] = lambda findings: None,
    after: Callable[[LargeRelease], None] = lambda result: None,
) -> LargeRelease:
    """Release a table in parts to a new folder, like :func:`microagg.microaggregate`.

    Parameters
    ----------
    data : path
        A Parquet file or a folder of them.
    arguments : mapping
        Arguments of ``microaggregate``.
    out : path
        The new folder.
    block_size : int, optional
        As for ``microaggregate``.
    client, workers, memory_limit : optional
        As for :func:`microagg.distributed.cluster.connected`.
    recipe : mapping, optional
        The release must equal that of this recipe.
    before, after : callable
        Called with the findings before the work, and with the verified release just before it takes its place; both may
        raise to end the job.

    Raises
    ------
    DataError, ParameterError
        As ``microaggregate``; or if Dask does not support an argument, ``out`` exists, disk, memory or workers do not
        suffice, or the data are not those of the ``recipe``.
    MicroaggError
        If the released values differ from those of the ``recipe``.
    """
    choices = Choices.checked(**arguments)
    planning.refuse(choices)
    if block_size is None:
        info = algorithm(choices.method or USUAL_METHOD).info
        block_size = _MIXED_BLOCK if info.mixed and not info.numbers_by_sse else _BLOCK
    k = choices.k
    if not is_whole(block_size) or block_size < 1 or (is_whole(k) and block_size < 2 * k):
        raise ParameterError(f"block_size must be a whole number of at least twice k, not {block_size!r}.")
    target = _check_target(out)
    table = Table.of(data).recoded(choices.recode)
    before(Job.of(table, choices, {}, block_size).findings())  # check the choices before workers start
    with working_on(target) as working:
        with cluster.connected(working, client, workers=workers, memory_limit=memory_limit) as connection:
            cluster.check_workers(connection, working)
            stages = Stages(connection, working)
            job = Job.of(table, choices, _categories(stages, table, choices), block_size)
            check_room(working.place, job.needed)
            cluster.check_memory(connection, job.memory(block_size))
            working.store(JOB, job)
            result = _run(stages, job, target, recipe)
        after(result)
        working.deliver(target)
    return result


def replay(data: Any, recipe: Mapping[str, Any], **options: Any) -> LargeRelease:
    """Repeat the release of a ``recipe`` from the same files.

    Parameters
    ----------
    data : path
        The Parquet file or the folder of them.
    recipe : mapping
        :attr:`LargeRelease.recipe`, which may have been through JSON.
    **options
        Further arguments of :func:`release`.

    Raises
    ------
    ParameterError, DataError, MicroaggError
        If the recipe is not complete; also as :func:`release`.
    """
    recipes.check(recipe)
    if not is_whole(recipe.get("block_size")):
        raise ParameterError("the recipe has no block_size: pass LargeRelease.recipe as it was written.")
    return release(data, recipes.choices(recipe), block_size=recipe["block_size"], recipe=recipe, **options)


def _check_target(out: Any) -> Path:
    """Return the folder to write, which must not exist."""
    if not isinstance(out, (str, os.PathLike)):
        raise ParameterError(f"out must be the path of a folder to be written, not {out!r}.")
    target = Path(out).absolute()
    if target.exists():
        raise ParameterError(f"{str(out)!r} already exists: choose another name, or move it away.")
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r}: create it, or choose another one.")
    return target


# --- stages -----------------------------------------------------------------------------------------------------------


def _categories(stages: Stages, table: Table, choices: Choices) -> dict[str, tuple[list[str], bool]]:
    """Collect the categories of quasi-identifiers without declared ones, from all parts."""
    names = planning.columns_to_scan(table, choices)
    if not names:
        return {}
    declared = options_by_column(names, choices.values)
    # Without the categories, which are still unknown, and without missing values, which are not categories.
    schema = Schema(tuple(names), **{key: declared[key] for key in declared.keys() - {"taxonomies", "missing"}})
    task = partial(passes.see_categories, table.parts, schema)
    seen = stages.run("categories", task, len(table.parts), "looking for categories: part", (0.0, 0.02))
    return planning.merge_categories(seen)


def _run(stages: Stages, job: Job, target: Path, recipe: Mapping[str, Any] | None) -> LargeRelease:
    """Run all passes, verify the written files, and return the release."""
    n_parts = len(job.table.parts)
    seen: list[planning.Seen] = stages.run("encode", passes.encode, n_parts, "reading: part", (0.02, 0.15))
    input_digest = _digest([part.digest for part in seen])
    if recipe is not None and input_digest != recipe["input_sha256"]:
        raise DataError(
            "the quasi-identifiers or strata differ from those of the recipe (their SHA-256 is another): use the same "
            "files, with their records in the same order and the same row groups."
        )
    layout = _arrange(stages, job, planning.first_layout(job, seen))
    blocks = _group(stages, job, layout)
    written = stages.run("write", passes.write, n_parts, "writing: part", (0.85, 0.95))
    new_recipe = recipes.written(job.plan) | {
        "n": job.table.n,
        "input_sha256": input_digest,
        "strata_sha256": None,
        "classes_sha256": None,
        "weights_sha256": None,
        "release_sha256": _digest([digest for _, digest in written]),
        "engine": "dask",
        "block_size": job.block_size,
    }
    classes, columns = _verify(stages, job, layout.moments.n, sum(n for n, _ in written))
    report = _Figures(job, layout, blocks, classes, columns, target.name).report()
    if recipe is not None:
        recipes.check_same_release(new_recipe, recipe)
    return LargeRelease(target, report, new_recipe, stages.seconds)


def _digest(digests: list[str]) -> str:
    return digest_bytes("\n".join(digests).encode())


def _arrange(stages: Stages, job: Job, layout: Layout) -> Layout:
    """Assign the records to blocks, and sort each part by block."""
    working, n_parts = stages.working, len(job.table.parts)
    working.store(LAYOUT, layout)
    counts = stages.run("assign", passes.assign, n_parts, "finding blocks: part", (0.15, 0.2))
    layout = planning.final_layout(job, layout, counts)
    cluster.check_memory(stages.client, job.memory(int(layout.counts.sum(axis=0).max())))
    working.store(FINAL, layout)
    stages.run("sort", passes.sort, n_parts, "sorting: part", (0.2, 0.25))
    working.drop(passes.ENCODED)
    working.drop(passes.STRATA)
    return layout


def _group(stages: Stages, job: Job, layout: Layout) -> list[passes.Grouped]:
    """Group the records of each block, and return the figures of the blocks."""
    batches = stages.run("group", passes.group, len(layout.batches), "grouping: task", (0.25, 0.85))
    stages.working.drop(passes.SORTED)
    blocks = [block for batch in batches for block in batch]
    if (after := _moments_after(blocks)) is not None:
        layout = planning.output_layout(job, layout, after)
    stages.working.store(OUTPUT, layout)
    return blocks


def _moments_after(blocks: Sequence[passes.Grouped]) -> Moments | None:
    """Return the moments of the released numbers of all blocks, or None without numbers."""
    moments = [block.moments for block in blocks if block.moments is not None]
    return reduce(Moments.merge, moments) if moments else None


def _verify(stages: Stages, job: Job, n: int, n_written: int) -> tuple[Count, tuple[str, ...]]:
    """Check k, the number of records and the columns of the written files; return their classes and columns."""
    checkpoint("counting the written records", 0.95)
    started = time.perf_counter()
    k, schema, folder = job.plan.k, job.schema, stages.working.path(RELEASED)
    classes = count(folder, schema.quasi_identifiers, schema.strata, k, stages.client)
    stages.seconds["count"] = time.perf_counter() - started
    columns = tuple(Table.of(folder).names)
    if classes.smallest < k or classes.records != n or n_written != n or {*columns} & {*schema.identifiers}:
        raise GuaranteeError(
            f"microagg broke its promise: the written files have {classes.records:,} records of {n:,}, and a class of "
            f"{classes.smallest}, fewer than k={k} or with identifiers; they are withheld. Please report this."
        )
    return classes, columns


# --- the report -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Figures:
    """Figures of a written release, and its report."""

    job: Job
    layout: Layout
    blocks: Sequence[passes.Grouped]  # in their order
    classes: Count  # of the written files
    columns: tuple[str, ...]  # of the release
    name: str  # of the release

    def report(self) -> Report:
        """Return the report of losses and risk."""
        job, plan, before, after = self.job, self.job.plan, self.layout.moments, _moments_after(self.blocks)
        names = [job.attributes[j].name for j in job.numeric]
        constant = {names[j] for j in np.flatnonzero(before.least == before.greatest)}
        constant |= {job.attributes[j].name for j, each in self.layout.originals.items() if len(each.drop_null()) == 1}
        loss = self._loss(names) if after else None
        return Report(
            k=plan.k,
            scale=plan.scale,
            statistic=plan.statistic,
            n_records=self.classes.records,
            n_dropped=job.table.n - before.n,
            dropped=(),
            constant_columns=tuple(a.name for a in job.attributes if a.name in constant),
            undeclared_columns=undeclared(job.schema, self.columns),
            loss=loss,
            risk=self._risk(),
            utility=self._utility(names, after) if after else None,
            generalization=None if job.schema.is_numeric and loss is not None else self._generalization(),
            rounding=plan.rounding,
            polished=plan.polish,
            findings=tuple(self._findings()),
        )

    def _loss(self, names: list[Any]) -> Loss:
        assert self.layout.scaling is not None
        plan = self.job.plan
        is_mean = plan.statistic == "mean" and plan.rounding == "none" and not any(a.unit for a in self.job.attributes)

        def share(part: float, total: float) -> float:
            # At most 100 % with means, perhaps more with other values.
            return percent(part, total) if is_mean else 100.0 * part / total if total > 0.0 else 0.0

        sse = _exact_sums([block.sse for block in self.blocks if block.sse is not None])
        sst = self.layout.moments.sst(self.layout.scaling)
        total, total_sst = math.fsum(sse), math.fsum(sst)
        return Loss(
            sse=total,
            sst=total_sst,
            information_loss=share(total, total_sst),
            lower_bound=None,
            attributes={name: share(float(sse[j]), float(sst[j])) for j, name in enumerate(names)},
        )

    def _utility(self, names: list[Any], after: Moments) -> Utility:
        before = self.layout.moments
        changes = changes_between(before.correlations(), after.correlations())
        sd, sd_after = (np.sqrt(np.diag(moments.comoments) / moments.n) for moments in (before, after))
        return Utility.between(names, (before.mean, after.mean), (sd, sd_after), changes)

    def _risk(self) -> Risk:
        classes, layout = self.classes, self.layout
        n_groups = np.array([block.n_groups for block in self.blocks])
        strata = []
        for number, (values, n) in enumerate(layout.strata if self.job.schema.strata else ()):
            of_stratum = int(n_groups[layout.stratum_of == number].sum())
            strata.append(Stratum(values, n, of_stratum, classes.smallest_of[stratum_key(values)]))
        return Risk(
            realized_k=classes.smallest,
            max_reidentification_probability=max_reidentification(classes.smallest),
            n_groups=int(n_groups.sum()),
            n_classes=classes.classes,
            largest_group=max(block.largest for block in self.blocks),
            n_shared=classes.records - classes.alone,
            strata=tuple(strata),
        )

    def _generalization(self) -> Generalization:
        job, blocks, n = self.job, self.blocks, self.classes.records
        lost = _exact_sums([block.lost for block in blocks])
        changed = np.sum([block.changed for block in blocks], axis=0)
        shows_categories = job.plan.statistic != "generalize"
        categories = [(j, a.name) for j, a in enumerate(job.attributes) if shows_categories and a.kind != "numeric"]
        total = math.fsum(lost)
        return Generalization(
            total_information_loss=total,
            information_loss=100.0 * total / (n * len(lost)),
            discernibility=sum(block.discernibility for block in blocks),
            average_class_size=n / sum(block.n_groups for block in blocks) / job.plan.k,
            classification=None,
            attributes={a.name: 100.0 * float(lost[j]) / n for j, a in enumerate(job.attributes)},
            changed={name: 100.0 * float(changed[j]) / n for j, name in categories},
        )

    def _findings(self) -> Iterator[Finding]:
        """Yield the checks of the written files."""
        schema, classes, k = self.job.schema, self.classes, self.job.plan.k
        records = counted(classes.records, "record")
        label = f"combination of quasi-identifiers{' and strata' if schema.strata else ''}"
        if classes.smallest == 1:
            text = (
                f"In {self.name!r}, {classes.alone:,} of {records} have a {label} that no other record has, as k = 1 "
                "allows: whoever knows the combination finds the record. Choose a higher k."
            )
            yield Finding("warn", "bytes", (), text)
        else:
            text = (
                f"The files in {self.name!r}, read again, have {records}, and each {label} is that of at least "
                f"{counted(classes.smallest, 'record')} (k = {k:,})."
            )
            yield Finding("ok", "bytes", (), text)
        yield from identifiers(schema, self.columns)
        yield undecided(undeclared(schema, self.columns))
        columns = [name for name in self.columns if name not in (*schema.quasi_identifiers, *schema.strata)]
        if columns:
            text = (
                f"Not checked for files in parts: whether {quoted(columns)} may identify records, determine "
                "quasi-identifiers or follow from them, or have one value in a class, and whether released values of "
                "two quasi-identifiers match. Release a sample of the file in memory, and read its findings."
            )
            yield Finding("warn", "unchecked", tuple(columns), text)
        yield from nothing_confidential(schema)
        yield from gaps(classes.records, self.job.table.n - classes.records)
        yield order(None)


def _exact_sums(arrays: Sequence[FloatArray]) -> FloatArray:
    """Sums of arrays of one shape, exactly rounded and so independent of their order."""
    return np.array([math.fsum(column) for column in zip(*arrays, strict=True)])
