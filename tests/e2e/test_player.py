"""The player as a file of its own: opened from the disk, without a server, it plays and can be stepped through."""

import numpy as np
import pytest

from microagg.explain import player
from tests.explain.test_explain import TOY
from tests.explain.test_player import run_of, toy

WIDE, NARROW = {"width": 1440, "height": 900}, {"width": 390, "height": 844}


@pytest.fixture
def opened(browser, tmp_path):
    """Return what opens a scene in a browser of some size; no page may complain or ask anybody for anything."""
    contexts, told = [], []

    def open_file(scene, viewport=WIDE, **context):
        file = tmp_path / "player.html"
        file.write_text(player.page(scene, "Step by step"), encoding="utf-8")
        contexts.append(browser.new_context(viewport=viewport, **context))
        page = contexts[-1].new_page()
        page.on("console", lambda message: told.append(message.text))
        page.on("pageerror", lambda error: told.append(str(error)))
        page.on("request", lambda request: request.url.startswith("file:") or told.append(request.url))
        page.goto(file.as_uri())
        page.locator(".mg-steps[data-tick]").wait_for()
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert told == []


def tick(page):
    return int(page.locator(".mg-steps").get_attribute("data-tick"))


def test_keys_and_buttons_reach_every_step(opened):
    scene = toy(3, 4, at=5)
    page = opened(scene)
    last = len(scene["ticks"]) - 1
    assert tick(page) == 5
    player_, press = page.locator(".mg-steps"), page.keyboard.press
    page.keyboard.press("Tab")
    assert player_.evaluate("each => each === document.activeElement")
    assert player_.evaluate("each => getComputedStyle(each).outlineStyle") == "solid"
    for key, expected in {"End": last, "ArrowLeft": last - 1, "Home": 0, "ArrowRight": 1, "d": scene["differ"]}.items():
        press(key)
        assert tick(page) == expected
    page.get_by_role("button", name="Last step").click()
    assert tick(page) == last
    assert page.get_by_role("button", name="One step on").is_disabled()
    button = page.get_by_role("button", name="First difference")
    button.or_(page.get_by_role("button", name="To the first step")).click()
    assert tick(page) == scene["differ"]
    page.get_by_role("button", name="One step back").click()
    assert tick(page) == scene["differ"] - 1
    # The line of the pseudo-code that is carried out is marked, on each side.
    assert page.locator(".mg-code [aria-current=step]").count() == 2


def test_the_picture_shows_what_the_step_looks_at(opened):
    X = [[1.0, 1.0], [2.0, 1.0], [1.0, 2.0], [8.0, 8.0], [9.0, 8.0], [8.0, 8.0]]
    names = ["A", "B", "</script><b>", "D", "E", "F"]
    scene = player.scene(np.array(X), 3, [run_of(X, 3, names)], names=names, attributes=["height", "<i>"])
    page = opened(scene)
    records = page.locator(".mg-picture .mg-record")
    places = records.evaluate_all("all => all.map(each => each.getAttribute('transform'))")
    assert len(set(places)) == len(X)  # the duplicates D and F are drawn beside each other
    assert page.locator(".mg-point").get_by_text("centroid of all").is_visible()
    page.locator(".mg-steps").press("ArrowRight")
    assert page.locator(".mg-picture .mg-seed").count() == 1
    assert page.locator(".mg-picture .mg-distance").count() == 1
    page.locator(".mg-steps").press("ArrowRight")
    assert page.locator(".mg-picture .mg-candidate").count() == 2
    assert page.locator(".mg-outlines path").count() == page.locator(".mg-centroids path").count() == 1
    assert page.locator(".mg-picture .mg-record [style*=fill]").count() == 3
    page.locator("[data-record='2']").hover()
    assert page.locator(".mg-tip").inner_text() == "</script><b>: height 1, <i> 2"
    assert page.locator("b:text-is(''), .mg-steps i:text-is('x')").count() == 0


def test_nothing_is_cut_off_on_a_phone(opened):
    names = [f"a name of thirty characters {i:02}" for i in range(11)]
    X = np.array(TOY, dtype=float)
    scene = player.scene(X, 3, [run_of(X, k, names) for k in (3, 4)], names=names, attributes=["value"])
    page = opened(scene, NARROW, color_scheme="dark", reduced_motion="reduce")
    assert page.evaluate("document.documentElement.scrollWidth") <= NARROW["width"]
    assert not page.locator(".mg-code").first.evaluate("each => each.open")
    assert page.get_by_role("button", name="Play").is_visible()
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert back == "rgb(16, 22, 29)"
    sizes = page.locator(".mg-steps :is(p, h2, h3, span, button, svg text)").evaluate_all(
        "all => all.filter(e => e.getClientRects().length).map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 15
