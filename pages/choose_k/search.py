"""The gap to the lower bound on the page Choose k, and the search that narrows it at the chosen k."""

from __future__ import annotations

import time

import pandas as pd
import streamlit as st

from microagg.optimum.bounds import Bound
from microagg.optimum.certificate import Certificate, is_closed
from microagg.tables import to_csv
from pages.shared import certificate, compiling, jobs, methods, state
from pages.shared.figures import download
from pages.shared.job_queue import Job
from pages.shared.text import describe_gap, escape_markdown, file_name, percent
from pages.shared.workspace import Workspace

#: The seconds that one click searches.
SECONDS = 30

# The description of a search, for numbers and for mixed attributes.
_OF_NUMBERS = (
    "Local search improves the best known partition, up to k = 6 also by exact regrouping of some hundred records at a "
    "time. Linear programs raise the lower bound, and an integer program combines the groups of all partitions tried. "
    "When the two meet, the partition is proven optimal."
)
_OF_CATEGORIES = (
    "Local search regroups the records around one record at a time and keeps what lowers the loss. The lower bound is "
    "raised record by record: a record loses at least the extent of the narrowest ranges and common ancestors around it "
    "that hold k records."
)

# The last request: the digest of the data, k, and the time.
_REQUEST = "certificate_asked"


def is_under_way() -> bool:
    job = jobs.results().jobs.get(certificate.SEARCH)
    return job is not None and job.running


def _new_certificate(box: jobs.Results, workspace: Workspace, k: int) -> Certificate:
    """Return a certificate that starts from the best partition run here or stored; called in threads of jobs."""
    results = [
        result for result in (box.best.get((workspace.digest, k)), certificate.stored_best(workspace, k)) if result
    ]
    start = min(results, key=lambda result: result.information_loss, default=None)
    labels = None if start is None else start.partition.labels
    return Certificate(workspace.data, k, labels)


def section(workspace: Workspace, rows: pd.DataFrame, *, searching: bool) -> None:
    """Draw the gap at the chosen k, and offer to search; ``searching`` says whether a search ran as the page began."""
    k = state.current().k
    if k > workspace.n:
        return
    st.header("Gap to the lower bound")
    job = jobs.results().jobs.get(certificate.SEARCH)
    request = st.session_state.get(_REQUEST)
    if request and request[:2] == (workspace.digest, k):
        job = _start(workspace, k, request)
    if job is not None and (searching or job.running):
        job.wait(1.0)
        if not job.running:  # it has ended since: the whole page shows the result
            st.rerun()
        jobs.watch(job, lambda: _draw(workspace, k, rows))
        return
    jobs.ended_early(certificate.SEARCH, "Cancelled: the best partition so far is kept.")
    _draw(workspace, k, rows)
    _buttons(workspace, k, rows)


def _buttons(workspace: Workspace, k: int, rows: pd.DataFrame) -> None:
    last_search, newest = certificate.certificates(workspace).get(k), certificate.best(workspace, k)
    best = certificate.best_known(workspace, [k], rows).get(k)
    closed = best is not None and is_closed(best, certificate.floors(workspace, [k])[0].information_loss)
    if closed:
        st.success("Proven optimal: the best known partition meets the lower bound. No method can do better at this k.")
    if workspace.strata is not None:
        st.caption("No search within strata: Least loss groups each stratum by itself, and more time lowers its loss.")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if not closed:

            def ask() -> None:
                st.session_state[_REQUEST] = (workspace.digest, k, time.monotonic())

            more = " more" if last_search else ""
            st.button(f"Search for {SECONDS} s{more}", on_click=ask, type="primary", icon=":material/search:")
        if newest:
            groups = pd.DataFrame({"record": workspace.frame.index, "group": newest.partition.labels + 1})
            name = f"{file_name(f'{workspace.table.title} k={k} groups')}.csv"
            message = "The group of each record, in the order of the file."
            download("Download the best partition (CSV)", lambda: to_csv(groups), name, help=message)
    if newest and workspace.is_sample:
        st.caption("This partition is one of the sample, so it cannot be released. Use all records and search again.")
    if workspace.is_sample:
        return
    with st.expander("What a search does"):
        how = _OF_NUMBERS if workspace.is_numeric else _OF_CATEGORIES
        st.markdown(
            "The lowest possible loss lies between the **lower bound** and the loss of the **best known partition**. A "
            f"search narrows this gap from both sides. {how}"
        )


def _start(workspace: Workspace, k: int, request: tuple[str, int, float]) -> Job:
    box, store, key = jobs.results(), certificate.all_certificates(), (workspace.digest, k)
    floor = certificate.floors(workspace, [k])[0].information_loss

    def work(job: Job) -> None:
        def watch(search: Certificate, left: float) -> bool:
            job.done = min(int(SECONDS - left), SECONDS)
            bound = max(search.lower_bounds[-1][1], floor)
            least = f" lower bound {percent(bound, 4)}," if not workspace.is_sample else ""
            job.message = f"k = {k}: best known {percent(search.losses[-1][1], 4)},{least} {left:.0f} s left"
            return job.should_continue()

        jobs.compile_tasks(job, [compiling.SEARCH if workspace.is_numeric else compiling.MIXED])
        job.check()
        search = store.get(key)
        if search is None:
            search = job.watch(f"k = {k}: preparing", lambda: _new_certificate(box, workspace, k))
            with box.lock:
                jobs.keep(store, key, search, certificate.MAX_CERTIFICATES)
        job.check()
        search.narrow(SECONDS, watch)
        job.check()
        job.done = job.total

    return box.start(certificate.SEARCH, request, SECONDS, work)


def _chosen_run(workspace: Workspace, k: int, rows: pd.DataFrame) -> tuple[str, float] | None:
    """Return the title and the loss of the chosen method at ``k``, or None if it was not run there."""
    runs = certificate.with_best(workspace, rows[rows["k"] == k] if len(rows) else rows, [k])
    here = runs[runs["variant"] == methods.chosen(workspace)] if len(runs) else runs
    if here.empty:
        return None
    loss = here["information_loss"].iloc[0]
    return str(here["title"].iloc[0]), float(here["guaranteed"].fillna(loss).iloc[0] if "guaranteed" in here else loss)


def gap_of_chosen(workspace: Workspace, k: int, rows: pd.DataFrame) -> str:
    """Describe the gap of the chosen method at ``k``, or of the best known partition if it was not run there."""
    [bound] = certificate.floors(workspace, [k])
    if run := _chosen_run(workspace, k, rows):
        return _gap_in_words(f"{run[0]} at k = {k:,}", run[1], bound)
    best = certificate.best_known(workspace, [k], rows).get(k)
    if best is None:
        return f"No method was run at k = {k:,}; the lower bound is {percent(bound.information_loss)}."
    return _gap_in_words(f"The best known partition at k = {k:,}", best, bound)


def _gap_in_words(title: str, loss: float, bound: Bound) -> str:
    least = bound.information_loss
    return f"{title}: {describe_gap(loss, least)} (loss {percent(loss)}, lower bound {percent(least)})."


def _draw(workspace: Workspace, k: int, rows: pd.DataFrame) -> None:
    best = certificate.best_known(workspace, [k], rows).get(k)
    if workspace.is_sample:
        known = "No method was run" if best is None else f"The lowest loss known of the sample is {percent(best)}"
        st.markdown(escape_markdown(f"{known} at k = {k:,}. A lower bound of the file takes all its records."))
    else:
        [bound] = certificate.floors(workspace, [k])
        st.markdown(f"**{escape_markdown(gap_of_chosen(workspace, k, rows))}**")
        run = _chosen_run(workspace, k, rows)
        if run and best is not None and best < run[1] * (1 - certificate.ROUNDING):
            title = f"Best known partition{' without the guarantees' if workspace.requested else ''}"
            st.markdown(escape_markdown(_gap_in_words(title, best, bound)))
