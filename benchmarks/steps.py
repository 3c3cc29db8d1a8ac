"""How long the player of the page Step by step needs for a step, measured in a browser, without a server.

    python benchmarks/steps.py [--browser /usr/bin/chromium]

Two algorithms on 11, 100 and 300 records, as one HTML file each (microagg.explain.player.animation). Every step is gone
to, and timed from its event until it is drawn up and laid out.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from microagg import datasets, standardize  # noqa: E402
from microagg.explain.player import animation  # noqa: E402

STEPS = """async () => {
  const slider = document.querySelector('input[type=range]'), times = [];
  for (let tick = 0; tick <= Number(slider.max); tick++) {
    const started = performance.now();
    slider.value = tick;
    slider.dispatchEvent(new Event('input'));
    document.querySelector('svg').getBoundingClientRect();
    times.push(performance.now() - started);
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  }
  return times;
}"""


def records() -> dict[str, np.ndarray]:
    """Return the records of each case."""
    X = datasets.load("wine").X
    draw = np.random.default_rng(0)
    return {
        "the toy example, on a line": datasets.load("toy").X,
        "100 of wine, 13 attributes": standardize(X)[:100],
        "300 drawn at random, 13 attributes": draw.normal(size=(300, 13)),
        "300 drawn at random, on a line": draw.integers(0, 1_000, size=(300, 1)).astype(float),
    }


def main() -> None:
    """Measure, and print."""
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--browser", default="/usr/bin/chromium", help="where Chromium is")
    browser_path = parser.parse_args().browser
    print("V-MDAV beside MDAV*, k = 3: milliseconds a step (script and layout)")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox"])
        for title, X in records().items():
            path = Path(folder) / "steps.html"
            path.write_text(animation(["v-mdav", "mdav-star"], X, k=3), encoding="utf-8")
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(path.as_uri())
            page.locator(".mg-steps svg").first.wait_for()
            times = np.array(page.evaluate(STEPS))
            page.close()
            median, most = np.quantile(times, (0.5, 0.95))
            print(f"{title}: {len(times)} steps, median {median:.0f}, 95 % {most:.0f}, longest {times.max():.0f}")
        browser.close()


if __name__ == "__main__":
    main()
