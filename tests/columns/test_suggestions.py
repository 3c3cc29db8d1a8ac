"""Proposals for columns of categories: spellings of the same, and taxonomies in one click."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns.suggestions import (
    by_prefix,
    code_length,
    merge_rare,
    near_duplicates,
    suggest_taxonomies,
)
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import DataError, ParameterError
from tests.cases import for_each


def meeting(tree, one, other):
    """Return the name of the lowest common ancestor of two values."""
    return tree.names[tree.join(tree.node(one), tree.node(other))]


def column(**counts):
    return column_of(counts)


def column_of(counts, dtype=None):
    """Return a column in which each value stands as often as ``counts`` says."""
    values = [value for value, n in counts.items() for _ in range(n)]
    return pd.Series(values, name="x", dtype=dtype)


# --- values that may be the same --------------------------------------------------------------------------------------


@for_each(
    "values",
    [
        ("F", "f"),
        ("Male", "male "),
        ("New York", "new  york", " New York"),
        ("Málaga", "Malaga"),
        ("Straße", "STRASSE"),
        ("Self-employed", "Self employed", "self_employed"),
        ("St. Louis", "St Louis"),
        ("U.S.A.", "USA"),
        ("10 ", "10"),
    ],
)
def test_spellings_of_the_same(values):
    counts = {value: 9 - i for i, value in enumerate(values)}
    # Whichever comes first in the file, the most frequent is the first of its set.
    for order in (counts, dict(reversed(counts.items()))):
        assert near_duplicates(column_of({**order, "other": 7})) == (values,)


@for_each(
    ("one", "other"),
    [
        ("A+", "A-"),
        ("A", "A-"),
        ("<=50K", ">50K"),
        ("1.5", "15"),
        ("1-2", "12"),
        ("-9", "9"),
        ("1.5 km", "15 km"),
        ("group 1", "group 2"),
        ("Male", "Female"),
        ("Iran", "Iraq"),
    ],
)
def test_values_that_are_not_the_same(one, other):
    assert near_duplicates(column_of({one: 300, other: 1})) == ()


def test_sets_are_sorted_and_ties_are_broken_by_the_alphabet():
    series = column_of({"no": 2, "Yes": 3, "yes": 3, "NO": 5, "perhaps": 4})
    assert near_duplicates(series) == (("NO", "no"), ("Yes", "yes"))
    assert near_duplicates(series.astype("category")) == (("NO", "no"), ("Yes", "yes"))
    assert near_duplicates(pd.Series([1.0, 2.0, 1.0])) == ()
    assert near_duplicates(pd.Series([None, None], dtype=object)) == ()
    assert near_duplicates(pd.Series([["a"], ["A"]])) == ()
    assert near_duplicates(pd.Series([None, "a", "A", 3], dtype=object)) == (("A", "a"),)


@for_each("typo", ["Nortvale", "Northhvale", "Northvele", "Norhtvale", "orthvale", "NORTHVALF", "Northvaleé"])
def test_rare_typing_errors(typo):
    assert near_duplicates(column_of({"Northvale": 196, "Westhill": 200, typo: 4})) == (("Northvale", typo),)
    # 5 of 401 are more than 1 %.
    assert near_duplicates(column_of({"Northvale": 196, "Westhill": 200, typo: 5})) == ()


def test_typing_errors_are_long_one_off_and_much_rarer():
    assert near_duplicates(column_of({"Berne": 300, "Berme": 1})) == ()
    assert near_duplicates(column_of({"Northvale": 300, "Nrthvle": 1})) == ()
    assert near_duplicates(column_of({"region10": 300, "region11": 1})) == ()
    assert near_duplicates(column_of({"Northvale": 4, "Nortvale": 1})) == ()
    assert near_duplicates(column_of({"Northvale": 5, "Nortvale": 1})) == (("Northvale", "Nortvale"),)
    # Of two that are as near, the commoner one; and all spellings of it come into the set.
    found = near_duplicates(column_of({"planet": 300, "planer": 200, "PLANET": 9, "planex": 1}))
    assert found == (("planet", "PLANET", "planex"),)


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


# --- taxonomies -------------------------------------------------------------------------------------------------------


def test_codes_by_what_they_begin_with():
    tree = by_prefix(["01067", "01099", "04109", "99084", "01067"])
    assert tree.to_nested() == {
        "*": {
            "0****": {"010**": {"01067": None, "01099": None}, "041**": {"04109": None}},
            "9****": {"990**": {"99084": None}},
        }
    }
    assert meeting(tree, "01067", "01099") == "010**"
    assert meeting(tree, "01067", "04109") == "0****"
    assert tree.distance("01067", "99084") == 1


def test_lengths_of_what_codes_begin_with():
    assert by_prefix(["ab", "cd"]).names == ("*", "a*", "ab", "c*", "cd")
    assert by_prefix([11, 12.0]).names == ("*", "1*", "11", "12")
    assert by_prefix(["a", "b"]) == Taxonomy.flat(["a", "b"])
    assert by_prefix(["A01", "A12"], []) == Taxonomy.flat(["A01", "A12"])
    assert by_prefix(["A01", "A12"], [2]).names == ("*", "A0*", "A01", "A1*", "A12")
    assert by_prefix(["abcdefg"]).names == ("*", "a******", "abc****", "abcde**", "abcdefg")


@for_each("lengths", [[0], [3], [2, 1], [1, 1], [1.5], [True]])
def test_wrong_lengths(lengths):
    with pytest.raises(ParameterError, match="lengths must ascend from 1 or more and be less than 3"):
        by_prefix(["A01", "A12"], lengths)


def test_values_that_have_no_beginnings_in_common():
    with pytest.raises(DataError, match=r"the codes '010' and '7' have different lengths \(3 and 1 characters\)"):
        by_prefix(["7", "010"])
    with pytest.raises(DataError, match=r"the code '0\*' holds an asterisk"):
        by_prefix(["01", "0*"])
    with pytest.raises(DataError, match="there are no codes"):
        by_prefix([])


def test_rare_categories_below_one_node():
    tree = merge_rare({"b": 20, "c": 4, "a": 9, "d": 5, "e": 1}, 5)
    assert tree.to_nested() == {
        "*": {"a": {"a": None}, "b": {"b": None}, "d": {"d": None}, "rare": {"c": None, "e": None}}
    }
    assert meeting(tree, "c", "e") == "rare"
    assert meeting(tree, "a", "e") == "*"
    assert tree.distance("c", "e") == 0.5
    assert meeting(tree, "a", "a") == "a"


def test_rare_categories_that_need_no_node():
    assert merge_rare({"a": 9, "b": 1}, 5) == Taxonomy.flat(["a", "b"])
    assert merge_rare({"a": 3, "b": 1}, 5) == Taxonomy.flat(["a", "b"])
    assert merge_rare(pd.Series([9, 2, 2], ["a", "b", "c"]), 1).is_flat
    # Names that are taken already, and equal names of a number in two types.
    tree = merge_rare({"rare": 9, "*": 1, "x": 1}, 5)
    assert tree.to_nested() == {"**": {"rare": {"rare": None}, "rare*": {"*": None, "x": None}}}
    assert meeting(merge_rare({1: 3, 1.5: 1, 7: 1, "1": 2}, 5), 1.5, 7) == "rare"
    with pytest.raises(ParameterError, match="least must be a whole number of at least 1, not 0"):
        merge_rare({"a": 3}, 0)
    with pytest.raises(DataError):
        merge_rare({}, 3)


def test_taxonomies_of_codes_are_proposed_first():
    codes = [f"{a}{b}0" for a, b in itertools.product("012", "12345")]
    found = suggest_taxonomies(pd.Series(codes * 6))
    assert [title for title, _ in found] == ["By what codes begin with: 010, 0**, *", "All side by side"]
    assert found[0][1] == by_prefix(codes)
    assert found[1][1] == Taxonomy.flat(sorted(codes))


def test_what_all_codes_begin_with_divides_nothing():
    zips = pd.Series([f"010{i}" for i in range(60, 75)] * 9)
    (title, tree), (_, flat) = suggest_taxonomies(zips)
    assert title == "By what codes begin with: 01060, 0106*, *"
    assert tree.to_nested()["*"].keys() == {"0106*", "0107*"}
    assert list(tree.to_nested()["*"]["0107*"]) == ["01070", "01071", "01072", "01073", "01074"]
    assert flat.is_flat
    # The same of numbers; where the next digit already tells all, there is nothing to group by.
    assert suggest_taxonomies(zips.astype(int))[0][0] == "By what codes begin with: 1060, 106*, *"
    assert [title for title, _ in suggest_taxonomies(zips[zips < "01070"])] == ["All side by side"]
    # Levels that would repeat the groups above them are left out: 3 characters tell no more than 1.
    codes = [f"{a}00{b}{c}" for a, b, c in itertools.product("12", "34", "56")]
    assert suggest_taxonomies(pd.Series(codes * 6))[0][0] == "By what codes begin with: 10035, 1****, *"


def test_taxonomies_of_words():
    found = suggest_taxonomies(column(red=600, blue=380, green=9, pink=9, grey=2))
    assert [title for title, _ in found] == ["The 3 categories in fewer than 10 records together", "All side by side"]
    assert meeting(found[0][1], "green", "grey") == "rare"
    # Words of equal length have nothing in common by their letters, numbers of different length neither.
    for values in (["red", "tan", "rot"], ["7", "10", "71"], ["19-24", "25-30", "13-18"]):
        assert [title for title, _ in suggest_taxonomies(pd.Series(values * 30))] == ["All side by side"]


def test_taxonomies_of_categories_that_do_not_occur():
    series = pd.Series(pd.Categorical(["a", "b", None] * 9, ["a", "b", "c"]), name="x")
    assert [tree.values for _, tree in suggest_taxonomies(series)] == [("a", "b")]
    with pytest.raises(DataError, match="column 'x' holds no value"):
        suggest_taxonomies(series[series.isna()])


def test_proposals_for_adult_hold_its_values(benchmark):
    series = benchmark("adult").frame["native-country"]
    (title, tree), (_, flat) = suggest_taxonomies(series)
    counts = series.value_counts()
    rare = counts[counts < 319]  # 1 % of the 31,978 that have one
    assert title == f"The {len(rare)} categories in fewer than 319 records together"
    assert sorted(tree.values) == sorted(flat.values) == sorted(counts.index)
    assert {tree.names[tree.parents[tree.node(value)]] for value in rare.index} == {"rare"}
    assert near_duplicates(series) == ()


@for_each(
    ("values", "length"),
    [
        (["01067", "80331"], 5),
        (["A12", "B07"], 3),
        (["A12", "B7"], 0),
        (["ABC", "DEF"], 0),  # words
        (["1 2", "3 4"], 0),
        ([12, 34], 0),
        ([], 0),
    ],
)
def test_the_length_of_codes(values, length):
    assert code_length(values) == length


def test_long_texts_are_compared_as_a_whole_only():
    long = ["a" * 100_000, "b" * 100_000, "B" * 100_000]
    assert near_duplicates(pd.Series(long * 30)) == ((long[2], long[1]),)
