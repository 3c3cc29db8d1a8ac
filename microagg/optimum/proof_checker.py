"""Whether a certificate proves an optimum: that no partition into groups of at least k has a smaller SSE.

What is trusted is this file, Python, NumPy and Numba, which runs one function of it, and that the records are those of
the data set, whose digest is known to :mod:`microagg.datasets`. No solver and no search has a part in it, and nothing
that a certificate holds is believed: any numbers at all give a floor that is right, or are refused.

**Why this is enough.** SSE(G) is that of a group G of k to 2k - 1 records; larger groups can be split without loss, so
some best partition P has such groups only. Let pi be any prices of the records; cuts, with any prices sigma >= 0, are

    Σ_{G in P} ⌊w(G) / q⌋ ≤ ⌊Σ u / q⌋,    w(G) the sum of the u ≥ 0 of the members of G, u and q whole, q ≥ 2,

which every partition keeps to, as ⌊a⌋ + ⌊b⌋ ≤ ⌊a + b⌋ and each record is in one group. So for every partition

    SSE(P) ≥ value + Σ_{G in P} rc(G),   value = Σ pi - Σ sigma ⌊Σ u / q⌋,   rc(G) = SSE(G) - Σ pi + Σ sigma ⌊w(G) / q⌋,

whatever pi and sigma are. Each record is in one group, so Σ rc(G) is at least the sum, over the records, of the least
share rc(G) / |G| ≤ 0 that a group with a negative rc gives to it: the rest. Let S be the SSE of the partition that the
certificate names, and P a better one. Then each of its groups has rc(G) < S - value - rest. Hence:

1. With the first prices all groups with SSE(G) - Σ pi below a limit are listed here, members one after the other. The
   limit is raised until it is above both 0 and S - value - rest: above 0, as the rest needs all groups with a negative
   rc; and without sigma, which only adds to rc. Then every better partition consists of listed groups.
2. With each further prices the same holds for the groups that are left, so those above S - value - rest go.
3. The leaves decide for pairs of records whether they share a group, in a tree whose branches leave out no partition.
   In each leaf, value + rest with its own prices, over the groups left that keep to its decisions, is a floor for all
   better partitions in it. The least of these floors, or S if that is lower, is what no partition has an SSE below.

Prices that are too high only make many groups negative, and prices that are too low only leave many groups: both lower
the floor or are refused for the number of groups. Sums that decide are exact (math.fsum), and each SSE and reduced cost
is lowered by more than rounding can have changed it.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

import microagg.kernels  # noqa: F401  says where compiled code is kept
from microagg.errors import DataError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: A partition is an optimum to within this share of its SSE.
CLOSED = 2e-7
#: The largest certificate that is read, in bytes once unpacked; the most groups that are listed; the most steps that
#: looking for them may take, about a minute; and the most times that a cut or a decision is held against a group.
MOST_BYTES, MOST_GROUPS, MOST_STEPS, MOST_COMPARED = 200_000_000, 2_000_000, 20_000_000_000, 20_000_000_000
# The most prices of cuts and decisions together.
_MOST_ENTRIES = 1_000_000
# Sums of the terms of a group are off by less than this share of the sum of their sizes: they have fewer than 100 terms
# for each attribute, and each step is off by 2.3e-16 of what it adds up.
_ROUNDING = 1e-12
# Squared distances, which come from norms and a product, likewise.
_OF_DISTANCES = 1e-10

# What a file holds: the kind of each array, and how many dimensions it has.
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
# No whole number in a certificate is larger, so that sums of them are exact.
_LARGEST = 2**31


class Prices(NamedTuple):
    """Prices of the records, shape (n,), and of cuts: (records, multipliers, denominator) each, with sigma."""

    pi: FloatArray
    cuts: Sequence[tuple[Any, Any, int]]
    sigma: FloatArray


@dataclass(frozen=True)
class Held:
    """What a certificate holds, its shapes, kinds and ranges checked; see :func:`read`."""

    data: str
    k: int
    labels: IntArray
    listed: Prices
    filters: Sequence[Prices]
    leaves: Sequence[tuple[Sequence[tuple[int, int, bool]], Prices]]


@dataclass(frozen=True)
class Proven:
    """What a certificate proves of a partition."""

    sse: float  # that of the partition, rounded up
    floor: float  # no partition into groups of at least k records has a smaller SSE
    n_groups: int  # the groups that a better partition could consist of

    @property
    def is_optimal(self) -> bool:
        """Whether the partition is an optimum, to within :data:`CLOSED`."""
        return self.floor >= self.sse * (1.0 - CLOSED)


@njit(cache=True)
def _plus_least(bound: float, additions: FloatArray, least: FloatArray) -> float:
    """Return ``bound`` plus the smallest of ``additions``, as many as ``least`` has room for."""
    count = 0
    for value in additions:
        if count < len(least) or value < least[count - 1]:
            place = min(count, len(least) - 1)
            count = min(count + 1, len(least))
            while place > 0 and least[place - 1] > value:
                least[place] = least[place - 1]
                place -= 1
            least[place] = value
    for place in range(count):
        bound += least[place]
    return bound


@njit(cache=True)
def _groups_of_root(
    near: IntArray, squared: FloatArray, pi: FloatArray, limit: float, size: int, most: int, work: int
) -> tuple[IntArray, bool, int]:
    """Return groups of ``size`` with SSE - Σ pi < limit in which the first record has a share in it below its part.

    A record's share in the SSE of a group of s is the sum of its squared distances to the members over 2s, so in each
    such group some record has share - pi < limit / s: the root, the first of ``near``, which are the m records that can
    be with it. ``squared``, shape (m, m), are their squared distances. Members are added in the order of ``near``. With
    S those there are and E those to come, the SSE is at least [Σ_{a, b in S} d² + Σ_{a in S, c in E} d²] / s. Returned
    are at most ``most`` groups, whether there may be more, and the steps that are left of ``work``.
    """
    m, count = len(near), 0
    groups = np.empty((1024, size), dtype=np.int64)
    most_squared = size * 2 * (pi[0] + limit / size)  # what the squared distances to the root add up to at most
    at = np.zeros(size, dtype=np.int64)
    inside, price, to_root = np.zeros(size), np.zeros(size), np.zeros(size)
    price[0] = pi[0]
    weights = np.zeros((size, m))
    weights[0] = squared[0]
    depth = 1
    additions, least = np.empty(m), np.empty(size)
    while depth >= 1:
        at[depth] += 1
        c = at[depth]
        left = size - depth - 1
        if c + left >= m:
            depth -= 1
            continue
        root = to_root[depth - 1] + squared[0, c]
        # near is in the order of the distance, so nobody after c fits either.
        if root + left * squared[0, c] >= most_squared:
            depth -= 1
            continue
        total = inside[depth - 1] + weights[depth - 1, c]
        prices = price[depth - 1] + pi[c]
        bound = total / size - prices
        if left == 0:
            if bound < limit:
                if count == most:
                    return groups[:count], True, work
                if count == len(groups):
                    groups = np.concatenate((groups, np.empty_like(groups)))
                groups[count, 0] = near[0]
                for level in range(1, size):
                    groups[count, level] = near[at[level]]
                count += 1
            continue
        # The least that further members add.
        work -= m - c
        if work < 0:
            return groups[:count], True, work
        for later in range(c + 1, m):
            weights[depth, later] = weights[depth - 1, later] + squared[c, later]
            additions[later] = weights[depth, later] / size - pi[later]
        bound = _plus_least(bound, additions[c + 1 :], least[:left])
        if bound < limit:
            inside[depth], price[depth], to_root[depth] = total, prices, root
            depth += 1
            at[depth] = c
    return groups[:count], False, work


class _Groups:
    """Groups of several sizes, of which some may have been dropped."""

    def __init__(self, X: FloatArray, groups: list[IntArray]) -> None:
        self.n, self.groups = len(X), groups
        of_sizes = (X[group] for group in groups)
        self.sse = [np.square(rows - rows.mean(axis=1, keepdims=True)).sum(axis=(1, 2)) for rows in of_sizes]

    def reduced(self, prices: Prices) -> list[FloatArray]:
        """Return the reduced cost of each group, lowered by rounding: a list of arrays as the groups."""
        costs, sizes = [], []
        for own_sse, members in zip(self.sse, self.groups, strict=True):
            costs.append(own_sse - prices.pi[members].sum(axis=1))
            sizes.append(own_sse + np.abs(prices.pi[members]).sum(axis=1))
        weight = np.zeros(self.n, dtype=np.int64)
        for (records, multipliers, denominator), price in zip(prices.cuts, prices.sigma, strict=True):
            weight[list(records)] = multipliers
            for members, cost, size in zip(self.groups, costs, sizes, strict=True):
                added = price * (weight[members].sum(axis=1) // denominator)
                cost += added
                size += added
            weight[list(records)] = 0
        return [cost - _ROUNDING * size for cost, size in zip(costs, sizes, strict=True)]

    def rest(self, reduced: Iterable[FloatArray]) -> float:
        """Return what the reduced costs of the groups of a partition add up to at least."""
        shares = np.zeros(self.n)
        for members, costs in zip(self.groups, reduced, strict=True):
            negative = np.flatnonzero(costs < 0.0)
            for column in range(members.shape[1]):
                np.minimum.at(shares, members[negative, column], costs[negative] / members.shape[1])
        return _rounded_down(math.fsum(shares))

    def keep(self, stays: Iterable[NDArray[np.bool_]]) -> None:
        """Drop all but some groups."""
        there = list(stays)
        self.groups = [values[mask] for values, mask in zip(self.groups, there, strict=True)]
        self.sse = [values[mask] for values, mask in zip(self.sse, there, strict=True)]

    def fitting(self, path: Iterable[tuple[int, int, bool]]) -> list[NDArray[np.bool_]]:
        """Return which groups keep to decisions on pairs: a list of arrays as the groups."""
        fits = [np.ones(len(members), dtype=np.bool_) for members in self.groups]
        for i, j, together in path:
            for members, fit in zip(self.groups, fits, strict=True):
                held = (members == i).any(axis=1).astype(int) + (members == j).any(axis=1)
                fit &= held != 1 if together else held != 2
        return fits

    def __len__(self) -> int:
        return sum(map(len, self.groups))


def _rounded_down(value: float) -> float:
    return math.nextafter(value, -math.inf)


def _all_groups(X: FloatArray, k: int, pi: FloatArray, limit: float) -> _Groups:
    """Return all groups of k to 2k - 1 records with SSE - Σ pi < limit; there may be some more."""
    n, work, left = len(X), MOST_STEPS, MOST_GROUPS
    norms = np.square(X).sum(axis=1)
    limit += _ROUNDING * (abs(limit) + 4 * k * float(np.abs(pi).max()))
    listed = []
    for size in range(k, 2 * k):
        by_root = [np.empty((0, size), dtype=np.int64)]
        for root in range(n):
            # Rounding must not make a distance too large.
            both = norms + norms[root]
            squared = np.maximum(both - 2.0 * (X @ X[root]) - _OF_DISTANCES * both, 0.0)
            squared[root] = -1.0
            fits = np.flatnonzero(squared < 2 * size * pi[root] + 2 * limit)
            near = np.concatenate([[root], fits[fits != root][np.argsort(squared[fits[fits != root]], kind="stable")]])
            if len(near) < size:
                continue
            work -= len(near) ** 2
            if work < 0:
                _refuse_groups(limit)
            between = norms[near, None] + norms[None, near]
            between = np.maximum(between - 2.0 * (X[near] @ X[near].T) - _OF_DISTANCES * between, 0.0)
            between[0, 1:] = between[1:, 0] = squared[near[1:]]
            groups, full, work = _groups_of_root(near, between, pi[near], limit, size, left, work)
            if full:
                _refuse_groups(limit)
            by_root.append(np.sort(groups, axis=1))
            left -= len(groups)
        listed.append(np.unique(np.concatenate(by_root), axis=0))
    return _Groups(X, listed)


def _refuse_groups(limit: float) -> None:
    raise DataError(
        f"pi: more than {MOST_GROUPS:,} groups, or more than can be found in time, have an SSE less their prices "
        f"below {limit:.6g}, the limit that follows from the prices: these prove too little to be checked."
    )


def _value_of(prices: Prices) -> float:
    """Return the value of prices, rounded down."""
    of_cuts = (-price * (sum(map(int, u)) // q) for (_, u, q), price in zip(prices.cuts, prices.sigma, strict=True))
    terms = [*map(float, prices.pi), *map(float, of_cuts)]
    return _rounded_down(math.fsum(terms) - 1e-15 * math.fsum(map(abs, terms)))


def _covers(paths: list[Sequence[tuple[int, int, bool]]]) -> bool:
    """Whether every partition keeps to the decisions of one of the paths."""
    waiting = [(paths, 0)]
    while waiting:
        here, depth = waiting.pop()
        if len(here) == 1 and len(here[0]) == depth:
            continue
        if any(len(path) == depth for path in here) or len({path[depth][:2] for path in here}) != 1:
            return False
        for together in (True, False):
            side = [path for path in here if path[depth][2] == together]
            if not side:
                return False
            waiting.append((side, depth + 1))
    return True


def check(X: FloatArray, held: Held, say: Callable[[str], Any] = lambda text: None) -> Proven:
    """Return what a certificate proves of records ``X``, shape (n, d), as they are compared.

    ``say`` is told of each step.

    Raises
    ------
    DataError
        If a field is wrong: which, and what is wrong with it.
    """
    X, k, n = np.ascontiguousarray(X, dtype=np.float64), held.k, len(X)
    _check_certificate(held, n)
    if not np.isfinite(X).all():
        raise DataError("data: the records hold values that are not finite.")
    of_groups = [X[held.labels == group] for group in np.unique(held.labels)]
    sse = math.fsum(float(np.square(rows - rows.mean(axis=0)).sum()) for rows in of_groups) * (1.0 + _ROUNDING)
    if not 0.0 < sse < math.inf:
        raise DataError("labels: the partition has an SSE of 0 or beyond all floats, so there is nothing to prove.")
    sizes = [len(rows) for rows in of_groups]
    say(f"the partition: {len(sizes)} groups of {min(sizes)} to {max(sizes)}, SSE {sse:.10g}")

    # Cuts only add to the reduced cost, so the groups found without them are all there are.
    most, limit = sse - _value_of(held.listed), -math.inf
    while most >= limit:
        limit = max(most, 0.0) * 1.001 + 1e-9 * sse
        groups = _all_groups(X, k, held.listed.pi, limit)
        most = sse - _value_of(held.listed) - groups.rest(groups.reduced(held.listed))
    entries = sum(len(prices.cuts) for prices in [held.listed, *held.filters, *(prices for _, prices in held.leaves)])
    entries += sum(len(path) for path, _ in held.leaves)
    if entries > _MOST_ENTRIES or (entries + n) * len(groups) > MOST_COMPARED:
        raise DataError(
            f"price_cuts, decisions: {entries:,} of them and {len(groups):,} groups that follow from pi are too many."
        )
    say(f"the first prices: {len(groups):,} groups have SSE - Σ pi below {limit:.6g}")
    for number, prices in enumerate([held.listed, *held.filters]):
        reduced = groups.reduced(prices)
        most = sse - _value_of(prices) - groups.rest(reduced)
        groups.keep([cost <= most for cost in reduced])
        says = f"better partitions have groups with a reduced cost of at most {most:.6g}: {len(groups):,}"
        say(f"prices {number}: {says}")
    if not _covers([path for path, _ in held.leaves]):
        raise DataError("decisions: the leaves leave out some partitions, or have some twice.")
    floor = sse
    for path, prices in held.leaves:
        fits = groups.fitting(path)
        costs = [np.where(fit, cost, 0.0) for cost, fit in zip(groups.reduced(prices), fits, strict=True)]
        floor = min(floor, _value_of(prices) + groups.rest(costs))
    say(f"{len(held.leaves)} leaves: no SSE is below {floor:.10g}, a share of {(sse - floor) / sse:.1e} less")
    return Proven(sse, floor, len(groups))


def _check_certificate(held: Held, n: int) -> None:
    """Raise :class:`DataError` unless all parts fit to ``n`` records and to each other."""
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
    for prices in [held.listed, *held.filters, *(leaf_prices for _, leaf_prices in held.leaves)]:
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
        if not 2 <= denominator <= _LARGEST:
            raise DataError(f"denominators: they must be from 2 to {_LARGEST:,}, not {denominator}.")
        if members.shape != u.shape or len(np.unique(members)) < len(members) or not are_records:
            raise DataError(f"cut_records: a cut must name different ones of {n:,} records, with a multiplier each.")
        if u.dtype.kind != "i" or (len(u) and not 0 <= u.min() <= u.max() <= _LARGEST):
            raise DataError(f"cut_multipliers: they must be whole numbers from 0 to {_LARGEST:,}.")


def read(path: Path) -> Held:
    """Return what a certificate file holds; :func:`check` checks what it says.

    Raises
    ------
    DataError
        If it cannot be read, or a field is missing, too large, or of another kind or shape than it must be.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            names = [member.filename for member in members]
            if sorted(names) != sorted(f"{name}.npy" for name in _FIELDS):
                raise DataError(f"{path.name} is no certificate: it must hold {', '.join(_FIELDS)}, each once.")
            if (size := sum(member.file_size for member in members)) > MOST_BYTES:
                raise DataError(f"{path.name} unpacks to {size:,} bytes: no certificate has more than {MOST_BYTES:,}.")
            arrays = {}
            for name in _FIELDS:
                with archive.open(f"{name}.npy") as file:
                    arrays[name] = _array(name, file)
    except DataError:
        raise
    except (OSError, ValueError, EOFError, KeyError, MemoryError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        raise DataError(f"{path.name} cannot be read as a certificate: {error}.") from None
    except Exception as error:  # zlib.error and what else a damaged archive may raise
        raise DataError(f"{path.name} is damaged: {error}.") from None
    return _certificate(arrays)


def _array(name: str, file: Any) -> NDArray[Any]:
    """Return the array of a field; its header is checked before any of it is read."""
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = header(file)
    kind, dimensions = _FIELDS[name]
    if dtype.kind != kind or len(shape) != dimensions or dtype.itemsize > 400:
        raise DataError(f"{name}: it must be of kind {kind!r} with {dimensions} dimensions, not {dtype} of {shape}.")
    count = math.prod(shape)
    if count * dtype.itemsize > MOST_BYTES:
        raise DataError(f"{name}: {count:,} values are too many.")
    data = file.read(count * dtype.itemsize + 1)
    if len(data) != count * dtype.itemsize:
        raise DataError(f"{name}: it must have {count:,} values, and has more or fewer.")
    array = np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if fortran else "C")
    return array.astype(np.int64) if kind == "i" else array.astype(np.float64) if kind == "f" else array


def _certificate(arrays: dict[str, NDArray[Any]]) -> Held:
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

    def divided(name: str, *fields: str) -> Iterable[list[NDArray[Any]]]:
        for start, stop in zip(arrays[name][:-1], arrays[name][1:], strict=True):
            yield [arrays[field][start:stop] for field in fields]

    multiplied = zip(divided("cut_ends", "cut_records", "cut_multipliers"), arrays["denominators"], strict=True)
    cuts = [(records, u, int(q)) for (records, u), q in multiplied]
    priced = zip(arrays["pi"], divided("price_ends", "price_cuts", "sigma"), strict=True)
    prices = [Prices(pi, [cuts[at] for at in places], sigma) for pi, (places, sigma) in priced]
    paths = [[(int(i), int(j), bool(t)) for i, j, t in decided] for (decided,) in divided("path_ends", "decisions")]
    if not paths or len(prices) < 1 + len(paths):
        raise DataError(
            f"pi: there must be prices for the groups, and for each of {len(paths):,} leaves, of which there is at "
            f"least one; there are {len(prices):,}."
        )
    listed, *others = prices
    filters, last = others[: len(others) - len(paths)], others[len(others) - len(paths) :]
    return Held(
        str(arrays["data"]), int(arrays["k"]), arrays["labels"], listed, filters, list(zip(paths, last, strict=True))
    )
