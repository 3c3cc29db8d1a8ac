"""The variants of the algorithms: what they are called, and what they run."""

from __future__ import annotations

import numpy as np

from microagg import ALGORITHMS
from microagg.algorithms.method import VARIANTS
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
