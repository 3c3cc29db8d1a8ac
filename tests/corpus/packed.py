"""Bad Parquet, Stata and SPSS files: values that change easily, and small files that claim to hold much."""

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat

from tests.corpus.case import Case
from tests.tables.common import parquet

TOO_MUCH = "would take at least .* MB of memory, over the limit of"


def column(name, cells, *texts, **outcome):
    """Return a case of a Parquet file with one column, which is made only when it is needed."""
    options = outcome.pop("options", {})
    if texts:
        outcome["cells"] = {"a": list(texts)}
    make = cells if callable(cells) else lambda: cells
    return Case(name, "x.parquet", lambda: parquet(pa.table({"a": make()}), **options), **outcome)


def of(kind, *values):
    return pa.array(values, pa.int32() if kind == pa.date32() else pa.int64()).cast(kind)


def repeated(value, count, kind=None):
    """Return a column of one value that stands in a dictionary."""
    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(count, np.int8)), pa.array([value], kind))


def damaged(at, new):
    good = parquet(pa.table({"a": list(range(1000)), "b": [f"x{i}" for i in range(1000)]}))
    at = at % len(good)
    return good[:at] + new + good[at + len(new) :]


def broken_utf8():
    ends = pa.py_buffer(np.array([0, 2], np.int32))
    return pa.Array.from_buffers(pa.string(), 1, [None, ends, pa.py_buffer(b"\xff\xfe")])


D = Decimal
# So that a column of texts in a dictionary is a column of texts for who reads the file.
PLAIN = {"store_schema": False}

PARQUET = [
    column("whole numbers beyond 2^53 beside null", pa.array([2**53 + 1, None]), "9007199254740993", None, page=True),
    column("unsigned numbers beyond 2^63", pa.array([2**64 - 1, None], pa.uint64()), "18446744073709551615", None),
    column("decimals of 20 digits", pa.array([D("0.12345678901234567890"), None]), "0.12345678901234567890", None, says="'a'.*text", page=True),
    column("whole decimals of 23 digits", pa.array([D(12345678901234567890123)], pa.decimal128(38, 0)), "12345678901234567890123", says="'a'.*text"),
    column("decimals of 50 digits", pa.array([D("0.1")], pa.decimal256(50, 40)), "0.1"),
    column("NaN beside null", pa.array([np.nan, None, 0.5], from_pandas=False), None, None, "0.5", says="NaN"),
    column("minus zero", pa.array([-0.0, 0.5]), "-0.0", "0.5"),
    column("infinity", pa.array([np.inf, 0.5]), "inf", "0.5"),
    column("half floats", pa.array(np.array([0.5, 2], np.float16)), "0.5", "2.0"),
    column("dates after the year 9999", of(pa.date32(), 3_000_000, 0), "10183-09-21", "1970-01-01", says="9999", page=True),
    column("dates before the year 1", of(pa.date32(), -800_000, 0), "-221-09-04", "1970-01-01", says="9999"),
    column("times after the year 9999", of(pa.timestamp("us"), 2**60), "38504-08-17 21:30:06.846976", says="9999"),
    column("times to the nanosecond", of(pa.timestamp("ns"), 1), "1970-01-01 00:00:00.000000001"),
    column("times of an unknown zone", of(pa.timestamp("s", "Mars/Phobos"), 0), "1970-01-01 00:00:00+00:00", says="Mars/Phobos"),
    column("times of day to the nanosecond", of(pa.time64("ns"), 1), "00:00:00.000000001"),
    column("durations", of(pa.duration("s"), 60), "0 days 00:01:00"),
    column("truth beside null", pa.array([True, None, False]), "True", None, "False"),
    column("bytes", pa.array([b"\xff\x00"]), "ff00", says="hexadecimal"),
    column("text stored as bytes", pa.array(["ü".encode()]), "ü", says="UTF-8"),
    column("text that is no UTF-8", broken_utf8, refuses="not in UTF-8"),
    column("categories that occur twice", pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["b", "b"]), "b", "b"),
    column("lists", pa.array([[1, 2], [3]]), refuses="holds lists or records", page=True),
    column("records", pa.array([{"x": 1}]), refuses="holds lists or records"),
    column("maps", pa.array([[("x", 1)]], pa.map_(pa.string(), pa.int64())), refuses="holds lists or records"),
    column("no value at all", pa.nulls(2), None, None),
    column("no records", pa.array([], pa.int64()), refuses="no records"),
    Case("equal names", "x.parquet", lambda: parquet(pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"])), refuses="more than once"),
    Case("no columns", "x.parquet", lambda: parquet(pa.table({})), refuses="no records|no columns"),
    Case("a half file", "x.parquet", lambda: damaged(0, b"PAR1")[:-100], refuses="only a part", page=True),
    Case("a damaged footer", "x.parquet", lambda: damaged(-400, b"\xff" * 20), refuses="damaged"),
    Case("a damaged page header", "x.parquet", lambda: damaged(4, b"\xff" * 30), refuses="damaged"),
    column("a constant 49 million times", lambda: repeated(1.0, 49_000_000), refuses=TOO_MUCH, heavy=True, page=True),
    column("20,000 times one text of 100,000 characters", lambda: repeated("x" * 100_000, 20_000), options=PLAIN, refuses=TOO_MUCH, heavy=True, page=True),
    column("a category of 100,000 characters, 20,000 times", lambda: repeated("x" * 100_000, 20_000), shape=(20_000, 1), heavy=True),
    column("bytes of one length, 100,000 of them", lambda: repeated(b"x" * 100_000, 20_000, pa.binary(100_000)), refuses=TOO_MUCH, heavy=True),
    column("dates in a dictionary, 20 million", lambda: repeated(dt.date(2024, 5, 1), 20_000_000), refuses=TOO_MUCH, heavy=True),
    column("truth beside null, 20 million", lambda: pa.array([True, None]).take(pa.array(np.arange(20_000_000) % 2)), refuses=TOO_MUCH, heavy=True),
    column("a page of 250 MB", lambda: repeated("x" * 1_000_000, 250).cast(pa.string()), options={"use_dictionary": False, "compression": "zstd", "data_page_size": 1 << 30}, refuses=TOO_MUCH, heavy=True),
    column("texts by what they share with the one before", lambda: repeated("x" * 1_000_000, 300).cast(pa.string()), options={"use_dictionary": False, "compression": "zstd", "column_encoding": {"a": "DELTA_BYTE_ARRAY"}}, refuses=TOO_MUCH, heavy=True),
    Case("3,000 columns", "x.parquet", lambda: parquet(pa.table({f"c{i}": [1.0] for i in range(3_000)})), shape=(1, 3_000), heavy=True),
]  # fmt: skip


def dta(columns, **options):
    stream = io.BytesIO()
    frame = pd.DataFrame(columns)
    frame.to_stata(stream, write_index=False, version=118, time_stamp=dt.datetime(1980, 1, 1), **options)
    return stream.getvalue()


def sav(columns, **options):
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.sav"
        pyreadstat.write_sav(pd.DataFrame(columns), str(path), **options)
        return path.read_bytes()


def in_seconds(seconds):
    """Return an SPSS file with a date of so many seconds."""
    return sav({"a": [seconds]}, variable_format={"a": "DATETIME20"})


STATISTICS = [
    Case("days after the year 9999", "x.dta", lambda: dta({"a": np.array(["12024-05-01"], "M8[s]")}, convert_dates={"a": "td"}), {"a": ["12024-05-01 00:00:00"]}, says="9999"),
    Case("one long text of many records", "x.dta", lambda: dta({"a": ["x" * 100_000] * 2_000}, convert_strl=["a"]), refuses=TOO_MUCH, heavy=True),
    Case("one long text of some records", "x.dta", lambda: dta({"a": ["x" * 10_000] * 3}, convert_strl=["a"]), {"a": ["x" * 10_000] * 3}),
    Case("a damaged header", "x.dta", lambda: b"<stata_dta>" + bytes(500), refuses="damaged", page=True),
    Case("half of a Stata file", "x.dta", lambda: dta({"a": np.arange(1000.0)})[:2000], refuses="damaged"),
    Case("codes that share a label", "x.dta", lambda: dta({"a": [8, 9]}, value_labels={"a": {8: "other", 9: "other"}}), {"a": ["other (8)", "other (9)"]}),
    Case("seconds that no calendar has", "x.sav", lambda: in_seconds(1e300), {"a": ["1e+300"]}, says="9999"),
    Case("seconds before the calendar", "x.sav", lambda: in_seconds(-5.0), {"a": ["-5"]}, says="1582"),
    Case("half of an SPSS file", "x.sav", lambda: sav({"a": np.arange(1000.0)})[:400], refuses="damaged", page=True),
    Case("long texts, compressed", "x.zsav", lambda: sav({"a": ["x" * 10_000] * 15_000}, compress=True), refuses=TOO_MUCH, heavy=True),
]  # fmt: skip

CASES = [*PARQUET, *STATISTICS]
