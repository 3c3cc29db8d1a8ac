"""The choices for a release in parts, checked before any work is done."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from microagg.columns.schema import column_names
from microagg.columns.taxonomy import Taxonomy
from microagg.distributed.job import Job
from microagg.distributed.parts import Table, load
from microagg.distributed.reading import spilled
from microagg.errors import DataError, ParameterError
from microagg.release import recipe as recipes
from microagg.release.choices import OPTIONS
from microagg.release.choices import Choices as Chosen
from microagg.release.findings import Finding, identifiers, undecided, undeclared
from microagg.release.prepare import Prepared, prepare
from microagg.validation import quoted

#: Cuts are learned on so many records of the sample for each block, and on so many at least.
PER_BLOCK, SAMPLE = 500, 50_000


@dataclass(frozen=True, eq=False)
class Choices:
    """The choices for a release in parts, and the table that they are for.

    Attributes
    ----------
    prepared : Prepared
        The choices, checked on the first records.
    table : Table
    block_size : int
    given_seed : int or None
        The ``random_state`` that was given; that of ``prepared`` may be drawn.
    """

    prepared: Prepared
    table: Table
    block_size: int
    given_seed: int | None

    @classmethod
    def of(cls, table: Table, chosen: Chosen, categories: Mapping[str, Any], block_size: int) -> Choices:
        """Return what was ``chosen``, checked on the first records of a table.

        ``categories`` are those of columns for which they have to be known of all records, see :func:`to_be_seen`.

        Raises
        ------
        DataError, ParameterError
            As :func:`microagg.release.prepare.prepare`.
        """
        taxonomies, ordinal = dict(chosen.taxonomies or {}), dict(chosen.ordinal or {})
        for name, (values, ordered) in categories.items():
            if ordered:
                ordinal[name] = values
            else:
                taxonomies[name] = Taxonomy.of(None, values)
        prepared = prepare(table.head(), chosen.but(taxonomies=taxonomies, ordinal=ordinal))
        return cls(prepared, table, block_size, chosen.random_state)

    def identity(self) -> dict[str, Any]:
        """Return what tells this job from others on the same files."""
        chosen = recipes.chosen(self.prepared) | {"random_state": self.given_seed, "block_size": self.block_size}
        return json.loads(json.dumps(chosen | {"pyarrow": load("pyarrow").__version__}))

    def findings(self) -> tuple[Finding, ...]:
        """Return what is to be known of the release before it is made."""
        schema = self.prepared.schema
        columns = tuple(name for name in self.table.names if name not in schema.identifiers)
        return *identifiers(schema, columns), undecided(undeclared(schema, columns))

    def job(self, seed: int | None) -> Job:
        """Return what is to be done, with the seed for methods that draw at random."""
        prepared, table = self.prepared, self.table
        estimator = prepared.estimator
        assert estimator is not None  # only labels do without
        names = [param.name for param in estimator.params]
        blocks = -(-table.n // self.block_size)
        return Job(
            parts=table.parts,
            schema=prepared.source.declared,
            types=table.schema,
            k=prepared.choices.k,
            method=estimator.info.key,
            params={name: getattr(estimator, name) for name in names if name != "random_state"},
            seed=seed if "random_state" in names else None,
            scale=prepared.choices.scale,
            statistic=prepared.choices.statistic,
            categories=prepared.choices.categories,
            rounding=prepared.choices.rounding,
            missing=prepared.source.missing,
            polish=prepared.choices.polish,
            rate=min(1.0, max(SAMPLE, PER_BLOCK * blocks) / table.n) if blocks > 1 else 0.0,
            needed=self.disk(),
        )

    def disk(self) -> int:
        """Return about how many bytes are needed beside the output, the output with them."""
        return spilled(self.table.n, len(self.prepared.schema.quasi_identifiers)) + sum(
            part.unpacked for part in self.table.parts
        )

    def memory(self, largest_block: int) -> int:
        """Return about how many bytes a task takes at most."""
        d = len(self.prepared.schema.quasi_identifiers)
        part = max(part.unpacked + 8 * part.n * len(self.table.names) for part in self.table.parts)
        return max(_PART * part, _BLOCK * 8 * d * largest_block)


# An estimate, above what workers took in benchmarks/in_parts.py: how many times the size of a part, and of a block's
# records, a task takes.
_PART, _BLOCK = 3, 12


def refuse(chosen: Chosen) -> None:
    """Raise :class:`ParameterError` for what cannot be done in parts."""
    for own in OPTIONS:
        if own.not_in_parts and chosen.values[own.name] is not None:
            raise ParameterError(f"{own.name} cannot be had with engine='dask': {own.not_in_parts}.")
    missing = chosen.missing
    for how in missing.values() if isinstance(missing, Mapping) else [missing]:
        if how in ("impute", "category"):
            raise ParameterError(
                f"missing={how!r} cannot be had with engine='dask': fill the gaps in beforehand, or choose 'drop'."
            )


def to_be_seen(table: Table, chosen: Chosen) -> list[str]:
    """Return the quasi-identifiers whose categories nobody has named, so that all records have to be seen for them."""
    pa = load("pyarrow")
    taxonomies = chosen.taxonomies or {}
    known = {name for name, taxonomy in taxonomies.items() if taxonomy is not None}
    known.update(*(column_names(kind, chosen.values[kind]) for kind in ("ordinal", "dates", "numbers")))
    found = []
    for name in dict.fromkeys((*column_names("quasi_identifiers", chosen.quasi_identifiers), *taxonomies)):
        if name in known or name not in table.names:
            continue
        kind = table.schema.field(name).type
        is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        if is_text or pa.types.is_dictionary(kind) or name in taxonomies:
            found.append(name)
    return found


def merged_categories(seen: Iterable[Mapping[str, tuple[list[str], bool]]]) -> dict[str, tuple[list[str], bool]]:
    """Return the categories of all parts.

    Raises
    ------
    DataError
        If parts have different orders of them.
    """
    found: dict[str, tuple[list[str], bool]] = {}
    for part in seen:
        for name, (values, ordered) in part.items():
            before = found.setdefault(name, (values, ordered))
            if ordered and before[0] != values:
                raise DataError(
                    f"column {name!r} has its categories in the order {quoted(before[0])} in one part of the file, and "
                    f"{quoted(values)} in another: say their order with ordinal={{{name!r}: [...]}}."
                )
            if not ordered:
                found[name] = sorted({*before[0], *values}), False
    return found
