"""What users come for, done in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from tests.conftest import load_benchmark

pytestmark = pytest.mark.e2e


def wait_until_idle(page):
    page.wait_for_selector("h1")
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_function(
        "!document.querySelector('[data-testid=stProgress], [data-testid=stSpinner], [data-testid=stSkeleton]')"
    )


def wait_for_address(page, part):
    page.wait_for_function("part => location.href.includes(part)", arg=part)


def pick(page, label, option):
    """Choose ``option`` in the select box ``label``."""
    page.get_by_role("combobox", name=re.compile(f"{re.escape(label)}")).first.click()
    page.get_by_role("option", name=option, exact=True).click()


def set_number(page, label, value):
    field = page.get_by_label(label, exact=True)
    field.fill(str(value))
    field.press("Enter")


def metrics(page):
    page.locator("[data-testid=stMetricValue]").first.wait_for()
    return page.locator("[data-testid=stMetricValue]").all_inner_texts()


def test_deep_link_to_a_page_works_on_a_cold_server(page, server):
    """Must come first: nobody has opened the app yet."""
    page.goto(f"{server.url}/clusters?data=wine&k=4&method=mdav&second=mdav-plus")
    page.get_by_role("heading", name="Clusters").wait_for()
    page.get_by_text("MDAV at k = 4, 178 records").wait_for()
    wait_until_idle(page)
    assert "k=4" in page.url
    assert page.get_by_role("link", name="Choose k").count() > 0
    assert len(metrics(page)) == 6


def test_from_start_to_the_clusters_of_a_clicked_point(page, server):
    load_benchmark("tarragona")
    page.goto(server.url)
    page.get_by_text("Eleven records in groups of at least 3").wait_for()

    page.get_by_role("link", name="Data", exact=True).click()
    page.get_by_role("heading", name="Data", exact=True).wait_for()
    pick(page, "Data set", "Tarragona")
    page.get_by_text("834 records, 13 attributes").wait_for()

    page.get_by_role("link", name="Choose k", exact=True).click()
    page.get_by_role("heading", name="Choose k").wait_for()
    set_number(page, "k from", 3)
    wait_for_address(page, "k_from=3")
    set_number(page, "to", 10)
    wait_for_address(page, "k_to=10")
    page.get_by_text("loses least at 4 of 8 values of k").first.wait_for()
    page.get_by_text("What to choose").wait_for()
    wait_until_idle(page)
    # The chart drawn during the runs is gone only when the final one stands.
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 1")

    # The points of one line, in the order of k: the third is k = 5.
    line = page.locator(".scatterlayer .trace").filter(has=page.locator(".points path"))
    names = page.locator(".legend .legendtext").all_text_contents()
    lines = [name for name in names if "MDAV" in name]
    assert lines == ["MDAV", "MDAV+", "V-MDAV", "MDAV*"]
    point = line.nth(lines.index("MDAV*")).locator(".points path").nth(2)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_for_address(page, "k=5")
    page.get_by_text("MDAV*, k = 5").first.wait_for()

    page.get_by_role("link", name="Clusters", exact=True).click()
    page.get_by_text("MDAV* at k = 5, 834 records").wait_for()
    wait_until_idle(page)
    assert metrics(page)[:3] == ["22.25 %", "13.93 %", "147"]
    assert page.locator(".js-plotly-plot").count() == 3

    # The address reproduces the view in a session of its own.
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    page.get_by_text("MDAV* at k = 5, 834 records").wait_for()
    wait_until_idle(page)
    assert metrics(page)[:3] == ["22.25 %", "13.93 %", "147"]


def test_a_long_sweep_can_be_cancelled_and_gone_on_with(page, server):
    page.goto(f"{server.url}/choose_k?data=simu&best=1&methods=v-mdav&k_to=400")
    cancel = page.get_by_role("button", name="Cancel")
    cancel.click()
    page.get_by_text("what is done is shown").wait_for()
    page.get_by_role("button", name="Go on").click()
    page.get_by_role("button", name="Cancel").wait_for()
    page.goto("about:blank")


@pytest.mark.timeout(420)
def test_time_spent_on_search_tells_how_far_from_the_optimum(page, server):
    page.set_default_timeout(240_000)  # the linear program and the search are compiled first
    page.goto(f"{server.url}/choose_k?data=wine&k=3&k_from=3&k_to=4&methods=mdav-star")
    page.get_by_role("heading", name="How far from the optimum?").wait_for()
    page.get_by_role("button", name="Search for 30 s").click()
    # While it runs, both lines are there.
    page.get_by_text("The optimum at k = 3 lies in the band").wait_for()
    page.get_by_role("button", name="Cancel").click()
    page.get_by_text("what was found until then is kept").wait_for()
    wait_until_idle(page)
    page.get_by_text(re.compile(r"at most [\d.]+ % above the optimum")).first.wait_for()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the best partition (CSV)").click()
    groups = pd.read_csv(download.value.path())
    assert len(groups) == 178
    assert groups["group"].value_counts().min() >= 3
    page.get_by_role("button", name="Search for 30 s more").wait_for()


def test_own_file_from_upload_to_its_clusters(page, server):
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("No file yet").wait_for()
    page.set_input_files("input[type=file]", "sample_data/survey.csv")
    page.get_by_text("300 records").first.wait_for()
    page.get_by_role("link", name="Clusters", exact=True).click()
    page.get_by_role("heading", name="Clusters").wait_for()
    wait_until_idle(page)


def test_toy_records_can_be_changed(page, server):
    page.goto(f"{server.url}/toy")
    page.get_by_text("MDAV* loses 12.2 times less here").wait_for()
    field = page.get_by_label("Records, with commas between")
    field.fill("1, 2, 3, 50, 51, 52")
    field.press("Enter")
    page.get_by_text("Both lose the same here").wait_for()
    page.get_by_role("button", name="Back to the eleven records").click()
    page.get_by_text("MDAV* loses 12.2 times less here").wait_for()


def test_published_figures_can_be_looked_up_and_computed(page, server):
    page.goto(f"{server.url}/published")
    page.get_by_text("printed figures are reproduced to the last digit").wait_for()
    pick(page, "Table", "One-dimensional example")
    page.get_by_role("button", name="Compute this table here and now (2 runs)").click()
    page.get_by_text("2 figures computed here").wait_for()
    page.get_by_text("2 of 2 figures of this table are met to the last digit").first.wait_for()


def test_an_algorithm_of_another_family_is_picked_and_the_table_of_runs_downloaded(page, server):
    page.goto(f"{server.url}/choose_k?data=wine&methods=mdav&k_to=4")
    page.get_by_text("What to choose").wait_for()
    page.get_by_role("button", name="By family").click()
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="k-Ward").click()
    wait_for_address(page, "methods=k-ward")
    page.locator(".legendtext", has_text="k-Ward").first.wait_for()
    page.keyboard.press("Escape")
    button = page.get_by_role("button", name="Download this table")
    button.wait_for()
    wait_until_idle(page)
    with page.expect_download() as waiting:
        button.click()
    lines = Path(waiting.value.path()).read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith("method,label,k,information_loss")
    assert sorted(line.split(",")[0] for line in lines[1:]) == ["k-ward"] * 3 + ["mdav"] * 3


def test_a_file_with_categories_from_upload_to_its_protected_csv(page, server):
    page.goto(f"{server.url}/mixed?data=upload")
    page.get_by_text("No file yet").wait_for()
    page.set_input_files("input[type=file]", "sample_data/survey.csv")
    page.get_by_text("300 records, 11 columns").wait_for()

    # Education has an order, which is entered line by line; a slip is said in place.
    page.locator(".st-key-w_attribute").get_by_text("education", exact=True).click()
    page.locator(".st-key-m_kind").get_by_text("Ordinal", exact=True).click()
    page.get_by_text("stand in alphabetical order").wait_for()
    order = page.get_by_role("textbox", name="The order: one category on each line")
    order.fill("primary\nsecondary\nsecondary")
    order.press("Control+Enter")
    page.get_by_text("has the category 'secondary' twice").wait_for()
    order.fill("primary\nsecondary\nvocational\nbachelor\nmaster")
    order.press("Control+Enter")
    page.get_by_text("A range such as [secondary, bachelor] loses 50 %").wait_for()

    page.get_by_role("tab", name="Compare methods").click()
    page.get_by_text("At k = 10, Greedy k-member loses").wait_for()
    wait_until_idle(page)
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 1")
    # Greedy k-member is drawn first; its points stand in the order of k, so the second is k = 5.
    line = page.locator(".scatterlayer .trace").filter(has=page.locator(".points path")).first
    point = line.locator(".points path").nth(1)
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    wait_for_address(page, "mixed_k=5")

    page.get_by_role("button", name="See what Greedy k-member releases at k = 5").click()
    page.get_by_text("group by group").wait_for()
    page.get_by_role("button", name="Protect 300 records").click()
    page.get_by_text("each combination of quasi-identifiers occurs at least 5 times").first.wait_for()
    with page.expect_download() as waiting:
        page.get_by_role("button", name="Protected file (CSV)").click()
    assert waiting.value.suggested_filename == "survey_protected.csv"
    released = pd.read_csv(waiting.value.path())
    assert len(released) == 300
    assert "person_id" not in released
    assert released.groupby(list(released.columns)).size().min() >= 5
    assert set(released["education"]) <= set(order_ranges())
    assert "[" in "".join(released["education"])


def order_ranges():
    levels = ["primary", "secondary", "vocational", "bachelor", "master"]
    for i, low in enumerate(levels):
        yield low
        yield from (f"[{low}, {high}]" for high in levels[i + 1 :])
