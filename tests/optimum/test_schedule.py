"""Certificates at several k in turns: which turn is next, what is carried from k to k, and several threads."""

import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

from microagg import ParameterError, make, metrics
from microagg.optimum import schedule
from microagg.optimum.bounds import gap
from microagg.optimum.certificate import Certificate, prepare
from microagg.optimum.schedule import Schedule


@pytest.fixture
def X():
    return np.random.default_rng(8).normal(size=(120, 3))


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(schedule, "_TURN", dict.fromkeys(schedule._TURN, 0.05))
    monkeypatch.setattr(schedule, "_FIRST_SECONDS", 0.2)


class Recorded(Schedule):
    """A schedule that remembers its turns."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.taken, self.at_once = [], []

    def _take_turn(self, turn, *arguments):
        self.taken.append((turn.k, turn.side))
        self.at_once.append(set(self._busy))
        super()._take_turn(turn, *arguments)


class Stepping:
    """In place of a certificate: its turns bring it a tenth nearer to a loss of 10 %, or all the way."""

    def __init__(self, k, good=0):
        self.k, self.seconds, self.share = k, 0.0, 1.0 if k == good else 0.1
        self.found, self.proven = [(0.0, 20.0)], [(0.0, 5.0)]
        self.bound = SimpleNamespace(converged=False, iterations=0)
        self.near = self.labels = None

    def offer(self, labels):
        pass

    def begin_near(self, others):
        known = [other.k for other in others if len(other.proven) > 1]
        self.near = min(known, key=lambda k: abs(k - self.k), default=None)

    def narrow(self, seconds, watch, side):
        self.seconds += seconds
        steps = self.found if side == "search" else self.proven
        steps.append((self.seconds, steps[-1][1] + self.share * (10.0 - steps[-1][1])))
        self.bound.iterations += side == "floor"
        watch()


def test_the_first_k_goes_first_then_each_is_searched_and_floors_go_from_one_k_to_the_next(monkeypatch):
    monkeypatch.setattr(schedule, "_FIRST_SECONDS", 0.0)
    own = Recorded(range(4, 10), Stepping, first=6, near=0.0)
    own.run(20, lambda _: len(own.taken) < 13, threads=1)
    assert sorted(own.taken[:6]) == [(k, "search") for k in range(4, 10)]
    floors = [k for k, _ in own.taken[6:12]]
    assert own.taken[6:12] == [(k, "floor") for k in floors]
    assert sorted(floors) == list(range(4, 10))
    nearest = [own.certificates[k].near for k in floors[1:]]
    assert [abs(k - near) for k, near in zip(floors[1:], nearest, strict=True)] == [1] * 5
    # As long as the first k has not had its time, it comes before all others.
    monkeypatch.setattr(schedule, "_FIRST_SECONDS", 60.0)
    own = Recorded(range(4, 10), Stepping, first=6, near=0.0)
    own.run(20, lambda _: len(own.taken) < 10, threads=1)
    assert {k for k, _ in own.taken} == {6}
    assert {side for _, side in own.taken} == {"search", "floor"}


def test_a_k_that_is_near_enough_gets_no_more_turns_and_an_end_of_the_floor_is_one():
    own = Recorded([4, 7], lambda k: Stepping(k, good=7), near=0.5)
    own.run(20, lambda _: own.gaps()[4] > 0.6, threads=1)
    after = own.taken[own.taken.index((7, "floor")) + 1 :]
    assert len(after) > 2
    assert {k for k, _ in after} == {4}
    # A floor that has ended is left alone.
    ended = Stepping(4)
    ended.bound.converged = True
    own = Recorded([4], lambda _: ended, near=0.0)
    own.run(20, lambda _: len(own.taken) < 5, threads=1)
    assert own.taken == [(4, "search")] * 5


def test_what_is_found_serves_smaller_k_and_what_is_proven_larger_ones(X):
    own = Schedule([3, 4, 5], lambda k: Certificate(X, k), best={5: 20.0}, floors={3: 8.0, 5: 5.0})
    assert own.gaps() == {k: gap(20.0, 8.0) for k in (3, 4, 5)}
    assert Schedule([2, 3], lambda k: Certificate(X, k)).gaps() == {2: np.inf, 3: np.inf}
    # A partition for more records in a group is what the search goes on from where it is better.
    better = Certificate(X, 5).narrow(2.0)
    poor = Certificate(X, 4, np.arange(120) // 4)
    assert poor.found[-1][1] > better.found[-1][1]
    own = Schedule([4, 5], lambda _: pytest.fail("both are there"), {4: poor, 5: better}, near=0.0)
    [turn] = [turn for turn in own._turns if (turn.k, turn.side) == (4, "search")]
    own._take_turn(turn, 0.0, None)
    assert poor.found[-1][1] <= better.found[-1][1]
    assert poor.found[-1][1] == pytest.approx(metrics.information_loss(X, poor.labels))


def test_each_k_is_worked_on_by_one_thread_at_a_time_and_all_get_nearer(X, short):
    prepare()  # loading the kernels may take longer than all turns together
    own = Recorded([3, 4, 5, 6], lambda k: Certificate(X, k), near=0.0)
    assert own.run(3.0, threads=3) is own
    assert max(map(len, own.at_once)) > 1
    assert set(own.certificates) == {3, 4, 5, 6}
    for k, share in own.gaps().items():
        mdav_star = metrics.information_loss(X, make("mdav-star", k=k).fit_predict(X))
        assert share < gap(mdav_star, Certificate(X, k).proven[0][1]) / 2
    assert not own._busy


def test_it_ends_when_all_are_near_enough_or_somebody_says_so(X):
    own = Schedule([3, 4], lambda k: Certificate(X, k), near=10.0, best={4: 1.0}, floors={3: 1.0})
    own.run(60)
    assert not own.certificates
    asked = []
    own = Schedule([3, 4], lambda k: Certificate(X, k), near=0.0)
    began = time.monotonic()
    own.run(60, lambda k: asked.append(k) or len(asked) < 5)
    assert time.monotonic() - began < 30
    assert {None, 3, 4}.issuperset(asked)
    assert not own._busy


def test_what_fails_is_raised_and_leaves_the_k_to_others(X):
    own = Schedule([3], lambda k: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        own.run(5)
    assert not own._busy
    with pytest.raises(ParameterError, match="time limit"):
        own.run(-1)


def test_threads_that_find_nothing_free_wait_for_it(X, monkeypatch):
    entered, gate = threading.Event(), threading.Event()
    monkeypatch.setattr(Schedule, "_take_turn", lambda *_: entered.set() or gate.wait(10))
    own, asked = Schedule([3], lambda k: Certificate(X, k)), []
    first = threading.Thread(target=own.work, args=(time.monotonic() + 60, lambda _: not gate.is_set()))
    first.start()
    assert entered.wait(10)
    own.work(time.monotonic() + 60, lambda k: asked.append(k) or len(asked) < 3)
    assert asked == [None] * 3
    gate.set()
    first.join()
