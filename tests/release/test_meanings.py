"""What is counted of confidential columns: meanings, not spellings, in a run, in its file, and in anybody's."""

import io
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from microagg import DataError, MicroaggError, ParameterError, microaggregate, replay
from microagg.cli import cli
from microagg.columns.recodes import meant
from microagg.columns.taxonomy import Taxonomy
from microagg.metrics.risk import homogeneity
from tests import naive
from tests.release.common import replayed

SPELLINGS = ["hiv", "HIV", "hiv ", " Hiv", "flu", "FLU ", "cold", "Cold"]
NOTHING = ["", "n/a", "N/A ", "unknown", "?"]
HOW = {"k": 3, "method": "mdav", "quasi_identifiers": "age", "confidential": "ill"}


def plain(value):
    """Return what an intruder reads, by hand; None where that is nothing."""
    text = value.casefold().strip()
    return None if text in {word.casefold().strip() for word in NOTHING} else text


def classes_of(data):
    """Return what an intruder reads in each class of a file, those who have no value left out."""
    table = pd.read_csv(io.BytesIO(data), dtype=str, keep_default_na=False)
    return [[text for text in map(plain, rows) if text is not None] for _, rows in table.groupby("age")["ill"]]


def verify(data, *words, code=0, name="out.csv"):
    """Return what verify prints of a file."""
    with TemporaryDirectory() as folder:
        file = Path(folder, name)
        file.write_bytes(data)
        base = ["verify", str(file), "--qi", "age", "--k", "1", "--confidential", "ill", *words]
        done = CliRunner().invoke(cli, base)
    assert done.exit_code == code, done.output
    return done.stdout


def verified(data, *words, **how):
    """Return what verify counts in a file, in the order of the guarantees."""
    return [own["counted"] for own in json.loads(verify(data, *words, "--json", **how))["guarantees"]]


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6))
def test_run_and_verify_count_what_an_intruder_reads(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(0, 30, 24), "ill": rng.choice(SPELLINGS, 24)})
    everybody = [plain(value) for value in frame["ill"]]
    if len(set(everybody)) < 2:
        return
    release = microaggregate(frame, **HOW, diversity={"ill": 2}, closeness={"ill": 0.5})
    data, finding = release.export("out.csv")
    classes = classes_of(data)
    distinct = min(naive.diversity(own)[0] for own in classes)
    distance = max(naive.closeness(own, everybody, ordered=False) for own in classes)
    assert distinct >= 2
    assert finding.level == "ok"
    assert [own.counted for own in release.report.guaranteed] == pytest.approx([distinct, distance])
    assert verified(data, "--diversity", "ill=2", "--closeness", "ill=0.5") == pytest.approx([distinct, distance])
    entropy = min(naive.diversity(own)[1] for own in classes)
    assert verified(data, "--diversity", "ill=entropy:1") == pytest.approx([entropy])
    labels = release.partition.labels
    assert homogeneity(frame["ill"], labels).distinct_l == distinct


@settings(deadline=None, max_examples=12)
@given(st.integers(0, 10**6))
def test_records_without_a_value_raise_nothing(seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(0, 4, 16), "ill": rng.choice([*SPELLINGS, *NOTHING], 16)})
    data = frame.to_csv(index=False).encode()
    classes = classes_of(data)
    distinct = min(len(set(own)) for own in classes)
    assert verified(data, "--diversity", "ill=1", code=int(distinct < 1)) == [distinct]
    if not (everybody := [text for own in classes for text in own]):
        return
    farthest = max(naive.closeness(own, everybody, ordered=False) for own in classes if own)
    assert verified(data, "--closeness", "ill=1") == pytest.approx([farthest])


FOUR = pd.DataFrame({"age": [1, 2, 3, 4, 11, 12, 13, 14], "ill": ["hiv", "HIV", "hiv ", "hiv.", "flu", "a", "b", "c"]})


def texts(release, level):
    return [own.text for own in release.report.findings if own.code == "homogeneity" and own.level == level]


def test_spellings_are_no_secrets_and_the_report_says_so():
    how = HOW | {"k": 4}
    says = "'hiv', 'HIV', 'hiv ' and 'hiv.' count as one value"
    release = microaggregate(FOUR, **how)
    assert any(says in text for text in texts(release, "ok"))
    assert "1 of 2 classes (4 records), most often 'hiv'" in texts(release, "warn")[0]
    assert microaggregate(FOUR, **how, diversity={"ill": 2}).partition.n_groups == 1
    with pytest.raises(ParameterError, match=r"cannot be 6: the file has 5 .* 'hiv.' count as one value"):
        microaggregate(FOUR, **how, diversity={"ill": 6})
    # The released column is as it was, and so is the sentence on anybody's file.
    assert release.frame["ill"].equals(FOUR["ill"])
    assert says in verify(release.export("out.csv")[0], "--diversity", "ill=1")


@pytest.mark.parametrize("word", ["", " ", "n/a", "Unknown", "?", "k. A.", "NULL", "keine Angabe"])
def test_a_word_for_no_value_is_refused_unless_something_is_meant_by_it(word):
    frame = FOUR.assign(ill=[*"aabb", *"cdd", word])
    for option, limit in (("diversity", 2), ("closeness", 0.6)):
        with pytest.raises(DataError, match=rf"record 7 .*{option} is asked for.*: 'not tested'"):
            microaggregate(frame, **HOW, **{option: {"ill": limit}})
    release = microaggregate(frame, **HOW, diversity={"ill": 4}, meanings={"ill": {word.strip().upper(): "not tested"}})
    assert release.report.guaranteed[0].counted == 5
    replayed(frame, release)


def test_what_is_missing_hides_nothing_in_the_checklist():
    frame = pd.DataFrame({"age": [1, 1, 1, 9, 9, 9], "ill": ["hiv", "hiv", None, "flu", "a", "n/a"]})
    release = microaggregate(frame, **HOW)
    assert "1 of 2 classes (2 records), most often 'hiv'" in texts(release, "warn")[0]
    assert any("'n/a' counts as no value" in text for text in texts(release, "ok"))


def test_numbers_that_look_like_codes_count_as_values_with_a_warning():
    frame = FOUR.assign(ill=[0, 1, 1, 1, 0, 1, -9, -9])
    release = microaggregate(frame, **HOW, diversity={"ill": 2})
    assert "-9 may stand for missing values" in texts(release, "warn")[0]
    with pytest.raises(DataError, match=r"'-9', .* record 6"):
        microaggregate(frame, **HOW, diversity={"ill": 2}, meanings={"ill": {-9: None}})


ICD = {"ICD": {"A00-B99": ["A00", "A09"], "C00-D49": ["C50", "C61"]}}
CODES = pd.DataFrame({"age": [1, 2, 3, 11, 12, 13], "ill": ["A00", "a09", "C50", "A09", "C61", "C50 "]})


def test_a_level_of_a_taxonomy_says_what_counts_as_different(tmp_path, monkeypatch):
    release = microaggregate(CODES, **HOW, diversity={"ill": 2}, meanings={"ill": (ICD, 1)})
    assert release.report.guaranteed[0].counted == 2
    assert "2 distinct values" in release.assess().of("alpha")[0].sentence
    leaves = microaggregate(CODES, **HOW, diversity={"ill": 2}, meanings={"ill": (ICD, 2)})
    assert leaves.report.guaranteed[0].counted == 3
    replayed(CODES, release)
    data, finding = release.export("out.csv")
    assert finding.level == "ok"
    monkeypatch.chdir(tmp_path)
    CODES.to_csv("people.csv", index=False)
    (tree := tmp_path / "icd.txt").write_text(Taxonomy.from_nested(ICD).to_text())
    base = "run people.csv --k 3 --qi age --confidential ill --diversity ill=2 --meanings ill=icd.txt:1 --out o.csv"
    done = CliRunner().invoke(cli, base.split())
    assert done.exit_code == 0, done.output
    assert verified(Path("o.csv").read_bytes(), "--diversity", "ill=2", f"--meanings=ill={tree}:1") == [2]
    mapped = [f"--meanings=ill={code}={chapter}" for chapter, codes in ICD["ICD"].items() for code in codes]
    for words in ([f"--meanings=ill={tree}:1"], mapped):
        assert verified(data, "--diversity", "ill=2", *words) == [2]
    assert verified(data, "--diversity", "ill=2") == [3]
    assert "A00" not in json.dumps(release.to_dict()["choices"])


@pytest.mark.parametrize(
    ("meanings", "error", "says"),
    [
        ({"ill": ({"ICD": {"A": ["A00"], "C": ["C50"]}}, 1)}, DataError, "'a09'"),
        ({"ill": (ICD, 3)}, ParameterError, "level from 1 to 2"),
        ({"age": {"1": "2"}}, ParameterError, "'age', which is not confidential"),
        ({"ill": 3}, ParameterError, "'ill' must map values"),
        ({"ill": {"*": "x"}}, ParameterError, "1 distinct values"),
    ],
)
def test_meanings_that_cannot_be_are_refused(meanings, error, says):
    with pytest.raises(error, match=says):
        microaggregate(CODES, **HOW, diversity={"ill": 2}, meanings=meanings)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("ＨＩＶ", "hiv", True),
        ("hiv\u200b", "HIV\u00a0", True),
        ("Sífilis", "SIFILIS", True),
        ("type-2 diabetes", "Type 2 Diabetes", False),
        ("self-harm", "Self harm", True),
        ("A+", "A-", False),
        ("がん", "かん", False),
        ("1.5 mg", "15 mg", False),
        (1, "1", True),
        (True, 1, False),
        ("\ud800", "\ud800 ", True),
    ],
)
def test_what_is_one_meaning(one, other, same):
    values = meant(pd.Series([one, other], dtype=object))
    assert values.notna().all()
    assert (values[0] == values[1]) is same
    assert meant(values).equals(values)


def test_ordered_categories_and_ranges_keep_their_order():
    pay = pd.Series([1, 5, 20, 30, 900, -9])
    found = meant(pay, {"[0, 10)": "low", "[10, 100)": "mid", ">=100": "high", "-9": None})
    assert found.cat.categories.tolist() == ["low", "mid", "high"]
    assert found.isna().tolist() == [False] * 5 + [True]
    days = meant(pd.Series(pd.to_datetime(["1900-01-01", "2001-02-03"])), {"1900-01-01": None})
    assert (days.isna().tolist(), days.dtype.kind) == ([True, False], "M")
    levels = pd.Categorical(["Low", "high", "low ", "mid"], ["low ", "Low", "mid", "high"], ordered=True)
    assert meant(pd.Series(levels)).cat.categories.tolist() == ["low", "mid", "high"]


def test_recipes_from_before_replay_where_their_guarantee_holds(monkeypatch):
    """Before, each spelling counted as a value."""
    clean = CODES.assign(ill=[*"abcabd"])
    frames = {"clean": clean, "spelled": FOUR, "missing": CODES.replace("A00", "n/a")}
    with monkeypatch.context() as before:
        for module in ("metrics.risk.disclosure", "columns.recodes", "release.guarantees"):
            before.setattr(f"microagg.{module}.meant", lambda series, changes=None: series)
        made = {name: microaggregate(frame, **HOW, diversity={"ill": 2}) for name, frame in frames.items()}
    assert replay(clean, made["clean"].recipe).recipe == made["clean"].recipe
    with pytest.raises(MicroaggError, match="comes out otherwise"):
        replay(FOUR, made["spelled"].recipe)
    with pytest.raises(DataError, match="'n/a', which stands for no value"):
        replay(frames["missing"], made["missing"].recipe)
    # Where it is a value after all, the recipe says so.
    told = made["missing"].recipe | {"meanings": [["ill", {"n/a": "not tested"}]]}
    assert replay(frames["missing"], told).frame.equals(made["missing"].frame)


def test_no_recipe_opens_a_file():
    recipe = microaggregate(CODES, **HOW, diversity={"ill": 2}).recipe
    with pytest.raises(ParameterError, match="'meanings'"):
        replay(CODES, recipe | {"meanings": [["ill", ["/etc/hostname", 1]]]})
