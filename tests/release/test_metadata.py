"""All that a file of Stata or SPSS says of its columns, in a release, in every kind of file.

Columns come twice: untouched, and as quasi-identifier (their names end in ``_q``). Files are read by pyreadstat.
"""

import re
import struct

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import microagg
from microagg.tables import WRITTEN_ENDINGS, read_file, read_table
from microagg.tables.stata_spss import with_kinds
from tests.tables.common import read_here

N = 40
LONG, QUESTION = "n" * 40, "How often did you, in the last twelve months, " * 8
NOTES = ["Weights are of wave 3.", "prepared by Jane Doe", "person 7 was asked twice"]
OLD = {85.0: "85 and over"}
LABELS = {1.0: "north", 2.0: "s" * 119 + "ü", 9.0: "refused", 5.0: "nobody"}
QI, WITH_GAPS = ("age", "region_q", "flag_q"), ("region_q", "flag_q")


def answers():
    rng = np.random.default_rng(5)
    table = {"person": [f"person {i}" for i in range(N)], "age": rng.integers(20, 70, N).astype(float)}
    for end in ("", "_q"):
        table[f"region{end}"] = rng.choice([1.0, 2.0, 3.0, 9.0], N, p=[0.3, 0.2, 0.1, 0.4])
        table[f"flag{end}"] = rng.choice(["a", "X"], N)
    table |= {LONG: rng.normal(size=N).round(2), "text": ["z" * 3000, "b"] * (N // 2)}
    # Numbers, of which two have labels; and missing values without a kind beside those with one.
    table["old"] = [85.0 if i % 9 == 0 else float(20 + i % 30) for i in range(N)]
    table["region_q"][:9] = np.nan
    return pd.DataFrame(table)


def sav(path):
    twice = {name: {f"region{end}": value for end in ("", "_q")} for name, value in (("l", LABELS), ("m", "nominal"))}
    missing = {f"region{end}": [9.0, {"lo": 90.0, "hi": 99.0}] for end in ("", "_q")}
    pyreadstat.write_sav(
        answers().assign(day=np.arange(N) * 86_400.0 + 86_400, at=np.arange(N) * 60.5 + 1e10),
        str(path),
        file_label="Wave 3",
        note=NOTES,
        column_labels=dict.fromkeys(("region", "region_q", LONG), QUESTION[:256]),
        variable_value_labels=twice["l"] | {"old": OLD},
        missing_ranges=missing | {f"flag{end}": ["X"] for end in ("", "_q")},
        variable_measure=twice["m"] | dict.fromkeys((LONG, "age", "old"), "scale") | {"flag_q": "nominal"},
        variable_format={"age": "F3.0", "region": "F1.0", "region_q": "F1.0", "day": "EDATE10", "at": "DATETIME20"},
        variable_display_width={LONG: 12},
    )


def dta(path):
    frame = answers().assign(day=pd.Timestamp("1850-05-01").date(), **{"class": np.arange(N)})
    for end in ("", "_q"):
        codes = frame[f"region{end}"].fillna(-1)
        frame[f"region{end}"] = ["r" if code == 9 else int(code) if code > 0 else None for code in codes]
        frame[f"flag{end}"] = frame[f"flag{end}"].replace("X", "")
    labels = {int(code): text for code, text in LABELS.items() if code != 9} | {"r": "refused"}
    pyreadstat.write_dta(
        frame.rename(columns={LONG: LONG[:32]}),
        str(path),
        file_label="Wave 3",
        column_labels={"region": "y" * 80, "region_q": "How?"},
        variable_value_labels={"region": labels, "region_q": labels, "old": {85: "85 and over"}},
        missing_user_values={"region": ["r"], "region_q": ["r"]},
        variable_format={"day": "%td", "age": "%8.1f"},
    )
    # Other programs write longer names and labels, which the places have room for, and notes.
    data = path.read_bytes()
    for sign, most in ((b"n", 32), (b"y", 80)):
        data = data.replace(sign * most + bytes(20), sign * (most + 8) + bytes(12))
    bodies = [
        b"_dta".ljust(129, b"\0") + f"note{i}".encode().ljust(129, b"\0") + note.encode() + b"\0"
        for i, note in enumerate([str(len(NOTES)), *NOTES])
    ]
    notes = b"".join(b"<ch>" + struct.pack("<I", len(body)) + body + b"</ch>" for body in bodies)
    at, start = data.index(b"</characteristics>"), data.index(b"<map>") + 5
    offsets = np.frombuffer(data[start : start + 112], "<u8").copy()
    offsets[offsets > at] += len(notes)
    path.write_bytes(data[:start] + offsets.tobytes() + data[start + 112 : at] + notes + data[at:])


MAKERS = {".sav": sav, ".dta": dta}


def by_api(path, ending, qi=QI, identifiers="person"):
    original = read_file(path)
    release = microagg.microaggregate(
        original.frame,
        k=3,
        method="mondrian",
        quasi_identifiers=qi,
        identifiers=identifiers,
        missing={name: "category" for name in WITH_GAPS if name in qi},
        rounding="file",
    )
    return release, *release.export(f"out{ending}", like=original)


def about(data, ending, path):
    """Return the cells as stored and all metadata of a file, by the names of columns."""
    path.write_bytes(data)
    options = {"user_missing": True, "disable_datetime_conversion": True}
    cells, told = {".dta": pyreadstat.read_dta, ".sav": pyreadstat.read_sav}[ending](str(path), **options)
    return cells, {
        "labels": told.column_names_to_labels,
        "values": {name: told.variable_value_labels.get(name, {}) for name in told.column_names},
        "formats": told.original_variable_types,
        "types": told.readstat_variable_types,
        "measures": told.variable_measure,
        "widths": told.variable_display_width,
        "missing": {name: told.missing_ranges.get(name, []) for name in told.column_names},
        "letters": {name: told.missing_user_values.get(name, []) for name in told.column_names},
        "file": (told.file_label, told.notes),
    }


def texts(series):
    """Return cells as text, equal for equal values in every kind of file."""
    cells = [None if pd.isna(cell) else str(cell).removesuffix(".0") for cell in series.astype(object)]
    # Times are dates in some kinds of files, and text in others.
    return [
        cell and re.sub(r"(:\d\d\.\d{3})0*$", r"\1", cell).removesuffix(".000").removesuffix(" 00:00:00")
        for cell in cells
    ]


@pytest.fixture(scope="module", autouse=True)
def one_process():
    """Read files in this process, as starting another takes long."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("microagg.tables.stata_spss.in_own_process", read_here)
        yield


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """Return a function that makes the file of each kind once, and its release once for each kind of the target."""
    folder, made = tmp_path_factory.mktemp("files"), {}

    def make(kind, ending):
        path = folder / f"answers{kind}"
        if kind not in made:
            MAKERS[kind](path)
            made[kind] = True
        if (kind, ending) not in made:
            made[kind, ending] = by_api(path, ending)
        return path, *made[kind, ending]

    return make


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("ending", WRITTEN_ENDINGS)
def test_every_column_comes_out_as_it_was_with_all_that_the_file_says(original, kind, ending, tmp_path):
    path, release, data, finding = original(kind, ending)
    assert finding.level == "warn"
    read = read_table(data, name=f"x{ending}")
    renamed = {LONG: LONG[:32]} if ending == ".dta" else {}
    assert list(read) == [renamed.get(name, name) for name in release.frame]
    for name, column in release.frame.items():
        # SPSS has no longer labels, and kinds of missing values of texts are texts in Stata.
        cells = with_kinds(read, name) if name.endswith("_q") else read[renamed.get(name, name)]
        cells = cells.mask(cells == "X") if name == "flag" else cells
        assert [cell and cell[:119] for cell in texts(cells)] == [cell and cell[:119] for cell in texts(column)], name
    if ending not in MAKERS:
        assert "lost are those of 'region' (missing)" in finding.text
        assert "'old' (85 '85 and over')" in finding.text
        return
    now, told = about(data, ending, tmp_path / "now")
    then, before = about(path.read_bytes(), kind, tmp_path / "then")
    if kind != ending:
        check_codes_of_other_kind(now, told, before, finding)
        return
    assert told.pop("file") == ("Wave 3", NOTES[:1])
    assert "1 note of the original: make sure" in finding.text
    assert "2 texts of the original (a label, note or sheet name) may name a person" in finding.text
    before.pop("file")
    for what, values in before.items():
        expected = {renamed.get(name, name): value for name, value in values.items() if name != "person"}
        if what == "labels" and ending == ".dta":
            expected |= {"region": "y" * 80, LONG[:32]: LONG}
        if what == "values":
            used = {name: set(now[name]) for name in expected}
            expected = {name: {c: text for c, text in of.items() if c in used[name]} for name, of in expected.items()}
            # 5 has a label, so 6 is the next free code.
            expected["region_q"] |= {6: "missing"}
        assert told[what] == expected, what
    same = [name for name in then if not name.endswith("_q") and name not in ("age", "person")]
    for name in same:
        pd.testing.assert_series_equal(now[renamed.get(name, name)], then[name], check_names=False)


def check_codes_of_other_kind(now, told, before, finding):
    """Check that codes and labels of values are those of before, and that kinds of missing values have new ones."""
    to_stata = "old" in told["letters"] and bool(told["letters"]["region"])
    for name, code in (("region", 4), ("region_q", 7)):
        code = "a" if to_stata else code
        further = {code: "refused"} | ({6: "missing"} if name == "region_q" else {})
        labels = {value: label[:119] for value, label in told["values"][name].items()}
        valid = {value: label[:119] for value, label in before["values"][name].items() if value in (1, 2)}
        assert labels == {value: label for value, label in (valid | further).items() if value in set(now[name])}, name
        assert set(now[name].dropna()) <= {1, 2, 3, *further}
        assert told["letters"][name] == (["a"] if to_stata else [])
        assert told["missing"][name] == ([] if to_stata else [{"lo": code, "hi": code}])
    assert told["values"]["old"] == OLD
    assert "Column 'region': the missing values 'refused' become " in finding.text
    assert ("Column 'flag': the missing values 'X' are texts like others in Stata" in finding.text) == to_stata


def test_codes_come_back_from_the_other_program(original, tmp_path):
    path, _, data, _ = original(".sav", ".dta")
    there = tmp_path / "there.dta"
    there.write_bytes(data)
    back = by_api(there, ".sav", ("age",), None)[1]
    now, told = about(back, ".sav", tmp_path / "back")
    then, _ = about(path.read_bytes(), ".sav", tmp_path / "then")
    # Refused is 4 now, the next free code, and declared missing as 9 was.
    assert now["region"].tolist() == then["region"].replace(9, 4).tolist()
    assert told["values"]["region"][4] == "refused"
    assert told["missing"]["region"] == [{"lo": 4, "hi": 4}]
    assert (now["old"].tolist(), told["values"]["old"]) == (then["old"].tolist(), OLD)


@pytest.mark.parametrize(
    ("values", "ending", "options"),
    [
        ([1.0, np.nan], ".sav", {"variable_measure": {"x": "scale"}}),
        (["a", "X"], ".dta", {"missing_ranges": {"x": ["X"]}, "variable_value_labels": {"x": {"X": "don't know"}}}),
    ],
)
def test_missing_values_that_became_a_category_are_in_the_file(values, ending, options, tmp_path):
    pyreadstat.write_sav(pd.DataFrame({"x": values * 10}), str(tmp_path / "x.sav"), **options)
    reading = read_file(tmp_path / "x.sav")
    how = {"taxonomies": {"x": None}, "missing": {"x": "category"}, "method": "mdav-generic-mixed"}
    release = microagg.microaggregate(reading.frame, k=5, quasi_identifiers="x", **how)
    data, finding = release.export(f"x{ending}", like=reading)
    assert finding.level == "ok", finding.text
    assert read_table(data, name=f"x{ending}")["x"].nunique() == 2
