"""Where data come from: a benchmark to be downloaded, a file to be uploaded; the page Data draws it."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from microagg import DatasetUnavailableError, datasets
from microagg.tables import ENDINGS, decimal_comma_columns, digest_bytes, read_table, sheet_names
from pages.ui import state
from pages.ui.data import tables
from pages.ui.text import escape_markdown, named

_DELIMITERS = {"find it": None, "comma": ",", "semicolon": ";", "tab": "\t", "bar |": "|"}
_ENCODINGS = {"UTF-8": None, "Windows (cp1252)": "cp1252", "Latin-1": "latin-1", "UTF-16": "utf-16"}


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
    options = _options(file.name, content)
    digest = digest_bytes(content + repr((file.name, options)).encode())
    known = tables.uploaded()
    if known is None or known.digest != digest:
        tables.remember(file.name, digest, read_table(content, name=file.name, **options), options)
        st.rerun()
    if commas := _decimal_commas(digest, known.frame):
        st.warning(
            f"The columns {escape_markdown(named(commas))} look like numbers with a decimal comma: choose it under "
            "“How the file is read”."
        )


@st.cache_resource(scope="session", max_entries=2, show_spinner=False)
def _decimal_commas(digest: str, _frame: pd.DataFrame) -> list[str]:
    return decimal_comma_columns(_frame)


def _without_file() -> None:
    if tables.uploaded() is not None:
        return
    choices = state.current()
    lost = "the server was restarted, the page was reloaded, or a link led here, and none of these carries a file."
    if choices.columns or choices.agreed:
        st.warning(
            f"This session has no file: {lost} The address still has what was decided about its columns: choose the same file "
            "above, and go on."
        )
    else:
        st.info(f"No file yet: choose one above. If there was one, {lost}")
    st.button("Try the sample survey: 300 fictitious persons", on_click=use_survey)


def _options(name: str, content: bytes) -> dict[str, Any]:
    """Draw the ways in which a file can be read, and return what is chosen."""
    if name.lower().endswith(".xlsx"):
        sheets = sheet_names(content, name=name)
        return {"sheet": st.selectbox("Sheet", sheets, key="u_sheet")} if len(sheets) > 1 else {}
    if not name.lower().endswith((".csv", ".tsv", ".txt")):
        return {}
    with st.expander("How the file is read"):
        one, two, three = st.columns(3)
        delimiter = one.selectbox("Between the fields", list(_DELIMITERS), key="u_delimiter")
        encoding = two.selectbox("Encoding", list(_ENCODINGS), key="u_encoding")
        decimal = three.selectbox("Decimal mark", ["point", "comma"], key="u_decimal")
    return {
        "delimiter": _DELIMITERS[delimiter],
        "encoding": _ENCODINGS[encoding],
        "decimal": "," if decimal == "comma" else ".",
    }


def use_survey() -> None:
    """Work on the fictitious survey as if its file had been uploaded; a callback."""
    survey = datasets.make_survey()
    tables.remember("survey.csv", digest_bytes(survey.to_csv().encode()), survey)
