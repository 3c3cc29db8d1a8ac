"""The files of a release: the protected data, the recipe, and the Python and the command that make it again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import streamlit as st

from microagg import Release
from microagg.tables import renamed_columns
from pages.ui import state
from pages.ui.data.workspace import Workspace
from pages.ui.text import escape_markdown, file_name, listing, sentence

_FORMATS = {".csv": "CSV", ".parquet": "Parquet", ".xlsx": "Excel", ".dta": "Stata", ".sav": "SPSS"}


def file_stem(workspace: Workspace) -> str:
    """Return what the names of all files of a release begin with."""
    return file_name(Path(workspace.table.title).stem)


def show(workspace: Workspace, release: Release, data: bytes, *, ready: bool) -> None:
    """Draw the downloads, ``data`` being the bytes of the protected file, which waits until ``ready``."""
    state.bound(
        st.segmented_control,
        "File",
        "format",
        options=list(_FORMATS),
        format_func=_FORMATS.__getitem__,
        required=True,
        wrap=True,
    )
    ending, stem = state.current().format, file_stem(workspace)
    with st.container(horizontal=True):
        st.download_button(
            f"Protected file ({_FORMATS[ending]})",
            data,
            file_name=f"{stem}_protected{ending}",
            mime="text/csv" if ending == ".csv" else "application/octet-stream",
            on_click="ignore",
            type="primary",
            disabled=not ready,
            help=None if ready else "A red line of the checklist holds it up.",
        )
        recipe_button(release.recipe, stem)
    if renamed := renamed_columns(release.frame, ending):
        called = [f"{column!r} is called {written!r}" for column, written in renamed.items()]
        says = f"{_FORMATS[ending]} does not take every name: {listing(called)}. The full names are in the labels."
        st.caption(escape_markdown(says))


def recipe_button(recipe: dict[str, Any], stem: str) -> None:
    """Draw the download of a recipe; ``stem`` is what the names of all files of the release begin with."""
    st.download_button(
        "Recipe (JSON)",
        lambda: json.dumps(recipe, indent=2, ensure_ascii=False),
        file_name=f"{stem}_recipe.json",
        mime="application/json",
        on_click="ignore",
        help="What microagg.replay needs, besides the original file, to make the same release again. It belongs with the "
        "original, not with the release.",
    )


def program(workspace: Workspace, release: Release) -> None:
    """Draw the Python that makes the release again, and the command."""
    ending, stem = state.current().format, file_stem(workspace)
    with st.expander("The Python that makes it again, and the command"):
        st.caption("Paste it into a notebook or a file beside the original data; the bytes come out the same.")
        files = {"out": f"{stem}_protected{ending}", "recipe_file": f"{stem}_recipe.json"}
        st.code(release.script(**workspace.table.origin, **files), language="python")
        command, lacking = release.command(**workspace.table.origin, **files)
        reads = f" {sentence(lacking)} So it reads the recipe: save that beside the data." if lacking else ""
        st.caption(f"Or type it in a shell, in the folder of the original data.{reads}")
        st.code(command, language="bash", wrap_lines=True)
