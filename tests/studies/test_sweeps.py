"""What a sweep says in one sentence, and what its partitions risk, against plain computations over all pairs."""

import re

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg import DataError, ParameterError, datasets
from microagg.metrics.generalization import least_discernibility
from microagg.partition import Partition
from microagg.studies import sweeps
from microagg.studies.sweeps import RULES, Exposed, front, risk_summary, smallest_k
from tests.cases import for_each


@pytest.mark.parametrize(("n", "k"), [(7, 3), (12, 3), (11, 4), (5, 5), (8, 1), (5, 3)])
def test_least_discernibility_is_that_of_the_best_sizes(n, k):
    def sizes(left, least):
        if left == 0:
            yield ()
        for size in range(least, left + 1):
            yield from ((size, *others) for others in sizes(left - size, size))

    assert least_discernibility(n, k) == min(sum(s * s for s in found) for found in sizes(n, k))


def rows_of(ks, measure, **methods):
    """Return rows of a sweep over ``ks``: for each method its values of a measure."""
    parts = [
        pd.DataFrame(
            {"k": ks, measure: values, "method": name, "variant": name, "title": name.upper(), "n_records": 20}
        )
        for name, values in methods.items()
    ]
    return pd.concat(parts, ignore_index=True)


def test_of_numbers_it_says_which_method_loses_least_and_which_is_fastest():
    rows = rows_of([2, 3, 4], "information_loss", mdav=[1.0, 2, 3], md=[2.0, 1, 6]).assign(sse=1.0)
    assert re.search("MDAV .* lowest loss of 2 methods at 2 of 3", sweeps.summary(rows, "information_loss", 3))
    tied = rows.assign(information_loss=[1.0, 2, 3, 1, 1, 6])
    says = "MDAV and MD each have the lowest loss of 2 methods at 2 of 3 values of k"
    assert sweeps.summary(tied, "information_loss", 3) == says
    of_one = sweeps.summary(rows[rows["method"] == "md"], "information_loss", 3)
    assert of_one == "MD: loss 2.00 % at k = 2, 6.00 % at k = 4"
    rows["gap"] = [10.0, 20, 5, 8, 30, 6]
    assert sweeps.summary(rows, "gap", 3) == "At k = 3, MDAV has the smallest gap of 2 methods: 20.0 %"
    assert sweeps.summary(rows[:3], "gap", 4) == "MDAV: gap 5.00 % at k = 4"
    rows = rows_of([2, 3, 4], "seconds", mdav=[0.1, 0.4, 0.2], md=[1.0] * 3)
    assert sweeps.summary(rows, "seconds", 9) == "At k = 4, MDAV has the shortest time of 2 methods: 0.2 s"


def test_of_categories_it_names_the_best_at_the_nearest_k():
    rows = rows_of([5, 10], "information_loss", a=[10.0, 20], b=[12.5, 40], c=[20.0, 20.05])
    assert sweeps.summary(rows, "information_loss", 8) == "At k = 10, A has the lowest loss of 3 methods: 20.0 %"
    # 7 is nearer to 5 than to 10.
    assert sweeps.summary(rows, "information_loss", 7, " and 20 records").startswith("At k = 5 and 20 records, A has")
    mixed = rows_of([5], "classification", a=[0.1], b=[0.2])
    assert sweeps.summary(mixed, "classification", 5) == "At k = 5, A has the lowest CM of 2 methods: 10.0 %"
    rows = rows_of([6], "discernibility", a=[134], b=[134], c=[200])
    assert sweeps.summary(rows, "discernibility", 6) == "At k = 6, A and B have the lowest DM of 3 methods: 134"
    assert sweeps.summary(rows[:2], "discernibility", 6) == "At k = 6, both methods have the same DM: 134"


def test_the_worst_risk_is_one_over_the_smallest_group():
    worst = sweeps.with_worst(pd.DataFrame({"smallest_group": [2, 5, 8]}))
    assert worst["max_reidentification"].tolist() == [0.5, 0.2, 0.125]


def linked(X, labels):
    """Return by all distances how many records are found again, ties at random; distances are rounded to 9 digits."""
    released = np.array([X[labels == label].mean(axis=0) for label in labels])
    found = 0.0
    for i, record in enumerate(X):
        distances = np.round(np.linalg.norm(released - record, axis=1), 9)
        nearest = np.flatnonzero(distances == distances.min())
        found += (i in nearest) / len(nearest)
    return found / len(X)


def no_columns(n):
    return pd.DataFrame(index=range(n))


def test_records_found_again_are_those_of_all_distances():
    k = 5
    X = microagg.standardize(datasets.load("wine").X)
    labels = microagg.make("mdav", k=k).fit_predict(X)
    found = Exposed(X, no_columns(len(X))).risks(Partition(labels, k))
    assert found == {"record_linkage": pytest.approx(linked(X, labels))}
    # Whoever shares the released values with k - 1 others is found with a probability of 1 / k at most.
    assert found["record_linkage"] <= 1 / k


def test_confidential_values_by_hand_and_of_several_attributes_the_worst():
    partition = Partition([0, 0, 0, 1, 1, 2, 2, 2], 2)
    frame = pd.DataFrame(
        {
            # The second group has one value. Shares: all ½ and ½; groups ⅔, 0 and ⅔ of "a": at most ½ off.
            "a": ["a", "a", "b", "b", "b", "a", "a", "b"],
            # The first and the third have one value. Shares: all ⅜ and ⅝; groups 1, ½ and 0 of True.
            "c": [True, True, True, True, False, False, False, False],
        }
    )
    exposed = Exposed(None, frame)
    assert exposed.counted == ("a", "c")
    assert Exposed(None, frame[["a"]]).risks(partition) == {
        "homogeneous": pytest.approx(2 / 8),
        "t_closeness": pytest.approx(1 / 2),
        "distinct_l": 1.0,
    }
    whole = Partition([0] * 8, 2)
    assert exposed.risks(whole) == {"homogeneous": 0.0, "t_closeness": pytest.approx(0.0), "distinct_l": 0.5}
    assert Exposed(None, frame[["c"]]).risks(partition)["t_closeness"] == pytest.approx(1 / 2)
    assert exposed.risks(partition)["homogeneous"] == pytest.approx(6 / 8)


def test_what_is_asked_beyond_k_is_part_of_what_is_counted():
    frame = pd.DataFrame({"a": ["a", "b", "a", "b"]})
    asked = Exposed(None, frame, lambda run: 10.0 * run, "a=2")
    assert asked.risks(Partition([0, 0, 1, 1], 2), 2.0)["guaranteed"] == 20.0
    assert asked.digest != Exposed(None, frame).digest


def test_what_has_gaps_or_one_value_does_not_count():
    frame = pd.DataFrame({"x": [1.0, np.nan, 2.0], "y": ["u", None, "v"], "z": [3, 3, 3], "w": [1, 2, 1]})
    exposed = Exposed(None, frame)
    assert exposed.counted == ("w",)
    assert set(exposed.risks(Partition([0, 0, 0], 3))) == {"homogeneous", "t_closeness", "distinct_l"}
    assert Exposed(None, frame[["x", "z"]]).risks(Partition([0, 0, 0], 3)) == {}
    many = pd.DataFrame({f"c{i}": [0, 1] for i in range(sweeps.MOST_CONFIDENTIAL + 5)})
    assert Exposed(None, many).counted == tuple(many.columns[: sweeps.MOST_CONFIDENTIAL])


def test_of_many_records_some_are_looked_up_the_same_in_each_release(monkeypatch):
    monkeypatch.setattr(sweeps, "MOST_LOOKED_UP", 100)
    monkeypatch.setattr(sweeps, "LOOKED_UP", 60)
    X = microagg.standardize(datasets.load("wine").X)
    exposed = Exposed(X, no_columns(len(X)))
    partition = Partition(microagg.make("mdav", k=3).fit_predict(X), 3)
    assert exposed.n_looked_up == 60
    assert exposed.risks(partition) == exposed.risks(partition)
    assert exposed.risks(partition)["record_linkage"] == pytest.approx(linked(X, partition.labels), abs=0.1)
    few = Exposed(X[:90], no_columns(90))
    assert few.n_looked_up == 90
    assert Exposed(None, no_columns(500)).n_looked_up == 0


def test_the_digest_tells_apart_what_risks_depend_on():
    X = np.arange(6.0).reshape(3, 2)
    frame = pd.DataFrame({"a": ["u", "v", "u"], "b": [1, 1, 1]})
    own = Exposed(X, frame).digest
    assert Exposed(X.copy(), frame.copy()).digest == own
    assert Exposed(X, frame.drop(columns="b")).digest == own  # one value only: it does not count
    others = [
        Exposed(X + 1, frame),
        Exposed(None, frame),
        Exposed(X, frame.assign(a=["u", "u", "v"])),
        Exposed(X, frame.rename(columns={"a": "c"})),
        Exposed(X, frame.assign(b=[1, 2, 1])),
    ]
    assert len({own, *(other.digest for other in others)}) == 6


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
    assert front([1.0, 2.0], [np.inf, 3.0]).tolist() == [True, True]
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
    says = risk_summary(met, "record_linkage", "information_loss", 7.0)
    assert says.endswith("A at k = 9 has the lowest loss: 1.00 %")
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
