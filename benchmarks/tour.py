"""How long the guided tour takes as a lecture: every stop and every view of it, walked through in a browser.

    MICROAGG_DATA_DIR=… python benchmarks/tour.py [--browser /usr/bin/chromium] [--words 130] [--think 60]

Measured are the seconds until a stop or a view is there, and how long its steps play at the usual speed: from where it
opens, or from the first step if it opens at the last. Texts are counted in words, and read at ``--words`` a minute;
the class has ``--think`` seconds for each question. What the steps say is not read aloud: one speaks while they play.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from pages.shared.tour_stops import STOPS  # noqa: E402
from tests.e2e.steps import wait_until_idle  # noqa: E402

PLAYER = ".mg-steps"

# Beside the other views of a stop once one of them is shown.
BACK = "The view of this stop"

# A page begins to be drawn anew within so many milliseconds.
LOOKS = 500


def timed(page: Any, act: Any, says: str) -> tuple[float, float]:
    """Do ``act``; return the seconds until the page is there and ``says`` so, and those for which its steps play."""
    started = time.perf_counter()
    act()
    page.get_by_text(says).first.wait_for()
    page.wait_for_timeout(LOOKS)
    wait_until_idle(page)
    shown = time.perf_counter() - started
    play = page.locator(PLAYER).get_by_role("button", name="Play")
    if not (play.count() and play.first.is_enabled()):
        return shown, 0.0
    slider = page.locator(PLAYER).first.get_by_label("Step", exact=True)
    if slider.input_value() == slider.get_attribute("max"):
        page.locator(PLAYER).first.press("Home")
    started = time.perf_counter()
    play.first.click()
    page.locator(f"{PLAYER}[data-playing=true]").first.wait_for()
    page.locator(f"{PLAYER}[data-playing=false]").first.wait_for()
    return shown, time.perf_counter() - started


def main() -> None:
    """Walk through the tour, and print a line for each stop and view."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.conftest import QUIET
    from tests.servers import Server

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", default="/usr/bin/chromium", help="where Chromium is")
    parser.add_argument("--words", type=float, default=130.0, help="read aloud in a minute")
    parser.add_argument("--think", type=float, default=60.0, help="seconds that the class has for each question")
    arguments = parser.parse_args()
    whole = 0.0
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=QUIET)
        server = Server(Path(folder)).wait()
        try:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.set_default_timeout(300_000)
            page.goto(f"{server.url}/steps")
            for number, stop in enumerate(STOPS, start=1):
                way = "Guided tour" if number == 1 else "Next →"
                page.get_by_role("button", name=way).wait_for()
                shown, played = timed(
                    page, page.get_by_role("button", name=way).click, f"{number} of {len(STOPS)} · {stop.title}"
                )
                for label in stop.further:
                    more = timed(page, page.get_by_role("button", name=label, exact=True).click, BACK)
                    shown, played = shown + more[0], played + more[1]
                page.locator(".st-key-tour [data-testid=stExpander] summary").click()
                page.locator(".st-key-tour em").wait_for()
                box = page.locator(".st-key-tour")
                spoken = 60.0 * len(box.inner_text().split()) / arguments.words
                seconds = shown + played + spoken + arguments.think
                whole += seconds
                print(
                    f"{number}. {stop.title}: {len(stop.further)} further views, there after {shown:.0f} s, "
                    f"playing {played:.0f} s, read aloud {spoken:.0f} s, in all {seconds:.0f} s",
                    flush=True,
                )
        finally:
            browser.close()
            server.stop()
    print(f"the lecture: {whole / 60:.1f} minutes")


if __name__ == "__main__":
    main()
