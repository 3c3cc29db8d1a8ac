"""The dashboard as a wheel brings it: from any folder, on this machine only, with a file and one's own algorithm."""

import shutil
import zipfile

import pytest

from tests.conftest import ROOT
from tests.servers import silent_server


@pytest.fixture(scope="module")
def server(tmp_path_factory, wheel):
    folder, at = tmp_path_factory.mktemp("server"), tmp_path_factory.mktemp("elsewhere")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "installed")
    shutil.copy(ROOT / "sample_data" / "survey.csv", at / "people.csv")
    # Folders of the same name where the command is given are not taken for the package's own.
    (at / "pages" / "shared").mkdir(parents=True)
    (at / "pages" / "shared" / "state.py").write_text("raise SystemExit", encoding="utf-8")
    shutil.copy(ROOT / "docs" / "algorithm_template.py", at / "shells.py")
    words = ["microagg", "--plugin", "shells.py", "dashboard", "people.csv", "--no-browser", "--port", "{port}"]
    with silent_server(folder, cwd=at, words=words, PYTHONPATH=str(folder / "installed")) as running:
        yield running


def test_a_file_is_opened_and_an_algorithm_of_ones_own_chosen(page, server):
    assert server.listens_on() == {f"127.0.0.1:{server.port}"}
    page.goto(server.url)
    page.get_by_text("people.csv: 300 records, 11 columns").wait_for()
    page.goto(f"{server.url}/choose_k?data=wine&method=shells")
    page.get_by_role("button", name="Shells (your own)").wait_for()
    # A link to the file leads to where it is read.
    page.goto(f"{server.url}/choose_k?data=upload&k=4")
    page.get_by_text("people.csv: 300 records, 11 columns").wait_for()
    assert "k=4" in page.url
