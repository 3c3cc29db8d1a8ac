"""What the columns of a file seem to be, with reasons, what is decided about them, and what a release is told."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import ParameterError, Schema, microaggregate
from microagg.columns import KINDS, MOST_CLASSES, ROLES, arguments, guess_columns, would_be_lost
from microagg.tables import read_table
from tests.cases import for_each
from tests.columns.common import by_name, cycled, guess, reasons

QUASI = "quasi_identifiers"


def names_of(columns, role):
    return [name for name, column in columns.items() if column.role == role]


def test_what_would_be_lost():
    unclear = guess([f"1,{i * i % 997:03d}" for i in range(200)], "rent")
    assert "can be read as numbers" in would_be_lost(unclear, 200)
    assert would_be_lost(unclear.decide(role=QUASI, kind="numeric"), 200) == ""
    born = guess([f"{1 + i % 12}/{1 + i // 12 % 12}/{1950 + i % 7}" for i in range(84)], "born")
    assert born.role == "identifiers"
    assert "can be read as dates, such as '1/1/1950'" in would_be_lost(born, 84)
    assert would_be_lost(born.decide(role=QUASI, kind="numeric", form="day m/d"), 84) == ""
    towns = guess([f"t{i // 2}" for i in range(200)], "x")
    assert "100 categories in 200 records" in would_be_lost(towns, 200)
    assert would_be_lost(towns, 200, flat=False) == would_be_lost(towns.decide(role="others"), 200) == ""
    assert would_be_lost(guess(cycled(["a", "b"], 200)), 200) == ""


def test_adult(benchmark):
    frame = benchmark("adult").frame
    columns = by_name(frame)
    assert names_of(columns, "weights") == ["fnlwgt"]
    assert names_of(columns, "confidential") == ["income"]
    assert columns["workclass"].gaps == "category"
    assert columns["capital-gain"].possible_codes == (99999,)
    assert "159 of 32,561 are 99999, far from all others (0 to 41,310)" in reasons(columns["capital-gain"])
    named = {role: tuple(names_of(columns, role)) for role in ROLES}
    schema = Schema.infer(frame, **named | {"weights": "fnlwgt"})
    assert set(schema.taxonomies) == {*benchmark("adult").schema.taxonomies, "education", "relationship"}


@for_each(
    ("role", "columns"),
    [
        (
            "identifiers",
            [
                ("patient_id", [f"P{i // 2}" for i in range(100)]),
                ("x", range(1, 101)),
                ("x", [3 * i // 2 for i in range(100)]),
                ("x", np.random.default_rng(1).permutation(100) + 5),
                ("x", [10_000_000 + 7919 * i % 9_999_991 for i in range(100)]),
                ("x", [f"user{i}@example.org" for i in range(0, 80)] + ["a@b.de"] * 20),
                ("remarks", [f"she said on day {i % 60} that all was well" for i in range(100)]),
                ("Nachname", [f"Meier{i}" for i in range(60)] + ["Schulz"] * 40),
                ("x", [f"Meier{i}" for i in range(100)]),
                ("x", [f"{i:05d}" for i in range(50, 150)]),
            ],
        ),
        (
            QUASI,
            [
                ("region_id", cycled(range(1, 6))),  # a code, for it recurs
                ("country_name", [f"land {i}" for i in range(60)] + ["sea"] * 40),
                ("nombre_enfants", cycled(range(60))),  # French: the number of children
                ("rent", np.sort(np.random.default_rng(0).permutation(9000)[:100])),  # a file sorted by it
                ("x", np.random.default_rng(0).normal(size=100)),
                ("age", [31, 33, 35, 60, 62, 64]),
                ("x", range(1, 11)),  # too few records to tell
                ("plz", [f"{i:05d}" for i in range(1067, 1167)]),
                ("born", [str(datetime.date(1980, 1, 1) + datetime.timedelta(i)) for i in range(100)]),
                ("partition", cycled(["a", "b"])),  # no party
                # Districts of London, and codes of which only some have the form of diagnoses.
                ("x", cycled(["E14", "N16", "W12"])),
                ("x", cycled(["E11.9", "unknown"])),
                ("stratum", cycled(["a", "b"], 19)),  # of too few records each
            ],
        ),
        (
            "confidential",
            [
                *((name, cycled([1.5, 2.5, 4.5])) for name in ("HIV", "religión", "maladie_2", "isSick_symptoms")),
                *(
                    (name, cycled(range(1, 6)))
                    for name in ("highbp", "poorhlth", "hi_chol", "rate_marriage", "affairs")
                ),
                ("party_size", cycled(["a", "b", "c"])),
                ("Abiturnote", cycled(["1.3", "2.7"])),
                ("income", cycled(["<=50K", ">50K"])),
                ("code", cycled(["E11.9", "I10.0", "J45"])),
                ("main", cycled(["C10AA05", "N02BE01"])),
                ("ISCO", cycled(["2411", "5223"])),
                ("x", [f"{letter}{i:02}.{i % 10}" for letter in "CEI" for i in range(40)]),  # of one patient each
            ],
        ),
    ],
)
def test_roles_by_names_and_values(role, columns):
    assert [guess(values, name).role for name, values in columns] == [role] * len(columns)


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
    column, once = (
        by_name(read_table(b"x,y\n" + "".join(f"{v},a\n" for v in chosen).encode(), name="x.csv"))["x"]
        for chosen in (values, values[:91])
    )
    assert (column.kind, column.possible_codes, column.codes, column.n_missing) == ("numeric", codes, True, 9)
    # Once, it is asked about where it is plain, and a value among decimals.
    assert not once.codes


@for_each(
    ("values", "role", "kind", "what"),
    [
        (["x"] * 52, "others", "nominal", "all values are 'x': it distinguishes nobody"),
        (np.array([None] * 7), "others", "", "no record has a value here; 7 of 7 are missing"),
        ([[1], [2], [3]], "identifiers", "", "but list"),
        ([1j, 2j, 3j], "identifiers", "", "but complex"),
        (pd.date_range("2020", periods=3, tz="UTC"), "identifiers", "", "time zone"),
        ([datetime.datetime(2020, 1, day, tzinfo=datetime.UTC) for day in (1, 2)] * 2, "identifiers", "", "time zone"),
    ],
)
def test_columns_that_can_be_no_quasi_identifier(values, role, kind, what):
    column = guess(values)
    assert (column.role, column.kind, bool(column.kinds)) == (role, kind, bool(kind))
    assert column.needs_decision == (role == "identifiers")
    assert what in reasons(column)


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
    columns = guess_columns(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert [column.name for column in columns] == list(frame)
    assert guess_columns(pd.DataFrame()) == ()
    for column in columns:
        assert column.role in ROLES
        assert {kind for kind, _ in column.kinds} <= set(KINDS)
        assert (column.kind, column.form) in column.kinds if column.kinds else column.role in ("others", "identifiers")
        assert column.reasons
        assert all(column.reasons)
        assert column.n_empty == frame[column.name].isna().sum()
        assert column.gaps in column.possible_gaps
        assert not column.decided
        assert all(code in frame[column.name].tolist() for code in column.possible_codes)


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


def decide(frame, **changes):
    """Return the decisions on ``frame``: ``changes`` by column, all others are "others"."""
    return {name: column.decide(**changes.get(name, {"role": "others"})) for name, column in by_name(frame).items()}


def quasi(kind, form="", **further):
    return {"role": QUASI, "kind": kind, "form": form} | further


def test_text_becomes_numbers_when_somebody_says_so():
    frame = pd.DataFrame({"pay": ["€1,234.50", "€7", "few", "n/a"] * 10 + ["€8"] * 100})
    pay = by_name(frame)["pay"]
    assert (pay.kind, pay.kinds[0], pay.as_numbers) == ("nominal", ("numeric", "1,234.5"), None)
    assert (pay.codes, pay.missing_codes, pay.n_missing) == (True, ("n/a",), 10)
    number = pay.decide(kind="numeric")
    assert number.as_numbers.notation == number.form == "1,234.5"
    # What is no number counts as missing, and can be nothing else.
    assert (number.codes, number.missing_codes, number.n_missing) == (True, ("few", "n/a"), 20)
    assert number.gaps == "drop"
    assert number.decide(codes=False).codes is False
    back = number.decide(kind="nominal")
    assert (back.codes, back.missing_codes) == (True, ("n/a",))
    released = microaggregate(frame, k=60, **arguments(frame, [number])).frame["pay"]
    assert len(released) == 120
    assert released.sum() == pytest.approx(10 * 1234.5 + 10 * 7 + 100 * 8)


def test_a_column_takes_only_what_it_can_be():
    columns = by_name(small_messy())
    for wrong in ({"role": "strata "}, {"kind": "numerical"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            columns["sex"].decide(**wrong)
    born, level = columns["born"], columns["level"]
    assert born.kinds == (("numeric", "day"), ("numeric", "year"), ("nominal", ""))
    assert born.decide(kind="numeric", form="day d/m").form == "day"
    assert born.decide(kind="ordinal").kind == "numeric"
    assert level.decide(kind="ordinal", gaps="category").gaps == "drop"
    assert level.decide(gaps="impute").decide(kind="ordinal", gaps="nonsense").gaps == "impute"
    # A category of its own is lost with the taxonomy.
    assert level.decide(kind="nominal", gaps="category").gaps == "category"
    assert level.decide(kind="nominal", gaps="category").decide(kind="ordinal").gaps == "drop"


def test_a_class_has_few_values_and_no_gaps():
    few, many = (cycled([f"v{i}" for i in range(n)], 2 * n + 1) for n in (MOST_CLASSES, MOST_CLASSES + 1))
    for role, fits in (("confidential", True), ("strata", True), (QUASI, False)):
        assert guess(few).decide(role=role).can_be_class is fits
    assert not any(guess(values).decide(role="strata").can_be_class for values in (many, ["v"] * 9, [None, *few]))


def test_what_a_schema_declares_counts(benchmark):
    data = benchmark("adult")
    columns = by_name(data.frame, data.schema)
    for role in ROLES:
        assert {*names_of(columns, role)} == {*data.schema.columns(role)}
    for attribute in data.schema.attributes:
        assert columns[attribute.name].kind == attribute.kind
    assert all(column.decided and column.gaps == "drop" and not column.codes for column in columns.values())
    schema = Schema(("born", "age"), dates={"born": "year"}, numbers={"age": "1.234,5"})
    columns = by_name(small_messy(), schema)
    kinds = [(columns[name].kind, columns[name].form) for name in schema.quasi_identifiers]
    assert kinds == [("numeric", "year"), ("numeric", "1.234,5")]


def test_decisions_as_arguments():
    frame = small_messy()
    columns = decide(
        frame,
        age=quasi("numeric", gaps="impute", codes=True),
        born=quasi("numeric", "year"),
        sex={"role": "strata"},
        level=quasi("ordinal"),
        income=quasi("numeric", gaps="drop"),
        weight_hh={"role": "weights"},
        weight_person={"role": "weights"},
    )
    assert arguments(frame, columns.values(), ordinal={"level": ("low", "mid", "high")}, classes="sex") == {
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


@for_each(
    ("labels", "says"),
    [
        ({"value_labels": {"weight": {1: "one"}}}, "value_labels names 'weight', which the table does not have"),
        ({"value_labels": ["age"]}, "value_labels must map column names to labels"),
        ({"value_labels": {"age": {85: 1}}}, "the value_labels of 'age' must map numbers to texts"),
    ],
)
def test_labels_of_a_file_must_fit_the_table(labels, says):
    with pytest.raises(ParameterError, match=says):
        guess_columns(pd.DataFrame({"age": [20, 85]}), **labels)
