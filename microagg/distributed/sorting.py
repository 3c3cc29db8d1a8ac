"""Between the passes: which block each record is in, and each part sorted by blocks."""

from __future__ import annotations

import numpy as np

from microagg.distributed.job import PLAN, Plan, job_of, plan_of
from microagg.distributed.reading import ENCODED, STRATA
from microagg.distributed.working import Working
from microagg.validation import FloatArray, IntArray

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
