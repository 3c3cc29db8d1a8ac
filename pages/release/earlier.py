"""An earlier release of the same file, uploaded to count what somebody who holds both releases can tell."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import streamlit as st

from microagg import MicroaggError, Release
from microagg.release import Finding, compare_with, read_earlier
from microagg.tables import ENDINGS
from pages.shared import jobs
from pages.shared.text import escape_markdown
from pages.shared.workspace import Workspace

_HELD, _FILE = "earlier_release", "w_earlier"


def chosen(workspace: Workspace) -> tuple[str, bytes] | None:
    """Draw the uploader; return name and content of what was uploaded for this table, also after other pages."""
    of = workspace.table.identity
    held: tuple[str, bytes] | None = st.session_state.get(_HELD, {}).get(of)

    def take() -> None:
        file = st.session_state[_FILE]
        st.session_state[_HELD] = {of: (file.name, file.getvalue())} if file else {}

    st.markdown("**Earlier release of this file**")
    st.caption(
        "k holds for each release alone. An intruder who holds two releases can compare the classes of both, and often "
        "fewer than k persons share both. A recipe is exact; a file is matched by its unchanged columns."
    )
    st.file_uploader("Recipe (.json) or released file", type=["json", *ENDINGS], key=_FILE, on_change=take)
    if held:
        st.markdown(f"Compared with {escape_markdown(held[0])}.")
        st.button("Remove the earlier release", on_click=lambda: st.session_state.pop(_HELD))
    return held


def compared(workspace: Workspace, release: Release, of: Hashable, name: str, content: bytes) -> Release | None:
    """Return the release with the joint classes of both counted, or blocked by the reason why they cannot be."""

    def make() -> Release:
        try:
            return compare_with(release, read_earlier(content, name))
        except MicroaggError as error:
            finding = Finding("stop", "releases", (), f"The earlier release cannot be compared: {error}")
            return replace(release, report=replace(release.report, findings=(*release.report.findings, finding)))

    keys = [release.recipe["method"] or "mdav-star"]
    return jobs.once("earlier", of, keys, "Comparing with the earlier release", make, workspace.n_complete)
