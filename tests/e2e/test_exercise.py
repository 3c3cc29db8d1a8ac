"""Records put into groups by hand in a real browser: by clicking, by dragging, by the keyboard and by touch."""

from __future__ import annotations

import re

import pytest

from tests.e2e.steps import wait_until_idle

pytestmark = pytest.mark.e2e

PLANE = "records=plane&points=0+0%3B+1+0%3B+0+1%3B+9+9%3B+9+8%3B+8+9"


def opened(page, server, query=""):
    page.goto(f"{server.url}/steps?activity=exercise{query}")
    page.locator(".mg-exercise .mg-record").first.wait_for()
    wait_until_idle(page)
    page.wait_for_timeout(500)


def record(page, place):
    return page.locator(f".mg-exercise .stage .mg-record[data-record='{place}']")


def click(page, *places):
    for place in places:
        record(page, place).locator("path").click()


def said(page, pattern):
    page.locator(".mg-exercise .state").get_by_text(re.compile(pattern)).wait_for()


def groups(page):
    """Return the group that each record says it is in, from 1; 0 for none."""
    labels = page.locator(".mg-exercise .stage .mg-record").evaluate_all(
        "nodes => nodes.map((node) => node.getAttribute('aria-label'))"
    )
    return [int(match[1]) if (match := re.search(r"in group (\d+)$", label)) else 0 for label in labels]


def test_the_toy_records_are_grouped_by_clicks_and_by_keys(page, server):
    opened(page, server)
    said(page, r"^11 records in no group yet\.$")
    assert page.get_by_text("Your loss").count() == 0
    # By clicks, {1, 2, 3}; a second click takes 3 out, and "Undo" puts it back.
    click(page, 0, 1, 2)
    click(page, 2)
    said(page, r"^9 records in no group yet; group 1 has 2 of 3\.$")
    page.get_by_role("button", name="Undo").click()
    page.get_by_role("button", name="+ new group").click()
    click(page, 3, 4)
    assert groups(page) == [1, 1, 1, 2, 2, 0, 0, 0, 0, 0, 0]
    # By keys: from 6, the last one clicked, to 19, 20 and 21, and three more into a new group.
    for key in ("ArrowRight", "2", "ArrowRight", "Enter", "ArrowRight", "2", "ArrowRight", "+", "ArrowRight", "3"):
        page.keyboard.press(key)
    said(page, r"^1 record in no group yet; group 3 has 2 of 3\.$")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("3")
    assert groups(page) == [1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 3]
    # That is what MDAV makes of them. The others' groups are not in the page yet.
    page.get_by_text(re.compile(r"Your loss is 1\.44 %: equal to MDAV.* The optimum is 0\.118 %")).wait_for()
    assert not page.locator(".mg-exercise .best").is_visible()
    # 5 and 6 go to {1, 2, 3}.
    record(page, 3).focus()
    for key in ("1", "ArrowRight", "1"):
        page.keyboard.press(key)
    page.get_by_text(re.compile(r"Your loss is 0\.118 %, the optimum")).wait_for()
    page.get_by_role("button", name="Compare with the algorithms").click()
    page.get_by_text("Optimum: SSE 21.2, information loss 0.118 %").wait_for()
    assert page.locator(".mg-exercise .best .mg-record:is(.mg-on-dark, .mg-on-light)").count() == 11
    table = page.get_by_role("table").last
    table.wait_for()
    assert "258.8" in table.inner_text()
    # Delete takes a record out, U takes that back.
    record(page, 10).focus()
    page.keyboard.press("Delete")
    said(page, r"^1 record in no group yet; group 3 has 2 of 3\.$")
    page.keyboard.press("u")
    said(page, r"^All 11 records are in groups of 3 or more\.$")
    page.get_by_role("button", name="Clear groups").click()
    assert groups(page) == [0] * 11


def test_a_drag_takes_all_records_that_it_passes_over(page, server):
    opened(page, server, f"&{PLANE}")
    box = page.locator(".mg-exercise .stage svg").bounding_box()
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]

    def drag(x, y):
        page.mouse.move(*middle)
        page.mouse.down()
        page.mouse.move(x, y, steps=5)
        page.mouse.up()

    drag(box["x"] + 2, box["y"] + box["height"] - 2)
    assert groups(page) == [1, 1, 1, 0, 0, 0]
    page.get_by_role("button", name="+ new group").click()
    drag(box["x"] + box["width"] - 2, box["y"] + 2)
    assert groups(page) == [1, 1, 1, 2, 2, 2]
    # Each corner has an SSE of 4/3, and all together 8/3 + 6 · 2 · (9 − 2/3)² / 4.
    whole = 8 / 3 + 6 * 2 * (25 / 3) ** 2 / 4
    page.get_by_text(f"Your loss is {100 * (8 / 3) / whole:.2f} %").wait_for()


def test_on_a_phone_records_are_tapped_and_the_groups_outlive_another_page(browser, server):
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.set_default_timeout(90_000)
    opened(page, server, "&line=1%2C+2%2C+3%2C+50%2C+51%2C+52")
    for place in (0, 1, 2):
        record(page, place).locator("path").tap()
    page.get_by_role("button", name="+ new group").tap()
    for place in (3, 4, 5):
        record(page, place).locator("path").tap()
    page.get_by_text(re.compile(r"Your loss is 0\.111 %")).wait_for()
    # The picture is no wider than the window.
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.get_by_text("Watch", exact=True).first.tap()
    page.locator(".mg-exercise").wait_for(state="detached")
    page.get_by_text("Group by hand").first.tap()
    page.locator(".mg-exercise .mg-record").first.wait_for()
    assert groups(page) == [1, 1, 1, 2, 2, 2]
    context.close()
