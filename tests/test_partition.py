import pickle

import numpy as np
import pytest

from microagg import DataError, ParameterError, Partition
from microagg.partition import join_strata
from tests.cases import for_each


def test_groups_are_numbered_in_order_of_first_appearance():
    partition = Partition([7, 7, 2, 7, 2, 2], k=3)
    assert partition.labels.tolist() == [0, 0, 1, 0, 1, 1]
    assert partition.n_groups == 2
    assert partition.sizes.tolist() == [3, 3]
    assert [group.tolist() for group in partition.groups()] == [[0, 1, 3], [2, 4, 5]]
    assert len(partition) == 6
    assert partition == Partition([0, 0, 5, 0, 5, 5], k=3)
    assert hash(partition) == hash(Partition([0, 0, 5, 0, 5, 5], k=3))
    assert partition != Partition(partition.labels, k=2)


def test_centroids_are_group_means_even_far_from_the_origin():
    X = np.array([[1.0, 10], [3, 10], [5, 20], [9, 40]])
    partition = Partition([0, 0, 1, 1], k=2)
    assert partition.centroids(X).tolist() == [[2, 10], [7, 30]]
    assert np.allclose(partition.centroids(X + 1e9) - 1e9, partition.centroids(X), atol=1e-6)


@for_each("weights", [[1.0], [1.0, 0.0], [1.0, np.inf], [1.0, np.nan], [[1.0], [1.0]]])
def test_weights_that_are_not_one_above_0_for_each_record_are_refused(weights):
    with pytest.raises(DataError, match="a finite number above 0 for each of 2 records"):
        Partition([0, 0], k=2).centroids([[1.0], [2.0]], weights)


def test_a_group_below_k_is_refused():
    with pytest.raises(DataError, match="group 1 has 2 records, fewer than k=3"):
        Partition([0, 0, 0, 1, 1], k=3)


@for_each("labels", [[], [[0, 1]], [0.5, 0.5], ["a", "a"]])
def test_bad_labels_are_refused(labels):
    with pytest.raises(DataError, match="labels must be"):
        Partition(labels, k=1)


@for_each("k", [0, 1.5, "2", None])
def test_bad_k_is_refused(k):
    with pytest.raises(ParameterError, match="k must be"):
        Partition([0, 0], k=k)


def test_it_is_frozen_before_and_after_pickling():
    partition = Partition([0, 0, 1, 1], k=2)
    for candidate in (partition, pickle.loads(pickle.dumps(partition))):
        with pytest.raises(ValueError, match="read-only"):
            candidate.labels[0] = 1
        with pytest.raises(ValueError, match="read-only"):
            candidate.sizes[0] = 1
        with pytest.raises(AttributeError, match="cannot"):
            candidate.k = 1
        with pytest.raises(AttributeError, match="cannot"):
            del candidate.k


def test_labels_given_are_copied():
    labels = np.array([0, 0, 1, 1])
    partition = Partition(labels, k=2)
    labels[0] = 1
    assert partition.labels.tolist() == [0, 0, 1, 1]


def test_groups_within_strata_are_put_together():
    # In the first stratum groups of first and last, in the second one group.
    labels_of = {(1, 3, 4, 6): [5, 9, 9, 5], (0, 2, 5): [5, 5, 5]}
    partitions = [(np.array(rows), Partition(labels, 2)) for rows, labels in labels_of.items()]
    partition = join_strata(partitions, 2)
    assert [group.tolist() for group in partition.groups()] == [[0, 2, 5], [1, 6], [3, 4]]
    assert partition.k == 2
    with pytest.raises(DataError, match="fewer than k=3"):
        join_strata(partitions, 3)
