"""The workspace of all pages: the complete records of the data set, or a sample of them, as decided on Data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import streamlit as st

from microagg import DataError, MicroaggError, Partition, make
from microagg.algorithms.registry import algorithm
from microagg.partition import join_strata
from microagg.release.guarantees import Rule, checked_rules, rules_within
from microagg.release.guarantees import requested as requested_guarantees
from microagg.release.prepare import hold
from microagg.release.source import Compared, Source
from microagg.studies import landscape
from microagg.studies.experiment import Result
from microagg.studies.sweeps import Exposed
from microagg.tables import digest_bytes
from pages.shared import columns, state
from pages.shared.tables import Table, return_memory
from pages.shared.text import named


@dataclass(frozen=True, eq=False)
class Workspace(Compared):
    """The read-only records for all pages, with their data set, shared between reruns."""

    table: Table
    requested: tuple[tuple[str, str, float], ...]  # guarantees beyond k, see microagg.release.guarantees.requested

    @property
    def estimated(self) -> str:
        """What stands before a sentence on losses of a sample, or an empty text if all records are compared."""
        if not self.is_sample:
            return ""
        return (
            f"Estimate from a sample of {self.n:,} of {self.n_complete:,} records, on all of which losses are lower: "
        )

    @cached_property
    def benchmark(self) -> tuple[str, int] | None:
        """The name and the seed under which results on these records are stored, or None if none are."""
        if self.strata is not None:
            return None
        return landscape.recognize(self.records if self.X is None else self.records.values, self.scale)

    @cached_property
    def exposed(self) -> Exposed:
        """What an intruder may know and learn of the records, with the guarantees beyond k."""
        secret = self.frame[list(self.schema.confidential)]
        loss = (lambda result: self.with_guarantees(result).information_loss) if self.rules[0] else None
        return Exposed(self.X, secret, loss, repr(self.requested))

    @cached_property
    def rules(self) -> tuple[list[Rule], str]:
        """The guarantees beyond k as rules, and the reason if the records cannot meet them."""
        try:
            return checked_rules(self.frame, self.requested, self.source.named_strata(self.rows)), ""
        except MicroaggError as error:
            return [], str(error)

    def with_guarantees(self, result: Result) -> Result:
        """Return the partition that meets the guarantees beyond k, as it is released."""
        method, k, partitions = result.method, result.k, []
        info = algorithm(method.key).info
        for rows, _ in self.source.named_strata(self.rows):
            rules, partition = rules_within(self.rules[0], rows), Partition(result.partition.labels[rows], k)
            if info.keeps_rules:
                classes = None if self.classes is None else self.classes[rows]
                estimator = make(method.key, k, **result.params)
                partition = estimator.fit_keeping(self.problem.part(rows, info), rules, classes).partition_
            data = self.records.take(rows) if self.X is None else self.X[rows]
            partitions.append((rows, hold(partition, data, rules, polish=method.polish)))
        grouped = join_strata(partitions, k)
        return replace(result, partition=grouped, measures=self.problem.row(grouped, grouped))


def chosen_workspace() -> Workspace:
    """Return the chosen data set with the decisions on Data."""
    choices, table = state.current(), columns.chosen_table()
    arguments = columns.arguments(table)
    if "quasi_identifiers" not in arguments:
        raise DataError("there is no quasi-identifier yet: give at least one column that role on the page Data.")
    for name in (*arguments.get("taxonomies", ()), *arguments.get("ordinal", ())):
        if missing := columns.uncovered(table, name):
            what = "order" if columns.columns(table)[name].kind == "ordinal" else "taxonomy"
            raise DataError(f"the {what} of {name!r} lacks {named(missing)}: add what is missing on the page Data.")
    decided = digest_bytes(repr(sorted(arguments.items())).encode("utf-8", "replace"))
    sample, seed = choices.compare.sample, choices.compare.sample_seed
    requested = tuple(requested_guarantees(**columns.guarantees(table)))
    return _workspace(table.identity, decided, choices.scale, sample, seed, requested, table, arguments)


@st.cache_resource(scope="session", max_entries=6, show_spinner="Reading the quasi-identifiers …")
def _workspace(
    identity: str,
    decided: str,
    scale: str,
    sample: int,
    seed: int,
    requested: tuple[tuple[str, str, float], ...],
    _table: Table,
    _arguments: dict[str, Any],
) -> Workspace:
    source = Source.of_options(_table.frame, _arguments)
    n_drawn = None if sample == state.AS_USUAL else sample
    workspace = Workspace.of(source, scale, n_drawn, seed, table=_table, requested=requested)
    return_memory()
    return workspace
