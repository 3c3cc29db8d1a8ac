"""How soon the page Clusters answers, on EIA (4,092 records x 10) unless said otherwise, measured in a browser.

    python benchmarks/clusters.py [--browser /usr/bin/chromium] [--data eia]

Every change is made as a user makes it, and timed from the click until the figure shows it; each is made once before,
so that kernels are compiled and partitions computed. Then the figure is dragged, and frames are counted; so are those
of "Play". Chromium has no graphics card here, so on most machines more frames are drawn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

REPEATS = 5

DRAG = """async ([x, y]) => {
  const target = document.querySelector('.dragcover') || document, times = [];
  for (let i = 0; i < 90; i++) {
    await new Promise(requestAnimationFrame);
    times.push(performance.now());
    const at = { clientX: x + 60 * Math.sin(i / 8), clientY: y + 40 * Math.cos(i / 8), buttons: 1, bubbles: true };
    target.dispatchEvent(new MouseEvent('mousemove', at));
  }
  return 1000 * (times.length - 1) / (times.at(-1) - times[0]);
}"""


def scene(page: Any) -> str:
    """Return the digest of what the figure shows."""
    return page.locator(".mg-clusters").get_attribute("data-scene")


def settled(page: Any) -> None:
    """Wait until no run is under way and the page no longer changes."""
    page.wait_for_function("!document.querySelector('[data-testid=stStatusWidget], [data-testid=stProgress]')")
    page.wait_for_timeout(1500)


def until_drawn(page: Any, change: Callable[[], None]) -> float:
    """Return the seconds from ``change`` until the figure shows something else."""
    before = scene(page)
    started = time.perf_counter()
    change()
    page.wait_for_function(
        "before => document.querySelector('.mg-clusters')?.dataset.scene !== before", arg=before, polling=10
    )
    return time.perf_counter() - started


def picking(page: Any, label: str, option: str) -> Callable[[], None]:
    """Open the picker ``label``, and return what clicks ``option``."""
    page.get_by_role("combobox", name=label).first.click()
    page.keyboard.type(option)
    found = page.get_by_role("option", name=option, exact=True)
    found.wait_for()
    return lambda: found.click(no_wait_after=True)


def changes(page: Any) -> dict[str, list[float]]:
    """Return the seconds of each change, several times."""
    seconds: dict[str, list[float]] = {"another method": [], "another k": [], "another plane": []}
    field = page.get_by_role("spinbutton", name="k, the minimum group size")
    planes = ("The two attributes that lose most", "Principal")
    for place in range(2 * (REPEATS + 1)):
        done = {"another method": until_drawn(page, picking(page, "Beside", ("MDAV", "V-MDAV")[place % 2]))}
        settled(page)
        page.get_by_role("combobox", name="Plane").first.click()
        option = page.get_by_role("option", name=planes[place % 2])
        option.wait_for()
        done["another plane"] = until_drawn(page, lambda option=option: option.click(no_wait_after=True))
        settled(page)
        page.locator(".st-key-chosen").get_by_role("button", name="k =").click()
        field.fill(("6", "5")[place % 2])
        done["another k"] = until_drawn(page, lambda: field.press("Enter"))
        page.keyboard.press("Escape")
        settled(page)
        if place > 1:
            for name, taken in done.items():
                seconds[name].append(taken)
    return seconds


def clicks(page: Any) -> list[float]:
    """Return the seconds from clicks on records until the panel below shows their group."""
    seconds = []
    box = page.locator(".mg-stage .nsewdrag").first.bounding_box()
    for place in range(60):
        page.mouse.click(box["x"] + box["width"] * (0.1 + 0.013 * place), box["y"] + box["height"] * 0.8)
        try:
            page.wait_for_function("document.querySelector('.mg-clusters').dataset.standing !== ''", timeout=300)
        except Exception:
            continue
        page.wait_for_timeout(1200)
        page.get_by_role("button", name="All groups").click()
        page.get_by_text("Click a record, or a row").wait_for()
        page.wait_for_timeout(600)
        started = time.perf_counter()
        page.mouse.click(box["x"] + box["width"] * (0.1 + 0.013 * place), box["y"] + box["height"] * 0.8)
        page.get_by_text("→ released").or_(page.get_by_text("% of the SSE. ")).first.wait_for()
        seconds.append(time.perf_counter() - started)
        page.get_by_role("button", name="All groups").click()
        page.wait_for_timeout(600)
        if len(seconds) == REPEATS:
            break
    return seconds


def frames(page: Any) -> tuple[float, float]:
    """Return the frames a second while the figure is dragged, and while it plays."""
    box = page.locator(".mg-stage .nsewdrag").first.bounding_box()
    middle = [box["x"] + box["width"] / 2, box["y"] + box["height"] / 2]
    page.mouse.move(*middle)
    page.mouse.down()
    dragged = page.evaluate(DRAG, middle)
    page.mouse.up()
    page.get_by_role("button", name="Play the release").click()
    page.wait_for_function("document.querySelector('.mg-clusters').dataset.frames")
    return dragged, float(page.locator(".mg-clusters").get_attribute("data-frames")) / 2


def main() -> None:
    """Measure and print."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.conftest import QUIET
    from tests.servers import Server

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", default="/usr/bin/chromium", help="path of Chromium")
    parser.add_argument("--data", default="eia")
    arguments = parser.parse_args()
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=arguments.browser, args=QUIET)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(120_000)
        server = Server(Path(folder)).wait()
        try:
            page.goto(f"{server.url}/clusters?data={arguments.data}&k=5&method=mdav-star")
            page.locator(".mg-clusters[data-scene]").wait_for()
            settled(page)
            for name, seconds in {**changes(page), "a click": clicks(page)}.items():
                low, *_, high = ordered = sorted(1000 * taken for taken in seconds)
                middle = ordered[len(ordered) // 2]
                print(f"{name}: {low:.0f} to {high:.0f} ms, median {middle:.0f} of {len(ordered)}")
            dragged, played = frames(page)
            print(f"dragging: {dragged:.0f} frames a second; playing: {played:.0f}")
        finally:
            server.stop()
            browser.close()


if __name__ == "__main__":
    main()
