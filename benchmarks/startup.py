"""How long a user waits: importing, compiling, and from a cold start to the first chart.

    python benchmarks/startup.py [--browser]
    python benchmarks/startup.py --tasks mdav mdav-plus v-mdav mdav-star [--checkout ../another-checkout]

Compile times are CPU seconds, which other work on the machine changes little, of a fresh process with an empty kernel
cache, task after task, so what two share counts for the first. With ``--tasks`` nothing else is measured; they are keys
of algorithms, and what else :func:`pages.shared.compiling.tasks` returns. The browser part starts servers that have
nothing compiled, opens "Choose k" on Census (1,080 x 13) and on a file of 1,000 x 6 that it uploads, and waits for the
first curve of each.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

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
from pages.shared.compiling import compile_task, tasks
total = time.process_time()
for task in sys.argv[1:] or dict.fromkeys(["mdav", "mdav-plus", "v-mdav", "mdav-star", *tasks()]):
    started = time.process_time()
    compile_task(task)
    print(f"  {task:34} {time.process_time() - started:6.2f} s")
print(f"  {'all':34} {time.process_time() - total:6.2f} s")
"""


def first_charts() -> None:
    """Print the seconds to the first curve on "Choose k", of a benchmark and of a file, nothing being compiled yet."""
    from benchmarks.load import CURVE, dashboard, open_page, upload
    from tests.e2e.steps import visit

    with tempfile.TemporaryDirectory() as cache, dashboard(NUMBA_CACHE_DIR=cache) as (browser, server, _):
        opened = time.perf_counter()
        open_page(browser, f"{server.url}/choose_k?data=census").locator(CURVE).first.wait_for()
        print(f"first curve of Census: {time.perf_counter() - opened:.1f} s after the page was opened")
    with tempfile.TemporaryDirectory() as cache, dashboard(NUMBA_CACHE_DIR=cache) as (browser, server, folder):
        started, file = time.perf_counter(), folder / "numbers.csv"
        pd.DataFrame(np.random.default_rng(0).normal(size=(1000, 6)).round(3)).to_csv(file, index=False)
        page = upload(browser, server, file)
        visit(page, "Choose k")
        page.locator(CURVE).first.wait_for()
        print(f"first curve of an uploaded file: {time.perf_counter() - started:.1f} s after the server was started")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", action="store_true", help="time the page, too, by Chromium")
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
        for what in ("compiling, cache empty", "loading what is compiled"):
            print(f"{what}, in CPU seconds:")
            print(python(COMPILE, NUMBA_CACHE_DIR=cache))
    if arguments.browser:
        first_charts()


if __name__ == "__main__":
    main()
