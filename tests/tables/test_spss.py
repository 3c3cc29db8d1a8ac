"""SPSS files: labels, measures, missing values and dates as the file says, and what is written can be read again."""

import datetime as dt
import io

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from microagg.errors import DataError
from microagg.tables import read_table, write_table
from microagg.tables.stata_spss_process import parse_answer, read_or_error, write
from tests.tables.common import fails


@pytest.fixture
def sav(tmp_path):
    """Return a function that writes a frame as pyreadstat does."""

    def write(frame, **options):
        path = tmp_path / "x.sav"
        pyreadstat.write_sav(frame, str(path), **options)
        return path.read_bytes()

    return write


def again(frame):
    return read_table(write_table(frame, "x.sav"), name="x.sav")


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "compress"), [("sav", False), ("zsav", True), ("sav", True)])
def test_columns_rows_and_types(sav, ending, compress):
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
    frame = read_table(data, name=f"x.{ending}")
    assert list(frame) == list(given)
    assert frame["whole"].dtype == np.int64
    assert frame["whole"].tolist() == [1, -2, 3]
    np.testing.assert_array_equal(frame["gaps"], [1, np.nan, 3])
    assert frame["decimals"].dtype == np.float64
    assert frame["text"].isna().tolist() == [False, True, False]
    # SPSS fills texts up with blanks, so those at the end are none.
    assert frame["text"].tolist()[::2] == ["01067", " x"]
    assert frame["day"].tolist()[::2] == [dt.datetime(2024, 5, 1), dt.datetime(1880, 1, 2)]
    assert frame["time"].tolist()[::2] == given["time"].tolist()[::2]
    assert frame["clock"].tolist()[::2] == ["14:05:00", "01:02:03"]
    assert frame[["day", "time", "clock"]].isna().to_numpy()[:, 0].tolist() == [False, True, False]
    assert frame.index.equals(pd.RangeIndex(3))


def test_times_beyond_those_of_a_day_and_other_dates(sav):
    # 2024-02-29 is 161,210 days after 1582-10-14.
    given = pd.DataFrame({"long": [108_300.5, -60.0, np.nan], "month": [161_210 * 86_400.0, np.nan, 86_400.0]})
    frame = read_table(sav(given, variable_format={"long": "DTIME12", "month": "MOYR8"}), name="x.sav")
    assert frame["long"].tolist()[:2] == ["30:05:00.500", "-00:01:00"]
    assert frame["month"].tolist()[::2] == [dt.datetime(2024, 2, 29), dt.datetime(1582, 10, 15)]
    assert frame.isna().sum().tolist() == [1, 1]


@pytest.mark.parametrize(("measure", "ordered"), [("ordinal", True), ("nominal", False), ("scale", False)])
def test_labels_are_categories(sav, measure, ordered):
    data = sav(
        pd.DataFrame({"c": [2, 1, 2]}),
        variable_value_labels={"c": {3: "high", 1: "low", 2: "middle"}},
        variable_measure={"c": measure},
    )
    column = read_table(data, name="x.sav")["c"]
    assert column.tolist() == ["middle", "low", "middle"]
    assert column.cat.categories.tolist() == ["low", "middle", "high"]
    assert column.cat.ordered == ordered
    assert read_table(data, name="x.sav", labels=False)["c"].tolist() == [2, 1, 2]


def test_codes_without_a_label(sav):
    frame = pd.DataFrame({name: [0, 1200.5, 7] for name in ("nominal", "scale")})
    data = sav(
        frame,
        variable_value_labels={name: {0: "none"} for name in frame},
        variable_measure={name: name for name in frame},
    )
    found = read_table(data, name="x.sav")
    assert found["nominal"].cat.categories.tolist() == ["none", "7", "1200.5"]
    assert found["nominal"].tolist() == ["none", "1200.5", "7"]
    # On a scale they are measurements, of which one has a remark.
    assert found["scale"].tolist() == [0, 1200.5, 7]


def test_text_codes_with_labels(sav):
    data = sav(pd.DataFrame({"s": ["m", "f", "", "x"]}), variable_value_labels={"s": {"m": "male", "f": "female"}})
    column = read_table(data, name="x.sav")["s"]
    assert column.cat.categories.tolist() == ["female", "male", "x"]
    assert column.isna().tolist() == [False, False, True, False]


def test_user_missing_values(sav):
    given = pd.DataFrame({"c": [1, 9, 2, 97], "x": [1.5, -1.0, 2.5, 3.5], "s": ["a", "b", "?", "a"]})
    data = sav(
        given,
        missing_ranges={"c": [9, {"lo": 90, "hi": 99}], "x": [-1], "s": ["?"]},
        variable_value_labels={"c": {1: "one", 2: "two", 9: "refused", 95: "other"}, "s": {"a": "A", "?": "unknown"}},
    )
    frame = read_table(data, name="x.sav")
    assert frame["c"].isna().tolist() == [False, True, False, True]
    assert frame["c"].cat.categories.tolist() == ["one", "two"]
    np.testing.assert_array_equal(frame["x"], [1.5, np.nan, 2.5, 3.5])
    assert frame["s"].isna().tolist() == [False, False, True, False]
    assert frame["s"].cat.categories.tolist() == ["A", "b"]


def test_refusals(sav):
    good = sav(pd.DataFrame({"a": np.arange(1000.0) + 0.5, "b": 1}))
    fails("'x.sav' has a header but no records", sav(pd.DataFrame({"a": [1.0]}).iloc[:0]), name="x.sav")
    fails("not a .csv file but an SPSS file: give it the ending .sav", good, name="x.csv")
    assert len(read_table(good, name="x.sav", max_cells=2000)) == 1000
    fails("1,000 records with 2 columns, over the limit of 1,998 cells", good, name="x.sav", max_cells=1998)


def test_a_file_that_does_not_say_how_many_records_it_has(sav):
    data = bytearray(sav(pd.DataFrame({"a": np.arange(100.0)})))
    data[80:84] = (-1).to_bytes(4, "little", signed=True)
    assert len(read_table(bytes(data), name="x.sav")) == 100
    fails("records with 1 columns, over the limit of 60 cells", bytes(data), name="x.sav", max_cells=60)


def test_what_would_take_too_much_memory_does_not_come_back(sav, monkeypatch):
    data = sav(pd.DataFrame({"s": ["x" * 100, "y"] * 50, "n": [1.0] * 100}))
    # 100 places of 8 bytes and their characters, two texts of 64 bytes and theirs, and 100 floats of 8.
    needed = 100 * 8 + 50 * 101 + 2 * 64 + 101 + 100 * 8
    assert read_or_error(data, 10_000, 2 * needed - 1) == {"needed": needed, "error": "MemoryError"}
    assert len(read_or_error(data, 10_000, 2 * needed)["columns"]) == 2
    monkeypatch.setattr("microagg.tables.notices.machine_memory", lambda: 1000)
    monkeypatch.setattr(
        "microagg.tables.stata_spss.in_own_process", lambda data, cells: read_or_error(data, cells, 100)
    )
    fails("would take at least 0.0.* MB of memory, over the limit of .* MB", data, name="x.sav")
    monkeypatch.setattr("microagg.tables.stata_spss.in_own_process", lambda *_: {"error": "MemoryError"})
    fails("would take at least .* MB of memory, over the limit of .* MB", data, name="x.sav")


def test_damaged_files_in_the_process_that_reads_them(sav, tmp_path, monkeypatch):
    good = sav(pd.DataFrame({"a": [1.5, 2.5], "s": ["x", "y"]}))
    assert read_table(good, name="x.sav").to_dict("list") == {"a": [1.5, 2.5], "s": ["x", "y"]}
    message = r"'x\.sav' is a damaged SPSS file.*: save it as \.sav again"
    fails(message, good[:300], name="x.sav")
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
def test_what_a_process_answers_that_was_taken_over_runs_nothing(sav, tmp_path, monkeypatch, answer):
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
    found = {
        "names": ["a", "s"],
        "records": 2,
        "missing": {"a": [{"lo": float("-inf"), "hi": -1.0}], "s": [{"lo": "x", "hi": "x"}]},
        "labels": {"a": {1.0: "one", 2: "two"}, "s": {"x": "\ud83d ü"}},
        "measures": {"a": "scale"},
        "formats": {"a": "F8.2"},
        "columns": [np.array([1.5, np.nan, 2]), ["x\n", None, "x\n"]],
    }
    stream = io.BytesIO()
    write(found, stream)
    again = parse_answer(stream.getvalue())
    np.testing.assert_array_equal(again.pop("columns")[0], found.pop("columns")[0])
    assert again == found
    for short in ({"error": "ReadstatError"}, {"needed": 7, "error": "MemoryError"}):
        stream = io.BytesIO()
        write(short, stream)
        assert parse_answer(stream.getvalue()) == short


# --- writing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_of_every_unit(unit):
    days = pd.Series(pd.to_datetime(["2024-05-01", "1880-05-01", None])).astype(f"datetime64[{unit}]")
    times = pd.Series(pd.to_datetime(["2024-05-01 13:00:01", "1880-05-01 00:00:00", None])).astype(
        f"datetime64[{unit}]"
    )
    found = again(pd.DataFrame({"day": days, "time": times}))
    assert found["day"].tolist()[:2] == [dt.datetime(2024, 5, 1), dt.datetime(1880, 5, 1)]
    assert found["time"].tolist()[:2] == [dt.datetime(2024, 5, 1, 13, 0, 1), dt.datetime(1880, 5, 1)]
    assert found.isna().sum().tolist() == [1, 1]


def test_what_the_format_cannot_hold():
    found = again(
        pd.DataFrame(
            {
                "beyond": [2**53 + 1, 1],
                "label": pd.Categorical(["x" * 121, "y"]),
                "fits": pd.Categorical(["x" * 120, "y"]),
            }
        )
    )
    assert found["beyond"].tolist() == ["9007199254740993", "1"]
    assert found["label"].tolist() == ["x" * 121, "y"]
    assert not isinstance(found["label"].dtype, pd.CategoricalDtype)
    assert found["fits"].cat.categories.tolist() == ["x" * 120, "y"]
    with pytest.raises(DataError, match=r"column 'a' has inf in record 1 .*\.sav files cannot hold"):
        write_table(pd.DataFrame({"a": [1.0, np.inf]}), "x.sav")
    assert again(pd.DataFrame({"a": ["ü" * 16_383]}))["a"].tolist() == ["ü" * 16_383]
    with pytest.raises(DataError, match=r"column 'a' holds a text of more than 32,767 bytes, the limit of SPSS"):
        write_table(pd.DataFrame({"a": ["ü" * 16_384]}), "x.sav")
