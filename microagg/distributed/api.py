"""The steps of a job, from files that do not fit into memory to a folder of protected files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

from microagg.algorithms.registry import algorithm
from microagg.columns.schema import Schema
from microagg.distributed import cluster, passes, planning, summary
from microagg.distributed.cluster import Stages
from microagg.distributed.parts import Table, load
from microagg.distributed.planning import FINAL, JOB, LAYOUT, OUTPUT, Job, Layout
from microagg.distributed.working_folder import RELEASED, check_room, working_on
from microagg.errors import DataError, GuaranteeError, ParameterError
from microagg.progress import checkpoint
from microagg.release import Finding, Report
from microagg.release import recipe as recipes
from microagg.release.choices import USUAL_METHOD, Choices, options_by_column
from microagg.release.report.report import FOR_STEWARD
from microagg.tables import digest_bytes
from microagg.validation import counted, is_whole, plain

# Default average number of records of a block: of numbers, and for methods for mixed attributes, which compare every
# record of a block with every other. Measured in benchmarks/blocks.py: a million records, evenly spread over ten
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
        """Like :meth:`microagg.Release.accept`."""
        return replace(self, report=self.report.accept(*codes, reason=reason))

    def to_dict(self) -> dict[str, Any]:
        """Return the report and the recipe as JSON values, for the data steward only."""
        return {"notice": FOR_STEWARD, "report": self.report.to_dict(), "recipe": plain(self.recipe)}

    def to_json(self, path: str | os.PathLike[str]) -> None:
        """Write the report and the recipe as JSON."""
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
    begins: Callable[[tuple[Finding, ...]], None] = lambda findings: None,
    ends: Callable[[LargeRelease], None] = lambda result: None,
) -> LargeRelease:
    """Release a table in parts to the new folder ``out``, like :func:`microagg.microaggregate`.

    Parameters
    ----------
    data : path
        A Parquet file, or a folder of them.
    arguments : mapping
        Keywords of :func:`microagg.microaggregate`.
    out : path
        Folder to write; it must not exist.
    block_size : int, optional
        Average number of records of a block, by default that usual for the method.
    client, workers, memory_limit
        As in :func:`microagg.distributed.cluster.connected`.
    recipe : mapping, optional
        The release must equal the one of this recipe.
    begins, ends : function
        Called with the findings before the work, and with the verified release just before it takes its place; both may
        raise to end the job.
    """
    chosen = Choices.checked(**arguments)
    planning.refuse(chosen)
    if block_size is None:
        info = algorithm(chosen.method or USUAL_METHOD).info
        block_size = _MIXED_BLOCK if info.mixed and not info.numbers_by_sse else _BLOCK
    block_size = _check_block(block_size, chosen.k)
    target = _check_target(out)
    table = Table.of(data).recoded(chosen.recode)
    begins(Job.of(table, chosen, {}, block_size).findings())  # refuse what is possible before workers start
    with working_on(target) as working:
        with cluster.connected(working, client, workers=workers, memory_limit=memory_limit) as connection:
            cluster.check_workers(connection, working)
            stages = Stages(connection, working)
            job = Job.of(table, chosen, _categories(stages, table, chosen), block_size)
            check_room(working.place, job.needed)
            cluster.check_memory(connection, job.memory(block_size))
            working.store(JOB, job)
            result = _ReleaseRun(stages, job, target, recipe).release()
        ends(result)
        working.deliver(target)
    return result


def replay(data: Any, recipe: Mapping[str, Any], **options: Any) -> LargeRelease:
    """Repeat the release of a ``recipe`` from the same files, like :func:`microagg.replay`.

    Parameters
    ----------
    data : path
        The files of the recipe.
    recipe : mapping
        ``LargeRelease.recipe``.
    **options
        As in :func:`release`.
    """
    recipes.check(recipe)
    if not is_whole(recipe.get("block_size")):
        raise ParameterError("the recipe has no block_size: pass LargeRelease.recipe as it was written.")
    return release(data, recipes.choices(recipe), block_size=recipe["block_size"], recipe=recipe, **options)


def _check_block(block_size: Any, k: Any) -> int:
    if not is_whole(block_size) or block_size < 1 or (is_whole(k) and block_size < 2 * k):
        raise ParameterError(f"block_size must be a whole number of at least twice k, not {block_size!r}.")
    return int(block_size)


def _check_target(out: Any) -> Path:
    """Return the folder to write, which must not exist."""
    if not isinstance(out, (str, os.PathLike)):
        raise ParameterError(f"out must be the path of a folder to be written, not {out!r}.")
    target = Path(out).absolute()
    if target.exists():
        raise ParameterError(f"{str(out)!r} is there already: choose another name, or move it away.")
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r}: make it, or choose another one.")
    return target


def _categories(stages: Stages, table: Table, chosen: Choices) -> dict[str, tuple[list[str], bool]]:
    """Collect the categories of quasi-identifiers without declared ones, from all parts."""
    names = planning.columns_to_scan(table, chosen)
    if not names:
        return {}
    declared = options_by_column(names, chosen.values)
    # Without the categories, which are still unknown, and without missing values, which are not categories.
    schema = Schema(tuple(names), **{key: declared[key] for key in declared.keys() - {"taxonomies", "missing"}})
    task = partial(passes.see_categories, table.parts, schema)
    seen = stages.run("categories", task, len(table.parts), "looking for categories: part", (0.0, 0.02))
    return planning.merge_categories(seen)


@dataclass
class _ReleaseRun:
    """The passes of one release."""

    stages: Stages
    job: Job
    target: Path
    recipe: Mapping[str, Any] | None

    def release(self) -> LargeRelease:
        """Run all passes, and verify the written files."""
        job, n_parts = self.job, len(self.job.table.parts)
        seen: list[planning.Seen] = self.stages.run("encode", passes.encode, n_parts, "reading: part", (0.02, 0.15))
        input_digest = _digest([part.digest for part in seen])
        if self.recipe is not None and input_digest != self.recipe["input_sha256"]:
            raise DataError(
                "the quasi-identifiers or strata differ from those the recipe was made for (their SHA-256 is another): "
                "use the same files, with their records in the same order and the same row groups."
            )
        layout = self._arrange(planning.first_layout(job, seen))
        grouped = self._group(layout)
        written = self.stages.run("write", passes.write, n_parts, "writing: part", (0.85, 0.95))
        recipe = recipes.written(job.plan) | {
            "n": job.table.n,
            "input_sha256": input_digest,
            "strata_sha256": None,
            "classes_sha256": None,
            "weights_sha256": None,
            "release_sha256": _digest([digest for _, digest in written]),
            "engine": "dask",
            "block_size": job.block_size,
        }
        report = self._verify(layout, grouped, sum(n for n, _ in written)).report()
        if self.recipe is not None:
            recipes.check_same_release(recipe, self.recipe)
        return LargeRelease(self.target, report, recipe, self.stages.seconds)

    def _arrange(self, layout: Layout) -> Layout:
        """Assign the records to blocks, and sort each part by block."""
        job, working, n_parts = self.job, self.stages.working, len(self.job.table.parts)
        working.store(LAYOUT, layout)
        counts = self.stages.run("assign", passes.assign, n_parts, "finding blocks: part", (0.15, 0.2))
        layout = planning.final_layout(job, layout, counts)
        cluster.check_memory(self.stages.client, job.memory(int(layout.counts.sum(axis=0).max())))
        working.store(FINAL, layout)
        self.stages.run("sort", passes.sort, n_parts, "sorting: part", (0.2, 0.25))
        working.drop(passes.ENCODED)
        working.drop(passes.STRATA)
        return layout

    def _group(self, layout: Layout) -> list[passes.Grouped]:
        """Group the records of each block, and return the figures of the blocks."""
        working = self.stages.working
        batches = self.stages.run("group", passes.group, len(layout.batches), "grouping: task", (0.25, 0.85))
        working.drop(passes.SORTED)
        grouped = [block for batch in batches for block in batch]
        if after := summary.moments_after(grouped):
            layout = planning.output_layout(self.job, layout, after)
        working.store(OUTPUT, layout)
        return grouped

    def _verify(self, layout: Layout, grouped: list[passes.Grouped], n_written: int) -> summary.Sums:
        """Check the written files: k, the number of records and the columns."""
        checkpoint("counting what was written", 0.95)
        k, schema, folder = self.job.plan.k, self.job.schema, self.stages.working.path(RELEASED)
        with self.stages.timed("count"):
            count = summary.count(folder, schema.quasi_identifiers, schema.strata, k, self.stages.client)
        columns, n = tuple(Table.of(folder).names), layout.moments.n
        if count.smallest < k or count.records != n or n_written != n or {*columns} & {*schema.identifiers}:
            raise GuaranteeError(
                f"microagg broke its promise: the files that were written have {count.records:,} records of {n:,}, and "
                f"a class of {count.smallest}, fewer than k={k} or with identifiers; they are withheld. Please report "
                "this."
            )
        return summary.Sums(self.job, layout, grouped, count, columns, self.target.name)


def _digest(digests: list[str]) -> str:
    return digest_bytes("\n".join(digests).encode())
