"""The page Data: benchmarks that are not here, uploads, and names that nobody should trust."""

from __future__ import annotations

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from microagg import datasets
from tests.pages.helpers import (
    APP,
    PAGES,
    figures,
    open_page,
    settle,
    upload,
    words,
)


def test_unknown_column_in_the_address_is_said():
    app = open_page("data", data="wine", columns="nonsense")
    assert "nonsense" in words(app)
    assert "there is no column" in app.error[0].value.lower().replace("\\", "")


def test_scaling_none_warns_what_it_does():
    app = open_page("data", data="wine", scale="none")
    assert "largest" in app.warning[0].value


def test_a_generated_set_follows_its_seed():
    app = open_page("data", data="simc")
    before = app.dataframe[-1].value
    app.number_input(key="w_seed").set_value(1)
    settle(app)
    assert not app.error
    assert app.query_params["seed"] == "1"
    assert not app.dataframe[-1].value.equals(before)


def test_missing_benchmark_is_offered_for_download(monkeypatch, tmp_path):
    monkeypatch.setenv(datasets.DATA_DIR_VARIABLE, str(tmp_path))
    monkeypatch.setattr(datasets.benchmarks, "cache_folder", lambda: tmp_path / "cache")
    st.cache_resource.clear()  # what an earlier test has loaded stays usable otherwise
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "census"
    app.switch_page(PAGES["data"])
    app.run()
    assert not app.exception
    assert "can be fetched once" in words(app)
    assert any(button.label == "Download Census" for button in app.button)
    app.switch_page(PAGES["clusters"])
    app.run()
    assert not app.exception
    assert "Census" in app.error[0].value


def test_uploaded_table_is_used_on_all_pages():
    app = upload("my *data*.csv", b"name;a;b\nx;1;2\ny;2;3\nz;3;4\nv;4;5\nw;9;9\nu;8;8\n")
    assert not app.exception
    assert not app.error
    assert "6 records, 3 attributes" in words(app).replace("\\", "")
    app.switch_page(PAGES["clusters"])
    settle(app)
    assert not app.error
    assert app.metric[2].value == "2"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("a.csv", b"", "empty (0 bytes)"),
        ("a.csv", b"a,b\n", "record"),
        ("a.csv", b"a,a\n1,2\n", "'a'"),
        ("a.csv", "a,b\n1,é\n".encode("latin-1"), "UTF-8"),
        ("a.csv", b"a,b\nx,y\nz,w\n", "no numeric column"),
        ("a.csv", b"a,b\n1,2\n1,2,3\n", "Line 3"),
        ("a.xlsx", b"not a workbook", "a.xlsx"),
        ("a.parquet", b"not a table", "a.parquet"),
    ],
)
def test_bad_upload_is_said_in_one_sentence(name, content, says):
    app = upload(name, content)
    assert not app.exception
    assert len(app.error) == 1
    assert says in app.error[0].value.replace("\\", "")


def test_upload_read_with_the_wrong_delimiter_is_said():
    app = AppTest.from_file(APP, default_timeout=60)
    app.query_params["data"] = "upload"
    app.switch_page(PAGES["data"])
    app.run()
    app.selectbox(key="u_delimiter").set_value("comma")
    app.file_uploader[0].upload("a.csv", b"a;b\n1;2\n3;4\n")
    app.run()
    assert not app.exception
    assert "choose ';' as the delimiter" in app.error[0].value


def test_upload_with_missing_values_offers_the_complete_columns():
    app = upload("a.csv", b"a,b\n1,2\n,3\n3,4\n4,5\n")
    assert "column 'a' has NaN" in app.error[0].value.replace("\\", "").lower().replace("nan", "NaN")
    [button] = [button for button in app.button if button.label == "Use only the complete columns"]
    button.click().run()
    assert not app.error


def test_untrusted_names_are_shown_letter_by_letter():
    hostile = b"![x](http://example.org/x.png),$b$,<b>c</b>\n1,2,3\n2,3,5\n3,4,1\n4,5,2\n"
    app = upload("![x](http://example.org).csv", hostile)
    assert not app.exception
    assert not app.error
    for label in [option for group in app.get("button_group") for option in group.options]:
        assert "![x](http" not in getattr(label, "content", str(label))
    app.switch_page(PAGES["clusters"])
    app.query_params["x"] = "<b>c</b>"
    settle(app)
    app.selectbox(key="w_x").set_value("<b>c</b>").run()
    assert figures(app)[0]["layout"]["xaxis"]["title"]["text"] == "&lt;b&gt;c&lt;/b&gt;"
