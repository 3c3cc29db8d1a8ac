"""The passes over a table, as workers run them: parts are encoded and sorted, blocks partitioned, parts written.

Tasks exchange files in the working folder, and return figures.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from microagg.columns import dates
from microagg.columns.records import Records, categories, is_category
from microagg.columns.schema import Schema
from microagg.columns.taxonomy import category
from microagg.distributed.parts import Part, frame_of, load
from microagg.distributed.planning import FINAL, JOB, LAYOUT, OUTPUT, Job, Layout, Moments, Seen
from microagg.distributed.working_folder import RELEASED, Working
from microagg.errors import DataError
from microagg.kernels.local_search import iterated, mixed_search
from microagg.metrics import generalization
from microagg.partition import Partition
from microagg.release import recoding
from microagg.release.source import strata_of, stratum_codes
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, IntArray, plain

#: The stages. Each part has a file of its encoded records, which of them are released, their strata, their blocks as
#: numbered by the cuts, and the records by block; each batch of blocks has one of the released values.
ENCODED, RETAINED, STRATA, BLOCKS, SORTED, GROUPED = "encoded", "retained", "strata", "blocks", "sorted", "grouped"

# Whole numbers beyond this are not exact as floats.
_EXACT = 2.0**53


# --- the first pass: every part read, encoded and sorted by blocks ----------------------------------------------------


def see_categories(
    table_parts: tuple[Part, ...], schema: Schema, working: Working, number: int
) -> dict[str, tuple[list[str], bool]]:
    """Return the categories of each quasi-identifier in a part, and whether the file orders them."""
    names = list(map(str, schema.quasi_identifiers))
    frame = schema.read(table_parts[number].frame(names))
    seen: dict[str, tuple[list[str], bool]] = {}
    for name in names:
        if getattr(frame[name].dtype, "ordered", False):
            seen[name] = [category(value) for value in frame[name].cat.categories], True
        else:
            seen[name] = categories(frame[name]), False
    return seen


def encode(working: Working, number: int) -> Seen:
    """Read, encode and save a part, and return its figures."""
    job: Job = working.load(JOB)
    part, schema = job.table.parts[number], job.schema
    try:
        table = part.read([*map(str, schema.quasi_identifiers), *map(str, schema.strata)])
        frame = frame_of(table, part.label)
        filling = schema.fill(frame, job.plan.missing)
        retained = filling.retained
        strata = strata_of(frame, schema.strata, retained) if retained.any() else []
    except DataError as error:
        raise DataError(f"in {part.label}: {_shift_record_number(str(error), part.first)}") from None
    values = np.ascontiguousarray(filling.values[retained])
    codes = stratum_codes(strata, len(values)) if schema.strata else np.zeros(len(values), dtype=np.int64)
    _check_exact(job, values)
    working.save(ENCODED, f"{number}.npy", values)
    working.save(STRATA, f"{number}.npy", codes.astype(np.int32))
    if not retained.all():
        working.save(RETAINED, f"{number}.npy", retained)
    rows = _sample_rows(job, number, len(values))
    texts = [name for name in schema.dates if is_category(frame[name])]
    return Seen(
        moments=Moments.of(np.ascontiguousarray(values[:, job.numeric])),
        sample=values[rows],
        sample_strata=codes[rows],
        strata={_key(stratum.values): (stratum.values, len(stratum.rows)) for stratum in strata if len(stratum.rows)},
        originals=_originals(job, table, values, np.flatnonzero(retained)),
        decimals=_decimals(job, filling.frame, retained),
        orders={name: dates.order(map(str, frame[name].dropna().unique())) for name in texts},
        digest=_digest(filling.encoded, codes if schema.strata else None),
    )


def _digest(encoded: FloatArray, codes: IntArray | None) -> str:
    # One for -0.0 and 0.0, and one for every NaN.
    digest = digest_array(np.where(np.isnan(encoded), np.nan, encoded + 0.0))
    return digest if codes is None else digest_bytes(f"{digest}{digest_array(codes)}".encode())


def _key(values: tuple[Any, ...]) -> tuple[str, ...]:
    """Key of a stratum in all parts, with different keys for 1 and True, and for 0.0 and -0.0."""
    return tuple(repr(plain(value)) for value in values)


def _shift_record_number(message: str, start: int) -> str:
    """Change the record number in the message of a part to that of the whole file."""
    number = r"(?<=\brecord )\d+(?= \(counting from 0\)|, counting from 0| holds |: )"
    return re.sub(number, lambda match: str(int(match[0]) + start), message, count=1)


def _sample_rows(job: Job, number: int, n: int) -> IntArray:
    """Return the positions of the records from which cuts are learned, ascending."""
    size = min(n, int(np.ceil(job.rate * n)))
    if size == n:
        return np.arange(n)
    return np.sort(np.random.default_rng([job.seed, number]).choice(n, size, replace=False))


def _originals(job: Job, table: Any, values: FloatArray, rows: IntArray) -> dict[int, tuple[IntArray, Any]]:
    originals = {}
    for j, attribute in enumerate(job.attributes):
        if attribute.kind != "numeric":
            codes, firsts = np.unique(values[:, j].astype(np.int64), return_index=True)
            originals[j] = codes, _plain_values(table.column(attribute.name)).take(load("pyarrow").array(rows[firsts]))
    return originals


def _plain_values(column: Any) -> Any:
    """Return a column of pyarrow as one array in which values of a dictionary stand for themselves."""
    pa = load("pyarrow")
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # a very long array stays in chunks
        array = pa.concat_arrays(array.chunks)
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _decimals(job: Job, read: pd.DataFrame, retained: Any) -> dict[int, int | None]:
    if job.plan.rounding != "file":
        return {}
    decimals: dict[int, int | None] = {}
    for j in job.numeric:
        attribute, series = job.attributes[j], read[job.attributes[j].name][retained]
        if not attribute.unit and not load("pyarrow").types.is_boolean(job.table.schema.field(attribute.name).type):
            decimals[j] = recoding.decimals(recoding.exact_numbers(series)) if len(series) else 0
    return decimals


def _check_exact(job: Job, values: FloatArray) -> None:
    """Check that floats represent all integers exactly, if the release shows all digits."""
    if job.plan.statistic != "generalize":
        return
    for j in job.numeric:
        if len(values) and np.abs(values[:, j]).max() > _EXACT:
            raise DataError(
                f"column {job.attributes[j].name!r} has numbers beyond 2^53, which cannot be generalized in parts: "
                "leave the column out of the quasi-identifiers, or choose statistic='mean'."
            )


def assign(working: Working, number: int) -> IntArray:
    """Write the block of each record of a part, numbered by the cuts, and return the sizes of the blocks."""
    job, layout = working.load(JOB), working.load(LAYOUT)
    values = working.rows(ENCODED, f"{number}.npy")
    scaled = layout.scaled(values, job.numeric)
    blocks = np.empty(len(values), dtype=np.int32)
    firsts = np.cumsum([0, *(cuts.n_blocks for cuts in layout.cuts)])
    strata = layout.of_parts[number][working.rows(STRATA, f"{number}.npy")]
    for stratum in np.unique(strata):
        rows = np.flatnonzero(strata == stratum)
        blocks[rows] = firsts[stratum] + layout.cuts[stratum].assign(scaled[rows])
    working.save(BLOCKS, f"{number}.npy", blocks)
    return np.bincount(blocks, minlength=int(firsts[-1]))


def sort(working: Working, number: int) -> None:
    """Write the records of a part by block, and within a block in the order of the file."""
    order = _block_order(working, working.load(FINAL), number)
    working.save(SORTED, f"{number}.npy", working.rows(ENCODED, f"{number}.npy")[order])


def _block_order(working: Working, layout: Layout, number: int) -> IntArray:
    """Return the positions of the records of a part in the order of their blocks."""
    return np.argsort(layout.numbers[working.rows(BLOCKS, f"{number}.npy")], kind="stable")


# --- the second pass: every block partitioned by itself, and what replaces its records --------------------------------


@dataclass(frozen=True, eq=False)
class Grouped:
    """Figures of one partitioned block, which can be added up."""

    n_groups: int
    largest: int
    sse: FloatArray | None  # of each numeric attribute, on the scale; None for generalized values
    moments: Moments | None  # of the released numbers; None likewise
    lost: FloatArray  # Σ over groups of size times share, see microagg.metrics.generalization.Extents; shape (d,)
    discernibility: int
    changed: NDArray[np.int64]  # number of records with a changed value, shape (d,)


def group(working: Working, batch: int) -> list[Grouped]:
    """Partition the blocks of a batch, save the released values, and return the figures of each block."""
    job, layout = working.load(JOB), working.load(FINAL)
    first_block, _ = layout.batches[batch]
    values, rows_by_block = _load_batch(working, layout, batch)
    released_values = np.empty(values.shape, dtype=object if job.plan.statistic == "generalize" else np.float64)
    block_figures = []
    for block, rows in enumerate(rows_by_block, start=first_block):
        released_values[rows], figures = _partition_block(job, layout, block, values[rows])
        block_figures.append(figures)
    pa = load("pyarrow")
    kind = pa.large_string() if job.plan.statistic == "generalize" else pa.float64()
    table = pa.table({str(j): pa.array(column, type=kind) for j, column in enumerate(released_values.T)})
    with (
        working.writing(GROUPED, f"{batch}.arrow") as path,
        pa.OSFile(str(path), "wb") as sink,
        pa.ipc.new_file(sink, table.schema) as writer,
    ):
        writer.write_table(table)
    return block_figures


def _load_batch(working: Working, layout: Layout, batch: int) -> tuple[FloatArray, list[IntArray]]:
    """Load the records of a batch, and for each of its blocks the positions of its records, in file order."""
    start, stop = layout.batches[batch]
    counts = layout.counts[:, start:stop]
    parts = range(len(counts))
    values = np.concatenate([working.rows(SORTED, f"{part}.npy", *layout.span(part, batch)) for part in parts])
    block_numbers = np.concatenate([np.repeat(np.arange(stop - start), part_counts) for part_counts in counts])
    by_block = np.argsort(block_numbers, kind="stable")
    block_ends = np.cumsum(counts.sum(axis=0))
    return values, np.split(by_block, block_ends[:-1])


def _partition_block(job: Job, layout: Layout, block: int, values: FloatArray) -> tuple[NDArray[Any], Grouped]:
    """Partition one block, and return the released values of its records and its figures."""
    records = Records(job.attributes, values, layout.domains)
    numbers = np.ascontiguousarray(values[:, job.numeric])
    Z = None if layout.scaling is None else layout.scaling.transform(numbers)
    partition = _partition(job, block, records, Z)
    extents = generalization.extents(records, partition.labels)
    sse, moments = None, None
    changed = np.zeros(records.d, dtype=np.int64)
    released_values: NDArray[Any]
    if job.plan.statistic == "generalize":
        texts = recoding.group_texts(_numeric_frame(job, values), records, partition, job.plan.categories)
        released_values = np.column_stack([np.array(column, dtype=object)[partition.labels] for column in texts])
    else:
        released_values = _replacements(job, layout, records, partition)[partition.labels]
        changed = np.count_nonzero(released_values != values, axis=0)
        if Z is not None and layout.scaling is not None:
            released_numbers = np.ascontiguousarray(released_values[:, job.numeric])
            sse = np.square(Z - layout.scaling.transform(released_numbers)).sum(axis=0)
            moments = Moments.of(released_numbers)
    sizes = partition.sizes
    return released_values, Grouped(
        n_groups=partition.n_groups,
        largest=int(sizes.max()),
        sse=sse,
        moments=moments,
        lost=extents.sizes @ extents.shares,
        discernibility=int(np.square(sizes).sum()),
        changed=changed,
    )


def block_seed(seed: int, block: int) -> int:
    """Return a block's ``random_state`` from the run's, independent of the others' and of how many there are."""
    return int(np.random.SeedSequence([seed, block]).generate_state(1)[0])


def _partition(job: Job, block: int, records: Records, Z: FloatArray | None) -> Partition:
    estimator = job.estimator()
    X = records if Z is None or estimator.info.reads_records(numeric=True) else Z
    if "random_state" in vars(estimator):
        estimator.random_state = block_seed(job.seed, block)
    partition = estimator.fit(X).partition_
    if not job.plan.polish:
        return partition
    k, labels = job.plan.k, partition.labels
    return Partition(mixed_search.improve(records, labels, k) if Z is None else iterated.improve(Z, labels, k), k)


def _replacements(job: Job, layout: Layout, records: Records, partition: Partition) -> FloatArray:
    """Released values of each group, shape (n_groups, d)."""
    chosen = recoding.group_values(records, partition, job.plan.statistic)
    for j, decimals in enumerate(layout.decimals):
        if decimals is not None:
            chosen[:, j] = np.round(chosen[:, j], decimals)
    # Equal values have the same text: -0.0 becomes 0.0.
    return chosen + 0.0


def _numeric_frame(job: Job, values: FloatArray) -> pd.DataFrame:
    """Convert the numeric columns of a block to types like those of the file, by which they are written as text."""
    types = load("pyarrow").types
    columns = {}
    for j in job.numeric:
        arrow_type = job.table.schema.field(job.attributes[j].name).type
        numpy_type: Any = np.float64
        if types.is_integer(arrow_type) or types.is_boolean(arrow_type):
            numpy_type = np.uint64 if types.is_unsigned_integer(arrow_type) else np.int64
        elif types.is_float16(arrow_type) or types.is_float32(arrow_type):
            numpy_type = np.float32
        columns[job.attributes[j].name] = values[:, j].astype(numpy_type)
    return pd.DataFrame(columns, index=pd.RangeIndex(len(values)))


# --- the last pass: the records back in the order of the file, with all other columns ---------------------------------


def write(working: Working, number: int) -> tuple[int, str]:
    """Write a part of the release, and return its number of records and a digest of its quasi-identifiers."""
    job, layout = working.load(JOB), working.load(OUTPUT)
    pa = load("pyarrow")
    order = _block_order(working, layout, number)
    released = _released_columns(working, job, layout, number, order)
    replaced = dict(zip(job.schema.quasi_identifiers, released, strict=True))
    names = [name for name in job.table.schema.names if name not in job.schema.identifiers]
    other_names = [name for name in names if name not in replaced]
    table: Any = job.table.parts[number].read(other_names) if other_names else None
    if other_names and working.path(RETAINED, f"{number}.npy").exists():  # not all records are released
        table = table.filter(pa.array(working.rows(RETAINED, f"{number}.npy")))
    # Values instead of a dictionary, which could contain values of dropped records.
    columns = [replaced[name] if name in replaced else _plain_values(table.column(name)) for name in names]
    with working.writing(RELEASED, f"part-{number:05d}.parquet") as path:
        load("pyarrow.parquet").write_table(pa.Table.from_arrays(columns, names=names), path)
    return len(order), digest_bytes("".join(map(_column_digest, replaced.values())).encode())


def _column_digest(column: Any) -> str:
    """Return the SHA-256 of the values of a column."""
    pa = load("pyarrow")
    if pa.types.is_floating(column.type) or pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type):
        return digest_array(column.to_numpy(zero_copy_only=False))
    return digest_bytes("\0".join(map(str, column.to_pylist())).encode("utf-8", "surrogatepass"))


def _released_columns(working: Working, job: Job, layout: Layout, number: int, order: IntArray) -> list[Any]:
    """Released values of each quasi-identifier in a part, as arrays of pyarrow."""
    pa = load("pyarrow")
    pieces = []
    for batch, (first_block, stop_block) in enumerate(layout.batches):
        n = layout.counts[:, first_block:stop_block].sum(axis=1)  # records of each part in the batch
        mapped = pa.memory_map(str(working.path(GROUPED, f"{batch}.arrow")))
        pieces.append(pa.ipc.open_file(mapped).read_all().slice(int(n[:number].sum()), int(n[number])))
    # A copy, which does not need the files any more.
    replaced = pa.concat_tables(pieces).take(pa.array(np.argsort(order))).combine_chunks()
    columns = [_plain_values(column) for column in replaced.columns]
    if job.plan.statistic == "generalize":
        return columns
    return [_column(job, layout, j, column.to_numpy()) for j, column in enumerate(columns)]


def _column(job: Job, layout: Layout, j: int, values: FloatArray) -> Any:
    """Released values of an attribute: floats, dates, years, whole numbers or values of the file."""
    pa = load("pyarrow")
    attribute = job.attributes[j]
    if attribute.kind != "numeric":
        return layout.originals[j].take(pa.array(values.astype(np.int64)))
    if attribute.unit:
        return pa.array(dates.released(values, attribute.unit))
    if j in layout.whole:
        return pa.array(values.astype(np.uint64 if values.min(initial=0.0) >= 0.0 else np.int64)).cast(
            job.table.schema.field(attribute.name).type
        )
    return pa.array(np.ascontiguousarray(values))
