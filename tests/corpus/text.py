"""Bad files of text: CSV, TSV and what people save under these names."""

import gzip
import io
import json
import pickle
import sqlite3
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.corpus.case import Case


def csv(name, text, *, encoding="utf-8", file="x.csv", **outcome):
    return Case(name, file, lambda: text.encode(encoding), **outcome)


def raw(name, data, *, file="x.csv", **outcome):
    return Case(name, file, data if callable(data) else lambda: data, **outcome)


def column(*cells):
    """Return the text of a table with a column of numbers and one of these cells."""
    return "n,c\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells, start=1))


def kept(*cells, **outcome):
    """Return what becomes of :func:`column` where each cell stays as it is."""
    numbers = [str(i) for i in range(1, len(cells) + 1)]
    return {"cells": {"n": numbers, "c": [cell or None for cell in cells]}, **outcome}


def column_case(name, *cells, says="'c'", **outcome):
    return csv(name, column(*cells), **kept(*cells, says=says, **outcome))


def zipped(**members):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name.replace("__", "/"), data)
    return stream.getvalue()


def database():
    with TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"
        connection = sqlite3.connect(path)
        connection.execute("create table t (a)")
        connection.commit()
        connection.close()
        return path.read_bytes()


NUMBERS = [
    column_case("telephone numbers", "+4912345000", "+4912345001", page=True),
    column_case("codes that collide as numbers", "10E2", "100E1"),
    column_case("a minus before zeros", "-0001", "-0002"),
    column_case("zeros before a code, beside a decimal", "00001", "1.5"),
    csv(
        "a tab before zeros",
        'n,c\n1,"\t001"\n2,"\t002"\n',
        cells={"n": ["1", "2"], "c": ["\t001", "\t002"]},
        says="'c'",
    ),
    csv("a blank before zeros", "n,c\n1, 001\n2, 002\n", cells={"n": ["1", "2"], "c": [" 001", " 002"]}, says="'c'"),
    column_case(
        "negative whole numbers beyond 2^53 beside a gap", "-9007199254740993", "", "-9007199254740995", says=""
    ),
    column_case("whole numbers beyond 2^53 beside a gap", "9007199254740993", "", "9007199254740995", says=""),
    column_case("whole numbers beyond 64 bits", "123456789012345678901234567890", "1"),
    column_case("decimals of more digits than a float", "0.12345678901234567890", "0.5"),
    column_case("underscores in numbers", "1_000", "2_000", says=""),
    column_case("hexadecimal numbers", "0x10", "0x11", says=""),
    column_case("numbers beyond floats", "1e400", "1"),
    column_case("the word inf", "inf", "1.5"),
    column_case("the word Infinity", "Infinity", "-Infinity"),
    column_case("minus zero", "-0", "1"),
    column_case("nothing after the point", "1.", "2."),
    csv("nothing before the point", column(".5", ".25"), cells={"n": ["1", "2"], "c": ["0.5", "0.25"]}, says="'c'"),
    column_case("a plus before a decimal", "+.5", "+.25"),
    column_case("zeros before codes", "01067", "80331"),
    csv("thousands with commas", 'n,c\n1,"1,234"\n2,"12,345"\n', cells={"n": ["1", "2"], "c": ["1,234", "12,345"]}),
    column_case("currency", "€12", "€15", says=""),
    column_case("percent", "12 %", "15 %", says=""),
    column_case("mixed words and numbers", "12", "unknown", "15", says=""),
    csv("a decimal comma", "n;c\n1;3,14\n2;2,7\n", cells={"n": ["1", "2"], "c": ["3,14", "2,7"]}, says="comma"),
    column_case("numbers of full-width digits", "１２", "１３", says=""),
    column_case("a minus of typographers", "−12", "−13", says=""),
]

WORDS = [
    column_case("truth in capitals", "TRUE", "FALSE", "TRUE", says=""),
    column_case("truth in several spellings", "True", "TRUE", "true", says=""),
    csv(
        "Namibia",
        "n,c\n1,NA\n2,DE\n3,FR\n",
        cells={"n": ["1", "2", "3"], "c": [None, "DE", "FR"]},
        says="'c'.*NA",
        page=True,
    ),
    csv("a person called null", "n,c\n1,null\n2,Smith\n", cells={"n": ["1", "2"], "c": [None, "Smith"]}, says="null"),
    column_case("a person called None", "None", "Smith", says=""),
    column_case("formulas", "=1+1", "@SUM(A1)", says=""),
    column_case("dates of both orders", "01/02/2024", "13/02/2024", says=""),
    column_case("dates before all calendars", "0000-00-00", "2024-01-01", says=""),
    column_case("ideographs beyond the basic plane", "𠮷野", "😀", says=""),
    column_case("text from right to left", "\u202eabc", "שלום", says=""),
    csv("blanks around text", "n,c\n1, x \n2,y\n", cells={"n": ["1", "2"], "c": [" x ", "y"]}),
]

LAYOUT = [
    csv("nothing at all", "", refuses="empty", page=True),
    csv("blank lines only", "\n\n \n", refuses="blank lines only"),
    csv("a header only", "a,b\n", refuses="no records"),
    csv("equal names", "a,a\n1,2\n", refuses="'a' occurs more than once"),
    csv("a name of 100,000 characters", f"{'x' * 100_000},b\n1,2\n", refuses="characters", page=True),
    csv("lines of different lengths", "a,b\n1,2\n3\n", refuses="line 3"),
    csv("a quote that is never closed", 'a,b\n1,"2\n3,4\n', refuses="quote"),
    csv("text behind a quote", 'a,b\n1,"x"y\n', refuses="quote"),
    csv("comments at the top", "# survey 2024\n# all rights reserved\na,b\n1,2\n3,4\n", refuses="line|comment", says="comment|line", page=True),
    csv("a title above the header", "Table 1: persons\n\na,b\n1,2\n3,4\n", refuses="line|title", says="title|line", page=True),
    csv("a title of the header's width", "Table 1: persons,,\na,b,c\n1,2,3\n3,4,5\n", says="title|skip|line"),
    csv("a row of units", "age,mass\nyears,kg\n31,70\n42,80\n", says="unit"),
    csv("a total at the end", "n,c\n1,10\n2,20\nTotal,30\n", says="total|last", page=True),
    csv("notes at the end", "n,c\n1,10\n2,20\nSource: register\n", refuses="line 4", says="last|note"),
    csv("numbers instead of a header", "1,2\n3,4\n5,6\n", says="header", refuses="header", page=True),
    csv("a header repeated in the middle", "a,b\n1,2\na,b\n3,4\n", says="header|repeat", refuses="header|repeat"),
    csv("blanks as the delimiter", "a b\n1 2\n3 4\n", refuses="space|blank", page=True),
    csv("columns of fixed width", "name      age\nAnna       31\nBob        42\n", refuses="width|blank|space", says="width|blank|space"),
    csv("another rare delimiter", "a^b\n1^2\n3^4\n", refuses=r"\^"),
    csv("a delimiter at the end of the lines", "a,b\n1,2,\n3,4,\n", refuses="one more"),
    csv("single quotes", "a,b\n'x,y',2\n'z,w',4\n", refuses="line 2|quote"),
    csv("typographers' quotes", "a,b\n“x,y”,2\n“z,w”,4\n", refuses="line 2|quote"),
    csv("names with line breaks", '"a\nb",c\n1,2\n', cells={"a\nb": ["1"], "c": ["2"]}),
    csv("old line ends of the Macintosh", "a,b\r1,2\r3,4\r", cells={"a": ["1", "3"], "b": ["2", "4"]}),
    csv("mixed line ends", "a,b\r\n1,2\n3,4\r\n", cells={"a": ["1", "3"], "b": ["2", "4"]}),
    csv("a name without anything", "a,,c\n1,2,3\n", cells={"a": ["1"], "column 2": ["2"], "c": ["3"]}),
    csv("a header of our own words", "index,PC 1\n1,2\n3,4\n", cells={"index": ["1", "3"], "PC 1": ["2", "4"]}),
    csv("a wrong ending", "a,b\n1,2\n", file="x.doc", refuses="its name must end in"),
    csv("no ending", "a,b\n1,2\n", file="x", refuses="its name must end in"),
]  # fmt: skip

ASIAN = "name,city\n山田太郎,東京都\n鈴木花子,大阪市\n"
ENCODINGS = [
    csv("GBK", "name,city\n张伟,北京市\n王芳,上海市\n", encoding="gbk", refuses="not valid UTF-8", page=True),
    csv("Shift-JIS", ASIAN, encoding="shift_jis", refuses="not valid UTF-8"),
    csv("EUC-JP", ASIAN, encoding="euc_jp", refuses="not valid UTF-8"),
    csv("Big5", "name,city\n張偉,臺北市\n", encoding="big5", refuses="not valid UTF-8"),
    csv("EUC-KR", "name,city\n김철수,서울시\n", encoding="euc_kr", refuses="not valid UTF-8"),
    csv("cp1252", "name,city\nJosé,Köln\n", encoding="cp1252", refuses="not valid UTF-8"),
    csv("cp1251", "name,city\nИван,Москва\n", encoding="cp1251", refuses="not valid UTF-8"),
    csv("koi8-r", "name,city\nИван,Москва\n", encoding="koi8-r", refuses="not valid UTF-8"),
    csv("mac-roman", "name,city\nJosé,Köln\n", encoding="mac-roman", refuses="not valid UTF-8"),
    csv("UTF-16 without a mark", "name,city\nAnna,Rome\n", encoding="utf-16-le", refuses="zero character", page=True),
    csv("UTF-16 with a mark", "a,b\n1,é\n", encoding="utf-16", cells={"a": ["1"], "b": ["é"]}),
    raw("half of a character", b"a,b\n1,\xc3\n", refuses="not valid UTF-8"),
    raw("a zero character", b"a,b\n1,x\0y\n", refuses="zero character"),
    csv("an encoding that there is not", "a,b\n1,2\n", reading={"encoding": "utf-8"}, cells={"a": ["1"], "b": ["2"]}),
]

OTHERS = [
    raw("a picture (PNG)", b"\x89PNG\r\n\x1a\n" + bytes(50), refuses="PNG"),
    raw("a picture (JPEG)", b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(50), refuses="JPEG"),
    raw("a document (PDF)", b"%PDF-1.7\n1 0 obj\n", refuses="PDF", page=True),
    raw("JSON", lambda: json.dumps([{"a": 1, "b": 2}]).encode(), refuses="JSON", page=True),
    raw("a web page", b"<!DOCTYPE html>\n<html><body>404</body></html>\n", refuses="HTML|web page"),
    raw("XML", b'<?xml version="1.0"?>\n<a><b>1</b></a>\n', refuses="XML"),
    raw("a database", database, refuses="SQLite|database"),
    raw("rich text", b"{\\rtf1\\ansi a,b\\par 1,2}", refuses="RTF|rich text"),
    raw("a zip archive", lambda: zipped(a="1"), refuses="zip"),
    raw("a document (Word)", lambda: zipped(word__document__xml="<w/>"), refuses="zip|Word"),
    raw("a document (Word) named as a workbook", lambda: zipped(word__document__xml="<w/>"), file="x.xlsx", refuses="Excel|Word|damaged"),
    raw("gzip in gzip", lambda: gzip.compress(gzip.compress(b"a,b\n1,2\n")), refuses="gzip"),
    raw("a pointer of git-lfs", b"version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n", refuses="LFS"),
    raw("a pickle", lambda: pickle.dumps({"a": [1, 2]}), refuses="pickle|not valid UTF-8|zero character"),
    raw("an old workbook", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), file="x.xlsx", refuses="old or password"),
    raw("an old workbook by its ending", b"\xd0\xcf\x11\xe0" + bytes(600), file="x.xls", refuses=r"\.xlsx"),
    raw("a Parquet file by another name", b"PAR1\x15\x04" + bytes(60), refuses="Parquet"),
    raw("text named as a Parquet file", b"a,b\n1,2\n", file="x.parquet", refuses="not a Parquet file"),
    raw("text named as a workbook", b"a,b\n1,2\n", file="x.xlsx", refuses="not an Excel workbook"),
    raw("text named as a Stata file", b"a,b\n1,2\n", file="x.dta", refuses="not a Stata file"),
    raw("text named as an SPSS file", b"a,b\n1,2\n", file="x.sav", refuses="not an SPSS file"),
]  # fmt: skip

HEAVY = [
    raw("100,000 columns", lambda: (",".join(f"c{i}" for i in range(100_000)) + "\n" + "1," * 99_999 + "1\n").encode(), refuses="columns", heavy=True, page=True),
    raw("a line of 20 MB", lambda: b"a,b\n1," + b"x" * 20_000_000 + b"\n", shape=(1, 2), heavy=True),
    raw("a million cells of one character each", lambda: b"a,b\n" + b"1,x\n" * 500_000, shape=(500_000, 2), heavy=True),
    raw("a million quotes", lambda: b'a,b\n1,"' + b'""' * 1_000_000 + b'"\n', shape=(1, 2), heavy=True),
]  # fmt: skip

CASES = [*NUMBERS, *WORDS, *LAYOUT, *ENCODINGS, *OTHERS, *HEAVY]
