"""Where a table comes from, and what kind of file it is."""

import gzip
import io
import json
import pickle
import re
import sqlite3
import sys
import zipfile
import zlib

import pandas as pd
import pytest

from microagg.errors import ParameterError
from microagg.tables import read_table, write_table
from microagg.tables.reading import kind_of
from tests.cases import for_each
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


def large_archive():
    """Return the beginning of a gzip archive of one part, 1 GB of zeros: a block that needs no other, repeated."""
    compress = zlib.compressobj(wbits=-15)
    block = compress.compress(bytes(10**7)) + compress.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(7) + 100 * block


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
        (b"\x1f\x8b" + bytes(99), "x.csv", "a gzip archive that is damaged or cut off"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "x.csv.gz", "a gzip archive that is damaged or cut off"),
        (large_archive(), "x.csv.gz", "would take at least"),
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


def archive(*names):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as opened:
        for name in names:
            opened.writestr(name, "text")
    return stream.getvalue()


def database():
    connection = sqlite3.connect(":memory:")
    connection.execute("create table t (a int)")
    return connection.serialize()


KINDS = {
    "a PNG image": b"\x89PNG\r\n\x1a\n" + bytes(40),
    "a JPEG image": b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(40),
    "a GIF image": b"GIF89a" + bytes(40),
    "a PDF document": b"%PDF-1.7\n%\xe2\xe3\n1 0 obj\n",
    "an RTF document": b"{\\rtf1\\ansi a,b}",
    "an SQLite database": database(),
    "a gzip archive": gzip.compress(gzip.compress(b"a,b\n1,2\n")),
    "a zip archive": archive("a.csv"),
    "a Word document": archive("[Content_Types].xml", "word/document.xml"),
    "an OpenDocument file": archive("mimetype", "content.xml"),
    "an Excel workbook": xlsx([["a"], [1]]),
    "an old or password-protected Excel file": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(40),
    "a damaged zip archive or Excel workbook": xlsx([["a"], [1]])[:200],
    "a pointer of Git LFS": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "a pickle of Python": pickle.dumps(pd.DataFrame({"a": [1]})),
    "a web page": b"\n <!DOCTYPE html>\n<html><body>404, not found</body></html>",
    "an XML file": b'\xef\xbb\xbf<?xml version="1.0"?><rows><row a="1"/></rows>',
    "a JSON file": json.dumps([{"a": 1, "b": 2}], indent=1).encode(),
}


@for_each("name", KINDS)
@for_each("ending", ["csv", "tsv", "txt"])
def test_what_is_no_text_is_said_to_be_that(name, ending):
    fails(rf"the file 'x\.{ending}' is not a \.{ending} file but {name}", KINDS[name], name=f"x.{ending}")


def test_an_archive_of_a_version_to_come():
    data = bytearray(xlsx([["a"], [1]]))
    data[data.index(b"PK\1\2") + 6] = 100
    fails("the file 'x.xlsx' is not an Excel workbook, or a damaged one", bytes(data), name="x.xlsx")
    fails("is not a .csv file but a damaged zip archive or Excel workbook", bytes(data), name="x.csv")


def test_other_kinds_of_json():
    for data in (b'{"a": [1, 2]}', b"[[1, 2], [3, 4]]", b"{}", b'  {\n "a" : 1}', b"[]"):
        fails("a JSON file", data, name="x.csv")


@pytest.mark.parametrize(
    "text",
    [
        "[a],b\n1,2\n",
        "{a},b\n1,2\n",
        "<html>,b\n1,2\n"[6:],
        "<5,b\n1,2\n",
        "BZ,b\n1,2\n",
        "GIF,b\n1,2\n",
        "MZ,b\n1,2\n",
        "version,b\n1,2\n",
        "PK,b\n1,2\n",
    ],
)
def test_text_that_begins_like_another_file(text):
    assert kind_of(text.encode()) is None
    assert len(read_csv(text, header=True)) == 1
