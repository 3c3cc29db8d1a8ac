"""Long runs are made in steps: the labels do not depend on how small they are, and a run can be cancelled between."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.algorithms.registry import make
from microagg.kernels.neighbors import brute_force
from microagg.progress import Cancelled, watched
from tests.cases import for_each

IN_STEPS = ["p-s", "m-d", "md", "k-ward", "mu-approx"]
OTHERS = ["dba-1", "gsms", "imhm", "rimhm", "pcl", "npn-mhm", "tsp-mhm", "md-mhm"]
SEARCHES = ["local-search", "iterated-local-search", "least-loss"]


@pytest.mark.parametrize("key", IN_STEPS)
def test_many_small_steps_give_the_same(key, monkeypatch):
    X = np.random.default_rng(5).normal(size=(150, 2))
    labels = make(key, k=3).fit_predict(X)
    monkeypatch.setattr(brute_force, "TERMS_AT_A_TIME", 300)
    messages = []
    with watched(lambda message, _: messages.append(message) or True):
        assert np.array_equal(make(key, k=3).fit_predict(X), labels)
    assert len(messages) > 15


@for_each("key", [*IN_STEPS, *OTHERS, *SEARCHES])
def test_a_run_says_where_it_is_and_can_be_cancelled(key):
    X = np.random.default_rng(0).normal(size=(50, 2))
    seen = []
    with watched(lambda *where: seen.append(where)), pytest.raises(Cancelled):
        make(key).fit(X)
    [(message, share)] = seen
    assert message
    assert share is None or 0 <= share <= 1
