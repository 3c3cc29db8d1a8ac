"""What a table shows at a glance: figures of columns, values that may be the same."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from microagg.columns import bin_edges, category_counts, summary
from microagg.columns.recodes import near_duplicates
from tests.cases import for_each
from tests.columns.common import column_of

EXTREME = {
    "whole numbers from 2^53": np.arange(30) + 2**53,
    "constant, far from 0": np.full(5, 1e17),
    "adjacent floats": np.array([1.0, np.nextafter(1.0, 2.0)]),
    "all that floats span": np.array([-1e308, 0.0, 1e308, 1.7e308]),
    "a sum beyond all floats": np.array([1e308, 1e308, 1.3e308]),
    "nanoseconds": np.int64(1_700_000_000_000_000_000) + np.arange(40) * 1_000,
    "the smallest": np.array([0.0, 5e-324, 1e-323]),
    "minus zero": np.array([-0.0, 0.0]),
    "infinite among others": np.array([-np.inf, 1.0, 3.0, np.inf]),
}


@for_each("values", EXTREME.values())
def test_every_finite_number_is_counted_and_the_figures_are_finite(values):
    [result] = summary(pd.DataFrame({"a": values})).to_dict("records")
    finite = values[np.isfinite(values.astype(float))].astype(float)
    assert sum(result["distribution"]) == len(finite)
    assert result["least"] == finite.min()
    assert result["greatest"] == finite.max()
    assert result["mean"] == pytest.approx((finite / 1e3).sum() / len(finite) * 1e3)


@example(values=[1.7976931348623157e308], most=2)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30), st.integers(2, 40))
def test_edges_ascend_and_cover_all_values(values, most):
    edges = bin_edges(np.array(values), most)
    assert (edges[:-1] < edges[1:]).all()
    assert edges[0] <= min(values)
    assert edges[-1] >= max(values)
    assert len(edges) - 1 <= most


def test_values_are_counted_in_their_order():
    assert category_counts(pd.Series([10.0, 9.0, 10.0, None])) == {"9": 1, "10": 2}
    mixed = category_counts(pd.Series(["b", 2, "a", 10, 2], dtype=object))
    assert list(mixed.items()) == [("2", 2), ("10", 1), ("a", 1), ("b", 1)]
    ordered = pd.Series(pd.Categorical(["mid", "low", "mid", None], ["low", "mid", "high"], ordered=True))
    assert list(category_counts(ordered).items()) == [("low", 1), ("mid", 2)]
    # A number and its text are written alike.
    assert category_counts(pd.Series([1, "1"], dtype=object)) == {"1": 2}


def test_bins_of_whole_numbers_hold_equally_many():
    assert bin_edges(np.arange(60.0), 24).tolist() == [3 * i - 0.5 for i in range(21)]
    assert bin_edges(np.array([7.0]), 24).tolist() == [6.5, 7.5]
    assert bin_edges(np.array([0.5, 2.5, 1.0, 0.5]), 24).tolist() == pytest.approx([0.5, 0.5 + 2 / 3, 0.5 + 4 / 3, 2.5])
    assert len(bin_edges(np.linspace(0.1, 7.3, 500), 24)) == 25
    assert bin_edges(np.array([0.0, 2e9]), 24).tolist() == [0, 1e9, 2e9]


def test_figures_of_columns():
    frame = pd.DataFrame(
        {
            "number": [0.0, 24.0, np.inf, np.nan, 24.0],
            "text": ["b", "a", "b", None, "x" * 30],
            "flag": [True, False, True, True, False],
            "empty": [np.nan] * 5,
            7: pd.to_datetime(["2001-02-03"] * 5),
        }
    )
    result = summary(frame).set_index("column")
    assert list(result.index) == ["number", "text", "flag", "empty", "7"]
    assert result.loc["number", ["least", "mean", "greatest"]].tolist() == [0, 16, 24]
    # Each of 13 bins holds two whole numbers: 0 and 1, 2 and 3, ..., 24 and 25.
    assert result.loc["number", "distribution"] == [1, *[0] * 11, 2]
    assert result.loc["number", "examples"] == "0, 24, inf"
    assert result["distribution"][["text", "flag", "empty"]].tolist() == [[2, 1, 1], [3, 2], []]
    assert result["examples"][["text", "empty", "7"]].tolist() == [f"b, a, {'x' * 23}…", "", "2001-02-03"]
    assert list(summary(frame[[]]).columns) == ["column", "least", "mean", "greatest", "distribution", "examples"]


@for_each(
    "values",
    [
        ("F", "f"),
        ("Male", "male "),
        ("New York", "new  york", " New York"),
        ("Málaga", "Malaga"),
        ("Straße", "STRASSE"),
        ("Self-employed", "Self employed", "self_employed"),
        ("10 ", "10"),
    ],
)
def test_spellings_of_the_same(values):
    counts = {value: 9 - i for i, value in enumerate(values)}
    # Whichever comes first in the file, the most frequent is the first of its set.
    for order in (counts, dict(reversed(counts.items()))):
        assert near_duplicates(column_of({**order, "other": 7})) == (values,)


DIFFERENT = ["A+ A-", "<=50K >50K", "1.5 15", "1-2 12", "1.5km 15km", "Male Female", "Iran Iraq"]


@for_each(("one", "other"), map(str.split, DIFFERENT))
def test_values_that_are_not_the_same(one, other):
    assert near_duplicates(column_of({one: 300, other: 1})) == ()


def test_sets_are_sorted_and_ties_are_broken_by_the_alphabet():
    series = column_of({"no": 2, "Yes": 3, "yes": 3, "NO": 5, "perhaps": 4})
    assert near_duplicates(series) == (("NO", "no"), ("Yes", "yes"))
    assert near_duplicates(series.astype("category")) == (("NO", "no"), ("Yes", "yes"))
    for values in ([1.0, 2.0, 1.0], [None, None], [["a"], ["A"]]):
        assert near_duplicates(pd.Series(values)) == ()
    assert near_duplicates(pd.Series([None, "a", "A", 3], dtype=object)) == (("A", "a"),)


def test_typing_errors_are_long_one_off_and_much_rarer():
    assert near_duplicates(column_of({"Berne": 300, "Berme": 1})) == ()
    assert near_duplicates(column_of({"Northvale": 300, "Nrthvle": 1})) == ()
    assert near_duplicates(column_of({"region10": 300, "region11": 1})) == ()
    assert near_duplicates(column_of({"Northvale": 4, "Nortvale": 1})) == ()
    assert near_duplicates(column_of({"Northvale": 5, "Nortvale": 1})) == (("Northvale", "Nortvale"),)
    # Of two that are as near, the commoner one; and all spellings of it come into the set.
    result = near_duplicates(column_of({"planet": 300, "planer": 200, "PLANET": 9, "planex": 1}))
    assert result == (("planet", "PLANET", "planex"),)


def test_a_letter_may_stand_for_a_word():
    result = near_duplicates(column_of({"f": 60, "F ": 5, "female": 10, "m": 30, "M": 5}))
    assert result == (("f", "female", "F "), ("m", "M"))
    assert near_duplicates(column_of({"f": 6, "female": 10, "m": 3, "male": 5})) == (("female", "f"), ("male", "m"))
    for others in ({"d": 1, "e": 2, "g": 3}, {"x1": 2}, {"females": 3}):
        assert near_duplicates(column_of({"f": 6, "female": 10, "m": 3} | others)) == ()


def is_one_off(one, other):
    """Whether a letter of the alphabet left out, added, changed or swapped makes one word of another: all are tried."""
    letters = "abcdefgh"
    cuts = [(one[:i], one[i:]) for i in range(len(one) + 1)]
    ways = {a + b[1:] for a, b in cuts} | {a + c + b for a, b in cuts for c in letters}
    ways |= {a + c + b[1:] for a, b in cuts if b for c in letters}
    ways |= {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    return other in ways


@given(st.text("abcdefgh", min_size=6, max_size=8), st.data())
def test_typing_errors_are_those_that_one_change_makes(word, data):
    other = list(word)
    for _ in range(data.draw(st.integers(1, 2))):
        i = data.draw(st.integers(0, len(other) - 1))
        other[i : i + data.draw(st.integers(0, 2))] = data.draw(st.text("abcdefgh", max_size=2))
        other = other or ["a"]
    other = "".join(other)
    expected = ((word, other),) if other != word and len(other) >= 6 and is_one_off(word, other) else ()
    assert near_duplicates(column_of({word: 300} | ({other: 1} if other != word else {}))) == expected
