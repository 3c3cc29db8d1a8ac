"""Every page with all that opens on it, in both color schemes, as axe judges it; none asks anybody but its server."""

import importlib.resources
import os

import pytest

from pages.shared import shell
from tests.e2e.steps import open_column, wait_until_idle

#: The addresses at which a page has all its parts.
ADDRESSES = {
    "data": ["data=upload"],
    "choose_k": ["data=wine&ks=3-6&methods=mdav", "data=wine&ks=3-4&methods=mdav&measure=risk"],
    "clusters": ["data=wine&demo=1"],
    "release": ["data=wine"],
    "steps": ["", "records=plane"],
    "evidence": ["", "stored=printed", "stored=best"],
}


@pytest.fixture(scope="module")
def axe():
    try:
        return (importlib.resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail("no axe: CI must install the package axe-playwright-python")
        return pytest.skip("no axe on this machine: install the package axe-playwright-python")


def problems(page, where):
    """Return what axe calls serious or critical, and headings out of order, in both color schemes."""
    seen = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        is_drawn = "scheme => getComputedStyle(document.querySelector('.stApp')).colorScheme === scheme"
        page.wait_for_function(is_drawn, arg=scheme)
        wait_until_idle(page)
        page.wait_for_timeout(500)  # colors fade from one scheme to the other
        # What a run is about to replace is faded.
        drawn = "{exclude: [['[data-stale=true]']]}"
        for violation in page.evaluate(f"axe.run({drawn}, {{resultTypes: ['violations']}})")["violations"]:
            if violation["impact"] in ("serious", "critical") or violation["id"] == "heading-order":
                parts = [f"{node['html'][:200]}: {node['failureSummary']}" for node in violation["nodes"][:3]]
                seen.append(f"{where}, {scheme}: {violation['id']} {parts}")
    return seen


def states(page, name):
    """Open what opens on a page, one after the other, and yield what is open."""
    yield "as it opens"
    folded = page.locator("[data-testid=stExpander] details:not([open]) > summary").filter(visible=True)
    while folded.count():
        folded.first.click()
        wait_until_idle(page)
    yield "unfolded"
    buttons = page.get_by_test_id("stMain").get_by_test_id("stPopoverButton")
    for place in range(buttons.count()):
        # Further figures have the same one for saving them.
        if buttons.nth(place).is_visible() and (place < 6 or "Save" not in buttons.nth(place).inner_text()):
            buttons.nth(place).click()
            page.get_by_test_id("stPopoverBody").wait_for()
            yield f"with {buttons.nth(place).inner_text()!r}"
            page.keyboard.press("Escape")
    if name == "start":
        page.get_by_test_id("stTopNav").get_by_text("Learn", exact=True).click()
        page.get_by_test_id("stTopNavPopover").wait_for()
        yield "with the menu"
    if name == "data":
        page.set_input_files("input[type=file]", "sample_data/survey.csv")
        page.get_by_text("300 records").first.wait_for()
        for column in ("education", "rent"):
            open_column(page, column)
            yield f"with the panel of {column}"


@pytest.mark.parametrize("name", shell.PAGES)
@pytest.mark.timeout(600)
def test_axe_finds_nothing_serious_in_a_page_and_in_what_opens_on_it(page, server, axe, name):
    page.add_init_script(axe)
    seen = []
    for query in ADDRESSES.get(name, [""]):
        page.goto(f"{server.url}/{'' if name == 'start' else name}?{query}")
        wait_until_idle(page)
        page.wait_for_timeout(1_000)
        wait_until_idle(page)
        for state in states(page, name):
            seen += problems(page, f"{name}?{query} {state}")
    assert seen == []
