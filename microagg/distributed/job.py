"""A job: the plan of a release, checked against a table in parts, as the client and all tasks need it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from microagg.algorithms import registry
from microagg.algorithms.base import Microaggregator
from microagg.columns.records import Attribute
from microagg.columns.schema import Schema, column_names
from microagg.columns.taxonomy import Taxonomy
from microagg.distributed.parts import Table, load
from microagg.errors import DataError, ParameterError
from microagg.release import recipe as recipes
from microagg.release.choices import OPTIONS, Choices
from microagg.release.findings import Finding, identifiers, undecided, undeclared
from microagg.release.plan import Plan
from microagg.release.prepare import prepare
from microagg.validation import quoted

#: The name under which the job is kept in the working folder.
JOB = "job.pickle"

#: Cuts are learned on so many records of the sample for each block, and on so many at least.
PER_BLOCK, SAMPLE = 500, 50_000

# An estimate, above what workers took in benchmarks/in_parts.py: how many times the size of a part, and of a block's
# records, a task takes.
_PART, _BLOCK = 3, 12


@dataclass(frozen=True, eq=False)
class Job:
    """What is to be done to every record."""

    table: Table
    plan: Plan  # all choices, with the seed that was drawn where the method needs one and none was given
    schema: Schema  # with the categories of all records
    block_size: int
    given_seed: int | None  # the random_state that was given

    @classmethod
    def of(cls, table: Table, chosen: Choices, categories: Mapping[str, Any], block_size: int) -> Job:
        """Return what was ``chosen``, checked by :func:`microagg.release.prepare.prepare` on a table's first records.

        ``categories`` are those of columns for which they have to be known of all records, see :func:`to_be_seen`.
        """
        taxonomies, ordinal = dict(chosen.taxonomies or {}), dict(chosen.ordinal or {})
        for name, (values, ordered) in categories.items():
            if ordered:
                ordinal[name] = values
            else:
                taxonomies[name] = Taxonomy.of(None, values)
        prepared = prepare(table.head(), chosen.but(taxonomies=taxonomies, ordinal=ordinal))
        plan = Plan.of_recipe(recipes.chosen(prepared))
        return cls(table, plan, prepared.source.declared, block_size, chosen.random_state)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The quasi-identifiers."""
        return self.schema.attributes

    @property
    def numeric(self) -> list[int]:
        """The positions of the numeric quasi-identifiers, dates among them."""
        return [j for j, attribute in enumerate(self.attributes) if attribute.kind == "numeric"]

    def estimator(self) -> Microaggregator:
        """Return what partitions a block, but for its seed."""
        return registry.make(self.plan.method or "", self.plan.k, **self.plan.params)

    @property
    def seed(self) -> int:
        """The seed for samples and blocks; 0 for methods that draw nothing."""
        draws = "random_state" in self.estimator().get_params()
        return self.plan.random_state or 0 if draws else 0

    @property
    def rate(self) -> float:
        """The share of the records from which cuts are learned."""
        n = self.table.n
        blocks = -(-n // self.block_size)
        return min(1.0, max(SAMPLE, PER_BLOCK * blocks) / n) if blocks > 1 else 0.0

    def identity(self) -> dict[str, Any]:
        """Return what tells this job from others on the same files."""
        chosen = recipes.written(self.plan) | {"random_state": self.given_seed, "block_size": self.block_size}
        identity: dict[str, Any] = json.loads(json.dumps(chosen | {"pyarrow": load("pyarrow").__version__}))
        return identity

    def findings(self) -> tuple[Finding, ...]:
        """Return what is to be known of the release before it is made."""
        columns = tuple(name for name in self.table.names if name not in self.schema.identifiers)
        return *identifiers(self.schema, columns), undecided(undeclared(self.schema, columns))

    @property
    def needed(self) -> int:
        """About how many bytes are needed beside the output, the output with them."""
        # Of records, encoded and sorted, or sorted and replaced, and the number of the block of each.
        kept = self.table.n * (2 * 8 * len(self.attributes) + 8)
        return kept + sum(part.unpacked for part in self.table.parts)

    def memory(self, largest_block: int) -> int:
        """Return about how many bytes a task takes at most."""
        part = max(part.unpacked + 8 * part.n * len(self.table.names) for part in self.table.parts)
        return max(_PART * part, _BLOCK * 8 * len(self.attributes) * largest_block)


def refuse(chosen: Choices) -> None:
    """Raise :class:`ParameterError` for what cannot be done in parts."""
    for option in OPTIONS:
        if option.not_in_parts and chosen.values[option.name] is not None:
            raise ParameterError(f"{option.name} cannot be had with engine='dask': {option.not_in_parts}.")
    missing = chosen.missing
    for how in missing.values() if isinstance(missing, Mapping) else [missing]:
        if how in ("impute", "category"):
            raise ParameterError(
                f"missing={how!r} cannot be had with engine='dask': fill the gaps in beforehand, or choose 'drop'."
            )


def to_be_seen(table: Table, chosen: Choices) -> list[str]:
    """Return the quasi-identifiers whose categories nobody has named, so that all records have to be seen for them."""
    types = load("pyarrow").types
    taxonomies = chosen.taxonomies or {}
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


def merged_categories(seen: Iterable[Mapping[str, tuple[list[str], bool]]]) -> dict[str, tuple[list[str], bool]]:
    """Return the categories of all parts; raise :class:`DataError` if parts have different orders of them."""
    merged: dict[str, tuple[list[str], bool]] = {}
    for part in seen:
        for name, (values, ordered) in part.items():
            before = merged.setdefault(name, (values, ordered))
            if ordered and before[0] != values:
                raise DataError(
                    f"column {name!r} has its categories in the order {quoted(before[0])} in one part of the file, and "
                    f"{quoted(values)} in another: say their order with ordinal={{{name!r}: [...]}}."
                )
            if not ordered:
                merged[name] = sorted({*before[0], *values}), False
    return merged
