"""The report on a release: made when it is asked for, with all that was compared and overridden in this session."""

from __future__ import annotations

import json
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import streamlit as st

from microagg import Release
from microagg.release import Finding
from microagg.release.html.document import document
from microagg.tables import digest_bytes
from pages.ui import state
from pages.ui.data.workspace import Workspace
from pages.ui.runs import assessed, compared, files, jobs
from pages.ui.text import escape_markdown

_ASKED = "report_asked"


def show(workspace: Workspace, release: Release, identity: Hashable, found: Sequence[Finding], data: bytes) -> None:
    """Draw what gets the report on ``release``, in which ``found`` is the checklist and ``data`` the protected file."""
    stem = files.file_stem(workspace)
    full = replace(release, report=replace(release.report, findings=tuple(found)))
    about = {
        "assessment": assessed.known(release, identity),
        "comparison": compared.for_report(workspace),
        "file": data or None,
        "file_name": f"{stem}_protected{state.current().format}",
        "origin": workspace.table.origin,
    }
    said = _said(identity, full, about)
    asked = st.session_state.get(_ASKED) == identity
    text = jobs.made("report", said) if asked else None
    with st.container(horizontal=True):
        if text is None:
            st.button(
                "Report (HTML)",
                on_click=lambda: st.session_state.update({_ASKED: identity}),
                disabled=asked,
                help="A document to print and sign: what is released, why by this method and k, what can go wrong, what is "
                "lost, and the checklist. No original value stands in it that the release does not have.",
            )
        else:
            _download("Download the report (HTML)", text, f"{stem}_report.html", "text/html", type="primary")
        _download(
            "Report (JSON)",
            lambda: json.dumps(full.to_dict(**about), indent=2, ensure_ascii=False),
            f"{stem}_report.json",
            "application/json",
        )
    if asked and text is None:
        _make(full, said, about, workspace.n_complete)
    with st.expander("The report in words"):
        st.markdown("\n".join(f"- {escape_markdown(line)}" for line in release.report.summary().splitlines()))


def _download(label: str, data: Any, name: str, mime: str, **how: Any) -> None:
    st.download_button(label, data, file_name=name, mime=mime, on_click="ignore", **how)


def _said(identity: Hashable, release: Release, about: dict[str, Any]) -> Hashable:
    """Return what tells one report from all others of this session."""
    comparison, report = about["comparison"], release.report
    parts = (
        report.findings,
        report.accepted,
        report.reason,
        "" if comparison is None else comparison.to_csv(),
        digest_bytes(about["file"] or b""),
        about["file_name"],
        id(about["assessment"]),
    )
    return identity, digest_bytes(repr(parts).encode("utf-8", "replace"))


def _make(release: Release, said: Hashable, about: dict[str, Any], n: int) -> None:
    """See to it that the report gets made, and draw the page anew once it is there."""
    if about["assessment"] is None:
        st.caption("The report is written as soon as risk and utility, below, are measured.")
        return

    def make() -> str:
        return document(release.to_dict(**about))

    key = release.recipe["method"] or "mdav-star"
    if jobs.once("report", said, [key], "Writing the report", make, n) is not None:
        st.rerun()
