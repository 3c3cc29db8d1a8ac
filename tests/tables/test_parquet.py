"""Parquet files, in and out."""

import io
import struct

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from microagg.tables import read_table, write_table
from tests.tables.common import fails, parquet


def test_parquet_keeps_columns_and_rows():
    given = pd.DataFrame({"b": [2.5, 1.0], "a": ["x", None], "n": [1, 2]}, index=pd.Index([7, 5], name="key"))
    frame = read_table(parquet(given), name="x.parquet")
    assert sorted(frame.columns) == ["a", "b", "key", "n"]
    assert frame["key"].tolist() == [7, 5]
    assert frame["b"].tolist() == [2.5, 1.0]
    assert frame.index.equals(pd.RangeIndex(2))


def test_parquet_decimals_are_numbers():
    table = pa.table({"a": pa.array([1, 2], pa.int32()).cast(pa.decimal128(12, 2)), "b": ["x", "y"]})
    frame = read_table(parquet(table), name="x.parquet")
    assert frame["a"].dtype == np.float64
    assert list(frame) == ["a", "b"]


def test_parquet_bomb_is_not_unpacked(monkeypatch):
    table = pa.table({"a": pa.DictionaryArray.from_arrays(pa.array(np.zeros(200_000, np.int8)), pa.array([1.0]))})
    data = parquet(table)
    assert len(data) < 5_000

    def read(*_):
        raise AssertionError("the limit is to be checked before anything is read")

    monkeypatch.setattr(pq.ParquetFile, "read", read)
    fails("200,000 records with 1 columns, over the limit of 100,000 cells", data, name="x.parquet", max_cells=100_000)


def test_parquet_refusals():
    good = parquet(pd.DataFrame({"a": np.arange(100)}))
    fails("only a part of one: export it again", good[:-10], name="x.parquet")
    fails("damaged Parquet file", b"PAR1" + bytes(100) + struct.pack("<i", 90) + b"PAR1", name="x.parquet")
    fails("has a header but no records", parquet(pd.DataFrame({"a": []})), name="x.parquet")
    fails("column 'a' of the file 'x.parquet' holds lists", parquet(pa.table({"a": [[1, 2], [3]]})), name="x.parquet")
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    fails("'x.parquet', the column name 'a' occurs more than once", parquet(twice), name="x.parquet")


# --- writing ---------------------------------------------------------------------------------------------------------


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


def test_written_columns_that_change():
    frame = pd.DataFrame(
        {
            "nullable": pd.array([1, None], dtype="Int64"),
            "numbers": pd.Categorical([-7, 7]),
            "cut": pd.cut([1, 9], [0, 4, 9]),
            "month": pd.period_range("2024-01", periods=2, freq="M"),
            "mixed": [1, "x"],
            "none": [None, None],
        }
    )
    found = read_table(write_table(frame, "x.parquet"), name="x.parquet")
    np.testing.assert_array_equal(found["nullable"], [1, np.nan])
    assert found["numbers"].tolist() == [-7, 7]
    assert found["cut"].cat.categories.tolist() == ["(0, 4]", "(4, 9]"]
    assert found["cut"].cat.ordered
    assert found["month"].tolist() == ["2024-01", "2024-02"]
    assert found["mixed"].tolist() == ["1", "x"]
    assert pq.read_schema(io.BytesIO(write_table(frame, "x.parquet"))).field("none").type == pa.string()
