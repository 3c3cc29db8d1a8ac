"""What is said about measures of utility holds for their figures."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from microagg import metrics
from microagg.columns.records import Attribute, Records
from microagg.metrics import generalization, utility
from microagg.metrics.utility import MEASURES, columns
from tests.cases import for_each
from tests.conftest import ROOT

RNG = np.random.default_rng(8)
X = RNG.normal(size=(200, 3)) @ RNG.normal(size=(3, 3))
LABELS = np.arange(200) // 4
RELEASED = X.reshape(50, 4, 3).mean(axis=1)[LABELS]


def figures(before, after, labels):
    names = list("abc")
    changes = columns.correlation_changes(before, after)
    records = Records([Attribute(name) for name in names], before)
    return {
        "total_information_loss": generalization.summary(records, labels, 1).information_loss,
        "information_loss": metrics.information_loss(before, labels),
        "variance_change": np.abs(after.var(axis=0) / before.var(axis=0) - 1).max(),
        "correlation_change": changes.largest,
        "hellinger": utility.hellinger(before, after).value,
        "pmse": utility.propensity(before, after).pmse,
    }


SAME, GROUPED = figures(X, X, np.arange(200)), figures(X, RELEASED, LABELS)


@for_each("key", MEASURES)
def test_figures_lie_within_the_bounds_and_are_better_where_nothing_is_changed(key):
    measure = MEASURES[key]
    assert measure.key == key
    assert measure.bounds[0] <= GROUPED[key] <= measure.bounds[1]
    if measure.better == "low":
        assert SAME[key] == pytest.approx(measure.bounds[0], abs=1e-9)
        assert GROUPED[key] > SAME[key] + 1e-6
    else:
        assert GROUPED[key] < SAME[key] == 1.0


def test_every_measure_has_its_words():
    assert set(MEASURES) == set(GROUPED)
    assert all(measure.formula and measure.source for measure in MEASURES.values())


def test_what_computes_them_is_loaded_once_it_is_used():
    code = "import sys; from microagg.metrics import utility; print({'sklearn', 'scipy.stats'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "set()"
