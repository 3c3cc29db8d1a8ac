"""The data set in use: loaded or uploaded, its quasi-identifiers chosen and scaled, and named by its digest."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from microagg import ConstantColumnWarning, DataError, DatasetUnavailableError, datasets
from microagg.preprocessing import Schema, scale
from microagg.tables import digest_array
from pages.ui import state

_UPLOAD = "uploaded_table"

#: Data sets with categorical quasi-identifiers are left out: the dashboard works on numbers.
PICKABLE = tuple(name for name in datasets.NAMES if datasets.describe(name).numeric)

SYNTHETIC = tuple(name for name in PICKABLE if datasets.describe(name).kind == "synthetic")


@dataclass(frozen=True)
class Upload:
    """A table that the user brought; it stays in this session."""

    name: str
    digest: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Table:
    """A data set before quasi-identifiers are chosen."""

    title: str
    frame: pd.DataFrame
    quasi_identifiers: tuple[str, ...]
    description: str
    source: str


@dataclass(frozen=True)
class Workspace:
    """What the pages compute on.

    Attributes
    ----------
    table : Table
    columns : tuple of str
        The quasi-identifiers.
    raw, X : array of float, shape (n, d)
        As they are, and scaled; read-only, shared between reruns.
    digest : str
        Of X: two workspaces with the same digest have the same results.
    notes : tuple of str
        What the user must know, such as a constant column.
    """

    table: Table
    columns: tuple[str, ...]
    raw: np.ndarray
    X: np.ndarray
    digest: str
    notes: tuple[str, ...]

    @property
    def n(self) -> int:
        """The number of records."""
        return len(self.X)

    @property
    def d(self) -> int:
        """The number of quasi-identifiers."""
        return self.X.shape[1]


def remember(name: str, digest: str, frame: pd.DataFrame) -> None:
    """Keep an uploaded table for this session and work on it; ``digest`` is that of the file and how it was read."""
    st.session_state[_UPLOAD] = Upload(name, digest, frame.set_axis([str(column) for column in frame.columns], axis=1))
    state.update(data=state.UPLOAD)
    state.reset_columns()


def uploaded() -> Upload | None:
    """Return the table that the user uploaded in this session, if any."""
    return st.session_state.get(_UPLOAD)


def title(name: str) -> str:
    """Return a data set's title, for pickers."""
    return "Your own file" if name == state.UPLOAD else datasets.describe(name).title


def table() -> Table:
    """Return the chosen data set.

    Raises
    ------
    MicroaggError
        If it is not on this machine, or an upload is expected and there is none.
    """
    choices = state.current()
    if choices.data == state.UPLOAD:
        upload = uploaded()
        if upload is None:
            raise DataError(
                "no file has been uploaded in this session: choose one on the page Data. A link does not carry the file."
            )
        return _uploaded_table(upload.digest, upload)
    return _loaded_table(choices.data, choices.seed if choices.data in SYNTHETIC else None)


@st.cache_resource(max_entries=16, show_spinner="Loading the data …")
def _loaded_table(name: str, seed: int | None) -> Table:
    if not datasets.is_available(name):
        raise DatasetUnavailableError(
            f"{datasets.describe(name).title} is not on this machine yet: the page Data offers to download it."
        )
    loaded = datasets.load(name, seed=seed, download=False)
    return Table(loaded.title, loaded.frame, loaded.quasi_identifiers, loaded.description, loaded.source)


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _uploaded_table(digest: str, _upload: Upload) -> Table:
    schema = Schema.infer(_upload.frame)
    return Table(_upload.name, _upload.frame, schema.quasi_identifiers, "A file you uploaded.", "")


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that can be quasi-identifiers."""
    return list(Schema.infer(frame).quasi_identifiers)


def workspace() -> Workspace:
    """Return the chosen data set with its quasi-identifiers scaled.

    Raises
    ------
    MicroaggError
        As :func:`table`, or if a quasi-identifier is missing, not numeric or not finite.
    """
    choices = state.current()
    chosen = table()
    columns = choices.columns or chosen.quasi_identifiers
    upload = uploaded()
    identity = upload.digest if choices.data == state.UPLOAD and upload else f"{choices.data}/{choices.seed}"
    return _workspace(identity, columns, choices.scale, chosen)


@st.cache_resource(scope="session", max_entries=6, show_spinner="Scaling the quasi-identifiers …")
def _workspace(identity: str, columns: tuple[str, ...], how: str, _table: Table) -> Workspace:
    raw = Schema.infer(_table.frame, quasi_identifiers=columns).matrix(_table.frame)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConstantColumnWarning)
        X = scale(raw, how, names=columns)
    X.setflags(write=False)
    raw.setflags(write=False)
    notes = tuple(str(warning.message) for warning in caught if warning.category is ConstantColumnWarning)
    return Workspace(_table, columns, raw, X, digest_array(X), notes)
