"""Runs of algorithms: results kept by the digest of the data, long work as a job that can be watched and cancelled."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import pandas as pd
import streamlit as st

from microagg import MicroaggError, Release, experiment
from microagg.experiment import Method, Result
from microagg.progress import Cancelled, watched
from microagg.validation import check_enough_records
from pages.ui.text import count, escape_markdown, sentence

_MOST_ROWS = 20_000
MOST_PARTITIONS = 24
_MOST_RELEASES = 2

Cell = tuple[Method, int]


class Runnable(Protocol):
    """What algorithms can be run on: the workspace of the pages for numbers, or that of mixed data.

    Attributes
    ----------
    digest : str
        Equal digests have equal results.
    n : int
        The number of records.
    data : array or Records
    classes : array or None
        The class of each record, where it is known.
    """

    @property
    def digest(self) -> str: ...
    @property
    def n(self) -> int: ...
    @property
    def data(self) -> Any: ...
    @property
    def classes(self) -> Any: ...


@st.cache_resource(show_spinner=False)
def _pool() -> ThreadPoolExecutor:
    # Two jobs at a time, of whatever session; further ones wait their turn.
    return ThreadPoolExecutor(2, thread_name_prefix="job")


@dataclass
class Job:
    """Work under way. Its thread writes, the page reads.

    Attributes
    ----------
    identity : hashable
        Equal identities do the same.
    total, done : int
        How many steps it has, and how many of them are done.
    made : any
        What the page waits for: partitions by cell, or a release. The job itself holds it, because other runs may push
        it out of what the session keeps before the page reads it; it is whole once ``complete`` is true.
    message, problem : str
        What it does now, and why it failed.
    """

    identity: Hashable
    total: int
    done: int = 0
    made: Any = None
    message: str = "Waiting for a free processor …"
    problem: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.future is not None and not self.future.done()

    @property
    def complete(self) -> bool:
        """Whether it has ended and done all it was to do."""
        return not self.running and not self.problem and self.done >= self.total

    def check(self) -> None:
        """End the work if it has been cancelled; called from its thread."""
        if self.stop.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Wait until it ends, but no longer than ``seconds``."""
        # In small steps: a rerun that the user causes meanwhile must not be held up.
        deadline = time.monotonic() + seconds
        while self.running and time.monotonic() < deadline:
            time.sleep(0.02)


class Results:
    """What a session has computed, and its jobs: at most one of each kind."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rows: OrderedDict[tuple[str, Method, int], dict[str, Any]] = OrderedDict()
        self.partitions: OrderedDict[tuple[str, Method, int], Any] = OrderedDict()
        self.releases: OrderedDict[Hashable, Release] = OrderedDict()
        self.jobs: dict[str, Job] = {}

    def add(self, digest: str, result: Result) -> None:
        """Keep a result; the oldest go when there are too many."""
        key = (digest, result.method, result.k)
        with self.lock:
            self.rows[key] = result.row() | {"settings": result.params}
            self.partitions[key] = result
            while len(self.rows) > _MOST_ROWS:
                self.rows.popitem(last=False)
            while len(self.partitions) > MOST_PARTITIONS:
                self.partitions.popitem(last=False)

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
                    job.future = _pool().submit(_guarded, work, job)
        return job

    def forget(self, kind: str, job: Job) -> None:
        """Let go of a job that has been read."""
        with self.lock:
            if self.jobs.get(kind) is job:
                del self.jobs[kind]


def _guarded(work: Callable[[Job], None], job: Job) -> None:
    try:
        work(job)
    except Cancelled:
        pass
    except MicroaggError as error:
        job.problem = str(error)
    except Exception as error:  # nothing else would show an error of this thread
        job.problem = f"a run failed unexpectedly ({type(error).__name__}: {error}): please report it."


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
    kind: str,
    workspace: Runnable,
    cells: Sequence[Cell],
    missing: list[Cell],
    made: dict[Cell, Any] | None = None,
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
            classes=workspace.classes,
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


def sweep(workspace: Runnable, cells: Sequence[Cell], kind: str = "sweep") -> Job:
    """See to it that the rows of ``cells`` get computed; a sweep of other cells is cancelled, its results are kept."""
    box = results()
    missing = [cell for cell in cells if box.row(workspace.digest, *cell) is None]
    job = _run_cells(kind, workspace, cells, missing)
    job.wait(0.6)
    return job


def partitions(workspace: Runnable, cells: Sequence[Cell]) -> list[Any]:
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


def release(identity: Hashable, key: str, make: Callable[[], Release]) -> Release | None:
    """Return the release of this identity if it has been made; ``make`` makes it with the algorithm ``key``.

    While that is under way it is shown, and what has become of it otherwise; then there is None.
    """
    box = results()
    kept = box.releases.get(identity)
    if kept:
        return kept

    def work(job: Job) -> None:
        compile_for(job, [key])
        job.message = "Grouping all records …"

        def watcher(message: str, share: float | None) -> bool:
            # All is done only when the release is there, which takes a moment after the grouping.
            job.done = min(int(100 * (share or 0)), job.total - 1)
            job.message = f"Grouping all records: {message}"
            return not job.stop.is_set()

        with watched(watcher):
            job.made = make()
        with box.lock:
            box.releases[identity] = job.made
            while len(box.releases) > _MOST_RELEASES:
                box.releases.popitem(last=False)
        job.done = job.total

    job = box.start("release", identity, 100, work)
    job.wait(1.0)
    if job.running:
        watch(job)
        return None
    if job.complete:
        box.forget("release", job)
        made: Release = job.made
        return made
    ended_early("release", "Cancelled: nothing was released.")
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
