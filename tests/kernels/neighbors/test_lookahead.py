"""Neighbors looked up before they are needed, against a pass over all records in plain numpy."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from microagg.kernels import running as kernel_threads
from microagg.kernels.grouping.groups import make_groups, take
from microagg.kernels.neighbors.kd_tree import make_tree_pool, remove
from microagg.kernels.neighbors.lookahead import (
    NeighborCache,
    empty_cache,
    farthest_from,
    nearest_to,
    read_list,
    renew_cache,
)
from microagg.kernels.neighbors.tree_queries import make_query
from tests.cases import for_each
from tests.kernels.families import FAMILIES, first, found, generate, squared, tree_of


def expected_lists(X, alive, records, width, far):
    lists = []
    for record in records:
        ranked = first((-1 if far else 1) * squared(X, X[record]), alive[alive != record], width)
        lists.append(ranked + [-1] * (width - len(ranked)))
    return lists


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("far", [False, True], ids=["near", "far"])
def test_lists_are_those_of_a_pass_over_all_records_and_kept_while_they_serve(monkeypatch, threads, far):
    monkeypatch.setattr(kernel_threads, "THREADS", threads)
    for family in FAMILIES:
        X, rng = generate(family, 90, 2)
        pool, groups = make_tree_pool(X), make_groups(90, 2, 1)
        cache = empty_cache(90)
        order = rng.permutation(90)
        with ThreadPoolExecutor(threads) as executor:
            # Others, some again, none at all, and at last more than there are others left.
            for gone, count, needed in [
                (0, 20, 4),
                (5, 25, 4),
                (10, 30, 2),
                (40, 0, 4),
                (10, 25, 6),
                (3, 5, 6),
                (21, 1, 1),
            ]:
                for record in order[:gone]:
                    take(groups, pool, 0, record)
                order = order[gone:]
                records = rng.permutation(order)[:count]
                before = cache.rows.copy(), cache.lists
                cache, _ = renew_cache(cache, pool, records, 6, needed, executor, far)
                assert sorted(cache.records) == sorted(records)
                assert np.array_equal(cache.records[cache.rows[records]], records)
                assert (np.delete(cache.rows, records) == -1).all()
                for record in records:
                    lasting = [r for r in cache.lists[cache.rows[record]] if r >= 0 and groups.labels[r] < 0]
                    expected = expected_lists(X, np.sort(order), [record], needed, far)[0]
                    assert lasting[:needed] == [r for r in expected if r >= 0]
                    if before[0][record] >= 0:
                        was = before[1][before[0][record]]
                        enough = sum(r >= 0 and groups.labels[r] < 0 for r in was) >= needed
                        assert not enough or cache.lists[cache.rows[record]].tolist() == was.tolist()


def cache_of(n, record, entries):
    """Return a cache with one list."""
    cache = empty_cache(n)
    cache.rows[record] = 0
    return NeighborCache(cache.rows, np.array([record]), np.array([entries]))


def test_a_list_is_read_while_enough_of_it_is_left():
    X = np.arange(10, dtype=float)[:, np.newaxis]
    tree = tree_of(X)
    out = np.empty(5, dtype=np.int64)

    def read(cache, record, most, excluded=-1):
        count = read_list(cache, tree, record, most, excluded, out)
        return out[:count].tolist() if count >= 0 else None

    cache = cache_of(10, 4, [3, 5, 2, 6])
    assert read(cache, 3, 1) is None  # has no list
    assert read(cache, 4, 0) == []
    assert read(cache, 4, 2) == [3, 5]
    assert read(cache, 4, 4) == [3, 5, 2, 6]
    assert read(cache, 4, 5) is None  # there may be more
    assert read(cache, 4, 2, excluded=3) == [5, 2]
    assert read(cache, 4, 2, excluded=2) == [3, 5]
    assert read(cache, 4, 4, excluded=6) is None
    remove(tree, 5)
    assert read(cache, 4, 1) == [3]
    assert read(cache, 4, 2) == [3, 2]
    assert read(cache, 4, 3) == [3, 2, 6]
    assert read(cache, 4, 4) is None
    assert read(cache, 4, 2, excluded=3) == [2, 6]
    # A list that ended for lack of records tells that there are no more.
    cache = cache_of(10, 4, [3, 5, 2, -1])
    assert read(cache, 4, 4) == [3, 2]
    assert read(cache, 4, 2, excluded=3) == [2]
    assert read(cache, 4, 1) == [3]
    remove(tree, 3)
    remove(tree, 2)
    assert read(cache, 4, 3) == []
    assert read(cache_of(10, 4, [3, 5, 2, 6]), 4, 2) is None


@pytest.mark.slow
@for_each("family", FAMILIES)
@for_each("width", [1, 3, 8])
def test_answers_are_the_same_whether_or_not_they_were_looked_up(family, width):
    n = 140
    X, rng = generate(family, n, 2)
    pool, groups, query = make_tree_pool(X), make_groups(n, 2, 1), make_query(9)
    near, far = empty_cache(n), empty_cache(n)
    order = rng.permutation(n)
    with ThreadPoolExecutor(2) as executor:
        for at in range(n):
            alive = np.sort(order[at:])
            if at % 20 == 5:
                near, _ = renew_cache(near, pool, rng.permutation(alive)[:40], width, width, executor)
                far, _ = renew_cache(far, pool, rng.permutation(alive)[:40], width, width, executor, far=True)
            for record in rng.choice(alive, 3):
                distances = squared(X, X[record])
                for most, excluded in [(0, -1), (1, -1), (4, -1), (8, -1), (3, rng.choice(alive)), (1, order[0])]:
                    count = nearest_to(pool, near, record, most, excluded, query)
                    others = alive[(alive != record) & (alive != excluded)]
                    assert found(count, query) == first(distances, others, most)
                others = alive[alive != record]
                farther = first(-distances, others, 1)
                assert farthest_from(pool, far, record, query) == (farther[0] if farther else -1)
            take(groups, pool, 0, order[at])
