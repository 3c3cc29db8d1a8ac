"""Tables as CSV text, and what holds for files of every kind.

The cells of text files are read by Python's csv, and not by what is tested.
"""

import csv
import datetime as dt
import io
from decimal import Decimal

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from microagg import microaggregate
from microagg.errors import DataError, ParameterError
from microagg.tables import WRITTEN_ENDINGS, read_file, read_table, renamed_columns, to_csv, write_table
from microagg.tables.writing import written
from tests.cases import for_each
from tests.tables.common import read_csv


def test_floats_survive_to_the_last_bit():
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, size=(20_000, 2), dtype=np.uint64).view(np.float64)
    bits[~np.isfinite(bits)] = 0.1
    bits[:6, 0] = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, 2**53 + 2.0]
    frame = pd.DataFrame({"a": bits[:, 0], "b": bits[:, 1], "i": rng.integers(-(2**63), 2**63 - 1, size=20_000)})
    again = read_csv(to_csv(frame))
    for name in frame:
        assert again[name].to_numpy().tobytes() == frame[name].to_numpy().tobytes()


@for_each(
    "columns",
    [
        {"text": ["plain", 'quo"te', "com,ma", "new\nline", "Łódź", " blank "], "flag": [True, False, True] * 2},
        {"gaps": [1.5, None, 2.0, None, None, 3.0]},
        {"text": ["a\rb", "c\r\nd", "e"], "n": [1, 2, 3]},
    ],
)
def test_round_trip_of_everything_else(columns):
    frame = pd.DataFrame(columns)
    pd.testing.assert_frame_equal(read_csv(to_csv(frame)), frame)


@for_each("start", list("=+-@\t\r"))
@for_each("dtype", ["str", "object", "category"])
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


def test_index_only_with_a_name():
    assert to_csv(pd.DataFrame({"a": [1]}, index=["x"])) == "a\n1\n"
    assert to_csv(pd.DataFrame({"a": [1]}, index=pd.Index(["=x"], name="key"))) == "key,a\n'=x,1\n"


TEXTS = {
    "whole numbers": ["1", "-20", "0", "300"],
    "whole numbers beside a gap": ["1", "", "3", "4"],
    "large whole numbers": ["9007199254740993", "-9007199254740993", "1", "2"],
    "large whole numbers beside a gap": ["9007199254740993", "", "-9007199254740993", "1"],
    "unsigned whole numbers": ["18446744073709551615", "1", "2", "3"],
    "decimals": ["0.1", "-2.25", "3.5", "100.125"],
    "decimals beside a gap": ["0.1", "", "3.5", "100.125"],
    "decimals of equal length": ["1.50", "2.25", "3.00", "4.10"],
    "decimals that are whole": ["1.0", "2.0", "3.0", "4.0"],
    "small numbers": ["1.5e-05", "2.5e-05", "1e-07", "0.5"],
    "large numbers": ["1e+22", "1.5e+300", "1.0", "2.0"],
    "minus zero": ["-0.0", "1.5", "2.5", "3.5"],
    "codes": ["01067", "80331", "00001", "10115"],
    "codes with letters": ["10E2", "100E1", "1E5", "7E0"],
    "telephone numbers": ["+4912345", "+4912346", "+4912347", "+4912348"],
    "words": ["x", "ü", "", "z"],
    "words with delimiters": ["a,b", 'say "x"', "line\nbreak", " blank "],
    "countries": ["NA", "DE", "FR", "NA"],
    "truth": ["True", "False", "True", "True"],
    "truth in capitals": ["TRUE", "FALSE", "TRUE", "TRUE"],
    "truth beside a gap": ["True", "", "False", "True"],
    "days": ["2024-05-01", "1850-01-01", "", "0001-01-01"],
    "times": ["2024-05-01 12:00:01", "2024-05-01T12:00", "12:00", "1"],
    "formulas": ["=1+1", "@x", "y", "z"],
    "thousands": ["1,234", "12,345", "1,000,000", "5"],
    "nothing": ["", "", "", ""],
}


@pytest.mark.parametrize("cells", TEXTS.values(), ids=TEXTS)
def test_a_cell_is_written_as_it_was_read_or_a_notice_says_otherwise(cells):
    stream = io.StringIO()
    csv.writer(stream).writerows([["size", "cell"], *zip("1234", cells, strict=True)])
    reading = read_file(stream.getvalue().encode(), name="x.csv")
    release = microaggregate(reading.frame, quasi_identifiers=["size"], k=2)
    data = write_table(release.frame, "x.csv")
    # A spreadsheet would take some cells for formulas, which the page says where the file is downloaded.
    written = [row[1].removeprefix("'") for row in csv.reader(io.StringIO(data.decode(), newline=""))][1:]
    assert written == cells or any(notice.column == "cell" for notice in reading.notices)


EVERY_KIND = pytest.mark.parametrize("ending", WRITTEN_ENDINGS)


@EVERY_KIND
def test_equal_frames_give_equal_bytes_without_an_index(ending):
    frame = pd.DataFrame({"a": [1.5, 2.5], "t": ["x", None]}, index=pd.Index([7, 5], name="key"))
    before = frame.copy()
    data = write_table(frame, f"x{ending}")
    assert data == write_table(frame.copy(), f"folder/x{ending.upper()}")
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(read_table(data, name=f"x{ending}"), frame.reset_index(drop=True))


@for_each("ending", [".parquet", ".xlsx", ".dta", ".sav"])
@for_each(
    ("cells", "expected"),
    [
        ([1, 2.5, None], [1, 2.5, None]),
        ([Decimal("0.10"), Decimal(2), None], [0.1, 2, None]),
        ([Decimal("0.12345678901234567890"), None], ["0.12345678901234567890", None]),
        ([1, "x", None], ["1", "x", None]),
        ([2**70, 1], [str(2**70), "1"]),
        ([True, "yes"], ["True", "yes"]),
        ([dt.timedelta(hours=1), "x"], ["1:00:00", "x"]),
        ([[1, 2], "x"], ["[1, 2]", "x"]),
        ([1j, 2], ["1j", "2"]),
        ([dt.date(2024, 2, 29), None], [pd.Timestamp("2024-02-29"), None]),
        ([pd.Timestamp("2024-05-01 12:00", tz="Europe/Berlin"), None], ["2024-05-01 12:00:00+02:00", None]),
    ],
)
def test_columns_of_objects(ending, cells, expected):
    data = write_table(pd.DataFrame({"a": pd.Series(cells, dtype=object), "n": range(len(cells))}), f"x{ending}")
    column = read_table(data, name=f"x{ending}")["a"]
    assert [None if pd.isna(cell) else cell for cell in column] == expected


@for_each("ending", [".csv", ".xlsx"])
@for_each("dtype", ["float32", "Float32"])
def test_floats_of_32_bits_are_written_with_their_shortest_text(ending, dtype):
    data = write_table(pd.DataFrame({"a": pd.Series([0.1, None], dtype=dtype), "n": [1, 2]}), f"x{ending}")
    assert read_table(data, name=f"x{ending}")["a"].fillna(-1).tolist() == [0.1, -1]


@EVERY_KIND
def test_refusals(ending):
    def refused(match, frame):
        with pytest.raises(DataError, match=match) as caught:
            write_table(frame, f"x{ending}")
        assert str(caught.value).endswith(".")
        assert ":" in str(caught.value)

    refused("the table has no columns", pd.DataFrame(index=[1, 2]))
    refused("the column name '1' occurs more than once", pd.DataFrame([[1, 2]], columns=[1, "1"]))
    refused(r"column 2 \(counting from 1\) has no name", pd.DataFrame([[1, 2]], columns=["a", " "]))
    refused("holds a character that no file can hold", pd.DataFrame([[1]], columns=pd.Index(["a\ud800"], dtype=object)))
    half = pd.DataFrame({"a": pd.Series(["b\ud800"], dtype=object)})
    refused(r"column 'a' holds half a character .* in 'b\\ud800'", half)
    if ending != ".parquet":
        refused("column 'a' holds a zero character", pd.DataFrame({"a": ["b\0c"]}))
        refused("column 'a' holds a zero character", pd.DataFrame({"a": pd.Categorical(["b\0c"])}))


@pytest.mark.parametrize("name", ["x.tsv", "x", "x.xls", ""])
def test_endings(name):
    with pytest.raises(ParameterError, match=r"must end in \.csv, \.parquet, \.xlsx, \.dta or \.sav"):
        write_table(pd.DataFrame({"a": [1]}), name)


def test_renamed_columns():
    frame = pd.DataFrame([[1, 2, 3]], columns=["=cmd()", "a b", 7])
    assert renamed_columns(frame, ".csv") == {"=cmd()": "'=cmd()"}
    assert renamed_columns(frame, ".parquet") == renamed_columns(frame, ".xlsx") == {}
    assert renamed_columns(frame, ".dta") == {"=cmd()": "_cmd__", "a b": "a_b", "7": "v_7"}
    assert renamed_columns(frame, ".sav") == {"=cmd()": "v__cmd__", "a b": "a_b", "7": "v_7"}
    with pytest.raises(ParameterError, match="must end in"):
        renamed_columns(frame, "sav")


# What columns are called in a file, and how many characters or bytes the label that keeps a name has.
NAMES = {
    ".dta": (
        {"education-num": "education_num_2", "education_num": "education_num", "2020": "v_2020", "if": "v_if"}
        | {"größe": "größe", "a" * 40: "a" * 32, "a" * 33: "a" * 30 + "_2", "_n": "v__n", "_x": "_x"}
        | {"str7": "v_str7", "€": "v__", "_": "v___2"},
        80,
    ),
    ".sav": (
        {"education-num": "education_num_2", "education_num": "education_num", "2020": "v_2020", "With": "v_With"}
        | {"größe": "größe", "ß" * 40: "ß" * 32, "ß" * 33: "ß" * 31 + "_2", "_x": "v__x", "A": "A", "a": "a_2"}
        | {"b.": "b_", "c.d": "c.d"},
        256,
    ),
}


def by_pyreadstat(data, ending):
    return {".dta": pyreadstat.read_dta, ".sav": pyreadstat.read_sav}[ending](io.BytesIO(data))


@for_each("ending", NAMES)
def test_names_that_are_fitted(ending):
    names, most = NAMES[ending]
    frame = pd.DataFrame([range(len(names))], columns=list(names))
    data = write_table(frame, f"x{ending}")
    assert list(read_table(data, name=f"x{ending}")) == list(names.values())
    changed = {name: final for name, final in names.items() if name != final}
    assert renamed_columns(frame, ending) == changed
    # The full name is the variable's label.
    about = by_pyreadstat(data, ending)[1]
    assert about.column_names == list(names.values())
    assert about.column_labels == [name if name in changed else None for name in names]
    # A name longer than the label is cut there, and that is said.
    file = written(pd.DataFrame({"a" * (most + 1): [1]}), f"x{ending}")
    assert by_pyreadstat(file.data, ending)[1].column_labels == ["a" * most]
    assert [notice.code for notice in file.notices] == ["cut-variable-label"]


@for_each(("ending", "whole", "floats"), [(".dta", 2**31 - 28, 1.7e300), (".sav", 2**53, 1.7e308)])
def test_numbers_and_text_survive(ending, whole, floats):
    frame = pd.DataFrame(
        {
            "whole": [1, -whole, whole],
            "real": [0.1 + 0.2, 5e-324, -floats],
            "gaps": [1.5, np.nan, 2.0],
            "text": ['com,ma "quo"', "new\nline\r\n\tx", "Łódź"],
            "formula": ["=1+1", "@x", "-1"],
            "code": ["01067", "80331", None],
            "note": ["ü" * 16_000, "b", None],
            "plain": pd.Categorical(["b", None, "a"], categories=["b", "a", "unused"]),
            "ordered": pd.Categorical(["hi", "lo", "hi"], categories=["lo", "hi"], ordered=ending == ".sav"),
        }
    )
    pd.testing.assert_frame_equal(read_table(write_table(frame, f"x{ending}"), name=f"x{ending}"), frame)


@for_each("ending", NAMES)
def test_written_file_by_another_reader(ending):
    frame = pd.DataFrame(
        {
            "n": pd.array([3, None], dtype="Int64"),
            "yes": pd.array([True, None], dtype="boolean"),
            "day": pd.to_datetime(["1880-05-01", None]),
            "time": pd.to_datetime(["2024-05-01 12:00:01.125", None]),
            "level": pd.Categorical(["hi", None], categories=["lo", "hi"], ordered=True),
            "kind": pd.Categorical(["b", ""]),
        }
    )
    table, about = by_pyreadstat(write_table(frame, f"x{ending}"), ending)
    time = dt.datetime(2024, 5, 1, 12, 0, 1, 125000)
    assert table.iloc[0].tolist() == [3, 1, dt.date(1880, 5, 1), time, 2, 1]
    assert table.iloc[1].isna().all()
    assert about.variable_value_labels == {"level": {1: "lo", 2: "hi"}, "kind": {1: "b"}}
    forms = [about.original_variable_types[name] for name in ("day", "time")]
    assert forms == (["DATE11", "DATETIME23.3"] if ending == ".sav" else ["%td", "%tc"])
    if ending == ".sav":
        assert about.original_variable_types["n"] == "F1.0"
        assert (about.variable_measure["level"], about.variable_measure["kind"]) == ("ordinal", "nominal")
        # No file tells when it was written.
        assert about.creation_time == dt.datetime(1980, 1, 1)
