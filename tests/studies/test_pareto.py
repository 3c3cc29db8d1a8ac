"""Risk against loss by hand and by plain loops, and the rules about the smallest group."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError
from microagg.studies.sweeps import RULES, front, risk_summary, smallest_k
from tests.cases import for_each


def by_definition(risk, loss):
    """Return which points have no other that is as low in both and lower in one."""
    points = list(zip(risk, loss, strict=True))
    return [
        not np.isnan([x, y]).any()
        and not any(a <= x and b <= y and (a < x or b < y) for a, b in points if not np.isnan([a, b]).any())
        for x, y in points
    ]


@for_each("seed", range(20))
def test_the_front_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    # Few values, so that there are many ties, and some that are not known.
    risk, loss = rng.integers(0, 6, size=(2, 25)).astype(float)
    risk[rng.integers(25)] = loss[rng.integers(25)] = np.nan
    assert front(risk, loss).tolist() == by_definition(risk, loss)


def test_the_front_of_nothing_is_empty_and_of_shapes_that_differ_an_error():
    assert front([], []).tolist() == []
    with pytest.raises(DataError, match=r"one loss for each risk, not shapes \(2,\) and \(1,\)"):
        front([1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="the risks must be numbers"):
        front("x", "y")
    with pytest.raises(DataError, match="the losses must be numbers"):
        front([0.5], ["a"])


def runs(risk, loss, *, ks=(3, 4, 5), names="abc", **more):
    """Return rows of a sweep, methods within k; ``risk`` and ``loss`` have a list for each k."""
    frame = pd.DataFrame(
        {
            "k": np.repeat(ks, len(names)),
            "title": [name.upper() for name in names] * len(ks),
            "record_linkage": np.concatenate(risk),
            "information_loss": np.concatenate(loss).astype(float),
        }
    )
    return frame.assign(**more)


RISK = [[0.30, 0.20, 0.25], [0.20, 0.15, 0.18], [0.12, 0.10, 0.10]]
LOSS = [[5.0, 8, 6], [7, 9, 8], [9, 10, 11]]


def test_the_title_says_which_run_loses_least_within_the_largest_acceptable_risk():
    rows = runs(RISK, LOSS)
    worst = {"max_reidentification": 1 / rows["k"], "discernibility": rows["information_loss"] * 1000}
    rows = rows.assign(distinct_l=rows["record_linkage"], **worst)
    for risk, loss, limit, says in (
        ("record_linkage", "information_loss", 15.0, "15 %.* A at k = 5 has the lowest loss: 9.00 %"),
        ("record_linkage", "information_loss", 9.0, "No run .* 9 %.* 10.0 %, B at k = 5"),
        ("max_reidentification", "discernibility", 25.0, "25 %.* A at k = 4 .*: 7,000"),
        ("distinct_l", "information_loss", 34, "at least 3 "),
        ("distinct_l", "information_loss", 0, "infinitely many"),
    ):
        assert re.search(says, risk_summary(rows, risk, loss, limit))
    met = runs([[0.07] * 3], [[1.0, 2, 3]], ks=(9,))
    assert 100 * 0.07 > 7
    assert risk_summary(met, "record_linkage", "information_loss", 7.0).endswith(
        "A at k = 9 has the lowest loss: 1.00 %"
    )
    nothing = rows.assign(record_linkage=np.nan)
    assert risk_summary(nothing, "record_linkage", "information_loss", 9.0).startswith("No ")


@pytest.mark.parametrize(("risk", "k"), [(0.09, 12), (0.1, 10), (1 / 3, 3), (0.2, 5), (0.33, 4), (1, 1), (1 / 49, 49)])
def test_the_smallest_k_keeps_the_risk(risk, k):
    assert smallest_k(risk) == k
    assert 1 / k <= risk
    assert k == 1 or 1 / (k - 1) > risk


@pytest.mark.parametrize("risk", [0.0, -0.1, 1.1, float("nan"), "0.1", None])
def test_what_is_no_risk_is_refused(risk):
    with pytest.raises(ParameterError, match="above 0 and at most 1"):
        smallest_k(risk)


def test_every_rule_has_its_source():
    assert {rule.authority: rule.k for rule in RULES} == {"NHS England": 8, "UK LLC": 10, "CMS": 11, "EMA": 12}
    assert [rule.k for rule in RULES] == sorted(rule.k for rule in RULES)
    for rule in RULES:
        assert rule.url.startswith("https://")
        assert rule.source
        assert rule.text
