"""Seconds from a click to the settled picture on Choose k, Clusters and Release, as a browser draws them.

    MICROAGG_DATA_DIR=… python benchmarks/clicks.py [--data census tarragona eia] [--clicks 100]

Clicks through the kinds of click of each page in turns, on each data set in a session of its own, and prints the
median and the 95th percentile by kind, and the server's processor time, which other work on the machine hardly changes.
A picture is settled when nothing that the click asked for is under way, and nothing in the page changes for half a
second; the time of the last change counts. What goes on unasked does not count: on Choose k the release that
may raise the risk, on Release what the report compares. What a canvas draws later is not seen.
"""

from __future__ import annotations

import argparse
import itertools
import re
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import psutil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

# The parts of each page that tell of work unasked.
BACKGROUND = {
    "choose_k": ".none",
    "clusters": ".none",
    "release": ".st-key-job_sweep",
}

# Notes the time of each click or key, and of the last change of the page after it. Runs that change nothing set
# attributes, too, but none within a chart.
WATCH = """
window.clicked = window.changed = 0;
for (const kind of ["pointerup", "keydown"])
  addEventListener(kind, () => { window.clicked = window.changed = performance.now(); }, true);
const isAsked = ({type, target}) => {
  const element = target.closest ? target : target.parentElement;
  return type === "attributes" ? element?.closest(".js-plotly-plot") : !element?.closest(window.background);
};
new MutationObserver(changes => { if (changes.some(isAsked)) window.changed = performance.now(); })
  .observe(document, {childList: true, subtree: true, attributes: true, characterData: true});
"""
SETTLED = """() => {
  const waits = [...document.querySelectorAll("[data-testid=stSpinner], [data-testid=stProgress]")];
  const isBusy = document.querySelector("[data-testid=stApp]")?.dataset.testScriptState !== "notRunning";
  return !isBusy && waits.every(part => part.closest(window.background)) && performance.now() - window.changed > 500
    ? [(window.changed - window.clicked) / 1000] : false;
}"""

KS, METHODS = (3, 10, 4, 20, 5, 15), ("MDAV", "V-MDAV", "MDAV*", "CBFS")

Act = Callable[[], None]  # the click that is timed, after what leads to it


def option(page: Any, label: str, title: str) -> Act:
    """Open the select box ``label``, and return the click on its option."""
    field = page.get_by_role("combobox", name=re.compile(label)).first
    field.click()
    field.fill(title)  # a long list holds only those options that are in view
    return page.get_by_role("option", name=re.compile(f"^{re.escape(title)}( |$)")).first.click


def at_the_top(page: Any, part: str) -> None:
    """Open the popover of k or of the method at the top."""
    page.keyboard.press("Escape")
    page.locator(f".st-key-chosen_{part}").get_by_role("button").first.click()


def k_at_the_top(page: Any, k: int) -> Act:
    """Return the key that enters another k."""
    at_the_top(page, "k")
    field = page.get_by_role("spinbutton", name="k, the minimum group size")
    field.fill(str(k))
    return partial(field.press, "Enter")


def method_at_the_top(page: Any, title: str) -> Act:
    """Return the click on another method."""
    at_the_top(page, "method")
    return option(page, "^Method", title)


def k_in_the_chart(page: Any, k: int) -> Act:
    """Return the click on a k in the chart of Choose k."""
    from tests.e2e.steps import click_k

    page.keyboard.press("Escape")
    return partial(click_k, page, k, 2, 20)


def measure(page: Any, title: str) -> Act:
    """Return the click on another measure."""
    page.keyboard.press("Escape")
    return page.get_by_role("radio", name=title, exact=True).click


def folded(page: Any, key: str) -> Act:
    """Return the click on the title of a folded part."""
    page.keyboard.press("Escape")
    return page.locator(f".st-key-{key} summary").first.click


#: The kinds of click of all pages and of each, each with the arguments of its clicks, in turns.
SHARED: dict[Callable[..., Act], list[tuple[Any, ...]]] = {
    k_at_the_top: [(k,) for k in KS],
    method_at_the_top: [(title,) for title in METHODS],
}
PAGES: dict[str, dict[Callable[..., Act], list[tuple[Any, ...]]]] = {
    "choose_k": {
        k_in_the_chart: [(k,) for k in KS],
        measure: [("Gap",), ("Risk and loss",), ("Loss",)],
        option: [
            *(("acceptable risk", "none"), ("acceptable loss", "10 %"), ("acceptable risk", "1 in 10")),
            *(("acceptable loss", "none"), ("acceptable risk", "1 in 5"), ("acceptable loss", "20 %")),
        ],
    },
    "clusters": {
        option: [
            *(("^Compare ", title) for title in ("MD", "CBFS", "V-MDAV")),
            *(("^Plane", title) for title in ("Two attributes with the largest loss", "Principal components")),
        ]
    },
    "release": {
        option: [("^Format", "Stata"), ("^Format", "CSV")],
        folded: [("passed",), ("release_options",), ("passed",), ("release_options",)],
    },
}


Seconds = tuple[float, float]  # from the click to the settled picture, and the server's of the processor


def click_through(page: Any, server: Any, name: str, data: str, clicks: int) -> dict[str, list[Seconds]]:
    """Return the seconds of each click on a page, by kind."""
    process = psutil.Process(server.process.pid)
    page.goto(f"{server.url}/{name}?data={data}")
    page.wait_for_function(SETTLED, timeout=300_000)
    kinds: dict[str, Iterator[Callable[[], Act]]] = {
        f"{name}: {act.__name__.replace('_', ' ')}": itertools.cycle([partial(act, page, *values) for values in turns])
        for act, turns in [*SHARED.items(), *PAGES[name].items()]
    }
    seconds = defaultdict[str, list[Seconds]](list)
    for kind, _ in zip(itertools.cycle(kinds), range(clicks), strict=False):
        click = next(kinds[kind])()
        page.wait_for_timeout(300)
        before = sum(process.cpu_times()[:2])
        click()
        [settled] = page.wait_for_function(SETTLED, timeout=300_000).json_value()
        seconds[kind].append((settled, sum(process.cpu_times()[:2]) - before))
    return seconds


def in_words(seconds: list[Seconds]) -> str:
    """Return the median and the 95th percentile."""
    (median, p95), (processor, p95_of_it) = np.percentile(seconds, [50, 95], axis=0).T
    return (
        f"median {median:.2f} s, p95 {p95:.2f} s of {len(seconds)}; processor {processor:.2f} s, p95 {p95_of_it:.2f} s"
    )


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.conftest import QUIET
    from tests.servers import Server

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--browser", default="/usr/bin/chromium", help="path of Chromium")
    parser.add_argument("--data", nargs="+", default=["census", "tarragona", "eia"])
    parser.add_argument("--pages", nargs="+", default=list(PAGES), choices=PAGES)
    parser.add_argument("--clicks", type=int, default=100, help="on each page, shared by the data sets")
    arguments = parser.parse_args()
    seconds = defaultdict[str, list[Seconds]](list)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=QUIET)
        server = Server(Path(folder)).wait()
        try:
            for name, data in itertools.product(arguments.pages, arguments.data):
                context = browser.new_context(viewport={"width": 1440, "height": 1000})
                context.add_init_script(f"window.background = {BACKGROUND[name]!r};{WATCH}")
                part = click_through(context.new_page(), server, name, data, arguments.clicks // len(arguments.data))
                context.close()
                for kind, each in part.items():
                    print(f"{data}, {kind}: {in_words(each)}", flush=True)
                    seconds[kind] += each
        finally:
            browser.close()
            server.stop()
    for kind, each in seconds.items():
        print(f"{kind}: {in_words(each)}")
    print(f"all: {in_words([each for of_kind in seconds.values() for each in of_kind])}")


if __name__ == "__main__":
    main()
