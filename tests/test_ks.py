"""Values of k as people write them."""

import itertools
import re

import pytest

from microagg.errors import ParameterError
from microagg.validation import read_ks, spread
from tests.cases import for_each


@for_each(
    ("text", "found", "beyond"),
    [
        ("2–5", [2, 3, 4, 5], False),
        ("2-4, 20", [2, 3, 4, 20], False),
        ("20;3 3 - 4", [3, 4, 20], False),
        ("1", [1], False),
        ("48-60", [48, 49, 50], True),
        ("5, 51", [5], True),
        ("60", [], True),
        ("5, 100-999999999", [5], True),
        ("", [], False),
    ],
)
def test_values_of_k_are_read(text, found, beyond):
    assert read_ks(text, 50, 30) == (found, beyond)


@for_each(
    ("text", "says"),
    [
        ("2, x", "'x' is no value of k"),
        ("0", "'0' is no value of k"),
        ("0-4", "'0-4' is no value of k"),
        ("2.5", "'2.5' is no value of k"),
        ("2-3-4", "'2-3-4' is no value of k"),
        ("-3", "'-3' is no value of k"),
        ("9–4", "the range 9-4 runs backward"),
        ("1-40", "more than 30 values of k"),
        ("1-20, 25-40", "more than 30 values of k"),
    ],
)
def test_what_is_no_value_of_k_is_said(text, says):
    with pytest.raises(ParameterError, match=re.escape(says)):
        read_ks(text, 50, 30)


@for_each(
    ("ks", "first", "expected"),
    [
        ([], None, []),
        ([3, 7], None, [7, 3]),
        ([2, 5, 10, 20, 50, 100], 20, [20, 100, 2, 10, 50, 5]),
        ([2, 5, 10], 7, [10, 2, 5]),
    ],
)
def test_values_are_spread_over_the_range(ks, first, expected):
    assert spread(ks, first) == expected


def test_whatever_has_been_done_no_gap_is_much_wider_than_another():
    ks = list(range(2, 66))
    order = spread(ks)
    assert sorted(order) == ks
    for done in range(2, len(ks) + 1):
        seen = sorted(order[:done])
        gaps = [after - before for before, after in itertools.pairwise(seen)]
        assert max(gaps) <= 2 * min(gaps) + 2
