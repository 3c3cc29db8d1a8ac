"""The last pass: the records back in the order of the file, with all other columns, as Parquet files."""

from __future__ import annotations

from typing import Any

import numpy as np

from microagg.columns import dates
from microagg.distributed import parts
from microagg.distributed.checkpoint_dir import RELEASED, Working
from microagg.distributed.grouping import GROUPED
from microagg.distributed.job import PLAN, Job, Plan, job_of, plan_of
from microagg.distributed.parts import load
from microagg.distributed.reading import KEPT, order_of, plain_values
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, IntArray

#: The plan once it is known what replaces the records.
OUTPUT = f"output-{PLAN}"


def write(working: Working, number: int) -> tuple[int, str]:
    """Write a part of the release, and return how many records it has, and a digest of what replaces them."""
    job, plan = job_of(working), plan_of(working, OUTPUT)
    part = job.parts[number]
    pa = load("pyarrow")
    order = order_of(working, plan, number)
    replaced = dict(zip(job.schema.quasi_identifiers, _replaced(working, job, plan, number, order), strict=True))
    names = [name for name in job.types.names if name not in job.schema.identifiers]
    left = [name for name in names if name not in replaced]
    table: Any = parts.read(part, left) if left else None
    if left and working.path(KEPT, f"{number}.npy").exists():
        table = table.filter(pa.array(working.rows(KEPT, f"{number}.npy")))
    # Values of a dictionary stand for themselves: it would tell of those that are not released.
    columns = [replaced[name] if name in replaced else plain_values(table.column(name)) for name in names]
    with working.writing(RELEASED, file_name(number), job.needed) as path:
        load("pyarrow.parquet").write_table(pa.Table.from_arrays(columns, names=names), path)
    return len(order), digest_bytes("".join(map(_digest, replaced.values())).encode())


def _digest(column: Any) -> str:
    """Return the SHA-256 of the values of a column."""
    pa = load("pyarrow")
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type):
        return digest_array(column.to_numpy(zero_copy_only=False))
    return digest_bytes("\0".join(map(str, column.to_pylist())).encode("utf-8", "surrogatepass"))


def file_name(number: int) -> str:
    """Return what the file of a part is called."""
    return f"part-{number:05d}.parquet"


def _replaced(working: Working, job: Job, plan: Plan, number: int, order: IntArray) -> list[Any]:
    """Return what replaces each quasi-identifier in a part, as arrays of pyarrow."""
    spans = [(batch, *plan.span(number, batch)) for batch in range(len(plan.batches))]
    assert plan.counts is not None
    before = plan.counts[:number]
    starts = [int(before[:, first:stop].sum()) for first, stop in plan.batches]
    back = np.empty(len(order), dtype=np.int64)
    back[order] = np.arange(len(order))
    wanted = [(batch, start, stop - first) for (batch, first, stop), start in zip(spans, starts, strict=True)]
    if job.statistic == "generalize":
        return _texts(working, wanted, back, len(job.attributes))
    pieces = [working.rows(GROUPED, f"{batch}.npy", start, start + n) for batch, start, n in wanted if n]
    values = np.concatenate(pieces)[back] if pieces else np.empty((0, len(job.attributes)))
    return [_column(job, plan, j, values[:, j]) for j in range(len(job.attributes))]


def _texts(working: Working, wanted: list[tuple[int, int, int]], back: IntArray, d: int) -> list[Any]:
    pa = load("pyarrow")
    columns: list[list[Any]] = [[] for _ in range(d)]
    for batch, start, n in wanted:
        with pa.memory_map(str(working.path(GROUPED, f"{batch}.arrow"))) as mapped:
            table = pa.ipc.open_file(mapped).read_all().slice(start, n)
            for j in range(d):
                # A copy, which does not need the file any more.
                columns[j].append(pa.array(table.column(j).to_pylist(), type=pa.large_string()))
    return [
        pa.chunked_array(chunks, type=pa.large_string()).take(pa.array(back)).combine_chunks() for chunks in columns
    ]


def _column(job: Job, plan: Plan, j: int, values: FloatArray) -> Any:
    """Return what is released of an attribute: floats, dates, years, whole numbers or values of the file."""
    pa = load("pyarrow")
    attribute = job.attributes[j]
    if attribute.kind != "numeric":
        return plan.originals[j].take(pa.array(values.astype(np.int64)))
    if attribute.unit:
        return pa.array(dates.released(values, attribute.unit))
    if j in plan.whole:
        return pa.array(values.astype(np.uint64 if values.min(initial=0.0) >= 0.0 else np.int64)).cast(
            job.types.field(attribute.name).type
        )
    return pa.array(np.ascontiguousarray(values))
