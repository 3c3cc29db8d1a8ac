"""Certificates of the same records at several k, narrowed in turns, the largest gains first.

A turn is some seconds of search, or of raising the lower bound, at one k; several threads take one each. First comes a
search at each k, where the first seconds gain most. Then the lower bound of each k rises until a program has proven
something, from one k to the next, as a program starts from the state of a similar k. After that, the side with the
highest recent gain per second comes first. A partition at a k is one for every smaller k, and a lower bound at a k
holds for every larger k.

>>> import microagg
>>> from microagg.optimum.certificate import Certificate
>>> from microagg.optimum.schedule import Schedule
>>> X = microagg.datasets.load("toy").X
>>> gaps = Schedule([2, 3], lambda k: Certificate(X, k)).run(seconds=5).gaps()
>>> {k: round(gap, 6) for k, gap in gaps.items()}
{2: 0.0, 3: 0.0}
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Self

from microagg.kernels.running import THREADS
from microagg.optimum.bounds import CLOSED, check_seconds, gap
from microagg.optimum.certificate import Certificate, Side

#: Called a few times a second by each thread, with its current k or None between turns; False stops it.
Watch = Callable[[int | None], bool]

#: A gap of at most this share is closed enough.
NEAR = 0.01

#: Number of turns at a time: more programs would only take memory from each other.
MOST_THREADS = min(THREADS, 4)

# Seconds of a turn, and seconds of the first k before all others.
_TURN: dict[Side, float] = {"search": 1.0, "floor": 2.0}
_FIRST_SECONDS = 6.0

# Expected gain of a side without recent gain: this share of the gap, in its first second.
_UNTRIED_SHARE = 0.1

# A turn lowers the rate of a lower bound at most to this share.
_MIN_RATE_SHARE = 0.25

# Seconds that a thread without a turn waits.
_PAUSE = 0.2


@dataclass
class _Turn:
    """Seconds and recent gain of one side of a certificate."""

    k: int
    side: Side
    seconds: float = 0.0
    rate: float = math.inf  # recent relative gain per second
    has_started: bool = False  # whether it has had its first result


class Schedule:
    """Certificates at several k, with known losses and lower bounds from other sources.

    Parameters
    ----------
    ks : iterable of int
    make : callable
        Creates the certificate at a k, in a thread, when its first turn comes.
    certificates : mapping, optional
        Existing certificates by k, to continue.
    best, floors : mapping, optional
        Lowest loss and highest lower bound from other sources, by k, in percent.
    first : int, optional
        The k that is searched first for some seconds. :attr:`first` may change during the work.
    near : float
        A gap of at most this share is closed enough.
    """

    def __init__(
        self,
        ks: Iterable[int],
        make: Callable[[int], Certificate],
        certificates: Mapping[int, Certificate] | None = None,
        best: Mapping[int, float] | None = None,
        floors: Mapping[int, float] | None = None,
        first: int | None = None,
        near: float = NEAR,
    ) -> None:
        self.ks = tuple(sorted(set(ks)))
        self.first = first
        self.certificates = {k: certificate for k, certificate in (certificates or {}).items() if k in self.ks}
        self._make, self._near = make, near
        self._best, self._floors = dict(best or {}), dict(floors or {})
        self._turns = [_Turn(k, side) for side in _TURN for k in self.ks]
        for turn in self._turns:
            if turn.k in self.certificates:
                turn.seconds, turn.rate, turn.has_started = self.certificates[turn.k].seconds / len(_TURN), 0.0, True
        self._busy: set[int] = set()
        self._changed = threading.Condition()

    def gaps(self) -> dict[int, float]:
        """Gap of the best known partition at each k, as a share."""
        certificates = dict(self.certificates)
        losses, proven = {}, {}
        lowest, highest = math.inf, 0.0
        for k in reversed(self.ks):
            value = certificates[k].found[-1][1] if k in certificates else math.inf
            lowest = min(lowest, self._best.get(k, math.inf), value)
            losses[k] = lowest
        for k in self.ks:
            value = certificates[k].proven[-1][1] if k in certificates else 0.0
            highest = max(highest, self._floors.get(k, 0.0), value)
            proven[k] = highest
        return {k: gap(losses[k], proven[k]) for k in self.ks}

    def run(self, seconds: float, watch: Watch | None = None, threads: int = MOST_THREADS) -> Self:
        """Narrow all gaps for at most ``seconds``, or until all are closed enough, and return the object itself.

        Raises
        ------
        ParameterError
            If ``seconds`` is not a number of at least 0.
        """
        check_seconds(seconds)
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(threads, thread_name_prefix="schedule") as pool:
            for worker in [pool.submit(self.work, until, watch) for _ in range(threads)]:
                worker.result()
        return self

    def work(self, until: float, watch: Watch | None = None) -> None:
        """Take turns until ``until`` (``time.monotonic``), or until no turn is open.

        Several threads may do so at once. Errors are those of certificates.
        """
        while time.monotonic() < until and (watch is None or watch(None)):
            with self._changed:
                open_turns = self._open_turns()
                turn = next((turn for turn in open_turns if turn.k not in self._busy), None)
                if turn is not None:
                    self._busy.add(turn.k)
                elif open_turns:  # other threads have all of them
                    self._changed.wait(_PAUSE)
            if not open_turns:
                return
            if turn is not None:
                try:
                    self._take_turn(turn, min(_TURN[turn.side], until - time.monotonic()), watch)
                finally:
                    with self._changed:
                        self._busy.remove(turn.k)
                        self._changed.notify_all()

    def _open_turns(self) -> list[_Turn]:
        """Turns that may gain something, the highest expected gain first."""
        gaps = self.gaps()
        first_seconds = sum(turn.seconds for turn in self._turns if turn.k == self.first)

        started_ks = [turn.k for turn in self._turns if turn.has_started and turn.side == "floor"]

        def rank(turn: _Turn) -> tuple[bool, float]:
            priority = max(turn.rate, _UNTRIED_SHARE / (1.0 + turn.seconds) * gaps[turn.k])
            if not turn.has_started and turn.side == "floor":
                # From one k to the next: a program starts from the state of a similar k.
                priority = 1.0 / min((abs(turn.k - k) for k in started_ks), default=1)
            elif turn.has_started:
                priority = min(priority, gaps[turn.k])  # the gap limits the gain
            return turn.k == self.first and first_seconds < _FIRST_SECONDS, priority

        open_turns = [
            turn for turn in self._turns if gaps[turn.k] > max(self._near, CLOSED) and not self._is_done(turn)
        ]
        return sorted(open_turns, key=rank, reverse=True)

    def _is_done(self, turn: _Turn) -> bool:
        certificate = self.certificates.get(turn.k)
        return certificate is not None and turn.side == "floor" and certificate.bound.converged

    def _take_turn(self, turn: _Turn, seconds: float, watch: Watch | None) -> None:
        """Narrow one side of a certificate, and update the recent gain."""
        k = turn.k
        certificate = self.certificates.get(k)
        if certificate is None:
            certificate = self._make(k)
            self.certificates[k] = certificate
        steps = certificate.found if turn.side == "search" else certificate.proven
        rounds_before, spent_before = certificate.bound.iterations, certificate.seconds
        if turn.side == "floor" and not turn.has_started:
            certificate.begin_near(list(self.certificates.values()))
        elif turn.side == "search":
            certificates = [other for moment, other in list(self.certificates.items()) if moment >= k]
            best = min(certificates, key=lambda other: other.found[-1][1])
            if best is not certificate:
                certificate.offer(best.labels)
        certificate.narrow(max(seconds, 0.0), lambda *_: watch is None or watch(k), turn.side)
        elapsed = certificate.seconds - spent_before
        turn.seconds += elapsed
        # The gain of the second half of a search predicts the next one best; a turn has few rounds of the lower bound.
        since = certificate.seconds - (elapsed / 2 if turn.side == "search" else elapsed)
        earlier = [value for moment, value in steps if moment <= since] or [steps[0][1]]
        gain = abs(steps[-1][1] / earlier[-1] - 1.0) if earlier[-1] > 0.0 else 0.0
        rate = gain / max(certificate.seconds - since, 1e-3)
        if turn.side == "search":
            turn.rate = rate
        elif gain > 0.0 or certificate.bound.iterations > rounds_before:
            # A round may prove less than the best one, and later ones more.
            turn.rate = max(rate, _MIN_RATE_SHARE * min(turn.rate, 1.0))
        turn.has_started = turn.has_started or len(steps) > 1 or turn.side == "search"
