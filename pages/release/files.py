"""The files of a release: data, recipe, report and program; and an earlier release of the same file."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st

from microagg import MicroaggError, Release
from microagg.release import Assessment, Finding
from microagg.release.report.html import document
from microagg.studies.experiment import Method
from microagg.tables import ENDINGS, Reading, renamed_columns
from pages.shared import certificate, jobs, methods, released, state
from pages.shared.figures import download
from pages.shared.released import EARLIER
from pages.shared.text import escape_markdown, file_name, listing
from pages.shared.workspace import Workspace

_FORMATS = {".csv": "CSV", ".parquet": "Parquet", ".xlsx": "Excel", ".dta": "Stata", ".sav": "SPSS"}

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
    message = None if ready else _BLOCKED
    label = f"Download {_FORMATS[state.current().release.format]}"
    download(label, data, released_name(workspace), type="primary", disabled=not ready, help=message)


def show_renamed(release: Release) -> None:
    ending = state.current().release.format
    if renamed := renamed_columns(release.frame, ending):
        called = [f"{column!r} is called {written!r}" for column, written in renamed.items()]
        message = f"{_FORMATS[ending]} does not take every name: {listing(called)}. The full names are in the labels."
        st.caption(escape_markdown(message))


@st.cache_resource(scope="session", max_entries=4, show_spinner="Writing the file, and reading it again to count …")
def written(identity: Hashable, name: str, _release: Release, _original: Reading | None) -> tuple[bytes, Finding]:
    """Return the bytes of the protected file, and the finding counted on them."""
    try:
        return _release.export(name, like=_original)
    except MicroaggError as error:
        # The page goes on, as another kind of file may hold the release.
        return b"", Finding("stop", "bytes", (), str(error))


def recipe_button(workspace: Workspace, recipe: dict[str, Any]) -> None:
    message = (
        "What microagg.replay needs, besides the original file, to make the same release again. Keep it with the original, "
        "not with the release."
    )
    write = partial(json.dumps, recipe, indent=2, ensure_ascii=False)
    download("Recipe", write, f"{file_stem(workspace)}_recipe.json", help=message)


def program(workspace: Workspace, release: Release) -> None:
    with st.expander("Python that repeats the release"):
        is_reordered = release.recipe["shuffle"] is True
        same = "the same records in another order" if is_reordered else "the same bytes"
        st.caption(f"Paste it into a notebook or a file beside the original data. It writes {same}.")
        files = {"out": released_name(workspace), "recipe_file": f"{file_stem(workspace)}_recipe.json"}
        st.code(release.script(**workspace.table.origin, **files), language="python")


def contents(
    workspace: Workspace,
    compared: Compared,
    release: Release,
    assessment: Assessment | None,
    findings: Sequence[Finding],
    data: bytes,
) -> Callable[..., dict[str, Any]] | None:
    """Return what makes the contents of the report, with ``findings`` as checks; None until all is measured."""
    if assessment is None or not is_computed(workspace, compared):
        return None
    verdict = released.judge("The release", release, assessment)
    stated = {"risk": verdict.risk_with_limit, "loss": verdict.loss_with_limit}
    with_limits = tuple(
        replace(finding, text=finding.text.replace("limit.", f"limit: {stated[finding.code]}.", 1))
        if finding.code in stated
        else finding
        for finding in findings
    )
    full = replace(release, report=replace(release.report, findings=with_limits))
    return partial(
        full.to_dict,
        assessment=assessment,
        comparison=_comparison(workspace, compared),
        file=data or None,
        file_name=released_name(workspace),
        origin=workspace.table.origin,
        read=workspace.table.done,
        labels=workspace.table.variable_labels,
        prepared_on=date.today().isoformat(),
    )


# Label, ending of the file's name and tooltip of the two reports, by whether they are for the steward only.
_REPORTS = {
    False: (
        "Report",
        "report",
        "A document to print and sign: what is released, why by this method and k, the risk, the information loss and "
        "the checks. It has no original value that the release does not have, and none follows from it.",
    ),
    True: (
        "Report for the steward only",
        "steward_only",
        "All figures, also those that the report withholds because they reveal values of single persons.",
    ),
}


def offer(workspace: Workspace, contents: Callable[..., dict[str, Any]] | None, *, for_steward: bool = False) -> None:
    """Draw the download of the report to sign, or of the one for the steward; disabled without ``contents``."""
    label, ending, message = _REPORTS[for_steward]

    def write() -> str:
        assert contents is not None
        return document(contents(for_steward=for_steward))

    if contents is None:
        message = "It is ready once risk and data quality, below, are measured and compared."
    name = f"{file_stem(workspace)}_{ending}.html"
    download(label, write, name, disabled=contents is None, help=message)


class Compared(NamedTuple):
    """What the report compares: methods and values of k, the runs to compute, and whether with risks."""

    variants: dict[Method, str]
    ks: list[int]
    cells: list[jobs.Cell]
    risks: bool


def compared(workspace: Workspace) -> Compared:
    """Return what the report compares."""
    try:
        ks = {*certificate.compared_ks(workspace)[0], state.current().k}
    except MicroaggError:  # Choose k shows what is wrong
        ks = {state.current().k}
    ks = {k for k in ks if k <= certificate.most_k(workspace)}
    variants = methods.with_chosen(workspace, methods.sweep_methods(workspace, methods.compared(workspace)))
    cells = [(method, k) for k in sorted(ks) for method in variants]
    risks = bool(workspace.requested)  # the loss with guarantees is computed with them
    return Compared(variants, sorted(ks), cells if risks else certificate.not_stored(workspace, cells), risks)


def compute(workspace: Workspace, compared: Compared) -> None:
    """Compute what the report compares, so that it has the same figures whatever pages were opened before."""
    job = jobs.sweep(workspace, compared.cells, risks=compared.risks)
    if job.running:
        st.caption("The report also compares the release with other methods and values of k:")
        jobs.watch(job)
    else:
        jobs.ended_early("sweep")
        certificate.floors(workspace, compared.ks)  # starts to complete them
        if certificate.is_rising(workspace):
            certificate.await_floor(workspace)


def is_computed(workspace: Workspace, compared: Compared) -> bool:
    """Whether all that the report compares is computed."""
    certificate.floors(workspace, compared.ks)  # starts to complete them
    lacks_some = any(jobs.results().lacks(workspace, cell, risks=compared.risks) for cell in compared.cells)
    return not certificate.is_rising(workspace) and not lacks_some


def _comparison(workspace: Workspace, compared: Compared) -> pd.DataFrame | None:
    """Return the results of the compared methods for :meth:`microagg.Release.to_html`, with lower bounds; None if none."""
    ks = compared.ks
    table = certificate.with_best(workspace, certificate.rows(workspace, compared.variants, ks), ks)
    if table.empty:
        return None
    floors = {bound.k: bound.information_loss for bound in certificate.floors(workspace, ks) if bound.sse > 0}
    chosen = (table["variant"] == methods.chosen(workspace)) & (table["k"] == state.current().k)
    if "guaranteed" in table:
        table["information_loss"] = table["guaranteed"].where(chosen).fillna(table["information_loss"])
    return table[["title", "k", "information_loss"]].assign(
        floor=table["k"].map(floors).astype(float), n_records=workspace.n, chosen=chosen
    )


_FILE = "w_earlier"


def choose_earlier(workspace: Workspace) -> None:
    """Draw the uploader; what was uploaded for this table is held also after other pages."""
    of = workspace.table.identity
    held: tuple[str, bytes] | None = st.session_state.get(EARLIER, {}).get(of)

    def take() -> None:
        file = st.session_state[_FILE]
        st.session_state[EARLIER] = {of: (file.name, file.getvalue())} if file else {}

    st.markdown("**Earlier release of this file**")
    st.caption(
        "k holds for each release alone. An intruder who holds two releases can compare the classes of both, and often "
        "fewer than k persons share both. A recipe is exact; a file is matched by its unchanged columns."
    )
    st.file_uploader("Recipe (.json) or released file", type=["json", *ENDINGS], key=_FILE, on_change=take)
    if held:
        st.markdown(f"Compared with {escape_markdown(held[0])}.")
        st.button("Remove the earlier release", on_click=lambda: st.session_state.pop(EARLIER))
