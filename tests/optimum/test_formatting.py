"""Losses, quantities and lists in words."""

from __future__ import annotations

import pytest

from microagg import validation
from microagg.optimum import formatting


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
    assert says in formatting.describe_gap(loss, floor)


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
    assert [formatting.percent(value, 5) for value in (14.4745, 0.34891)] == ["14.475 %", "0.34891 %"]
    assert [formatting.number(value) for value in (0, 0.00123456, 12.3456, 12345.6)] == [
        "0",
        "0.001235",
        "12.35",
        "12,346",
    ]


def test_lists_end_with_and():
    assert [validation.listing(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert validation.listing(list("abcde"), 2) == "a, b and 3 more"
    assert validation.listing(list("abc"), 3) == "a, b and c"


@pytest.mark.parametrize(
    ("own", "best", "floor", "says"),
    [
        (16.143, 14.4833, 14.4588, "A loses 16.1 %; 14.49 % is possible and 14.45 % is not: 10 % of it is unnecessary"),
        (16.0, 12.0, 6.0, "A loses 16.0 %; 12.0 % is possible and 6.0 % is not: 25 % of it is unnecessary"),
        (10.0, 9.99, 5.0, "A loses 10.0 %; 9.99 % is possible and 5.00 % is not: 0.1 % of it is unnecessary"),
        (
            8.0,
            8.0,
            6.0,
            "A loses 8.00 %, the least that is known; less than 6.00 % is not possible, so at most 25 % of",
        ),
        (
            8.0,
            8.0,
            0.0,
            "A loses 8.00 %, the least that is known; how much of it is necessary is not known",
        ),
        (10.0, 8.0, 8.0, "A loses 10.0 %; 8.00 % is the least possible: 20 % of it is unnecessary"),
        (8.0, 8.0, 8.0, "A loses 8.00 %, and no partition loses less"),
        (0.0, 0.0, 0.0, "A loses nothing"),
        (None, 12.0, 6.0, "12.0 % is possible, less than 6.0 % is not"),
        (None, 6.0, 6.0, "6.00 % is the least possible"),
    ],
)
def test_it_is_said_how_much_of_a_loss_is_unnecessary(own, best, floor, says):
    assert formatting.describe_optimum("A", own, best, floor).startswith(says)


@pytest.mark.parametrize(
    ("own", "best", "floor", "says"),
    [
        (10.0, 8.0, 7.2, "A loses 25 % more than is needed; the best found, at most 11 %"),
        (10.0, 8.0, 8.0, "A loses 25 % more than is needed; the best found is the optimum"),
        (10.0, 8.0, 4.0, "A loses at least 25 % more than is needed; the best found, at most 100 %"),
        (10.0, 8.0, 0.0, "A loses at least 25 % more than is needed"),
        (8.0, 8.0, 7.2, "A is the best found, at most 11 % above the optimum"),
        (8.0, 8.0, 8.0, "A is the best found, which is the optimum"),
    ],
)
def test_it_is_said_how_much_more_than_is_needed_is_lost(own, best, floor, says):
    assert formatting.describe_excess("A", own, best, floor) == says


def test_what_is_possible_is_rounded_up_and_what_is_not_is_rounded_down():
    assert "; 1.0002 % is possible and 1.0000 % is not:" in formatting.describe_optimum("A", 2.0, 1.00014, 1.00004)


def test_sentences_have_three_significant_digits():
    assert [formatting.percent(value) for value in (0.0999999, 99.96, 0.00012345, 5.017, 0)] == [
        "0.100 %",
        "100 %",
        "0.000123 %",
        "5.02 %",
        "0 %",
    ]


def test_figures_are_written_in_their_unit():
    given = [
        (0.3333, "share"),
        (12.3456, "percent"),
        (1234.4, "records"),
        (0.04567, "sd"),
        (-1.5, "number"),
        (-1e-9, "number"),
        (12345.6, "number"),
        (float("inf"), "number"),
        (float("-inf"), "sd"),
    ]
    written = [formatting.in_unit(value, unit) for value, unit in given]
    assert written == ["33.3 %", "12.3 %", "1,234", "0.0457 sd", "−1.5", "0", "12,346", "∞", "−∞"]
