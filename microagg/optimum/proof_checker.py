"""The check whether a certificate proves an optimum among partitions into groups of at least k.

Trusted are this file, Python, NumPy and Numba, which runs one function of it, and the records of the data set, whose
digest :mod:`microagg.datasets` checks. No solver and no search takes part, and no number in a certificate is trusted:
any numbers give a valid lower bound or are refused.

**Why this is enough.** Let G be a group of k to 2k - 1 records. Larger groups can be split without raising the SSE, so
some best partition P has only such groups. Let pi be any prices of the records; cuts, with any prices sigma >= 0, are

    Σ_{G in P} ⌊w(G) / q⌋ ≤ ⌊Σ u / q⌋,    w(G) the sum of the u ≥ 0 of the members of G, u and q integers, q ≥ 2,

which every partition satisfies, as ⌊a⌋ + ⌊b⌋ ≤ ⌊a + b⌋ and each record is in one group. So for every partition

    SSE(P) ≥ value + Σ_{G in P} rc(G),   value = Σ pi - Σ sigma ⌊Σ u / q⌋,   rc(G) = SSE(G) - Σ pi + Σ sigma ⌊w(G) / q⌋,

for all pi and sigma. A group gives each of its members the share rc(G) / |G|. Each record is in one group, so Σ rc(G)
is at least the rest: the sum over the records of their smallest share, 0 if none is negative. Let S be the SSE of the
certificate's partition, and P a better one. Then each of its groups has rc(G) < S - value - rest. Hence:

1. With the first prices all groups with SSE(G) - Σ pi below a limit are listed here, member by member. The limit rises
   until it is above both 0 and S - value - rest: above 0 because the rest needs all groups with a negative rc. Sigma is
   left out, as it only adds to rc. Then every better partition consists of listed groups, and of these only of those
   with an rc of at most S - value - rest, sigma included.
2. The leaves decide for pairs of records whether they share a group, in a tree that covers all partitions. In each
   leaf, value + rest with the leaf's prices, over the groups that satisfy its decisions, is a lower bound for its
   better partitions. The minimum of these bounds and S is a lower bound on the SSE of all partitions.

Prices that are too high make many groups negative, and prices that are too low leave many groups: both lower the bound
or exceed the maximum number of groups. Sums that decide are exact (math.fsum), and each SSE and reduced cost is lowered
by more than its rounding error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

import microagg.kernels  # noqa: F401  sets the cache folder of compiled code
from microagg.errors import DataError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: A partition is an optimum to within this share of its SSE.
CLOSED = 2e-7
#: Maximum size of a certificate, in bytes once unpacked; of groups that are listed; of steps of the search for them,
#: about a minute; and of comparisons of a cut or a decision with a group.
MOST_BYTES, MOST_GROUPS, MOST_STEPS, MOST_COMPARED = 200_000_000, 2_000_000, 20_000_000_000, 20_000_000_000
# Maximum number of prices of cuts and of decisions together.
_MOST_ENTRIES = 1_000_000
# Maximum error of the sum of a group's terms, as a share of the sum of their sizes: there are fewer than 100 terms for
# each attribute, and each addition is off by 2.3e-16.
_ROUNDING = 1e-12
# The same for squared distances, which come from norms and a product.
_DISTANCE_ROUNDING = 1e-10

# The arrays of a file: kind and number of dimensions.
_FIELDS = {
    "data": ("U", 0),
    "k": ("i", 0),
    "labels": ("i", 1),
    "denominators": ("i", 1),
    "cut_ends": ("i", 1),
    "cut_records": ("i", 1),
    "cut_multipliers": ("i", 1),
    "pi": ("f", 2),
    "price_ends": ("i", 1),
    "price_cuts": ("i", 1),
    "sigma": ("f", 1),
    "path_ends": ("i", 1),
    "decisions": ("i", 2),
}
# No integer in a certificate is larger, so that sums of them are exact.
_MAX_INTEGER = 2**31


class Prices(NamedTuple):
    """Prices of the records, shape (n,), and of cuts: (records, multipliers, denominator) each, with sigma."""

    pi: FloatArray
    cuts: Sequence[tuple[Any, Any, int]]
    sigma: FloatArray


@dataclass(frozen=True)
class Held:
    """Contents of a certificate, with checked shapes, kinds and ranges, see :func:`read`."""

    data: str
    k: int
    labels: IntArray
    listed: Prices
    leaves: Sequence[tuple[Sequence[tuple[int, int, bool]], Prices]]


@dataclass(frozen=True)
class Proven:
    """Result of a certificate that was checked."""

    sse: float  # that of the partition, rounded up
    floor: float  # no partition into groups of at least k records has a smaller SSE
    n_groups: int  # number of groups of which a better partition could consist

    @property
    def is_optimal(self) -> bool:
        """Whether the partition is an optimum, to within :data:`CLOSED`."""
        return self.floor >= self.sse * (1.0 - CLOSED)


@njit(cache=True)
def _groups_of_root(
    near: IntArray, squared: FloatArray, pi: FloatArray, limit: float, size: int, max_groups: int, steps_left: int
) -> tuple[IntArray, bool, int]:
    """List the groups of ``size`` with SSE - Σ pi < limit that have a given root.

    A record's share in the SSE of a group of s is the sum of its squared distances to the members over 2s, so in each
    such group some record, the root, has share - pi < limit / s. ``near`` are the m records that can be in its groups,
    the root first; ``squared``, shape (m, m), are their squared distances. Members are added in the order of ``near``.
    With S the members so far and E those to come, the SSE is at least [Σ_{a, b in S} d² + Σ_{a in S, c in E} d²] / s.
    Returns at most ``max_groups`` groups, whether there may be more, and the remaining steps.
    """
    m, n_groups = len(near), 0
    groups = np.empty((1024, size), dtype=np.int64)
    max_root_sum = size * 2 * (pi[0] + limit / size)  # of the squared distances to the root
    indices = np.zeros(size, dtype=np.int64)
    inside, price, to_root = np.zeros(size), np.zeros(size), np.zeros(size)
    price[0] = pi[0]
    weights = np.zeros((size, m))
    weights[0] = squared[0]
    depth = 1
    additions = np.empty(m)
    while depth >= 1:
        indices[depth] += 1
        c = indices[depth]
        n_open = size - depth - 1
        if c + n_open >= m:
            depth -= 1
            continue
        root_sum = to_root[depth - 1] + squared[0, c]
        # near is sorted by distance, so no record after c fits either.
        if root_sum + n_open * squared[0, c] >= max_root_sum:
            depth -= 1
            continue
        total = inside[depth - 1] + weights[depth - 1, c]
        prices = price[depth - 1] + pi[c]
        bound = total / size - prices
        if n_open == 0:
            if bound < limit:
                if n_groups == max_groups:
                    return groups[:n_groups], True, steps_left
                if n_groups == len(groups):
                    groups = np.concatenate((groups, np.empty_like(groups)))
                groups[n_groups, 0] = near[0]
                for level in range(1, size):
                    groups[n_groups, level] = near[indices[level]]
                n_groups += 1
            continue
        # The minimum that further members add.
        steps_left -= m - c
        if steps_left < 0:
            return groups[:n_groups], True, steps_left
        for candidate in range(c + 1, m):
            weights[depth, candidate] = weights[depth - 1, candidate] + squared[c, candidate]
            additions[candidate] = weights[depth, candidate] / size - pi[candidate]
        if bound + np.partition(additions[c + 1 :], n_open - 1)[:n_open].sum() < limit:
            inside[depth], price[depth], to_root[depth] = total, prices, root_sum
            depth += 1
            indices[depth] = c
    return groups[:n_groups], False, steps_left


class _Groups:
    """Groups of several sizes, of which some can be dropped."""

    def __init__(self, X: FloatArray, groups_by_size: list[IntArray]) -> None:
        self.n, width = len(X), groups_by_size[-1].shape[1]
        # Shape (m, width), filled up with n.
        padded = [np.pad(part, ((0, 0), (0, width - part.shape[1])), constant_values=len(X)) for part in groups_by_size]
        self.members = np.concatenate(padded)
        rows = (X[part] for part in groups_by_size)
        self.sse = np.concatenate([np.square(x - x.mean(axis=1, keepdims=True)).sum(axis=(1, 2)) for x in rows])

    def reduced_costs(self, prices: Prices) -> FloatArray:
        """Reduced cost of each group, lowered for rounding."""
        pi, weight = np.append(prices.pi, 0.0), np.zeros(self.n + 1, dtype=np.int64)
        costs = self.sse - pi[self.members].sum(axis=1)
        sizes = self.sse + np.abs(pi)[self.members].sum(axis=1)
        for (records, multipliers, denominator), price in zip(prices.cuts, prices.sigma, strict=True):
            weight[list(records)] = multipliers
            added = price * (weight[self.members].sum(axis=1) // denominator)
            costs += added
            sizes += added
            weight[list(records)] = 0
        return costs - _ROUNDING * sizes

    def reduced_cost_bound(self, costs: FloatArray) -> float:
        """Lower bound on the sum of the reduced costs of the groups of a partition."""
        members = self.members[costs < 0.0]
        group_shares = costs[costs < 0.0] / (members < self.n).sum(axis=1)
        shares = np.zeros(self.n + 1)
        for column in members.T:
            np.minimum.at(shares, column, group_shares)
        return _round_down(math.fsum(shares[: self.n]))

    def keep_where(self, mask: NDArray[np.bool_]) -> None:
        """Keep the groups whose mask is True."""
        self.members, self.sse = self.members[mask], self.sse[mask]

    def satisfy(self, path: Iterable[tuple[int, int, bool]]) -> NDArray[np.bool_]:
        """Whether each group satisfies the decisions on pairs."""
        fits = np.ones(len(self.members), dtype=np.bool_)
        for i, j, together in path:
            n_members = (self.members == i).any(axis=1).astype(int) + (self.members == j).any(axis=1)
            fits &= n_members != 1 if together else n_members != 2
        return fits

    def __len__(self) -> int:
        return len(self.members)


def _round_down(value: float) -> float:
    return math.nextafter(value, -math.inf)


def _all_groups(X: FloatArray, k: int, pi: FloatArray, limit: float) -> _Groups:
    """List all groups of k to 2k - 1 records with SSE - Σ pi < limit, and perhaps a few above it."""
    n, steps_left, n_left = len(X), MOST_STEPS, MOST_GROUPS
    norms = np.square(X).sum(axis=1)
    limit += _ROUNDING * (abs(limit) + 4 * k * float(np.abs(pi).max()))
    listed = []
    for size in range(k, 2 * k):
        by_root = [np.empty((0, size), dtype=np.int64)]
        for root in range(n):
            # Rounding must not make a distance too large.
            norm_sums = norms + norms[root]
            squared = np.maximum(norm_sums - 2.0 * (X @ X[root]) - _DISTANCE_ROUNDING * norm_sums, 0.0)
            squared[root] = -1.0
            candidates = np.flatnonzero(squared < 2 * size * pi[root] + 2 * limit)
            candidates = candidates[candidates != root]
            near = np.concatenate([[root], candidates[np.argsort(squared[candidates], kind="stable")]])
            if len(near) < size:
                continue
            steps_left -= len(near) ** 2
            if steps_left < 0:
                _refuse_groups(limit)
            between = norms[near, None] + norms[None, near]
            between = np.maximum(between - 2.0 * (X[near] @ X[near].T) - _DISTANCE_ROUNDING * between, 0.0)
            between[0, 1:] = squared[near[1:]]
            between[1:, 0] = squared[near[1:]]
            groups, is_full, steps_left = _groups_of_root(near, between, pi[near], limit, size, n_left, steps_left)
            if is_full:
                _refuse_groups(limit)
            by_root.append(np.sort(groups, axis=1))
            n_left -= len(groups)
        listed.append(np.unique(np.concatenate(by_root), axis=0))
    return _Groups(X, listed)


def _refuse_groups(limit: float) -> None:
    raise DataError(
        f"pi: more than {MOST_GROUPS:,} groups, or more than can be found in time, have an SSE less their prices "
        f"below {limit:.6g}, the limit that follows from the prices: these prove too little to be checked."
    )


def _price_value(prices: Prices) -> float:
    """Value of prices, rounded down."""
    cut_terms = (-price * (sum(map(int, u)) // q) for (_, u, q), price in zip(prices.cuts, prices.sigma, strict=True))
    terms = [*map(float, prices.pi), *map(float, cut_terms)]
    return _round_down(math.fsum(terms) - 1e-15 * math.fsum(map(abs, terms)))


def _covers(paths: list[Sequence[tuple[int, int, bool]]]) -> bool:
    """Whether every partition satisfies the decisions of one of the paths."""
    open_subtrees = [(paths, 0)]
    while open_subtrees:
        subtree, depth = open_subtrees.pop()
        if len(subtree) == 1 and len(subtree[0]) == depth:
            continue
        if any(len(path) == depth for path in subtree) or len({path[depth][:2] for path in subtree}) != 1:
            return False
        for together in (True, False):
            side = [path for path in subtree if path[depth][2] == together]
            if not side:
                return False
            open_subtrees.append((side, depth + 1))
    return True


def check(X: FloatArray, held: Held, say: Callable[[str], Any] = lambda text: None) -> Proven:
    """Check a certificate of the records ``X``, shape (n, d), scaled for comparison.

    ``say`` is called with a line of text after each step.

    Raises
    ------
    DataError
        If a field is wrong; the message names it.
    """
    X, k, n = np.ascontiguousarray(X, dtype=np.float64), held.k, len(X)
    _check_certificate(held, n)
    if not np.isfinite(X).all():
        raise DataError("data: the records hold values that are not finite.")
    records_by_group = [X[held.labels == group] for group in np.unique(held.labels)]
    sse = math.fsum(float(np.square(rows - rows.mean(axis=0)).sum()) for rows in records_by_group) * (1.0 + _ROUNDING)
    if not 0.0 < sse < math.inf:
        raise DataError("labels: the partition has an SSE of 0 or beyond all floats, so there is nothing to prove.")
    sizes = [len(rows) for rows in records_by_group]
    say(f"the partition: {len(sizes)} groups of {min(sizes)} to {max(sizes)}, SSE {sse:.10g}")

    # Cuts only add to the reduced cost, so the search without them misses no group.
    max_cost, limit = sse - _price_value(held.listed), -math.inf
    while max_cost >= limit:
        limit = max(max_cost, 0.0) * 1.001 + 1e-9 * sse
        groups = _all_groups(X, k, held.listed.pi, limit)
        max_cost = sse - _price_value(held.listed) - groups.reduced_cost_bound(groups.reduced_costs(held.listed))
    entries = sum(len(prices.cuts) for prices in [held.listed, *(prices for _, prices in held.leaves)])
    entries += sum(len(path) for path, _ in held.leaves)
    if entries > _MOST_ENTRIES or (entries + n) * len(groups) > MOST_COMPARED:
        raise DataError(
            f"price_cuts, decisions: {entries:,} of them and {len(groups):,} groups that follow from pi are too many."
        )
    say(f"the first prices: {len(groups):,} groups have SSE - Σ pi below {limit:.6g}")
    groups.keep_where(groups.reduced_costs(held.listed) <= max_cost)
    say(f"better partitions have groups with a reduced cost of at most {max_cost:.6g}: {len(groups):,}")
    if not _covers([path for path, _ in held.leaves]):
        raise DataError("decisions: the leaves leave out some partitions, or have some twice.")
    floor = sse
    for path, prices in held.leaves:
        costs = np.where(groups.satisfy(path), groups.reduced_costs(prices), 0.0)
        floor = min(floor, _price_value(prices) + groups.reduced_cost_bound(costs))
    say(f"{len(held.leaves)} leaves: no SSE is below {floor:.10g}, a share of {(sse - floor) / sse:.1e} less")
    return Proven(sse, floor, len(groups))


def _check_certificate(held: Held, n: int) -> None:
    """Check that all parts fit ``n`` records and each other."""
    labels, k = np.asarray(held.labels), held.k
    if not 2 <= k <= n:
        raise DataError(f"k: it must be from 2 to the number of records, {n:,}, and is {k:,}.")
    if labels.shape != (n,):
        raise DataError(f"labels: there are {len(labels):,}, for {n:,} records.")
    if labels.min() < 0 or labels.max() >= n:
        raise DataError(f"labels: they must be from 0 to {n - 1:,}.")
    sizes = np.bincount(labels)
    if sizes[sizes > 0].min() < k:
        raise DataError(f"labels: a group has {sizes[sizes > 0].min():,} records, fewer than k={k}.")
    for prices in [held.listed, *(leaf_prices for _, leaf_prices in held.leaves)]:
        _check_prices(prices, n)
    for path, _ in held.leaves:
        for i, j, _together in path:
            if not (0 <= i < n and 0 <= j < n and i != j):
                raise DataError(f"decisions: {i} and {j} are no two of {n:,} records.")


def _check_prices(prices: Prices, n: int) -> None:
    pi, sigma = np.asarray(prices.pi), np.asarray(prices.sigma)
    if pi.shape != (n,) or not np.isfinite(pi).all():
        raise DataError(f"pi: there must be one finite price for each of {n:,} records.")
    if sigma.shape != (len(prices.cuts),) or not np.isfinite(sigma).all() or (sigma < 0.0).any():
        raise DataError("sigma: each cut must have one finite price, of at least 0.")
    if max(np.abs(pi).max(), *sigma, 0.0) > 1e100:
        raise DataError("pi, sigma: prices beyond 1e100 cannot be added up.")
    for records, multipliers, denominator in prices.cuts:
        members, u = np.asarray(records), np.asarray(multipliers)
        are_records = not len(members) or 0 <= members.min() <= members.max() < n
        if not 2 <= denominator <= _MAX_INTEGER:
            raise DataError(f"denominators: they must be from 2 to {_MAX_INTEGER:,}, not {denominator}.")
        if members.shape != u.shape or len(np.unique(members)) < len(members) or not are_records:
            raise DataError(f"cut_records: a cut must name different ones of {n:,} records, with a multiplier each.")
        if u.dtype.kind != "i" or (len(u) and not 0 <= u.min() <= u.max() <= _MAX_INTEGER):
            raise DataError(f"cut_multipliers: they must be whole numbers from 0 to {_MAX_INTEGER:,}.")


def read(path: Path) -> Held:
    """Read a certificate file, whose numbers :func:`check` checks.

    Raises
    ------
    DataError
        If the file cannot be read, or a field is missing, too large, or of the wrong kind or shape.
    """
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            if sorted(archive.files) != sorted(_FIELDS):
                raise DataError(f"{str(path)!r} is no certificate: it must hold {', '.join(_FIELDS)}, each once.")
            if (size := sum(member.file_size for member in archive.zip.infolist())) > MOST_BYTES:
                raise DataError(f"{str(path)!r} unpacks to {size:,} bytes, no certificate to more than {MOST_BYTES:,}.")
            arrays = {name: _of_kind(name, archive[name]) for name in _FIELDS}
    except DataError:
        raise
    except Exception as error:  # whatever a damaged archive, a header that lies or a lack of memory leads to
        reason = getattr(error, "strerror", None) or "it is damaged, or a file of another kind"
        raise DataError(f"{str(path)!r} cannot be read as a certificate ({reason}).") from None
    _check_fields(arrays)
    return _assemble_certificate(arrays)


def _of_kind(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return the array of a field as integers, floats or text, after a check of its kind and dimensions."""
    kind, dimensions = _FIELDS[name]
    if array.dtype.kind != kind or array.ndim != dimensions or array.dtype.itemsize > 400:
        raise DataError(f"{name}: it must be of kind {kind!r} with {dimensions} dimensions, not {array.dtype}.")
    return array if kind == "U" else array.astype(np.int64 if kind == "i" else np.float64)


def _check_fields(arrays: dict[str, NDArray[Any]]) -> None:
    """Check the lengths of the fields, and the numbers by which they refer to each other."""
    ends = {
        "cut_ends": (len(arrays["denominators"]), len(arrays["cut_records"])),
        "price_ends": (len(arrays["pi"]), len(arrays["price_cuts"])),
        "path_ends": (None, len(arrays["decisions"])),
    }
    for name, (parts, stop) in ends.items():
        stops = arrays[name]
        if not len(stops) or stops[0] != 0 or stops[-1] != stop or (np.diff(stops) < 0).any():
            raise DataError(f"{name}: it must rise from 0 to {stop:,}.")
        if parts is not None and len(stops) != parts + 1:
            raise DataError(f"{name}: it must have {parts + 1:,} entries, not {len(stops):,}.")
    if len(arrays["cut_multipliers"]) != len(arrays["cut_records"]):
        raise DataError("cut_multipliers: there must be one for each of cut_records.")
    if len(arrays["sigma"]) != len(arrays["price_cuts"]):
        raise DataError("sigma: there must be one for each of price_cuts.")
    n_cuts = len(arrays["denominators"])
    if len(arrays["price_cuts"]) and not 0 <= arrays["price_cuts"].min() <= arrays["price_cuts"].max() < n_cuts:
        raise DataError(f"price_cuts: they must be from 0 to {n_cuts - 1:,}.")
    if arrays["decisions"].shape[1:] != (3,) or not np.isin(arrays["decisions"][:, 2:], (0, 1)).all():
        raise DataError("decisions: each must be two records, and 1 if they share a group or 0 if not.")


def _assemble_certificate(arrays: dict[str, NDArray[Any]]) -> Held:
    """Split the arrays into cuts, prices and decisions."""

    def split(name: str, *fields: str) -> Iterable[list[NDArray[Any]]]:
        for start, stop in zip(arrays[name][:-1], arrays[name][1:], strict=True):
            yield [arrays[field][start:stop] for field in fields]

    multiplied = zip(split("cut_ends", "cut_records", "cut_multipliers"), arrays["denominators"], strict=True)
    cuts = [(records, u, int(q)) for (records, u), q in multiplied]
    priced = zip(arrays["pi"], split("price_ends", "price_cuts", "sigma"), strict=True)
    prices = [Prices(pi, [cuts[cut] for cut in used_cuts], sigma) for pi, (used_cuts, sigma) in priced]
    paths = [[(int(i), int(j), bool(t)) for i, j, t in path] for (path,) in split("path_ends", "decisions")]
    if not paths or len(prices) != 1 + len(paths):
        raise DataError(
            f"pi: there must be prices for the groups, and for each of {len(paths):,} leaves, of which there is at "
            f"least one; there are {len(prices):,}."
        )
    leaves = list(zip(paths, prices[1:], strict=True))
    return Held(str(arrays["data"]), int(arrays["k"]), arrays["labels"], prices[0], leaves)
