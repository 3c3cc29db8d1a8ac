"""Stata files: labels, missing values and dates as the file says, and everything written can be read again."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from microagg.errors import DataError
from microagg.tables import read_file, read_table, write_table
from microagg.tables.limits import LIMITS
from tests.tables.common import fails


def dta(frame, **options):
    stream = io.BytesIO()
    frame.to_stata(stream, write_index=False, **{"version": 118, **options})
    return stream.getvalue()


def by_pyreadstat(tmp_path, frame, **options):
    path = tmp_path / "x.dta"
    pyreadstat.write_dta(frame, str(path), **options)
    return path.read_bytes()


def again(frame):
    return read_table(write_table(frame, "x.dta"), name="x.dta")


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [114, 117, 118, 119])
def test_columns_rows_and_types(version):
    given = pd.DataFrame(
        {
            "whole": np.array([1, -100, 7], dtype=np.int8),
            "gaps": [1.5, np.nan, 0.1 + 0.2],
            "text": ["01067", "", "x"],
            "day": pd.to_datetime(["2024-05-01", None, "1880-01-02"]),
        }
    )
    frame = read_table(dta(given, version=version, convert_dates={"day": "td"}), name="x.dta")
    assert list(frame) == ["whole", "gaps", "text", "day"]
    assert frame["whole"].dtype == np.int64
    assert frame["whole"].tolist() == [1, -100, 7]
    np.testing.assert_array_equal(frame["gaps"], [1.5, np.nan, 0.1 + 0.2])
    assert frame["text"].isna().tolist() == [False, True, False]
    assert frame["text"][0] == "01067"
    assert frame["day"].tolist()[::2] == [dt.datetime(2024, 5, 1), dt.datetime(1880, 1, 2)]
    assert frame["day"].isna().tolist() == [False, True, False]
    assert frame.index.equals(pd.RangeIndex(3))


def test_codes_that_share_a_label_stay_apart():
    data = dta(pd.DataFrame({"c": [8, 9, 1]}), value_labels={"c": {1: "one", 8: "other", 9: "other"}})
    assert read_table(data, name="x.dta")["c"].tolist() == ["other (8)", "other (9)", "one"]
    # The label of one code is the text of another one.
    data = dta(pd.DataFrame({"c": [1, 2]}), value_labels={"c": {1: "2"}})
    assert read_table(data, name="x.dta")["c"].tolist() == ["2 (1)", "2 (2)"]
    data = dta(pd.DataFrame({"c": [1]}), value_labels={"c": {1: "a", 2: "a", 3: "a (1)"}})
    fails(r"column 'c' of the file 'x\.dta' several codes have the label 'a \(1\)'", data, name="x.dta")


def test_missing_values_of_every_kind(tmp_path):
    given = pd.DataFrame({"c": [1, "a", "z", 2], "d": [1.5, 2.5, np.nan, 3.5]})
    data = by_pyreadstat(
        tmp_path,
        given,
        missing_user_values={"c": ["a", "z"]},
        variable_value_labels={"c": {1: "one", 2: "two", "a": "refused"}},
    )
    frame = read_table(data, name="x.dta")
    assert frame["c"].isna().tolist() == [False, True, True, False]
    assert frame["c"].cat.categories.tolist() == ["one", "two"]
    np.testing.assert_array_equal(frame["d"], [1.5, 2.5, np.nan, 3.5])


def test_long_texts_beside_labels():
    given = pd.DataFrame({"note": ["ü" * 3000, "", "b"], "c": [1, 2, 1]})
    frame = read_table(dta(given, convert_strl=["note"], value_labels={"c": {1: "one", 2: "two"}}), name="x.dta")
    assert frame["note"][0] == "ü" * 3000
    assert frame["note"].isna().tolist() == [False, True, False]
    assert frame["c"].tolist() == ["one", "two", "one"]


@pytest.mark.parametrize(
    ("form", "number", "day"),
    [
        ("%td", -0.5, "1959-12-31"),
        ("%-tdD_m_CY", 1, "1960-01-02"),
        ("%d", 1, "1960-01-02"),
        ("%tw", 52 + 51, "1961-12-24"),
        ("%tw", -1, "1959-12-24"),
        ("%tm", -1, "1959-12-01"),
        ("%tq", 5, "1961-04-01"),
        ("%th", 3, "1961-07-01"),
        ("%ty", 2024, "2024-01-01"),
        ("%tc", -1000, "1959-12-31 23:59:59"),
    ],
)
def test_periods_are_their_first_days(form, number, day):
    data = dta(pd.DataFrame({"t": [number, np.nan]}, dtype=float)).replace(
        b"%10.0g" + bytes(51), form.encode().ljust(57, b"\0")
    )
    column = read_table(data, name="x.dta")["t"]
    assert column[0] == pd.Timestamp(day)
    assert pd.isna(column[1])


def test_numbers_that_no_calendar_has_stay_numbers():
    data = dta(pd.DataFrame({"t": [1e300, 3.0]})).replace(b"%10.0g" + bytes(51), b"%td".ljust(57, b"\0"))
    reading = read_file(data, name="x.dta")
    assert reading.frame["t"].tolist() == [1e300, 3.0]
    (notice,) = reading.notices
    assert (notice.code, notice.column) == ("kept-as-number", "t")
    assert "such as 1e+300 in Stata's format %td, counted from 1960" in notice.text


def test_texts_in_another_encoding_are_read_and_it_is_said():
    good = dta(pd.DataFrame({"größe": ["abcd", "über"]}))
    reading = read_file(good.replace(b"abcd", b"a\xe9cd"), name="x.dta")
    assert reading.frame.to_dict("list") == {"größe": ["aécd", "über"]}
    (notice,) = reading.notices
    assert notice.code == "encoding"
    assert "'x.dta' holds texts that are not in its encoding: these are read as Latin-1" in notice.text
    # Before Stata 14, texts were those of Windows.
    old = dta(pd.DataFrame({"t": ["abcd"]}), version=114).replace(b"abcd", b"\x80\xe9cd")
    assert read_table(old, name="x.dta")["t"].tolist() == ["€écd"]


def test_a_long_text_that_many_records_point_at_in_the_process_that_reads_it(monkeypatch):
    monkeypatch.setattr("microagg.tables.notices.machine_memory", lambda: None)
    given = pd.DataFrame({"note": ["x" * 100_000] * 2000})
    data = dta(given, convert_strl=["note"])
    assert len(data) < 200_000
    fails("would take at least .* MB of memory, over the limit of 202 MB", data, name="x.dta")
    assert read_table(dta(given[:10], convert_strl=["note"]), name="x.dta")["note"].tolist() == ["x" * 100_000] * 10


def test_refusals():
    good = dta(pd.DataFrame({"a": np.arange(1000.0), "b": 1}))
    fails("'x.dta' has a header but no records", dta(pd.DataFrame({"a": [1.0]}).iloc[:0]), name="x.dta")
    fails("not a .csv file but a Stata file: give it the ending .dta", good, name="x.csv")
    for part in (b"<stata_dta>", b"\x72\x01\x01", good[:300]):
        fails(r"'x\.dta' is a damaged Stata file.*: save it as \.dta again", part, name="x.dta")
    assert len(read_table(good, name="x.dta", max_cells=2000)) == 1000
    fails("has 1,000 records with 2 columns, over the limit of 1,998 cells", good, name="x.dta", max_cells=1998)
    fails("over the limit of 100 cells", good, name="x.dta", max_cells=100)


def test_equal_names():
    data = dta(pd.DataFrame({"aa": [1.0], "ab": [2.0]}))
    twice = data.replace(b"ab" + bytes(127), b"aa" + bytes(127), 1)
    assert twice != data
    fails("'x.dta', the column name 'aa' occurs more than once", twice, name="x.dta")


# --- writing ---------------------------------------------------------------------------------------------------------


def test_categories_survive_without_their_order():
    frame = pd.DataFrame(
        {
            "plain": pd.Categorical(["b", None, "a"], categories=["b", "a", "unused"]),
            "ordered": pd.Categorical(["hi", "lo", "hi"], categories=["lo", "hi"], ordered=True),
            "empty": pd.Categorical(["", "x", "x"]),
            "numbers": pd.Categorical([-7, 7, -7]),
            "intervals": pd.cut([1, 5, 9], [0, 4, 9]),
        }
    )
    found = again(frame)
    pd.testing.assert_series_equal(found["plain"], frame["plain"])
    pd.testing.assert_series_equal(found["ordered"], frame["ordered"].cat.as_unordered())
    assert found["empty"].isna().tolist() == [True, False, False]
    assert found["numbers"].tolist() == [-7, 7, -7]
    assert found["intervals"].tolist() == ["(0, 4]", "(4, 9]", "(4, 9]"]
    # Labels of 32,000 bytes have room in a file, one more does not.
    for length, kept in ((32_000, True), (32_001, False)):
        wide = pd.DataFrame({"c": pd.Categorical(["x" * length])})
        assert isinstance(again(wide)["c"].dtype, pd.CategoricalDtype) == kept
        assert again(wide)["c"].tolist() == ["x" * length]


def test_numbers_near_the_ends_of_the_types():
    unsigned = np.array([2**64 - 1, 1], dtype=np.uint64)
    single = np.array([-3e38, 2], dtype=np.float32)
    edge = 2**53 - 1
    found = again(
        pd.DataFrame({"exact": [edge, -edge], "beyond": [edge + 1, 1], "unsigned": unsigned, "single": single})
    )
    assert found["exact"].tolist() == [edge, -edge]
    assert found["beyond"].tolist() == ["9007199254740992", "1"]
    assert found["unsigned"].tolist() == ["18446744073709551615", "1"]
    # Stata takes single numbers of such a size for missing values.
    assert found["single"].tolist() == single.astype(np.float64).tolist()


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1.7e308, -1.7e308])
def test_numbers_that_stata_takes_for_missing(value):
    with pytest.raises(DataError, match=r"column 'a' has -?(inf|1.7e\+308) in record 1 .*\.dta files cannot hold"):
        write_table(pd.DataFrame({"a": [1.0, value]}), "x.dta")


def test_too_many_columns(monkeypatch):
    monkeypatch.setitem(LIMITS[".dta"], "columns", LIMITS[".dta"]["columns"]._replace(most=2))
    with pytest.raises(DataError, match="the table has 3 columns, and a file of Stata holds 2"):
        write_table(pd.DataFrame([[1, 2, 3]], columns=list("abc")), "x.dta")
