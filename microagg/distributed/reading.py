"""The first pass: every part read and encoded, and what has to be known of all of it before blocks are formed."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from microagg.columns import dates
from microagg.columns.gaps import fill
from microagg.columns.records import categories, is_category
from microagg.columns.schema import Schema
from microagg.columns.taxonomy import category
from microagg.distributed import parts
from microagg.distributed.block_moments import Moments
from microagg.distributed.checkpoint_dir import Working
from microagg.distributed.job import PLAN, Job, Plan, job_of, plan_of
from microagg.distributed.parts import Part, load
from microagg.errors import DataError
from microagg.release import recoding, strata
from microagg.tables import digest_array, digest_bytes
from microagg.validation import FloatArray, IntArray, plain

#: The stages whose files this writes: encoded records, which of a part's records are released, and their strata.
ENCODED, KEPT, STRATA = "encoded", "kept", "strata"

# Whole numbers beyond this are not exact as floats.
_EXACT = 2.0**53


@dataclass(frozen=True, eq=False)
class Seen:
    """What one part shows.

    Attributes
    ----------
    n_kept : int
        The records that are released.
    moments : Moments
        Of the numeric quasi-identifiers.
    sample, sample_strata : array, shape (m, d) and (m,)
        Some of the records, encoded, and the number of the stratum of each in this part.
    strata : dict of tuple to tuple
        The strata in order of first appearance, each with its values and its number of records.
    originals : dict of int to tuple of array and pyarrow.Array
        For each attribute of categories, the ranks or nodes that are there, and the first value of each.
    decimals : dict of int to int or None
        For each numeric attribute that is rounded, with how many decimals its values can be written.
    orders : dict of str to microagg.columns.dates.Order
        What the texts of dates show.
    digest : str
        Of the encoded values, and of the strata.
    """

    n_kept: int
    moments: Moments
    sample: FloatArray
    sample_strata: IntArray
    strata: dict[tuple[str, ...], tuple[tuple[Any, ...], int]]
    originals: dict[int, tuple[IntArray, Any]]
    decimals: dict[int, int | None]
    orders: dict[Hashable, dates.Order]
    digest: str


def see_categories(
    table_parts: tuple[Part, ...], schema: Schema, working: Working, number: int
) -> dict[str, tuple[list[str], bool]]:
    """Return for each quasi-identifier its categories in a part, and whether the file has them in an order."""
    part = table_parts[number]
    frame = schema.read(parts.frame_of(parts.read(part, list(map(str, schema.quasi_identifiers))), part.label))
    found: dict[str, tuple[list[str], bool]] = {}
    for name in map(str, schema.quasi_identifiers):
        series = frame[name]
        if getattr(series.dtype, "ordered", False):
            found[name] = [category(value) for value in series.cat.categories], True
        else:
            found[name] = categories(series), False
    return found


def encode(working: Working, number: int) -> Seen:
    """Read and encode a part, write that down, and return what it shows."""
    job = job_of(working)
    part, schema = job.parts[number], job.schema
    try:
        table = parts.read(part, [*map(str, schema.quasi_identifiers), *map(str, schema.strata)])
        frame = parts.frame_of(table, part.label)
        read = schema.read(frame)
        encoded = schema.encode(read)
        filling = fill(read, schema.attributes, encoded, job.missing)
        found = strata.find(frame, schema.strata, filling.kept) if filling.kept.any() else []
    except DataError as error:
        raise DataError(f"in {part.label}: {_numbered(str(error), part.first)}") from None
    values = np.ascontiguousarray(filling.values[filling.kept])
    codes = strata.codes(found, len(values)) if schema.strata else np.zeros(len(values), dtype=np.int64)
    _check_exact(job, values)
    working.save(ENCODED, f"{number}.npy", values, job.needed)
    if schema.strata:
        working.save(STRATA, f"{number}.npy", codes.astype(np.int32), job.needed)
    if not filling.kept.all():
        working.save(KEPT, f"{number}.npy", filling.kept, job.needed)
    rows = _sampled(job, number, len(values))
    return Seen(
        n_kept=len(values),
        moments=Moments.of(np.ascontiguousarray(values[:, job.numeric])),
        sample=values[rows],
        sample_strata=codes[rows],
        strata={_key(own.values): (own.values, len(own.rows)) for own in found if len(own.rows)},
        originals=_originals(job, table, values, np.flatnonzero(filling.kept)),
        decimals=_decimals(job, read, filling.kept),
        orders=_orders(job, frame),
        digest=_digest(encoded, codes if schema.strata else None),
    )


def _digest(encoded: FloatArray, codes: IntArray | None) -> str:
    # One for -0.0 and 0.0, and one for every NaN.
    of_values = digest_array(np.where(np.isnan(encoded), np.nan, encoded + 0.0))
    return of_values if codes is None else digest_bytes(f"{of_values}{digest_array(codes)}".encode())


def _key(values: tuple[Any, ...]) -> tuple[str, ...]:
    """Return what tells strata apart in all parts: 1 and True are two, and so are 0.0 and -0.0."""
    return tuple(repr(plain(value)) for value in values)


def _numbered(message: str, first: int) -> str:
    """Return what is said of a record, counted from the first of a part, of the whole file."""

    def moved(found: re.Match[str]) -> str:
        return f"{found[1]}{int(found[2]) + first}"

    return re.sub(r"(\brecord )(\d+)(?= \(counting from 0\)|, counting from 0| holds |: )", moved, message, count=1)


def _sampled(job: Job, number: int, n: int) -> IntArray:
    """Return the positions of the records from which cuts are learned, ascending."""
    size = min(n, int(np.ceil(job.rate * n)))
    if size == n:
        return np.arange(n)
    draw = np.random.default_rng(np.random.SeedSequence([job.seed or 0, number]))
    return np.sort(draw.choice(n, size, replace=False))


def _originals(job: Job, table: Any, values: FloatArray, kept: IntArray) -> dict[int, tuple[IntArray, Any]]:
    found = {}
    for j, attribute in enumerate(job.attributes):
        if attribute.kind == "numeric":
            continue
        codes, first = np.unique(values[:, j].astype(np.int64), return_index=True)
        found[j] = codes, plain_values(table.column(attribute.name)).take(load("pyarrow").array(kept[first]))
    return found


def plain_values(column: Any) -> Any:
    """Return a column of pyarrow as one array in which values of a dictionary stand for themselves."""
    pa = load("pyarrow")
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(whole, pa.ChunkedArray):  # what is combined stays in chunks where it would be too long
        whole = pa.concat_arrays(whole.chunks)
    return whole.dictionary_decode() if pa.types.is_dictionary(whole.type) else whole


def _decimals(job: Job, read: pd.DataFrame, kept: Any) -> dict[int, int | None]:
    if job.rounding != "file":
        return {}
    found: dict[int, int | None] = {}
    for j in job.numeric:
        attribute, series = job.attributes[j], read[job.attributes[j].name][kept]
        if not attribute.unit and not load("pyarrow").types.is_boolean(job.types.field(attribute.name).type):
            found[j] = recoding.decimals(recoding.own_numbers(series)) if len(series) else 0
    return found


def _orders(job: Job, frame: pd.DataFrame) -> dict[Hashable, dates.Order]:
    texts = [name for name in job.schema.dates if is_category(frame[name])]
    return {name: dates.order(map(str, frame[name].dropna().unique())) for name in texts}


def _check_exact(job: Job, values: FloatArray) -> None:
    """Refuse whole numbers that are to be shown by all their digits, and have too many."""
    if job.statistic != "generalize":
        return
    for j in job.numeric:
        if len(values) and np.abs(values[:, j]).max() > _EXACT:
            raise DataError(
                f"column {job.attributes[j].name!r} has numbers beyond 2^53, which cannot be generalized in parts: "
                "leave the column out of the quasi-identifiers, or take the mean."
            )


# Between the passes: which block each record is in, and each part sorted by blocks.

#: The stages whose files this writes: the block of each record as the cuts number it, and the records by blocks.
BLOCKS, SORTED = "blocks", "sorted"

#: The plan once blocks are counted.
FINAL = f"final-{PLAN}"


def assign(working: Working, number: int) -> IntArray:
    """Find the block of each record of a part, write them down, and return how many records each block has.

    Blocks are numbered as the cuts of the strata do, one stratum after the other.
    """
    job, plan = job_of(working), plan_of(working)
    values = working.rows(ENCODED, f"{number}.npy")
    scaled = plan.scaled(values, job.numeric)
    blocks = np.empty(len(values), dtype=np.int32)
    firsts = np.cumsum([0, *(cuts.n_blocks for cuts in plan.cuts)])
    if job.schema.strata:
        own = plan.strata[number][working.rows(STRATA, f"{number}.npy")]
        for stratum in np.unique(own):
            rows = np.flatnonzero(own == stratum)
            blocks[rows] = firsts[stratum] + plan.cuts[stratum].assign(scaled[rows])
    elif len(values):
        blocks[:] = plan.cuts[0].assign(scaled)
    working.save(BLOCKS, f"{number}.npy", blocks, job.needed)
    return np.bincount(blocks, minlength=int(firsts[-1]))


def sort(working: Working, number: int) -> None:
    """Write the records of a part in the order of their blocks, those of a block in the order of the file."""
    job, plan = job_of(working), plan_of(working, FINAL)
    values = working.rows(ENCODED, f"{number}.npy")
    working.save(SORTED, f"{number}.npy", values[order_of(working, plan, number)], job.needed)


def order_of(working: Working, plan: Plan, number: int) -> IntArray:
    """Return the positions of the records of a part in the order of their blocks."""
    assert plan.numbers is not None
    return np.argsort(plan.numbers[working.rows(BLOCKS, f"{number}.npy")], kind="stable")


def sorted_rows(working: Working, plan: Plan, batch: int) -> list[FloatArray]:
    """Return the records of a batch, those of each part sorted by blocks."""
    assert plan.counts is not None
    spans = [plan.span(part, batch) for part in range(len(plan.counts))]
    return [working.rows(SORTED, f"{part}.npy", *span) for part, span in enumerate(spans)]


def block_rows(plan: Plan, batch: int) -> list[IntArray]:
    """Return where the records of each block of a batch are, in the order of the file, among :func:`sorted_rows`."""
    assert plan.counts is not None
    first, stop = plan.batches[batch]
    counts = plan.counts[:, first:stop]
    of_block = np.concatenate([np.repeat(np.arange(stop - first), own) for own in counts])
    order = np.argsort(of_block, kind="stable")
    return np.split(order, np.cumsum(counts.sum(axis=0))[:-1])


def spilled(n: int, d: int) -> int:
    """Return about how many bytes of files a job keeps: records encoded and sorted, or sorted and replaced."""
    return n * (2 * 8 * d + 8)
