"""Text files: delimiters, quotes, encodings, and what their columns become."""

import numpy as np
import pandas as pd
import pytest

from microagg.errors import ParameterError
from microagg.tables import UnreadableError, read_file, read_table
from tests.cases import for_each
from tests.tables.common import fails, read_csv


@for_each("ending", ["csv", "tsv", "txt"])
@for_each("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(delimiter, ending):
    text = delimiter.join(["age", "name", "income"]) + "\n" + delimiter.join(["31", '"a,b;c|d\te"', "1.5"]) + "\n"
    frame = read_table(text.encode(), name=f"x.{ending}")
    assert frame.to_dict("list") == {"age": [31], "name": ["a,b;c|d\te"], "income": [1.5]}


def test_semicolons_with_decimal_commas():
    text = "a;b;c;d\n1,5;2,5;x;1,234\n-3,25;1e3;y;5,678\n"
    reading = read_file(text.encode(), name="x.csv")
    assert reading.frame["a"].tolist() == ["1,5", "-3,25"]
    # Commas that may separate thousands are no decimal marks.
    assert [notice.column for notice in reading.notices] == ["a"]
    again = read_csv(text, decimal=",")
    assert again["a"].tolist() == [1.5, -3.25]
    assert again["b"].tolist() == [2.5, 1000.0]
    # Both delimiters divide header and lines alike: the comma is the decimal mark then.
    assert list(read_csv("income, net;age\n1,5;30\n2,5;40\n")) == ["income, net", "age"]


def test_wrong_delimiter_given():
    message = fails("divided by ',', the file 'x.csv' has only one column", b"a;b\n1;2\n", name="x.csv", delimiter=",")
    assert "choose ';' as the delimiter" in message
    fails("choose tab as the delimiter", b"a\tb\n1\t2\n", name="x.csv", delimiter=";")
    # Here the wrong delimiter makes lines of different lengths.
    fails("choose ';' as the delimiter, which divides", b"a;b\n1,5;2\n3;4\n", name="x.csv", delimiter=",")


@pytest.mark.parametrize(
    ("text", "line", "width"),
    [
        ("a,b,c\n1,2,3\n4,5\n6,7,8\n", 3, "2 fields"),
        ("a,b,c\n1,2,3\n4,5,6,7\n", 3, "4 fields"),
        ("\n\na,b\n\n1,2\n3\n", 6, "1 field,"),
        ('a,b\n"1\n1",2\n3,4,5\n', 4, "3 fields"),
        ("a,b\r\n1,2\r\n3,4,5\r\n", 3, "3 fields"),
    ],
)
def test_ragged_lines(text, line, width):
    fails(
        rf"line {line} of the file 'x.csv' has {width}.*the header has [23] fields: lines that do not fit can be",
        text.encode(),
        name="x.csv",
    )


def test_names_are_trimmed_and_empty_ones_numbered():
    frame = read_csv(',"", age , x\n1,2,3,4\n')
    assert list(frame) == ["column 1", "column 2", "age", "x"]
    assert frame.index.equals(pd.RangeIndex(1))
    fails("the column name 'column 2' occurs more than once", b"column 2,\n1,2\n", name="x.csv")


def test_blank_lines():
    assert read_csv("\na,b\n\n1,2\n  \n3,4\n\n\n")["a"].tolist() == [1, 3]
    # A line is a record where there is but one column, at least within the table.
    values = read_csv('a\n1\n\n3\n""\n5\n\n')["a"]
    np.testing.assert_array_equal(values, [1, np.nan, 3, np.nan, 5])


def test_quotes():
    frame = read_csv('"a ""b""","c\nd"\n"x, y",1\n"li\r\nne",2\n5" pipe,3\n')
    assert list(frame) == ['a "b"', "c\nd"]
    assert frame.iloc[:, 0].tolist() == ["x, y", "li\r\nne", '5" pipe']
    fails("after line 2, because of a quote that is never closed", b'a,b\n1,2\n"3,4\n5,6\n', name="x.csv")
    fails("after line 1, because of characters between a closing quote", b'a,b\n"1"x,2\n', name="x.csv")


@pytest.mark.parametrize(
    ("encoding", "mark"),
    [("utf-8", b""), ("utf-8-sig", b""), ("utf-16", b""), ("utf-16-be", b"\xfe\xff"), ("utf-32", b"")],
)
def test_unicode_is_recognized(encoding, mark):
    text = "größe,Ort\n1.5,Łódź\n"
    frame = read_csv(mark + text.encode(encoding))
    assert list(frame) == ["größe", "Ort"]
    assert frame["Ort"].tolist() == ["Łódź"]
    if encoding != "utf-8-sig":
        assert list(read_csv(text.encode(encoding), encoding=encoding)) == ["größe", "Ort"]


def test_wrong_encoding():
    data = "ort,n\nKöln,1\n".encode("cp1252")
    message = fails(r"'x.csv' is not valid UTF-8 at byte 7 \(0xf6\)", data, name="x.csv")
    assert "cp1252" in message
    assert read_csv(data, encoding="cp1252")["ort"].tolist() == ["Köln"]
    fails("is not valid UTF-8 at byte 7.*choose another encoding", data, name="x.csv", encoding="utf-8")
    fails("is not valid UTF-16", b"\xff\xfea\x00\x01", name="x.csv")
    fails("zero character at position 1.*utf-16", "a,b\n1,2\n".encode("utf-16-le"), name="x.csv")


def test_too_many_cells_in_text():
    data = b"a,b\n" + b"1,2\n" * 100
    assert len(read_table(data, name="x.csv", max_cells=200)) == 100
    fails("at least 100 records with 2 columns, over the limit of 198 cells", data, name="x.csv", max_cells=198)


RECORDS = "name,age,income\nA,31,100\nB,45,200\nC,22,300\nD,50,400\nE,61,500\n"


@pytest.mark.parametrize("header", ["0,1,2", ",0,1", "2019,2020,2021", "country,2019,2020", "a,b,c"])
def test_numbers_that_may_well_be_names(header):
    frame = read_csv(f"{header}\n4,5.5,6\n7,8,9\n")
    assert [name for name in frame if not name.startswith("column")] == [name for name in header.split(",") if name]


def test_a_header_repeated_with_another_delimiter():
    text = "a;b\n1,5;2\n2,5;3\n\na,b\n1,2\n3,4\n"
    with pytest.raises(UnreadableError) as caught:
        read_csv(text)
    reading = caught.value.offers[0].reading
    assert reading == {"uneven": "mend", "repeated_header": True, "decimal": ","}
    assert read_csv(text, **reading).to_dict("list") == {"a": [1.5, 2.5, 1, 3], "b": [2, 3, 2, 4]}


def test_skipping_what_is_not_there():
    fails("nothing after the lines that are skipped", b"a,b\n1,2\n", name="x.csv", skip_lines=5)
    fails("has a header but no records", b"a,b\n1,2\n", name="x.csv", skip_last=5)
    fails("has a header but no records", b"a,b\n1,2\n", name="x.csv", units_row=True)


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_file_may_declare_its_delimiter(first):
    reading = read_file(f"{first}\r\na;b\r\n1;x,y\r\n2;z\r\n".encode(), name="x.csv")
    assert reading.frame.to_dict("list") == {"a": [1, 2], "b": ["x,y", "z"]}
    assert reading.notices == ()
    fails("line 4 of", f"{first}\na;b\n1;2\n3\n4;5\n".encode(), name="x.csv")


@for_each(
    ("arguments", "says"),
    [
        *(({"delimiter": given}, "delimiter must be one character") for given in ("", ",,", '"', "\n", 1)),
        ({"delimiter": "'", "quote": "'"}, "delimiter must be one character"),
        ({"decimal": "·"}, "decimal must be '.' or ','"),
        *(({"encoding": given}, "there is no text encoding") for given in ("klingon", "zlib", "hex")),
        ({"skip_lines": -1}, "skip_lines must be"),
        ({"skip_lines": True}, "skip_lines must be"),
        ({"skip_last": 1.5}, "skip_last must be"),
        ({"header_lines": 0}, "header_lines must be"),
        ({"comment": ""}, "comment must be"),
        ({"quote": "“"}, "quote must be one"),
        *(({name: "some"}, f"{name} must be one") for name in ("inner_quotes", "unnamed", "uneven")),
    ],
)
def test_impossible_arguments(arguments, says):
    fails(says, b"a\n1\n", name="x.csv", error=ParameterError, **arguments)


# --- ways on ----------------------------------------------------------------------------------------------------------


def test_what_is_offered_was_tried_and_shows_what_it_gives():
    text = f"Table 1\n{RECORDS.replace('C,22', 'C,D,22')}Source: INE\n"
    with pytest.raises(UnreadableError) as caught:
        read_file(text.encode(), name="x.csv")
    first = caught.value.offers[0]
    assert dict(first.reading) == {"skip_lines": 1, "skip_last": 1, "uneven": "mend"}
    reading = read_file(text.encode(), name="x.csv", **first.reading)
    assert first.preview.n_records == len(reading.frame) == 5
    assert first.preview.frame.equals(reading.frame.head(3))
    assert [notice.text for notice in first.preview.done] == [notice.text for notice in reading.done]
    (mended,) = (line for notice in reading.done for line in notice.lines if line.becomes)
    assert (mended.number, mended.text, mended.becomes) == (5, "C,D,22,300", "C,D | 22 | 300")
    # The lines that can be skipped are marked.
    assert [(line.number, line.marked) for line in caught.value.lines][:3] == [(1, True), (2, False), (3, False)]


def test_ways_of_a_long_file_are_tried_on_its_beginning_and_its_end():
    n = 60_000
    text = "Table 1\na,b\n" + "".join(f"{i},{i}\n" for i in range(n)) + "Total,5\nSource: INE\n"
    with pytest.raises(UnreadableError) as caught:
        read_file(text.encode(), name="x.csv")
    first = caught.value.offers[0]
    assert first.preview.n_records is None
    frame = read_csv(text, **first.reading)
    assert frame["a"].tolist() == list(range(n))


def test_quotes_within_cells_are_found_in_time():
    # Every other quote might end the cell.
    line = '"' + '""x"' * 20_000 + "y\n"
    with pytest.raises(UnreadableError):
        read_csv(f'a,b\n"1"z,2\n{line}', inner_quotes="plain")
