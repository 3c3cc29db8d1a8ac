"""Neighbors of many records, looked up before they are needed or for a whole table, against plain numpy."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from microagg.kernels import running as kernel_threads
from microagg.kernels.grouping.groups import make_groups, take
from microagg.kernels.neighbors import neighbor_lists
from microagg.kernels.neighbors.kd_tree import LEAF, make_tree_pool
from microagg.kernels.neighbors.neighbor_lists import empty_cache, find_neighbors, renew_cache, sums_of_nearest
from tests.cases import for_each
from tests.kernels.families import FAMILIES, first, generate, squared


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
            turns = [(0, 20, 4), (5, 25, 4), (10, 30, 2), (40, 0, 4), (10, 25, 6), (3, 5, 6), (21, 1, 1)]
            for gone, count, needed in turns:
                for record in order[:gone]:
                    take(groups, pool, 0, record)
                order = order[gone:]
                records = rng.permutation(order)[:count]
                before = cache.rows.copy(), cache.lists
                cache = renew_cache(cache, pool, records, 6, needed, executor, far)
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


def test_neighbors_are_those_of_the_tree(monkeypatch):
    X, _ = generate("clustered", 300, 2)
    by_passes = find_neighbors(X, 3)
    monkeypatch.setattr(neighbor_lists, "tree_if_faster", lambda X, k, least: make_tree_pool(X))
    assert np.array_equal(by_passes, find_neighbors(X, 3))


@for_each("family", FAMILIES)
@for_each(("n", "d", "most"), [(150, 1, 1), (150, 3, 4), (150, 20, 149), (1, 2, 2), (LEAF, 2, LEAF), (LEAF + 1, 2, 3)])
def test_sums_of_the_distances_to_the_nearest(family, n, d, most):
    X = generate(family, max(n, 3), d)[0][:n]
    pool = make_tree_pool(X)
    expected = np.full((n, most), np.inf)
    for i in range(n):
        others = np.sort(np.delete(squared(X, X[i]), i))[:most]
        expected[i, : len(others)] = others
    for start, stop in ((0, n), (n // 3, n // 2)):
        sums = sums_of_nearest(pool, most, start, stop)
        np.testing.assert_allclose(sums, expected[pool.tree.records[start:stop]].sum(axis=0), rtol=1e-12)
