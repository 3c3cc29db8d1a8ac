"""The path from a file to its release, as a steward walks it: in few clicks, and without a contradiction."""

import io
import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.e2e.steps import (
    accept,
    click_point,
    visit,
    wait_for_address,
    wait_for_answer,
    wait_for_verdict,
    wait_until_idle,
)
from tests.messy import messy_csv

MOST_CLICKS, MOST_CLICKS_TO_A_REPORT = 9, 12

WIDE, NARROW = (1440, 900), (390, 844)


class Steward:
    """Somebody at the page who counts clicks."""

    def __init__(self, page, size):
        self.page, self.clicks = page, 0
        page.set_viewport_size({"width": size[0], "height": size[1]})

    def click(self, locator):
        self.clicks += 1
        locator.click()

    def upload(self, name, content):
        self.clicks += 1
        self.page.set_input_files("input[type=file]", {"name": name, "mimeType": "text/plain", "buffer": content})

    def go_on(self, label, heading):
        """Follow the link at the end of a page to the next one."""
        # A link that is drawn anew or moves while it is clicked swallows the click.
        self.page.wait_for_timeout(700)
        wait_until_idle(self.page)
        main, name = self.page.get_by_test_id("stMain"), re.compile(label)
        self.click(main.get_by_role("link", name=name).or_(main.get_by_role("button", name=name)).last)
        self.page.get_by_role("heading", name=heading, exact=True).wait_for()
        wait_until_idle(self.page)

    def choose(self, line, place):
        self.clicks += 1
        click_point(self.page, line, place)

    def download(self, button):
        with self.page.expect_download() as waiting:
            self.click(self.page.get_by_role("button", name=button))
        return waiting.value


def smallest_class(path, names):
    """Return the size of the smallest class of equal quasi-identifiers, read as the text that stands in the file."""
    table = pd.read_csv(path, dtype=str, keep_default_na=False)
    return table, int(table.groupby(names).size().min())


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
@pytest.mark.timeout(420)
def test_a_messy_file_from_upload_to_download(page, server, size):
    steward = Steward(page, size)
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("Upload the same file again").wait_for()
    steward.upload("messy.csv", messy_csv())
    page.get_by_text("42 records of 3,000 (1.4 %) with missing values will be left out").wait_for()
    accept(page, steward.click)
    steward.go_on("Choose k", "Choose k")
    wait_for_answer(page)
    steward.choose(line=0, place=2)
    wait_for_address(page, "k=10")
    steward.go_on("Release", "Release")
    wait_for_verdict(page, "2,958")
    steward.click(page.get_by_text("Warnings ("))
    steward.click(page.get_by_role("button", name="Shuffle rows"))
    wait_for_address(page, "shuffle=")
    wait_until_idle(page)
    wait_for_verdict(page, "2,958")
    download = steward.download("Download CSV")
    assert download.suggested_filename == "messy_protected.csv"
    table, smallest = smallest_class(download.path(), ["age", "sex", "zip", "rent", "children"])
    assert len(table) == 2_958
    assert smallest >= 10
    assert list(table) == ["age", "sex", "zip", "rent", "weight", "children", "diagnosis"]
    # The weights are those of groups, and a group has as many persons as before.
    weights = pd.read_csv(io.BytesIO(messy_csv()))["weight"]
    assert abs(table["weight"].astype(float).mean() / weights.mean() - 1) < 0.02
    assert steward.clicks <= MOST_CLICKS


LABELS = {"hours": "hours worked, 1975", "age": "woman's age in yrs", "mtr": "fed. marg. tax rte facing woman"}


def labor_force():
    """Return a Stata file with the columns of Mroz's survey of married women, and with labels."""
    random, n = np.random.default_rng(1), 753
    most = {"kidslt6": 4, "kidsge6": 9, "age": 31, "educ": 13, "hushrs": 4000, "husage": 31, "huseduc": 15}
    most |= {"motheduc": 18, "fatheduc": 18, "exper": 46, "city": 2, "unem": 9, "repwage": 9}
    inlf = (random.random(n) < 0.57).astype(int)
    frame = pd.DataFrame({"inlf": inlf, "hours": inlf * random.integers(12, 4950, n)})
    frame = frame.assign(**{name: random.integers(0, high, n) for name, high in most.items()})
    wage, faminc = random.gamma(3, 1.4, n).round(4) + 0.1, random.lognormal(9.9, 0.5, n).round()
    frame = frame.assign(wage=np.where(inlf, wage, np.nan), huswage=random.gamma(3, 2.5, n).round(4), faminc=faminc)
    frame = frame.assign(nwifeinc=(faminc - frame["hours"] * wage) / 1000, mtr=random.choice([0.44, 0.66, 0.94], n))
    frame = frame.assign(lwage=np.log(frame["wage"]), expersq=frame["exper"] ** 2)
    content, codes = io.BytesIO(), {"city": {0: "rural", 1: "urban"}}
    frame.to_stata(content, write_index=False, variable_labels=LABELS, value_labels=codes, version=118)
    return content.getvalue()


#: The words with which pages and the report state each fact of the chosen partition.
STATED = {
    "k": r"\bk = (\d+)(?:: gap| meets| was requested|, the chosen)|\bk\s+(\d+)\s+✓ counted",
    "risk": r"\b[Rr]isk\s+([\d.]+ %)",
    "loss": r"(?:, loss|\(loss|\bLoss|nformation loss is|Total-IL is|chosen [\w -]+ has a loss of)\s+([\d.]+ %)",
    "lower bound": r"lower bound (?:for groups of at least \d+ is |at this k is )?([\d.]+ %)",
    "gap": r"\bgap ([\d.]+ %)",
    "records": r"\bRecords(?: released)?\s+([\d,]+)|\bhas ([\d,]+) records|([\d,]+) records in [\d,]+ groups",
    "records of the file": r"([\d,]+) records, \d+ columns|(?:Records|left out)\s+[\d,]+\s+of ([\d,]+)"
    r"|\bRecords\s+([\d,]+)\s+all",
}
FACTS = frozenset(STATED)
SAYS = {
    "Data": {"records of the file"},
    "Choose k": {"k", "risk", "loss", "lower bound", "gap"},
    "Clusters": {"loss", "lower bound", "gap"},
    "Release": {"k", "risk", "loss", "lower bound", "gap", "records", "records of the file"},
    "Report": {"k", "risk", "loss", "lower bound", "records"},
}


def check_facts(texts, facts=FACTS):
    """Check that each page says what it should, and that a fact has the same digits wherever it stands."""
    digits = defaultdict(dict)
    for page, text in texts.items():
        for name in facts:
            if seen := {"".join(groups) for groups in re.findall(STATED[name], text)}:
                digits[name][page] = seen
    missing = {page: SAYS[page] & facts - {name for name in digits if page in digits[name]} for page in texts}
    assert {page: names for page, names in missing.items() if names} == {}
    assert {name: by_page for name, by_page in digits.items() if len(set.union(*by_page.values())) > 1} == {}


def text_of(part):
    return part.inner_text().replace("\u00a0", " ")


def words_on(page, heading, title):
    """Return what a page says of the chosen partition, of the method ``title``, or of the file."""
    page.locator("h1", has_text=heading).wait_for()
    if heading == "Choose k":
        wait_for_answer(page)
        # In the background the release is made, which may raise the risk.
        page.get_by_text("released as they are may raise the risk").wait_for(state="detached")
    wait_until_idle(page)
    main = page.get_by_test_id("stMain")
    if heading in ("Choose k", "Clusters"):
        main.get_by_text(re.compile(r"lower bound [\d.]+\s%\)")).first.wait_for()
        wait_until_idle(page)
    if heading != "Release":
        says = ("mroz.dta:", f"{title} at k =", f"{title}:")
        return "\n".join(line for line in text_of(main).splitlines() if any(words in line for words in says))
    page.get_by_role("heading", name="Data quality").wait_for()
    page.locator(".st-key-verdict [data-testid=stMetricValue]").nth(3).wait_for()
    wait_until_idle(page)
    words = page.get_by_test_id("stExpander").filter(has_text="Report in words")
    if not words.get_by_role("listitem").first.is_visible():
        words.get_by_text("Report in words").click()
    words.get_by_role("listitem").first.wait_for()
    return f"{text_of(page.locator('.st-key-verdict'))}\n{text_of(words)}"


@pytest.mark.timeout(420)
def test_a_steward_comes_from_a_stata_file_to_a_report_to_sign_without_a_contradiction(page, server):
    steward = Steward(page, WIDE)
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("Upload the same file again").wait_for()
    steward.upload("mroz.dta", labor_force())
    page.get_by_text("753 records, 22 columns").first.wait_for()
    accept(page, steward.click)
    steward.go_on("Choose k", "Choose k")
    title = page.locator(".st-key-chosen_method p").first.inner_text()
    texts = {"Choose k": words_on(page, "Choose k", title)}
    steward.go_on("Release", "Release")
    check_facts(texts | {"Release": words_on(page, "Release", title)})
    page.locator(".st-key-verdict").get_by_text("Ready").wait_for()
    wait_until_idle(page)
    steward.click(page.get_by_text("Warnings ("))
    # Others predict it, which raises the risk above its limit.
    steward.click(page.get_by_role("button", name="Leave out wage").first)
    page.get_by_role("button", name="Leave out wage").first.wait_for(state="detached")
    wait_until_idle(page)
    steward.click(page.get_by_role("button", name="Shuffle rows"))
    wait_for_address(page, "shuffle=")
    page.get_by_role("button", name="Shuffle rows").wait_for(state="detached")
    page.get_by_role("heading", name="Data quality").wait_for()
    wait_until_idle(page)
    file, report = (Path(steward.download(label).path()) for label in ("Download Stata", re.compile("^Report$")))
    assert steward.clicks <= MOST_CLICKS_TO_A_REPORT
    texts = {"Release": words_on(page, "Release", title)}
    for heading in ("Data", "Choose k", "Clusters"):
        visit(page, heading)
        texts[heading] = words_on(page, heading, title)
    page.set_content(report.read_text(encoding="utf-8"))
    texts["Report"] = text_of(page.locator("body"))
    check_facts(texts)
    with pd.io.stata.StataReader(file) as reader:
        labels, released = reader.variable_labels(), reader.read()
    assert {name: labels[name] for name in LABELS} == LABELS
    assert f"{len(released):,}" in texts["Release"]
    assert not {"wage", "lwage"} & set(released)
    assert released.groupby(list(released)).size().min() >= 5
