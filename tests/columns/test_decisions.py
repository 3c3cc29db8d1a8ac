"""What is decided about columns, what is told to the package, and the figures of a column."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import Schema, microaggregate
from microagg.columns import MOST_CLASSES, arguments, bin_edges, category_counts, guess_columns, summary
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import ParameterError


def messy():
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


def by_name(frame, schema=None):
    return {column.name: column for column in guess_columns(frame, schema=schema)}


def decide(frame, **roles):
    """Return the decisions on ``frame``: ``roles`` map columns to (role, kind, gaps), all others are "other"."""
    found = {name: column.decide(role="other") for name, column in by_name(frame).items()}
    for name, (role, *further) in roles.items():
        found[name] = found[name].decide(role=role, **dict(zip(["kind", "gaps"], further, strict=False)))
    return found


# --- one column -------------------------------------------------------------------------------------------------------


def test_a_guess_is_a_guess_until_somebody_decides():
    column = by_name(messy())["sex"]
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
    found = by_name(messy())
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
    frame = messy()
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
    frame = messy()
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
    frame = messy()
    found = decide(frame, sex=("quasi-identifier", "category"), level=("quasi-identifier", "ordered"))
    given = arguments(frame, found.values())
    assert given["taxonomies"] == {"sex": Taxonomy.flat(["f", "m"])}
    assert given["ordinal"] == {"level": ("high", "low", "mid")}
    tree = Taxonomy.flat(["m", "f", "x"])
    given = arguments(frame, found.values(), taxonomies={"sex": tree, "level": tree}, ordinal={"sex": ("f", "m")})
    assert given["taxonomies"] == {"sex": tree}
    assert list(given["ordinal"]) == ["level"]


def test_without_a_quasi_identifier_there_is_no_such_argument():
    frame = messy()
    assert arguments(frame, decide(frame).values()) == {"others": tuple(frame.columns)}
    lists = pd.DataFrame({"a": [[1], [2]], "b": [1, 2]})
    assert "quasi_identifiers" not in arguments(lists, decide(lists, a=("quasi-identifier",)).values())


def test_the_arguments_are_those_of_a_release():
    frame = messy()
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


# --- figures ----------------------------------------------------------------------------------------------------------


def test_values_are_counted_in_their_order():
    assert category_counts(pd.Series([10.0, 9.0, 10.0, None])) == {"9": 1, "10": 2}
    assert list(category_counts(pd.Series(["b", 2, "a", 10, 2], dtype=object)).items()) == [
        ("2", 2),
        ("10", 1),
        ("a", 1),
        ("b", 1),
    ]
    ordered = pd.Series(pd.Categorical(["mid", "low", "mid", None], ["low", "mid", "high"], ordered=True))
    assert list(category_counts(ordered).items()) == [("low", 1), ("mid", 2)]
    # A number and its text are written alike.
    assert category_counts(pd.Series([1, "1"], dtype=object)) == {"1": 2}


def test_bins_of_whole_numbers_hold_equally_many():
    assert bin_edges(np.array([3.0, 5.0, 4.0]), 24).tolist() == [2.5, 3.5, 4.5, 5.5]
    assert bin_edges(np.arange(60.0), 24).tolist() == [3 * i - 0.5 for i in range(21)]
    assert bin_edges(np.array([7.0]), 24).tolist() == [6.5, 7.5]
    assert bin_edges(np.array([0.5, 2.5, 1.0, 0.5]), 24).tolist() == pytest.approx([0.5, 0.5 + 2 / 3, 0.5 + 4 / 3, 2.5])
    assert len(bin_edges(np.linspace(0.1, 7.3, 500), 24)) == 25
    assert bin_edges(np.array([0.0, 2e9]), 24).tolist() == [0, 1e9, 2e9]


def test_figures_of_columns():
    frame = pd.DataFrame(
        {
            "number": [0.0, 24.0, np.inf, np.nan, 24.0],
            "text": ["b", "a", "b", None, "x" * 30],
            "flag": [True, False, True, True, False],
            "empty": [np.nan] * 5,
            7: pd.to_datetime(["2001-02-03"] * 5),
        }
    )
    found = summary(frame).set_index("column")
    assert list(found.index) == ["number", "text", "flag", "empty", "7"]
    assert found.loc["number", ["least", "mean", "greatest"]].tolist() == [0, 16, 24]
    # Each of 13 bins holds two whole numbers: 0 and 1, 2 and 3, ..., 24 and 25.
    assert found.loc["number", "distribution"] == [1, *[0] * 11, 2]
    assert found.loc["number", "examples"] == "0, 24, inf"
    assert np.isnan(found.loc["text", "mean"])
    assert found.loc["text", "distribution"] == [2, 1, 1]
    assert found.loc["text", "examples"] == f"b, a, {'x' * 23}…"
    assert found.loc["flag", "distribution"] == [3, 2]
    assert found.loc["empty", "distribution"] == []
    assert found.loc["empty", "examples"] == ""
    assert found.loc["7", "examples"] == "2001-02-03"
    assert list(summary(frame[[]]).columns) == ["column", "least", "mean", "greatest", "distribution", "examples"]
