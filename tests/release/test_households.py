"""Records that share an identifier, such as the persons of a household: groups of many households, and their risk."""

import itertools

import numpy as np
import pandas as pd
import pytest

import microagg
from microagg.metrics.risk import household_risk


def persons(n_households=60, seed=0):
    """Return persons of households of one to five, some of whose values all persons of a household share."""
    draw = np.random.default_rng(seed)
    size = draw.integers(1, 6, n_households)
    household = np.repeat(np.arange(n_households), size)
    return pd.DataFrame(
        {
            "household": [f"H{number}" for number in household],
            "size": size[household],
            "income": draw.lognormal(10, 0.5, n_households).round()[household],
            "age": draw.integers(0, 90, len(household)),
        }
    )


def release(people, **options):
    columns = {"quasi_identifiers": ["size", "income", "age"], "identifiers": "household"}
    return microagg.microaggregate(people, k=4, **columns, **options)


def households_in_groups(people, partition):
    return people["household"].groupby(partition.labels).nunique()


def test_risk_of_a_household_is_that_of_any_of_its_records():
    draw = np.random.default_rng(1)
    classes = np.concatenate([np.arange(6), draw.integers(0, 6, 24)])
    households = np.concatenate([np.arange(5), draw.integers(0, 5, 25)])
    sizes = np.bincount(classes)
    for household, risk in enumerate(household_risk(classes, households)):
        picks = [range(sizes[each]) for each in classes[households == household][:4]]
        members = np.flatnonzero(households == household)[:4]
        expected = np.mean([0 in pick for pick in itertools.product(*picks)])
        first_four = np.isin(np.arange(30), members) | (households != household)
        kept = np.where(first_four, households, 5)
        assert household_risk(classes, kept)[household] == pytest.approx(expected)
        assert risk >= expected - 1e-12


@pytest.mark.parametrize("method", ["mdav-star", "least-loss"])
def test_classes_have_records_of_as_many_households(method):
    people = persons()
    plain, guarded = (release(people, method=method, diversity=asked) for asked in (None, {"household": 4}))
    assert households_in_groups(people, plain.partition).min() < 4
    assert households_in_groups(people, guarded.partition).min() >= 4
    assert "household" not in guarded.frame
    assert guarded.report.guaranteed[0].counted >= 4
    pd.testing.assert_frame_equal(microagg.replay(people, guarded.recipe).frame, guarded.frame)
    assert guarded.export("protected.csv")[1].level == "ok"


def test_errors_name_the_identifier():
    with pytest.raises(microagg.ParameterError, match="diversity of 'household' cannot be 61"):
        release(persons(), diversity={"household": 61})
    with pytest.raises(microagg.ParameterError, match="closeness names column 'household'"):
        release(persons(), closeness={"household": 0.1})
    people = persons()
    people.loc[3, "household"] = None
    with pytest.raises(microagg.DataError, match=r"'household'.* record 3"):
        release(people, diversity={"household": 4})


@pytest.mark.parametrize("asked", [None, {"household": 4}])
def test_finding_tells_what_a_household_risks(asked):
    people = persons()
    result = release(people, method="mdav-star", diversity=asked)
    [finding] = [finding for finding in result.findings if finding.code == "households"]
    fewest = households_in_groups(people, result.partition)
    classes, households = result.partition.labels, pd.factorize(people["household"])[0]
    risk = 100 * household_risk(classes, households)
    assert finding.level == ("ok" if asked else "warn")
    assert f"up to {risk.max():.3g} %, on average {risk.mean():.3g} %" in finding.text
    if not asked:
        assert f"{(fewest < 4).sum()} of {len(fewest)} classes have records of fewer than k = 4" in finding.text


@pytest.mark.parametrize(
    ("n_single", "n_visits", "n_repeated", "noise", "warns"),
    [
        (60, 1, 1, 0, False),
        (60, 4, 1, 0, True),  # all records of a class are one patient's
        (60, 2, 1, 9, False),  # two persons of one name
        (0, 20, 6, 0, True),  # patients with many visits
        (0, 20, 6, 9, False),  # regions
    ],
)
def test_classes_of_one_person_are_found(n_single, n_visits, n_repeated, noise, warns):
    draw = np.random.default_rng(0)
    patients = pd.DataFrame(draw.uniform(0, 9, (n_single + n_repeated, 2)), columns=["age", "income"])
    patients.loc[n_single, "income"] = 99
    patients["name"] = [f"P{number}" for number in patients.index]
    visits = patients.loc[[*range(n_single), *np.repeat(patients.index[n_single:], n_visits)]].reset_index(drop=True)
    visits["age"] += noise * draw.uniform(size=len(visits))
    columns = {"quasi_identifiers": ["age", "income"], "identifiers": "name"}
    result = microagg.microaggregate(visits, k=4, method="mdav", **columns)
    found = [finding.level for finding in result.findings if finding.code == "households"]
    assert found == ["warn"] * warns


def test_records_without_a_household_count_in_their_class_only():
    assert household_risk(np.array([0, 0, 1, 1]), np.array([-1, 0, 0, 1])).tolist() == [0.75, 0.5]
    with pytest.raises(microagg.DataError, match="3 classes and 2 households"):
        household_risk(np.array([0, 0, 1]), np.array([0, 1]))
    with pytest.raises(microagg.DataError, match="no record has a household"):
        household_risk(np.array([0, 0]), np.array([-1, -1]))
