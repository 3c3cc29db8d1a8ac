"""The dashboard's server as the README starts it: this machine only, and silent."""

import http.client
import os
import re
import socket
import subprocess
import sys
import tomllib
from contextlib import closing

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.conftest import ROOT
from tests.servers import silent_server


@pytest.mark.parametrize("elsewhere", [False, True], ids=["in the repository", "from another folder"])
def test_server_listens_on_this_machine_only_and_speaks_to_nobody(tmp_path, elsewhere):
    with silent_server(tmp_path, cwd=tmp_path if elsewhere else ROOT) as server:
        assert server.listens_on() == {f"127.0.0.1:{server.port}"}


def test_readme_starts_the_server_without_an_address_of_its_own():
    """So the servers of the tests, which are started likewise, stand for that of a user."""
    commands = re.findall(r"^.*-m streamlit run.*$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [command.rpartition(" && ")[2] for command in commands] == [".venv/bin/python -m streamlit run app.py"]


def test_errors_offer_no_links_and_no_details_and_the_first_start_asks_for_nothing():
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    assert config["client"]["showErrorLinks"] is False
    assert config["client"]["showErrorDetails"] == "none"
    assert config["server"]["showEmailPrompt"] is False
    assert config["browser"]["gatherUsageStats"] is False


@pytest.fixture(scope="module")
def team(tmp_path_factory):
    """Return a server that answers to three further names."""
    variables = {"STREAMLIT_BROWSER_SERVER_ADDRESS": "Team.example"}
    variables |= {"STREAMLIT_SERVER_CORS_ALLOWED_ORIGINS": "https://one.example https://b.example"}
    with silent_server(tmp_path_factory.mktemp("server"), **variables) as running:
        yield running


def status(server, path, **headers):
    """Return the status of the answer to a request with no headers but these."""
    with closing(http.client.HTTPConnection("127.0.0.1", server.port)) as connection:
        connection.putrequest("GET", path, skip_host=True, skip_accept_encoding=True)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
        with connection.getresponse() as answer:
            return answer.status


def socket_status(server, host, origin=None):
    """Return the status of the answer to who asks for a WebSocket: 101 if it opens."""
    with socket.create_connection(("127.0.0.1", server.port)) as reached:
        try:
            with connect(f"ws://{host}/_stcore/stream", sock=reached, origin=origin):
                return 101
        except InvalidStatus as refusal:
            return refusal.response.status_code


# A page, its script, a route of Streamlit's, a file to be downloaded.
PATHS = ("/", "/data", "/static/index.js", "/_stcore/health", "/_stcore/host-config", "/media/table.csv")


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST", "127.0.0.1", "[::1]", "team.example", "one.example", "b.example"]
)
@pytest.mark.parametrize("port", ["", ":{}"], ids=["without a port", "with a port"])
def test_this_machine_and_the_listed_names_are_answered(team, host, port):
    host += port.format(team.port)
    assert {status(team, path, Host=host) for path in PATHS} <= {200, 404}
    assert socket_status(team, host) == 101
    assert socket_status(team, host, origin=f"http://{host}") == 101


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "team.example.", "0.0.0.0", "[::1"]
)
def test_other_names_are_refused_whatever_the_origin(team, host):
    for origin in ({}, {"Origin": f"http://{host}"}, {"Origin": "http://localhost"}):
        assert {status(team, path, Host=f"{host}:{team.port}", **origin) for path in PATHS} == {403}
    if host != "[::1":  # the client of the test refuses it, too
        assert socket_status(team, host) == 403
        assert socket_status(team, host, origin=f"http://{host}") == 403
        assert socket_status(team, host, origin="http://localhost") == 403


def test_pages_of_other_origins_get_nothing_and_nobody_is_asked_whose_they_are(team):
    for origin in ("https://evil.example", "null", "http://localhost.evil.example"):
        assert socket_status(team, "localhost", origin=origin) == 403
        assert {status(team, path, Host="localhost", Origin=origin) for path in PATHS} == {403}
    assert team.spoken_to() == []


# A session reads a file and uploads another one; its connection is lost, comes back, and is closed.
SESSION = """
import asyncio, gc, uvicorn, weakref
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.uploaded_file_manager import UploadedFileRec
from websockets.asyncio.client import connect
from app import app

async def until(is_so):
    for _ in range(1200):
        if is_so():
            return
        await asyncio.sleep(0.05)
    raise SystemExit("not within a minute")

async def read(page):
    async for _ in page:
        pass

async def main():
    config.set_option("server.disconnectedSessionTTL", 1)
    server = uvicorn.Server(uvicorn.Config(app, port=0))
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started)
    running = runtime.get_instance()
    uploads = running.uploaded_file_mgr
    address = f"ws://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/_stcore/stream"
    async with connect(address, subprotocols=["streamlit"], max_size=None) as page:
        begins = BackMsg()
        begins.rerun_script.query_string = "data=upload"
        begins.rerun_script.page_name = "data"
        await page.send(begins.SerializeToString())
        session = ""
        while not session:
            session = ForwardMsg.FromString(await page.recv()).new_session.initialize.session_id
        reading = asyncio.create_task(read(page))
        uploads.add_file(session, UploadedFileRec(file_id="1", name="a.csv", type="text/csv", data=bytes(1000)))
        await until(lambda: "uploaded_table" in running.get_app_session(session).session_state)
        table = weakref.ref(running.get_app_session(session).session_state["uploaded_table"])
    gc.disable()  # nothing is freed by chance
    async with connect(address, subprotocols=["streamlit", "none", session], max_size=None) as page:
        reading = asyncio.create_task(read(page))
        await until(lambda: running.is_active_session(session))
        await asyncio.sleep(1.2)  # longer than a lost connection is waited for
        assert table() and uploads.file_storage
    await until(lambda: not table() and not uploads.file_storage)
    server.should_exit = True
    await serving

asyncio.run(main())
"""


def test_what_a_session_holds_is_freed_when_it_ends():
    variables = {"MICROAGG_FILE": str(ROOT / "sample_data" / "survey.csv")}
    command = [sys.executable, "-c", SESSION]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | variables, capture_output=True, text=True, timeout=120)
    assert "Traceback" not in done.stderr
    assert done.returncode == 0, done.stderr
