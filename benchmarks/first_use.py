"""How long the first use takes on a machine where nothing is compiled yet, and in a fresh process once all is.

    python benchmarks/first_use.py [--each] [--browser] [--checkout ../another-checkout]

It prints a table of processor seconds, which other work on the machine changes little: importing, the first call of
:func:`microagg.microaggregate` with its defaults on 1,000 x 3 records and the same again, with the kernels on disk;
compiling some methods, each alone with an empty cache; and compiling all kernels one after the other. With ``--each``
every method is compiled alone. With ``--browser`` it also opens "Choose k" on Census and on a file of 1,000 x 6 that it
uploads, with servers that have nothing compiled, and waits for the first curve of each. ``--checkout`` measures the
package of another folder, for a comparison of two versions.
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

METHODS = ("mdav", "mdav-plus", "v-mdav", "mdav-star", "local-search", "k-member")

IMPORT = "import time; import microagg; print(time.process_time())"
DEFAULT_CALLS = """
import time
import numpy as np
import pandas as pd
import microagg
frame = pd.DataFrame(np.random.default_rng(0).normal(size=(1000, 3)), columns=["a", "b", "c"])
for _ in range(2):
    started, clock = time.process_time(), time.perf_counter()
    release = microagg.microaggregate(frame, k=5)
    print(time.process_time() - started, time.perf_counter() - clock)
"""
COMPILE = """
import sys
import time
import microagg.optimum.certificate
import microagg.studies.experiment
from pages.shared.compiling import compile_task, tasks
for task in sys.argv[1:] or tasks():
    started = time.process_time()
    compile_task(task)
    print(time.process_time() - started)
"""
LIST_METHODS = "import microagg; print(*microagg.ALGORITHMS, sep='\\n')"


def python(code: str, *arguments: str, root: Path, **environment: str) -> list[str]:
    """Run ``code`` in a fresh interpreter, with the package of a checkout, and return the lines that it prints."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "", **environment},  # as after an installation
    )
    return done.stdout.splitlines()


def compiling(*tasks: str, root: Path, cache: str) -> float:
    """Return the processor seconds that compiling ``tasks``, or all, takes."""
    return sum(float(line) for line in python(COMPILE, *tasks, root=root, NUMBA_CACHE_DIR=cache))


def row(work: str, seconds: float, clock: float | None = None) -> None:
    """Print a row of the table."""
    print(f"| {work} | {seconds:.2f} | {'' if clock is None else f'{clock:.2f}'} |", flush=True)


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
    parser.add_argument("--each", action="store_true", help="compile every method alone")
    parser.add_argument("--browser", action="store_true", help="time the page, too, by Chromium")
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the folder whose package is measured")
    arguments = parser.parse_args()
    root = arguments.checkout.resolve()
    print("| work | processor seconds | seconds |\n|---|--:|--:|")
    for method in python(LIST_METHODS, root=root) if arguments.each else METHODS:
        with tempfile.TemporaryDirectory() as cache:
            row(f"compile {method} alone", compiling(method, root=root, cache=cache))
    with tempfile.TemporaryDirectory() as cache:
        row("compile all kernels", compiling(root=root, cache=cache))
        python(DEFAULT_CALLS, root=root, NUMBA_CACHE_DIR=cache)
        row("import microagg", min(float(python(IMPORT, root=root)[0]) for _ in range(3)))
        calls = python(DEFAULT_CALLS, root=root, NUMBA_CACHE_DIR=cache)
        for work, line in zip(("first default call, 1,000 x 3, k = 5", "the same again"), calls, strict=True):
            row(work, *(float(value) for value in line.split()))
    if arguments.browser:
        first_charts()


if __name__ == "__main__":
    main()
