"""Certificates of the same records at several k, narrowed in turns where that gains most.

A turn is a moment of search, or of raising the floor, at one k; several threads take one each. First each k is searched
once, as a moment of it gains most; then the floor of each is raised until a program has proven something, from one k to
the next, as a program begins with what that of a k near by has reached. From then on the turn comes first whose side
has gained most in a second of late. What is found at a k serves every smaller one, and what is proven at a k holds for
every larger one.

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

#: Called a few times a second by each thread, with the k that it works on or None between turns; False stops it.
Watch = Callable[[int | None], bool]

#: What is at most by this share above the optimum is near enough.
NEAR = 0.01

#: How many turns are taken side by side: more programs than this would only take memory from each other.
MOST_THREADS = min(THREADS, 4)

# How many seconds a turn takes, and how many the k that goes first has before others.
_TURN: dict[Side, float] = {"search": 1.0, "floor": 2.0}
_FIRST = 6.0

# What a side that has gained nothing of late may gain all the same: this share of what is open, in its first second.
_HOPE = 0.1

# To which share of what it was the rate of a floor falls at most in a turn.
_PATIENCE = 0.25

# How long a thread waits, in seconds, before it looks whether there is something to do.
_PAUSE = 0.2


@dataclass
class _Turn:
    """What one side of a certificate has had, and what it promises."""

    k: int
    side: Side
    seconds: float = 0.0
    rate: float = math.inf  # by which share of its loss it has come nearer to the optimum in a second of late
    begun: bool = False  # whether it has gained anything yet


class Schedule:
    """Certificates at several k, and what is known of these k from elsewhere.

    Parameters
    ----------
    ks : iterable of int
    make : callable
        Returns the certificate at a k when its first turn comes; a thread calls it.
    certificates : mapping, optional
        Those that there are already, by k, to go on with.
    best, floors : mapping, optional
        The lowest loss and the highest floor known without them by k, in percent.
    first : int, optional
        The k whose turns come first for some seconds; it may be changed while others work, see :attr:`first`.
    near : float
        What is at most by this share above the optimum is near enough.
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
                turn.seconds, turn.rate, turn.begun = self.certificates[turn.k].seconds / len(_TURN), 0.0, True
        self._busy: set[int] = set()
        self._changed = threading.Condition()

    def gaps(self) -> dict[int, float]:
        """Return by which share the best partition known at each k is above the optimum at most."""
        certificates = dict(self.certificates)
        losses, proven = {}, {}
        lowest, highest = math.inf, 0.0
        for k in reversed(self.ks):
            reached = certificates[k].found[-1][1] if k in certificates else math.inf
            lowest = min(lowest, self._best.get(k, math.inf), reached)
            losses[k] = lowest
        for k in self.ks:
            reached = certificates[k].proven[-1][1] if k in certificates else 0.0
            highest = max(highest, self._floors.get(k, 0.0), reached)
            proven[k] = highest
        return {k: gap(losses[k], proven[k]) for k in self.ks}

    def run(self, seconds: float, watch: Watch | None = None, threads: int = MOST_THREADS) -> Self:
        """Narrow all for at most ``seconds``, or until all are near enough, and return the object itself.

        Raises
        ------
        ParameterError
            If ``seconds`` is no number of at least 0.
        """
        check_seconds(seconds)
        until = time.monotonic() + seconds
        with ThreadPoolExecutor(threads, thread_name_prefix="schedule") as pool:
            for done in [pool.submit(self.work, until, watch) for _ in range(threads)]:
                done.result()
        return self

    def work(self, until: float, watch: Watch | None = None) -> None:
        """Take one turn after the other until the clock (``time.monotonic``) comes to ``until``, or nothing is left.

        Several threads may do so at once. Raises what a certificate raises.
        """
        while time.monotonic() < until and (watch is None or watch(None)):
            with self._changed:
                left = self._left()
                turn = next((turn for turn in left if turn.k not in self._busy), None)
                if turn is not None:
                    self._busy.add(turn.k)
                elif left:  # others work on all that is left
                    self._changed.wait(_PAUSE)
            if not left:
                return
            if turn is not None:
                try:
                    self._do(turn, min(_TURN[turn.side], until - time.monotonic()), watch)
                finally:
                    with self._changed:
                        self._busy.remove(turn.k)
                        self._changed.notify_all()

    def _left(self) -> list[_Turn]:
        """Return the turns that may gain something, those that promise most first."""
        gaps = self.gaps()
        spent = sum(turn.seconds for turn in self._turns if turn.k == self.first)

        begun = [turn.k for turn in self._turns if turn.begun and turn.side == "floor"]

        def rank(turn: _Turn) -> tuple[bool, float]:
            promises = max(turn.rate, _HOPE / (1.0 + turn.seconds) * gaps[turn.k])
            if not turn.begun and turn.side == "floor":
                # From one k to the next: a program begins with what another one has reached.
                promises = 1.0 / min((abs(turn.k - k) for k in begun), default=1)
            elif turn.begun:
                promises = min(promises, gaps[turn.k])  # no more can be gained than is open
            return turn.k == self.first and spent < _FIRST, promises

        left = [turn for turn in self._turns if gaps[turn.k] > max(self._near, CLOSED) and not self._is_done(turn)]
        return sorted(left, key=rank, reverse=True)

    def _is_done(self, turn: _Turn) -> bool:
        certificate = self.certificates.get(turn.k)
        return certificate is not None and turn.side == "floor" and certificate.bound.converged

    def _do(self, turn: _Turn, seconds: float, watch: Watch | None) -> None:
        k = turn.k
        certificate = self.certificates.get(k)
        if certificate is None:
            certificate = self.certificates[k] = self._make(k)
        steps = certificate.found if turn.side == "search" else certificate.proven
        rounds, spent = certificate.bound.iterations, certificate.seconds
        if turn.side == "floor" and not turn.begun:
            certificate.begin_near(list(self.certificates.values()))
        elif turn.side == "search":
            others = [other for at, other in list(self.certificates.items()) if at >= k]
            best = min(others, key=lambda other: other.found[-1][1])
            if best is not certificate:
                certificate.offer(best.labels)
        certificate.narrow(max(seconds, 0.0), lambda *_: watch is None or watch(k), turn.side)
        elapsed = certificate.seconds - spent
        turn.seconds += elapsed
        # What the second half of a search has gained says most of what follows; the floor rises in rounds, of which a
        # turn may hold few.
        since = certificate.seconds - (elapsed / 2 if turn.side == "search" else elapsed)
        before = [value for at, value in steps if at <= since] or [steps[0][1]]
        gained = abs(steps[-1][1] / before[-1] - 1.0) if before[-1] > 0.0 else 0.0
        rate = gained / max(certificate.seconds - since, 1e-3)
        if turn.side == "search":
            turn.rate = rate
        elif gained > 0.0 or certificate.bound.iterations > rounds:
            # A round may prove less than the best one and yet be on its way to more.
            turn.rate = max(rate, _PATIENCE * min(turn.rate, 1.0))
        turn.begun = turn.begun or len(steps) > 1 or turn.side == "search"
