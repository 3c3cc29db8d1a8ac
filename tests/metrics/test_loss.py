"""Loss against plain definitions, and its invariances."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import DataError, metrics
from tests import naive
from tests.cases import for_each


@pytest.fixture
def X():
    return np.random.default_rng(1).normal(size=(40, 4))


@pytest.fixture
def labels():
    return np.random.default_rng(2).integers(0, 6, size=40)


def test_sse_is_its_definition(X, labels):
    assert metrics.sse(X, labels) == pytest.approx(naive.sse(X, labels))


def test_parts_add_up(X, labels):
    assert metrics.record_sse(X, labels).sum() == pytest.approx(metrics.sse(X, labels))
    assert metrics.group_sse(X, labels).sum() == pytest.approx(metrics.sse(X, labels))
    assert len(metrics.group_sse(X, labels)) == len(set(labels))


def test_one_group_loses_everything_and_singletons_nothing(X):
    assert metrics.information_loss(X, np.zeros(40, dtype=int)) == 100.0
    assert metrics.information_loss(X, np.arange(40)) == pytest.approx(0.0)
    assert metrics.sst(X) == pytest.approx(metrics.sse(X, np.zeros(40, dtype=int)))


def test_equal_records_lose_nothing():
    assert metrics.information_loss(np.full((5, 2), 3.3), [0, 0, 0, 1, 1]) == 0.0


@pytest.mark.parametrize("measure", [metrics.sse, metrics.information_loss])
def test_invariances(measure, X, labels):
    value = measure(X, labels)
    order = np.random.default_rng(3).permutation(40)
    assert measure(X[order], labels[order]) == pytest.approx(value)
    assert measure(X, 10 - labels) == pytest.approx(value)
    assert measure(X + 1e8, labels) == pytest.approx(value, rel=1e-6)
    assert measure(X.tolist(), labels.tolist()) == pytest.approx(value)


def test_rounding_takes_no_loss_above_100_percent():
    assert metrics.loss.percent(1.0 + 1e-12, 1.0) == 100.0


def test_sst_does_not_suffer_from_the_rounding_of_the_mean():
    assert metrics.sst([[1e16], [1e16 + 2]]) == 2.0


def test_one_attribute_may_be_one_dimensional():
    assert metrics.sse([1, 2, 3, 10], [0, 0, 0, 1]) == pytest.approx(2.0)


@for_each(
    ("X", "labels", "says"),
    [
        ([[1.0], [np.nan]], [0, 0], "NaN"),
        ([[1.0], [2.0]], [0, 0, 0], "2 records, but there are labels for 3"),
        ([["a"], ["b"]], [0, 0], "numbers only"),
        ([[1.0], [2.0]], [0.5, 0.5], "whole numbers"),
        (np.zeros((2, 2, 2)), [0, 0], "table of n records"),
    ],
)
def test_bad_input_is_named(X, labels, says):
    with pytest.raises(DataError, match=says):
        metrics.information_loss(X, labels)
