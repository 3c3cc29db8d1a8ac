"""Small instances for the tests of the bounds, and all there is of them by brute force."""

import itertools
from math import inf

import numpy as np

from microagg import metrics
from microagg.kernels.bounds.rank_one import Cut
from microagg.optimum.set_partitioning import SetPartitioning

#: By what factor a bound may be above an optimum that is known but for rounding.
ROUNDING = 1 + 1e-9


def tiny(seed):
    """Return a few records and a k: some with ties, some with identical records, some spread over magnitudes."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 5))
    n = int(rng.integers(k, 11))
    d = int(rng.integers(1, 5))
    kind = seed % 4
    if kind == 0:
        X = rng.normal(size=(n, d))
    elif kind == 1:
        X = rng.integers(0, 3, size=(n, d)).astype(float)
    elif kind == 2:
        X = rng.normal(size=(max(n // 2, 1), d))[rng.integers(0, max(n // 2, 1), size=n)] + 1e3
    else:
        X = np.exp(4 * rng.normal(size=(n, d)))
    return X, k


def instances(count, start=0):
    """Yield seed, X and k of those of ``count`` tiny instances that take a linear program."""
    for seed in range(start, start + count):
        X, k = tiny(seed)
        if len(X) >= 2 * k and metrics.sst(X) > 0.0:
            yield seed, X, k


def partitions(n, k):
    """Yield the labels of every partition of n records into groups of k..2k-1; larger ones are never needed."""

    def extend(labels, free):
        if not free:
            yield labels.copy()
            return
        first, rest = free[0], free[1:]
        for size in range(k, min(2 * k - 1, len(free)) + 1):
            for others in itertools.combinations(rest, size - 1):
                group = labels.max() + 1
                labels[[first, *others]] = group
                yield from extend(labels, [record for record in rest if record not in others])
                labels[[first, *others]] = -1

    yield from extend(np.full(n, -1), list(range(n)))


def converged(X, k):
    """Return a program of set partitioning that has ended."""
    program = SetPartitioning(X, k)
    while not program.converged:
        program.advance(inf, lambda: True)
    return program


def random_cuts(rng, n, count):
    """Return cuts of rank one, every third a subset-row cut."""
    cuts = []
    for number in range(count):
        denominator = int(rng.integers(2, 6)) if number % 3 else 2
        records = np.sort(rng.permutation(n)[: rng.integers(2, min(n, 9) + 1) if number % 3 else 3])
        multipliers = rng.integers(1, denominator, size=len(records))
        cuts.append(Cut(tuple(records.tolist()), tuple(multipliers.tolist()), denominator))
    return cuts


def random_inequalities(rng, n, width, count):
    """Return 2-partition inequalities, all different: a center and its leaves, filled up with -1."""
    found = {}
    for _ in range(count):
        records = rng.permutation(n)[: rng.integers(2, min(width + 1, n) + 1)]
        leaves = sorted(records[1:])
        found[records[0], *leaves] = [records[0], *leaves, *[-1] * (width - len(leaves))]
    return np.array([*found.values()], dtype=np.int64).reshape(-1, 1 + width)
