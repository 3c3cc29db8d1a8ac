"""The map of risk and loss in a real browser: one click on it chooses a method and k for the whole path."""

import pytest

from tests.e2e.steps import (
    click_point,
    figure_of_clusters,
    type_limit,
    until_address,
    wait_for_address,
    wait_for_answer,
    wait_until_idle,
)

NAMES = ["cbfs", "found", "md", "mdav"]  # in the order in which they are drawn


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)], ids=["wide", "narrow"])
def test_a_click_on_the_map_chooses_method_and_k_for_the_pages_that_follow(page, server, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{server.url}/choose_k?data=wine&ks=3-6&methods=mdav&methods=md&methods=cbfs")
    wait_for_answer(page)
    page.get_by_role("radio", name="Risk and loss").click()
    wait_for_address(page, "measure=risk")
    page.get_by_role("radio", name="Record linkage").click()
    wait_for_address(page, "risk=record_linkage")
    type_limit(page, "Largest acceptable risk", "15")
    wait_for_address(page, "risk_limit=15")
    page.get_by_text("With at most 15 % of the records linked to their originals,").wait_for()
    wait_until_idle(page)

    until_address(page, "method=cbfs", lambda: click_point(page, NAMES.index("cbfs"), 3))
    wait_for_address(page, "k=6")
    page.locator(".st-key-chosen").get_by_role("button", name="k = 6").wait_for()
    page.locator(".st-key-chosen").get_by_role("button", name="CBFS").wait_for()
    page.wait_for_function("document.querySelector('.js-plotly-plot')?.data?.some(trace => trace.name === 'chosen')")
    page.get_by_test_id("stMain").get_by_role("link", name="Clusters →").click()
    figure_of_clusters(page)
    page.get_by_text("At k = 6, ").first.wait_for()
    # The address reproduces the map in a session of its own.
    page.goto(f"{server.url}/choose_k?data=wine&ks=3-6&measure=risk&risk=record_linkage&risk_limit=20&method=md&k=6")
    page.get_by_text("With at most 20 % of the records linked to their originals,").wait_for()
    page.get_by_text("MD at k = 6").first.wait_for()
