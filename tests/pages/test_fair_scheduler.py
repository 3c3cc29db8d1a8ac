"""The scheduler: few threads compute at a time, owners get equal shares, small tasks go before large ones."""

from __future__ import annotations

import threading
import time

import pytest

from pages.shared.job_queue import FairScheduler, Task


class Clock:
    """A clock that stands still unless it is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def start(scheduler, task, log=None, name=None):
    """Have a thread acquire a slot of ``task`` and note its name then; return both once it waits or has it."""
    slot = scheduler.slot(task)

    def run():
        assert scheduler.acquire(slot)
        if log is not None:
            log.append(name)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    waits_or_computes(scheduler, slot)
    return slot, thread


def waits_or_computes(scheduler, slot):
    until = time.monotonic() + 5
    while slot not in [*scheduler._waiting, *scheduler._computing]:
        assert time.monotonic() < until
        time.sleep(0.001)


def granted(*slots):
    return [slot.granted for slot in slots]


def test_no_more_threads_compute_than_may():
    scheduler, most, now, lock = FairScheduler(3), [], [0], threading.Lock()

    def run(owner):
        slot = scheduler.slot(Task(owner))
        for _ in range(20):
            assert scheduler.acquire(slot)
            with lock:
                now[0] += 1
                most.append(now[0])
            time.sleep(0.0005)
            with lock:
                now[0] -= 1
            scheduler.release(slot)

    threads = [threading.Thread(target=run, args=(owner,), daemon=True) for owner in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(most) == 160
    assert max(most) == 3


def test_the_owner_who_has_had_least_is_next(clock):
    scheduler = FairScheduler(1, small=0.0, clock=clock)
    a, b, c = (Task(owner) for owner in "abc")
    first, _ = start(scheduler, a)
    clock.now = 5.0
    # b and c count as having used as much as a has by now; then b gets 3 seconds.
    second, _ = start(scheduler, b)
    third, _ = start(scheduler, c)
    scheduler.release(first)
    assert granted(second, third) == [True, False]
    again, _ = start(scheduler, b)
    clock.now = 8.0
    scheduler.release(second)
    # c has waited as long as b computed.
    assert granted(again, third) == [False, True]
    clock.now = 10.0
    scheduler.release(third)
    assert granted(again) == [True]
    scheduler.release(again)
    assert [task.seconds for task in (a, b, c)] == [5.0, 3.0, 2.0]


def test_a_small_task_goes_before_large_ones_whatever_its_owner_has_had(clock):
    scheduler = FairScheduler(1, small=2.0, clock=clock)
    large, other = Task("one"), Task("two")
    first, _ = start(scheduler, large)
    clock.now = 3.0
    scheduler.release(first)
    second, _ = start(scheduler, other)
    clock.now = 6.0
    # Both owners have a task that has computed for 3 seconds; the small one of the first is the last to come.
    waiting, _ = start(scheduler, large)
    scheduler.yield_(second)
    small, _ = start(scheduler, Task("one"))
    scheduler.release(second)
    assert granted(small, waiting) == [True, False]


def test_an_urgent_task_goes_before_others_of_its_owner(clock):
    scheduler = FairScheduler(1, small=2.0, quantum=0.25, clock=clock)
    first, _ = start(scheduler, Task("one"))
    second, _ = start(scheduler, Task("one"))
    floor = Task("one", urgent=True)
    urgent, _ = start(scheduler, floor)
    clock.now = 1.0
    scheduler.release(first)
    assert granted(second, urgent) == [False, True]
    # However long it has computed, it counts as small, and goes on before what waits.
    clock.now = 9.0
    assert scheduler.yield_(urgent)
    assert granted(second, urgent) == [False, True]
    scheduler.release(urgent)
    assert granted(second) == [True]


def test_other_tasks_of_its_owner_yield_to_an_urgent_one(clock):
    scheduler = FairScheduler(1, quantum=0.25, clock=clock)
    order = []
    mine = scheduler.slot(Task("one"))
    assert scheduler.acquire(mine)
    urgent, thread = start(scheduler, Task("one", urgent=True), order, "urgent")
    clock.now = 0.2
    assert scheduler.yield_(mine)
    assert order == []  # a thread computes for a quantum at least
    clock.now = 0.3
    released = threading.Timer(0.05, lambda: (thread.join(), scheduler.release(urgent)))
    released.start()
    assert scheduler.yield_(mine)
    assert order == ["urgent"]


def test_a_task_that_yielded_to_an_urgent_one_goes_on_before_what_has_waited_since(clock):
    scheduler = FairScheduler(1, quantum=0.25, clock=clock)
    order = []
    mine = scheduler.slot(Task("one"))
    assert scheduler.acquire(mine)
    start(scheduler, Task("one"), order, "later")
    urgent, thread = start(scheduler, Task("one", urgent=True), order, "urgent")
    clock.now = 0.3
    released = threading.Timer(0.05, lambda: (thread.join(), scheduler.release(urgent)))
    released.start()
    assert scheduler.yield_(mine)
    assert order == ["urgent"]
    assert granted(mine) == [True]


def test_a_long_run_yields_its_slot_and_gets_it_back(clock):
    scheduler = FairScheduler(1, small=1.0, quantum=0.25, clock=clock)
    order = []
    mine, task = scheduler.slot(Task("one")), Task("two")
    assert scheduler.acquire(mine)
    assert scheduler.yield_(mine)  # nobody waits
    clock.now = 2.0
    other, thread = start(scheduler, task, order, "two")
    # The other task is small, so it computes now; this thread waits until it has done so.
    released = threading.Timer(0.05, lambda: (thread.join(), scheduler.release(other)))
    released.start()
    assert scheduler.yield_(mine)
    assert order == ["two"]
    assert granted(mine, other) == [True, False]


def test_large_tasks_yield_to_each_other_after_a_quantum(clock):
    scheduler = FairScheduler(1, small=0.0, quantum=0.25, clock=clock)
    mine, other = scheduler.slot(Task("one")), Task("two")
    assert scheduler.acquire(mine)
    waiting, other_thread = start(scheduler, other)
    clock.now = 0.2
    assert scheduler.yield_(mine)
    assert granted(waiting) == [False]
    clock.now = 0.3
    yielding = threading.Thread(target=scheduler.yield_, args=(mine,), daemon=True)
    yielding.start()
    other_thread.join(5)
    assert granted(waiting) == [True]
    scheduler.release(waiting)
    yielding.join(5)
    assert granted(mine) == [True]


def test_a_new_owner_does_not_make_up_for_the_time_before_it_came(clock):
    scheduler = FairScheduler(1, small=0.0, clock=clock)
    first, _ = start(scheduler, Task("old"))
    clock.now = 100.0
    new, _ = start(scheduler, Task("new"))
    scheduler.release(first)
    clock.now = 101.0
    back, _ = start(scheduler, Task("old"))
    newer, _ = start(scheduler, Task("new"))
    scheduler.release(new)
    # The new owner has used one second since both are there, the old one none: not a hundred.
    assert granted(back, newer) == [True, False]


def test_a_cancelled_thread_waits_no_longer():
    scheduler, stop = FairScheduler(1), threading.Event()
    held = scheduler.slot(Task("one"))
    assert scheduler.acquire(held)
    waiting = scheduler.slot(Task("two"), stop.is_set)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(scheduler.acquire(waiting)), daemon=True)
    thread.start()
    waits_or_computes(scheduler, waiting)
    stop.set()
    waiting.wake()
    thread.join(2)
    assert answers == [False]
    scheduler.release(held)
    assert granted(waiting) == [False]
    assert scheduler.acquire(scheduler.slot(Task("three")))


def test_who_has_gone_is_forgotten(clock):
    scheduler = FairScheduler(1, clock=clock)
    for owner in range(50):
        slot, _ = start(scheduler, Task(owner))
        clock.now += 1.0
        scheduler.release(slot)
    assert len(scheduler._used) == 1


def test_many_owners_get_equal_shares():
    scheduler, ends = FairScheduler(2, small=0.0, quantum=0.002), time.monotonic() + 0.6
    tasks = [Task(owner) for owner in range(4)]

    def run(task):
        slot = scheduler.slot(task)
        assert scheduler.acquire(slot)
        while time.monotonic() < ends:
            time.sleep(0.001)
            scheduler.yield_(slot)
        scheduler.release(slot)

    threads = [threading.Thread(target=run, args=(task,), daemon=True) for task in [*tasks, tasks[0], tasks[0]]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    used = [task.seconds for task in tasks]
    # Three threads of the first do not get it more than one each of the others.
    assert sum(used) == pytest.approx(1.2, rel=0.3)
    assert max(used) < 1.5 * min(used)
