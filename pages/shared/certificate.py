"""How far from the optimum: what a search has found and proven, for one k at a time, kept for the session.

Every floor that is shown anywhere comes from :func:`floors`; the best partition that a search has found is a method's
like any other, by :func:`found`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from microagg.optimum.bounds import Bound
from microagg.optimum.certificate import Certificate, is_closed, raised
from microagg.optimum.formatting import optimum_in_words
from microagg.partition import Partition
from microagg.studies.experiment import Method, Result
from microagg.studies.sweeps import with_worst
from microagg.tables import to_csv
from pages.shared import compiling, curves, floor, jobs, methods, shell, state, stored
from pages.shared.figures import show_figure
from pages.shared.job_queue import Job
from pages.shared.text import escape_markdown, file_name, gap_in_words, percent
from pages.shared.workspace import Workspace

#: How long one click searches.
SECONDS = 30

# How many certificates are kept; each holds a linear program and a partition.
_MOST = 24

# What was asked for last: the digest of the data, k, and when.
_ASKED = "certificate_asked"


@st.cache_resource(scope="session", show_spinner=False)
def _kept() -> dict[tuple[str, int], Certificate]:
    """Return the certificates of this session by the digest of the data and k; a job's thread adds to them."""
    return {}


def _known(workspace: Workspace) -> dict[int, Certificate]:
    """Return the certificates of these data by k."""
    return {k: own for (digest, k), own in list(_kept().items()) if digest == workspace.digest}


def floors(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the best floor proven so far for each of ``ks``, ascending; stored ones of the benchmarks are among them.

    It may still rise, see :mod:`pages.shared.floor`. What is proven for a smaller k holds for every larger one: groups
    of at least 5 are groups of at least 3 too.

    Raises
    ------
    DataError
        If there are fewer records than a k, in all or in a stratum.
    """
    known = _known(workspace).values() if workspace.is_whole else ()
    return raised(soon(workspace, ks), [own.bound for own in known])


def soon(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return what is proven for each of ``ks`` without a search of this session."""
    return raised(floor.proven(workspace, ks), stored.floors(workspace, ks) if workspace.is_whole else [])


def marks(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the floors that searches have proven at single values of ``ks``, where they are above the soon known ones."""
    if not workspace.is_whole:
        return []
    before = {bound.k: bound.sse for bound in soon(workspace, ks)}
    own = [certificate.bound for certificate in _known(workspace).values()]
    return sorted((bound for bound in own if bound.sse > before.get(bound.k, np.inf)), key=lambda bound: bound.k)


def best_known(workspace: Workspace, ks: Sequence[int], rows: pd.DataFrame | None = None) -> dict[int, float]:
    """Return the lowest IL, or Total-IL of categories, in percent, that is known at each of ``ks`` where there is one.

    It is that of this session, of ``rows``, which may come from elsewhere, or of the stored results of a benchmark. A
    partition for a larger k serves every smaller one.
    """
    here, known = _best_here(workspace, ks, rows), stored.best(workspace, ks)
    return {k: min(own[k] for own in (here, known) if k in own) for k in ks if k in here or k in known}


def _best_here(workspace: Workspace, ks: Sequence[int], rows: pd.DataFrame | None) -> dict[int, float]:
    """Return :func:`best_known` without what was found elsewhere and is stored as a loss only."""
    seen = [(k, own.found[-1][1]) for k, own in _known(workspace).items()]
    if rows is not None and not rows.empty:
        seen += zip(rows["k"], rows["information_loss"], strict=True)
    box = jobs.results()
    with box.lock:
        seen += [(k, row["information_loss"]) for (of, _, k), row in box.rows.items() if of == workspace.digest]
    best: dict[int, float] = {}
    lowest, seen = math.inf, sorted(seen)
    for k in sorted(ks, reverse=True):
        while seen and seen[-1][0] >= k:
            lowest = min(lowest, seen.pop()[1])
        if lowest < math.inf:
            best[k] = lowest
    return {k: best[k] for k in ks if k in best}


def found(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition that a search of this session has found for ``k``, or None if there was no search."""
    own = _known(workspace).get(k)
    if own is None:
        return None
    partition = Partition(own.labels, k)
    measures = workspace.problem.row(partition, partition)
    return Result(Method("iterated-local-search"), k, {}, 1, partition, measures, own.seconds)


def with_found(workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int]) -> pd.DataFrame:
    """Return rows of a sweep, and below them those of what :func:`found` has for ``ks``."""
    title = methods.title(state.FOUND)
    names = {"label": title, "title": title, "variant": state.FOUND}
    further = [
        result.row() | _risks(workspace.exposed.digest, k, result.sse, workspace, result.partition) | names
        for k in ks
        if (result := found(workspace, k))
    ]
    return pd.concat([rows, with_worst(pd.DataFrame(further))], ignore_index=True) if further else rows


@st.cache_resource(scope="session", max_entries=4 * _MOST, show_spinner=False)
def _risks(exposed: str, k: int, sse: float, _workspace: Workspace, _partition: Partition) -> dict[str, float]:
    """Return the risks of what a search has found for k: another partition is only kept for it if its SSE is lower."""
    return _workspace.exposed.risks(_partition)


def is_searching() -> bool:
    """Return whether a search is under way."""
    job = jobs.results().jobs.get("certificate")
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
    if why := _why_no_search(workspace):
        _draw(workspace, k, rows)
        st.caption(why)
        return
    job = jobs.results().jobs.get("certificate")
    asked = st.session_state.get(_ASKED)
    if asked and asked[:2] == (workspace.digest, k):
        job = _start(workspace, k, asked)
    if job is not None and (searching or job.running):
        job.wait(1.0)
        if not job.running:
            st.rerun()
        jobs.watch(job, lambda: _draw(workspace, k, rows))
        return
    jobs.ended_early("certificate", "Stopped: what was found until then is kept.")
    _draw(workspace, k, rows)
    _buttons(workspace, k, rows)


def _why_no_search(workspace: Workspace) -> str:
    if not workspace.is_numeric:
        return "The search is for numbers: of categories the floor is as high as the nearest neighbors prove it."
    if workspace.strata is not None:
        return (
            "The search is for files without strata: with them the floor is as high as the nearest neighbors prove it."
        )
    return ""


def _buttons(workspace: Workspace, k: int, rows: pd.DataFrame) -> None:
    own, best = _known(workspace).get(k), _best_here(workspace, [k], rows).get(k)
    closed = best is not None and is_closed(best, floors(workspace, [k])[0].information_loss)
    if closed:
        st.success("Proven optimal: found and floor meet, to within rounding. No method can do better at this k.")
    with st.container(horizontal=True, vertical_alignment="center"):
        if not closed:

            def ask() -> None:
                st.session_state[_ASKED] = (workspace.digest, k, time.monotonic())

            more = " more" if own else ""
            st.button(f"Search for {SECONDS} s{more}", on_click=ask, type="primary", icon=":material/search:")
        if own:
            _offer(workspace, k, own)
    if own and workspace.is_sample:
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


def _offer(workspace: Workspace, k: int, own: Certificate) -> None:
    """Offer the partition found to the pages that follow, and as a file."""
    for page, label in (("clusters", "Show this partition in Clusters"), ("release", "Release this partition")):
        if st.button(label, on_click=state.update, kwargs={"method": state.FOUND, "k": k}):
            shell.go(page)
    groups = pd.DataFrame({"record": workspace.frame.index, "group": own.labels + 1})
    st.download_button(
        "Download the best partition (CSV)",
        lambda: to_csv(groups),
        file_name=f"{file_name(f'{workspace.table.title} k={k} groups')}.csv",
        mime="text/csv",
        on_click="ignore",
        help="The group of each record, in the order of the file.",
    )


def _start(workspace: Workspace, k: int, asked: tuple[str, int, float]) -> Job:
    box, kept = jobs.results(), _kept()
    with box.lock:
        partitions = [result for (of, _, at), result in box.partitions.items() if of == workspace.digest and at >= k]
    start = min(partitions, key=lambda result: result.sse, default=None)

    def work(job: Job) -> None:
        def watch(own: Certificate, left: float) -> bool:
            job.done = min(int(SECONDS - left), SECONDS)
            least = f" proven floor {percent(own.proven[-1][1], 4)}," if workspace.is_whole else ""
            job.message = f"k = {k}: best found {percent(own.found[-1][1], 4)},{least} {left:.0f} s left"
            return job.should_continue()

        jobs.compile_task(job, compiling.SEARCH)
        job.check()
        own = kept.get((workspace.digest, k))
        if own is None:
            own = job.watch(
                f"k = {k}: preparing", lambda: Certificate(workspace.data, k, start and start.partition.labels)
            )
            kept[workspace.digest, k] = own
            for oldest in list(kept)[:-_MOST]:
                kept.pop(oldest, None)  # another search, which is being cancelled, may do the same
        job.check()
        own.narrow(SECONDS, watch)
        job.check()
        job.done = job.total

    return box.start("certificate", asked, SECONDS, work)


def known_in_words(workspace: Workspace, k: int, rows: pd.DataFrame) -> str:
    """Return what is known at ``k`` of ``rows``, the best partition and the floor, as a sentence without its end."""
    best, least = best_known(workspace, [k], rows).get(k), floors(workspace, [k])[0].information_loss
    if best is None:
        return f"at k = {k} no partition loses less than {percent(least, 4)}; nothing has been run there"
    return f"at k = {k}: {optimum_in_words(*_chosen(workspace, k, rows), best, least)}"


def _draw(workspace: Workspace, k: int, rows: pd.DataFrame) -> None:
    best, least = best_known(workspace, [k], rows).get(k), floors(workspace, [k])[0].information_loss
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
    own = _known(workspace).get(k)
    if own and workspace.is_whole and len(own.found) + len(own.proven) > 2:
        show_figure(
            curves.certificate(own),
            title=f"At k = {k}, by its own floor, the best partition of this search is "
            f"{gap_in_words(own.found[-1][1], own.proven[-1][1])}, after {own.seconds:.3g} s of search",
            key="certificate",
            alt=f"By how many percent the best partition found lies above the optimum at most, falling, at k = {k} against "
            "the time spent.",
        )


def _chosen(workspace: Workspace, k: int, rows: pd.DataFrame) -> tuple[str, float | None]:
    """Return the title of the chosen method, and what it loses at ``k`` if that is among ``rows`` or was found."""
    name = methods.chosen(workspace)
    if name == state.FOUND:
        own = _known(workspace).get(k)
        return methods.title(name), None if own is None else own.found[-1][1]
    here = rows[(rows["variant"] == name) & (rows["k"] == k)]
    return (
        (methods.title(name), None) if here.empty else (here["title"].iloc[0], float(here["information_loss"].iloc[0]))
    )
