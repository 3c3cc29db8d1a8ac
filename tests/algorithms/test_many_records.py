"""The MDAV family finds the same groups by a tree as by passes over all records, label for label."""

from contextlib import contextmanager

import numpy as np
import pytest

from microagg import make
from microagg.kernels import running as kernel_threads
from microagg.kernels.grouping import moving_mean
from microagg.kernels.neighbors import brute_force, kd_tree, neighbor_lists
from microagg.progress import Cancelled, watched
from tests.cases import for_each
from tests.conftest import standardized
from tests.kernels.families import FAMILIES, generate
from tests.variants import name

# The kernels behind it have tests of their own, which the quick check runs.
pytestmark = pytest.mark.slow

# A gamma above 1 extends groups nearly always, 0 never.
VARIANTS = [
    *[(key, {}) for key in ("mdav", "mdav-1", "mdav-generic", "cbfs", "mdav-plus", "mdav-star")],
    *[("v-mdav", {"gamma": gamma}) for gamma in (0.0, 0.2, 1.1)],
]


every_variant = pytest.mark.parametrize("variant", VARIANTS, ids=name)


@contextmanager
def always_by_tree(until):
    """Use the tree, whatever there is to be grouped, down to ``until`` records; yield the trees that are made."""
    trees = []

    def made(*args):
        trees.append(make_tree(*args))
        return trees[-1]

    make_tree = kd_tree.make_tree
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbor_lists, "tree_if_faster", lambda X, k, least: kd_tree.make_tree_pool(X))
        patch.setattr(neighbor_lists, "FEWEST", until)
        patch.setattr(kd_tree, "make_tree", made)
        yield trees


@contextmanager
def never_by_tree():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(neighbor_lists, "tree_if_faster", lambda X, k, least: None)
        patch.setattr(kd_tree, "make_tree", None)
        yield


def labels_of(variant, X, k):
    key, params = variant
    return make(key, k=k, **params).fit_predict(X)


def by_passes(variant, X, k):
    with never_by_tree():
        return labels_of(variant, X, k)


def by_tree(variant, X, k, until=1):
    """Return the labels found by a tree, once sure that the tree was used until few records were left."""
    with always_by_tree(until) as trees:
        labels = labels_of(variant, X, k)
    if len(X) > max(until, 3 * k):
        # An algorithm may leave up to 3k - 1 records for the last groups.
        assert trees[-1].left[1] < max(until, 3 * k)
    return labels


def assert_same(variant, X, k, until=1):
    expected = by_passes(variant, X, k)
    got = by_tree(variant, X, k, until)
    differing = np.flatnonzero(got != expected)
    assert len(differing) == 0, f"{name(variant)}, n={len(X)}, k={k}, until={until}: first differs at {differing[0]}"


@every_variant
@for_each(
    ("benchmark", "k"),
    [*[(benchmark, k) for benchmark in ("census", "tarragona") for k in (2, 3, 5, 10, 30)]]
    + [("eia", k) for k in (3, 10, 30)],
)
def test_benchmarks(variant, benchmark, k):
    assert_same(variant, standardized(benchmark), k)


@every_variant
@for_each("family", FAMILIES)
@for_each("d", [1, 4, 20])
def test_families(variant, family, d):
    X, rng = generate(family, 500, d)
    # The tree hands over at once, midway, or at the very end.
    assert_same(variant, X, int(rng.integers(1, 12)), int(rng.choice([1, 40, 250, 480])))


@every_variant
@for_each("family", ["uniform", "grid", "mostly-one", "all-equal", "with-outliers"])
def test_hardly_enough_records(variant, family):
    # Around k, 2k and 3k the algorithms change from their main loop to their various endings.
    for k in (1, 2, 3, 7):
        for n in sorted({k, k + 1, 2 * k - 1, 2 * k, 2 * k + 1, 3 * k - 1, 3 * k, 3 * k + 1, 4 * k, 5 * k + 1}):
            X, _ = generate(family, max(n, 3), 2)
            assert_same(variant, X[:n], k)


@every_variant
@for_each("threads", [1, 2, 3])
@for_each("spare", [0, 1, 20])
def test_labels_do_not_depend_on_what_was_looked_up(monkeypatch, variant, threads, spare):
    monkeypatch.setattr(kernel_threads, "THREADS", threads)
    monkeypatch.setattr(neighbor_lists, "SPARE", spare)
    for family in ("uniform", "grid"):
        X, _ = generate(family, 400, 2)
        assert_same(variant, X, 3, 10)


@every_variant
@for_each(
    ("constant", "value"),
    [
        ("PREDICTED_AT_MOST", 2),
        ("PREDICTED_AT_MOST", 7),
        ("PREDICTED_AT_FIRST", 1),
        ("FARTHEST_LISTED", 1),
        ("FARTHEST_LISTED", 9),
    ],
)
def test_labels_do_not_depend_on_how_many_are_predicted(variant, constant, value):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moving_mean, constant, value)
        for family in ("uniform", "grid", "mostly-one", "on-a-sphere"):
            X, _ = generate(family, 600, 3)
            assert_same(variant, X, 4, 30)


@for_each("key", ["mdav-2", "dba-2", "imhm", "pcl", "cbfs-mhm"])
def test_algorithms_that_start_from_these(key):
    for family, n, k in [("uniform", 700, 5), ("grid", 150, 3), ("mostly-one", 90, 2)]:
        X, _ = generate(family, n, 2)
        with always_by_tree(20) as trees:
            labels = labels_of((key, {}), X, k)
        # DBA-2 may have no group to split.
        assert trees or key == "dba-2"
        assert np.array_equal(labels, by_passes((key, {}), X, k))


@every_variant
def test_a_run_says_where_it_is_and_can_be_cancelled(variant):
    X, _ = generate("uniform", 2000, 3)
    seen = []
    with watched(lambda *where: seen.append(where) or True):
        by_tree(variant, X, 3, 100)
    shares = [share for _, share in seen if share is not None]
    assert len(shares) > 3
    assert shares == sorted(shares)
    assert 0 <= shares[0] < 0.5 < shares[-1] <= 1
    assert all(isinstance(message, str) and message for message, _ in seen)
    seen.clear()
    with watched(lambda *where: seen.append(where) or len(seen) <= 3), pytest.raises(Cancelled), always_by_tree(100):
        labels_of(variant, X, 3)
    assert len(seen) == 4  # it ends at the first refusal


@every_variant
def test_passes_are_made_in_stretches_between_checkpoints(monkeypatch, variant):
    X, _ = generate("grid", 300, 3)
    expected = by_passes(variant, X, 4)
    for terms in (1, 20_000):
        monkeypatch.setattr(brute_force, "TERMS_AT_A_TIME", terms)
        shares = []
        with watched(lambda _, share, shares=shares: shares.append(share) or True):
            assert np.array_equal(by_passes(variant, X, 4), expected)
        assert shares == sorted(shares)
        assert shares[0] == 0.0
        assert 2 < len(shares) <= 300
        with watched(lambda *_: False), pytest.raises(Cancelled):
            by_passes(variant, X, 4)


def gets_tree(X, least=3_000):
    return neighbor_lists.tree_if_faster(X, 5, least) is not None


def test_a_tree_is_preferred_where_its_searches_visit_few_records():
    rng = np.random.default_rng(0)
    even = rng.random((6_000, 20))
    clustered = rng.normal(scale=50, size=(30, 20))[rng.integers(30, size=6_000)] + rng.normal(size=(6_000, 20))
    # Of so many evenly spread attributes a search visits all leaves, of clusters only those of one.
    assert not gets_tree(even)
    assert gets_tree(clustered)
    assert gets_tree(even[:, :2])
    assert not gets_tree(even[:2_900, :2])
    # What a tree hands over at once is not worth one.
    assert not gets_tree(even[: neighbor_lists.FEWEST - 1, :2], 0)
    assert not gets_tree(np.zeros((6_000, 101)))


@every_variant
def test_many_records_go_by_tree_and_few_do_not(monkeypatch, variant):
    X, _ = generate("uniform", 20_000, 2)
    made, make_tree = [], kd_tree.make_tree
    monkeypatch.setattr(kd_tree, "make_tree", lambda *args: made.append(args) or make_tree(*args))
    # The benchmarks are small: EIA has 4,092 records.
    labels_of(variant, X[:4_092], 2)
    assert not made
    labels = labels_of(variant, X, 10)
    assert made
    assert np.array_equal(labels, by_passes(variant, X, 10))
