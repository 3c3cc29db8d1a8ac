"""Cells of text files: which become numbers, and what is said of those that would lose something as one."""

import math
from decimal import Decimal

import hypothesis.strategies as st
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings

from microagg.errors import ParameterError
from microagg.tables import MISSING, read_file, text_lines
from tests.cases import for_each
from tests.tables.common import fails


def read(*cells, **options):
    """Read the cells as a column x beside a column of numbers; return its values, their kind and the notices."""
    text = "x,y\n" + "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells))
    reading = read_file(text.encode(), name="x.csv", **options)
    assert reading.frame["y"].tolist() == list(range(len(cells)))
    return reading.frame["x"].tolist(), reading.frame["x"].dtype.kind, reading.notices


def codes(notices):
    return [notice.code for notice in notices]


@for_each(
    ("cells", "count", "example", "change"),
    [
        (("+4912345000", "5"), 1, "+4912345000", "become 4912345000."),
        (("10E2", "100E1", "7"), 2, "10E2", "become 1000."),
        (("01067", "02001", "80331"), 2, "01067", "become 1067."),
        ((" 001", "2"), 1, " 001", "become 1."),
        (("9007199254740993", "1.5"), 1, "9007199254740993", "become 9007199254740992."),
        (("18446744073709551615", "-1"), 1, "18446744073709551615", "become 1.8446744073709552e+19."),
        (("0.12345678901234567890", "1"), 1, "0.12345678901234567890", "become 0.12345678901234568."),
        (("9" * 5000, "1"), 1, "9" * 5000, "become inf."),
    ],
)
def test_what_would_lose_something_is_kept_as_text_and_said(cells, count, example, change):
    values, kind, [notice] = read(*cells)
    assert kind == "O"
    assert [cell if isinstance(cell, str) else "" for cell in values] == list(cells)
    assert (notice.code, notice.column, notice.example) == ("kept-as-text", "x", example)
    assert change in notice.text
    assert f"'x' is kept as text because of {count} cell" in notice.text


@for_each(
    ("cells", "kind"),
    [
        (("5", "-7", "0"), "i"),
        ((" 5", "6 ", "\t7"), "i"),
        (("9223372036854775807", "-9223372036854775808"), "i"),
        (("18446744073709551615", "1"), "u"),
        (("1.5", "-2.25", "3.0"), "f"),
        (("1.5e-05", "2.0"), "f"),
        (("0.7739560485559633", "1e-300"), "f"),
        (("9007199254740992.0", "1.5"), "f"),
        (("-0.0", "1.5"), "f"),
    ],
)
def test_numbers_that_lose_nothing_are_numbers_without_a_word(cells, kind):
    assert read(*cells) == ([float(cell) if kind == "f" else int(cell) for cell in cells], kind, ())


@for_each("cell", [".5", "-.25", "0.10000000000000001", "1.50", "3", " 20 ", "0.1000E+01", "12.5E3"])
def test_other_digits_for_the_same_number_are_said(cell):
    values, kind, [notice] = read(cell, "1.5", cell)
    assert (values, kind) == ([float(cell), 1.5, float(cell)], "f")
    assert (notice.code, notice.column, notice.example) == ("respelled", "x", cell)
    assert "of which 2 will" in notice.text
    assert f"as {float(cell)!r}" in notice.text


@for_each(("cells", "thousands"), [(("850", "1.200", "-12.534"), 1), (("0.200", "1.200"), 0), (("1.200", "1.2e5"), 0)])
def test_points_that_may_stand_between_thousands_are_asked_about(cells, thousands):
    values, kind, [notice] = read(*cells)
    assert (values, kind) == ([float(cell) for cell in cells], "f")
    assert notice.code == ("thousands" if thousands else "respelled")
    if thousands:
        assert "'1.200' as 1.2, though each point has three digits behind it: does it stand between" in notice.text
        assert notice.offers[0].reading == {"decimal": ","}


@for_each(
    ("cells", "kind"), [(("9007199254740993", "", "-9007199254740993"), "i"), (("18446744073709551615", ""), "u")]
)
def test_whole_numbers_beside_a_gap_keep_all_digits(cells, kind):
    values, dtype_kind, notices = read(*cells)
    assert ["" if pd.isna(value) else str(value) for value in values] == list(cells)
    assert (dtype_kind, notices) == (kind, ())


def test_digits_beyond_a_float_in_the_middle_of_a_long_file():
    # The first thousands of cells are numbers, and become text again.
    cells = [f"{i}.25" for i in range(30_000)]
    cells[25_000] = "0.12345678901234567890"
    values, _, [notice] = read(*cells)
    assert values == cells
    assert "1 cell such as" in notice.text


def test_whole_numbers_and_decimals_in_parts_of_a_long_file():
    cells = [*map(str, range(20_000)), "1.5", *["2"] * 20_000, ""]
    values, kind, notices = read(*cells)
    assert kind == "f"
    assert [(notice.code, notice.example, "40,000" in notice.text) for notice in notices] == [("respelled", "0", True)]
    assert values[:-1] == [float(cell) for cell in cells[:-1]]
    assert math.isnan(values[-1])


def test_booleans_are_those_that_are_written_as_such():
    assert read("True", "False") == ([True, False], "b", ())
    assert read("TRUE", "FALSE") == (["TRUE", "FALSE"], "O", ())
    assert read("true", "True") == (["true", "True"], "O", ())
    values, kind, _ = read("True", "", "False")
    assert kind == "O"
    assert values[0] is True
    assert math.isnan(values[1])


def test_missing_words_in_text_are_said_and_may_be_text():
    cells = ("NA", "DE", "AF", "NA", "N/A")
    values, _, [notice] = read(*cells)
    assert [isinstance(cell, str) for cell in values] == [False, True, True, False, False]
    assert (notice.code, notice.column, notice.example) == ("missing-words", "x", "NA")
    assert "3 cells" in notice.text
    [offer] = notice.offers
    assert offer.reading == {"missing": [word for word in MISSING if word not in ("NA", "N/A")]}
    assert read(*cells, **offer.reading) == (list(cells), "O", ())


def test_missing_words_among_numbers_are_missing_in_any_case():
    for options in ({}, {"missing": []}, {"missing": ["."]}):
        values, kind, notices = read("NA", "1.5", "nan", "", **options)
        assert (kind, notices) == ("f", ())
        np.testing.assert_array_equal(values, [np.nan, 1.5, np.nan, np.nan])


def test_other_words_may_be_missing():
    values, kind, _ = read("-", "1", "2", missing=["-"])
    assert kind == "i"
    assert pd.isna(values[0])
    assert values[1:] == [1, 2]
    values, _, [notice] = read("-", "a", "NA", missing=["-"])
    assert values[1:] == ["a", "NA"]
    assert notice.example == "-"
    assert read("None", "x") == (["None", "x"], "O", ())


@pytest.mark.parametrize("missing", ["NA", [1], [None], None])
def test_impossible_missing(missing):
    fails("missing must be a list of texts", b"a\n1\n", name="x.csv", missing=missing, error=ParameterError)


def test_cells_with_a_decimal_comma_keep_what_they_would_lose():
    reading = read_file(b"a;b;c\n01,5;,5;1.5\n2,5;1,0;2\n", name="x.csv", decimal=",")
    assert reading.frame["a"].tolist() == ["01,5", "2,5"]
    assert reading.frame["b"].tolist() == [0.5, 1.0]
    assert reading.frame["c"].tolist() == ["1.5", "2"]
    assert [(notice.column, notice.example) for notice in reading.notices] == [("a", "01,5"), ("b", ",5")]


CELLS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.integers(-99, 99).map(str),
    st.floats(allow_nan=False).map(repr),
    st.floats(-1000, 1000).map("{:.2f}".format),
    st.floats(-1000, 1000).map("{:.17g}".format),
    st.floats(-1000, 1000).map("{:.3e}".format),
    st.decimals(-1000, 1000, places=20).map("{:f}".format),
    st.from_regex(r"[+-]?[0-9]{0,3}\.?[0-9]{0,3}([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["", "NA", "True", "x", " 7", "inf", "1_0", "0x1", "00", "-0", "1.0"]),
)


@settings(deadline=None, max_examples=100)
@given(st.lists(CELLS, min_size=1, max_size=6))
def test_a_cell_becomes_a_number_only_if_that_says_the_same(cells):
    values, kind, notices = read(*cells)
    for cell, value in zip(cells, values, strict=True):
        if cell in ("", "NA"):
            assert pd.isna(value)
        elif kind in "iuf":
            if "respelled" not in codes(notices):
                assert Decimal(repr(value)) == Decimal(cell.strip())
            assert float(value) == float(cell)
        else:
            assert str(value) == cell
    if "kept-as-text" in codes(notices):
        assert kind == "O"


@settings(deadline=None, max_examples=100)
@given(
    st.lists(CELLS, min_size=1, max_size=6), st.sampled_from(["", *MISSING, "True", "x", "1.5", "-0.0"]), st.booleans()
)
def test_cells_are_read_alike_at_once_and_chunk_by_chunk(cells, last, comma):
    rows = [*cells * 40, last]
    text = "x;y\n" + "".join(f"{cell};{'' if i % 7 else cell}\r\n" for i, cell in enumerate(rows))
    options = {"delimiter": ";", "decimal": "," if comma else "."}
    at_once = read_file(text.encode(), name="x.csv", **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_lines, "_arrow_columns", lambda *_: [])
        by_chunks = read_file(text.encode(), name="x.csv", **options)
    pd.testing.assert_frame_equal(at_once.frame, by_chunks.frame, check_exact=True)
    assert at_once.notices == by_chunks.notices
