"""The algorithms for mixed attributes against their oracles in ``naive_mixed.py``."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import ALGORITHMS, DataError, ParameterError, make
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from tests import naive, naive_mixed
from tests.cases import for_each
from tests.variants import name, variants

FLAT = Taxonomy.flat("abcd")
#: Height 2, with parts of different sizes.
MARITAL = Taxonomy.from_nested({"*": {"married": ["civil", "abroad"], "single": ["widowed", "divorced", "never"]}})
#: The taxonomy of Example 1: India and the USA have only the root in common, India and Iran have Asia.
COUNTRY = Taxonomy.from_nested(
    {
        "Country": {
            "America": {"North": ["USA", "Canada"], "South": ["Brazil", "Mexico"]},
            "Asia": {"West": ["Iran", "Egypt"], "East": ["India", "Japan"]},
        }
    }
)
#: Height 3, of which two values need filling levels.
CHAINS = Taxonomy.from_text("*\n  a\n    a\n      a\n  b\n    c\n      d\n      e\n    f\n      f\n")
ONE_VALUE = Taxonomy.flat(["only"])

NUMERIC = Attribute("number")
DEGREES = Attribute("degree", "ordinal", levels=("low", "middle", "high", "highest"))
ONE_LEVEL = Attribute("level", "ordinal", levels=("all",))


def nominal(taxonomy):
    return Attribute("category", "nominal", taxonomy=taxonomy)


def drawn(attribute, n, rng):
    """Return n random values: of few whole numbers, of all levels or of all leaves."""
    if attribute.kind == "ordinal":
        return rng.integers(0, len(attribute.levels), n)
    if attribute.kind == "nominal":
        return rng.choice(attribute.taxonomy.leaves, n)
    return rng.integers(0, 6, n)


def table(attributes, columns):
    return Records(tuple(attributes), np.column_stack(columns).astype(float))


def mixed(*attributes):
    return lambda n, rng: table(attributes, [drawn(attribute, n, rng) for attribute in attributes])


def repeated(family):
    """Return the family with records drawn from a few, so that most occur several times."""

    def draw(n, rng):
        records = family(max(2, n // 5), rng)
        return records.take(rng.integers(0, len(records), n))

    return draw


def floats(n, rng):
    columns = [rng.normal(size=n), drawn(nominal(COUNTRY), n, rng), rng.random(n)]
    return table([NUMERIC, nominal(COUNTRY), NUMERIC], columns)


def part_of_a_file(n, rng):
    """Return n of 4n records, a quarter by the first attribute, whose domain is larger than what they span of it."""
    whole = mixed(NUMERIC, nominal(MARITAL), NUMERIC, DEGREES)(4 * n, rng)
    return whole.take(np.argsort(whole.values[:, 0], kind="stable")[n : 2 * n])


# Each takes the number of records and a random generator.
FAMILIES = {
    "many-ties": mixed(NUMERIC, nominal(FLAT), DEGREES),
    "heights-1-to-3": mixed(nominal(COUNTRY), NUMERIC, nominal(FLAT), nominal(MARITAL), DEGREES),
    "numbers-and-trees": floats,
    "all-numeric": lambda n, rng: Records.of_numbers(rng.normal(size=(n, 3))),
    "all-numeric-integers": mixed(NUMERIC, NUMERIC),
    "all-nominal": mixed(nominal(COUNTRY), nominal(MARITAL), nominal(CHAINS)),
    "one-nominal": mixed(nominal(COUNTRY)),
    "one-ordinal": mixed(DEGREES),
    "repeated": repeated(mixed(NUMERIC, nominal(COUNTRY), DEGREES)),
    "repeated-floats": repeated(floats),
    "part-of-a-file": part_of_a_file,
    # Nothing to tell apart in one attribute or in all.
    "no-domain": lambda n, rng: table(
        [NUMERIC, ONE_LEVEL, nominal(ONE_VALUE), NUMERIC], [*np.full((3, n), [[7], [0], [1]]), rng.integers(0, 4, n)]
    ),
    "all-equal": lambda n, rng: table([NUMERIC, nominal(MARITAL), DEGREES], np.full((3, n), [[0.1], [2], [1]])),
}

PENALTIES = [
    ("k-member", {"furthest_from": furthest_from, "class_penalty": penalty})
    for furthest_from in ("last", "seed")
    for penalty in (0.5, 3.0)
]

ORACLES = {
    "k-member": naive_mixed.k_member,
    "mondrian": naive_mixed.mondrian,
    "mdav-generic-mixed": naive.k_anonymity_first,
    "k-anonymity-first": naive.k_anonymity_first,
    "t-closeness-first": naive.t_closeness_first,
}
PLAIN = [variant for variant in variants(mixed=True) if variant[0] in ORACLES]


@pytest.mark.parametrize(
    "key", [key for key, cls in ALGORITHMS.items() if cls.info.mixed and cls.info.checked_by == "oracle"]
)
def test_an_algorithm_for_mixed_attributes_has_an_oracle(key):
    assert key in ORACLES, f"write the oracle of {key!r} in tests/naive_mixed.py and add it to ORACLES in this file"


def generate(family, n):
    # The seed names the case, not the order of the tests: a failure can be reproduced alone.
    rng = np.random.default_rng([n, *family.encode()])
    return FAMILIES[family](n, rng), rng


def assert_agrees(records, k, variant, classes=None, **further):
    key, params = variant
    params = {**params, **further}
    known = {} if classes is None else {"classes": list(classes)}
    expected = ORACLES[key](records, k, **params, **known)
    got = make(key, k=k, **params).fit(records, classes).labels_.tolist()
    assert got == expected, (
        f"{name((key, params))} differs from its oracle at n={len(records)}, k={k}, classes={classes}, "
        f"attributes={[(a.kind, len(a.levels), a.taxonomy) for a in records.attributes]}, "
        f"values={records.values.tolist()}"
    )


@pytest.mark.slow
@for_each("family", FAMILIES)
@pytest.mark.parametrize("variant", PLAIN, ids=name)
def test_labels_agree(variant, family):
    for k in (1, 2, 3, 4, 6):
        for n in sorted({k, k + 1, 2 * k - 1, 2 * k, 3 * k - 1, 3 * k, 4 * k + 1, 29, 55 + k}):
            assert_agrees(generate(family, n)[0], k, variant)


@pytest.mark.slow
@for_each("family", FAMILIES)
@pytest.mark.parametrize("variant", PENALTIES, ids=name)
def test_labels_agree_with_classes_for_any_start(variant, family):
    # Some records are left over, in an order that the seed decides.
    for n, k, number in ((7, 1, 2), (7, 3, 3), (11, 4, 2), (30, 2, 3), (29, 6, 2), (34, 5, 3), (29, 3, 2)):
        records, rng = generate(family, n)
        classes = rng.integers(0, number, n).tolist()
        assert_agrees(records, k, variant, classes, random_state=n)
        assert_agrees(records, k, ("k-member", {}), classes, random_state=n + 1)


@st.composite
def taxonomies(draw, highest=3):
    """Draw a taxonomy of height 1 to ``highest`` in which nodes have one to three children."""
    height, parents = draw(st.integers(1, highest)), []

    def add(parent, depth):
        parents.append(parent)
        node = len(parents) - 1
        if depth < height:
            for _ in range(draw(st.integers(1, 3))):
                add(node, depth + 1)

    add(-1, 0)
    return Taxonomy(tuple(f"node {node}" for node in range(len(parents))), tuple(parents))


@st.composite
def small_tables(draw):
    """Draw at most 25 records of one to three attributes, a k that there are enough for, and a class for each."""
    k = draw(st.integers(1, 6))
    n = draw(st.integers(k, 25))
    attributes, columns = [], []
    for kind in draw(st.lists(st.sampled_from(["numeric", "ordinal", "nominal"]), min_size=1, max_size=3)):
        if kind == "numeric":
            attribute, values = NUMERIC, st.integers(-2, draw(st.integers(-1, 9)))
        elif kind == "ordinal":
            attribute = Attribute("rank", kind, levels=tuple("abcdef"[: draw(st.integers(1, 6))]))
            values = st.integers(0, len(attribute.levels) - 1)
        else:
            attribute = nominal(draw(taxonomies()))
            values = st.sampled_from(attribute.taxonomy.leaves)
        attributes.append(attribute)
        columns.append(draw(st.lists(values, min_size=n, max_size=n)))
    classes = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    return table(attributes, columns), k, classes


@pytest.mark.parametrize("variant", [*PLAIN, *PENALTIES[1:]], ids=name)
@given(drawn=small_tables())
def test_labels_agree_on_any_small_table(variant, drawn):
    records, k, classes = drawn
    assert_agrees(records, k, variant, classes if "class_penalty" in variant[1] else None)


@pytest.mark.parametrize("variant", [v for v in PLAIN if not ALGORITHMS[v[0]].info.numbers_by_sse], ids=name)
def test_numbers_need_not_be_made_records(variant):
    key, params = variant
    X = generate("all-numeric", 31)[0].values
    expected = make(key, k=3, **params).fit(Records.of_numbers(X)).labels_
    np.testing.assert_array_equal(make(key, k=3, **params).fit(X).labels_, expected)


def column(*values):
    return Records.of_numbers(np.array(values, dtype=float)[:, np.newaxis])


def assert_both_give(expected, records, key, k, classes=None, **params):
    known = {} if classes is None else {"classes": classes}
    assert ORACLES[key](records, k, **params, **known) == expected
    assert make(key, k=k, **params).fit(records, classes).labels_.tolist() == expected


def test_k_member_starts_the_next_group_from_the_last_record_or_the_first():
    # The seed 0 draws record 5, (5, 0), from which (10, 10) and (0, 10) are farthest: the first takes (10, 2).
    # From there (0, 10) is farthest, and takes (0, 1); but from (10, 10) it is (0, 0), which takes (0, 1).
    records = Records.of_numbers(np.array([[10, 10], [10, 2], [0, 10], [0, 0], [0, 1], [5, 0]], dtype=float))
    assert_both_give([0, 0, 1, 2, 1, 2], records, "k-member", 2, furthest_from="last")
    assert_both_give([0, 0, 1, 2, 2, 1], records, "k-member", 2, furthest_from="seed")


def test_k_member_lets_the_left_over_join_where_the_loss_grows_least():
    # With 11, the group of 0 and 10 loses 3 * 11 and lost 2 * 10; that of the twenties loses 3 * 9 and lost nothing.
    assert_both_give([0, 0, 0, 1, 1], column(0, 10, 11, 20, 20), "k-member", 2)


def test_k_member_pays_for_classes():
    # To 0, record 1 would cost 2 * 1/3 and a penalty, record 2 costs 2 * 2/3.
    assert_both_give([0, 0, 1, 1], column(0, 1, 2, 3), "k-member", 2, [0, 1, 0, 1], class_penalty=0.0)
    assert_both_give([0, 0, 1, 1], column(0, 1, 2, 3), "k-member", 2, [0, 1, 0, 1], class_penalty=0.66)
    assert_both_give([0, 1, 0, 1], column(0, 1, 2, 3), "k-member", 2, [0, 1, 0, 1], class_penalty=0.67)


def test_mondrian_keeps_equal_values_together_or_halves_its_sets():
    # The median is 1: a strict cut leaves one record on the right.
    assert_both_give([0, 0, 0, 0, 0], column(1, 1, 1, 1, 2), "mondrian", 2, cut="strict")
    assert_both_give([0, 1, 0, 1, 0], column(1, 2, 1, 3, 1), "mondrian", 2, cut="strict")
    # The median is the highest value, so nothing is above it, and the cut is below it.
    assert_both_give([0, 0, 1, 1, 1], column(0, 0, 1, 1, 1), "mondrian", 2, cut="strict")
    # Above the median there is one record, below it there are two.
    assert_both_give([0, 0, 1, 1, 1], column(0, 0, 1, 1, 2), "mondrian", 2, cut="strict")
    assert_both_give([0, 0, 0, 1, 1], column(1, 1, 1, 1, 2), "mondrian", 2, cut="relaxed")


def test_mondrian_measures_categories_by_their_places_among_the_leaves():
    # Both attributes span their domains, so the first is cut, at 5. Of the first four, the numbers span half of theirs,
    # the categories one step of seven, though they meet at the root; of the others 4/10, and from the first leaf to the
    # last.
    numbers = [0, 0, 5, 5, 6, 6, 10, 10]
    countries = ["Mexico", "Iran", "Mexico", "Iran", "USA", "Japan", "USA", "Japan"]
    records = table([NUMERIC, nominal(COUNTRY)], [numbers, [COUNTRY.node(country) for country in countries]])
    assert_both_give([0, 0, 1, 1, 2, 3, 2, 3], records, "mondrian", 2, cut="strict")
    assert_both_give([0, 0, 1, 1, 2, 3, 2, 3], records, "mondrian", 2, cut="relaxed")


def test_mdav_generic_mixed_takes_the_most_frequent_category_as_the_center():
    # c is the center; a is as far from it as b but comes first, and b is farthest from a.
    nodes = [FLAT.node(value) for value in "aabccc"]
    assert_both_give([0, 0, 1, 1, 2, 2], table([nominal(FLAT)], [nodes]), "mdav-generic-mixed", 2)


def test_mdav_generic_mixed_takes_the_lower_median():
    # From the rank 1, rank 3 is farthest; from 2 it would be 0, and the first three would form the group of three.
    records = table([DEGREES], [[0, 0, 0, 1, 2, 3, 3, 3]])
    assert_both_give([0, 0, 0, 0, 0, 1, 1, 1], records, "mdav-generic-mixed", 3)


@given(drawn=small_tables())
def test_sizes_are_those_of_the_papers(drawn):
    records, k, classes = drawn
    # Theorem 2 of Byun, Kamra, Bertino & Li: even if all k - 1 left over join one group of k.
    sizes = np.bincount(make("k-member", k=k, class_penalty=2.0).fit(records, classes).labels_)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    sizes = np.bincount(make("mdav-generic-mixed", k=k).fit(records).labels_)
    assert k <= sizes.min() <= sizes.max() < 2 * k
    assert (sizes > k).sum() <= 1
    # A relaxed cut is always allowed among 2k records that differ; a strict one keeps equal records together.
    rows = records.values.tolist()
    relaxed, strict = (make("mondrian", k=k, cut=cut).fit(records).labels_.tolist() for cut in ("relaxed", "strict"))
    for members in naive_mixed.members_of(relaxed):
        assert len(members) < 2 * k or len({tuple(rows[i]) for i in members}) == 1
    assert len(set(zip(map(tuple, rows), strict, strict=True))) == len(set(map(tuple, rows)))


@pytest.fixture
def records():
    return generate("many-ties", 12)[0]


def test_a_penalty_needs_classes(records):
    with pytest.raises(ParameterError, match=r"class_penalty of .* needs the class of each record: pass y"):
        make("k-member", k=2, class_penalty=0.5).fit(records)
    # Without a penalty they are not looked at.
    expected = make("k-member", k=2).fit(records).labels_
    np.testing.assert_array_equal(make("k-member", k=2).fit(records, ["a", None]).labels_, expected)


def test_bad_records_and_classes_are_named(records):
    with pytest.raises(DataError, match="only 12 records, fewer than k=13"):
        make("mondrian", k=13).fit(records)
    with pytest.raises(DataError, match=r"record 7 \(counting from 0\) has no class"):
        make("k-member", k=2, class_penalty=0.5).fit(records, ["a"] * 7 + [None] + ["b"] * 4)
    values = records.values.copy()
    values[4, 0] = np.nan
    with pytest.raises(DataError, match=r"column 'number' has NaN \(a missing value\) in record 4"):
        make("mondrian", k=2).fit(Records(records.attributes, values))
    with pytest.raises(DataError, match="no centroids"):
        make("mondrian", k=2).fit_transform(records)


@pytest.mark.parametrize("key", ORACLES)
def test_records_are_left_alone_and_may_be_read_only(key, records):
    before = records.values.copy()
    labels = make(key, k=3).fit(records).labels_
    np.testing.assert_array_equal(records.values, before)
    for values in (np.asfortranarray(before), before.astype(np.int64).astype(float)):
        values.setflags(write=False)
        np.testing.assert_array_equal(make(key, k=3).fit(Records(records.attributes, values)).labels_, labels)
