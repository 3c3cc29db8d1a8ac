"""The records of the page Step by step, as they are typed."""

from __future__ import annotations

import pytest

from microagg import DataError
from pages.steps.records import letters, on_a_line, on_a_plane, written


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("1, 2, 3", [1, 2, 3]),
        ("1,2,3", [1, 2, 3]),
        ("1 2\n3", [1, 2, 3]),
        ("1.5; 2", [1.5, 2]),
        ("1,5; 2,5; 3", [1.5, 2.5, 3]),
        ("1,5 2,5 -3", [1.5, 2.5, -3]),
        ("1e12, -2e-3", [1e12, -0.002]),
        ("5, 5, 5", [5, 5, 5]),
    ],
)
def test_numbers_are_read_as_they_are_meant(typed, values):
    assert on_a_line(typed).X[:, 0].tolist() == values


def test_what_was_taken_for_a_decimal_comma_is_said():
    assert on_a_line("1,5; 2,5").remark == "Commas within numbers were read as decimal commas: 1.5, 2.5."
    assert "read as the end of a number: 1, 5, 2, 5." in on_a_line("1,5, 2,5").remark
    assert on_a_line("1, 2, 3").remark == ""


def test_records_are_called_by_their_value_to_the_last_digit():
    assert on_a_line("1234567, 1234568.5").names == ("1234567", "1234568.5")


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("1, 2, x", "'x' is not a number"),
        ("1", "1 record is too few: give between 2 and 300"),
        ("", "0 records are too few"),
        ("1, nan", "'nan' is not a number"),
        (", ".join("7" * 301), "301 records are too many"),
    ],
)
def test_what_cannot_be_watched_is_said(typed, says):
    with pytest.raises(DataError, match=says):
        on_a_line(typed)


def test_points_are_read_and_written():
    seen = on_a_plane("1 2; 3,5 4;\n5 -6.25")
    assert seen.X.tolist() == [[1, 2], [3.5, 4], [5, -6.25]]
    assert seen.names == ("A", "B", "C")
    assert written(seen.X.tolist()) == "1 2; 3.5 4; 5 -6.25"
    assert on_a_plane(written(seen.X.tolist())).X.tolist() == seen.X.tolist()
    assert letters(27)[-1] == "27"


@pytest.mark.parametrize(
    ("typed", "says"), [("1 2; 3", "point 2, '3', is not two numbers"), ("1 2; a 3", "'a' is not")]
)
def test_points_that_are_none_are_said(typed, says):
    with pytest.raises(DataError, match=says):
        on_a_plane(typed)
