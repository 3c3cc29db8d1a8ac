"""The second phase of TFRP-2, MDAV-2, DBA-2 and GSMS-T2: groups dissolved, and large ones split."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import metrics
from microagg.kernels.bases import mdav_1, tfrp_1
from microagg.kernels.grouping.dissolve import dissolve_groups, split_large
from tests import naive

TABLES = {
    "gaussian": lambda rng: rng.normal(size=(60, 3)),
    "clustered": lambda rng: np.repeat(rng.normal(size=(12, 2)), 5, axis=0) + rng.normal(size=(60, 2)) / 50,
    "grid": lambda rng: rng.integers(0, 5, (60, 2)).astype(float),
    "equal": lambda rng: np.full((60, 2), 0.1),
}


def random_groups(rng, n, k):
    """Return labels, without a gap, of about n / 2k groups that have nothing to do with the records."""
    number = n // (2 * k)
    return rng.permutation(np.concatenate([np.repeat(np.arange(number), k), rng.integers(0, number, n - number * k)]))


def cases():
    for table, make in TABLES.items():
        for k in (1, 2, 4):
            rng = np.random.default_rng([k, *table.encode()])
            X = make(rng)
            for labels in (tfrp_1(X, k), random_groups(rng, len(X), k)):
                for most in (3 * k, 4 * k - 1, len(X)):
                    yield X, k, labels, most


def plain(X, labels, order, most):
    """Return what the oracle's decompose gives."""
    X = X.tolist()
    groups = [np.flatnonzero(labels == g).tolist() for g in range(labels.max() + 1)]
    numbers = naive.by_falling_sse(X, groups) if order == "sse" else reversed(range(len(groups)))
    return naive.labels_of(naive.decompose(X, groups, numbers, most))


@pytest.mark.parametrize("order", ["sse", "reverse"])
def test_dissolving_agrees_with_the_plain_version(order):
    dissolved = 0
    for X, _, labels, most in cases():
        got = dissolve_groups(X, labels, order, most)
        assert naive.canonical(got.tolist()) == plain(X, labels, order, most)
        dissolved += len(np.unique(labels)) - len(np.unique(got))
    assert dissolved > 50  # or nothing has been tested


@pytest.mark.parametrize("order", ["sse", "reverse"])
def test_dissolving_never_loses_information_and_keeps_the_sizes_in_bounds(order):
    for X, k, labels, most in cases():
        before = labels.copy()
        got = dissolve_groups(X, labels, order, most)
        assert np.array_equal(labels, before)
        assert metrics.sse(X, got) <= metrics.sse(X, labels) * (1 + 1e-12)
        sizes = np.bincount(got)
        assert sizes[sizes > 0].min() >= k
        assert sizes.max() <= max(most, np.bincount(labels).max())


def test_dissolving_sends_each_record_to_the_nearest_group_with_room():
    # Group 1 straddles the others: 2 goes to the zeros, 98 to the hundreds, which are full at 3.
    X = np.array([0, 0, 2, 98, 100, 100, 100], dtype=float)[:, np.newaxis]
    labels = np.array([0, 0, 1, 1, 2, 2, 2])
    assert dissolve_groups(X, labels, "sse", 4).tolist() == [0, 0, 0, 2, 2, 2, 2]
    # With no room for 98 there, both would go to the zeros, at a greater SSE than before: nothing happens.
    assert dissolve_groups(X, labels, "sse", 3).tolist() == labels.tolist()


def test_dissolving_leaves_alone_what_would_stay_equal_or_has_nowhere_to_go():
    X = np.zeros((6, 1))
    labels = np.array([0, 0, 1, 1, 2, 2])
    assert dissolve_groups(X, labels, "sse", 6).tolist() == labels.tolist()
    assert dissolve_groups(np.arange(6.0)[:, np.newaxis], np.zeros(6, dtype=np.int64), "sse", 6).tolist() == [0] * 6


@pytest.mark.parametrize("base", [tfrp_1, mdav_1])
def test_split_large_partitions_the_groups_of_2k_and_no_others(base):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 2))
    labels = np.repeat([0, 1, 2, 3], [5, 6, 17, 12])
    for k in (2, 3, 4):
        got = split_large(X, labels, k, base)
        for group, size in enumerate([5, 6, 17, 12]):
            members = labels == group
            parts = got[members]
            if size < 2 * k:
                assert len(set(parts)) == 1
            else:
                assert naive.canonical(parts.tolist()) == naive.canonical(base(X[members], k).tolist())
            assert not set(parts) & set(got[~members])
        assert np.bincount(got)[np.unique(got)].min() >= k
        assert np.bincount(got).max() < 2 * k
