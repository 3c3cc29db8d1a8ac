"""What users come for, done in a real browser."""

import re

import pytest

import microagg
from microagg import metrics
from microagg.optimum.formatting import percent
from pages.shared import shell
from tests.conftest import load_benchmark, standardized
from tests.e2e.steps import (
    click_k,
    click_point,
    figure_of_clusters,
    fill,
    pick,
    place_of,
    until_address,
    visit,
    wait_for_address,
    wait_for_answer,
    wait_for_chart_at,
    wait_until_idle,
)

#: Returns the lines of a figure with what they have at k = 5.
POINTS = """figure => figure.calcdata.map(line => {
  const point = line.find(point => (point.x ?? point.p) === 5);
  return [line[0].trace.name, point?.s ?? point?.y];
})"""

#: Has a page write down each navigation and each dialog that it shows, however briefly.
NOTES = """
window.shown = new Set();
new MutationObserver(() => {
    for (const part of document.querySelectorAll("[data-testid=stSidebarNav], [data-testid=stTopNav], [role=dialog]"))
        shown.add(part.dataset.testid === "stTopNav" ? "the navigation" : part.innerText);
}).observe(document, {childList: true, subtree: true});
"""


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("choose_k", "data=wine&ks=3-4&methods=mdav"),
        ("clusters", "data=wine&k=4&method=mdav&second=mdav-plus"),
        ("methods", "explained=cbfs"),
    ],
)
def test_the_first_visitor_of_a_server_gets_the_page_of_a_link_and_nothing_else(page, own_server, name, query):
    page.add_init_script(NOTES)
    page.goto(f"{own_server.url}/{name}?{query}")
    page.get_by_role("heading", name=shell.PAGES[name], exact=True, level=1).wait_for()
    if name == "clusters":
        figure_of_clusters(page)
        page.get_by_text(re.compile(r"^MDAV: loss [\d.]+\s%, \d+ groups$")).wait_for()
    wait_until_idle(page)
    assert f"/{name}?" in page.url
    assert set(query.split("&")) <= set(page.url.partition("?")[2].split("&"))
    assert page.evaluate("[...shown]") == ["the navigation"]


def test_from_start_to_the_clusters_of_a_clicked_point(page, server):
    load_benchmark("tarragona")
    page.goto(server.url)
    page.get_by_text("Six persons, before and after").wait_for()

    visit(page, "Data")
    page.get_by_role("heading", name="Data", exact=True).wait_for()
    pick(page, "Data set", "Tarragona")
    page.get_by_text("834 records").first.wait_for()

    visit(page, "Choose k")
    page.get_by_role("heading", name="Choose k").wait_for()
    page.get_by_role("button", name="k: 2–20").click()
    fill(page, "Values of k, the minimum group size", "3–10")
    wait_for_address(page, "ks=3")
    page.keyboard.press("Escape")
    page.get_by_text("has the lowest loss of 4 methods at 4 of 8 values of k").first.wait_for()
    wait_for_answer(page)
    wait_until_idle(page)
    # The chart drawn during the runs is gone only when the final one stands.
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot').length === 1")

    # A click anywhere in the plot chooses a k; one on a point, in the order of k, the method, too.
    until_address(page, "&k=8", lambda: click_k(page, 8, 3, 10))
    page.locator(".st-key-chosen").get_by_role("button", name="k = 8").wait_for()
    wait_until_idle(page)
    names = ["MDAV", "MDAV+", "V-MDAV", "MDAV*"]
    shown = [text.removeprefix("■ ") for text in page.locator(".annotation-text").all_text_contents()]
    assert set(names) <= set(shown)
    # k = 5 is the usual one.
    until_address(page, "method=mdav-star", lambda: click_point(page, names.index("MDAV*"), 2))
    page.wait_for_function("!location.href.includes('k=8')")
    page.get_by_text("MDAV* at k = 5 meets the limit").first.wait_for()

    visit(page, "Clusters")
    figure_of_clusters(page)
    wait_until_idle(page)
    page.get_by_text("(loss 22.2 %, lower bound 20.1 %), 147 groups").wait_for()
    assert page.locator(".js-plotly-plot").count() == 2

    # The address reproduces the view in a session of its own.
    link = page.url
    page.goto("about:blank")
    page.goto(link)
    figure_of_clusters(page)
    wait_until_idle(page)
    page.get_by_text("(loss 22.2 %, lower bound 20.1 %), 147 groups").wait_for()


@pytest.mark.timeout(420)
def test_a_click_on_the_curves_of_a_sweep_under_way_chooses_for_the_whole_page(page, server):
    page.goto(f"{server.url}/choose_k?data=simu&methods=rimhm&methods=iterated-local-search&methods=mdav&ks=2-300")
    page.locator(".js-plotly-plot .scatterlayer .trace .points path").first.wait_for()
    until_address(page, "&k=100", lambda: click_k(page, 100, 2, 300))
    page.locator(".st-key-chosen").get_by_role("button", name="k = 100").wait_for()
    wait_for_chart_at(page, 100)
    page.get_by_role("button", name="Cancel").first.click()
    page.get_by_text("Cancelled: ").wait_for()


def test_a_duel_of_two_methods_is_there_at_once_and_its_address_reproduces_it(page, server):
    page.goto(f"{server.url}/landscape")
    page.get_by_text("MDAV* has lower loss than V-MDAV on 5 of 7 data sets").wait_for()
    page.wait_for_function("document.querySelectorAll('.js-plotly-plot .bars').length === 8")
    # The first chart is on the first screen of a notebook, and of a phone.
    for width, height in ((390, 844), (1440, 900)):
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_timeout(500)
        box = page.locator(".js-plotly-plot").first.bounding_box()
        assert box["y"] + box["height"] <= height
    pick(page, "Method", "CBFS")
    wait_for_address(page, "first=cbfs")
    page.get_by_text("V-MDAV has lower loss than CBFS").wait_for()
    page.get_by_role("combobox", name=re.compile("Compared with")).fill("best γ")
    page.get_by_role("option", name="V-MDAV (best γ)", exact=True).click()
    page.get_by_text("V-MDAV (best γ) has lower loss than CBFS").wait_for()
    wait_for_address(page, "rival=v-mdav-best")
    page.reload()
    page.get_by_text("V-MDAV (best γ) has lower loss than CBFS").wait_for()


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (390, 844)], ids=["wide", "narrow"])
def test_a_k_is_chosen_by_one_click_and_all_methods_are_listed_where_the_pointer_rests(page, server, width, height):
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{server.url}/choose_k?data=wine&ks=3-6&methods=mdav&methods=md&methods=cbfs")
    page.set_default_timeout(40_000)
    wait_for_answer(page)
    wait_until_idle(page)
    page.wait_for_timeout(500)
    plots = page.locator(".js-plotly-plot .nsewdrag")
    curves = plots.first.bounding_box()
    # The plot begins on the first screen, and on a wide one all that belongs to it is there.
    assert curves["y"] < height
    title = page.locator(".js-plotly-plot .xtitle").first.bounding_box()
    assert width < 1000 or title["y"] + title["height"] < height

    click_k(page, 4, 3, 6, height=0.03)
    wait_for_address(page, "&k=4")
    page.locator(".st-key-chosen").get_by_role("button", name="k = 4").wait_for()
    assert "method=" not in page.url
    wait_for_chart_at(page, 4)
    for k, height in ((3, 0.5), (6, 0.9)):
        box = place_of(page, plots.first)
        page.mouse.move(box["x"] + box["width"] * (k - 3 + 0.4) / 3.8, box["y"] + box["height"] * 0.03)
        said = page.locator(".hoverlayer .hovertext").text_content()
        assert said.index(f"k = {k}") < min(said.index(name) for name in ("MDAV", "MD", "CBFS"))
        values = [float(text) for text in re.findall(r"([\d.]+) %  (?:MDAV|MD|CBFS)", said)]
        assert len(values) == 3
        assert values == sorted(values)
        click_k(page, k, 3, 6, height=height)
        wait_for_address(page, f"&k={k}")
        wait_for_chart_at(page, k)
    # Until the run has ended, the links of the run before may stand below those of this one.
    wait_until_idle(page)
    page.get_by_test_id("stMain").get_by_role("link", name="Clusters →").first.click()
    page.get_by_text("At k = 6, ").first.wait_for()


@pytest.mark.parametrize("name", ["census", "tarragona", "eia", "simu", "simc"])
def test_a_researcher_sees_two_methods_on_one_page_whose_difference_is_that_of_the_package(page, server, name):
    load_benchmark(name)
    page.goto(f"{server.url}/clusters?data={name}&k=5&method=mdav-star&second=v-mdav&demo=1")
    figure_of_clusters(page)
    wait_until_idle(page)
    X = standardized(name)
    of = {key: microagg.make(key, k=5).fit(X).labels_ for key in ("mdav-star", "v-mdav")}
    one, two = losses = [metrics.information_loss(X, labels) for labels in of.values()]
    titles = ["MDAV*", "V-MDAV"] if one < two else ["V-MDAV", "MDAV*"]
    less = percent(100 * (1 - min(losses) / max(losses)), 2)
    page.get_by_role("heading", name=f"At k = 5, {titles[0]} has {less} lower loss than {titles[1]}.").wait_for()
    charts = {chart: page.locator(f".st-key-{chart} .js-plotly-plot") for chart in ("losses_by_k", "difference_by_k")}
    drawn = {name: dict(chart.evaluate(POINTS)) for name, chart in charts.items()}
    assert [drawn["losses_by_k"][title] for title in ("MDAV*", "V-MDAV")] == pytest.approx(losses)
    assert 100 * (1 - one / two) in [pytest.approx(value) for value in drawn["difference_by_k"].values()]
    assert page.locator("[class*=st-key-plane_] .nsewdrag").count() == 2
    assert page.locator("[data-testid=stAlert], [data-testid=stException]").count() == 0
