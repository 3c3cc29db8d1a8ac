"""Local search: no move is left that would improve a partition."""

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.local_search.descent import WIDTH, best_move, room_for_nearest
from microagg.kernels.local_search.iterated import improve
from tests import naive
from tests.algorithms.test_oracles import FAMILIES, generate
from tests.cases import for_each
from tests.kernels.local_search.test_state import state_of


@pytest.mark.slow
@for_each("k", [1, 2, 3, 5])
@for_each("family", FAMILIES)
def test_no_relocation_and_no_swap_improves_a_local_optimum(family, k):
    # Of at most eight other groups, each is tried for every record.
    for n in (k, 2 * k - 1, 2 * k, 3 * k + 1, min(9 * k, 38)):
        X = generate(family, n)
        labels = make("local-search", k=k).fit_predict(X)
        assert naive.improving_move(X - X.mean(axis=0), labels.tolist(), k) is None


def test_equal_records_stay_together_where_they_can():
    X = np.repeat(np.arange(20.0), 3)[:, np.newaxis]
    labels = make("local-search", k=3, start="mondrian").fit_predict(X)
    assert metrics.sse(X, labels) == 0


def test_a_start_of_one_group_is_cut():
    X = np.random.default_rng(1).normal(size=(300, 2))
    labels = improve(X, np.zeros(300, dtype=np.int64), 4)
    assert np.bincount(labels).max() < 8
    assert metrics.information_loss(X, labels) < 3


def labels_after_moves_of(x, labels, k):
    """Yield the labels after each relocation, swap and chain that begins with record ``x``."""
    sizes = np.bincount(labels)
    for group in set(labels) - {labels[x]}:
        after = labels.copy()
        after[x] = group
        if sizes[labels[x]] > k:
            yield after
        for y in np.flatnonzero(labels == group):
            for target in set(labels) - {group}:
                if target == labels[x] or sizes[labels[x]] > k:
                    exchanged = after.copy()
                    exchanged[y] = target
                    yield exchanged


@for_each("family", ["gaussian-2d", "grid-3d", "heavy-tailed"])
@for_each(("n", "k"), [(14, 3), (17, 3), (12, 2), (26, 6)])
@for_each("start", ["random", "mdav"])
def test_best_move_is_the_best_of_all(family, n, k, start):
    X = generate(family, n)
    if start == "random":
        labels = np.random.default_rng(n).permutation(np.arange(n) % min(n // k, 5))
    else:
        # Of groups that are near to be the best most exchanges cannot gain, and need not be computed.
        labels = make("mdav", k=k).fit_predict(X)
    state = state_of(X, labels, k)
    before = metrics.sse(X, labels)
    for x in range(n):
        best = best_move(state, x, k, room_for_nearest(WIDTH), room_for_nearest(WIDTH))
        most = max((before - metrics.sse(X, after) for after in labels_after_moves_of(x, labels, k)), default=0.0)
        assert best.gain == pytest.approx(max(most, 0.0), rel=1e-9, abs=1e-9 * before)
        if best.group >= 0:
            after = labels.copy()
            after[x] = best.group
            if best.partner >= 0:
                after[best.partner] = best.target
            assert before - metrics.sse(X, after) == pytest.approx(best.gain, rel=1e-9, abs=1e-9 * before)
