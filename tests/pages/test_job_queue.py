"""Jobs: they are watched, let others compute, are cancelled at any moment, and say why they failed."""

from __future__ import annotations

import os
import random
import re
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from microagg import DataError
from microagg.progress import checkpoint
from pages.shared.job_queue import FairScheduler, Job


@pytest.fixture
def queue():
    queue = FairScheduler(1)
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

    def make():
        for share in (0.25, 1.0, None):
            checkpoint("half way", share)
            seen.append((job.message, job.done))
        return 7

    job = Job("one", 8)
    job.begin(queue, lambda own: setattr(own, "result", own.watch("Grouping", make)))
    job.future.result(timeout=10)
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


def test_a_cancelled_job_counts_as_ended_before_its_thread_has_noticed(queue):
    go = threading.Event()
    job = Job("one", 1)
    job.begin(queue, lambda own: go.wait(10))
    assert job.running
    job.cancel()
    assert not job.running
    assert not job.complete
    assert not job.future.done()
    go.set()


def test_check_ends_a_cancelled_job_only(queue):
    def work(job):
        job.check()
        job.result = 1
        job.cancel()
        job.check()
        job.result = 2

    assert ended(queue, work).result == 1


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

    def do(item):
        order.append(item)
        job.step(f"item {item}")

    job = Job("one", 30)
    job.begin(queue, lambda own: own.do_all(range(30), do))
    job.future.result(timeout=10)
    assert order == list(range(30))
    assert job.complete
    assert job.message == "item 29"


def test_items_not_begun_can_be_arranged_anew(queue):
    order, begun, go = [], threading.Event(), threading.Event()

    def do(item):
        begun.set()
        go.wait(10)
        order.append(item)

    job = Job("one", 5)
    job.begin(queue, lambda own: own.do_all([1, 2, 3, 4, 5], do))
    assert begun.wait(10)
    job.arrange(lambda item: -item)
    go.set()
    job.future.result(timeout=10)
    assert order == [1, 5, 4, 3, 2]


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
            seen["further"] = further.submit(
                lambda: os.getpriority(os.PRIO_PROCESS, threading.get_native_id())
            ).result()
        job.done = job.total

    before = os.getpriority(os.PRIO_PROCESS, 0)
    assert ended(queue, work).complete
    assert seen["job"] == seen["further"] == 10
    assert os.getpriority(os.PRIO_PROCESS, 0) == before


def test_a_long_job_lets_a_small_one_of_another_owner_through():
    queue, stop = FairScheduler(1, small=0.01), threading.Event()

    def endless(job):
        while job.should_continue() and not stop.is_set():
            time.sleep(0.005)

    def small(job):
        job.result, job.done = 1, job.total

    long, short = Job("long", 1), Job("short", 1)
    long.begin(queue, endless, "one")
    time.sleep(0.05)
    short.begin(queue, small, "two")
    short.wait(5)
    assert short.complete
    assert long.running
    long.cancel()
    long.future.result(timeout=5)
    queue.threads.shutdown()


def test_an_item_that_takes_long_lets_the_others_of_its_job_by():
    queue, others = FairScheduler(1, small=0.01), threading.Event()

    def do(item):
        if item == "long":
            while not others.is_set() and job.should_continue():
                time.sleep(0.002)
            job.step()
        elif job.done == 2:
            others.set()
        job.step()

    job = Job("one", 5)
    job.begin(queue, lambda own: own.do_all(["long", "a", "b", "c"], do))
    job.wait(10)
    assert job.complete
    queue.threads.shutdown()


def test_a_job_that_waits_for_something_else_lets_others_compute(queue):
    other = Future()
    first, second = Job("first", 1), Job("second", 1)
    first.begin(queue, lambda own: setattr(own, "result", own.until(other)), "one")
    second.begin(queue, lambda own: other.set_result(7), "two")
    first.wait(5)
    assert first.result == 7


def test_a_job_that_waits_is_cancelled_at_once(queue):
    job = Job("first", 1)
    job.begin(queue, lambda own: own.until(Future()))
    time.sleep(0.02)
    job.cancel()
    job.future.result(timeout=2)
    assert (job.problem, job.complete) == ("", False)


def wakes_of(threads):
    """Return how often each of ``threads`` has gone to sleep, which it does once after each time it wakes."""
    stated = [Path(f"/proc/self/task/{thread}/status").read_text() for thread in threads]
    return [int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.MULTILINE)[1]) for text in stated]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says how often a thread wakes")
def test_threads_that_wait_sleep_until_there_is_something_to_do(queue):
    """They wait for a slot, for something else, for the items of their job, and for a job to end."""
    go, other, threads = threading.Event(), Future(), []

    def work(wait):
        def waits(job):
            threads.append(threading.get_native_id())
            wait(job)
            job.done = job.total

        return waits

    def item(_):
        threads.append(threading.get_native_id())
        go.wait(20)

    holder, others = Job("holder", 1), [Job(number, 1) for number in range(5)]
    Job("until", 1).begin(queue, work(lambda job: job.until(other)))
    holder.begin(queue, work(lambda job: job.do_all([1], item)))
    until = time.monotonic() + 5
    while len(threads) < 3 and time.monotonic() < until:
        time.sleep(0.01)
    # The item has the only slot, which the threads of these jobs wait for.
    before = set(threading.enumerate())
    for job in others:
        job.begin(queue, work(lambda job: None))
    threads += [thread.native_id for thread in set(threading.enumerate()) - before]
    reader = threading.Thread(target=holder.wait, args=[20], daemon=True)
    reader.start()
    threads.append(reader.native_id)
    time.sleep(0.2)
    assert len(threads) == 3 + 5 + 1
    try:
        slept = wakes_of(threads)
        time.sleep(0.6)
        assert wakes_of(threads) == slept
    finally:
        go.set()
        other.set_result(None)
    reader.join(5)
    for job in (holder, *others):
        job.future.result(timeout=5)
        assert job.complete


@pytest.mark.parametrize("waits", ["for a slot", "for something else", "for its items"])
def test_a_thread_that_waits_learns_at_once_that_its_job_is_cancelled(queue, waits):
    go, begun, job, holder = threading.Event(), threading.Event(), Job("one", 1), Job("holder", 1)
    if waits == "for a slot":
        holder.begin(queue, lambda own: begun.set() or go.wait(10))
        assert begun.wait(5)
        job.begin(queue, lambda own: None)
    elif waits == "for something else":
        job.begin(queue, lambda own: begun.set() or own.until(Future()))
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


def test_jobs_of_many_owners_are_read_and_cancelled_at_every_moment():
    """A reader who finds a job complete finds all that it made, whatever is cancelled meanwhile."""
    queue, drawn = FairScheduler(2, small=0.01, quantum=0.001), random.Random(5)
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
        job.begin(queue, work, number % 7)
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
    assert queue._computing == queue._waiting == []
