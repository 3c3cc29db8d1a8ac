"""What is known of the data in use: runs of this session, results that came with the package, floors and optima.

Every floor that is shown anywhere comes from :func:`floors`; the best partition that is known is a method's like any
other, by :func:`.searched.found`. The floor of the nearest neighbors rises in a job of its own, which pages do
not wait for; what it has proven so far is a floor, too.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import streamlit as st

from microagg import metrics
from microagg.algorithms.method import VARIANTS
from microagg.optimum.bounds import Bound
from microagg.optimum.certificate import Floors, raised
from microagg.studies import landscape
from microagg.studies.experiment import Method, Result
from microagg.studies.sweeps import with_worst
from pages.shared import compiling, jobs, methods, searched, state
from pages.shared.job_queue import Job
from pages.shared.text import count, sentence
from pages.shared.workspace import Workspace

# Of how many data sets the floors are kept.
_MOST_FLOORS = 6

_FLOOR = "floor"  # the kind of job

# A floor that rises is drawn anew after each such share of it: a chart loses its zoom whenever it is drawn anew.
_STEP = 0.05

# How long a page waits for a floor when it asks for it first, in seconds: that of a small file is whole by then.
_MOMENT = 0.5


# --- results of this session, and stored ones -------------------------------------------------------------------------


def rows(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> pd.DataFrame:
    """Return the results so far, those of this session before stored ones, with the name and title of each variant."""
    parts, stored = [], workspace.benchmark
    for method, name in variants.items():
        here = jobs.results().table(workspace, [(method, k) for k in ks])
        missing = [k for k in ks if here.empty or k not in set(here["k"])]
        before = landscape.stored(*stored, method, missing) if stored and missing else pd.DataFrame()
        # A label says which parameters were chosen, but not by what name a setting is known.
        is_setting = VARIANTS[name].fixed or VARIANTS[name].penalty
        title = methods.title(name) if is_setting else method.label
        tables = [(here, False), (before, True)]
        parts += [part.assign(stored=at, variant=name, title=title) for part, at in tables if not part.empty]
    return with_worst(pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame()


def stored_floors(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the stored floors of ``ks`` on these data; empty if there are none."""
    if workspace.benchmark is None:
        return []
    most = workspace.n * workspace.d if workspace.X is None else metrics.sst(workspace.X)
    known = landscape.between(*workspace.benchmark, ks)
    return [Bound(k, least * most / 100, least, 0.0) for k, (_, least) in known.items()]


# --- floors -----------------------------------------------------------------------------------------------------------


def floors(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the best floor proven so far for each of ``ks``, ascending; stored ones of the benchmarks are among them.

    It may still rise. What is proven for a smaller k holds for every larger one: groups of at least 5 are groups of at
    least 3 too.

    Raises
    ------
    DataError
        If there are fewer records than a k, in all or in a stratum.
    """
    certificates = searched.certificates(workspace).values() if workspace.is_whole else ()
    return raised(soon(workspace, ks), [certificate.bound for certificate in certificates])


def soon(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return what is proven for each of ``ks`` without a search, and see to it that the rest gets proven."""
    return raised(_proven(workspace, ks), stored_floors(workspace, ks) if workspace.is_whole else [])


def marks(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the floors that searches have proven at single values of ``ks``, where they are above the soon known ones."""
    if not workspace.is_whole:
        return []
    before = {bound.k: bound.sse for bound in soon(workspace, ks)}
    bounds = [certificate.bound for certificate in searched.certificates(workspace).values()]
    return sorted((bound for bound in bounds if bound.sse > before.get(bound.k, np.inf)), key=lambda bound: bound.k)


@dataclass
class _Neighbors:
    """What the nearest neighbors have proven of one data set."""

    # The last one rises or is whole; before it are those for fewer k, until it is whole.
    floors: list[Floors] = field(default_factory=list)
    # What was shown last for some values of k, and at which step.
    shown: dict[tuple[int, ...], tuple[int, list[Bound]]] = field(default_factory=dict)

    def bounds(self, ks: Sequence[int]) -> list[Bound]:
        *before, last = self.floors
        return raised(last.bounds(ks), [bound for floor in before for bound in floor.bounds(floor.ks)])


@st.cache_resource(scope="session", show_spinner=False)
def _neighbors() -> OrderedDict[str, _Neighbors]:
    """Return what this session has proven, by the digest of the data."""
    return OrderedDict()


def _proven(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return what the nearest neighbors prove so far for each of ``ks``, and see to it that the rest gets proven.

    Of more records there are nearer neighbors: of a sample nothing is proven, as that would be no floor of the file.
    """
    if not workspace.is_whole:
        return [Bound(k, 0.0, 0.0, 0.0) for k in ks]
    proven = _neighbors().get(workspace.digest) or _Neighbors()
    jobs.keep(_neighbors(), workspace.digest, proven, _MOST_FLOORS)
    if not (proven.floors and proven.floors[-1].covers(ks)):
        before = proven.floors[-1].ks if proven.floors else ()
        proven.floors.append(Floors(workspace.problem, {*before, *ks}))
        proven.shown.clear()
    last, job = proven.floors[-1], _job(workspace)
    if job is None and last.share < 1.0:

        def work(job: Job) -> None:
            jobs.compile_task(job, compiling.FLOOR, soon=False)  # pages do not wait for it
            job.watch("Proving the floor", last.improve)
            job.done = job.total

        # It takes as long as a few cells of a sweep, and comes before most of these; the first has the other slot.
        job = jobs.results().start(_FLOOR, (workspace.digest, last.ks), 100, work, urgent=True)
        job.wait(_MOMENT)
    if last.share == 1.0:
        del proven.floors[:-1]
    elif job is not None and job.running:
        step = int(last.share / _STEP)
        if proven.shown.get(tuple(ks), (None, []))[0] != step:
            proven.shown[tuple(ks)] = step, proven.bounds(ks)
        return proven.shown[tuple(ks)][1]
    return proven.bounds(ks)


def _job(workspace: Workspace) -> Job | None:
    """Return the job that proves the floors that have been asked for last, be it that it was cancelled."""
    job, proven = jobs.results().jobs.get(_FLOOR), _neighbors().get(workspace.digest)
    if job is None or proven is None or not proven.floors:
        return None
    return job if job.identity == (workspace.digest, proven.floors[-1].ks) else None


def _is_rising(workspace: Workspace) -> bool:
    """Return whether more is about to be proven than has been asked for before."""
    job = _job(workspace)
    return job is not None and job.running


def while_rising(workspace: Workspace, ks: Sequence[int], draw: Callable[[], None]) -> None:
    """Do ``draw``, again and again while the floor of ``ks`` rises; the page is drawn anew when it is whole."""
    _proven(workspace, ks)
    if _is_rising(workspace):
        _again(workspace, draw)
    else:
        draw()


@st.fragment(run_every=1.5)
def _again(workspace: Workspace, draw: Callable[[], None]) -> None:
    if not _is_rising(workspace):
        st.rerun()
    draw()


def _share(workspace: Workspace) -> float:
    """Return which share of the floor that has been asked for before is proven, 0 to 1."""
    # What the session has proven is gone once its browser was away for a moment, and asked for anew by the next run of
    # the page: until then parts of the page may still be drawn.
    proven = _neighbors().get(workspace.digest)
    return proven.floors[-1].share if proven else 0.0


def rising_in_words(workspace: Workspace) -> str:
    """Return how far the floor is that has been asked for before; empty if it is whole."""
    share = _share(workspace)
    if share == 1.0:
        return ""
    how = "still rising" if _is_rising(workspace) else "incomplete"
    return f"Floor {how}: {100 * share:.0f} %"


def floor_status(workspace: Workspace) -> None:
    """Draw in one row how far the floor is that has been asked for before, and a way to cancel it or go on with it."""
    share = _share(workspace)
    job, says = _job(workspace), rising_in_words(workspace)
    with st.container(horizontal=True, vertical_alignment="center", height=64, border=False, key="floor_status"):
        if not says:
            st.caption(
                f"The floor is complete: the nearest neighbors of all {count(workspace.n, 'record')} count in it."
            )
        elif job is None:
            st.caption(f"{says}.")
        elif job.running:
            waits = f" · {job.message}" if share == 0.0 else ""
            st.progress(share, text=says + waits)
            st.button("Cancel", key="floor_cancel", on_click=job.cancel)
        else:
            if job.problem:
                st.error(sentence(job.problem))
            else:
                st.caption(f"{says}, cancelled. What has been proven so far holds; more would raise it.")
            st.button("Go on", key="floor_go_on", on_click=jobs.results().forget, args=(_FLOOR, job))


# --- the best partitions ----------------------------------------------------------------------------------------------


def best_known(workspace: Workspace, ks: Sequence[int], rows: pd.DataFrame | None = None) -> dict[int, float]:
    """Return the lowest IL, or Total-IL of categories, in percent, that is known at each of ``ks`` where there is one.

    It is that of this session, of ``rows``, which may come from elsewhere, or of the stored results of a benchmark. A
    partition for a larger k serves every smaller one.
    """
    here = best_here(workspace, ks, rows)
    between = landscape.between(*workspace.benchmark, ks) if workspace.benchmark else {}
    before = {k: loss for k, (loss, _) in between.items() if loss < math.inf}
    return {k: min(best[k] for best in (here, before) if k in best) for k in ks if k in here or k in before}


def best_here(workspace: Workspace, ks: Sequence[int], rows: pd.DataFrame | None = None) -> dict[int, float]:
    """Return :func:`best_known` without what is stored of a benchmark as a loss only."""
    seen = [(k, certificate.found[-1][1]) for k, certificate in searched.certificates(workspace).items()]
    seen += [(k, own.information_loss) for k in ks if (own := searched.stored_result(workspace, k))]
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


def loss_alone(workspace: Workspace, k: int, rows: pd.DataFrame | None = None) -> float | None:
    """Return the loss at ``k`` of a partition better than all that are here, of which nothing else is known, if any."""
    best, here = (known(workspace, [k], rows).get(k) for known in (best_known, best_here))
    return best if best is not None and here is not None and best < here * (1 - searched.ROUNDING) else None


def with_found(workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int]) -> pd.DataFrame:
    """Return rows of a sweep, and below them those of what :func:`.searched.found` has for ``ks``."""
    title = methods.title(state.FOUND)
    names = {"label": title, "title": title, "variant": state.FOUND}
    further = [
        result.row() | _risks(workspace.exposed.digest, k, result.information_loss, workspace, result) | names
        for k in ks
        if (result := searched.found(workspace, k))
    ]
    found = with_worst(pd.DataFrame(further)) if further else rows
    return found if rows.empty or not further else pd.concat([rows, found], ignore_index=True)


@st.cache_resource(scope="session", max_entries=4 * searched.MOST, show_spinner=False)
def _risks(exposed: str, k: int, loss: float, _workspace: Workspace, _found: Result) -> dict[str, float]:
    """Return the risks of what a search has found for k: another partition is only kept for it if it loses less."""
    return _workspace.exposed.risks(_found.partition, _found)
