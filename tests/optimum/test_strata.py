"""Search and floor within strata: what is found and proven is that of each, put together."""

import numpy as np
import pytest

from microagg import DataError, Partition, metrics
from microagg.metrics.generalization import total_information_loss
from microagg.optimum import strata
from microagg.optimum.bounds import exact
from microagg.optimum.certificate import Certificate
from microagg.optimum.schedule import Schedule
from tests.optimum.test_nearest_neighbors import least_loss, some_records


def parts_of(codes):
    return tuple(np.flatnonzero(codes == code) for code in np.unique(codes))


def check_within(labels, parts, k):
    assert Partition(labels, k).sizes.min() >= k
    groups = [set(labels[rows].tolist()) for rows in parts]
    assert sum(map(len, groups)) == len(set.union(*groups))


def test_of_numbers_the_optimum_is_that_of_each_stratum():
    rng = np.random.default_rng(4)
    X, parts = rng.normal(size=(27, 2)), parts_of(rng.permutation(np.repeat([0, 1, 2], [7, 12, 8])))
    own = Certificate(X, 3, strata=parts).narrow(60)
    least = sum(exact(X[rows], 3)[0] for rows in parts)
    assert own.closed
    assert own.bound.optimal
    assert own.bound.k == 3
    assert own.bound.sse == pytest.approx(least, rel=1e-6)
    assert metrics.sse(X, own.labels) == pytest.approx(least, rel=1e-6)
    # In percent of what all records lose together, not of what strata do.
    assert own.found[-1][1] == pytest.approx(100 * least / metrics.sst(X))
    check_within(own.labels, parts, 3)


def test_of_categories_the_floor_is_below_every_partition_within_strata():
    rng = np.random.default_rng(5)
    for _ in range(10):
        records = some_records(rng, 15)
        parts = parts_of(rng.permutation(np.repeat([0, 1], [7, 8])))
        start = np.empty(15, dtype=int)
        for number, rows in enumerate(parts):
            start[rows] = number
        own = Certificate(records, 2, start, parts)
        for _ in range(20):  # on a busy machine a floor is not always whole after the first
            if own.narrow(0.3).bound.converged:
                break
        least = sum(least_loss(records, 2, list(rows)) for rows in parts)
        total = total_information_loss(records, own.labels)
        assert own.bound.sse <= least * (1 + 1e-12)
        assert total >= least * (1 - 1e-12)
        assert own.found[-1][1] == pytest.approx(100 * total / (15 * records.d))
        assert own.found[0][1] == pytest.approx(100 * total_information_loss(records, start) / (15 * records.d))
        assert own.bound.converged
        check_within(own.labels, parts, 2)


def test_each_stratum_takes_the_better_part_of_what_is_offered():
    line = np.arange(12.0)[:, None]
    parts = (np.arange(6), np.arange(6, 12))
    neat, torn = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 0, 1])
    own = Certificate(line, 3, np.concatenate([torn, neat + 2]), parts)
    own.offer(np.concatenate([neat, torn + 2]))
    own.narrow(0.0)
    assert own.labels.tolist() == np.concatenate([neat, neat + 2]).tolist()


def test_all_strata_have_their_turn_and_a_watch_stops_them():
    seen = []

    class Own:
        def __init__(self, name):
            self.name = name

    def improve(own, share):
        seen.append((own.name, share))
        return len(seen) < 5

    strata._in_turns([Own("a"), Own("b")], 60.0, improve)
    # Nothing took time: there is nothing left to do.
    assert seen == [("a", strata._TURN), ("b", strata._TURN)]
    seen.clear()
    strata._in_turns([Own(name) for name in "abcdefgh"], 0.1, improve)
    assert [name for name, _ in seen] == list("abcde")
    assert all(0 < share <= 0.1 / 8 for _, share in seen)
    X = np.random.default_rng(8).normal(size=(300, 3))
    asked = []
    own = Certificate(X, 3, strata=parts_of(np.arange(300) % 3))
    own.narrow(600, lambda _, left: asked.append(left) or len(asked) < 9)
    assert own.seconds < 60


def test_several_k_are_narrowed_within_strata():
    X, parts = np.random.default_rng(8).normal(size=(90, 3)), parts_of(np.arange(90) % 2)
    own = Schedule([3, 4], lambda k: Certificate(X, k, strata=parts), near=0.0)
    before = {k: Certificate(X, k, strata=parts).gap for k in (3, 4)}
    after = own.run(3.0, threads=2).gaps()
    assert all(after[k] < before[k] for k in (3, 4))
    for k, certificate in own.certificates.items():
        check_within(certificate.labels, parts, k)


def test_a_stratum_that_is_too_small_is_refused():
    with pytest.raises(DataError, match="fewer than k=4"):
        Certificate(np.random.default_rng(0).normal(size=(12, 2)), 4, strata=(np.arange(9), np.arange(9, 12)))
