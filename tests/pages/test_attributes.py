"""The step Attributes of the page Mixed data: kinds, orders, taxonomies, classes, and files that lack them."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from pages.ui import state
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    PAGES,
    button,
    figures,
    look_at,
    open_page,
    open_survey,
    plain,
    settle,
    upload_mixed,
    words,
)


@pytest.mark.slow
def test_adult_comes_with_its_kinds_its_taxonomies_and_its_class():
    app = open_page("mixed", data="adult", attribute="native-country")
    table = app.dataframe[0].value.set_index("attribute")
    assert table["kind"].to_dict() == {
        "age": "numeric",
        "workclass": "nominal",
        "education": "ordinal",
        **dict.fromkeys(["marital-status", "occupation", "race", "sex", "native-country"], "nominal"),
    }
    assert table.loc["workclass", "missing"] == 1836
    assert "2,399 of them lack a quasi-identifier" in words(app)
    assert app.selectbox(key="m_class").value == "income"
    [tree] = figures(app)[0]["data"]
    taxonomy = load_benchmark("adult").schema.taxonomies["native-country"]
    assert tree["labels"][0] == "anything"
    assert set(taxonomy.values) <= {label.replace("&amp;", "&") for label in tree["labels"]}
    assert app.text_area[0].value == taxonomy.to_text()
    button(app, "Make it flat").click()
    settle(app)
    assert app.text_area[0].value != taxonomy.to_text()
    button(app, "Back to the data set's own").click()
    settle(app)
    assert app.text_area[0].value == taxonomy.to_text()


def test_kinds_of_an_upload_are_assumed_and_can_be_changed():
    app = open_survey()
    assert app.multiselect(key="m_left_out").value == ["person_id"]
    table = app.dataframe[0].value.set_index("attribute")
    assert table.loc["region", "kind"] == table.loc["education", "kind"] == "nominal"
    look_at(app, "education")
    app.button_group(key="m_kind").set_value("ordinal")
    settle(app)
    assert "alphabetical order" in words(app)
    order = ["primary", "secondary", "vocational", "bachelor", "master"]
    app.text_area[0].set_value("\n".join(order))
    settle(app)
    assert "primary < … < master" in app.dataframe[0].value.set_index("attribute").loc["education", "released"]
    app.text_area[0].set_value("primary\nprimary")
    settle(app)
    assert "has the category 'primary' twice" in app.error[0].value.replace("\\", "")


def test_taxonomy_is_edited_live_and_its_errors_are_said_in_place():
    app = look_at(open_survey(), "region")
    app.text_area[0].set_value("*\n  Coast\n    Southport\n Inland")
    settle(app)
    assert "Line 4 of the taxonomy ('Inland') is indented by 1" in app.error[0].value.replace("\\", "")
    assert "what was there before is used" in words(app)
    assert app.text_area[0].value.endswith(" Inland")
    app.text_area[0].set_value("*\n  Coast\n    Southport\n  Inland\n    Midland")
    settle(app)
    assert not app.error
    assert "lacks 'Eastmere', 'Northvale' and 'Westhill'" in plain(app)
    assert app.dataframe[0].value.set_index("attribute").loc["region", "problem"].startswith("not covered")
    assert "Coast" in figures(app)[0]["data"][0]["labels"]
    [add] = [button for button in app.button if button.label == "Add them"]
    add.click()
    settle(app)
    assert "problem" not in app.dataframe[0].value.columns
    assert app.text_area[0].value.endswith(
        "  Eastmere\n    Eastmere\n  Northvale\n    Northvale\n  Westhill\n    Westhill\n"
    )


def test_values_that_no_taxonomy_has_stop_the_other_steps_with_a_sentence():
    app = look_at(open_survey(), "region")
    app.text_area[0].set_value("*\n  Coast\n    Southport")
    settle(app)
    app.session_state["choices"] = dataclasses.replace(app.session_state["choices"], step="compare")
    settle(app)
    assert "The taxonomy of 'region' lacks 'Eastmere', 'Midland'" in app.error[0].value.replace("\\", "")


def test_taxonomy_can_be_uploaded_and_made_flat():
    app = look_at(open_survey(), "region")
    towns = {"*": {"coast": ["Southport", "Eastmere"], "inland": ["Northvale", "Westhill", "Midland"]}}
    app.file_uploader(key="m_file_region").upload("region.json", json.dumps(towns).encode())
    settle(app)
    drawn = ["anything", "coast", "Southport", "Eastmere", "inland", "Northvale", "Westhill", "Midland"]
    assert figures(app)[0]["data"][0]["labels"] == drawn
    button(app, "Make it flat").click()
    settle(app)
    assert figures(app)[0]["data"][0]["labels"] == ["anything", *sorted(towns["*"]["coast"] + towns["*"]["inland"])]
    app.file_uploader(key="m_file_region").upload("region.txt", b"\xff\xfe\x00")
    settle(app)
    assert "is not UTF-8 text" in app.error[0].value.replace("\\", "")


def test_numbers_only_are_taken_with_a_hint():
    app = open_page("mixed", data="wine", step="compare", ks="5")
    assert "Wine" in words(app)
    assert "holds numbers only" in words(app)
    [use] = [button for button in app.button if button.label == "Use the sample survey"]
    use.click()
    settle(app)
    assert not app.error
    assert app.query_params["data"] == "upload"


def test_text_only_file_is_said_on_the_pages_for_numbers_and_taken_for_mixed_data():
    content = b"a,b\n" + b"x,y\nx,z\nw,z\nw,y\n" * 6
    app = upload_mixed("text.csv", content, "compare")
    assert not app.error
    app.switch_page(PAGES["clusters"])
    settle(app)
    assert "the page Mixed data" in app.error[0].value


@pytest.mark.slow
def test_missing_values_and_untrusted_names_of_an_upload():
    rows = "".join(f"<b>{'xy'[i % 2]}</b>,{i % 5 or ''},![u](http://e.org/{i % 2})\n" for i in range(40))
    content = f"![q](http://example.org/x.png),$n$,=c\n{rows}".encode()
    for step in state.STEPS:
        app = upload_mixed("![x](http://example.org).csv", content, step)
        assert not app.exception
        assert not app.error
        assert not re.search(r"(?<!\\)\]\(http", words(app))
        for label in [option for group in app.get("button_group") for option in group.options]:
            assert "![q](http" not in getattr(label, "content", str(label))
        if step == "attributes":
            assert "8 of them lack a quasi-identifier" in words(app)
            look_at(app, "![q](http://example.org/x.png)")
            assert "&lt;b&gt;x&lt;/b&gt;" in figures(app)[0]["data"][0]["labels"]


def test_a_class_with_missing_values_is_refused():
    rows = "".join(f"{'abc'[i % 3]},{i},{'yes' if i % 4 else ''}\n" for i in range(24))
    app = upload_mixed("a.csv", f"kind,size,label\n{rows}no,1,no\n".encode())
    app.button_group(key="m_quasi").set_value(["kind", "size"])
    settle(app)
    app.selectbox(key="m_class").set_value("label")
    settle(app)
    app.session_state["choices"] = dataclasses.replace(app.session_state["choices"], step="compare")
    settle(app)
    assert "'label' is missing in 6 records" in app.error[0].value.replace("\\", "")
