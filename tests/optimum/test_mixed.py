"""The floor of closures: what it adds is what the definition says, and it never is above an optimum."""

import numpy as np
import pytest

from microagg.optimum import mixed
from microagg.optimum.mixed import Closures, MixedBound
from tests import naive_mixed
from tests.optimum.test_nearest_neighbors import floor, least_loss, some_records


def test_it_is_the_sum_of_the_least_closures_and_never_above_the_optimum():
    rng, higher = np.random.default_rng(5), 0
    for _ in range(100):
        k = int(rng.integers(2, 4))
        records = some_records(rng, int(rng.integers(2 * k, 9)))
        own = MixedBound(records, k)
        own.improve(600.0, lambda bound: True)
        assert own.bound.converged
        assert own.bound.sse <= least_loss(records, k) * (1 + 1e-12)
        closures = [naive_mixed.least_closure(records, k, r) for r in range(len(records))]
        assert own.bound.sse == pytest.approx(sum(closures))
        higher += own.bound.sse > floor(records, k).sse * 1.01
    assert higher > 20


@pytest.mark.parametrize("limit", ["_MAX_NODES", "_MAX_WAITING"])
def test_a_search_that_becomes_too_long_proves_less(monkeypatch, limit):
    rng, lower = np.random.default_rng(6), 0
    for _ in range(30):
        records = some_records(rng, 12)
        whole = Closures(records, 3)
        gains = [whole.gain(i) for i in range(len(whole.counts))]
        with monkeypatch.context() as patch:
            # As plain Python, which looks the limits up when it runs.
            patch.setattr(mixed, "_min_extent", mixed._min_extent.py_func)
            patch.setattr(mixed, limit, 4)
            short = [whole.gain(i) for i in range(len(whole.counts))]
        assert all(0.0 <= less <= most + 1e-12 for less, most in zip(short, gains, strict=True))
        lower += sum(short) < sum(gains) - 1e-9
    assert lower > 0


def test_stopped_early_it_goes_on_later():
    records = some_records(np.random.default_rng(5), 12)
    own, whole = MixedBound(records, 3), MixedBound(records, 3)
    whole.improve(600.0, lambda bound: True)
    own.improve(60.0, lambda bound: False)
    assert not own.bound.converged
    own.improve(600.0, lambda bound: True)
    assert own.bound.converged
    assert own.bound.sse == whole.bound.sse
