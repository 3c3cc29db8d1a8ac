"""Local search: no move is left that would improve a partition."""

import numpy as np
import pytest

from microagg import make, metrics
from microagg.kernels.local_search.iterated import improve
from tests import naive
from tests.algorithms.test_oracles import FAMILIES, generate
from tests.cases import for_each


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
