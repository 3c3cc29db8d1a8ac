"""The planes of the page Clusters in a real browser: what stands out after a click."""

import re

from tests.e2e.steps import figure_of_clusters, place_of, visit, wait_until_idle

# How many records stand out on each side: their marks are larger.
RECORDS = "`.st-key-plane_${side} .scatterlayer .trace:last-child .point`"
STANDING = f"() => [0, 1].map((side) => document.querySelectorAll({RECORDS}).length)"
PANEL = "document.querySelector(`.st-key-plane_${side} .nsewdrag`)?.getBoundingClientRect()"
PANELS = f"[one, other] = [0, 1].map((side) => {PANEL})"


def opened(page, server, query):
    page.goto(f"{server.url}/clusters?{query}")
    figure_of_clusters(page)
    wait_until_idle(page)
    page.wait_for_timeout(500)


def click(page, side):
    point = page.locator(f".st-key-plane_{side} .scatterlayer .trace:last-child .point").last
    box = place_of(page, point)
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def members_said(page, label):
    form = re.compile(rf"^Group \d+ of {label}: (\d+) records, ")
    said = page.locator("[data-testid=stMarkdownContainer] p", has_text=form)
    said.wait_for()
    return int(form.match(said.text_content())[1])


def wait_for_standing(page, members):
    page.wait_for_function(f"members => ({STANDING})().every((n) => n === members)", arg=members)


def test_a_clicked_record_or_row_has_its_group_stand_out_on_both_sides(page, server):
    opened(page, server, "data=wine&k=4")
    before = page.evaluate(STANDING)
    for side, label in enumerate((r"MDAV\*", "V-MDAV")):
        click(page, side)
        wait_for_standing(page, members_said(page, label))
        page.get_by_role("button", name="All groups").click()
        page.get_by_text("Click a record, or a row of the table below").wait_for()
        page.wait_for_function(f"before => ({STANDING})().join() === before", arg=",".join(map(str, before)))
    wait_until_idle(page)
    table = page.locator("[data-testid=stDataFrame] canvas").first
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box = table.bounding_box()
    page.mouse.click(box["x"] + 18, box["y"] + 55)  # the box before the first row, drawn on a canvas
    wait_for_standing(page, members_said(page, r"MDAV\*"))


def test_on_a_phone_the_panels_stand_one_above_the_other(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, server, "data=wine&k=4")
    # Plotly makes its panels anew for each width, so what is looked at may be gone the next moment.
    page.wait_for_function(f"{PANELS}; one && other && one.x === other.x && one.bottom < other.top")
    page.set_viewport_size({"width": 1024, "height": 768})
    page.wait_for_function(f"{PANELS}; one && other && one.right < other.x && one.top === other.top")


def test_groups_of_categories_are_chosen_likewise(page, server):
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("No file yet").wait_for()
    page.set_input_files("input[type=file]", "sample_data/survey.csv")
    page.get_by_text("300 records").first.wait_for()
    visit(page, "Clusters")
    figure_of_clusters(page)
    wait_until_idle(page)
    page.wait_for_timeout(500)
    click(page, 0)
    wait_for_standing(page, members_said(page, ".+"))
