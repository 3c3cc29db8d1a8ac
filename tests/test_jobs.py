"""Jobs: work in another thread is watched, cancelled, and says why it failed."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from microagg import DataError
from microagg.jobs import Job
from microagg.progress import checkpoint


@pytest.fixture
def pool():
    with ThreadPoolExecutor(1) as pool:
        yield pool


def ended(pool, work, total=10):
    job = Job("one", total)
    job.begin(pool, work)
    job.future.result(timeout=10)
    return job


def test_a_job_runs_until_its_work_is_done(pool):
    go = threading.Event()

    def work(job):
        go.wait(10)
        job.made, job.done = "all", job.total

    job = Job("one", 2)
    assert not job.running
    assert not job.complete
    job.begin(pool, work)
    job.wait(0.05)
    assert job.running
    assert not job.complete
    go.set()
    job.wait(10)
    assert job.complete
    assert (job.made, job.done, job.problem) == ("all", 2, "")


def test_progress_becomes_steps_and_words(pool):
    seen = []

    def make():
        for share in (0.25, 1.0, None):
            checkpoint("half way", share)
            seen.append((job.message, job.done))
        return 7

    job = Job("one", 8)
    job.begin(pool, lambda own: setattr(own, "made", own.watch("Grouping", make)))
    job.future.result(timeout=10)
    # The last step is left to whoever takes what was made.
    assert seen == [("Grouping: half way", 2), ("Grouping: half way", 7), ("Grouping: half way", 0)]
    assert job.made == 7
    assert not job.complete


def test_a_cancelled_job_ends_without_a_problem(pool):
    def work(job):
        job.stop.set()
        job.watch("Grouping", lambda: checkpoint("now", 0.5))
        job.done = job.total

    job = ended(pool, work)
    assert not job.complete
    assert not job.running
    assert job.problem == ""


def test_check_ends_a_cancelled_job_only(pool):
    def work(job):
        job.check()
        job.made = 1
        job.stop.set()
        job.check()
        job.made = 2

    assert ended(pool, work).made == 1


@pytest.mark.parametrize(
    ("error", "says"),
    [
        (DataError("column 'x' is empty."), "column 'x' is empty."),
        (ZeroDivisionError("no"), "a run failed unexpectedly (ZeroDivisionError: no): please report it."),
    ],
)
def test_what_failed_says_why(pool, error, says):
    def work(job):
        job.done = job.total
        raise error

    job = ended(pool, work)
    assert job.problem == says
    assert not job.complete
