"""Steps that the browser tests have in common."""

import re
from contextlib import contextmanager
from functools import partial

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from pages.shared import shell


def wait_until_idle(page):
    page.wait_for_selector("h1")
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget]')")
    page.wait_for_function(
        "!document.querySelector('[data-testid=stProgress], [data-testid=stSpinner], [data-testid=stSkeleton]')"
    )


def wait_for_address(page, part):
    page.wait_for_function("part => location.href.includes(part)", arg=part)


def until_address(page, part, act):
    """Do ``act`` until the address has ``part``: a chart that is drawn anew at that moment swallows a click."""
    for _ in range(6):
        act()
        for _ in range(40):
            if part in page.url:
                return
            page.wait_for_timeout(200)
    wait_for_address(page, part)


def open_until(page, open_it, then, problem):
    """Open a menu or a panel and do ``then`` in it: it closes when the page is drawn anew at that moment."""
    for _ in range(5):
        open_it()
        try:
            return then()
        except PlaywrightTimeout:
            page.keyboard.press("Escape")
    raise AssertionError(problem)


def visit(page, title):
    """Go to another page by the navigation at the top."""
    bar = page.get_by_test_id("stTopNav")
    page.mouse.move(5, 500)  # what is said of a link that the pointer rests on may cover the bar
    [name] = [name for name, each in shell.PAGES.items() if each == title]
    for section, pages in shell.SECTIONS.items():
        if section and name in pages:
            item = page.get_by_test_id("stTopNavPopover").get_by_role("menuitem", name=title, exact=True)
            menu = bar.get_by_text(section, exact=True)
            problem = f"the menu {section} does not offer {title}"
            return open_until(page, menu.click, partial(item.click, timeout=10_000), problem)
    return bar.get_by_role("link", name=shell.label(name), exact=True).click()


def pick(page, label, option):
    box = page.get_by_role("combobox", name=re.compile(re.escape(label))).first
    offered = page.get_by_role("option", name=option, exact=True)
    open_until(page, box.click, partial(offered.click, timeout=5_000), f"{label} does not offer {option}")


def accept(page, click=lambda button: button.click()):
    """Accept all suggestions of the page Data, also those that need a decision."""
    click(page.get_by_role("button", name=re.compile("sure suggestion")))
    page.get_by_role("button", name=re.compile("sure suggestion")).wait_for(state="detached")
    wait_until_idle(page)
    rest = page.get_by_role("button", name=re.compile("Accept too"))
    if rest.count():
        click(rest)
    page.get_by_text("Every column is decided").wait_for()
    wait_until_idle(page)


def columns_of(page):
    """Return the table of the page Data as it is read out: the cells by their headers, by column."""
    grid = page.get_by_test_id("stDataFrame").first
    grid.locator("[role=gridcell]").first.wait_for(state="attached")
    headers = grid.locator("[role=columnheader]").all_text_contents()
    rows = [row.locator("[role=gridcell]").all_text_contents() for row in grid.locator("[role=row]").all()]
    cells = [dict(zip(headers, row, strict=True)) for row in rows if row]
    return {row["Column"]: row for row in cells}


def open_column(page, name):
    """Click the row of a column, and wait for its panel."""
    heading = page.locator(".st-key-panel").get_by_role("heading", name=name, exact=True)

    def click_row():
        wait_until_idle(page)
        place = list(columns_of(page)).index(name)
        box = place_of(page, page.get_by_test_id("stDataFrame").first)
        page.mouse.click(box["x"] + 110, box["y"] + 38 + 32 * (place + 0.5))

    open_until(page, click_row, partial(heading.wait_for, timeout=6_000), f"the panel of {name} does not open")
    wait_until_idle(page)


def set_role(page, name, title):
    open_column(page, name)
    page.locator(".st-key-panel").get_by_text(title, exact=True).click()


def fill(page, label, text):
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")


def type_limit(page, label, text):
    """Type a limit of Choose k that may not be among those offered."""
    page.get_by_role("combobox", name=re.compile(re.escape(label))).first.fill(text)
    page.keyboard.press("Enter")


def metrics(page):
    page.locator("[data-testid=stMetricValue]").first.wait_for()
    return page.locator("[data-testid=stMetricValue]").all_inner_texts()


def wait_for_verdict(page, records):
    """Wait until the page Release has its verdict on a release of so many records."""
    page.locator(".st-key-verdict [data-testid=stMetricValue]", has_text=records).wait_for()


def figure_of_clusters(page):
    """Wait until the planes of the page Clusters are drawn, and return the first."""
    figure = page.locator(".st-key-plane_0").locator(".scatterlayer .point").first
    figure.wait_for()
    return figure


def place_of(page, part):
    """Scroll to ``part`` of a chart, and return its box once it is laid out."""
    for _ in range(20):
        with suppress_detached():
            part.scroll_into_view_if_needed()
            page.wait_for_timeout(500)  # the page may scroll smoothly, and the chart may still be laid out
            if box := part.bounding_box():
                return box
    raise AssertionError("the chart is drawn anew again and again")


@contextmanager
def suppress_detached():
    """Let pass that a chart has been drawn anew meanwhile, with other points."""
    try:
        yield
    except PlaywrightError as error:
        if "not attached" not in str(error):
            raise


def wait_for_answer(page):
    """Wait until Choose k has computed all runs, and its answer to the limits leads on.

    While a page is drawn anew, the links of before stand below those of now.
    """
    page.locator(".st-key-answer").get_by_role("link", name="Release →").first.wait_for()


def click_point(page, line, place, click=None):
    """Click the point at ``place`` of the line drawn at ``line``; ``click`` clicks at (x, y)."""
    drawn = page.locator(".scatterlayer .trace").filter(has=page.locator(".points path")).nth(line)
    box = place_of(page, drawn.locator(".points path").nth(place))
    (click or page.mouse.click)(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)


def click_k(page, k, first, last, height=0.5):
    """Click a chart of all k from ``first`` to ``last`` at ``k``, at the share ``height`` of it above the axis."""
    box = place_of(page, page.locator(".js-plotly-plot .nsewdrag").first)
    pad = max(0.4, (last - first) * 0.025)
    x = box["x"] + box["width"] * (k - first + pad) / (last - first + 2 * pad)
    page.mouse.move(x, box["y"] + box["height"] * (1 - height))
    page.mouse.click(x, box["y"] + box["height"] * (1 - height))


def wait_for_chart_at(page, k):
    """Wait until the chart of losses has been drawn with ``k`` chosen, and laid out."""
    chosen = "shape => shape.name === 'chosen k' && Number(shape.x0) === k"
    page.wait_for_function(f"k => document.querySelector('.js-plotly-plot')?.layout?.shapes?.some({chosen})", arg=k)
    page.wait_for_timeout(800)
