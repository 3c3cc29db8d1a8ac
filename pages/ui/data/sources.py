"""Where data come from: a benchmark to be downloaded, a file to be uploaded; the page Data draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from microagg import DatasetUnavailableError, datasets
from microagg.tables import (
    ENDINGS,
    Notice,
    Offer,
    UnreadableError,
    decimal_comma_columns,
    digest_bytes,
    read_file,
    sheet_names,
)
from pages.ui import state
from pages.ui.data import tables
from pages.ui.text import escape_markdown, named

_DELIMITERS = {"find it": None, "comma": ",", "semicolon": ";", "tab": "\t", "bar |": "|"}
_ENCODINGS = {"UTF-8": None, "Windows (cp1252)": "cp1252", "Latin-1": "latin-1", "UTF-16": "utf-16"}
_DECIMALS = {"point": ".", "comma": ","}

# How the file that is there is read: its digest, and the arguments of the reader that were chosen for it.
_READING = "reading_of_upload"


def pick_data() -> None:
    """Draw the picker of data sets; another choice forgets the columns of the one before."""
    key = "w_data"
    st.session_state[key] = state.current().data
    st.selectbox(
        "Data set",
        (*tables.PICKABLE, state.UPLOAD),
        format_func=_label,
        key=key,
        on_change=lambda: state.choose_data(st.session_state[key]),
    )


def _label(name: str) -> str:
    if name == state.UPLOAD or datasets.is_available(name):
        return tables.title(name)
    return f"{tables.title(name)} (to be downloaded)"


def download(name: str) -> None:
    """Offer to download the benchmark ``name``, which is not on this machine."""
    entry = datasets.describe(name)
    file = entry.file
    assert file is not None, f"{name} needs no download"
    st.info(
        f"{escape_markdown(entry.title)} is public but not part of microagg, and not on this machine yet. "
        f"It can be fetched once ({file.size / 1000:,.0f} kB) from {file.url} and its checksum is verified. "
        "All other data sets work meanwhile."
    )
    if not st.button(f"Download {entry.title}", type="primary"):
        return
    bar = st.progress(0.0, text="Connecting …")

    def progress(done: int, total: int) -> None:
        bar.progress(min(done / total, 1.0), text=f"{done / 1000:,.0f} of {total / 1000:,.0f} kB")

    try:
        datasets.load(name, progress=progress)
    except DatasetUnavailableError:
        bar.empty()
        raise
    st.rerun()


def upload() -> None:
    """Draw the uploader, and keep what is uploaded."""
    st.caption(
        "The file stays in the memory of this session and goes nowhere else; reloading the page lets go of it. The address "
        "keeps what you decide about its columns: upload the file again, and they are as they were."
    )
    file = st.file_uploader("A table with one record per row", type=[ending.removeprefix(".") for ending in ENDINGS])
    if file is None:
        _without_file()
        return
    content = file.getvalue()
    reading = _reading(digest_bytes(content + file.name.encode()))
    _options(file.name, content, reading)
    digest = digest_bytes(content + repr((file.name, sorted(reading.items()))).encode())
    known = tables.uploaded()
    if known is None or known.digest != digest:
        try:
            read = read_file(content, name=file.name, **reading)
        except UnreadableError as error:
            _offer(error.offers, "error")
            raise
        tables.remember(file.name, digest, read.frame, reading, read.notices)
        st.rerun()
    _say(known.notices)
    if commas := _decimal_commas(digest, known.frame):
        st.warning(
            f"The columns {escape_markdown(named(commas))} look like numbers with a decimal comma: choose it under "
            "“How the file is read”."
        )


def _reading(digest: str) -> dict[str, Any]:
    """Return how the file with this digest is to be read: as chosen, at first without any arguments."""
    of, reading = st.session_state.get(_READING, ("", {}))
    if of != digest:
        reading = {}
        st.session_state[_READING] = digest, reading
    chosen: dict[str, Any] = reading
    return chosen


def _read_with(**changes: Any) -> None:
    """Read the file that is there otherwise; a callback. None stands for the reader's own way."""
    of, reading = st.session_state[_READING]
    kept = {name: value for name, value in (reading | changes).items() if value is not None}
    st.session_state[_READING] = of, kept


def _say(notices: Sequence[Notice]) -> None:
    """Draw what the reader has to say of the file, with the ways to read it otherwise."""
    for i, notice in enumerate(notices):
        st.info(escape_markdown(notice.text))
        _offer(notice.offers, str(i))


def _offer(offers: Sequence[Offer], key: str) -> None:
    if not offers:
        return
    with st.container(horizontal=True):
        for i, offer in enumerate(offers):
            label = escape_markdown(offer.label)
            st.button(label, key=f"offer_{key}_{i}", on_click=_read_with, kwargs=dict(offer.reading))


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _decimal_commas(digest: str, _frame: pd.DataFrame) -> list[str]:
    return decimal_comma_columns(_frame)


def _without_file() -> None:
    if tables.uploaded() is not None:
        return
    choices = state.current()
    if choices.columns or choices.agreed:
        st.info(
            "This session has no file: reloading the page has let go of it, and a link does not carry it. The address "
            "still has what was decided about its columns: choose the same file above, and go on."
        )
    else:
        st.info("No file yet: choose one above. If there was one, reloading the page has let go of it.")
    st.button("Try the sample survey: 300 fictitious persons", on_click=use_survey)


def _options(name: str, content: bytes, reading: Mapping[str, Any]) -> None:
    """Draw the ways in which a file can be read."""
    if name.lower().endswith(".xlsx"):
        shown, hidden = (sheet_names(content, name=name, hidden=which) for which in (False, True))
        # What is read unless another one is chosen comes first; no title has brackets.
        sheets = {title: title for title in shown} | {f"{title} [hidden]": title for title in hidden}
        if len(sheets) > 1:
            _choose("Sheet", "sheet", sheets, reading)
        return
    if not name.lower().endswith((".csv", ".tsv", ".txt")):
        return
    with st.expander("How the file is read"):
        one, two, three = st.columns(3)
        with one:
            _choose("Between the fields", "delimiter", _DELIMITERS, reading)
        with two:
            _choose("Encoding", "encoding", _ENCODINGS, reading)
        with three:
            _choose("Decimal mark", "decimal", _DECIMALS, reading)


def _choose(label: str, argument: str, options: Mapping[str, Any], reading: Mapping[str, Any]) -> None:
    """Draw a choice of one argument of the reader; ``options`` are its values by what the screen calls them."""
    key = f"u_{argument}"
    values = list(options.values())
    chosen = reading.get(argument, values[0])
    st.session_state[key] = list(options)[values.index(chosen)] if chosen in values else next(iter(options))
    st.selectbox(
        label, list(options), key=key, on_change=lambda: _read_with(**{argument: options[st.session_state[key]]})
    )


def use_survey() -> None:
    """Work on the fictitious survey as if its file had been uploaded; a callback."""
    survey = datasets.make_survey()
    tables.remember("survey.csv", digest_bytes(survey.to_csv().encode()), survey)
