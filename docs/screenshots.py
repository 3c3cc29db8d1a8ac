"""Take pictures of the pages of the dashboard, for README and manual or to look at.

    python docs/screenshots.py                                          # the pictures in docs/images
    python docs/screenshots.py --out LOOK --widths 1440 1024 390 --themes light dark --pages data release

It needs the packages of ``requirements-dev.txt``, Chromium, and the benchmark files in ``MICROAGG_DATA_DIR``. It starts
a dashboard on a free port, waits until each page is idle, and saves the whole page as PAGE-WIDTH-THEME.png.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.e2e.conftest import QUIET, chromium_path  # noqa: E402
from tests.e2e.steps import wait_until_idle  # noqa: E402
from tests.servers import Server  # noqa: E402

#: The address of each picture, after the server's.
ADDRESSES = {
    "start": "start",
    "data": "data?data=wine",
    "choose-k": "choose_k?data=tarragona&k=5",
    "clusters": "clusters?data=census&k=5&method=mdav-star&second=v-mdav",
    "release": "release?data=wine&k=5",
    "steps": "steps",
    "methods": "methods",
    "evidence": "evidence",
    "printed": "evidence?stored=printed",
    "best-known": "evidence?stored=best",
}
#: The pictures of README and manual.
DOCUMENTED = ("choose-k", "clusters", "release")


def take(page: object, url: str, path: Path, *, whole: bool) -> None:
    """Save a picture of the page at ``url``, once it is idle and its charts stand still."""
    page.goto(url)
    wait_until_idle(page)
    page.wait_for_timeout(1_500)
    wait_until_idle(page)
    if whole:
        # Streamlit scrolls a part of the page: the window grows until all of it is there.
        height = page.evaluate("document.querySelector('[data-testid=stMain]')?.scrollHeight || 0")
        page.set_viewport_size({"width": page.viewport_size["width"], "height": min(max(height + 80, 900), 9_000)})
        page.wait_for_timeout(1_000)
    page.screenshot(path=path)


def main() -> None:
    """Take the pictures that the arguments ask for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, help="a folder; by default docs/images, with the window's height only")
    parser.add_argument("--widths", type=int, nargs="+", default=[1440])
    parser.add_argument("--themes", nargs="+", default=["light"], choices=["light", "dark"])
    parser.add_argument("--pages", nargs="+", help=f"of {', '.join(ADDRESSES)}, or addresses such as data?data=wine")
    parser.add_argument("--url", help="of a dashboard that runs already")
    arguments = parser.parse_args()
    api = importlib.import_module("playwright.sync_api")
    out = arguments.out or ROOT / "docs" / "images"
    out.mkdir(parents=True, exist_ok=True)
    names = arguments.pages or (ADDRESSES if arguments.out else DOCUMENTED)
    with tempfile.TemporaryDirectory() as folder, api.sync_playwright() as playwright:
        server = None if arguments.url else Server(Path(folder)).wait()
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
        for width in arguments.widths:
            for theme in arguments.themes:
                size = {"width": width, "height": 900}
                for name in names:
                    context = browser.new_context(viewport=size, color_scheme=theme)
                    page = context.new_page()
                    page.set_default_timeout(180_000)
                    address = ADDRESSES.get(name, name)
                    ending = f"-{width}-{theme}" if arguments.out else ""
                    file = out / f"{''.join(c if c.isalnum() or c == '-' else '_' for c in name)}{ending}.png"
                    take(page, f"{arguments.url or server.url}/{address}", file, whole=bool(arguments.out))
                    print(file, flush=True)
                    context.close()
        browser.close()
        if server:
            server.stop()


if __name__ == "__main__":
    main()
