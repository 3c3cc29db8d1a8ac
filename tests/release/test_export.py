"""The bytes of a file are counted as they are written."""

import io
from functools import partial

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg.columns.schema import Schema
from microagg.errors import DataError, ParameterError
from microagg.release import check_export
from microagg.tables import read_file, to_csv
from microagg.tables.writing import written

SCHEMA = Schema(("age",), confidential=("ill",), identifiers=("name",), strata=("town",))


def test_classes_are_counted_as_text():
    data = b"age,town,ill\n[1, 2],a,flu\n[1, 2],a,flu\n".replace(b"[1, 2]", b'"[1, 2]"')
    ok = check_export(data, "out.csv", SCHEMA, 2)
    assert (ok.level, ok.code, ok.columns) == ("ok", "bytes", ())
    assert "has 2 records" in ok.text
    assert "at least 2 records (k = 2)" in ok.text
    # 1 and 1.0 are one number, but two texts.
    stop = check_export(b"age,town,ill\n1,a,x\n1.0,a,x\n1,a,x\n", "out.CSV", SCHEMA, 2)
    assert (stop.level, stop.code, stop.columns) == ("stop", "bytes", ())
    assert "1 of 3 records" in stop.text
    assert "(1 are unique)" in stop.text
    assert check_export(b"age,town,ill\n1,a,x\n1,b,x\n", "out.csv", SCHEMA, 2).level == "stop"
    # k of 1 is no protection.
    warn = check_export(b"q,c\n1,x\n1,y\n2,x\n", "a.csv", Schema(("q",), ("c",)), 1)
    assert (warn.level, warn.code) == ("warn", "bytes")
    assert "1 of 3" in warn.text
    assert check_export(b"q,c\n1,x\n1,y\n", "a.csv", Schema(("q",), ("c",)), 1).level == "ok"


def test_empty_cells_are_a_value_and_lines_count():
    schema = Schema(("age",))
    assert check_export(b"age\n\n\n1\n1\n", "out.csv", schema, 2).level == "ok"
    assert "1 of 3" in check_export(b"age\n\n1\n1\n", "out.csv", schema, 2).text
    assert "1 of 4" in check_export(b"age\nNA\n1\n1\n1\n", "out.csv", schema, 2).text


def test_identifiers_in_the_file():
    stop = check_export(b"age,town,name\n1,a,Ann\n1,a,Bob\n", "out.csv", SCHEMA, 2)
    assert stop.columns == ("name",)
    assert stop.level == "stop"


def test_names_as_the_file_has_them():
    schema = Schema(("=a", 7, " b "))
    release = pd.DataFrame({"=a": [1.5] * 3, 7: ["-x", "-x", "=y"], " b ": 0})
    stop = check_export(to_csv(release).encode(), "out.csv", schema, 2)
    assert "1 of 3" in stop.text
    assert check_export(to_csv(release.iloc[:2]).encode("utf-8-sig"), "out.csv", schema, 2).level == "ok"


@pytest.mark.parametrize(
    ("data", "name", "message"),
    [
        (b"age,ill\n1,x\n", "out.csv", "no column 'town'"),
        (b"age,town\n", "out.csv", "no records"),
        (b"", "out.csv", "'out.csv' cannot be read again"),
        (b"age,town\n1,2,3\n", "out.csv", "'out.csv' cannot be read again"),
        (b"age,town\n1,\xff\n", "out.csv", "'out.csv' cannot be read again"),
        (b"age,age,town\n1,1,2\n", "out.csv", "'age' occurs more than once"),
        (b"age,town\n1,2\n", "out.pdf", "what kind of file 'out.pdf'"),
    ],
)
def test_files_that_cannot_be_counted(data, name, message):
    with pytest.raises(DataError, match=message):
        check_export(data, name, SCHEMA, 1)


def test_k_is_checked():
    with pytest.raises(ParameterError, match="k must be at least 1"):
        check_export(b"age,town\n1,2\n", "out.csv", SCHEMA, 0)


def test_other_kinds_of_files():
    release = pd.DataFrame({"age": [1.5, 1.5, 2.5], "town": ["01", "01", "01"]})
    written = io.BytesIO()
    release.to_parquet(written)
    assert "1 of 3" in check_export(written.getvalue(), "out.parquet", SCHEMA, 2).text
    assert check_export(b"age\ttown\n1.5\t01\n1.5\t01\n", "out.tsv", SCHEMA, 2).level == "ok"


ENDINGS = (".csv", ".xlsx", ".parquet", ".dta", ".sav")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    ("column", "values", "other"),
    [
        ("year", [2001, 2002, 2003], 1905),
        ("number", [0.1, 1 / 3, np.nan], 0.3333),
        ("narrow", np.array([0.1, 7.7, np.nan], dtype="float32"), np.float32(7.6)),
        ("sparse", pd.arrays.SparseArray([0.1, 1 / 3, np.nan]), 0.3333),
        ("large", [2**53 + 1, 2**60 + 1, 3], 2**60),
        ("day", pd.to_datetime(["2001-02-03", "2001-01-01", None]), pd.Timestamp("2001-01-02")),
        ("moment", pd.to_datetime(["2001-02-03 04:05", "2001-01-01 00:00", None]), pd.Timestamp("2001-01-01 01:00")),
        ("text", ["=1+1", "007", "NA"], "7"),
        ("category", pd.Categorical(["a ", "b", None]), None),
        ("answer", [True, False, None], True),
    ],
)
def test_the_values_of_a_file_are_those_of_the_release(ending, column, values, other):
    release = pd.DataFrame({"q": 1, column: values})
    file = written(release, f"out{ending}")
    check = partial(check_export, file.data, f"out{ending}", Schema(("q",)), 2, reading=file.reading)
    changed = release.copy()
    changed[column] = changed[column].sparse.to_dense() if column == "sparse" else changed[column]
    changed.loc[1, column] = other
    assert check(released=release).level == "ok"
    stop = check(released=changed)
    assert stop.level == "stop"
    assert f"column '{column}' has" in stop.text
    assert "in record 1 (counting from 0)" in stop.text
    assert "are 3 records with 2 columns, and in the release 2 records" in check(released=release[:2]).text


def test_numbers_and_dates_are_compared_as_the_original_writes_them():
    lines = [f"{1 + i}/2/1978;1.{100 + i},50 €;{i},5" for i in range(8)]
    original = read_file("\n".join(["born;cost;w", *lines, ""]).encode(), name="in.csv", decimal=",")
    chosen = {"dates": {"born": "day d/m"}, "numbers": "cost", "others": "w", "statistic": "generalize"}
    release = microagg.microaggregate(original.frame, k=4, quasi_identifiers=["born", "cost"], **chosen)
    data, ok = release.export("out.csv", like=original)
    assert ok.level == "ok"
    reading = {"delimiter": ";", "decimal": ","}
    measured = {"born": ("", True), "cost": ("", False)}
    check = partial(
        check_export, name="out.csv", schema=Schema(("born",)), k=4, reading=reading, released=release.frame
    )
    assert check(data, measured=measured).level == "ok"
    assert check(data).level == "stop"
    for before, after in ((b"1/2/1978", b"1/3/1978"), (b"1.100,50", b"1.100,5001"), (b";0,5", b";0.5")):
        stop = check(data.replace(before, after), measured=measured)
        assert (stop.level, "record 0 (counting" in stop.text) == ("stop", True)
    assert check(data, measured=measured | {"born": ("", False)}).level == "stop"
