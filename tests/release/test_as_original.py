"""Releases go out as their originals came in: untouched columns to the byte, others with the decimals that they had."""

import datetime as dt
import inspect
import io
import json
import random
import re

import numpy as np
import openpyxl
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import microagg
from microagg import DataError
from microagg.tables import read_file, write_table
from tests.tables.common import xlsx

# Delimiter, line end, encoding, what stands in quotes, decimal mark, and whether the last line has an end.
DIALECTS = [
    (",", "\n", "utf-8", "needed", ".", True),
    (";", "\r\n", "cp1252", "needed", ",", True),
    ("\t", "\n", "utf-8", "all", ".", False),
    (";", "\r\n", "utf-8-sig", "text", ",", True),
    ("|", "\n", "latin-1", "all", ".", True),
    (",", "\r\n", "utf-16", "needed", ".", True),
    (";", "\n", "cp1250", "text", ",", False),
    ("\t", "\r\n", "utf-16", "needed", ",", True),
    (",", "\r", "utf-8", "needed", ".", True),
    (";", "\r\n", "cp1252", "all", ",", True),
    (",", "\n", "utf-8", "text", ".", True),
    ("|", "\r\n", "utf-8-sig", "needed", ",", False),
]
WORDS = ["Größe", "a b", "x", "Café", "-", "n;v", "c,d", "t\tb", "p|q", 'say "hi"', "O'Brien", "007", "+49 30"]
WORDS += ["line\nbreak", "=1+1", "1e5", "", "NA", "12-13", "_", "ü"]


def drawn(rng):
    """Return a table of texts, of which numbers have a decimal point: age and cost first, then any others."""
    n, places = rng.randint(12, 40), rng.randint(0, 4)
    cells = {
        "whole": lambda: str(rng.randint(-999, 9999)),
        "fixed": lambda: f"{rng.uniform(-9, 9):.3f}",
        "free": lambda: str(round(rng.uniform(-99, 99), rng.randint(0, 5))),
        "text": lambda: rng.choice(WORDS),
        "day": lambda: f"{rng.randint(1, 28):02}.{rng.randint(1, 12):02}.{rng.randint(1930, 2010)}",
        "code": lambda: f"{rng.randint(0, 99999):05}",
        "gaps": lambda: rng.choice(["", "1.50", "2.5", "3", "NA"]),
        "yes": lambda: rng.choice(["True", "False", "TRUE"]),
    }
    table = {"age": [str(rng.randint(18, 90)) for _ in range(n)]}
    table["cost"] = [f"{rng.uniform(0, 5000):.{places}f}" for _ in range(n)]
    for j in range(rng.randint(1, 6)):
        kind = rng.choice(list(cells))
        table[f"{kind} {j}"] = [cells[kind]() for _ in range(n)]
    return table, places


def is_number(text):
    return re.fullmatch(r"-?\d+(\.\d+)?(e\d+)?", text) is not None


def as_text(rows, dialect):
    """Return the lines of a file, divided into cells as they stand there, and its bytes."""
    delimiter, end, encoding, quotes, mark, ends = dialect

    def cell(text):
        must = any(sign in text for sign in (delimiter, '"', "\n", "\r"))
        shown = text.replace(".", mark) if is_number(text) else text
        must = must or delimiter in shown or quotes == "all" or (quotes == "text" and text and not is_number(text))
        return '"' + shown.replace('"', '""') + '"' if must else shown

    lines = [list(map(cell, row)) for row in rows]
    return lines, (end.join(map(delimiter.join, lines)) + end * ends).encode(encoding)


@pytest.mark.parametrize("seed", range(120))
def test_tables_in_any_dialect_come_back_as_they_were(seed):
    rng, dialect = random.Random(seed), DIALECTS[seed % len(DIALECTS)]
    table, places = drawn(rng)
    delimiter, end, encoding, _, mark, ends = dialect
    lines, data = as_text([list(table), *zip(*table.values(), strict=True)], dialect)
    how = {"encoding": None if encoding.startswith("utf") else encoding, "decimal": mark, "delimiter": delimiter}
    original = read_file(data, name="in.csv", header=True, **how)
    left_out = [name for name in list(table)[2:] if rng.random() < 0.2]
    statistic = rng.choice(["mean", "median", "generalize"])
    chosen = {"quasi_identifiers": ["age", "cost"], "identifiers": left_out, "rounding": "file", "method": "mdav"}
    release = microagg.microaggregate(original.frame, k=3, statistic=statistic, shuffle=rng.choice([None, 3]), **chosen)
    written, counted = release.export("out.csv", like=original)
    has_formula = any("=1+1" in cells for name, cells in table.items() if name not in left_out)
    assert counted.level == ("warn" if has_formula else "ok")
    assert ("formulas to a spreadsheet" in counted.text) == has_formula
    order = np.arange(len(original.frame))
    if release.recipe["shuffle"] is not None:
        order = np.random.default_rng(3).permutation(order)
    kept = [j for j, name in enumerate(table) if name not in left_out]
    text = written.decode(encoding)
    rows = lines_of(text, dialect)
    assert text == end.join(map(delimiter.join, rows)) + end * ends
    expected = [lines[0], *(lines[1 + row] for row in order)]
    assert [row[2:] for row in rows] == [[cells[j] for j in kept[2:]] for cells in expected]
    assert rows[0][:2] == lines[0][:2]
    if statistic != "generalize":
        number = rf"\d+\{mark}\d{{{places}}}" if places else r"\d+"
        assert all(re.fullmatch(number, row[1].strip('"')) for row in rows[1:])


def lines_of(text, dialect):
    """Return the cells of a text as they stand there."""
    delimiter = re.escape(dialect[0])
    rows, row = [], []
    for found in re.finditer(rf'((?:"(?:[^"]|"")*")?[^{delimiter}\r\n]*)({delimiter}|\r\n|\r|\n|\Z)', text):
        row.append(found[1])
        if found[2] != dialect[0]:
            rows.append(row)
            row = []
    return rows[:-1] if rows[-1] == [""] else rows


def released(original, **chosen):
    """Return a release by the columns age and cost without the first other column, and its records' order."""
    rest = [name for name in original.frame.columns if name not in ("age", "cost")]
    given = {"method": "mdav", "rounding": "file", "shuffle": 5, "identifiers": rest[0], "others": rest[1:]} | chosen
    release = microagg.microaggregate(original.frame, k=3, quasi_identifiers=["age", "cost"], **given)
    return release, np.random.default_rng(5).permutation(len(original.frame)), rest[1:]


@pytest.mark.parametrize("seed", range(20))
def test_workbooks_come_back_as_they_were(seed):
    rng = random.Random(seed)
    table, _ = drawn(rng)
    n = len(table["age"])
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Größe & <Maß>"
    book.create_sheet("secret").append(["name"])
    formats = {"whole": "#,##0", "fixed": "0.00", "code": "00000", "day": "dd.mm.yyyy", "share": "0.0%", "at": "hh:mm"}
    columns = {
        "age": [int(cell) for cell in table["age"]],
        "cost": [float(cell) for cell in table["cost"]],
        "id": [f"person {i}" for i in range(n)],
        "whole": [rng.randint(-5, 5000) for _ in range(n)],
        "fixed": [round(rng.uniform(0, 9), 5) for _ in range(n)],
        "code": [rng.randint(0, 99999) for _ in range(n)],
        "day": [dt.datetime(rng.randint(1920, 2020), rng.randint(1, 12), rng.randint(1, 28)) for _ in range(n)],
        "share": [round(rng.random(), 3) for _ in range(n)],
        "at": [dt.time(rng.randint(0, 23), rng.randint(0, 59)) for _ in range(n)],
        "mixed": [rng.choice([rng.randint(0, 9), "none", True, None, 2.5]) for _ in range(n)],
        "text": [rng.choice([word for word in WORDS if word not in ("", "NA")]) for _ in range(n)],
    }
    sheet.append(list(columns))
    for row in zip(*columns.values(), strict=True):
        sheet.append(row)
        for place, name in enumerate(columns, start=1):
            sheet.cell(sheet.max_row, place).number_format = formats.get(name, "General")
    sheet.column_dimensions["E"].width = 31.5
    # Text is text whatever it begins with.
    for cell in [cell for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]:
        cell.data_type = "s"
    stream = io.BytesIO()
    book.save(stream)
    release, order, kept = released(original := read_file(stream.getvalue(), name="in.xlsx"))
    written, counted = release.export("out.xlsx", like=original)
    assert counted.level == "ok"
    again = openpyxl.load_workbook(io.BytesIO(written))
    assert again.sheetnames == ["Größe & <Maß>"]
    assert b"person 1" not in written
    out = again.active
    names = [cell.value for cell in out[1]]
    assert names == ["age", "cost", *kept]
    before = openpyxl.load_workbook(io.BytesIO(stream.getvalue())).active
    places = {name: place for place, name in enumerate(columns, start=1)}
    for i, row in enumerate(order, start=2):
        for j, name in enumerate(names[2:], start=3):
            now, then = out.cell(i, j), before.cell(int(row) + 2, places[name])
            assert (now.value, now.number_format) == (then.value, then.number_format)
    assert out.column_dimensions["D"].width == 31.5


@pytest.mark.parametrize("seed", range(20))
def test_parquet_files_come_back_as_they_were(seed):
    rng = random.Random(seed)
    table, _ = drawn(rng)
    n = len(table["age"])
    columns = {
        "age": pa.array([int(cell) for cell in table["age"]], pa.int16()),
        "cost": pa.array([float(cell) for cell in table["cost"]], pa.float32()),
        "id": pa.array([f"person {i}" for i in range(n)]),
        "dec": pa.array([f"{rng.randint(0, 10**9)}.10" for _ in range(n)]).cast(pa.decimal128(30, 2)),
        "at": pa.array([dt.time(rng.randint(0, 23), 5) for _ in range(n)]),
        "day": pa.array([dt.date(2000, 1, rng.randint(1, 28)) for _ in range(n)]),
        "list": pa.array([rng.choice([None, b"\xff\x00", b"a"]) for _ in range(n)]),
        "large": pa.array([rng.choice(WORDS) for _ in range(n)], pa.large_string()),
        "gaps": pa.array([rng.choice([None, 1, 2]) for _ in range(n)], pa.uint8()),
    }
    stream = io.BytesIO()
    pq.write_table(pa.table(columns), stream)
    release, order, kept = released(original := read_file(stream.getvalue(), name="in.parquet"))
    written, counted = release.export("out.parquet", like=original)
    assert counted.level == "ok"
    again = pq.read_table(io.BytesIO(written))
    assert again.column_names == ["age", "cost", *kept]
    assert [again.schema.field(name).type for name in ("age", "cost")] == [pa.int16(), pa.float32()]
    for name in kept:
        assert again[name].combine_chunks().equals(columns[name].take(pa.array(order)))


def exported(data, name, k, *, reading=None, **chosen):
    """Return what the release of a file is written as, as another file of its kind, and the finding on that."""
    original = read_file(data, name=name, **reading or {})
    release = microagg.microaggregate(original.frame, k=k, **{"method": "mdav"} | chosen)
    return release.export(name, like=original)


def test_replaced_values_are_written_as_the_file_writes_its_own():
    lines = [f"{20 + i};{1 + i:02}.{1 + i % 12:02}.1978;1.{100 + 7 * i},50 €;0,91586" for i in range(8)]
    data = "\r\n".join(["Alter;geboren;Kosten;Gewicht", *lines, ""]).encode("cp1252")
    original = read_file(data, name="in.csv", encoding="cp1252", decimal=",")
    chosen = {"quasi_identifiers": ["Alter", "geboren", "Kosten"], "dates": "geboren", "numbers": "Kosten"}
    chosen |= {"weights": "Gewicht", "method": "mdav", "rounding": "file"}
    release = microagg.microaggregate(original.frame, k=4, **chosen)
    first = release.export("out.csv", like=original)[0].decode("cp1252").split("\r\n")[1]
    assert re.fullmatch(r"\d\d;\d\d\.\d\d\.1978;1\.\d{3},\d\d €;0,91586", first)
    ranges = microagg.microaggregate(original.frame, k=4, statistic="generalize", **chosen)
    first = ranges.export("out.csv", like=original)[0].decode("cp1252").split("\r\n")[1]
    assert first == '[20, 23];[01.01.1978, 04.04.1978];"[1.100,50 €; 1.121,50 €]";0,91586'
    assert release.export("out.parquet", like=original) == release.export("out.parquet")


@pytest.mark.parametrize(
    ("form", "first", "born"), [("day d/m", "day", "1962-02-01"), ("day m/d", "month", "1962-01-02")]
)
def test_dates_that_can_be_read_in_two_ways_are_written_as_they_were_read(form, first, born):
    lines = [f"{1 + i % 12:02}/{1 + i % 11:02}/{1950 + i}" for i in range(24)]
    data = "\n".join(["born,a", *(f"{text},{i}" for i, text in enumerate(lines)), ""]).encode()
    original = read_file(data, name="in.csv")
    chosen = {"quasi_identifiers": "born", "dates": {"born": form}, "others": "a", "method": "mdav"}
    release = microagg.microaggregate(original.frame, k=1, **chosen)
    assert release.export("out.csv", like=original)[0] == data
    assert str(release.frame["born"][12].date()) == born
    ranges = microagg.microaggregate(original.frame, k=24, statistic="generalize", **chosen)
    written = ranges.export("out.csv", like=original)[0].decode()
    assert f'"[{lines[0]}, {lines[-1]}]",0' in written.splitlines()
    # What was said is in the recipe, the program, the command and the report.
    assert release.recipe["dates"] == [["born", form]]
    assert microagg.replay(original.frame, release.recipe).frame.equals(release.frame)
    assert f"{{'born': '{form}'}}" in release.script(file="in.csv").replace('"', "'")
    assert {"what": "Dates are read or released by", "how": f"'born' ({form})."} in release.to_dict()["choices"]


@pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%m/%d/%Y", ".xlsx", ".parquet", ".dta", ".sav"])
def test_a_year_in_place_of_dates_is_written_as_a_number(form, tmp_path):
    born = [dt.date(1990 + i % 6, 1 + i % 12, 1 + i % 28) for i in range(24)]
    file = tmp_path / (f"in{form}" if form[0] == "." else "in.csv")
    if form[0] == ".":
        file.write_bytes(write_table(pd.DataFrame({"born": pd.to_datetime(born), "a": range(24)}), file.name))
    else:
        file.write_text("\n".join(["born,a", *(f"{day:{form}},{i}" for i, day in enumerate(born)), ""]))
    original = read_file(file)
    chosen = {"quasi_identifiers": "born", "dates": {"born": "year"}, "others": "a", "method": "mdav"}
    release = microagg.microaggregate(original.frame, k=1, **chosen)
    (tmp_path / f"out{file.suffix}").write_bytes(release.export(f"out{file.suffix}", like=original)[0])
    assert sorted(read_file(tmp_path / f"out{file.suffix}").frame["born"]) == sorted(day.year for day in born)


@pytest.mark.parametrize(
    ("form", "numbers", "day"),
    [("%-td", [1, 3], "1960-01-03"), ("%tm", [0, 2], "1960-01-31"), ("%tq", [0, 4], "1960-07-02")],
)
def test_mean_days_in_place_of_dates_of_stata_are_dates(form, numbers, day):
    table = pd.DataFrame({"t": numbers * 2, "a": range(4)}, dtype=float)
    table.to_stata(stream := io.BytesIO(), write_index=False, version=118)
    data = stream.getvalue().replace(b"%10.0g" + bytes(51), form.encode().ljust(57, b"\0"), 1)
    written, _ = exported(data, "x.dta", k=4, quasi_identifiers="t", others="a")
    assert read_file(written, name="x.dta").frame["t"].tolist() == [pd.Timestamp(day)] * 4


def test_a_number_that_the_type_of_a_parquet_column_does_not_hold_is_written_as_it_is():
    share, whole = pa.array([i % 2 == 0 for i in range(8)]), pa.array(range(8)).cast(pa.decimal128(19, 0))
    pq.write_table(pa.table({"share": share, "whole": whole}), stream := io.BytesIO())
    data, _ = exported(stream.getvalue(), "x.parquet", k=8, quasi_identifiers=["share", "whole"])
    assert read_file(data, name="x.parquet").frame.iloc[0].tolist() == [0.5, 3.5]


def test_a_recoded_number_that_the_type_of_a_stata_column_does_not_hold_is_written_as_it_is():
    codes = pd.DataFrame({"code": np.arange(8, dtype="int8"), "a": np.arange(8, dtype="int8")})
    codes.to_stata(stream := io.BytesIO(), write_index=False)
    chosen = {"quasi_identifiers": "a", "others": "code", "recode": {"code": {"1": "1000"}}}
    data, _ = exported(stream.getvalue(), "x.dta", k=4, **chosen)
    assert read_file(data, name="x.dta").frame["code"].tolist() == [0, 1000, *range(2, 8)]


@pytest.mark.parametrize(
    ("form", "cell"),
    [("({})", "-4.5"), ("{}-", "-4.5"), ("- €{}", "€-4.5"), ("\u2212{}", "-4.5"), ("({}) %", "-4.5 %")],
)
def test_a_negative_number_has_one_sign_and_keeps_its_unit(form, cell):
    data = "\n".join(["p,a", *(f"{form.format(i)},{i}" for i in range(1, 9)), ""]).encode()
    written, _ = exported(data, "x.csv", k=8, quasi_identifiers="p", numbers="p", others="a")
    assert [line.split(",")[0] for line in written.decode().splitlines()[1:]] == [cell] * 8


@pytest.mark.parametrize(
    ("thousands", "notation", "median"),
    [
        (".", "1.234,5", "2.000,5"),
        (",", "1,234.5", "2,000.5"),
        ("'", "1.234,5", "2'000,5"),
        (",00,", "1,234.5", "200,000.5"),
    ],
)
def test_a_mark_between_thousands_is_no_decimal_mark(thousands, notation, median):
    cells = [f"{1 + i}{thousands}000" for i in range(4)] + [f"2{thousands}00{i}" for i in (0, 1)]
    data = "\n".join(["p;a", *(f"{cell};1" for cell in cells), ""]).encode()
    chosen = {"quasi_identifiers": "p", "numbers": {"p": notation}, "others": "a", "statistic": "median"}
    written, finding = exported(data, "x.csv", k=6, reading={"decimal": notation[-2]}, **chosen)
    assert finding.level == "ok"
    assert [line.split(";")[0] for line in written.decode().splitlines()[1:]] == [median] * 6


@pytest.mark.parametrize(("cells", "mean"), [("{}.", "4.5"), (".{}", "0.45"), ("-.{}", "-0.45"), ("{}. €", "4.5 €")])
def test_a_number_with_no_digit_on_one_side_of_its_point_has_one_point(cells, mean):
    data = "\n".join(["p,a", *(f"{cells.format(i)},{i}" for i in range(1, 9)), ""]).encode()
    chosen = {"quasi_identifiers": "p", "numbers": "p", "others": "a", "statistic": "median"}
    written, finding = exported(data, "x.csv", k=8, **chosen)
    assert written.splitlines()[1] == f"{mean},1".encode()
    assert finding.level == "ok"


def test_days_are_dates_in_a_workbook_that_has_most_of_them_as_texts():
    born = [dt.datetime(1990, 1, 1 + i) for i in range(8)]
    cells = [day if i < 2 else f"{day:%d.%m.%Y}" for i, day in enumerate(born)]
    pd.DataFrame({"born": cells, "a": range(8)}).to_excel(stream := io.BytesIO(), index=False)
    data, _ = exported(stream.getvalue(), "x.xlsx", k=1, quasi_identifiers="born", dates="born", others="a")
    assert read_file(data, name="x.xlsx").frame["born"].tolist() == born


def test_strata_that_spell_one_value_in_two_ways_do_not_tell_records_apart():
    data = b"age,group\n" + b"".join(b"%d,%s\n" % (20 + i, b"1.0" if i % 2 else b"1") for i in range(8))
    written, counted = exported(data, "x.csv", k=4, quasi_identifiers="age", by="group")
    assert counted.level == "ok"
    assert {line.rpartition(b",")[2] for line in written.splitlines()[1:]} == {b"1"}


def test_strata_with_number_formats_of_single_cells_do_not_tell_records_apart():
    book = openpyxl.load_workbook(io.BytesIO(xlsx([["age", "group"], *([20 + i, i % 2] for i in range(8))])))
    book.active["B4"].number_format = "0.00"
    book.save(stream := io.BytesIO())
    data, _ = exported(stream.getvalue(), "x.xlsx", k=4, quasi_identifiers="age", by="group")
    sheet = openpyxl.load_workbook(io.BytesIO(data)).active
    assert [(cell.value, cell.number_format) for cell in sheet["B"][1:]] == [(0, "General"), (1, "General")] * 4


@pytest.mark.parametrize(("title", "is_written"), [("Wards of Anna", False), ("Wards", True)])
def test_a_sheet_does_not_name_a_person(title, is_written):
    rows = [["age", "name"], *([20 + i, name] for i, name in enumerate(["Anna", "Ben", "Carl", "Dora"]))]
    data, finding = exported(xlsx(rows, titles=[title]), "x.xlsx", k=4, quasi_identifiers="age", identifiers="name")
    assert openpyxl.load_workbook(io.BytesIO(data)).sheetnames == [title if is_written else "Sheet1"]
    assert finding.level == ("ok" if is_written else "warn")


def test_what_the_encoding_does_not_have_is_said():
    lines = [f"{20 + i};{'é' if i % 2 else 'a'}" for i in range(8)]
    data = "\n".join(["age;kind", *lines]).encode("cp1252")
    original = read_file(data, name="in.csv", encoding="cp1252")
    tree = {"łąka": ["é", "a"]}
    chosen = {"quasi_identifiers": ["age", "kind"], "taxonomies": {"kind": tree}, "statistic": "generalize"}
    release = microagg.microaggregate(original.frame, k=8, **chosen)
    with pytest.raises(DataError, match="the encoding of the original, cp1252, does not have"):
        release.export("out.csv", like=original)


@pytest.mark.parametrize("ranges", ["columns", "middle"])
@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".parquet", ".dta", ".sav"])
def test_ranges_can_be_two_columns_or_their_middle(ranges, ending):
    n = 24
    people = pd.DataFrame({"age": np.arange(20, 20 + n), "age_lower": [f"x{i}" for i in range(n)]})
    people["cost"] = np.linspace(42.05, 463.47, n).round(2)
    people["born"] = pd.date_range("1970-01-01", periods=n, freq="40D")
    people = people.assign(town=["Rome", "Oslo"] * (n // 2), ill=list("ab") * (n // 2))
    chosen = {"quasi_identifiers": ["age", "cost", "born", "town"], "taxonomies": {"town": {"*": ["Rome", "Oslo"]}}}
    chosen |= {"statistic": "generalize", "rounding": "file", "confidential": "ill", "others": "age_lower"}
    original = read_file(microagg.tables.write_table(people, f"in{ending}"), name=f"in{ending}")
    chosen |= {"dates": "born", "method": "k-member"}
    texts = microagg.microaggregate(original.frame, k=4, **chosen)
    release = microagg.microaggregate(original.frame, k=4, ranges=ranges, **chosen)
    pd.testing.assert_frame_equal(release.frame, texts.frame)
    for like in (None, original):
        data, counted = release.export(f"out{ending}", like=like)
        assert counted.level == "ok"
        again = read_file(data, name=f"out{ending}").frame
        spans = [re.fullmatch(r"\[(.+), (.+)\]", text).groups() for text in texts.frame["cost"]]
        low, high = (np.array([float(span[end]) for span in spans]) for end in (0, 1))
        assert again["age_lower"].tolist() == people["age_lower"].tolist()
        if ranges == "columns":
            names = ["age_lower_", "age_upper_", "age_lower", "cost_lower", "cost_upper", "born_lower", "born_upper"]
            assert list(again.columns) == [*names, "town", "ill"]
            np.testing.assert_array_equal(again["cost_lower"], low)
            np.testing.assert_array_equal(again["cost_upper"], high)
            assert pd.api.types.is_integer_dtype(again["age_lower_"])
        else:
            assert list(again.columns) == list(people.columns)
            np.testing.assert_allclose(again["cost"], (low + high) / 2, atol=0.0051)
            assert again["cost"].round(2).eq(again["cost"]).all()
    if ending == ".csv":
        assert f"ranges='{ranges}'" in release.script("in.csv")


def test_mean_weights_have_the_decimals_of_the_file_or_as_many_as_they_need():
    def weights(of, **chosen):
        people = pd.DataFrame({"age": range(len(of)), "w": of})
        chosen = {"quasi_identifiers": "age", "weights": "w", "rounding": "file", "method": "mdav"} | chosen
        return microagg.microaggregate(people, k=3, **chosen).frame["w"].tolist()

    assert weights([0.91586] * 3) == [0.91586] * 3
    assert weights([0.1, 0.2, 0.4]) == [0.23333] * 3
    assert weights([1, 2, 2]) == [1.6667] * 3
    assert weights([100_000, 100_001, 100_003]) == [100_001.0] * 3
    exact = weights([1, 2, 2], rounding="none")
    assert exact == pytest.approx([5 / 3] * 3, rel=1e-15)


def test_the_option_that_said_how_files_are_written_still_counts_where_it_is_named():
    lines = [b"%d;%d\r\n" % (20 + i, 1 + (i % 3 > 0)) for i in range(9)]
    original = read_file(b"age;w\r\n" + b"".join(lines), name="in.csv")
    chosen = {"k": 3, "quasi_identifiers": "age", "weights": "w", "rounding": "file", "method": "mdav"}
    with pytest.warns(DeprecationWarning, match="written is deprecated: leave it out"):
        standard = microagg.microaggregate(original.frame, written="standard", **chosen)
    assert "written" not in inspect.signature(microagg.microaggregate).parameters
    release = microagg.microaggregate(original.frame, **chosen)
    assert release.export("out.csv", like=original)[0].startswith(b"age;w\r\n")
    # Recipes of before hold it, or are older than it.
    recipe = json.loads(json.dumps(standard.recipe))
    older = {name: value for name, value in recipe.items() if name != "written"}
    for told in (recipe, older):
        data, _ = microagg.replay(original.frame, told).export("out.csv", like=original)
        assert data == standard.export("out.csv")[0]
        assert data.startswith(b"age,w\n")
        assert b",1.666666666666" in data
    assert microagg.replay(original.frame, release.recipe).export("out.csv", like=original)[0].startswith(b"age;w\r\n")
