"""The data set in use: loaded, or uploaded in this session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from microagg import DataError, DatasetUnavailableError, datasets
from microagg.tables import Notice, Offer
from pages.ui import state
from pages.ui.data import large
from pages.ui.data.table import Table

_UPLOAD, _REFUSAL = "uploaded_table", "refused_file"

PICKABLE = tuple(datasets.NAMES)

SYNTHETIC = tuple(name for name in PICKABLE if datasets.describe(name).kind == "synthetic")


@dataclass(frozen=True)
class Upload:
    """A table that the user brought; it stays in this session."""

    name: str
    digest: str
    frame: pd.DataFrame
    reading: dict[str, Any]
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True)
class Refusal:
    """A file that could not be read, and the ways that may do; ``text`` says why, for Markdown."""

    name: str
    digest: str
    text: str
    offers: tuple[Offer, ...] = ()


def remember(
    name: str,
    digest: str,
    frame: pd.DataFrame,
    reading: dict[str, Any] | None = None,
    notices: tuple[Notice, ...] = (),
) -> None:
    """Keep an uploaded table for this session and work on it; ``digest`` is that of the file and how it was read.

    ``reading`` are the arguments of :func:`microagg.tables.read_file`, and ``notices`` what it said.

    What was decided about columns stays where the file has most of them, so that a file uploaded again, mended perhaps,
    gets its roles back.
    """
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    st.session_state.pop(_REFUSAL, None)
    st.session_state[_UPLOAD] = Upload(name, digest, frame, reading or {}, notices)
    named = [entry.partition(":")[2] for entry in state.current().columns]
    there = sum(name in frame.columns for name in named)
    if state.current().data != state.UPLOAD or 2 * there < len(named):
        state.choose_data(state.UPLOAD)


def refuse(refusal: Refusal) -> None:
    """Say of an uploaded file that it cannot be read; the table of one before is forgotten, so nobody goes on with it."""
    st.session_state.pop(_UPLOAD, None)
    st.session_state[_REFUSAL] = refusal


def refused() -> Refusal | None:
    """Return what was said of the last file, if it could not be read."""
    return st.session_state.get(_REFUSAL)


def uploaded() -> Upload | None:
    """Return the table that the user uploaded in this session, if any."""
    return st.session_state.get(_UPLOAD)


def title(name: str) -> str:
    """Return a data set's title, for pickers."""
    own = {state.UPLOAD: "Your own file", state.LARGE: "A large file on this machine"}
    return own.get(name) or datasets.describe(name).title


def chosen_title() -> str:
    """Return the title of the chosen data set, of an uploaded file its name."""
    upload = uploaded()
    choices = state.current()
    if choices.data == state.LARGE and choices.file:
        return choices.file
    return upload.name if choices.data == state.UPLOAD and upload else title(choices.data)


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
        if upload is None and (refusal := refused()):
            raise DataError(
                f"the file {refusal.name!r} could not be read: the page Data says why, and in what other ways it can be."
            )
        if upload is None:
            raise DataError(
                "this session has no file: the server was restarted, the page was reloaded, or a link led here, and none of "
                "these carries a file. Choose the same file again on the page Data: the address still has what was decided "
                "about its columns."
            )
        return _uploaded_table(upload.digest, upload)
    if choices.data == state.LARGE:
        return large.table()
    return _loaded_table(choices.data, choices.seed if choices.data in SYNTHETIC else None)


@st.cache_resource(max_entries=16, show_spinner="Loading the data …")
def _loaded_table(name: str, seed: int | None) -> Table:
    if not datasets.is_available(name):
        raise DatasetUnavailableError(
            f"{datasets.describe(name).title} is not on this machine yet: the page Data offers to download it."
        )
    loaded = datasets.load(name, seed=seed, download=False)
    origin = {"dataset": name} | ({} if seed is None else {"seed": seed})
    return Table(loaded.title, loaded.frame, loaded.description, loaded.source, f"{name}/{seed}", origin, loaded.schema)


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _uploaded_table(digest: str, _upload: Upload) -> Table:
    origin = {"file": _upload.name, "reading": _upload.reading}
    return Table(_upload.name, _upload.frame, "A file you uploaded.", "", digest, origin)
