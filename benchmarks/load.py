"""How the dashboard bears load: large data, many columns, several sessions at once, and many after each other.

    python benchmarks/load.py [large] [wide] [sessions] [openings] [--records 200000] [--number 50]

Each part starts a server on this machine and drives it with browsers; without a name all parts run, for some minutes
together. ``large`` uploads ``--records`` records with 10 attributes and times the first curve and the answer on
"Choose k"; then it closes the page and looks at what the server still computes. ``wide`` uploads a CSV file of 1,000
columns, one of each 50 text, the others numbers, times each page on the way to the release, and counts the processor
seconds of the server. ``sessions`` lets two sessions compare methods without end and times the curves of a third, and
how fast the server says that it is well. ``openings`` opens the dashboard ``--number`` times, each time with another
file, closes it, and looks at the server's memory.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.e2e.conftest import QUIET, chromium_path
from tests.e2e.steps import accept, visit, wait_for_answer, wait_until_idle
from tests.servers import Server

CURVE = ".js-plotly-plot .scatterlayer .trace .points path"
# What takes without end: slow methods at hundreds of values of k.
ENDLESS = "data=simu&methods=rimhm&methods=iterated-local-search&methods=mdav&ks=2-300&polish=1"


@contextmanager
def dashboard(**variables: str) -> Iterator[tuple[Any, Server, Path]]:
    """Yield a browser, a new server with these variables in its environment, and a folder for files."""
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
        server = Server(Path(folder), **variables).wait()
        try:
            yield browser, server, Path(folder)
        finally:
            browser.close()
            server.stop()
            print(f"the server's log has {server.log.read_text().count('Traceback')} tracebacks")


def open_page(browser: Any, address: str) -> Any:
    """Return a new session's page at an address."""
    page = browser.new_context(viewport={"width": 1440, "height": 1000}).new_page()
    page.set_default_timeout(300_000)
    page.goto(address)
    return page


def upload(browser: Any, server: Server, path: Path) -> Any:
    """Return a new session's page Data with an uploaded file."""
    page = open_page(browser, f"{server.url}/data?data=upload")
    page.set_input_files("input[type=file] >> nth=0", path)
    page.get_by_test_id("stDataFrame").first.wait_for()
    return page


def write_numbers(folder: Path, n: int, seed: int) -> Path:
    """Write ``n`` records of 10 normal attributes, and return where."""
    path = folder / f"normal_{seed}.parquet"
    values = np.random.default_rng(seed).normal(size=(n, 10))
    pd.DataFrame(values, columns=[f"x{j}" for j in range(1, 11)]).to_parquet(path)
    return path


def busy(server: Server, seconds: float) -> str:
    """Return how many processors the server uses from now on, on average, and its memory."""
    process = psutil.Process(server.process.pid)
    share = process.cpu_percent(seconds) / 100
    return f"{share:.2f} processors, {process.memory_info().rss / 2**20:,.0f} MiB"


@contextmanager
def health(server: Server) -> Iterator[None]:
    """Ask the server ten times a second whether it is well, and print how long the answers took."""
    seconds, ended = [0.0], threading.Event()

    def ask() -> None:
        while not ended.wait(0.1):
            started = time.perf_counter()
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=60):
                seconds.append(time.perf_counter() - started)

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join()
    print(f"health check: median {np.median(seconds):.3f} s, slowest {max(seconds):.2f} s of {len(seconds):,}")


def time_curves(page: Any) -> str:
    """Return the seconds until the page Choose k has its first curve, and until it has its answer."""
    started = time.perf_counter()
    page.locator(CURVE).first.wait_for()
    first = time.perf_counter() - started
    wait_for_answer(page)
    return f"first curve after {first:.1f} s, answer after {time.perf_counter() - started:.1f} s"


def large(given: argparse.Namespace) -> None:
    """Time what one session does with many records."""
    with dashboard() as (browser, server, folder):
        page = upload(browser, server, write_numbers(folder, given.records, 0))
        accept(page)
        with health(server):
            visit(page, "Choose k")
            print(f"{given.records:,} x 10: {time_curves(page)}")
        print(f"busy with the page open: {busy(server, 2)}")
        page.context.close()
        time.sleep(3)
        print(f"busy from 3 s after closing: {busy(server, 3)}")


def wide(_given: argparse.Namespace) -> None:
    """Time every page on the way to a release of a file with many columns."""
    random = np.random.default_rng(0)
    texts = {f"t{j}": random.choice(["north", "south", "east", "west"], 5_000) for j in range(20)}
    frame = pd.DataFrame(random.normal(size=(5_000, 980)).round(3)).add_prefix("c").assign(**texts)
    with dashboard() as (browser, server, folder):
        frame.to_csv(folder / "wide.csv", index=False)
        process = psutil.Process(server.process.pid)
        started, before = time.perf_counter(), process.cpu_times()

        def timed(name: str) -> None:
            nonlocal started, before
            wait_until_idle(page)
            seconds, after = time.perf_counter() - started, process.cpu_times()
            used = after.user + after.system - before.user - before.system
            print(f"{name}: {seconds:.1f} s; server: {used:.1f} processor seconds", flush=True)
            started, before = time.perf_counter(), process.cpu_times()

        page = upload(browser, server, folder / "wide.csv")
        timed("Data")
        accept(page)
        timed("accepted")
        for name in ("Choose k", "Clusters", "Release"):
            visit(page, name)
            page.get_by_role("heading", name=name, exact=True).first.wait_for()
            timed(name)


def sessions(_given: argparse.Namespace) -> None:
    """Time what a third session gets beside two without end."""
    with dashboard() as (browser, server, _):
        others = [open_page(browser, f"{server.url}/choose_k?{ENDLESS}") for _ in range(2)]
        for page in others:
            page.get_by_role("button", name="Cancel").first.wait_for()
        with health(server):
            for data in ("wine", "simc"):
                third = open_page(browser, f"{server.url}/choose_k?data={data}")
                print(f"third session, {data}: {time_curves(third)}", flush=True)
        for page in (*others, third):
            page.context.close()
        time.sleep(3)
        print(f"busy from 3 s after closing all: {busy(server, 3)}")


def openings(given: argparse.Namespace) -> None:
    """Look at the server's memory while sessions come and go."""
    with dashboard() as (browser, server, folder):
        for number in range(1, given.number + 1):
            page = upload(browser, server, write_numbers(folder, 5_000, number))
            visit(page, "Choose k")
            page.locator(CURVE).first.wait_for()
            page.context.close()
            if number % 10 == 0 or number == given.number:
                time.sleep(3)
                print(f"after {number} sessions with 5,000 x 10 records: {busy(server, 1)}", flush=True)


PARTS = {"large": large, "wide": wide, "sessions": sessions, "openings": openings}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--records", type=int, default=200_000, help="of large")
    parser.add_argument("--number", type=int, default=50, help="of openings")
    given = parser.parse_args()
    for name in given.parts or PARTS:
        print(f"--- {name} (load of the machine before: {os.getloadavg()[0]:.1f})", flush=True)
        PARTS[name](given)


if __name__ == "__main__":
    main()
