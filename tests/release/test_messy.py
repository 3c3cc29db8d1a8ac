"""Releases of files as they come: dates, numbers held as text, codes for missing values, and gaps."""

import statistics
from datetime import date, timedelta

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError, ParameterError, microaggregate, replay
from tests.release.common import Blocks, replayed, smallest_class, use


@pytest.fixture
def blocks(monkeypatch):
    use(monkeypatch, Blocks)


def visits(*days):
    return pd.DataFrame({"seen": days, "illness": "flu"})


def seen(frame, **choices):
    return microaggregate(frame, method="blocks", quasi_identifiers="seen", confidential="illness", **choices)


DAYS = ("31.12.2001", "2002-01-02", "2002-01-04 12:00", "1.3.2004", "2004-03-01", "2004-03-04")


@pytest.mark.usefixtures("blocks")
def test_dates_in_any_notation_become_the_mean_day():
    means = seen(visits(*DAYS), k=3, dates="seen").frame["seen"]
    # 0, 2 and 4 days after 31 December; 0, 0 and 3 days after 1 March.
    assert means.dt.strftime("%Y-%m-%d").tolist() == ["2002-01-02"] * 3 + ["2004-03-02"] * 3
    # The type datetime64 need not be named.
    iso = ["2001-12-31", "2002-01-02", "2002-01-04 12:00", "2004-03-01", "2004-03-01", "2004-03-04"]
    pd.testing.assert_series_equal(seen(visits(*map(pd.Timestamp, iso)), k=3).frame["seen"], means)
    same = visits("2001-12-31", "31.12.2001", "2001-12-31", "2001-12-31 10:00")
    with pytest.warns(match="one value only .*: 'seen'"):
        out = seen(same, k=2, dates="seen", statistic="generalize").frame
    assert set(out["seen"]) == {"2001-12-31"}


@pytest.mark.usefixtures("blocks")
def test_the_loss_is_that_of_what_is_released():
    frame = visits("2001-01-01", "2001-01-02", "2001-01-02", "2001-12-31")
    report = seen(frame, k=2, dates="seen", scale="none").report
    # Days 0, 1 | 1, 364: the means are 0.5, rounded to the even day 11,322 (day 0 is 11,323), and 182.5.
    base = (date(2001, 1, 1) - date(1970, 1, 1)).days
    first, second = round(base + 0.5) - base, round(base + 182.5) - base
    sse = first**2 + (1 - first) ** 2 + (1 - second) ** 2 + (364 - second) ** 2
    assert report.loss.sse == sse
    # By the year all become 2 July 2001, day 182: more is lost than by the mean of all, day 91.5.
    report = seen(frame, k=2, dates={"seen": "year"}, scale="none").report
    assert report.loss.sse == 182**2 + 181**2 + 181**2 + 182**2
    sst = sum((day - 91.5) ** 2 for day in (0, 1, 1, 364))
    assert report.loss.information_loss == pytest.approx(100 * report.loss.sse / sst)
    assert report.loss.information_loss > 100
    assert report.risk.realized_k == 4


@given(
    st.lists(st.dates(date(1900, 1, 1), date(2100, 1, 1)), min_size=4, max_size=12, unique=True),
    st.sampled_from(["day", "year"]),
    st.sampled_from(["mean", "median", "generalize"]),
)
def test_any_release_of_dates_is_k_anonymous_and_replays(days, unit, statistic):
    frame = pd.DataFrame({"seen": [day.isoformat() for day in days], "illness": "flu"})
    release = microaggregate(frame, k=2, confidential="illness", dates={"seen": unit}, statistic=statistic)
    out = release.frame["seen"]
    assert smallest_class(release.frame, ["seen"]) == release.report.risk.realized_k >= 2
    if statistic != "generalize":
        assert pd.api.types.is_datetime64_dtype(out) if unit == "day" else out.dtype == np.int64
    for rows in release.partition.groups():
        own = sorted(days[i] for i in rows)
        low, high = (str(day.year) if unit == "year" else str(day) for day in (own[0], own[-1]))
        if statistic == "generalize":
            assert set(out.iloc[rows]) == {low if low == high else f"[{low}, {high}]"}
            continue
        numbers = [(day - date(1970, 1, 1)).days for day in own]
        center = statistics.fmean(numbers) if statistic == "mean" else statistics.median(numbers)
        # Half a day may be rounded either way.
        around = [date(1970, 1, 1) + timedelta(days=round(center + shift)) for shift in (-1e-6, 1e-6)]
        found = set(out.iloc[rows] if unit == "year" else out.iloc[rows].dt.date)
        assert len(found) == 1
        assert found <= ({day.year for day in around} if unit == "year" else set(around))
    replayed(frame, release)


@pytest.fixture(scope="module")
def persons():
    rng = np.random.default_rng(3)
    n = 3000
    income = rng.integers(800, 9000, n).astype(float)
    income[rng.choice(n, 41, replace=False)] = np.nan
    age = rng.integers(18, 95, n).astype(str).astype(object)
    age[17] = "n/a"
    zips = rng.choice(["01067", "01069", "01097", "04103"], n).astype(object)
    zips[rng.choice(n, 12, replace=False)] = None
    days = pd.Timestamp("1990-01-01") + pd.to_timedelta(rng.integers(0, 9000, n), unit="D")
    frame = pd.DataFrame({"id": np.arange(n), "name": [f"P{i}" for i in range(n)], "age": age, "zip": zips})
    return frame.assign(income=income, joined=days.strftime("%d/%m/%Y"), illness=rng.choice(["flu", "none"], n))


CHOICES = {"k": 5, "confidential": "illness", "identifiers": ["id", "name"], "numbers": "age"}
CHOICES |= {"missing_codes": {"age": ["n/a"]}, "dates": {"joined": "day"}}
CHOICES |= {"missing": {"income": "impute", "age": "drop"}}


def test_a_messy_file_with_categories_is_released_and_replayed(persons):
    names = ["age", "income", "joined", "zip"]
    missing = {"income": "impute", "age": "impute", "zip": "category"}
    choices = CHOICES | {"missing": missing, "dates": {"joined": "year"}, "statistic": "generalize"}
    release = microaggregate(persons, method="mondrian", quasi_identifiers=names, **choices)
    gaps = {one.column: (one.n, one.how) for one in release.report.filled}
    assert gaps == {"age": (1, "median"), "income": (41, "median"), "zip": (12, "category")}
    assert smallest_class(release.frame, names) == release.report.risk.realized_k >= 5
    assert release.report.n_records == 3000
    zips = persons["zip"].fillna("missing").to_numpy()
    for rows in release.partition.groups():
        own = set(zips[rows])
        assert set(release.frame["zip"].iloc[rows]) == (own if len(own) == 1 else {"*"})
    recipe = replayed(persons, release)
    # The same file after its types were mended is the same file.
    mended = persons.assign(age=pd.to_numeric(persons["age"], errors="coerce"))
    assert replay(mended, recipe).recipe == recipe
    # One whose gaps were filled by hand is another.
    with pytest.raises(DataError, match="the quasi-identifiers differ"):
        replay(persons.assign(income=persons["income"].fillna(release.report.filled[1].value)), recipe)
    with pytest.raises(DataError, match="column 'age' has 'x' in record 17"):
        replay(persons.assign(age=persons["age"].replace("n/a", "x")), recipe)


@pytest.mark.parametrize(
    ("changed", "error", "says"),
    [
        ({"missing": {"age": "drop"}}, DataError, "column 'income' has NaN .*one of 41"),
        ({"missing_codes": None}, DataError, "column 'age' has 'n/a' in record 17"),
        ({"missing": {"zip": "drop"}}, ParameterError, "'zip', which is not among the quasi-identifiers"),
        ({"missing": {"income": "category"}}, ParameterError, "'income' cannot be a category"),
    ],
)
def test_what_is_not_declared_stops_the_release(persons, changed, error, says):
    with pytest.raises(error, match=says):
        microaggregate(persons, quasi_identifiers=["age", "income", "joined"], **(CHOICES | changed))
