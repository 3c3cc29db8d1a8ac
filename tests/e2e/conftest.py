"""A server for all browser tests, which speaks to nobody, and a browser that records every request."""

import importlib
import os
import shutil
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.servers import silent_server

# Chromium itself must not call home, so that what is recorded is the page's doing.
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items):
    """Mark browser tests, and let one that ran out of time run once more: a loaded machine may miss a click.

    The summary names what was run again; what is broken runs out of time again.
    """
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker("e2e")
            item.add_marker(pytest.mark.flaky(reruns=1, only_rerun=["TimeoutError"]))


def chromium_path():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    if os.environ.get("CI"):
        pytest.fail("no Chromium: CI must install Debian's package chromium")
    return pytest.skip("no Chromium on this machine: install it to run the browser tests")


def playwright_api():
    try:
        return importlib.import_module("playwright.sync_api")
    except ImportError:
        if os.environ.get("CI"):
            pytest.fail("no Playwright: CI must install the package playwright")
        return pytest.skip("no Playwright on this machine: install the package playwright to run the browser tests")


# Not for the whole session: in the process of a browser that is open other tests cannot run loops of asyncio.
@pytest.fixture(scope="package")
def server(tmp_path_factory):
    with silent_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def own_server(tmp_path_factory):
    """Return a server that nobody has visited and that no other test uses."""
    with silent_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture(scope="package")
def browser():
    with playwright_api().sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium_path(), args=QUIET)
        yield launched
        launched.close()


@pytest.fixture
def page(browser, request):
    """Return a page whose every request must go to the server of the test."""
    server = request.getfixturevalue("own_server" if "own_server" in request.fixturenames else "server")
    context = browser.new_context(viewport={"width": 1440, "height": 1000}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(90_000)  # the first run compiles kernels
    elsewhere = []

    def record(asked):
        parts = urlsplit(asked.url)
        if parts.scheme not in {"data", "blob"} and parts.netloc != f"127.0.0.1:{server.port}":
            elsewhere.append(asked.url)

    context.on("request", record)
    opened.on("websocket", lambda socket: record(type("Request", (), {"url": socket.url})))
    yield opened
    context.close()
    assert elsewhere == []
