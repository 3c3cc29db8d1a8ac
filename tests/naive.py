"""The algorithms written a second time, straight from their definitions, as oracles for the fast ones.

Plain Python floats, quadratic or worse, and nothing shared with ``microagg``. What both sides agree on, so that
exact ties on integer or duplicated data fall alike in two independent programs:

- distances are squared Euclidean, the attributes' squares added in order;
- ties go to the lowest record index, or to the lowest group number, groups being numbered as they are created
  (``min`` and ``max`` return the first of equals, and every list here is kept in that order);
- the centroid of a group is the sum of its records, added in the order in which they joined, divided by their number;
  that of the unassigned records has correctly rounded sums;
- the SSE of a group adds its members' squared distances to that centroid in the order in which they joined.

In the code, ``U`` is the list of unassigned records in index order, a group is the list of its records in joining
order (seed first), and k is the least size of a group.

Sources: [S0] Thaeter & Reischuk, Improving Anonymization Clustering; [S1] Mortazavi, Jalili & Gohargazi 2013,
Multivariate microaggregation by iterative optimization; [S2] Kabir, Wang & Zhang 2010, A Pairwise Systematic
Microaggregation; [S3] Domingo-Ferrer, Solanas & Martinez-Balleste, k-Anonymity Through Microaggregation.
"""

import itertools
import math

import numpy as np

from tests import naive_mixed
from tests.naive_mixed import canonical_labels as labels_of
from tests.naive_mixed import members_of

# ---- What every algorithm needs --------------------------------------------------------------------------------------


def rows(X):
    """Return X as a list of records, each a list of floats."""
    return np.asarray(X, dtype=float).tolist()


def total(numbers):
    """Return the sum of numbers, added one after the other."""
    # Not sum(): from Python 3.12 on it compensates the rounding of floats, and ties would depend on the version.
    result = 0.0
    for number in numbers:
        result += number
    return result


def d2(a, b):
    """Return the squared Euclidean distance of two records."""
    return total((p - q) * (p - q) for p, q in zip(a, b, strict=True))


def centroid(X, members):
    """Return the attributes' means over members, added in their order."""
    return [total(column) / len(members) for column in zip(*(X[i] for i in members), strict=True)]


def middle(X, U):
    """Return the centroid of the unassigned records: correctly rounded sums, in any order, over their number."""
    return [math.fsum(column) / len(U) for column in zip(*(X[i] for i in U), strict=True)]


def group_sse(X, members):
    """Return the sum of squared distances of members to their centroid."""
    center = centroid(X, members)
    return total(d2(X[i], center) for i in members)


def sse(X, labels):
    """Return the sum of squared distances of all records to the centroids of their groups."""
    X = rows(X)
    return total(group_sse(X, [i for i, other in enumerate(labels) if other == label]) for label in sorted(set(labels)))


def growth(X, members, x):
    """Return by how much the SSE of a group grows when record x joins it (Lemma 1 of [S1])."""
    N = len(members)
    return N / (N + 1) * d2(X[x], centroid(X, members))


def canonical(labels):
    """Return labels with the groups numbered 0, 1, 2, ... in order of first appearance."""
    number = {}
    return [number.setdefault(label, len(number)) for label in labels]


def without(U, taken):
    """Return the records of U that are not in taken."""
    return [i for i in U if i not in taken]


def farthest(X, point, U):
    """Return the record of U farthest from a point."""
    return max(U, key=lambda i: d2(X[i], point))


def nearest(X, r, U, m):
    """Return the m records of U nearest to record r, nearest first; r itself is none of them."""
    return sorted(without(U, [r]), key=lambda i: (d2(X[i], X[r]), i))[:m]


def group_around(X, r, U, k):
    """Return the group of record r and its k-1 nearest in U."""
    return [r, *nearest(X, r, U, k - 1)]


def join_nearest_centroid(X, groups, U, moving=False):
    """Let each record of U join the group with the nearest centroid.

    The centroids stay as they are before, or, if moving, follow each record that joins.
    """
    frozen = [centroid(X, members) for members in groups]
    for i in U:
        centers = [centroid(X, members) for members in groups] if moving else frozen
        groups[min(range(len(centers)), key=lambda g: d2(X[i], centers[g]))].append(i)


def end_with_one_group(X, groups, U, k, moving=False):
    """Make k or more left-over records one group; fewer join the groups with the nearest centroids."""
    if len(U) >= k:
        groups.append(U)
    else:
        join_nearest_centroid(X, groups, U, moving)


# ---- Two groups a round: MDAV and its relatives, MD ------------------------------------------------------------------


def two_groups(X, U, k, first, second):
    """Return groups of k around ``first``, then ``second`` or, if that has gone, what is farthest from ``first``."""
    one = group_around(X, first, U, k)
    rest = without(U, one)
    if second in one:
        second = farthest(X, X[first], rest)
    return one, group_around(X, second, rest, k)


def mdav_rounds(X, k, least):
    """Return the groups that MDAV forms while ``least`` or more records are unassigned, and those it leaves."""
    groups, U = [], list(range(len(X)))
    while len(U) >= least:
        r = farthest(X, middle(X, U), U)
        s = farthest(X, X[r], without(U, [r]))
        one, two = two_groups(X, U, k, r, s)
        groups += [one, two]
        U = without(U, one + two)
    return groups, U


def mdav(X, k):
    """Maximum distance to average vector, in the version of [S1] and [S3].

    Left-overs move the centroids that they join: [S1] is silent on that, but its figures for k = 50 and 100 need it.
    """
    X = rows(X)
    groups, U = mdav_rounds(X, k, 2 * k)
    end_with_one_group(X, groups, U, k, moving=True)
    return labels_of(groups)


def mdav_1_groups(X, k):
    """Return the groups of MDAV-1 [S2] as they form: MDAV's, one of k around the farthest left, and who joins these."""
    groups, U = mdav_rounds(X, k, 2 * k)
    if len(U) >= k:
        groups.append(group_around(X, farthest(X, middle(X, U), U), U, k))
        U = without(U, groups[-1])
    join_nearest_centroid(X, groups, U)
    return groups


class Numbers:
    """Records of numbers, by what :class:`tests.naive_mixed.Table` has of mixed ones."""

    def __init__(self, X):
        self.X, self.n = rows(X), len(X)

    def distance(self, one, other):
        """Return the squared distance of two records."""
        return d2(self.X[one], self.X[other])

    def middle(self, U):
        """Return the centroid of unassigned records."""
        return middle(self.X, U)

    def to_point(self, i, point):
        """Return the squared distance of a record to a point."""
        return d2(self.X[i], point)


def in_turns(table, choose, fewest):
    """Return the labels of groups around the record farthest from the middle, and from that one, in turns.

    ``choose`` makes a group around a record out of U, while ``fewest`` or more are unassigned; the rest is the last.
    """
    groups, U, r = [], list(range(table.n)), None
    while len(U) >= fewest:
        if r is None:
            center = table.middle(U)
            seed = r = max(U, key=lambda i: table.to_point(i, center))
        else:
            seed, r = max(U, key=lambda i: table.distance(i, r)), None
        groups.append(choose(seed, U))
        U = without(U, groups[-1])
    return labels_of([*groups, *([U] if U else [])])


def table_of(X):
    """Return numbers, or mixed records, as a table that measures distances."""
    return naive_mixed.Table(X) if hasattr(X, "attributes") else Numbers(X)


def k_anonymity_first(X, k, lack=lambda members: 0.0):
    """Algorithm 2 of Soria-Comas et al. 2015: members of a group are exchanged while that lowers what it lacks.

    Amounts that differ by no more than 1e-9 are equal. Where nothing is lacking this is MDAV-generic, of numbers [S2]
    and of mixed attributes (Domingo-Ferrer & Torra 2005): s is the record farthest from r once r's group has formed,
    pairs are formed while 3k or more are unassigned, and of 2k..3k-1 the one farthest from the middle forms a group.
    """
    table = table_of(X)

    def choose(seed, U):
        ranked = [seed, *sorted(without(U, [seed]), key=lambda i: (table.distance(i, seed), i))]
        group = ranked[:k]
        for y in ranked[k:]:
            if lack(group) == 0:
                break
            best = group
            for i in range(k):
                other = [*group[:i], y, *group[i + 1 :]]
                if lack(other) < lack(best) - 1e-9:
                    best = other
            group = best
        return group

    return in_turns(table, choose, 2 * k)


def t_closeness_first(X, k, secrets=None, t=None):
    """Algorithm 3 of Soria-Comas et al. 2015: a group has the nearest record of each bucket of the ranked secrets."""
    if secrets is None:
        return k_anonymity_first(X, k)
    table = table_of(X)
    n = table.n
    size = next(size for size in range(k, n + 1) if size * (2 * (n - 1) * t + 1) >= n * (1 - 1e-9))
    size += n % size // (n // size)
    to_come, over = n // size, n % size
    middles = [size // 2] if size % 2 else [size // 2 - 1, size // 2]
    sizes = [to_come] * size
    for i in range(over):
        sizes[middles[i % len(middles)]] += 1
    ranked, buckets = sorted(range(n), key=lambda i: (secrets[i], i)), []
    for own in sizes:
        buckets.append(sorted(ranked[:own]))
        ranked = ranked[own:]

    def choose(seed, U):
        nonlocal to_come
        to_come -= 1
        group = []

        def take(bucket):
            group.append(min(bucket, key=lambda i: (table.distance(i, seed), i)))
            bucket.remove(group[-1])

        for bucket in buckets:
            take(bucket)
        if len(fullest := max(buckets, key=len)) > to_come:
            take(fullest)
        return group

    return in_turns(table, choose, 1)


def mdav_argus(X, k):
    """MDAV as mu-ARGUS and sdcMicro program it, by swaps in an array; [S3] Table I prints its figures.

    Ties go to the lowest *position*, and the second seed is whichever record stands at its place after the swaps.
    """
    X = rows(X)
    n = len(X)
    at = list(range(n))  # at[p] is the record at position p

    def swap(p, q):
        at[p], at[q] = at[q], at[p]

    def seeds(first):
        places = range(first, n)
        center = centroid(X, at[first:])
        p = max(places, key=lambda j: d2(X[at[j]], center))
        q = max((j for j in places if j != p), key=lambda j: d2(X[at[j]], X[at[p]]))
        return min(p, q), max(p, q)

    def gather(seed):
        for place in range(seed + 1, seed + k):
            swap(min(range(place, n), key=lambda j: d2(X[at[j]], X[at[seed]])), place)
        return at[seed : seed + k]

    groups, first = [], 0
    while n - first >= 3 * k:
        p, q = seeds(first)
        swap(p, first)
        swap(q, first + k)
        groups += [gather(first), gather(first + k)]
        first += 2 * k
    if n - first >= 2 * k:
        p, _ = seeds(first)
        swap(p, first)
        groups.append(gather(first))
        first += k
    groups.append(at[first:])
    return labels_of(groups)


def md(X, k, first="s"):
    """Maximum distance [S3]: groups around the two unassigned records farthest apart, r < s, ``first`` first."""
    X = rows(X)
    groups, U = [], list(range(len(X)))
    pairs = sorted(itertools.combinations(U, 2), key=lambda pair: -d2(X[pair[0]], X[pair[1]]))
    while len(U) >= 2 * k:
        r, s = next((r, s) for r, s in pairs if r in U and s in U)
        one, two = two_groups(X, U, k, s, r) if first == "s" else two_groups(X, U, k, r, s)
        groups += [one, two]
        U = without(U, one + two)
    end_with_one_group(X, groups, U, k)
    return labels_of(groups)


# ---- One group a round: CBFS, MDAV+, V-MDAV, MDAV* -------------------------------------------------------------------


def groups_of_k(X, k, choose):
    """Return groups of k, around records that ``choose`` picks by the groups so far and the unassigned ones.

    The others join the nearest centroids.
    """
    groups, U = [], list(range(len(X)))
    while len(U) >= k:
        groups.append(group_around(X, choose(groups, U), U, k))
        U = without(U, groups[-1])
    join_nearest_centroid(X, groups, U)
    return groups


def cbfs(X, k):
    """Centroid-based fixed size [S1, S2]: around the record farthest from the unassigned's centroid."""
    X = rows(X)
    return labels_of(groups_of_k(X, k, lambda _, U: farthest(X, middle(X, U), U)))


def mdav_plus(X, k):
    """MDAV+ [S0]: around the unassigned record farthest from the centroid of *all* records."""
    X = rows(X)
    center = middle(X, range(len(X)))
    return labels_of(groups_of_k(X, k, lambda _, U: farthest(X, center, U)))


def v_mdav(X, k, gamma=0.2, leftovers="centroid"):
    """Variable-size MDAV: MDAV+ [S0] that extends groups by e, the record nearest to any member, up to 2k-1.

    Distances are squared, which gives the figures of [S0]. With ``leftovers="record"``, each record left joins by index
    the group of the nearest record that has one, which gives those of the first paper on V-MDAV.
    """
    X = rows(X)
    groups, U = [], list(range(len(X)))
    center = middle(X, U)
    while len(U) >= k:
        group = group_around(X, farthest(X, center, U), U, k)
        U = without(U, group)
        while len(group) < 2 * k - 1 and U:
            d_in, e = min((d2(X[i], X[j]), i) for i in U for j in group)
            d_out = min((d2(X[i], X[e]) for i in U if i != e), default=math.inf)
            if gamma == 0 or d_in >= gamma * d_out:  # 0 times infinity is no number: with gamma = 0 nothing joins
                break
            group.append(e)
            U.remove(e)
        groups.append(group)
    if leftovers == "centroid":
        join_nearest_centroid(X, groups, U)
        return labels_of(groups)
    for i in U:
        _, _, group = min((d2(X[i], X[j]), j, group) for group in groups for j in group)
        group.append(i)
    return labels_of(groups)


def closest_group(X, groups, x):
    """Return the number of the group whose SSE grows least by record x."""
    return min(range(len(groups)), key=lambda g: growth(X, groups[g], x))


def star_costs(X, groups, U, r, k):
    """Return what MDAV* weighs for seed r: the cost per record of a new group, and of r joining its closest group."""
    y = nearest(X, r, U, 1)[0]
    own = group_sse(X, group_around(X, r, U, k))
    joined = growth(X, groups[closest_group(X, groups, r)], r)
    next_one = group_sse(X, group_around(X, y, without(U, [r]), k))
    return own / k, (joined + next_one) / (k + 1)


def mdav_star(X, k):
    """MDAV* [S0]: as MDAV+, but the seed joins an existing group where that costs less; the first and last are new."""
    X = rows(X)
    groups, U = [], list(range(len(X)))
    center = middle(X, U)
    while len(U) >= k:
        r = farthest(X, center, U)
        new, join = star_costs(X, groups, U, r, k) if groups and len(U) > k else (0.0, math.inf)
        if join < new:
            groups[closest_group(X, groups, r)].append(r)
            U = without(U, [r])
        else:
            groups.append(group_around(X, r, U, k))
            U = without(U, groups[-1])
    for i in U:
        groups[closest_group(X, groups, i)].append(i)
    return labels_of(groups)


# ---- One group a round, chosen otherwise: TFRP-1, DBA-1, GSMS; and what TFRP-2, MDAV-2, DBA-2, GSMS-T2 add -----------


def tfrp_1_groups(X, k):
    """Return the groups of TFRP-1 [S2]: in turn around the record farthest from R1, of the least value, and from R2."""
    low, high = (extreme(value for record in X for value in record) for extreme in (min, max))
    return groups_of_k(X, k, lambda groups, U: farthest(X, [high if len(groups) % 2 else low] * len(X[0]), U))


def dba_1_groups(X, k):
    """Return the groups of DBA-1 [S2]: the one whose group of k has the least SSE (the greatest density) forms it."""
    return groups_of_k(X, k, lambda _, U: min(U, key=lambda r: group_sse(X, group_around(X, r, U, k))))


def gsms_groups(X, k):
    """Return the groups of GSMS: the one forms that leaves the least SSE in itself and among the others.

    That is the one whose centroid is farthest from that of the unassigned, by which exact ties do not hang on rounding.
    """

    def choose(_, U):
        center = middle(X, U)
        return max(U, key=lambda r: d2(centroid(X, group_around(X, r, U, k)), center))

    return groups_of_k(X, k, choose)


def decompose(X, groups, order, most):
    """Return the groups left after trying once, in this order of their numbers, to dissolve each.

    Records go to the nearest other group, as its centroid was, with fewer than ``most``; the SSE must fall by 1e-9.
    """
    groups = {g: sorted(members) for g, members in enumerate(groups)}
    for g in order:
        grown = {h: list(members) for h, members in groups.items() if h != g}
        center = {h: centroid(X, groups[h]) for h in grown}
        for i in groups[g]:
            room = [h for h in grown if len(grown[h]) < most]
            if not room:
                break
            grown[min(room, key=lambda h: d2(X[i], center[h]))].append(i)
        else:
            concerned = [h for h in grown if len(grown[h]) > len(groups[h])]
            before = total(group_sse(X, groups[h]) for h in [g, *concerned])
            if total(group_sse(X, grown[h]) for h in concerned) < (1 - 1e-9) * before:
                groups = grown
    return list(groups.values())


def by_falling_sse(X, groups):
    """Return the numbers of the groups, the one with the greatest SSE first."""
    return sorted(range(len(groups)), key=lambda g: (-group_sse(X, sorted(groups[g])), g))


def split_large(X, groups, k, base):
    """Return the groups, those with 2k records or more partitioned by ``base``."""
    result = []
    for members in map(sorted, groups):
        parts = base([X[i] for i in members], k) if len(members) >= 2 * k else [range(len(members))]
        result += [[members[j] for j in part] for part in parts]
    return result


def refined(X, k, first_phase, most, base, last_first=False):
    """Return the labels of a two-phase method: decomposed, and groups of 2k or more split by ``base``.

    Groups are tried by falling SSE, or from the one formed last.
    """
    X = rows(X)
    groups = first_phase(X, k)
    order = reversed(range(len(groups))) if last_first else by_falling_sse(X, groups)
    return labels_of(split_large(X, decompose(X, groups, order, most), k, base))


# ---- Paths and optimal splits ----------------------------------------------------------------------------------------


def spread(X, members):
    """Return the SSE of members from their pairs: half of all d2 over their number. Equal records give exactly 0."""
    return total(d2(X[i], X[j]) for a, i in enumerate(members) for j in members[:a]) / len(members)


def split_path(X, order, k):
    """Return the pieces of k..2k-1 records into which a path is cut with the least total SSE.

    Among cuts that are equal up to a relative 1e-12 the one with the longest last piece is kept.
    """
    n = len(order)
    best, cut = [0.0] + [math.inf] * n, [0] * (n + 1)
    for stop in range(k, n + 1):
        for start in range(max(0, stop - 2 * k + 1), stop - k + 1):
            sse = best[start] + spread(X, order[start:stop])
            if sse < best[stop] * (1 - 1e-12):
                best[stop], cut[stop] = sse, start
    pieces, stop = [], n
    while stop > 0:
        pieces.append(order[cut[stop] : stop])
        stop = cut[stop]
    return pieces


def by_sum(X):
    """Return the records by the sum of their attributes."""
    return sorted(range(len(X)), key=lambda i: total(X[i]))


def by_first_component(X):
    """Return the records by their score on the first principal component; the score farthest from 0 is positive.

    The eigenvector is numpy's. Where several are equally good its last bits decide: the matrix adds in record order.
    """
    center = centroid(X, range(len(X)))
    deviations = [[p - q for p, q in zip(row, center, strict=True)] for row in X]
    columns = list(zip(*deviations, strict=True))
    scatter = [[total(p * q for p, q in zip(a, b, strict=True)) for b in columns] for a in columns]
    direction = np.linalg.eigh(scatter)[1][:, -1].tolist()
    scores = [total(p * q for p, q in zip(row, direction, strict=True)) for row in deviations]
    sign = 1 if max(scores, key=abs) >= 0 else -1
    return sorted(range(len(X)), key=lambda i: sign * scores[i])


def mhm(X, k, order="sum"):
    """MHM: the records by the sum of their attributes, or as given, cut optimally."""
    return cut_path(X, k, lambda X, _: by_sum(X) if order == "sum" else list(range(len(X))))


def projected(X, onto="first-component", attribute=0):
    """Return the records by what they are projected onto."""
    if onto == "attribute":
        return sorted(range(len(X)), key=lambda i: X[i][attribute])
    return by_sum(X) if onto == "sum" else by_first_component(X)


def projection(X, k, **onto):
    """Groups of k along a projection, the last one with the rest."""
    X = rows(X)
    order = projected(X, **onto)
    starts = range(0, len(X) - k + 1, k)
    return labels_of([order[i : i + k] if i < starts[-1] else order[i:] for i in starts])


def path_through(X, labels):
    """Return the path of [S1], Fig. 4, through the groups of a partition, from the one with the outermost record."""
    groups = [[i for i, label in enumerate(labels) if label == g] for g in range(max(labels) + 1)]
    everyone = list(range(len(X)))
    outermost = farthest(X, middle(X, everyone), everyone)
    left = sorted(groups, key=lambda members: outermost not in members)
    path, group = [], left.pop(0)
    left.sort()
    while left:
        centers = [centroid(X, members) for members in left]
        following = min(range(len(left)), key=lambda g: min(d2(X[i], centers[g]) for i in group))
        path += sorted(group, key=lambda i: -d2(X[i], centers[following]))
        previous, group = group, left.pop(following)
        if not left:
            group = sorted(group, key=lambda i: d2(X[i], centroid(X, previous)))
    return path + group


def cut_path(X, k, path):
    """Return the labels of a path through all records, which ``path`` makes of X and k, cut optimally."""
    X = rows(X)
    return labels_of(split_path(X, path(X, k), k))


def nearest_point_next(X):
    """Return the path from one end of the diameter, the lower record index, always to the nearest one left."""
    U = list(range(len(X)))
    path = [max(U, key=lambda i: max(d2(X[i], X[j]) for j in U))]
    while len(path) < len(X):
        path += nearest(X, path[-1], without(U, path), 1)
    return path


def shorter_by_two_opt(tour, a, neighbors, length):
    """Return the tour after the first 2-opt move at record a, None if none shortens it."""
    n, p = len(tour), tour.index(a)
    for step in (1, -1):
        b = tour[(p + step) % n]
        for c in neighbors:
            if length(a, c) >= length(a, b):
                break
            q = tour.index(c)
            e = tour[(q + step) % n]
            old = length(a, b) + length(c, e)
            if old - (length(a, c) + length(b, e)) > 1e-9 * old:
                low, high = (min(p, q) + 1, max(p, q) + 1) if step == 1 else (min(p, q), max(p, q))
                return tour[:low] + tour[low:high][::-1] + tour[high:]
    return None


def shorter_by_or_opt(tour, a, neighbors, length):
    """Return the tour after the first Or-opt move at record a, None if none shortens it."""
    n, p = len(tour), tour.index(a)
    for low, high, begins in ((low, low + m, low == p) for m in (1, 2, 3) for low in (p, p - m + 1)):
        block = tour[low:high]
        if low < 1 or high > n - 1:
            continue
        before, after = tour[low - 1], tour[high]
        old = length(before, block[0]) + length(block[-1], after)
        saved = old - length(before, after)
        if not begins:
            block = block[::-1]  # now a comes first
        for c in neighbors:
            if length(a, c) >= saved:
                break
            for step in (1, -1):
                e = tour[(tour.index(c) + step) % n]
                if c in block or e in block:
                    continue
                if saved - (length(a, c) + length(block[-1], e) - length(c, e)) > 1e-9 * old:
                    rest = tour[:low] + tour[high:]
                    gap = rest.index(c) + (step == 1)
                    return rest[:gap] + block[::step] + rest[gap:]
    return None


def tsp_mhm(X, k):
    """TSP-MHM: a tour, shortened by 2-opt and Or-opt among ten nearest records, opened at its longest edge, and cut."""
    X = rows(X)
    n = len(X)
    tour = nearest_point_next(X)
    neighbors = [nearest(X, i, list(range(n)), 10) for i in range(n)]

    def length(i, j):
        return math.sqrt(d2(X[i], X[j]))

    before = None
    while tour != before:
        before = tour
        for a in range(n):
            better = tour
            while better:
                tour = better
                better = shorter_by_two_opt(tour, a, neighbors[a], length)
                better = better or shorter_by_or_opt(tour, a, neighbors[a], length)
    longest = max(range(n), key=lambda p: length(tour[p], tour[(p + 1) % n])) + 1
    return labels_of(split_path(X, tour[longest:] + tour[:longest], k))


# ---- Growing groups, trees, Ward's clustering: P-S, M-d, mu-Approx, k-Ward -------------------------------------------


def grown(X, seed, U, k):
    """Return the group of a record that takes in, k-1 times, the record of U that increases its SSE least."""
    group = [seed]
    while len(group) < k:
        center = centroid(X, group)
        group.append(min(without(U, group), key=lambda i: d2(X[i], center)))
    return group


def farthest_pair(X, U):
    """Return the two records of U farthest apart, the lower one first."""
    return max(((r, s) for r in U for s in U if r < s), key=lambda pair: d2(X[pair[0]], X[pair[1]]))


def p_s(X, k):
    """P-S [S2]: groups of the records with the least and the greatest sum of attributes; both seeds are taken first."""
    X = rows(X)
    groups, U = [], list(range(len(X)))
    while len(U) >= 2 * k:
        order = sorted(U, key=lambda i: (total(X[i]), i))
        seeds = [order[0], order[-1]] if len(U) >= 3 * k else [order[0]]
        U = without(U, seeds)
        for seed in seeds:
            groups.append(grown(X, seed, U, k))
            U = without(U, groups[-1])
    groups.append(U)
    return labels_of(groups)


def tree_of(edges, i):
    """Return the records that edges connect with record i, by index, itself among them."""
    adjacent = {}
    for a, b in edges:
        adjacent.setdefault(a, []).append(b)
        adjacent.setdefault(b, []).append(a)
    found, known = [i], {i}
    for a in found:
        new = [b for b in adjacent.get(a, []) if b not in known]
        found += new
        known.update(new)
    return sorted(found)


def longest_first(X, edges):
    """Return the edges by falling length; equal ones by their lower, then their higher record."""
    return sorted(edges, key=lambda edge: (-d2(X[edge[0]], X[edge[1]]), sorted(edge)))


def leaves_enough(edges, edge, k):
    """Tell whether without this edge the trees at its two ends have k records each."""
    rest = [other for other in edges if other != edge]
    return all(len(tree_of(rest, end)) >= k for end in edge)


def m_d(X, k):
    """M-d (Laszlo & Mukherjee 2005): the minimum spanning tree without its longest edges, where both sides keep k.

    Trees of 2k or more are partitioned around their farthest pairs, by groups that grow.
    """
    X = rows(X)
    tree, joined = [], list(range(len(X)))
    for _, a, b in sorted((d2(X[i], X[j]), i, j) for j in range(len(X)) for i in range(j)):
        if joined[a] != joined[b]:
            tree.append((a, b))
            joined = [joined[a] if label == joined[b] else label for label in joined]
    for edge in longest_first(X, tree):
        if leaves_enough(tree, edge, k):
            tree.remove(edge)
    result = []
    for U in {tuple(tree_of(tree, i)) for i in range(len(X))}:
        groups = []
        while len(U) >= 2 * k:
            r, s = farthest_pair(X, U)
            groups.append(grown(X, r, U, k))
            U = without(U, groups[-1])
            groups.append(grown(X, s if s in U else farthest(X, X[r], U), U, k))
            U = without(U, groups[-1])
        end_with_one_group(X, groups, list(U), k)
        result += groups
    return labels_of(result)


def cut_in_two(X, tree, edges, k):
    """Return the edges of a tree that has become two by one step of mu-Approx."""
    for edge in longest_first(X, edges):
        if leaves_enough(edges, edge, k):
            return [other for other in edges if other != edge]
    for hub in tree:
        inner = [edge for edge in edges if hub not in edge]
        tops = [a + b - hub for a, b in edges if hub in (a, b)]
        size = {top: len(tree_of(inner, top)) for top in tops}
        if max(size.values()) < k:
            break
    tops.sort(key=lambda top: (-size[top], top))
    number = next(m for m in range(len(tops)) if sum(size[top] for top in tops[:m]) >= k - 1)
    one, two = tops[:number], tops[number:]
    if sum(size[top] for top in two) < k:
        one, two = two, one
    return inner + [(hub, top) for top in one] + [(two[0], top) for top in two[1:]]


def mu_approx(X, k):
    """mu-Approx (Domingo-Ferrer, Sebe & Solanas 2008): records link to the nearest outside until all trees have k.

    Each has at most one outgoing edge. Trees of more than max(2k-1, 3k-5) are cut, those of 2k or more give two groups.
    """
    X = rows(X)
    everybody = range(len(X))
    out = {}
    for i in everybody:
        while len(tree := tree_of(out.items(), i)) < k:
            root = without(tree, out)[0]
            out[root] = min(without(everybody, tree), key=lambda j: d2(X[j], X[root]))
    edges, groups = list(out.items()), []
    todo = list(everybody)
    while todo:
        tree = tree_of(edges, todo[0])
        if len(tree) > max(2 * k - 1, 3 * k - 5):
            own = [edge for edge in edges if edge[0] in tree]
            edges = [edge for edge in edges if edge[0] not in tree] + cut_in_two(X, tree, own, k)
            continue
        todo = without(todo, tree)
        if len(tree) >= 2 * k:
            groups.append(group_around(X, farthest(X, middle(X, tree), tree), tree, k))
            tree = without(tree, groups[-1])
        groups.append(tree)
    return labels_of(groups)


def k_ward_groups(X, U, k):
    """Return the groups of k-Ward for the records U."""
    if len(U) < 2 * k:
        return [U]
    begin = list(two_groups(X, U, k, *farthest_pair(X, U)))
    begin += [[i] for i in without(U, begin[0] + begin[1])]
    groups = {min(members): members for members in begin}
    sums = {g: [total(column) for column in zip(*(X[i] for i in groups[g]), strict=True)] for g in groups}
    costs = {}

    def measure(g):
        for h in groups:
            if h != g and min(len(groups[g]), len(groups[h])) < k:
                m, n = len(groups[g]), len(groups[h])
                distance = d2([value / m for value in sums[g]], [value / n for value in sums[h]])
                costs[min(g, h), max(g, h)] = m * n / (m + n) * distance

    for g in groups:
        measure(g)
    while any(len(members) < k for members in groups.values()):
        g, h = min(costs, key=lambda pair: (costs[pair], pair))
        groups[g] = groups[g] + groups.pop(h)
        sums[g] = [p + q for p, q in zip(sums[g], sums.pop(h), strict=True)]
        for pair in [pair for pair in costs if {g, h} & set(pair)]:
            del costs[pair]
        measure(g)
    return [part for members in groups.values() for part in k_ward_groups(X, sorted(members), k)]


def k_ward(X, k):
    """k-Ward (Domingo-Ferrer & Mateo-Sanz 2002): Ward's mergers of groups that do not both have k, from a far pair."""
    X = rows(X)
    return labels_of(k_ward_groups(X, list(range(len(X))), k))


# ---- Iterative optimization ------------------------------------------------------------------------------------------


def relative_centroid(X, members):
    """Return the attributes' means over members, taken above their minimum: of equal records exactly their values."""
    columns = list(zip(*(X[i] for i in members), strict=True))
    return [min(column) + total(x - min(column) for x in column) / len(members) for column in columns]


def loss(X, labels):
    """Return the SSE about relative centroids."""
    groups = members_of(labels)
    return total(total(d2(X[i], center) for i in m) for m in groups for center in [relative_centroid(X, m)])


def exchanges(W, labels, low, high, first=0):
    """Return what it costs at least to hand a surplus record from a to b, {(a, b): (cost, record from ``first`` on)}.

    The group after the last stands for keeping a surplus within the bounds.
    """
    m, sizes = len(W[0]), [labels.count(g) for g in range(len(W[0]))]
    arcs = {(g, m): (0.0, None) for g in range(m) if sizes[g] < high}
    arcs |= {(m, g): (0.0, None) for g in range(m) if sizes[g] > low}
    for i in range(first, len(W)):
        a = labels[i]
        for b in range(m):
            cost = W[i][b] - W[i][a]
            if b != a and ((a, b) not in arcs or cost < arcs[a, b][0]):
                arcs[a, b] = (cost, i)
    return arcs


def cheapest_ways(arcs, costs, least):
    """Improve the costs of getting to each group (Bellman-Ford), and return where from, and a cycle below zero if any.

    A way must be cheaper by ``least`` to count.
    """
    came = {}
    for _ in range(len(costs)):
        changed = None
        for (a, b), (cost, _) in arcs.items():
            if costs[a] + cost < costs[b] - least:
                costs[b], came[b], changed = costs[a] + cost, a, b
        if changed is None:
            return came, []
    for _ in costs:
        changed = came[changed]
    cycle, a = [], changed
    while not cycle or a != changed:
        cycle.append((came[a], a))
        a = came[a]
    return came, cycle


def least_assignment(W, labels, low, high):
    """Return the assignment of least total weight with group sizes within bounds, from one that satisfies them.

    Exchanges along cycles that cost less than nothing, until there are none. Then, of all optimal assignments (up to
    1e-9 of the mean weight at first), the one that gives record 0 the lowest group number, then record 1, and so on.
    """
    n, labels = len(W), list(labels)
    unit = total(W[i][labels[i]] for i in range(n)) / n
    if unit == 0 or len(W[0]) == 1:
        return labels

    def carry_out(arcs, steps):
        for step in steps:
            if arcs[step][1] is not None:
                labels[arcs[step][1]] = step[1]

    while True:
        arcs, prices = exchanges(W, labels, low, high), [0.0] * (len(W[0]) + 1)
        _, cycle = cheapest_ways(arcs, prices, 1e-13 * unit)
        if not cycle:
            break
        carry_out(arcs, cycle)
    for i in range(n):
        home = labels[i]
        for g in range(home):
            cost = W[i][g] - W[i][home]
            if cost + prices[home] - prices[g] > 1e-9 * unit:
                continue
            arcs = exchanges(W, labels, low, high, first=i + 1)
            costs = [math.inf] * len(prices)
            costs[g] = 0.0
            came, _ = cheapest_ways(arcs, costs, 1e-13 * unit)
            if cost + costs[home] <= 1e-9 * unit:
                way, a = [], home
                while a != g:
                    way.append((came[a], a))
                    a = came[a]
                carry_out(arcs, way)
                labels[i] = g
                break
    return labels


def reassigned(X, labels, low, high, squared):
    """Return the labels after the assignment to the centroids of least total (squared) distance."""
    centers = [relative_centroid(X, members) for members in members_of(labels)]
    W = [[d2(x, center) if squared else math.sqrt(d2(x, center)) for center in centers] for x in X]
    return canonical(least_assignment(W, labels, low, high))


def blocks_of(X, labels, number):
    """Return the records of each block of groups, cut by the distance of their centroids to the outermost one."""
    centers = [relative_centroid(X, members) for members in members_of(labels)]
    middle = relative_centroid(X, range(len(X)))
    extreme = max(centers, key=lambda center: d2(center, middle))
    order, m = sorted(range(len(centers)), key=lambda g: d2(centers[g], extreme)), len(centers)
    cuts = [order[b * m // number : (b + 1) * m // number] for b in range(number)]
    return [[i for i in range(len(X)) if labels[i] in groups] for groups in cuts if groups]


def improved(X, labels, k, blocks, weights, rounds):
    """Return the groups that IMHM makes of a partition: by block, assignments and paths, until paths gain nothing."""
    least, groups = 1e-10 * loss(X, [0] * len(X)), []
    for records in blocks_of(X, labels, min(blocks, max(labels) + 1)):
        part, start = [X[i] for i in records], canonical([labels[i] for i in records])

        def repeat(step, labels, part=part):
            for _ in range(rounds):
                before, labels = labels, step(labels)
                if loss(part, before) - loss(part, labels) <= least:
                    break
            return labels

        def assign(labels, part=part):
            return reassigned(part, labels, k, 2 * k - 1, weights == "squared")

        def cut(labels, part=part):
            return labels_of(split_path(part, path_through(part, labels), k))

        now = start
        for _ in range(rounds):
            before = now = repeat(assign, now)
            now = repeat(cut, now)
            if loss(part, before) - loss(part, now) <= least:
                break
        if loss(part, now) > loss(part, start) + least:
            now = start
        groups += [[records[i] for i in members] for members in members_of(now)]
    return groups


def imhm(X, k, blocks=1, weights="distance", rounds=100):
    """IMHM [S1]: from MDAV."""
    X = rows(X)
    return labels_of(improved(X, mdav(X, k), k, blocks, weights, rounds))


def rimhm(X, k, blocks=1, weights="distance", rounds=100, shuffle=0.1, random_state=0):
    """RIMHM [S1]: from the order of z-score sums, shuffled in stretches of a share of all records, cut optimally."""
    X = rows(X)
    n, sums = len(X), [0.0] * len(X)
    for column in zip(*X, strict=True):
        mean = math.fsum(column) / n
        sd = math.sqrt(math.fsum((x - mean) * (x - mean) for x in column) / n)
        if sd > 0:
            sums = [z + (x - mean) / sd for z, x in zip(sums, column, strict=True)]
    order, draw, length = sorted(range(n), key=lambda i: sums[i]), np.random.default_rng(random_state), int(n * shuffle)
    stretches = [order[i : i + max(1, length)] for i in range(0, n, max(1, length))]
    path = [i for stretch in stretches for i in draw.permutation(stretch).tolist()]
    return labels_of(improved(X, labels_of(split_path(X, path, k)), k, blocks, weights, rounds))


def pcl(X, k):
    """PCL (Rebollo-Monedero et al. 2013): from MDAV, assign k or more to each centroid, while the SSE falls."""
    X = rows(X)
    labels, least = mdav(X, k), 1e-10 * loss(X, [0] * len(X))
    while True:
        new = reassigned(X, labels, k, len(X), squared=True)
        if loss(X, labels) - loss(X, new) <= least:
            return labels
        labels = new


#: The oracle of each algorithm, by its key in ``microagg.ALGORITHMS``.
ORACLES = {
    "cbfs": cbfs,
    "cbfs-mhm": lambda X, k: cut_path(X, k, lambda X, k: path_through(X, cbfs(X, k))),
    "dba-1": lambda X, k: labels_of(dba_1_groups(rows(X), k)),
    "dba-2": lambda X, k: refined(X, k, dba_1_groups, len(X), mdav_1_groups, last_first=True),
    "gsms": lambda X, k: labels_of(gsms_groups(rows(X), k)),
    "gsms-t2": lambda X, k: refined(X, k, gsms_groups, 4 * k - 1, tfrp_1_groups),
    "imhm": imhm,
    "k-anonymity-first": k_anonymity_first,
    "k-member": lambda X, k, **params: naive_mixed.k_member(naive_mixed.numbers(X), k, **params),
    "k-ward": k_ward,
    "m-d": m_d,
    "md": md,
    "md-mhm": lambda X, k: cut_path(X, k, lambda X, k: path_through(X, md(X, k))),
    "mdav": mdav,
    "mdav-1": lambda X, k: labels_of(mdav_1_groups(rows(X), k)),
    "mdav-2": lambda X, k: refined(X, k, mdav_1_groups, len(X), mdav_1_groups),
    "mdav-argus": mdav_argus,
    "mdav-generic": k_anonymity_first,
    "mdav-generic-mixed": lambda X, k: k_anonymity_first(naive_mixed.numbers(X), k),
    "mdav-mhm": lambda X, k: cut_path(X, k, lambda X, k: path_through(X, mdav_argus(X, k))),
    "mdav-plus": mdav_plus,
    "mdav-star": mdav_star,
    "mhm": mhm,
    "mondrian": lambda X, k, **params: naive_mixed.mondrian(naive_mixed.numbers(X), k, **params),
    "mu-approx": mu_approx,
    "npn-mhm": lambda X, k: cut_path(X, k, lambda X, _: nearest_point_next(X)),
    "p-s": p_s,
    "pcl": pcl,
    "projection": projection,
    "projection-mhm": lambda X, k, **onto: cut_path(X, k, lambda X, _: projected(X, **onto)),
    "rimhm": rimhm,
    "t-closeness-first": t_closeness_first,
    "tfrp-1": lambda X, k: labels_of(tfrp_1_groups(rows(X), k)),
    "tfrp-2": lambda X, k: refined(X, k, tfrp_1_groups, 4 * k - 1, tfrp_1_groups),
    "tsp-mhm": tsp_mhm,
    "v-mdav": v_mdav,
}


# ---- Local search ----------------------------------------------------------------------------------------------------
#
# It may end in any of many partitions, and two independent programs would end in different ones. So there is no second
# program, but what its result has to fulfill, by definition and by trying everything.


def improving_move(X, labels, k, is_met=lambda members: True, loss_of=None):
    """Return groups of lower loss, of k or more, with one record elsewhere or two exchanged; None if there are none.

    Each of them must be ``is_met``. The loss is ``loss_of`` the members of each, or the SSE.
    """
    X, labels = rows(X), list(labels)
    loss_of = loss_of or (lambda members: group_sse(X, members))
    groups = {label: [i for i, other in enumerate(labels) if other == label] for label in sorted(set(labels))}

    def gains(changed):
        """Tell whether new groups, {label: members}, have a lower loss than the old ones, by more than rounding."""
        before = total(loss_of(groups[label]) for label in changed)
        lower = total(loss_of(members) for members in changed.values()) < before * (1 - 1e-8) - 1e-18
        return lower and all(map(is_met, changed.values()))

    for x, own in enumerate(labels):
        rest = [i for i in groups[own] if i != x]
        for label, members in groups.items():
            if label == own:
                continue
            if len(rest) >= k and gains({own: rest, label: [*members, x]}):
                return {**groups, own: rest, label: [*members, x]}
            for y in members:
                others = [i for i in members if i != y]
                if gains({own: [*rest, y], label: [*others, x]}):
                    return {**groups, own: [*rest, y], label: [*others, x]}
    return None


def least_sse(X, k):
    """Return the least SSE of all partitions of X into groups of k to 2k - 1 records, by trying them all."""
    X = rows(X)

    def least(left):
        if not left:
            return 0.0
        first, others = left[0], left[1:]
        best = math.inf
        for size in range(k, 2 * k):
            for more in itertools.combinations(others, size - 1):
                if len(left) == size or len(left) - size >= k:
                    rest = least(tuple(i for i in others if i not in more))
                    best = min(best, group_sse(X, [first, *more]) + rest)
        return best

    return least(tuple(range(len(X))))


# ---- Merging groups until each keeps what is guaranteed --------------------------------------------------------------


def merge(groups, cost, join, lacks, worst_first=False):
    """Return the groups, each a pair of what ``cost`` needs and its records, merged until each lacks nothing.

    Of all pairs with a group that lacks something, or that lacks most if ``worst_first``, the cheapest are merged
    first; of equals those of the first groups.
    """
    groups = list(groups)
    while len(groups) > 1 and any(lacks(members) for _, members in groups):
        lacking = [lacks(members) for _, members in groups]
        taken = [lacking.index(max(lacking))] if worst_first else [i for i, lack in enumerate(lacking) if lack > 0]
        pairs = [
            (cost(groups[i][0], groups[j][0]), i, j)
            for i, j in itertools.combinations(range(len(groups)), 2)
            if i in taken or j in taken
        ]
        _, i, j = min(pairs)
        groups[i] = (join(groups[i][0], groups[j][0]), groups[i][1] + groups[j][1])
        del groups[j]
    return [sorted(members) for _, members in groups]


def squares_of_merging(one, other):
    """Return by how much the SSE grows if two groups, each its size and the sums of its attributes, are merged."""
    (m, a), (n, b) = one, other
    return d2([x / m for x in a], [x / n for x in b]) * (m * n / (m + n))


def diversity(values):
    """Return the number of distinct values, and of equally frequent ones that are as diverse (l by entropy)."""
    shares = [values.count(value) / len(values) for value in set(values)]
    return len(shares), math.exp(-sum(share * math.log(share) for share in shares))


def closeness(values, everybody, ordered):
    """Return the earth mover's distance of values from those of everybody: the work of moving shares, 0 to 1."""
    known = sorted(set(everybody))
    surplus = [values.count(value) / len(values) - everybody.count(value) / len(everybody) for value in known]
    if not ordered:
        return sum(share for share in surplus if share > 0)
    return sum(abs(sum(surplus[: i + 1])) for i in range(len(known) - 1)) / max(len(known) - 1, 1)
