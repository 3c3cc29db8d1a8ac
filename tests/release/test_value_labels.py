"""Labels of single values among numbers: by the table of a file, its suggestions, a release and an old recipe."""

import json

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from click.testing import CliRunner

import microagg
from microagg.cli import cli
from microagg.columns import arguments, guess_columns
from microagg.tables import read_file, read_table

N = 900
AGES = [*range(86), 97, 98, 99]
TOP = {0: "Under 1", 85: "85 and over"}


def written(path, frame, **options):
    {".sav": pyreadstat.write_sav, ".dta": pyreadstat.write_dta}[path.suffix](frame, str(path), **options)
    return path


# Distinct values, labels, and what is suggested: the kind, missing-value codes, and a part of the reasons.
CASES = [
    (AGES[:86], TOP, "numeric", (), "0 is 'Under 1' and 85 is '85 and over'"),
    (AGES, TOP | {98: "don't know", 99: "Refused"}, "numeric", (98, 99), "(\"don't know\" and 'Refused')"),
    (AGES[:87], {97: "97+"}, "numeric", (), "97 is '97+'"),  # far above all others, and still no missing value
    ([*range(9), 9], {8: "8 or more", 9: "keine Angabe"}, "numeric", (9,), "8 is '8 or more'"),
    (range(11), {0: "not at all", 10: "fully"}, "numeric", (), "10 is 'fully'"),
    ([*range(1, 40), 40], {12: "school leaver", 40: "40"}, "numeric", (), "12 is 'school leaver'"),
    ([1, 2, 3, 9], {1: "north", 2: "south", 3: "west", 9: "unknown"}, "nominal", (), ""),
    ([1, 2, 3], {1: "north"}, "nominal", (), ""),
    (range(1, 13), {4: "Bern", 6: "Uri", 7: "Zug"}, "nominal", (), ""),  # a fourth of the values, and in between
]


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_few_labels_are_codes_among_numbers(tmp_path, ending):
    frame = pd.DataFrame({f"x{i}": np.resize(np.array(values, dtype=float), N) for i, (values, *_) in enumerate(CASES)})
    labels_of = {f"x{i}": labels for i, (_, labels, *_) in enumerate(CASES)}
    file = written(tmp_path / f"x{ending}", frame, variable_value_labels=labels_of)
    read, all_labels = read_file(file), read_table(file, labels=True)
    notices = {notice.column: notice for notice in read.notices}
    columns = guess_columns(read.frame, value_labels=read.value_labels)
    for column, (values, labels, kind, codes, sentence) in zip(columns, CASES, strict=True):
        assert (column.kind, column.possible_codes, column.codes) == (kind, codes, bool(codes))
        assert sentence in "; ".join(column.reasons)
        assert (column.name in notices) == (kind == "numeric")
        assert isinstance(all_labels[column.name].dtype, pd.CategoricalDtype)
        for code in set(labels).intersection(values) if column.name in notices else ():
            assert f"{code} {labels[code]!r}" in notices[column.name].text


@pytest.mark.parametrize("ending", [".dta", ".sav"])
def test_top_codes_survive_a_release_and_missing_codes_are_no_means(tmp_path, monkeypatch, ending):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(7)
    age = rng.normal(45, 24, N).round().clip(0, 85)
    frame = pd.DataFrame({"age": age, "hours": rng.integers(1, 9, N).astype(float), "pay": rng.normal(9, 1, N)})
    frame.loc[::50, "age"], frame.loc[::60, "hours"] = 98, 99
    labels = {"age": TOP | {98: "don't know"}, "hours": {99: "refused"}}
    declared = {"missing_ranges": {"hours": [99]}} if ending == ".sav" else {}
    file = written(tmp_path / f"x{ending}", frame, variable_value_labels=labels, **declared)
    read = read_file(file)
    chosen = arguments(read.frame, guess_columns(read.frame, value_labels=read.value_labels))
    assert chosen["missing_codes"] == {"age": ("98",)} | ({} if declared else {"hours": ("99",)})
    chosen |= {"quasi_identifiers": ("age", "hours"), "confidential": "pay"}
    release = microagg.microaggregate(read.frame, k=3, method="mdav", **chosen)
    released = release.frame["age"]
    before = frame.loc[released.index, "age"]
    assert (released.mean(), len(released)) == (pytest.approx(before.mean()), len(frame.query("age < 98 & hours < 99")))
    assert np.corrcoef(released, before)[0, 1] > 0.95
    (tmp_path / f"out{ending}").write_bytes(release.export(f"out{ending}", like=read)[0])
    about = getattr(pyreadstat, f"read_{ending[1:]}")(f"out{ending}", user_missing=True)[1]
    expected = {code: text for code, text in TOP.items() if (released == code).any()}
    assert about.variable_value_labels == {"age": expected}
    assert (released == 85).any()
    assert about.missing_ranges == ({"hours": [{"lo": 99, "hi": 99}]} if declared else {})


def test_a_recipe_with_labels_as_categories_replays(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame = pd.DataFrame({"age": np.resize(np.arange(60.0, 86.0), N), "pay": np.arange(N) % 50})
    file = written(tmp_path / "x.dta", frame, variable_value_labels={"age": TOP})
    how = {"k": 3, "quasi_identifiers": ["age", "pay"], "method": "mondrian"}
    release = microagg.microaggregate(read_table(file, labels=True), **how)
    (tmp_path / "old.json").write_text(json.dumps(release.recipe))
    done = CliRunner().invoke(cli, ["replay", "old.json", "x.dta", "--out", "out.csv"])
    assert "release comes out otherwise" not in done.output
    assert (done.exit_code, done.output.count("does not")) == (0, 0), done.output
    assert "85 and over" in (tmp_path / "out.csv").read_text()
    done = CliRunner().invoke(cli, ["risk", "old.json", "x.dta"])
    assert done.exit_code == 0, done.output
