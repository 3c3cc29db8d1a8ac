"""A proven lower bound on the SSE from the linear program of clique partitioning, whose columns are pairs of records.

**The program.** For a partition let z_ij be k / s for two records i < j of one group of s, and 0 for two of different
groups; and z_ii = k / s for a record of a group of s. With d_ij the squared distances,

    SSE = Σ_{i<j} d_ij / k · z_ij.

As in :mod:`microagg.optimum.set_partitioning` groups of k to 2k-1 suffice, so k / (2k-1) ≤ z_ii ≤ 1 and 0 ≤ z_ij ≤ 1.
Each of the s records of a group is in s - 1 pairs of the group, so

    z_ii + Σ_j z_ij = s · k / s = k   for each record i;

there are at most n / k groups, in each of which the z_ii add up to k:

    Σ_i z_ii ≤ k ⌊n / k⌋;

and for each record i, the center, and any set S of others, the leaves,

    Σ_{j in S} z_ij - Σ_{j<l in S} z_jl ≤ z_ii,

since t leaves in the group of i contribute (t - t (t-1) / 2) k / s ≤ k / s to the left side, and pairs of leaves in
other groups only lower it. These are the 2-partition inequalities of Grötschel & Wakabayashi (1989) with one record on
one side; with two leaves they are their triangle inequalities, which for clustering by squared distances are due to
Aloise, Hansen & Rocha (2012). The least cost under all these is a lower bound; without the 2-partition inequalities it
is close to the nearest-neighbor bound.

**The bound.** Take any u_i, of any sign, for each record, any w ≤ 0 for the number of groups and any v ≤ 0 for each of
some 2-partition inequalities: dual values. Then for the z of every partition

    SSE ≥ k Σ_i u_i + k ⌊n/k⌋ w + Σ over records of rc_ii z_ii + Σ over all pairs of rc_ij z_ij
        ≥ k Σ_i u_i + k ⌊n/k⌋ w + Σ over records of min(rc_ii, rc_ii k/(2k-1)) + Σ over all pairs of min(rc_ij, 0),

    rc_ii = - u_i - w + Σ v over the inequalities with center i,
    rc_ij = d_ij / k - u_i - u_j - Σ v over those with one of i and j as center and the other as leaf
                                 + Σ v over those with leaves i and j.

For each row, its dual value times the excess of its right side over its left side is added to the SSE; that product is
0 for equations and otherwise at most 0. Only some pairs are columns of the program, but among them are all pairs in its
2-partition inequalities. For the others rc_ij is d_ij / k - u_i - u_j, and a search by bounding boxes finds all those
in which that is negative. For rounding, each rc is lowered by
:data:`~microagg.kernels.bounds.cliques.ROUNDING` of the sizes of its terms.

**How the dual values are found.** By a primal-dual hybrid gradient method with reflection, restarts and Halpern's
anchor (Chambolle & Pock 2011; Lu & Yang 2024), whose steps are products with a sparse matrix. Its step sizes are
those of Pock & Chambolle (2011), with rows scaled by the approximate size of the dual value of the record or center: in
dense regions, steps of the length for sparse ones would be too long by orders of magnitude. After each round of steps,
violated 2-partition inequalities enter, those with a dual value of 0 leave, and pairs with a negative rc enter.
Inequalities have up to two leaves at first, and more once those gain little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from microagg.kernels.bounds.cliques import ROUNDING, make_graph, price_pairs, violated_inequalities
from microagg.optimum.program import ALLOWANCE, Program, usable
from microagg.validation import FloatArray, IntArray

#: Maximum numbers of leaves of the inequalities: each next one once the last gains little.
LEAVES = (2, 4, 6)
#: Number of nearest records in the first pairs of each record, as a multiple of k.
NEIGHBORS_PER_K = 3
#: Size of a step: at most 1, by the weights of the steps.
STEP = 0.96
#: Number of steps of a round, and number of steps between two evaluations of the bound.
STEPS, STEPS_TO_EVALUATION = 100, 25
#: Maximum number of inequalities that enter in a round, the most violated first, as a multiple of n.
MAX_ENTERING = 30
#: Minimum violation of an inequality that enters; a record's z is about 1.
MIN_VIOLATION = 0.01
#: A pair with z = 0 leaves if its reduced cost is above this share of the mean u.
LEAVE_ABOVE = 0.1
#: Rounds that raise the bound by at most this share are slow.
LITTLE_GAIN = 5e-4
#: A round whose bound is below the best one by more than this share has not settled.
UNSETTLED_GAP = 1e-3
#: It has converged when this many rounds together have raised the bound by a smaller share than NO_GAIN.
LAST_ROUNDS, NO_GAIN = 12, 1e-5
#: Minimum scale of the steps of a record, as a share of the mean.
MIN_SCALE = 0.01
#: Number of records between two pauses.
CHUNK = 2048


class CliquePartitioning(Program):
    """The program over the current pairs and inequalities. An iteration is a round of steps.

    It is slow while rounds gain little.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        super().__init__(X, k)
        self.slow = False  # whether the last rounds gained little
        self._course: list[float] = []  # the best bound after each round
        self._steps = self._rounds()
        self._cheap: list[IntArray] = []
        self._level = 0
        # With larger k, more pairs share the dual values of two records.
        self._primal_weight = 1.0 / k
        self._round_bound = -np.inf

    def advance(self, until: float, go_on: Callable[[], bool]) -> bool:
        """See :meth:`Program.advance`."""
        last_call = 0.0
        while (now := time.perf_counter()) < until:
            if now > last_call + 0.2:
                if not go_on():
                    return False
                last_call = time.perf_counter()
            if next(self._steps):
                return True
        return False

    def _rounds(self) -> Iterator[bool]:
        """Run without end, and yield several times a second, True after a round and False within it."""
        yield from self._begin()
        while True:
            yield from self._assemble()
            yield from self._solve()
            yield from self._price()
            yield from self._separate()
            yield from self._exchange_pairs()
            self.iterations += 1
            self._check_progress()
            yield True

    def _begin(self) -> Iterator[bool]:
        """Pair each record with its nearest, and start from dual values near those of the nearest-neighbor bound."""
        k, n = self.k, len(self.X)
        near = min(n - 1, NEIGHBORS_PER_K * k)
        near_distances = np.empty((n, k))
        keys = []
        # The tree numbers the records in their original order.
        number = np.empty(n, dtype=np.int64)
        number[self.places] = np.arange(n)
        for first in range(0, n, CHUNK):
            last = min(n, first + CHUNK)
            distances, neighbors = self._tree.query(self.X[first:last], k=near + 1, workers=-1)
            near_distances[first:last] = np.square(distances[:, :k])
            records = np.repeat(np.arange(first, last), near + 1)
            others = number[neighbors.ravel()]
            keys.append(_pair_keys(records, others, n)[records != others])
            yield False
        self._rescale(near_distances)
        self._keys = np.unique(np.concatenate(keys))
        self._inequalities = np.empty((0, 1 + max(LEAVES)), dtype=np.int64)
        self._x = np.concatenate([np.ones(n), np.zeros(len(self._keys))])
        self._y = np.append(near_distances[:, -1] / self.unit / (2 * k), 0.0)

    def _assemble(self) -> Iterator[bool]:
        """Set up the program for the current pairs and inequalities."""
        n, k, keys = len(self.X), self.k, self._keys
        differences = self.X[keys // n] - self.X[keys % n]
        self._costs = np.append(np.zeros(n), np.square(differences).sum(axis=1) / k)
        self._low = np.append(np.full(n, k / (2 * k - 1)), np.zeros(len(keys)))
        self._sides = np.append(np.full(n, float(k)), np.zeros(1 + len(self._inequalities)))
        self._sides[n] = k * (n // k)
        yield False
        self._matrix = _make_matrix(keys, self._inequalities, n)
        yield False
        self._transposed = self._matrix.T.tocsr()
        yield False

    def _solve(self) -> Iterator[bool]:
        """Move x and y towards a solution, and store the dual values with the best bound on the way."""
        n, scales = len(self.X), self._scales()
        x = HalpernIterate(self._x, abs(self._transposed) @ scales)
        y = HalpernIterate(self._y, np.diff(self._matrix.indptr) / scales)
        self._value, self._duals = self._evaluate(self._y), self._y
        steps_since_restart, first_error, last_error = 0, 0.0, 0.0
        for step_number in range(1, STEPS + 1):
            weight = (steps_since_restart + 1) / (steps_since_restart + 2)
            tau, sigma = STEP / self._primal_weight, STEP * self._primal_weight
            reduced = self._costs - self._transposed @ y.current
            square = x.move(np.clip(x.current - tau / x.weights * reduced, self._low, 1.0), weight) / tau
            stepped = y.current + sigma / y.weights * (self._sides - self._matrix @ x.reflected)
            np.minimum(stepped[n:], 0.0, out=stepped[n:])
            square += y.move(stepped, weight) / sigma
            # The length of a step, which is 0 at a solution, decides on restarts.
            error = float(np.sqrt(square))
            steps_since_restart += 1
            first_error = error if steps_since_restart == 1 else first_error
            is_enough = error <= 0.2 * first_error or (error <= 0.8 * first_error and error > last_error)
            if steps_since_restart > 1 and (is_enough or steps_since_restart >= 0.36 * step_number + 20):
                primal, dual = x.restart(), y.restart()
                if primal > 1e-12 and dual > 1e-12:  # both are to move about as far
                    self._primal_weight = float(np.sqrt(self._primal_weight * dual / primal))
                steps_since_restart = 0
            last_error = error
            if step_number % STEPS_TO_EVALUATION == 0:
                value = self._evaluate(y.stepped)
                if value > self._value:
                    self._value, self._duals = value, y.stepped
            yield False
        self._x, self._y = x.stepped, y.stepped
        self._reduced = self._costs - self._transposed @ self._y

    def _scales(self) -> FloatArray:
        """Approximate size of each dual value, shape (n + 1 + m,), from that of its record or center."""
        n = len(self.X)
        records = np.abs(self._y[:n])
        mean = float(records.mean())
        # If all dual values are 0, there is no scale yet.
        records = np.maximum(records / mean, MIN_SCALE) if mean > 0.0 else np.ones(n)
        centers = self._inequalities[:, 0]
        return np.concatenate([records, [1.0], records[centers]])

    def _evaluate(self, y: FloatArray, missing: float = 0.0) -> float:
        """Lower bound from dual values, to which pairs outside the program add ``missing``, at most 0."""
        sizes = self._costs + abs(self._transposed) @ np.abs(y)
        reduced = self._costs - self._transposed @ y - ROUNDING * sizes
        least = np.where(reduced < 0.0, reduced, reduced * self._low)
        allowance = ALLOWANCE * (self._sides @ np.abs(y) + np.abs(least).sum())
        return float(self._sides @ y + least.sum() - allowance) + missing

    def _price(self) -> Iterator[bool]:
        """Compute the bound of the best dual values, and find the missing pairs."""
        n, graph = len(self.X), make_graph(self._keys, len(self.X))
        self._cheap = []
        # The missing pairs at the last dual values enter, too, but these values give no bound.
        for duals, is_best in ((self._duals, True), (self._y, False)):
            missing = 0.0
            if not (usable(duals, len(self._sides)) and usable(duals[n:], len(self._sides) - n, high=0.0)):
                continue
            for first, last in _chunks(n, CHUNK // 4):
                keys, total = price_pairs(self._blocks, graph, duals[:n], self.k, first, last, 4 * self.k)
                self._cheap.append(keys)
                missing += total
                yield False
            if is_best:
                # Computed anew from the dual values at which the missing pairs were found.
                bound = self._evaluate(duals, missing * (1 + ALLOWANCE))
                self._round_bound = bound if np.isfinite(bound) else -np.inf
        self.bound = max(self.bound, self._round_bound)

    def _separate(self) -> Iterator[bool]:
        """Add inequalities that x violates, and drop those with a dual value of 0."""
        n = len(self.X)
        stay = self._y[n + 1 :] < 0.0
        inequalities = [self._inequalities[stay]]
        present_marks = _fingerprints(inequalities[0])
        # The work for a record grows with the square of the number of records in its groups.
        chunk = max(1, min(CHUNK, 100 * CHUNK // self.k**2))
        arguments = make_graph(self._keys, n), self._x, MIN_VIOLATION, LEAVES[self._level], max(LEAVES)
        for first, last in _chunks(n, chunk):
            violated, violations = violated_inequalities(*arguments, first, last)
            marks, rows = np.unique(_fingerprints(violated), return_index=True)
            rows = rows[~np.isin(marks, present_marks)]
            max_entering = MAX_ENTERING * (last - first)
            if len(rows) > max_entering:
                rows = rows[np.argpartition(-violations[rows], max_entering)[:max_entering]]
            inequalities.append(violated[rows])
            yield False
        self._inequalities = np.concatenate(inequalities)
        entered = len(self._inequalities) - len(inequalities[0])
        self._y = np.concatenate([self._y[: n + 1], self._y[n + 1 :][stay], np.zeros(entered)])

    def _exchange_pairs(self) -> Iterator[bool]:
        """Add the missing pairs and those in the inequalities, and drop pairs that are neither used nor cheap."""
        n = len(self.X)
        stay = (self._x[n:] > 0.0) | (self._reduced[n:] < LEAVE_ABOVE * self._y[:n].mean())
        candidates = [self._keys[stay], *self._cheap]
        for _, pairs, _ in _pairs_in(self._inequalities, n):
            candidates.append(np.unique(pairs))
            yield False
        keys = np.unique(np.concatenate(candidates))
        yield False
        x = np.zeros(n + len(keys))
        x[:n] = self._x[:n]
        x[n + np.searchsorted(keys, self._keys[stay])] = self._x[n:][stay]
        self._keys, self._x = keys, x

    def _gain(self, rounds: int) -> float:
        """Relative gain of the bound in the last rounds, or infinity with fewer rounds."""
        if len(self._course) <= rounds:
            return np.inf
        gain = self._course[-1] - self._course[-1 - rounds]
        return gain / abs(self._course[-1]) if gain > 0.0 else 0.0

    def _check_progress(self) -> None:
        """Turn to larger inequalities, or end, if the gain is small."""
        self._course.append(self.bound)
        # Inequalities that enter now raise the bound in the next round at the earliest, and a round whose bound is far
        # below the best one has not settled.
        arrived = self._round_bound >= self.bound * (1 - UNSETTLED_GAP)
        self.slow = len(self._course) > 2 and self._gain(1) <= LITTLE_GAIN and arrived
        if self.slow and self._level < len(LEAVES) - 1:
            self._level += 1
            self._course = []
        else:
            self.converged = self._gain(LAST_ROUNDS) <= NO_GAIN


class HalpernIterate:
    """The primal or the dual vector of the method, shape (m,), whose step sizes are divided by ``weights``."""

    def __init__(self, start: FloatArray, weights: FloatArray) -> None:
        self.weights = weights
        # The start of the next step, perhaps out of bounds; the last restart; and the end of the last step, in bounds.
        self.current = self._anchor = self.stepped = start

    def move(self, stepped: FloatArray, weight: float) -> float:
        """Go beyond ``stepped`` as far as it is away, and back towards the last restart; return the squared length."""
        difference = stepped - self.current
        self.stepped, self.reflected = stepped, stepped + difference
        self.current = weight * self.reflected + (1.0 - weight) * self._anchor
        return self._weighted_square(difference)

    def restart(self) -> float:
        """Restart from the end of the last step, and return its distance from the last restart."""
        distance = float(np.sqrt(self._weighted_square(self.stepped - self._anchor)))
        self.current = self._anchor = self.stepped
        return distance

    def _weighted_square(self, vector: FloatArray) -> float:
        # Not a dot product: for vectors of this size, its threads wait for each other longer than they work.
        return float((self.weights * np.square(vector)).sum())


def _make_matrix(keys: IntArray, inequalities: IntArray, n: int) -> Any:
    """Sparse matrix of the program, with a row for each record, for the number of groups, and for each inequality.

    Its columns are the records and the pairs ``keys``. All entries are 1 or -1.
    """
    from scipy.sparse import csr_array

    records, pairs = np.arange(n), np.arange(n, n + len(keys))
    rows = [records, keys // n, keys % n, np.full(n, n), np.arange(n + 1, n + 1 + len(inequalities))]
    columns = [records, pairs, pairs, records, inequalities[:, 0]]
    signs = [1.0, 1.0, 1.0, 1.0, -1.0]
    for numbers, inequality_keys, sign in _pairs_in(inequalities, n):
        rows.append(n + 1 + numbers)
        columns.append(n + np.searchsorted(keys, inequality_keys))
        signs.append(sign)
    values = np.repeat(signs, [len(part) for part in rows])
    shape = n + 1 + len(inequalities), n + len(keys)
    return csr_array((values, (np.concatenate(rows), np.concatenate(columns))), shape=shape)


def _chunks(n: int, size: int) -> list[tuple[int, int]]:
    """Split n records into ranges of at most ``size``."""
    return [(first, min(n, first + size)) for first in range(0, n, size)]


def _pair_keys(first_records: IntArray, second_records: IntArray, n: int) -> IntArray:
    """Key of each pair of records."""
    return np.minimum(first_records, second_records) * n + np.maximum(first_records, second_records)


def _pairs_in(inequalities: IntArray, n: int) -> Iterator[tuple[IntArray, IntArray, float]]:
    """Yield all pairs in the inequalities in several parts: their inequalities, keys, and sign."""
    for a in range(1, inequalities.shape[1]):
        numbers = np.flatnonzero(inequalities[:, a] >= 0)
        for b in range(a):
            records = inequalities[numbers]
            yield numbers, _pair_keys(records[:, b], records[:, a], n), -1.0 if b else 1.0


def _fingerprints(inequalities: IntArray) -> IntArray:
    """Hash of each inequality. In the unlikely case of equal hashes, one inequality never enters."""
    odd = np.random.default_rng(0).integers(1, 2**62, size=inequalities.shape[1]) * 2 + 1
    return ((inequalities + 1) * odd).sum(axis=1)
