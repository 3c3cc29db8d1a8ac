"""Certificates at several k in turns: which turn is next, what is carried from k to k, and several threads."""

import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from microagg import make, metrics
from microagg.optimum import certificate
from microagg.optimum.bounds import gap
from microagg.optimum.certificate import Certificate, Schedule, prepare


@pytest.fixture
def X():
    return np.random.default_rng(8).normal(size=(120, 3))


class Stepping:
    """In place of a certificate: each side comes a tenth nearer to a loss of 10 %, or all the way, in a turn."""

    def __init__(self, k, good=0):
        self.k, self.seconds, self.share = k, 0.0, 1.0 if k == good else 0.1
        self.found, self.proven = [(0.0, 20.0)], [(0.0, 5.0)]
        self.labels = None

    def offer(self, labels):
        pass

    def narrow(self, seconds, watch, side):
        self.seconds += seconds
        steps = self.found if side == "search" else self.proven
        steps.append((self.seconds, steps[-1][1] + self.share * (10.0 - steps[-1][1])))
        watch()


def turns(ks, number, certificate=Stepping, **options):
    """Return a schedule after some turns, and the k of each."""
    taken = []
    one = Schedule(ks, certificate, near=0.0, **options)
    take = one._take_turn
    one._take_turn = lambda k, *arguments: taken.append(k) or take(k, *arguments)
    one.work(time.monotonic() + 20, lambda _: len(taken) < number)
    return one, taken


def test_the_first_k_goes_first_then_those_of_the_largest_gaps():
    _, taken = turns(range(4, 10), 16, first=6)
    assert taken[:2] == [6, 6]
    assert sorted(taken[2:7]) == [4, 5, 7, 8, 9]
    assert len(taken) > len(set(taken)) == 6


def test_a_closed_k_gets_no_more_turns():
    one, taken = turns([4, 7], 12, lambda k: Stepping(k, good=7))
    assert one.gaps()[7] == 0.0
    assert taken.count(7) == 1
    ended = SimpleNamespace(found=[(0.0, 10.0)], proven=[(0.0, 10.0)])
    assert turns([4], 5, certificates={4: ended})[1] == []


def test_a_partition_serves_smaller_k_and_a_lower_bound_larger_ones(X):
    one = Schedule([3, 4, 5], lambda k: Certificate(X, k), best={5: 20.0}, floors={3: 8.0, 5: 5.0})
    assert one.gaps() == {k: gap(20.0, 8.0) for k in (3, 4, 5)}
    assert Schedule([2, 3], lambda k: Certificate(X, k)).gaps() == {2: np.inf, 3: np.inf}
    # A partition for more records in a group is what the search goes on from where it is better.
    better = Certificate(X, 5).narrow(2.0)
    poor = Certificate(X, 4, np.arange(120) // 4)
    assert poor.found[-1][1] > better.found[-1][1]
    one = Schedule([4, 5], lambda _: pytest.fail("both are there"), {4: poor, 5: better}, near=0.0)
    one._take_turn(4, time.monotonic(), None)
    assert poor.found[-1][1] <= better.found[-1][1]
    assert poor.found[-1][1] == pytest.approx(metrics.information_loss(X, poor.labels))


def test_each_k_has_one_thread_at_a_time_and_all_gaps_shrink(X, monkeypatch):
    prepare()  # loading the kernels may take longer than all turns together
    monkeypatch.setattr(certificate, "_TURN", dict.fromkeys(certificate._TURN, 0.05))
    working, most = [], []

    class Alone(Certificate):
        def narrow(self, *arguments):
            assert self.k not in working
            working.append(self.k)
            most.append(len(working))
            super().narrow(*arguments)
            working.remove(self.k)

    one = Schedule([3, 4, 5, 6], lambda k: Alone(X, k), near=0.0)
    until = time.monotonic() + 3.0
    with ThreadPoolExecutor(5) as pool:
        for worker in [pool.submit(one.work, until) for _ in range(5)]:
            worker.result()
    assert max(most) > 1
    for k, share in one.gaps().items():
        mdav_star = metrics.information_loss(X, make("mdav-star", k=k).fit_predict(X))
        assert share < gap(mdav_star, Certificate(X, k).proven[0][1]) / 2


def test_it_ends_when_all_are_near_enough_or_somebody_says_so(X):
    one = Schedule([3, 4], lambda k: Certificate(X, k), near=10.0, best={4: 1.0}, floors={3: 1.0})
    one.work(time.monotonic() + 60)
    assert not one.certificates
    asked = []
    one = Schedule([3, 4], lambda k: Certificate(X, k), near=0.0)
    began = time.monotonic()
    one.work(began + 60, lambda k: asked.append(k) or len(asked) < 5)
    assert time.monotonic() - began < 30
    assert {None, 3, 4}.issuperset(asked)


def test_an_error_is_raised_and_leaves_the_k_to_others():
    one = Schedule([3], lambda k: 1 / 0)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            one.work(time.monotonic() + 5)
