"""The variants of the algorithms: what they are called, what they run, and how they are recognized."""

from __future__ import annotations

import numpy as np

from microagg import ALGORITHMS
from microagg.algorithms.method import VARIANTS, recognize
from microagg.studies.experiment import Method
from tests.cases import for_each


def test_every_algorithm_has_a_variant_for_each_preset_or_one_of_its_own_name():
    assert list(dict.fromkeys(variant.key for variant in VARIANTS.values())) == list(ALGORITHMS)
    assert len(VARIANTS) == sum(max(1, len(cls.info.presets)) for cls in ALGORITHMS.values())
    assert all(variant.name == name for name, variant in VARIANTS.items())
    assert VARIANTS["v-mdav"].title == "V-MDAV"
    assert VARIANTS["mondrian-relaxed"].fixed == {"cut": "relaxed"}
    assert VARIANTS["mondrian-relaxed"].key == "mondrian"


def test_mixed_variants_are_those_that_work_on_categories():
    mixed = {name for name, variant in VARIANTS.items() if variant.mixed}
    close = {name for name, variant in VARIANTS.items() if variant.needs_closeness}
    assert close == {"k-anonymity-first", "t-closeness-first"}
    assert mixed - close == {
        *("k-member", "k-member-classes", "mondrian", "mondrian-relaxed", "mdav-generic-mixed", "least-loss")
    }


@for_each(
    ("name", "given", "runs"),
    [
        ("mdav", {}, Method("mdav")),
        ("v-mdav", {"gamma": 0.4}, Method("v-mdav", {"gamma": 0.4})),
        ("v-mdav", {"gamma": [0.1, 0.4]}, Method("v-mdav", {"gamma": (0.1, 0.4)})),
        # What makes a variant stays.
        ("mondrian-relaxed", {"cut": "strict"}, Method("mondrian", {"cut": "relaxed"})),
        ("mondrian", {}, Method("mondrian", {"cut": "strict"})),
        # A variant without a penalty has none, one with a penalty has at least the usual one.
        ("k-member", {"class_penalty": 3.0, "random_state": 4}, Method("k-member", {"random_state": 4})),
        ("k-member-classes", {}, Method("k-member", {"class_penalty": 2.0})),
        ("k-member-classes", {"class_penalty": 0.0}, Method("k-member", {"class_penalty": 2.0})),
        ("k-member-classes", {"class_penalty": 0.5}, Method("k-member", {"class_penalty": 0.5})),
        ("k-member-classes", {"class_penalty": np.array([0, 1])}, Method("k-member", {"class_penalty": (0, 1)})),
    ],
)
def test_method_of_a_variant(name, given, runs):
    assert VARIANTS[name].method(given) == runs


@for_each("name", VARIANTS)
def test_a_variant_is_recognized_by_the_parameters_that_it_runs_with(name):
    method = VARIANTS[name].method()
    [settings] = method.settings()
    assert recognize(method.key, {key: str(value) for key, value in settings.items()}) == name


def test_other_parameters_are_those_of_no_variant():
    assert recognize("k-member", {"furthest_from": "seed"}) is None
    assert recognize("v-mdav", {"gamma": "0.4"}) is None
    assert recognize("no-algorithm", {}) is None
    assert recognize("mdav", {}) == "mdav"
    assert recognize("k-member", {"class_penalty": "7.5"}) == "k-member-classes"
    assert recognize("k-member", {"class_penalty": "0.0"}) == "k-member"
    assert recognize("k-member", "class_penalty=7.5, furthest_from=") is None
    assert recognize("k-member", "class_penalty=7.5") == "k-member-classes"
    assert recognize("mdav", "") == "mdav"
