"""Pricing for set partitioning: the groups with the least reduced costs, by branch and bound.

The dual of that linear program (see :mod:`microagg.optimum.set_partitioning`) gives each record a dual value pi of any
sign, and each cut of rank one, which has multipliers u_x of some records, whole numbers, and a denominator q > u_x, a
dual value sigma ≥ 0. The reduced cost of a group G of s records is

    rc(G) = SSE(G) - Σ_{x in G} pi_x + Σ over cuts of sigma · ⌊w(G) / q⌋,   w(G) = Σ_{x in G} u_x,

with SSE(G) = 1/s · Σ over pairs in G of d(x, y), d being the squared distance. Each group is assigned to one of its
members, its root; sought are, for each root, the least rc of its groups and the groups that have it.

**Whose group it is.** Give each pair of a group of s the weight w(x, y) = d(x, y) / s - (pi_x + pi_y) / (s - 1). As
each record is in s - 1 pairs, the weights of all pairs add up to rc(G) less the duals of the cuts; the weighted degrees
Σ_{y in G, y ≠ x} w(x, y) of the members add up to twice that. So where rc(G) < 0, sigma being nonnegative, some member
has a negative weighted degree, and the one with the least is the root. For each root it is enough to search the groups
in which its own weighted degree is negative; :mod:`.boxes` finds which records can be in them. Groups with rc ≥ 0
need no search, as the bound for a root is at most 0.

**The bound.** Let a part P of a group of s be chosen, so that m = s - |P| members are still to come from a set of
candidates. P costs 1/s · Σ over its pairs of d - Σ pi + Σ over cuts of sigma · ⌊w(P) / q⌋. Each member y to come adds
at least

    A(y) + 1/s · h(y),   A(y) = 1/s · Σ_{p in P} d(y, p) - pi_y,

where h(y) is half the sum of the m - 1 least squared distances from y to any records: of the distances among the
members to come, each of a pair is charged half. What they add to the cuts is at least 0. So the cost of P and the m
least of these sums together are a lower bound on rc.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from microagg.kernels.bounds.boxes import (
    Blocks,
    Local,
    greatest_of_blocks,
    greatest_reduction,
    insert,
    least_degree,
    localize,
    records_around,
    shortlist,
)
from microagg.kernels.bounds.rank_one import Cut
from microagg.kernels.compiled import borrows, kernel
from microagg.validation import FloatArray, IntArray

#: Of more candidates for one root and size than this, only some are searched; the root then counts as cut short.
MOST_CANDIDATES = 1500


class Cuts(NamedTuple):
    """The m cuts of rank one that have a dual value, with p records in all; made by :func:`make_cuts`."""

    duals: FloatArray  # shape (m,): sigma, positive
    denominators: IntArray  # shape (m,): q
    starts: IntArray  # shape (n + 1,): the cuts of record x are at starts[x] to starts[x + 1]
    rows: IntArray  # shape (p,): the number of the cut
    multipliers: IntArray  # shape (p,): u of the record in it


class Found(NamedTuple):
    """What is found for each of n roots: the ``keep`` groups of least reduced cost, or up to ``keep`` below a limit."""

    least: FloatArray  # shape (n,): a lower bound on the reduced cost of every group of the root; at most 0
    groups: IntArray  # shape (n, keep, 2k - 1): each filled up with -1; by ascending reduced cost, unless all are kept
    costs: FloatArray  # shape (n, keep): their reduced costs
    counts: IntArray  # shape (n,): how many groups there are
    # shape (n,): whether the search ended before all groups were seen or ruled out, so that ``least`` may be too low
    cut_short: NDArray[np.bool_]
    keep_all: bool
    first: int  # the root that stands first


class Stack(NamedTuple):
    """A depth-first search for one root and one size: at each depth one more record is in the part.

    There are m candidates, t cuts, and s depths. Records have their local numbers.
    """

    candidates: IntArray  # shape (s, m): those that may still join, in ascending order of ``bounds``
    counts: IntArray  # shape (s,): how many these are
    next: IntArray  # shape (s,): the position of the one to join next
    A: FloatArray  # shape (s, m): A of each record
    bounds: FloatArray  # shape (s, m): A + h / s of each of ``candidates``, in their order
    base: FloatArray  # shape (s,): the cost of the part
    degrees: FloatArray  # shape (s,): the root's weighted degree in the part
    chosen: IntArray  # shape (s,): which record joined at each depth
    least: FloatArray  # shape (s,): scratch
    weights: FloatArray  # shape (m,): w of the root and each candidate
    remainders: IntArray  # shape (t,): w mod q of the part, for each cut


def make_cuts(n: int, cuts: Sequence[Cut], duals: FloatArray) -> Cuts:
    """Those of the ``cuts`` of n records that have a positive one of ``duals``."""
    used = np.flatnonzero(duals > 0.0).tolist()
    entries = [(x, row, u) for row, at in enumerate(used) for x, u in zip(*cuts[at][:2], strict=True)]
    records, rows, multipliers = np.array(sorted(entries), dtype=np.int64).reshape(-1, 3).T.copy()
    denominators = np.array([cuts[at].denominator for at in used], dtype=np.int64)
    return Cuts(duals[used], denominators, np.searchsorted(records, np.arange(n + 1)), rows, multipliers)


def make_found(n: int, k: int, keep: int) -> Found:
    """Return room for ``keep`` groups for each of n roots."""
    return Found(
        np.zeros(n),
        np.full((n, keep, 2 * k - 1), -1, dtype=np.int64),
        np.zeros((n, keep)),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.bool_),
        False,
        0,
    )


def make_all(root: int, k: int, most: int) -> Found:
    """Return room for all groups of one root, of which there may be ``most``; with more, the search is cut short."""
    return make_found(1, k, most)._replace(keep_all=True, first=root)


@borrows
def _join(local: Local, stack: Stack, cuts: Cuts, depth: int, y: int) -> None:
    """Add local record y to the cuts of the part, and what they then cost to ``base``."""
    record = local.ids[y]
    for at in range(cuts.starts[record], cuts.starts[record + 1]):
        cut = cuts.rows[at]
        stack.remainders[cut] += cuts.multipliers[at]
        if stack.remainders[cut] >= cuts.denominators[cut]:
            stack.remainders[cut] -= cuts.denominators[cut]
            stack.base[depth] += cuts.duals[cut]


@borrows
def _leave(local: Local, stack: Stack, cuts: Cuts, y: int) -> None:
    """Undo :func:`_join` in the cuts; the cost is kept by depth."""
    record = local.ids[y]
    for at in range(cuts.starts[record], cuts.starts[record + 1]):
        cut = cuts.rows[at]
        stack.remainders[cut] -= cuts.multipliers[at]
        if stack.remainders[cut] < 0:
            stack.remainders[cut] += cuts.denominators[cut]


@borrows
def _rank(local: Local, stack: Stack, depth: int, s: int, q: int, threshold: float) -> None:
    """Sort the candidates by bound; drop those in no group of ``q`` more members that costs less than ``threshold``."""
    least = stack.least
    least[:q] = np.inf
    for t in range(stack.counts[depth]):
        y = stack.candidates[depth, t]
        bound = stack.A[depth, y] + local.halves[y, q - 1] / s
        stack.bounds[depth, t] = bound
        insert(least, q, bound)
    rest = stack.base[depth]
    for at in range(q - 1):
        rest += least[at]
    n_ranked = 0
    for t in range(stack.counts[depth]):
        y, bound = stack.candidates[depth, t], stack.bounds[depth, t]
        if rest + max(bound, least[q - 1]) >= threshold:
            continue
        at = n_ranked
        while at > 0 and stack.bounds[depth, at - 1] > bound:
            stack.bounds[depth, at] = stack.bounds[depth, at - 1]
            stack.candidates[depth, at] = stack.candidates[depth, at - 1]
            at -= 1
        stack.bounds[depth, at] = bound
        stack.candidates[depth, at] = y
        n_ranked += 1
    stack.counts[depth] = n_ranked
    stack.next[depth] = 0


@borrows
def _keep(local: Local, stack: Stack, depth: int, last: int, cost: float, row: int, results: Found) -> None:
    """Insert the group of the root, the chosen records and the last record into the results of the root."""
    keep = results.costs.shape[1]
    at = results.counts[row]
    if at < keep:
        results.counts[row] += 1
    elif results.keep_all:
        results.cut_short[row] = True
        return
    else:
        at -= 1
    while not results.keep_all and at > 0 and results.costs[row, at - 1] > cost:
        results.costs[row, at] = results.costs[row, at - 1]
        for p in range(results.groups.shape[2]):
            results.groups[row, at, p] = results.groups[row, at - 1, p]
        at -= 1
    results.costs[row, at] = cost
    group = results.groups[row, at]
    group[:] = -1
    group[0] = local.ids[len(local.ids) - 1]
    for p in range(depth):
        group[p + 1] = local.ids[stack.chosen[p]]
    group[depth + 1] = local.ids[last]


@borrows
def _complete(local: Local, stack: Stack, cuts: Cuts, depth: int, row: int, limit: float, results: Found) -> None:
    """Complete the part, which lacks one member, with each candidate in turn."""
    for t in range(stack.counts[depth]):
        y = stack.candidates[depth, t]
        cost = stack.base[depth] + stack.A[depth, y]
        if cost >= _threshold(results, row, limit):
            continue
        record = local.ids[y]
        for at in range(cuts.starts[record], cuts.starts[record + 1]):
            cut = cuts.rows[at]
            if stack.remainders[cut] + cuts.multipliers[at] >= cuts.denominators[cut]:
                cost += cuts.duals[cut]
        if cost < _threshold(results, row, limit):
            _keep(local, stack, depth, y, cost, row, results)


@borrows
def _threshold(results: Found, row: int, limit: float) -> float:
    """Upper bound on the reduced cost of a group that enters the results."""
    keep = results.costs.shape[1]
    if results.keep_all:
        # The search of a row ends when there is no room for all its groups.
        return -np.inf if results.cut_short[row] else limit
    return min(limit, results.costs[row, keep - 1]) if results.counts[row] == keep else limit


@borrows
def _degree_can_be_negative(stack: Stack, depth: int, t: int, q: int) -> bool:
    """Tell whether the root's weighted degree can be negative with the part, candidate t and q - 1 after it."""
    least = stack.least
    total = stack.degrees[depth] + stack.weights[stack.candidates[depth, t]]
    if q > 1:
        least[: q - 1] = np.inf
        for z in range(t + 1, stack.counts[depth]):
            insert(least, q - 1, stack.weights[stack.candidates[depth, z]])
        for at in range(q - 1):
            total += least[at]
    return total < 0.0


@borrows
def _search(local: Local, stack: Stack, cuts: Cuts, s: int, row: int, limit: float, effort: int, results: Found) -> int:
    """Search the groups of s of a root, and return the number of ranked candidates."""
    m = len(local.ids) - 1
    stack.counts[0] = m
    for y in range(m):
        stack.candidates[0, y] = y
        stack.A[0, y] = local.D[m, y] / s - local.pi[y]
        stack.weights[y] = local.D[m, y] / s - (local.pi[m] + local.pi[y]) / (s - 1)
    stack.base[0] = -local.pi[m]
    stack.degrees[0] = 0.0
    _join(local, stack, cuts, 0, m)
    depth = work = 0
    entered = True
    while depth >= 0:
        q = s - 1 - depth
        threshold = _threshold(results, row, limit)
        if entered:
            entered = False
            work += stack.counts[depth]
            if q == 1:
                _complete(local, stack, cuts, depth, row, limit, results)
                stack.counts[depth] = 0
            else:
                _rank(local, stack, depth, s, q, threshold)
        t = stack.next[depth] if q > 1 else 0
        bound = np.inf
        if t + q <= stack.counts[depth]:
            bound = stack.base[depth]
            for at in range(t, t + q):
                bound += stack.bounds[depth, at]
        if bound < threshold and work > effort:
            results.least[row] = min(results.least[row], bound)
            results.cut_short[row] = True
            bound = np.inf
        if bound >= threshold:
            depth -= 1
            if depth >= 0:
                _leave(local, stack, cuts, stack.chosen[depth])
            continue
        stack.next[depth] = t + 1
        y = stack.candidates[depth, t]
        if not _degree_can_be_negative(stack, depth, t, q):
            continue
        stack.chosen[depth] = y
        stack.base[depth + 1] = stack.base[depth] + stack.A[depth, y]
        stack.degrees[depth + 1] = stack.degrees[depth] + stack.weights[y]
        count = 0
        for z in range(t + 1, stack.counts[depth]):
            other = stack.candidates[depth, z]
            stack.candidates[depth + 1, count] = other
            stack.A[depth + 1, other] = stack.A[depth, other] + local.D[y, other] / s
            count += 1
        depth += 1
        stack.counts[depth] = count
        _join(local, stack, cuts, depth, y)
        entered = True
    _leave(local, stack, cuts, m)
    return work


@kernel
def _search_size(
    X: FloatArray, near: IntArray, distances: FloatArray, pi: FloatArray, halves: FloatArray, cuts: Cuts, s: int,
    root: int, limit: float, effort: int, least: FloatArray, remainders: IntArray, results: Found,
) -> int:  # fmt: skip
    """Find the groups of ``s`` of a root with the least reduced cost; return the number of ranked candidates."""
    row = root - results.first
    duals = pi[near]
    degree, below = least_degree(distances, duals, pi[root], s, least)
    if degree >= 0.0:
        return 0
    results.least[row] = min(results.least[row], limit)
    places = np.empty(len(near), dtype=np.int64)
    m, bound = shortlist(near, distances, pi, halves, root, s, below, limit, least, places)
    if m == 0:
        return 0
    places = places[:m]
    if m > MOST_CANDIDATES:
        results.least[row] = min(results.least[row], bound)
        results.cut_short[row] = True
        m = MOST_CANDIDATES
        places = places[np.argsort(distances[places] / s - duals[places])[:m]]
    local = localize(X, pi, halves, root, near[places])
    stack = Stack(
        np.empty((s, m), dtype=np.int64),
        np.zeros(s, dtype=np.int64),
        np.zeros(s, dtype=np.int64),
        np.empty((s, m)),
        np.empty((s, m)),
        np.zeros(s),
        np.zeros(s),
        np.empty(s, dtype=np.int64),
        np.empty(s),
        np.empty(m),
        remainders,
    )
    return _search(local, stack, cuts, s, row, limit, effort, results)


@kernel
def price(
    blocks: Blocks, pi: FloatArray, cuts: Cuts, halves: FloatArray, smallest: int, largest: int, first: int,
    last: int, limit: float, effort: int, results: Found,
) -> int:  # fmt: skip
    """Find the groups of ``smallest`` to ``largest`` records with the least reduced cost of roots first <= x < last.

    ``halves``, shape (n, 2k - 2), is half the sum of the 0, 1, 2, … least squared distances from each record to
    others. Only groups with a reduced cost below ``limit``, a negative number, are searched. The search of a root and a
    size stops once it has ranked more than ``effort`` candidates; the result is the number ranked in all. The groups
    are added to ``results``, which may hold groups of other sizes; its ``least`` is valid for any effort.
    """
    n = len(pi)
    highest = greatest_of_blocks(pi)
    ids, distances, least = np.empty(n, dtype=np.int64), np.empty(n), np.empty(largest + 1)
    remainders = np.zeros(len(cuts.duals), dtype=np.int64)
    factor = smallest / (smallest - 1)
    total = 0
    for root in range(first, last):
        row = root - results.first
        near = records_around(blocks, pi, highest, root, 0.0, factor, ids, distances)
        reduction = 0.0
        for s in range(smallest, min(largest, n) + 1):
            reduction = max(reduction, s * greatest_reduction(distances[:near], pi[ids[:near]], pi[root], s, least))
        if reduction > 0.0:
            near = records_around(blocks, pi, highest, root, reduction, factor, ids, distances)
        for s in range(smallest, min(largest, near + 1) + 1):
            total += _search_size(
                blocks.X, ids[:near], distances[:near], pi, halves, cuts, s, root, limit, effort, least, remainders,
                results,
            )  # fmt: skip
        if results.counts[row] > 0 and not results.keep_all:
            results.least[row] = min(results.least[row], results.costs[row, 0])
    return total
