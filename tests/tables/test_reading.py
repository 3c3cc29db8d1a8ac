"""Where a table comes from, and what kind of file it is."""

import gzip
import io
import re
import sys
import zlib

import pandas as pd
import pytest

from microagg.errors import ParameterError
from microagg.tables import ENDINGS, read_table, write_table
from microagg.tables.reading import kind_of
from tests.cases import for_each
from tests.tables.common import fails, parquet, read_csv, xlsx


def test_path_bytes_and_file_agree(tmp_path):
    data = b"a,b\n1,x\n2,y\n"
    path = tmp_path / "t.CSV"
    path.write_bytes(data)
    expected = pd.DataFrame({"a": [1, 2], "b": ["x", "y"]})
    with path.open("rb") as stream:
        stream.read()
        for source in (path, str(path), stream):
            pd.testing.assert_frame_equal(read_table(source), expected)
    for source in (data, io.BytesIO(data)):
        pd.testing.assert_frame_equal(read_table(source, name="t.csv"), expected)


def test_sources_that_are_no_files(tmp_path):
    fails("no file was chosen: choose a file", None)
    fails(r"there is no file .*absent\.csv", tmp_path / "absent.csv")
    (tmp_path / "folder.csv").mkdir()
    fails(r"folder\.csv' is a folder", tmp_path / "folder.csv")
    fails("name must be the file's name", b"a\n1\n", error=ParameterError)
    fails("name must be the file's name", io.BytesIO(b"a\n1\n"), error=ParameterError)
    fails("source must be a path, bytes or a binary file, not int", 5, error=ParameterError)
    fails("binary mode", io.StringIO("a\n1\n"), name="x.csv", error=ParameterError)


@for_each("name", ["x.doc", "x", "x.csv.gz", "x.json", "x.xls", "x.xlsm", "x.xlsb", "x.ods"])
def test_unknown_ending(name):
    data = b"\xd0\xcf\x11\xe0" if name == "x.xls" else b"a\n1\n"
    message = fails(rf"what kind of file '{re.escape(name)}' is", data, name=name)
    assert message.endswith("so save it as .xlsx." if name[:4] in ("x.xl", "x.od") else "so rename or convert it.")
    assert ".csv, .tsv, .txt, .parquet, .xlsx, .dta, .sav or .zsav" in message


@for_each("ending", ENDINGS)
def test_zero_bytes_in_a_folder_that_is_not_named(ending):
    message = fails(rf"'x{ending}' is empty \(0 bytes\)", b"", name=f"/home/somebody/x{ending}")
    assert "somebody" not in message


def large_archive():
    """Return the beginning of a gzip archive of one part, 1 GB of zeros: a block that needs no other, repeated."""
    compress = zlib.compressobj(wbits=-15)
    block = compress.compress(bytes(10**7)) + compress.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08" + bytes(7) + 100 * block


def of_a_version_to_come():
    data = bytearray(WORKBOOK)
    data[data.index(b"PK\1\2") + 6] = 100
    return bytes(data)


WORKBOOK = xlsx([["a"], [1]])


@pytest.mark.parametrize(
    ("data", "name", "match"),
    [
        (WORKBOOK, "x.csv", r"not a \.csv file but an Excel workbook: give it the ending \.xlsx"),
        (WORKBOOK, "x.parquet", r"not a \.parquet file but an Excel workbook"),
        (WORKBOOK[:200], "x.tsv", r"not a \.tsv file but a damaged zip archive or Excel workbook"),
        (of_a_version_to_come(), "x.xlsx", "the file 'x.xlsx' is not an Excel workbook, or a damaged one"),
        (of_a_version_to_come(), "x.csv", "is not a .csv file but a damaged zip archive or Excel workbook"),
        (parquet(pd.DataFrame({"a": [1]})), "x.csv", r"but a Parquet file: give it the ending \.parquet"),
        (b"\x1f\x8b" + bytes(99), "x.csv", "a gzip archive that is damaged or cut off"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "x.csv.gz", "a gzip archive that is damaged or cut off"),
        (large_archive(), "x.csv.gz", "would take at least"),
        (b'\xef\xbb\xbf<?xml version="1.0"?><rows/>', "x.csv", "an XML file"),
        *((data, "x.csv", "a JSON file") for data in (b'{"a": [1]}', b"[[1, 2]]", b"{}", b'  {\n "a" : 1}', b"[]")),
    ],
)
def test_content_of_another_kind_than_the_name(data, name, match):
    fails(match, data, name=name)


@for_each("name", ["[a]", "{a}", "<5", "version", "PK", "PAR1"])
def test_text_that_begins_like_another_file(name):
    text = f"{name},b\n1,2\n"
    assert kind_of(text.encode()) is None
    assert list(read_csv(text, header=True)) == [name, "b"]


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
    says = r"column name 'a\\ud800' holds half a character"
    fails(says, rb"a\ud800,b\n1,2", name="x.csv", encoding="raw_unicode_escape")
