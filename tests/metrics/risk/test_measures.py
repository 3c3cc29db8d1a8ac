"""What is said about the measures of risk fits the figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import metrics
from microagg.metrics.risk import (
    MEASURES,
    homogeneity,
    individual_risk,
    interval_disclosure,
    record_linkage,
    uniqueness,
)
from microagg.partition import group_means
from microagg.release.predicted_linkage import predicted_linkage


def figures(X, released, labels, confidential):
    """All measures of a release by their keys."""
    unique = uniqueness(pd.DataFrame(np.asarray(released)), list(range(released.shape[1])))
    alike = homogeneity(confidential, labels)
    frame = pd.DataFrame({"group": labels})
    predicted = predicted_linkage(pd.DataFrame(X), pd.DataFrame({"pay": confidential}), np.asarray(labels))
    return {
        "predicted_linkage": max((each.share for each in predicted), default=unique.n_classes / unique.n_records),
        "record_linkage": record_linkage(X, released).share,
        "interval_disclosure": interval_disclosure(X, released, 0.05).mean(),
        "uniqueness": unique.share,
        "max_reidentification": unique.max_reidentification,
        **{key: getattr(alike, key) for key in ("homogeneous", "distinct_l", "alpha")},
        "t_closeness": alike.t_closeness,
        "individual_risk": individual_risk(frame, ["group"], np.full(len(labels), 5.0)).share,
    }


@pytest.fixture(scope="module")
def before_and_after():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    pay = X[:, 0].round(1)
    alone, groups = np.arange(60), np.argsort(np.argsort(X[:, 1])) // 6
    return figures(X, X, alone, pay), figures(X, group_means(X, groups)[groups], groups, pay)


def test_every_measure_is_described_and_every_description_is_of_one(before_and_after):
    assert set(before_and_after[0]) == set(MEASURES)
    assert metrics.risk.MEASURES is MEASURES
    assert all(measure.key == key and measure.formula and measure.source for key, measure in MEASURES.items())


def test_figures_are_within_their_bounds(before_and_after):
    for found in before_and_after:
        for key, value in found.items():
            assert MEASURES[key].bounds[0] <= value <= MEASURES[key].bounds[1], key


def test_groups_of_six_are_better_than_the_file_as_it_is(before_and_after):
    before, after = before_and_after
    for key, measure in MEASURES.items():
        assert (after[key] < before[key]) == (measure.better == "low"), key
