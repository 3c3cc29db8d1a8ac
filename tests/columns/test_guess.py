"""What the columns of a file seem to be, with reasons, what is decided about them, and what a release is told."""

from __future__ import annotations

import datetime
import itertools
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import ParameterError, Schema, datasets, microaggregate
from microagg.columns import KINDS, MOST_CLASSES, ROLES, arguments, guess_columns, would_be_lost
from microagg.columns.schema import ROLES as SCHEMA_ROLES
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import DataError
from microagg.tables import read_table
from tests.cases import for_each
from tests.conftest import ROOT
from tests.messy import hospital_csv


def guess(values, name="x", **options):
    """Return the guess for a column that stands alone in a file."""
    (found,) = guess_columns(pd.DataFrame({name: pd.Series(values, **options)}))
    return found


def by_name(frame, schema=None):
    return {found.name: found for found in guess_columns(frame, schema=schema)}


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
        "income": "confidential",
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
    assert roles.pop("sickness_days") == roles.pop("satisfaction") == roles.pop("household_income") == "confidential"
    assert set(roles.values()) == {"quasi-identifier"}
    assert [name for name, one in found.items() if one.kind == "category"] == ["person_id", "region", "education"]
    assert "so few whole numbers may stand for categories" in found["household_size"].reasons
    assert found["age"].reasons[1] == "61 different numbers from 18 to 92"


def test_a_file_of_a_hospital_loses_no_column_by_its_guesses():
    reading = {"encoding": "cp1252"}
    found = by_name(frame := read_table(hospital_csv(), name="x.csv", **reading))
    assert {name: one.role for name, one in found.items()} == {
        "Fall-Nr.": "identifier",
        "Geburtsdatum": "quasi-identifier",
        "Geschlecht": "quasi-identifier",
        "PLZ": "quasi-identifier",
        "Aufnahme": "quasi-identifier",
        "Diagnose": "confidential",
        "Konfession": "confidential",
        "cost €": "quasi-identifier",
        "weight": "quasi-identifier",
        "Gewichtung": "weight",
    }
    assert {name: one.kind for name, one in found.items() if one.is_quasi_identifier} == {
        **{"Geburtsdatum": "date", "Geschlecht": "category", "PLZ": "category", "Aufnahme": "date"},
        **{"cost €": "number", "weight": "number"},
    }
    codes = {name: (one.possible_codes, one.n_codes) for name, one in found.items() if one.codes}
    assert codes == {
        "Geburtsdatum": (("01.01.1900",), 8),
        "cost €": (("k. A.",), 10),
        "weight": ((".", "999,0"), found["weight"].n_codes),
    }
    assert not [name for name, one in found.items() if would_be_lost(one, len(frame))]
    release = microaggregate(frame, k=5, method="mondrian", **arguments(frame, found.values()))
    # Nothing is wiped out: each column but the identifier has several values, and no weight is that of a code.
    assert list(release.frame) == [name for name in frame if name != "Fall-Nr."]
    assert release.frame["weight"].between(40, 150).all()
    assert release.frame["Gewichtung"].dtype == np.float64
    assert release.report.risk.realized_k >= 5


def test_what_would_be_lost_is_said():
    unclear = guess([f"1,{i * i % 997:03d}" for i in range(200)], "rent")
    assert "can be read as numbers" in would_be_lost(unclear, 200)
    assert would_be_lost(unclear.decide(role="quasi-identifier", kind="comma"), 200) == ""
    born = guess([f"{1 + i % 12}/{1 + i // 12 % 12}/{1950 + i % 7}" for i in range(84)], "born")
    assert born.role == "identifier"
    assert "can be read as dates, such as '1/1/1950'" in would_be_lost(born, 84)
    assert would_be_lost(born.decide(role="quasi-identifier", kind="month-first"), 84) == ""
    towns = guess([f"t{i // 2}" for i in range(200)], "x")
    assert "100 categories in 200 records" in would_be_lost(towns, 200)
    assert would_be_lost(towns, 200, flat=False) == would_be_lost(towns.decide(role="other"), 200) == ""
    assert would_be_lost(guess(cycled(["a", "b"], 200)), 200) == ""


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
    assert len(schema.quasi_identifiers) == 7
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
        ("rent", np.sort(np.random.default_rng(0).permutation(9000)[:100])),  # a file sorted by it
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


def test_parts_of_words_are_no_words():
    assert guess(cycled(["a", "b", "c"]), "party_size").role == "confidential"
    assert guess(cycled(["a", "b", "c"]), "partition").role == "quasi-identifier"


@for_each(
    ("name", "values"),
    [
        ("Diagnose", ["J45", "none"]),
        ("religión", ["a", "b"]),
        ("Konfession", ["rk", "ev"]),
        ("Schulnote", ["1", "2"]),
        ("Abiturnote", ["1.3", "2.7"]),
        ("salaire net", ["1200", "1350"]),
        ("code", ["E11.9", "I10.0", "J45"]),
        ("main", ["C10AA05", "N02BE01"]),
        ("ISCO", ["2411", "5223"]),
        ("nace_rev2", ["47.11", "01.13"]),
    ],
)
def test_what_is_confidential_by_its_name_or_the_form_of_its_codes(name, values):
    assert guess(cycled(values), name).role == "confidential"


def test_codes_of_another_form_are_not_taken_for_diagnoses():
    # Districts of London, seats, and codes of which only some have the form.
    for values in (["E14", "N16", "W12"], ["A1", "B12"], ["E11.9", "unknown"]):
        assert guess(cycled(values), "x").role == "quasi-identifier"
    # Diagnoses of one patient each are no names.
    assert guess([f"{letter}{i:02}.{i % 10}" for letter in "CEI" for i in range(40)], "x").role == "confidential"


@for_each(
    ("values", "codes"),
    [
        ([*cycled(["71.5", "80.2", "66.1"], 90), *["999.0"] * 9], (999.0,)),
        ([*cycled(["71.5", "80.2", "66.1"], 90), *["-1"] * 9], (-1.0,)),
        ([*cycled(["31", "45"], 90), *["9999"] * 9], (9999,)),
        ([*cycled(["1960-05-01", "1981-07-30"], 90), *["1900-01-01"] * 9], ("1900-01-01",)),
        ([*cycled(["01.05.1960", "30.07.1981"], 90), *["01.01.1900"] * 9], ("01.01.1900",)),
    ],
)
def test_what_is_far_from_all_others_and_there_again_and_again_is_taken_for_missing(values, codes):
    found = by_name(read_table(b"x,y\n" + "".join(f"{v},a\n" for v in values).encode(), name="x.csv"))["x"]
    assert (found.possible_codes, found.codes, found.n_missing) == (codes, True, 9)
    assert found.kind in ("number", "date")
    # Once, it is asked about where it is plain, and a value among decimals.
    once = by_name(read_table(b"x,y\n" + "".join(f"{v},a\n" for v in values[:91]).encode(), name="x.csv"))["x"]
    assert not once.codes


def test_days_that_are_near_to_others_or_among_them_are_no_codes():
    near = [*cycled(["1903-05-01", "1981-07-30"], 90), *["1900-01-01"] * 9]
    among = [*cycled(["1860-05-01", "1981-07-30"], 90), *["1900-01-01"] * 9]
    for values in (near, among):
        assert guess(values).possible_codes == ()
        assert guess(pd.to_datetime(values)).possible_codes == ()
    typed = guess(pd.to_datetime([*cycled(["1960-05-01"], 90), *["1900-01-01"] * 9]))
    assert (typed.codes, typed.n_missing) == (True, 9)


def test_incomes_are_confidential():
    assert guess(cycled([1200, 1350, 990]), "Einkommen").role == "confidential"
    assert guess(cycled(["<=50K", ">50K"]), "income").role == "confidential"
    assert guess(cycled(["1200", "1350"]), "income").role == "confidential"


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


# --- what somebody decides --------------------------------------------------------------------------------------------


def small_messy():
    """Return 40 records with a column of every kind, gaps, and codes for missing values."""
    days = pd.date_range("2001-01-01", periods=40, freq="9D").strftime("%Y-%m-%d")
    return pd.DataFrame(
        {
            "age": [str(20 + i % 9) if i else "n/a" for i in range(40)],
            "born": days,
            "sex": ["f" if i % 3 else "m" for i in range(40)],
            "level": ["low", "high", "mid", "low"] * 10,
            "income": [1000.0 + 7 * i if i % 8 else np.nan for i in range(40)],
            "weight_hh": [1.5 + i % 4 for i in range(40)],
            "weight_person": [2.5 + i % 4 for i in range(40)],
        }
    )


def decide(frame, **roles):
    """Return the decisions on ``frame``: ``roles`` map columns to (role, kind, gaps), all others are "other"."""
    found = {name: column.decide(role="other") for name, column in by_name(frame).items()}
    for name, (role, *further) in roles.items():
        found[name] = found[name].decide(role=role, **dict(zip(["kind", "gaps"], further, strict=False)))
    return found


# --- one column -------------------------------------------------------------------------------------------------------


def test_a_guess_is_a_guess_until_somebody_decides():
    column = by_name(small_messy())["sex"]
    assert (column.role, column.kind, column.decided) == ("quasi-identifier", "category", False)
    new = column.decide(role="confidential")
    assert (new.role, new.kind, new.decided) == ("confidential", "category", True)
    assert column.decided is False
    with pytest.raises(ParameterError, match=r"role must be one of .*, not 'secret'"):
        column.decide(role="secret")


def test_codes_count_as_missing_where_they_can_be_nothing_else():
    found = by_name(pd.DataFrame({"a": ["n/a", *map(str, range(1, 60))], "b": [99999, *range(1, 60)]}))
    a, b = found["a"], found["b"]
    assert (a.codes, a.n_codes, a.n_missing, a.missing_codes) == (True, 1, 1, ("n/a",))
    assert (b.codes, b.n_codes, b.n_missing, b.missing_codes) == (False, 1, 0, ())
    assert b.decide(codes=True).n_missing == 1
    assert b.decide(codes=True).missing_codes == ("99999",)
    series = pd.Series(["n/a", "7", "n/a", "8"])
    assert a.present(series).tolist() == ["7", "8"]
    assert a.decide(codes=False).present(series) is series


def test_text_becomes_numbers_when_somebody_says_so():
    frame = pd.DataFrame({"pay": ["€1,234.50", "€7", "< 5", "n/a"] * 10 + ["€8"] * 100})
    pay = by_name(frame)["pay"]
    assert (pay.kind, pay.kinds, pay.as_numbers) == ("category", ("number", "ordered", "category"), None)
    assert (pay.codes, pay.missing_codes, pay.n_missing) == (True, ("n/a",), 10)
    number = pay.decide(kind="number")
    assert number.is_number
    assert number.as_numbers.notation == "1,234.5"
    # What is no number counts as missing, and can be nothing else.
    assert (number.codes, number.missing_codes, number.n_missing) == (True, ("< 5", "n/a"), 20)
    assert number.gaps == "drop"
    assert number.decide(codes=False).codes is False
    assert number.decide(role="confidential").codes is True
    back = number.decide(kind="category")
    assert (back.codes, back.missing_codes) == (True, ("n/a",))
    assert arguments(frame, [number]) == {
        "quasi_identifiers": ("pay",),
        "numbers": {"pay": "1,234.5"},
        "missing_codes": {"pay": ("< 5", "n/a")},
        "missing": {"pay": "drop"},
    }
    released = microaggregate(frame, k=60, **arguments(frame, [number])).frame["pay"]
    # 10 times 1234.5, 10 times 7 and 100 times 8, in two groups of 60: the 50 equal ones nearest to 8 stay with them.
    assert len(released) == 120
    assert released.sum() == pytest.approx(10 * 1234.5 + 10 * 7 + 100 * 8)


def test_a_comma_of_which_nothing_shows_what_it_is_can_be_either():
    frame = pd.DataFrame({"pay": ["1,234", "12,345", "n/a"] * 10, "age": range(30)})
    pay = by_name(frame)["pay"]
    assert pay.kinds == ("number", "comma", "ordered", "category")
    for kind, notation, mean in (("number", "1,234.5", 6789.5), ("comma", "1.234,5", 6.7895)):
        given = arguments(frame, [pay.decide(kind=kind)])
        assert given["numbers"] == {"pay": notation}
        released = microaggregate(frame, k=20, **given)
        assert released.frame["pay"].tolist() == pytest.approx([mean] * 20)
        assert released.recipe["numbers"] == [["pay", notation]]
    assert pay.decide(kind="comma").decide(kind="number").as_numbers.notation == "1,234.5"
    assert by_name(frame)["age"].decide(kind="comma").kind == "number"


def test_what_a_column_cannot_be_is_not_taken():
    found = by_name(small_messy())
    born, level = found["born"], found["level"]
    assert born.kinds[:2] == ("date", "year")
    assert born.decide(kind="number").kind == "date"
    assert level.decide(kind="ordered", gaps="category").gaps == "drop"
    assert level.decide(kind="category", gaps="category").gaps == "category"
    assert level.decide(gaps="impute").decide(kind="ordered", gaps="nonsense").gaps == "impute"
    # A category of its own is lost with the taxonomy.
    assert level.decide(kind="category", gaps="category").decide(kind="ordered").gaps == "drop"


def test_a_class_has_few_values_and_no_gaps():
    n = 2 * MOST_CLASSES + 2
    frame = pd.DataFrame(
        {
            "few": [f"v{i % MOST_CLASSES}" for i in range(n)],
            "many": [f"v{i % (MOST_CLASSES + 1)}" for i in range(n)],
            "one": ["v"] * n,
            "gap": [None, *("xy"[i % 2] for i in range(n - 1))],
        }
    )
    found = decide(frame, **dict.fromkeys(frame, ("confidential",)))
    assert [name for name, column in found.items() if column.can_be_class] == ["few"]
    assert found["few"].decide(role="stratum").can_be_class
    assert not found["few"].decide(role="quasi-identifier").can_be_class


def test_what_a_schema_declares_counts():
    frame = small_messy()
    schema = Schema.infer(
        frame,
        ["born", "sex", "level", "income"],
        confidential=["age"],
        weights="weight_hh",
        dates={"born": "year"},
        ordinal={"level": ["low", "mid", "high"]},
    )
    found = by_name(frame, schema)
    says = {name: (column.role, column.kind) for name, column in found.items()}
    assert says["born"] == ("quasi-identifier", "year")
    assert says["sex"] == ("quasi-identifier", "category")
    assert says["level"] == ("quasi-identifier", "ordered")
    assert says["income"] == ("quasi-identifier", "number")
    assert says["age"][0] == "confidential"
    assert says["weight_hh"][0] == "weight"
    assert says["weight_person"][0] == "other"
    assert all(column.decided and column.gaps == "drop" and not column.codes for column in found.values())


# --- all columns ------------------------------------------------------------------------------------------------------


def test_decisions_as_arguments():
    frame = small_messy()
    found = decide(
        frame,
        age=("quasi-identifier", "number", "impute"),
        born=("quasi-identifier", "year"),
        sex=("stratum",),
        level=("quasi-identifier", "ordered"),
        income=("quasi-identifier", "number", "drop"),
        weight_hh=("weight",),
        weight_person=("weight",),
    )
    found["age"] = found["age"].decide(codes=True)
    assert arguments(frame, found.values(), ordinal={"level": ("low", "mid", "high")}, classes="sex") == {
        "quasi_identifiers": ("age", "born", "level", "income"),
        "by": ("sex",),
        "weights": "weight_hh",
        "others": ("weight_person",),
        "classes": "sex",
        "ordinal": {"level": ("low", "mid", "high")},
        "dates": {"born": "year"},
        "numbers": {"age": None},
        "missing_codes": {"age": ("n/a",)},
        "missing": {"age": "impute", "income": "drop"},
    }


def test_categories_without_order_or_taxonomy_stand_side_by_side():
    frame = small_messy()
    found = decide(frame, sex=("quasi-identifier", "category"), level=("quasi-identifier", "ordered"))
    given = arguments(frame, found.values())
    assert given["taxonomies"] == {"sex": Taxonomy.flat(["f", "m"])}
    assert given["ordinal"] == {"level": ("high", "low", "mid")}
    tree = Taxonomy.flat(["m", "f", "x"])
    given = arguments(frame, found.values(), taxonomies={"sex": tree, "level": tree}, ordinal={"sex": ("f", "m")})
    assert given["taxonomies"] == {"sex": tree}
    assert list(given["ordinal"]) == ["level"]


def test_without_a_quasi_identifier_there_is_no_such_argument():
    frame = small_messy()
    assert arguments(frame, decide(frame).values()) == {"others": tuple(frame.columns)}
    lists = pd.DataFrame({"a": [[1], [2]], "b": [1, 2]})
    assert "quasi_identifiers" not in arguments(lists, decide(lists, a=("quasi-identifier",)).values())


def test_the_arguments_are_those_of_a_release():
    frame = small_messy()
    found = decide(
        frame,
        age=("quasi-identifier", "number", "drop"),
        born=("quasi-identifier", "date"),
        sex=("stratum",),
        weight_hh=("identifier",),
        income=("confidential",),
    )
    found["age"] = found["age"].decide(codes=True)
    released = microaggregate(frame, k=3, **arguments(frame, found.values())).frame
    assert len(released) == 39  # without the record whose age is "n/a"
    assert "weight_hh" not in released
    assert released.groupby(["sex", "age", "born"]).size().min() >= 3
