"""How long a user waits: importing, compiling, and from a cold start to the first chart.

    python benchmarks/startup.py [--browser /usr/bin/chromium]
    python benchmarks/startup.py --tasks mdav mdav-plus v-mdav mdav-star [--checkout ../another-checkout]

Compile times are CPU seconds, which other work on the machine changes little, of a fresh process with an empty kernel
cache, task after task, so what two share counts for the first. With ``--tasks`` nothing else is measured; they are keys
of algorithms, and what else :func:`microagg.compiling.tasks` returns. The browser part starts a server, opens "Choose
k" on SimU (1000 x 10, k = 2..20, four algorithms) and waits until the curves are drawn.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))


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
from microagg.compiling import compile_task, tasks
total = time.process_time()
for task in sys.argv[1:] or dict.fromkeys(["mdav", "mdav-plus", "v-mdav", "mdav-star", *tasks()]):
    started = time.process_time()
    compile_task(task)
    print(f"  {task:34} {time.process_time() - started:6.2f} s")
print(f"  {'all':34} {time.process_time() - total:6.2f} s")
"""


def first_chart(browser_path: str) -> tuple[float, float]:
    """Return the seconds from starting a server, and from opening the page, to the curves on "Choose k"."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.conftest import QUIET, Server

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=browser_path, args=QUIET)
        page = browser.new_page(viewport={"width": 1440, "height": 1000})
        started = time.perf_counter()
        server = Server(Path(folder) / "log.txt").wait()
        opened = time.perf_counter()
        try:
            page.goto(f"{server.url}/choose_k?data=simu")
            page.locator(".legendtext", has_text="MDAV*").wait_for(timeout=60_000)
            page.get_by_text("What to choose").wait_for(timeout=60_000)
            return time.perf_counter() - started, time.perf_counter() - opened
        finally:
            server.stop()
            browser.close()


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
        python(COMPILE)  # the dashboard's own cache
        for run in range(3):
            whole, opened = first_chart(arguments.browser)
            print(f"first chart, run {run + 1}: {whole:.1f} s from starting the server, {opened:.1f} s from opening")


if __name__ == "__main__":
    main()
