"""Files that are no tables, whatever their name says."""

import gzip
import io
import json
import pickle
import sqlite3
import zipfile

import pandas as pd
import pytest

from microagg.tables.reading import kind_of
from tests.cases import for_each
from tests.tables.common import fails, read_csv, xlsx


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
    "a gzip archive": gzip.compress(b"a,b\n1,2\n"),
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
