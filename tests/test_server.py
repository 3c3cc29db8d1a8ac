"""The dashboard's server as the README starts it: this machine only, and silent."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.conftest import ROOT
from tests.servers import Server


@pytest.mark.parametrize("elsewhere", [False, True], ids=["in the repository", "from another folder"])
def test_server_listens_on_this_machine_only_and_speaks_to_nobody(tmp_path, elsewhere):
    server = Server(tmp_path, cwd=tmp_path if elsewhere else ROOT)
    try:
        server.wait()
        assert server.listens_on() == {f"127.0.0.1:{server.port}"}
        assert server.spoken_to() == []
    finally:
        server.stop()


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
