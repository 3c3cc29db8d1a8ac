"""A project: all choices as a file, to be saved and opened again."""

from __future__ import annotations

import json
from pathlib import Path

import streamlit as st

from microagg import DataError, MicroaggError
from pages.shared import state, tables
from pages.shared.figures import download
from pages.shared.text import file_name, sentence

_FILE, _PROBLEM = "w_project", "project_problem"


def show() -> None:
    with st.popover("Project", icon=":material/folder:", key="project"):
        st.caption(
            "A project is a small file with all choices: how a file is read, what was decided about its columns, orders and "
            "taxonomies that were entered, k, the method and the release. Records are not in it, but categories that were "
            "entered are."
        )
        stem = file_name(Path(tables.chosen_title()).stem)
        download("Save the project", _as_json(), f"{stem}_project.json")
        st.file_uploader("Open a project", type=["json"], key=_FILE, on_change=_open)


def say_problem() -> None:
    if problem := st.session_state.get(_PROBLEM):
        st.error(sentence(problem))


def _open() -> None:
    st.session_state.pop(_PROBLEM, None)
    if (file := st.session_state[_FILE]) is not None:
        try:
            take(file.getvalue())
        except MicroaggError as error:
            st.session_state[_PROBLEM] = str(error)


def _as_json() -> str:
    """Return all choices as JSON, as an address has them."""
    return json.dumps({"choices": state.to_query(whole=True)}, indent=2, ensure_ascii=False) + "\n"


def take(content: bytes) -> None:
    """Take all choices from a project; raise DataError if it is none."""
    try:
        held = json.loads(content)["choices"]
        texts = [text for value in held.values() for text in (value if isinstance(value, list) else [value])]
    except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
        texts = [None]
    if not all(isinstance(text, str) for text in texts):
        raise DataError("this file is no project: choose one that was saved here, a file “….json”.")
    state.take(held)
