"""What cells of workbooks hold and what they show: number formats, dates, formulas, errors, texts."""

import html
import re

import pandas as pd
import pytest

from tests.cases import for_each
from tests.tables.common import fails
from tests.tables.workbooks import book, read, sheet, styled, text

A, B = text("a"), text("b")


def one_column(*cells, formats=(), **more):
    """Return the only column of a workbook with these cells, and its notices."""
    columns, notices = read(book(sheet([A], *([cell] for cell in cells)), formats=formats, **more))
    assert list(columns) == ["a"]
    return columns["a"], notices


CODES = [
    "General", "0", "#,##0.00", "# ?/?", "0.00E+00", "@", '#,##0.00" kg"', "[Red]-0.0", "#,##0 [$€-407]", "#,##0,",
    '_-* #,##0.00\\ "€"_-', "[<=9999999]###-####;(###) ###-####", '[=1]"male";[=2]"female"', ";;;", '"50%"0', "00.0",
    "000-00",
]  # fmt: skip


@for_each("code", CODES)
def test_numbers_are_read_as_they_are(code):
    rows = [styled(1, 1.23456), styled(1, 1067), styled(1, -5)]
    assert one_column(*rows, formats=[html.escape(code)]) == ([1.23456, 1067.0, -5.0], {})


@for_each(
    ("shown", "codes"),
    [
        (pd.Timestamp(2024, 5, 1, 12), ["yyyy-mm-dd", "mmmm", "[$-409]d\\ mmm\\ yy;@", "h:mm AM/PM", 14, 22, 30, 57]),
        ("1089924:00:00", ["[h]:mm:ss", "[mm]:ss", 46]),
    ],
)
def test_dates_by_their_formats(shown, codes):
    for code in codes:
        formats = [html.escape(code) if isinstance(code, str) else code]
        assert one_column(styled(1, 45413.5), formats=formats)[0] == [shown]


def test_leading_zeros_are_kept():
    column, notices = one_column(styled(1, 1067), None, styled(1, 10115), 20095, formats=["00000"])
    assert column == ["01067", None, "10115", "20095"]
    assert "'a' shows 1 number with leading zeros, such as 01067 for 1067 in A2" in notices["leading-zeros"].text
    # Where no zero leads, and in rounded numbers, nothing is kept but the numbers.
    assert one_column(styled(1, 2020), styled(1, 2021), formats=["0000"]) == ([2020, 2021], {})
    assert one_column(styled(1, 1.5), styled(1, 2.5), formats=["000"]) == ([1.5, 2.5], {})


def test_digits_of_numbers():
    column, notices = one_column("><v>0.12345678901234567890</v>", "><v>1E-5</v>", "><v>5e-324</v>")
    assert (column, notices) == ([0.12345678901234568, 1e-05, 5e-324], {})
    # Excel writes whole numbers of 16 digits and more in this way.
    column, notices = one_column("><v>1.23456789012346E+17</v>", 5)
    assert column == [1.23456789012346e17, 5]
    assert "such as 1.23456789012346e+17 in A2; Excel itself keeps 15 digits" in notices["long-numbers"].text
    data = book(sheet([A], ["><v>1E400</v>"], [1]))
    fails("column 'a' holds a number that is too large", data, name="x.xlsx")
    data = book(sheet([A], ["><v>" + "9" * 5000 + "</v>"]))
    fails("a damaged one", data, name="x.xlsx")


@for_each(
    ("cells", "column", "is_text"),
    [
        ([1234567890123450, 9007199254740993], [1234567890123450, 9007199254740993], False),
        ([9007199254740993, None, 5], [9007199254740993, None, 5], False),
        ([9007199254740993, None, 0.5], ["9007199254740993", None, "0.5"], True),
        ([2**64, 1], ["18446744073709551616", "1"], True),
        ([-(2**63), 1], [-(2**63), 1], False),
        ([2**53, None, 1.5], [2.0**53, None, 1.5], False),
    ],
)
def test_long_whole_numbers(cells, column, is_text):
    values, notices = one_column(*cells)
    assert values == column
    assert f"16 digits or more, such as {cells[0]} in A2" in notices["long-numbers"].text
    assert ("kept as text" in notices["long-numbers"].text) == is_text


def test_mixed_columns_are_text():
    column, notices = one_column(
        23, 1.5, " s='0'><v>2.0</v>", text("unknown"), " t='b'><v>1</v>", styled(1, 45413), 7, formats=[14]
    )
    assert column == ["23", "1.5", "2", "unknown", "TRUE", "2024-05-01", "7"]
    assert notices["mixed"].text.startswith("Column 'a' has 4 numbers, 1 text, 1 TRUE or FALSE and 1 date, such as ")
    # Numbers that are all text may be codes: nothing is changed, so nothing is said.
    assert one_column(text("012"), text("13")) == (["012", "13"], {})


def day(*parts):
    return pd.Timestamp(*parts)


def test_dates_of_both_calendars():
    days = [styled(1, 61), styled(1, 45413), None, styled(1, 45413.5), styled(1, 2958465)]
    column, notices = one_column(*days, formats=[14])
    assert notices == {}
    assert column == [day(1900, 3, 1), day(2024, 5, 1), None, day(2024, 5, 1, 12), day(9999, 12, 31)]
    # 1904-01-01 is day 0 there, and day 1462 of the other calendar.
    days, calendar = [styled(1, 1), styled(1, 45413 - 1462)], '<workbookPr date1904="1"/>'
    column, notices = one_column(*days, formats=[14], properties=calendar)
    assert (column, notices) == ([day(1904, 1, 2), day(2024, 5, 1)], {})


def test_times_are_text():
    column, notices = one_column(styled(1, 0.5), styled(1, 0.75 + 1.5 / 86400), formats=["h:mm"])
    assert column == ["12:00:00", "18:00:01.500"]
    assert notices["times"].text == "Column 'a' has 2 times of day, such as 12:00:00 in A2: kept as text."
    assert one_column(styled(1, 1.5), styled(1, -0.5), formats=["[h]:mm"])[0] == ["36:00:00", "-12:00:00"]
    # A time format may hide a day.
    assert one_column(styled(1, 45413.5), formats=["h:mm"]) == ([day(2024, 5, 1, 12)], {})


def test_dates_in_words():
    column, notices = one_column(' t="d"><v>2024-05-01</v>', None, ' t="d"><v>1850-12-31T14:30:00</v>')
    assert column == [day(2024, 5, 1), None, day(1850, 12, 31, 14, 30)]
    assert notices == {}
    assert one_column(' t="d"><v>14:30:00</v>')[0] == ["14:30:00"]


@pytest.mark.parametrize("empty", ["", "<v></v>", "<v/>"])
def test_formulas_without_values_are_refused(empty):
    data = book(sheet([A, B], [1, f"><f>A2*2</f>{empty}"], [2, "><f>A3*2</f><v>4</v>"], [3, f"><f>A4*2</f>{empty}"]))
    fails("'b' of the file 'x.xlsx' has 2 formulas without .* the first in B2: open the file in", data, name="x.xlsx")


def test_results_of_formulas():
    rows = [[A, B], ["><f>1+1</f><v>2</v>", ' t="str"><f>"x"</f><v>x</v>'], [3, ' t="str"><f>""</f><v></v>']]
    assert read(book(sheet(*rows))) == ({"a": [2, 3], "b": ["x", None]}, {})


def test_errors_are_missing_and_said():
    column, notices = one_column(1, ' t="e"><v>#DIV/0!</v>', 2, ' t="e"><v>#REF!</v>', ' t="e"><f>A9</f><v>#N/A</v>')
    assert column == [1.0, None, 2.0, None, None]
    # #N/A says that there is no value.
    assert notices["errors"].text == "Column 'a' has 2 errors of Excel, such as #DIV/0! in A3: read as missing."


def test_texts_that_mean_missing():
    data = book(sheet([A], [text("DE")], [text("NA")], [text("FR")], [text("NA")]))
    columns, notices = read(data)
    assert columns == {"a": ["DE", None, "FR", None]}
    notice = notices["missing-words"]
    assert "2 cells with a text that stands for a missing value, such as 'NA' in A3" in notice.text
    assert dict(notice.offers[0].reading) == {"missing": ["N/A", "#N/A", "NaN", "nan", "null", "NULL"]}
    assert read(data, **notice.offers[0].reading) == ({"a": ["DE", "NA", "FR", "NA"]}, {})
    # Among numbers, there is no other way to take it.
    assert read(book(sheet([A], [1], [text("NA")])), missing=[])[0] == {"a": [1.0, None]}
    assert read(data, missing=["DE"])[0] == {"a": [None, "NA", "FR", "NA"]}


def test_texts_are_put_together():
    shared = [
        "<t>plain</t>",
        "<r><rPr><b/></rPr><t>ri</t></r><r><t>ch</t></r>",
        '<t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh><phoneticPr fontId="1"/>',
        "<t>a_x000D_\nb &amp; _x005F_x0041_</t>",
        "<t></t>",
    ]
    rows = [[f' t="s"><v>{i}</v>'] for i in range(5)]
    rows += [
        [' t="inlineStr"><is><r><t>ri</t></r><r><t>ch</t></r><rPh sb="0" eb="1"><t>no</t></rPh></is>'],
        [text("'quoted")],
    ]
    columns, notices = read(book(sheet([A], *rows), shared=shared))
    assert columns == {"a": ["plain", "rich", "東京", "a\r\nb & _x0041_", None, "rich", "'quoted"]}
    assert notices == {}


def test_names_are_as_they_are_shown():
    header = [2020, styled(1, 7), styled(2, 45413), " t='b'><v>1</v>", "><v>2.0</v>"]
    columns, _ = read(book(sheet(header, [1, 2, 3, 4, 5]), formats=["000", 14]))
    assert list(columns) == ["2020", "007", "2024-05-01", "TRUE", "2"]


def test_workbooks_of_other_programs_read_the_same():
    rows = [[A, B], [1, text("x")], [styled(1, 45413), text("y")]]
    plain = book(sheet(*rows), formats=[14])
    prefixed = sheet(*rows).replace("xmlns=", "xmlns:x=")
    for tag in ("worksheet", "sheetData", "row", "c", "v", "is", "t"):
        for old in (f"<{tag}>", f"<{tag} ", f"</{tag}>"):
            prefixed = prefixed.replace(old, old.replace(tag, f"x:{tag}"))
    # Addresses are optional.
    unaddressed = re.sub(r' r="[A-Z]*\d+"', "", sheet(*rows))
    for other in (prefixed, unaddressed):
        assert read(book(other, formats=[14]))[0] == read(plain)[0]
