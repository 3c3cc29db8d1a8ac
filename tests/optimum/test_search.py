"""A search that is watched, stopped and continued."""

import numpy as np
import pytest

from microagg import DataError, ParameterError, Partition, Search, make, metrics
from microagg.kernels.local_search import iterated
from microagg.progress import Cancelled, watched


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


@pytest.mark.parametrize("checkpoints", [0, 1, 2, 3])
def test_a_search_that_was_cancelled_early_finds_the_same_as_another(X, checkpoints):
    left = [checkpoints]

    def watcher(message, share):
        left[0] -= 1
        return left[0] >= 0

    search = Search(X, 3)
    with pytest.raises(Cancelled), watched(watcher):
        search.improve(iterations=1_000_000)
    if search.iterations == 0:
        search.improve(iterations=300)
        assert np.array_equal(search.labels, Search(X, 3).improve(iterations=300).labels)


def test_search_of_many_records_stopped_anywhere_keeps_a_partition(monkeypatch):
    monkeypatch.setattr(iterated, "MOST_AT_ONCE", 200)
    monkeypatch.setattr(iterated, "MOST_IN_REGION", 90)
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
