"""The data set in use as a table: a benchmark, or an uploaded file."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

import pandas as pd
import pyarrow as pa
import streamlit as st

from microagg import DataError, DatasetUnavailableError, datasets
from microagg.columns.schema import Schema
from microagg.tables import WRITTEN_ENDINGS, Line, Offer, Reading
from microagg.tables.original import alike
from pages.shared import state

_UPLOAD, _REFUSAL = "uploaded_table", "refused_file"

#: The readings of all sessions by digest: of equal files that are read alike there is one.
READ: WeakValueDictionary[str, Reading] = WeakValueDictionary()

PICKABLE = tuple(datasets.NAMES)

SYNTHETIC = tuple(name for name in PICKABLE if datasets.describe(name).kind == "synthetic")


@dataclass(frozen=True, eq=False)
class Table:
    """A data set before decisions about its columns."""

    title: str
    frame: pd.DataFrame
    description: str
    source: str
    identity: str  # unique in this session
    origin: dict[str, Any]  # arguments of :meth:`microagg.Release.script`
    schema: Schema | None = None  # that the data set declares; None for an uploaded file
    read: Reading | None = None  # of an uploaded file
    before: Table | None = None  # the table before recoding; None if nothing is recoded
    recoding: Mapping[str, Any] = field(default_factory=dict)  # arguments of microaggregate

    @property
    def done(self) -> tuple[str, ...]:
        """What was left out or mended as an uploaded file was read."""
        return () if self.read is None else tuple(notice.text for notice in self.read.done)

    @property
    def variable_labels(self) -> Mapping[str, str]:
        """The labels of variables in a file of Stata or SPSS, by column."""
        return {} if self.read is None else self.read.variable_labels

    @property
    def value_labels(self) -> Mapping[str, Mapping[Any, str]]:
        """The labels of single values of its columns of numbers."""
        return {} if self.read is None else self.read.value_labels

    def with_label(self, name: Hashable) -> str:
        """Return the name of a column, with its label if the file has one."""
        label = self.variable_labels.get(str(name))
        return f"{name} ({label})" if label else str(name)

    @property
    def original(self) -> Table:
        """The data set before recoding."""
        return self.before or self


@dataclass(frozen=True)
class Upload:
    name: str
    digest: str
    read: Reading
    reading: dict[str, Any]


@dataclass(frozen=True)
class Refusal:
    """An unreadable file, with suggestions, the lines in question, and a message in Markdown."""

    name: str
    digest: str
    text: str
    offers: tuple[Offer, ...] = ()
    lines: tuple[Line, ...] = ()


def reading(digest: str) -> dict[str, Any]:
    """Return the arguments that read the uploaded file of this digest, or none for another file."""
    pairs = (text.partition("=") for text in state.current().reading if state.current().digest == digest)
    return {name: json.loads(written) for name, _, written in pairs}


def read_with(digest: str, **changes: Any) -> None:
    """Callback: change the arguments that read the uploaded file of this digest. None is the default."""
    changed = {name: value for name, value in (reading(digest) | changes).items() if value is not None}
    texts = tuple(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in changed.items())
    state.update(digest=digest, reading=texts)


def remember(name: str, digest: str, read: Reading, reading: dict[str, Any] | None = None, of: str = "") -> None:
    """Store an uploaded table, with the decisions on columns if it has most of them."""
    st.session_state.pop(_REFUSAL, None)
    earlier, usual = uploaded(), state.Choices().release.format
    if (earlier is None or earlier.name != name) and state.current().release.format == usual:
        # The release is a file of the same kind.
        state.update(format=next((ending for ending in WRITTEN_ENDINGS if alike(f"table{ending}", name)), usual))
    st.session_state[_UPLOAD] = Upload(name, digest, read, reading or {})
    named = [entry.partition(":")[2] for entry in state.current().columns]
    n_present = sum(name in read.frame.columns for name in named)
    if state.current().data != state.UPLOAD or 2 * n_present < len(named):
        state.choose_data(state.UPLOAD)
        read_with(of, **(reading or {}))


def refuse(refusal: Refusal) -> None:
    """Store the refusal of an uploaded file, and forget the table of an earlier one."""
    st.session_state.pop(_UPLOAD, None)
    st.session_state[_REFUSAL] = refusal


def refused() -> Refusal | None:
    return st.session_state.get(_REFUSAL)


def uploaded() -> Upload | None:
    return st.session_state.get(_UPLOAD)


def first_file() -> BytesIO | None:
    """Return the file with which the server was started, if it is still there."""
    with suppress(KeyError, OSError):
        path = Path(os.environ[state.FILE])
        details = path.stat()
        file = BytesIO(_content(str(path), details.st_mtime_ns, details.st_size))
        file.name = path.name
        return file
    return None


@st.cache_resource(max_entries=1, show_spinner=False)
def _content(path: str, changed: int, size: int) -> bytes:
    """Return the content of a file, read again if its time or size has ``changed``."""
    return Path(path).read_bytes()


def return_memory() -> None:
    """Return free memory to the system: reading a file, or encoding it, leaves more than it takes."""
    pa.default_memory_pool().release_unused()
    with suppress(OSError, AttributeError):  # the C library of Linux
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def title(name: str) -> str:
    return "Your own file" if name == state.UPLOAD else datasets.describe(name).title


def chosen_title() -> str:
    upload = uploaded()
    choices = state.current()
    return upload.name if choices.data == state.UPLOAD and upload else title(choices.data)


def chosen_table() -> Table:
    """Return the chosen data set."""
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
                "these carries a file. Choose the same file again on the page Data: the address still has how it is read, "
                "and what was decided about its columns."
            )
        origin = {"file": upload.name, "reading": upload.reading}
        text = "A file you uploaded."
        return Table(upload.name, upload.read.frame, text, "", upload.digest, origin, read=upload.read)
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
