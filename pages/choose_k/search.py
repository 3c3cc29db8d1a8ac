"""How far from the optimum: what is known at the chosen k, and a search that narrows it, for one k at a time."""

from __future__ import annotations

import math
import time

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from microagg.optimum.certificate import Certificate, is_closed
from microagg.optimum.formatting import optimum_in_words
from microagg.tables import to_csv
from pages.shared import certificate, compiling, jobs, methods, shell, state, theme
from pages.shared.figures import download, finish, show_figure
from pages.shared.job_queue import Job
from pages.shared.text import escape_markdown, file_name, gap_in_words, percent
from pages.shared.workspace import Workspace

#: How long one click searches.
SECONDS = 30

_KIND = "certificate"

# What was asked for last: the digest of the data, k, and when.
_ASKED = "certificate_asked"


def is_under_way() -> bool:
    """Return whether a search is under way."""
    job = jobs.results().jobs.get(_KIND)
    return job is not None and job.running


def section(workspace: Workspace, rows: pd.DataFrame, *, searching: bool) -> None:
    """Draw what is known at the chosen k, and offer to spend time on it.

    ``rows`` are those that the page shows. ``searching`` says whether a search was under way when the page began to draw
    what stands above: if it has ended since, the page is drawn anew, so that all of it shows what was found.
    """
    k = state.current().k
    if k > workspace.n:
        return
    st.subheader("How far from the optimum?")
    if not workspace.is_numeric or workspace.strata is not None:
        _draw(workspace, k, rows)
        only, elsewhere = (
            ("files without strata", "with them") if workspace.is_numeric else ("numbers", "of categories")
        )
        st.caption(f"The search is for {only}: {elsewhere} the floor is as high as the nearest neighbors prove it.")
        return
    job = jobs.results().jobs.get(_KIND)
    asked = st.session_state.get(_ASKED)
    if asked and asked[:2] == (workspace.digest, k):
        job = _start(workspace, k, asked)
    if job is not None and (searching or job.running):
        job.wait(1.0)
        if not job.running:
            st.rerun()
        jobs.watch(job, lambda: _draw(workspace, k, rows))
        return
    jobs.ended_early(_KIND, "Stopped: what was found until then is kept.")
    _draw(workspace, k, rows)
    _buttons(workspace, k, rows)


def _buttons(workspace: Workspace, k: int, rows: pd.DataFrame) -> None:
    searched = certificate.certificates(workspace).get(k)
    best = certificate.best_here(workspace, [k], rows).get(k)
    closed = best is not None and is_closed(best, certificate.floors(workspace, [k])[0].information_loss)
    if closed:
        st.success("Proven optimal: found and floor meet, to within rounding. No method can do better at this k.")
    with st.container(horizontal=True, vertical_alignment="center"):
        if not closed:

            def ask() -> None:
                st.session_state[_ASKED] = (workspace.digest, k, time.monotonic())

            more = " more" if searched else ""
            st.button(f"Search for {SECONDS} s{more}", on_click=ask, type="primary", icon=":material/search:")
        if searched:
            _offer(workspace, k, searched)
    if searched and workspace.is_sample:
        st.caption("It groups the sample only, so it cannot be released: take all records and search again for that.")
    if not workspace.is_whole:
        return
    with st.expander("What a search does"):
        st.markdown(
            "The least loss that any partition can have lies between the best partition found and a **proven floor**. A "
            "search narrows this from both sides. It improves the best partition, up to k = 6 also by putting together the "
            "best groups of some hundred records at a time, where a linear program shows that there may be something to "
            "gain. And it raises the floor by solving linear programs, for few large groups also a semidefinite one, whose "
            "solution no partition can undercut. Once there is no more to gain, an integer program puts better partitions "
            "together from the groups found. Where all groups that could be in a better one are few enough to be listed, "
            "or further cuts raise the floor up to the best partition, that one is proven to be the best there is."
        )


def _offer(workspace: Workspace, k: int, searched: Certificate) -> None:
    """Offer the partition found to the pages that follow, and as a file."""
    for page, label in (("clusters", "Show this partition in Clusters"), ("release", "Release this partition")):
        if st.button(label, on_click=state.update, kwargs={"method": state.FOUND, "k": k}):
            shell.go(page)
    groups = pd.DataFrame({"record": workspace.frame.index, "group": searched.labels + 1})
    download(
        "Download the best partition (CSV)",
        lambda: to_csv(groups),
        f"{file_name(f'{workspace.table.title} k={k} groups')}.csv",
        help="The group of each record, in the order of the file.",
    )


def _start(workspace: Workspace, k: int, asked: tuple[str, int, float]) -> Job:
    box, kept, key = jobs.results(), certificate.all_certificates(), (workspace.digest, k)
    with box.lock:
        partitions = [result for (of, _, at), result in box.partitions.items() if of == workspace.digest and at >= k]
    start = min(partitions, key=lambda result: result.sse, default=None)

    def work(job: Job) -> None:
        def watch(search: Certificate, left: float) -> bool:
            job.done = min(int(SECONDS - left), SECONDS)
            least = f" proven floor {percent(search.proven[-1][1], 4)}," if workspace.is_whole else ""
            job.message = f"k = {k}: best found {percent(search.found[-1][1], 4)},{least} {left:.0f} s left"
            return job.should_continue()

        jobs.compile_task(job, compiling.SEARCH)
        job.check()
        search = kept.get(key)
        if search is None:
            labels = start and start.partition.labels
            search = job.watch(f"k = {k}: preparing", lambda: Certificate(workspace.data, k, labels))
            jobs.keep(kept, key, search, certificate.MOST_CERTIFICATES)
        job.check()
        search.narrow(SECONDS, watch)
        job.check()
        job.done = job.total

    return box.start(_KIND, asked, SECONDS, work)


def known_in_words(workspace: Workspace, k: int, rows: pd.DataFrame) -> str:
    """Return what is known at ``k`` of ``rows``, the best partition and the floor, as a sentence without its end."""
    best, least = _best_and_least(workspace, k, rows)
    if best is None:
        return f"at k = {k} no partition loses less than {percent(least, 4)}; nothing has been run there"
    name = methods.chosen(workspace)
    title, loss = methods.title(name), None
    if name == state.FOUND:
        if searched := certificate.certificates(workspace).get(k):
            loss = searched.found[-1][1]
    elif not (here := rows[(rows["variant"] == name) & (rows["k"] == k)]).empty:
        title, loss = here["title"].iloc[0], float(here["information_loss"].iloc[0])
    return f"at k = {k}: {optimum_in_words(title, loss, best, least)}"


def _best_and_least(workspace: Workspace, k: int, rows: pd.DataFrame) -> tuple[float | None, float]:
    """Return the lowest loss that is known at ``k``, if any, and the floor, both in percent."""
    best = certificate.best_known(workspace, [k], rows).get(k)
    return best, certificate.floors(workspace, [k])[0].information_loss


def _draw(workspace: Workspace, k: int, rows: pd.DataFrame) -> None:
    best, least = _best_and_least(workspace, k, rows)
    says = known_in_words(workspace, k, rows)
    says = f"A{says[1:]}"
    if not workspace.is_whole:
        known = "nothing has been run" if best is None else f"the best partition known loses {percent(best)}"
        says = f"{workspace.estimated}{known} at k = {k}. A floor of the file takes all its records"
    st.markdown(f"**{escape_markdown(says)}.**")
    with st.container(horizontal=True):
        st.metric(
            f"Best found at k = {k}",
            "–" if best is None else percent(best, 4),
            help="The lowest loss of all runs and searches known that serve this k.",
            width="content",
        )
        if workspace.is_whole:
            st.metric(
                "Proven floor",
                percent(least, 4),
                help="No partition into groups of at least k, by whatever method, loses less.",
                width="content",
            )
        if best is not None and least > 0:
            st.metric(
                "Above the optimum at most",
                percent(100 * (best / least - 1), 2),
                help="By how much the best found exceeds the proven floor: the optimum lies between them.",
                width="content",
            )
    searched = certificate.certificates(workspace).get(k)
    if searched and workspace.is_whole and len(searched.found) + len(searched.proven) > 2:
        show_figure(
            narrowing(searched),
            title=f"At k = {k}, by its own floor, the best partition of this search is "
            f"{gap_in_words(searched.found[-1][1], searched.proven[-1][1])}, after {searched.seconds:.3g} s of search",
            key="certificate",
            alt=f"By how many percent the best partition found lies above the optimum at most, falling, at k = {k} against "
            "the time spent.",
        )


def narrowing(searched: Certificate) -> go.Figure:
    """Draw by how many percent the best partition found may lie above the optimum, against the seconds spent."""
    course = [(at, found, proven) for at, found, proven in searched.course if proven > 0]
    gaps = np.array([100 * (found / proven - 1) for _, found, proven in course])
    # What is closed to within rounding is drawn at the lowest end of the axis, which has no 0.
    least = max(gaps[gaps > 1e-4].min(initial=100) / 3, 1e-4)
    figure = go.Figure(
        go.Scatter(
            x=[at for at, _, _ in course],
            y=np.maximum(gaps, least),
            name="gap",
            mode="lines",
            line={"color": theme.HIGHLIGHT, "width": 2.5, "shape": "hv"},
            customdata=[[percent(found), percent(proven)] for _, found, proven in course],
            hovertemplate="after %{x:.1f} s at most %{y:.3~g} % above the optimum:<br>found %{customdata[0]}, "
            "proven floor %{customdata[1]}<extra></extra>",
        )
    )
    high = max(gaps.max(initial=least), least)
    figure.update_xaxes(title="time spent searching (seconds)", rangemode="tozero")
    span = [math.log10(least) - 0.1, math.log10(high) + 0.15]
    figure.update_yaxes(
        title="above the optimum at most (%)", type="log", range=span, dtick=1 if span[1] - span[0] > 2.2 else "D2"
    )
    return finish(figure, 300)
