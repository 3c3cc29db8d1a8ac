"""Text files: delimiters, quotes, encodings, and what their columns become."""

import numpy as np
import pandas as pd
import pytest

from microagg.errors import ParameterError
from microagg.tables import UnreadableError, decimal_comma_columns, read_file, read_table
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
        rf"line {line} of the file 'x.csv' has {width}.*the header has [23] fields: lines that do not fit can be",
        text.encode(),
        name="x.csv",
    )


def test_header_without_the_row_numbers():
    data = b"a,b\n1,10,x\n2,20,y\n"
    fails(
        "line 2 of the file 'x.csv' has 3 fields, but the header has 2.*the first column may have no name",
        data,
        name="x.csv",
    )


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


RECORDS = "name,age,income\nA,31,100\nB,45,200\nC,22,300\nD,50,400\nE,61,500\n"
TABLE = {"name": list("ABCDE"), "age": [31, 45, 22, 50, 61], "income": [100, 200, 300, 400, 500]}


def refused(text, **options):
    """Return what is said of a file that is not read, and the arguments that are offered."""
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(UnreadableError) as caught:
        read_file(data, name="x.csv", **options)
    return str(caught.value), [dict(offer.reading) for offer in caught.value.offers]


def said(text, **options):
    """Return the notice of a file about which there is one thing to say, and the arguments that are offered."""
    [notice] = read_file(text.encode(), name="x.csv", **options).notices
    return notice, [dict(offer.reading) for offer in notice.offers]


def test_the_table_itself_is_read_without_a_word():
    reading = read_file(RECORDS.encode(), name="x.csv")
    assert reading.frame.to_dict("list") == TABLE
    assert reading.notices == ()


# --- above the header -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("above", "lines"),
    [
        ("Table 1: persons\n", 1),
        ("Table 1: persons\n\n", 1 + 1),
        ("\n\nTable 1\nSource: INE, 2020\n\n", 5),
        ("Table 1\r\nof two\r\n", 2),
    ],
)
def test_titles_are_offered_to_be_skipped(above, lines):
    text = above + RECORDS
    message, [offer, other, *_] = refused(text)
    assert "titles above the header" in message
    assert read_csv(text, **other).shape[1] == 1
    # Blank lines before the header are skipped anyway.
    assert lines - 1 <= offer["skip_lines"] <= lines
    assert read_csv(text, **offer).to_dict("list") == TABLE
    assert read_csv(text, skip_lines=lines).to_dict("list") == TABLE


def test_titles_above_text_only():
    text = "Towns\nname;town\nA;Rome\nB;Paris\n"
    _, [offer, *_] = refused(text)
    assert read_csv(text, **offer).to_dict("list") == {"name": ["A", "B"], "town": ["Rome", "Paris"]}
    # One comma in each line may be part of the text.
    assert read_csv("address\nRome, Italy\nParis, France\n").shape == (2, 1)


def test_titles_and_notes_are_offered_together():
    text = f"Table 1\n{RECORDS}Source: INE\nNotes: none\n"
    _, [offer, *_] = refused(text)
    assert offer == {"skip_lines": 1, "skip_last": 2}
    assert read_csv(text, **offer).to_dict("list") == TABLE


def test_a_title_padded_with_delimiters_is_said():
    text = f"Persons in 2020,,\n,,\n{RECORDS}"
    notice, [offer] = said(text)
    assert (notice.code, notice.example) == ("title-row", "Persons in 2020")
    assert offer == {"skip_lines": 2}
    assert read_csv(text, **offer).to_dict("list") == TABLE


@pytest.mark.parametrize("mark", ["#", "%", "//"])
def test_comments_are_offered_to_be_left_out(mark):
    text = f"{mark} made by a program, in 2020\n{mark} twice\n{RECORDS}{mark} end\n"
    message, [offer, *_] = refused(text)
    assert f"begin with '{mark}'" in message
    assert offer == {"comment": mark}
    assert read_csv(text, **offer).to_dict("list") == TABLE


def test_comments_between_records_and_above_one_column():
    text = RECORDS.replace("C,22", "# half\nC,22")
    assert refused(text)[1][0] == {"comment": "#"}
    assert read_csv(text, comment="#").to_dict("list") == TABLE
    notice, [offer] = said("# weights\nage\n31\n45\n22\n")
    assert (notice.code, offer) == ("comment-lines", {"comment": "#"})
    assert read_csv("# weights\nage\n31\n45\n22\n", **offer)["age"].tolist() == [31, 45, 22]
    # A sharp in a name is no comment.
    assert list(read_csv("#id,age\n1,31\n2,45\n")) == ["#id", "age"]


@pytest.mark.parametrize("text", ["31,1.5\n45,2.5\n12,3\n", "31\n45\n12\n", "5.1,3.5,setosa\n4.9,3.0,virginica\n"])
def test_a_header_that_looks_like_data_is_asked_for(text):
    message, offers = refused(text)
    assert "looks like data" in message
    assert offers == [{"header": False}, {"header": True}]
    lines = text.splitlines()
    frame = read_csv(text, header=False)
    assert len(frame) == len(lines)
    assert list(frame) == [f"column {j + 1}" for j in range(lines[0].count(",") + 1)]
    assert list(read_csv(text, header=True)) == lines[0].split(",")


@pytest.mark.parametrize("header", ["0,1,2", ",0,1", "2019,2020,2021", "country,2019,2020", "a,b,c"])
def test_numbers_that_may_well_be_names(header):
    frame = read_csv(f"{header}\n4,5.5,6\n7,8,9\n")
    assert [name for name in frame if not name.startswith("column")] == [name for name in header.split(",") if name]


def test_a_repeated_header_is_refused():
    fails("repeats its header", (RECORDS + RECORDS).encode(), name="x.csv")


def test_a_header_repeated_with_another_delimiter():
    text = "a;b\n1,5;2\n2,5;3\n\na,b\n1,2\n3,4\n"
    _, [offer, *_] = refused(text)
    assert offer == {"uneven": "mend", "repeated_header": True, "decimal": ","}
    assert read_csv(text, **offer).to_dict("list") == {"a": [1.5, 2.5, 1, 3], "b": [2, 3, 2, 4]}


def test_blank_lines_below_a_title_are_no_records_of_several_columns():
    frame = read_csv("Title\n\nA,1\nB,2\nC,3\nD\n", delimiter=",", unnamed="last", uneven="mend")
    assert frame.iloc[:, 0].tolist() == ["A", "B", "C", "D"]


def test_a_whole_number_beyond_floats_beside_a_decimal():
    frame = read_csv(f"a\n{'9' * 400}\n1.5\n")
    assert frame["a"].tolist() == ["9" * 400, "1.5"]


# --- below the header -------------------------------------------------------------------------------------------------


def test_a_row_of_units_is_said():
    text = "name,weight,age\n,kg,years\nA,70,31\nB,80.5,45\nC,65,22\n"
    notice, [offer, join] = said(text)
    assert join == {"header_lines": 2}
    assert (notice.code, notice.column, notice.example) == ("units-row", "weight", "kg")
    assert "1 more" in notice.text
    assert offer == {"units_row": True}
    frame = read_csv(text, **offer)
    assert frame["weight"].tolist() == [70, 80.5, 65]
    assert frame["age"].tolist() == [31, 45, 22]
    # A first record with a number is a record.
    assert read_file(b"w,age\nkg,3\n70,31\n80,45\n", name="x.csv").notices == ()


@pytest.mark.parametrize(
    ("end", "count", "example"),
    [
        ("Total,209,1500\n", 1, "Total"),
        ("Summe,209,1500\n", 1, "Summe"),
        ("Source: INE,,\n", 1, "Source: INE"),
        (",,\n,,\n,,\n", 3, ""),
        (",,\nNote: all,,\n", 2, "Note: all"),
    ],
)
def test_totals_notes_and_empty_records_at_the_end_are_said(end, count, example):
    table = RECORDS + "F,3,4\nG,5,6\n"
    notice, [offer] = said(table + end)
    assert (notice.code, notice.count, notice.example) == ("last-records", count, example)
    assert offer == {"skip_last": count}
    assert read_csv(table + end, **offer).equals(read_csv(table))


def test_notes_of_another_width_are_offered_to_be_left_out():
    text = f"{RECORDS}\nSource: INE\nas of 2020\n"
    message, [offer, *_] = refused(text)
    assert "line 8 of the file 'x.csv' has 1 field" in message
    assert "cut off" in message
    assert offer == {"skip_last": 2}
    assert read_csv(text, **offer).to_dict("list") == TABLE


def test_skipping_what_is_not_there():
    fails("nothing after the lines that are skipped", b"a,b\n1,2\n", name="x.csv", skip_lines=5)
    fails("has a header but no records", b"a,b\n1,2\n", name="x.csv", skip_last=5)
    fails("has a header but no records", b"a,b\n1,2\n", name="x.csv", units_row=True)


def test_leaving_out_the_last_records_of_a_long_file():
    n = 30_000
    text = "a,b\n" + "".join(f"{i},{i}\n" for i in range(n)) + "x\n"
    frame = read_csv(text, skip_last=1)
    assert frame["a"].tolist() == list(range(n))


# --- fields -----------------------------------------------------------------------------------------------------------


def test_blanks_between_fields_are_offered():
    for text in (
        "name age\nJo 34\nMary 27\n",
        "name   age\nJo      34\nMary    27   \n",
        "  name age\n  Jo  34\n  Mary 27\n",
    ):
        message, offers = refused(text)
        assert "choose space as the delimiter" in message
        assert offers[0] == {"delimiter": " "}
        assert read_csv(text, **offers[0]).to_dict("list") == {"name": ["Jo", "Mary"], "age": [34, 27]}
        assert read_csv(text, **offers[-1]).shape == (2, 1)


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_file_may_declare_its_delimiter(first):
    reading = read_file(f"{first}\r\na;b\r\n1;x,y\r\n2;z\r\n".encode(), name="x.csv")
    assert reading.frame.to_dict("list") == {"a": [1, 2], "b": ["x,y", "z"]}
    assert reading.notices == ()
    fails("line 4 of", f"{first}\na;b\n1;2\n3\n4;5\n".encode(), name="x.csv")


def test_columns_of_fixed_width_are_offered():
    text = "name        age city\nJohn Smith   34 New York\nMary         27 Rome\nBob Dylan    27 Rome\n"
    message, [offer, *_, one] = refused(text)
    assert "fixed width" in message
    assert read_csv(text, **offer)["city"].tolist() == ["New York", "Rome", "Rome"]
    assert read_csv(text, **one).shape == (3, 1)


def test_single_quotes():
    for text in ("a,b\n'x, y',1\n'z',2\n", "'a','b'\n'x',1\n'z',2\n"):
        message, [offer, *_] = refused(text)
        assert "single quotes" in message
        assert offer == {"quote": "'"}
        assert list(read_csv(text, **offer)) == ["a", "b"]
    assert read_csv("a,b\n'x, y',1\n'z',2\n", quote="'")["a"].tolist() == ["x, y", "z"]
    fails("typographic quotes", "“a”,“b”\n“x”,1\n".encode(), name="x.csv")
    # Apostrophes are no quotes.
    assert read_csv("a,b\nit's,1\n'tis,2\n")["a"].tolist() == ["it's", "'tis"]


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n"])
def test_line_ends(end):
    assert read_csv(RECORDS.replace("\n", end)).to_dict("list") == TABLE
    assert read_csv("a,b\r\n1,2\n3,4\r5,6\n")["a"].tolist() == [1, 3, 5]


# --- bounds -----------------------------------------------------------------------------------------------------------


def test_long_names_and_cells():
    fails(
        "the column name that begins with 'xxxxxxxxxxxxxxxxxxxx' has 100,00",
        b"x" * 100_000 + b",b\n1,2\n",
        name="x.csv",
    )
    assert read_csv("a,b\n" + "x" * 100_000 + ",2\n")["a"].str.len().tolist() == [100_000]
    assert read_csv("a,b\n" + "x" * 200_000 + ",2\n")["a"].str.len().tolist() == [200_000]


def test_very_many_columns():
    names = [f"c{j}" for j in range(20_001)]
    fails("more than 20,000 columns", ",".join(names).encode() + b"\n1\n", name="x.csv")
    values = [str(j) for j in range(20_000)]
    frame = read_csv(",".join(names[:-1]) + "\n" + ",".join(values) + "\n")
    assert frame.iloc[0].tolist() == list(range(20_000))
    fails("a line of the file has 1,000,000 fields", b"a,b\n" + b"1," * 1_000_000, name="x.csv")


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("skip_lines", -1),
        ("skip_last", 1.5),
        ("skip_lines", True),
        ("comment", ""),
        ("quote", "“"),
        ("header_lines", 0),
    ],
)
def test_impossible_arguments(argument, value):
    fails(f"{argument} must be", b"a\n1\n", name="x.csv", error=ParameterError, **{argument: value})


@pytest.mark.parametrize("argument", ["inner_quotes", "unnamed", "uneven", "delimiter"])
def test_words_that_are_none_of_those_that_are_known(argument):
    fails(f"{argument} must be one", b"a,b\n1,2\n", name="x.csv", error=ParameterError, **{argument: "some"})


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


def test_numbers_choose_the_cell_that_holds_delimiters():
    text = "who,age,town\nA,31,Rome\nB,45,Oslo\nC,D,22,Lyon\nE,50,Rome, Italy\nF,61\nG;30;Bern\n"
    frame = read_csv(text, uneven="mend")
    assert frame.iloc[2].tolist() == ["C,D", 22, "Lyon"]
    assert frame.iloc[3].tolist() == ["E", 50, "Rome, Italy"]
    assert frame.iloc[4, :2].tolist() == ["F", 61]
    assert pd.isna(frame.iloc[4, 2])
    assert frame.iloc[5].tolist() == ["G", 30, "Bern"]
    assert len(read_csv(text, uneven="drop")) == 2
