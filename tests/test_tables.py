"""Tables from and to files: what is read is what the file says, and every refusal says where and what to do."""

import datetime as dt
import io
import re
import struct
import sys
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from microagg import tables
from microagg.errors import DataError, ParameterError
from microagg.tables import (
    decimal_comma_columns,
    digest_array,
    digest_bytes,
    read_table,
    sheet_names,
    to_csv,
)


def read_csv(text, **options):
    data = text if isinstance(text, bytes) else text.encode()
    return read_table(data, name="x.csv", **options)


def xlsx(*sheets, titles=("Sheet",)):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in zip(titles, sheets, strict=True):
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    stream = io.BytesIO()
    book.save(stream)
    return stream.getvalue()


def parquet(table):
    stream = io.BytesIO()
    pq.write_table(table if isinstance(table, pa.Table) else pa.Table.from_pandas(table), stream)
    return stream.getvalue()


def fails(match, *args, error=DataError, **options):
    with pytest.raises(error, match=match) as caught:
        read_table(*args, **options)
    message = str(caught.value)
    # One plain sentence: no line break, one full stop, and advice after a colon.
    assert "\n" not in message
    assert message.endswith(".")
    assert ":" in message or error is ParameterError
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return message


# --- sources ---------------------------------------------------------------------------------------------------------


def test_path_bytes_and_file_agree(tmp_path):
    data = b"a,b\n1,x\n2,y\n"
    path = tmp_path / "t.CSV"
    path.write_bytes(data)
    with path.open("rb") as stream:
        stream.read()
        frames = [
            read_table(path),
            read_table(str(path)),
            read_table(data, name="t.csv"),
            read_table(stream),
            read_table(io.BytesIO(data), name="t.csv"),
        ]
    for frame in frames:
        pd.testing.assert_frame_equal(frame, frames[0])
    assert frames[0].to_dict("list") == {"a": [1, 2], "b": ["x", "y"]}
    assert frames[0].index.equals(pd.RangeIndex(2))


def test_no_file():
    fails("no file was chosen: choose a file", None)


def test_file_that_is_not_there(tmp_path):
    fails(r"there is no file .*absent\.csv", tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    fails(r"folder\.csv' is a folder", tmp_path / "folder.csv")


def test_bytes_need_a_name():
    fails("name must be the file's name", b"a\n1\n", error=ParameterError)
    fails("name must be the file's name", io.BytesIO(b"a\n1\n"), error=ParameterError)


def test_source_of_the_wrong_kind():
    fails("source must be a path, bytes or a binary file, not int", 5, error=ParameterError)
    fails("binary mode", io.StringIO("a\n1\n"), name="x.csv", error=ParameterError)


@pytest.mark.parametrize("name", ["x.doc", "x", "x.csv.gz", "x.json"])
def test_unknown_ending(name):
    message = fails(rf"what kind of file '{re.escape(name)}' is", b"a\n1\n", name=name)
    assert ".csv, .tsv, .txt, .parquet or .xlsx" in message


def test_old_excel_ending():
    fails(r"'x\.xls'.*save it as \.xlsx", b"\xd0\xcf\x11\xe0", name="x.xls")


def test_messages_name_no_folder():
    message = fails("empty", b"", name="/home/somebody/x.csv")
    assert "somebody" not in message


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt", "x.parquet", "x.xlsx"])
def test_zero_bytes(name):
    fails(rf"'{name}' is empty \(0 bytes\)", b"", name=name)


@pytest.mark.parametrize(
    ("data", "name", "match"),
    [
        (
            xlsx([["a"], [1]]),
            "x.csv",
            r"not a \.csv file but a zip archive or an Excel workbook: give it the ending \.xlsx",
        ),
        (parquet(pd.DataFrame({"a": [1]})), "x.csv", r"but a Parquet file: give it the ending \.parquet"),
        (xlsx([["a"], [1]]), "x.parquet", r"not a \.parquet file but a zip archive or an Excel workbook"),
        (b"\xd0\xcf\x11\xe0" + bytes(99), "x.xlsx", "old or password-protected Excel file"),
        (b"\x1f\x8b" + bytes(99), "x.csv", "a gzip archive: unpack it"),
        (b"a,b\n1,2\n", "x.xlsx", "not an Excel workbook"),
        (b"a,b\n1,2\n", "x.parquet", "not a Parquet file"),
    ],
)
def test_content_of_another_kind_than_the_name(data, name, match):
    fails(match, data, name=name)


def test_a_column_may_be_called_like_a_signature():
    assert list(read_csv("PAR1,PAR2\n1,2\n")) == ["PAR1", "PAR2"]


# --- text files ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["csv", "tsv", "txt"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
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


@pytest.mark.parametrize("delimiter", ["", ",,", '"', "\n"])
def test_impossible_delimiter(delimiter):
    fails("delimiter must be one character", b"a\n1\n", name="x.csv", delimiter=delimiter, error=ParameterError)


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
    # Padded measurements are numbers, and signed ones are no codes.
    frame = read_csv("t,s\n01.5,-05\n20.0,+07\n")
    assert frame["t"].tolist() == [1.5, 20.0]
    assert frame["s"].tolist() == [-5, 7]


def test_long_numbers_lose_no_digit():
    frame = read_csv(
        "i,f,u,big\n1234567890123456789,9007199254740993,18446744073709551615,123456789012345678901\n5,,1,7\n"
    )
    assert frame["i"].tolist() == [1234567890123456789, 5]
    assert frame["f"][0] == "9007199254740993"
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
    assert "latin-1" in message
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


# --- Parquet ---------------------------------------------------------------------------------------------------------


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


# --- Excel -----------------------------------------------------------------------------------------------------------


def test_xlsx_keeps_columns_and_rows():
    day = dt.datetime(2024, 5, 1)
    data = xlsx([["b", "a", "when", "ok"], [2, "x", day, True], [1.5, "NA", None, False], [None, "z", day, True]])
    frame = read_table(data, name="x.xlsx")
    assert list(frame) == ["b", "a", "when", "ok"]
    np.testing.assert_array_equal(frame["b"], [2, 1.5, np.nan])
    assert frame["a"].isna().tolist() == [False, True, False]
    assert frame["when"][0] == day
    assert frame["ok"].dtype == bool
    assert frame.index.equals(pd.RangeIndex(3))


def test_xlsx_blank_surroundings():
    rows = [[], [None, " a ", None, 2020, "NA"], [None, 1, 5, 2], [], [None, 3, 6, 4, 7], [None, ""], []]
    frame = read_table(xlsx(rows), name="x.xlsx")
    assert list(frame) == ["a", "column 3", "2020", "NA"]
    np.testing.assert_array_equal(frame["a"], [1, np.nan, 3])


def test_xlsx_sheets():
    data = xlsx([["a"], [1]], [["b"], [2]], titles=("first", "second"))
    assert sheet_names(data, name="x.xlsx") == ["first", "second"]
    assert list(read_table(data, name="x.xlsx")) == ["a"]
    assert list(read_table(data, name="x.xlsx", sheet="second")) == ["b"]
    fails("no sheet 'third': choose one of 'first', 'second'", data, name="x.xlsx", sheet="third", error=ParameterError)


def test_xlsx_refusals():
    fails("the sheet 'Sheet' of the file 'x.xlsx' is empty", xlsx([]), name="x.xlsx")
    fails("has a header but no records", xlsx([["a", "b"]]), name="x.xlsx")
    fails("'x.xlsx', the column name 'a' occurs more than once", xlsx([["a", "b", "a"], [1, 2, 3]]), name="x.xlsx")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("letter.txt", "no workbook")
    fails("not an Excel workbook, or a damaged one", stream.getvalue(), name="x.xlsx")
    with pytest.raises(DataError, match="not an Excel workbook"):
        sheet_names(b"PK\x03\x04", name="x.xlsx")
    fails("not an Excel workbook, or a damaged one", broken_sheet(b"<worksheet><sheetData><row"), name="x.xlsx")


def broken_sheet(xml):
    """Return a workbook whose only sheet consists of ``xml``."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(xlsx([["a"], [1]]))) as good, zipfile.ZipFile(stream, "w", 8) as bad:
        for member in good.namelist():
            bad.writestr(member, xml if member.endswith("sheet1.xml") else good.read(member))
    return stream.getvalue()


def test_xlsx_bomb_is_not_unpacked(monkeypatch):
    monkeypatch.setattr(tables.excel, "MAX_UNPACKED", 1_000_000)
    data = broken_sheet(b"<worksheet>" + b" " * 2_000_000)
    assert len(data) < 20_000
    fails("'x.xlsx' unpacks to 2 MB, over the limit of 1 MB", data, name="x.xlsx")


def test_xlsx_claims_about_its_size_are_not_believed():
    space = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    row = '<row r="{0}"><c r="{1}{0}"><v>1</v></c></row>'
    claim = f'<worksheet {space}><dimension ref="A1:XFD1048576"/><sheetData>{{}}</sheetData></worksheet>'
    small = claim.format(row.format(1, "A") + row.format(2, "A"))
    assert read_table(broken_sheet(small.encode()), name="x.xlsx").shape == (1, 1)
    wide = claim.format("".join(row.format(i, "XFD") for i in range(1, 30)))
    fails("sheet 'Sheet'.*more than 100,000 cells", broken_sheet(wide.encode()), name="x.xlsx", max_cells=100_000)
    tall = claim.format(row.format(1, "A") + row.format(1_000_000, "A"))
    fails("more than 100,000 cells", broken_sheet(tall.encode()), name="x.xlsx", max_cells=100_000)


@pytest.mark.parametrize(("package", "name"), [("pyarrow", "x.parquet"), ("openpyxl", "x.xlsx")])
def test_optional_packages(monkeypatch, package, name):
    data = parquet(pd.DataFrame({"a": [1]})) if package == "pyarrow" else xlsx([["a"], [1]])
    for module in [module for module in sys.modules if module.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    fails(rf"needs the package {package}: install microagg\[files\]", data, name=name)


# --- writing ---------------------------------------------------------------------------------------------------------


def test_floats_survive_to_the_last_bit():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, size=(20_000, 2), dtype=np.uint64).view(np.float64)
    bits[~np.isfinite(bits)] = 0.1
    bits[:6, 0] = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 2**53 + 2.0]
    frame = pd.DataFrame({"a": bits[:, 0], "b": bits[:, 1], "i": rng.integers(-(2**63), 2**63 - 1, size=20_000)})
    again = read_csv(to_csv(frame))
    for name in frame:
        assert again[name].to_numpy().tobytes() == frame[name].to_numpy().tobytes()


def test_round_trip_of_everything_else():
    frame = pd.DataFrame(
        {
            "text": ["plain", 'quo"te', "com,ma", "new\nline", "Łódź", " blank "],
            "gaps": [1.5, None, 2.0, None, None, 3.0],
            "flag": [True, False, True, True, False, False],
        }
    )
    pd.testing.assert_frame_equal(read_csv(to_csv(frame)), frame)
    single = pd.DataFrame({"only": [1.0, None, 3.0]})
    pd.testing.assert_frame_equal(read_csv(to_csv(single)), single)
    returns = pd.DataFrame({"text": ["a\rb", "c\r\nd", "e"], "n": [1, 2, 3]})
    pd.testing.assert_frame_equal(read_csv(to_csv(returns)), returns)


@pytest.mark.parametrize("start", list("=+-@\t\r"))
@pytest.mark.parametrize("dtype", ["str", "object", "category"])
def test_formulas_are_disarmed_in_text(start, dtype):
    frame = pd.DataFrame({"t": pd.Series([f"{start}1+1", "a=b", "", None], dtype=dtype)})
    before = frame.copy()
    text = to_csv(frame)
    assert f"'{start}1+1" in text
    assert "'a=b" not in text
    pd.testing.assert_frame_equal(frame, before)


def test_numbers_are_never_disarmed():
    frame = pd.DataFrame({"f": [-1.5, 2.0], "i": [-1, 2], "mixed": [-3, "-4"], "c": pd.Categorical([-7, 7])})
    assert to_csv(frame) == "f,i,mixed,c\n-1.5,-1,-3,-7\n2.0,2,-4,7\n"


def test_names_are_disarmed():
    assert to_csv(pd.DataFrame({"=cmd()": [1], "@x": [2], 7: [3]})) == "'=cmd(),'@x,7\n1,2,3\n"


def test_index_only_with_a_name():
    assert to_csv(pd.DataFrame({"a": [1]}, index=["x"])) == "a\n1\n"
    assert to_csv(pd.DataFrame({"a": [1]}, index=pd.Index(["=x"], name="key"))) == "key,a\n'=x,1\n"


def test_equal_names_and_wide_frames_can_be_written():
    assert to_csv(pd.DataFrame([[1, "=x"]], columns=["a", "a"])) == "a,a\n1,'=x\n"
    wide = pd.DataFrame({f"c{j}": ["x"] for j in range(300)})
    assert to_csv(wide).count("x") == 300


# --- digests ---------------------------------------------------------------------------------------------------------


def test_digest_of_bytes():
    assert digest_bytes(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


def test_digest_of_arrays():
    X = np.arange(12.0).reshape(4, 3)
    assert digest_array(X) == digest_array(X.copy(order="F")) == digest_array(X.tolist())
    others = [X.reshape(3, 4), X.astype(np.float32), X + 1e-9, X[:0], X.ravel(), X.astype("M8[D]")]
    assert len({digest_array(other) for other in [X, *others]}) == 7
    assert digest_array(np.float64(1.5)) != digest_array(np.float64(2.5))
    with pytest.raises(ParameterError, match="array of numbers"):
        digest_array(np.array(["a", None], dtype=object))
