"""Columns that follow from the quasi-identifiers, against an intruder who computes them by hand."""

from collections import Counter, defaultdict
from datetime import date

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import microaggregate
from microagg.metrics.risk import equivalence_classes
from microagg.release import column_counts
from microagg.release import predicted_linkage as module
from microagg.release.column_counts import Uniform
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


def test_the_order_of_a_sorted_file_predicts_nothing():
    frame = people().sort_values("illness", ignore_index=True)
    sex = np.random.default_rng(3).integers(0, 2, N)
    scattered = np.arange(N) % (N // 5)
    assert predicted_linkage(pd.DataFrame({"sex": sex}), frame[["illness"]], scattered) == ()


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
    assert sampled.n_records == N
    assert not predicted_linkage(frame[["income"]], pd.DataFrame({"total": [None] * N}), classes)


def test_models_are_kept_for_the_next_release_of_a_file(monkeypatch):
    frame = people()
    known, others, models = frame[["income", "age"]], frame[["net", "illness", "noise"]], module.Models()
    classes, larger = np.arange(N) // 5, np.arange(N) // 9
    expected = predicted_linkage(known, others, larger)
    assert predicted_linkage(known, others, classes, models) == predicted_linkage(known, others, classes)

    def forbidden(*_):
        raise NotImplementedError

    monkeypatch.setattr(module, "_cross_validated", forbidden)
    assert predicted_linkage(known, others, larger, models) == expected
    for known_now, others_now in ((known, others[::-1]), (known[::-1], others)):
        with pytest.raises(NotImplementedError):
            predicted_linkage(known_now, others_now, classes, models)
    # Another file drops them, and a sample depends on the classes.
    assert predicted_linkage(known, frame[["group"]], classes, models)
    with pytest.raises(NotImplementedError):
        predicted_linkage(known, others, classes, models)
    monkeypatch.undo()
    predicted_linkage(known, others, classes, models)
    monkeypatch.setattr(module, "SAMPLE", 200)
    assert predicted_linkage(known, others, larger, models) == predicted_linkage(known, others, larger)


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


def test_uniform_classes():
    classes = np.array([0, 0, 1, 1, 2, 2, 3, 3, 3, 4, 4])
    codes = np.array([5, 5, 5, 6, 6, 6, 5, 5, 5, -1, -1])
    # Classes 0 and 3 have 5 only, class 2 has 6 only; class 4 has no value.
    assert column_counts.uniform(classes, codes) == Uniform(3, 7, 5, 5)
    assert column_counts.uniform(np.array([0, 1, 0, 1]), np.array([5, 6, 6, 5])) is None
    # A missing value hides nothing, but is one itself where there is only one other.
    assert column_counts.uniform(np.array([0, 0, 0, 1, 1]), np.array([1, 1, -1, 0, 1])) == Uniform(1, 2, 1, 2)
    assert column_counts.uniform(np.array([0, 0]), np.array([-1, 0])) is None


def codes_of(values):
    return equivalence_classes.coded(pd.Series(values))


def determines(column, target):
    return column_counts.determined(codes_of(column), {"target": codes_of(target)}) == ["target"]


def test_one_record_in_a_hundred_may_disagree():
    column, target = ["a", "b"] * 100, [1, 2] * 100
    assert determines(column, [9, 9, *target[2:]])
    assert not determines(column, [9, 9, 9, *target[3:]])


def test_agreement_by_chance_is_not_enough():
    # Each value of the column has two records; by chance two records agree on a coin in half of all cases.
    pairs = [value for value in range(10) for _ in (1, 2)]
    assert 0.5**6 > column_counts.CHANCE > 0.5**7
    assert not determines(pairs[:12], [1, 1, 2, 2] * 3)
    assert determines(pairs[:16], [1, 1, 2, 2] * 4)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(1, 4), st.integers(0, 3))
def test_determined_is_what_its_definition_says(column, many, astray):
    column = column * many
    target = [9] * astray + [value % 3 for value in column[astray:]]
    rows = list(zip(column, target, strict=False))
    target = target[: len(column)]
    frequent = Counter(column)
    compared = [(c, t) for c, t in rows if frequent[c] > 1]
    groups = defaultdict(Counter)
    for c, t in compared:
        groups[c][t] += 1
    m = len(compared)
    agreeing = sum(max(group.values()) for group in groups.values())
    shares = [count / m for count in Counter(t for _, t in compared).values()]
    expected = (
        m > 0
        and 2 * m >= len(rows)
        and agreeing >= 0.99 * m
        and max(shares) < 0.95
        and sum(share**2 for share in shares) ** (m - len(groups)) <= 0.01 * (1 + 1e-9)
    )
    assert determines(column, target) == expected


def in_order(values, target):
    numbers, others = (np.array(own, dtype=float) for own in (values, target))
    return column_counts.in_order(numbers, {"target": others}) == ["target"]


def test_a_column_computed_from_another_has_its_order():
    assert in_order([3, 1, 2, 6, 5, 4], [30, 10, 20, 60, 50, 40])
    assert in_order([3, 1, 2, 6, 5, 4], [-30, -10, -20, -60, -50, -40])
    assert not in_order([3, 1, 2, 6, 5, 4], [30, 10, 20, 60, 40, 50])
    # Equal values of the column must be equal in the target: ages by tens do not tell ages.
    assert not in_order([1, 1, 2, 3, 4, 5, 6], [1, 2, 3, 4, 5, 6, 7])
    assert not in_order([1, 1, 2, 3, 4, 5, 6], [7, 6, 5, 4, 3, 2, 1])
    assert in_order([1, 2, 3, 4, 5, 6, 7, np.inf, np.nan], [1, 1, 1, 4, 5, 6, 7, 8, 0])


def test_an_order_by_chance_is_not_enough():
    # Of 5! = 120 orders two are counted, more than one in a hundred; of 6! = 720 two are less.
    assert not in_order(range(5), range(5))
    assert in_order(range(6), range(6))
    # Of the places of two among eight there are 28.
    assert not in_order(range(8), [0] * 6 + [1] * 2)
    assert not in_order(range(100), [0] * 95 + [1] * 5)
    assert not in_order([np.nan] * 9, range(9))


def test_one_record_in_a_hundred_may_be_out_of_order():
    target = np.arange(102)
    target[[3, 4]] = target[[4, 3]]
    assert in_order(range(102), target)
    target[[8, 9]] = target[[9, 8]]
    assert not in_order(range(102), target)


def test_numbers_and_dates_are_measured():
    for other in (["a", "1"], [True], [[1]], [1 + 1j], ["01/02/2003"], [pd.Timedelta(days=1)]):
        assert column_counts.measured(pd.Series(other)) is None
    days = pd.Series(pd.to_datetime(["1970-01-02", None]))
    for column, expected in (
        (["1.5", None], 1.5),
        (["2.1.1970", None], 1.0),
        ([date(1970, 1, 3), None], 2.0),
        (pd.array([1, None], "Int64"), 1.0),
        (days, 86_400e6),
        (days.dt.tz_localize("UTC"), 86_400e6),
        (days.astype("date32[pyarrow]"), 86_400e6),
    ):
        np.testing.assert_array_equal(column_counts.measured(pd.Series(column)), [expected, np.nan])
