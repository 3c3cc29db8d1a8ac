"""Taxonomies: what they say of their values, how they are written and read, and what is none."""

import itertools
import pickle
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.columns.taxonomy import Taxonomy, suggest_taxonomies
from microagg.errors import DataError, ParameterError
from tests import naive_mixed
from tests.algorithms.test_mixed import taxonomies
from tests.cases import for_each

TEXT = """\
*
  married
    civil
    abroad
  single
    widowed
    never
"""
NESTED = {"*": {"married": ["civil", "abroad"], "single": ["widowed", "never"]}}


@pytest.fixture
def marital():
    return Taxonomy.from_text(TEXT)


def test_nodes_are_in_the_order_of_the_lines(marital):
    assert marital.names == ("*", "married", "civil", "abroad", "single", "widowed", "never")
    assert marital.parents == (-1, 0, 1, 1, 0, 4, 4)
    assert marital.children == [[1, 4], [2, 3], [], [], [5, 6], [], []]
    assert marital.depths == [0, 1, 2, 2, 1, 2, 2]
    assert marital.leaves == (2, 3, 5, 6)
    assert marital.values == ("civil", "abroad", "widowed", "never")
    assert marital.height == 2
    assert not marital.is_flat
    assert marital.heights.tolist() == [1.0, 0.5, 0.0, 0.0, 0.5, 0.0, 0.0]
    assert list(marital.ancestors(5)) == [5, 4, 0]
    assert marital.lineages.tolist() == [[0] * 7, [0, 1, 1, 1, 4, 4, 4], [0, 1, 2, 3, 4, 5, 6]]


@for_each("value", ["Civil", "", "married", "*", None, 1.5])
def test_unknown_values_and_inner_nodes_are_refused(marital, value):
    with pytest.raises(DataError, match=rf"has no value '{re.escape(str(value))}': it has 'civil', .* 'never'; add it"):
        marital.node(value)


def meeting(tree, one, other):
    """Return the name of the lowest common ancestor of two values."""
    ancestors = set(tree.ancestors(tree.node(one)))
    return tree.names[next(node for node in tree.ancestors(tree.node(other)) if node in ancestors)]


def test_a_chain_of_its_own_name_fills_levels():
    tree = Taxonomy.from_text("*\n  a\n    a\n      a\n  b\n    c\n      d\n      e\n")
    assert tree.values == ("a", "d", "e")
    assert tree.node("a") == 3
    assert meeting(tree, "a", "a") == "a"
    assert meeting(tree, "a", "d") == "*"
    # A chain may end in a node that branches.
    tree = Taxonomy.from_text("*\n  a\n    a\n      x\n      y\n  b\n    c\n      z\n")
    assert meeting(tree, "x", "y") == "a"
    with pytest.raises(DataError, match="no value 'a'"):
        tree.node("a")


@for_each("parents", [(-1, 0), (-1, 0, 0, 0), (-1, 0, 2), (-1, 2, 0), (-1, 0, -1), (0, 0, 0)])
def test_parents_that_are_no_tree_are_refused(parents):
    with pytest.raises(DataError, match="one parent for each node, which comes before it, and -1 for the first only"):
        Taxonomy(("*", "a", "b"), parents)


def test_nested_trees_may_be_written_in_other_ways(marital):
    children = [{"married": ["civil", {"abroad": None}], "single": ({"widowed": {}, "never": ()},)}]
    assert Taxonomy.from_nested({"*": children}) == marital


@for_each(
    "text",
    [
        TEXT.replace("  ", "\t"),
        TEXT.replace("\n", "\n\n   \n"),
        "\ufeff" + TEXT,
        "# marital status\n\n" + TEXT.replace("    abroad", "      # of the army\n    abroad") + "\n\t# the end",
        "   " + TEXT.rstrip().replace("\n", "\n   "),
        # Each branch has its own indentation.
        "*\n  married\n         civil\n         abroad\n  single\n   widowed\n   never",
    ],
)
def test_text_may_be_written_in_other_ways(marital, text):
    assert Taxonomy.from_text(text) == marital


@for_each(
    ("source", "says"),
    [
        ("", "the taxonomy is empty"),
        ("*", "needs a root and at least one value below it"),
        ("*\n  a\n\tb", "line 3 of the taxonomy mixes blanks and tabs"),
        ("a\n  b\n\nc\n  d", "line 4 of the taxonomy ('c') is a second root beside 'a'"),
        ("*\n    a\n  b", "line 3 of the taxonomy ('b') is indented by 2, which no line above it is"),
        ("*\n  a\n    x\n  b", "not balanced: 'b' is 1 below the root, 'x' 2; insert levels"),
        ("*\n  a\n  a\n", "two nodes called 'a': rename one of them"),
        # The upper a has another child, so it is something else than the lower.
        ("*\n  a\n    a\n    b\n", "two nodes called 'a'"),
        ("*\n  a\n    x\n  b\n    x\n", "two nodes called 'x'"),
        ("*\n a\n  b\n   a", "two nodes called 'a'"),
        ({}, "exactly one root, not 0 roots"),
        (["a"], "exactly one root, not list"),
        ({"*": [None]}, "must be text or numbers, not None"),
        ({"*": "abc"}, "below '*' there must be a mapping, a list or nothing, not 'abc'"),
        ({"*": ["a", " "]}, "a node without a name"),
        ({"*": list(range(20_000))}, "at most 20,000 nodes, not 20,001"),
    ],
)
def test_what_is_no_taxonomy(source, says):
    with pytest.raises(DataError) as error:
        (Taxonomy.from_text if isinstance(source, str) else Taxonomy.from_nested)(source)
    assert says in str(error.value)


def test_nesting_beyond_measure():
    tree = None
    for _ in range(5_000):
        tree = {"a": tree}
    with pytest.raises(DataError, match="nested too deeply"):
        Taxonomy.from_nested(tree)


def test_files_that_hold_no_taxonomy_are_named(tmp_path):
    absent = tmp_path / "absent.txt"
    for path in (absent, tmp_path):
        with pytest.raises(DataError, match="cannot be read"):
            Taxonomy.read(path)
    latin = tmp_path / "latin.txt"
    latin.write_bytes("*\n  ledig\n  verwitwet, 1× verheiratet".encode("latin-1"))
    with pytest.raises(DataError, match=r"latin\.txt' is not UTF-8 text: save it as such"):
        Taxonomy.read(latin)
    latin.write_text("*\n  a\n    x\n  b", encoding="utf-8")
    with pytest.raises(DataError, match=r"^in 'latin\.txt': the taxonomy is not balanced: 'b' is 1 below the root"):
        Taxonomy.read(latin)


def test_a_taxonomy_may_be_given_in_many_ways(marital, tmp_path):
    path = tmp_path / "marital.txt"
    path.write_text(TEXT, encoding="utf-8")
    for given_as in (marital, path, str(path), TEXT, NESTED):
        assert Taxonomy.of(given_as) == marital
    assert Taxonomy.of(marital) is marital
    assert marital.to_text() == TEXT
    assert Taxonomy.of(None, ["b", "a"]) == Taxonomy.flat("ba")
    with pytest.raises(ParameterError, match=r"not \['a', 'b'\]"):
        Taxonomy.of(["a", "b"])


@st.composite
def trees(draw):
    """Draw a taxonomy of height 1 to 4 with plain names."""
    parents = draw(taxonomies(highest=4)).parents
    words = st.text("abcä é-*1", min_size=1, max_size=6).map(str.strip).filter(bool)
    names = draw(st.lists(words, min_size=len(parents), max_size=len(parents), unique=True))
    return Taxonomy(tuple(names), parents)


@given(tree=trees())
def test_any_tree_against_plain_definitions(tree):
    parents = list(tree.parents)
    leaves = naive_mixed.leaves(parents)
    assert list(tree.leaves) == leaves
    assert tree.depths == [len(naive_mixed.line(parents, node)) - 1 for node in range(len(parents))]
    for node in range(len(parents)):
        line = naive_mixed.line(parents, node)[::-1]
        assert tree.lineages[:, node].tolist() == line + [node] * (tree.height + 1 - len(line))


@given(tree=trees())
def test_any_tree_survives_being_written_and_pickled(tree):
    written = Taxonomy.from_text(tree.to_text()), Taxonomy.from_nested(tree.to_nested())
    for again in (*written, pickle.loads(pickle.dumps(tree))):
        assert again == tree
        assert hash(again) == hash(tree)
        assert [again.node(value) for value in again.values] == list(tree.leaves)


@for_each("values", [["#1", "b"], [" a", "a"], ['"a"', "a"], ["two\nlines", "b\u2028c"], ["*", "a"], ["*", "**"]])
def test_any_value_survives_text_and_nesting(values):
    taxonomy = Taxonomy.flat(values)
    assert set(taxonomy.values) == set(values)
    assert Taxonomy.from_text(taxonomy.to_text()) == taxonomy
    assert Taxonomy.from_nested(taxonomy.to_nested()) == taxonomy


def test_further_values_stand_below_the_root():
    tree = Taxonomy.from_text("*\n  a\n    a\n  b\n    x\n    y\n")
    assert tree.with_values([7.0, "z"]).to_text() == tree.to_text() + "  7\n    7\n  z\n    z\n"
    assert Taxonomy.flat("ab").with_values("c") == Taxonomy.flat("abc")
    assert tree.with_values([]) == tree
    with pytest.raises(DataError, match="two nodes called 'b'"):
        tree.with_values(["b"])


def test_codes_by_what_they_begin_with():
    tree = suggest_taxonomies(pd.Series(["01067", "01099", "04109", "99084", "01067"]))[0][1]
    assert tree.to_nested() == {
        "*": {
            "0****": {"010**": {"01067": None, "01099": None}, "041**": {"04109": None}},
            "9****": {"990**": {"99084": None}},
        }
    }


def test_taxonomies_of_words():
    # Words of equal length have nothing in common by their letters, numbers of different length neither.
    for values in (["red", "tan", "rot"], ["7", "10", "71"], ["19-24", "25-30", "13-18"]):
        assert [title for title, _ in suggest_taxonomies(pd.Series(values * 30))] == ["All side by side"]


def test_levels_that_divide_nothing_are_left_out():
    # What all codes begin with divides nothing; the same of numbers.
    zips = pd.Series([f"010{i}" for i in range(60, 75)] * 9)
    assert suggest_taxonomies(zips.astype(int))[0][0] == "By what codes begin with: 1060, 106*, *"
    # Where the next digit already tells all, there is nothing to group by.
    assert [title for title, _ in suggest_taxonomies(zips[zips < "01070"])] == ["All side by side"]
    codes = [f"{a}00{b}{c}" for a, b, c in itertools.product("12", "34", "56")]
    assert suggest_taxonomies(pd.Series(codes * 6))[0][0] == "By what codes begin with: 10035, 1****, *"
