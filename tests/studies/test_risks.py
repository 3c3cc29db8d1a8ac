"""Risks of the partitions of a sweep, against plain computations over all pairs of records."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import datasets
from microagg.partition import Partition
from microagg.studies import risks
from microagg.studies.risks import Exposed


def linked(X, labels):
    """Return by all distances how many records are found again, ties at random; distances are rounded to 9 digits."""
    released = np.array([X[labels == label].mean(axis=0) for label in labels])
    found = 0.0
    for i, record in enumerate(X):
        distances = np.round(np.linalg.norm(released - record, axis=1), 9)
        nearest = np.flatnonzero(distances == distances.min())
        found += (i in nearest) / len(nearest)
    return found / len(X)


def no_columns(n):
    return pd.DataFrame(index=range(n))


@pytest.mark.parametrize("k", [2, 5, 12])
def test_records_found_again_are_those_of_all_distances(k):
    X = microagg.standardize(datasets.load("wine").X)
    labels = microagg.make("mdav", k=k).fit_predict(X)
    found = Exposed(X, no_columns(len(X))).risks(Partition(labels, k))
    assert found == {"record_linkage": pytest.approx(linked(X, labels))}
    # Whoever shares the released values with k - 1 others is found with a probability of 1 / k at most.
    assert found["record_linkage"] <= 1 / k


def test_confidential_values_by_hand_and_of_several_attributes_the_worst():
    partition = Partition([0, 0, 0, 1, 1, 2, 2, 2], 2)
    frame = pd.DataFrame(
        {
            # The second group has one value. Shares: all ½ and ½; groups ⅔, 0 and ⅔ of "a": at most ½ off.
            "a": ["a", "a", "b", "b", "b", "a", "a", "b"],
            # The first and the third have one value. Shares: all ⅜ and ⅝; groups 1, ½ and 0 of True.
            "c": [True, True, True, True, False, False, False, False],
        }
    )
    exposed = Exposed(None, frame)
    assert exposed.counted == ("a", "c")
    assert Exposed(None, frame[["a"]]).risks(partition) == {
        "homogeneous": pytest.approx(2 / 8),
        "t_closeness": pytest.approx(1 / 2),
    }
    assert Exposed(None, frame[["c"]]).risks(partition)["t_closeness"] == pytest.approx(1 / 2)
    assert exposed.risks(partition)["homogeneous"] == pytest.approx(6 / 8)


def test_what_has_gaps_or_one_value_does_not_count():
    frame = pd.DataFrame({"x": [1.0, np.nan, 2.0], "y": ["u", None, "v"], "z": [3, 3, 3], "w": [1, 2, 1]})
    exposed = Exposed(None, frame)
    assert exposed.counted == ("w",)
    assert set(exposed.risks(Partition([0, 0, 0], 3))) == {"homogeneous", "t_closeness"}
    assert Exposed(None, frame[["x", "z"]]).risks(Partition([0, 0, 0], 3)) == {}


def test_so_many_confidential_attributes_count_at_most():
    frame = pd.DataFrame({f"c{i}": [0, 1] for i in range(risks.MOST_CONFIDENTIAL + 5)})
    assert Exposed(None, frame).counted == tuple(frame.columns[: risks.MOST_CONFIDENTIAL])


def test_of_many_records_some_are_looked_up_the_same_in_each_release(monkeypatch):
    monkeypatch.setattr(risks, "MOST_LOOKED_UP", 100)
    monkeypatch.setattr(risks, "LOOKED_UP", 60)
    X = microagg.standardize(datasets.load("wine").X)
    exposed = Exposed(X, no_columns(len(X)))
    partition = Partition(microagg.make("mdav", k=3).fit_predict(X), 3)
    assert exposed.n_looked_up == 60
    assert exposed.risks(partition) == exposed.risks(partition)
    assert exposed.risks(partition)["record_linkage"] == pytest.approx(linked(X, partition.labels), abs=0.1)
    few = Exposed(X[:90], no_columns(90))
    assert few.n_looked_up == 90
    assert Exposed(None, no_columns(500)).n_looked_up == 0


def test_the_digest_tells_apart_what_risks_depend_on():
    X = np.arange(6.0).reshape(3, 2)
    frame = pd.DataFrame({"a": ["u", "v", "u"], "b": [1, 1, 1]})
    own = Exposed(X, frame).digest
    assert Exposed(X.copy(), frame.copy()).digest == own
    assert Exposed(X, frame.drop(columns="b")).digest == own  # one value only: it does not count
    others = [
        Exposed(X + 1, frame),
        Exposed(None, frame),
        Exposed(X, frame.assign(a=["u", "u", "v"])),
        Exposed(X, frame.rename(columns={"a": "c"})),
        Exposed(X, frame.assign(b=[1, 2, 1])),
    ]
    assert len({own, *(other.digest for other in others)}) == 6


def test_the_worst_record_is_found_with_one_over_the_smallest_group():
    rows = risks.with_worst(pd.DataFrame({"smallest_group": [2, 5, 8]}))
    assert rows["max_reidentification"].tolist() == [0.5, 0.2, 0.125]
