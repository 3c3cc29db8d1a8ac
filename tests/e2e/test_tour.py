"""The guided tour in a real browser: from stop to stop, over the pages that they are on, and out again."""

from __future__ import annotations

import re

import pytest

from pages.shared.tour import STOPS
from tests.conftest import load_benchmark
from tests.e2e.steps import wait_for_address, wait_until_idle

pytestmark = pytest.mark.e2e


def test_the_tour_is_walked_through(page, server):
    load_benchmark("tarragona")
    page.goto(f"{server.url}/steps?data=wine&k=7")
    page.get_by_role("button", name="Guided tour").click()
    for number, stop in enumerate(STOPS, start=1):
        page.get_by_text(f"{number} of {len(STOPS)} · {stop.title}").wait_for()
        wait_for_address(page, f"stop={number}")
        assert f"/{stop.page}?" in page.url
        wait_until_idle(page)
        question = page.locator(".st-key-tour [data-testid=stExpander] summary")
        assert question.count() == 1
        # Folded until it is asked for, at each stop anew.
        source = page.locator(".st-key-tour em")
        assert not source.is_visible()
        question.click()
        source.wait_for()
        if number == 5:
            page.locator(".mg-steps").get_by_text(
                re.compile("A new group {5, 6, 19} costs 40.67 a record")
            ).first.wait_for()
        if number < len(STOPS):
            page.get_by_role("button", name="Next →").click()
    page.get_by_role("button", name="End the tour").click()
    page.get_by_role("button", name="Guided tour").wait_for()
    wait_for_address(page, "k=7")
    assert "stop=" not in page.url


def test_a_stop_is_opened_by_its_address(page, server):
    page.goto(f"{server.url}/steps?stop=4&watched=v-mdav&beside=-")
    page.get_by_text("4 of 8 · Where the rule of V-MDAV fails").wait_for()
    page.get_by_role("button", name="With γ = 5").click()
    wait_for_address(page, "v-mdav.gamma=5")
    page.get_by_role("button", name="The view of this stop").click()
    page.wait_for_function("!location.href.includes('gamma')")
