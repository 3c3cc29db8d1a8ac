"""The second pass: every block partitioned by itself, and what replaces its records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns.records import Records
from microagg.distributed.block_moments import Moments, nearest_sums
from microagg.distributed.block_partition import partition_block
from microagg.distributed.checkpoint_dir import Working
from microagg.distributed.job import Job, Plan, job_of, plan_of
from microagg.distributed.parts import load
from microagg.distributed.reading import FINAL, block_rows, sorted_rows
from microagg.kernels.local_search.iterated import improve
from microagg.metrics import generalization
from microagg.partition import Partition
from microagg.release.recoding import group_texts, group_values
from microagg.validation import FloatArray

#: The stage whose files this writes: what replaces the records of a batch, in the order of its sorted records.
GROUPED = "grouped"


# With more quasi-identifiers the floor takes several times as long as MDAV+, and says little: in 8 blocks of 100,000
# uniform records it is 80 % below that without blocks with ten of them, and 31 % with five (benchmarks/README.md).
_MOST_OF_FLOOR = 5


@dataclass(frozen=True, eq=False)
class Grouped:
    """What is known of one block once it is partitioned. Its sums add up with those of others.

    Attributes
    ----------
    block : int
    n, n_groups, smallest, largest : int
    sse : array, shape (numeric attributes,)
        On the scale, of each attribute; None where values are generalized.
    moments : Moments or None
        Of what replaces the numbers; None likewise.
    lost : array, shape (d,)
        Σ over groups of size times share, see :class:`microagg.metrics.generalization.Extents`.
    discernibility : int
    changed : array of int, shape (d,)
        The number of records whose value is another one.
    nearest : array, shape (k - 1,), or None
        See :func:`microagg.distributed.block_moments.nearest_sums`; None where the cuts are not of numbers only, there
        is no SSE, or it is not worth its time.
    """

    block: int
    n: int
    n_groups: int
    smallest: int
    largest: int
    sse: FloatArray | None
    moments: Moments | None
    lost: FloatArray
    discernibility: int
    changed: NDArray[np.int64]
    nearest: FloatArray | None


def group(working: Working, batch: int) -> list[Grouped]:
    """Partition the blocks of a batch, write what replaces their records, and return what is known of them."""
    job, plan = job_of(working), plan_of(working, FINAL)
    in_parts = sorted_rows(working, plan, batch)
    values = np.concatenate(in_parts)
    del in_parts
    first = plan.batches[batch][0]
    generalized = job.statistic == "generalize"
    replaced = np.empty(values.shape, dtype=object if generalized else np.float64)
    found = []
    for i, rows in enumerate(block_rows(plan, batch)):
        replaced[rows], one = _block(job, plan, first + i, values[rows])
        found.append(one)
    if generalized:
        _save_texts(working, job, batch, replaced)
    else:
        working.save(GROUPED, f"{batch}.npy", replaced, job.needed)
    return found


def _block(job: Job, plan: Plan, block: int, values: FloatArray) -> tuple[NDArray[Any], Grouped]:
    """Return what replaces the records of one block, and what is known of it."""
    records = Records(job.attributes, values, plan.domains)
    numbers = np.ascontiguousarray(values[:, job.numeric])
    Z = None if plan.scaling is None else plan.scaling.transform(numbers)
    partition = _partition(job, block, records, Z)
    extents = generalization.extents(records, partition.labels)
    sse = moments = None
    changed = np.zeros(records.d, dtype=np.int64)
    replaced: NDArray[Any]
    if job.statistic == "generalize":
        texts = group_texts(_frame(job, values), records, partition, job.categories)
        replaced = np.column_stack([np.array(column, dtype=object)[partition.labels] for column in texts])
    else:
        replaced = _values(job, plan, records, partition)[partition.labels]
        changed = np.count_nonzero(replaced != values, axis=0)
        if Z is not None and plan.scaling is not None:
            own = np.ascontiguousarray(replaced[:, job.numeric])
            sse = np.square(Z - plan.scaling.transform(own)).sum(axis=0)
            moments = Moments.of(own)
    sizes = partition.sizes
    return replaced, Grouped(
        block=block,
        n=len(values),
        n_groups=partition.n_groups,
        smallest=int(sizes.min()),
        largest=int(sizes.max()),
        sse=sse,
        moments=moments,
        lost=extents.sizes @ extents.shares,
        discernibility=int(np.square(sizes).sum()),
        changed=changed,
        nearest=_nearest(job, plan, block, Z) if Z is not None and sse is not None and _has_floor(job, plan) else None,
    )


def _has_floor(job: Job, plan: Plan) -> bool:
    """Whether a floor of the loss is worth its time: across cuts of many attributes it is far below what can be had."""
    assert plan.stratum_of is not None
    return job.schema.is_numeric and (len(plan.stratum_of) == 1 or len(job.attributes) <= _MOST_OF_FLOOR)


def _nearest(job: Job, plan: Plan, block: int, Z: FloatArray) -> FloatArray:
    """Return what the block contributes to the floor of the loss."""
    assert plan.stratum_of is not None
    cuts = plan.cuts[plan.stratum_of[block]]
    low, high = cuts.boxes()
    # A block may have been joined from several of those that the cuts make.
    own = cuts.assign(Z)
    return nearest_sums(Z, job.k - 1, low[own], high[own])


def _partition(job: Job, block: int, records: Records, Z: FloatArray | None) -> Partition:
    estimator = job.estimator()
    X = records if estimator.info.mixed or Z is None else Z
    partition = partition_block(X, job.k, estimator, block, seed=job.seed or 0)
    if job.polish and Z is not None:
        return Partition(improve(Z, partition.labels, job.k), job.k)
    return partition


def _values(job: Job, plan: Plan, records: Records, partition: Partition) -> FloatArray:
    """Return what replaces the records of each group, shape (n_groups, d)."""
    chosen = group_values(records, partition, job.statistic)
    for j, places in enumerate(plan.decimals):
        if places is not None:
            chosen[:, j] = np.round(chosen[:, j], places)
    # What is equal is written alike: -0.0 becomes 0.0.
    return chosen + 0.0


def _frame(job: Job, values: FloatArray) -> pd.DataFrame:
    """Return numbers in the types that have their digits, as :func:`group_texts` takes them."""
    pa = load("pyarrow")
    columns = {}
    for j in job.numeric:
        kind = job.types.field(job.attributes[j].name).type
        numpy_type: Any = np.float64
        if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
            numpy_type = np.uint64 if pa.types.is_unsigned_integer(kind) else np.int64
        elif pa.types.is_float16(kind) or pa.types.is_float32(kind):
            numpy_type = np.float32
        columns[job.attributes[j].name] = values[:, j].astype(numpy_type)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(values)))


def _save_texts(working: Working, job: Job, batch: int, replaced: NDArray[Any]) -> None:
    pa = load("pyarrow")
    arrays = [pa.array(column, type=pa.large_string()) for column in replaced.T]
    table = pa.Table.from_arrays(arrays, names=[str(j) for j in range(len(arrays))])
    with (
        working.writing(GROUPED, f"{batch}.arrow", job.needed) as path,
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table)
