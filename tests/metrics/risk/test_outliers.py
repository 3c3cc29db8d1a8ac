"""Records at risk and what leaving them out would do, against values by hand and the metrics of what is left."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import median_abs_deviation

from microagg import metrics
from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import leaving_out, outlyingness, record_linkage, records_at_risk
from microagg.partition import group_means
from tests.cases import for_each


def test_outlyingness_by_hand():
    # The median is 3, the absolute deviations 2, 1, 0, 1, 97 have the median 1.
    assert outlyingness([1.0, 2, 3, 4, 100])[:, 0] == pytest.approx(np.array([2, 1, 0, 1, 97]) / 1.482602218505602)
    # The median absolute deviation is 0, the mean one 2.
    assert outlyingness([5.0, 5, 5, 13])[:, 0] == pytest.approx([0, 0, 0, 4 / 1.2533141373155])
    assert outlyingness(np.full((3, 2), 7.0)).tolist() == [[0, 0]] * 3
    assert outlyingness([[3.0]]).tolist() == [[0]]


def test_outlyingness_is_that_of_scipys_deviations():
    X = np.random.default_rng(0).lognormal(size=(200, 3))
    expected = np.abs(X - np.median(X, axis=0)) / median_abs_deviation(X, scale="normal")
    assert outlyingness(X) == pytest.approx(expected)


X = np.array([[0.0, 0], [1, 0], [2, 1], [9, 0], [1, 40], [2, 44]])
LABELS = np.array([0, 0, 0, 0, 1, 1])
RELEASED = group_means(X, LABELS)[LABELS]


def test_those_linked_most_surely_come_first_and_the_farthest_of_these():
    found = records_at_risk(X, RELEASED)
    assert found.probability.tolist() == [0.5, 0.5, 0.25, 0.25, 0.25, 0.25]
    assert found.rows.tolist() == [5, 4, 3, 0, 1, 2]
    assert found.attributes.tolist() == [1, 1, 0, 0, 0, 0]
    assert found.outlyingness == pytest.approx(outlyingness(X).max(axis=1)[found.rows])


def test_by_outlyingness_alone():
    found = records_at_risk(X, RELEASED, by="outlyingness", most=2)
    assert found.rows.tolist() == [5, 4]
    moved = RELEASED.copy()
    moved[5] = [9.0, 9.0]
    assert records_at_risk(X, moved, by="outlyingness", most=1).rows.tolist() == [5]
    assert records_at_risk(X, moved, most=1).rows.tolist() != [5]


def test_of_a_sample_only_its_records_are_ranked():
    linkage = record_linkage(X, RELEASED, sample=3, random_state=1)
    found = records_at_risk(X, RELEASED, linkage=linkage)
    assert sorted(found.rows) == linkage.rows.tolist()
    assert dict(zip(found.rows, found.probability, strict=True)) == dict(
        zip(linkage.rows, linkage.probability, strict=True)
    )


def test_leaving_out_by_hand():
    # Squared distances 4, 0, 4 and 1, 1 of an SSE of 10; without the first the mean is 3, and 1 + 1 are left.
    found = leaving_out([0.0, 2, 4, 9, 11], [0, 0, 0, 1, 1], [0])
    assert found.n == 1
    assert found.sse_share == pytest.approx(40)
    assert found.before == pytest.approx(100 * 10 / metrics.sst([0.0, 2, 4, 9, 11]))
    assert found.after == pytest.approx(100 * 4 / metrics.sst([2.0, 4, 9, 11]))
    assert found.smallest_group == 2
    # A whole group left out is no group of none.
    assert leaving_out([0.0, 2, 4, 9, 11], [0, 0, 0, 1, 1], [4, 3]).smallest_group == 3
    assert leaving_out([0.0, 2, 4, 9, 11], [0, 0, 0, 1, 1], []).after == pytest.approx(found.before)


def test_nothing_is_lost_where_all_are_equal():
    found = leaving_out([5.0, 5, 5], [0, 0, 0], [1])
    assert (found.sse_share, found.before, found.after) == (0.0, 0.0, 0.0)


@for_each(
    ("rows", "sentence"),
    [
        ([5], "rows must be from 0 to 4, not from 5 to 5"),
        ([-1], "not from -1 to -1"),
        ([1, 1], "a record twice"),
        ([0, 1, 2, 3, 4], "all records"),
        ([0.5], "positions of records"),
        ([[1]], "positions of records"),
    ],
)
def test_rows_that_cannot_be_left_out(rows, sentence):
    with pytest.raises(ParameterError, match=sentence):
        leaving_out(np.arange(5.0), [0, 0, 0, 1, 1], rows)


def test_what_cannot_be_judged_is_named():
    with pytest.raises(ParameterError, match="by must be one of 'linkage', 'outlyingness', not 'size'"):
        records_at_risk(X, RELEASED, by="size")
    with pytest.raises(ParameterError, match="most must be a whole number of at least 1, not 0"):
        records_at_risk(X, RELEASED, most=0)
    with pytest.raises(DataError, match="the same attributes of the same records"):
        records_at_risk(X, RELEASED[:2])
    with pytest.raises(DataError, match="attribute 0 has NaN"):
        outlyingness([np.nan, 1.0])
    with pytest.raises(DataError, match="labels for 2"):
        leaving_out([1.0, 2, 3], [0, 0], [0])
