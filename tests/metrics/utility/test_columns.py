"""Hellinger distances by hand and by plain counting; standard deviations and correlations against numpy's."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError
from microagg.metrics import utility
from microagg.metrics.utility.columns import (
    bin_limits,
    correlation_changes,
    correlations,
    means_and_deviations,
    pair_columns,
)
from tests.cases import for_each

RNG = np.random.default_rng(5)
X = RNG.lognormal(size=(300, 2))
RELEASED = np.sort(X, axis=0).reshape(25, 12, 2).mean(axis=1).repeat(12, axis=0)


def test_bins_hold_about_equally_many_originals_and_meet_halfway():
    assert bin_limits(np.arange(12.0), 4).tolist() == [2.5, 5.5, 8.5]
    # The first value has more than its part, and so has the last: what is between is one bin.
    assert bin_limits(np.array([0.0] * 6 + [1.0, 2.0] + [3.0] * 4), 3).tolist() == [0.5, 2.5]
    assert bin_limits(np.array([0.0] * 9 + [1.0, 2.0, 3.0]), 3).tolist() == [0.5]
    # Of few values each has its bin, however rare it is.
    assert bin_limits(np.array([0.0] * 60 + [1.0, 2.0]), 3).tolist() == [0.5, 1.5]
    assert bin_limits(np.array([7.0, 7.0]), 3).tolist() == []
    above = np.nextafter(1.0, 2.0)
    assert bin_limits(np.array([1.0, above]), 3).tolist() == [above]


def test_hellinger_is_that_of_plain_counting():
    found = utility.hellinger(X, RELEASED, bins=10)
    for j in range(2):
        ascending = np.sort(X[:, j])
        edges = [-np.inf] + [(ascending[i - 1] + ascending[i]) / 2 for i in range(30, 300, 30)] + [np.inf]
        columns, bins = (X[:, j], RELEASED[:, j]), list(itertools.pairwise(edges))
        p, q = ([sum(a <= value < b for value in own) / 300 for a, b in bins] for own in columns)
        overlap = sum(math.sqrt(a * b) for a, b in zip(p, q, strict=True))
        assert p == pytest.approx([0.1] * 10)
        assert found.attributes[j] == pytest.approx(math.sqrt(1 - overlap))
    assert found.value == pytest.approx(found.attributes.mean())


def test_distances_of_categories_by_hand():
    before = pd.DataFrame({"town": ["a", "a", "b", "c"], "same": ["x"] * 4})
    after = pd.DataFrame({"town": ["a", "a", "a", "*"], "same": ["x"] * 4})
    # Shares ½ ¼ ¼ 0 become ¾ 0 0 ¼.
    found = utility.hellinger(before, after)
    assert found.names == ("town", "same")
    assert found.attributes == pytest.approx([math.sqrt(1 - math.sqrt(0.5 * 0.75)), 0])
    assert found.value == found.attributes[0]
    disjoint = pd.DataFrame({"town": ["z"] * 4, "same": ["x"] * 4})
    assert utility.hellinger(before, disjoint).value == 1.0


def test_ranges_dates_booleans_and_whole_numbers_in_a_frame():
    before = pd.DataFrame({"age": [10, 20, 30, 40], "alive": [True, True, False, False]})
    before["born"] = pd.to_datetime(["2001-01-01", "2001-01-03", "2001-01-05", "2001-01-07"])
    before["year"] = pd.to_datetime(["2001-05-01", "2001-06-01", "2003-05-01", "2003-06-01"])
    before["code"] = pd.array([1, 1, 2, 2], "Int64")
    # The ranges stand for 20.
    after = pd.DataFrame({"age": ["[10, 30]", "[10, 30]", "30", "40"], "alive": ["*", "*", "False", "False"]})
    after["born"] = pd.to_datetime(["2001-01-02", "2001-01-02", "2001-01-06", "2001-01-06"])
    after = after.assign(year=[2002, 2002, 2003, 2003], code=1.5)
    columns = {column.name: column for column in pair_columns(before, after)}
    assert columns["age"].after.tolist() == [20, 20, 30, 40]
    assert np.diff(columns["born"].after).tolist() == [0, 4, 0]
    assert columns["year"].before.tolist() == [2001, 2001, 2003, 2003]
    assert columns["alive"].categories == ("True", "False", "*")
    assert columns["code"].numeric


def test_neither_an_offset_nor_the_file_twice_nor_a_constant_changes_them():
    measure = utility.hellinger
    whole = RNG.integers(0, 500, size=(90, 2)).astype(float)
    released = np.sort(whole, axis=0).reshape(30, 3, 2).sum(axis=1).repeat(3, axis=0) // 3
    plain = measure(whole, released)
    assert plain.value > 0
    assert measure(whole + 1e8, released + 1e8).attributes == pytest.approx(plain.attributes)
    assert measure(np.tile(whole, (2, 1)), np.tile(released, (2, 1))).attributes == pytest.approx(plain.attributes)
    same = np.full((90, 1), 7.0)
    assert measure(np.hstack([whole, same]), np.hstack([released, same])).value == pytest.approx(plain.value)


def column(*values):
    return pd.DataFrame({"a": values})


@for_each(
    ("before", "after", "message"),
    [
        ([1.0, 2.0], column(1.0, 2.0), "one of the originals and the release is a DataFrame"),
        (column(1), pd.DataFrame({"b": [1]}), "no column 'a' in the release"),
        (column(1), column(), "no records"),
        (column(1.0, np.nan), column(1.0, 2.0), "'a' has no value in record 1 .* of the originals"),
        (column(1.0, 2.0), column(1.0, np.inf), "in the release: column 'a' has infinity"),
        (column(1, 2), column("1", "*"), r"column 'a' holds numbers .* holds '\*'"),
        (column(pd.Timestamp("2001-01-01")), column("[spring, summer]"), "column 'a' holds dates"),
        ([[1.0, 2.0]], [[1.0]], "the same attributes of both"),
    ],
)
def test_what_cannot_be_compared_is_refused(before, after, message):
    with pytest.raises(DataError, match=message):
        utility.hellinger(before, after)
    for bins in (1, 2.5, True, "auto"):
        with pytest.raises(ParameterError, match="bins must be a whole number of at least 2"):
            utility.hellinger([1.0, 2.0], [1.0, 2.0], bins=bins)


MIXED = RNG.normal(size=(60, 4)) @ RNG.normal(size=(4, 4))
MEANS = MIXED.reshape(12, 5, 4).mean(axis=1).repeat(5, axis=0) + np.array([0.0, 0.3, 0.0, 0.0])


def test_correlations_and_their_changes_are_those_of_numpy():
    found = correlation_changes(MIXED, MEANS)
    assert correlations(MIXED, MEANS) == (pytest.approx(np.corrcoef(MIXED.T)), pytest.approx(np.corrcoef(MEANS.T)))
    change = np.abs(np.corrcoef(MEANS.T) - np.corrcoef(MIXED.T))
    assert found.largest == pytest.approx(change.max())
    assert change[found.pair] == pytest.approx(change.max())
    assert found.attributes == pytest.approx(change.max(axis=1))
    assert means_and_deviations(MIXED)[1] == pytest.approx(MIXED.std(axis=0))


def test_a_weight_of_2_is_a_record_that_is_there_twice():
    weights = np.tile([1.0, 2.0], 30)
    rows = np.concatenate([np.arange(60), np.arange(1, 60, 2)])
    weighted, twice = correlation_changes(MIXED, MEANS, weights), correlation_changes(MIXED[rows], MEANS[rows])
    assert weighted.attributes == pytest.approx(twice.attributes)
    assert weighted.largest != pytest.approx(correlation_changes(MIXED, MEANS).largest)
    for one, other in zip(means_and_deviations(MIXED, weights)[:2], means_and_deviations(MIXED[rows])[:2], strict=True):
        assert one == pytest.approx(other)


def test_an_offset_changes_nothing_and_constant_attributes_have_no_correlation():
    whole = RNG.integers(0, 500, size=(50, 3)).astype(float)
    released = whole + RNG.integers(-4, 5, size=(50, 3))
    largest = correlation_changes(whole, released).largest
    assert correlation_changes(whole + 1e8, released + 1e8).largest == pytest.approx(largest, rel=1e-9)
    same = np.full((50, 1), 0.1)
    found = correlation_changes(np.hstack([whole, same]), np.hstack([released, same]))
    assert np.isnan(found.attributes[3])
    assert found.largest == pytest.approx(largest)
    means = np.tile(whole.mean(axis=0), (50, 1))
    assert correlation_changes(whole, means).largest is None
