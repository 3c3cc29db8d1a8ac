"""Losses, quantities and lists in words."""

import pytest

from microagg import validation
from microagg.optimum import formatting


@pytest.mark.parametrize(
    ("loss", "floor", "says"),
    [
        (0.0, 0.0, "proven optimal"),
        (2.0, 2.0, "proven optimal"),
        (2.1, 2.0, "gap 5.00 %"),
        (14.4833, 14.4588, "gap 0.169 %"),
        (6.0, 2.0, "gap 200 %"),
        (24.42, 2.0, "gap 1,121 %"),
        (6.0, 0.0, "gap unknown"),
    ],
)
def test_gap_in_words(loss, floor, says):
    assert formatting.describe_gap(loss, floor) == says


def test_quantities_have_the_digits_that_tell_something():
    assert [formatting.percent(value) for value in (0, 0.0012345, 0.12345, 1.23456, 9.996, 12.3456, 99.96, 100)] == [
        "0 %",
        "0.00123 %",
        "0.123 %",
        "1.23 %",
        "10.0 %",
        "12.3 %",
        "100 %",
        "100 %",
    ]
    assert [formatting.share(value) for value in (0.2, 0.125, 0.2004, 1 / 3)] == ["20 %", "12.5 %", "20.0 %", "33.3 %"]
    assert [formatting.percent(value, 5) for value in (14.4745, 0.34891)] == ["14.475 %", "0.34891 %"]
    written = [formatting.number(value) for value in (0, 0.00123456, 12.3456, 12345.6)]
    assert written == ["0", "0.001235", "12.35", "12,346"]


def test_lists_end_with_and():
    assert [validation.listing(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert validation.listing(list("abcde"), 2) == "a, b and 3 more"
    assert validation.listing(list("abc"), 3) == "a, b and c"


def test_figures_are_written_in_their_unit():
    given = [
        (0.3333, "share"),
        (12.3456, "percent"),
        (1234.4, "records"),
        (0.04567, "sd"),
        (-1.5, "number"),
        (-1e-9, "number"),
        (0.00002716, "number"),
        (12345.6, "number"),
        (float("inf"), "number"),
        (float("-inf"), "sd"),
    ]
    written = [formatting.in_unit(value, unit) for value, unit in given]
    assert written == ["33.3 %", "12.3 %", "1,234", "0.0457 sd", "−1.5", "0", "0.0000272", "12,346", "∞", "−∞"]
