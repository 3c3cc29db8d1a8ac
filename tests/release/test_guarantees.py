"""What is guaranteed beyond k: groups that lack it are merged, what cannot be is refused, and files are counted."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import DataError, ParameterError, Plan, Schema, microaggregate
from microagg.algorithms import local_search
from microagg.columns.records import Records
from microagg.columns.schema import Attribute
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import GuaranteeError
from microagg.kernels.grouping import merging
from microagg.partition import Partition
from microagg.progress import Cancelled, watched
from microagg.release import check_export
from microagg.release.guarantees import Guarantee
from microagg.tables import read_file
from tests import naive, naive_mixed
from tests.release.common import replayed


def drawn(seed: int, n: int) -> pd.DataFrame:
    """Return a table with ties and rare values, secrets of all kinds, and a stratum."""
    rng = np.random.default_rng(seed)
    levels = pd.Categorical(rng.choice(["low", "mid", "high"], n, p=[0.6, 0.3, 0.1]), ["low", "mid", "high"], True)
    frame = pd.DataFrame({"a": rng.integers(0, 6, n), "b": rng.integers(0, 3, n) / 4})
    frame["color"] = rng.choice(["red", "blue", "green"], n)
    frame["word"] = rng.choice(list("xyz"), n, p=[0.8, 0.15, 0.05])
    return frame.assign(number=rng.integers(0, 5, n), level=levels, part=rng.choice(["N", "S"], n))


@settings(deadline=None, max_examples=80)
@given(st.integers(0, 10**6), st.integers(4, 40), st.integers(1, 4))
def test_mergers_are_those_of_the_oracle(seed, n, k):
    rng = np.random.default_rng(seed)
    Z = rng.integers(0, 4, (n, 3)).astype(float)
    secret = rng.choice(3, n, p=[0.7, 0.2, 0.1])
    partition = Partition(np.minimum(rng.permutation(n) // k, max(n // k - 1, 0)), k)
    needed = len(set(secret.tolist()))

    def lacks(rows) -> int:
        return max(min(needed, 3) - len(set(secret[np.asarray(rows)].tolist())), 0)

    groups = [rows.tolist() for rows in partition.groups()]

    def check(data, begun, cost, join, distance) -> None:
        found = merging.merge_cheapest(partition, merging.merge_costs(data, partition.labels), lacks)
        assert [rows.tolist() for rows in found.groups()] == naive.merge(begun, cost, join, lacks)
        found = merging.merge_worst(partition, merging.merge_costs(data, partition.labels), lacks)
        assert [rows.tolist() for rows in found.groups()] == naive.merge(begun, distance, join, lacks, worst_first=True)

    begun = [((len(rows), [naive.total(column) for column in Z[rows].T.tolist()]), rows) for rows in groups]
    join = lambda one, other: (one[0] + other[0], [p + q for p, q in zip(one[1], other[1], strict=True)])  # noqa: E731
    mean = lambda own: [p / own[0] for p in own[1]]  # noqa: E731
    check(Z, begun, naive.squares_of_merging, join, lambda one, other: naive.d2(mean(one), mean(other)))

    tree = Taxonomy.from_nested({"any": {"warm": ["red", "pink"], "cold": ["blue", "gray"]}})
    levels = ("low", "mid", "high")
    color = Attribute("color", kind="nominal", taxonomy=tree)
    attributes = (Attribute("number"), Attribute("level", kind="ordinal", levels=levels), color)
    values = np.column_stack([Z[:, 0], rng.integers(0, 3, n), rng.choice(tree.leaves, n)]).astype(float)
    records = Records(attributes, values)
    table = naive_mixed.Table(records)
    loss = lambda rows: len(rows) * table.loss(rows)  # noqa: E731
    cost = lambda one, other: loss(one + other) - (loss(one) + loss(other))  # noqa: E731
    check(records, [(rows, rows) for rows in groups], cost, lambda one, other: one + other, cost)


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("by_regions", [False, True])
@pytest.mark.parametrize(
    "options", [{"closeness": {"number": 0.15}}, {"diversity": {"word": 2}, "closeness": {"level": 0.2}}]
)
def test_least_loss_loses_less_than_other_ways_and_replays(mixed, by_regions, options, monkeypatch):
    if by_regions:
        monkeypatch.setattr(local_search, "MOST_WITH_RULES", 40)
        monkeypatch.setattr(local_search, "GROUPS_IN_REGION", 2)
    frame = drawn(5, 120)
    how = {"k": 3, "confidential": ["number", "level", "word"], "by": ["part"], **options}
    how["quasi_identifiers"] = ["a", "b", "color"] if mixed else ["a", "b"]
    merged = "mdav-generic-mixed" if mixed else "mdav"

    def loss(release) -> float:
        return (release.report.generalization if mixed else release.report.loss).information_loss

    least = microaggregate(frame, method="least-loss", **how)
    others = [microaggregate(frame, method=key, **how) for key in (merged, "k-anonymity-first", "t-closeness-first")]
    assert loss(least) < 0.95 * min(map(loss, others))
    polished = microaggregate(frame, method=merged, polish=True, **how)
    assert loss(polished) < loss(others[0])
    assert by_regions or loss(least) <= loss(polished)  # regions of a few groups
    replayed(frame, least)


def test_many_records_with_no_value_asked_to_be_near_are_searched_by_regions(monkeypatch):
    monkeypatch.setattr(local_search, "MOST_WITH_RULES", 100)
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {"a": rng.normal(size=600), "b": rng.normal(size=600), "ill": rng.choice(list("xxxxxyz"), 600)}
    )
    how = {"k": 3, "quasi_identifiers": ["a", "b"], "confidential": "ill", "diversity": {"ill": 2}}
    least, merged = (microaggregate(frame, method=key, **how) for key in ("least-loss", "mdav"))
    assert least.report.guaranteed[0].holds
    assert least.report.loss.information_loss < merged.report.loss.information_loss
    calls = iter(range(10))
    with watched(lambda message, share: share is None or next(calls) < 1), pytest.raises(Cancelled):
        microaggregate(frame, method="least-loss", **how)


PEOPLE = pd.DataFrame({"age": [1, 2, 3, 11, 12, 13, 21, 22, 23], "ill": list("aaaabcabc"), "pay": range(9)})
HOW = {"k": 3, "method": "mdav", "quasi_identifiers": "age", "confidential": ["ill", "pay"]}


def test_it_stands_in_recipe_program_report_and_checklist():
    release = microaggregate(PEOPLE, **HOW, diversity={"ill": ("entropy", 2)}, closeness={"pay": 0.4})
    assert release.recipe["diversity"] == [["ill", ["entropy", 2.0]]]
    replayed(PEOPLE, release)
    assert "diversity={'ill': ('entropy', 2.0)}" in release.script("people.csv")
    assert Plan.from_json(Plan.of(PEOPLE, **HOW, diversity={"ill": 2}).to_json()).diversity == {"ill": 2}
    says = str(release.report.guaranteed[0])
    assert "2.381" in says
    assert says in release.report.summary()
    assert says in release.to_dict()["promise"]["promise"]
    [finding, *_] = [own for own in release.report.findings if own.code == "homogeneity"]
    assert (finding.level, finding.columns) == ("ok", ("ill", "pay"))
    assert says in finding.text


def test_without_it_recipes_and_reports_are_as_before():
    release = microaggregate(PEOPLE, **HOW)
    assert not {"diversity", "closeness"} & set(release.recipe)
    assert "guaranteed" not in release.report.to_dict()
    assert microaggregate(PEOPLE, **HOW, diversity={}, closeness=None).recipe == release.recipe


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"diversity": {"ill": 4}}, "'ill' cannot be 4: .* 3 distinct values"),
        ({"diversity": {"age": 2}}, "'age', which is not confidential"),
        ({"closeness": {"nobody": 0.2}}, "'nobody', which is not confidential"),
        ({"diversity": {"ill": 0}}, "'ill' must be a whole number of at least 1"),
        ({"diversity": {"ill": ("odd", 2)}}, "diversity of 'ill' must be a whole number"),
        ({"closeness": {"ill": 1.5}}, "'ill' must be a number of at least 0"),
        ({"closeness": 0.2}, "closeness must map column names"),
        ({"diversity": {"ill": ("entropy", 2.9)}}, "'ill' cannot be 2.9: .* 2.7047"),
    ],
)
def test_what_cannot_be_is_refused_with_the_remedy(more, says):
    with pytest.raises(ParameterError, match=says):
        microaggregate(PEOPLE, **HOW, **more)


@pytest.mark.parametrize(("option", "limit"), [("closeness", 0.1), ("diversity", ("entropy", 1.9))])
def test_the_nearest_that_is_named_can_be_met_by_every_stratum(option, limit):
    people = pd.DataFrame({"age": range(12), "ill": [*"aab", *"aabbabbba"], "part": [*"NNN", *"SSSSSSSSS"]})
    how = {"k": 3, "method": "mdav", "quasi_identifiers": "age", "confidential": "ill", "by": "part"}
    with pytest.raises(ParameterError, match="stratum part='N'") as refused:
        microaggregate(people, **how, **{option: {"ill": limit}})
    nearest = float(re.search(r"ask for ([\d.]+) or", str(refused.value))[1])
    nearest = nearest if option == "closeness" else ("entropy", nearest)
    release = microaggregate(people, **how, **{option: {"ill": nearest}})
    assert release.report.guaranteed[0].holds


def test_missing_values_are_refused_and_given_groups_merged():
    gap = PEOPLE.assign(ill=[None, *PEOPLE["ill"][1:]])
    with pytest.raises(DataError, match=r"'ill' has no value in record 0 .* diversity is asked for"):
        microaggregate(gap, **HOW, diversity={"ill": 2})
    merged = microaggregate(PEOPLE, **HOW, labels=[0, 0, 0, 1, 1, 1, 2, 2, 2], diversity={"ill": 2})
    assert merged.partition.labels.tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    replayed(PEOPLE, merged)


def test_a_release_that_does_not_hold_it_is_withheld(monkeypatch):
    for name in ("merge_cheapest", "merge_worst"):
        monkeypatch.setattr(f"microagg.kernels.local_search.guarded.{name}", lambda partition, costs, lacks: partition)
    with pytest.raises(GuaranteeError, match="only 1 distinct values of 'ill'"):
        microaggregate(PEOPLE, **HOW, diversity={"ill": 2})
    with pytest.raises(GuaranteeError, match=r"'pay' 0.375 from"):
        microaggregate(PEOPLE, **HOW, closeness={"pay": 0.3})


def test_counts_are_stated_with_all_digits():
    assert "at least 12,345 distinct values of 'a' (l = 10,000)" in str(Guarantee("a", "distinct", 10_000.0, 12_345.0))
    assert "at least 12,345.678 equally" in str(Guarantee("a", "entropy", 2.5, 12_345.6779))
    assert "only 2.9996 equally" in str(Guarantee("a", "entropy", 3, 2.9996))
    assert "has values of 'a' 0.15004 from" in str(Guarantee("a", "closeness", 0.15, 0.15004))


def test_bytes_that_do_not_hold_it_stop():
    schema = Schema(("age",))
    lines = [b"2,a,%d\n" % i for i in range(3)] + [b"3,b,%d\n" % i for i in range(9, 12)]
    data = b"age,ill,pay\n" + b"".join(lines)
    held = check_export(data, "x.csv", schema, 3, guarantees=[("ill", "distinct", 1), ("pay", "closeness", 0.5)])
    assert held.level == "ok"
    for wanted in (("ill", "distinct", 2), ("ill", "entropy", 1.5), ("pay", "closeness", 0.2)):
        found = check_export(data, "x.csv", schema, 3, guarantees=[wanted])
        assert found.level == "stop"
        assert f"'{wanted[0]}'" in found.text
    small = check_export(data, "x.csv", schema, 4, guarantees=[("ill", "distinct", 1)])
    assert small.level == "stop"
    assert "fewer than k = 4" in small.text


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_every_kind_of_file_is_counted_in_the_order_of_its_values(ending):
    frame = drawn(3, 60).assign(day=lambda own: pd.to_datetime("2001-01-01") + pd.to_timedelta(own["number"], "D"))
    limits = {"level": 0.3, "number": 0.3, "day": 0.3, "word": 0.3}
    how = {"quasi_identifiers": ["a", "b"], "confidential": list(limits), "closeness": limits}
    release = microaggregate(frame, k=3, method="mdav", **how)
    _, finding = release.export(f"out.{ending}")
    assert finding.level == "ok"
    for own in release.report.guaranteed:
        assert str(own) in finding.text


def test_numbers_with_a_decimal_comma_are_counted_in_their_order():
    frame = drawn(3, 60).assign(number=lambda own: own["number"] + 0.5)
    original = read_file(frame.to_csv(index=False, sep=";", decimal=",").encode(), name="in.csv", decimal=",")
    roles = {"quasi_identifiers": ["a", "b"], "confidential": "number", "closeness": {"number": 0.3}}
    release = microaggregate(original.frame, k=3, method="mdav", **roles)
    data, finding = release.export("out.csv", like=original)
    assert b",5" in data
    assert finding.level == "ok"
    assert str(release.report.guaranteed[0]) in finding.text
