"""Roles by the evidence of labels, names of large surveys, values and structure."""

import csv

import numpy as np
import pandas as pd

from microagg.columns import KINDS, guess_columns
from microagg.columns.names import PATH, PSU, REPLICATE_WEIGHTS, folded, known_names
from microagg.columns.schema import ROLES
from tests.cases import for_each
from tests.columns.common import cycled

RNG = np.random.default_rng(48)
N = 600
#: Households of 1 to 5 persons, in a row.
HOUSEHOLDS = np.repeat(np.arange(1, 201), cycled([1, 4, 2, 5, 3], 200))
BODIES = np.round(RNG.normal(75, 13, N).clip(40, 170), 3)
WEIGHTS = np.round(RNG.gamma(3, 3000, N), 2)
REPLICATES = {f"x{j}": WEIGHTS * 2 * RNG.integers(0, 2, N) for j in range(1, 9)}
CLUSTERS = np.repeat(np.arange(101, 131), 20)

QUASI, LEFT_OUT = "quasi_identifiers", "identifiers"


def repeated(counts):
    """Return values in random order, each as often as ``counts`` says."""
    return RNG.permutation(np.repeat(list(counts), list(counts.values())))


@for_each(
    ("name", "values", "label", "role", "sure", "reason"),
    [
        ("q7", WEIGHTS, "Final sampling weight", "weights", True, "add up to 5,"),
        ("q7", WEIGHTS / WEIGHTS.mean(), "Calibrated weight", "weights", True, "add up to 600"),
        ("q7", WEIGHTS * 1e302, "Final sampling weight", "weights", True, "add up to inf"),
        ("q7", WEIGHTS, "Facteur d'extrapolation: poids de sondage", "weights", True, "poids de sondage"),
        ("q7", WEIGHTS, "Household weight", "weights", True, "Household weight"),
        ("q7", BODIES, "Weight of the person", QUASI, False, "perhaps a body weight"),
        ("q7", BODIES, "Weight in kg", QUASI, True, "a body's"),
        ("wt71", BODIES, "", QUASI, False, "perhaps a body weight"),
        ("weight", BODIES, "", QUASI, False, "perhaps a body weight"),
        ("weight", cycled([118.3, 328.5, 221.4], N), "", "weights", False, "not of a body"),
        ("repwt", BODIES, "", QUASI, False, "perhaps a body weight"),
        ("repwt", WEIGHTS, "", LEFT_OUT, True, "a replicate weight"),
        ("bwght", np.round(BODIES * 40), "", QUASI, True, "a body's"),
        ("wage", np.round(RNG.gamma(4, 6, N), 2), "Hourly wage", "confidential", False, "wage"),
        ("overweight", cycled([0, 1], N), "Overweight", QUASI, True, ""),
        ("sampling_weight", cycled([100], N), "", "weights", True, "sampling_weight"),
        ("a1", HOUSEHOLDS, "Household ID", LEFT_OUT, True, "the label says 'Household ID'"),
        ("group_id", np.repeat(np.arange(30), 20), "", QUASI, True, "may know"),
        ("a1", cycled(range(60), N), "Region ID", QUASI, True, "may know"),
        ("a1", HOUSEHOLDS % 7, "Number of persons in the household", QUASI, True, "may know"),
        ("a1", CLUSTERS, "Primary sampling unit", QUASI, False, "narrows down where a person lives"),
        ("a1", np.repeat(np.arange(300), 2), "Cluster number", LEFT_OUT, False, "few records each"),
        ("a1", CLUSTERS, "Sampling stratum", "strata", True, "30 strata of 20 records or more"),
        ("fpc", cycled([4421, 1018, 755], N), "", LEFT_OUT, False, "the size of a stratum"),
        ("snum", RNG.permutation(N) * 7 + 3, "", LEFT_OUT, True, "'snum'"),
        ("Krankenkassennummer", RNG.permutation(N) * 7 + 3, "", LEFT_OUT, True, "looks like an identifier"),
        ("healthInsuranceNumber", HOUSEHOLDS * 71 + 204_511, "", LEFT_OUT, True, "looks like an identifier"),
        ("health_number", HOUSEHOLDS, "", "confidential", True, "health"),
        ("x", np.uint64(2**64 - N) + RNG.permutation(N).astype("u8"), "", LEFT_OUT, True, "20 digits"),
        ("x", np.where(np.arange(N) < 3, 1.0, np.nan), "", QUASI, True, "may know"),
        ("diabetes", ["yes"] * 3 + [None] * (N - 3), "", "confidential", True, "diabetes"),
        ("x", np.full(N, 1.0), "", "others", True, "all values are '1'"),
        ("a1", cycled([0, 1], N), "Dx asthma, 1: ever, 0: never", "confidential", True, "asthma"),
    ],
)
def test_one_column(name, values, label, role, sure, reason):
    (column,) = guess_columns(pd.DataFrame({name: values}), variable_labels={name: label})
    assert (column.role, not column.unsure) == (role, sure)
    assert reason in column.reasons[0]


@for_each(
    ("columns", "roles"),
    [
        # Names of a survey that other files have too count only beside a distinctive one.
        ({"v005": WEIGHTS, "v012": cycled(range(15, 50), N)}, {"v005": QUASI, "v012": QUASI}),
        ({"caseid": [f"{i:>9}" for i in range(N)], "v005": WEIGHTS}, {"caseid": LEFT_OUT, "v005": "weights"}),
        ({"_LLCPWT": WEIGHTS, "WEIGHT2": np.round(BODIES * 2.2)}, {"_LLCPWT": "weights", "WEIGHT2": QUASI}),
        ({"PWGTP": WEIGHTS, "PWGTP1": WEIGHTS * 1.1}, {"PWGTP": "weights", "PWGTP1": LEFT_OUT}),
        ({"SDMVSTRA": CLUSTERS, "SDMVPSU": cycled([1, 2, 3], N)}, {"SDMVSTRA": "strata", "SDMVPSU": QUASI}),
        ({"age": np.sort(cycled(range(18, 90), N))}, {"age": QUASI}),
        # Columns that add up to what the weight does.
        (
            {"w_final_weight": WEIGHTS, **REPLICATES},
            {"w_final_weight": "weights"} | dict.fromkeys(REPLICATES, LEFT_OUT),
        ),
        ({"final_weight": WEIGHTS, "hh_weight": WEIGHTS + 1}, {"final_weight": "weights", "hh_weight": LEFT_OUT}),
    ],
)
def test_several_columns(columns, roles):
    assert {column.name: column.role for column in guess_columns(pd.DataFrame(columns))} == roles


@for_each(
    ("name", "values", "label", "kind"),
    [
        ("sex", cycled([1, 2], N), "", "nominal"),
        ("a", cycled([1, 2, 7, 9], N), "", "nominal"),
        ("a", cycled([1, 2, 3, 4], N), "", "numeric"),
        ("a", [*[1] * (N - 9), *[-9] * 9], "", "nominal"),  # ticked, or not
        ("a", [*[1] * (N - 9), *[np.nan] * 9], "", "nominal"),
        ("a", cycled([2, 4, 6, 8], N), "", "numeric"),
        ("a", [3, 5, 1, 2], "", "numeric"),  # too few to tell
        ("a", cycled([1, 2, 3, 4], N), "1: Married, 2: Widowed, 3: Divorced, 4: Single", "nominal"),
        ("a", cycled([1, 2, 3], N), "Health, 1 = poor, 2 = good, 3 = very good", "ordinal"),
        ("occ_code", cycled(range(10, 110), N), "", "nominal"),
        ("age", cycled(range(18, 90), N), "Age; see 1: Note", "numeric"),
        ("a", repeated({1: 600, 2: 6, 3: 1478, 4: 1755, 5: 584, 6: 26}), "", "nominal"),  # 2 is rare between 1 and 3
        ("n_hours", repeated({1: 600, 2: 6, 3: 1478, 4: 1755, 5: 584, 6: 26}), "", "numeric"),
        ("a", repeated({1: 300, 2: 280, 3: 200, 4: 90, 5: 40, 6: 12}), "", "numeric"),
        ("a", repeated({-1: 5, 0: 900, 1: 200}), "", "nominal"),
        ("a", repeated({-1: 150, 0: 900, 1: 200}), "", "numeric"),  # changes
    ],
)
def test_integers_that_are_codes(name, values, label, kind):
    (column,) = guess_columns(pd.DataFrame({name: values}), variable_labels={name: label})
    assert column.kind == kind


def test_the_names_of_large_surveys():
    with PATH.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({(row["name"], row["survey"]) for row in rows}) == len(rows) >= 250
    for row in rows:
        assert row["role"] in {*ROLES, PSU, REPLICATE_WEIGHTS} - {"classes"}, row
        assert row["kind"] in {*KINDS, ""}, row
        assert bool(row["kind"]) is (row["role"] not in ("identifiers", "weights", REPLICATE_WEIGHTS)), row
        assert row["alone"] in ("yes", "no"), row
        assert row["name"] == row["name"].lower(), row
        assert row["meaning"], row
        assert row["source"], row
    assert known_names(["R12WTRESP"])["R12WTRESP"].survey == "HRS"


def test_the_file_of_words():
    with PATH.with_name("name_words.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len({row["group"] for row in rows}) == len(rows)
    assert all(row[part] == folded(row[part]) for row in rows for part in ("words", "beginnings"))
