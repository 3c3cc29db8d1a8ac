"""Text files: delimiters, quotes, encodings, and what their columns become."""

import numpy as np
import pandas as pd
import pytest

from microagg.errors import ParameterError
from microagg.tables import decimal_comma_columns, read_table
from tests.cases import for_each
from tests.tables.common import fails, read_csv


@for_each("ending", ["csv", "tsv", "txt"])
@for_each("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_found(delimiter, ending):
    text = delimiter.join(["age", "name", "income"]) + "\n" + delimiter.join(["31", '"a,b;c|d\te"', "1.5"]) + "\n"
    frame = read_table(text.encode(), name=f"x.{ending}")
    assert frame.to_dict("list") == {"age": [31], "name": ["a,b;c|d\te"], "income": [1.5]}


def test_semicolons_with_decimal_commas():
    text = "a;b;c\n1,5;2,5;x\n-3,25;1e3;y\n"
    frame = read_csv(text)
    assert frame["a"].tolist() == ["1,5", "-3,25"]
    assert decimal_comma_columns(frame) == ["a"]
    again = read_csv(text, decimal=",")
    assert again["a"].tolist() == [1.5, -3.25]
    assert again["b"].tolist() == [2.5, 1000.0]
    assert decimal_comma_columns(again) == []
    # Both delimiters divide header and lines alike: the comma is the decimal mark then.
    assert list(read_csv("income, net;age\n1,5;30\n2,5;40\n")) == ["income, net", "age"]


def test_one_column():
    assert read_csv("value\n1\n2\n").to_dict("list") == {"value": [1, 2]}
    # The commas do not divide the header, so they divide nothing.
    frame = read_csv("value\n3,14\n2,72\n")
    assert frame["value"].tolist() == ["3,14", "2,72"]
    assert decimal_comma_columns(frame) == ["value"]
    assert read_csv("name\nJo Ann\nMary Lou\n").shape == (2, 1)
    assert read_csv("first name\nJo Ann\nMary Lou\n").shape == (2, 1)


def test_wrong_delimiter_given():
    message = fails("divided by ',', the file 'x.csv' has only one column", b"a;b\n1;2\n", name="x.csv", delimiter=",")
    assert "choose ';' as the delimiter" in message
    fails("choose tab as the delimiter", b"a\tb\n1\t2\n", name="x.csv", delimiter=";")
    # Here the wrong delimiter makes lines of different lengths.
    fails("choose ';' as the delimiter, which divides", b"a;b\n1,5;2\n3;4\n", name="x.csv", delimiter=",")


@pytest.mark.parametrize(("rare", "spoken"), [(":", "':'"), ("^", r"'\^'"), (" ", "space")])
def test_rare_delimiter_is_named_but_not_chosen(rare, spoken):
    data = f"a{rare}b\n1{rare}2\n3{rare}4\n".encode()
    fails(f"choose {spoken} as the delimiter", data, name="x.csv")
    assert read_table(data, name="x.csv", delimiter=rare).to_dict("list") == {"a": [1, 3], "b": [2, 4]}


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n", 1])
def test_impossible_delimiter(delimiter):
    fails("delimiter must be one character", b"a\n1\n", name="x.csv", delimiter=delimiter, error=ParameterError)


def test_a_delimiter_is_no_quote():
    message = "delimiter must be one character"
    fails(message, b"a\n1\n", name="x.csv", delimiter="'", quote="'", error=ParameterError)


def test_impossible_decimal():
    fails("decimal must be '.' or ','", b"a\n1\n", name="x.csv", decimal="·", error=ParameterError)


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
        rf"line {line} of the file 'x.csv' has {width}.*the header has [23] fields: check", text.encode(), name="x.csv"
    )


def test_header_without_the_row_numbers():
    data = b"a,b\n1,10,x\n2,20,y\n"
    fails("line 2 of the file 'x.csv' has 3 fields, but the header has 2.*missing column name", data, name="x.csv")


@pytest.mark.parametrize("text", ["a,b\n", "a,b", "a;b\n\n\n", "a\n", "a,a b"])
def test_header_only(text):
    fails("'x.csv' has a header but no records", text.encode(), name="x.csv")


@pytest.mark.parametrize("text", ["\n", " \n\r\n  ", "\ufeff\n"])
def test_blank(text):
    fails("'x.csv' holds blank lines only", text.encode(), name="x.csv")


def test_duplicate_names():
    fails("in the file 'x.csv', the column name 'a' occurs more than once", b"a,b,a\n1,2,3\n", name="x.csv")
    fails("the column name 'a' occurs more than once", b"a, a\n1,2\n", name="x.csv")
    # What pandas renames a second 'a' to is a name like any other.
    assert list(read_csv("a,a.1\n1,2\n")) == ["a", "a.1"]


def test_names_are_trimmed_and_empty_ones_numbered():
    frame = read_csv(',"", age , x\n1,2,3,4\n')
    assert list(frame) == ["column 1", "column 2", "age", "x"]
    assert frame.index.equals(pd.RangeIndex(1))
    fails("the column name 'column 2' occurs more than once", b"column 2,\n1,2\n", name="x.csv")


def test_rows_and_columns_are_all_kept_in_order():
    frame = read_csv("z,y,x,\n3,,1,\n1,,2,\n2,,3,\n")
    assert list(frame) == ["z", "y", "x", "column 4"]
    assert frame["z"].tolist() == [3, 1, 2]
    assert frame["y"].isna().all()


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


def test_missing_values():
    frame = read_csv("a,b\nNA,None\n1.5,\nnan,NA\n#N/A,n\n")
    np.testing.assert_array_equal(frame["a"], [np.nan, 1.5, np.nan, np.nan])
    assert frame["b"].isna().tolist() == [False, True, True, False]
    assert frame["b"][0] == "None"


def test_codes_keep_their_zeros():
    frame = read_csv('plz,n,x,y,gap\n01067,1,0.5,0,"07"\n80331,2,10,10,\n')
    assert frame["plz"].tolist() == ["01067", "80331"]
    assert frame["gap"][0] == "07"
    assert frame["gap"].isna().tolist() == [False, True]
    assert [frame[name].dtype.kind for name in ("n", "x", "y")] == ["i", "f", "i"]
    frame = read_csv("t,s\n01.5,-05\n20.0,7\n")
    assert frame["t"].tolist() == ["01.5", "20.0"]
    assert frame["s"].tolist() == ["-05", "7"]


def test_long_numbers_lose_no_digit():
    frame = read_csv(
        "i,f,u,big\n1234567890123456789,9007199254740993,18446744073709551615,123456789012345678901\n5,,1,7\n"
    )
    assert frame["i"].tolist() == [1234567890123456789, 5]
    assert frame["f"][0] == 9007199254740993
    assert frame["u"].tolist() == [18446744073709551615, 1]
    assert str(frame["big"][0]) == "123456789012345678901"


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


@pytest.mark.parametrize("encoding", ["klingon", "zlib", "hex"])
def test_unknown_encoding(encoding):
    fails("there is no text encoding", b"a\n1\n", name="x.csv", encoding=encoding, error=ParameterError)


def test_too_many_cells_in_text():
    data = b"a,b\n" + b"1,2\n" * 100
    assert len(read_table(data, name="x.csv", max_cells=200)) == 100
    fails("at least 100 records with 2 columns, over the limit of 198 cells", data, name="x.csv", max_cells=198)


def test_decimal_comma_hint_stays_silent_where_it_would_mislead():
    frame = pd.DataFrame(
        {
            "thousands": ["1,234", "5,678"],
            "mixed": ["1,5", "x"],
            "text": ["a", "b"],
            "number": [1.5, 2.0],
            "whole": ["1", "2"],
            "objects": [1, "1,5"],
            "yes": ["0,123", "1,234"],
            "gaps": ["3,14", None],
        }
    )
    assert decimal_comma_columns(frame) == ["yes", "gaps"]
