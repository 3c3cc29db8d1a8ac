"""The release of the chosen partition and its files: data, recipe, and the Python that repeats it."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Hashable
from pathlib import Path
from typing import Any

import streamlit as st

from microagg import ConstantColumnWarning, MicroaggError, Release
from microagg.columns.recodes import Recoding, compose
from microagg.distributed import LargeRelease
from microagg.distributed import release as release_in_parts
from microagg.release import Finding, Remedy, Report, check_file, try_remedies
from microagg.tables import Reading, renamed_columns
from pages.shared import jobs, released, state
from pages.shared.figures import download
from pages.shared.tables import Whole
from pages.shared.text import count, escape_markdown, file_name, listing, percent, sentence
from pages.shared.workspace import Workspace

#: Values of a confidential column in each class that are offered where there is only one.
DIVERSE = 2


def diversified(workspace: Workspace, identity: Hashable, column: str) -> Report | str | None:
    """Return the report with :data:`DIVERSE` values of a confidential column in each class; as :func:`_tried` does."""
    options = released.arguments(workspace)
    options["diversity"] = {**options.get("diversity", {}), column: DIVERSE}
    return _tried(workspace, identity, column, f"Computing what {DIVERSE} values in each class would cost", options)


def protected(workspace: Workspace, identity: Hashable, column: str) -> Report | str | None:
    """Return the report with one more column among the quasi-identifiers; as :func:`_tried` does."""
    options = released.arguments(workspace)
    options.pop("labels", None)  # made without the column
    for role in ("confidential", "others"):
        options[role] = [name for name in options.get(role) or () if name != column]
    options["quasi_identifiers"] = [*options["quasi_identifiers"], column]
    return _tried(workspace, identity, column, f"Computing the loss with {column} protected", options)


def without(workspace: Workspace, identity: Hashable, column: str, recoding: Recoding) -> Report | str | None:
    """Return the report without the records whose value ``recoding`` makes missing; as :func:`_tried` does."""
    options = released.arguments(workspace)
    options.pop("labels", None)  # of all records
    recode = options.get("recode", {})
    options["recode"] = {**recode, column: compose(recode.get(column, {}), recoding)}
    options["missing"] = {**options.get("missing", {}), column: "drop"}
    return _tried(workspace, identity, column, f"Computing what is lost without outliers of {column}", options)


def _tried(
    workspace: Workspace, identity: Hashable, column: str, says: str, options: dict[str, Any]
) -> Report | str | None:
    """Return the report of a release with other ``options``, or the reason if it is impossible; None until then."""
    frame = workspace.table.original.frame

    def make() -> Report | str:
        try:
            return released.make(frame, options).report
        except MicroaggError as error:
            return str(error)

    n = workspace.n_complete
    return jobs.once(f"{says} ({column})", identity, [options["method"]], says, make, n, urgent=False)


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
_REQUEST, _NAME = "whole_asked", "w_whole_folder"


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


def as_json(contents: dict[str, Any]) -> str:
    return json.dumps(contents, indent=2, ensure_ascii=False)


def recipe_button(workspace: Workspace, recipe: dict[str, Any]) -> None:
    says = (
        "What microagg.replay needs, besides the original file, to make the same release again. Keep it with the original, "
        "not with the release."
    )
    download("Recipe", lambda: as_json(recipe), f"{file_stem(workspace)}_recipe.json", help=says)


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


def show_whole(workspace: Workspace, identity: Hashable, *, ready: bool) -> None:
    """Draw the release of the whole file, which waits until the sample has no problems: ``ready``."""
    whole = workspace.table.whole
    assert whole is not None, "the table is no sample of a large file"
    st.markdown(
        f"The checks are those of the sample. **All {whole.n_records:,} records** are released on this machine: the file is "
        "read in parts, blocks of similar records are grouped one by one, and k is counted again on the written files."
    )
    if importlib.util.find_spec("distributed") is None:
        st.info(
            "This needs Dask, which is not installed with the dashboard. Install it, and start the dashboard again:"
        )
        st.code(".venv/bin/python -m pip install 'dask[dataframe]' distributed", language="bash")
        return
    name = _folder_name(workspace, whole)
    if name is None:
        return
    is_requested = st.session_state.get(_REQUEST) == (identity, name)
    if release := jobs.outcome("whole", (identity, name)):
        _summary(release, workspace)
        return
    at = whole.path.parent / name
    if at.exists() and not is_requested:
        st.warning(f"There is {escape_markdown(name)} already beside the file: choose another name, or remove it.")
        return
    st.button(
        f"Release all {whole.n_records:,} records",
        on_click=lambda: st.session_state.update({_REQUEST: (identity, name)}),
        type="primary",
        disabled=is_requested or not ready,
        help=None if ready else _BLOCKED,
    )
    if is_requested and ready:
        # Meanings count in the checks of the sample only.
        options, of = {**released.arguments(workspace), "meanings": None}, (identity, name)

        def make() -> LargeRelease:
            warnings.simplefilter("ignore", ConstantColumnWarning)
            return release_in_parts(whole.path, options, out=at)

        if jobs.once("whole", of, [options["method"]], "Releasing the whole file", make, whole.n_records):
            st.rerun()


def _folder_name(workspace: Workspace, whole: Whole) -> str | None:
    """Draw the field for the folder's name, and return it; None with a warning if it is no name."""
    says = (
        f"Made in {escape_markdown(str(whole.path.parent))}, and holds Parquet files that pandas, polars, R, Dask and "
        "Spark read as one table. Temporary files beside it hold original values until it is done; then they are deleted."
    )
    name = st.text_input("Folder for the release", f"{file_stem(workspace)}_protected", key=_NAME, help=says).strip()
    if not name or name[0] in "._" or Path(name).name != name:
        st.warning(
            "The name of a folder beside the file is needed: without slashes, and not beginning with a dot or “_”."
        )
        return None
    return name


def _summary(release: LargeRelease, workspace: Workspace) -> None:
    report = release.report
    st.success(
        f"{count(report.n_records, 'record')} protected in {escape_markdown(str(release.path))}: each combination of "
        f"quasi-identifiers occurs at least {count(report.risk.realized_k, 'time')}, counted on the files that were written."
    )
    for finding in release.findings:
        # The checks of the sample have what is not counted on the whole file.
        if finding.level != "ok" and finding.code != "unchecked":
            st.warning(sentence(finding.text))
    one, two, three = st.columns(3)
    if report.loss is not None:
        one.metric("Information loss (IL)", percent(report.loss.information_loss), border=True)
    two.metric("Groups", f"{report.risk.n_groups:,}", border=True)
    three.metric("Smallest group", f"{report.risk.realized_k:,}", border=True)
    recipe_button(workspace, release.recipe)
    say_report(report.summary())
    st.caption(f"At k = {state.current().k}. Other choices above make another release, in another folder.")
