"""Runs of algorithms: results by the digest of the data, and long runs as jobs with progress and cancellation."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from microagg.progress import watched
from microagg.release.predicted_linkage import Models
from microagg.studies import experiment, landscape
from microagg.studies.experiment import Method, Result
from microagg.studies.sweeps import Exposed
from microagg.validation import check_enough_records
from pages.shared import compiling
from pages.shared.job_queue import Job, Processors
from pages.shared.text import escape_markdown, sentence
from pages.shared.workspace import Workspace

_MOST_ROWS = 20_000
MOST_PARTITIONS = 24
_MOST_OUTCOMES = 2

Cell = tuple[Method, int]
Outcome = TypeVar("Outcome")


@st.cache_resource(show_spinner=False)
def _processors() -> Processors:
    return Processors()  # of all sessions


class Results:
    """The results of a session, and its jobs: at most one of each kind."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.rows: OrderedDict[tuple[str, Method, int], dict[str, Any]] = OrderedDict()
        self.partitions: OrderedDict[tuple[str, Method, int], Any] = OrderedDict()
        self.best: OrderedDict[tuple[str, int], Result] = OrderedDict()  # by the digest and k, of all methods
        self.risks: OrderedDict[tuple[str, Method, int], dict[str, float]] = OrderedDict()
        self.outcomes: dict[str, OrderedDict[Hashable, Any]] = {}
        self.models = Models()
        self.jobs: dict[str, Job] = {}

    def add(self, digest: str, result: Result) -> None:
        """Store a result, without the oldest ones if there are too many."""
        key = (digest, result.method, result.k)
        with self.lock:
            keep(self.rows, key, result.row(), _MOST_ROWS)
            keep(self.partitions, key, result, MOST_PARTITIONS)
            best = self.best.get((digest, result.k))
            if best is None or result.information_loss < best.information_loss:
                keep(self.best, (digest, result.k), result, MOST_PARTITIONS)

    def add_risks(self, exposed: Exposed, result: Result) -> None:
        """Store the risks of a result."""
        key = (exposed.digest, result.method, result.k)
        if key not in self.risks:
            risks = exposed.risks(result.partition, result)
            with self.lock:
                keep(self.risks, key, risks, _MOST_ROWS)

    def stored(self, digest: str, cells: Sequence[Cell]) -> dict[Cell, Any]:
        """Return the stored results of ``cells``, with partitions."""
        with self.lock:
            return {cell: self.partitions[digest, *cell] for cell in cells if (digest, *cell) in self.partitions}

    def table(self, workspace: Workspace, cells: Sequence[Cell]) -> pd.DataFrame:
        """Return the rows of ``cells`` computed so far, with the risks computed so far."""
        digest, exposed = workspace.digest, workspace.exposed.digest
        with self.lock:
            there = [cell for cell in cells if (digest, *cell) in self.rows]
            rows = [self.rows[digest, *cell] | self.risks.get((exposed, *cell), {}) for cell in there]
        return pd.DataFrame(rows)

    def lacks(self, workspace: Workspace, cell: Cell, *, risks: bool) -> bool:
        with self.lock:
            if (workspace.digest, *cell) not in self.rows:
                return True
            return risks and (workspace.exposed.digest, *cell) not in self.risks

    def start(
        self,
        kind: str,
        identity: Hashable,
        total: int,
        work: Callable[[Job], None],
        result: Any = None,
        *,
        urgent: bool = False,
    ) -> Job:
        """Return the job of this kind and identity. A new one starts with ``result`` and cancels another of its kind."""
        with self.lock:
            job = self.jobs.get(kind)
            if job is None or job.identity != identity:
                if job:
                    job.cancel()
                job = Job(identity, total, result=result, urgent=urgent)
                self.jobs[kind] = job
                if not _is_open():
                    job.cancel()
                elif total:
                    job.begin(_processors(), work)
        return job

    def drop(self, kind: str, job: Job | None = None) -> None:
        """Cancel and forget the job of a kind, or only if it is ``job``."""
        with self.lock:
            if (current := self.jobs.get(kind)) and job in (None, current):
                current.cancel()
                del self.jobs[kind]

    def cancel_all(self) -> None:
        with self.lock:
            for job in self.jobs.values():
                job.cancel()


def keep(store: OrderedDict[Any, Any], key: Hashable, value: Any, max_items: int) -> None:
    """Store a value as the newest, and drop the oldest beyond ``max_items``."""
    store[key] = value
    store.move_to_end(key)
    while len(store) > max_items:
        store.popitem(last=False)


@st.cache_resource(scope="session", show_spinner=False, on_release=Results.cancel_all)
def results() -> Results:
    return Results()


def _is_open() -> bool:
    """Whether the page is open: a closed page may be drawn a little further."""
    context = get_script_run_ctx()
    return context is None or not runtime.exists() or runtime.get_instance().is_active_session(context.session_id)


def compile_for(job: Job, keys: Sequence[str], n: int = 0) -> None:
    """Compile or load the kernels of the algorithms ``keys`` for ``n`` records."""
    compile_tasks(job, compiling.tasks_for(keys, n))


def compile_tasks(job: Job, tasks: Sequence[str]) -> None:
    """Compile or load the kernels of tasks of :mod:`pages.shared.compiling`."""
    for place, task in enumerate(tasks, 1):
        job.message = f"Setting up ({place} of {len(tasks)}) …"
        job.prepare(compiling.compile_task, task)


def _run_cells(
    kind: str,
    workspace: Workspace,
    cells: Sequence[Cell],
    missing: Sequence[Cell],
    results_by_cell: dict[Cell, Any] | None = None,
    *,
    risks: bool = False,
) -> Job:
    """Return the job that runs ``missing``, those of ``cells`` without a result, each as soon as its method is compiled."""
    for _, k in cells:
        check_enough_records(workspace.n, k, "the data set")
    box = results()
    known: dict[Cell, Result] = {}  # on stored partitions, for which nothing has to be compiled

    def run(job: Job, cell: Cell) -> None:
        result = _run_cell(job, box, workspace, cell, known.get(cell), risks=risks)
        if results_by_cell is not None:
            results_by_cell[cell] = result
        job.step(f"{{done}} of {job.total} computed")

    def work(job: Job) -> None:
        if risks and workspace.is_numeric:
            compile_tasks(job, [compiling.LINKAGE])
        for cell in missing:
            if (result := _stored(workspace, cell)) is not None:
                known[cell] = result
        job.do_all(known, partial(run, job))
        todo = [cell for cell in missing if cell not in known]
        while todo:
            keys = {method: experiment.needed([method]) for method, _ in todo}
            ready = [method for method in keys if not compiling.tasks_for(keys[method], workspace.n)] or [todo[0][0]]
            compile_for(job, keys[ready[0]], workspace.n)
            job.do_all([cell for cell in todo if cell[0] in ready], partial(run, job))
            todo = [cell for cell in todo if cell[0] not in ready]

    digests = (workspace.digest, workspace.exposed.digest) if risks else workspace.digest
    # A page waits for partitions only.
    urgent = kind == "partition"
    return box.start(kind, (digests, frozenset(cells)), len(missing), work, results_by_cell, urgent=urgent)


def _run_cell(job: Job, box: Results, workspace: Workspace, cell: Cell, known: Result | None, *, risks: bool) -> Any:
    """Return the result of a cell, which is stored, with or without its risks; it is run unless it is ``known``."""
    method, k = cell

    def watcher(message: str, share: float | None) -> bool:
        progress = "" if share is None else f", {100 * share:.0f} %"
        job.message = f"{job.done} of {job.total} computed: {method.label}, k = {k}, {message}{progress}"
        return job.should_continue()

    with watched(watcher):
        # A result may lack its risks because other attributes have become confidential.
        stored_result = box.stored(workspace.digest, [cell]).get(cell)
        result = stored_result or known or experiment.run_one(workspace.problem, method, k)
        box.add(workspace.digest, result)
        if risks:
            box.add_risks(workspace.exposed, result)
    return result


def sweep(workspace: Workspace, cells: Sequence[Cell], *, risks: bool) -> Job:
    """Compute the rows of ``cells`` in this order, with or without ``risks``. Another sweep is cancelled, its results stay."""
    box = results()
    missing = [cell for cell in cells if box.lacks(workspace, cell, risks=risks)]
    job = _run_cells("sweep", workspace, cells, missing, risks=risks)
    job.wait(0.6)
    return job


def losses(workspace: Workspace, cells: Sequence[Cell]) -> Job:
    """Compute the rows of ``cells`` without risks, in this order. Pages do not wait."""
    missing = [cell for cell in cells if results().lacks(workspace, cell, risks=False)]
    return _run_cells("losses", workspace, cells, missing)


def partitions(workspace: Workspace, cells: Sequence[Cell]) -> list[Any]:
    """Return the results of ``cells`` with partitions, or draw the progress and end the run of the page."""
    box = results()
    by_cell = box.stored(workspace.digest, cells)
    by_cell |= {cell: result for cell in cells if cell not in by_cell and (result := _stored(workspace, cell))}
    missing = [cell for cell in cells if cell not in by_cell]
    if missing:
        # The job also has the stored results, which its results may push out of the store.
        job = _run_cells("partition", workspace, cells, missing, by_cell)
        job.wait(1.0)
        if job.running:
            watch(job)
            st.stop()
        if not job.complete:
            ended_early("partition")
            st.stop()
        by_cell = job.result
        box.drop("partition", job)
    return [by_cell[cell] for cell in cells]


def _stored(workspace: Workspace, cell: Cell) -> Result | None:
    """Return the stored result of a method on a benchmark, which needs no compiled kernel; None if there is none."""
    method, k = cell
    if workspace.benchmark is None:
        return None
    partition = landscape.partition(*workspace.benchmark, method, k)
    if partition is None:
        return None
    [seconds] = landscape.stored(*workspace.benchmark, method, [k])["seconds"]
    measures = workspace.problem.row(partition, partition)
    return Result(method, k, method.settings()[0], 1, partition, measures, float(seconds))


def once(
    kind: str,
    identity: Hashable,
    keys: Sequence[str],
    title: str,
    make: Callable[[], Outcome],
    n: int = 0,
    *,
    urgent: bool = True,
    draws: bool = True,
    seconds: float | None = None,
) -> Outcome | None:
    """Return ``make()``, which runs the algorithms ``keys`` on ``n`` records, once for each identity.

    The page waits some ``seconds`` for it, by default longer if it is ``urgent``, which goes first. Without a result
    return None, and draw the progress, which starts with ``title``, or the failure, if it ``draws``.
    """
    box = results()
    with box.lock:  # a job that ends may drop the oldest result
        store = box.outcomes.setdefault(kind, OrderedDict())
        if identity in store:
            outcome: Outcome = store[identity]
            return outcome

    def work(job: Job) -> None:
        compile_for(job, keys, n)
        job.result = job.watch(title, make)
        with box.lock:
            keep(store, identity, job.result, _MOST_OUTCOMES)
        job.done = job.total

    job = box.start(kind, identity, 100, work, urgent=urgent)
    job.wait(seconds if seconds is not None else 1.0 if urgent else 0.1)
    if job.running:  # checked before `complete`, as the job may end in between
        if draws:
            watch(job)
    elif job.complete:
        box.drop(kind, job)
        result: Outcome = job.result
        return result
    elif draws:
        ended_early(kind, f"{title}: cancelled.")
    return None


#: Like :func:`once`, but neither wait nor draw.
background = partial(once, urgent=False, draws=False, seconds=0.0)


@st.fragment(run_every=0.6)
def watch(job: Job, draw: Callable[[], None] | None = None) -> None:
    """Draw the progress of a job with a button to cancel it, and ``draw``. At its end, draw the page anew."""
    if not job.running:
        st.rerun()
    draw_progress(job, job.message)
    if draw:
        draw()


def draw_progress(job: Job, text: str) -> None:
    """Draw the progress of a job with a button to cancel it."""
    # Jobs of several kinds may be watched on a page.
    kind = next((kind for kind, each in list(results().jobs.items()) if each is job), "")
    bar, button = st.container(key=f"job_{kind}").columns([5, 1], vertical_alignment="center")
    bar.progress(min(job.done / max(job.total, 1), 1.0), text=escape_markdown(text))
    button.button("Cancel", key=f"cancel_{kind}", on_click=job.cancel, width="stretch")


def ended_early(kind: str, text: str = "") -> None:
    """Draw the failure or cancellation, with ``text``, of the job of this kind, and a button to continue."""
    job = results().jobs.get(kind)
    if job is None or job.running or job.complete:
        return
    note, button = st.columns([5, 1], vertical_alignment="center")
    if job.problem:
        note.error(sentence(job.problem))
    else:
        note.info(text or f"Cancelled: {job.done} of {job.total} computed, which are shown.")
    if not job.is_final:
        label = "Try again" if job.problem else "Go on"
        button.button(label, key=f"go_on_{kind}", on_click=results().drop, args=(kind, job), width="stretch")
