"""The iterated local search for Total-IL: its state stays true, and what it finds is never worse and often optimal."""

from functools import partial
from itertools import permutations

import numpy as np
import pytest

from microagg.columns.records import Records
from microagg.kernels import mixed
from microagg.kernels.local_search import iterated, mixed_search
from microagg.kernels.local_search.iterated import draw_below
from microagg.metrics import generalization
from microagg.partition import canonical_labels
from microagg.progress import Cancelled, watched
from tests import naive_mixed
from tests.instances import ROUNDING
from tests.optimum.test_nearest_neighbors import least_loss, some_records


def some_labels(rng, n, k):
    return rng.permutation(np.minimum(np.arange(n) // k, n // k - 1))


def test_the_best_of_few_records_is_found():
    rng, optimal, several = np.random.default_rng(0), 0, 0
    for _ in range(60):
        k = int(rng.integers(2, 4))
        records = some_records(rng, int(rng.integers(2 * k, 10)))
        labels = some_labels(rng, len(records), k)
        found = mixed_search.improve(records, labels, k, 200)
        before, after = (naive_mixed.total_loss(records, list(own)) for own in (labels, found))
        least = least_loss(records, k)
        assert np.bincount(found).min() >= k
        assert least * (1 - 1e-9) <= after <= before * ROUNDING
        optimal += after <= least * (1 + 1e-9)
        several += after < before * (1 - 1e-6)
    assert several > 30
    assert optimal == 60


@pytest.mark.parametrize(("n", "k"), [(61, 2), (80, 3), (97, 7)])
def test_the_state_stays_that_of_its_labels(n, k):
    rng = np.random.default_rng(n)
    for _ in range(5):
        records = some_records(rng, n)
        labels = canonical_labels(some_labels(rng, n, k))
        neighbors = mixed_search._neighbors_of(mixed.make_pool(records), 8)
        seed = np.array([n], dtype=np.uint64)
        annealing = mixed_search._begin(mixed.make_groups(records, labels), neighbors, k, seed)
        # A temperature at which much is kept, so that groups come and go.
        warm = generalization.total_information_loss(records, labels) / 10
        mixed_search._anneal(annealing, k, 0, 300, 300, warm)
        groups, number = annealing.groups, int(annealing.number[0])
        sizes = np.bincount(groups.labels, minlength=number)
        assert groups.sizes[:number].tolist() == sizes.tolist()
        assert sizes.min() >= k
        known = generalization.extents(records, groups.labels)
        order = list(dict.fromkeys(groups.labels.tolist()))
        assert groups.extents[order] == pytest.approx(known.shares.sum(axis=1))
        for group in range(number):
            members, x = [], groups.first[group]
            while x >= 0:
                members.append(int(x))
                x = groups.following[x]
            assert sorted(members) == np.flatnonzero(groups.labels == group).tolist()
        partitions = (labels, groups.labels, annealing.best)
        first, last, best = (naive_mixed.total_loss(records, list(own)) for own in partitions)
        assert annealing.gains == pytest.approx([first - last, first - best], abs=1e-6)
        assert best <= last + 1e-9


def test_one_record_of_each_group_is_exchanged_so_that_the_loss_is_least():
    rng, lower = np.random.default_rng(7), 0
    for seed in range(60):
        k = int(rng.integers(1, 4))
        records = some_records(rng, int(rng.integers(2 * k, 5 * k + 1)))
        labels = canonical_labels(some_labels(rng, len(records), k))
        exchanged, leaving = labels.copy(), {}
        mixed_search._exchange_one_of_each(records, exchanged, np.random.default_rng(seed))
        for record in np.random.default_rng(seed).permutation(len(records)):
            leaving[labels[record]] = record
        losses = []
        for groups in permutations(leaving):
            tried = labels.copy()
            tried[list(leaving.values())] = groups
            losses.append(naive_mixed.total_loss(records, tried.tolist()))
        assert naive_mixed.total_loss(records, exchanged.tolist()) == pytest.approx(min(losses), abs=1e-9)
        lower += min(losses) < losses[0] * (1 - 1e-6)
    assert lower > 20


def test_regions_are_searched_alike_by_any_number_of_threads(monkeypatch):
    rng = np.random.default_rng(3)
    monkeypatch.setattr(mixed_search, "_MOST_IN_REGION", 60)
    for seed in range(3):
        records = some_records(rng, 400)
        labels = some_labels(rng, 400, 3)
        found = []
        for threads in (1, 3):
            monkeypatch.setattr(iterated, "THREADS", threads)
            found.append(mixed_search.improve(records, labels, 3, 1_000, random_state=seed))
        assert found[0].tolist() == found[1].tolist()
        assert np.bincount(found[0]).min() >= 3
        before, after = (generalization.total_information_loss(records, own) for own in (labels, found[0]))
        assert after < before


def test_a_pass_makes_the_changes_of_the_oracle():
    rng, changed = np.random.default_rng(4), 0
    for _ in range(60):
        k = int(rng.choice([1, 2, 3, 5, 12]))
        records = some_records(rng, int(rng.integers(2 * k, 2 * k + 30)))
        labels = canonical_labels(some_labels(rng, len(records), k))
        groups, width = mixed.make_groups(records, labels), int(rng.integers(1, 5))
        changes = mixed.improve(groups, k, 0, len(records), width)
        assert groups.labels.tolist() == naive_mixed.exchange(records, labels.tolist(), k, width)
        changed += changes
    assert changed > 300


def test_groups_grow_as_those_of_the_oracle():
    rng = np.random.default_rng(5)
    for number in range(40):
        k = int(rng.choice([1, 2, 3, 7]))
        records = some_records(rng, int(rng.integers(2 * k, 2 * k + 30)))
        n, first, again = len(records), *(np.array([number], dtype=np.uint64) for _ in range(2))
        most = n // k
        whole = mixed.make_groups(records, np.arange(n) % most)
        part = mixed_search._part_of(whole, np.arange(n), most)
        mixed_search._grown(part, k, first)
        assert part.labels.tolist() == naive_mixed.grown(records, k, most, partial(draw_below, again))
        assert first[0] == again[0]


def test_it_ends_after_the_seconds_and_can_be_cancelled():
    records = Records.of_numbers(np.random.default_rng(6).normal(size=(300, 3)))
    labels = np.arange(300) // 3
    found = mixed_search.improve(records, labels, 3, 10**9, seconds=0.3)
    assert np.bincount(found).min() >= 3
    with watched(lambda message, share: False), pytest.raises(Cancelled):
        mixed_search.improve(records, labels, 3, 10**9)
