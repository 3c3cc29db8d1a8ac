"""The floor that is known soon: a job of its own, which pages do not wait for; what it has proven so far is a floor, too."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import streamlit as st

from microagg.optimum.bounds import Bound
from microagg.optimum.certificate import Floors, raised
from pages.shared import compiling, jobs
from pages.shared.job_queue import Job
from pages.shared.text import count, sentence
from pages.shared.workspace import Workspace

_KIND = "floor"

# Of how many data sets the floors are kept.
_MOST = 6

# A floor that rises is drawn anew after each such share of it: a chart loses its zoom whenever it is drawn anew.
_STEP = 0.05

# How long a page waits for a floor when it asks for it first, in seconds: that of a small file is whole by then.
_MOMENT = 0.5


@dataclass
class _Known:
    """What is known of one data set.

    Attributes
    ----------
    floors : list of Floors
        The last one rises or is whole; before it are those for fewer k, until it is whole.
    shown : dict
        What was shown last for some values of k, and at which step.
    """

    floors: list[Floors] = field(default_factory=list)
    shown: dict[tuple[int, ...], tuple[int, list[Bound]]] = field(default_factory=dict)

    def bounds(self, ks: Sequence[int]) -> list[Bound]:
        *before, own = self.floors
        return raised(own.bounds(ks), [bound for other in before for bound in other.bounds(other.ks)])


@st.cache_resource(scope="session", show_spinner=False)
def _kept() -> OrderedDict[str, _Known]:
    """Return what this session knows by the digest of the data."""
    return OrderedDict()


def proven(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return what is proven so far for each of ``ks``, and see to it that the rest gets proven.

    Of more records there are nearer neighbors: of a sample nothing is proven, as that would be no floor of the file.

    Raises
    ------
    DataError
        If there are fewer records than a k, in all or in a stratum.
    """
    if not workspace.is_whole:
        return [Bound(k, 0.0, 0.0, 0.0) for k in ks]
    known = _known(workspace, ks)
    job = _job(workspace)
    if job is None and known.floors[-1].share < 1.0:
        job = _start(workspace, known.floors[-1])
        job.wait(_MOMENT)
    if known.floors[-1].share == 1.0:
        del known.floors[:-1]
    elif job is not None and job.running:
        step = int(known.floors[-1].share / _STEP)
        if known.shown.get(tuple(ks), (None, []))[0] != step:
            known.shown[tuple(ks)] = step, known.bounds(ks)
        return known.shown[tuple(ks)][1]
    return known.bounds(ks)


def while_rising(workspace: Workspace, ks: Sequence[int], draw: Callable[[], None]) -> None:
    """Do ``draw``, again and again while the floor of ``ks`` rises; the page is drawn anew when it is whole."""
    proven(workspace, ks)
    if is_rising(workspace):
        _again(workspace, draw)
    else:
        draw()


@st.fragment(run_every=1.5)
def _again(workspace: Workspace, draw: Callable[[], None]) -> None:
    if not is_rising(workspace):
        st.rerun()
    draw()


def is_rising(workspace: Workspace) -> bool:
    """Return whether more is about to be proven than has been asked for before."""
    job = _job(workspace)
    return job is not None and job.running


def rising_in_words(workspace: Workspace) -> str:
    """Return how far the floor is that has been asked for before; empty if it is whole."""
    share = _kept()[workspace.digest].floors[-1].share
    if share == 1.0:
        return ""
    how = "still rising" if is_rising(workspace) else "not whole"
    return f"Floor {how}: {100 * share:.0f} %"


def status(workspace: Workspace) -> None:
    """Draw in one row how far the floor is that has been asked for before, and a way to cancel it or go on with it."""
    share = _kept()[workspace.digest].floors[-1].share
    job, says = _job(workspace), rising_in_words(workspace)
    with st.container(horizontal=True, vertical_alignment="center", height=64, border=False, key="floor_status"):
        if job is None or not says:
            st.caption(f"The floor is whole: the nearest neighbors of all {count(workspace.n, 'record')} count in it.")
        elif job.running:
            waits = f" · {job.message}" if share == 0.0 else ""
            st.progress(share, text=says + waits)
            st.button("Cancel", key="floor_cancel", on_click=job.cancel)
        else:
            if job.problem:
                st.error(sentence(job.problem))
            else:
                st.caption(f"{says}, cancelled. What has been proven so far holds; more would raise it.")
            st.button("Go on", key="floor_go_on", on_click=jobs.results().forget, args=(_KIND, job))


def _known(workspace: Workspace, ks: Sequence[int]) -> _Known:
    """Return what is known of the data set, its last floors being for ``ks``, too."""
    kept = _kept()
    known = kept.setdefault(workspace.digest, _Known())
    kept.move_to_end(workspace.digest)
    while len(kept) > _MOST:
        kept.popitem(last=False)
    floors = known.floors
    if not (floors and floors[-1].covers(ks)):
        before = floors[-1].ks if floors else ()
        floors.append(Floors(workspace.problem, {*before, *ks}))
        known.shown.clear()
    return known


def _job(workspace: Workspace) -> Job | None:
    """Return the job that proves the floors that have been asked for last, be it that it was cancelled."""
    job, known = jobs.results().jobs.get(_KIND), _kept().get(workspace.digest)
    if job is None or known is None or not known.floors:
        return None
    return job if job.identity == (workspace.digest, known.floors[-1].ks) else None


def _start(workspace: Workspace, floors: Floors) -> Job:
    def work(job: Job) -> None:
        jobs.compile_task(job, compiling.FLOOR, soon=False)  # pages do not wait for it
        job.watch("Proving the floor", floors.improve)
        job.done = job.total

    # It takes as long as a few cells of a sweep, and comes before most of these; the first has the other turn.
    return jobs.results().start(_KIND, (workspace.digest, floors.ks), 100, work, urgent=True)
