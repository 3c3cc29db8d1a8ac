"""Results, lower bounds and best partitions of the data in use: those of this session and stored ones.

Every lower bound on a page comes from :func:`floors`, and every gap from :func:`gap`. A job computes the
nearest-neighbor bounds.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from microagg import ParameterError, metrics, optimum
from microagg.algorithms.method import VARIANTS
from microagg.optimum.bounds import Bound
from microagg.optimum.certificate import Certificate, Floors, raise_bounds
from microagg.partition import Partition
from microagg.studies import landscape
from microagg.studies.experiment import Method, Result
from microagg.studies.sweeps import with_worst
from microagg.validation import IntArray, read_ks
from pages.shared import compiling, jobs, methods, state
from pages.shared.job_queue import Job
from pages.shared.workspace import Workspace

# Maximum number of data sets with stored bounds.
_MOST_FLOORS = 6

_FLOOR = "floor"  # the kind of job
_DRAWN_WITHOUT = "drawn_without_floor"  # whether a chart was drawn before its lower bound was there

# Seconds that a page waits for a new bound, which is enough for a small file.
_MOMENT = 0.5


# --- results of this session, and stored ones -------------------------------------------------------------------------


def rows(workspace: Workspace, variants: Mapping[Method, str], ks: Sequence[int]) -> pd.DataFrame:
    """Return the results of this session, then stored ones, with the name and title of each variant."""
    parts, stored = [], workspace.benchmark
    for method, name in variants.items():
        session_rows = jobs.results().table(workspace, [(method, k) for k in ks])
        before = landscape.stored(*stored, method, ks) if stored else pd.DataFrame()
        if not session_rows.empty:
            # All times of a benchmark are stored ones, so that they can be compared.
            there = {} if before.empty else dict(zip(before["k"], before["seconds"], strict=True))
            times = session_rows["k"].map(there)
            session_rows = session_rows.assign(stored=times.notna(), seconds=times.fillna(session_rows["seconds"]))
            before = before if before.empty else before[~before["k"].isin(session_rows["k"])]
        # A label has the parameters, but not the title of a setting.
        is_setting = VARIANTS[name].fixed or VARIANTS[name].penalty
        title = methods.title(name) if is_setting else method.label
        parts += [
            part.assign(variant=name, title=title) for part in (session_rows, before.assign(stored=True)) if len(part)
        ]
    return with_worst(pd.concat(parts, ignore_index=True)) if parts else pd.DataFrame()


def not_stored(workspace: Workspace, cells: Sequence[jobs.Cell]) -> list[jobs.Cell]:
    """Return those of ``cells`` without a stored result."""
    if workspace.benchmark is None:
        return list(cells)
    there: set[jobs.Cell] = set()
    for method in {method for method, _ in cells}:
        stored = landscape.stored(*workspace.benchmark, method, [k for of, k in cells if of == method])
        there.update((method, int(k)) for k in stored.get("k", ()))
    return [cell for cell in cells if cell not in there]


def most_k(workspace: Workspace) -> int:
    """Return the largest k that there can be: the number of records, of the smallest stratum where there are strata."""
    strata = workspace.strata
    return workspace.n if strata is None else int(np.unique(strata, return_counts=True)[1].min())


def usual_ks(workspace: Workspace) -> str:
    return "2–20" if workspace.is_numeric else "2, 5, 10, 20, 50, 100"


def compared_ks(workspace: Workspace) -> tuple[list[int], bool]:
    """Return the values of k to compare, ascending, and whether some are beyond :func:`most_k`.

    Raises ParameterError if they are not numbers.
    """
    text = state.current().compare.ks
    most = 500 if workspace.is_numeric else 30
    return read_ks(text if text.strip(" ,;") else usual_ks(workspace), most_k(workspace), most)


def stored_floors(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the stored lower bounds of these data for ``ks``, if any."""
    if workspace.benchmark is None:
        return []
    max_loss = workspace.n * workspace.d if workspace.X is None else metrics.sst(workspace.X)
    stored = landscape.between(*workspace.benchmark, ks)
    return [Bound(k, loss * max_loss / 100, loss, 0.0) for k, (_, loss) in stored.items()]


# --- lower bounds -----------------------------------------------------------------------------------------------------


def floors(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the best lower bound so far for each of ``ks``, ascending, and start to complete those of neighbors."""
    bounds = _neighbor_bounds(workspace, ks)
    if workspace.is_sample:
        return bounds
    searched = [certificate.bound for certificate in certificates(workspace).values()]
    return raise_bounds(bounds, [*stored_floors(workspace, ks), *searched])


@st.cache_resource(scope="session", show_spinner=False)
def _neighbors() -> OrderedDict[str, Floors]:
    """Return the nearest-neighbor bounds of each data set, which may not be complete."""
    return OrderedDict()


def _neighbor_bounds(workspace: Workspace, ks: Sequence[int]) -> list[Bound]:
    """Return the nearest-neighbor bounds for ``ks``, 0 for a sample or before they are complete, and start to compute them.

    If the bounds of all ``ks`` are stored, return these instead.
    """
    if workspace.is_sample:
        return [Bound(k, 0.0, 0.0, 0.0) for k in ks]
    stored = stored_floors(workspace, ks)
    if len(stored) == len(ks):
        return stored
    newest = _neighbors().get(workspace.digest)
    if newest is None or not newest.covers(ks):
        newest = Floors(workspace.problem, {*(newest.ks if newest else ()), *ks})
    jobs.keep(_neighbors(), workspace.digest, newest, _MOST_FLOORS)
    if _job(workspace) is None and not newest.complete:

        def work(job: Job) -> None:
            jobs.compile_tasks(job, [compiling.FLOOR])
            job.watch("Computing the lower bound", newest.improve)
            job.done = job.total

        # It takes as long as a few cells of a sweep, and goes before most of them.
        jobs.results().start(_FLOOR, (workspace.digest, newest.ks), 100, work, urgent=True).wait(_MOMENT)
    if not newest.complete:
        st.session_state[_DRAWN_WITHOUT] = True
    return newest.bounds(ks)


def _job(workspace: Workspace) -> Job | None:
    """Return the job of the newest bounds, even if it was cancelled."""
    job, newest = jobs.results().jobs.get(_FLOOR), _neighbors().get(workspace.digest)
    return job if job and newest and job.identity == (workspace.digest, newest.ks) else None


def is_rising(workspace: Workspace) -> bool:
    """Whether a job is computing lower bounds."""
    job = _job(workspace)
    return job is not None and job.running


@st.fragment(run_every=1.5)
def await_floor(workspace: Workspace) -> None:
    """Draw the page anew once the lower bound is there."""
    if not is_rising(workspace):
        st.rerun()


def watch_floor(workspace: Workspace) -> None:
    """Draw the progress of a lower bound, at whose end the page is drawn anew, or that it was cancelled or failed."""
    drawn_without = st.session_state.pop(_DRAWN_WITHOUT, False)
    if job := _job(workspace):
        if job.running:
            jobs.watch(job)
        elif job.complete and drawn_without:  # it has ended since
            st.rerun()
        else:
            jobs.ended_early(_FLOOR, "The lower bound is not computed.")


# --- searches of this session, and stored partitions of benchmarks ------------------------------------------------------

#: Losses with at most this relative difference count as equal.
ROUNDING = 1e-6

#: Maximum number of stored certificates, each with a linear program and a partition.
MAX_CERTIFICATES = 24

#: The kind of job that searches.
SEARCH = "search"

#: The key of a certificate: the digest of the data, and k.
Key = tuple[str, int]


@st.cache_resource(scope="session", show_spinner=False)
def all_certificates() -> OrderedDict[Key, Certificate]:
    """Return the certificates of this session."""
    return OrderedDict()


def end_search() -> None:
    """End the search, so that the best partition that other pages show stays the same."""
    if job := jobs.results().jobs.get(SEARCH):
        job.cancel()


def certificates(workspace: Workspace) -> dict[int, Certificate]:
    """Return the certificates of this session for these data, by k."""
    store = all_certificates()
    with jobs.results().lock:
        return {k: certificate for (digest, k), certificate in store.items() if digest == workspace.digest}


def best(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition for ``k`` of this session's searches or of a benchmark, or None."""
    search, stored_best = certificates(workspace).get(k), stored_result(workspace, k)
    if search is None or (stored_best and stored_best.information_loss <= search.losses[-1][1] * (1 + ROUNDING)):
        return stored_best
    return _searched(workspace.digest, k, search.losses[-1][1], workspace, search)


def stored_result(workspace: Workspace, k: int) -> Result | None:
    """Return the best partition stored for ``k`` if the records are a benchmark's, the same object each time."""
    return None if workspace.benchmark is None else _stored_result(workspace.digest, k, workspace)


def stored_best(workspace: Workspace, k: int) -> landscape.Best | None:
    """Return the stored best partition of a benchmark for ``k``, if any, also in threads of jobs."""
    if workspace.benchmark is None:
        return None
    data, seed = workspace.benchmark
    try:
        return landscape.best(data, k, seed)
    except ParameterError:  # of larger groups nothing is stored
        return None


@st.cache_resource(max_entries=4 * MAX_CERTIFICATES, show_spinner=False)
def _stored_result(digest: str, k: int, _workspace: Workspace) -> Result | None:
    known = stored_best(_workspace, k)
    return None if known is None else _result(_workspace, k, known.partition.labels, math.nan)


@st.cache_resource(scope="session", max_entries=4 * MAX_CERTIFICATES, show_spinner=False)
def _searched(digest: str, k: int, loss: float, _workspace: Workspace, _certificate: Certificate) -> Result:
    return _result(_workspace, k, _certificate.labels, _certificate.seconds)


def _result(workspace: Workspace, k: int, labels: IntArray, seconds: float) -> Result:
    partition = Partition(labels, k)
    method = Method("iterated-local-search" if workspace.is_numeric else "least-loss")
    return Result(method, k, {}, 1, partition, workspace.problem.row(partition, partition), seconds)


# --- the best partitions ----------------------------------------------------------------------------------------------


def best_known(workspace: Workspace, ks: Sequence[int], rows: pd.DataFrame | None = None) -> dict[int, float]:
    """Return the lowest IL or Total-IL in percent of a partition of this session, ``rows`` or a benchmark, by k."""
    seen = [(k, certificate.losses[-1][1]) for k, certificate in certificates(workspace).items()]
    seen += [(k, result.information_loss) for k in ks if (result := stored_result(workspace, k))]
    if rows is not None and not rows.empty:
        seen += zip(rows["k"], rows["information_loss"], strict=True)
    box = jobs.results()
    with box.lock:
        seen += [(k, row["information_loss"]) for (digest, _, k), row in box.rows.items() if digest == workspace.digest]
    lowest_losses: dict[int, float] = {}
    lowest, seen = math.inf, sorted(seen)
    for k in sorted(ks, reverse=True):  # a partition for a larger k serves every smaller one
        while seen and seen[-1][0] >= k:
            lowest = min(lowest, seen.pop()[1])
        if lowest < math.inf:
            lowest_losses[k] = lowest
    return {k: lowest_losses[k] for k in ks if k in lowest_losses}


def gap(loss: float, bound: Bound) -> float:
    """Return the gap of a loss to a lower bound of it, 100 · (loss / lower bound − 1), in percent; infinite without one."""
    return 100 * optimum.gap(loss, bound)


def with_gaps(workspace: Workspace, rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows with the ``lower_bound`` of each k and the ``gap`` to it, both in percent; NaN if it is infinite."""
    bounds = {bound.k: bound for bound in floors(workspace, sorted(set(rows["k"])))}
    gaps = [gap(loss, bounds[k]) for loss, k in zip(rows["information_loss"], rows["k"], strict=True)]
    finite = np.where(np.isinf(gaps), np.nan, gaps)
    return rows.assign(lower_bound=[bounds[k].information_loss for k in rows["k"]], gap=finite)


def with_best(workspace: Workspace, rows: pd.DataFrame, ks: Sequence[int], *, risks: bool = False) -> pd.DataFrame:
    """Return the rows of a sweep, followed by the best partitions known for ``ks``; with all ``risks`` of these, too."""
    title = methods.title(state.FOUND)
    names = {"label": title, "title": title, "variant": state.FOUND}
    further = []
    for k in ks:
        if result := best(workspace, k):
            # What is guaranteed beyond k costs something, which stands among the risks.
            exposed = risks or workspace.requested
            of = _risks(workspace.exposed.digest, k, result.information_loss, workspace, result) if exposed else {}
            further.append(result.row() | of | names)
    if not further:
        return rows
    best_rows = with_worst(pd.DataFrame(further))
    return best_rows if rows.empty else pd.concat([rows, best_rows], ignore_index=True)


@st.cache_resource(scope="session", max_entries=4 * MAX_CERTIFICATES, show_spinner=False)
def _risks(exposed: str, k: int, loss: float, _workspace: Workspace, _result: Result) -> dict[str, float]:
    """Return the risks of a search's partition, which changes with its ``loss``."""
    return _workspace.exposed.risks(_result.partition, _result)
