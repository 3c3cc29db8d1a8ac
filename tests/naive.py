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

import math

import numpy as np

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
    """Return the centroid of the unassigned records: their sums, correctly rounded, over their number.

    Correct rounding makes it independent of the order of the records, so that ties between records that lie
    symmetrically about it fall the same way in every implementation.
    """
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


def labels_of(groups):
    """Return the canonical labels of a partition given as lists of records."""
    label = {i: g for g, members in enumerate(groups) for i in members}
    return canonical([label[i] for i in range(len(label))])


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
    """Return two groups of k, around the record first and then around the record second.

    If second went into the first group, the unassigned record farthest from first takes its place.
    """
    one = group_around(X, first, U, k)
    rest = without(U, one)
    if second in one:
        second = farthest(X, X[first], rest)
    return one, group_around(X, second, rest, k)


def mdav_rounds(X, k, least):
    """Return the groups that MDAV forms while at least so many records are unassigned, and those it leaves."""
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

    While 2k or more are unassigned: r is farthest from their centroid, s farthest from r; r's group, then s's group
    from what is left. Of the rest, k or more form one group; fewer join the nearest centroids, which move at once ([S1]
    is silent on that, but its figures for k = 50 and 100 need it).
    """
    X = rows(X)
    groups, U = mdav_rounds(X, k, 2 * k)
    end_with_one_group(X, groups, U, k, moving=True)
    return labels_of(groups)


def mdav_1(X, k):
    """MDAV-1 [S2]: as MDAV, but the last k..2k-1 give one more group of exactly k.

    That group lies around the one farthest from their centroid; what still remains joins the nearest centroids.
    """
    X = rows(X)
    groups, U = mdav_rounds(X, k, 2 * k)
    if len(U) >= k:
        groups.append(group_around(X, farthest(X, middle(X, U), U), U, k))
        U = without(U, groups[-1])
    join_nearest_centroid(X, groups, U)
    return labels_of(groups)


def mdav_generic(X, k):
    """MDAV-generic [S2]: rounds as in MDAV while 3k or more are unassigned.

    Of 2k..3k-1 left, the one farthest from their centroid forms a group with its k-1 nearest, and the others another;
    fewer than 2k form one group.
    """
    X = rows(X)
    groups, U = mdav_rounds(X, k, 3 * k)
    if len(U) >= 2 * k:
        groups.append(group_around(X, farthest(X, middle(X, U), U), U, k))
        U = without(U, groups[-1])
    groups.append(U)
    return labels_of(groups)


def mdav_argus(X, k):
    """MDAV as mu-ARGUS and sdcMicro program it; [S3] Table I prints its figures.

    The records stand in an array, and form groups by being swapped to its front. Ties go to the lowest *position*.
    The seed at the lower position gets its group first, and the other seed is not protected from being swapped away:
    whichever record then stands at its place is the second seed.
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
    """Maximum distance [S3]: two groups around the two unassigned records farthest apart, while there are 2k.

    The pair is (r, s) with r < s, and ``first`` says whose group is formed first, which [S3] leaves open. Of the rest,
    k or more form one group; fewer join the nearest centroids.
    """
    X = rows(X)
    groups, U = [], list(range(len(X)))
    while len(U) >= 2 * k:
        r, s = max(((r, s) for r in U for s in U if r < s), key=lambda pair: d2(X[pair[0]], X[pair[1]]))
        one, two = two_groups(X, U, k, s, r) if first == "s" else two_groups(X, U, k, r, s)
        groups += [one, two]
        U = without(U, one + two)
    end_with_one_group(X, groups, U, k)
    return labels_of(groups)


# ---- One group a round: CBFS, MDAV+, V-MDAV, MDAV* -------------------------------------------------------------------


def cbfs(X, k):
    """Centroid-based fixed size [S1, S2]: one group a round, around the record farthest from the unassigned's centroid.

    While k or more are unassigned; the others join the nearest centroids.
    """
    X = rows(X)
    groups, U = [], list(range(len(X)))
    while len(U) >= k:
        groups.append(group_around(X, farthest(X, middle(X, U), U), U, k))
        U = without(U, groups[-1])
    join_nearest_centroid(X, groups, U)
    return labels_of(groups)


def v_mdav(X, k, gamma=0.2):
    """Variable-size MDAV, with the fixed centroid of [S0] and squared distances (which give the figures of [S0]).

    As MDAV+, and each new group is extended up to 2k-1: e, the unassigned record nearest to any member, joins as long
    as its squared distance to that member is less than gamma times that to its nearest other unassigned record
    (infinite if e is the last).
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
    join_nearest_centroid(X, groups, U)
    return labels_of(groups)


def mdav_plus(X, k):
    """MDAV+ [S0]: one group a round, around the unassigned record farthest from the centroid of *all* records.

    While k or more are unassigned; the others join the nearest centroids.
    """
    X = rows(X)
    groups, U = [], list(range(len(X)))
    center = middle(X, U)
    while len(U) >= k:
        groups.append(group_around(X, farthest(X, center, U), U, k))
        U = without(U, groups[-1])
    join_nearest_centroid(X, groups, U)
    return labels_of(groups)


def closest_group(X, groups, x):
    """Return the number of the group whose SSE grows least by record x."""
    return min(range(len(groups)), key=lambda g: growth(X, groups[g], x))


def star_costs(X, groups, U, r, k):
    """Return what MDAV* weighs for seed r: the cost per record of a new group, and that of r joining its closest group.

    The second counts the group that r's nearest unassigned record y would form without r.
    """
    y = nearest(X, r, U, 1)[0]
    own = group_sse(X, group_around(X, r, U, k))
    joined = growth(X, groups[closest_group(X, groups, r)], r)
    next_one = group_sse(X, group_around(X, y, without(U, [r]), k))
    return own / k, (joined + next_one) / (k + 1)


def mdav_star(X, k):
    """MDAV* [S0]: as MDAV+, but the seed joins an existing group where that costs less.

    The first group is always new, and so is the last one that k records can form. Left-over records join, one by one,
    the group whose SSE they increase least. No group size is too large.
    """
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


#: The oracle of each algorithm, by its key in ``microagg.ALGORITHMS``.
ORACLES = {
    "cbfs": cbfs,
    "md": md,
    "mdav": mdav,
    "mdav-1": mdav_1,
    "mdav-argus": mdav_argus,
    "mdav-generic": mdav_generic,
    "mdav-plus": mdav_plus,
    "mdav-star": mdav_star,
    "v-mdav": v_mdav,
}
