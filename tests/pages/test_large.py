"""A large file on this machine: offered from one folder, decided on by a sample of it."""

from __future__ import annotations

import importlib.util
import sys
import time
import types

import numpy as np
import pandas as pd
import pytest

from pages.shared import columns, tables
from tests.pages.helpers import APP, button, choose, labels, look_at, open_page, plain, press, settle, visit


@pytest.fixture
def folder(tmp_path, monkeypatch):
    random = np.random.default_rng(0)
    n = 900
    table = pd.DataFrame(
        {
            "age": random.integers(16, 90, n),
            "income": random.normal(30_000, 5_000, n).round(2),
            "diagnosis": random.choice(["asthma", "flu", "migraine"], n),
        }
    )
    table.to_parquet(tmp_path / "register.parquet", row_group_size=100)
    (tmp_path / "parts").mkdir()
    table.iloc[:300].to_parquet(tmp_path / "parts" / "0.parquet")
    (tmp_path / "notes.txt").write_text("no table")
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv(tables.FOLDER, str(tmp_path))
    monkeypatch.setattr(tables, "SAMPLE", 200)
    return tmp_path


def open_register(page, **query):
    given = {"k": "5", "ks": "3-4", "methods": "mdav", "method": "mdav"} | query
    return open_page(page, data="large", file="register.parquet", **given)


def test_without_a_folder_the_page_says_how_to_name_one(monkeypatch):
    monkeypatch.delenv(tables.FOLDER, raising=False)
    app = open_page("data", data="large")
    assert tables.FOLDER in plain(app)
    assert not app.error
    assert "the page Data says how" in plain(visit(app, "choose_k"))


def test_parquet_files_and_folders_of_them_are_offered_and_nothing_else_is_read(folder):
    app = open_page("data", data="large")
    assert app.selectbox(key="w_file").options == ["parts", "register.parquet"]
    choose(app, w_file="register.parquet")
    assert "900 records, of which 200 were drawn at random" in plain(app)
    assert app.query_params["file"] == "register.parquet"
    pd.DataFrame({"a": [1, 2, 3]}).to_parquet(folder.parent / "secret.parquet")
    for name in ("../secret.parquet", "notes.txt", "empty", "missing.parquet"):
        app = open_page("choose_k", data="large", file=name)
        assert f"'{name}' is not among the large files" in plain(app)


def test_pages_say_that_it_is_a_sample_and_the_release_of_all_waits_until_the_columns_are_decided(folder):
    app = open_register("choose_k")
    for page in ("choose_k", "clusters", "release"):
        assert "A sample: 200 of 900 records" in plain(visit(app, page))
    assert button(app, "Release all 900 records").disabled
    press(app, "Accept suggestions")
    assert not button(app, "Release all 900 records").disabled
    # The release is a folder beside the file, of which there is none yet.
    for name in ("", "../elsewhere", ".hidden", "a/b"):
        assert "name of a folder beside the file is needed" in plain(choose(app, w_whole_folder=name))
    (folder / "register_protected").mkdir()
    assert "There is register_protected already" in plain(choose(app, w_whole_folder="register_protected"))


def test_without_dask_the_page_says_how_to_install_it(folder, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "distributed" else found(name))
    app = open_register("release")
    assert "This needs Dask" in plain(app)
    assert not [label for label in labels(app) if label.startswith("Release all")]


def test_all_records_are_released_by_workers_that_do_not_run_the_page(folder, monkeypatch):
    script = types.ModuleType("__main__")
    script.__file__ = str(APP)  # as where Streamlit runs it, and workers load it
    monkeypatch.setitem(sys.modules, "__main__", script)
    app = open_page("release", data="large", file="register.parquet", k="5", method="mdav")
    button(app, "Accept suggestions").click()
    settle(app)
    button(app, "Release all 900 records").click()
    deadline = time.monotonic() + 200
    while not any("900 records protected in" in each.value for each in app.success):
        assert time.monotonic() < deadline
        assert not app.error, [error.value for error in app.error]
        time.sleep(1)
        app.run()
    original, released = (pd.read_parquet(folder / name) for name in ("register.parquet", "register_protected"))
    assert len(released) == 900
    assert released["age"].value_counts().min() >= 5 > original["age"].value_counts().min()
    assert sorted(path.name for path in folder.glob("*register*")) == ["register.parquet", "register_protected"]


def test_values_of_all_records_are_recoded_as_those_of_the_sample(folder, monkeypatch):
    seen = []
    entire = columns.recoded_as
    monkeypatch.setattr(columns, "recoded_as", lambda *told: seen.append(entire(*told)) or seen[-1])
    app = open_register("choose_k", recode=["age=>80=80", "diagnosis=flu=asthma"])
    assert not app.error
    assert {len(table.frame) for table in seen} == {200, 900}
    for table in seen:
        assert table.frame["age"].max() == 80
        assert set(table.frame["diagnosis"]) == {"asthma", "migraine"}
        assert table.original.frame["age"].max() > 80
    look_at(visit(app, "data"), "age")
    suggested = [own.key for own in app.button if (own.key or "").startswith("suggest_age")]
    assert suggested == [key for key in suggested if "numbers below" in key]
