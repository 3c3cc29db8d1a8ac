"""How the dashboard bears load: large data, several sessions at once, and many sessions one after the other.

    python benchmarks/load.py [--browser /usr/bin/chromium] [--large] [--wide] [--sessions] [--openings]

Each part starts a server on this machine and drives it with browsers; without an option all parts run, for some
minutes together. ``--large`` uploads 200,000 records with 10 attributes and times the first curve on "Choose k", the
proven floor and cancelling; then it closes the page and looks at what the server still computes. ``--wide`` uploads CSV
files of many columns, one of each 50 text, the others numbers: 5,000 records with 1,500 columns, and 60 with 10,000. It
times each page on the way to the release, as the browser draws it, and the processor seconds of the server.
``--sessions`` lets two sessions compare methods without end and times the curves of a third, and how fast the server
says that it is well. ``--openings`` opens the dashboard 50 times, each time with another file, closes it, and looks at
the server's memory.
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

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

N, D = 200_000, 10
WIDE = ((5_000, 1_500), (60, 10_000))
FILES, RECORDS = 50, 5_000

# What takes without end: slow methods at hundreds of values of k.
ENDLESS = "data=simu&methods=rimhm&methods=iterated-local-search&methods=mdav&ks=2-300&polish=1"

CURVE = ".js-plotly-plot .scatterlayer .trace .points path"
# The last that is drawn of each page, on the way to a release; of "Choose k" the first points.
TABLE = "[data-testid=stDataFrame] >> nth=1"
LAST_DRAWN = {
    "Choose k": CURVE,
    "Clusters": "h3:has-text('that lose most')",
    "Release": "h3:has-text('Before and after')",
}
FLOOR, COMPLETE = "/Floor still rising: [1-9]/", "The floor is complete"


def write_file(folder: Path, n: int, seed: int) -> Path:
    """Write ``n`` records of normal attributes, drawn with ``seed``, and return where."""
    import numpy as np
    import pandas as pd

    values = np.random.default_rng(seed).normal(size=(n, D))
    path = folder / f"normal_{seed}.parquet"
    pd.DataFrame(values, columns=[f"x{j}" for j in range(1, D + 1)]).to_parquet(path)
    return path


def write_wide(folder: Path, n: int, d: int) -> Path:
    """Write ``n`` records with ``d`` columns, one of each 50 text with four values, and return where."""
    import numpy as np
    import pandas as pd

    random = np.random.default_rng(d)
    columns: dict[str, Any] = {
        f"c{j}": random.choice(["north", "south", "east", "west"], n)
        if j % 50 == 7
        else np.round(random.normal(size=n), 3)
        for j in range(d)
    }
    path = folder / f"wide_{d}.csv"
    pd.DataFrame(columns).to_csv(path, index=False)
    return path


class Session:
    """A browser's page at the dashboard."""

    def __init__(self, browser: Any, url: str) -> None:
        self.url = url
        self.context = browser.new_context(viewport={"width": 1440, "height": 1000})
        self.page = self.context.new_page()
        self.page.set_default_timeout(300_000)

    def open(self, address: str) -> None:
        """Go to ``address``, given from the server's own on."""
        self.page.goto(f"{self.url}/{address}")

    def upload(self, path: Path) -> None:
        """Upload a file on the page Data, and wait until its columns are there."""
        self.open("data?data=upload")
        self.page.locator("input[type=file]").set_input_files(path)
        self.page.get_by_text("One by one").wait_for()

    def seconds_until(self, selector: str, most: float = 300.0) -> float:
        """Return the seconds until something is seen; infinity if it is not within ``most``."""
        from playwright.sync_api import TimeoutError as NotSeenError

        started = time.perf_counter()
        try:
            self.page.locator(selector).first.wait_for(timeout=1000 * most)
        except NotSeenError:
            return float("inf")
        return time.perf_counter() - started

    def close(self) -> None:
        """Close the page."""
        self.context.close()


class Process:
    """What Linux says of the server's process."""

    def __init__(self, number: int) -> None:
        self._folder = Path(f"/proc/{number}")

    def megabytes(self) -> float:
        """Return the memory in use."""
        lines = (self._folder / "status").read_text().splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024

    def busy(self, seconds: float) -> float:
        """Return how many processors it uses, on average, for so many seconds from now on."""
        before = self.computed()
        time.sleep(seconds)
        return (self.computed() - before) / seconds

    def computed(self) -> float:
        """Return the processor seconds that it has used."""
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Health(threading.Thread):
    """Asks the server ten times a second whether it is well, and notes how long each answer takes."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self.url, self.seconds, self.ended = f"{url}/_stcore/health", [0.0], threading.Event()

    def run(self) -> None:
        """Ask until it is ended."""
        while not self.ended.wait(0.1):
            started = time.perf_counter()
            with urllib.request.urlopen(self.url, timeout=60):
                self.seconds.append(time.perf_counter() - started)

    def end(self) -> str:
        """Ask no more, and return what was seen."""
        self.ended.set()
        self.join()
        seen = sorted(self.seconds)
        return f"health check: median {seen[len(seen) // 2]:.3f} s, slowest {seen[-1]:.2f} s of {len(seen):,}"


@contextmanager
def dashboard(path: str) -> Iterator[tuple[Any, str, Process, Path]]:
    """Yield a browser, the address and the process of a new server, and a folder for files."""
    from playwright.sync_api import sync_playwright

    from tests.e2e.conftest import QUIET
    from tests.servers import Server

    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=path, args=QUIET)
        server = Server(Path(folder)).wait()
        try:
            yield browser, server.url, Process(server.process.pid), Path(folder)
        finally:
            browser.close()
            server.stop()
            failed = server.log.read_text().count("Traceback")
            print(f"the server's log has {failed} tracebacks" if failed else "the server ended well")


def large(path: str) -> None:
    """Time what one session does with many records."""
    with dashboard(path) as (browser, url, process, folder):
        session = Session(browser, url)
        session.upload(write_file(folder, N, 0))
        health = Health(url)
        health.start()
        session.page.get_by_role("link", name="Choose k", exact=True).first.click()
        curve = session.seconds_until(CURVE)
        print(f"{N:,} x {D}: first points of a curve after {curve:.1f} s")
        began = curve + session.seconds_until(f"text={FLOOR}", 120)
        whole = began + session.seconds_until(f"text={COMPLETE}", 240)
        print(f"proven floor begins to rise after {began:.1f} s, and is whole after {whole:.1f} s")
        print(health.end())
        session.page.get_by_role("button", name="Cancel").first.click()
        print(f"cancelled after {session.seconds_until('text=Cancelled after'):.1f} s")
        session.page.get_by_role("button", name="Go on").click()
        session.page.get_by_role("button", name="Cancel").wait_for()
        time.sleep(5)
        print(f"busy while it compares: {process.busy(2):.2f} processors")
        session.close()
        time.sleep(3)
        print(f"busy from 3 s after closing: {process.busy(3):.2f} processors; {process.megabytes():,.0f} MB")


def wide(path: str) -> None:
    """Time every page on the way to a release of files with many columns."""
    for n, d in WIDE:
        with dashboard(path) as (browser, url, process, folder):
            file = write_wide(folder, n, d)
            session = Session(browser, url)
            session.open("data?data=upload")
            session.page.locator("input[type=file]").wait_for(state="attached")

            def timed(name: str, selector: str, process: Process = process, session: Session = session) -> None:
                before = process.computed()
                seconds = session.seconds_until(selector, 120)
                print(
                    f"  {name}: {seconds:.1f} s; server: {process.computed() - before:.1f} processor seconds",
                    flush=True,
                )

            print(f"{n:,} x {d:,}, {file.stat().st_size / 1e6:.0f} MB:")
            session.page.locator("input[type=file]").set_input_files(file)
            timed("Data", TABLE)
            session.page.get_by_role("button", name="Agree to all guesses").click()
            timed("agreed", "text=Every column is decided")
            for name, selector in LAST_DRAWN.items():
                session.page.get_by_role("link", name=name, exact=True).first.click()
                timed(name, selector)
            session.close()
            while process.busy(2) > 0.2:  # what is under way ends at its next step
                pass


def sessions(path: str) -> None:
    """Time what a third session gets beside two without end."""
    with dashboard(path) as (browser, url, process, _):
        busy = [Session(browser, url) for _ in range(2)]
        for session in busy:
            session.open(f"choose_k?{ENDLESS}")
            session.page.get_by_role("button", name="Cancel").first.wait_for()
        time.sleep(10)
        print(f"busy beside the third session: {process.busy(2):.2f} processors")
        health, third = Health(url), Session(browser, url)
        health.start()
        for data in ("wine", "simc"):
            third.open(f"choose_k?data={data}")
            first = third.seconds_until(CURVE)
            print(f"third session, {data}: first curve after {first:.1f} s, ", end="")
            print(f"all after {first + third.seconds_until('text=What to choose'):.1f} s")
        print(health.end())
        for session in (*busy, third):
            session.close()
        time.sleep(3)
        print(f"busy from 3 s after closing all: {process.busy(3):.2f} processors")


def openings(path: str) -> None:
    """Look at the server's memory while sessions come and go."""
    with dashboard(path) as (browser, url, process, folder):
        at: dict[int, float] = {}
        for number in range(1, FILES + 1):
            session = Session(browser, url)
            session.upload(write_file(folder, RECORDS, number))
            session.page.get_by_role("link", name="Choose k", exact=True).first.click()
            session.seconds_until(CURVE)
            session.close()
            if number % 10 == 0:
                time.sleep(3)
                at[number] = process.megabytes()
                print(f"after {number} sessions with {RECORDS:,} x {D} records: {at[number]:,.0f} MB", flush=True)
        print(f"from the 10th to the {FILES}th: {100 * (at[FILES] / at[10] - 1):+.1f} %")


PARTS: dict[str, Callable[[str], None]] = {"large": large, "wide": wide, "sessions": sessions, "openings": openings}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--browser", default="/usr/bin/chromium", help="path of Chromium")
    for name, part in PARTS.items():
        parser.add_argument(f"--{name}", action="store_true", help=part.__doc__)
    arguments = parser.parse_args()
    chosen = [name for name in PARTS if getattr(arguments, name)] or list(PARTS)
    for name in chosen:
        load = " ".join(f"{value:.1f}" for value in os.getloadavg())
        print(f"--- {name} (load of the machine before: {load})", flush=True)
        PARTS[name](arguments.browser)


if __name__ == "__main__":
    main()
