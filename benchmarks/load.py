"""How the dashboard bears load: large data, and several sessions at once.

    python benchmarks/load.py [large] [sessions] [files] [--records 200000] [--files 12]

Each part starts a server on this machine and drives it with browsers; without a name all parts run. ``large`` uploads
``--records`` records with 10 attributes and times the first curve and the answer on "Choose k"; then it closes the page
and looks at what the server still computes. ``sessions`` lets two sessions compare methods without end and times the
curves of a third, and how fast the server says that it is well. ``files`` lets ``--files`` sessions upload a CSV of 40
MB each at once, and go to "Choose k" one after another; it prints the server's memory, also a minute after all are
closed.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.e2e.conftest import QUIET, chromium_path
from tests.e2e.steps import accept, visit, wait_for_answer
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


def write_csv(path: Path) -> bytes:
    """Write 430,000 records of 12 columns, about 40 MB, and return them."""
    draw, n = np.random.default_rng(0), 430_000
    columns: dict[str, Any] = {f"amount_{j}": draw.lognormal(10, 1, n).round(2) for j in range(4)}
    columns |= {f"count_{j}": draw.poisson(10**j, n) for j in range(3)}
    columns |= {"age": draw.integers(18, 90, n), "sex": draw.choice(["female", "male"], n)}
    columns |= {"region": draw.choice([f"region {j}" for j in range(16)], n), "year": draw.integers(1990, 2026, n)}
    columns["occupation"] = draw.choice([f"occupation {j}" for j in range(400)], n)
    pd.DataFrame(columns).to_csv(path, index=False)
    return path.read_bytes()


@contextmanager
def often(look: Callable[[], None]) -> Iterator[None]:
    """Call ``look`` ten times a second meanwhile."""
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(0.1):
            look()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    yield
    ended.set()
    thread.join()


@contextmanager
def memory(server: Server) -> Iterator[None]:
    """Print the most memory that the server takes meanwhile."""
    process, taken = psutil.Process(server.process.pid), [0]
    with often(lambda: taken.append(process.memory_info().rss)):
        yield
    print(f"the server's memory at most: {max(taken) / 2**20:,.0f} MiB", flush=True)


def busy(server: Server, seconds: float) -> str:
    """Return how many processors the server uses from now on, on average, and its memory."""
    process = psutil.Process(server.process.pid)
    share = process.cpu_percent(seconds) / 100
    return f"{share:.2f} processors, {process.memory_info().rss / 2**20:,.0f} MiB"


@contextmanager
def health(server: Server) -> Iterator[None]:
    """Ask the server ten times a second whether it is well, and print how long the answers took."""
    seconds = [0.0]

    def ask() -> None:
        started = time.perf_counter()
        with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=60):
            seconds.append(time.perf_counter() - started)

    with often(ask):
        yield
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


def files(given: argparse.Namespace) -> None:
    """Time what sessions get that each upload a large file at once, and print the server's memory."""
    with dashboard() as (browser, server, folder):
        content = write_csv(folder / "records.csv")
        header, _, rest = content.partition(b"\n")
        pages = [open_page(browser, f"{server.url}/data?data=upload") for _ in range(given.files)]
        print(
            f"{given.files} sessions, each a CSV of {len(content) / 1e6:.0f} MB; before: {busy(server, 1)}", flush=True
        )
        with health(server), memory(server):
            started = time.perf_counter()
            for number, page in enumerate(pages):  # no two have the same file
                path = folder / f"records_{number}.csv"
                path.write_bytes(header.replace(b"age", b"age_%d" % number) + b"\n" + rest)
                page.set_input_files("input[type=file] >> nth=0", path)
            for page in pages:
                page.get_by_test_id("stDataFrame").first.wait_for()
                print(f"columns after {time.perf_counter() - started:.1f} s", flush=True)
            for page in pages:
                accept(page)
                visit(page, "Choose k")
                print(time_curves(page), flush=True)
        print(f"busy with the pages open: {busy(server, 5)}")
        for page in pages:
            page.context.close()
        time.sleep(60)
        print(f"busy a minute after closing all: {busy(server, 3)}")


PARTS = {"large": large, "sessions": sessions, "files": files}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(PARTS)}; all if none is named")
    parser.add_argument("--records", type=int, default=200_000, help="of large")
    parser.add_argument("--files", type=int, default=12, help="sessions of files")
    given = parser.parse_args()
    for name in given.parts or PARTS:
        print(f"--- {name} (load of the machine before: {os.getloadavg()[0]:.1f})", flush=True)
        PARTS[name](given)


if __name__ == "__main__":
    main()
