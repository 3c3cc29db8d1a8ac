"""The figure of the page Clusters in a real browser: what stands out, fades, slides and is linked."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import load_benchmark
from tests.e2e.steps import figure_of_clusters, visit, wait_until_idle

pytestmark = pytest.mark.e2e

# Where a record is drawn whole in the panel given, in pixels of the window: the highest there is, or the lowest.
FIND = """([panel, lowest]) => {
  const canvas = document.querySelector('.mg-stage canvas'), ratio = canvas.width / canvas.clientWidth;
  const panels = document.querySelectorAll('.mg-stage .nsewdrag');
  const box = canvas.getBoundingClientRect(), frame = panels[panel].getBoundingClientRect();
  const [left, top, width, height] =
    [frame.left - box.left, frame.top - box.top, frame.width, frame.height].map((v) => Math.round(v * ratio));
  const pixels = canvas.getContext('2d').getImageData(left, top, width, height).data;
  const solid = (x, y) => {
    const at = 4 * (y * width + x);
    return pixels[at + 3] === 255 && pixels[at] > 60;
  };
  const rows = [...Array(height - 10).keys()].map((y) => y + 5);
  for (const y of lowest ? rows.reverse() : rows)
    for (let x = 5; x < width - 5; x++)
      if ([[0, 0], [2, 0], [-2, 0], [0, 2], [0, -2]].every(([a, b]) => solid(x + a, y + b)))
        return [frame.left + x / ratio, frame.top + y / ratio];
  return null;
}"""

# How much ink a panel has: the sum of the opacities of its pixels.
INK = """(panel) => {
  const canvas = document.querySelector('.mg-stage canvas'), ratio = canvas.width / canvas.clientWidth;
  const panels = document.querySelectorAll('.mg-stage .nsewdrag');
  const box = canvas.getBoundingClientRect(), frame = panels[panel].getBoundingClientRect();
  const cut = [frame.left - box.left, frame.top - box.top, frame.width, frame.height];
  const pixels = canvas.getContext('2d').getImageData(...cut.map((v) => Math.round(v * ratio))).data;
  return pixels.reduce((sum, part, i) => sum + (i % 4 === 3 ? part : 0), 0);
}"""


# The frames of both panels, in pixels of the window.
PANELS = "[one, other] = [...document.querySelectorAll('.mg-stage .nsewdrag')].map((p) => p.getBoundingClientRect())"


def opened(page, server, query):
    page.goto(f"{server.url}/clusters?{query}")
    figure = figure_of_clusters(page)
    wait_until_idle(page)
    page.wait_for_timeout(500)
    return figure


def ink(page):
    return [page.evaluate(INK, panel) for panel in (0, 1)]


def wait_for(page, name, pattern):
    page.wait_for_function(
        "([name, pattern]) => new RegExp(pattern).test(document.querySelector('.mg-clusters').dataset[name] || '')",
        arg=[name, pattern],
    )


def test_a_clicked_record_has_its_group_stand_out_on_both_sides(page, server):
    figure = opened(page, server, "data=wine&k=4")
    whole = ink(page)
    page.mouse.click(*page.evaluate(FIND, [0, False]))
    wait_for(page, "standing", r"^(\d+),\1$")
    members = int(figure.get_attribute("data-standing").split(",")[0])
    assert members >= 4
    # On its own side all other records fade; on the other its companions there do not.
    usual = [int(part) for part in figure.get_attribute("data-usual").split(",")]
    assert usual[0] == 0
    assert all(now < 0.6 * before for now, before in zip(ink(page), whole, strict=True))
    said = page.get_by_text(re.compile(r"Group \d+ of MDAV\*:")).locator("xpath=..")
    said.wait_for()
    assert f": {members} records, " in said.text_content()
    assert "V-MDAV" in said.text_content()

    # Clicked on the other side, a record is one of a group there.
    page.get_by_role("button", name="All groups").click()
    page.get_by_text("Click a record, or a row of the table below").wait_for()
    assert figure.get_attribute("data-standing") == ""
    page.wait_for_timeout(400)
    assert ink(page) == whole
    page.mouse.click(*page.evaluate(FIND, [1, True]))
    page.get_by_text(re.compile(r"Group \d+ of V-MDAV:")).wait_for()
    # The figure forgets nothing of that when another plane is chosen.
    before = figure.get_attribute("data-scene")
    page.get_by_role("combobox", name="Plane").first.click()
    page.get_by_role("option", name="Two attributes with the largest loss").click()
    page.wait_for_function("old => document.querySelector('.mg-clusters').dataset.scene !== old", arg=before)
    assert figure.get_attribute("data-standing")
    page.mouse.move(5, 5)


def test_a_row_of_the_table_has_its_group_stand_out(page, server):
    figure = opened(page, server, "data=wine&k=4")
    table = page.locator("[data-testid=stDataFrame] canvas").first
    table.scroll_into_view_if_needed()
    page.wait_for_timeout(500)
    box = table.bounding_box()
    page.mouse.click(box["x"] + 18, box["y"] + 55)  # the box before the first row, drawn on a canvas
    wait_for(page, "standing", r"^\d+,\d+$")
    assert int(figure.get_attribute("data-standing").split(",")[0]) >= 4
    page.get_by_text(re.compile(r"Group \d+ of MDAV\*:")).wait_for()


def test_a_group_that_is_pointed_at_is_outlined_on_both_sides(page, server):
    opened(page, server, "data=wine&k=4")
    before = ink(page)
    spot = page.evaluate(FIND, [0, True])
    page.mouse.move(*spot)
    page.locator(".mg-tip").filter(visible=True).wait_for()
    page.wait_for_timeout(200)
    assert all(now > was for now, was in zip(ink(page), before, strict=True))
    page.mouse.move(5, 5)
    page.wait_for_timeout(200)
    assert ink(page) == before


def test_only_differences_fades_what_both_sides_group_alike(page, server):
    load_benchmark("tarragona")
    figure = opened(page, server, "data=tarragona&k=4")
    whole, label = ink(page), page.locator(".mg-differ")
    differing, records = (int(part) for part in re.findall(r"\d+", label.text_content()))
    assert 0 < differing < records == 834
    assert figure.get_attribute("data-usual") == "834,834"
    label.click()
    wait_for(page, "usual", f"^{differing},{differing}$")
    # A record that differs has the lower loss on one side, and stands out there.
    lower = [int(part) for part in re.findall(r"(\d+) records", page.locator(".mg-won").text_content())]
    assert 0.9 * differing < sum(lower) <= differing
    label.click()
    wait_for(page, "usual", "^834,834$")
    assert ink(page) == whole


def test_records_slide_into_their_centroids_and_back_without_a_word_to_the_server(page, server):
    figure = opened(page, server, "data=wine&k=20")
    whole = ink(page)
    frames = []
    page.context.on("request", lambda request: frames.append(request.url))
    page.evaluate("""() => {
      const send = WebSocket.prototype.send;
      window.sent = 0;
      WebSocket.prototype.send = function (...rest) { window.sent += 1; return send.apply(this, rest); };
    }""")
    page.get_by_role("button", name="Play the release").click()
    wait_for(page, "slid", "^1.00$")
    # Where all records of a group lie on one point there is less ink than anywhere on the way.
    assert all(now < 0.5 * before for now, before in zip(ink(page), whole, strict=True))
    page.locator(".mg-play:enabled").wait_for()
    assert figure.get_attribute("data-slid") == "0.00"
    assert ink(page) == whole
    assert frames == []
    assert page.evaluate("window.sent") == 0


def test_the_figure_can_be_saved_with_its_records(page, server):
    opened(page, server, "data=wine&k=4&plane=loss")
    page.locator(".mg-stage").hover()
    with page.expect_download() as waiting:
        page.locator('.modebar-btn[data-title="Save as SVG"]').click()
    assert waiting.value.suggested_filename == "clusters.svg"
    drawn = Path(waiting.value.path()).read_text(encoding="utf-8")
    assert drawn.count('class="point"') == 2 * 178
    assert "MDAV*: " in drawn
    # Fit for a paper: 85 mm wide at 96 pixels an inch, text of 8 pt, nothing behind it.
    assert re.search(r'<svg[^>]* width="321" height="520"', drawn)
    assert {float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawn)} == {10.67}
    assert re.search(r'<rect x="0" y="0" width="321" height="520" style="[^"]*fill-opacity: 0;', drawn)


def test_dragging_one_panel_drags_the_other(page, server):
    opened(page, server, "data=wine&k=4")
    ranges = (
        "['xaxis', 'xaxis2', 'yaxis', 'yaxis2'].map(n => document.querySelector('.mg-plot')._fullLayout[n].range + '')"
    )
    before = page.evaluate(ranges)
    assert before[0] == before[1]
    box = page.locator(".mg-stage .nsewdrag").first.bounding_box()
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(middle[0] + 70, middle[1] + 30, steps=4)
    page.mouse.up()
    page.wait_for_timeout(300)
    after = page.evaluate(ranges)
    assert after[0] == after[1] != before[0]
    assert after[2] == after[3] != before[2]
    # A drag is no click.
    assert page.locator(".mg-clusters").get_attribute("data-standing") == ""


def test_on_a_phone_the_panels_stand_one_above_the_other_on_the_first_screen(page, server):
    page.set_viewport_size({"width": 390, "height": 844})
    opened(page, server, "data=wine&k=4")
    # Plotly makes its panels anew for each width, so what is looked at may be gone the next moment.
    page.wait_for_function(f"{PANELS}; one && other && one.x === other.x && one.bottom < other.top && one.bottom < 844")
    page.set_viewport_size({"width": 1440, "height": 900})
    page.wait_for_function(
        f"{PANELS}; one && other && one.right < other.x && one.top === other.top && one.bottom < 900"
    )


def test_categories_have_no_centroids_to_slide_into(page, server):
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("No file yet").wait_for()
    page.set_input_files("input[type=file]", "sample_data/survey.csv")
    page.get_by_text("300 records").first.wait_for()
    visit(page, "Clusters")
    figure = figure_of_clusters(page)
    assert page.get_by_role("button", name="Play the release").count() == 0
    wait_until_idle(page)
    page.wait_for_timeout(500)
    page.mouse.click(*page.evaluate(FIND, [0, False]))
    wait_for(page, "standing", r"^\d+,\d+$")
    # With its colon: the tip, which goes when the mouse does, says "Group 43 of 51" too.
    page.get_by_text(re.compile(r"Group \d+ of .+:")).first.wait_for()
    assert figure.get_attribute("data-standing") != "0,0"
