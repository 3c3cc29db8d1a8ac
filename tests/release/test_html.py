"""The report that is signed: what it says, that nothing of the original stands in it, and that it stands by itself."""

import copy
import datetime as dt
import hashlib
import itertools
import json
import math
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from microagg import ConstantColumnWarning, DataError, microaggregate
from microagg.metrics.risk.measures import Measure
from microagg.release import Assessment, Figure
from microagg.release.report.contents import compared
from microagg.release.report.html import document
from tests.release.common import QUASI

COMPARISON = pd.DataFrame({"title": ["MDAV*"] * 3 + ["MDAV"] * 2 + ["Other"], "k": [3, 5, 10, 3, 5, 5]})
COMPARISON["information_loss"] = [10.0, 20.0, 30.0, 9.0, 18.0, 25.0]
COMPARISON["floor"] = [8.0, 12.0, 21.0, 8.0, 12.0, 12.0]


class Page(HTMLParser):
    """What stands in a document: its elements with their attributes, in order, and the text below each name."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.texts = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in {"meta", "link", "br"}:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((tuple(self.open), data))

    def below(self, tag):
        return [text for path, text in self.texts if path and path[-1] == tag]

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]

    def said(self):
        return " ".join(" ".join(text for path, text in self.texts if "style" not in path).split())


def released(frame):
    roles = {"quasi_identifiers": QUASI, "confidential": "illness", "identifiers": "id", "others": ["region", "smoker"]}
    return microaggregate(frame, k=5, method="mdav-star", **roles)


@pytest.fixture
def release(frame):
    return released(frame)


def html(release, tmp_path, **about):
    release.to_html(tmp_path / "report.html", **about)
    return (tmp_path / "report.html").read_text(encoding="utf-8")


def figure(after, *, part="risk", better="low", bounds=(0.0, 1.0), unit="share", key="some", **more):
    words = {"title": "Some measure", "meaning": "It means something.", "formula": "a / b", "source": "Somebody 1999"}
    measure = Measure(key=key, better=better, bounds=bounds, unit=unit, **words)
    return Figure(part, measure, after, f"It is {after}.", **more)


def test_the_sections_stand_in_order_and_name_the_file_by_its_digest(release, tmp_path):
    data = b"age,income\n1,2\n"
    page = Page(html(release, tmp_path, file=data, file_name="people.csv", prepared_by="A. Steward"))
    assert page.below("h1") == ["Release of people.csv"]
    assert [heading[:2] for heading in page.below("h2")] == [f"{i}." for i in range(1, 9)]
    assert hashlib.sha256(data).hexdigest() in page.below("code")
    said = page.said()
    assert "people.csv (15 bytes)" in said
    assert "sha256sum -- people.csv" in said
    assert "A. Steward" in said
    for name in ("id", "illness", "region", *QUASI):
        assert name in said
    assert f"Information loss is {release.report.loss.information_loss:.1f} %" in said
    for finding in release.findings:
        assert finding.text in said
    path = tmp_path / "released file.csv"
    path.write_bytes(data)
    found = release.to_dict(file=path)
    assert found["file"] == {"name": path.name, "bytes": 15, "sha256": hashlib.sha256(data).hexdigest()}
    assert "sha256sum -- 'released file.csv'" in Page(document(found)).said()
    # The report is made of what JSON can hold.
    held = json.loads(json.dumps(release.to_dict(comparison=COMPARISON, file=data), allow_nan=False))
    assert document(held) == html(release, tmp_path, comparison=COMPARISON, file=data)
    assert "dropped" not in held["report"]
    with pytest.raises(DataError, match="cannot be read: No such file"):
        release.to_html(tmp_path / "report.html", file=tmp_path / "none.csv")
    with pytest.raises(DataError, match="cannot be written: No such file"):
        release.to_html(tmp_path / "none" / "report.html")


def test_the_document_can_be_read_by_all_and_needs_nothing_else(release, tmp_path):
    text = html(release, tmp_path, comparison=COMPARISON)
    page = Page(text)
    assert not {"script", "link", "img", "iframe", "object"} & {tag for tag, _ in page.elements}
    addresses = [attrs[name] for _, attrs in page.elements for name in ("src", "href", "action") if name in attrs]
    assert all(address.startswith("#") for address in addresses)
    assert not [name for _, attrs in page.elements for name in attrs if name.startswith("on")]
    assert not [word for word in ("@import", "http:", "https:") if word in text]
    assert page.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in page.elements if tag in {"h1", "h2", "h3"}]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert len(page.all("caption")) == len(page.all("table")) == 7
    assert all(attrs.get("scope") in {"col", "row"} for attrs in page.all("th"))
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_risks_and_utility_stand_before_and_after(release, tmp_path):
    figures = (
        figure(0.2, before=1.0, key="a"),
        figure(0.7, key="b", attribute=0),
        figure(0.1, part="utility", key="c", unit="sd", bounds=(0.0, math.inf)),
        figure(30.0, part="utility", key="d", unit="percent", bounds=(0.0, math.inf)),
    )
    attributes = pd.DataFrame({"attribute": ["age", "income"], "lost": [5.0, 1.0], "sd_ratio": [0.9, np.nan]})
    assessment = Assessment(figures, attributes, 60, ("Nothing more could be measured.",))
    found = release.to_dict(assessment=assessment)
    assert [row["measure"] for row in found["assessment"]["figures"]] == ["a", "b", "c", "d"]
    said = Page(document(found)).said()
    for row in ("It is 0.2. 100 % 20 %", "It is 0.7. – 70 %", "It is 0.1. 0.1 sd", "It is 30.0. 30.0 %"):
        assert row in said
    table = "age 5.00 % 90 % income 1.00 % –"
    for words in (": 0 (lower", "Nothing more could", table, "from 0 % to 100 %", "0 sd or more"):
        assert words in said
    # In short, the worst that is learned of a confidential column is said.
    for shares, says in (((0.0, 0.4), "It is 0.4."), ((0.0, 0.0), "each has several.")):
        figures = tuple(figure(share, key="homogeneous", attribute=str(share)) for share in shares)
        assessment = Assessment(figures, pd.DataFrame(columns=["attribute"]), 60)
        assert release.to_dict(assessment=assessment)["promise"]["risk"].endswith(says)


def test_findings_that_were_overridden_are_marked_with_the_reason(frame, tmp_path):
    held = microaggregate(frame, k=5, quasi_identifiers=QUASI, identifiers="id")
    stops = [finding for finding in held.findings if finding.level == "stop"]
    assert len(stops) > 1
    said = Page(html(held, tmp_path)).said()
    assert f"Blocked: {len(stops)} problems" in said
    codes = {finding.code for finding in stops}
    said = Page(html(held.accept(*codes, reason="The contract forbids it"), tmp_path)).said()
    assert said.count("Problem, overridden") == len(stops)
    assert "The contract forbids it." in said.split("6. Checks")[0]


def test_a_release_without_its_original_says_what_was_not_measured(release, tmp_path):
    copied = copy.copy(release)
    said = Page(html(copied, tmp_path)).said()
    assert "Risks were not measured" in said
    assert "Data quality was not measured" in said
    assert "8. Appendix" not in said


def test_choices_and_versions_are_said_in_words(frame):
    frame = frame.assign(age=frame["age"].astype("float64").where(frame["age"] > 20))
    how = {"k": 4, "quasi_identifiers": QUASI, "identifiers": "id", "by": "region", "missing": {"age": "impute"}}
    how |= {"method": "v-mdav", "gamma": 0.25, "polish": True, "rounding": "file", "shuffle": 5}
    found = microaggregate(frame, **how).to_dict()
    said = {choice["what"]: choice["how"] for choice in found["choices"]}
    n = int(frame["age"].isna().sum())
    assert n > 0
    assert said["Parameters of the method"] == "Gamma = 0.25."
    assert said["Requested smallest group"] == "4 records (k)."
    assert said["Filled in 'age'"].startswith(f"{n} gap")
    assert "seed" not in said["Order of the records"]
    assert "improved by local search" in said["Afterwards"]
    assert {"Distances", "Rounding"} <= set(said)
    categories = microaggregate(frame, k=4, quasi_identifiers="region", rounding="file", method="mondrian").to_dict()
    assert not {"Distances", "Rounding"} & {choice["what"] for choice in categories["choices"]}
    assert set(found["versions"]) == {"microagg", "numpy", "Python"}


def test_where_the_choice_stands_among_what_was_compared(release, tmp_path):
    page = Page(html(release, tmp_path, comparison=COMPARISON))
    said = page.said()
    assert page.below("strong")[-1] == "20.0\u00a0%"
    for says in (
        "k MDAV* MDAV Other Lower bound 3 10.0 % 9.00 % – 8.00 % 5 20.0 % 18.0 % 25.0 % 12.0 % 10 30.0 % – – 21.0 %",
        "6 releases by 3 methods",
        "At k = 5, the chosen MDAV* has a loss of 20.0 %; MDAV has the lowest: 18.0 %. ",
    ):
        assert says in said


def test_the_row_that_is_marked_is_the_one_that_was_chosen(release):
    marked = COMPARISON.assign(chosen=COMPARISON["title"] == "Other", n_records=40)
    found = compared(marked, release)
    assert [row["title"] for row in found["rows"] if row["chosen"]] == ["Other"]
    assert "the chosen Other has a loss of 25.0 %; MDAV has the lowest" in found["loss_in_words"]
    assert found["on"].startswith("Compared were 40 records of the 60")
    none = compared(COMPARISON[COMPARISON["k"] == 3], release)
    assert "not among them" in none["loss_in_words"]
    # Nothing beats MDAV* where MDAV was not tried.
    best = compared(COMPARISON[COMPARISON["title"] != "MDAV"].drop(columns="floor"), release)
    assert "the chosen MDAV* has a loss of 20.0 %, the lowest" in best["loss_in_words"]
    # Rows without a figure are left out, and labels of rows do not matter.
    lacking = pd.concat([COMPARISON, COMPARISON.assign(title="Never", information_loss=[np.nan, np.inf] * 3)])
    for table in (COMPARISON.set_axis([0] * 6), lacking):
        assert compared(table, release) == compared(COMPARISON, release)
    assert compared(COMPARISON.iloc[:0], release) is None


@pytest.mark.parametrize(
    ("given", "says"), [([1, 2], "must be a DataFrame"), (COMPARISON.drop(columns="k"), "lacks 'k'")]
)
def test_what_is_no_comparison_is_refused(release, given, says):
    with pytest.raises(DataError, match=says):
        release.to_dict(comparison=given)


def originals():
    """Return a file in which every cell can be told from all others and from all other words and numbers."""
    rng = np.random.default_rng(7)
    n = 48
    towns = [f"Town-{letter}xq" for letter in "abcdefgh"]
    grades = [f"Grade-{letter}wz" for letter in "klmnop"]
    labels = [f"Label-{i:03d}rr" for i in range(n)]
    frame = pd.DataFrame({"name": [f"Person-{i:03d}vv" for i in range(n)]}, index=labels)
    frame["income"] = [f"{value:.7f}" for value in rng.uniform(20_000, 90_000, n)]
    frame["born"] = [str(dt.date.fromordinal(711_858 + days)) for days in rng.choice(15_000, n, replace=False)]
    frame["town"] = rng.choice(towns, n, p=[0.4, 0.2, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05])
    frame["grade"] = rng.choice(grades, n)
    frame["weight"] = rng.uniform(1, 2, n).round(9)
    frame["illness"] = rng.choice([f"Illness-{letter}yy" for letter in "stuv"], n)
    frame.loc[frame.index[:3], "income"] = "-98765.4321"
    frame.loc[frame.index[5:7], "born"] = None
    frame.loc[frame.index[9], "grade"] = "Code-99uu"
    frame.loc[frame.index[10:12], "town"] = None
    return frame, towns, grades


NUMBERS = {"quasi_identifiers": ["income", "born"], "others": ["town", "grade"]}
MIXED = {"quasi_identifiers": ["income", "born", "town", "grade"], "method": "mondrian"}


@pytest.mark.parametrize(
    ("given", "gaps"),
    [
        (NUMBERS | {"statistic": "mean"}, {"income": "impute", "born": "drop"}),
        (NUMBERS | {"statistic": "median", "rounding": "file"}, {"income": "drop", "born": "impute"}),
        (MIXED | {"statistic": "mean", "shuffle": 3}, dict.fromkeys(MIXED["quasi_identifiers"], "impute")),
        (MIXED | {"statistic": "generalize"}, {"income": "drop", "born": "drop", "town": "category", "grade": "drop"}),
    ],
    ids=["mean", "median", "categories", "ranges"],
)
def test_no_cell_of_the_original_that_is_not_released_stands_in_the_report(given, gaps, tmp_path):
    frame, towns, grades = originals()
    mixed = "town" in given["quasi_identifiers"]
    how = {"k": 4, "identifiers": "name", "confidential": "illness", "dates": {"born": "day"}, "missing": gaps}
    how |= {"numbers": {"income": "1,234.5"}, "missing_codes": {"income": ["-98765.4321"]}}
    if mixed:
        how |= {"taxonomies": {"town": {"all": {"one": towns[:4], "two": towns[4:]}}}, "ordinal": {"grade": grades}}
        how["missing_codes"] |= {"grade": ["Code-99uu"]}
    elif given["statistic"] == "mean":
        how["weights"] = "weight"
    release = microaggregate(frame, **how, **given)
    reading = {"decimal": ".", "skip_lines": 0, "missing": ["Secret-Word"]}
    about = {"comparison": COMPARISON, "origin": {"file": "people.csv", "reading": reading}}
    texts = [html(release, tmp_path, **about), json.dumps(release.to_dict(**about), ensure_ascii=False)]
    # Of a shuffled release the labels are numbers; otherwise the index is released beside the columns.
    released = release.frame.to_csv(index=False)
    cells = {str(cell) for column in frame for cell in frame[column].dropna()} | set(frame.index)
    cells |= {str(float(cell)) for cell in frame["income"]}
    hidden = [cell for cell in cells if cell not in released] + ["Secret-Word"]
    assert len(hidden) > 140
    assert {"-98765.4321", "Person-000vv", "Label-005rr"} <= set(hidden)
    for text in texts:
        assert [cell for cell in hidden if cell in text] == []
        for key in ("input_sha256", "strata_sha256", "weights_sha256", "classes_sha256", "release_sha256"):
            assert release.recipe[key] is None or release.recipe[key] not in text


@pytest.mark.parametrize(
    "given",
    [{"taxonomies": {"town": {"all": ["often", "seldom-one"]}}}, {"ordinal": {"town": ["often", "seldom-one"]}}],
)
def test_a_category_that_is_not_released_is_counted_and_not_named(given):
    towns = pd.DataFrame({"town": ["often"] * 11 + ["seldom-one"], "age": [30.0] * 12})
    with pytest.warns(ConstantColumnWarning):
        release = microaggregate(towns, k=4, quasi_identifiers=["town", "age"], method="mondrian", **given)
    assert set(release.frame["town"]) == {"often"}
    said = json.dumps(release.to_dict())
    assert "seldom-one" not in said
    assert "'town' (2 values)" in said


HOSTILE = ["<script>alert(1)</script>", "{{7*7}}", '$\\frac{1}{2}$ & "x"', "a\x0bb </style><b>", "naïve – 東京"]


def test_names_are_shown_letter_by_letter(tmp_path):
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.normal(size=(40, 5)), columns=HOSTILE)
    release = microaggregate(frame, k=4, quasi_identifiers=HOSTILE[:4], confidential=HOSTILE[4])
    text = html(
        release,
        tmp_path,
        comparison=COMPARISON.assign(title="<script>"),
        title="<script>x</script>",
        file_name="'; rm </code>.csv",
        prepared_by="{{ 8*8 }}",
    )
    page = Page(text)
    assert "script" not in {tag for tag, _ in page.elements}
    assert not page.all("b")
    said = page.said()
    assert "<script>alert(1)</script>" in said
    assert "{{7*7}}" in said
    assert "49" not in "".join(page.below("span"))
    assert "{{ 8*8 }}" in said
    assert page.below("h1") == ["<script>x</script>"]
    json.loads(json.dumps(release.to_dict(), allow_nan=False))


def test_equal_contents_give_equal_bytes(release, frame, tmp_path):
    assessment = release.assess()
    about = {"comparison": COMPARISON, "file": b"abc", "file_name": "a.csv"}
    first = html(release, tmp_path, assessment=assessment, **about)
    assert html(release, tmp_path, assessment=assessment, **about) == first
    assert html(released(frame), tmp_path, **about) == first
    assert html(release, tmp_path, **about | {"file": b"abd"}) != first
