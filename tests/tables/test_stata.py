"""Stata files: labels, missing values and dates as the file says, and everything written can be read again."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from microagg.errors import DataError
from microagg.tables import read_file, read_table, renamed_columns, write_table
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


def test_months_are_dates():
    given = pd.DataFrame({"month": pd.to_datetime(["2024-05-01", "1999-12-01"])})
    frame = read_table(dta(given, convert_dates={"month": "tm"}), name="x.dta")
    assert frame["month"].tolist() == [dt.datetime(2024, 5, 1), dt.datetime(1999, 12, 1)]


def test_labels_are_categories_in_the_order_of_the_codes():
    given = pd.DataFrame({"sex": [2, 1, 2], "n": [1, 2, 3]})
    data = dta(given, value_labels={"sex": {3: "other", 2: "female", 1: "male"}})
    sex = read_table(data, name="x.dta")["sex"]
    assert sex.tolist() == ["female", "male", "female"]
    assert sex.cat.categories.tolist() == ["male", "female", "other"]
    assert not sex.cat.ordered
    codes = read_table(data, name="x.dta", labels=False)["sex"]
    assert codes.dtype == np.int64
    assert codes.tolist() == [2, 1, 2]


def test_codes_without_a_label_are_categories_too():
    data = dta(pd.DataFrame({"c": [7.0, 1.0, np.nan, -3.0]}), value_labels={"c": {1: "one", 99: "many"}})
    column = read_table(data, name="x.dta")["c"]
    assert column.cat.categories.tolist() == ["-3", "one", "7", "many"]
    assert column.astype(object).fillna("?").tolist() == ["7", "one", "?", "-3"]


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


def test_days_beyond_the_year_9999_are_text():
    given = pd.DataFrame({"day": np.array(["9999-12-31", "12024-05-01", "NaT"], "M8[s]")})
    reading = read_file(dta(given, convert_dates={"day": "td"}), name="x.dta")
    assert reading.frame["day"].tolist()[:2] == ["9999-12-31 00:00:00", "12024-05-01 00:00:00"]
    assert reading.frame["day"].isna().tolist() == [False, False, True]
    (notice,) = reading.notices
    assert (notice.code, notice.column, notice.count) == ("kept-as-text", "day", 1)
    assert "1 date beyond the years 1 to 9999, such as 12024-05-01 00:00:00: all its 2 values" in notice.text


def test_times_with_leap_seconds_are_numbers_and_it_is_said():
    data = dta(pd.DataFrame({"t": [1.5e12, np.nan]}), convert_dates={}).replace(
        b"%10.0g" + bytes(51), b"%tC" + bytes(54)
    )
    reading = read_file(data, name="x.dta")
    np.testing.assert_array_equal(reading.frame["t"], [1.5e12, np.nan])
    (notice,) = reading.notices
    assert notice.code == "leap-seconds"
    assert "column 't' holds 1 time that count leap seconds" in notice.text
    assert "such as 1500000000000." in notice.text


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
    assert (notice.code, notice.column, notice.count) == ("kept-as-number", "t", 1)
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


def test_more_records_than_are_read_at_a_time():
    n = 70_000
    given = pd.DataFrame(
        {"i": np.arange(n, dtype=np.int32), "gap": np.where(np.arange(n) == 69_999, np.nan, 1.0), "s": "a"}
    )
    frame = read_table(dta(given), name="x.dta")
    assert frame["i"].tolist() == list(range(n))
    assert frame["gap"].isna().sum() == 1
    assert set(frame["s"]) == {"a"}
    assert frame.index.equals(pd.RangeIndex(n))


def test_refusals():
    good = dta(pd.DataFrame({"a": np.arange(1000.0), "b": 1}))
    fails("'x.dta' has a header but no records", dta(pd.DataFrame({"a": [1.0]}).iloc[:0]), name="x.dta")
    fails("not a Stata file", b"a,b\n1,2\n", name="x.dta")
    fails("not a .csv file but a Stata file: give it the ending .dta", good, name="x.csv")
    for part in (b"<stata_dta>", b"\x72\x01\x01", b"<stata_dta>" + bytes(500), good[:300], good[: len(good) // 2]):
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


def test_numbers_text_and_dates_survive():
    frame = pd.DataFrame(
        {
            "whole": [1, -(2**31) + 1, 2**31 - 28],
            "float": [0.1 + 0.2, 5e-324, -1.7e300],
            "gaps": [1.5, np.nan, 2.0],
            "single": np.array([0.1, 2, -1e38], dtype=np.float32),
            "text": ['com,ma "quo"', "new\nline\r\n\t", "Łódź "],
            "formula": ["=1+1", "@x", "-1"],
            "code": ["01067", "80331", None],
            "long": ["ü" * 1500, "b", None],
        }
    )
    frame = frame.rename(columns={"float": "double_", "long": "note"})
    pd.testing.assert_frame_equal(again(frame), frame)


def test_written_file_by_another_reader():
    frame = pd.DataFrame(
        {
            "n": pd.array([3, None], dtype="Int64"),
            "yes": pd.array([True, None], dtype="boolean"),
            "day": pd.to_datetime(["1880-05-01", None]),
            "time": pd.to_datetime(["2024-05-01 12:00:01.123", None]),
            "level": pd.Categorical(["hi", None], categories=["lo", "hi"], ordered=True),
            "formula": ["=1+1", None],
        }
    )
    found, about = pyreadstat.read_dta(io.BytesIO(write_table(frame, "x.dta")), dates_as_pandas_datetime=True)
    assert found.iloc[0].tolist() == [
        3,
        1,
        dt.datetime(1880, 5, 1),
        dt.datetime(2024, 5, 1, 12, 0, 1, 123000),
        2,
        "=1+1",
    ]
    assert found.iloc[1, :5].isna().all()
    assert found["formula"][1] == ""
    assert about.variable_value_labels == {"level": {1: "lo", 2: "hi"}}
    assert about.original_variable_types["day"] == "%td"
    assert about.original_variable_types["time"] == "%tc"


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
    for length, kept in ((31_999, True), (32_000, False)):
        wide = pd.DataFrame({"c": pd.Categorical(["x" * length])})
        assert isinstance(again(wide)["c"].dtype, pd.CategoricalDtype) == kept
        assert again(wide)["c"].tolist() == ["x" * length]


def test_names():
    names = ["education-num", "education_num", "2020", "if", "größe", "a" * 40, "a" * 33, "_n", "_x", "str7", "€", "_"]
    frame = pd.DataFrame([range(len(names))], columns=names)
    finals = ["education_num_2", "education_num", "v_2020", "v_if", "größe", "a" * 32, "a" * 30 + "_2", "v__n"]
    finals += ["_x", "v_str7", "v__", "v___2"]
    data = write_table(frame, "x.dta")
    assert list(read_table(data, name="x.dta")) == finals
    assert renamed_columns(frame, ".dta") == {a: b for a, b in zip(names, finals, strict=True) if a != b}
    # The full name is the variable's label.
    about = pyreadstat.read_dta(io.BytesIO(data))[1]
    assert about.column_names == finals
    assert about.column_labels == [a if a != b else None for a, b in zip(names, finals, strict=True)]
    with pytest.raises(DataError, match=r"column 'a{40}…' is called 'a{32}' in \.dta files.*80 characters of a label"):
        write_table(pd.DataFrame({"a" * 81: [1]}), "x.dta")


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
    monkeypatch.setattr("microagg.tables.statistics.MAX_VARIABLES", 2)
    with pytest.raises(DataError, match="the table has 3 columns, and a Stata file holds 2"):
        write_table(pd.DataFrame([[1, 2, 3]], columns=list("abc")), "x.dta")
