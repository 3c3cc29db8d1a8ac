"""Whole algorithms from which several others start; their steps are described in :mod:`microagg.algorithms`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.compiled import borrows, kernel
from microagg.kernels.grouping.groups import (
    Groups,
    assign_rest,
    form,
    grow,
    make_groups,
    rest_to_nearest_centroid,
)
from microagg.kernels.grouping.moving_mean import form_group, form_groups
from microagg.kernels.neighbors import brute_force
from microagg.kernels.neighbors.brute_force import ALIVE, EXTENT, Pool
from microagg.progress import checkpoint
from microagg.validation import FloatArray, IntArray


def cbfs(X: FloatArray, k: int) -> IntArray:
    """Return the labels of CBFS for ``X``, shape (n, d), n >= k."""
    groups, pool = form_groups(X, k, k, False)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels


def mdav(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV for ``X``, shape (n, d), n >= k."""
    groups, pool = form_groups(X, k, 2 * k, True)
    assign_rest(groups, pool, k, True)
    return groups.labels


def mdav_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed."""
    groups, pool = form_groups(X, k, 2 * k, True)
    if pool.counts[ALIVE] >= k:
        form_group(groups, pool, k)
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels


@kernel
def _form_at(groups: Groups, pool: Pool, seed: int, k: int, growing: bool, reach: FloatArray) -> None:
    """Form a group of the record at the position ``seed`` and its k-1 nearest, or those nearest to its centroid."""
    if growing:
        group = form(groups, pool, np.array([seed]))
        grow(groups, pool, group, k)
    else:
        group = form(groups, pool, brute_force.members_around(pool, seed, k))
    reach[groups.labels == group] = -1.0


@kernel
def _form_at_ends(
    X: FloatArray, groups: Groups, pool: Pool, k: int, r_first: bool, growing: bool, reach: FloatArray,
    partner: IntArray, most: int,
) -> None:  # fmt: skip
    """Form two groups a round while at least 2k records are unassigned; stop after ``most`` passes or a few more."""
    spent = 0
    while spent < most and pool.counts[ALIVE] >= 2 * k:
        brute_force.tidy(pool)
        r, s, measured = brute_force.farthest_pair(X, pool, reach, partner, most - spent)
        if r < 0:
            return
        spent += measured + (2 * k if growing else 3)
        one, other = (r, s) if r_first else (s, r)
        _form_at(groups, pool, pool.positions[one], k, growing, reach)
        seed = pool.positions[other]
        if seed < 0:
            brute_force.measure_from(pool, X[one])
            seed = brute_force.farthest(pool)
        _form_at(groups, pool, seed, k, growing, reach)


def md(X: FloatArray, k: int, r_first: bool, growing: bool = False) -> IntArray:
    """Return the labels of MD for ``X``, shape (n, d), n >= k; if ``growing``, those of a large tree in M-d."""
    n, d = X.shape
    pool = brute_force.make_pool(X)
    groups = make_groups(n, d, k)
    reach = np.full(n, np.inf)
    partner = np.full(n, -1)
    at_a_time = brute_force.passes_at_a_time(n, d)
    while (left := pool.counts[ALIVE]) >= 2 * k:
        measured = np.count_nonzero(partner >= 0)
        checkpoint(
            "partitioning large trees" if growing else "forming groups",
            None if growing else (measured + n - left) / (2 * n),
        )
        _form_at_ends(X, groups, pool, k, r_first, growing, reach, partner, at_a_time)
    assign_rest(groups, pool, k, False)
    return groups.labels


@borrows
def _swap(columns: FloatArray, records: IntArray, a: int, b: int) -> None:
    records[a], records[b] = records[b], records[a]
    for j in range(len(columns)):
        columns[j, a], columns[j, b] = columns[j, b], columns[j, a]


@kernel
def _two_far_positions(columns: FloatArray, first: int, distances: FloatArray) -> tuple[int, int]:
    """Return the positions of r and s among those from ``first`` on, the lower one first."""
    d, n = columns.shape
    center = np.zeros(d)
    for j in range(d):
        for position in range(first, n):
            center[j] += columns[j, position]
    center /= n - first
    brute_force.squared_distances(columns, first, n, center, distances)
    r = first + np.argmax(distances[first:])
    brute_force.squared_distances(columns, first, n, columns[:, r].copy(), distances)
    distances[r] = -1.0  # s is another record even where all distances are 0
    s = first + np.argmax(distances[first:])
    return min(r, s), max(r, s)


@kernel
def _gather(columns: FloatArray, records: IntArray, seed: int, k: int, distances: FloatArray) -> None:
    """Swap the k-1 records behind ``seed`` that are nearest to it to the places behind it."""
    n = len(records)
    brute_force.squared_distances(columns, seed, n, columns[:, seed].copy(), distances)
    for place in range(seed + 1, seed + k):
        chosen = place + np.argmin(distances[place:])
        _swap(columns, records, chosen, place)
        distances[chosen], distances[place] = distances[place], distances[chosen]


@kernel
def mdav_argus(X: FloatArray, k: int) -> IntArray:
    """Return the labels of MDAV in the order of µ-ARGUS for ``X``, shape (n, d), n >= k."""
    n, d = X.shape
    columns = np.empty((d, n))
    for i in range(n):
        for j in range(d):
            columns[j, i] = X[i, j]
    records = np.arange(n)
    distances = np.empty(n)
    labels = np.empty(n, dtype=np.int64)
    first = 0
    group = 0
    while n - first >= 2 * k:
        r, s = _two_far_positions(columns, first, distances)
        _swap(columns, records, r, first)
        seeds = 1
        if n - first >= 3 * k:
            _swap(columns, records, s, first + k)
            seeds = 2
        for _ in range(seeds):
            _gather(columns, records, first, k, distances)
            labels[records[first : first + k]] = group
            first += k
            group += 1
        if seeds == 1:
            break
    labels[records[first:]] = group
    return labels


@kernel
def _form_around(groups: Groups, pool: Pool, k: int, reference: FloatArray, other: FloatArray) -> None:
    """Form groups around the records farthest from ``reference`` and ``other`` in turns while k are unassigned."""
    while pool.counts[ALIVE] >= k:
        brute_force.tidy(pool)
        brute_force.measure_from(pool, reference)
        form(groups, pool, brute_force.members_around(pool, brute_force.farthest(pool), k))
        reference, other = other, reference


def tfrp_1(X: FloatArray, k: int) -> IntArray:
    """Return the labels of TFRP-1 for ``X``, shape (n, d), n >= k, groups numbered as they are formed."""
    d = X.shape[1]
    pool = brute_force.make_pool(X)
    groups = make_groups(len(X), d, k)
    _form_around(groups, pool, k, np.full(d, X.min()), np.full(d, X.max()))
    rest_to_nearest_centroid(groups, pool, False)
    return groups.labels


class Candidates(NamedTuple):
    """The unassigned records that may join a group, by position."""

    distances: FloatArray  # shape (extent,): from where a group begins, NaN where a record has left
    records: IntArray  # shape (extent,): the record at each position
    number: int  # how many are left


def group_in_turns(
    X: FloatArray | Records, k: int, fewest: int, choose: Callable[[Candidates, int], IntArray] | None = None
) -> IntArray:
    """Return the labels of groups formed in pairs: around the record farthest from the center, and farthest from that.

    ``choose`` returns the positions of the members of a group that begins at a position; without it these are the k
    nearest. Groups are formed while at least ``fewest`` records are unassigned; the rest is the last group.
    """
    kernels: Any = mixed if isinstance(X, Records) else brute_force
    pool = kernels.make_pool(X)
    groups: Any
    join: Callable[..., Any]
    center: Callable[[int], FloatArray]
    if isinstance(X, Records):
        values, distances, groups = pool.points, pool.sums, mixed.make_unassigned(X)
        join, center = mixed.form, partial(mixed.central_record, groups)
    else:
        values, distances, groups = X, pool.distances, make_groups(len(X), X.shape[1], k)
        join, center = form, lambda _: brute_force.centroid(pool)
    labels: IntArray = groups.labels
    first_seed: int | None = None  # the record around which the last group began, if it is the first of two
    while (left := int(pool.counts[ALIVE])) >= fewest:
        checkpoint("forming groups", 1.0 - left / len(X))
        kernels.tidy(pool)
        kernels.measure_from(pool, center(left) if first_seed is None else values[first_seed])
        seed = kernels.farthest(pool)
        first_seed = int(pool.records[seed]) if first_seed is None else None
        kernels.measure_from(pool, kernels.point_at(pool, seed))
        extent = pool.counts[EXTENT]
        if choose is None:
            distances[seed] = -1.0  # others may be equal to it
            join(groups, pool, brute_force.nearest(distances, extent, k))
        else:
            join(groups, pool, choose(Candidates(distances[:extent], pool.records[:extent], left), seed))
    labels[labels < 0] = labels.max() + 1
    return labels
