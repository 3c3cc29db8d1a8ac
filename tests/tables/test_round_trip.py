"""What is read, left alone by a release, and written again is what stood in the file, or a notice said otherwise.

The cells of both files are read by Python's csv, pyarrow and openpyxl, and not by what is tested.
"""

from __future__ import annotations

import csv
import datetime as dt
import io
from decimal import Decimal

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg import microaggregate
from microagg.tables import read_file, write_table
from tests.cases import for_each
from tests.tables.common import parquet, xlsx

# The quasi-identifier that is released; all other columns are left alone.
SIZES = ["1", "2", "3", "4"]


def released(data, name):
    """Return a file as a release writes it that leaves alone all columns but the sizes, and what was said before."""
    reading = read_file(data, name=name)
    release = microaggregate(reading.frame, quasi_identifiers=["size"], k=2)
    return write_table(release.frame, name), reading.notices


def check(before, after, notices):
    """Assert that the cells of the column of both files are equal as text, or that a notice names the column."""
    assert before == after or any(notice.column == "cell" for notice in notices), (before, after)


TEXTS = {
    "whole numbers": ["1", "-20", "0", "300"],
    "whole numbers beside a gap": ["1", "", "3", "4"],
    "large whole numbers": ["9007199254740993", "-9007199254740993", "1", "2"],
    "large whole numbers beside a gap": ["9007199254740993", "", "-9007199254740993", "1"],
    "unsigned whole numbers": ["18446744073709551615", "1", "2", "3"],
    "decimals": ["0.1", "-2.25", "3.5", "100.125"],
    "decimals beside a gap": ["0.1", "", "3.5", "100.125"],
    "decimals of equal length": ["1.50", "2.25", "3.00", "4.10"],
    "decimals that are whole": ["1.0", "2.0", "3.0", "4.0"],
    "small numbers": ["1.5e-05", "2.5e-05", "1e-07", "0.5"],
    "large numbers": ["1e+22", "1.5e+300", "1.0", "2.0"],
    "minus zero": ["-0.0", "1.5", "2.5", "3.5"],
    "codes": ["01067", "80331", "00001", "10115"],
    "codes with letters": ["10E2", "100E1", "1E5", "7E0"],
    "telephone numbers": ["+4912345", "+4912346", "+4912347", "+4912348"],
    "words": ["x", "ü", "", "z"],
    "words with delimiters": ["a,b", 'say "x"', "line\nbreak", " blank "],
    "countries": ["NA", "DE", "FR", "NA"],
    "truth": ["True", "False", "True", "True"],
    "truth in capitals": ["TRUE", "FALSE", "TRUE", "TRUE"],
    "truth beside a gap": ["True", "", "False", "True"],
    "days": ["2024-05-01", "1850-01-01", "", "0001-01-01"],
    "times": ["2024-05-01 12:00:01", "2024-05-01T12:00", "12:00", "1"],
    "formulas": ["=1+1", "@x", "y", "z"],
    "thousands": ["1,234", "12,345", "1,000,000", "5"],
    "nothing": ["", "", "", ""],
}


@pytest.mark.parametrize("cells", [pytest.param(cells, id=name) for name, cells in TEXTS.items()])
def test_text(cells):
    stream = io.StringIO()
    csv.writer(stream).writerows([["size", "cell"], *zip(SIZES, cells, strict=True)])
    data, notices = released(stream.getvalue().encode(), "x.csv")
    found = [row[1] for row in csv.reader(io.StringIO(data.decode(), newline=""))][1:]
    # A spreadsheet would take these for formulas, which the page says where the file is downloaded.
    found = [cell.removeprefix("'") for cell in found]
    check(cells, found, notices)


def plain(cell):
    """Return a cell of any kind of file as text, None where there is no value."""
    if cell is None or cell is pd.NaT or (isinstance(cell, float) and np.isnan(cell)):
        return None
    if isinstance(cell, Decimal):
        return str(float(cell)) if cell == Decimal(repr(float(cell))) else str(cell)
    if isinstance(cell, bytes):
        return cell.hex()
    if isinstance(cell, dt.datetime) and cell.tzinfo is None and cell.time() == dt.time(0):
        return cell.date().isoformat()
    return str(cell)


D, DAY = Decimal, dt.date(2024, 5, 1)
COLUMNS = {
    "int8": pa.array([1, -2, 3, 4], pa.int8()),
    "int64 beside null": pa.array([2**53 + 1, None, -(2**53) - 1, 4]),
    "uint64 beside null": pa.array([2**64 - 1, None, 3, 4], pa.uint64()),
    "half floats": pa.array(np.array([0.5, 2.25, -0.0, 4], np.float16)),
    "floats of 32 bits": pa.array([0.1, None, 3, 4], pa.float32()),
    "floats": pa.array([0.1, None, -0.0, 1e300]),
    "infinity": pa.array([np.inf, -np.inf, 3, 4]),
    "NaN beside null": pa.array([np.nan, None, 3, 4], from_pandas=False),
    "decimals": pa.array([D("1.50"), None, D("3.25"), D("4.00")]),
    "decimals of many digits": pa.array([D("0.12345678901234567890"), None, D(3), D(4)]),
    "truth": pa.array([True, None, False, True]),
    "words": pa.array(["x", None, "", " ü "]),
    "large words": pa.array(["x", None, "=1+1", "01067"], pa.large_string()),
    "categories": pa.array(["x", None, "y", "x"]).dictionary_encode(),
    "numbers in a dictionary": pa.array([7, None, -7, 7]).dictionary_encode(),
    "days": pa.array([DAY, None, dt.date(1600, 1, 1), dt.date(1, 1, 1)]),
    "days of the year 12024": pa.array([3_672_000, None, 1, 2], pa.int32()).cast(pa.date32()),
    "times": pa.array([dt.datetime(2024, 5, 1, 12, 0, 1, 5), None, dt.datetime(1, 1, 1), dt.datetime(9999, 1, 1)]),
    "times of a zone": pa.array([0, None, 1, 2], pa.timestamp("us", "Europe/Berlin")),
    "times of day": pa.array([dt.time(12, 0, 1), None, dt.time(1, 2, 3, 5), dt.time(0)]),
    "durations": pa.array([dt.timedelta(hours=1), None, dt.timedelta(0), dt.timedelta(days=-1)]),
    "bytes": pa.array([b"\xff", None, b"\0", b"x"]),
    "nothing": pa.nulls(4),
}


@for_each("cells", COLUMNS.values())
def test_parquet(cells):
    if pa.types.is_date32(cells.type) and cells.cast(pa.int32())[0].as_py() > 3_000_000:
        before = ["no date of Python"]
    else:
        before = [plain(cell) for cell in cells.to_pylist()]
    data, notices = released(parquet(pa.table({"size": [1, 2, 3, 4], "cell": cells})), "x.parquet")
    after = [plain(cell) for cell in pq.read_table(io.BytesIO(data))["cell"].to_pylist()]
    check(before, after, notices)


CELLS = {
    "whole numbers": [1, -20, 0, 300],
    "whole numbers beside a gap": [1, None, 3, 4],
    "decimals": [0.1, -2.25, 3.5, 1e-7],
    "decimals beside a gap": [0.1, None, 3.5, 1.0],
    "words": ["x", "ü", None, " z "],
    "codes as text": ["01067", "80331", "00001", "+49"],
    "truth": [True, False, True, True],
    "truth beside a gap": [True, None, False, True],
    "days": [dt.datetime(2024, 5, 1), dt.datetime(1950, 1, 1), None, dt.datetime(2000, 2, 29)],
    "times": [dt.datetime(2024, 5, 1, 12, 0, 1), None, dt.datetime(1950, 1, 1), dt.datetime(2000, 1, 1, 6)],
    "times of day": [dt.time(12, 0), dt.time(1, 2, 3), None, dt.time(23, 59)],
    "durations": [dt.timedelta(hours=30), dt.timedelta(hours=1), None, dt.timedelta(0)],
    "numbers beside words": [1, "unknown", 2.5, None],
    "dates beside numbers": [dt.datetime(2024, 5, 1), 7, None, "x"],
    "errors": ["#DIV/0!", 1, 2, 3],
    "formulas as text": ["'=1+1", "@x", "y", "z"],
    "line breaks": ["a\nb", "c\td", "e", "f"],
    "countries": ["NA", "DE", "FR", "NA"],
}


@pytest.mark.parametrize("cells", [pytest.param(cells, id=name) for name, cells in CELLS.items()])
def test_workbooks(cells):
    rows = [["size", "cell"], *zip([1, 2, 3, 4], cells, strict=True)]
    data, notices = released(xlsx([list(row) for row in rows]), "x.xlsx")
    sheet = openpyxl.load_workbook(io.BytesIO(data)).active
    after = [plain(row[1]) for row in sheet.iter_rows(min_row=2, values_only=True)]
    check([plain(cell) for cell in cells], after, notices)
