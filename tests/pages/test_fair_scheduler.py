"""Turns: few threads compute at a time, every owner gets its share, small work goes before large, nothing is lost."""

from __future__ import annotations

import threading
import time

import pytest

from pages.shared.fair_scheduler import Turns, Work


class Clock:
    """A clock that stands still unless it is set."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def start(turns, work, log=None, name=None):
    """Have a thread take a turn of ``work`` and note its name then; return both once it waits or has it."""
    turn = turns.turn(work)

    def run():
        assert turns.take(turn)
        if log is not None:
            log.append(name)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    waits_or_computes(turns, turn)
    return turn, thread


def waits_or_computes(turns, turn):
    until = time.monotonic() + 5
    while turn not in [*turns._waiting, *turns._computing]:
        assert time.monotonic() < until
        time.sleep(0.001)


def granted(*turns):
    return [turn.granted.is_set() for turn in turns]


def test_no_more_threads_compute_than_may():
    turns, most, now, lock = Turns(3), [], [0], threading.Lock()

    def run(owner):
        turn = turns.turn(Work(owner))
        for _ in range(20):
            assert turns.take(turn)
            with lock:
                now[0] += 1
                most.append(now[0])
            time.sleep(0.0005)
            with lock:
                now[0] -= 1
            turns.give(turn)

    threads = [threading.Thread(target=run, args=(owner,), daemon=True) for owner in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert len(most) == 160
    assert max(most) == 3


def test_the_owner_who_has_had_least_is_next(clock):
    turns = Turns(1, small=0.0, clock=clock)
    a, b, c = (Work(owner) for owner in "abc")
    first, _ = start(turns, a)
    clock.now = 5.0
    # b and c count as having had as much as a by now; then b gets 3 seconds.
    second, _ = start(turns, b)
    third, _ = start(turns, c)
    turns.give(first)
    assert granted(second, third) == [True, False]
    again, _ = start(turns, b)
    clock.now = 8.0
    turns.give(second)
    # c has waited as long as b computed.
    assert granted(again, third) == [False, True]
    clock.now = 10.0
    turns.give(third)
    assert granted(again) == [True]
    turns.give(again)
    assert [work.seconds for work in (a, b, c)] == [5.0, 3.0, 2.0]


def test_small_work_goes_before_large_whatever_its_owner_has_had(clock):
    turns = Turns(1, small=2.0, clock=clock)
    large, other = Work("one"), Work("two")
    first, _ = start(turns, large)
    clock.now = 3.0
    turns.give(first)
    second, _ = start(turns, other)
    clock.now = 6.0
    # Both owners have work that has had 3 seconds; the small piece of the first is the last to come.
    waiting, _ = start(turns, large)
    turns.pass_on(second)
    small, _ = start(turns, Work("one"))
    turns.give(second)
    assert granted(small, waiting) == [True, False]


def test_urgent_work_goes_before_other_work_of_its_owner(clock):
    turns = Turns(1, small=2.0, quantum=0.25, clock=clock)
    first, _ = start(turns, Work("one"))
    second, _ = start(turns, Work("one"))
    floor = Work("one", urgent=True)
    urgent, _ = start(turns, floor)
    clock.now = 1.0
    turns.give(first)
    assert granted(second, urgent) == [False, True]
    # However long it has computed, it counts as small, and goes on before what waits.
    clock.now = 9.0
    assert turns.pass_on(urgent)
    assert granted(second, urgent) == [False, True]
    turns.give(urgent)
    assert granted(second) == [True]


def test_urgent_work_takes_the_turn_of_other_work_of_its_owner(clock):
    turns = Turns(1, quantum=0.25, clock=clock)
    order = []
    mine = turns.turn(Work("one"))
    assert turns.take(mine)
    urgent, thread = start(turns, Work("one", urgent=True), order, "urgent")
    clock.now = 0.2
    assert turns.pass_on(mine)
    assert order == []  # a turn lasts at least a quantum
    clock.now = 0.3
    released = threading.Timer(0.05, lambda: (thread.join(), turns.give(urgent)))
    released.start()
    assert turns.pass_on(mine)
    assert order == ["urgent"]


def test_what_lost_its_turn_to_urgent_work_goes_on_before_what_has_waited_since(clock):
    turns = Turns(1, quantum=0.25, clock=clock)
    order = []
    mine = turns.turn(Work("one"))
    assert turns.take(mine)
    start(turns, Work("one"), order, "later")
    urgent, thread = start(turns, Work("one", urgent=True), order, "urgent")
    clock.now = 0.3
    released = threading.Timer(0.05, lambda: (thread.join(), turns.give(urgent)))
    released.start()
    assert turns.pass_on(mine)
    assert order == ["urgent"]
    assert granted(mine) == [True]


def test_a_long_run_passes_its_turn_on_and_gets_it_back(clock):
    turns = Turns(1, small=1.0, quantum=0.25, clock=clock)
    order = []
    mine, work = turns.turn(Work("one")), Work("two")
    assert turns.take(mine)
    assert turns.pass_on(mine)  # nobody waits
    clock.now = 2.0
    other, thread = start(turns, work, order, "two")
    # The other work is small, so it computes now; this thread waits until it has done so.
    released = threading.Timer(0.05, lambda: (thread.join(), turns.give(other)))
    released.start()
    assert turns.pass_on(mine)
    assert order == ["two"]
    assert granted(mine, other) == [True, False]


def test_among_large_work_a_turn_lasts_at_least_a_quantum(clock):
    turns = Turns(1, small=0.0, quantum=0.25, clock=clock)
    mine, other = turns.turn(Work("one")), Work("two")
    assert turns.take(mine)
    waiting, _ = start(turns, other)
    clock.now = 0.2
    assert turns.pass_on(mine)
    assert granted(waiting) == [False]
    clock.now = 0.3
    passing = threading.Thread(target=turns.pass_on, args=(mine,), daemon=True)
    passing.start()
    assert waiting.granted.wait(5)
    turns.give(waiting)
    passing.join(5)
    assert granted(mine) == [True]


def test_nobody_makes_up_for_the_time_before_he_came(clock):
    turns = Turns(1, small=0.0, clock=clock)
    first, _ = start(turns, Work("old"))
    clock.now = 100.0
    new, _ = start(turns, Work("new"))
    turns.give(first)
    clock.now = 101.0
    back, _ = start(turns, Work("old"))
    newer, _ = start(turns, Work("new"))
    turns.give(new)
    # The new owner has had one second since both are there, the old one none: not a hundred.
    assert granted(back, newer) == [True, False]


def test_a_cancelled_thread_waits_no_longer():
    turns, stop = Turns(1), threading.Event()
    held = turns.turn(Work("one"))
    assert turns.take(held)
    waiting = turns.turn(Work("two"), stop.is_set)
    answers = []
    thread = threading.Thread(target=lambda: answers.append(turns.take(waiting)), daemon=True)
    thread.start()
    stop.set()
    thread.join(2)
    assert answers == [False]
    turns.give(held)
    assert granted(waiting) == [False]
    assert turns.take(turns.turn(Work("three")))


def test_who_has_gone_is_forgotten(clock):
    turns = Turns(1, clock=clock)
    for owner in range(50):
        turn, _ = start(turns, Work(owner))
        clock.now += 1.0
        turns.give(turn)
    assert len(turns._had) == 1


def test_many_owners_get_equal_shares():
    turns, ends = Turns(2, small=0.0, quantum=0.002), time.monotonic() + 0.6
    works = [Work(owner) for owner in range(4)]

    def run(work):
        turn = turns.turn(work)
        assert turns.take(turn)
        while time.monotonic() < ends:
            time.sleep(0.001)
            turns.pass_on(turn)
        turns.give(turn)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in [*works, works[0], works[0]]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    had = [work.seconds for work in works]
    # Three threads of the first do not get it more than one each of the others.
    assert sum(had) == pytest.approx(1.2, rel=0.3)
    assert max(had) < 1.5 * min(had)
