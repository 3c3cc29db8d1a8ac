"""Numbers written as text: what each text says, how a column shows which of two readings it is, what is refused."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import DataError
from microagg.columns.numerals import COMMA, NOTATIONS, POINT, is_plain, mixed_units, notation_of, parse, read, shown_by
from microagg.columns.numerals import values as values_of
from tests.cases import for_each

# What each text says with a decimal point, and with a decimal comma.
TEXTS = [
    ("0", 0, 0),
    ("007", 7, 7),
    ("1.5", 1.5, None),
    ("1.234", 1.234, 1234),
    ("1,234", 1234, 1.234),
    ("1234,567", None, 1234.567),
    ("1,234.5", 1234.5, None),
    ("1.234,5", None, 1234.5),
    ("1,234,567.25", 1234567.25, None),
    ("12,34,567", 1234567, None),  # as in India
    (".5", 0.5, None),
    (",5", None, 0.5),
    ("12.", 12, None),
    ("1e3", 1000, 1000),
    ("1.5E-3", 0.0015, None),
    # Thousands apart by what is no decimal mark: blanks, and apostrophes as in Switzerland.
    ("1\u202f234\u202f567", 1234567, 1234567),
    ("1\u2007234.5", 1234.5, None),
    ("12\u2019345.67", 12345.67, None),
    # Negative numbers.
    ("\u22125", -5, -5),
    ("\u20135", -5, -5),
    ("5-", -5, -5),
    ("(5)", -5, -5),
    ("(1,234.50)", -1234.5, None),
    # Currencies and shares.
    ("€ 1,234", 1234, 1.234),
    ("1 234,50\u00a0€", None, 1234.5),
    ("$1,234.50", 1234.5, None),
    ("$(5)", -5, -5),
    ("($5)", -5, -5),
    ("5 €-", -5, -5),
    ("R$5,50", None, 5.5),
    ("12EUR", 12, 12),
    ("CHF 1'234.05", 1234.05, None),
    ("₹12,34,567", 1234567, None),
    ("-0,5 %", None, -0.5),
    # Whole numbers are exact or none: the next one that a float holds is 9007199254740994.
    ("9007199254740993", None, None),
    ("9007199254740994", 9007199254740994, 9007199254740994),
]

NO_NUMBERS = [
    *("", " ", "-", "--", ".", ",", "+", "()", "€", "%", "n/a", "nan", "inf", "1_000", "0x10", "1e999", "1e", "e5"),
    *("1,23,4", "12,3456,789", "0,123,456", "01,234.5.6", "1 23", "1 2345", "1,234 567", "1  234", "1,"),
    *("--5", "+-5", "-5-", "(-5)", "(5", "5)", "5+", ")5(", "€5€", "€5%", "5 % €", "12 %%", "5 EUR USD"),
    *("TOP 5", "ALL 5", "5 kg", "12a", "90+", "< 5", "1-2", "12:30", "1.2.3", "31.12.2001", "192.168.0.1"),
    "+49 30 1234",
    *("٣", "１２", "1٣4", "1２", "½", "1,234,", "twelve", "1" * 310, "1 " * 5000, "9" * 100_000 + "x"),
]


@for_each(("text", "point", "comma"), TEXTS)
def test_what_a_text_says(text, point, comma):
    assert parse(text, POINT) == parse(text) == point
    assert parse(text, COMMA) == comma


@for_each("text", NO_NUMBERS)
def test_what_is_no_number(text):
    assert [parse(text, notation) for notation in NOTATIONS] == [None, None]


def column(*values, **how):
    return pd.Series(list(values), name="pay", **how)


@for_each("dtype", [object, "str", "category"])
@for_each(
    ("values", "notation", "numbers"),
    [
        (["1,234", "12,345.5"], POINT, [1234, 12345.5]),
        (["1.234", "12.345,5"], COMMA, [1234, 12345.5]),
        (["€ 1,234", None, "(€5.50)"], POINT, [1234, np.nan, -5.5]),
        (["1\u202f234,5 €", "12 €", "12"], COMMA, [1234.5, 12, 12]),
        (["12 %", "7,5 %"], COMMA, [12, 7.5]),
        (["1.234", "2.500"], None, [1.234, 2.5]),  # as every program reads it
        ([" 3.5 ", "-1e3"], None, [3.5, -1000]),
    ],
)
def test_columns_are_read_as_they_show(values, notation, numbers, dtype):
    series = column(*values, dtype=dtype)
    assert notation_of(series) == notation
    np.testing.assert_array_equal(read(series), numbers)
    assert read(series).name == "pay"


def test_what_a_column_does_not_show_is_said():
    series = column("1,234", "€12,345")
    with pytest.raises(DataError, match=r"column 'pay' does not show whether '1,234' is 1234 or 1.234: write"):
        read(series)
    assert read(series, POINT).tolist() == [1234, 12345]
    assert read(series, COMMA).tolist() == [1.234, 12.345]


@for_each("values", [["€12", "12 EUR"], ["5", "$12", "€12"], ["0.12", "12 %"]])
def test_units_must_be_one(values):
    assert mixed_units(values) == tuple(values[-2:])
    with pytest.raises(DataError, match="which are not in the same unit: recode those of one of them"):
        read(column(*values))


@for_each(
    ("values", "notation", "says"),
    [
        (["1,5", "x", "x"], None, "has 'x' in record 1 (counting from 0), which is no number: recode it, such as"),
        (["1,5", "2.5"], COMMA, "has '2.5' in record 1 (counting from 0), which is no number: recode it, such as"),
        (["€5", "< 5"], None, "has '< 5' in record 1 (counting from 0), which is no number"),
        (["1", "9007199254740993"], None, "in record 1 (counting from 0), which has more digits than a number keeps"),
        (["1", 2**53 + 1], None, "has 9007199254740993 in record 1 (counting from 0), which has more digits than a"),
        ([1.5, float("inf")], None, "has inf in record 1 (counting from 0), which is no number"),
    ],
)
def test_what_does_not_fit_is_named(values, notation, says):
    with pytest.raises(DataError) as error:
        read(column(*values, dtype=object), notation)
    assert f"column 'pay' {says}" in str(error.value) or says in str(error.value)


def test_objects_that_are_numbers_and_numbers_themselves():
    mixed = column(1, 2.5, Decimal("3.25"), Fraction(1, 2), True, "€4", None, dtype=object)
    np.testing.assert_array_equal(read(mixed), [1, 2.5, 3.25, 0.5, 1, 4, np.nan])
    for series in (column(1, 2), column(1.5, None), column(True, False), column(1, None, dtype="Int8")):
        assert read(series) is series
        assert read(series, COMMA) is series
        assert notation_of(series) is None


def written(number, notation, separator, negative, currency):
    """Return a number as people write it: an independent way, by Python's own formats."""
    text = f"{abs(number):,.2f}"
    if notation == COMMA:
        text = text.replace(",", "_").replace(".", ",").replace("_", ".")
    if separator:
        text = text.replace("," if notation == POINT else ".", separator)
    text = f"{currency} {text}" if currency in ("$", "EUR") else f"{text} {currency}" if currency else text
    return negative.format(text) if number < 0 else text


@given(
    st.decimals(-(10**9), 10**9, places=2),
    st.sampled_from(NOTATIONS),
    st.sampled_from(["", " ", "\u00a0", "\u202f", "'", "’"]),
    st.sampled_from(["-{}", "\u2212{}", "({})", "{}-", "- {}"]),
    st.sampled_from(["", "$", "EUR", "€", "%", "kr"]),
)
def test_what_is_written_is_read_again(number, notation, separator, negative, currency):
    text = written(number, notation, separator, negative, currency)
    assert parse(text, notation) == float(number)
    assert mixed_units([text, f"7 {currency}".strip()]) is None
    assert (mixed_units([text, "7 £"]) is None) == (not currency)
    # Two decimals show how numbers are written, whatever separates the thousands.
    assert shown_by([text], values_of([text])).notations == (notation,)


@given(st.text(alphabet="0123456789.,' -+()€$%eE\u00a0EURkr", max_size=14))
def test_any_text_is_read_in_one_way_or_not_at_all(text):
    for notation in NOTATIONS:
        number = parse(text, notation)
        assert number is None or np.isfinite(number)
    # A comma for a point, and the other way about, is the other notation.
    swapped = text.translate(str.maketrans(".,", ",."))
    if parse(text, COMMA) is not None:
        assert parse(swapped, POINT) == parse(text, COMMA)
    if is_plain(text) and parse(text) is not None:
        assert parse(text) == float(text)
