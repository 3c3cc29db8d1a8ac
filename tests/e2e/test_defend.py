"""From a messy file to a report to sign: what a steward does who must defend a release."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.steps import click_point, until_address, wait_for_address, wait_until_idle
from tests.messy import messy_csv

pytestmark = pytest.mark.e2e

N = 50_000
ROLES = "&".join(
    [
        *(f"columns={role}..:{name}" for role, name in (("identifier", "id"), ("identifier", "name"))),
        *(f"columns=identifier..:{name}" for name in ("sex", "zip", "weight")),
        *(f"columns=quasi-identifier.number.drop.0:{name}" for name in ("rent", "children")),
        "columns=confidential..:diagnosis",
    ]
)
METHODS = ("mdav", "mdav-plus", "v-mdav", "mdav-star")


@pytest.mark.timeout(420)
def test_a_messy_file_of_50_000_rows_becomes_a_release_with_a_report_to_sign(page, server, tmp_path):
    page.set_viewport_size({"width": 1440, "height": 900})
    methods = "&".join(f"methods={name}" for name in METHODS)
    page.goto(f"{server.url}/data?data=upload&ks=5,10&{methods}&{ROLES}")
    page.get_by_text("upload the file again").wait_for()
    messy = {"name": "messy.csv", "mimeType": "text/csv", "buffer": messy_csv(n=N)}
    page.set_input_files("input[type=file]", messy)
    page.get_by_text("1 of 9 columns is a guess").wait_for()
    page.get_by_role("button", name="Agree to all guesses").click()
    page.get_by_text("Every column is decided").wait_for()
    page.wait_for_timeout(700)
    wait_until_idle(page)

    onward = page.get_by_test_id("stMain").get_by_role("button", name="Choose k →")
    until_address(page, "/choose_k", lambda: onward.click() if onward.count() else None)
    page.get_by_text("Chosen now").wait_for()
    page.get_by_role("radio", name="Risk and loss").click()
    wait_for_address(page, "measure=risk")
    page.get_by_role("radio", name="Found again").click()
    page.get_by_text("Does a lower loss mean a higher risk?").wait_for()
    page.get_by_text(re.compile("5,000 were looked up")).first.wait_for()
    wait_until_idle(page)
    # In the order of their names; its lines go from the smallest k to the largest.
    until_address(page, "method=v-mdav", lambda: click_point(page, 3, 1))
    wait_for_address(page, "k=10")

    page.get_by_test_id("stMain").get_by_role("link", name="Release →").click()
    page.get_by_text(re.compile(r"[\d,]+ records protected")).wait_for()
    page.get_by_text("What is it still good for?").wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Report (HTML)").click()
    report = Path(tmp_path) / waiting.value.suggested_filename
    waiting.value.save_as(report)
    assert report.name == "messy_report.html"

    # Whoever signs it may have no network.
    offline = page.context.browser.new_context(offline=True)
    problems: list[str] = []
    try:
        paper = offline.new_page()
        paper.on("console", lambda message: problems.append(message.text))
        paper.on("request", lambda request: problems.append(request.url) if report.name not in request.url else None)
        paper.goto(report.as_uri())
        assert paper.get_by_role("heading", name="Why this method and this k").count() == 1
        text = paper.locator("body").inner_text()
    finally:
        offline.close()
    assert not problems
    assert "V-MDAV" in text
    assert re.search(r"\b[0-9a-f]{64}\b", text)
    assert "diagnosis" in text
    # Nobody's name stands in it.
    assert "Ada Abt" not in text
