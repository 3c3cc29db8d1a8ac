"""The kernels that look at few of many records, each on its own against a pass over all of them in plain numpy."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from microagg.kernels.grouping import isolation as witnessed
from microagg.kernels.grouping.centroid_index import enter, least_growth_below, make_centers, update
from microagg.kernels.grouping.groups import found_group, least_growth, make_groups, take
from microagg.kernels.neighbors import lookahead as ahead
from microagg.kernels.neighbors.brute_force import centroid, make_pool
from microagg.kernels.neighbors.brute_force import remove as remove_from_pool
from microagg.kernels.neighbors.farthest_from_mean import (
    current_centroid,
    farthest_out,
    front,
    is_used_up,
    make_outskirts,
    without_assigned,
)
from microagg.kernels.neighbors.kd_tree import (
    LEAF,
    NOBODY,
    distance_to_box,
    distance_within_box,
    farthest,
    leaf_of,
    make_search,
    make_tree,
    nearest,
    nearest_to_any,
    remove,
)
from microagg.kernels.neighbors.tree_pool import ALIVE, from_the_outside, index_of_rest, make_index, next_of

# ---- Data, and what a pass over all of it would answer ---------------------------------------------------------------


def with_outliers(n, d, rng):
    X = rng.normal(size=(n, d))
    X[rng.choice(n, 3)] *= 1e18
    return X


def clustered(n, d, rng):
    return rng.normal(scale=50, size=(6, d))[rng.integers(0, 6, n)] + rng.normal(size=(n, d))


def mostly_one(n, d, rng):
    return np.where(rng.random((n, 1)) < 0.9, 0.1, rng.normal(size=(n, d)))


def on_a_sphere(n, d, rng):
    X = rng.normal(size=(n, d))
    return X / np.sqrt(np.square(X).sum(axis=1, keepdims=True))


# Each takes the number of records, the number of attributes and a random generator.
FAMILIES = {
    "uniform": lambda n, d, rng: rng.random((n, d)),
    # Almost all distances tie, and most records have twins.
    "grid": lambda n, d, rng: rng.integers(0, 4, (n, d)),
    "corners": lambda n, d, rng: rng.integers(0, 2, (n, d)) * 2 - 1,
    "evenly-spaced": lambda n, d, rng: np.column_stack([rng.permutation(n) for _ in range(d)]),
    "mostly-one": mostly_one,
    "all-equal": lambda n, d, rng: np.full((n, d), 0.1),
    "constant-but-one": lambda n, d, rng: np.column_stack([np.full((n, d - 1), -3.0), rng.normal(size=n)]),
    "heavy-tailed": lambda n, d, rng: rng.lognormal(sigma=3, size=(n, d)),
    "clustered": clustered,
    "on-a-sphere": on_a_sphere,
    "far-from-origin": lambda n, d, rng: 1e8 + rng.normal(size=(n, d)),
    "with-outliers": with_outliers,
    "unequal-scales": lambda n, d, rng: rng.normal(size=(n, d)) * 10.0 ** rng.integers(-6, 7, d),
}


def generate(family, n, d):
    # The seed names the case, not the order of the tests: a failure can be reproduced alone.
    rng = np.random.default_rng([n, d, *family.encode()])
    return np.ascontiguousarray(FAMILIES[family](n, d, rng), dtype=float), rng


def squared(X, point):
    """Return the squared distances of all records to a point, added attribute by attribute."""
    total = np.zeros(len(X))
    for j in range(X.shape[1]):
        difference = X[:, j] - point[j]
        total += difference * difference
    return total


def first(values, records, most):
    """Return the records with the smallest values, ties by index."""
    records = np.sort(np.asarray(records, dtype=np.int64))
    return records[np.argsort(values[records], kind="stable")][:most].tolist()


def exact_centroid(X, records):
    return np.array([math.fsum(column) / len(records) for column in X[records].T])


def tree_of(X, threads=1):
    return make_tree(np.ascontiguousarray(X.T), exact_centroid(X, np.arange(len(X))), threads)


def found(count, search):
    return search.found[:count].tolist()


# ---- The shape of the tree -------------------------------------------------------------------------------------------


def below(tree, node):
    """Return the records left below a node, by its leaves."""
    while 2 * node >= len(tree.ends) > node:
        start = tree.ends[node, 0]
        return tree.records[start : start + tree.left[node]].tolist()
    return below(tree, 2 * node) + below(tree, 2 * node + 1)


def assert_sound(tree, X, alive):
    """Every node knows exactly the records left below it, and every record is where its slot says."""
    n, d = X.shape
    assert sorted(below(tree, 1)) == alive.tolist()
    assert sorted(tree.records.tolist()) == list(range(n))
    gone = np.setdiff1d(np.arange(n), alive)
    assert (tree.slots[gone] == -1).all()
    assert (tree.records[tree.slots[alive]] == alive).all()
    norms = squared(X, tree.center)
    assert np.array_equal(tree.norms, norms)
    for node in range(1, len(tree.ends)):
        members = below(tree, node)
        assert tree.left[node] == len(members)
        if members:
            assert np.array_equal(tree.boxes[node, 0], X[members].min(axis=0))
            assert np.array_equal(tree.boxes[node, 1], X[members].max(axis=0))
            assert tree.lowest[node] == min(members)
            assert tree.reach[node] == norms[members].max()
        else:
            assert (tree.boxes[node, 0] == np.inf).all()
            assert (tree.boxes[node, 1] == -np.inf).all()
            assert tree.lowest[node] == NOBODY
            assert tree.reach[node] == -1
        start, stop = tree.ends[node]
        if 2 * node < len(tree.ends):
            assert tree.ends[2 * node, 0] == start
            assert tree.ends[2 * node, 1] == tree.ends[2 * node + 1, 0]
            assert tree.ends[2 * node + 1, 1] == stop
        else:
            assert stop - start <= LEAF
            leaf = tree.coordinates[start * d : stop * d].reshape(d, stop - start)
            assert np.array_equal(leaf[:, : len(members)].T, X[members])
            assert all(leaf_of(tree, slot) == node for slot in range(start, stop))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_tree_holds_all_records_whatever_their_number(family):
    for n, d in [(1, 1), (2, 3), (LEAF - 1, 2), (LEAF, 2), (LEAF + 1, 2), (2 * LEAF + 1, 5), (300, 1), (777, 3)]:
        X, _ = generate(family, n, d)
        assert_sound(tree_of(X), X, np.arange(n))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("threads", [2, 3, 5])
def test_the_tree_does_not_depend_on_the_number_of_threads(family, threads):
    for n, d in [(1, 2), (LEAF + 1, 2), (500, 3)]:
        X, _ = generate(family, n, d)
        alone, together = tree_of(X), tree_of(X, threads)
        for part in alone._fields:
            # There is no node 0.
            start = 1 if part in ("boxes", "left", "lowest", "ends", "reach") else 0
            assert np.array_equal(getattr(alone, part)[start:], getattr(together, part)[start:]), part


def test_a_tree_cuts_at_the_median_of_the_attribute_that_spreads_most():
    X = np.random.default_rng(0).random((1000, 3)) * [1, 10, 2]
    tree = tree_of(X)
    low, high = below(tree, 2), below(tree, 3)
    assert len(low) == len(high)
    assert X[low, 1].max() < X[high, 1].min()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_tree_stays_sound_down_to_the_last_record(family):
    X, rng = generate(family, 150, 2)
    tree = tree_of(X)
    alive = np.arange(150)
    for record in rng.permutation(150):
        remove(tree, record)
        alive = alive[alive != record]
        if len(alive) % 7 == 0:
            assert_sound(tree, X, alive)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("d", [1, 3, 20])
def test_no_record_is_nearer_or_farther_than_its_boxes_say(family, d):
    X, rng = generate(family, 400, d)
    tree = tree_of(X)
    # From records, as the algorithms ask, and from points far away from all or in between.
    points = [*X[:: len(X) // 6], X.mean(axis=0), tree.center, X.max(axis=0) * 3 + 1, rng.normal(size=d)]
    for gone in ([], from_outside(X)[:150]):
        for record in gone:
            remove(tree, record)
        for point in points:
            own = squared(point[np.newaxis], tree.center)[0]
            distances = squared(X, point)
            for node in range(1, len(tree.ends)):
                members = below(tree, node)
                if not members:
                    assert distance_to_box(tree, node, point) == np.inf
                    assert distance_within_box(tree, node, point, own) == -1
                    continue
                assert distance_to_box(tree, node, point) <= distances[members].min()
                assert distance_within_box(tree, node, point, own) >= distances[members].max()


def from_outside(X):
    """Return the records by their distance from the centroid of all, farthest first."""
    return np.array(first(-squared(X, exact_centroid(X, np.arange(len(X)))), np.arange(len(X)), len(X)))


# ---- Searches --------------------------------------------------------------------------------------------------------


def orders_to_leave_in(X, rng):
    """Yield orders in which records may leave: at random, from the outside inwards, and neighbors together."""
    yield rng.permutation(len(X))
    yield from_outside(X)
    yield np.argsort(squared(X, X[0]), kind="stable")


def assert_finds(tree, X, alive, point, most, excluded, search):
    """All three searches around a point find what a pass over the records left does."""
    distances = squared(X, point)
    others = alive[alive != excluded]
    expected = first(distances, others, most)
    assert found(nearest(tree, point, most, excluded, search), search) == expected
    assert np.array_equal(search.values[: len(expected)], distances[expected])
    own = squared(point[np.newaxis], tree.center)[0]
    expected = first(-distances, others, most)
    assert found(farthest(tree, point, own, most, excluded, search), search) == expected
    assert np.array_equal(search.values[: len(expected)], -distances[expected])


def assert_finds_near_any(tree, X, alive, points, most, excluded, search):
    distances = np.min([squared(X, point) for point in points], axis=0)
    expected = first(distances, np.setdiff1d(alive, excluded), most)
    assert found(nearest_to_any(tree, points, most, excluded, search), search) == expected
    assert np.array_equal(search.values[: len(expected)], distances[expected])


def assert_finds_roughly(tree, X, alive, point, most, excluded, search):
    """As many are found as there are, best first; with a share of 1, as near as any."""
    distances = squared(X, point)
    others = alive[alive != excluded]
    for share in (0.0, 0.1, 1.0):
        records = found(witnessed.roughly_nearest(tree, point, most, excluded, share, search), search)
        assert len(records) == min(most, len(others))
        assert set(records) <= set(others.tolist())
        assert first(distances, records, most) == records
        assert np.array_equal(search.values[: len(records)], distances[records])
    assert np.array_equal(distances[records], distances[first(distances, others, most)])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("d", [1, 2, 5, 10, 50])
def test_searches_find_what_a_pass_over_all_records_does(family, d):
    n = 420
    X, rng = generate(family, n, d)
    search = make_search(9)
    for order in orders_to_leave_in(X, rng):
        tree = tree_of(X)
        alive = np.arange(n)
        while len(alive):
            for most in (1, 4, 9):
                record = rng.choice(alive)
                assert_finds(tree, X, alive, X[record], most, record, search)
                assert_finds_roughly(tree, X, alive, X[record], most, record, search)
                # Of a record that has left, and of a point that never was one.
                assert_finds(tree, X, alive, X[rng.integers(n)], most, -1, search)
                assert_finds(tree, X, alive, rng.normal(size=d) * 3, most, -1, search)
                members = first(squared(X, X[record]), alive, 3)
                assert_finds_near_any(tree, X, alive, X[members], most, np.array(members), search)
                some = rng.choice(n, rng.integers(1, 7))
                assert_finds_near_any(tree, X, alive, X[some], most, some[:2], search)
            leaving = min(len(alive), 47 if len(alive) > 40 else 5)
            for record in order[n - len(alive) :][:leaving]:
                remove(tree, record)
            alive = np.sort(order[n - len(alive) + leaving :])
        assert nearest(tree, X[0], 3, -1, search) == 0
        assert farthest(tree, X[0], tree.norms[0], 3, -1, search) == 0
        assert nearest_to_any(tree, X[:2], 3, np.array([0]), search) == 0


def test_a_search_for_none_finds_none():
    X, _ = generate("uniform", 100, 2)
    assert nearest(tree_of(X), X[0], 0, 0, make_search(1)) == 0


@st.composite
def small_grids(draw):
    """Draw records on a small grid, so that most distances tie; enough of them for a few leaves, or fewer."""
    shape = draw(st.sampled_from([5, LEAF, LEAF + 1, 80, 3 * LEAF])), draw(st.integers(1, 3))
    return draw(arrays(np.float64, shape, elements=st.integers(0, draw(st.integers(0, 6)))))


@given(X=small_grids(), data=st.data())
def test_searches_are_right_in_any_order_of_removal(X, data):
    n = len(X)
    tree, search = tree_of(X, data.draw(st.integers(1, 3))), make_search(5)
    alive = np.arange(n)
    order = np.array(data.draw(st.permutations(range(n))))
    while len(alive):
        point, most = data.draw(st.integers(0, n - 1)), data.draw(st.integers(1, 5))
        assert_finds(tree, X, alive, X[point], most, data.draw(st.sampled_from([-1, point])), search)
        members = (point + np.array([0, 1, 7])) % n
        assert_finds_near_any(tree, X, alive, X[members], most, members[data.draw(st.integers(0, 3)) :], search)
        leaving, order = np.split(order, [data.draw(st.integers(1, n))])
        for record in leaving:
            remove(tree, record)
        alive = np.sort(order)
        assert_sound(tree, X, alive)


@pytest.mark.parametrize(
    ("d", "near", "any_", "far", "edge"),
    # Of 512 leaves. Twice what was measured: a search that looks into all of them is right, but of no use.
    [(2, 4, 10, 3, 8), (5, 24, 52, 24, 50)],
)
def test_searches_look_at_few_records(d, near, any_, far, edge):
    X = np.random.default_rng(3).random((LEAF * 512, d))
    tree = tree_of(X)
    assert len(tree.ends) == 1024

    def looked(ask, records):
        search = make_search(5)
        for record in records:
            ask(record, search)
        return search.looked[0] / len(records)

    def ask_farthest(record, search):
        farthest(tree, X[record], tree.norms[record], 5, record, search)

    some = range(200)
    assert looked(lambda record, search: nearest(tree, X[record], 5, record, search), some) < near
    nobody = np.empty(0, dtype=np.int64)
    assert looked(lambda i, search: nearest_to_any(tree, X[i : i + 3], 5, nobody, search), some) < any_
    assert looked(ask_farthest, some) < far
    # What is left when data are taken from the outside is a ball, which boxes fit badly.
    taken, left = np.split(from_outside(X), 2)
    for record in taken:
        remove(tree, record)
    assert looked(ask_farthest, left[:200]) < edge


def test_ties_do_not_make_searches_look_at_more():
    # Only 32 places: the first few hundred records decide everything.
    X, _ = generate("corners", LEAF * 512, 5)
    tree, near, far = tree_of(X), make_search(5), make_search(5)
    for record in range(100):
        nearest(tree, X[record], 5, record, near)
        farthest(tree, X[record], tree.norms[record], 5, record, far)
    assert near.looked[0] / 100 < 40
    assert far.looked[0] / 100 < 40


# ---- Unassigned records ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_an_index_keeps_the_books_that_a_pool_does(family):
    X, rng = generate(family, 200, 3)
    index, pool = make_index(X, 2), make_pool(X)
    groups = make_groups(200, 3, 4)
    assert np.array_equal(current_centroid(index), centroid(pool))
    assert_sound(index.tree, X, np.arange(200))
    order = rng.permutation(200)
    for start in range(0, 180, 5):
        seed, others = order[start], order[start + 1 : start + 4]
        group = found_group(groups, index, seed, others)
        assert group == start // 5
        assert groups.number[0] == group + 1
        late = order[start + 4]
        take(groups, index, group, late)
        members = [seed, *others, late]
        assert (groups.labels[members] == group).all()
        assert groups.sizes[group] == 5
        total = np.zeros(3)
        for record in members:
            total += X[record]
            remove_from_pool(pool, pool.positions[record])
        assert np.array_equal(groups.sums[group], total)
        assert index.counts[ALIVE] == 200 - start - 5
        assert np.array_equal(current_centroid(index), centroid(pool))
        assert sorted(below(index.tree, 1)) == sorted(order[start + 5 :])
    assert (groups.labels[order[180:]] == -1).all()


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "with-outliers"])
def test_the_centroid_of_an_index_is_correctly_rounded(family):
    X, rng = generate(family, 300, 3)
    index, groups = make_index(X, 1), make_groups(300, 3, 1)
    order = rng.permutation(300)
    for at, record in enumerate(order[:-1]):
        take(groups, index, 0, record)
        assert np.array_equal(current_centroid(index), exact_centroid(X, order[at + 1 :]))


@pytest.mark.parametrize("family", FAMILIES)
def test_an_index_of_the_rest_knows_the_records_by_their_order(family):
    X, rng = generate(family, 300, 3)
    index, groups = make_index(X, 1), make_groups(300, 3, 1)
    for record in rng.permutation(300)[:190]:
        take(groups, index, 0, record)
    left = np.flatnonzero(groups.labels < 0)
    rest = index_of_rest(index, left, 2)
    assert np.array_equal(rest.X, X[left])
    assert rest.counts[ALIVE] == 110
    assert_sound(rest.tree, rest.X, np.arange(110))
    assert np.array_equal(current_centroid(rest), current_centroid(index))
    take(groups, rest, 0, 0)
    assert current_centroid(index).tolist() != current_centroid(rest).tolist() or family == "all-equal"


def test_the_centroid_of_an_index_is_exact_after_huge_records_have_left():
    X = np.array([[1e18], [3.0], [-7e17], [4.0], [5.0]])
    index, groups = make_index(X, 1), make_groups(5, 1, 1)
    take(groups, index, 0, 0)
    take(groups, index, 0, 2)
    assert current_centroid(index)[0] == 4.0


@pytest.mark.parametrize("family", FAMILIES)
def test_records_from_the_outside(family):
    X, rng = generate(family, 333, 2)
    index, groups = make_index(X, 1), make_groups(333, 2, 1)
    order = from_the_outside(index)
    assert np.array_equal(order, from_outside(X))
    gone = rng.choice(333, 200, replace=False)
    for record in gone:
        take(groups, index, 0, record)
    left = order[~np.isin(order, gone)]
    at, seen = 0, []
    while True:
        some, at = next_of(index, order, at, 10)
        seen += some.tolist()
        if len(some) < 10:
            break
        # Where the next ones start, all before have been seen or are gone.
        assert set(order[:at]) <= set(seen) | set(gone)
    assert seen == left.tolist()
    assert next_of(index, order, at, 10)[0].tolist() == []
    assert next_of(index, order, 0, 0)[0].tolist() == []


# ---- Looking ahead ---------------------------------------------------------------------------------------------------


def expected_lists(X, alive, records, width, sign):
    lists = []
    for record in records:
        ranked = first(sign * squared(X, X[record]), alive[alive != record], width)
        lists.append(ranked + [-1] * (width - len(ranked)))
    return lists


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize(("ask", "sign"), [(ahead.ask_nearest, 1), (ahead.ask_farthest, -1)], ids=["near", "far"])
def test_lists_looked_up_are_those_of_a_pass_over_all_records(monkeypatch, threads, ask, sign):
    monkeypatch.setattr(ahead, "THREADS", threads)
    for family in FAMILIES:
        X, rng = generate(family, 90, 2)
        index, groups = make_index(X, threads), make_groups(90, 2, 1)
        memo = ahead.no_memo(90)
        order = rng.permutation(90)
        with ThreadPoolExecutor(threads) as pool:
            # Some, then others with an overlap, none at all, and at last more than there are others left.
            for gone, count, width in [(0, 20, 4), (30, 25, 1), (10, 0, 3), (44, 6, 9), (5, 1, 2)]:
                for record in order[:gone]:
                    take(groups, index, 0, record)
                order = order[gone:]
                records = order[:count]
                memo = ahead.look_up(ask, memo, index, records, width, pool)
                assert memo.lists.shape == (count, width)
                assert sorted(memo.records) == sorted(records)
                assert np.array_equal(memo.records[memo.rows[records]], records)
                assert (np.delete(memo.rows, records) == -1).all()
                got = memo.lists[memo.rows[records]].tolist()
                assert got == expected_lists(X, np.sort(order), records, width, sign)


@pytest.mark.parametrize(("ask", "sign"), [(ahead.ask_nearest, 1), (ahead.ask_farthest, -1)], ids=["near", "far"])
def test_lists_that_still_serve_are_kept(ask, sign):
    for family in FAMILIES:
        X, rng = generate(family, 90, 2)
        index, groups = make_index(X, 1), make_groups(90, 2, 1)
        memo = ahead.no_memo(90)
        order = rng.permutation(90)
        with ThreadPoolExecutor(2) as pool:
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
                    take(groups, index, 0, record)
                order = order[gone:]
                records = rng.permutation(order)[:count]
                before = memo.rows.copy(), memo.lists
                memo = ahead.look_up_missing(ask, memo, index, records, 6, needed, pool)
                assert sorted(memo.records) == sorted(records)
                assert np.array_equal(memo.records[memo.rows[records]], records)
                assert (np.delete(memo.rows, records) == -1).all()
                for record in records:
                    lasting = [r for r in memo.lists[memo.rows[record]] if r >= 0 and groups.labels[r] < 0]
                    expected = expected_lists(X, np.sort(order), [record], needed, sign)[0]
                    assert lasting[:needed] == [r for r in expected if r >= 0]
                    if before[0][record] >= 0:
                        was = before[1][before[0][record]]
                        enough = sum(r >= 0 and groups.labels[r] < 0 for r in was) >= needed
                        assert not enough or memo.lists[memo.rows[record]].tolist() == was.tolist()


def listed(n, record, entries):
    """Return a memo with one list."""
    memo = ahead.no_memo(n)
    memo.rows[record] = 0
    return ahead.Memo(memo.rows, np.array([record]), np.array([entries]))


def test_a_list_is_recalled_while_enough_of_it_is_left():
    X = np.arange(10, dtype=float)[:, np.newaxis]
    tree = tree_of(X)
    out = np.empty(5, dtype=np.int64)

    def recalled(memo, record, most, excluded=-1):
        count = ahead.recall(memo, tree, record, most, excluded, out)
        return out[:count].tolist() if count >= 0 else None

    memo = listed(10, 4, [3, 5, 2, 6])
    assert recalled(memo, 3, 1) is None  # has no list
    assert recalled(memo, 4, 0) == []
    assert recalled(memo, 4, 2) == [3, 5]
    assert recalled(memo, 4, 4) == [3, 5, 2, 6]
    assert recalled(memo, 4, 5) is None  # there may be more
    assert recalled(memo, 4, 2, excluded=3) == [5, 2]
    assert recalled(memo, 4, 2, excluded=2) == [3, 5]
    assert recalled(memo, 4, 4, excluded=6) is None
    remove(tree, 5)
    assert recalled(memo, 4, 1) == [3]
    assert recalled(memo, 4, 2) == [3, 2]
    assert recalled(memo, 4, 3) == [3, 2, 6]
    assert recalled(memo, 4, 4) is None
    assert recalled(memo, 4, 2, excluded=3) == [2, 6]
    # A list that ended for lack of records tells that there are no more.
    memo = listed(10, 4, [3, 5, 2, -1])
    assert recalled(memo, 4, 4) == [3, 2]
    assert recalled(memo, 4, 2, excluded=3) == [2]
    assert recalled(memo, 4, 1) == [3]
    remove(tree, 3)
    remove(tree, 2)
    assert recalled(memo, 4, 3) == []
    assert recalled(listed(10, 4, [3, 5, 2, 6]), 4, 2) is None


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("width", [1, 3, 8])
def test_answers_are_the_same_whether_or_not_they_were_looked_up(family, width):
    n = 140
    X, rng = generate(family, n, 2)
    index, groups, search = make_index(X, 1), make_groups(n, 2, 1), make_search(9)
    near, far = ahead.no_memo(n), ahead.no_memo(n)
    order = rng.permutation(n)
    with ThreadPoolExecutor(2) as pool:
        for at in range(n):
            alive = np.sort(order[at:])
            if at % 20 == 5:
                near = ahead.look_up(ahead.ask_nearest, near, index, rng.permutation(alive)[:40], width, pool)
                far = ahead.look_up(ahead.ask_farthest, far, index, rng.permutation(alive)[:40], width, pool)
            for record in rng.choice(alive, 3):
                distances = squared(X, X[record])
                for most, excluded in [(0, -1), (1, -1), (4, -1), (8, -1), (3, rng.choice(alive)), (1, order[0])]:
                    count = ahead.nearest_to(index, near, record, most, excluded, search)
                    others = alive[(alive != record) & (alive != excluded)]
                    assert found(count, search) == first(distances, others, most)
                others = alive[alive != record]
                farther = first(-distances, others, 1)
                assert ahead.farthest_from(index, far, record, search) == (farther[0] if farther else -1)
            take(groups, index, 0, order[at])


# ---- Farthest from a moving centroid ---------------------------------------------------------------------------------


def ways_to_leave(X, rng):
    """Yield ways to pick who leaves next, given the records left and the one farthest out."""
    yield lambda alive, out: first(squared(X, X[out]), alive, 4)
    yield lambda alive, out: rng.choice(alive, min(len(alive), 9), replace=False).tolist()
    # From one side only: the centroid goes a long way.
    yield lambda alive, out: first(X[:, 0], alive, 6)
    yield lambda alive, out: [out]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("n", "d"), [(900, 1), (900, 4), (400, 2), (30, 2)])
def test_the_record_farthest_from_the_moving_centroid(family, n, d):
    X, rng = generate(family, n, d)
    for pick in ways_to_leave(X, rng):
        index, groups, search = make_index(X, 1), make_groups(n, d, 1), make_search(1)
        outskirts = make_outskirts(index)
        alive = np.arange(n)
        for turn in range(120):
            out = farthest_out(index, outskirts, search)
            if out < 0:
                assert is_used_up(index, outskirts)
                # A new list always has an answer, be it by asking the tree.
                outskirts = make_outskirts(index)
                out = farthest_out(index, outskirts, search)
            elif turn % 5 == 0:
                outskirts = without_assigned(index, outskirts)
                assert farthest_out(index, outskirts, search) in (out, -1)
            assert out == first(-squared(X, exact_centroid(X, alive)), alive, 1)[0]
            for record in pick(alive, out):
                take(groups, index, 0, record)
                alive = alive[alive != record]
            if len(alive) == 0:
                break


def test_those_listed_that_are_farthest_from_the_centroid_now():
    for family in FAMILIES:
        X, _ = generate(family, 900, 2)
        index, groups = make_index(X, 1), make_groups(900, 2, 1)
        outskirts = make_outskirts(index)
        # The centroid goes a long way, to the right and upwards.
        for record in first(X.sum(axis=1), np.arange(900), 300):
            take(groups, index, 0, record)
        outskirts = without_assigned(index, outskirts)
        listed = outskirts.records
        assert (groups.labels[listed] < 0).all()
        distances = squared(X, current_centroid(index))
        for count in (0, 1, 7, len(listed), len(listed) + 5):
            got = front(index, outskirts, count)
            assert len(set(got) & set(listed)) == len(got) == min(count, len(listed))
            # Rounding and ties aside.
            expected = np.sort(distances[listed])[::-1][: len(got)]
            assert np.allclose(distances[got], expected, rtol=1e-9, atol=0), family


def test_the_outskirts_last_for_many_rounds():
    n = 20_000
    X = np.random.default_rng(5).random((n, 3))
    index, groups, search = make_index(X, 2), make_groups(n, 3, 1), make_search(4)
    outskirts, made = make_outskirts(index), 1
    for _ in range(1000):
        out = farthest_out(index, outskirts, search)
        if out < 0:
            outskirts, made = make_outskirts(index), made + 1
            out = farthest_out(index, outskirts, search)
        count = ahead.nearest_to(index, ahead.no_memo(n), out, 4, -1, search)
        found_group(groups, index, out, search.found[:count].copy())
    # Twice what was measured: a list made anew at every turn would be right, but of no use.
    assert made <= 10
    # Nor would it be to ask the tree at every turn.
    assert search.looked[0] < 1000 * 40


# ---- The group that takes a record best ------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("d", "k"), [(1, 1), (2, 3), (6, 5)])
def test_the_group_that_grows_least(family, d, k):
    n = 400
    X, rng = generate(family, n, d)
    index, groups, search = make_index(X, 1), make_groups(n, d, k), make_search(k)
    centers = make_centers(index.tree, n // k)
    assert least_growth_below(centers, groups, X[0], k, 0.0, np.inf, search)[0] == -1
    for seed in from_outside(X):
        if index.tree.slots[seed] < 0:
            continue
        if index.counts[ALIVE] < k:
            break
        if groups.number[0] > 0:
            assert_grows_least(centers, groups, X[seed], k, rng, search)
            assert_grows_least(centers, groups, rng.normal(size=d), k, rng, search)
        if groups.number[0] > 0 and rng.random() < 0.4:
            # Not where it grows least, so that centroids go far from where they were entered.
            group = rng.integers(groups.number[0])
            take(groups, index, group, seed)
            update(centers, groups, group)
        else:
            leaf = leaf_of(index.tree, index.tree.slots[seed])
            count = nearest(index.tree, X[seed], k - 1, seed, search)
            group = found_group(groups, index, seed, search.found[:count].copy())
            enter(centers, groups, group, leaf)


def growths(groups, point):
    """Return by how much the SSE of each group grows when the point joins it."""
    number = groups.number[0]
    sizes = groups.sizes[:number].astype(float)
    return sizes / (sizes + 1) * squared(groups.sums[:number] / sizes[:, np.newaxis], point)


def assert_grows_least(centers, groups, point, k, rng, search):
    all_growths = growths(groups, point)
    expected = int(all_growths.argmin())
    least = all_growths[expected]
    assert least_growth(groups, point) == (expected, least)
    assert least_growth_below(centers, groups, point, k, 0.0, np.inf, search) == (expected, least)
    # A limit that it just meets or misses, and one somewhere.
    other = rng.choice([0.0, 1.0, least])
    exactly = (least + other) / (k + 1)
    for limit in (exactly, np.nextafter(exactly, np.inf), np.median(all_growths), exactly * rng.random() * 2):
        pays = (least + other) / (k + 1) < limit
        got = least_growth_below(centers, groups, point, k, other, limit, search)
        assert got == ((expected, least) if pays else (-1, np.inf))


# ---- Witnesses -------------------------------------------------------------------------------------------------------


def assert_witnessed(tree, witnesses, X, alive):
    """Each record is at its distance from the first witness left, and every node knows the greatest below it."""
    for record in alive:
        left = [other for other in witnesses.near[record] if other in alive]
        assert record not in left
        assert bool(left) == (len(alive) > 1)
        expected = squared(X[left[:1]], X[record])[0] if left else np.inf
        assert witnesses.distances[record] == expected
    for node in range(1, len(tree.ends)):
        assert witnesses.most[node] == max(witnesses.distances[below(tree, node)], default=-1.0)


def assert_finds_isolated(tree, witnesses, X, alive, points, gamma, search):
    distances = np.min([squared(X, point) for point in points], axis=0)
    isolated = distances[alive] < gamma * witnesses.distances[alive]
    expected = first(distances, alive[isolated], 1)
    record, distance, passed = witnessed.nearest_isolated(tree, witnesses, points, gamma, search)
    assert [record] == (expected or [NOBODY])
    assert distance == (distances[record] if expected else np.inf)
    assert (distances[alive[~isolated]] >= min(passed, distance)).all()


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("d", "count"), [(2, 1), (5, 4)])
def test_every_record_has_a_witness_and_the_isolated_are_found(monkeypatch, family, d, count):
    monkeypatch.setattr(witnessed, "WITNESSES", count)
    n = 210
    X, rng = generate(family, n, d)
    search = make_search(count)
    for order in orders_to_leave_in(X, rng):
        index, groups = make_index(X, 2), make_groups(n, d, 1)
        witnesses = witnessed.make_witnesses(index)
        alive = np.arange(n)
        while len(alive):
            assert_witnessed(index.tree, witnesses, X, alive)
            for gamma in (0.05, 0.5, 2.0, 1e3):
                points = X[rng.choice(n, rng.integers(1, 5))]
                assert_finds_isolated(index.tree, witnesses, X, alive, points, gamma, search)
            leaving = min(len(alive), 47 if len(alive) > 40 else 5)
            for record in order[n - len(alive) :][:leaving]:
                witnessed.take_witness(groups, index, witnesses, 0, record, search)
            alive = np.sort(order[n - len(alive) + leaving :])
        assert index.counts[ALIVE] == 0
        assert witnessed.nearest_isolated(index.tree, witnesses, X[:2], 0.2, search)[0] == NOBODY
