"""What stands around every page: the bar of pages, the line of what is chosen, the phone's drawer."""

import re
from pathlib import Path

from tests.e2e.steps import visit, wait_for_address, wait_until_idle


def test_the_drawer_of_a_phone_closes_when_a_page_is_tapped(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{server.url}/?data=wine")
    wait_until_idle(page)
    for title, label in (("Methods", "Methods"), ("Data", "1 Data")):
        page.get_by_test_id("stExpandSidebarButton").click()
        drawer = page.get_by_test_id("stSidebar")
        drawer.get_by_role("link", name=label, exact=True).click()
        page.locator("h1", has_text=title).wait_for()
        page.wait_for_function("document.querySelector('[data-testid=stSidebar]').getBoundingClientRect().right <= 0")


def test_what_is_chosen_stands_above_pages_that_show_its_results_and_can_be_changed_there(page, server):
    page.goto(f"{server.url}/clusters?data=wine")
    wait_until_idle(page)
    line = page.locator(".st-key-chosen")
    assert "Wine, 13 quasi-identifiers" in line.inner_text()
    line.get_by_role("button", name="k = 5").click()
    field = page.get_by_role("spinbutton", name="k, the minimum group size")
    field.fill("7")
    field.press("Enter")
    line.get_by_role("button", name="k = 7").wait_for()
    wait_for_address(page, "k=7")
    page.keyboard.press("Escape")
    for title, has_line in (("Methods", False), ("Evidence", False), ("Release", True), ("Clusters", True)):
        visit(page, title)
        page.locator("h1", has_text=title).wait_for()
        wait_until_idle(page)
        # The line of the page before goes once all is drawn.
        line.get_by_role("button", name="k = 7").wait_for(state="attached" if has_line else "detached")
        assert page.get_by_test_id("stSidebar").count() == 0
    line.get_by_role("link", name="Wine").click()
    page.locator("h1", has_text="Data").wait_for()


# The lines below links and menus at the top.
MARKED = """() => [...document.querySelectorAll('[data-testid=stTopNavLink], [data-testid=stTopNavSection]')].filter(
    part => getComputedStyle(part).boxShadow.includes('inset')
).map(part => part.textContent)"""


def test_the_page_one_is_on_is_marked_in_the_menu_under_a_heading_too(page, server):
    for name, marked in (("", "microagg"), ("choose_k", "2 Choose k"), ("evidence", "Evidence"), ("methods", "Learn")):
        page.goto(f"{server.url}/{name}?data=wine")
        wait_until_idle(page)
        assert page.evaluate(MARKED) == [marked]
    page.get_by_test_id("stTopNav").get_by_text("Learn", exact=True).click()
    entry = page.get_by_role("menuitem", name="Methods", exact=True)
    entry.wait_for()
    assert entry.get_attribute("aria-current") == "page"
    visit(page, "Data")
    page.locator("h1", has_text="Data").wait_for()
    wait_until_idle(page)
    # The mark of the menu goes once the page is drawn.
    page.wait_for_function(f"JSON.stringify(({MARKED})()) === '[\"1 Data\"]'")


def test_a_figure_is_saved_as_a_picture_and_as_a_table(page, server):
    page.goto(f"{server.url}/start")
    wait_until_idle(page)
    page.locator(".js-plotly-plot .main-svg").first.wait_for()
    saved = {}
    for label in ("PNG", "SVG", "What it shows (CSV)"):
        page.locator(".st-key-six_persons_export").get_by_role("button", name="Save this figure", exact=True).click()
        page.get_by_role("dialog", name="Save this figure", exact=True).wait_for()
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()
        saved[download.value.suggested_filename] = Path(download.value.path()).read_bytes()
        if label.startswith("What"):
            page.keyboard.press("Escape")
    name = "Age_and_income_become_the_means_of_groups_of_3"
    png, svg, csv = (saved[f"{name}.{ending}"] for ending in ("png", "svg", "csv"))
    assert png.startswith(b"\x89PNG")
    assert b"age (years)" in svg
    # As wide as a column of a paper at 96 pixels an inch, with text of 8 pt.
    assert re.search(rb'<svg[^>]* width="321"', svg)
    assert {float(size) for size in re.findall(rb"font-size: ([\d.]+)px", svg)} == {10.67}
    assert csv.decode("utf-8-sig").splitlines()[0].startswith("shown,age (years)")
