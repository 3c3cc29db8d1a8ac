"""The release of the chosen partition and its files: data, recipe, and the Python that repeats it."""

from __future__ import annotations

import json
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import streamlit as st

from microagg import MicroaggError, Release
from microagg.release import Finding, Remedy, check_file, try_remedies
from microagg.tables import Reading, renamed_columns
from pages.shared import jobs, released, state
from pages.shared.figures import download
from pages.shared.text import escape_markdown, file_name, listing, sentence
from pages.shared.workspace import Workspace


def remedies(workspace: Workspace, identity: Hashable) -> list[Remedy] | None:
    """Return the loss after each change; None until all are tried."""
    frame, options = workspace.table.original.frame, released.arguments(workspace)
    options.pop("labels", None)
    says, n = "Trying remedies", workspace.n_complete
    return jobs.once("remedies", identity, [options["method"]], says, lambda: list(try_remedies(frame, **options)), n)


@st.cache_resource(scope="session", max_entries=4, show_spinner="Writing the file, and reading it again to count …")
def written(identity: Hashable, name: str, _release: Release, _original: Reading | None) -> tuple[bytes, Finding]:
    """Return the bytes of the protected file, and the finding counted on them."""
    try:
        return _release.export(name, like=_original)
    except MicroaggError as error:
        # The page goes on, as another kind of file may hold the release.
        return b"", Finding("stop", "bytes", (), str(error))


def say_refused(workspace: Workspace) -> None:
    """Draw a warning, before the release is made, if the chosen kind of file cannot hold it."""
    try:
        check_file(workspace.table.original.frame, released.arguments(workspace), released_name(workspace))
    except MicroaggError as error:
        st.warning(escape_markdown(sentence(str(error))))


# --- files --------------------------------------------------------------------------------------------------------------

_FORMATS = {".csv": "CSV", ".parquet": "Parquet", ".xlsx": "Excel", ".dta": "Stata", ".sav": "SPSS"}

_RANGES = {"text": "Text", "columns": "Two columns", "middle": "Their middle"}

_BLOCKED = "Blocked: fix the problems first."


def file_stem(workspace: Workspace) -> str:
    return file_name(Path(workspace.table.title).stem)


def released_name(workspace: Workspace) -> str:
    """Return the name of the protected file, in the chosen format."""
    return f"{file_stem(workspace)}_protected{state.current().release.format}"


def show(workspace: Workspace, release: Release, data: bytes, *, ready: bool) -> None:
    """Draw the download of the protected file and the picker of its format."""
    how: dict[str, Any] = {"options": list(_FORMATS), "format_func": _FORMATS.get, "width": 100}
    state.bound(st.selectbox, "Format", "format", label_visibility="collapsed", **how)
    says = None if ready else _BLOCKED
    label = f"Download {_FORMATS[state.current().release.format]}"
    download(label, data, released_name(workspace), type="primary", disabled=not ready, help=says)


def say_renamed(release: Release) -> None:
    ending = state.current().release.format
    if renamed := renamed_columns(release.frame, ending):
        called = [f"{column!r} is called {written!r}" for column, written in renamed.items()]
        says = f"{_FORMATS[ending]} does not take every name: {listing(called)}. The full names are in the labels."
        st.caption(escape_markdown(says))


def ranges() -> None:
    """Draw the picker of how ranges are written."""
    about = (
        "Ranges of numbers and dates: as text such as [30, 45], as two columns of numbers such as age_lower and "
        "age_upper, or as the middle of the range, 37.5."
    )
    state.either("Ranges are written as", "ranges", _RANGES, help=about)


def recipe_button(workspace: Workspace, recipe: dict[str, Any]) -> None:
    says = (
        "What microagg.replay needs, besides the original file, to make the same release again. Keep it with the original, "
        "not with the release."
    )
    download(
        "Recipe",
        lambda: json.dumps(recipe, indent=2, ensure_ascii=False),
        f"{file_stem(workspace)}_recipe.json",
        help=says,
    )


def say_report(summary: str) -> None:
    with st.expander("Report in words"):
        st.markdown("\n".join(f"- {escape_markdown(line)}" for line in summary.splitlines()))


def program(workspace: Workspace, release: Release) -> None:
    with st.expander("Python that repeats the release"):
        is_reordered = release.recipe["shuffle"] is True
        same = "the same records in another order" if is_reordered else "the same bytes"
        st.caption(f"Paste it into a notebook or a file beside the original data. It writes {same}.")
        files = {"out": released_name(workspace), "recipe_file": f"{file_stem(workspace)}_recipe.json"}
        st.code(release.script(**workspace.table.origin, **files), language="python")
