"""How long a user waits: importing, compiling, and from a cold start to the first chart.

    python benchmarks/startup.py [--browser /usr/bin/chromium]
    python benchmarks/startup.py --tasks mdav mdav-plus v-mdav mdav-star [--checkout ../another-checkout]

Compile times are CPU seconds, which other work on the machine changes little, of a fresh process with an empty kernel
cache, task after task, so what two share counts for the first. With ``--tasks`` nothing else is measured; they are keys
of algorithms, and what else :func:`pages.shared.compiling.tasks` returns. The browser part starts servers that have
nothing
compiled, opens "Choose k" on Census (1,080 x 13) and on a file of 1,000 x 6 that it uploads, and waits for the first
curve of each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

CURVE = ".js-plotly-plot .scatterlayer .trace .points path"


def python(code: str, *arguments: str, root: Path = ROOT, **environment: str) -> str:
    """Run ``code`` in a fresh interpreter, with the package of a checkout, and return what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={**os.environ, **environment},
    )
    return done.stdout.strip()


IMPORT = "import time; t = time.perf_counter(); import microagg; print(time.perf_counter() - t)"
FIRST_USE = "import time; t = time.perf_counter(); import microagg; microagg.ALGORITHMS; print(time.perf_counter() - t)"
COMPILE = """
import sys
import time
from pages.shared.compiling import compile_task, tasks
total = time.process_time()
for task in sys.argv[1:] or dict.fromkeys(["mdav", "mdav-plus", "v-mdav", "mdav-star", *tasks()]):
    started = time.process_time()
    compile_task(task)
    print(f"  {task:34} {time.process_time() - started:6.2f} s")
print(f"  {'all':34} {time.process_time() - total:6.2f} s")
"""


@contextmanager
def cold(browser_path: str) -> Iterator[tuple[Any, str]]:
    """Yield a browser's page and the address of a server that has just been started and has nothing compiled."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.conftest import QUIET
    from tests.servers import Server

    with (
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as folder,
        tempfile.TemporaryDirectory() as cache,
    ):
        browser = playwright.chromium.launch(executable_path=browser_path, args=QUIET)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(300_000)
        os.environ["NUMBA_CACHE_DIR"] = cache
        server = Server(Path(folder))
        try:
            yield page, server.wait().url
        finally:
            del os.environ["NUMBA_CACHE_DIR"]
            server.stop()
            browser.close()


def first_charts(browser_path: str) -> None:
    """Print the seconds to the first curve on "Choose k", of a benchmark and of a file, nothing being compiled yet."""
    import numpy as np
    import pandas as pd

    with cold(browser_path) as (page, url):
        opened = time.perf_counter()
        page.goto(f"{url}/choose_k?data=census")
        page.locator(CURVE).first.wait_for()
        print(f"first curve of Census: {time.perf_counter() - opened:.1f} s after the page was opened")
    started = time.perf_counter()
    with cold(browser_path) as (page, url), tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "own.csv"
        pd.DataFrame(np.random.default_rng(0).normal(size=(1000, 6)).round(3)).to_csv(file, index=False)
        page.goto(f"{url}/data?data=upload")
        page.set_input_files("input[type=file]", file)
        page.get_by_role("link", name="Choose k →").last.click()
        page.locator(CURVE).first.wait_for()
        print(f"first curve of an uploaded file: {time.perf_counter() - started:.1f} s after the server was started")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", help="path of Chromium; without it the page is not timed")
    parser.add_argument("--tasks", nargs="+", metavar="TASK", help="compile these, and measure nothing else")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="with --tasks: compile those of another checkout")
    arguments = parser.parse_args()
    if arguments.tasks:
        with tempfile.TemporaryDirectory() as cache:
            print(python(COMPILE, *arguments.tasks, root=arguments.checkout.resolve(), NUMBA_CACHE_DIR=cache))
        return
    for name, code in (("import microagg", IMPORT), ("import and list the algorithms", FIRST_USE)):
        seconds = sorted(float(python(code)) for _ in range(5))
        print(f"{name}: median {seconds[2]:.3f} s of 5 ({seconds[0]:.3f} to {seconds[-1]:.3f})")
    with tempfile.TemporaryDirectory() as cache:
        print("compiling, cache empty, in CPU seconds:")
        print(python(COMPILE, NUMBA_CACHE_DIR=cache))
        print("loading what is compiled, in CPU seconds:")
        print(python(COMPILE, NUMBA_CACHE_DIR=cache))
    if arguments.browser:
        for _ in range(3):
            first_charts(arguments.browser)


if __name__ == "__main__":
    main()
