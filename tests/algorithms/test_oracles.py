"""Every algorithm gives the labels of its oracle in ``naive.py``, record for record, ties and duplicates included."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg.algorithms.registry import ALGORITHMS, make
from tests import naive
from tests.cases import for_each
from tests.variants import name, variants

# A gamma of 0 never extends a group; of 1, if another record is nearer to it than to the rest; of 2, nearly always.
VARIANTS = variants()


def some_rows_often(base, n, rng):
    """Return n rows drawn from a few, so that most of them occur several times, scattered over the indices."""
    return base[rng.integers(0, len(base), n)]


# Each family takes the number of records and a random generator.
FAMILIES = {
    "gaussian-1d": lambda n, rng: rng.normal(size=(n, 1)),
    "gaussian-2d": lambda n, rng: rng.normal(size=(n, 2)),
    "gaussian-5d": lambda n, rng: rng.normal(size=(n, 5)),
    "gaussian-13d": lambda n, rng: rng.normal(size=(n, 13)),
    "grid-1d": lambda n, rng: rng.integers(0, 8, (n, 1)),
    "grid-2d": lambda n, rng: rng.integers(0, 5, (n, 2)),
    "grid-3d": lambda n, rng: rng.integers(-1, 2, (n, 3)),
    # Nothing occurs twice, and yet almost every distance does.
    "evenly-spaced": lambda n, rng: rng.permutation(n)[:, np.newaxis],
    "repeated-floats": lambda n, rng: some_rows_often(rng.normal(size=(max(2, n // 4), 3)), n, rng),
    "repeated-integers": lambda n, rng: some_rows_often(rng.integers(0, 10, (max(2, n // 4), 2)), n, rng),
    "all-equal-integers": lambda n, rng: np.full((n, 2), 7),
    # The mean of many 0.1 need not be 0.1: distances to centroids are tiny, not 0, and still tie.
    "all-equal-floats": lambda n, rng: np.full((n, 2), 0.1),
    "constant-columns": lambda n, rng: np.column_stack([np.full(n, 0.1), rng.normal(size=n), np.full(n, -3.0)]),
    "heavy-tailed": lambda n, rng: rng.lognormal(sigma=2.5, size=(n, 4)),
    # Formulas such as |x|² - 2xy + |y|² lose most of their digits here.
    "far-from-origin": lambda n, rng: 1e7 + rng.normal(size=(n, 3)),
}


def generate(family, n):
    # The seed names the case, not the order of the tests: a failure can be reproduced alone.
    rng = np.random.default_rng([n, *family.encode()])
    return np.asarray(FAMILIES[family](n, rng), dtype=float)


def assert_agrees(X, k, variant):
    key, params = variant
    expected = naive.ORACLES[key](X, k, **params)
    got = make(key, k=k, **params).fit_predict(X).tolist()
    assert got == expected, f"{name(variant)} differs from its oracle at n={len(X)}, k={k}, X={X.tolist()}"


@pytest.mark.parametrize("key", [key for key, cls in ALGORITHMS.items() if cls.info.checked_by == "oracle"])
def test_an_algorithm_has_an_oracle(key):
    assert key in naive.ORACLES, f"write the oracle of {key!r} in tests/naive.py and add it to ORACLES there"


def test_an_oracle_has_an_algorithm():
    assert {key for key in naive.ORACLES if ALGORITHMS[key].info.checked_by != "oracle"} == set()


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS, ids=name)
@for_each("family", FAMILIES)
def test_labels_agree(variant, family):
    # Around k, 2k and 3k the algorithms change from their main loop to their various endings.
    for k in (1, 2, 3, 5):
        for n in sorted({k, k + 1, 2 * k - 1, 2 * k, 3 * k - 1, 3 * k, 4 * k + 1}):
            assert_agrees(generate(family, n), k, variant)


@pytest.mark.slow
@for_each("family", ["gaussian-2d", "gaussian-13d", "grid-2d", "evenly-spaced", "repeated-floats", "heavy-tailed"])
@pytest.mark.parametrize("variant", VARIANTS, ids=name)
def test_labels_agree_on_more_records(variant, family):
    assert_agrees(generate(family, 61), 4, variant)


@st.composite
def small_tables(draw):
    """Draw a table of small integers and a k that it has enough records for."""
    k = draw(st.integers(1, 6))
    n = draw(st.integers(k, 7 * k))
    d = draw(st.integers(1, 3))
    highest = draw(st.integers(1, 12))
    records = st.lists(st.integers(0, highest), min_size=d, max_size=d)
    return np.array(draw(st.lists(records, min_size=n, max_size=n)), dtype=float), k


@pytest.mark.parametrize("variant", VARIANTS, ids=name)
@given(table=small_tables())
def test_labels_agree_on_any_small_integers(variant, table):
    X, k = table
    assert_agrees(X, k, variant)


#: The example by which [S0] explains MDAV*; its centroid is 34, its SST 17966.
TOY = np.array([1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100], dtype=float)[:, np.newaxis]


def test_toy_example_as_published():
    assert naive.centroid(naive.rows(TOY), range(11)) == [34]
    sst = naive.sse(TOY, [0] * 11)
    assert sst == 17966
    fixed = [0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2]
    for labels in (naive.mdav(TOY, 3), naive.mdav_plus(TOY, 3), naive.v_mdav(TOY, 3, gamma=0.2)):
        assert labels == fixed
        assert naive.sse(TOY, labels) == pytest.approx(258.8)
        assert round(100 * naive.sse(TOY, labels) / sst, 2) == 1.44
    star = naive.mdav_star(TOY, 3)
    assert star == [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert naive.sse(TOY, star) == pytest.approx(21.2)
    assert round(100 * naive.sse(TOY, star) / sst, 3) == 0.118


# Traced by hand: with all records equal, nothing but the rules for ties decides.
@pytest.mark.parametrize(
    ("key", "n", "k", "expected"),
    [
        # r = 0 and s = 1, which goes into 0's group: 3 takes its place.
        ("mdav", 7, 3, [0, 0, 0, 1, 1, 1, 0]),
        # Record 1 stands at position k when 0's group is gathered, whose second place record 2 has taken.
        ("mdav-argus", 6, 2, [0, 1, 0, 1, 2, 2]),
        # The pair is (0, 1); 1's group takes 0, so 2 seeds the other.
        ("md", 4, 2, [0, 0, 1, 1]),
        # 0 < 0.2 * 0 is false, so groups stay at k until the last record, to which no other is near.
        ("v-mdav", 5, 2, [0, 0, 1, 1, 1]),
        ("mdav-star", 5, 2, [0, 0, 1, 1, 0]),
    ],
)
def test_ties_traced_by_hand(key, n, k, expected):
    assert naive.ORACLES[key](np.zeros((n, 1)), k) == expected


#: For k = 3, the zeros and the twenties are groups, and 9 and 11 are left over; 9 joins the zeros everywhere.
LEFT_OVERS = [[0], [0], [0], [20], [20], [20], [9], [11]]
#: Mean 5.5, so that record 0 seeds the first group of 3; 4 is at squared distance 4 of it, and 16 of its next neighbor.
EXTENSIBLE = [[0], [1], [2], [4], [8], [9], [10], [10]]
#: Record 1 is farthest from the centroid and record 0 from record 1, which is yet the second nearest to record 0.
SEEDS_CLOSE_BY = [[100, 0], [0, 0], [99, 1]] + [[45, 87]] * 6


@for_each(
    ("key", "table", "params", "expected"),
    [
        # MDAV* lets 9 move the centroid, but the zeros with 9 would grow by 4/5 * 8.75², the twenties by 3/4 * 9².
        *((key, LEFT_OVERS, {}, [0, 0, 0, 1, 1, 1, 0, 1]) for key in ("mdav-1", "md", "mdav-plus", "mdav-star")),
        # The centroid of the zeros and 9 is 2.25, nearer to 11 than 20 is.
        ("mdav", LEFT_OVERS, {}, [0, 0, 0, 1, 1, 1, 0, 0]),
        ("v-mdav", EXTENSIBLE, {"gamma": 0.26}, [0, 0, 0, 0, 1, 1, 1, 1]),
        # 4 < 0.25 * 16 is false. The second group then takes 8 (1 < 0.25 * 16), and 4 as the last record.
        ("v-mdav", EXTENSIBLE, {"gamma": 0.25}, [0, 0, 0, 1, 1, 1, 1, 1]),
        # Record 1 goes to position 3, from where it is swapped into the group of record 0; record 3 then stands there.
        ("mdav-argus", SEEDS_CLOSE_BY, {}, [0, 0, 0, 1, 1, 1, 2, 2, 2]),
    ],
)
def test_tables_traced_by_hand(key, table, params, expected):
    assert naive.ORACLES[key](table, 3, **params) == expected
    assert make(key, k=3, **params).fit_predict(np.array(table, dtype=float)).tolist() == expected


def test_the_farthest_centroid_leaves_the_least_sse_behind():
    # GSMS is defined by SSE(g) + SSE(U without g), and computed by the distance of two centroids.
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(25, 3)).tolist()
        U = list(range(25))
        for k in (1, 2, 4):
            around = [naive.group_around(X, r, U, k) for r in U]
            left = [naive.group_sse(X, g) + naive.group_sse(X, naive.without(U, g)) for g in around]
            chosen = naive.gsms_groups(X, k)[0]
            assert left[around.index(chosen)] == pytest.approx(min(left), rel=1e-12)


# Two or three distinct rows repeated: the farthest from the centroid of the unassigned is a matter of its last bit.
SYMMETRIC = {
    "mdav-generic": (3, "xyxyxxyxyyxyyx", {"x": [0.3689862863896283], "y": [1.2623802917054945]}),
    "cbfs": (
        2,
        "abcbbacc",
        {
            "a": [-0.05316069145020075, -2.3084483521193007, 0.9556772420190838],
            "b": [-0.5348760893728179, 0.6901062405610507, -0.5750533957681346],
            "c": [2.3380514298017023, -0.53516484393304, 0.7787945473904236],
        },
    ),
}


@pytest.mark.parametrize("key", SYMMETRIC)
def test_ties_that_hang_on_the_last_bit_of_the_centroid(key):
    k, pattern, rows = SYMMETRIC[key]
    X = np.array([rows[letter] for letter in pattern])
    assert make(key, k=k).fit_predict(X).tolist() == naive.ORACLES[key](X, k)


@pytest.mark.slow
@pytest.mark.parametrize("key", ["mdav", "mdav-1", "mdav-generic", "mdav-generic-mixed", "cbfs"])
@for_each("factor", [1e8, 1e16, 1e18])
def test_extreme_outliers_leave_the_centroid_of_the_others_exact(key, factor):
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(40, 3))
        X[:3] *= factor
        for k in (1, 3):
            assert make(key, k=k).fit_predict(X).tolist() == naive.ORACLES[key](X, k)


@pytest.mark.slow
@pytest.mark.parametrize("key", list(naive.ORACLES))
def test_few_distinct_rows_in_many_patterns(key):
    for seed in range(30):
        draw = np.random.default_rng(seed)
        rows = draw.normal(size=(draw.integers(1, 4), draw.integers(1, 4)))
        X = rows[draw.integers(0, len(rows), size=draw.integers(4, 16))]
        for k in (1, 2, 3):
            assert make(key, k=k).fit_predict(X).tolist() == naive.ORACLES[key](X, k), (seed, k)
