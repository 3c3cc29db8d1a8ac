"""Threads share the processors fairly; jobs are watched, cancelled at any moment, and say why they failed."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from microagg import DataError
from microagg.progress import checkpoint
from pages.shared.job_queue import FairScheduler, Job, Turn


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
    assert queue.turns == []


# --- the scheduler ----------------------------------------------------------------------------------------------------


class Clock:
    """A clock that stands still unless it is set."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def start(scheduler, turn, log=None, name=None):
    """Have a thread acquire ``turn`` and note its name then; return both once it waits or computes."""

    def run():
        assert scheduler.acquire(turn)
        if log is not None:
            log.append(name)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    until = time.monotonic() + 5
    while turn not in scheduler.turns:
        assert time.monotonic() < until
        time.sleep(0.001)
    return turn, thread


def computing(*turns):
    return [turn.computes for turn in turns]


def test_the_owner_who_has_had_least_is_next(clock):
    scheduler = FairScheduler(1, small=0.0, clock=clock)
    first, _ = start(scheduler, Turn("a"))
    clock.now = 5.0
    # b and c count as having used as much as a has by now; then b gets 3 seconds.
    second, _ = start(scheduler, Turn("b"))
    third, _ = start(scheduler, Turn("c"))
    scheduler.release(first)
    assert computing(second, third) == [True, False]
    again, _ = start(scheduler, Turn("b"))
    clock.now = 8.0
    scheduler.release(second)
    # c has waited as long as b computed.
    assert computing(again, third) == [False, True]
    clock.now = 10.0
    scheduler.release(third)
    assert computing(again) == [True]
    assert [turn.seconds for turn in (first, second, third)] == [5.0, 3.0, 2.0]


def test_what_is_small_goes_before_what_is_large_whatever_its_owner_has_had(clock):
    scheduler = FairScheduler(1, small=2.0, clock=clock)
    first, _ = start(scheduler, Turn("one"))
    clock.now = 3.0
    large, _ = start(scheduler, Turn("two", seconds=3.0))
    small, _ = start(scheduler, Turn("one"))
    scheduler.release(first)
    assert computing(small, large) == [True, False]


def test_an_urgent_thread_goes_before_others_of_its_owner_after_a_quantum(clock):
    scheduler, order = FairScheduler(1, small=2.0, quantum=0.25, clock=clock), []
    mine = Turn("one")
    assert scheduler.acquire(mine)
    start(scheduler, Turn("one"), order, "later")
    urgent, thread = start(scheduler, Turn("one", urgent=True), order, "urgent")
    clock.now = 0.2
    assert scheduler.yield_(mine)
    assert order == []
    clock.now = 0.3
    released = threading.Timer(0.05, lambda: (thread.join(), scheduler.release(urgent)))
    released.start()
    assert scheduler.yield_(mine)
    # It goes on before what has waited since.
    assert order == ["urgent"]
    assert computing(mine) == [True]


def test_a_long_run_lets_others_by_and_goes_on(clock):
    scheduler, order = FairScheduler(1, small=0.0, quantum=0.25, clock=clock), []
    mine = Turn("one")
    assert scheduler.acquire(mine)
    assert scheduler.yield_(mine)  # nobody waits
    other, thread = start(scheduler, Turn("two"), order, "two")
    clock.now = 2.0
    released = threading.Timer(0.05, lambda: (thread.join(), scheduler.release(other)))
    released.start()
    assert scheduler.yield_(mine)
    assert order == ["two"]
    assert computing(mine, other) == [True, False]


def test_a_new_owner_does_not_make_up_for_the_time_before_it_came(clock):
    scheduler = FairScheduler(1, small=0.0, clock=clock)
    first, _ = start(scheduler, Turn("old"))
    clock.now = 100.0
    new, _ = start(scheduler, Turn("new"))
    scheduler.release(first)
    clock.now = 101.0
    back, _ = start(scheduler, Turn("old"))
    newer, _ = start(scheduler, Turn("new"))
    scheduler.release(new)
    # The new owner has used one second since both are there, the old one none: not a hundred.
    assert computing(back, newer) == [True, False]


def test_who_has_gone_is_forgotten(clock):
    scheduler = FairScheduler(1, clock=clock)
    for owner in range(50):
        turn, _ = start(scheduler, Turn(owner))
        clock.now += 1.0
        scheduler.release(turn)
    assert len(scheduler._used) == 1


def test_many_owners_get_equal_shares_of_few_processors():
    scheduler, ends, now, most = FairScheduler(2, small=0.0, quantum=0.002), time.monotonic() + 0.6, [0], []
    turns, lock = [Turn(owner) for owner in (0, 1, 2, 3, 0, 0)], threading.Lock()

    def count(change):
        with lock:
            now[0] += change
            most.append(now[0])

    def run(turn):
        while time.monotonic() < ends:
            assert scheduler.acquire(turn)
            count(1)
            time.sleep(0.001)
            count(-1)
            scheduler.release(turn)

    threads = [threading.Thread(target=run, args=(turn,), daemon=True) for turn in turns]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert max(most) == 2
    used = [sum(turn.seconds for turn in turns if turn.owner == owner) for owner in range(4)]
    # Three threads of the first do not get it more than one each of the others.
    assert max(used) < 1.5 * min(used)
