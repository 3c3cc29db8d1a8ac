"""What became of each quasi-identifier, by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import Schema, microaggregate
from microagg.release import attribute_changes, correlation_changes, distribution
from microagg.release.source import Source

PEOPLE = pd.DataFrame({"age": [30, 32, 34, 60, 60, 60], "town": list("aabccc")})
PEOPLE["born"] = pd.to_datetime(["2001-01-01", "2001-01-03", "2001-01-02"] + ["2009-05-05"] * 3)
LABELS = [0, 0, 0, 1, 1, 1]


def changed(names, **options):
    given = {"quasi_identifiers": names, "k": 3, "labels": LABELS} | options
    source = Source.of(PEOPLE, Schema.infer(PEOPLE, names, dates=given.get("dates")))
    release = microaggregate(PEOPLE, **given)
    before = release.originals()
    return before, release, attribute_changes(before, release.frame, source.schema, release.report)


def test_numbers_have_their_moments_and_shares():
    _, _, table = changed(["age"])
    [row] = table.to_dict("records")
    # The group 30, 32, 34 loses 4 + 0 + 4 of 13 ² + 11 ² + … around the mean of 46.
    assert row["lost"] == pytest.approx(100 * 8 / (16**2 + 14**2 + 12**2 + 3 * 14**2))
    # 32 is the mean of its group.
    assert row["changed"] == pytest.approx(100 * 2 / 6)
    assert (row["mean_before"], row["mean_after"]) == (46, 46)
    assert row["sd_before"] == pytest.approx(PEOPLE["age"].std(ddof=0))
    assert row["sd_after"] == pytest.approx(14)
    ranges = microaggregate(PEOPLE, k=3, quasi_identifiers="age", statistic="generalize").frame
    assert correlation_changes(PEOPLE, ranges, Schema.infer(PEOPLE, ["age"]))[0] == ()


def test_ranges_and_categories_change_where_the_group_differs():
    _, release, table = changed(["age", "town", "born"], statistic="generalize", method="k-member")
    assert release.frame["age"].tolist() == ["[30, 34]"] * 3 + ["60"] * 3
    assert table.set_index("attribute")["changed"].to_dict() == {"age": 50, "town": 50, "born": 50}
    assert table["lost"].is_monotonic_decreasing
    assert table["attribute"][0] == "town"
    assert release.report.lost == dict(zip(table["attribute"], table["lost"], strict=True))


def test_the_most_frequent_category_and_the_mean_day_are_no_change_to_those_who_have_it():
    _, _, table = changed(["age", "town", "born"], method="k-member")
    own = table.set_index("attribute")
    assert own.loc["town", "changed"] == pytest.approx(100 / 6)
    assert own.loc["born", "changed"] == pytest.approx(200 / 6)
    assert np.isnan(own.loc["born", "mean_before"])
    assert own.loc["age", "mean_after"] == 46


def test_correlations_are_those_of_the_numbers_that_stay_numbers():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(40, 3)), columns=list("abc")).assign(one=1.0, w=rng.uniform(1, 5, 40))
    names = ["a", "b", "c", "one"]
    schema = Schema.infer(frame, names)
    with pytest.warns(UserWarning, match="'one'"):
        release = microaggregate(frame, k=5, quasi_identifiers=names, others=["w"])
    found, old, new = correlation_changes(frame, release.frame, schema)
    assert found == ("a", "b", "c")
    assert old == pytest.approx(np.corrcoef(frame[list(found)].T))
    assert new == pytest.approx(np.corrcoef(release.frame[list(found)].T))
    largest = np.abs(new - old).max()
    assert release.report.utility.correlation_change == pytest.approx(largest)
    _, weighted, _ = correlation_changes(frame, release.frame, Schema.infer(frame, names, weights="w"))
    cov = np.cov(frame[list(found)].T, aweights=frame["w"])
    sd = np.sqrt(np.diag(cov))
    assert weighted == pytest.approx(cov / np.outer(sd, sd))


# --- distributions ----------------------------------------------------------------------------------------------------


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
