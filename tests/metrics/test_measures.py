"""The descriptions of measures hold for their figures, of a file as it is and of its means in groups of six."""

import numpy as np
import pandas as pd

from microagg.columns.records import Attribute, Records
from microagg.metrics import generalization, information_loss, risk, utility
from microagg.metrics.utility.columns import correlation_changes
from microagg.partition import group_means
from microagg.release.predicted_linkage import predicted_linkage
from tests.cases import for_each

MEASURES = risk.MEASURES | utility.MEASURES
RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) @ RNG.normal(size=(3, 3))


def figures(released, labels):
    """Return all measures of a release of X by their keys."""
    unique = risk.uniqueness(pd.DataFrame(released), list(range(3)))
    confidential = X[:, 0].round(1)
    homogeneity = risk.homogeneity(confidential, labels)
    predicted = predicted_linkage(pd.DataFrame(X), pd.DataFrame({"pay": confidential}), labels)
    frame = pd.DataFrame({"group": labels})
    records = Records([Attribute(name) for name in "abc"], X)
    return {
        "predicted_linkage": max((each.share for each in predicted), default=unique.n_classes / unique.n_records),
        "record_linkage": risk.record_linkage(X, released).share,
        "interval_disclosure": risk.interval_disclosure(X, released, 0.05).mean(),
        "uniqueness": unique.share,
        "max_reidentification": unique.max_reidentification,
        **{key: getattr(homogeneity, key) for key in ("homogeneous", "distinct_l", "alpha", "t_closeness")},
        "individual_risk": risk.individual_risk(frame, ["group"], np.full(60, 5.0)).share,
        "total_information_loss": generalization.summary(records, labels, 1).information_loss,
        "information_loss": information_loss(X, labels),
        "variance_change": np.abs(released.var(axis=0) / X.var(axis=0) - 1).max(),
        "correlation_change": correlation_changes(X, released).largest,
        "hellinger": utility.hellinger(X, released).value,
        "pmse": utility.propensity(X, released).pmse,
    }


GROUPS = np.argsort(np.argsort(X[:, 1])) // 6
BEFORE, AFTER = figures(X, np.arange(60)), figures(group_means(X, GROUPS)[GROUPS], GROUPS)


def test_every_measure_is_described():
    assert set(AFTER) == set(MEASURES)
    assert all(measure.key == key and measure.formula and measure.source for key, measure in MEASURES.items())


@for_each("key", MEASURES)
def test_figures_are_within_their_bounds_and_change_in_the_direction_described(key):
    measure = MEASURES[key]
    low, high = measure.bounds
    assert low - 1e-9 <= BEFORE[key] <= high
    assert low <= AFTER[key] <= high
    falls = (measure.better == "low") == (key in risk.MEASURES)  # less risk, and less utility
    assert AFTER[key] < BEFORE[key] if falls else AFTER[key] > BEFORE[key]
