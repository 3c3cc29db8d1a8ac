"""A proven lower bound on the SSE from the linear program of clique partitioning.

**The program.** For a partition let z_ij be k / s for two records i < j of one group of s, and 0 for two of different
groups; and z_ii = k / s for a record of a group of s. With d_ij the squared distances,

    SSE = Σ_{i<j} d_ij / k · z_ij.

As in :mod:`microagg.metrics.set_partitioning` groups of k to 2k-1 suffice, so k / (2k-1) ≤ z_ii ≤ 1 and 0 ≤ z_ij ≤ 1. A
group of s shares out s · k / s:

    z_ii + Σ_j z_ij = k  for each record i,

there are at most n / k groups, each with a sum of z_ii of k:

    Σ_i z_ii ≤ k ⌊n / k⌋,

and for each record i and any set S of others, the arms of a *star* around i,

    Σ_{j in S} z_ij - Σ_{j<l in S} z_jl ≤ z_ii,

since of t arms in the group of i come (t - t (t-1) / 2) k / s ≤ k / s, and what arms share elsewhere only lowers the
left side. Two arms make the triangle inequality of Grötschel & Wakabayashi (1989), which for clustering by squared
distances is due to Aloise, Hansen & Rocha (2012); more arms make their 2-partition inequalities. The least of the costs
under all these is a lower bound, and without stars it is close to the nearest-neighbor bound.

**The bound.** Give any price u_i, of any sign, to each record, and prices w ≤ 0 and v_S ≤ 0 to the number of groups and
to some stars. Then for the z of every partition

    SSE ≥ k Σ_i u_i + k ⌊n/k⌋ w + Σ over records of rc_ii z_ii + Σ over all pairs of rc_ij z_ij
        ≥ k Σ_i u_i + k ⌊n/k⌋ w + Σ over records of min(rc_ii, rc_ii k/(2k-1)) + Σ over all pairs of min(rc_ij, 0),

    rc_ii = - u_i - w + Σ v_S over the stars around i,
    rc_ij = d_ij / k - u_i - u_j - Σ v_S over the stars with arm ij + Σ v_S over the stars with arms i and j.

It holds whatever the prices are, so neither how they were found nor when that was stopped can make it wrong. Only some
pairs are columns of the program, but among them are all pairs that occur in its stars; for the others rc_ij is
d_ij / k - u_i - u_j, and all those in which that is negative are found by going through the records by bounding boxes.
Each rc is lowered by 1e-12 of the sizes of its terms, and the bound by 1e-9 of the sum of the sizes of its own, far
more than rounding amounts to. Records are told apart by index, so that identical ones do no harm.

**How the prices are found.** By a primal-dual hybrid gradient method with reflection, restarts and Halpern's anchor
(Chambolle & Pock 2011; Lu & Yang 2024), whose steps are products with a sparse matrix. After each round of steps the
stars that its z violates enter, those without a price leave, and pairs with a negative rc enter. First come stars of
up to two arms; larger ones once those gain little.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from microagg.kernels.bounds import primal_dual as cliques
from microagg.kernels.bounds.boxes import make_blocks
from microagg.validation import FloatArray, IntArray

#: How many arms stars may have, in the order in which such stars are looked for.
ARMS = (2, 4, 6)

#: How many of the nearest records each record is paired with to begin with, as a multiple of k.
NEAR = 3

#: How many steps are made in a round.
STEPS = 100

#: How often in a round it is looked what the prices are worth.
LOOKS = 4

#: How many stars may enter in a round, as a multiple of n: those violated most.
ENTER = 30

#: A pair that is not in use leaves if its reduced cost is above this share of the mean price.
DEAR = 0.1

#: From how many of its best continuations each star is grown.
TRIES = 2

#: How much a star must be violated to enter; its right side is about 1.
VIOLATED = 0.01

#: A round that raises the bound by a smaller share has gained little.
LITTLE = 5e-4

#: So many rounds that together raise it by a smaller share than NOTHING are the end.
LAST_ROUNDS = 12
NOTHING = 1e-5

#: Relative slack for rounding.
SLACK = 1e-9

#: A step through more entries of the matrix than this is shared among the cores.
SHARED = 200_000

#: How many records are looked at before somebody may stop it.
CHUNK = 2048


class CliquePartitioning:
    """The program over the pairs and stars found so far, and the best bound so far.

    Parameters
    ----------
    X : array of float, shape (n, d)
        Finite numbers; at least 2k records, not all equal.
    k : int
        At least 2.

    Attributes
    ----------
    iterations : int
        How many rounds were finished.
    slow : bool
        Whether the last round gained little.
    converged : bool
        Whether further rounds are not worth their time.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        from scipy.spatial import KDTree

        self.k = k
        self.iterations = 0
        self.slow = self.converged = False
        self._tree = KDTree(X)
        self._X = np.ascontiguousarray(X[self._tree.indices])
        self._unit = 1.0
        self._best = -np.inf
        self._recent: list[float] = []
        self._cheap: list[IntArray] = []
        self._level = 0
        self._weight = 1.0
        self._steps = self._rounds()

    @property
    def sse(self) -> float:
        """The best bound, in squared units of X; 0 before there is any."""
        return max(self._best, 0.0) * self._unit

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """Do one round, or less if the clock (``time.perf_counter``) comes to ``until`` or ``go_on`` says no.

        What is begun goes on in the next call. Returns whether the round was finished.
        """
        asked = 0.0
        while (now := time.perf_counter()) < until:
            if now > asked + 0.2:
                if not go_on():
                    return False
                asked = time.perf_counter()
            if next(self._steps):
                return True
        return False

    # --- the rounds --------------------------------------------------------------------------------------------------

    def _rounds(self) -> Iterator[bool]:
        """Go on for ever, and pause every fraction of a second: with True after a round, with False within it."""
        yield from self._begin()
        with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1), thread_name_prefix="microagg-bound") as pool:
            while True:
                yield from self._lay_out()
                yield from self._solve(pool)
                yield from self._price()
                yield from self._separate()
                yield from self._exchange()
                self.iterations += 1
                self._judge()
                yield True

    def _begin(self) -> Iterator[bool]:
        """Pair each record with its nearest, and start from the prices of the nearest-neighbor bound, roughly."""
        X, k = self._X, self.k
        n = len(X)
        near = min(n - 1, NEAR * k)
        reach = np.empty((n, k))
        found = []
        # The tree's own numbers of the records are those of before they were brought into its order.
        number = np.empty(n, dtype=np.int64)
        number[self._tree.indices] = np.arange(n)
        for first in range(0, n, CHUNK):
            last = min(n, first + CHUNK)
            distances, others = self._tree.query(X[first:last], k=near + 1, workers=-1)
            reach[first:last] = np.square(distances[:, :k])
            own = np.repeat(np.arange(first, last), near + 1)
            found.append(_keys_of(own, number[others.ravel()], n))
            yield False
        unit = reach.sum() / (2 * k * n) or np.square(X - X.mean(axis=0)).sum() / n
        # A power of four, so that nothing is rounded: lengths are divided by its root.
        self._unit = 4.0 ** round(np.log2(unit) / 2)
        self._X = X / np.sqrt(self._unit)
        self._blocks = make_blocks(self._X)
        self._start(np.concatenate(found), np.empty((0, 1 + max(ARMS)), dtype=np.int64))
        self._y[:n] = reach[:, -1] / self._unit / (2 * k)

    def _start(self, keys: IntArray, stars: IntArray) -> None:
        """Begin with these pairs and stars, without prices."""
        n = len(self._X)
        self._keys = np.unique(np.concatenate([keys, *_pairs_of_arms(stars, n)]))
        self._stars = stars
        self._x = np.concatenate([np.ones(n), np.zeros(len(self._keys))])
        self._y = np.zeros(n + 1 + len(stars))

    def _lay_out(self) -> Iterator[bool]:
        """Set up the matrix of the program for the pairs and stars that are in it now."""
        n, k, keys = len(self._X), self.k, self._keys
        differences = self._X[keys // n] - self._X[keys % n]
        self._costs = np.append(np.zeros(n), np.square(differences).sum(axis=1) / k)
        self._low = np.append(np.full(n, k / (2 * k - 1)), np.zeros(len(keys)))
        self._sides = np.append(np.full(n, float(k)), np.zeros(1 + len(self._stars)))
        self._sides[n] = k * (n // k)
        yield False
        self._graph = cliques.make_graph(keys, n)
        self._rows = cliques.make_rows(self._graph, self._stars)
        yield False
        self._columns = cliques.turn(self._rows, n + len(keys))
        yield False

    def _solve(self, pool: ThreadPoolExecutor) -> Iterator[bool]:
        """Move x and y towards a solution; remember the best prices on the way."""
        # Not the same everywhere, so that symmetry in the data does not hide the direction that is stretched most.
        vector = 1.0 + 0.1 * np.sin(np.arange(len(self._x)))
        for _ in range(12):
            norm = cliques.stretch(self._rows, self._columns, vector)
            yield False
        step = 0.96 / norm
        x, y = Walk(self._columns, self._x), Walk(self._rows, self._y)
        self._value, self._prices = self._worth(self._y), self._y
        beyond = self._x.copy()
        since, first_way, last_way = 0, 0.0, 0.0
        for done in range(1, STEPS + 1):
            share = (since + 1) / (since + 2)
            ways = x.step(pool, cliques.step_columns, self._costs, self._low, step / self._weight, share, y.at, beyond)
            ways += y.step(pool, cliques.step_rows, self._sides, len(self._X), step * self._weight, share, beyond)
            way = float(np.sqrt(ways))
            since += 1
            first_way = way if since == 1 else first_way
            closer = way <= 0.2 * first_way or (way <= 0.8 * first_way and way > last_way)
            if since > 1 and (closer or since >= 0.36 * done + 20):
                self._balance(x.way(), y.way())
                x.restart()
                y.restart()
                since = 0
            last_way = way
            if done % (STEPS // LOOKS) == 0:
                value = self._worth(y.moved)
                if value > self._value:
                    self._value, self._prices = value, y.moved.copy()
            yield False
        self._x, self._y = x.moved, y.moved
        self._reduced = cliques.reduced_costs(self._columns, self._costs, self._y)

    def _balance(self, across: float, along: float) -> None:
        """Weigh the steps in x and in y so that both go about as far."""
        if across > 1e-12 and along > 1e-12:
            self._weight = float(np.sqrt(self._weight * along / across))

    def _worth(self, y: FloatArray) -> float:
        """Return the bound that prices give but for the pairs that are not in the program."""
        total, sizes = cliques.least_of_columns(self._columns, self._costs, self._low, y, 0, len(self._costs))
        return float(self._sides @ y) + total - SLACK * (float(self._sides @ np.abs(y)) + sizes)

    def _price(self) -> Iterator[bool]:
        """Make a bound of the best prices, and find the pairs that they lack."""
        n = len(self._X)
        # The last prices are those that go on, the best ones those that count.
        self._cheap = []
        for prices, value in ((self._prices, self._value), (self._y, -np.inf)):
            missing = 0.0
            for first in range(0, n, CHUNK):
                keys, _, total = cliques.cheap_pairs(
                    self._blocks, self._graph, prices[:n], self.k, first, min(n, first + CHUNK), 4 * self.k
                )
                self._cheap.append(keys)
                missing += total
                yield False
            self._best = max(self._best, value + missing * (1 + SLACK))

    def _separate(self) -> Iterator[bool]:
        """Let stars enter that x violates, and those leave that have no price."""
        n = len(self._X)
        stay = self._y[n + 1 :] < 0.0
        stars = [self._stars[stay]]
        known = _fingerprints(stars[0])
        # The work for a record grows with the square of how many others it shares groups with.
        chunk = max(1, min(CHUNK, 100 * CHUNK // self.k**2))
        for first in range(0, n, chunk):
            last = min(n, first + chunk)
            new, violations = cliques.violated_stars(
                self._graph, self._x, VIOLATED, ARMS[self._level], TRIES, max(ARMS), first, last
            )
            marks, at = np.unique(_fingerprints(new), return_index=True)
            at = at[~np.isin(marks, known)]
            most = ENTER * (last - first)
            if len(at) > most:
                at = at[np.argpartition(-violations[at], most)[:most]]
            stars.append(new[at])
            yield False
        old, self._stars = len(stars[0]), np.concatenate(stars)
        prices = np.append(self._y[n + 1 :][stay], np.zeros(len(self._stars) - old))
        self._y = np.append(self._y[: n + 1], prices)

    def _exchange(self) -> Iterator[bool]:
        """Let the pairs of the stars enter with those found cheap, and those leave that are dear and not in use."""
        n = len(self._X)
        needed = (self._x[n:] > 0.0) | (self._reduced[n:] < DEAR * self._y[:n].mean())
        found = [self._keys[needed], *self._cheap]
        for pairs in _pairs_of_arms(self._stars, n):
            found.append(pairs)
            yield False
        keys = np.unique(np.concatenate(found))
        yield False
        x = np.zeros(n + len(keys))
        x[:n] = self._x[:n]
        x[n + np.searchsorted(keys, self._keys[needed])] = self._x[n:][needed]
        self._keys, self._x = keys, x

    def _judge(self) -> None:
        """Turn to larger stars, or end, if little was gained."""
        self._recent.append(self._best)
        # The stars that enter now can raise the bound in the next round only.
        little = len(self._recent) > 2 and self._best - self._recent[-2] <= LITTLE * abs(self._best)
        self.slow = little
        if little and self._level < len(ARMS) - 1:
            self._level += 1
            self._recent = []
        elif len(self._recent) > LAST_ROUNDS:
            gain = self._best - self._recent[-1 - LAST_ROUNDS]
            self.converged = gain <= NOTHING * abs(self._best)


class Walk:
    """One of the two variables on its way.

    Parameters
    ----------
    lines : Lines
        The columns for x, the rows for y.
    start : array of float, shape (m,)

    Attributes
    ----------
    at : array of float, shape (m,)
        Where it is; that need not be within its limits.
    anchor : array of float, shape (m,)
        Where it has been at the last restart.
    moved : array of float, shape (m,)
        Where the last step has led, within its limits.
    """

    def __init__(self, lines: cliques.Lines, start: FloatArray) -> None:
        self.at, self.anchor, self.moved = start.copy(), start.copy(), start.copy()
        self._lines = lines
        self._parts = _parts(lines)

    def step(self, pool: ThreadPoolExecutor, kernel: Callable[..., float], *arguments: Any) -> float:
        """Make a step on all cores; return the square of the way gone."""
        tasks = [(self._lines, *arguments, self.at, self.anchor, self.moved, *part) for part in self._parts]
        others = [pool.submit(kernel, *task) for task in tasks[1:]]
        return kernel(*tasks[0]) + sum(other.result() for other in others)

    def way(self) -> float:
        """Return how far it has come since the last restart."""
        return cliques.way_from(self._lines, self.moved, self.anchor)

    def restart(self) -> None:
        """Go on from where the last step has led."""
        self.at[:] = self.anchor[:] = self.moved


def _parts(lines: cliques.Lines) -> list[tuple[int, int]]:
    """Return ranges of lines with about as many entries each, one for each core, or one only if there are few."""
    entries = int(lines.starts[-1])
    count = (os.cpu_count() or 1) if entries > SHARED else 1
    ends = np.searchsorted(lines.starts, np.linspace(0, entries, count + 1))
    ends[-1] = len(lines.middles)
    return [(int(first), int(last)) for first, last in pairwise(ends)]


def _keys_of(some: IntArray, others: IntArray, n: int) -> IntArray:
    """Return the keys of pairs of records, ascending, without those of a record with itself."""
    keys = np.minimum(some, others) * n + np.maximum(some, others)
    return np.unique(keys[some != others])


def _pairs_of_arms(stars: IntArray, n: int) -> Iterator[IntArray]:
    """Return the keys of all pairs in the stars, in several arrays."""
    for a in range(1, stars.shape[1]):
        stars = stars[stars[:, a] >= 0]
        for b in range(a):
            yield _keys_of(stars[:, b], stars[:, a], n)


def _fingerprints(stars: IntArray) -> IntArray:
    """Return a number for each star; that two are equal by chance, when one would be passed over, is most unlikely."""
    odd = np.random.default_rng(0).integers(1, 2**62, size=stars.shape[1]) * 2 + 1
    return ((stars + 1) * odd).sum(axis=1)
