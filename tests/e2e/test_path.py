"""The path from a file to its release, as a steward walks it: at most nine clicks beyond choices of role."""

from __future__ import annotations

import io
import random
import re
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import load_benchmark
from tests.e2e.steps import accept, click_point, wait_for_address, wait_for_answer, wait_for_verdict, wait_until_idle
from tests.messy import messy_csv

pytestmark = pytest.mark.e2e

MOST_CLICKS = 9

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
        self.page.set_input_files("input[type=file]", {"name": name, "mimeType": "text/csv", "buffer": content})

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


@pytest.mark.timeout(420)
def test_a_file_goes_out_as_it_was(page, server):
    rng = random.Random(7)
    lines = [
        f'"P{i:03}";{rng.randint(20, 80)};{rng.uniform(50, 99):.1f};{rng.randint(1, 28):02}.0{rng.randint(1, 9)}.2019;'
        f'"{rng.choice(["Grippe", "Übelkeit", "Bruch; offen"])}"'
        for i in range(300)
    ]
    lines = [
        '"Name";"Alter";"Gewicht";"Aufnahme";"Diagnose"',
        *(re.sub(r"(\d)\.(\d);", r"\1,\2;", own) for own in lines),
    ]
    steward = Steward(page, WIDE)
    page.goto(f"{server.url}/data?data=upload&method=mdav&k=5")
    page.get_by_text("Upload the same file again").wait_for()
    steward.upload("Patienten.csv", ("\r\n".join(lines) + "\r\n").encode("cp1252"))
    steward.click(page.get_by_role("button", name="cp1252").first)
    accept(page, steward.click)
    steward.go_on("Choose k", "Choose k")
    wait_for_answer(page)
    steward.go_on("Release", "Release")
    wait_for_verdict(page, "300")
    written = Path(steward.download("Download CSV").path()).read_bytes().decode("cp1252")
    assert steward.clicks <= MOST_CLICKS
    header, *records = written.removesuffix("\r\n").split("\r\n")
    assert header == '"Alter";"Gewicht";"Aufnahme";"Diagnose"'
    assert all(re.fullmatch(r'\d\d;\d\d,\d;\d\d\.\d\d\.2019;".*"', record) for record in records)
    told = [line.partition(';"')[2] for line in lines[1:]]
    assert [record.partition(';"')[2] for record in records] == told


@pytest.mark.timeout(420)
def test_census_from_the_data_to_a_workbook(page, server):
    census = load_benchmark("census")
    steward = Steward(page, NARROW)
    page.goto(f"{server.url}/data?data=census&ks=3,5,10")
    page.get_by_text("1,080 records").first.wait_for()
    steward.go_on("Choose k", "Choose k")
    wait_for_answer(page)
    steward.choose(line=0, place=2)
    wait_for_address(page, "k=10")
    steward.go_on("Release", "Release")
    wait_for_verdict(page, "1,080")
    steward.click(page.get_by_role("combobox", name="Format"))
    steward.click(page.get_by_role("option", name="Excel"))
    wait_for_address(page, "format=.xlsx")
    wait_until_idle(page)
    download = steward.download("Download Excel")
    table = pd.read_excel(download.path())
    assert len(table) == len(census.frame)
    assert table.groupby(list(census.quasi_identifiers)).size().min() >= 10
    # Incomes are whole in the file, so their means are released whole.
    assert all(pd.api.types.is_integer_dtype(table[name]) for name in census.quasi_identifiers)
    assert steward.clicks <= MOST_CLICKS


@pytest.mark.timeout(420)
def test_adult_from_the_data_to_download(page, server):
    adult = load_benchmark("adult")
    steward = Steward(page, WIDE)
    page.goto(f"{server.url}/data?data=adult&ks=100&methods=k-member")
    wait_until_idle(page)
    steward.go_on("Choose k", "Choose k")
    wait_for_answer(page)
    steward.choose(line=0, place=0)
    wait_for_address(page, "k=100")
    steward.go_on("Release", "Release")
    wait_for_verdict(page, "30,162")
    download = steward.download("Download CSV")
    table, smallest = smallest_class(download.path(), list(adult.quasi_identifiers))
    assert len(table) == 30_162
    assert smallest >= 100
    assert not {"education-num", "fnlwgt"} & set(table)
    assert steward.clicks <= MOST_CLICKS
