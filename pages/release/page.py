"""Release: a checklist first, the files, risk and utility, and what changed."""

import streamlit as st

from pages.release import before_after, checklist, files, report
from pages.release import files as whole_file
from pages.release import making as releases
from pages.shared import methods, shell, state, tables
from pages.shared.text import count, escape_markdown
from pages.shared.workspace import Workspace, chosen_workspace

_STATISTICS = {"mean": "Mean", "median": "Median", "ancestor": "Range or common ancestor", "set": "Range or set"}


def body() -> None:
    """Draw the page."""
    workspace = chosen_workspace()
    choices = state.current()
    whole = workspace.table.whole
    tables.say_sample(workspace.table)
    n, dropped = workspace.n_complete, workspace.source.n_dropped
    records = (
        f"{n:,} of {count(n + dropped, 'record')} ({dropped:,} with gaps are left out)"
        if dropped
        else count(n, "record")
    )
    all_of = "The sample of " if whole is not None else "" if dropped else "All "
    st.markdown(
        f"{all_of}{records} in groups of at least **{choices.k}** by "
        f"**{escape_markdown(methods.title(methods.chosen(workspace)))}**: what holds it up, what it changes, and the files."
    )
    _values(workspace)
    identity = releases.identity(workspace)
    release = releases.made(workspace, identity)
    if release is None:
        return
    data, counted = releases.written(identity, choices.release.format, release)
    st.subheader("1. Checklist")
    found = checklist.findings(workspace, release, counted)
    ready = checklist.show(workspace, release, found, identity)
    accepted = checklist.accepted(release, identity)
    if whole is None:
        st.subheader("2. Files")
        files.show(workspace, accepted, data, ready=ready)
        report.show(workspace, accepted, identity, found, data)
        files.program(workspace, accepted)
    else:
        st.subheader("2. The whole file")
        whole_file.show_whole(workspace, identity, ready=ready)
    of_sample = "" if whole is None else ", of the sample"
    st.subheader(f"3. Risk and utility{of_sample}")
    report.show_assessment(workspace, release, identity)
    st.subheader(f"4. Before and after{of_sample}")
    before_after.show(workspace, release, identity)


def _values(workspace: Workspace) -> None:
    """Draw what replaces the values of a group."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        st.session_state["w_statistic"] = releases.statistic(workspace)
        st.segmented_control(
            "Values of a group become their",
            list(_STATISTICS),
            key="w_statistic",
            format_func=_STATISTICS.__getitem__,
            required=True,
            wrap=True,
            on_change=lambda: state.update(statistic=st.session_state["w_statistic"]),
            help="Mean or median of numbers and dates, of ordered categories the middle one, of others the most frequent. Or "
            "what the records of a group have in common: [30, 45] and Blue collar, or {Craft-repair, Sales}.",
        )
    with right, st.container(horizontal=True):
        if releases.statistic(workspace) in ("mean", "median"):
            state.bound(
                st.toggle,
                "Keep all digits",
                "exact",
                help="Off: means are rounded to as many decimals as the file has, and integers stay whole. k is counted "
                "after rounding.",
            )
        if state.current().release.shuffle is not None:
            st.button("Keep the order of the file", on_click=state.update, kwargs={"shuffle": None})


shell.show(body)
