"""How far from the optimum: a search for a better partition from above, a proven floor from below, for one k at a time.

Both are kept for the session, so that further time narrows what lies between them. Every floor that is shown anywhere
comes from :func:`floors`.
"""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.metrics.bounds import Bound, LinearProgram
from microagg.search import Search
from microagg.tables import to_csv
from pages.ui import state
from pages.ui.charts import curves
from pages.ui.charts.layout import show_figure
from pages.ui.data.workspace import Workspace
from pages.ui.runs import jobs
from pages.ui.text import escape_markdown, file_name, gap_in_words, percent

#: How long one click searches.
SECONDS = 30

# How many certificates are kept; each holds a linear program and a partition.
_MOST = 24

# A relative gap of at most this is rounding.
_CLOSED = 1e-6

_ASKED = "certificate_asked"


@dataclass
class Certificate:
    """What is known at one k. The job's threads write, the page reads.

    Attributes
    ----------
    search : Search or None
        None until a search was asked for, as is ``program``.
    program : LinearProgram or None
    seconds : float
        How long both have been at it.
    found, proven : lists of (float, float)
        Seconds, and the IL found or proven by then, in percent.
    rounds : int
        How often a search was asked for.
    """

    search: Search | None = None
    program: LinearProgram | None = None
    seconds: float = 0.0
    found: list[tuple[float, float]] = field(default_factory=list)
    proven: list[tuple[float, float]] = field(default_factory=list)
    rounds: int = 0


class Certificates:
    """Those of a session, by the digest of the data and k."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept: OrderedDict[tuple[str, int], Certificate] = OrderedDict()

    def of(self, digest: str, k: int) -> Certificate:
        """Return the certificate of these data at ``k``, an empty one if there is none yet."""
        with self.lock:
            own = self.kept.setdefault((digest, k), Certificate())
            self.kept.move_to_end((digest, k))
            while len(self.kept) > _MOST:
                self.kept.popitem(last=False)
        return own

    def known(self, digest: str) -> dict[int, Certificate]:
        """Return the certificates of these data by k."""
        with self.lock:
            return {k: own for (of, k), own in self.kept.items() if of == digest}


@st.cache_resource(scope="session", show_spinner=False)
def _certificates() -> Certificates:
    return Certificates()


@st.cache_resource(
    scope="session",
    max_entries=12,
    show_spinner="Finding nearest neighbors for the floor that no method can get below …",
)
def _quick_floors(digest: str, ks: tuple[int, ...], _workspace: Workspace) -> list[Bound]:
    X = _workspace.X
    bounds = metrics.bounds.nearest_neighbor_curve(X, ks)
    # With one attribute, or too few records for two groups, the first bound of the linear program is the optimum.
    known = [_workspace.d == 1 or _workspace.n < 2 * k for k in ks]
    return [LinearProgram(X, bound.k).bound if at_once else bound for bound, at_once in zip(bounds, known, strict=True)]


def floors(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the best proven floor for each of ``ks``, ascending.

    What is proven for a smaller k holds for every larger one: groups of at least 5 are groups of at least 3 too.
    """
    best = _quick_floors(workspace.digest, tuple(ks), workspace)
    for k, own in _certificates().known(workspace.digest).items():
        if own.program is None:
            continue
        bound = own.program.bound
        best = [
            dataclasses.replace(bound, k=floor.k) if floor.k >= k and bound.sse > floor.sse else floor for floor in best
        ]
    return best


def best_known(workspace: Workspace, ks: Sequence[int]) -> dict[int, float]:
    """Return the lowest IL, in percent, that this session has seen at each of ``ks`` where there is one.

    A partition for a larger k serves every smaller one.
    """
    seen: list[tuple[int, float]] = [
        (k, own.search.information_loss)
        for k, own in _certificates().known(workspace.digest).items()
        if own.search is not None
    ]
    box = jobs.results()
    with box.lock:
        seen += [(k, row["information_loss"]) for (of, _, k), row in box.rows.items() if of == workspace.digest]
    lowest = {k: min((loss for at, loss in seen if at >= k), default=np.nan) for k in ks}
    return {k: loss for k, loss in lowest.items() if not np.isnan(loss)}


def is_searching() -> bool:
    """Return whether a search is under way."""
    job = jobs.results().jobs.get("certificate")
    return job is not None and job.running


def section(workspace: Workspace, *, searching: bool) -> None:
    """Draw what is known at the chosen k, and offer to spend time on it.

    ``searching`` says whether a search was under way when the page began to draw what stands above: if it has ended
    since, the page is drawn anew, so that all of it shows what was found.
    """
    choices = state.current()
    k = choices.k
    if k > workspace.n:
        return
    st.subheader("How far from the optimum?")
    st.markdown(
        "The least loss that any partition can have lies between the best partition found and a **proven floor**. A "
        "search narrows this from both sides: it improves the best partition, and raises the floor by solving a "
        "linear program whose solution no partition can undercut."
    )
    job = jobs.results().jobs.get("certificate")
    own = _certificates().of(workspace.digest, k)
    if st.session_state.get(_ASKED) == (workspace.digest, k, own.rounds):
        job = _start(workspace, k, own)
    if job is not None and (searching or job.running):
        job.wait(1.0)
        if not job.running:
            st.rerun()
        jobs.watch(job, lambda: _draw(workspace, k, own))
        return
    jobs.ended_early("certificate", "Stopped: what was found until then is kept.")
    _draw(workspace, k, own)
    _buttons(workspace, k, own)


def _buttons(workspace: Workspace, k: int, own: Certificate) -> None:
    def begin() -> None:
        own.rounds += 1
        st.session_state[_ASKED] = (workspace.digest, k, own.rounds)

    if _is_closed(workspace, k):
        st.success("Found and floor meet: this is the optimum, to within rounding. No search can improve it.")
    with st.container(horizontal=True):
        if not _is_closed(workspace, k):
            more = " more" if own.rounds else ""
            st.button(f"Search for {SECONDS} s{more}", on_click=begin, type="primary", icon=":material/search:")
        search = own.search
        if search is not None:
            name = file_name(f"{workspace.table.title} k={k} groups")
            st.download_button(
                "Download the best partition (CSV)",
                lambda: to_csv(_groups(workspace, search)),
                file_name=f"{name}.csv",
                mime="text/csv",
                on_click="ignore",
                help="The group of each record, in the order of the file.",
            )


def _groups(workspace: Workspace, search: Search) -> pd.DataFrame:
    return pd.DataFrame({"record": workspace.table.frame.index, "group": search.labels + 1})


def _is_closed(workspace: Workspace, k: int) -> bool:
    best = best_known(workspace, [k]).get(k)
    return best is not None and metrics.gap(best, floors(workspace, [k])[0]) <= _CLOSED


def _start(workspace: Workspace, k: int, own: Certificate) -> jobs.Job:
    box = jobs.results()
    with box.lock:
        partitions = [result for (of, _, at), result in box.partitions.items() if of == workspace.digest and at >= k]
    start = min(partitions, key=lambda result: result.sse, default=None)

    def work(job: jobs.Job) -> None:
        job.message = "Compiling the search and the linear program for this machine (half a minute, only once) …"
        _warm_up()
        job.check()
        job.message = f"k = {k}: preparing …"
        if own.search is None or own.program is None:
            own.search = Search(workspace.X, k, labels=None if start is None else start.partition.labels)
            own.program = LinearProgram(workspace.X, k)
            own.found.append((0.0, own.search.information_loss))
            own.proven.append((0.0, own.program.bound.information_loss))
        job.check()
        _narrow(job, k, own, own.search, own.program)

    return box.start("certificate", (workspace.digest, k, own.rounds), SECONDS, work)


def _narrow(job: jobs.Job, k: int, own: Certificate, search: Search, program: LinearProgram) -> None:
    """Search from above and from below at once, for SECONDS or until both meet."""
    before, started = own.seconds, time.monotonic()

    def elapsed() -> float:
        return time.monotonic() - started

    def note(into: list[tuple[float, float]], value: float) -> bool:
        """Note what is reached; return whether to go on."""
        step = value - into[-1][1]
        # A relative step of at most 1e-12 is rounding.
        if (step < 0 if into is own.found else step > 0) and abs(step) > 1e-12 * value:
            into.append((before + elapsed(), value))
        gap = metrics.gap(own.found[-1][1], own.proven[-1][1])
        job.done = min(int(elapsed()), SECONDS)
        job.message = (
            f"k = {k}: best found {percent(own.found[-1][1])}, proven floor {percent(own.proven[-1][1])}, "
            f"{max(SECONDS - elapsed(), 0):.0f} s left"
        )
        return not job.stop.is_set() and gap > _CLOSED

    with ThreadPoolExecutor(1, thread_name_prefix="floor") as thread:
        below = thread.submit(program.improve, float(SECONDS), lambda bound: note(own.proven, bound.information_loss))
        try:
            search.improve(seconds=SECONDS, watch=lambda loss, _: note(own.found, loss))
        finally:
            program_bound = below.result()
    note(own.found, search.information_loss)
    note(own.proven, program_bound.information_loss)
    own.seconds = before + elapsed()
    for series in (own.found, own.proven):
        series.append((own.seconds, series[-1][1]))
    job.check()
    job.done = job.total


@st.cache_resource(show_spinner=False)
def _warm_up() -> bool:
    """Compile, or load from disk, what the search and the floor need."""
    X = np.random.default_rng(0).normal(size=(24, 3))
    for k in (3, 10):
        Search(X, k).improve(iterations=5)
        LinearProgram(X, k).improve(1.0)
    return True


def _draw(workspace: Workspace, k: int, own: Certificate) -> None:
    best = best_known(workspace, [k]).get(k)
    floor = floors(workspace, [k])[0].information_loss
    with st.container(horizontal=True):
        st.metric(
            f"Best found at k = {k}",
            "–" if best is None else percent(best),
            help="The lowest information loss of all runs and searches of this session that serve this k.",
            width="content",
        )
        st.metric(
            "Proven floor",
            percent(floor),
            help="No partition into groups of at least k, by whatever method, loses less.",
            width="content",
        )
    if best is not None:
        st.markdown(f"**{escape_markdown(_in_words(k, best, floor))}**")
    if len(own.found) > 1 or len(own.proven) > 1:
        show_figure(
            curves.certificate(own.found, own.proven, k),
            title=f"The optimum at k = {k} lies in the band between both lines",
            key="certificate",
            alt=f"Information loss of the best partition found, falling, and the proven floor, rising, at k = {k} "
            "against the time spent.",
        )


def _in_words(k: int, best: float, floor: float) -> str:
    says = f"At k = {k} no partition loses less than {percent(floor)}; the best found loses {percent(best)}, "
    return says + gap_in_words(best, floor) + "."
