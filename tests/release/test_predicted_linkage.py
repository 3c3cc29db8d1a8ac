"""Columns that follow from the quasi-identifiers, against an intruder who computes them by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import microaggregate
from microagg.release import predicted_linkage as module
from microagg.release.predicted_linkage import predicted_linkage

N = 600


def people():
    """Return persons, with columns that follow from others in several ways, and two that follow from nothing."""
    rng = np.random.default_rng(7)
    income, spouse = (np.exp(rng.normal(10.0, 0.6, N)).round() for _ in range(2))
    age, height = rng.integers(18, 90, N), rng.normal(170, 10, N).round()
    frame = pd.DataFrame({"income": income, "spouse": spouse, "age": age, "height": height})
    frame["weight"] = rng.normal(75, 14, N).clip(40).round(1)
    frame["postcode"] = rng.integers(10_000, 99_999, N)
    for name, (_, formula) in FORMULAS.items():
        frame[name] = formula(frame)
    frame["net"] = (income * rng.uniform(0.63, 0.67, N)).round()
    return frame.assign(noise=rng.normal(size=N), illness=rng.choice(list("abcdef"), N))


# What an intruder computes by hand, from which quasi-identifiers.
FORMULAS = {
    "total": (["income", "spouse"], lambda x: ((x.income + x.spouse) / 1000).round() * 1000),
    "gap": (["income", "spouse"], lambda x: x.income - x.spouse),
    "ratio": (["income", "spouse"], lambda x: (x.income / x.spouse).round(2)),
    "bmi": (["height", "weight"], lambda x: (x.weight / (x.height / 100) ** 2).round(1)),
    "net": (["income", "age"], lambda x: 0.65 * x.income),
    "group": (["age", "height"], lambda x: [f"{year // 10 * 10}s" for year in x.age]),
    "region": (["postcode", "age"], lambda x: [f"R{code // 10_000}" for code in x.postcode]),
    "log": (["income", "age"], lambda x: np.log(x.income)),
    "bands": (["income", "spouse"], lambda x: [f"{amount // 10_000:.0f}" for amount in x.income + x.spouse]),
    "larger": (["income", "spouse"], lambda x: np.maximum(x.income, x.spouse)),
    "percent": (["income", "spouse"], lambda x: (100 * x.income / (x.income + x.spouse)).round()),
    "digits": (["income", "age"], lambda x: x.income % 100),
}


def picked(labels, predicted, released):
    """Return the probability with which each record is picked in its class by the predicted value, in plain Python."""
    probability = []
    for i, label in enumerate(labels):
        members = [j for j in range(len(labels)) if labels[j] == label]
        if isinstance(predicted[i], str):
            apart = {j: released[j] != predicted[i] for j in members}
        else:
            apart = {j: abs(released[j] - predicted[i]) for j in members}
        nearest = [j for j in members if apart[j] == min(apart.values())]
        probability.append((i in nearest) / len(nearest))
    return np.array(probability)


@pytest.mark.parametrize("column", FORMULAS)
def test_no_intruder_exceeds_what_the_report_says(column):
    frame = people()
    names, formula = FORMULAS[column]
    release = microaggregate(frame[[*names, column]], k=5, method="mdav", quasi_identifiers=names, confidential=column)
    by_hand = picked(release.partition.labels.tolist(), list(formula(frame)), frame[column].tolist())
    risk = release.report.risk
    assert by_hand.mean() > 0.25  # above the 1 in 5 that k alone promises
    assert risk.max_reidentification_probability == 1.0 == by_hand.max()
    [linkage] = release.assess().of("predicted_linkage")
    assert linkage.after == pytest.approx(by_hand.mean(), abs=0.01)
    [predicted] = risk.predicted
    assert predicted.columns == (column,)
    assert predicted.sources[0] in names
    if predicted.exact:
        assert predicted.n_certain == np.count_nonzero(by_hand == 1.0)
    stop = next(finding for finding in release.findings if finding.code == "predicted")
    assert (stop.level, stop.columns) == ("stop", (column,))


def test_columns_are_predicted_together_only_if_they_help():
    frame = people()
    names = ["income", "spouse", "age"]
    columns = ["net", "group", "noise", "illness"]
    release = microaggregate(frame[names + columns], k=5, method="mdav", quasi_identifiers=names, confidential=columns)
    assert {each.columns for each in release.report.risk.predicted} == {("net",), ("group",), ("net", "group")}
    found = [finding.columns for finding in release.findings if finding.code == "predicted"]
    assert sorted(found) == [("group",), ("net",)]


def test_columns_that_predict_are_named():
    frame = people()
    [total] = predicted_linkage(frame[["income", "spouse"]], frame[["total"]], np.arange(N) // 5)
    assert (total.exact, total.sources) == (True, ("income", "spouse"))
    [bmi] = predicted_linkage(frame[["height", "weight"]], frame[["bmi"]], np.arange(N) // 5)
    assert (bmi.exact, bmi.sources) == (True, ("height", "weight"))
    # Of three a regression finds those that matter, to within the rounding.
    frame["all"] = (frame["income"] + 2 * frame["spouse"] - frame["age"]).round(-2)
    [three] = predicted_linkage(frame[["income", "spouse", "age"]], frame[["all"]], np.arange(N) // 5)
    assert (three.exact, three.sources) == (False, ("spouse", "income"))


def test_columns_that_follow_from_nothing_are_not_flagged():
    frame = people()
    names, columns = ["income", "age", "postcode"], ["noise", "illness"]
    release = microaggregate(frame[names + columns], k=4, quasi_identifiers=names, confidential=columns)
    assert not release.report.risk.predicted
    assert "predicted" not in release.report.to_dict()["risk"]
    assert [finding.level for finding in release.findings if finding.code == "predicted"] == ["ok"]
    assert release.report.risk.max_reidentification_probability == 0.25


def test_a_column_of_missing_values_and_a_sample(monkeypatch):
    frame = people()
    classes = np.arange(N) // 5
    with_gaps = frame[["total"]].assign(total=frame["total"].mask(np.arange(N) % 3 == 0))
    [some] = predicted_linkage(frame[["income", "spouse"]], with_gaps, classes)
    monkeypatch.setattr(module, "SAMPLE", 200)
    [sampled] = predicted_linkage(frame[["income", "spouse"]], frame[["total"]], classes)
    assert some.share < 2 / 3  # whoever has no value is not picked
    assert 200 <= sampled.n < 210
    assert not predicted_linkage(frame[["income"]], pd.DataFrame({"total": [None] * N}), classes)


def test_ranges_and_columns_of_few_records_are_predicted_too():
    """An age group is a range of ages where few ages occur twice, and 45 records are enough for a net income."""
    rng = np.random.default_rng(0)
    age, income = rng.integers(18, 90, 70), np.exp(rng.normal(10.0, 0.6, 45))
    group = pd.DataFrame({"group": [f"{year // 10 * 10}s" for year in age]})
    classes = np.argsort(np.argsort(age)) // 7
    (result,) = predicted_linkage(pd.DataFrame({"age": age}), group, classes)
    assert result.exact
    assert result.highest == 1 / group.groupby([classes, "group"]).size().min()
    assert predicted_linkage(pd.DataFrame({"age": age}), group.sample(frac=1, random_state=0), classes) == ()
    net = pd.DataFrame({"net": income * rng.uniform(0.66, 0.70, 45)})
    (result,) = predicted_linkage(pd.DataFrame({"income": income}), net, np.arange(45) // 3)
    assert result.nearly
    assert result.share > 0.6
