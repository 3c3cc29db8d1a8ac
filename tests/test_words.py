"""Losses, quantities and lists in words."""

from __future__ import annotations

import pytest

from microagg import words


@pytest.mark.parametrize(
    ("loss", "floor", "says"),
    [
        (0.0, 0.0, "nothing"),
        (2.0, 2.0, "the optimum"),
        (2.1, 2.0, "at most 5 % above"),
        (14.4833, 14.4588, "at most 0.17 % above"),
        (6.0, 2.0, "at most 3 times"),
        (6.0, 0.0, "not known"),
    ],
)
def test_gap_in_words(loss, floor, says):
    assert says in words.gap_in_words(loss, floor)


def test_quantities_have_the_digits_that_tell_something():
    assert [words.percent(value) for value in (0, 0.0012345, 0.12345, 1.23456, 9.996, 12.3456, 99.96, 100)] == [
        "0 %",
        "0.00123 %",
        "0.123 %",
        "1.23 %",
        "10.0 %",
        "12.3 %",
        "100 %",
        "100 %",
    ]
    assert [words.percent(value, 5) for value in (14.4745, 0.34891)] == ["14.475 %", "0.34891 %"]
    assert [words.number(value) for value in (0, 0.00123456, 12.3456, 12345.6)] == ["0", "0.001235", "12.35", "12,346"]


def test_lists_end_with_and():
    assert [words.listing(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
