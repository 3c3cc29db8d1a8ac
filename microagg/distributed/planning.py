"""What the client decides between two passes: scales, blocks, and who works on which of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np

from microagg.columns.dates import Order
from microagg.columns.records import Records
from microagg.distributed.block_cuts import Cuts
from microagg.distributed.block_moments import Moments
from microagg.distributed.job import Job, Plan
from microagg.distributed.parts import load
from microagg.distributed.reading import Seen
from microagg.errors import DataError
from microagg.release import strata
from microagg.validation import FloatArray, IntArray, check_enough_records, counted

#: How many tasks the blocks are divided among at least, where there are so many blocks; and a task's most records,
#: unless one block has more.
_TASKS, _MOST = 64, 1 << 20

Strata = list[tuple[tuple[Any, ...], int]]


def merged_moments(seen: Sequence[Seen]) -> Moments:
    """Return the moments of all parts, merged in their order."""
    return reduce(Moments.merge, (part.moments for part in seen))


def merged_strata(seen: Sequence[Seen]) -> tuple[Strata, tuple[IntArray, ...]]:
    """Return the strata in order of appearance, each with its number of records, and for each part their numbers."""
    numbers: dict[tuple[str, ...], int] = {}
    found: Strata = []
    of_parts = []
    for part in seen:
        own = []
        for key, (values, n) in part.strata.items():
            if key not in numbers:
                numbers[key] = len(found)
                found.append((values, 0))
            own.append(numbers[key])
            found[own[-1]] = found[own[-1]][0], found[own[-1]][1] + n
        of_parts.append(np.array(own, dtype=np.int64))
    return found, tuple(of_parts)


def check_sizes(job: Job, found: Strata, n: int, n_dropped: int) -> None:
    """Raise :class:`DataError` unless all records, and those of each stratum, are at least k."""
    aside = f" (after leaving out {counted(n_dropped, 'incomplete record')})" if n_dropped else ""
    check_enough_records(n, job.k, f"the data{aside}")
    for values, size in found:
        if values:
            check_enough_records(size, job.k, f"stratum {strata.name(job.schema.strata, values)}{aside}")


def check_dates(seen: Sequence[Seen]) -> None:
    """Raise :class:`DataError` if the parts do not agree on whether the day or the month comes first."""
    orders: dict[Hashable, list[Order]] = {}
    for part in seen:
        for name, order in part.orders.items():
            orders.setdefault(name, []).append(order)
    for name, own in orders.items():
        day = next((order.day_first for order in own if order.day_first), None)
        month = next((order.month_first for order in own if order.month_first), None)
        if day and month:
            raise DataError(
                f"column {name!r} has dates with the day first, such as {day!r}, and with the month first, such as "
                f"{month!r}: write all of them alike, such as 2001-12-31."
            )


def first_plan(job: Job, seen: Sequence[Seen], block_size: int) -> Plan:
    """Return the scale of all records, and the cuts learned on the samples of all parts."""
    moments = merged_moments(seen)
    names: list[Any] = [job.attributes[j].name for j in job.numeric]
    found, of_parts = merged_strata(seen)
    scaling = moments.scaling(job.scale, names) if job.numeric else None
    domains = Records(job.attributes, np.empty((0, len(job.attributes)))).domains.copy()
    domains[job.numeric] = moments.greatest - moments.least
    plan = Plan(
        scaling=scaling,
        domains=domains,
        strata=of_parts,
        cuts=(),
        decimals=tuple(_decimals(seen, j) for j in range(len(job.attributes))),
        originals={j: _originals(seen, j) for j, a in enumerate(job.attributes) if a.kind != "numeric"},
    )
    sample = plan.scaled(np.concatenate([part.sample for part in seen]), job.numeric)
    stratum = np.concatenate([own[part.sample_strata] for own, part in zip(of_parts, seen, strict=True) if part.n_kept])
    order = np.argsort(stratum, kind="stable")
    rows = np.split(order, np.searchsorted(stratum[order], np.arange(1, len(found))))
    cuts = tuple(_cuts(job, sample[own], n, block_size) for own, (_, n) in zip(rows, found, strict=True))
    return replace(plan, cuts=cuts)


def _cuts(job: Job, sample: FloatArray, n: int, block_size: int) -> Cuts:
    names = tuple(str(attribute.name) for attribute in job.attributes)
    blocks = -(-n // block_size)
    return Cuts.learn(sample, job.attributes, blocks) if blocks > 1 and len(sample) else Cuts(names, ())


def _decimals(seen: Sequence[Seen], j: int) -> int | None:
    own = [part.decimals[j] for part in seen if j in part.decimals]
    known = [places for places in own if places is not None]
    return max(known) if own and len(known) == len(own) else None


def _originals(seen: Sequence[Seen], j: int) -> Any:
    """Return the first value of the file for each rank or node, null for those that no record has."""
    pa = load("pyarrow")
    values = pa.concat_arrays([part.originals[j][1] for part in seen])
    codes = np.concatenate([part.originals[j][0] for part in seen])
    distinct, first = np.unique(codes, return_index=True)
    positions = np.full(int(distinct[-1]) + 1, -1, dtype=np.int64)
    positions[distinct] = first
    return values.take(pa.array(positions, mask=positions < 0))


def final_plan(job: Job, plan: Plan, counts: Sequence[IntArray]) -> Plan:
    """Return the plan with the final blocks: those that have fewer than k records joined to others of their stratum.

    ``counts`` has for each part the number of records of each block as the cuts number them.
    """
    cut = np.array(counts)
    sizes = cut.sum(axis=0)
    numbers, at = np.empty(len(sizes), dtype=np.int64), 0
    stratum_of: list[int] = []
    for stratum, cuts in enumerate(plan.cuts):
        own = slice(at, at + cuts.n_blocks)
        joined = cuts.joined(sizes[own], job.k)
        numbers[own] = len(stratum_of) + joined
        stratum_of += [stratum] * (int(joined.max()) + 1)
        at = own.stop
    final = np.zeros((len(cut), len(stratum_of)), dtype=np.int64)
    for block, number in enumerate(numbers):
        final[:, number] += cut[:, block]
    return replace(
        plan,
        numbers=numbers,
        stratum_of=np.array(stratum_of),
        counts=final,
        batches=_batches(final.sum(axis=0)),
    )


def _batches(sizes: IntArray) -> tuple[tuple[int, int], ...]:
    """Return the blocks that a task works on: some that follow each other, together not too large, or a single one."""
    most = min(_MOST, int(sizes.sum()) // _TASKS)
    found, first, size = [], 0, 0
    for block, own in enumerate(sizes.tolist()):
        if block > first and size + own > most:
            found.append((first, block))
            first, size = block, 0
        size += own
    return (*found, (first, len(sizes)))


def output_plan(job: Job, plan: Plan, least: FloatArray, greatest: FloatArray) -> Plan:
    """Return the plan with the columns of whole numbers that stay so: those whose type holds what replaces them.

    ``least`` and ``greatest`` are those of the numeric quasi-identifiers after they were replaced.
    """
    types = load("pyarrow").types
    whole = set()
    for i, j in enumerate(job.numeric):
        attribute = job.attributes[j]
        kind = job.types.field(attribute.name).type
        if job.rounding == "file" and not attribute.unit and types.is_integer(kind):
            limits: Any = np.iinfo(np.dtype(str(kind)))
            # As Python numbers: numpy would round the largest integer of 64 bits up to one that does not fit.
            if limits.min <= float(least[i]) and float(greatest[i]) <= limits.max:
                whole.add(j)
    return replace(plan, whole=frozenset(whole))
