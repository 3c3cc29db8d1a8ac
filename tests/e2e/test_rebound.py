"""A page of another site, whose name is made to lead to this machine, gets nothing of the file on the dashboard."""

import pytest

from tests.conftest import ROOT
from tests.e2e.conftest import QUIET, chromium_path
from tests.servers import silent_server

# Opens a socket as the dashboard's page does; what it sends first is the session's.
OPENS = """address => new Promise(answer => {
    const socket = new WebSocket(address, ["streamlit"])
    socket.onopen = () => answer("open")
    socket.onerror = () => answer("refused")
})"""


@pytest.fixture
def server(tmp_path):
    with silent_server(tmp_path, MICROAGG_FILE=str(ROOT / "sample_data" / "survey.csv")) as running:
        yield running


@pytest.fixture
def rebound(browser):
    """Return a page in a browser for which evil.example is this machine."""
    rules = "--host-resolver-rules=MAP evil.example 127.0.0.1"
    launched = browser.browser_type.launch(executable_path=chromium_path(), args=[*QUIET, rules])
    yield launched.new_page()
    launched.close()


def test_a_rebound_name_gets_nothing_and_this_machine_the_file(rebound, server):
    evil = f"evil.example:{server.port}"
    answer = rebound.goto(f"http://{evil}/data?data=upload")
    assert answer.status == 403
    assert "Refused" in rebound.content()
    for path in ("/", "/_stcore/health", "/_stcore/host-config"):
        assert rebound.evaluate("async path => (await fetch(path)).status", path) == 403
    # Neither by its name nor, as a page of another origin, by that of this machine.
    for host in (evil, f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
        assert rebound.evaluate(OPENS, f"ws://{host}/_stcore/stream") == "refused"
    rebound.goto(f"{server.url}/data?data=upload")
    rebound.get_by_text("survey.csv: 300 records, 11 columns").wait_for()
    assert rebound.evaluate(OPENS, f"ws://127.0.0.1:{server.port}/_stcore/stream") == "open"
