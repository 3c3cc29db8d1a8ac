"""Where data come from: a benchmark to be downloaded, a file to be uploaded; for the pages Data and Mixed data."""

from __future__ import annotations

from typing import Any

import streamlit as st

from microagg import DatasetUnavailableError, datasets
from microagg.tables import decimal_comma_columns, digest_bytes, read_table
from pages.ui import state
from pages.ui.data import tables
from pages.ui.text import escape_markdown, listing

_DELIMITERS = {"find it": None, "comma": ",", "semicolon": ";", "tab": "\t", "bar |": "|"}
_ENCODINGS = {"UTF-8": None, "Windows (cp1252)": "cp1252", "Latin-1": "latin-1", "UTF-16": "utf-16"}


def pick_data(label: str, key: str) -> None:
    """Draw the picker of data sets; another choice forgets the columns of the one before."""
    st.session_state[key] = state.current().data

    def commit() -> None:
        state.update(data=st.session_state[key])
        state.reset_columns()

    st.selectbox(label, (*tables.PICKABLE, state.UPLOAD), format_func=_label, key=key, on_change=commit)


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
        f"It can be fetched once ({file.size / 1000:,.0f} kB) from {escape_markdown(file.url)}; its checksum is verified. "
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
    file = st.file_uploader(
        "A table with one record per row: CSV, Parquet or Excel",
        type=["csv", "tsv", "txt", "parquet", "xlsx"],
        help="The file is read into the memory of this session and goes nowhere else.",
    )
    text_file = file is None or file.name.lower().endswith((".csv", ".tsv", ".txt"))
    options: dict[str, Any] = {"delimiter": None, "encoding": None, "decimal": "."}
    if text_file:
        with st.expander("How text files are read"):
            one, two, three = st.columns(3)
            options["delimiter"] = _DELIMITERS[
                one.selectbox("Between the fields", list(_DELIMITERS), key="u_delimiter")
            ]
            options["encoding"] = _ENCODINGS[two.selectbox("Encoding", list(_ENCODINGS), key="u_encoding")]
            comma = three.selectbox("Decimal mark", ["point", "comma"], key="u_decimal") == "comma"
            options["decimal"] = "," if comma else "."
    if file is None:
        if tables.uploaded() is None:
            st.info("No file yet. Choose one above; for a try, the project ships sample_data/survey.csv.")
        return
    content = file.getvalue()
    digest = digest_bytes(content + repr((file.name, options)).encode())
    known = tables.uploaded()
    if known is None or known.digest != digest:
        tables.remember(file.name, digest, read_table(content, name=file.name, **options))
        st.rerun()
    commas = decimal_comma_columns(known.frame)
    if commas:
        st.warning(
            f"The columns {escape_markdown(listing(commas[:6]))} look like numbers with a decimal comma: choose it under "
            "“How text files are read”."
        )


def use_survey() -> None:
    """Work on the fictitious survey as if its file had been uploaded; a callback."""
    survey = datasets.make_survey()
    tables.remember("survey.csv", digest_bytes(survey.to_csv().encode()), survey)
