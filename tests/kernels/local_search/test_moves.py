"""The best move of a record, against all moves tried one by one."""

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.local_search.moves import WIDTH, best_move, room_for_nearest
from tests.algorithms.test_oracles import generate
from tests.cases import for_each
from tests.kernels.local_search.consistency import state_of


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
