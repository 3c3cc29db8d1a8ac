"""Threads share the processors fairly; jobs are watched, cancelled at any moment, and say why they failed."""

import os
import random
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from microagg import DataError
from microagg.progress import checkpoint
from pages.shared import job_queue
from pages.shared.job_queue import Job, Processors


@pytest.fixture
def queue():
    queue = Processors(1)
    yield queue
    queue.threads.shutdown()


def ended(queue, work, total=10):
    job = Job("one", total)
    job.begin(queue, work)
    job.future.result(timeout=10)
    return job


def test_a_job_runs_until_its_work_is_done(queue):
    go = threading.Event()

    def work(job):
        go.wait(10)
        job.result, job.done = "all", job.total

    job = Job("one", 2)
    assert not job.running
    assert not job.complete
    job.begin(queue, work)
    job.wait(0.05)
    assert job.running
    assert not job.complete
    go.set()
    job.wait(10)
    assert job.complete
    assert (job.result, job.done, job.problem) == ("all", 2, "")


def test_progress_becomes_steps_and_words(queue):
    seen = []

    def work(job):
        def make():
            for share in (0.25, 1.0, None):
                checkpoint("half way", share)
                seen.append((job.message, job.done))
            return 7

        job.result = job.watch("Grouping", make)

    job = ended(queue, work, total=8)
    # The last step is left to whoever takes what was made.
    assert seen == [("Grouping: half way", 2), ("Grouping: half way", 7), ("Grouping: half way", 0)]
    assert job.result == 7
    assert not job.complete


def test_a_cancelled_job_ends_without_a_problem(queue):
    def work(job):
        job.cancel()
        job.watch("Grouping", lambda: checkpoint("now", 0.5))
        job.done = job.total

    job = ended(queue, work)
    assert not job.complete
    assert not job.running
    assert job.problem == ""


@pytest.mark.parametrize("in_parts", [False, True])
@pytest.mark.parametrize(
    ("error", "says"),
    [
        (DataError("column 'x' is empty."), "column 'x' is empty."),
        (ZeroDivisionError("no"), "a run failed unexpectedly (ZeroDivisionError: no): please report it."),
    ],
)
def test_what_failed_says_why(queue, error, says, in_parts):
    def fail(_item):
        raise error

    def work(job):
        job.done = job.total
        if in_parts:
            job.do_all([1, 2], fail)
        fail(0)

    job = ended(queue, work)
    assert job.problem == says
    assert not job.complete


def test_all_items_are_done_once_the_first_first(queue):
    order = []

    def work(job):
        job.do_all(range(30), lambda item: order.append(item) or job.step(f"item {item}"))

    job = ended(queue, work, total=30)
    assert order == list(range(30))
    assert job.complete
    assert job.message == "item 29"


def test_after_a_failure_no_further_item_is_begun(queue):
    done = []

    def do(item):
        done.append(item)
        if item == 2:
            raise DataError("two is wrong.")

    job = ended(queue, lambda own: own.do_all(range(10), do))
    assert done == [0, 1, 2]
    assert job.problem == "two is wrong."


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has priorities of threads")
def test_the_threads_of_jobs_let_others_first(queue):
    seen = {}

    def work(job):
        seen["job"] = os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
        with ThreadPoolExecutor(1) as further:
            own = further.submit(lambda: os.getpriority(os.PRIO_PROCESS, threading.get_native_id()))
            seen["further"] = own.result()
        job.done = job.total

    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert ended(queue, work).complete
    assert seen["job"] == seen["further"] == 10
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


@pytest.mark.parametrize("waits", ["for a processor", "for its items"])
def test_a_thread_that_waits_ends_at_once_when_its_job_is_cancelled(queue, waits):
    go, begun, job, holder = threading.Event(), threading.Event(), Job("one", 1), Job("holder", 1)
    if waits == "for a processor":
        holder.begin(queue, lambda own: begun.set() or go.wait(10))
        assert begun.wait(5)
        job.begin(queue, lambda own: None)
    else:
        job.begin(queue, lambda own: own.do_all([1, 2], lambda item: begun.set() or (go.wait(10) and own.check())))
    assert begun.wait(5)
    time.sleep(0.05)
    job.cancel()
    if waits == "for its items":
        go.set()
    job.future.result(timeout=5)
    go.set()
    assert not job.complete
    assert not job.problem


def test_many_jobs_are_read_and_cancelled_at_every_moment(monkeypatch):
    """A reader who finds a job complete finds all that it made, whatever is cancelled meanwhile."""
    monkeypatch.setattr(job_queue, "SMALL", 0.01)
    monkeypatch.setattr(job_queue, "QUANTUM", 0.001)
    queue, drawn = Processors(2), random.Random(5)
    begun = []

    def work(job):
        job.result = {}

        def do(item):
            job.check()
            job.result[item] = item
            job.step()

        job.do_all(range(20), do)

    for number in range(60):
        job = Job(number, 20)
        job.begin(queue, work)
        begun.append(job)
        if drawn.random() < 0.5:
            drawn.choice(begun).cancel()
        for other in drawn.sample(begun, min(3, len(begun))):
            if other.complete:
                assert other.result == {item: item for item in range(20)}
    for job in begun:
        job.future.result(timeout=20)
    assert not any(job.problem for job in begun)
    for job in begun:
        assert job.complete or job.cancelled
        if job.complete:
            assert len(job.result) == 20
    # Nothing is left behind: a new job computes at once.
    assert queue.n_free == 2


def compute(job, seconds, log=None):
    """Compute for some seconds with a checkpoint every millisecond."""
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        time.sleep(0.001)
        if log is not None:
            log.append(job.identity)
        job.check()


def test_jobs_take_equal_turns_whatever_the_number_of_their_threads(monkeypatch):
    monkeypatch.setattr(job_queue, "QUANTUM", 0.002)
    queue, log = Processors(2), []
    many, few = Job("many", 1), Job("few", 1)
    many.begin(queue, lambda own: own.do_all(range(4), lambda _: compute(own, 0.6, log)))
    few.begin(queue, lambda own: compute(own, 0.6, log))
    for job in (many, few):
        job.future.result(timeout=20)
    share = log[: len(log) // 2].count("few") / (len(log) // 2)
    assert share > 0.28  # a fifth, if each thread had a turn


def test_many_short_items_are_done_in_one_turn():
    queue, log = Processors(1), []
    other, short = Job("other", 1), Job("short", 1)
    other.begin(queue, lambda own: compute(own, 1.0, log))
    short.begin(queue, lambda own: own.do_all(range(20), lambda _: compute(own, 0.002, log)))
    for job in (other, short):
        job.future.result(timeout=20)
    first = log.index("short")
    assert "other" not in log[first : first + log.count("short") // 2]


@pytest.mark.parametrize("is_urgent", [False, True])
def test_what_is_urgent_and_what_has_computed_little_goes_first(monkeypatch, is_urgent):
    monkeypatch.setattr(job_queue, "SMALL", 60.0 if is_urgent else 0.05)
    monkeypatch.setattr(job_queue, "QUANTUM", 0.01)
    queue, log = Processors(1), []
    long, quick = Job("long", 1), Job("quick", 1, urgent=is_urgent)
    begun = threading.Event()

    def work(own):
        compute(own, 0.1)
        begun.set()
        compute(own, 0.5, log)

    long.begin(queue, work)
    assert begun.wait(10)
    quick.begin(queue, lambda own: compute(own, 0.04, log))
    for job in (long, quick):
        job.future.result(timeout=20)
    first = log.index("quick")
    # It waits for a quantum at most, and then computes without a break.
    assert first < 100
    assert set(log[first : first + log.count("quick")]) == {"quick"}
    assert log[-1] == "long"
