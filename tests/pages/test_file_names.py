"""What uploaded files are called, whoever named them: nothing of it reaches the server's disk, a page or a report."""

import os
import re
import sys
from pathlib import PurePosixPath, PureWindowsPath

import pytest
import streamlit as st

from pages.shared.text import file_name
from tests.pages.helpers import roles, upload, words

MARK = "zqx7"

#: Names that harm whoever takes them for what they seem.
NAMES = [
    f"../{MARK}",
    f"/etc/{MARK}",
    f"..\\..\\{MARK}",
    f"C:\\{MARK}:stream",
    f"{MARK}\r\nSet-Cookie: a=b",
    f"<img src=x onerror=alert(1)>{MARK}",
    f'{MARK}"; filename="other.exe',
    f"{MARK}\u202evsc.exe",
    f"{MARK}\0.exe",
    f"--help {MARK}",
    f"~$.{MARK}.",
    f"$(touch {MARK})",
    f"{MARK} \ud800",
    "é" * 300,
    "東京" * 300,
    "CON",
    "com¹.x",
    "nul.tar",
    " ",
    "..",
    "",
]

_watchers, _hooked = [], []


def _note(event, arguments):
    for writes in _watchers:
        if event == "open" and isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR):
            writes.append(str(arguments[0]))
        elif event in {"os.mkdir", "os.rename", "os.link", "os.symlink"}:
            writes.extend(map(str, arguments[:2]))


@pytest.fixture
def writes():
    """Return the list of what is opened for writing, made or moved from now on, by any thread."""
    if not _hooked:
        sys.addaudithook(_note)
        _hooked.append(True)
    _watchers.append([])
    yield _watchers[0]
    _watchers.clear()


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:20])
def test_names_for_downloads_are_such_as_every_system_takes(name):
    stem = file_name(name)
    for written in (stem, f"{stem}.txt", f"{stem}_protected.parquet", f"{stem}_step_by_step.html"):
        assert re.fullmatch(r"\w[\w.-]*", written)
        assert len(written.encode()) <= 255
        assert PurePosixPath(written).name == PureWindowsPath(written).name == written
        assert not re.fullmatch(r"(?i)(con|prn|aux|nul|(com|lpt)[\d¹²³])(\..*)?", written)
    assert file_name(stem) == stem


@pytest.mark.parametrize("name", [NAMES[0], NAMES[4], NAMES[5], "東京" * 300], ids=lambda name: ascii(name)[:20])
def test_a_file_of_any_name_is_released_and_reported_under_a_clean_one_and_none_is_written(name, monkeypatch, writes):
    offered = {}
    draw = st.download_button

    def offer(label, data, *, file_name, **how):
        offered[file_name] = data
        return draw(label, data, file_name=file_name, **how)

    monkeypatch.setattr(st, "download_button", offer)
    cells = "age,income\n" + "".join(f"{20 + i % 7},{1000 + 3 * i}\n" for i in range(30))
    query = {"columns": roles({"age": "number"}, ("age", "income"), "confidential"), "k": "3", "format": ".sav"}
    app = upload(f"{name}.csv", cells.encode(), "release", **query)
    assert not app.error
    [text] = [make() for written, make in offered.items() if written.endswith("report.html")]
    assert {written.rpartition("_")[2] for written in offered} >= {"protected.sav", "recipe.json", "report.html"}
    for written in offered:
        assert re.fullmatch(r"\w[\w.-]*", written)
        assert len(written.encode()) <= 255
    assert writes  # a folder for the file of SPSS
    assert not [path for path in writes if MARK in path or "東京" in path]
    assert MARK in text or "東京" in text
    assert "<img src=x" not in text
    assert not re.search(r"(?<!\\)<img", words(app))
