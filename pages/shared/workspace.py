"""What all pages compute on: the complete records of the data set, or a sample of them, as was decided on Data."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import streamlit as st

from microagg import DataError, MicroaggError, Partition, make
from microagg.algorithms.registry import algorithm
from microagg.columns.schema import Schema
from microagg.partition import partition_within
from microagg.release.guarantees import Rule, asked, checked_rules, rules_within
from microagg.release.prepare import hold
from microagg.release.source import Compared, Source
from microagg.studies import landscape
from microagg.studies.experiment import Result
from microagg.studies.sweeps import Exposed
from microagg.tables import digest_bytes
from microagg.validation import IntArray
from pages.shared import columns, state, tables
from pages.shared.tables import Table
from pages.shared.text import named

_MOST_VALUES = 2_000_000  # of more quasi-identifying values even the quickest methods take more than seconds


@dataclass(frozen=True, eq=False)
class Workspace(Compared):
    """What all pages compute on, with the data set that it is made of; read-only, shared between reruns."""

    table: Table
    scale: str
    wanted: tuple[tuple[str, str, float], ...]  # what is asked for beyond k, see microagg.release.guarantees.asked

    @property
    def n_file(self) -> int:
        """The records that will be released, as far as that is known: of a large file all that it has."""
        return self.n_complete if self.table.whole is None else max(self.table.whole.n_records, self.n_complete)

    @property
    def is_whole(self) -> bool:
        """Whether all records are compared: only then is a floor of theirs one of the file."""
        return self.n == self.n_file

    @property
    def estimated(self) -> str:
        """What stands before a sentence on losses that is not of the whole file; empty if all records are compared."""
        if self.is_whole:
            return ""
        return f"Estimate from a sample of {self.n:,} of {self.n_file:,} records, which loses more than all would: "

    @cached_property
    def benchmark(self) -> tuple[str, int] | None:
        """The name and the seed under which results on these records are stored; None if none are."""
        if self.strata is not None:
            return None
        return landscape.recognize(self.records if self.X is None else self.records.values, self.scale)

    @cached_property
    def exposed(self) -> Exposed:
        """What an intruder may know of the records compared, and learn of them, and what is asked for beyond k."""
        secret = self.frame[list(self.schema.confidential)]
        loss = (lambda result: self.held(result).information_loss) if self.rules[0] else None
        return Exposed(self.X, secret, loss, repr(self.wanted))

    @cached_property
    def rules(self) -> tuple[list[Rule], str]:
        """What is asked for beyond k of the records compared, and why they cannot meet it, empty if they can."""
        try:
            return checked_rules(self.frame, self.wanted, self.source.named_strata(self.rows)), ""
        except MicroaggError as error:
            return [], str(error)

    def held(self, result: Result) -> Result:
        """Return what a method makes with what is asked for beyond k, as it is released."""
        method, k = result.method, result.k
        info = algorithm(method.key).info

        def hold_within(rows: IntArray) -> Partition:
            rules, partition = rules_within(self.rules[0], rows), Partition(result.partition.labels[rows], k)
            if info.keeps_rules:
                classes = None if self.classes is None else self.classes[rows]
                estimator = make(method.key, k, **result.params)
                partition = estimator.fit_keeping(self.problem.part(rows, info), rules, classes).partition_
            data = self.records.take(rows) if self.X is None else self.X[rows]
            return hold(partition, data, rules, polish=method.polish)

        strata = [rows for rows, _ in self.source.named_strata(self.rows)]
        found = partition_within(strata, k, hold_within)
        return replace(result, partition=found, measures=self.problem.row(found, found))


def chosen_workspace() -> Workspace:
    """Return the chosen data set as was decided on the page Data.

    Raise MicroaggError as :func:`~pages.shared.columns.chosen_table`; if there is no quasi-identifier, or one holds what it
    must not.
    """
    choices, table = state.current(), columns.chosen_table()
    arguments = columns.arguments(table)
    if "quasi_identifiers" not in arguments:
        raise DataError(
            "there is no quasi-identifier yet: give at least one column that role on the page Data, under “Columns”."
        )
    for name in (*arguments.get("taxonomies", ()), *arguments.get("ordinal", ())):
        if missing := columns.uncovered(table, name):
            what = "order" if columns.columns(table)[name].kind == "ordered" else "taxonomy"
            raise DataError(f"the {what} of {name!r} lacks {named(missing)}: add what is missing on the page Data.")
    return _decided(table, arguments, choices.compare.sample)


def all_records(of: Workspace) -> Workspace | None:
    """Return all records of the file that ``of``, the chosen one, is a sample of, where some methods take seconds on them.

    That is where they are numbers or dates, and not too many; None elsewhere, and if ``of`` is no sample. Raise
    MicroaggError if records that are not in the sample cannot be read, or hold what they must not.
    """
    if of.is_whole or not of.is_numeric or of.n_file * of.d > _MOST_VALUES:
        return None
    table, whole = of.table, of.table.whole
    given = table.original
    entire = table if whole is None else columns.recoded_as(tables.entire(given.identity, given, whole), table.recoding)
    return _decided(entire, columns.arguments(table), 0)


def _decided(table: Table, arguments: dict[str, Any], sample: int) -> Workspace:
    choices = state.current()
    decided = digest_bytes(repr(sorted(arguments.items())).encode("utf-8", "replace"))
    seed, wanted = choices.compare.sample_seed, tuple(asked(**columns.guarantees(table)))
    return _workspace(table.identity, decided, choices.scale, sample, seed, wanted, table, arguments)


@st.cache_resource(scope="session", max_entries=6, show_spinner="Reading the quasi-identifiers …")
def _workspace(
    identity: str,
    decided: str,
    scale: str,
    sample: int,
    seed: int,
    wanted: tuple[tuple[str, str, float], ...],
    _table: Table,
    _arguments: dict[str, Any],
) -> Workspace:
    roles = {"strata" if name == "by" else name: value for name, value in _arguments.items() if name != "missing"}
    source = Source.of(_table.frame, Schema.infer(_table.frame, **roles), _arguments.get("missing", "error"))
    compared = Compared.of(source, scale, None if sample == state.AS_USUAL else sample, seed)
    return Workspace(**vars(compared), table=_table, scale=scale, wanted=wanted)
