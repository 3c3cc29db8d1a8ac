"""Jobs: what a page waits for is there when the job counts as complete, whatever else runs in the session."""

import dataclasses
import threading

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import microagg
from microagg import datasets
from microagg.studies.experiment import Method, Problem
from microagg.studies.sweeps import Exposed
from pages.shared import jobs
from pages.shared.job_queue import Job
from tests.pages.helpers import settle


class PageEndedError(Exception):
    """What a rerun does to the page that it interrupts."""


@dataclasses.dataclass
class Wine:
    """What jobs take of a :class:`pages.shared.workspace.Workspace`."""

    digest = "wine"
    problem = Problem.of(microagg.standardize(datasets.load("wine").X))
    n = len(problem.data)
    is_numeric = True
    benchmark = None
    exposed = Exposed(problem.data, pd.DataFrame(index=range(n)))


@pytest.fixture
def box(monkeypatch):
    """Return the results of a session of its own."""
    own = jobs.Results()
    monkeypatch.setattr(jobs, "results", lambda: own)
    return own


def interrupted(job, _seconds):
    job.future.result()
    raise PageEndedError


def until_the_end(job, _seconds):
    job.future.result()


CELLS = [(Method("mdav-star"), 3), (Method("mdav"), 3)]


def test_running_one_of_two_partitions_does_not_push_out_the_other(box, monkeypatch):
    monkeypatch.setattr(Job, "wait", until_the_end)
    jobs.partitions(Wine(), CELLS[:1])
    jobs.partitions(Wine(), [(Method("mdav"), k) for k in range(4, 3 + jobs.MOST_PARTITIONS)])
    assert len(box.partitions) == jobs.MOST_PARTITIONS
    found = jobs.partitions(Wine(), CELLS)
    assert [(result.method, result.k) for result in found] == CELLS
    assert len(box.partitions) == jobs.MOST_PARTITIONS
    assert not box.jobs


def test_a_release_that_was_pushed_out_before_the_page_read_it_is_there(box, monkeypatch):
    made = object()
    monkeypatch.setattr(Job, "wait", interrupted)
    with pytest.raises(PageEndedError):
        jobs.once("release", "one", ["mdav"], "Grouping", lambda: made)
    box.outcomes.clear()
    monkeypatch.setattr(Job, "wait", until_the_end)
    assert jobs.once("release", "one", ["mdav"], "Grouping", lambda: None) is made
    assert not box.jobs


def test_no_job_is_begun_for_a_page_that_is_closed(box, monkeypatch):
    monkeypatch.setattr(jobs, "_is_open", lambda: False)
    job = box.start("sweep", "one", 1, lambda job: job.step())
    assert job.future is None
    assert not job.running
    assert not job.complete


def test_a_job_of_another_kind_goes_on_when_one_is_let_go_of(box):
    go = threading.Event()
    first, second = (box.start(kind, "one", 1, lambda job: go.wait(10)) for kind in ("sweep", "literature"))
    box.drop("literature")
    box.drop("remedies")
    assert (first.cancelled, second.cancelled) == (False, True)
    assert list(box.jobs) == ["sweep"]
    box.cancel_all()
    go.set()
    assert first.cancelled


def test_risks_that_are_missing_are_computed_without_running_a_method_again(box, monkeypatch):
    monkeypatch.setattr(Job, "wait", until_the_end)
    jobs.sweep(Wine(), CELLS, risks=True)
    without = Wine()
    assert box.table(without, CELLS).columns.tolist().count("record_linkage") == 1
    assert "homogeneous" not in box.table(without, CELLS)
    # Another column has become confidential; the quasi-identifiers are the same.
    with_target = Wine()
    target = pd.DataFrame({"target": datasets.load("wine").frame["target"].to_numpy()})
    monkeypatch.setattr(with_target, "exposed", Exposed(Wine.problem.data, target))
    assert all(box.lacks(with_target, cell, risks=True) for cell in CELLS)
    monkeypatch.setattr(jobs.experiment, "run_one", None)
    job = jobs.sweep(with_target, CELLS, risks=True)
    assert job.complete, job.problem
    assert box.table(with_target, CELLS)["homogeneous"].between(0.5, 1).all()
    assert not any(box.lacks(Wine(), cell, risks=True) for cell in CELLS)


def test_the_cells_of_a_method_are_run_as_soon_as_it_is_compiled(box, monkeypatch):
    monkeypatch.setattr(Job, "wait", until_the_end)
    monkeypatch.setattr(jobs.experiment, "_prepared", set())
    compiled, compile_task = [], jobs.compiling.compile_task

    def note(task):
        compiled.append((task, {method.key for _, method, _ in box.rows}))
        compile_task(task)

    monkeypatch.setattr(jobs.compiling, "compile_task", note)
    cells = [(Method(key), k) for k in (3, 4) for key in ("v-mdav", "mdav-star")]
    job = jobs.sweep(Wine(), cells, risks=True)
    assert job.complete, job.problem
    assert compiled == [(jobs.compiling.LINKAGE, set()), ("v-mdav", set()), ("mdav-star", {"v-mdav"})]
    assert set(box.rows) == {("wine", *cell) for cell in cells}
    assert box.table(Wine(), cells)["record_linkage"].notna().all()


def two_jobs():
    from microagg.progress import checkpoint
    from pages.shared import jobs

    def endless():
        while True:
            checkpoint("going on")

    for kind in ("one", "other"):
        jobs.once(kind, kind, ["mdav"], f"Doing the {kind}", endless)


def test_two_jobs_can_be_watched_and_cancelled_on_one_page():
    app = AppTest.from_function(two_jobs, default_timeout=60).run()
    assert not app.exception
    assert [button.label for button in app.button] == ["Cancel", "Cancel"]
    for _ in range(2):
        button = next(button for button in app.button if button.label == "Cancel")
        button.click().run()
    settle(app)
    assert not app.exception
    assert [button.label for button in app.button] == ["Go on", "Go on"]
