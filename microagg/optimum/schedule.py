"""Certificates of the same records at several k, narrowed in turns, those with the largest gaps first.

A turn is some seconds of search, and of raising the lower bound, at one k; several threads take one each. A partition
at a k is one for every smaller k, and a lower bound at a k holds for every larger k.

>>> import time
>>> import microagg
>>> from microagg.optimum.certificate import Certificate
>>> from microagg.optimum.schedule import Schedule
>>> X = microagg.datasets.load("toy").X
>>> schedule = Schedule([2, 3], lambda k: Certificate(X, k))
>>> schedule.work(until=time.monotonic() + 5)
>>> {k: round(gap, 6) for k, gap in schedule.gaps().items()}
{2: 0.0, 3: 0.0}
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from microagg.kernels.running import THREADS
from microagg.optimum.bounds import CLOSED, gap
from microagg.optimum.certificate import Certificate, Side

#: Called a few times a second by each thread, with its current k or None between turns; False stops it.
Watch = Callable[[int | None], bool]

#: A gap of at most this share is closed enough.
NEAR = 0.01

#: Number of turns at a time: more programs would only take memory from each other.
MOST_THREADS = min(THREADS, 4)

# Seconds of each side in a turn, and seconds of the first k before all others.
_TURN: dict[Side, float] = {"search": 1.0, "floor": 2.0}
_FIRST_SECONDS = 6.0

# Seconds that a thread without a turn waits.
_PAUSE = 0.2


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
        self._make, self._near = make, max(near, CLOSED)
        self._best, self._floors = dict(best or {}), dict(floors or {})
        self._busy: set[int] = set()
        self._lock = threading.Lock()

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

    def work(self, until: float, watch: Watch | None = None) -> None:
        """Take turns until ``until`` (``time.monotonic``), or until all gaps are closed enough.

        Several threads may do so at once. Errors are those of certificates.
        """
        while time.monotonic() < until and (watch is None or watch(None)):
            gaps = self.gaps()
            open_ks = [k for k in self.ks if gaps[k] > self._near]
            if not open_ks:
                return
            with self._lock:
                k = max((k for k in open_ks if k not in self._busy), key=lambda k: self._rank(k, gaps[k]), default=None)
                if k is not None:
                    self._busy.add(k)
            if k is None:  # other threads have all of them
                time.sleep(_PAUSE)
                continue
            try:
                self._take_turn(k, until, watch)
            finally:
                self._busy.remove(k)

    def _rank(self, k: int, gap: float) -> tuple[bool, float]:
        """Rank of a k for the next turn, the highest first: the more seconds it has had, the less it may gain."""
        seconds = self.certificates[k].seconds if k in self.certificates else 0.0
        return k == self.first and seconds < _FIRST_SECONDS, min(gap, 1.0) / (1.0 + seconds)

    def _take_turn(self, k: int, until: float, watch: Watch | None) -> None:
        """Narrow both sides of a certificate."""
        if k not in self.certificates:
            self.certificates[k] = self._make(k)
        certificate = self.certificates[k]
        others = [other for other_k, other in list(self.certificates.items()) if other_k >= k]
        best = min(others, key=lambda other: other.found[-1][1])
        if best is not certificate:
            certificate.offer(best.labels)
        for side, seconds in _TURN.items():
            seconds_left = max(min(seconds, until - time.monotonic()), 0.0)
            certificate.narrow(seconds_left, lambda *_: watch is None or watch(k), side)
