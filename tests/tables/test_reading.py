"""Where a table comes from, and what kind of file it is."""

import io
import re
import sys

import pandas as pd
import pytest

from microagg.errors import ParameterError
from microagg.tables import read_table, write_table
from tests.tables.common import fails, parquet, read_csv, xlsx


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
    assert ".csv, .tsv, .txt, .parquet, .xlsx, .dta, .sav or .zsav" in message


def test_old_excel_ending():
    fails(r"'x\.xls'.*save it as \.xlsx", b"\xd0\xcf\x11\xe0", name="x.xls")


def test_messages_name_no_folder():
    message = fails("empty", b"", name="/home/somebody/x.csv")
    assert "somebody" not in message


@pytest.mark.parametrize("name", ["x.csv", "x.tsv", "x.txt", "x.parquet", "x.xlsx", "x.dta", "x.sav"])
def test_zero_bytes(name):
    fails(rf"'{name}' is empty \(0 bytes\)", b"", name=name)


@pytest.mark.parametrize(
    ("data", "name", "match"),
    [
        (
            xlsx([["a"], [1]]),
            "x.csv",
            r"not a \.csv file but an Excel workbook: give it the ending \.xlsx",
        ),
        (parquet(pd.DataFrame({"a": [1]})), "x.csv", r"but a Parquet file: give it the ending \.parquet"),
        (xlsx([["a"], [1]]), "x.parquet", r"not a \.parquet file but an Excel workbook"),
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


@pytest.mark.parametrize(
    ("package", "extra", "name"),
    [
        ("pyarrow", "files", "x.parquet"),
        ("openpyxl", "files", "x.xlsx"),
        ("pyreadstat", "statistics", "x.sav"),
        ("pyreadstat", "statistics", "x.dta"),
    ],
)
def test_optional_packages(monkeypatch, package, extra, name):
    data = write_table(pd.DataFrame({"a": [1]}), name)
    for module in [module for module in sys.modules if module.split(".")[0] == package]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, package, None)
    fails(rf"needs the package {package}: install microagg\[{extra}\]", data, name=name)


def test_half_a_character_in_a_name():
    fails(
        r"column name 'a\\ud800' holds half a character",
        rb"a\ud800,b\n1,2",
        name="x.csv",
        encoding="raw_unicode_escape",
    )
