"""Runs of algorithms: results kept by the digest of the data, long work as a job that can be watched and cancelled."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pandas as pd
import streamlit as st

from microagg import experiment
from microagg.experiment import Method, Result
from microagg.jobs import Job as Job  # noqa: PLC0414 - other files take it from here
from microagg.validation import check_enough_records
from pages.ui.data.workspace import Workspace
from pages.ui.text import count, escape_markdown, sentence

_MOST_ROWS = 20_000
MOST_PARTITIONS = 24
_MOST_MADE = 2

Cell = tuple[Method, int]


@st.cache_resource(show_spinner=False)
def _pool() -> ThreadPoolExecutor:
    # Two jobs at a time, of whatever session; further ones wait their turn.
    return ThreadPoolExecutor(2, thread_name_prefix="job")


class Results:
    """What a session has computed, and its jobs: at most one of each kind."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rows: OrderedDict[tuple[str, Method, int], dict[str, Any]] = OrderedDict()
        self.partitions: OrderedDict[tuple[str, Method, int], Any] = OrderedDict()
        self.made: dict[str, OrderedDict[Hashable, Any]] = {}
        self.jobs: dict[str, Job] = {}

    def add(self, digest: str, result: Result) -> None:
        """Keep a result; the oldest go when there are too many."""
        key = (digest, result.method, result.k)
        with self.lock:
            _keep(self.rows, key, result.row() | {"settings": result.params}, _MOST_ROWS)
            _keep(self.partitions, key, result, MOST_PARTITIONS)

    def found(self, digest: str, cells: Sequence[Cell]) -> dict[Cell, Any]:
        """Return those of the results of ``cells``, partitions included, that are kept."""
        with self.lock:
            return {cell: self.partitions[digest, *cell] for cell in cells if (digest, *cell) in self.partitions}

    def table(self, digest: str, cells: Sequence[Cell]) -> pd.DataFrame:
        """Return the rows of ``cells`` computed so far."""
        with self.lock:
            rows = [self.rows[digest, *cell] for cell in cells if (digest, *cell) in self.rows]
        return pd.DataFrame(rows)

    def row(self, digest: str, method: Method, k: int) -> dict[str, Any] | None:
        """Return the row of one cell, if it has been computed."""
        with self.lock:
            return self.rows.get((digest, method, k))

    def start(self, kind: str, identity: Hashable, total: int, work: Callable[[Job], None], made: Any = None) -> Job:
        """Return the job of this kind and identity, begun if it was not; another of its kind is cancelled.

        A job that is begun holds ``made`` from the start, for ``work`` to add to.
        """
        with self.lock:
            job = self.jobs.get(kind)
            if job is None or job.identity != identity:
                if job:
                    job.stop.set()
                job = self.jobs[kind] = Job(identity, total, made=made)
                if total:
                    job.begin(_pool(), work)
        return job

    def forget(self, kind: str, job: Job) -> None:
        """Let go of a job that has been read."""
        with self.lock:
            if self.jobs.get(kind) is job:
                del self.jobs[kind]


def _keep(kept: OrderedDict[Any, Any], key: Hashable, value: Any, most: int) -> None:
    """Keep a value; the oldest go when there are more than ``most``."""
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)


def _cancel_all(results: Results) -> None:
    for job in results.jobs.values():
        job.stop.set()


@st.cache_resource(scope="session", show_spinner=False, on_release=_cancel_all)
def results() -> Results:
    """Return this session's results; closing the page cancels what is under way."""
    return Results()


def compile_for(job: Job, keys: Sequence[str]) -> None:
    """Compile what a job needs, saying so."""

    def say(_done: int, _total: int, title: str) -> None:
        if title:
            job.message = f"Compiling {title} for this machine (some seconds, only once) …"

    experiment.prepare(keys, say)


def _run_cells(
    kind: str, workspace: Workspace, cells: Sequence[Cell], missing: list[Cell], made: dict[Cell, Any] | None = None
) -> Job:
    """Return the job that runs ``missing``, which are those of ``cells`` that are not there; results go to ``made`` too."""
    box = results()
    for _, k in cells:
        check_enough_records(workspace.n, k, "the data set")

    def work(job: Job) -> None:
        def watch(method: Method, k: int, message: str, share: float | None) -> None:
            part = "" if share is None else f", {100 * share:.0f} %"
            job.message = f"{method.label}, k = {k}: {message}{part}"

        compile_for(job, experiment.needed(method for method, _ in missing))
        for result in experiment.run(
            workspace.data,
            missing,
            classes=None if workspace.is_numeric else workspace.classes,
            strata=workspace.strata,
            cancelled=job.stop.is_set,
            workers=os.cpu_count(),
            watch=watch,
        ):
            box.add(workspace.digest, result)
            if job.made is not None:
                job.made[result.method, result.k] = result
            job.done += 1
            job.message = f"{result.method.label}, k = {result.k}: {job.done} of {count(job.total, 'run')} done"

    return box.start(kind, (workspace.digest, tuple(cells)), len(missing), work, made)


def sweep(workspace: Workspace, cells: Sequence[Cell]) -> Job:
    """See to it that the rows of ``cells`` get computed; a sweep of other cells is cancelled, its results are kept."""
    box = results()
    missing = [cell for cell in cells if box.row(workspace.digest, *cell) is None]
    job = _run_cells("sweep", workspace, cells, missing)
    job.wait(0.6)
    return job


def partitions(workspace: Workspace, cells: Sequence[Cell]) -> list[Any]:
    """Return the results of ``cells``, partitions included; while they are computed, show that and end the run."""
    box = results()
    found = box.found(workspace.digest, cells)
    missing = [cell for cell in cells if cell not in found]
    if missing:
        # What is there already goes with the job: what it computes may push it out of what is kept.
        job = _run_cells("partition", workspace, cells, missing, found)
        job.wait(1.0)
        if not job.complete:
            if job.running:
                watch(job)
            else:
                ended_early("partition")
            st.stop()
        found = job.made
        box.forget("partition", job)
    return [found[cell] for cell in cells]


def once(kind: str, identity: Hashable, key: str, says: str, make: Callable[[], Any]) -> Any:
    """Return what ``make`` makes with the algorithm ``key``; it is made once for each identity.

    While that is under way it is shown, beginning with what the job ``says`` it does, and what has become of it
    otherwise; then there is None.
    """
    box = results()
    with box.lock:
        all_made = box.made.setdefault(kind, OrderedDict())
    kept = all_made.get(identity)
    if kept is not None:
        return kept

    def work(job: Job) -> None:
        compile_for(job, [key])
        job.made = job.watch(says, make)
        with box.lock:
            _keep(all_made, identity, job.made, _MOST_MADE)
        job.done = job.total

    job = box.start(kind, identity, 100, work)
    job.wait(1.0)
    if job.running:
        watch(job)
    elif job.complete:
        box.forget(kind, job)
        return job.made
    else:
        ended_early(kind, f"{says}: cancelled.")
    return None


@st.fragment(run_every=0.6)
def watch(job: Job, draw: Callable[[], None] | None = None) -> None:
    """Show how far a job is, with a way to cancel it, and ``draw`` what there is; draw the page anew at its end."""
    if not job.running:
        st.rerun()
    bar, button = st.columns([5, 1], vertical_alignment="center")
    bar.progress(min(job.done / max(job.total, 1), 1.0), text=escape_markdown(job.message))
    button.button("Cancel", on_click=job.stop.set, width="stretch")
    if draw:
        draw()


def ended_early(kind: str, says: str = "") -> None:
    """Say that the job of this kind was cancelled or failed, if so, and offer to go on; ``says`` of a cancelled one."""
    job = results().jobs.get(kind)
    if job is None or job.running or job.complete:
        return
    note, button = st.columns([5, 1], vertical_alignment="center")
    if job.problem:
        note.error(sentence(job.problem))
    else:
        note.info(says or f"Cancelled after {job.done} of {count(job.total, 'run')}; what is done is shown.")
    button.button("Go on", on_click=results().forget, args=(kind, job), width="stretch")
