"""A proven lower bound on the SSE of many records: copies of a group for its records, which multipliers make agree.

**Groups of k are enough.** Let numbers v_i, one for each record, be such that Σ_{i in K} v_i ≤ SSE(K) for every group K
of exactly k records. Then Σ_i v_i is a lower bound on the SSE of every partition into groups of at least k. For the SSE
of a group G of s is 1/s times the sum of the squared distances d_ij of its pairs, and a pair is in the share
k (k-1) / (s (s-1)) of the groups K of k within G. So the mean of SSE(K) over these is (k-1) / (s-1) · SSE(G); the mean
of Σ_{i in K} v_i is k/s · Σ_{i in G} v_i; and

    SSE(G) ≥ (s-1) k / ((k-1) s) · Σ_{i in G} v_i ≥ Σ_{i in G} v_i

if the last sum is not negative, as the factor is at least 1; otherwise it follows from SSE(G) ≥ 0. So larger groups
need no further condition.

**Shares.** Let SSE(K) be shared among the members, the share of i being c_i(K), such that Σ_{i in K} c_i(K) ≤ SSE(K).
Then v_i, the least c_i(K) of all K with i or anything below it, are such numbers: that is Lagrangian decomposition
(Guignard & Kim 1987), each record having a copy of its group. Let the distance of a pair be paid so: j pays
p_jl = ½ min(d_jl, rho_j), with a cut rho_j of its own; l pays p_lj; and what is left, at least 0, is paid in equal
parts by the k - 2 others. Taken by pairs of other members, the share of i is

    c_i(K) = 1 / (k (k-2)) · Σ_{j<l in K, not i} w_jl,   w_jl = p_ij + p_il + (d_jl - p_jl - p_lj),

as each j is in k - 2 of these pairs; and these shares add up to SSE(K). If rho_i is at least the distance to the
k - 1st neighbor, the least share is at least what i contributes to the nearest-neighbor bound.

**Multipliers** make the choices of the records agree. Let lambda_ij = -lambda_ji for mutual pairs of records, and
mu_ijl, of any sign, for the six orders of each *known* triple, add up to 0; which pairs and triples these are, see
below. Then Σ_j lambda_ij + 1 / (k (k-2)) · Σ over ordered pairs j, l of mu_ijl is added to the share of i. Over the
members of K that adds up to 0, so the bound holds whatever lambda and mu are. For k = 2 there are no triples, and the
share of a pair is half of p_ij with rho_i = R_i, plus lambda_ij; if j does not list i but i does j, then i pays half of
what is left, too.

**Lists.** Each record lists the m records nearest to it; its reach R_i is how far the last of them is, infinite if all
are listed, and rho_i is at most R_i. A pair is *mutual* if d_ij < R_i and d_ij < R_j, so that each lists the other; a
triple is known if its three pairs are mutual. Each of the records decides both in the same way, as computed distances
do not depend on the order. A record y that i does not list has d_iy ≥ R_i, so p_iy = ½ rho_i; the pair is not
mutual and no triple with it is known, so there are no multipliers; and what is left of d_jy is at least 0. So
w_jy ≥ p_ij + ½ rho_i, and c_i of the groups with such records is bounded, too.

**The least share** is a quadratic problem, of which :mod:`microagg.kernels.bounds.decomposition` computes the bound of
Gilmore (1962) and Lawler (1963), in time O(m²) for each record: for k = 3, without mu, it is exact. With mu, each
*ordered* pair that a root chooses is one of six views of a triple; to let these agree is what Hahn & Grant (1998) do
for quadratic assignment.

**How lambda and mu are found.** By subgradient steps (Held, Wolfe & Crowder 1974) that become shorter. The slope in
lambda_ij is the number of times that i chooses j minus the number of times that j chooses i. Steps in lambda follow an
average of the slopes and are proportional to d_ij, but at least to the smaller of the two records' distances to their
k - 1st neighbors. In mu, the chosen view rises and the other five of the triple fall. The mu are whole multiples of a
quantum, and lambda_ji is stored as -lambda_ij, so the sums are 0 exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from microagg.kernels import running
from microagg.kernels.bounds import decomposition
from microagg.kernels.neighbors.kd_tree import make_tree
from microagg.kernels.neighbors.knn_graph import leaf_size, list_nearest
from microagg.optimum.program import ALLOWANCE, Multipliers, Stepwise, prove_bound
from microagg.validation import FloatArray

#: Length of a list: twice k and this many more; maximum total length of all lists.
MORE_LISTED, MAX_LISTED = 20, 20_000_000
#: Rank of the listed record at the distance of the cut: twice k and this many more.
CUT_RANK = 4
#: Maximum number of multipliers of triples, which shortens the lists; and minimum length of a list as a multiple of k,
#: below which there are no such multipliers.
MOST_TRIPLES, SHORTEST = 80_000_000, 2
#: Factors of the first steps, and number of steps after which they are half as long.
STEP, HALF_AFTER = 0.4, 10
TRIPLE_STEP, TRIPLE_HALF_AFTER = 0.1, 20
#: Weight of a new slope in the average.
WEIGHT = 0.3
#: It is slow when this many iterations together have raised the bound by a smaller share than LITTLE_GAIN.
FEW_ITERATIONS, LITTLE_GAIN = 10, 3e-3
#: It has converged when this many iterations together have raised the bound by a smaller share than NO_GAIN.
LAST_ITERATIONS, NO_GAIN = 40, 1e-4
#: One in this many iterations checks the multipliers, which takes about a seventh of its time.
ITERATIONS_PER_CHECK = 4
#: Number of terms that a thread adds between two pauses.
TERMS = 8_000_000


class LagrangianDecomposition(Stepwise):
    """The shares of the records at the current multipliers. An iteration is an evaluation and a step.

    It is slow once some iterations gain little, and has converged when many gain next to nothing.
    """

    def __init__(self, X: FloatArray, k: int) -> None:
        super().__init__(X, k)
        # The best bound whose multipliers may not have been checked yet.
        self._pending = -np.inf

    @staticmethod
    def fits(n: int, k: int) -> bool:
        """Whether memory allows lists that are long enough."""
        return n * SHORTEST * k <= MAX_LISTED

    def _rounds(self) -> Iterator[bool]:
        # Not ended by a with statement, see CliquePartitioning.
        pool = ThreadPoolExecutor(running.THREADS, thread_name_prefix="microagg-bound")
        yield from self._begin(pool)
        while True:
            yield from self._choose(pool)
            was_slow = self.slow
            self._course.append(self._pending)
            self.slow = self._gain(FEW_ITERATIONS) <= LITTLE_GAIN
            self.converged = self._gain(LAST_ITERATIONS) <= NO_GAIN
            if self.iterations % ITERATIONS_PER_CHECK == 0 or self.converged or self.slow > was_slow:
                yield from self._check(pool)
            yield from self._step(pool)
            self.iterations += 1
            yield True

    def _begin(self, pool: ThreadPoolExecutor) -> Iterator[bool]:
        """List the nearest records of each record, with multipliers of 0."""
        n, k = len(self.X), self.k
        m = min(n - 1, 2 * k + MORE_LISTED, MAX_LISTED // n)
        max_listed = int((MOST_TRIPLES / n) ** 0.5)
        with_triples = k > 2 and min(max_listed, m) >= min(SHORTEST * k, n - 1)
        if with_triples:
            m = min(m, max_listed)
        near = np.empty((n, m), dtype=np.int32)
        tree = make_tree(np.ascontiguousarray(self.X.T), self.X[0].copy(), running.THREADS, leaf_size(*self.X.shape))
        leaves = len(tree.ends) // 2
        yield from _in_stretches(pool, lambda first, last: list_nearest(tree, first, last, near), leaves, 1)
        # In the squared units of X, from which the scale follows; later in those of scaled X.
        distances = np.zeros((n, k))
        for rank in range(k - 1):
            distances[:, rank + 1] = np.square(self.X - self.X[near[:, rank]]).sum(axis=1)
            yield False
        self._rescale(distances)
        lists = self._lists = decomposition.make_lists(near)
        measure = partial(decomposition.measure, self.X, lists, min(2 * k + CUT_RANK, m) - 1)
        yield from _in_stretches(pool, measure, n, max(1, TERMS // (m * self.X.shape[1])))
        yield from _in_stretches(pool, partial(decomposition.find_mutual, lists), n, max(1, TERMS // m**2))
        self._scales = self._lists.distances[:, k - 2] / k**2
        self._choices = decomposition.make_choices(n, m, k, with_triples)
        self._pairwise, self._drift = np.zeros((n, m)), np.zeros((n, m), dtype=np.float32)
        self._triple = np.zeros((n if with_triples else 0, m, m), dtype=np.int32)
        # The pair in a triple is one of k (k - 2) parts of a share.
        self._triple_scales = self._scales * k * max(k - 2, 1) / 6

    def _choose(self, pool: ThreadPoolExecutor) -> Iterator[bool]:
        """Let all records choose their groups, and compute the bound."""
        m, multipliers = self._pairwise.shape[1], (self._pairwise, self._triple)

        def choose(first: int, last: int) -> None:
            decomposition.choose(self.X, self._lists, self.k, *multipliers, first, last, self._choices)

        records = max(1, TERMS // (m * m * (self.X.shape[1] + self.k)))
        yield from _in_stretches(pool, choose, len(self.X), records)
        self._pending = max(self._pending, prove_bound(self.value, Multipliers(self._pairwise, self._lists.near.shape)))

    def _check(self, pool: ThreadPoolExecutor) -> Iterator[bool]:
        """Accept the best bound if the multipliers add up to 0, or end with that of the last check.

        Steps do not change these sums, so a result now holds for all steps since the last check. One sum over all pairs
        and triples, each multiplied by random odd numbers of its records, modulo a power of two, shows a single wrong
        pair or triple always, and several almost always.
        """
        near, pairwise, triple = self._lists.near, self._pairwise, self._triple
        odd = np.random.default_rng(self.iterations).integers(2**64, size=len(near), dtype=np.uint64) | np.uint64(1)
        pair_sums: list[int] = []
        triple_sums: list[int] = []

        def add_up(first: int, last: int) -> None:
            factors, neighbors = odd[first:last, np.newaxis], odd[near[first:last]]
            # The bits of a float are an integer that grows with it: opposites cancel exactly.
            values = np.where(pairwise[first:last] < 0.0, -1, 1) * np.abs(pairwise[first:last]).view(np.int64)
            pair_sums.append(int((values.view(np.uint64) * neighbors * factors).sum()))
            if len(triple):
                weighted = np.matmul(triple[first:last].astype(np.int64), neighbors.view(np.int64)[:, :, np.newaxis])
                triple_sums.append(int((weighted[:, :, 0].view(np.uint64) * neighbors * factors).sum()))

        yield from _in_stretches(pool, add_up, len(near), max(1, TERMS // (10 * near.shape[1] ** 2)))
        if sum(pair_sums) % 2**64 or sum(triple_sums) % 2**64:
            self._pending, self.converged = self.bound, True
        self.bound = self._pending

    def value(self) -> float:
        """Lower bound from the choices, in squared units of the scaled records."""
        return float(self._choices.shares.sum() - ALLOWANCE * self._choices.sizes.sum())

    def _step(self, pool: ThreadPoolExecutor) -> Iterator[bool]:
        """Move the multipliers so that the choices differ less."""
        lists, choices, scales = self._lists, self._choices, self._scales
        n, m = self._pairwise.shape
        step = STEP / (1 + self.iterations / HALF_AFTER)
        arguments = lists, choices, scales, step, WEIGHT if self.iterations else 1.0, self._drift, self._pairwise
        step_pairs = partial(decomposition.step_pairs, *arguments)
        yield from _in_stretches(pool, step_pairs, n, max(1, TERMS // (10 * m)))
        if len(self._triple):
            step = TRIPLE_STEP / (1 + self.iterations / TRIPLE_HALF_AFTER)
            records = max(1, TERMS // (20 * m * self.k**2))
            for first in range(0, n, records):
                last = min(n, first + records)
                decomposition.step_triples(lists, choices, self._triple_scales, step, self._triple, first, last)
                yield False


def _in_stretches(pool: ThreadPoolExecutor, work: Callable[[int, int], None], n: int, records: int) -> Iterator[bool]:
    """Do ``work`` for all n records, with ``records`` at a time on each core, and pause after each such stretch."""
    stretch = records * running.THREADS
    for first in range(0, n, stretch):
        running.in_parts(pool, work, first, min(n, first + stretch), running.THREADS)
        yield False
