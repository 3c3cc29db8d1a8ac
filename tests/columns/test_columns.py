"""What the columns of a file seem to be: roles, kinds, gaps and codes, each with its reasons."""

from __future__ import annotations

import datetime
import itertools
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import Schema, datasets
from microagg.columns import KINDS, ROLES, guess_columns
from microagg.columns.evidence import CONFIDENTIAL, NUMBERED, folded, parts
from microagg.columns.schema import ROLES as SCHEMA_ROLES
from microagg.errors import DataError
from microagg.tables import read_table
from tests.cases import for_each
from tests.conftest import ROOT


def guess(values, name="x", **options):
    """Return the guess for a column that stands alone in a file."""
    (found,) = guess_columns(pd.DataFrame({name: pd.Series(values, **options)}))
    return found


def by_name(frame):
    return {found.name: found for found in guess_columns(frame)}


def said(found):
    return "; ".join(found.reasons)


def cycled(values, n=100):
    return list(itertools.islice(itertools.cycle(values), n))


# --- whole files ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def messy():
    """3,000 fictitious persons as somebody's file has them, read as every file is."""
    rng = np.random.default_rng(7)
    n = 3000
    age = [str(value) for value in rng.integers(18, 95, n)]
    age[41] = "n/a"
    sex = rng.choice(["F", "M"], n)
    sex[:60] = "f"
    income = rng.integers(800, 9000, n).astype(object)
    income[rng.permutation(n)[:41]] = ""
    first, last = rng.choice(["Ann", "Bo", "Cy", "Di", "Ed"], n), rng.permutation(n)
    frame = pd.DataFrame(
        {
            "id": range(1, n + 1),
            "name": [f"{one} Smith{other}" for one, other in zip(first, last, strict=True)],
            "age": age,
            "sex": sex,
            "zip": [f"{value:05d}" for value in rng.integers(1067, 99998, n)],
            "income": income,
            "weight": np.round(rng.gamma(4, 203.1, n), 2),
            "children": rng.poisson(1.3, n),
            "diagnosis": rng.choice(["flu", "asthma", "none"], n),
            "born": [f"{day}.{month}.{1930 + day}" for day, month in rng.integers(1, 13, (n, 2))],
        }
    )
    return read_table(frame.to_csv(index=False).encode(), name="messy.csv")


def test_a_messy_file(messy):
    found = by_name(messy)
    assert {name: one.role for name, one in found.items()} == {
        "id": "identifier",
        "name": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "zip": "quasi-identifier",
        "income": "quasi-identifier",
        "weight": "weight",
        "children": "quasi-identifier",
        "diagnosis": "confidential",
        "born": "quasi-identifier",
    }
    assert [one.kind for one in found.values()] == [
        *("number", "category", "number", "category", "category", "number", "number", "number", "category", "date")
    ]
    assert found["id"].reasons[0] == "3,000 distinct of 3,000, and the name says 'id': looks like an identifier"
    assert found["age"].possible_codes == ("n/a",)
    assert "2,999 of 3,000 are numbers, 1 is 'n/a': treat it as missing?" in found["age"].reasons
    assert (found["age"].gaps, found["age"].n_empty) == ("drop", 0)
    assert "5 digits, leading zeros: a code" in found["zip"].reasons
    assert found["zip"].kinds == ("ordered", "category")
    assert (found["income"].gaps, found["income"].n_empty) == ("drop", 41)
    assert found["income"].reasons[-1] == "41 of 3,000 are missing"
    assert "the name says 'weight'" in found["weight"].reasons[0]
    assert found["weight"].reasons[0].endswith("but not for sure")
    assert found["diagnosis"].reasons[0].startswith("the name says 'diagnosis'")
    assert {name for name, one in found.items() if one.n_empty or one.possible_codes} == {"age", "income"}


def test_the_survey():
    found = by_name(read_table(ROOT / "sample_data" / "survey.csv"))
    roles = {name: one.role for name, one in found.items()}
    assert roles.pop("person_id") == "identifier"
    # The names of these speak of health and of an opinion.
    assert roles.pop("sickness_days") == roles.pop("satisfaction") == "confidential"
    assert set(roles.values()) == {"quasi-identifier"}
    assert [name for name, one in found.items() if one.kind == "category"] == ["person_id", "region", "education"]
    assert "so few whole numbers may stand for categories" in found["household_size"].reasons
    assert found["age"].reasons[1] == "61 different numbers from 18 to 92"


def test_adult(benchmark):
    frame = benchmark("adult").frame
    # Whichever of the two comes first, it is the words that stay.
    for columns in (list(frame), list(frame)[::-1]):
        found = by_name(frame[columns])
        assert {name for name, one in found.items() if one.role == "identifier"} == {"education-num"}
        assert found["education-num"].reasons[0] == "determines 'education' one to one: leave out"
        assert {name for name, one in found.items() if one.role == "weight"} == {"fnlwgt"}
        assert {name for name, one in found.items() if one.role == "confidential"} == {"income"}
        assert {name for name, one in found.items() if one.n_empty or one.possible_codes} == {
            *("workclass", "occupation", "native-country", "capital-gain")
        }
        assert found["workclass"].gaps == "category"
        assert found["capital-gain"].possible_codes == (99999,)
        assert "159 of 32,561 are 99999, far above all others (at most 41,310)" in said(found["capital-gain"])


def schema_of(frame):
    """Return the schema of a file in which everybody believes the guesses."""
    roles = {}
    for found in guess_columns(frame):
        roles.setdefault(ROLES[found.role], []).append(found.name)
    if "weights" in roles:
        (roles["weights"],) = roles["weights"]
    return Schema.infer(frame, **roles)


def test_guesses_make_a_schema(benchmark):
    schema = schema_of(benchmark("adult").frame)
    assert (schema.identifiers, schema.weights) == (("education-num",), "fnlwgt")
    assert set(schema.taxonomies) == {*benchmark("adult").schema.taxonomies, "education", "relationship"}
    schema = schema_of(datasets.make_survey())
    assert len(schema.quasi_identifiers) == 8
    assert set(ROLES.values()) == set(SCHEMA_ROLES) - {"classes"}


# --- roles ------------------------------------------------------------------------------------------------------------


@for_each(
    ("name", "values"),
    [
        ("patient_id", [f"P{i // 2}" for i in range(100)]),
        ("PatientID", range(1000, 1100)),
        ("x", range(1, 101)),
        ("x", [3 * i // 2 for i in range(100)]),
        ("x", np.random.default_rng(1).permutation(100) + 5),
        ("x", [10_000_000 + 7919 * i % 9_999_991 for i in range(100)]),
        ("x", [f"user{i}@example.org" for i in range(0, 80)] + ["a@b.de"] * 20),
        ("remarks", [f"she said on day {i % 60} that all was well" for i in range(100)]),
        ("Nachname", [f"Meier{i}" for i in range(60)] + ["Schulz"] * 40),
        ("full_name", [f"Meier{i}" for i in range(60)] + ["Schulz"] * 40),
        ("Straße", [f"Weg {i}" for i in range(60)] + ["Allee 1"] * 40),
        ("x", [f"Meier{i}" for i in range(100)]),
        ("x", [f"{i:05d}" for i in range(50, 150)]),
    ],
)
def test_identifiers(name, values):
    found = guess(values, name)
    assert found.role == "identifier"
    assert f"{found.n_distinct:,} distinct of 100" in found.reasons[0]


@for_each(
    ("name", "values"),
    [
        ("region_id", cycled(range(1, 6))),  # a code, for it recurs
        ("country_name", [f"land {i}" for i in range(60)] + ["sea"] * 40),
        ("nombre_enfants", cycled(range(60))),  # French: the number of children
        ("income", np.sort(np.random.default_rng(0).permutation(9000)[:100])),  # a file sorted by it
        ("x", np.random.default_rng(0).normal(size=100)),
        ("valid", cycled(["yes", "no"])),
        ("age", [31, 33, 35, 60, 62, 64]),
        ("x", range(1, 11)),  # too few records to tell
        ("plz", [f"{i:05d}" for i in range(1067, 1167)]),
        ("born", [str(datetime.date(1980, 1, 1) + datetime.timedelta(i)) for i in range(100)]),
    ],
)
def test_what_looks_like_identifiers_but_is_none(name, values):
    assert guess(values, name).role == "quasi-identifier"


WEIGHTS = np.random.default_rng(3)


@for_each(
    ("name", "values", "role", "sure"),
    [
        ("fnlwgt", WEIGHTS.integers(12_000, 900_000, 100), "weight", True),
        ("hh_weight", WEIGHTS.integers(40, 90, 100), "weight", True),
        ("pweight", cycled([1.2345, 0.87]), "weight", True),
        ("Hochrechnungsfaktor", cycled([512.25, 380.5]), "weight", True),
        ("gewicht", np.round(WEIGHTS.gamma(4, 203, 100), 2), "weight", False),
        ("weight", cycled([0.53127, 1.8231, 0.9417]), "weight", False),
        ("weight", WEIGHTS.integers(41, 140, 100), "quasi-identifier", False),
        ("Gewicht", np.round(WEIGHTS.normal(75, 9, 100), 1), "quasi-identifier", False),
        ("body_weight", WEIGHTS.normal(75, 9, 100), "quasi-identifier", True),
        ("weight_kg", WEIGHTS.integers(30, 150, 100), "quasi-identifier", True),
        ("weight", WEIGHTS.normal(0, 1, 100), "quasi-identifier", True),  # no weight is negative
        ("weight", cycled(["light", "heavy"]), "quasi-identifier", True),
    ],
)
def test_weights(name, values, role, sure):
    found = guess(values, name)
    assert found.role == role
    assert ("not for sure" in said(found)) is not sure


def test_only_one_column_is_the_weight():
    found = by_name(pd.DataFrame({"wgt": cycled([1.5, 2.5, 3.25]), "wgt2": cycled([1.5, 2.5, 3.5, 4.5])}))
    assert [one.role for one in found.values()] == ["weight", "other"]
    assert found["wgt2"].reasons[0] == "a weight too, but 'wgt' is taken for the weight of a record"


@for_each(
    "name",
    ["diagnosis", "Diagnosen", "HIV", "religión", "Konfession", "partei", "maladie_2", "isSick_symptoms", "Santé"],
)
def test_confidential_by_name(name):
    assert guess(cycled(["a", "b", "c"]), name).role == "confidential"
    assert guess(cycled([1.5, 2.5, 4.5]), name).role == "confidential"


def test_incomes_are_confidential_in_brackets_only():
    assert guess(cycled([1200, 1350, 990]), "Einkommen").role == "quasi-identifier"
    assert guess(cycled(["<=50K", ">50K"]), "income").role == "confidential"
    assert guess(cycled(["1200", "1350"]), "income").role == "quasi-identifier"


def test_strata_by_name_where_each_has_records():
    found = guess(cycled(["a", "b"], 21), "stratum")
    assert (found.role, found.reasons[0]) == ("stratum", "the name says 'stratum'; 2 strata of 10 records or more")
    assert guess(cycled(["a", "b"], 19), "stratum").role == "quasi-identifier"


def test_columns_that_tell_nobody_apart():
    found = guess(["x"] * 50 + [None] * 2)
    assert (found.role, found.kind, found.n_empty) == ("other", "category", 2)
    assert found.reasons == ("all values are 'x': nobody is told apart by it", "2 of 52 are missing")
    found = guess([None] * 7, dtype=object)
    assert (found.role, found.kind, found.kinds) == ("other", "", ())
    assert found.reasons == ("no record has a value here", "7 of 7 are missing")


@for_each(
    ("values", "what"),
    [
        ([[1], [2], [3]], "but list"),
        ([1j, 2j, 3j], "but complex"),
        (pd.to_timedelta([1, 2, 3], unit="D"), "but Timedelta"),
        (pd.date_range("2020", periods=3, tz="UTC"), "time zone"),
        ([datetime.datetime(2020, 1, day, tzinfo=datetime.UTC) for day in (1, 2)] * 2, "time zone"),
        ([b"a", b"b", b"c"], "but bytes"),
    ],
)
def test_columns_that_can_be_no_quasi_identifier(values, what):
    found = guess(values)
    assert (found.role, found.kind, found.kinds) == ("other", "", ())
    assert what in found.reasons[0]


# --- kinds ------------------------------------------------------------------------------------------------------------


@for_each(
    ("values", "kinds"),
    [
        ([True, False, True, False], ("category", "number")),
        (pd.array([True, None, False], dtype="boolean"), ("category", "number")),
        (np.array([True, None, False], dtype=object), ("category", "number")),
        (pd.Categorical(list("abab"), ["b", "a"], ordered=True), ("ordered", "category")),
        (pd.Categorical(list("abab")), ("category", "ordered")),
        (list("abab"), ("category", "ordered")),
        (pd.array([1, 2, None, 1], dtype="Int64"), ("number", "category", "ordered")),
        (range(0, 800, 2), ("number",)),
        (cycled(np.arange(200), 400), ("number", "category", "ordered")),
        (pd.date_range("2020", periods=4), ("date", "year")),
        ([datetime.date(2020, 1, 5), datetime.date(1990, 1, 1)] * 2, ("date", "year")),
        (["2020-01-05", "1990-02-01"] * 2, ("date", "year", "category")),
        ([" 1", "2 ", "3.5", "-4e2"] * 2, ("number", "category", "ordered")),
        (np.array([1, 2.5, "n/a", 1, 2.5], dtype=object), ("number", "category", "ordered")),
    ],
)
def test_kinds(values, kinds):
    found = guess(values)
    assert (found.kind, set(found.kinds)) == (kinds[0], set(kinds))
    assert list(found.kinds) == [kind for kind in KINDS if kind in kinds]


def test_text_that_is_numbers_but_for_few_values():
    found = guess([*map(str, range(95)), *("n/a", "?", "-", " ", "k.A.")])
    assert found.kind == "number"
    assert found.possible_codes == ("n/a", "?", "-", " ", "k.A.")
    assert "95 of 100 are numbers, 5 are 'n/a', '?', '-' and 2 more: treat them as missing?" in found.reasons
    # Words that say that there is no value may be many: they are no evidence against numbers.
    assert guess([*cycled(["18", "19"]), *["unknown"] * 90]).possible_codes == ("unknown",)
    # Six different exceptions are too many, and so is one in twenty that says something.
    assert guess([*map(str, range(1000)), *"abcdef"]).kind == "category"
    assert guess([*cycled(["18", "19"], 95), *["young"] * 5]).kind == "number"
    assert guess([*cycled(["18", "19"], 94), *["young"] * 6]).kind == "category"
    found = guess([*cycled(["88", "89"], 99), "90+"])
    assert "1 is '90+', which is no number: correct it, or treat it as missing?" in said(found)


@for_each(
    ("values", "notations", "said_of_it"),
    [
        (["€1,234", "€56.50"], ("1,234.5",), "all 100, such as '€1,234' for 1234"),
        (["1 234", "56"], ("1,234.5",), "all 100, such as '1 234' for 1234"),
        (["1.234,5", "7"], ("1.234,5",), "all 100, such as '1.234,5' for 1234.5"),
        (["12 %", "7.5 %"], ("1,234.5",), "all 100, such as '12 %' for 12"),
        (["(1,234.50)", "9"], ("1,234.5",), "all 100, such as '(1,234.50)' for -1234.5"),
        (
            ["1,234", "12,345"],
            ("1,234.5", "1.234,5"),
            "all 100, such as '1,234' for 1234 or for 1.234, and nothing shows which",
        ),
        (
            ["1.234", "2.500"],
            ("1,234.5", "1.234,5"),
            "all 100, such as '1.234' for 1.234 or for 1234, and nothing shows which",
        ),
        (["+4912345000", "+4912345001"], ("1,234.5",), "all 100, such as '+4912345000' for 4912345000"),
        (["10E2", "100E1"], ("1,234.5",), "all 100, such as '10E2' for 1000"),
        (["-0001", "0002"], ("1,234.5",), "all 100, such as '-0001' for -1"),
    ],
)
def test_text_that_reads_as_numbers_is_offered_and_not_read(values, notations, said_of_it):
    found = guess(cycled(values))
    comma = ("comma",) if len(notations) > 1 else ()
    assert found.kinds == ("number", *comma, "ordered", "category")
    assert (found.kind, found.role) == ("category", "quasi-identifier")
    assert tuple(one.notation for one in found.offers) == notations
    assert f"text that reads as numbers: {said_of_it}" in said(found)
    assert found.possible_codes == found.offers[0].missing_codes == ()


def test_what_would_be_lost_by_reading_numbers_is_counted():
    found = guess([*cycled(["1,234.5", "7"], 90), *["< 5"] * 4, *["-"] * 3, *["unknown"] * 2, "n/a"])
    (reading,) = found.offers
    assert (reading.n, reading.n_codes) == (90, 10)
    assert reading.missing_codes == ("< 5", "-", "unknown", "n/a")
    assert reading.counts == (4, 3, 2, 1)
    assert reading.lost == "'< 5' (4), '-' (3), 'unknown' (2) and 'n/a' (1)"
    assert "90 of 100, such as '1,234.5' for 1234.5; no numbers are '< 5' (4)" in said(found)
    # As categories, only what can be nothing else counts as missing.
    assert (found.possible_codes, found.n_codes) == (("-", "n/a"), 4)
    # Where plain numbers have more exceptions than a few, they are offered too; where most is none, not.
    found = guess([*map(str, range(100)), *"abcdef"])
    assert found.kinds == ("number", "ordered", "category")
    assert found.offers[0].missing_codes == tuple("abcdef")
    assert guess([*cycled(["1,234.5", "7"], 79), *["young"] * 21]).offers == ()
    assert guess([*cycled(["1,234.5", "7"], 80), *["young"] * 20]).offers[0].counts == (20,)
    # Of exceptions that differ by the notation each reading has its own.
    assert guess([*cycled(["1,234"], 99), "12.5,"]).offers[1].missing_codes == ("12.5,",)


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["1,5", "2.5"], "numbers, but of '2.5' and '1,5' one has a decimal comma: write all of them alike"),
        (["€12", "$12"], "numbers, but '€12' and '$12' are not in the same unit: turn them into one in the file"),
        (["12 %", "0.12"], "numbers, but '12 %' and '0.12' are not in the same unit"),
    ],
)
def test_numbers_that_cannot_be_read_are_said(values, says):
    found = guess(cycled(values))
    assert (found.kind, found.kinds, found.offers) == ("category", ("ordered", "category"), ())
    assert says in said(found)


def test_names_say_that_numbers_are_none():
    values = [f"1 {i:03d}" for i in range(100)]
    assert guess(values, "customer_id").offers == guess(values, "telephone").offers == ()
    found = guess(values, "pay")
    assert (found.role, len(found.offers)) == ("identifier", 1)
    assert found.reasons[0] == "100 distinct of 100: looks like an identifier, unless it is read as numbers"
    found = guess(cycled(["1.234,5", "7"]), "pweight")
    assert (found.role, found.kind) == ("other", "category")
    assert "write plain numbers in the file to use them as weights" in found.reasons[0]


def test_whole_numbers_that_floats_do_not_hold_stay_text():
    found = guess(cycled(["9007199254740993", "9007199254740995"]))
    assert (found.kind, found.offers) == ("category", ())


@for_each(
    ("values", "says"),
    [
        ([True, False], "yes or no"),
        (["TRUE", "FALSE"], "yes or no"),
        (["ja", "Nein", "n/a"], "yes or no"),
        (["Sí", "No"], "yes or no"),
        ([0, 1], "only 0 and 1, which may stand for no and yes"),
        ([0.0, 1.0, np.nan], "only 0 and 1, which may stand for no and yes"),
        (["0", "1"], "only 0 and 1, which may stand for no and yes"),
        ([1, 2], "so few whole numbers may stand for categories"),
    ],
)
def test_yes_and_no(values, says):
    assert says in guess(cycled(values)).reasons
    assert "yes or no" not in said(guess(cycled(["yes", "perhaps"])))


def test_namibia_is_asked_about():
    found = guess(cycled(["AF", "NA", "DE", "?"]))
    assert (found.possible_codes, found.n_codes, found.doubtful) == (("NA", "?"), 50, True)
    assert "50 of 100 are 'NA' and '?', which may be a value too, such as a country or initials: treat" in said(found)
    found = guess(cycled(["AF", "?"]))
    assert (found.n_codes, found.doubtful) == (50, False)
    # Beside numbers it is no value.
    assert guess([*cycled(["18", "19"]), "NA"]).doubtful is False


@given(
    st.lists(
        st.sampled_from(["1,234", "12,5", "€7", "7", "1 234", "-", "x", "(5)", "5 %", "1.5", "10E2", "+5", "12,345.0"]),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_offered_is_read_as_such(values):
    """The guess and the reader are of one mind about numbers."""
    found = guess(values * 6)
    frame = pd.DataFrame({"x": values})
    assert ("number" in found.kinds) == bool(found.offers or found.kind == "number")
    for one in found.offers:
        schema = Schema(("x",), numbers={"x": one.notation}, missing_codes={"x": one.missing_codes})
        read = schema.read(frame)["x"]
        assert 6 * int(read.notna().sum()) == one.n
        place = values.index(one.example)
        assert read[place] == float(one.number)
    if len(found.offers) == 1:
        codes = {"x": found.offers[0].missing_codes}
        known = Schema.infer(frame, "x", numbers="x", missing_codes=codes).numbers["x"]
        assert known in (found.offers[0].notation, None)


def test_text_that_is_numbers_may_have_codes_among_them():
    found = guess([*cycled(["18", "19", "44"]), "-99", "n/a"])
    assert found.possible_codes == ("n/a", "-99")
    assert "1 of 102 is '-99', though no other is below 18: treat it as missing?" in found.reasons


@for_each(
    ("values", "codes"),
    [
        ([*range(18, 90), -9, -99], (-9, -99)),
        ([0, 1, 0, 1, -9], (-9,)),
        ([*range(-20, 30)], ()),  # degrees
        ([-1, 0, 1, 1], ()),  # a change
        ([*range(18, 90), -1], (-1,)),
        ([*range(18, 90), 999], (999,)),
        ([*range(18, 100)], ()),  # ages up to 99
        ([1, 2, 3, 97, 98, 99], (97, 98, 99)),
        ([*range(18, 100), 999, 9999], (999, 9999)),
        ([*range(1950, 2010), 9999], (9999,)),
        ([18.5, 20.25, -9.0], ()),  # among decimals it may have been measured
        ([18.5, 20.25, 99.0, 999.0], ()),
        ([18.5, 20.25, -99.0, -999.0], (-99.0, -999.0)),
        ([18.5, -20.25, -99.0], ()),  # negative numbers occur
        (pd.array([18, 30, None, -9], dtype="Int64"), (-9,)),
        ([18.0, 30.0, np.nan, -9.0], (-9.0,)),
        ([-9, -99], ()),  # nothing else is there
    ],
)
def test_codes_for_missing_among_numbers(values, codes):
    found = guess(values)
    assert found.possible_codes == codes
    assert ("treat" in said(found)) is bool(codes)
    assert found.gaps == "drop"


def test_codes_for_missing_among_categories():
    found = guess(cycled(["Private", "State", "?", "unknown"]))
    assert (found.kind, found.gaps) == ("category", "category")
    assert found.possible_codes == ("?",)  # that something is unknown may be a finding
    assert "25 of 100 are '?': treat them as missing?" in found.reasons


def test_codes_of_digits():
    assert guess(cycled(["01", "12", "7"])).reasons[1] == "1 to 2 digits, leading zeros: a code"
    found = guess(cycled([20095, 10115, 80331]), "PLZ")
    assert (found.kind, found.kinds) == ("category", ("number", "ordered", "category"))
    assert "5 digits each, and the name says 'plz': a code" in found.reasons
    found = guess(cycled(["20095", "10115", "n/a"]), "postcode")
    assert (found.kind, found.possible_codes, found.gaps) == ("category", ("n/a",), "category")
    assert guess(cycled([95, 10115]), "zip").kind == "number"  # of different lengths
    assert guess(cycled(["20095", "10115"])).kind == "number"  # nothing says that they are codes
    assert guess(cycled(["0.5", "00.7"])).kind == "number"


def test_years_and_infinity():
    assert "may be years" in said(guess(cycled([1931, 1987, 2004])))
    assert "may be years" not in said(guess(cycled([1899, 1987, 2004])))
    assert "2 of 5 are infinite" in said(guess([1.5, np.inf, -np.inf, 2.5, 3.5]))


@for_each(
    ("values", "first", "last"),
    [
        (["31.12.2001", "1.2.1999"], "1999-02-01", "2001-12-31"),
        (["12/31/2001", "1/2/1999"], "1999-01-02", "2001-12-31"),
        (["31/12/2001", "1/2/1999"], "1999-02-01", "2001-12-31"),
        (["31-12-2001", "01-02-1999"], "1999-02-01", "2001-12-31"),
        (["2001-12-31 10:30", "1999-02-01T08:00:01"], "1999-02-01", "2001-12-31"),
        (["2001/12/31", "1999/2/1"], "1999-02-01", "2001-12-31"),
        (["31.12.2001 8:30", "1.2.1999 23:59:59"], "1999-02-01", "2001-12-31"),
        (["31/12/2001 08:30", "4/4/1999"], "1999-04-04", "2001-12-31"),
        (["1/1/1250", "12/12/3000"], "1250-01-01", "3000-12-12"),
    ],
)
def test_dates_in_text(values, first, last):
    found = guess(values * 20)
    assert found.kind == "date"
    assert f"dates from {first} to {last}" in found.reasons


def test_dates_that_are_unclear_or_wrong():
    found = guess(["1/2/1999", "12/11/2001"] * 20)
    assert found.kind == "category"
    assert "dates such as '1/2/1999', but it is not clear which number is the day" in said(found)
    found = guess(["13/2/1999", "2/13/1999"] * 20)
    assert found.kind == "category"
    assert "dates, but '13/2/1999' has the day first and '2/13/1999' the month: write all of them alike" in said(found)
    found = guess([*cycled(["2001-06-30", "2002-06-30"]), "2001-06-31"])
    assert (found.kind, found.possible_codes) == ("date", ("2001-06-31",))
    assert "100 of 101 are dates, 1 is '2001-06-31', which is no date: correct it" in said(found)
    assert guess([*cycled(["2001-06-30", "2002-07-30"]), "unknown"]).possible_codes == ("unknown",)


@given(
    st.lists(
        st.sampled_from(
            ["1.2.2003", "2003/2/1 9:00", "3/4/2005", "13/4/2005", "4/13/2005", "4-4-2005", "1.2.2003 25:00"]
        ),
        min_size=1,
        max_size=4,
    )
)
def test_what_is_guessed_to_be_dates_is_read_as_such(values):
    """The guess and the reader are of one mind: what one takes the other takes, or says why not."""
    found = guess([*values, "31.12.2001"] * 5)
    schema = Schema(("x",), dates="x", missing_codes={"x": found.possible_codes})
    frame = pd.DataFrame({"x": [*values, "31.12.2001"]})
    if found.kind in ("date", "year"):
        assert schema.read(frame)["x"].notna().any()
    else:
        with pytest.raises(DataError, match=r"first|no date"):
            schema.read(frame)


def test_dates_on_new_years_day_are_years():
    assert guess(pd.to_datetime(["2001-01-01", "2002-01-01"] * 2)).kind == "year"
    assert guess(["1.1.2001", "1.1.2002"] * 2).kind == "year"


# --- columns that say the same ----------------------------------------------------------------------------------------


def test_of_columns_that_say_the_same_one_stays():
    place, code = cycled(["Rome", "Oslo", "Bern", "Wien"]), cycled([4, 9, 2, 7])
    found = by_name(pd.DataFrame({"code": code, "place": place, "north": cycled([0, 1, 0, 0])}))
    assert [one.role for one in found.values()] == ["identifier", "quasi-identifier", "quasi-identifier"]
    assert found["code"].reasons[0] == "determines 'place' one to one: leave out"
    # Of two of the same kind the first stays, and records in which one is missing say nothing.
    other = [None if i % 10 == 0 else f"{value}!" for i, value in enumerate(place)]
    found = by_name(pd.DataFrame({"a": place, "b": other}))
    assert [one.role for one in found.values()] == ["quasi-identifier", "identifier"]
    # That two columns say the same of nine records may be chance.
    rare = [1] * 9 + [0] * 91
    found = by_name(pd.DataFrame({"a": rare, "b": rare}))
    assert {one.role for one in found.values()} == {"quasi-identifier"}


# --- any file ---------------------------------------------------------------------------------------------------------

CELLS = st.one_of(
    st.none(),
    st.integers(-1000, 1000),
    st.floats(),
    st.booleans(),
    st.sampled_from(["n/a", "?", "1", "01067", "2.5", "1.2.2003", "2003-02-30", "3/4/2005", "a@b", "", "é", "1e999"]),
    st.text(max_size=5),
    st.dates(),
    st.datetimes(),
    st.lists(st.integers(), max_size=2),
)


@given(st.lists(st.tuples(CELLS, CELLS, st.integers(0, 2)), max_size=12), st.text(max_size=8))
def test_any_file_has_its_guesses(rows, name):
    frame = pd.DataFrame(rows, columns=[name, name + "_", name + "weight"])
    before = frame.copy()
    found = guess_columns(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert [one.name for one in found] == list(frame)
    for one in found:
        assert one.role in ROLES
        assert set(one.kinds) <= set(KINDS)
        assert one.kind in one.kinds if one.kinds else not one.kind
        assert one.kind or one.role == "other"
        assert one.reasons
        assert all(one.reasons)
        assert one.n_empty == frame[one.name].isna().sum()
        assert one.gaps in one.possible_gaps
        assert not one.decided
        assert all(code in frame[one.name].tolist() for code in one.possible_codes)


def test_guesses_need_a_frame_with_names():
    with pytest.raises(DataError, match="must be a DataFrame"):
        guess_columns([1, 2])
    with pytest.raises(DataError, match="'a' occurs more than once"):
        guess_columns(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    assert guess_columns(pd.DataFrame()) == ()


def test_words_of_names():
    assert parts("HHWeight2_kg") == ["hh", "weight", "kg"]
    assert parts("IDNumber") == ["id", "number"]
    assert parts("Straße.nr") == ["strasse", "nr"]
    assert parts(7) == []
    assert folded("Región ÄÖ") == "region ao"
    assert NUMBERED.in_name("paid") is None
    assert NUMBERED.in_name("person_ids") == "ids"
    assert CONFIDENTIAL.in_name("party_size") == "party"
    assert CONFIDENTIAL.in_name("partition") is None


def test_wide_and_long_files_are_guessed_in_seconds():
    rng = np.random.default_rng(0)
    wide = pd.DataFrame(rng.integers(0, 9, (1000, 200)), columns=[f"q{j}" for j in range(200)])
    start = time.perf_counter()
    found = guess_columns(wide)
    guess_columns(
        pd.DataFrame({"x": rng.normal(size=100_000), "y": [f"t {i}" for i in rng.integers(0, 50_000, 100_000)]})
    )
    # A tenth of that is usual: the bound is for machines with much else to do.
    assert time.perf_counter() - start < 10
    assert {one.role for one in found} == {"quasi-identifier"}


def test_numbers_of_records_are_known_in_a_sample():
    rows = np.sort(np.random.default_rng(0).permutation(10_000)[:300])
    frame = pd.DataFrame({"person": 1_000_000 + rows, "amount": 1_000_000 + rows[::-1]})
    person, amount = guess_columns(frame, n_table=10_000)
    assert person.role == "identifier"
    assert "looks like the number of a record" in person.reasons[0]
    assert amount.role == "quasi-identifier"
    # As a table of its own, sorted by a column, it may say anything.
    assert guess_columns(frame)[0].role == "quasi-identifier"
