"""Local search and what is built on it: valid, never worse than before, and best by trying everything where it can be.

A local search may end anywhere, so no oracle gives its labels; see ``Info.checked_by``.
"""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import ALGORITHMS, DataError, ParameterError, Partition, Search, make, metrics
from microagg.base import Param, starts
from microagg.kernels.local_search import descent as local_search
from microagg.kernels.local_search import regions
from microagg.kernels.local_search import ruin_recreate as recombine
from microagg.kernels.neighbors.knn_graph import find_neighbors
from microagg.kernels.paths.split import split_path
from microagg.progress import Cancelled, watched
from tests import naive
from tests.algorithms.test_oracles import FAMILIES, generate
from tests.conftest import ROOT

KEYS = sorted(key for key, cls in ALGORITHMS.items() if cls.info.checked_by == "properties")
#: A low effort, where the result does not matter.
QUICK = {"local-search": {}, "iterated-local-search": {"effort": 2}}


def state_of(X, labels, k):
    centered = local_search.about_mean(np.asarray(X, dtype=float))
    neighbors = find_neighbors(centered, k)
    return local_search.make_state(centered, np.asarray(labels), k, neighbors)


def assert_consistent(state, k):
    """Check all that a state remembers of its partition against the partition itself."""
    labels, X = state.labels, state.X
    assert np.array_equal(np.bincount(labels, minlength=len(state.sizes)), state.sizes)
    for group in range(len(state.sizes)):
        members = np.flatnonzero(labels == group)
        assert np.array_equal(np.sort(local_search.members_of(state, group)), members)
        assert len(members) == 0 or len(members) >= k
        if len(members):
            assert np.allclose(state.centers[group], X[members].mean(axis=0), atol=1e-12)
            own = np.square(X[members] - X[members].mean(axis=0)).sum(axis=1)
            assert np.allclose(state.own[members], own, atol=1e-12)
            assert state.sses[group] == pytest.approx(own.sum(), rel=1e-9, abs=1e-12)
    assert local_search.total_sse(state) == pytest.approx(metrics.sse(X, labels), rel=1e-9, abs=1e-9)


# ---- The result ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [key for key in ALGORITHMS if key not in KEYS])
def test_never_worse_than_the_start(start):
    for family, n, k in [("gaussian-2d", 50, 3), ("grid-2d", 41, 4), ("heavy-tailed", 37, 2)]:
        X = generate(family, n)
        before = make(start, k=k).fit_predict(X)
        after = make("local-search", k=k, start=start).fit_predict(X)
        assert metrics.sse(X, after) <= metrics.sse(X, before) * (1 + 1e-12)
        assert np.bincount(after).min() >= k


@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_no_relocation_and_no_swap_improves_a_local_optimum(family, k):
    # Of at most eight other groups, each is tried for every record.
    for n in (k, 2 * k - 1, 2 * k, 3 * k + 1, min(9 * k, 38)):
        X = generate(family, n)
        labels = make("local-search", k=k).fit_predict(X)
        assert naive.improving_move(X - X.mean(axis=0), labels.tolist(), k) is None


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("family", FAMILIES)
def test_groups_are_large_enough_on_any_kind_of_data(family, key):
    for n in (7, 23, 38):
        for k in (1, 2, 3, 7):
            labels = make(key, k=k, **QUICK[key]).fit_predict(generate(family, n))
            assert np.bincount(labels).min() >= k
            assert np.bincount(labels).max() < 2 * k


@pytest.mark.parametrize("key", KEYS)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_any_small_integers(key, data):
    k = data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=k, max_size=6 * k))
    X = np.array(rows, dtype=float)
    labels = make(key, k=k, **QUICK[key]).fit_predict(X)
    assert np.bincount(labels).min() >= k
    assert metrics.sse(X, labels) <= metrics.sse(X, make("mdav-star", k=k).fit_predict(X)) + 1e-9


@pytest.mark.parametrize(("n", "k", "d"), [(9, 2, 2), (10, 3, 1), (11, 3, 2), (12, 4, 3), (12, 3, 2)])
def test_iterated_search_finds_the_optimum_of_few_records(n, k, d):
    for seed in range(3):
        X = np.random.default_rng([n, k, d, seed]).normal(size=(n, d))
        labels = make("iterated-local-search", k=k, effort=100).fit_predict(X)
        assert metrics.sse(X, labels) == pytest.approx(naive.least_sse(X, k))


@pytest.mark.parametrize("k", [2, 3, 10])
def test_iterated_search_comes_to_the_optimum_of_one_attribute(k):
    X = np.random.default_rng(5).normal(size=(80, 1))
    optimum = metrics.sse(X, split_path(X, np.argsort(X[:, 0]), k))
    labels = make("iterated-local-search", k=k, effort=60).fit_predict(X)
    assert optimum * (1 - 1e-12) <= metrics.sse(X, labels) <= optimum * 1.01


def test_equal_records_stay_together_where_they_can():
    X = np.repeat(np.arange(20.0), 3)[:, np.newaxis]
    labels = make("local-search", k=3, start="mondrian").fit_predict(X)
    assert metrics.sse(X, labels) == 0


def test_a_start_of_one_group_is_cut():
    X = np.random.default_rng(1).normal(size=(300, 2))
    labels = regions.locally_best(X, np.zeros(300, dtype=np.int64), 4)
    assert np.bincount(labels).max() < 8
    assert metrics.information_loss(X, labels) < 3


# ---- The kernel ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 2, 3, 6])
@pytest.mark.parametrize("family", ["gaussian-2d", "grid-3d", "heavy-tailed", "all-equal-floats"])
def test_what_a_state_remembers_is_so(family, k):
    X = generate(family, 200)
    state = state_of(X, make("mdav-star", k=k).fit_predict(X), k)
    assert_consistent(state, k)
    for _ in local_search.improving(state, k, 10_000):
        assert_consistent(state, k)
    assert_consistent(state, k)
    walk = recombine.make_walk(state.X, state.labels, k, state.neighbors, np.array([7], dtype=np.uint64))
    before = local_search.total_sse(walk.state)
    if k > 1:
        recombine.iterate(walk, k, 0, 300, 300, before / 100)
    assert_consistent(walk.state, k)
    assert before - walk.fallen[0] == pytest.approx(local_search.total_sse(walk.state))
    assert before - walk.fallen[1] == pytest.approx(metrics.sse(state.X, walk.best))
    assert walk.fallen[1] >= max(0, walk.fallen[0] - 1e-9)


# ---- Many records, by regions ----------------------------------------------------------------------------------------


@pytest.fixture
def few_at_once(monkeypatch):
    """Let a few hundred records be many."""
    monkeypatch.setattr(regions, "MOST_AT_ONCE", 200)
    monkeypatch.setattr(regions, "MOST_IN_REGION", 90)


@pytest.mark.parametrize("family", ["gaussian-2d", "grid-3d", "heavy-tailed", "all-equal-floats"])
@pytest.mark.parametrize("k", [3, 7])
def test_regions_are_improved_each_by_itself(few_at_once, monkeypatch, family, k):
    X = local_search.about_mean(generate(family, 700))
    before = make("mdav", k=k).fit(X).labels_
    labels = before.copy()
    losses = [metrics.sse(X, before)]
    for message, share in regions.improving_labels(X, labels, k):
        assert message
        assert 0 <= share <= 1
        assert np.bincount(labels)[np.unique(labels)].min() >= k
        losses.append(metrics.sse(X, labels))
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0] or losses[0] < 1e-12
    expected = regions.locally_best(X, before, k)
    for threads in (1, 5):
        monkeypatch.setattr(regions, "THREADS", threads)
        assert np.array_equal(regions.locally_best(X, before, k), expected)


def test_regions_lose_hardly_more_than_all_at_once(monkeypatch):
    X = np.random.default_rng(3).normal(size=(3000, 3))
    at_once = metrics.sse(X, make("local-search", k=3).fit_predict(X))
    monkeypatch.setattr(regions, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(regions, "MOST_IN_REGION", 1000)
    assert metrics.sse(X, make("local-search", k=3).fit_predict(X)) < 1.03 * at_once


def test_search_of_many_records_stopped_anywhere_keeps_a_partition(few_at_once):
    X = np.random.default_rng(3).normal(size=(2000, 3))
    seen = []

    def watch(loss, seconds):
        seen.append(loss)
        return len(seen) < 3

    search = Search(X, 3).improve(watch=watch)
    assert np.bincount(search.labels).min() >= 3
    assert search.information_loss == pytest.approx(metrics.information_loss(X, search.labels))
    assert seen == sorted(seen, reverse=True)
    further = search.improve(iterations=100)
    assert further.information_loss < seen[-1]
    assert further.information_loss == pytest.approx(metrics.information_loss(X, further.labels))


def test_regions_hold_all_groups_once():
    rng = np.random.default_rng(0)
    centers, sizes = rng.normal(size=(300, 2)), rng.integers(3, 6, size=300)
    found = regions.divide(centers, sizes, rng, most=100)
    assert sorted(np.concatenate(found)) == list(range(300))
    assert all(sizes[groups].sum() <= 100 for groups in found)
    labels = np.repeat(np.arange(300), sizes)
    before = labels.copy()
    parts, firsts = regions.records_of(found, labels, 3)
    assert sorted(np.concatenate(parts)) == list(range(len(labels)))
    assert Partition(labels, 3) == Partition(before, 3)
    for part, first, after in zip(parts, firsts, [*firsts[1:], len(labels)], strict=True):
        assert first <= labels[part].min()
        assert labels[part].max() < after


def test_what_is_undone_is_as_before():
    X = generate("gaussian-5d", 200)
    state = state_of(X, make("mdav-star", k=4).fit_predict(X), 4)
    labels, seed = state.labels.copy(), np.array([3], dtype=np.uint64)
    for _ in range(50):
        local_search.begin(state)
        recombine._shake(state, 4, seed)
        local_search.settle(state, 4, 30)
        local_search.forget_queue(state)
        local_search.undo(state)
        assert np.array_equal(state.labels, labels)
    assert_consistent(state, 4)


def test_neighbors_are_those_of_the_tree(monkeypatch):
    X = generate("gaussian-2d", 300)
    by_passes = find_neighbors(X, 3)
    monkeypatch.setattr(local_search.choice, "prefers_tree", lambda n, d: True)
    assert np.array_equal(by_passes, find_neighbors(X, 3))


def test_sorting():
    draw = np.random.default_rng(2)
    for m in (0, 1, 2, 3, 10, 500):
        values = draw.integers(0, 20, m).astype(float)
        assert np.array_equal(local_search.order_of(values), np.argsort(values, kind="stable"))


def test_many_regions_are_searched_and_put_together(monkeypatch):
    monkeypatch.setattr(recombine, "_MOST_RECORDS", 60)
    monkeypatch.setattr(recombine, "_LEAST_GROUPS", 4)
    X = generate("gaussian-2d", 600)
    labels = make("local-search", k=3).fit_predict(X)
    searched = make("iterated-local-search", k=3, effort=10).fit_predict(X)
    assert metrics.sse(X, searched) < metrics.sse(X, labels)
    assert np.bincount(searched).min() >= 3


# ---- The algorithms' parameters --------------------------------------------------------------------------------------


def test_same_seed_same_groups():
    X = np.random.default_rng(0).normal(size=(150, 3))
    one, same, other = (make("iterated-local-search", random_state=s, effort=5).fit_predict(X) for s in (1, 1, 2))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_no_effort_is_local_search():
    X = np.random.default_rng(0).normal(size=(90, 3))
    assert np.array_equal(make("iterated-local-search", effort=0).fit_predict(X), make("local-search").fit_predict(X))


def test_seconds_limit_the_effort():
    X = np.random.default_rng(0).normal(size=(90, 3))
    labels = make("iterated-local-search", effort=10**9, seconds=0.2).fit_predict(X)
    assert metrics.sse(X, labels) <= metrics.sse(X, make("local-search").fit_predict(X))


def test_start_is_any_algorithm_but_a_local_search():
    assert set(starts()) == set(ALGORITHMS) - set(KEYS)
    param = next(param for param in ALGORITHMS["local-search"].params if param.name == "start")
    assert param.choices == tuple(starts())
    for bad, says in [
        ("mdav_star", "did you mean .*mdav-star"),
        ("local-search", "not itself"),
        (3, "there are "),
        ([], "there are "),
    ]:
        with pytest.raises(ParameterError, match=f"start must be the key of .*{says}"):
            make("local-search", start=bad)
    assert Param("way", "choice", ("a", "b"), "a", "").choices == ("a", "b")
    assert Param("share", "float", (0, 1), 0, "").choices == ()


def test_an_estimator_knows_its_starts_without_the_registry(tmp_path):
    file = tmp_path / "estimator.pickle"
    file.write_bytes(pickle.dumps(make("local-search", k=2)))
    code = f"import pickle; print(pickle.load(open({str(file)!r}, 'rb')).fit_predict([[1.0], [9], [2], [8]]))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[0 1 0 1]"


@pytest.mark.parametrize("key", KEYS)
def test_runs_can_be_cancelled(key):
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.raises(Cancelled), watched(lambda message, share: False):
        make(key).fit(X)


# ---- Search ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def X():
    return np.random.default_rng(8).normal(size=(200, 3))


def test_search_goes_on_where_it_stopped(X):
    search = Search(X, 3)
    begun = search.information_loss
    assert begun == pytest.approx(metrics.information_loss(X, make("mdav-star", k=3).fit_predict(X)))
    assert search.trace == [(0.0, begun)]
    assert search.improve(iterations=0) is search
    settled = search.information_loss
    assert settled == pytest.approx(metrics.information_loss(X, make("local-search", k=3).fit_predict(X)))
    assert search.improve(iterations=500).iterations == 500
    assert search.improve(iterations=70).iterations == 570
    assert search.information_loss < settled
    assert search.information_loss == pytest.approx(metrics.information_loss(X, search.labels))
    assert search.sse == pytest.approx(metrics.sse(X, search.labels))
    assert Partition(search.labels, 3).labels.tolist() == search.labels.tolist()
    assert not search.labels.flags.writeable
    times, losses = zip(*search.trace, strict=True)
    assert list(times) == sorted(times)
    assert list(losses) == sorted(losses, reverse=True)
    assert losses[-1] == search.information_loss


def test_search_depends_on_the_seed_and_the_iterations_only(X):
    one, same, other = (Search(X, 3, random_state=s).improve(iterations=1000).labels for s in (0, 0, 5))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_search_begins_with_the_labels_given(X):
    labels = np.arange(200) // 4 + 10
    search = Search(X, 4, labels)
    assert search.information_loss == pytest.approx(metrics.information_loss(X, labels))
    assert search.improve(iterations=10).sse < metrics.sse(X, labels)


def test_watch_sees_the_search_and_stops_it(X):
    seen = []

    def watch(loss, elapsed):
        seen.append((loss, elapsed))
        return len(seen) < 5

    search = Search(X, 3).improve(watch=watch)
    assert len(seen) == 5
    assert seen[-1][0] == search.information_loss
    assert seen == sorted(seen, key=lambda step: (-step[0], step[1]))


def test_a_cancelled_search_keeps_the_best_so_far(X):
    left = [4]

    def watcher(message, share):
        left[0] -= 1
        return left[0] > 0

    search = Search(X, 3)
    with pytest.raises(Cancelled), watched(watcher):
        search.improve(seconds=60)
    kept = search.information_loss
    assert kept < search.trace[0][1]
    assert kept == pytest.approx(metrics.information_loss(X, search.labels))
    assert search.improve(iterations=2000).information_loss <= kept


def test_no_seconds_do_nothing(X):
    search = Search(X, 3).improve(seconds=0)
    assert len(search.trace) == 1


@pytest.mark.parametrize("n", [3, 5, 6])
def test_search_among_few_records(n):
    X = np.arange(float(n))[:, np.newaxis]
    search = Search(X, 3).improve(seconds=0.05, iterations=50)
    assert search.labels.max() + 1 == n // 3
    assert Search(X, 1).improve(iterations=5).sse == 0


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"k": 0}, ParameterError, "k must be at least 1"),
        ({"k": 201}, DataError, "only 200 records"),
        ({"k": 3, "labels": [0, 0, 0]}, DataError, "there are labels for 3"),
        ({"k": 3, "labels": np.arange(200)}, DataError, "fewer than k=3"),
        ({"k": 3, "random_state": -1}, ParameterError, "random_state must be at least 0"),
    ],
    ids=str,
)
def test_bad_arguments_are_named(X, arguments, error, says):
    with pytest.raises(error, match=says):
        Search(X, **arguments)


def test_bad_data_and_limits_are_named(X):
    for limits, says in [
        ({}, "say when the search is to end"),
        ({"seconds": -1}, "seconds must be at least 0"),
        ({"iterations": 1.5}, "iterations must be a whole number"),
    ]:
        with pytest.raises(ParameterError, match=says):
            Search(X, 3).improve(**limits)
    X[3, 1] = np.nan
    with pytest.raises(DataError, match="attribute 1 has NaN"):
        Search(X, 3)
