"""What kinds of values columns hold, and which of these are codes for missing ones."""

import datetime

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import Schema
from microagg.columns import arguments, guess_columns, kinds
from microagg.errors import DataError
from tests.cases import for_each
from tests.columns.common import cycled, guess, reasons

NUMERIC, ORDINAL, NOMINAL = (("numeric", ""), ("ordinal", ""), ("nominal", ""))
CATEGORIES = (ORDINAL, NOMINAL)
DATES = (("numeric", "day"), ("numeric", "year"))


@for_each(
    ("values", "kind", "kinds"),
    [
        ([True, False, True, False], NOMINAL, (NUMERIC, NOMINAL)),
        (pd.array([True, None, False], dtype="boolean"), NOMINAL, (NUMERIC, NOMINAL)),
        (np.array([True, None, False], dtype=object), NOMINAL, (NUMERIC, NOMINAL)),
        (pd.Categorical(list("abab"), ["b", "a"], ordered=True), ORDINAL, CATEGORIES),
        (pd.Categorical(list("abab")), NOMINAL, CATEGORIES),
        (list("abab"), NOMINAL, CATEGORIES),
        (pd.array([1, 2, None, 1], dtype="Int64"), NUMERIC, (NUMERIC, *CATEGORIES)),
        (range(0, 800, 2), NUMERIC, (NUMERIC,)),
        (cycled(np.arange(200), 400), NUMERIC, (NUMERIC, *CATEGORIES)),
        (pd.date_range("2020", periods=4), DATES[0], DATES),
        ([datetime.date(2020, 1, 5), datetime.date(1990, 1, 1)] * 2, DATES[0], DATES),
        (["2020-01-05", "1990-02-01"] * 2, DATES[0], (*DATES, NOMINAL)),
        ([" 1", "2 ", "3.5", "-4e2"] * 2, NUMERIC, (NUMERIC, *CATEGORIES)),
        (np.array([1, 2.5, "n/a", 1, 2.5], dtype=object), NUMERIC, (NUMERIC, *CATEGORIES)),
        (pd.to_datetime(["2001-01-01", "2002-01-01"] * 2), DATES[1], DATES),
        (["1.1.2001", "1.1.2002"] * 2, DATES[1], (*DATES, NOMINAL)),
    ],
)
def test_kinds(values, kind, kinds):
    column = guess(values)
    assert ((column.kind, column.form), column.kinds) == (kind, kinds)


def test_what_says_that_there_is_no_value_is_hardly_a_step_of_an_order():
    levels = ["low", "high", "don't know"]
    frame = pd.DataFrame({"x": pd.Categorical(cycled(levels, 60), levels, ordered=True)})
    (column,) = guess_columns(frame)
    assert (column.kind, column.possible_codes, column.codes) == ("ordinal", ("don't know",), False)
    assert column.needs_decision
    assert arguments(frame, [column.decide(codes=True)])["ordinal"] == {"x": ("low", "high")}
    assert not guess(pd.Categorical(["refused", None] * 30, ordered=True)).possible_codes


def test_text_that_is_numbers_but_for_few_values():
    column = guess([*map(str, range(95)), *("n/a", "?", "-", " ", "k.A.")])
    assert column.kind == "numeric"
    assert column.possible_codes == ("n/a", "?", "-", " ", "k.A.")
    assert "95 of 100 are numbers, 5 are 'n/a', '?', '-' and 2 more: treat them as missing?" in column.reasons
    # Words that say that there is no value may be many: they are no evidence against numbers.
    assert guess([*cycled(["18", "19"]), *["unknown"] * 90]).possible_codes == ("unknown",)
    # Six different exceptions are too many, and so is more than one in twenty that says something.
    assert guess([*map(str, range(1000)), *"abcdef"]).kind == "nominal"
    for n, kind in ((95, "numeric"), (94, "nominal")):
        assert guess([*cycled(["18", "19"], n), *["young"] * (100 - n)]).kind == kind
    column = guess([*cycled(["88", "89"], 99), "90+"])
    assert "1 is '90+', which is no number: recode it, or treat it as missing?" in reasons(column)


@for_each(
    ("values", "notations", "said_of_it"),
    [
        (["€1,234", "€56.50"], ("1,234.5",), "all 100, such as '€1,234' for 1234"),
        (["1.234,5", "7"], ("1.234,5",), "all 100, such as '1.234,5' for 1234.5"),
        (["(1,234.50)", "9"], ("1,234.5",), "all 100, such as '(1,234.50)' for -1234.5"),
        (["1,234", "12,345"], ("1,234.5", "1.234,5"), "all 100, such as '1,234' for 1234 or for 1.234, and nothing"),
        (["1.234", "2.500"], ("1,234.5", "1.234,5"), "all 100, such as '1.234' for 1.234 or for 1234, and nothing"),
        (["+4912345000", "+4912345001"], ("1,234.5",), "all 100, such as '+4912345000' for 4912345000"),
        (["10E2", "100E1"], ("1,234.5",), "all 100, such as '10E2' for 1000"),
        (["-0001", "0002"], ("1,234.5",), "all 100, such as '-0001' for -1"),
    ],
)
def test_text_that_reads_as_numbers_is_offered_and_guessed_where_nothing_else_is_meant(values, notations, said_of_it):
    column = guess(cycled(values))
    clear = len(notations) == 1 and not column.offers[0].is_like_code
    assert column.kinds == (*(("numeric", notation) for notation in notations), *CATEGORIES)
    assert (column.kind, column.role) == ("numeric" if clear else "nominal", "quasi_identifiers")
    assert tuple(one.notation for one in column.offers) == notations
    assert f"text that reads as numbers: {said_of_it}" in reasons(column)
    assert column.possible_codes == column.offers[0].codes == ()


def test_what_would_be_lost_by_reading_numbers_is_counted():
    column = guess([*cycled(["1,234.5", "7"], 90), *["few"] * 4, *["-"] * 3, *["unknown"] * 2, "n/a"])
    (reading,) = column.offers
    assert (reading.n, reading.n_codes) == (90, 10)
    assert reading.codes == ("few", "-", "unknown", "n/a")
    assert reading.counts == (4, 3, 2, 1)
    assert reading.lost == "'few' (4), '-' (3), 'unknown' (2) and 'n/a' (1)"
    assert "90 of 100, such as '1,234.5' for 1234.5; not numbers: 'few' (4)" in reasons(column)
    # As categories, only what can be nothing else counts as missing.
    assert (column.kind, column.codes, column.n_missing) == ("numeric", True, 10)
    as_category = column.decide(kind="nominal")
    assert (as_category.possible_codes, as_category.n_codes) == (("-", "n/a"), 4)
    # Of exceptions that differ by the notation each reading has its own.
    assert guess([*cycled(["1,234"], 99), "12.5,"]).offers[1].codes == ("12.5,",)


def test_numbers_that_cannot_be_read_are_reasons():
    for values, says in ((["1,5", "2.5"], "has a decimal comma: recode one"), (["€12", "$12"], "not in the same unit")):
        column = guess(cycled(values))
        assert (column.kind, column.kinds, column.offers) == ("nominal", CATEGORIES, ())
        assert says in reasons(column)


def test_names_say_that_numbers_are_none():
    values = [f"1 {i * i % 997:03d}" for i in range(100)]
    assert guess(values, "customer_id").offers == guess(values, "telephone").offers == ()
    column = guess(values, "rent")
    assert (column.role, column.kind, len(column.offers)) == ("quasi_identifiers", "numeric", 1)
    column = guess([f"1,{i * i % 997:03d}" for i in range(100)], "rent")
    assert (column.role, len(column.offers)) == ("identifiers", 2)
    assert column.reasons[0] == "100 distinct of 100: looks like an identifier, unless it is read as numbers"
    assert guess(cycled(["1.234,5", "7"]), "pweight").role == "weights"
    assert guess(cycled(["1.234,5", "none"]), "pweight").role != "weights"


def test_namibia_is_asked_about():
    column = guess(cycled(["AF", "NA", "DE", "?"]))
    assert (column.possible_codes, column.n_codes, column.doubtful) == (("NA", "?"), 50, True)
    assert "50 of 100 are 'NA' and '?', which may be a value too" in reasons(column)
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
    column = guess(values * 6)
    frame = pd.DataFrame({"x": values})
    assert ("numeric" in dict(column.kinds)) == bool(column.offers or column.kind == "numeric")
    for one in column.offers:
        schema = Schema(("x",), numbers={"x": one.notation}, missing_codes={"x": one.codes})
        read = schema.read(frame)["x"]
        assert 6 * int(read.notna().sum()) == one.n
        place = values.index(one.example)
        assert read[place] == float(one.number)
    if len(column.offers) == 1:
        codes = {"x": column.offers[0].codes}
        known = Schema.infer(frame, "x", numbers="x", missing_codes=codes).numbers["x"]
        assert known in (column.offers[0].notation, None)


@for_each(
    ("values", "codes"),
    [
        ([*range(18, 90), -9, -99], (-9, -99)),
        ([0, 1, 0, 1, -9], (-9,)),
        ([-1, 0, 1, 1], ()),  # a change
        ([*range(18, 90), -1], (-1,)),
        ([*range(18, 90), 999], (999,)),
        ([*range(18, 100)], ()),  # ages up to 99
        ([*range(1, 700), 777, *range(998, 1100)], ()),  # 777 and 999 are among others
        ([*range(18, 100), 999, 9999], (999, 9999)),
        ([18.5, 20.25, -9.0], ()),  # among decimals it may have been measured
        ([18.5, 20.25, -99.0, -999.0], (-99.0, -999.0)),
        ([18.5, -20.25, -99.0], ()),  # negative numbers occur
        ([18.0, 30.0, np.nan, -9.0], (-9.0,)),
        ([-9, -99], ()),  # nothing else is there
    ],
)
def test_codes_for_missing_among_numbers(values, codes):
    column = guess(values)
    assert column.possible_codes == codes
    assert ("treat" in reasons(column)) is bool(codes)
    assert column.gaps == "drop"


def test_codes_of_digits():
    assert guess(cycled(["01", "12", "7"])).reasons[1] == "1 to 2 digits, leading zeros: a code"
    column = guess(cycled([20095, 10115, 80331]), "PLZ")
    assert (column.kind, column.kinds) == ("nominal", (NUMERIC, *CATEGORIES))
    assert "5 digits each, and the name says 'plz': a code" in column.reasons
    column = guess(cycled(["20095", "10115", "n/a"]), "postcode")
    assert (column.kind, column.possible_codes, column.gaps) == ("nominal", ("n/a",), "category")
    assert guess(cycled([95, 10115]), "zip").kind == "numeric"  # of different lengths
    assert guess(cycled(["20095", "10115"])).kind == "numeric"  # nothing says that they are codes


def test_years_and_infinity():
    assert "may be years" in reasons(guess(cycled([1931, 1987, 2004])))
    assert "may be years" not in reasons(guess(cycled([1899, 1987, 2004])))
    assert "2 of 5 are infinite" in reasons(guess([1.5, np.inf, -np.inf, 2.5, 3.5]))


@for_each(
    ("values", "first", "last"),
    [
        (["12/31/2001", "1/2/1999"], "1999-01-02", "2001-12-31"),
        (["31/12/2001", "1/2/1999"], "1999-02-01", "2001-12-31"),
        (["2001-12-31 10:30", "1999-02-01T08:00:01"], "1999-02-01", "2001-12-31"),
        (["1/1/1250", "12/12/3000"], "1250-01-01", "3000-12-12"),
    ],
)
def test_dates_in_text(values, first, last):
    column = guess(values * 20)
    assert column.form == "day"
    assert f"dates from {first} to {last}" in column.reasons


def test_dates_that_are_unclear_or_wrong():
    column = guess(["1/2/1999", "12/11/2001"] * 20)
    assert column.kind == "nominal"
    assert "dates such as '1/2/1999', but it is not clear which number is the day" in reasons(column)
    forms = ("day d/m", "day m/d", "year d/m", "year m/d")
    assert column.kinds == (*(("numeric", form) for form in forms), *CATEGORIES)
    assert column.as_dates("day d/m") == [("1/2/1999", "1999-02-01"), ("12/11/2001", "2001-11-12")]
    frame = pd.DataFrame({"x": [*cycled(["1/2/1999", "12/11/2001"]), "unknown"]})
    for form in forms:
        (column,) = guess_columns(frame)
        decided = column.decide(form=form, kind="numeric")
        assert decided.is_date
        told = arguments(frame, [decided])
        assert (told["dates"], told["missing_codes"]) == ({"x": form}, {"x": ("unknown",)})
        schema = Schema.infer(frame, **{name: told[name] for name in ("quasi_identifiers", "dates", "missing_codes")})
        assert str(schema.read(frame)["x"][0].date()) == dict(decided.as_dates(form))["1/2/1999"]
    assert guess(["13/2/1999", "2/13/1999"] * 20).kinds == CATEGORIES
    column = guess([*cycled(["2001-06-30", "2002-06-30"]), "2001-06-31"])
    assert (column.form, column.possible_codes) == ("day", ("2001-06-31",))
    assert "100 of 101 are dates, 1 is '2001-06-31', which is no date: recode it" in reasons(column)


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
    column = guess([*values, "31.12.2001"] * 5)
    schema = Schema(("x",), dates="x", missing_codes={"x": column.possible_codes})
    frame = pd.DataFrame({"x": [*values, "31.12.2001"]})
    if column.is_date:
        assert schema.read(frame)["x"].notna().any()
    else:
        with pytest.raises(DataError, match=r"first|no date"):
            schema.read(frame)


@for_each("marks", [["*", "**", ": c"], ["..", ":"], ["<5"], ["(s)", "[x]", "n/a"]])
def test_marks_of_suppressed_cells_are_asked_about(marks):
    column = guess([*map(str, range(100, 200)), *cycled(marks, 20)])
    assert (column.kind, set(column.missing_codes), column.needs_decision) == ("numeric", set(marks), True)
    assert guess(cycled(marks, 100)).kind == "nominal"
    # Codes that are numbers, and words with accents, leave the question open.
    column = guess([*map(str, range(100, 200)), *cycled(["*", "-99", "weiß nicht"], 15)])
    assert (column.missing_codes, column.needs_decision) == (("*", "weiß nicht", "-99"), True)


@for_each(
    ("values", "name", "clause"),
    [
        (pd.Categorical([*map(str, range(74)), "85 and over"]), "age", "74 of 75 categories are numbers: if"),
        (pd.Categorical([*map(str, range(19)), "x"]), "age", ""),  # few
        (pd.Categorical([*map(str, range(50)), *map("t{}".format, range(50))]), "age", ""),
        (pd.Categorical([f"{i:03}" for i in range(75)]), "age", ""),
        (pd.Categorical([str(i) for i in range(100, 175)]), "nuts", ""),
    ],
)
def test_many_categories_that_are_numbers_are_doubted(values, name, clause):
    column = guess(cycled(values, 300), name, dtype=values.dtype)
    assert (column.kind, column.needs_decision) == ("nominal", bool(clause))
    assert clause in reasons(column)
    assert ("are numbers" in reasons(column)) == bool(clause)


@for_each(
    ("ends", "says"),
    [((310, 3033), "310 to 3,033"), ((1931, 2024), "1931 to 2024"), ((0, 2025), "0 to 2,025"), ((0, 9.5), "0 to 9.5")],
)
def test_the_thousands_of_a_range_are_separated_but_not_those_of_years(ends, says):
    assert kinds.interval(np.array(ends, dtype=float)) == says
