"""Every kind of column that Excel has, read and written again: equal cell for cell, or a notice said otherwise."""

import pandas as pd

from microagg.tables import read_file, write_table
from tests.cases import for_each
from tests.tables.workbooks import book, sheet, styled, text

FORMATS = ["0%", "00000", 14, "yyyy-mm-dd hh:mm:ss", "h:mm", "[h]:mm", "#,##0,"]
PERCENT, CODE, DATE, MOMENT, TIME, DURATION, THOUSANDS = range(1, 8)


def flag(value):
    return f' t="b"><v>{value}</v>'


# For each kind of column, its cells, and what is said of it.
COLUMNS = {
    "whole": ([1, -5, 0], set()),
    "whole with a gap": ([1, None, 3], set()),
    "decimal": ([0.1, 5e-324, 9.9e307], set()),
    "decimals that are whole": (["><v>2.0</v>", "><v>-0.0</v>", "><v>1E+22</v>"], set()),
    "up to 15 digits": ([10**15 - 1, -(10**15) + 1, 7], set()),
    "16 digits": ([10**15, 1234567890123450, 1], {"long-numbers"}),
    "beyond 2^53 with a gap": ([2**53 + 1, None, -(2**53) - 1], {"long-numbers"}),
    "beyond 64 bits": ([2**64 + 1, 10**30, 1], {"long-numbers"}),
    "percent": ([styled(PERCENT, 0.07), styled(PERCENT, 1), styled(PERCENT, 0.125)], {"percent"}),
    "thousands": ([styled(THOUSANDS, 12000), 5, 6], set()),
    "postcode": ([styled(CODE, 1067), styled(CODE, 99999), None], {"leading-zeros"}),
    "date": ([styled(DATE, 61), styled(DATE, 45413), styled(DATE, 2958465)], set()),
    "date with a gap": ([styled(DATE, 45413), None, styled(DATE, 1000)], set()),
    "early date": ([styled(DATE, 1), styled(DATE, 59), styled(DATE, 61)], set()),
    "no date": ([styled(DATE, 60), styled(DATE, 3_000_000), styled(DATE, 61)], {"errors"}),
    "moment": ([styled(MOMENT, 45413.5), styled(MOMENT, 45413.000011574), styled(MOMENT, 45413)], set()),
    "time": ([styled(TIME, 0.5), None, styled(TIME, 0.000011574)], {"times"}),
    "duration": ([styled(DURATION, 1.5), styled(DURATION, 30), styled(DURATION, 0)], {"durations"}),
    "flag": ([flag(1), flag(0), flag(1)], set()),
    "flag with a gap": ([flag(1), None, flag(0)], set()),
    "text": ([text("x"), text(" y "), text("=1+1")], set()),
    "text of digits": ([text("007"), text("1e5"), text("+49")], set()),
    "text with gaps": ([text("x"), None, text("")], set()),
    "text of every kind": ([text("a\nb&amp;&lt;"), text("_x000D_"), text("東京 😀")], set()),
    "missing text": ([text("DE"), text("NA"), text("FR")], {"missing-words"}),
    "errors": ([1.5, ' t="e"><v>#DIV/0!</v>', 2.5], {"errors"}),
    "numbers and text": ([1, 2.5, text("unknown")], {"mixed"}),
    "dates and numbers": ([styled(DATE, 45413), 45413, 1], {"mixed"}),
    "flags and numbers": ([flag(1), 1, 0], {"mixed"}),
    "nothing": ([None, None, None], set()),
}


def table_of(names):
    header = [text(name) for name in names]
    rows = [[COLUMNS[name][0][i] for name in names] for i in range(3)]
    return book(sheet([*header, text("row")], *([*row, i] for i, row in enumerate(rows))), formats=FORMATS)


@for_each("name", COLUMNS)
def test_what_is_read_is_written_and_read_again(name):
    reading = read_file(table_of([name]), name="x.xlsx")
    assert {notice.code for notice in reading.notices} == COLUMNS[name][1]
    assert {notice.column for notice in reading.notices} <= {name}
    again = read_file(write_table(reading.frame, "x.xlsx"), name="x.xlsx")
    # Whole numbers of more digits than Excel shows, and days that programs disagree on, are written as text.
    if "long-numbers" not in COLUMNS[name][1] and name not in ("early date", "no date"):
        pd.testing.assert_frame_equal(again.frame, reading.frame)
    assert texts(again.frame) == texts(reading.frame)
    assert again.notices == ()


def texts(frame):
    return [[None if pd.isna(cell) else str(cell) for cell in column] for _, column in frame.items()]


def test_all_columns_in_one_table():
    names = list(COLUMNS)[:25]  # as many as have one letter, with the number of the row
    reading = read_file(table_of(names), name="x.xlsx")
    assert list(reading.frame) == [*names, "row"]
    for name in names:
        pd.testing.assert_series_equal(reading.frame[name], read_file(table_of([name]), name="x.xlsx").frame[name])
        assert {notice.code for notice in reading.notices if notice.column == name} == COLUMNS[name][1]
