"""From files that do not fit into memory to a folder of protected ones: the steps of a job, one after the other."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from pathlib import Path
from typing import Any

import pandas as pd

from microagg.columns.schema import Schema
from microagg.distributed import cluster, frames, grouping, output, planning, reading, summary
from microagg.distributed.block_moments import Moments
from microagg.distributed.block_partition import usual_block
from microagg.distributed.checkpoint_dir import RELEASED, Working, check_room
from microagg.distributed.choices import Choices, merged_categories, refuse, to_be_seen
from microagg.distributed.cluster import Stages
from microagg.distributed.job import JOB, PLAN, Job, Plan
from microagg.distributed.parts import Table
from microagg.distributed.release import LargeRelease
from microagg.distributed.summary import Sums
from microagg.errors import DataError, GuaranteeError, ParameterError
from microagg.progress import checkpoint
from microagg.release import Finding
from microagg.release import recipe as recipes
from microagg.release.choices import Choices as Chosen
from microagg.release.choices import said_of
from microagg.tables import digest_bytes
from microagg.validation import is_whole

#: Called before any work with what is known of the release.
Begins = Callable[[tuple[Finding, ...]], None]

#: Called with the release when all is written and verified, before it takes its place.
Ends = Callable[[LargeRelease], None]


def release(
    data: Any,
    given: Mapping[str, Any],
    *,
    out: Any,
    block_size: int | None = None,
    client: Any = None,
    workers: int | None = None,
    memory_limit: str | None = None,
    recipe: Mapping[str, Any] | None = None,
    begins: Begins = lambda findings: None,
    ends: Ends = lambda made: None,
    connected: Callable[[str], None] = lambda dashboard: None,
) -> LargeRelease:
    """Return a release of a table in parts, written to a folder; see :func:`microagg.microaggregate`.

    Parameters
    ----------
    data : path or dask.dataframe.DataFrame
    given : mapping
        What was chosen, as arguments of :func:`microagg.microaggregate`.
    out : path
        The folder that is written; there must be nothing.
    block_size : int, optional
    client, workers, memory_limit : optional
        As :func:`microagg.distributed.cluster.connected` takes them.
    recipe : mapping, optional
        The recipe of the release that this one must be equal to.
    begins : callable, optional
        Called with what is known of the release before the work; it may raise what ends the job.
    ends : callable, optional
        Called with the release when all is verified and no worker is needed any more, just before it takes its place;
        it may raise what ends the job.
    connected : callable, optional
        Called with the address of Dask's dashboard, empty where there is none.

    Raises
    ------
    MicroaggError
    """
    chosen = Chosen.checked(**given)
    refuse(chosen)
    block_size = _check_block(usual_block(chosen.method or "mdav-star") if block_size is None else block_size, chosen.k)
    target = _target(out)
    working = Working.beside(target)
    source = frames.source_of(data)
    if (table := source.known) is not None:
        # What can be refused before workers are started.
        begins(Choices.of(table, chosen, {}, block_size).findings())
    with working.locked():
        working.begin(source.identity)
        try:
            with cluster.connected(working, client, workers=workers, memory_limit=memory_limit) as found:
                connected(cluster.dashboard(found))
                cluster.check_workers(found, working)
                stages = Stages(found, working, 0)
                table = source.table(stages)
                choices = Choices.of(table, chosen, _categories(stages, table, chosen), block_size)
                if source.known is None:
                    begins(choices.findings())
                made = _Making(stages, choices, target, recipe).release()
            ends(made)
        except BaseException:
            if not working.has_results:
                working.clear()
            raise
        working.deliver(target)
    return made


def replay(data: Any, recipe: Mapping[str, Any], **options: Any) -> LargeRelease:
    """Return the release of a ``recipe``, made again from the same files; see :func:`microagg.replay`."""
    recipes.check(recipe)
    if not is_whole(recipe.get("block_size")):
        raise ParameterError("the recipe has no block_size: pass LargeRelease.recipe as it was written.")
    return release(data, recipes.choices(recipe), block_size=recipe["block_size"], recipe=recipe, **options)


def _check_block(block_size: Any, k: Any) -> int:
    if not is_whole(block_size) or block_size < 1 or (is_whole(k) and block_size < 2 * k):
        raise ParameterError(f"block_size must be a whole number of at least twice k, not {block_size!r}.")
    return int(block_size)


def _target(out: Any) -> Path:
    """Return the folder that is to be written, if there is nothing yet."""
    if not isinstance(out, (str, os.PathLike)):
        raise ParameterError(f"out must be the path of a folder to be written, not {out!r}.")
    target = Path(out).absolute()
    if target.exists():
        Working.beside(target).clear_delivered()
        raise ParameterError(f"{str(out)!r} is there already: choose another name, or move it away.")
    if not target.parent.is_dir():
        raise DataError(f"there is no folder {str(target.parent)!r}: make it, or choose another one.")
    return target


def _categories(stages: Stages, table: Table, chosen: Chosen) -> dict[str, tuple[list[str], bool]]:
    """Return the categories of those quasi-identifiers of which they have to be seen."""
    names = to_be_seen(table, chosen)
    if not names:
        return {}
    # Categories are what is looked for, and gaps are none.
    said = {own: value for own, value in said_of(names, chosen.values).items() if own not in ("taxonomies", "missing")}
    schema = Schema(tuple(names), **said)
    task = partial(reading.see_categories, table.parts, schema)
    what = digest_bytes(repr((schema, table.parts)).encode())[:16]
    numbers = range(len(table.parts))
    return merged_categories(
        stages.run(f"categories-{what}", task, numbers, says="looking for categories: part", shares=(0.0, 0.02))
    )


@dataclass
class _Making:
    """The making of one release."""

    stages: Stages
    choices: Choices
    target: Path
    recipe: Mapping[str, Any] | None
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def working(self) -> Working:
        return self.stages.working

    def release(self) -> LargeRelease:
        choices, working = self.choices, self.working
        seed = working.choose(choices.identity(), {"seed": choices.prepared.choices.random_state})["seed"]
        job = choices.job(seed)
        self.stages.needed = job.needed
        if not working.path(reading.ENCODED, "").exists():
            check_room(self.target.parent, job.needed)
        cluster.check_memory(self.stages.client, choices.memory(choices.block_size))
        working.keep(JOB, job, job.needed)
        seen = self._read(job)
        plan = self._arrange(job, seen)
        grouped = self._group(job, plan)
        written = self._stage("write", output.write, range(len(job.parts)), "writing: part", (0.85, 0.95))
        recipe = self._recipe(seed, [part.digest for part in seen], [digest for _, digest in written])
        sums = self._verified(job, plan, seen, grouped, sum(n for n, _ in written))
        report = sums.report()
        if self.recipe is not None:
            recipes.check_same_release(recipe, self.recipe)
        return LargeRelease(self.target, report, recipe, self.seconds)

    def _stage(self, name: str, task: Any, numbers: range, says: str, shares: tuple[float, float]) -> list[Any]:
        with self._timed(name):
            return self.stages.run(name, task, numbers, says=says, shares=shares)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = time.perf_counter() - start

    def _read(self, job: Job) -> list[reading.Seen]:
        """Run the first pass, and check what it shows of the whole file."""
        seen: list[reading.Seen] = self._stage(
            "encode", reading.encode, range(len(job.parts)), "reading: part", (0.02, 0.15)
        )
        planning.check_dates(seen)
        n = sum(part.n_kept for part in seen)
        planning.check_sizes(job, planning.merged_strata(seen)[0], n, self.choices.table.n - n)
        if self.recipe is not None and _digest([part.digest for part in seen]) != self.recipe["input_sha256"]:
            raise DataError(
                "the quasi-identifiers or strata differ from those the recipe was made for (their SHA-256 is another): "
                "use the same files, with their records in the same order and the same row groups."
            )
        return seen

    def _arrange(self, job: Job, seen: list[reading.Seen]) -> Plan:
        """Divide the records into blocks, and sort each part by them."""
        working, numbers = self.working, range(len(job.parts))
        plan = planning.first_plan(job, seen, self.choices.block_size)
        working.keep(PLAN, plan, job.needed)
        counts = self._stage("assign", reading.assign, numbers, "finding blocks: part", (0.15, 0.2))
        plan = planning.final_plan(job, plan, counts)
        assert plan.counts is not None
        needed = self.choices.memory(int(plan.counts.sum(axis=0).max()))
        cluster.check_memory(self.stages.client, needed)
        working.keep(reading.FINAL, plan, job.needed)
        self._stage("sort", reading.sort, numbers, "sorting: part", (0.2, 0.25))
        working.drop(reading.ENCODED)
        working.drop(reading.STRATA)
        return plan

    def _group(self, job: Job, plan: Plan) -> list[grouping.Grouped]:
        """Run the second pass, and return what is known of the blocks."""
        batches = range(len(plan.batches))
        found = self._stage("group", grouping.group, batches, "grouping: task", (0.25, 0.85))
        self.working.drop(reading.SORTED)
        grouped = [block for batch in found for block in batch]
        after = [block.moments for block in grouped if block.moments is not None]
        if after:
            whole = reduce(Moments.merge, after)
            plan = planning.output_plan(job, plan, whole.least, whole.greatest)
        self.working.keep(output.OUTPUT, plan, job.needed)
        return grouped

    def _verified(
        self, job: Job, plan: Plan, seen: list[reading.Seen], grouped: list[grouping.Grouped], n_written: int
    ) -> Sums:
        """Count what was written, and return all that is known of it."""
        checkpoint("counting what was written", 0.95)
        schema, folder = job.schema, self.working.path(RELEASED, "")
        with self._timed("count"):
            count = summary.count(self.stages.client, folder, [*schema.quasi_identifiers], [*schema.strata], job.k)
        columns = tuple(Table.of(folder).names)
        n = sum(part.n_kept for part in seen)
        if count.smallest < job.k or count.records != n or n_written != n or {*columns} & {*schema.identifiers}:
            raise GuaranteeError(
                f"microagg broke its promise: the files that were written have {count.records:,} records of {n:,}, and "
                f"a class of {count.smallest}, fewer than k={job.k} or with identifiers; they are withheld. Please "
                "report this."
            )
        return Sums(
            job=job,
            plan=plan,
            before=planning.merged_moments(seen),
            strata=planning.merged_strata(seen)[0],
            n_dropped=self.choices.table.n - n,
            grouped=grouped,
            count=count,
            columns=columns,
            name=self.target.name,
        )

    def _recipe(self, seed: int | None, read: list[str], written: list[str]) -> dict[str, Any]:
        prepared = self.choices.prepared
        chosen = recipes.chosen(replace(prepared, choices=prepared.choices.but(random_state=seed)))
        digests = {"strata_sha256": None, "classes_sha256": None, "weights_sha256": None}
        return chosen | {
            "n": self.choices.table.n,
            "input_sha256": _digest(read),
            **digests,
            "release_sha256": _digest(written),
            "engine": "dask",
            "block_size": self.choices.block_size,
        }


def _digest(of_parts: list[str]) -> str:
    return digest_bytes("\n".join(of_parts).encode())


def head_of(data: Any) -> pd.DataFrame:
    """Return the first records of a table in parts, all columns."""
    return frames.source_of(data).head()
