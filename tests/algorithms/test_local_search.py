"""The algorithms that improve another's partition: valid, never worse than the start, and to be cancelled.

A local search may end anywhere, so no oracle gives its labels; see ``Info.checked_by``.
"""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import ALGORITHMS, ParameterError, make, metrics
from microagg.algorithms.base import Param, starts
from tests.algorithms.test_oracles import FAMILIES, generate
from tests.cases import for_each

KEYS = sorted(key for key, cls in ALGORITHMS.items() if cls.info.checked_by == "properties")
#: A low effort, where the result does not matter.
QUICK = {"local-search": {}, "iterated-local-search": {"effort": 2}, "least-loss": {"effort": "quick"}}


@pytest.mark.slow
@for_each("start", [key for key in ALGORITHMS if key not in KEYS])
def test_never_worse_than_the_start(start):
    for family, n, k in [("gaussian-2d", 50, 3), ("grid-2d", 41, 4), ("heavy-tailed", 37, 2)]:
        X = generate(family, n)
        before = make(start, k=k).fit_predict(X)
        after = make("local-search", k=k, start=start).fit_predict(X)
        assert metrics.sse(X, after) <= metrics.sse(X, before) * (1 + 1e-12)
        assert np.bincount(after).min() >= k


@pytest.mark.slow
@for_each("key", KEYS)
@for_each("family", FAMILIES)
def test_groups_are_large_enough_on_any_kind_of_data(family, key):
    for n in (7, 23, 38):
        for k in (1, 2, 3, 7):
            labels = make(key, k=k, **QUICK[key]).fit_predict(generate(family, n))
            assert np.bincount(labels).min() >= k
            assert np.bincount(labels).max() < 2 * k


@pytest.mark.parametrize("key", KEYS)
@given(data=st.data())
def test_any_small_integers(key, data):
    k = data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=k, max_size=6 * k))
    X = np.array(rows, dtype=float)
    labels = make(key, k=k, **QUICK[key]).fit_predict(X)
    assert np.bincount(labels).min() >= k
    assert metrics.sse(X, labels) <= metrics.sse(X, make("mdav-star", k=k).fit_predict(X)) + 1e-9


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
