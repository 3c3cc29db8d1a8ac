"""A report that gives no person away: an intruder who has the released file inverts every figure that a report says."""

import copy
import math
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, microaggregate
from microagg.metrics.risk import dominated
from microagg.release import Finding
from microagg.release.report.html import document
from tests.release.test_html import Page

N = 300
NEAR = 0.1  # p of the rule


def people(seed, *largest, n=N, spread=0.4):
    """Return persons of whom some have the ``largest`` incomes of all."""
    rng = np.random.default_rng(seed)
    income = rng.lognormal(10, spread, n).round()
    income[rng.choice(n, len(largest), replace=False)] = largest
    return pd.DataFrame({"income": income, "age": rng.integers(18, 80, n), "illness": rng.choice(list("abc"), n)})


def release_of(frame, **choices):
    named = {"quasi_identifiers": ["income", "age"], "confidential": "illness"}
    return microaggregate(frame, **{"k": 5, "method": "mdav-star", **named, **choices})


def said_by(release, *, for_steward=False):
    """Return the report as JSON holds it, and its words."""
    lost = release.report.measured.information_loss
    comparison = pd.DataFrame({"title": ["MDAV", "MDAV"], "k": [5, 7], "information_loss": [lost, lost]})
    found = release.to_dict(comparison=comparison, for_steward=for_steward)
    return found, Page(document(found)).said()


NUMBER = r"(-?[\d.]+(?:e-?\d+)?)"

# What sentences and tables say of income, by the formula that it is of, and what makes a figure of the number.
IN_WORDS = [
    ("total", rf"Information loss is {NUMBER} %", lambda number: number),
    ("share", rf"\bincome {NUMBER} % [\d–]", lambda number: number / 100),
    ("ratio", rf"\bincome [\d.]+ % {NUMBER} %", lambda number: number / 100),
    ("ratio", rf"it shrinks by {NUMBER} %", lambda number: math.sqrt(max(1 - number / 100, 0))),
    ("spread", rf"range of 'income' would be {NUMBER} times smaller", lambda number: number),
]


def figures_of(found, words):
    """Yield each figure that a report says of income, or of income and age, with the formula that it is of."""
    rows = {own["attribute"]: own for own in found["assessment"]["attributes"]}
    row = rows["income"]
    moments = next(own for own in found["report"]["utility"]["attributes"] if own["name"] == "income")
    overall = {figure["measure"]: figure["after"] for figure in found["assessment"]["figures"]}
    loss, compared = found["report"]["loss"], found["comparison"]["rows"] if found["comparison"] else []
    yield "share", row["lost"] and row["lost"] / 100
    yield "share", loss["attributes"]["income"] and loss["attributes"]["income"] / 100
    yield "deviation", moments["sd_before"]
    yield "mean", moments["mean_before"]
    yield "ratio", row["sd_ratio"]
    yield "ratio", overall.get("variance_change") and math.sqrt(max(1 - overall["variance_change"], 0))
    of_sse = loss["sse"] and 100 * loss["sse"] / loss["sst"]
    totals = [loss["information_loss"], overall.get("information_loss"), of_sse]
    totals += [own["information_loss"] for own in compared]
    for formula, pattern, figure in IN_WORDS:
        for number in re.findall(pattern, words):
            if formula == "total":
                totals.append(float(number))
            else:
                yield formula, figure(float(number))
    # Both are scaled to variance 1, so the loss is the mean of theirs.
    yield from (("share", total and (2 * total - loss["attributes"]["age"]) / 100) for total in totals)


def reconstructed(found, words, released):
    """Return what the largest income would be by each figure, if it alone made the difference to what is released."""
    n, mean, sd = len(released), released.mean(), released.std()
    invert = {
        "share": lambda share: mean + sd * math.sqrt(n * share / (1 - share)),
        "deviation": lambda before: mean + math.sqrt(n * max(before**2 - sd**2, 0)),
        "ratio": lambda ratio: mean + sd * math.sqrt(n * max(ratio**-2 - 1, 0)),
        "mean": lambda before: mean + n * (before - mean),
        "spread": lambda times: released.min() + times * (released.max() - released.min()),
    }
    values = []
    for formula, figure in figures_of(found, words):
        try:
            values.append(None if figure is None else invert[formula](figure))
        except (ValueError, ZeroDivisionError):
            values.append(None)  # no income gives such a figure
    return [value for value in values if value is not None]


def near(values, value):
    return [own for own in values if abs(own / value - 1) < NEAR]


@pytest.mark.parametrize(("seed", "largest"), [(1, (9_876_543,)), (2, (750_000,)), (3, (400_000,)), (4, (3e6, 2e6))])
def test_no_figure_of_a_report_gives_the_largest_value_away_and_those_of_the_steward_do(seed, largest):
    release = release_of(people(seed, *largest), statistic="median")
    released = release.to_pandas()["income"].to_numpy()
    assert released.max() < (1 - NEAR) * max(largest)  # the file itself does not tell
    assert "income" in release.report.dominated
    found, words = said_by(release)
    assert not near(reconstructed(found, words, released), max(largest))
    assert set(found["withheld"]) == {"attributes", "overall", "comparison"}
    for sentence in found["withheld"].values():
        assert sentence in words
    if len(largest) == 1:
        assert len(near(reconstructed(*said_by(release, for_steward=True), released), max(largest))) >= 5


def test_of_one_attribute_no_loss_is_said_for_it_alone_tells_the_largest_value():
    largest = 3_000_000
    release = release_of(people(1, largest), quasi_identifiers="income", statistic="median")
    released = np.sort(release.to_pandas()["income"].to_numpy())

    def loss(value):
        return 100 * (value - released[-1]) ** 2 / (N * np.append(released[:-1], value).var())

    def attack(figure):
        low, high = released[-1], 1e9
        while high - low > 1:
            low, high = (low, (low + high) / 2) if loss((low + high) / 2) > figure else ((low + high) / 2, high)
        return low

    found, words = said_by(release)
    assert found["report"]["loss"]["information_loss"] is found["report"]["loss"]["attributes"]["income"] is None
    assert found["report"]["loss"]["lower_bound"] is found["assessment"]["attributes"][0]["lost"] is None
    assert not re.search(rf"los(?:s|es?|t)\b[^.]*? {NUMBER} %", words.partition("6. Checks")[0])
    assert near([attack(said_by(release, for_steward=True)[0]["report"]["loss"]["information_loss"])], largest)


@pytest.mark.parametrize("statistic", ["mean", "median"])
def test_where_it_is_not_withheld_the_squared_error_tells_nobody_within_a_tenth(statistic):
    hidden = withheld = told = 0
    for seed in range(30):
        frame = people(seed, n=200, spread=1.0)
        release = release_of(frame, statistic=statistic)
        released, labels = release.to_pandas()["income"].to_numpy(), release.partition.labels
        income = frame["income"].to_numpy()
        i, sse = int(income.argmax()), float(np.square(income - released).sum())
        size = int((labels == labels[i]).sum())
        alone = (size - 1) / size if statistic == "mean" else 1.0
        attack = released[i] + math.sqrt(sse * alone)
        if near([released[i]], income[i]):
            continue
        if "income" in release.report.dominated:
            withheld += 1
            told += bool(near([attack], income[i]))
        else:
            hidden += 1
            assert not near([attack], income[i])
    assert hidden >= 5
    assert told >= withheld / 3  # or too much is withheld


def test_nothing_is_withheld_of_what_many_records_make_and_figures_have_four_digits():
    release = release_of(people(0, spread=0.2), quasi_identifiers=["age", "income"])
    assert release.report.dominated == ()
    (found, _), (full, _) = said_by(release), said_by(release, for_steward=True)
    assert found["withheld"] == {}
    rounded, exact = (own["report"]["utility"]["attributes"][0]["sd_before"] for own in (found, full))
    assert rounded == float(f"{exact:.3g}")  # its four digits end with 5, which pages would round once more
    assert len(f"{found['report']['loss']['sse']}".replace(".", "").rstrip("0")) <= 4
    assert full["report"]["loss"]["sse"] == release.report.loss.sse
    assert found["comparison"]["rows"][0]["k"] == 5


def test_figures_of_other_attributes_and_counts_remain():
    release = release_of(people(1, 9_876_543), statistic="median")
    found, _ = said_by(release)
    rows = {row["attribute"]: row for row in found["assessment"]["attributes"]}
    assert rows["age"]["sd_ratio"] == pytest.approx(1, abs=0.2)
    assert rows["income"]["hellinger"] is not None
    measures = {figure["measure"] for figure in found["assessment"]["figures"]}
    assert {"max_reidentification", "record_linkage", "homogeneous", "hellinger", "pmse"} <= measures
    assert found["report"]["loss"]["attributes"]["age"] is not None
    alone = copy.copy(release).to_dict()  # without the originals
    assert set(alone["withheld"]) == {"attributes", "overall"}
    assert alone["report"]["loss"]["attributes"]["income"] is None
    assert alone["withheld"]["overall"] in document(alone)


def test_of_categories_and_ranges_no_loss_is_left_from_which_the_range_follows():
    mixed = {"quasi_identifiers": ["income", "age", "illness"], "confidential": None, "method": "mondrian"}
    for choices in (mixed, {"statistic": "generalize"}):
        release = release_of(people(1, 9_876_543, 8_000_000), **choices)
        found, _ = said_by(release)
        common = found["report"]["generalization"]
        assert common["information_loss"] is common["total_information_loss"] is common["attributes"]["income"] is None
        assert "total_information_loss" not in {figure["measure"] for figure in found["assessment"]["figures"]}


def test_findings_on_the_loss_of_what_is_dominated_say_no_figure():
    release = release_of(people(1, 9_876_543), statistic="median")
    finding = Finding("warn", "loss", (), f"IL is {release.report.loss.information_loss:.3g} %, above 10 %.")
    limited = replace(release, report=replace(release.report, findings=(finding,)))
    found = limited.to_dict(assessment=release.assess())
    assert not re.search(r"\d", found["report"]["findings"][0]["text"])


def test_the_rule_whatever_the_units_and_the_place():
    rng = np.random.default_rng(0)
    ordinary = rng.normal(size=(200, 1))
    far = ordinary.copy()
    far[7] = 60.0
    labels = np.arange(200) // 5
    X = np.hstack([ordinary, far, 1e6 + far, 1e100 * far, 1e-100 * far, -far, np.ones((200, 1))])
    assert dominated(X, labels).tolist() == [False, True, True, True, True, True, False]
    heavy = np.where(np.arange(200) == 9, 1e6, 1.0)
    assert dominated(ordinary, labels, heavy).tolist() == [True]
    assert dominated([[3.0]], [0]).tolist() == [False]
    few = np.array([[23.0], [31.0], [52.0], [60.0], [77.0]])  # a mean, median and deviation of two or three files
    assert dominated(few, np.zeros(5, dtype=int)).tolist() == [True]


def test_a_value_that_the_group_shares_is_not_given_away_by_figures():
    x = np.concatenate([np.arange(100.0), np.full(5, 1e6)])
    assert dominated(x, np.arange(105) // 5).tolist() == [False]
    x[-1] = 2e6
    assert dominated(x, np.arange(105) // 5).tolist() == [True]
    with pytest.raises(DataError, match="labels for 2"):
        dominated(x, [0, 0])
