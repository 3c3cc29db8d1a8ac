"""Many records, divided into regions that are improved each by itself."""

import numpy as np
import pytest

from microagg import Partition, make, metrics
from microagg.kernels.local_search import iterated
from microagg.kernels.local_search.state import centered
from tests.algorithms.test_oracles import generate


@pytest.fixture
def few_at_once(monkeypatch):
    """Let a few hundred records be many."""
    monkeypatch.setattr(iterated, "MOST_AT_ONCE", 200)
    monkeypatch.setattr(iterated, "MOST_IN_REGION", 90)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["gaussian-2d", "grid-3d", "heavy-tailed", "all-equal-floats"])
@pytest.mark.parametrize("k", [3, 7])
def test_regions_are_improved_each_by_itself(few_at_once, monkeypatch, family, k):
    X = centered(generate(family, 700))
    before = make("mdav", k=k).fit(X).labels_
    labels = before.copy()
    losses = [metrics.sse(X, before)]
    for message, share in iterated.descend_by_regions(X, labels, k):
        assert message
        assert 0 <= share <= 1
        assert np.bincount(labels)[np.unique(labels)].min() >= k
        losses.append(metrics.sse(X, labels))
    assert (np.diff(losses) <= 1e-9 * losses[0]).all()
    assert losses[-1] < losses[0] or losses[0] < 1e-12
    expected = iterated.improve(X, before, k)
    for threads in (1, 5):
        monkeypatch.setattr(iterated, "THREADS", threads)
        assert np.array_equal(iterated.improve(X, before, k), expected)


@pytest.mark.slow
def test_regions_lose_hardly_more_than_all_at_once(monkeypatch):
    X = np.random.default_rng(3).normal(size=(3000, 3))
    at_once = metrics.sse(X, make("local-search", k=3).fit_predict(X))
    monkeypatch.setattr(iterated, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(iterated, "MOST_IN_REGION", 1000)
    assert metrics.sse(X, make("local-search", k=3).fit_predict(X)) < 1.03 * at_once


def test_regions_hold_all_groups_once():
    rng = np.random.default_rng(0)
    centers, sizes = rng.normal(size=(300, 2)), rng.integers(3, 6, size=300)
    found = iterated.divide(centers, sizes, rng, most=100)
    assert sorted(np.concatenate(found)) == list(range(300))
    assert all(sizes[groups].sum() <= 100 for groups in found)
    labels = np.repeat(np.arange(300), sizes)
    before = labels.copy()
    parts, firsts = iterated.records_of(found, labels, 3)
    assert sorted(np.concatenate(parts)) == list(range(len(labels)))
    assert Partition(labels, 3) == Partition(before, 3)
    for part, first, after in zip(parts, firsts, [*firsts[1:], len(labels)], strict=True):
        assert first <= labels[part].min()
        assert labels[part].max() < after
