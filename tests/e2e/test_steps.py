"""The page Step by step in a browser: played, stepped through by keys, changed by clicks."""

import re

from tests.e2e.steps import visit, wait_for_address, wait_until_idle


def player(page):
    found = page.locator(".mg-steps")
    found.wait_for()
    return found


def test_playing_the_toy_example_shows_the_quantities_of_the_paper(page, server):
    page.goto(f"{server.url}/steps")
    shown = player(page)
    shown.get_by_text("step 1 of").wait_for()
    shown.get_by_role("combobox").select_option(label="4×")
    shown.get_by_role("button", name=re.compile("^Play")).click()
    for number in ("40.67", "32.19", "2.613"):
        shown.get_by_text(number).first.wait_for(timeout=60_000)
    shown.get_by_text("SSE 258.8").first.wait_for(timeout=60_000)
    shown.get_by_text("SSE 21.2").first.wait_for()
    last = re.search(r"step (\d+) of (\d+)", shown.inner_text())
    assert last[1] == last[2]
    # Where it rests is the address, which opens the same step again.
    wait_for_address(page, f"tick={int(last[2]) - 1}")
    page.goto(page.url)
    player(page).get_by_text(f"step {last[2]} of {last[2]}").wait_for()


def test_keys_work_at_once_and_space_plays_after_next(page, server):
    page.goto(f"{server.url}/steps?watched=mdav&beside=v-mdav&line=1,2,3,4,19,20,21,98,99,100")
    shown = player(page)
    shown.get_by_text("step 1 of").wait_for()
    wait_until_idle(page)
    page.keyboard.press("ArrowRight")
    shown.get_by_text("step 2 of").wait_for()
    shown.get_by_role("button", name="One step on").click()
    shown.get_by_text("step 3 of").wait_for()
    page.keyboard.press(" ")
    shown.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press(" ")
    shown.get_by_role("button", name="Play").wait_for()
    visit(page, "Methods")
    page.locator("h1", has_text="Methods").wait_for()
    wait_until_idle(page)
    page.get_by_role("button", name="Watch MDAV* decide").click()
    page.locator("h1", has_text="Step by step").wait_for()
    player(page)


def test_on_a_projector_both_runs_and_their_decisions_are_in_the_window(page, server):
    page.set_viewport_size({"width": 1024, "height": 768})
    page.goto(f"{server.url}/steps?tick=6")
    shown = player(page)
    decision = shown.get_by_role("heading", name="4 > 0.2 · 1: 5 stays out")
    decision.wait_for()
    wait_until_idle(page)
    one, two = (shown.locator(".mg-now").nth(side).bounding_box() for side in (0, 1))
    assert one["y"] == two["y"]
    assert one["x"] + one["width"] <= two["x"]
    assert one["y"] + one["height"] <= 768
    box = decision.bounding_box()
    # Words and what follows them are near: nothing is reserved for numbers that are folded.
    groups = shown.locator(".mg-groups").first.bounding_box()
    assert groups["y"] - box["y"] - box["height"] < 120
    assert decision.evaluate("each => getComputedStyle(each).fontSize") == "28px"


def test_an_animation_is_taken_away(page, server, tmp_path):
    page.goto(f"{server.url}/steps")
    player(page)
    wait_until_idle(page)
    with page.expect_download() as download:
        page.get_by_role("button", name="Animation (HTML)").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    assert path.name == "v-mdav_and_mdav-star_step_by_step.html"
    other, asked = page.context.browser.new_page(), []
    other.on("request", lambda request: asked.append(request.url))
    other.goto(path.as_uri())
    player(other).get_by_text("step 1 of").wait_for()
    assert asked == [path.as_uri()]
    other.close()
