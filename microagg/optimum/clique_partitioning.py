"""A proven lower bound on the SSE from the linear program of clique partitioning, whose columns are pairs of records.

**The program.** For a partition let z_ij be k / s for two records i < j of one group of s, and 0 for two of different
groups; and z_ii = k / s for a record of a group of s. With d_ij the squared distances,

    SSE = Σ_{i<j} d_ij / k · z_ij.

As in :mod:`microagg.optimum.set_partitioning` groups of k to 2k-1 suffice, so k / (2k-1) ≤ z_ii ≤ 1 and 0 ≤ z_ij ≤ 1.
Each of the s records of a group is in s - 1 pairs of the group, so

    z_ii + Σ_j z_ij = s · k / s = k   for each record i;

the groups within any set U of records, a cluster, of which there are at most |U| / k, have z_ii that add up to k,

    Σ_{i in U} z_ii - Σ_{i in U, j not in U} z_ij ≤ k ⌊|U| / k⌋,

as any other group, with a of its s records in U and b outside, adds (a - a b) k / s ≤ 0 to the left side. With U all
records that is the number of groups. And for each record i, the center, and any set S of others, the leaves,

    Σ_{j in S} z_ij - Σ_{j<l in S} z_jl ≤ z_ii,

since t leaves in the group of i contribute (t - t (t-1) / 2) k / s ≤ k / s to the left side, and pairs of leaves in
other groups only lower it. These are the 2-partition inequalities of Grötschel & Wakabayashi (1989) with one record on
one side; with two leaves they are their triangle inequalities, which for clustering by squared distances are due to
Aloise, Hansen & Rocha (2012). The least cost under all these is a lower bound; without the 2-partition inequalities it
is close to the nearest-neighbor bound.

**The bound.** Take any u_i, of any sign, for each record, any w_U ≤ 0 for each of some clusters and any v ≤ 0 for each
of some 2-partition inequalities: dual values. Then for the z of every partition

    SSE ≥ value + Σ over records of rc_ii z_ii + Σ over all pairs of rc_ij z_ij
        ≥ value + Σ over records of min(rc_ii, rc_ii k/(2k-1)) + Σ over all pairs of min(rc_ij, 0),

    value = k Σ_i u_i + k Σ_U ⌊|U|/k⌋ w_U,
    rc_ii = - u_i - Σ w over the clusters with i + Σ v over the inequalities with center i,
    rc_ij = d_ij / k - u_i - u_j + Σ w over the clusters with one of i and j
                                 - Σ v over the inequalities with one of i and j as center and the other as leaf
                                 + Σ v over those with leaves i and j.

For each row, its dual value times the excess of its right side over its left side is added to the SSE; that product is
0 for equations and otherwise at most 0. Only some pairs are columns of the program, but among them are all pairs in its
2-partition inequalities. For the others rc_ij has no v, and a search by bounding boxes finds all those in which it is
negative. For rounding, each rc is lowered by :data:`~microagg.kernels.bounds.cliques.ROUNDING` of the sizes of its
terms.

**How the dual values are found.** By a primal-dual hybrid gradient method with reflection, restarts and Halpern's
anchor (Chambolle & Pock 2011; Lu & Yang 2024), whose steps are products with a sparse matrix. Its step sizes are
those of Pock & Chambolle (2011), with rows scaled by the approximate size of the dual value of the record or center: in
dense regions, steps of the length for sparse ones would be too long by orders of magnitude. After each round of steps,
violated 2-partition inequalities and clusters enter, those with a dual value of 0 leave, and pairs with a negative rc
enter. Inequalities have up to two leaves at first, and more once those gain little. Clusters gain much where their
sizes are no multiples of k.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
#: Records whose pair has a z above one of LINKS are in one cluster. Minimum number of groups by which a cluster that
#: enters has too many, and maximum number of clusters times pairs.
LINKS, MIN_EXCESS, MAX_WORK = (0.001, 0.01, 0.1, 0.3), 0.02, 50_000_000
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
        self._clusters = np.ones((1, n), dtype=np.bool_)  # the first has all records
        self._x = np.concatenate([np.ones(n), np.zeros(len(self._keys))])
        self._y = np.append(near_distances[:, -1] / self.unit / (2 * k), 0.0)

    def _assemble(self) -> Iterator[bool]:
        """Set up the program for the current pairs and inequalities."""
        n, k, keys = len(self.X), self.k, self._keys
        differences = self.X[keys // n] - self.X[keys % n]
        self._costs = np.append(np.zeros(n), np.square(differences).sum(axis=1) / k)
        self._low = np.append(np.full(n, k / (2 * k - 1)), np.zeros(len(keys)))
        limits = k * (self._clusters.sum(axis=1) // k)
        self._sides = np.concatenate([np.full(n, float(k)), limits, np.zeros(len(self._inequalities))])
        yield False
        self._matrix = _make_matrix(keys, self._clusters, self._inequalities, n)
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
        """Approximate size of each dual value, shape (n + c + m,), from that of its records or center."""
        n = len(self.X)
        records = np.abs(self._y[:n])
        mean = float(records.mean())
        # If all dual values are 0, there is no scale yet.
        records = np.maximum(records / mean, MIN_SCALE) if mean > 0.0 else np.ones(n)
        centers = self._inequalities[:, 0]
        clusters = self._clusters @ records / self._clusters.sum(axis=1)
        return np.concatenate([records, clusters, records[centers]])

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
            clusters, w, charges = self._clusters[1:], duals[n + 1 : n + len(self._clusters)], np.zeros(n)
            for cluster, dual in zip(clusters, w, strict=True):
                charges[cluster] -= dual
            for first, last in _chunks(n, CHUNK // 4):
                arguments = self._blocks, graph, duals[:n], clusters, w, charges, self.k
                keys, total = price_pairs(*arguments, first, last, 4 * self.k)
                self._cheap.append(keys)
                missing += total
                yield False
            if is_best:
                # Computed anew from the dual values at which the missing pairs were found.
                bound = self._evaluate(duals, missing * (1 + ALLOWANCE))
                self._round_bound = bound if np.isfinite(bound) else -np.inf
        self.bound = max(self.bound, self._round_bound)

    def _separate(self) -> Iterator[bool]:
        """Add inequalities and clusters that x violates, and drop those with a dual value of 0."""
        n, c = len(self.X), len(self._clusters)
        stay, cluster_stays = self._y[n + c :] < 0.0, self._y[n : n + c] < 0.0
        cluster_stays[0] = True
        inequalities = [self._inequalities[stay]]
        present_marks = _fingerprints(inequalities[0])
        # The work for a record grows with the square of the number of records in its groups.
        chunk = max(1, min(CHUNK, 100 * CHUNK // self.k**2))
        graph = make_graph(self._keys, n)
        clusters = self._clusters[cluster_stays]
        crowded = _crowded_clusters(self._keys, self._x, n, self.k, {cluster.tobytes() for cluster in clusters})
        crowded = crowded[: max(MAX_WORK // len(self._keys) - len(clusters), 0)]
        yield False
        arguments = graph, self._x, MIN_VIOLATION, LEAVES[self._level], max(LEAVES)
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
        self._clusters = np.concatenate([clusters, crowded])
        parts = self._y[:n], self._y[n : n + c][cluster_stays], np.zeros(len(crowded)), self._y[n + c :][stay]
        self._y = np.concatenate([*parts, np.zeros(entered)])

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


def _make_matrix(keys: IntArray, clusters: NDArray[np.bool_], inequalities: IntArray, n: int) -> Any:
    """Sparse matrix of the program, with a row for each record, for each cluster, and for each inequality.

    Its columns are the records and the pairs ``keys``. All entries are 1 or -1.
    """
    from scipy.sparse import csr_array

    records, pairs, first = np.arange(n), np.arange(n, n + len(keys)), n + len(clusters)
    numbers, members = np.nonzero(clusters)
    rows = [records, keys // n, keys % n, n + numbers, np.arange(first, first + len(inequalities))]
    columns = [records, pairs, pairs, members, inequalities[:, 0]]
    signs = [1.0, 1.0, 1.0, 1.0, -1.0]
    for number, cluster in enumerate(clusters[1:], n + 1):
        crossing = np.flatnonzero(cluster[rows[1]] != cluster[rows[2]])
        rows.append(np.full(len(crossing), number))
        columns.append(n + crossing)
        signs.append(-1.0)
    for numbers, inequality_keys, sign in _pairs_in(inequalities, n):
        rows.append(first + numbers)
        columns.append(n + np.searchsorted(keys, inequality_keys))
        signs.append(sign)
    values = np.repeat(signs, [len(part) for part in rows])
    shape = first + len(inequalities), n + len(keys)
    return csr_array((values, (np.concatenate(rows), np.concatenate(columns))), shape=shape)


def _crowded_clusters(keys: IntArray, x: FloatArray, n: int, k: int, known: set[bytes]) -> NDArray[np.bool_]:
    """Clusters, apart from the known ones, in which there are more groups than there can be: shape (c, n), worst first.

    They are the connected components of the pairs whose value in x, shape (n + p,), is above some levels.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    first, second, values = keys // n, keys % n, x[n:]
    excesses: dict[bytes, float] = {}
    for level in LINKS:
        linked = values > level
        graph = csr_array((values[linked], (first[linked], second[linked])), shape=(n, n))
        count, numbers = connected_components(graph, directed=False)
        crossing = np.where(numbers[first] != numbers[second], values, 0.0)
        crossing_sums = np.bincount(numbers[first], crossing, count) + np.bincount(numbers[second], crossing, count)
        excess = (np.bincount(numbers, x[:n], count) - crossing_sums) / k - np.bincount(numbers) // k
        excesses |= {(numbers == number).tobytes(): excess[number] for number in np.flatnonzero(excess > MIN_EXCESS)}
    worst = sorted(excesses.keys() - known, key=lambda cluster: -excesses[cluster])
    return np.frombuffer(b"".join(worst), dtype=np.bool_).reshape(-1, n)


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
