"""The floor that is known soon: a job of its own, which pages do not wait for; what it has proven so far is a floor, too."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import streamlit as st

from microagg.certificate import Floors, raised
from microagg.certificate import floors as floors_at_once
from microagg.metrics.bounds import Bound
from microagg.problem import Problem
from pages.ui.data.workspace import Workspace
from pages.ui.runs import jobs
from pages.ui.text import count, sentence

_KIND = "floor"

# Of how many data sets the floors are kept.
_MOST = 6

# How long a page waits for a floor when it asks for it first, in seconds: that of a small file is whole by then.
_MOMENT = 0.5


@st.cache_resource(scope="session", show_spinner=False)
def _kept() -> OrderedDict[str, list[Floors]]:
    """Return the floors of this session by the digest of the data.

    The last ones are those that rise or are whole; before them are those for fewer k, until these are reached again.
    """
    return OrderedDict()


@cache
def _prepare() -> None:
    """Compile the neighbor search, or load it where an earlier process left it on disk."""
    floors_at_once(Problem.of(np.arange(12.0).reshape(6, 2)), [2])


def proven(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return what is proven so far for each of ``ks``, and see to it that the rest gets proven; none for categories.

    Raises
    ------
    DataError
        If there are fewer records than a k, in all or in a stratum.
    """
    floors = _floors(workspace, ks)
    job = _job(workspace, floors)
    if job is None and floors[-1].share < 1.0:
        job = _start(workspace, floors[-1])
        job.wait(_MOMENT)
    if floors[-1].share == 1.0:
        del floors[:-1]
    return raised(floors[-1].bounds(ks), [bound for own in floors[:-1] for bound in own.bounds(own.ks)])


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
    floors = _kept().get(workspace.digest)
    job = _job(workspace, floors) if floors else None
    return job is not None and job.running


def rising_in_words(workspace: Workspace) -> str:
    """Return how far the floor is that has been asked for before; empty if it is whole."""
    share = _kept()[workspace.digest][-1].share
    if share == 1.0:
        return ""
    how = "still rising" if is_rising(workspace) else "not whole"
    return f"Floor {how}: {100 * share:.0f} %"


def status(workspace: Workspace) -> None:
    """Draw in one row how far the floor is that has been asked for before, and a way to cancel it or go on with it."""
    floors = _kept()[workspace.digest]
    job, says = _job(workspace, floors), rising_in_words(workspace)
    with st.container(horizontal=True, vertical_alignment="center", height=64, border=False, key="floor_status"):
        if job is None or not says:
            st.caption(f"The floor is whole: the nearest neighbors of all {count(workspace.n, 'record')} count in it.")
        elif job.running:
            waits = f" · {job.message}" if floors[-1].share == 0.0 else ""
            st.progress(floors[-1].share, text=says + waits)
            st.button("Cancel", key="floor_cancel", on_click=job.stop.set)
        else:
            if job.problem:
                st.error(sentence(job.problem))
            else:
                st.caption(f"{says}, cancelled. What has been proven so far holds; more would raise it.")
            st.button("Go on", key="floor_go_on", on_click=jobs.results().forget, args=(_KIND, job))


def _floors(workspace: Workspace, ks: Sequence[int]) -> list[Floors]:
    kept = _kept()
    floors = kept.setdefault(workspace.digest, [])
    kept.move_to_end(workspace.digest)
    while len(kept) > _MOST:
        kept.popitem(last=False)
    if not (floors and floors[-1].covers(ks)):
        before = floors[-1].ks if floors else ()
        floors.append(Floors(workspace.problem, {*before, *ks}))
    return floors


def _job(workspace: Workspace, floors: Sequence[Floors]) -> jobs.Job | None:
    """Return the job that proves the last of ``floors``, which may have been cancelled."""
    job = jobs.results().jobs.get(_KIND)
    return job if job is not None and job.identity == (workspace.digest, floors[-1].ks) else None


def _start(workspace: Workspace, floors: Floors) -> jobs.Job:
    def work(job: jobs.Job) -> None:
        job.message = "Compiling the neighbor search for this machine (some seconds, only once) …"
        _prepare()
        job.watch("Proving the floor", floors.improve)
        job.done = job.total

    return jobs.results().start(_KIND, (workspace.digest, floors.ks), 100, work)
