"""A job, the checked plan of a release of a table in parts, and the scales, blocks and batches of its passes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any, Self

import numpy as np

from microagg.algorithms import registry
from microagg.algorithms.base import Microaggregator
from microagg.columns.dates import Order
from microagg.columns.records import Attribute, Records
from microagg.columns.scaling import NO_RECORDS, Scaling, centered
from microagg.columns.schema import Schema, column_names
from microagg.columns.taxonomy import Taxonomy
from microagg.distributed.block_cuts import Cuts
from microagg.distributed.parts import Table, load
from microagg.errors import DataError, ParameterError
from microagg.release import recipe as recipes
from microagg.release.checks import identifiers, undecided
from microagg.release.choices import OPTIONS, Choices
from microagg.release.findings import Finding, undeclared
from microagg.release.plan import Plan
from microagg.release.prepare import prepare
from microagg.release.source import stratum_name
from microagg.validation import FloatArray, IntArray, check_enough_records, counted, quoted

#: Objects in the working folder: the job, and the layout with the cuts, the final blocks, and the types of the output.
JOB, LAYOUT, FINAL, OUTPUT = "job", "layout", "final-layout", "output-layout"

# Number of records of the sample for each block, and its minimum size.
_PER_BLOCK, _SAMPLE = 500, 50_000

# Memory of a task as a multiple of a part, and of the records of a block: above the measurements of
# benchmarks/in_parts.py.
_PART, _BLOCK = 3, 12

# Minimum number of tasks among which many blocks are divided; maximum number of records of a task with several blocks.
_TASKS, _MAX_RECORDS = 64, 1 << 20


@dataclass(frozen=True, eq=False)
class Job:
    """The plan of a release of a table in parts."""

    table: Table
    plan: Plan  # all choices, with a drawn seed if the method needs one
    schema: Schema  # with the categories of all records
    block_size: int

    @classmethod
    def of(cls, table: Table, chosen: Choices, categories: Mapping[str, Any], block_size: int) -> Job:
        """Create a job, after checks on the first records; ``categories`` are those of :func:`columns_to_scan`."""
        taxonomies, ordinal = dict(chosen.taxonomies or {}), dict(chosen.ordinal or {})
        for name, (values, ordered) in categories.items():
            if ordered:
                ordinal[name] = values
            else:
                taxonomies[name] = Taxonomy.of(None, values)
        prepared = prepare(table.head(), chosen.with_changes(taxonomies=taxonomies, ordinal=ordinal))
        for param in prepared.estimator.timed if prepared.estimator is not None else ():
            raise ParameterError(
                f"{param.name} in seconds is not available with engine='dask', where blocks are searched in parallel: "
                f"choose one of {quoted(param.bounds)}, or {param.counted}."
            )
        return cls(table, Plan.of_recipe(recipes.chosen(prepared)), prepared.source.declared, block_size)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers."""
        return self.schema.attributes

    @property
    def numeric(self) -> list[int]:
        """The positions of the numeric quasi-identifiers, dates among them."""
        return [j for j, attribute in enumerate(self.attributes) if attribute.kind == "numeric"]

    def estimator(self) -> Microaggregator:
        """Return the estimator of a block, without its seed."""
        return registry.make(self.plan.method or "", self.plan.k, **self.plan.params)

    @property
    def seed(self) -> int:
        """The seed for samples and blocks, or 0 for methods without random numbers."""
        draws = "random_state" in vars(self.estimator())
        return self.plan.random_state or 0 if draws else 0

    @property
    def rate(self) -> float:
        """The share of the records from which cuts are learned."""
        n = self.table.n
        blocks = self.n_blocks(n)
        return min(1.0, max(_SAMPLE, _PER_BLOCK * blocks) / n) if blocks > 1 else 0.0

    def n_blocks(self, n: int) -> int:
        """Number of blocks for ``n`` records."""
        return -(-n // self.block_size)

    def findings(self) -> tuple[Finding, ...]:
        """Return the checks that need no pass over the records."""
        columns = tuple(name for name in self.table.names if name not in self.schema.identifiers)
        return *identifiers(self.schema, columns), undecided(undeclared(self.schema, columns))

    @property
    def needed(self) -> int:
        """Approximate bytes of disk space, including the output."""
        # For encoded and sorted, or sorted and released records, and the number of the block of each.
        encoded = self.table.n * (2 * 8 * len(self.attributes) + 8)
        return encoded + sum(part.unpacked for part in self.table.parts)

    def memory(self, largest_block: int) -> int:
        """Approximate maximum bytes of memory of a task."""
        largest_part = max(part.unpacked + 8 * part.n * len(self.table.names) for part in self.table.parts)
        return max(_PART * largest_part, _BLOCK * 8 * len(self.attributes) * largest_block)


def refuse(chosen: Choices) -> None:
    """Raise ParameterError for options that engine='dask' does not support."""
    for option in OPTIONS:
        value = chosen.values[option.name]
        if option.not_in_parts and (value is not None if option.default is None else value != option.default):
            raise ParameterError(f"{option.name} is not available with engine='dask': {option.not_in_parts}.")
    missing = chosen.missing
    for value in missing.values() if isinstance(missing, Mapping) else [missing]:
        if value in ("impute", "category"):
            raise ParameterError(
                f"missing={value!r} is not available with engine='dask': impute them beforehand, or choose 'drop'."
            )


def columns_to_scan(table: Table, chosen: Choices) -> list[str]:
    """Return the quasi-identifiers whose categories are not declared: a pass over all records collects them."""
    types = load("pyarrow").types
    taxonomies = chosen.taxonomies or {}
    # A column with None in "taxonomies" has categories, of any type, and none is declared.
    declared = {name for name, taxonomy in taxonomies.items() if taxonomy is not None}
    declared.update(*(column_names(kind, chosen.values[kind]) for kind in ("ordinal", "dates", "numbers")))
    names = []
    for name in dict.fromkeys((*column_names("quasi_identifiers", chosen.quasi_identifiers), *taxonomies)):
        if name in declared or name not in table.names:
            continue
        kind = table.schema.field(name).type
        is_text = types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind)
        if is_text or types.is_dictionary(kind) or name in taxonomies:
            names.append(name)
    return names


def merge_categories(seen: Iterable[Mapping[str, tuple[list[str], bool]]]) -> dict[str, tuple[list[str], bool]]:
    """Merge the categories of all parts, and check that their orders agree."""
    merged: dict[str, tuple[list[str], bool]] = {}
    for part in seen:
        for name, (values, ordered) in part.items():
            before = merged.setdefault(name, (values, ordered))
            if ordered and before[0] != values:
                raise DataError(
                    f"column {name!r} has its categories in the order {quoted(before[0])} in one part of the file, and "
                    f"{quoted(values)} in another: give their order with ordinal={{{name!r}: [...]}}."
                )
            if not ordered:
                merged[name] = sorted({*before[0], *values}), False
    return merged


@dataclass(frozen=True, eq=False)
class Moments:
    """Means, ranges and sums of products of some records, which merge to those of the whole file.

    They are merged in the order of the parts, so that every run gives the same bits. Source: Chan, Golub & LeVeque
    1979, Updating formulae and a pairwise algorithm for computing sample variances.
    """

    n: int  # of records, perhaps 0
    # The smallest and the largest value of each attribute, in its units, shape (d,); inf and -inf without records.
    least: FloatArray
    greatest: FloatArray
    center: FloatArray  # the means minus least, shape (d,), so that a large common offset costs no precision
    comoments: FloatArray  # Σ over records of products of two attributes' deviations from their means, shape (d, d)

    @classmethod
    def of(cls, X: FloatArray) -> Self:
        """Return the moments of ``X``, shape (n, d), of finite numbers."""
        n, d = X.shape
        if n == 0:
            return cls(0, np.full(d, np.inf), np.full(d, -np.inf), np.zeros(d), np.zeros((d, d)))
        minimum, center, deviations = centered(X)
        columns = np.ascontiguousarray(deviations.T)
        comoments = np.empty((d, d))
        # Not a product of matrices: its last bits depend on the number of threads. And sums here are pairwise.
        for i in range(d):
            for j in range(i + 1):
                comoments[i, j] = comoments[j, i] = (columns[i] * columns[j]).sum()
        return cls(n, minimum, X.max(axis=0), center, comoments)

    @property
    def mean(self) -> FloatArray:
        """The mean of each attribute, shape (d,), in its units."""
        return self.least + self.center

    def merge(self, other: Self) -> Self:
        """Return the moments of these records and of ``other`` ones together."""
        if self.n == 0 or other.n == 0:
            return other if self.n == 0 else self
        n, share = self.n + other.n, other.n / (self.n + other.n)
        minimum = np.minimum(self.least, other.least)
        center, other_center = self.center + (self.least - minimum), other.center + (other.least - minimum)
        shift = (other.center - self.center) + (other.least - self.least)
        return type(self)(
            n,
            minimum,
            np.maximum(self.greatest, other.greatest),
            center * (1 - share) + other_center * share,
            self.comoments + other.comoments + np.outer(shift, shift) * (self.n * share),
        )

    def scaling(self, method: str, names: Sequence[Any] | None = None) -> Scaling:
        """Return the scale ``method`` of all records, equal to that of Scaling.fit except for rounding."""
        if self.n == 0:
            raise DataError(NO_RECORDS)
        variance = np.diag(self.comoments) / self.n
        return Scaling.of_moments(method, self.least, self.center, self.greatest - self.least, variance, names)

    def sst(self, scaling: Scaling) -> FloatArray:
        """Return the sum of squares about the mean of each attribute on a scale, shape (d,)."""
        sums = np.diag(self.comoments).copy()
        if scaling.method != "none":
            varies = np.ones(len(sums), dtype=bool)
            varies[list(scaling.constant)] = False
            sums[varies] /= np.square(scaling.spread[varies])
            sums[~varies] = 0.0
        return sums

    def correlations(self) -> FloatArray:
        """Return Pearson's correlation of each two attributes, shape (d, d), or NaN for constant ones."""
        deviations = np.sqrt(np.diag(self.comoments))
        varies = (self.greatest > self.least) & (deviations > 0.0)
        scale = np.where(varies, deviations, np.nan)
        return np.asarray(np.clip(self.comoments / scale[:, np.newaxis] / scale, -1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Seen:
    """Figures of one part."""

    moments: Moments  # of the numeric quasi-identifiers of the records that are released
    sample: FloatArray  # some of the records, encoded, shape (m, d)
    sample_strata: IntArray  # the number of the stratum of each of these in this part, shape (m,)
    strata: dict[tuple[str, ...], tuple[tuple[Any, ...], int]]  # in order of appearance: values and number of records
    originals: dict[int, tuple[IntArray, Any]]  # by attribute of categories: ranks or nodes, the first value of each
    decimals: dict[int, int | None]  # of each rounded number: decimals of its values
    orders: dict[Hashable, Order]  # order of day and month in the texts of dates
    digest: str  # of the encoded values, and of the strata


def _no_integers() -> IntArray:
    return np.empty((0, 0), dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Layout:
    """Scale, blocks and batches, filled in by the passes: ``numbers`` and later fields are empty at first."""

    moments: Moments  # of the numeric quasi-identifiers of all released records
    scaling: Scaling | None  # None without numeric quasi-identifiers
    domains: FloatArray  # of the whole file, see microagg.columns.records.Records.domains; shape (d,)
    strata: list[tuple[tuple[Any, ...], int]]  # in order of appearance: values and number of records
    of_parts: tuple[IntArray, ...]  # for each part, the number of each of its strata in the whole file
    decimals: tuple[int | None, ...]  # of the released values of an attribute; None for all digits
    originals: dict[int, Any]  # by attribute of categories: the released value of each rank or node
    cuts: tuple[Cuts, ...] = ()  # for each stratum
    # The final number of each block as the cuts number them, one stratum after the other, shape (cut blocks,).
    numbers: IntArray = field(default_factory=_no_integers)
    stratum_of: IntArray = field(default_factory=_no_integers)  # shape (blocks,)
    counts: IntArray = field(default_factory=_no_integers)  # of the records of each part in each block, (parts, blocks)
    batches: tuple[tuple[int, int], ...] = ()  # of each task: its first block, and the one after its last
    whole: frozenset[int] = frozenset()  # the attributes that are released as whole numbers of the file's type

    def scaled(self, values: FloatArray, numeric: list[int]) -> FloatArray:
        """Return encoded records with their numbers on the scale."""
        scaled = values.copy()
        if self.scaling is not None:
            scaled[:, numeric] = self.scaling.transform(np.ascontiguousarray(values[:, numeric]))
        return scaled

    def span(self, part: int, batch: int) -> tuple[int, int]:
        """Start and stop of the records of a batch in a part sorted by block."""
        start, stop = self.batches[batch]
        return int(self.counts[part, :start].sum()), int(self.counts[part, :stop].sum())


def first_layout(job: Job, seen: Sequence[Seen]) -> Layout:
    """Return the scale of all records and the cuts learned on the samples of all parts, after checks."""
    _check_dates(seen)
    attributes, numeric = job.attributes, job.numeric
    moments = reduce(Moments.merge, (part.moments for part in seen))
    strata, of_parts = _merge_strata(seen)
    _check_sizes(job, moments.n, strata)
    domains = Records(attributes, np.empty((0, len(attributes)))).domains.copy()
    domains[numeric] = moments.greatest - moments.least
    layout = Layout(
        moments=moments,
        scaling=moments.scaling(job.plan.scale, [attributes[j].name for j in numeric]) if numeric else None,
        domains=domains,
        strata=strata,
        of_parts=of_parts,
        decimals=tuple(_decimals(seen, j) for j in range(len(attributes))),
        originals={j: _originals(seen, j) for j, a in enumerate(attributes) if a.kind != "numeric"},
    )
    return replace(layout, cuts=_learn_cuts(job, layout, seen))


def _learn_cuts(job: Job, layout: Layout, seen: Sequence[Seen]) -> tuple[Cuts, ...]:
    """Learn the cuts of each stratum on its records in the samples of all parts."""
    sample = layout.scaled(np.concatenate([part.sample for part in seen]), job.numeric)
    parts = zip(layout.of_parts, seen, strict=True)
    strata = np.concatenate([numbers[part.sample_strata] for numbers, part in parts if part.moments.n])
    order = np.argsort(strata, kind="stable")
    rows_by_stratum = np.split(order, np.searchsorted(strata[order], np.arange(1, len(layout.strata))))
    cuts = []
    for rows, (_, n_records) in zip(rows_by_stratum, layout.strata, strict=True):
        n_blocks = job.n_blocks(n_records)
        is_cut = n_blocks > 1 and len(rows)
        cuts.append(Cuts.learn(sample[rows], job.attributes, n_blocks) if is_cut else Cuts())
    return tuple(cuts)


def _merge_strata(seen: Sequence[Seen]) -> tuple[list[tuple[tuple[Any, ...], int]], tuple[IntArray, ...]]:
    """Merge the strata of all parts in order of appearance, and return them and their numbers in each part."""
    merged: dict[tuple[str, ...], tuple[tuple[Any, ...], int]] = {}
    for part in seen:
        for key, (values, n) in part.strata.items():
            merged[key] = values, merged.get(key, (values, 0))[1] + n
    numbers = {key: number for number, key in enumerate(merged)}
    of_parts = (np.array([numbers[key] for key in part.strata], dtype=np.int64) for part in seen)
    return list(merged.values()), tuple(of_parts)


def _check_sizes(job: Job, n: int, strata: list[tuple[tuple[Any, ...], int]]) -> None:
    """Check that there are at least k records in all and in each stratum."""
    dropped = job.table.n - n
    note = f" (after leaving out {counted(dropped, 'incomplete record')})" if dropped else ""
    check_enough_records(n, job.plan.k, f"the data{note}")
    for values, size in strata:
        if values:
            check_enough_records(size, job.plan.k, f"stratum {stratum_name(job.schema.strata, values)}{note}")


def _check_dates(seen: Sequence[Seen]) -> None:
    """Check that all parts write dates in the same order of day and month."""
    for name in {name: None for part in seen for name in part.orders}:
        orders = [part.orders[name] for part in seen if name in part.orders]
        day = next((order.day_first for order in orders if order.day_first), None)
        month = next((order.month_first for order in orders if order.month_first), None)
        if day and month:
            raise DataError(
                f"column {name!r} has dates with the day first, such as {day!r}, and with the month first, such as "
                f"{month!r}: write all of them alike, such as 2001-12-31."
            )


def _decimals(seen: Sequence[Seen], j: int) -> int | None:
    all_decimals = [part.decimals[j] for part in seen if j in part.decimals]
    decimals = [number for number in all_decimals if number is not None]
    return max(decimals) if decimals and len(decimals) == len(all_decimals) else None


def _originals(seen: Sequence[Seen], j: int) -> Any:
    """First value of the file for each rank or node, or null without a record."""
    pa = load("pyarrow")
    values = pa.concat_arrays([part.originals[j][1] for part in seen])
    codes = np.concatenate([part.originals[j][0] for part in seen])
    distinct, rows = np.unique(codes, return_index=True)
    positions = np.full(int(distinct[-1]) + 1, -1, dtype=np.int64)
    positions[distinct] = rows
    return values.take(pa.array(positions, mask=positions < 0))


def final_layout(job: Job, layout: Layout, counts: Sequence[IntArray]) -> Layout:
    """Return the layout with the final blocks: blocks of fewer than k records join others of their stratum.

    ``counts`` has for each part the number of records of each block as the cuts number them.
    """
    cut_counts = np.array(counts)
    ends = np.cumsum([cuts.n_blocks for cuts in layout.cuts])
    numbers: list[int] = []
    strata: list[int] = []
    for stratum, (cuts, sizes) in enumerate(zip(layout.cuts, np.split(cut_counts.sum(axis=0), ends[:-1]), strict=True)):
        joined = cuts.joined(sizes, job.plan.k)
        numbers += (len(strata) + joined).tolist()
        strata += [stratum] * (int(joined.max()) + 1)
    final = np.zeros((len(cut_counts), len(strata)), dtype=np.int64)
    np.add.at(final.T, numbers, cut_counts.T)
    batches = _batches(final.sum(axis=0))
    return replace(layout, numbers=np.array(numbers), stratum_of=np.array(strata), counts=final, batches=batches)


def _batches(sizes: IntArray) -> tuple[tuple[int, int], ...]:
    """Divide the blocks among tasks: consecutive blocks of limited size together, or a single block."""
    max_records = min(_MAX_RECORDS, int(sizes.sum()) // _TASKS)
    batches, start, size = [], 0, 0
    for block, n in enumerate(sizes.tolist()):
        if block > start and size + n > max_records:
            batches.append((start, block))
            start, size = block, 0
        size += n
    return (*batches, (start, len(sizes)))


def output_layout(job: Job, layout: Layout, after: Moments) -> Layout:
    """Return the layout with the integer columns whose type can represent the released values."""
    types = load("pyarrow").types
    integers = set()
    for i, j in enumerate(job.numeric):
        attribute = job.attributes[j]
        kind = job.table.schema.field(attribute.name).type
        if job.plan.rounding == "file" and not attribute.unit and types.is_integer(kind):
            limits: Any = np.iinfo(np.dtype(str(kind)))
            # As Python numbers: numpy would round the largest integer of 64 bits up to one that does not fit.
            if limits.min <= float(after.least[i]) and float(after.greatest[i]) <= limits.max:
                integers.add(j)
    return replace(layout, whole=frozenset(integers))
