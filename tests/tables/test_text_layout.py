"""Text files that are more than a header and records: titles, comments, units, notes; what is offered, and works."""

import pytest

from microagg.errors import ParameterError
from microagg.tables import UnreadableError, read_file
from tests.tables.common import fails, read_csv

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
    message, [offer, other] = refused(text)
    assert "titles above the header" in message
    assert read_csv(text, **other).shape[1] == 1
    # Blank lines before the header are skipped anyway.
    assert lines - 1 <= offer["skip_lines"] <= lines
    assert read_csv(text, **offer).to_dict("list") == TABLE
    assert read_csv(text, skip_lines=lines).to_dict("list") == TABLE


def test_titles_above_text_only():
    text = "Towns\nname;town\nA;Rome\nB;Paris\n"
    _, [offer, _] = refused(text)
    assert read_csv(text, **offer).to_dict("list") == {"name": ["A", "B"], "town": ["Rome", "Paris"]}
    # One comma in each line may be part of the text.
    assert read_csv("address\nRome, Italy\nParis, France\n").shape == (2, 1)


def test_titles_and_notes_are_offered_together():
    text = f"Table 1\n{RECORDS}Source: INE\nNotes: none\n"
    _, [offer, _] = refused(text)
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
    message, [offer] = refused(text)
    assert f"begin with '{mark}'" in message
    assert offer == {"comment": mark}
    assert read_csv(text, **offer).to_dict("list") == TABLE


def test_comments_between_records_and_above_one_column():
    text = RECORDS.replace("C,22", "# half\nC,22")
    assert refused(text)[1] == [{"comment": "#"}]
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


# --- below the header -------------------------------------------------------------------------------------------------


def test_a_row_of_units_is_said():
    text = "name,weight,age\n,kg,years\nA,70,31\nB,80.5,45\nC,65,22\n"
    notice, [offer] = said(text)
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
    message, [offer] = refused(text)
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
        assert read_csv(text, **offers[1]).shape == (2, 1)


@pytest.mark.parametrize("first", ["sep=;", '"sep=;"', "SEP=;"])
def test_a_file_may_declare_its_delimiter(first):
    reading = read_file(f"{first}\r\na;b\r\n1;x,y\r\n2;z\r\n".encode(), name="x.csv")
    assert reading.frame.to_dict("list") == {"a": [1, 2], "b": ["x,y", "z"]}
    assert reading.notices == ()
    fails("line 4 of", f"{first}\na;b\n1;2\n3\n4;5\n".encode(), name="x.csv")


def test_columns_of_fixed_width_are_refused():
    text = "name        age city\nJohn Smith   34 New York\nMary         27 Rome\nBob Dylan    27 Rome\n"
    message, [offer] = refused(text)
    assert "fixed width" in message
    assert read_csv(text, **offer).shape == (3, 1)


def test_single_quotes():
    for text in ("a,b\n'x, y',1\n'z',2\n", "'a','b'\n'x',1\n'z',2\n"):
        message, [offer] = refused(text)
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
    fails("after line 1, because of a cell of more than 131,072", b"a,b\n" + b"x" * 200_000 + b",2\n", name="x.csv")


def test_very_many_columns():
    names = [f"c{j}" for j in range(20_001)]
    fails("more than 20,000 columns", ",".join(names).encode() + b"\n1\n", name="x.csv")
    values = [str(j) for j in range(20_000)]
    frame = read_csv(",".join(names[:-1]) + "\n" + ",".join(values) + "\n")
    assert frame.iloc[0].tolist() == list(range(20_000))
    fails("a line of the file has 1,000,000 fields", b"a,b\n" + b"1," * 1_000_000, name="x.csv")


@pytest.mark.parametrize(
    ("argument", "value"),
    [("skip_lines", -1), ("skip_last", 1.5), ("skip_lines", True), ("comment", ""), ("quote", "“")],
)
def test_impossible_arguments(argument, value):
    fails(f"{argument} must be", b"a\n1\n", name="x.csv", error=ParameterError, **{argument: value})
