"""Long runs are made in steps: the labels do not depend on how small they are, and a run can be cancelled between."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.algorithms.dba import dba_1
from microagg.algorithms.gsms import gsms
from microagg.algorithms.registry import make
from microagg.kernels.neighbors import brute_force
from microagg.progress import Cancelled, watched


@pytest.mark.parametrize("key", ["p-s", "m-d", "md", "k-ward", "mu-approx"])
def test_many_small_steps_give_the_same_and_can_be_cancelled(key, monkeypatch):
    X = np.random.default_rng(5).normal(size=(150, 2))
    labels = make(key, k=3).fit_predict(X)
    monkeypatch.setattr(brute_force, "TERMS_AT_A_TIME", 300)
    messages = []
    with watched(lambda message, _: messages.append(message) or True):
        assert np.array_equal(make(key, k=3).fit_predict(X), labels)
    assert len(messages) > 15
    with pytest.raises(Cancelled), watched(lambda *_: len(messages) == 0):
        make(key, k=3).fit(X)


@pytest.mark.parametrize("algorithm", [dba_1, gsms])
def test_long_runs_can_be_cancelled(algorithm):
    X = np.random.default_rng(0).normal(size=(50, 2))
    seen = []

    def watcher(message, share):
        seen.append((message, share))
        return len(seen) < 2

    with watched(watcher), pytest.raises(Cancelled):
        algorithm(X, 3)
    assert [share for _, share in seen] == sorted(share for _, share in seen)
    assert all(message and 0 <= share <= 1 for message, share in seen)
