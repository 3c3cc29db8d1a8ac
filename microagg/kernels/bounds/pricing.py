"""Which groups cost less than the prices of their records: branch and bound over sets of nearby records.

The dual of the set-partitioning linear program (see :mod:`microagg.metrics.set_partitioning`) gives each record a price
pi, and each of some triples of records a toll that a group with two or three of them pays. The reduced cost of a group
G of s records is

    rc(G) = SSE(G) - Σ_{x in G} pi_x + Σ tolls,   SSE(G) = 1/s · Σ over pairs in G of d(x, y),

d squared distances. Sought is, for each root record, the least rc of the groups that belong to it.

**Whose group is it.** Without tolls rc(G) is half the sum over the members x of their stars
Σ_{y in G, y ≠ x} w(x, y), w(x, y) = d(x, y) / s - (pi_x + pi_y) / (s - 1), up to a factor: Σ_x star(x) = 2 · rc(G). So
a group with a negative rc, tolls being nonnegative, has a member with a negative star; the member with the least star
is its root. A record is a candidate for a root's groups of s only if its w and the s-2 least others make less than 0.

**Bound.** For a part P of a group of s, q = s - |P| more members y from a set of candidates add at least

    A(y) + 1/s · h(y),  A(y) = 1/s · Σ_{p in P} d(y, p) - pi_y + shares of tolls,

each, h(y) being half the sum of the q-1 least squared distances from y to any records. A toll that is due as soon as
one of two more records of its triple comes is shared half and half between them: if both come it is right, if one
comes it is too little. So the cost of P and the q least of these sums together bound rc from below.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from microagg.kernels.bounds.boxes import BLOCK, Blocks
from microagg.validation import FloatArray, IntArray

#: Of more candidates for one root and size than this, only some are searched through, which counts as cut short.
MOST_CANDIDATES = 1500


class Tolls(NamedTuple):
    """What groups with at least two records of a triple pay; made by :func:`make_tolls`.

    Attributes
    ----------
    triples : array of int, shape (m, 3)
    prices : array of float, shape (m,)
        Nonnegative.
    starts, rows : arrays of int, shape (n + 1,) and (3m,)
        The triples of record x are rows[starts[x] : starts[x + 1]].
    """

    triples: IntArray
    prices: FloatArray
    starts: IntArray
    rows: IntArray


class Found(NamedTuple):
    """The cheapest groups found for each root.

    Attributes
    ----------
    least : array of float, shape (n,)
        A number that the rc of no group of the root lies below; at most 0.
    groups : array of int, shape (n, keep, 2k - 1)
        Cheapest first, filled up with -1.
    costs : array of float, shape (n, keep)
    counts : array of int, shape (n,)
    cut_short : array of bool, shape (n,)
        Whether the effort did not suffice, so that ``least`` may be too low.
    """

    least: FloatArray
    groups: IntArray
    costs: FloatArray
    counts: IntArray
    cut_short: IntArray


class Local(NamedTuple):
    """The candidates of one root for groups of any size, numbered from 0, the root last.

    Attributes
    ----------
    ids : array of int, shape (m + 1,)
    D : array of float, shape (m + 1, m + 1)
        Their squared distances.
    pi : array of float, shape (m + 1,)
    halves : array of float, shape (m + 1, 2k - 2)
    """

    ids: IntArray
    D: FloatArray
    pi: FloatArray
    halves: FloatArray


class Stack(NamedTuple):
    """The search for one root and one size: for each depth the candidates left, in the order of their bounds."""

    candidates: IntArray
    counts: IntArray
    next: IntArray
    A: FloatArray
    bounds: FloatArray
    base: FloatArray
    stars: FloatArray
    chosen: IntArray
    least: FloatArray
    star: FloatArray  # w of the root and each candidate
    due: IntArray  # how many records of each triple are chosen
    place: IntArray  # the local number of a record, -1 for none
    taken: IntArray  # whether a local record is chosen


def make_tolls(n: int, triples: IntArray, prices: FloatArray) -> Tolls:
    """Return the tolls of ``triples``, shape (m, 3), of n records."""
    members = triples.ravel()
    order = np.argsort(members, kind="stable")
    starts = np.searchsorted(members[order], np.arange(n + 1))
    return Tolls(np.ascontiguousarray(triples), np.maximum(prices, 0.0), starts, order // 3)


def make_found(n: int, k: int, keep: int) -> Found:
    """Return room for ``keep`` groups for each of n roots."""
    return Found(
        np.zeros(n),
        np.full((n, keep, 2 * k - 1), -1, dtype=np.int64),
        np.zeros((n, keep)),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _distance(X: FloatArray, i: int, j: int) -> float:
    total = 0.0
    for a in range(X.shape[1]):
        difference = X[i, a] - X[j, a]
        total += difference * difference
    return total


@njit(cache=True, nogil=True)
def _put(least: FloatArray, q: int, value: float) -> None:
    """Put ``value`` among the q least, ascending."""
    if value >= least[q - 1]:
        return
    at = q - 1
    while at > 0 and least[at - 1] > value:
        least[at] = least[at - 1]
        at -= 1
    least[at] = value


@njit(cache=True, nogil=True)
def _shared(prices: float, share: float) -> float:
    return share * prices if prices > 0.0 else prices


@njit(cache=True, nogil=True)
def _gather(
    blocks: Blocks, pi: FloatArray, highest: FloatArray, root: int, more: float, share: float, ids: IntArray,
    distances: FloatArray,
) -> int:  # fmt: skip
    """Find the records with a squared distance from the root below more + share · (pi of root + pi of it).

    Where that sum is negative it is counted once: s / (s - 1) of it is less for every s.
    """
    X = blocks.X
    n, d = X.shape
    count = 0
    for block in range(len(blocks.low)):
        limit = more + _shared(pi[root] + highest[block], share)
        gap = 0.0
        for a in range(d):
            beside = max(max(blocks.low[block, a] - X[root, a], X[root, a] - blocks.high[block, a]), 0.0)
            gap += beside * beside
        if gap >= limit:
            continue
        for y in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            distance = _distance(X, root, y)
            if distance < more + _shared(pi[root] + pi[y], share) and y != root:
                ids[count] = y
                distances[count] = distance
                count += 1
    return count


@njit(cache=True, nogil=True)
def _most_others_take_off(distances: FloatArray, prices: FloatArray, own: float, s: int, least: FloatArray) -> float:
    """Return how much s - 2 records can lower a star at most, from those with a negative w."""
    if s == 2:
        return 0.0
    least[: s - 2] = 0.0
    for at in range(len(distances)):
        _put(least, s - 2, distances[at] / s - (own + prices[at]) / (s - 1))
    total = 0.0
    for at in range(s - 2):
        total -= least[at]
    return total


@njit(cache=True, nogil=True)
def _least_star(
    distances: FloatArray, prices: FloatArray, own: float, s: int, least: FloatArray
) -> tuple[float, float]:
    """Return the least star of a group of s, and what w of a candidate must be below for the star to be negative."""
    least[: s - 1] = np.inf
    for at in range(len(distances)):
        _put(least, s - 1, distances[at] / s - (own + prices[at]) / (s - 1))
    others = 0.0
    for at in range(s - 2):
        others += least[at]
    return others + least[s - 2], -others


@njit(cache=True, nogil=True)
def _shortlist(
    near: IntArray, distances: FloatArray, pi: FloatArray, halves: FloatArray, root: int, s: int, below: float,
    limit: float, least: FloatArray, places: IntArray,
) -> tuple[int, float]:  # fmt: skip
    """Find which of ``near`` are candidates of a root for groups of s whose bound is below ``limit``.

    Their places in ``near`` are written into ``places``; returns how many there are and the bound for all.
    """
    least[: s - 1] = np.inf
    count = 0
    for at in range(len(near)):
        y = near[at]
        if distances[at] / s - (pi[root] + pi[y]) / (s - 1) < below:
            places[count] = at
            count += 1
            _put(least, s - 1, (distances[at] + halves[y, s - 2]) / s - pi[y])
    rest = -pi[root]
    for at in range(s - 2):
        rest += least[at]
    kept = 0
    for t in range(count):
        at = places[t]
        y = near[at]
        if rest + max((distances[at] + halves[y, s - 2]) / s - pi[y], least[s - 2]) < limit:
            places[kept] = at
            kept += 1
    return (kept, rest + least[s - 2]) if kept >= s - 1 else (0, 0.0)


@njit(cache=True, nogil=True)
def _localize(X: FloatArray, pi: FloatArray, halves: FloatArray, root: int, candidates: IntArray) -> Local:
    """Return the candidates with their distances."""
    m = len(candidates)
    ids = np.empty(m + 1, dtype=np.int64)
    ids[:m] = candidates
    ids[m] = root
    D = np.zeros((m + 1, m + 1))
    for x in range(m + 1):
        for y in range(x):
            D[x, y] = _distance(X, ids[x], ids[y])
            D[y, x] = D[x, y]
    return Local(ids, D, pi[ids], halves[ids])


@njit(cache=True, nogil=True)
def _enter(local: Local, stack: Stack, tolls: Tolls, depth: int, y: int) -> None:
    """Make local record y one of the chosen: update what others then cost at ``depth``, and the cost of the part."""
    record = local.ids[y]
    for at in range(tolls.starts[record], tolls.starts[record + 1]):
        row = tolls.rows[at]
        price = tolls.prices[row]
        if price == 0.0:
            continue
        stack.due[row] += 1
        if stack.due[row] == 3:
            continue
        if stack.due[row] == 2:
            stack.base[depth] += 0.5 * price
        for member in tolls.triples[row]:
            z = stack.place[member]
            if z >= 0 and z != y and stack.taken[z] == 0:
                stack.A[depth, z] += 0.5 * price if stack.due[row] == 1 else -0.5 * price
    stack.taken[y] = 1


@njit(cache=True, nogil=True)
def _leave(local: Local, stack: Stack, tolls: Tolls, y: int) -> None:
    record = local.ids[y]
    for at in range(tolls.starts[record], tolls.starts[record + 1]):
        row = tolls.rows[at]
        if tolls.prices[row] > 0.0:
            stack.due[row] -= 1
    stack.taken[y] = 0


@njit(cache=True, nogil=True)
def _rank(local: Local, stack: Stack, depth: int, s: int, q: int, worst: float) -> None:
    """Sort the candidates at a depth by their bounds, without those that cannot be in a group below ``worst``."""
    least = stack.least
    least[:q] = np.inf
    for t in range(stack.counts[depth]):
        y = stack.candidates[depth, t]
        bound = stack.A[depth, y] + local.halves[y, q - 1] / s
        stack.bounds[depth, t] = bound
        _put(least, q, bound)
    rest = stack.base[depth]
    for at in range(q - 1):
        rest += least[at]
    kept = 0
    for t in range(stack.counts[depth]):
        y, bound = stack.candidates[depth, t], stack.bounds[depth, t]
        if rest + max(bound, least[q - 1]) >= worst:
            continue
        at = kept
        while at > 0 and stack.bounds[depth, at - 1] > bound:
            stack.bounds[depth, at] = stack.bounds[depth, at - 1]
            stack.candidates[depth, at] = stack.candidates[depth, at - 1]
            at -= 1
        stack.bounds[depth, at] = bound
        stack.candidates[depth, at] = y
        kept += 1
    stack.counts[depth] = kept
    stack.next[depth] = 0


@njit(cache=True, nogil=True)
def _keep(local: Local, stack: Stack, depth: int, last: int, cost: float, root: int, found: Found) -> None:
    """Put the group of the root, the chosen and a last one among the cheapest of the root."""
    keep = found.costs.shape[1]
    at = found.counts[root]
    if at == keep:
        at -= 1
    else:
        found.counts[root] += 1
    while at > 0 and found.costs[root, at - 1] > cost:
        found.costs[root, at] = found.costs[root, at - 1]
        found.groups[root, at] = found.groups[root, at - 1]
        at -= 1
    found.costs[root, at] = cost
    group = found.groups[root, at]
    group[:] = -1
    group[0] = root
    for p in range(depth):
        group[p + 1] = local.ids[stack.chosen[p]]
    group[depth + 1] = local.ids[last]


@njit(cache=True, nogil=True)
def _complete(local: Local, stack: Stack, tolls: Tolls, depth: int, root: int, limit: float, found: Found) -> None:
    """Add each candidate that is left as the last one."""
    for t in range(stack.counts[depth]):
        y = stack.candidates[depth, t]
        cost = stack.base[depth] + stack.A[depth, y]
        if cost >= _worst(found, root, limit):
            continue
        record = local.ids[y]
        for at in range(tolls.starts[record], tolls.starts[record + 1]):
            if stack.due[tolls.rows[at]] == 1:
                cost += 0.5 * tolls.prices[tolls.rows[at]]
        if cost < _worst(found, root, limit):
            _keep(local, stack, depth, y, cost, root, found)


@njit(cache=True, nogil=True)
def _worst(found: Found, root: int, limit: float) -> float:
    """Return what a group must be below to be wanted."""
    keep = found.costs.shape[1]
    return min(limit, found.costs[root, keep - 1]) if found.counts[root] == keep else limit


@njit(cache=True, nogil=True)
def _star_is_negative(stack: Stack, depth: int, t: int, q: int) -> bool:
    """Tell whether the root's star can be negative with the chosen, candidate t and q - 1 of those after it."""
    least = stack.least
    total = stack.stars[depth] + stack.star[stack.candidates[depth, t]]
    if q > 1:
        least[: q - 1] = np.inf
        for z in range(t + 1, stack.counts[depth]):
            _put(least, q - 1, stack.star[stack.candidates[depth, z]])
        for at in range(q - 1):
            total += least[at]
    return total < 0.0


@njit(cache=True, nogil=True)
def _search(
    local: Local, stack: Stack, tolls: Tolls, candidates: IntArray, s: int, root: int, limit: float, effort: int,
    found: Found,
) -> int:  # fmt: skip
    """Go through the groups of s of a root with ``candidates``, local numbers; return the effort spent."""
    m = len(local.ids) - 1
    stack.counts[0] = len(candidates)
    for t in range(len(candidates)):
        y = candidates[t]
        stack.candidates[0, t] = y
        stack.A[0, y] = local.D[m, y] / s - local.pi[y]
        stack.star[y] = local.D[m, y] / s - (local.pi[m] + local.pi[y]) / (s - 1)
    stack.base[0] = -local.pi[m]
    stack.stars[0] = 0.0
    _enter(local, stack, tolls, 0, m)
    depth = work = 0
    fresh = True
    while depth >= 0:
        q = s - 1 - depth
        worst = _worst(found, root, limit)
        if fresh:
            fresh = False
            work += stack.counts[depth]
            if q == 1:
                _complete(local, stack, tolls, depth, root, limit, found)
                stack.counts[depth] = 0
            else:
                _rank(local, stack, depth, s, q, worst)
        t = stack.next[depth] if q > 1 else 0
        bound = np.inf
        if t + q <= stack.counts[depth]:
            bound = stack.base[depth]
            for at in range(t, t + q):
                bound += stack.bounds[depth, at]
        if bound < worst and work > effort:
            found.least[root] = min(found.least[root], bound)
            found.cut_short[root] = 1
            bound = np.inf
        if bound >= worst:
            depth -= 1
            if depth >= 0:
                _leave(local, stack, tolls, stack.chosen[depth])
            continue
        stack.next[depth] = t + 1
        y = stack.candidates[depth, t]
        if not _star_is_negative(stack, depth, t, q):
            continue
        stack.chosen[depth] = y
        stack.base[depth + 1] = stack.base[depth] + stack.A[depth, y]
        stack.stars[depth + 1] = stack.stars[depth] + stack.star[y]
        count = 0
        for z in range(t + 1, stack.counts[depth]):
            other = stack.candidates[depth, z]
            stack.candidates[depth + 1, count] = other
            stack.A[depth + 1, other] = stack.A[depth, other] + local.D[y, other] / s
            count += 1
        depth += 1
        stack.counts[depth] = count
        _enter(local, stack, tolls, depth, y)
        fresh = True
    _leave(local, stack, tolls, m)
    return work


@njit(cache=True, nogil=True)
def _make_stack(s: int, m: int, due: IntArray, place: IntArray) -> Stack:
    return Stack(
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
        due,
        place,
        np.zeros(m + 1, dtype=np.int64),
    )


@njit(cache=True, nogil=True)
def _search_all_sizes(
    X: FloatArray, near: IntArray, distances: FloatArray, pi: FloatArray, halves: FloatArray, tolls: Tolls, k: int,
    root: int, limit: float, effort: int, least: FloatArray, due: IntArray, place: IntArray, found: Found,
) -> int:  # fmt: skip
    """Find the cheapest groups of a root among the records ``near``; return the effort spent."""
    largest = min(2 * k - 1, len(near) + 1)
    if largest < k:
        return 0
    places = np.empty((largest - k + 1, len(near)), dtype=np.int64)
    counts = np.zeros(largest - k + 1, dtype=np.int64)
    prices = pi[near]
    for s in range(k, largest + 1):
        star, below = _least_star(distances, prices, pi[root], s, least)
        if star >= 0.0:
            continue
        found.least[root] = min(found.least[root], limit)
        count, bound = _shortlist(near, distances, pi, halves, root, s, below, limit, least, places[s - k])
        if count > MOST_CANDIDATES:
            chosen = places[s - k, :count].copy()
            order = np.argsort(distances[chosen] / s - prices[chosen])
            found.least[root] = min(found.least[root], bound)
            found.cut_short[root] = 1
            count = MOST_CANDIDATES
            places[s - k, :count] = chosen[order[:count]]
        counts[s - k] = count
    number = np.full(len(near), -1, dtype=np.int64)
    candidates = np.empty(len(near), dtype=np.int64)
    m = 0
    for row in range(len(counts)):
        for t in range(counts[row]):
            if number[places[row, t]] < 0:
                number[places[row, t]] = m
                candidates[m] = near[places[row, t]]
                m += 1
    if m == 0:
        return 0
    local = _localize(X, pi, halves, root, candidates[:m])
    stack = _make_stack(largest, m, due, place)
    for y in range(m + 1):
        place[local.ids[y]] = y
    total = 0
    for row in range(len(counts)):
        if counts[row] > 0:
            mine = number[places[row, : counts[row]]]
            total += _search(local, stack, tolls, mine, k + row, root, limit, effort, found)
    for y in range(m + 1):
        place[local.ids[y]] = -1
    return total


@njit(cache=True, nogil=True)
def price(
    blocks: Blocks, pi: FloatArray, tolls: Tolls, halves: FloatArray, k: int, first: int, last: int, limit: float,
    effort: int, found: Found,
) -> int:  # fmt: skip
    """Find the cheapest groups of the roots first <= x < last, of k to 2k-1 records; return the effort spent.

    Parameters
    ----------
    halves : array of float, shape (n, 2k - 2)
        Half the sum of the 0, 1, 2, … least squared distances from each record to others.
    limit : float
        Negative: only groups with an rc below it are looked for.
    effort : int
        How many candidates to weigh, at most, for a root and a size before the search is cut short.
    found : Found
        Receives the result; ``least`` is valid whatever the effort.
    """
    n = len(pi)
    highest = np.empty(len(blocks.low))
    for block in range(len(highest)):
        highest[block] = pi[block * BLOCK : (block + 1) * BLOCK].max()
    ids, distances, least = np.empty(n, dtype=np.int64), np.empty(n), np.empty(2 * k)
    due, place = np.zeros(len(tolls.prices), dtype=np.int64), np.full(n, -1, dtype=np.int64)
    share = k / (k - 1)
    total = 0
    for root in range(first, last):
        found.least[root] = 0.0
        found.counts[root] = 0
        found.cut_short[root] = 0
        near = _gather(blocks, pi, highest, root, 0.0, share, ids, distances)
        more = 0.0
        for s in range(k, min(2 * k, n + 1)):
            more = max(more, s * _most_others_take_off(distances[:near], pi[ids[:near]], pi[root], s, least))
        if more > 0.0:
            near = _gather(blocks, pi, highest, root, more, share, ids, distances)
        total += _search_all_sizes(
            blocks.X, ids[:near], distances[:near], pi, halves, tolls, k, root, limit, effort, least, due, place, found
        )
        if found.counts[root] > 0:
            found.least[root] = min(found.least[root], found.costs[root, 0])
    return total


@njit(cache=True, nogil=True)
def violated_triples(
    groups: IntArray, values: FloatArray, starts: IntArray, rows: IntArray, least: float
) -> tuple[IntArray, FloatArray]:
    """Return triples of records of which groups worth more than 1 in all have at least two.

    Parameters
    ----------
    groups : array of int, shape (m, 2k - 1)
        Filled up with -1.
    values : array of float, shape (m,)
        The share with which each group is in the solution; those of the groups of a record add up to 1.
    starts, rows : arrays of int, shape (n + 1,) and (sum of the sizes,)
        The groups of record x are rows[starts[x] : starts[x + 1]].
    least : float
        The violation from which on a triple is returned.

    Returns
    -------
    triples : array of int, shape (t, 3)
        Ascending within a triple; the same triple may occur up to three times.
    violations : array of float, shape (t,)
    """
    n = len(starts) - 1
    triples, violations = [(0, 0, 0)], [0.0]
    seen = np.full(n, -1, dtype=np.int64)
    partners = np.empty(n, dtype=np.int64)
    worth = np.zeros(len(values))
    for a in range(n):
        count = 0
        for at in range(starts[a], starts[a + 1]):
            for b in groups[rows[at]]:
                if b >= 0 and b != a and seen[b] != a:
                    seen[b] = a
                    partners[count] = b
                    count += 1
        for first in range(count):
            b = partners[first]
            for second in range(first):
                c = partners[second]
                total = -1.0
                for x in (a, b, c):
                    for at in range(starts[x], starts[x + 1]):
                        row = rows[at]
                        # Counted once a second record of the triple is met, and then no more.
                        if worth[row] == 1.0:
                            total += values[row]
                        worth[row] += 1.0
                for x in (a, b, c):
                    for at in range(starts[x], starts[x + 1]):
                        worth[rows[at]] = 0.0
                if total > least:
                    triples.append((min(a, b, c), a + b + c - min(a, b, c) - max(a, b, c), max(a, b, c)))
                    violations.append(total)
    return np.array(triples)[1:], np.array(violations)[1:]
