"""The algorithms for mixed attributes against their oracles in ``naive_mixed.py``, and what generalization costs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import ALGORITHMS, DataError, ParameterError, Schema, make, metrics
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.metrics import generalization
from microagg.partition import canonical_labels
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
    return table(
        [NUMERIC, nominal(COUNTRY), NUMERIC], [rng.normal(size=n), drawn(nominal(COUNTRY), n, rng), rng.random(n)]
    )


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
    "mdav-generic-mixed": naive_mixed.mdav_generic_mixed,
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


# ---- Agreement -------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@for_each("family", FAMILIES)
@pytest.mark.parametrize("variant", PLAIN, ids=name)
def test_labels_agree(variant, family):
    for k in (1, 2, 3, 4, 6):
        for n in sorted({k, k + 1, 2 * k - 1, 2 * k, 3 * k - 1, 3 * k, 4 * k + 1, 29}):
            assert_agrees(generate(family, n)[0], k, variant)


@pytest.mark.slow
@for_each("family", FAMILIES)
@pytest.mark.parametrize("variant", PLAIN, ids=name)
def test_labels_agree_on_more_records(variant, family):
    for n, k in ((58, 3), (61, 5)):
        assert_agrees(generate(family, n)[0], k, variant)


@pytest.mark.slow
@for_each("family", FAMILIES)
@pytest.mark.parametrize(
    "variant", [*[variant for variant in PLAIN if variant[0] == "k-member"], PENALTIES[0]], ids=name
)
def test_labels_agree_for_any_start(variant, family):
    for seed in range(1, 7):
        # 5 of 29 are left over for k = 6, 2 for k = 3, in an order that the seed decides.
        for k in (3, 6):
            records, rng = generate(family, 29)
            assert_agrees(records, k, variant, rng.integers(0, 2, 29).tolist(), random_state=seed)


@pytest.mark.slow
@for_each("number", [2, 3])
@for_each("family", FAMILIES)
@pytest.mark.parametrize("variant", PENALTIES, ids=name)
def test_labels_agree_with_classes(variant, family, number):
    for n, k in ((7, 1), (7, 3), (11, 4), (30, 2), (34, 5), (41, 6)):
        records, rng = generate(family, n)
        assert_agrees(records, k, variant, rng.integers(0, number, n).tolist(), random_state=n)


@st.composite
def taxonomies(draw):
    """Draw a taxonomy of height 1 to 3 in which nodes have one to three children."""
    height, parents = draw(st.integers(1, 3)), []

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
    np.testing.assert_array_equal(make(key, k=3, **params).fit_predict(pd.DataFrame(X)), expected)


@pytest.mark.parametrize("variant", PENALTIES, ids=name)
def test_classes_may_be_anything_that_tells_records_apart(variant):
    key, params = variant
    records, rng = generate("many-ties", 30)
    codes = rng.integers(0, 3, 30)
    expected = make(key, k=4, **params).fit(records, codes).labels_
    for classes in (codes.tolist(), 7 - codes, pd.Series(codes, index=codes), np.array(["low", "high", ""])[codes]):
        np.testing.assert_array_equal(make(key, k=4, **params).fit_predict(records, classes), expected)


# ---- Traced by hand --------------------------------------------------------------------------------------------------


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


def test_mondrian_goes_on_to_the_next_attribute_where_the_widest_allows_no_cut():
    # All but one are equal in the first attribute; both attributes span their domains.
    records = Records.of_numbers(np.array([[5, 0], [0, 1], [5, 0], [5, 1]], dtype=float))
    assert_both_give([0, 1, 0, 1], records, "mondrian", 2, cut="strict")
    assert_both_give([0, 0, 1, 1], records, "mondrian", 2, cut="relaxed")


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


@pytest.mark.parametrize("variant", [*PLAIN, *PENALTIES], ids=name)
def test_k_of_all_records_gives_one_group_and_k_of_one_loses_nothing(variant):
    key, params = variant
    for family in FAMILIES:
        records, _ = generate(family, 13)
        classes = np.zeros(13)
        assert make(key, k=13, **params).fit(records, classes).labels_.tolist() == [0] * 13
        estimator = make(key, k=1, **params)
        labels = estimator.fit(records, classes).labels_
        # A strict cut at the median leaves nothing above it where more than half have the highest value.
        if getattr(estimator, "cut", "") != "strict":
            assert generalization.total_information_loss(records, labels) == 0.0


# ---- Sizes -----------------------------------------------------------------------------------------------------------


@given(drawn=small_tables(), seed=st.integers(0, 2**32), furthest_from=st.sampled_from(["last", "seed"]))
def test_k_member_groups_have_k_to_2k_minus_1_records(drawn, seed, furthest_from):
    # Theorem 2 of Byun, Kamra, Bertino & Li: even if all k - 1 left over join one group of k.
    records, k, classes = drawn
    for penalty in (0.0, 2.0):
        estimator = make("k-member", k=k, furthest_from=furthest_from, class_penalty=penalty, random_state=seed)
        sizes = np.bincount(estimator.fit(records, classes).labels_)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1
        assert len(sizes) == len(records) // k


@given(drawn=small_tables())
def test_sizes_of_the_others(drawn):
    records, k, _ = drawn
    sizes = np.bincount(make("mdav-generic-mixed", k=k).fit(records).labels_)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1
    assert (sizes > k).sum() <= 1
    relaxed = make("mondrian", k=k, cut="relaxed").fit(records).labels_
    strict = make("mondrian", k=k, cut="strict").fit(records).labels_
    assert min(np.bincount(relaxed).min(), np.bincount(strict).min()) >= k
    # A relaxed cut is always allowed among 2k records that are not all equal.
    for members in naive_mixed.members_of(relaxed.tolist()):
        assert len(members) < 2 * k or (records.values[members] == records.values[members[0]]).all()


@for_each("family", FAMILIES)
def test_strict_cuts_keep_equal_records_together(family):
    records, _ = generate(family, 40)
    labels = make("mondrian", k=3, cut="strict").fit(records).labels_
    groups = {}
    for row, label in zip(records.values.tolist(), labels.tolist(), strict=True):
        groups.setdefault(tuple(row), set()).add(label)
    assert all(len(labels) == 1 for labels in groups.values())


# ---- What is refused -------------------------------------------------------------------------------------------------


@pytest.fixture
def records():
    return generate("many-ties", 12)[0]


def test_a_penalty_needs_classes(records):
    with pytest.raises(ParameterError, match=r"class_penalty of .* needs the class of each record: pass y"):
        make("k-member", k=2, class_penalty=0.5).fit(records)
    # Without a penalty they are not looked at.
    expected = make("k-member", k=2).fit(records).labels_
    np.testing.assert_array_equal(make("k-member", k=2).fit(records, ["a", None]).labels_, expected)


@pytest.mark.parametrize(
    ("classes", "says"),
    [
        (["a"] * 11, r"one class for each of 12 records, not classes of shape \(11,\)"),
        (np.zeros((12, 2)), r"not classes of shape \(12, 2\)"),
        ("a", r"not classes of shape \(\)"),
        (["a"] * 7 + [None] + ["b"] * 4, r"record 7 \(counting from 0\) has no class"),
        ([1.0] * 3 + [np.nan] * 9, r"record 3 \(counting from 0\) has no class"),
        (pd.Series([*"abcdefghij", pd.NA, pd.NA]), r"record 10 \(counting from 0\) has no class"),
    ],
)
def test_bad_classes_are_named(records, classes, says):
    with pytest.raises(DataError, match=says):
        make("k-member", k=2, class_penalty=0.5).fit(records, classes)


@for_each(
    ("key", "params", "says"),
    [
        ("k-member", {"furthest_from": "first"}, "furthest_from must be one of 'last', 'seed', not 'first'"),
        ("k-member", {"class_penalty": -0.1}, "class_penalty must be at least 0"),
        ("k-member", {"class_penalty": np.inf}, "class_penalty must be a finite number"),
        ("k-member", {"random_state": 0.5}, "random_state must be a whole number"),
        ("mondrian", {"cut": "loose"}, "cut must be one of 'strict', 'relaxed', not 'loose'"),
        ("mdav-generic-mixed", {"cut": "strict"}, "has no parameter 'cut'"),
    ],
)
def test_bad_parameters_are_named(key, params, says):
    with pytest.raises(ParameterError, match=says):
        make(key, k=3, **params)


@pytest.mark.parametrize("key", ORACLES)
def test_bad_records_are_named(key, records):
    with pytest.raises(DataError, match="only 12 records, fewer than k=13"):
        make(key, k=13).fit(records)
    values = records.values.copy()
    values[4, 0] = np.nan
    with pytest.raises(DataError, match=r"column 'number' has NaN \(a missing value\) in record 4"):
        make(key, k=2).fit(Records(records.attributes, values))
    with pytest.raises(DataError, match="no centroids"):
        make(key, k=2).fit_transform(records)


@pytest.mark.parametrize("key", ORACLES)
def test_records_are_left_alone_and_may_be_read_only(key, records):
    before = records.values.copy()
    labels = make(key, k=3).fit(records).labels_
    np.testing.assert_array_equal(records.values, before)
    for values in (np.asfortranarray(before), before.astype(np.int64).astype(float)):
        values.setflags(write=False)
        np.testing.assert_array_equal(make(key, k=3).fit(Records(records.attributes, values)).labels_, labels)


# ---- The measures of generalization ----------------------------------------------------------------------------------


def record_distance(records, one, other):
    """Return half of what a group of two records loses, which is their distance."""
    return generalization.total_information_loss(records.take(np.array([one, other])), [0, 0]) / 2


def test_distance_of_numbers():
    records = Records.of_numbers(np.array([[0.0, 3.0], [20.0, 3.0], [50.0, 3.0], [60.0, 3.0]]))
    assert record_distance(records, 1, 2) == record_distance(records, 2, 1) == 0.5
    assert record_distance(records, 0, 3) == 1.0


@for_each(
    ("one", "other", "distance"),
    [
        ("India", "USA", 1.0),
        ("India", "Iran", 2 / 3),
        ("Mexico", "Canada", 2 / 3),
        ("India", "Japan", 1 / 3),
        ("India", "India", 0.0),
    ],
)
def test_distance_of_categories_as_published(one, other, distance):
    # Example 1 of Byun, Kamra, Bertino & Li.
    assert COUNTRY.distance(one, other) == distance
    assert COUNTRY.distance(other, one) == distance


#: Six patients; the domain of age is 60 - 20 = 40.
PATIENTS = pd.DataFrame(
    {
        "age": [40, 60, 20, 30, 50, 35],
        "zip": [41076, 41075, 41095, 41099, 41075, 41095],
        "income": ["middle", "high", "low", "low", "low", "middle"],
        "disease": ["flu", "flu", "flu", "cancer", "cancer", "cancer"],
    }
)
ZIP = Taxonomy.from_text("*\n  4107*\n    41075\n    41076\n  4109*\n    41095\n    41099\n")
# By hand:        age            zip                     income           sum    IL
#   40, 60:  20/40 = 1/2    4107*: 1/2    middle..high: 1/2   3/2   * 2 = 3
#   20, 30:  10/40 = 1/4    4109*: 1/2    low:          0     3/4   * 2 = 3/2
#   50, 35:  15/40 = 3/8    *:     1      low..middle:  1/2   15/8  * 2 = 15/4
# Total-IL = 33/4, of at most 6 * 3.
PAIRS = [0, 0, 1, 1, 2, 2]


@pytest.fixture
def schema():
    return Schema.infer(
        PATIENTS, ["age", "zip", "income"], taxonomies={"zip": ZIP}, ordinal={"income": ["low", "middle", "high"]}
    )


def test_a_table_worked_out_on_paper(schema):
    assert generalization.group_information_loss(PATIENTS, PAIRS, schema).tolist() == [3.0, 1.5, 3.75]
    assert generalization.total_information_loss(PATIENTS, PAIRS, schema) == 8.25
    # Age: (1/2 + 1/4 + 3/8) / 3; zip: (1/2 + 1/2 + 1) / 3; income: (1/2 + 0 + 1/2) / 3.
    assert generalization.attribute_information_loss(PATIENTS, PAIRS, schema) == pytest.approx([3 / 8, 2 / 3, 1 / 3])
    # 20/40, the same region, one of two steps.
    assert record_distance(schema.records(PATIENTS), 0, 1) == 1.5
    # 10/40, two regions, no step.
    assert record_distance(schema.records(PATIENTS), 3, 0) == 0.25 + 1.0 + 0.5
    extents = generalization.extents(schema.records(PATIENTS), PAIRS)
    assert extents.sizes.tolist() == [2, 2, 2]
    assert extents.low[:, 0].tolist() == [40, 20, 35]
    assert extents.high[:, 0].tolist() == [60, 30, 50]
    assert [ZIP.names[int(node)] for node in extents.low[:, 1]] == ["4107*", "4109*", "*"]
    assert extents.low[:, 1].tolist() == extents.high[:, 1].tolist()
    assert extents.low[:, 2].tolist() == [1, 0, 0]
    assert extents.high[:, 2].tolist() == [2, 0, 1]
    assert extents.shares.tolist() == [[0.5, 0.5, 0.5], [0.25, 0.5, 0.0], [0.375, 1.0, 0.5]]


def test_a_summary_worked_out_on_paper(schema):
    summary = generalization.summary(schema.records(PATIENTS), PAIRS, 2, PATIENTS["disease"])
    assert summary.total_information_loss == 8.25
    assert summary.information_loss == pytest.approx(100 * 8.25 / 18)
    # Three groups of 2 * 2 pairs; only in the second there are two diseases.
    assert summary.discernibility == 12
    assert summary.average_class_size == 1.0
    assert summary.classification == pytest.approx(1 / 6)
    assert generalization.summary(schema.records(PATIENTS), PAIRS, 2).classification is None


def test_the_numbering_of_groups_and_the_order_of_records_change_nothing(schema):
    renumbered = [7, 7, -1, -1, 3, 3]
    assert generalization.group_information_loss(PATIENTS, renumbered, schema).tolist() == [3.0, 1.5, 3.75]
    order = [4, 2, 0, 5, 1, 3]
    shuffled = PATIENTS.iloc[order]
    assert generalization.total_information_loss(shuffled, [PAIRS[i] for i in order], schema) == 8.25


def test_discernibility_and_average_class_size():
    labels = [0] * 5 + [1] * 3 + [2] * 2
    assert generalization.discernibility(labels) == 25 + 9 + 4
    assert generalization.average_class_size(labels) == pytest.approx(10 / 3)
    assert generalization.average_class_size(labels, 2) == pytest.approx(5 / 3)
    assert generalization.discernibility(range(8)) == 8
    assert generalization.average_class_size(range(8)) == 1.0
    with pytest.raises(ParameterError, match="k must be at least 1, not 0"):
        generalization.average_class_size(labels, 0)


def test_classification_worked_out_by_hand():
    # a, a, b, b, c: three are not a (or not b); a, a, a: none; c, b: one.
    labels = [0] * 5 + [1] * 3 + [2] * 2
    classes = list("aabbcaaacb")
    assert generalization.classification(labels, classes) == pytest.approx(4 / 10)
    assert generalization.classification(range(10), classes) == 0.0
    # Of all ten, five are a.
    assert generalization.classification([3] * 10, classes) == pytest.approx(0.5)
    for bad in (classes[1:], [[one] for one in classes], "a"):
        with pytest.raises(DataError, match=r"labels for 10 records, but classes of shape \(.*\): give one each"):
            generalization.classification(labels, bad)


@for_each("family", FAMILIES)
def test_classification_against_a_plain_loop(family):
    rng = generate(family, 40)[1]
    classes = rng.integers(0, 4, 40).tolist()
    labels = rng.integers(0, 9, 40)
    outside = sum(naive_mixed.minority(classes, members) for members in naive_mixed.members_of(labels.tolist()))
    assert generalization.classification(labels, classes) == pytest.approx(outside / 40)


@for_each("family", FAMILIES)
def test_extents_against_a_plain_loop(family):
    for n in (1, 2, 17, 50):
        records, rng = generate(family, n)
        labels = rng.integers(0, max(2, n // 4), n)
        found = generalization.extents(records, labels)
        expected = naive_mixed.extents(records, labels.tolist())
        assert found.sizes.tolist() == [size for size, *_ in expected]
        assert found.low.tolist() == [low for _, low, _, _ in expected]
        assert found.high.tolist() == [high for _, _, high, _ in expected]
        assert found.shares.tolist() == [shares for *_, shares in expected]
        total = generalization.total_information_loss(records, labels)
        assert total == pytest.approx(naive_mixed.total_loss(records, labels.tolist()))
        assert generalization.group_information_loss(records, labels).sum() == pytest.approx(total)
        assert n * generalization.attribute_information_loss(records, labels).sum() == pytest.approx(total)


@for_each("family", FAMILIES)
def test_distances_against_a_plain_loop(family):
    records, _ = generate(family, 12)
    for i in range(12):
        for j in range(12):
            distance = naive_mixed.distance(records, i, j)
            assert record_distance(records, i, j) == pytest.approx(distance)
            # A group of two loses twice their distance.
            if i != j:
                labels = [0 if record in (i, j) else record + 1 for record in range(12)]
                assert generalization.total_information_loss(records, labels) == pytest.approx(2 * distance)


@given(drawn=small_tables(), data=st.data())
def test_total_information_loss_is_within_its_bounds_and_falls_with_every_split(drawn, data):
    records, _, _ = drawn
    n = len(records)
    coarse = data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    halves = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    fine = [2 * group + half for group, half in zip(coarse, halves, strict=True)]
    losses = [generalization.total_information_loss(records, labels) for labels in (range(n), fine, coarse, [0] * n)]
    assert losses[0] == 0.0
    assert sorted(losses) == pytest.approx(losses)
    assert losses[-1] <= n * records.d * (1 + 1e-12)


def test_one_group_that_spans_everything_loses_all_there_is():
    nodes = [COUNTRY.node(country) for country in ("USA", "Japan", "Japan")]
    records = table([NUMERIC, nominal(COUNTRY), DEGREES], [[3, -5, 0], nodes, [1, 3, 0]])
    assert generalization.total_information_loss(records, [0, 0, 0]) == 9.0
    assert generalization.summary(records, [0, 0, 0], 3).information_loss == 100.0
    # Values that are all the same, and a domain of one number, level or category, cost nothing.
    same = table([NUMERIC, nominal(ONE_VALUE), ONE_LEVEL], [[3, 3], [1, 1], [0, 0]])
    assert generalization.total_information_loss(same, [0, 0]) == 0.0


def test_measures_name_what_is_wrong(schema):
    with pytest.raises(DataError, match="6 records, but labels for 5"):
        generalization.total_information_loss(PATIENTS, PAIRS[1:], schema)
    with pytest.raises(DataError, match="labels must be whole numbers"):
        generalization.total_information_loss(PATIENTS, [0.5] * 6, schema)
    with pytest.raises(DataError, match=r"needs its schema: pass microagg\.Schema\.infer"):
        generalization.total_information_loss(PATIENTS, PAIRS)
    with pytest.raises(DataError, match=r"column 'zip', record 0 .*no value '99999'"):
        generalization.total_information_loss(PATIENTS.assign(zip=99999), PAIRS, schema)
    assert metrics.generalization is generalization


def test_the_algorithms_take_what_a_schema_makes(schema):
    records = schema.records(PATIENTS)
    for key in ORACLES:
        labels = make(key, k=2).fit(records).labels_.tolist()
        assert labels == ORACLES[key](records, 2)
        assert labels == canonical_labels(labels).tolist()
