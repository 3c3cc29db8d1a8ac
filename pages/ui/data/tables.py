"""The data set in use: loaded or uploaded, its quasi-identifiers chosen and scaled, and named by its digest."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from microagg import DataError, DatasetUnavailableError, datasets
from microagg.schema import Schema
from pages.ui import state

_UPLOAD = "uploaded_table"

PICKABLE = tuple(datasets.NAMES)

SYNTHETIC = tuple(name for name in PICKABLE if datasets.describe(name).kind == "synthetic")

# Columns of sampling weights, by which nobody can be recognized.
_WEIGHTS = {"adult": {"fnlwgt"}}


@dataclass(frozen=True)
class Upload:
    """A table that the user brought; it stays in this session."""

    name: str
    digest: str
    frame: pd.DataFrame


@dataclass(frozen=True)
class Table:
    """A data set before quasi-identifiers are chosen.

    Attributes
    ----------
    title : str
    frame : DataFrame
    quasi_identifiers : tuple of str
        What the pages for numbers use unless the user chooses other columns; empty if no column is numeric.
    description, source : str
    identity : str
        Tells the table from all others of this session.
    schema : Schema or None
        The roles and kinds that the data set itself declares.
    """

    title: str
    frame: pd.DataFrame
    quasi_identifiers: tuple[str, ...]
    description: str
    source: str
    identity: str
    schema: Schema | None = None

    @property
    def categories(self) -> tuple[str, ...]:
        """The columns with categories by which somebody could be recognized, which the pages for numbers leave out."""
        if self.schema:
            return tuple(str(a.name) for a in self.schema.attributes if a.kind != "numeric")
        return tuple(column for column in self.frame.columns if is_category(self.frame[column]))


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


def chosen_table() -> Table:
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
    numbers = loaded.quasi_identifiers
    if not datasets.describe(name).numeric:
        numbers = tuple(c for c in numeric_columns(loaded.frame) if c not in _WEIGHTS.get(name, ()))
    return Table(
        loaded.title, loaded.frame, numbers, loaded.description, loaded.source, f"{name}/{seed}", loaded.schema
    )


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _uploaded_table(digest: str, _upload: Upload) -> Table:
    numbers = tuple(numeric_columns(_upload.frame))
    return Table(_upload.name, _upload.frame, numbers, "A file you uploaded.", "", digest)


def numeric_columns(frame: pd.DataFrame) -> list[str]:
    """Return the columns that can be numeric quasi-identifiers."""
    return [c for c in frame.columns if is_numeric_dtype(frame[c]) and not is_bool_dtype(frame[c])]


def is_category(series: pd.Series) -> bool:
    """Return whether a column holds text or truth values that recur, so that persons could be recognized by them."""
    if is_numeric_dtype(series) and not is_bool_dtype(series):
        return False
    present = series.dropna()
    return len(present) > 0 and all(isinstance(v, str | bool) for v in present.unique()) and is_recurrent(series)


def is_recurrent(series: pd.Series) -> bool:
    """Return whether values occur three times on average, which names and numbers of documents do not."""
    return series.nunique() <= max(2, series.count() / 3)
