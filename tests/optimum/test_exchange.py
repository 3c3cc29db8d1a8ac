"""Local search for Total-IL, against a plain second look at every change that it could make."""

from __future__ import annotations

import doctest

import numpy as np
import pytest

import microagg.optimum.exchange
from microagg import DataError, ParameterError, make
from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.metrics import generalization
from microagg.optimum.exchange import exchange
from microagg.partition import Partition
from microagg.progress import Cancelled, watched
from tests import naive_mixed
from tests.instances import ROUNDING
from tests.optimum.test_mixed_bounds import least_loss, some_records


def changes_of(labels, k):
    """Yield every partition that one move or one exchange makes of ``labels``, groups of fewer than k left out."""
    n, groups = len(labels), set(labels)
    for x in range(n):
        for group in groups - {labels[x]}:
            if labels.count(labels[x]) > k:
                yield [group if i == x else label for i, label in enumerate(labels)]
        for y in range(x):
            if labels[y] != labels[x]:
                yield [labels[{x: y, y: x}.get(i, i)] for i in range(n)]


def some_labels(rng, n, k):
    """Return random groups of at least k records."""
    return rng.permutation(np.minimum(np.arange(n) // k, n // k - 1))


def test_no_move_and_no_exchange_is_left_that_gains():
    rng, lower, optimal = np.random.default_rng(0), 0, 0
    for _ in range(150):
        k = int(rng.integers(2, 5))
        records = some_records(rng, int(rng.integers(2 * k, 13)))
        labels = some_labels(rng, len(records), k)
        found = exchange(records, labels, k)
        before, after = (naive_mixed.total_loss(records, list(own)) for own in (labels, found.labels))
        assert found.k == k
        assert found.sizes.min() >= k
        assert found.n_groups == len(set(labels))
        assert after <= before * ROUNDING
        lower += after < before * (1 - 1e-6)
        for other in changes_of(found.labels.tolist(), k):
            assert naive_mixed.total_loss(records, other) >= after * (1 - 1e-7) - 1e-12
        if len(records) < 10:
            least = least_loss(records, k)
            assert after >= least * (1 - 1e-9)
            optimal += after <= least * (1 + 1e-9)
    assert lower > 100
    assert optimal > 20


def test_groups_of_the_state_are_those_of_the_labels():
    rng = np.random.default_rng(1)
    records = some_records(rng, 60)
    groups = mixed.make_groups(records, Partition(some_labels(rng, 60, 3), 3).labels)
    assert mixed.improve(groups, 3, 0, 60, 2) > 0
    known = generalization.extents(records, groups.labels)
    order = list(dict.fromkeys(groups.labels.tolist()))
    assert groups.sizes[order].tolist() == known.sizes.tolist() == np.bincount(groups.labels)[order].tolist()
    assert groups.extents[order] == pytest.approx(known.shares.sum(axis=1))
    for group, first in enumerate(groups.first):
        members, x = [], first
        while x >= 0:
            members.append(int(x))
            x = groups.following[x]
        assert sorted(members) == np.flatnonzero(groups.labels == group).tolist()


def test_it_lowers_what_methods_find_and_keeps_what_is_optimal():
    records = some_records(np.random.default_rng(4), 200)
    for key in ("k-member", "mdav-generic-mixed", "mondrian"):
        labels = make(key, k=4).fit(records).labels_
        found = exchange(records, labels, 4)
        before, after = (generalization.total_information_loss(records, own) for own in (labels, found.labels))
        assert after < before
        again = exchange(records, found.labels, 4)
        assert again.labels.tolist() == found.labels.tolist()
    pairs = Records.of_numbers(np.repeat(np.arange(5.0), 2)[:, np.newaxis])
    assert exchange(pairs, np.repeat(np.arange(5), 2), 2).labels.tolist() == np.repeat(np.arange(5), 2).tolist()


def test_the_example_in_the_documentation():
    failures, tries = doctest.testmod(microagg.optimum.exchange)
    assert failures == 0
    assert tries == 4


def test_it_can_be_cancelled():
    records = Records.of_numbers(np.arange(8.0)[:, np.newaxis])
    with watched(lambda message, share: False), pytest.raises(Cancelled):
        exchange(records, [0, 1] * 4, 2)


def test_bad_input_is_named():
    records = Records.of_numbers(np.arange(6.0)[:, np.newaxis])
    with pytest.raises(DataError, match="6 records, but labels for 4"):
        exchange(records, [0, 0, 1, 1], 2)
    with pytest.raises(DataError, match="3"):
        exchange(records, [0, 0, 1, 1, 1, 1], 3)
    with pytest.raises(ParameterError, match="k"):
        exchange(records, [0] * 6, 0)
    with pytest.raises(DataError):
        exchange(Records.of_numbers(np.array([[1.0], [np.nan]])), [0, 0], 2)
