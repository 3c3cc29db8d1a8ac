"""Histograms before and after a release, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg.release import distribution


def test_whole_numbers_are_counted_one_by_one_and_ranges_spread_over_them():
    before, after = pd.Series([1, 2, 4, 6, 6]), pd.Series(["[1, 4]"] * 3 + ["6", "6"])
    counts = distribution(before, after, np.array([0, 0, 0, 1, 1]))
    assert counts.index.tolist() == [1, 2, 3, 4, 5, 6]
    assert counts["before"].tolist() == [1, 1, 0, 1, 0, 2]
    assert counts["released"].to_numpy() == pytest.approx([0.75, 0.75, 0.75, 0.75, 0, 2])


@pytest.mark.parametrize(
    "values",
    [[2.0**53 + i for i in range(0, 60, 2)], [1e17] * 3, [1.0, np.nextafter(1.0, 2.0)], [-1e140, 1e140], [0.0, 5e-324]],
    ids=["beyond all halves", "constant", "adjacent", "huge", "the smallest"],
)
def test_every_record_is_counted_whatever_the_numbers(values):
    before = pd.Series(values)
    after = pd.Series([before.iloc[0]] * len(before))
    counts = distribution(before, after, np.zeros(len(before), dtype=int))
    assert counts.sum().tolist() == [len(values), len(values)]
    assert counts["released"].max() == len(values)  # all are released as one value
    ranges = distribution(before, pd.Series(["a range"] * len(before)), np.zeros(len(before), dtype=int))
    assert ranges.sum().to_numpy() == pytest.approx([len(values), len(values)])


def test_dates_are_counted_by_month_or_year():
    labels = np.zeros(3, dtype=int)
    before = pd.Series(pd.to_datetime(["2001-01-05", "2001-01-31", "2001-03-01"]))
    after = pd.Series(pd.to_datetime(["2001-02-01"] * 3))
    counts = distribution(before, after, labels)
    assert counts.index.strftime("%Y-%m-%d").tolist() == ["2001-01-01", "2001-02-01", "2001-03-01"]
    assert counts.to_numpy().tolist() == [[2, 0], [0, 3], [1, 0]]
    years = distribution(before + pd.to_timedelta([0, 0, 2000], unit="D"), after, labels)
    assert years.index.year.tolist() == [2001, 2006]
    assert distribution(before, pd.Series([2001] * 3), labels).index.tolist() == [2001]
