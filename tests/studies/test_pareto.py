"""Risk against loss by hand and by plain loops, and the rules about the smallest group."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from microagg import DataError, ParameterError
from microagg.studies import pareto
from microagg.studies.pareto import (
    RISKS,
    RULES,
    above_in_words,
    agreement,
    agreement_in_words,
    front,
    smallest_k,
    summary,
    within_in_words,
)
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


def test_what_are_no_numbers_has_no_front():
    with pytest.raises(DataError, match="the risks must be numbers: could not convert string"):
        front("x", "y")
    with pytest.raises(DataError, match="the losses must be numbers"):
        front([0.5], ["a"])


def test_a_risk_above_the_limit_is_said_with_what_keeps_within_it():
    assert above_in_words("max_reidentification", 1 / 3, 9.0) == (
        "The risk of the worst record is 33.3 %, above the 9 % that are acceptable: in groups of 12 records or more it "
        "is not."
    )
    assert above_in_words("record_linkage", 0.25, 20) == (
        "The share of records found again is 25.0 %, above the 20 % that are acceptable: a larger k may lower it."
    )
    assert above_in_words("max_reidentification", 0.1, 0).endswith("a larger k may lower it.")
    assert [above_in_words(risk, 0.1, 10) for risk in RISKS] == [""] * len(RISKS)
    assert above_in_words("record_linkage", 0.3, 30) == ""  # 100 · 0.3 is a little more than 30


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


def test_agreement_is_the_mean_of_rank_correlations_within_each_k():
    found = agreement(runs(RISK, LOSS), "record_linkage")
    assert found.correlation == pytest.approx(
        np.mean([spearmanr(risk, loss).statistic for risk, loss in zip(RISK, LOSS, strict=True)])
    )
    assert found.n_ks == 3
    # A loses least and has the higher risk at each k: 0.62 in all, where the others' means are 0.225, 0.165 and 0.10.
    assert found.n_higher == 3
    assert found.ratio == pytest.approx(0.62 / 0.49)


def test_too_few_runs_cannot_tell():
    rows = runs(RISK, LOSS)
    assert agreement(rows[rows["title"] != "C"], "record_linkage") is None
    assert agreement(rows[rows["k"] < 5], "record_linkage") is None
    assert agreement(rows.assign(record_linkage=0.5), "record_linkage") is None
    assert agreement(rows.assign(record_linkage=np.nan), "record_linkage") is None
    assert agreement_in_words(None, "record_linkage").startswith("These runs cannot tell")


@pytest.mark.parametrize(
    ("loss", "says"),
    [
        (
            LOSS,
            "Here it does: at the same k, methods that lose less tend to have a higher share of records found again",
        ),
        (
            [[8, 5, 6], [9, 7, 8], [11, 9, 10]],
            "Here it does not: at the same k, methods that lose less tend to have a lo",
        ),
        (
            [[5, 6, 8], [9, 7, 8], [9, 9.5, 10]],
            "Not clearly here: at the same k, the share of records found again hardly",
        ),
    ],
)
def test_whether_a_lower_loss_means_a_higher_risk_is_a_sentence(loss, says):
    found = agreement(runs(RISK, loss), "record_linkage")
    assert agreement_in_words(found, "record_linkage").startswith(says)


def test_the_sentence_has_the_measured_figures():
    says = agreement_in_words(pareto.Agreement(19, -0.554, 16, 1.012), "record_linkage")
    assert "(rank correlation of loss and risk −0.55, the mean over 19 values of k)" in says
    assert says.endswith("is 1.01 times the others' mean, and above it at 16 of 19 values of k.")
    same = agreement_in_words(pareto.Agreement(4, 0.1, 2, 0.999), "t_closeness")
    assert same.endswith("is as high as the others' mean, and above it at 2 of 4 values of k.")
    no_risk = agreement_in_words(pareto.Agreement(4, 0.1, 2, float("nan")), "homogeneous")
    assert no_risk.endswith("The method that loses least has the higher risk at 2 of 4 values of k.")


def test_one_over_the_fewest_values_is_said_as_values():
    rows = runs(RISK, LOSS).rename(columns={"record_linkage": "distinct_l"})
    assert "at least 3 confidential values in every group" in pareto.summary(rows, "distinct_l", "information_loss", 34)
    assert "infinitely many confidential values" in pareto.summary(rows, "distinct_l", "information_loss", 0)


def test_the_title_says_which_run_loses_least_within_the_largest_acceptable_risk():
    rows = runs(RISK, LOSS)
    assert summary(rows, "record_linkage", "information_loss", 15.0) == (
        "With at most 15 % of the records found again, A at k = 5 loses least: 9.00 %"
    )
    assert summary(rows, "record_linkage", "information_loss", 9.0) == (
        "No run has at most 9 % of the records found again: the least is 10.0 %, B at k = 5"
    )
    worst = rows.assign(max_reidentification=1 / rows["k"], discernibility=rows["information_loss"] * 1000)
    assert summary(worst, "max_reidentification", "discernibility", 25.0) == (
        "With a risk of at most 25 % for every record, A at k = 4 has the lowest discernibility: 7,000"
    )
    nothing = rows.assign(record_linkage=np.nan)
    assert summary(nothing, "record_linkage", "information_loss", 9.0) == "No share of records found again is known yet"


def test_where_no_risk_is_known_it_says_so():
    nothing = runs(RISK, LOSS).assign(record_linkage=np.nan)
    assert within(nothing, (10, 10)) == "No share of records found again is known yet."


def test_a_limit_that_is_met_exactly_is_met():
    rows = runs([[0.07] * 3], [[1.0, 2, 3]], ks=(9,))
    assert 100 * 0.07 > 7
    assert summary(rows, "record_linkage", "information_loss", 7.0).endswith("A at k = 9 loses least: 1.00 %")


def within(rows, limits, risk="record_linkage", floors=None):
    return within_in_words(rows, risk, "information_loss", limits, floors or {})


def test_what_lies_within_both_limits_is_counted_and_its_best_are_named():
    rows = runs(RISK, LOSS)
    assert within(rows, (18, 9.5)) == (
        "3 of the 9 runs have at most 18 % of the records found again and a loss of at most 9.5 %. C at k = 4 loses "
        "least (8.00 %), at a risk of 18.0 %; A at k = 5 has the least risk, 12.0 %, and loses 9.00 %."
    )
    assert within(rows, (18, 8.5)) == (
        "1 of the 9 runs has at most 18 % of the records found again and a loss of at most 8.5 %: C at k = 4, which "
        "loses 8.00 % at a risk of 18.0 %."
    )
    assert within(rows[rows["title"] != "B"], (12, 11)) == (
        "2 of the 6 runs have at most 12 % of the records found again and a loss of at most 11 %. A at k = 5 loses "
        "least (9.00 %), at a risk of 12.0 %; C at k = 5 has the least risk, 10.0 %, and loses 11.0 %."
    )
    assert within(rows[rows["title"] != "A"], (10, 11)).endswith(
        "B at k = 5 loses least (10.0 %) and has the least risk, 10.0 %."
    )
    assert within(rows, (5, 50)) == (
        "None of the 9 runs has at most 5 % of the records found again and a loss of at most 50 %."
    )


def test_that_no_method_can_is_said_only_where_it_is_proven():
    rows = runs(RISK, LOSS)
    rows = rows.assign(max_reidentification=1 / rows["k"])
    # At most 22 % takes groups of 5 or more, whose floor is at least that proven for 4.
    proof = "No method can: a risk of at most 22 % takes groups of 5 or more, and then at least 6.50 % is lost."
    floors = {3: 4.0, 4: 6.5}
    assert within(rows, (22, 6), "max_reidentification", floors).endswith(proof)
    assert "No method" not in within(rows, (22, 6.5), "max_reidentification", floors)
    assert "No method" not in within(rows, (22, 6), "max_reidentification", {6: 9.0})
    # How many are found again does not follow from k, and no risk is 0.
    assert "No method" not in within(rows, (5, 6), "record_linkage", floors)
    assert "No method" not in within(rows, (0, 6), "max_reidentification", floors)


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
    assert {rule.who: rule.k for rule in RULES} == {"NHS England": 8, "UK LLC": 10, "CMS": 11, "EMA": 12}
    assert [rule.k for rule in RULES] == sorted(rule.k for rule in RULES)
    for rule in RULES:
        assert rule.url.startswith("https://")
        assert rule.source
        assert rule.says
