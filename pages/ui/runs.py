"""Runs of algorithms: results kept by the digest of the data, long work as a job that can be watched and cancelled."""

from __future__ import annotations

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import pandas as pd
import streamlit as st

from microagg import MicroaggError, experiment, metrics
from microagg.experiment import Method, Result
from microagg.validation import check_enough_records
from pages.ui.data import Workspace

_MOST_ROWS = 20_000

Cell = tuple[Method, int]


@st.cache_resource(show_spinner=False)
def _pool() -> ThreadPoolExecutor:
    # Two jobs at a time, of whatever session; further ones wait their turn.
    return ThreadPoolExecutor(2, thread_name_prefix="job")


@dataclass
class Job:
    """A sweep under way. Its thread writes, the page reads; each field is replaced whole."""

    digest: str
    cells: tuple[Cell, ...]
    total: int
    done: int = 0
    message: str = "Waiting for a free processor …"
    problem: str = ""
    stop: threading.Event = field(default_factory=threading.Event)
    future: Future[None] | None = None

    @property
    def running(self) -> bool:
        """Whether it has not ended yet."""
        return self.future is not None and not self.future.done()


class Results:
    """The rows computed in a session, and the job under way."""

    def __init__(self) -> None:
        self.rows: OrderedDict[tuple[str, Method, int], dict] = OrderedDict()
        self.lock = threading.Lock()
        self.job: Job | None = None

    def add(self, digest: str, result: Result) -> None:
        """Keep a result's row; the oldest go when there are too many."""
        with self.lock:
            self.rows[digest, result.method, result.k] = result.row() | {"settings": result.params}
            while len(self.rows) > _MOST_ROWS:
                self.rows.popitem(last=False)

    def missing(self, digest: str, cells: Sequence[Cell]) -> list[Cell]:
        """Return those of ``cells`` not computed yet."""
        with self.lock:
            return [cell for cell in cells if (digest, *cell) not in self.rows]

    def table(self, digest: str, cells: Sequence[Cell]) -> pd.DataFrame:
        """Return the rows of ``cells`` computed so far."""
        with self.lock:
            rows = [self.rows[digest, *cell] for cell in cells if (digest, *cell) in self.rows]
        return pd.DataFrame(rows)


def _cancel(results: Results) -> None:
    if results.job:
        results.job.stop.set()


@st.cache_resource(scope="session", show_spinner=False, on_release=_cancel)
def results() -> Results:
    """Return this session's results; closing the page cancels what is under way."""
    return Results()


def sweep(workspace: Workspace, cells: Sequence[Cell], patience: float = 0.6) -> Job | None:
    """See to it that ``cells`` get computed, and return the job if that is still under way after ``patience`` seconds.

    A job for other cells is cancelled; what it has computed is kept. A job that the user cancelled is not begun again
    for the same cells.
    """
    box = results()
    for _, k in cells:
        check_enough_records(workspace.n, k, "the data set")
    wanted = tuple(cells)
    job = box.job
    if job is None or (job.digest, job.cells) != (workspace.digest, wanted):
        if job:
            job.stop.set()
        missing = box.missing(workspace.digest, wanted)
        job = Job(workspace.digest, wanted, total=len(missing))
        box.job = job
        if missing:
            job.future = _pool().submit(_work, job, workspace, missing, box)
    _wait(job, patience)
    return job if job.running or job.problem or job.done < job.total else None


def _wait(job: Job, seconds: float) -> None:
    # A rerun that the user causes meanwhile must not be held up, so the wait is in small steps.
    deadline = time.monotonic() + seconds
    while job.running and time.monotonic() < deadline:
        time.sleep(0.02)


def _work(job: Job, workspace: Workspace, missing: list[Cell], box: Results) -> None:
    def compiling(_done: int, _total: int, title: str) -> None:
        if title:
            job.message = f"Compiling {title} for this machine (some seconds, only once) …"

    try:
        experiment.prepare((method.key for method, _ in missing), compiling)
        for result in experiment.run(workspace.X, missing, cancelled=job.stop.is_set, workers=os.cpu_count()):
            box.add(workspace.digest, result)
            job.done += 1
            job.message = f"{result.method.label}, k = {result.k}: {job.done} of {job.total} runs done"
    except MicroaggError as error:
        job.problem = str(error)
    except Exception as error:  # a job's thread has nobody else to tell
        job.problem = f"a run failed unexpectedly ({type(error).__name__}: {error}): please report it."


def restart() -> None:
    """Let a cancelled or failed job begin again."""
    results().job = None


def one(workspace: Workspace, method: Method, k: int) -> Result:
    """Return the result of one run, partition included, waiting for it with a word on what is going on."""
    check_enough_records(workspace.n, k, "the data set")
    if experiment.unprepared([method.key]):
        with st.spinner(f"Compiling {method.label} for this machine (some seconds, only once) …"):
            experiment.prepare([method.key])
    return _one(workspace.digest, method, k, workspace)


@st.cache_resource(scope="session", max_entries=24, show_spinner="Forming groups …")
def _one(digest: str, method: Method, k: int, _workspace: Workspace) -> Result:
    return experiment.run_one(_workspace.X, method, k)


@st.cache_resource(
    scope="session",
    max_entries=12,
    show_spinner="Finding nearest neighbors for the floor that no method can get below …",
)
def _floor(digest: str, ks: tuple[int, ...], _workspace: Workspace) -> list[metrics.bounds.Bound]:
    return metrics.bounds.nearest_neighbor_curve(_workspace.X, ks)


def floor(workspace: Workspace, ks: Sequence[int]) -> list[metrics.bounds.Bound]:
    """Return the nearest-neighbor lower bound for each of ``ks``."""
    return _floor(workspace.digest, tuple(ks), workspace)
