"""Parquet files, in and out."""

import datetime as dt
import decimal
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg import DataError, ParameterError
from microagg.tables import parquet_files, read_file, read_table, write_table
from tests.cases import for_each
from tests.corpus.case import texts_of
from tests.tables.common import fails, parquet


def test_too_many_cells():
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int8)), pa.array([1.0]))
    says = "200,000 records with 1 columns, over the limit of 100,000 cells"
    fails(says, parquet(pa.table({"a": column})), name="x.parquet", max_cells=100_000)


D, day = decimal.Decimal, dt.date

# A column, its type in pandas, and its cells as the text that a file of text would have.
EXACT = {
    "int64 beside null": (pa.array([2**53 + 1, None, -5]), "Int64", ["9007199254740993", None, "-5"]),
    "decimals of few digits": (pa.array([D("1.50"), None, D("-0.01")]), "float64", ["1.5", None, "-0.01"]),
    "decimals that print": (pa.array([D("0.1"), None], pa.decimal128(38, 20)), "float64", ["0.1", None]),
    "whole decimals": (
        pa.array([D(12345678901234567), None], pa.decimal128(18, 0)),
        "Int64",
        ["12345678901234567", None],
    ),
    "dates": (pa.array([day(2024, 5, 1), None, day(1600, 1, 1)]), "datetime64[s]", ["2024-05-01", None, "1600-01-01"]),
    "times of day": (pa.array([dt.time(1, 2, 3), None], pa.time64("us")), str, ["01:02:03", None]),
    "views": (pa.array(["x", None, "ü"], pa.string_view()), str, ["x", None, "ü"]),
    "large texts": (pa.array(["x", None], pa.large_string()), str, ["x", None]),
    "identifiers": (pa.array([b"0" * 16], pa.uuid()), str, ["30303030-3030-3030-3030-303030303030"]),
    "periods": (pa.array(pd.period_range("2024-01", periods=2, freq="M")), str, ["2024-01", "2024-02"]),
    "intervals": (pa.array(pd.arrays.IntervalArray.from_breaks([0, 1, 2])), str, ["(0, 1]", "(1, 2]"]),
    "dates in a dictionary": (
        pa.array([day(2024, 5, 1), None]).dictionary_encode(),
        "datetime64[s]",
        ["2024-05-01", None],
    ),
}


@for_each(("column", "dtype", "texts"), EXACT.values())
def test_columns_are_read_exactly_without_a_word(column, dtype, texts):
    reading = read_file(parquet(pa.table({"a": column})), name="x.parquet")
    series = reading.frame["a"]
    assert texts_of(series) == texts
    assert pd.api.types.is_string_dtype(series.dtype) if dtype is str else series.dtype == dtype
    assert reading.notices == ()
    # Written again, it holds the same.
    again = read_table(write_table(reading.frame, "x.parquet"), name="x.parquet")["a"]
    assert texts_of(again) == texts


def test_old_times_of_96_bits_reach_beyond_those_of_nanoseconds():
    times = pa.array([-62135596800 * 10**6, 0]).cast(pa.timestamp("us"))
    data = parquet(pa.table({"t": times}), use_deprecated_int96_timestamps=True)
    assert texts_of(read_table(data, name="x.parquet")["t"]) == ["0001-01-01", "1970-01-01"]


def test_names_with_dots_and_without_anything():
    table = pa.table({"a.b": [1, 2], "a": [3, 4], "": [5, 6], "c": ["x", "x"]})
    frame = read_table(parquet(table), name="x.parquet")
    assert frame.to_dict("list") == {"a.b": [1, 2], "a": [3, 4], "column 3": [5, 6], "c": ["x", "x"]}


@for_each(
    ("n", "options"),
    [
        (20, {"row_group_size": 3}),
        (5000, {"data_page_version": "2.0", "compression": "zstd"}),
        (5000, {"use_dictionary": False, "column_encoding": {"text": "DELTA_BYTE_ARRAY", "n": "DELTA_BINARY_PACKED"}}),
        (5000, {"data_page_size": 1, "write_page_index": True, "write_page_checksum": True}),
        (5000, {"compression": "gzip", "version": "1.0", "store_schema": False}),
    ],
)
def test_ways_in_which_a_file_is_stored(n, options):
    numbers = [i / 7 if i % 3 else None for i in range(n)]
    table = pa.table({"text": [f"id {i % 700}" for i in range(n)], "n": list(range(n)), "f": numbers})
    frame = read_table(parquet(table, **options), name="x.parquet")
    pd.testing.assert_frame_equal(frame, table.to_pandas(), check_dtype=False)


def test_written_columns_are_read_as_they_were():
    frame = pd.DataFrame(
        {
            "whole": [2**62 + 1, -1, 0],
            "short": np.array([255, 0, 1], dtype=np.uint8),
            "float": [0.1 + 0.2, np.nan, np.inf],
            "flag": [True, False, True],
            "text": ["=1+1", "01067", None],
            "time": pd.to_datetime(["2024-05-01 12:00:01.123456", "1880-01-01 00:00:00", None], format="ISO8601"),
            "zone": pd.to_datetime(["2024-05-01", "2024-05-02", None]).tz_localize("Europe/Berlin"),
            "span": pd.to_timedelta([1, 2, None], unit="h"),
            "plain": pd.Categorical(["b", None, "a"], categories=["b", "a", "unused"]),
            "ordered": pd.Categorical(["hi", "lo", "hi"], categories=["lo", "hi"], ordered=True),
        },
        index=[5, 6, 7],
    )
    data = write_table(frame, "x.parquet")
    pd.testing.assert_frame_equal(read_table(data, name="x.parquet"), frame.reset_index(drop=True))
    assert pq.read_table(io.BytesIO(data)).column_names == list(frame)


@for_each(
    ("column", "written"),
    [
        (pd.array([1, None], dtype="Int64"), ["1", None]),
        (pd.Categorical([-7, 7]), ["-7", "7"]),
        (pd.cut([1, 9], [0, 4, 9]), ["(0, 4]", "(4, 9]"]),
        (pd.period_range("2024-01", periods=2, freq="M"), ["2024-01", "2024-02"]),
        ([1, "x"], ["1", "x"]),
        ([None, None], [None, None]),
    ],
)
def test_written_columns_that_change(column, written):
    data = write_table(pd.DataFrame({"a": column}), "x.parquet")
    assert texts_of(read_table(data, name="x.parquet")["a"]) == written
    assert written != [None, None] or pq.read_schema(io.BytesIO(data)).field("a").type == pa.string()


def test_a_folder_is_one_table_by_the_names_of_its_files(tmp_path):
    for name in ("part-1.parquet", "part-0.parquet", "_metadata", ".hidden.parquet"):
        (tmp_path / name).touch()
    assert [file.name for file in parquet_files(tmp_path)] == ["part-0.parquet", "part-1.parquet"]


def test_errors_of_a_folder_say_what_to_do(tmp_path):
    with pytest.raises(DataError, match=r"there is no file .*nowhere.*: check its name"):
        parquet_files(tmp_path / "nowhere")
    with pytest.raises(DataError, match="has no Parquet files"):
        parquet_files(tmp_path)
    (tmp_path / "a.csv").write_text("x")
    with pytest.raises(ParameterError, match=r"'a.csv' is no Parquet file"):
        parquet_files(tmp_path / "a.csv")
    (tmp_path / "in it").mkdir()
    with pytest.raises(DataError, match=r"has folders in it \('in it'\)"):
        parquet_files(tmp_path)
