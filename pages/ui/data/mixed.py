"""What the page Mixed data computes on: the complete records, or a sample of them, with the kinds of their columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from microagg import DataError
from microagg.records import Records, class_codes
from microagg.schema import Schema
from microagg.tables import digest_array, digest_bytes
from pages.ui import state
from pages.ui.data.kinds import Setup, roles, setup, uncovered
from pages.ui.data.tables import Table
from pages.ui.text import count, listing

#: Of a file with more than MOST_RECORDS complete records, SAMPLE are compared unless the user asks for all.
MOST_RECORDS, SAMPLE = 50_000, 10_000


@dataclass(frozen=True)
class Mixed:
    """The records that methods are compared on; see :class:`pages.ui.runs.jobs.Runnable`.

    Attributes
    ----------
    frame : DataFrame
        The records, all columns, in the order of the file.
    records : Records
        Their quasi-identifiers.
    classes : array of int, shape (n,), or None
    schema : Schema
    digest : str
    n_file : int
        The records of the file.
    n_complete : int
        Those of them that lack no quasi-identifier.
    """

    frame: pd.DataFrame
    records: Records
    classes: np.ndarray | None
    schema: Schema
    digest: str
    n_file: int
    n_complete: int

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.records)

    @property
    def data(self) -> Records:
        """What algorithms get."""
        return self.records

    @property
    def is_sample(self) -> bool:
        """Whether not all complete records are in it."""
        return self.n < self.n_complete


def workspace(table: Table) -> Mixed:
    """Return the records of ``table`` to compare methods on.

    Raises
    ------
    DataError
        If a value is in no taxonomy, a class is missing, or as :meth:`microagg.Schema.infer`.
    """
    said, choices = setup(table), state.current()
    if not said.quasi_identifiers:
        raise DataError("there is no quasi-identifier yet: choose at least one column under Attributes.")
    for column in said.quasi_identifiers:
        if missing := uncovered(table, column):
            what = "order" if said.kinds[column] == "ordinal" else "taxonomy"
            raise DataError(
                f"the {what} of {column!r} lacks {listing([repr(value) for value in missing[:5]])}"
                f"{' and others' if len(missing) > 5 else ''}: add what is missing under Attributes."
            )
    return _workspace(table.identity, said.digest, choices.sample, choices.sample_seed, table, said)


@st.cache_resource(scope="session", max_entries=4, show_spinner="Encoding the records …")
def _workspace(identity: str, said: str, sample: int, seed: int, _table: Table, _setup: Setup) -> Mixed:
    frame = _table.frame
    complete = np.flatnonzero(frame[list(_setup.quasi_identifiers)].notna().all(axis=1))
    if not len(complete):
        raise DataError("every record lacks a quasi-identifier: choose fewer quasi-identifiers under Attributes.")
    rows = complete
    if sample == state.AS_USUAL:
        sample = SAMPLE if len(complete) > MOST_RECORDS else 0
    if 0 < sample < len(complete):
        rows = np.sort(np.random.default_rng(seed).choice(complete, sample, replace=False))
    part = frame.iloc[rows]
    schema = Schema.infer(frame, **roles(_table, _setup))
    records = schema.records(part)
    classes = None
    if _setup.class_column is not None:
        without = int(frame[_setup.class_column].iloc[complete].isna().sum())
        if without:
            raise DataError(
                f"the class {_setup.class_column!r} is missing in {count(without, 'record')}: choose another column as "
                "the class, or none, under Attributes."
            )
        classes = class_codes(part[_setup.class_column].to_numpy(), len(part))
    parts = [digest_array(records.values), repr(records.attributes), "" if classes is None else digest_array(classes)]
    return Mixed(part, records, classes, schema, digest_bytes("/".join(parts).encode()), len(frame), len(complete))
