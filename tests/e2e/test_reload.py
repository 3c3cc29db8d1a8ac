"""What lasts of a project: over a reload, in a file, when the browser goes back; and where the focus stays."""

import re

import pytest

from tests.conftest import load_benchmark
from tests.e2e.steps import columns_of, set_role, visit, wait_for_address, wait_until_idle
from tests.pages.helpers import contrast


def role_of(page, name):
    return columns_of(page)[name]["Role"]


def test_back_and_forward_of_the_browser_undo_a_choice_and_do_it_again(page, server):
    page.goto(f"{server.url}/data?data=wine&k=4")
    wait_until_idle(page)
    for title, role in (("Confidential", "confidential"), ("Other", "others")):
        set_role(page, "ash", title)
        wait_for_address(page, f"{role}.numeric")
        wait_until_idle(page)
    visit(page, "Choose k")
    page.get_by_role("heading", name="Choose k").wait_for()
    wait_for_address(page, "columns=others.numeric")
    wait_until_idle(page)
    assert not page.evaluate("navigation.entries().filter(entry => !new URL(entry.url).search)")

    def wait_for_role(role):
        for _ in range(100):
            if role_of(page, "ash") == role:
                return
            page.wait_for_timeout(200)
        assert role_of(page, "ash") == role

    page.go_back()
    page.get_by_role("heading", name="Data").first.wait_for()
    wait_until_idle(page)
    wait_for_role("Other")
    page.go_back()
    wait_for_role("Confidential")
    page.go_back()
    wait_for_role("Quasi-identifier")
    wait_for_address(page, "k=4")
    page.go_forward()
    wait_for_role("Confidential")
    wait_for_address(page, "columns=confidential.numeric")


def test_a_page_without_choices_does_not_stay_in_the_history(page, server):
    page.goto(f"{server.url}/evidence?data=wine")
    wait_until_idle(page)
    before = page.evaluate("navigation.entries().length")
    for address in ("/evidence", "/evidence?data=wine", "/evidence?data=eia"):
        page.evaluate("address => history.pushState({}, '', address)", address)
    entries = page.evaluate("navigation.entries().map(entry => entry.url)")
    assert [entry.partition("?")[2] for entry in entries[before:]] == ["data=wine", "data=eia"]


def test_the_focus_is_on_the_way_on_once_suggestions_are_accepted(page, server):
    page.goto(f"{server.url}/data?data=upload")
    page.get_by_text("Try the sample survey").click()
    agree = page.get_by_role("button", name=re.compile("sure suggestions"))
    agree.wait_for()
    wait_until_idle(page)
    agree.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.textContent.includes('Choose k')")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Choose k").wait_for()


# Of each text of a figure that stands on the page itself, and of no swatch: its color, and what it says.
TEXTS = """() => [...document.querySelectorAll('.js-plotly-plot svg text')].filter(
    text => text.textContent && !text.closest('.barlayer, .heatmaplayer, .hm, .hoverlayer')
).map(text => [getComputedStyle(text).fill, text.textContent])"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_stands_in_figures_is_legible(page, server, scheme):
    load_benchmark("wine")
    page.emulate_media(color_scheme=scheme)
    for address, says in (
        ("choose_k?data=wine&ks=3,5,10&k=5&methods=mdav&method=mdav&limit=10", "meets the limits"),
        ("evidence", "has lower loss"),
        ("release?data=wine&k=5&method=mdav", "records in the class"),
    ):
        page.goto(f"{server.url}/{address}")
        page.locator(".js-plotly-plot svg text").get_by_text(says).first.wait_for()
        wait_until_idle(page)
        ground = page.locator(".stApp").evaluate("app => getComputedStyle(app).backgroundColor")
        texts = page.evaluate(TEXTS)
        assert any(says in text for _, text in texts)
        assert [(fill, text) for fill, text in texts if contrast(fill, ground) < 4.5] == []
