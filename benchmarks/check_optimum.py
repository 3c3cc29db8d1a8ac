"""Check a certificate of an optimum: no partition into groups of at least k has a smaller SSE than the one it names.

    MICROAGG_DATA_DIR=… python benchmarks/check_optimum.py benchmarks/results/certificates/census-3.npz

It reads numbers from the certificate and the records from the data set; nothing else of the package computes for it, no
solver, no search, no bound. With SSE(G) of a group of k to 2k - 1 records (larger ones can be split at no loss), any
prices pi of the records, and cuts Σ_G ⌊w(G) / q⌋ x_G ≤ ⌊Σ u / q⌋, w(G) being the sum of the u of its members, which
every partition keeps to, with prices sigma ≥ 0,

    SSE(P) ≥ value + Σ_{G in P} rc(G),   value = Σ pi - Σ sigma ⌊Σ u / q⌋,   rc(G) = SSE(G) - Σ pi + Σ sigma ⌊w(G) / q⌋,

where Σ rc(G) is at least the sum of the least share rc(G) / |G| <= 0 that each record can have, called the rest
below. So a partition better than the one named with the SSE S has only groups with rc(G) ≤ S - value - rest, and with

1. the first prices, all these groups are found here, by going through the members of each group one after the other;
2. each further prices, fewer are left;
3. the leaves: pairs of records share a group or do not, in all ways; for each way its prices bound the SSE of all
   partitions into what is left.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from numba import njit

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

# Each sum of terms is taken to be off by at most this share of their sizes.
ROUNDING = 1e-10


@njit(cache=True)
def groups_of_root(near, squared, pi, limit, size, most):
    """Return groups of ``size`` with SSE - Σ pi < limit in which the first record has a share in it below its part.

    A record's share in the SSE of a group of s is the sum of its squared distances to the members over 2s, so in each
    such group some record has share - pi < limit / s: the root, the first of ``near``, which are the m records that can
    be with it. ``squared``, shape (m, m), are their squared distances. Members are added in the order of ``near``. With
    S those there are and E those to come, the SSE is at least [Σ_{a, b in S} d² + Σ_{a in S, c in E} d²] / s.
    """
    m = len(near)
    found = np.empty((1024, size), dtype=np.int64)
    count = 0
    own = size * 2 * (pi[0] + limit / size)  # what the squared distances to the root add up to at most
    at = np.zeros(size, dtype=np.int64)
    inside, price, to_root = np.zeros(size), np.zeros(size), np.zeros(size)
    price[0] = pi[0]
    weights = np.zeros((size, m))
    for c in range(m):
        weights[0, c] = squared[0, c]
    depth = 1
    at[1] = 0
    least = np.empty(size)
    while depth >= 1:
        at[depth] += 1
        c = at[depth]
        left = size - depth - 1
        if c + left >= m:
            depth -= 1
            continue
        root = to_root[depth - 1] + squared[0, c]
        if root + left * squared[0, c] >= own:  # near is in the order of the distance, so nobody after c fits either
            depth -= 1
            continue
        total = inside[depth - 1] + weights[depth - 1, c]
        prices = price[depth - 1] + pi[c]
        bound = total / size - prices
        if left == 0:
            if bound < limit:
                if count == most:
                    return found[:count], True
                if count == len(found):
                    found = np.concatenate((found, np.empty_like(found)))
                found[count, 0] = near[0]
                for level in range(1, size):
                    found[count, level] = near[at[level]]
                count += 1
            continue
        # The least that further members add.
        kept = 0
        for later in range(c + 1, m):
            weight = weights[depth - 1, later] + squared[c, later]
            weights[depth, later] = weight
            adds = weight / size - pi[later]
            if kept < left or adds < least[kept - 1]:
                place = kept if kept < left else left - 1
                kept = min(kept + 1, left)
                while place > 0 and least[place - 1] > adds:
                    least[place] = least[place - 1]
                    place -= 1
                least[place] = adds
        for place in range(kept):
            bound += least[place]
        if bound < limit:
            inside[depth], price[depth], to_root[depth] = total, prices, root
            depth += 1
            at[depth] = c
    return found[:count], False


def all_groups(X, k, pi, limit):
    """Return all groups of k to 2k - 1 records with SSE - Σ pi < limit: a list of arrays, one for each size."""
    n = len(X)
    norms = np.square(X).sum(axis=1)
    listed = []
    for size in range(k, 2 * k):
        found = []
        for root in range(n):
            squared = np.square(X - X[root]).sum(axis=1)
            fits = np.flatnonzero(squared < 2 * size * pi[root] + 2 * limit)
            fits = fits[fits != root]
            near = np.concatenate([[root], fits[np.argsort(squared[fits], kind="stable")]])
            if len(near) < size:
                continue
            between = norms[near, None] + norms[None, near] - 2.0 * X[near] @ X[near].T
            # Rounding must not make a distance too large.
            between = np.maximum(between - ROUNDING * (norms[near, None] + norms[None, near]), 0.0)
            groups, full = groups_of_root(near, between, pi[near], limit, size, 20_000_000)
            if full:
                raise SystemExit(f"record {root} is in too many groups of {size}.")
            found.append(np.sort(groups, axis=1))
        listed.append(np.unique(np.concatenate(found), axis=0) if found else np.empty((0, size), dtype=np.int64))
    return listed


class Groups:
    """Groups of several sizes, and their reduced costs."""

    def __init__(self, X, groups):
        self.n, self.groups = len(X), groups
        self.sse = []
        for own in groups:
            members = X[own]
            self.sse.append(np.square(members - members.mean(axis=1, keepdims=True)).sum(axis=(1, 2)))

    def reduced(self, prices):
        """Return the reduced cost of each group: a list of arrays as the groups."""
        pi, cuts, sigma = prices
        costs = [own_sse - pi[own].sum(axis=1) for own_sse, own in zip(self.sse, self.groups, strict=True)]
        weight = np.zeros(self.n, dtype=np.int64)
        for (records, multipliers, denominator), price in zip(cuts, sigma, strict=True):
            weight[list(records)] = multipliers
            for own, cost in zip(self.groups, costs, strict=True):
                cost += price * (weight[own].sum(axis=1) // denominator)
            weight[list(records)] = 0
        return costs

    def rest(self, reduced):
        """Return what the reduced costs of the groups of a partition add up to at least."""
        shares = np.zeros(self.n)
        for own, costs in zip(self.groups, reduced, strict=True):
            for at in np.flatnonzero(costs < 0.0):
                shares[own[at]] = np.minimum(shares[own[at]], costs[at] / own.shape[1])
        return float(shares.sum())

    def keep(self, stays):
        """Drop all but some groups."""
        self.groups = [own[there] for own, there in zip(self.groups, stays, strict=True)]
        self.sse = [own[there] for own, there in zip(self.sse, stays, strict=True)]

    def fitting(self, path):
        """Return which groups keep to decisions on pairs: a list of arrays as the groups."""
        fits = [np.ones(len(own), dtype=bool) for own in self.groups]
        for i, j, together in path:
            for own, fit in zip(self.groups, fits, strict=True):
                held = (own == i).any(axis=1).astype(int) + (own == j).any(axis=1)
                fit &= held != 1 if together else held != 2
        return fits

    def __len__(self):
        return sum(map(len, self.groups))


def value_of(prices):
    """Return the value of prices, lowered for rounding."""
    pi, cuts, sigma = prices
    if (sigma < 0).any() or any((np.array(u) < 0).any() or q < 2 for _, u, q in cuts):
        raise SystemExit("a cut has a negative price or multiplier.")
    of_cuts = sum(price * (sum(u) // q) for (_, u, q), price in zip(cuts, sigma, strict=True))
    return pi.sum() - of_cuts - ROUNDING * (np.abs(pi).sum() + of_cuts)


def covers(paths):
    """Whether every partition keeps to the decisions of one of the paths."""
    if len(paths) == 1 and not paths[0]:
        return True
    if any(not path for path in paths) or len({path[0][:2] for path in paths}) != 1:
        return False
    sides = [[path[1:] for path in paths if path[0][2] == together] for together in (True, False)]
    return all(side and covers(side) for side in sides)


def check(X, k, labels, listed, kept, leaves, say=print):
    """Return the SSE of a partition, and what no partition has an SSE below; raise SystemExit where something is wrong.

    Parameters
    ----------
    X : array of float, shape (n, d)
    k : int
    labels : array of int, shape (n,)
    listed : tuple
        Prices: pi of shape (n,), cuts as tuples of records, multipliers and denominator, sigma.
    kept : list of tuple
        Further prices.
    leaves : list of (path, prices)
        A path is a list of (i, j, together).
    """
    n = len(X)
    sizes = np.bincount(labels)
    if len(labels) != n or sizes[sizes > 0].min() < k:
        raise SystemExit(f"the labels are no partition of {n} records into groups of at least {k}.")
    sse = sum(float(np.square(X[labels == g] - X[labels == g].mean(axis=0)).sum()) for g in np.unique(labels))
    say(f"the partition: {len(np.unique(labels))} groups of {sizes.min()} to {sizes.max()}, SSE {sse:.10g}")

    slack = ROUNDING * sse

    def most_of(prices, reduced):
        """Return what the reduced cost of a group of a better partition is at most."""
        return sse - value_of(prices) - groups.rest(reduced) + slack

    # Cuts only add to the reduced cost, so the groups found without them are all there are.
    most, limit = sse - value_of(listed), -np.inf
    while most > limit:
        limit = most + 1e-3 * abs(most) + slack
        groups = Groups(X, all_groups(X, k, listed[0], limit))
        most = most_of(listed, groups.reduced(listed))
    say(f"the first prices: value {value_of(listed):.10g}; {len(groups):,} groups have SSE - Σ pi below {limit:.6g}")
    for number, prices in enumerate([listed, *kept]):
        reduced = groups.reduced(prices)
        most = most_of(prices, reduced)
        groups.keep([own <= most for own in reduced])
        say(
            f"prices {number}: a better partition has groups with a reduced cost of at most {most:.6g}: {len(groups):,}"
        )

    if not covers([path for path, _ in leaves]):
        raise SystemExit("the leaves leave out some partitions.")
    floor = sse
    for path, prices in leaves:
        fits = groups.fitting(path)
        costs = [np.where(fit, own, 0.0) for own, fit in zip(groups.reduced(prices), fits, strict=True)]
        floor = min(floor, value_of(prices) + groups.rest(costs))
    say(f"{len(leaves)} leaves: no SSE is below {floor:.10g}, a share of {(sse - floor) / sse:.1e} less")
    return sse, floor


def read(path):
    """Return the name of the data set, and k, labels, listed, kept and leaves of a certificate."""
    with np.load(path) as file:
        held = {name: file[name] for name in file.files}
    cuts = []
    for number in range(len(held["denominators"])):
        here = slice(held["cut_ends"][number], held["cut_ends"][number + 1])
        cuts.append((held["cut_records"][here], held["cut_multipliers"][here], int(held["denominators"][number])))
    prices = []
    for number, pi in enumerate(held["pi"]):
        here = slice(held["price_ends"][number], held["price_ends"][number + 1])
        prices.append((pi, [cuts[at] for at in held["price_cuts"][here]], held["sigma"][here]))
    paths = []
    for number in range(len(held["path_ends"]) - 1):
        here = slice(held["path_ends"][number], held["path_ends"][number + 1])
        paths.append([(int(i), int(j), bool(together)) for i, j, together in held["decisions"][here]])
    listed, *others = prices
    kept, last = others[: len(others) - len(paths)], others[len(others) - len(paths) :]
    return str(held["data"]), int(held["k"]), held["labels"], listed, kept, list(zip(paths, last, strict=True))


def main():
    """Check the certificates that are named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("certificates", nargs="+", type=Path)
    from microagg import datasets

    for path in parser.parse_args().certificates:
        started = time.perf_counter()
        name, *proof = read(path)
        X = datasets.load(name, download=False).X
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        print(f"{path.name}: {name}, {len(X)} records of {X.shape[1]} attributes as z-scores, k = {proof[0]}")
        sse, floor = check(X, *proof)
        sst = np.square(X - X.mean(axis=0)).sum()
        print(
            f"information loss {100 * sse / sst:.7f} %, at least {100 * floor / sst:.7f} % "
            f"({time.perf_counter() - started:.0f} s)"
        )


if __name__ == "__main__":
    main()
