"""Large Parquet files on this machine: those in one folder, which whoever starts the server names.

A page would otherwise read, and write beside, any file of the machine for whoever can open it.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import streamlit as st

from microagg import DataError
from microagg.tables import digest_bytes, notice_lines, parquet_files, sample_parquet
from pages.ui import state
from pages.ui.data.table import Table, Whole
from pages.ui.text import count, escape_markdown, sentence

#: The environment variable that names the folder.
FOLDER = "MICROAGG_FILES_DIR"

#: How many records are drawn of a large file, to decide on.
SAMPLE = 20_000

_MOST = 500


def folder() -> Path | None:
    """Return the folder whose files are offered; None where none was named, or there is none."""
    named = os.environ.get(FOLDER)
    return Path(named) if named and Path(named).is_dir() else None


def names() -> list[str]:
    """Return what is offered: the Parquet files of the folder, and folders of such files, by name."""
    at = folder()
    if at is None:
        return []
    found = [entry.name for entry in sorted(at.iterdir()) if entry.name[0] not in "._" and _is_offered(entry)]
    return found[:_MOST]


def _is_offered(entry: Path) -> bool:
    if entry.is_file():
        return entry.suffix.lower() == ".parquet"
    return entry.is_dir() and any(entry.glob("*.parquet"))


def pick() -> None:
    """Draw the picker of large files, or say how they come to be offered."""
    at = folder()
    if at is None:
        st.info(
            "A file that is too large to be uploaded stays where it is, and is released there, part by part. The page offers "
            f"Parquet files of one folder of this machine: start it with `{FOLDER}` naming that folder."
        )
        st.code(f"{FOLDER}=/path/to/the/files .venv/bin/streamlit run app.py", language="bash")
        return
    offered = names()
    if not offered:
        st.info(f"The folder {escape_markdown(str(at))} has no Parquet files (.parquet), nor folders of them.")
        return
    if state.current().file not in offered:
        state.update(file=offered[0])
        st.rerun()  # what stands above is about it
    state.bound(
        st.selectbox,
        "File",
        "file",
        options=offered,
        help=f"The Parquet files of the folder that the server was started with ({FOLDER}), and folders of such files.",
    )


def table() -> Table:
    """Return a sample of the chosen large file.

    Raises
    ------
    DataError
        If there is no such file in the folder, or it cannot be read.
    """
    name, at = state.current().file, folder()
    if at is None:
        raise DataError(f"large files are offered where the server was started with {FOLDER}: the page Data says how.")
    # Nothing but what is listed: a name may come from an address, and lead out of the folder.
    if name not in names():
        what = f"{name!r} is not among the large files of this machine" if name else "no large file is chosen yet"
        raise DataError(f"{what}: choose one on the page Data.")
    path = at / name
    written = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in parquet_files(path)]
    return _sampled(digest_bytes(repr(written).encode("utf-8", "surrogateescape")), path)


@st.cache_resource(scope="session", max_entries=2, show_spinner="Drawing records from the file …")
def _sampled(identity: str, _path: Path) -> Table:
    drawn = sample_parquet(_path, SAMPLE)
    frame = drawn.frame.set_axis([str(column) for column in drawn.frame.columns], axis=1)
    n = len(frame)
    lines = tuple(sentence(line) for line in notice_lines(drawn.notices))
    return Table(
        _path.name,
        frame,
        f"{count(drawn.n_records, 'record')}, of which {n:,} were drawn at random to decide on.",
        "",
        identity,
        {"file": _path.name},
        whole=Whole(_path, drawn.n_records),
        notes=lines,
    )


def entire(of: Table) -> Table:
    """Return all records of the large file that ``of`` is a sample of.

    Raises
    ------
    DataError
        If it cannot be read, or they do not fit into memory.
    """
    assert of.whole is not None, "the table is no sample of a large file"
    return _entire(of.identity, of, of.whole)


@st.cache_resource(scope="session", max_entries=1, show_spinner="Reading all records …")
def _entire(identity: str, _of: Table, _whole: Whole) -> Table:
    n = _whole.n_records
    frame = sample_parquet(_whole.path, n, parts=n).frame
    return replace(_of, frame=frame.set_axis(_of.frame.columns, axis=1), identity=f"{identity} entire", whole=None)


def say_sample(of: Table) -> None:
    """Say that what is looked at is a sample of a large file, if so."""
    if of.whole is not None and len(of.frame) < of.whole.n_records:
        st.caption(
            f"**A sample: {len(of.frame):,} of {of.whole.n_records:,} records**, drawn at random. On all of them losses are "
            "lower, as there are nearer neighbors."
        )
