"""Stata and SPSS files: labels, missing values and dates as the file says, and what is written can be read again."""

import datetime as dt
import io
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from microagg.errors import DataError
from microagg.tables import read_file, read_table, write_table
from microagg.tables.stata_spss_process import parse_answer, read_or_error, write
from tests.cases import for_each
from tests.corpus.case import texts_of
from tests.tables.common import fails


def dta(frame, **options):
    stream = io.BytesIO()
    frame.to_stata(stream, write_index=False, **{"version": 118, **options})
    return stream.getvalue()


def sav(frame, **options):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.sav"
        pyreadstat.write_sav(frame, str(path), **options)
        return path.read_bytes()


def again(frame, ending):
    return read_table(write_table(frame, f"x.{ending}"), name=f"x.{ending}")


@for_each("version", [114, 117, 118, 119])
def test_columns_of_stata(version):
    given = pd.DataFrame(
        {
            "whole": np.array([1, -100, 7], dtype=np.int8),
            "gaps": [1.5, np.nan, 0.1 + 0.2],
            "text": ["01067", "", "x"],
            "day": pd.to_datetime(["2024-05-01", None, "1880-01-02"]),
        }
    )
    frame = read_table(dta(given, version=version, convert_dates={"day": "td"}), name="x.dta")
    expected = given.assign(whole=[1, -100, 7], text=pd.Series(["01067", None, "x"], dtype="str"))
    pd.testing.assert_frame_equal(frame, expected.astype({"day": "M8[s]"}))


def test_codes_that_share_a_label_stay_apart():
    # The label of one code is the text of another one.
    data = dta(pd.DataFrame({"c": [1, 2]}), value_labels={"c": {1: "2"}})
    assert read_table(data, name="x.dta")["c"].tolist() == ["2 (1)", "2 (2)"]
    data = dta(pd.DataFrame({"c": [1]}), value_labels={"c": {1: "a", 2: "a", 3: "a (1)"}})
    fails(r"column 'c' of the file 'x\.dta' several codes have the label 'a \(1\)'", data, name="x.dta")


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
    data = dta(pd.DataFrame({"t": [number, np.nan]}, dtype=float))
    data = data.replace(b"%10.0g" + bytes(51), form.encode().ljust(57, b"\0"))
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
    data = dta(pd.DataFrame({"größe": ["abcd", "über"]})).replace(b"abcd", b"a\xe9cd")
    reading = read_file(data, name="x.dta")
    assert reading.frame.to_dict("list") == {"größe": ["aécd", "über"]}
    assert ["'x.dta' holds texts that are not in its encoding" in notice.text for notice in reading.notices] == [True]
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


@pytest.mark.parametrize("make", [sav, dta], ids=["SPSS", "Stata"])
def test_refusals(make):
    kind, ending = ("a Stata", "dta") if make is dta else ("an SPSS", "sav")
    good, name = make(pd.DataFrame({"a": np.arange(1000.0) + 0.5, "b": 1})), f"x.{ending}"
    fails(f"'{name}' has a header but no records", make(pd.DataFrame({"a": [1.0]}).iloc[:0]), name=name)
    fails(f"not a .csv file but {kind} file: give it the ending .{ending}", good, name="x.csv")
    assert len(read_table(good, name=name, max_cells=2000)) == 1000
    fails("1,000 records with 2 columns, over the limit of 1,998 cells", good, name=name, max_cells=1998)
    fails("over the limit of 100 cells", good, name=name, max_cells=100)
    for part in (good[:300], *([b"<stata_dta>", b"\x72\x01\x01"] if make is dta else [])):
        fails(rf"'x\.{ending}' is a damaged {kind.split()[1]} file.*: save it as \.{ending} again", part, name=name)


def test_equal_names():
    data = dta(pd.DataFrame({"aa": [1.0], "ab": [2.0]}))
    twice = data.replace(b"ab" + bytes(127), b"aa" + bytes(127), 1)
    assert twice != data
    fails("'x.dta', the column name 'aa' occurs more than once", twice, name="x.dta")


@for_each(("ending", "compress"), [("sav", False), ("zsav", True), ("sav", True)])
def test_columns_of_spss(ending, compress):
    given = pd.DataFrame(
        {
            "whole": [1, -2, 3],
            "gaps": [1.0, np.nan, 3.0],
            "decimals": [1.0, 2.0, 3.0],
            "text": ["01067", "", " x "],
            "day": pd.to_datetime(["2024-05-01", None, "1880-01-02"]),
            "time": pd.to_datetime(["2024-05-01 12:00:01.123", None, "1880-01-02 23:59:59.999"]),
            "clock": [dt.time(14, 5), None, dt.time(1, 2, 3)],
        }
    )
    data = sav(given, compress=compress, variable_format={"whole": "F8.0", "gaps": "F8.0", "day": "DATE11"})
    # SPSS fills texts up with blanks, so those at the end are none.
    texts = {"text": ["01067", None, " x"], "clock": ["14:05:00", None, "01:02:03"]}
    expected = given.assign(**{name: pd.Series(cells, dtype="str") for name, cells in texts.items()})
    expected = expected.astype({"day": "M8[ms]", "time": "M8[ms]"})
    pd.testing.assert_frame_equal(read_table(data, name=f"x.{ending}"), expected)


def test_times_beyond_those_of_a_day_and_other_dates():
    # 2024-02-29 is 161,210 days after 1582-10-14.
    frame = pd.DataFrame({"long": [108_300.5, -60.0, np.nan], "month": [161_210 * 86_400.0, np.nan, 86_400.0]})
    result = read_table(sav(frame, variable_format={"long": "DTIME12", "month": "MOYR8"}), name="x.sav")
    assert texts_of(result["long"]) == ["30:05:00.500", "-00:01:00", None]
    assert texts_of(result["month"]) == ["2024-02-29", None, "1582-10-15"]


@for_each("measure", ["ordinal", "nominal", "scale"])
def test_labels_are_categories(measure):
    labels = {3: "high", 1: "low", 2: "middle"}
    options = {"variable_value_labels": {"c": labels}, "variable_measure": {"c": measure}}
    data = sav(pd.DataFrame({"c": [2, 1, 2]}), **options)
    column = read_table(data, name="x.sav")["c"]
    assert column.tolist() == ["middle", "low", "middle"]
    assert column.cat.categories.tolist() == ["low", "middle", "high"]
    assert column.cat.ordered == (measure == "ordinal")
    assert read_table(data, name="x.sav", labels=False)["c"].tolist() == [2, 1, 2]


@for_each(
    ("measure", "column"),
    # On a scale they are measurements, of which one has a remark.
    [("nominal", ["none", "1200.5", "7"]), ("scale", [0, 1200.5, 7])],
)
def test_codes_without_a_label(measure, column):
    options = {"variable_value_labels": {"c": {0: "none"}}, "variable_measure": {"c": measure}}
    result = read_table(sav(pd.DataFrame({"c": [0, 1200.5, 7]}), **options), name="x.sav")["c"]
    assert result.tolist() == column
    assert measure == "scale" or result.cat.categories.tolist() == ["none", "7", "1200.5"]


def test_labels_of_dates_and_times_are_notices():
    frame = pd.DataFrame({"day": [0.0, 161_210 * 86_400.0], "clock": [0.0, 50_700.0]})
    labels = {"day": {0: "unknown", 86_400: "other"}, "clock": {0: "midnight"}}
    options = {"variable_format": {"day": "DATE11", "clock": "TIME8"}, "variable_value_labels": labels}
    reading = read_file(sav(frame, variable_measure={"day": "nominal"}, **options), name="x.sav")
    assert texts_of(reading.frame["day"]) == ["1582-10-14", "2024-02-29"]
    assert texts_of(reading.frame["clock"]) == ["00:00:00", "14:05:00"]
    examples = [(notice.column, notice.example) for notice in reading.notices]
    assert examples == [("day", "unknown"), ("clock", "midnight")]


def test_text_codes_with_labels():
    data = sav(pd.DataFrame({"s": ["m", "f", "", "x"]}), variable_value_labels={"s": {"m": "male", "f": "female"}})
    column = read_table(data, name="x.sav")["s"]
    assert column.cat.categories.tolist() == ["female", "male", "x"]
    assert column.isna().tolist() == [False, False, True, False]


def test_user_missing_values():
    frame = pd.DataFrame({"c": [1, 9, 2, 97], "x": [1.5, -1.0, 2.5, 3.5], "s": ["a", "b", "?", "a"]})
    data = sav(
        frame,
        missing_ranges={"c": [9, {"lo": 90, "hi": 99}], "x": [-1], "s": ["?"]},
        variable_value_labels={"c": {1: "one", 2: "two", 9: "refused", 95: "other"}, "s": {"a": "A", "?": "unknown"}},
    )
    result = read_table(data, name="x.sav")
    cells = [["one", None, "two", None], ["1.5", None, "2.5", "3.5"], ["A", "b", None, "A"]]
    assert [texts_of(result[name]) for name in result] == cells
    assert [result[name].cat.categories.tolist() for name in "cs"] == [["one", "two"], ["A", "b"]]


def test_a_file_that_does_not_say_how_many_records_it_has():
    data = bytearray(sav(pd.DataFrame({"a": np.arange(100.0)})))
    data[80:84] = (-1).to_bytes(4, "little", signed=True)
    assert len(read_table(bytes(data), name="x.sav")) == 100
    fails("records with 1 columns, over the limit of 60 cells", bytes(data), name="x.sav", max_cells=60)


def test_what_would_take_too_much_memory_does_not_come_back(monkeypatch):
    data = sav(pd.DataFrame({"s": ["x" * 100, "y"] * 50, "n": [1.0] * 100}))
    # 100 places of 8 bytes and their characters, two texts of 64 bytes and theirs, and 100 floats of 8.
    needed = 100 * 8 + 50 * 101 + 2 * 64 + 101 + 100 * 8
    assert read_or_error(data, 10_000, 2 * needed - 1) == {"needed": needed, "error": "MemoryError"}
    assert len(read_or_error(data, 10_000, 2 * needed)["columns"]) == 2
    monkeypatch.setattr("microagg.tables.notices.machine_memory", lambda: 1000)
    little = lambda data, cells: read_or_error(data, cells, 100)  # noqa: E731
    monkeypatch.setattr("microagg.tables.stata_spss.in_own_process", little)
    fails("would take at least 0.0.* MB of memory, over the limit of .* MB", data, name="x.sav")
    monkeypatch.setattr("microagg.tables.stata_spss.in_own_process", lambda *_: {"error": "MemoryError"})
    fails("would take at least .* MB of memory, over the limit of .* MB", data, name="x.sav")


def test_damaged_files_in_the_process_that_reads_them(tmp_path, monkeypatch):
    good = sav(pd.DataFrame({"a": [1.5, 2.5], "s": ["x", "y"]}))
    assert read_table(good, name="x.sav").to_dict("list") == {"a": [1.5, 2.5], "s": ["x", "y"]}
    message = r"'x\.sav' is a damaged SPSS file.*: save it as \.sav again"
    # The library that reads them does not survive every one.
    crash = tmp_path / "crash.py"
    crash.write_text("import os\nos.abort()\n")
    monkeypatch.setattr("microagg.tables.stata_spss.READER", crash)
    fails(message, good, name="x.sav")


@pytest.mark.parametrize(
    "answer",
    [
        "pickle.dumps(Owned())",
        "b'{}' + bytes([10]) + pickle.dumps(Owned())",
        'b\'{"labels": {}, "columns": [[]]}\' + bytes([10]) + pickle.dumps(Owned())',
        'b\'{"labels": {"a": 3}, "columns": []}\' + bytes([10])',
        "b'[1, 2]'",
        "b'null'",
        "b''",
        "bytes(range(256))",
    ],
)
def test_what_a_process_answers_that_was_taken_over_runs_nothing(tmp_path, monkeypatch, answer):
    good, owned = sav(pd.DataFrame({"a": [1.5, 2.5], "s": ["x", "y"]})), tmp_path / "owned"
    program = tmp_path / "answer.py"
    program.write_text(
        "import pathlib, pickle, sys\n"
        f"class Owned:\n    def __reduce__(self): return pathlib.Path.touch, (pathlib.Path({str(owned)!r}),)\n"
        f"sys.stdout.buffer.write({answer})\n"
    )
    monkeypatch.setattr("microagg.tables.stata_spss.READER", program)
    fails(r"'x\.sav' is a damaged SPSS file.*: save it as \.sav again", good, name="x.sav")
    assert not owned.exists()


def test_every_kind_of_answer_is_read_as_it_was_written():
    whole = {
        "missing": {"a": [{"lo": float("-inf"), "hi": -1.0}], "s": [{"lo": "x", "hi": "x"}]},
        "labels": {"a": {1.0: "one", 2: "two"}, "s": {"x": "\ud83d ü"}},
        "columns": [np.array([1.5, np.nan, 2]), ["x\n", None, "x\n"]],
    }
    for answer in (whole, {"error": "ReadstatError"}, {"needed": 7, "error": "MemoryError"}):
        stream = io.BytesIO()
        write(answer, stream)
        np.testing.assert_equal(parse_answer(stream.getvalue()), answer)


def test_categories_survive_without_their_order():
    columns = {"empty": ["", "x", "x"], "numbers": [-7, 7, -7]}
    frame = pd.DataFrame({name: pd.Categorical(cells) for name, cells in columns.items()})
    result = again(frame.assign(intervals=pd.cut([1, 5, 9], [0, 4, 9])), "dta")
    assert result["empty"].isna().tolist() == [True, False, False]
    assert result["numbers"].tolist() == [-7, 7, -7]
    assert result["intervals"].tolist() == ["(0, 4]", "(4, 9]", "(4, 9]"]
    # Labels of 32,000 bytes have room in a file, one more does not.
    for length, has_room in ((32_000, True), (32_001, False)):
        column = again(pd.DataFrame({"c": pd.Categorical(["x" * length])}), "dta")["c"]
        assert isinstance(column.dtype, pd.CategoricalDtype) == has_room
        assert column.tolist() == ["x" * length]


@for_each(
    ("cells", "result"),
    [
        ([2**53 - 1, 1 - 2**53], [2**53 - 1, 1 - 2**53]),
        ([2**53, 1], ["9007199254740992", "1"]),
        (np.array([2**64 - 1, 1], dtype=np.uint64), ["18446744073709551615", "1"]),
        # Stata takes single numbers of such a size for missing values.
        (np.array([-3e38, 2], dtype=np.float32), [float(np.float32(-3e38)), 2]),
    ],
)
def test_numbers_near_the_ends_of_the_types(cells, result):
    assert again(pd.DataFrame({"a": cells}), "dta")["a"].tolist() == result


@pytest.mark.parametrize("value", [np.inf, -np.inf, 1.7e308, -1.7e308])
def test_numbers_that_stata_takes_for_missing(value):
    with pytest.raises(DataError, match=r"column 'a' has -?(inf|1.7e\+308) in record 1 .*\.dta files cannot hold"):
        write_table(pd.DataFrame({"a": [1.0, value]}), "x.dta")


@for_each("unit", ["s", "ms", "us", "ns"])
def test_dates_of_every_unit(unit):
    days, times = ["2024-05-01", "1880-05-01"], ["2024-05-01 13:00:01", "1880-05-01 00:00:00"]
    frame = pd.DataFrame({name: pd.to_datetime([*cells, None]) for name, cells in (("day", days), ("time", times))})
    pd.testing.assert_frame_equal(again(frame.astype(f"M8[{unit}]"), "sav"), frame.astype("M8[ms]"))


def test_what_the_format_cannot_hold():
    labels = {"label": pd.Categorical(["x" * 121, "y"]), "fits": pd.Categorical(["x" * 120, "y"])}
    result = again(pd.DataFrame({"beyond": [2**53 + 1, 1], **labels}), "sav")
    assert result["beyond"].tolist() == ["9007199254740993", "1"]
    assert result["label"].tolist() == ["x" * 121, "y"]
    assert not isinstance(result["label"].dtype, pd.CategoricalDtype)
    assert result["fits"].cat.categories.tolist() == ["x" * 120, "y"]
    with pytest.raises(DataError, match=r"column 'a' has inf in record 1 .*\.sav files cannot hold"):
        write_table(pd.DataFrame({"a": [1.0, np.inf]}), "x.sav")
    assert again(pd.DataFrame({"a": ["ü" * 16_383]}), "sav")["a"].tolist() == ["ü" * 16_383]
    with pytest.raises(DataError, match=r"column 'a' holds a text of more than 32,767 bytes, the limit of SPSS"):
        write_table(pd.DataFrame({"a": ["ü" * 16_384]}), "x.sav")
