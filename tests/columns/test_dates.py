"""Dates: what is read as one, and as which day."""

from datetime import date, datetime, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError
from microagg.columns.dates import read, released, rounded, texts, to_dates, to_days
from tests.cases import for_each


def column(*values, **how):
    return pd.Series(list(values), name="born", **how)


def days_of(series):
    return to_days(read(series)).tolist()


@for_each(
    ("text", "days"),
    [
        ("1969-12-31", -1),
        ("2000-03-01", 11017),  # 31 days of January and 29 of February later
        ("2001-12-31", 11687),
        (" 2001-12-31 ", 11687),
        ("2001-12-31T23:59:59.999", 11687),
        ("2001/12/31", 11687),
        ("31.12.2001", 11687),
        ("31/12/2001", 11687),
        ("12-31-2001 12:00:00", 11687),
        ("4/4/2000", 11051),  # the day and the month are the same, so it does not matter which comes first
        ("1600-02-29", -135081),  # 400 years have 146,097 days: 11,016 for 2000-02-29 less these
        ("9999-12-31", 2932896),
    ],
)
def test_text_is_read_as_the_day_that_it_says(text, days):
    assert days_of(column(text)) == [days]
    assert days_of(column(text, None, text, dtype="category"))[::2] == [days, days]


def test_the_column_shows_whether_the_day_or_the_month_comes_first():
    assert days_of(column("03/01/2000", "31/01/2000")) == [10959, 10987]  # 3 January, 31 January
    assert days_of(column("03/01/2000", "01/31/2000")) == [11017, 10987]  # 1 March, 31 January
    # Unambiguous ways to write a date stand beside them.
    assert days_of(column("03/01/2000", "31-01-2000", "2000-01-04", "05.01.2000")) == [10959, 10987, 10960, 10961]


def test_dates_that_may_be_two_are_refused():
    with pytest.raises(DataError, match=r"column 'born' does not show .* such as '03/01/2000': .*'born': 'day d/m'"):
        read(column("2000-01-31", "4/4/2000", "03/01/2000", "05/01/2000"))
    with pytest.raises(DataError, match=r"the day first, such as '31/01/2000', and with the month first, such as '1/3"):
        read(column("03/01/2000", "31/01/2000", "1/31/2000"))


def test_what_comes_first_can_be_said_where_nothing_shows_it():
    texts = ("2000-01-31", "4/4/2000", "03/01/2000 8:30", "05.01.2000")
    same = ["2000-01-31", "2000-04-04"]
    for form, then in (("day d/m", "2000-01-03"), ("year d/m", "2000-01-03"), ("day m/d", "2000-03-01")):
        assert read(column(*texts), form).astype(str).tolist() == [*same, then, "2000-01-05"]
    # What is said is not followed where a date cannot be read so.
    with pytest.raises(DataError, match=r"'1/31/2000' in record 1 .*, which is no date with the day first"):
        read(column("1/2/2000", "1/31/2000"), "day d/m")


NO_DATES = "yesterday||2001|2001-13-01|2001-02-29|30.2.2000|31/31/2001|45/45/2001|31/12/01|31/12-2001|0000-01-01"
NO_TIMES = "2001-12-31 25:00|2001-12-31T10:00Z|2001-12-31T10:00+02:00|٢٠٠١-١٢-٣١"


@for_each("value", [*NO_DATES.split("|"), *NO_TIMES.split("|")])
def test_text_that_is_no_date_is_named(value):
    with pytest.raises(DataError) as error:
        read(column("2000-01-01", None, value, value))
    assert f"column 'born' has {value!r} in record 2 (counting from 0), which is no date" in str(error.value)


@for_each("values", [[1999, 2000], [1.5], [True], ["2001-12-31", 5], [["2001-12-31"]]])
def test_other_values_are_no_dates(values):
    with pytest.raises(DataError, match=r"column 'born' (has .* no date|holds values that cannot be told apart)"):
        read(column(*values))


def test_dates_of_any_type():
    mixed = column(date(2001, 12, 31), datetime(2000, 3, 1, 23), pd.Timestamp("1970-01-02"), "1969-12-31", dtype=object)
    assert days_of(mixed) == [11687, 11017, 1, -1]
    for unit in ("s", "ms", "us", "ns"):
        moments = np.array(["1969-12-31T12:00", "NaT", "2001-12-31T23:59"], dtype=f"datetime64[{unit}]")
        np.testing.assert_array_equal(days_of(pd.Series(moments)), [-1, np.nan, 11687])


def test_times_with_a_time_zone_are_refused():
    with pytest.raises(DataError, match=r"column 'born' has times with a time zone \(record 0, counting from 0, holds"):
        read(column(*pd.date_range("2000", periods=2, tz="Europe/Berlin")))


def test_dates_that_were_read_are_returned_as_they_are():
    once = read(column("31.12.2001", None).set_axis(["x", "x"]))
    assert (once.dtype, list(once.index)) == ("datetime64[s]", ["x", "x"])
    assert read(once) is once


def test_dates_are_released_as_whole_days_or_years():
    days = np.array([11687.4, 11687.6, -0.6])
    assert rounded(days, "day").tolist() == [11687, 11688, -1]
    # The middle of 2001, 2002 and 1969: 2 July.
    middles = to_dates(rounded(days, "year")).astype("datetime64[D]").astype(str)
    assert middles.tolist() == ["2001-07-02", "2002-07-02", "1969-07-02"]
    assert texts(days, "day") == ["2001-12-31", "2002-01-01", "1969-12-31"]
    assert texts(days, "year") == ["2001", "2002", "1969"]
    years = released(rounded(days, "year"), "year")
    assert (years.tolist(), years.dtype) == ([2001, 2002, 1969], np.int64)
    assert released(rounded(days, "day"), "day").astype("datetime64[D]").astype(str).tolist() == texts(days, "day")


WAYS = ["{0:%Y-%m-%d}", "{0:%Y-%m-%d} 10:30", "{0.day}.{0.month}.{0.year}", "{0:%d/%m/%Y}", "{0:%d-%m-%Y}"]


@given(st.lists(st.tuples(st.dates(date(1000, 1, 1)), st.sampled_from(WAYS)), min_size=1, max_size=8))
def test_dates_written_in_any_way_are_read_back(drawn):
    # The last one shows that the day comes first.
    values = [way.format(day) for day, way in drawn] + ["13/1/2000"]
    expected = [(day - date(1970, 1, 1)) / timedelta(days=1) for day, _ in drawn] + [10969]
    assert days_of(column(*values)) == expected
    assert texts(np.array(expected), "day")[:-1] == [day.isoformat() for day, _ in drawn]
