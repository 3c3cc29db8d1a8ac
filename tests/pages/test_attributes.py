"""Quasi-identifiers one by one, on the page Data: distributions, orders and taxonomies."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from microagg import datasets
from microagg.columns.taxonomy import Taxonomy
from pages.shared import columns
from tests.conftest import load_benchmark
from tests.pages.helpers import SURVEY, button, decode, figures, go_to, open_page, plain, settle, upload, words

TREE = "*\n  all\n    Southport\n    Midland\n    Eastmere\n    Northvale\n    Westhill\n"


def look_at(app, name):
    app.selectbox(key="w_attribute").set_value(name)
    return settle(app)


def open_survey(name):
    """Open the page Data with the sample survey, and look at a quasi-identifier of it."""
    return look_at(upload("survey.csv", SURVEY.read_bytes()), name)


def drawn(app):
    """Return the nodes of the taxonomy that is drawn."""
    return figures(app)[0]["data"][0]["labels"]


def test_numbers_are_drawn_with_their_middle_half():
    app = look_at(open_page("data", data="wine"), "proline")
    values = datasets.load("wine").frame["proline"].to_numpy()
    first, third = np.quantile(values, [0.25, 0.75], method="nearest")
    assert f"proline goes from 278 to 1,680; half of the records lie between {first:.0f} and {third:.0f}**" in plain(
        app
    )
    [figure] = figures(app)
    assert decode(figure["data"][0]["y"]).sum() == 178
    [marked] = figure["layout"]["shapes"]
    assert (marked["x0"], marked["x1"]) == (first, third)
    assert not app.text_area


def test_beside_categories_it_is_said_what_a_range_of_numbers_loses():
    app = open_survey("age")
    values = datasets.make_survey()["age"]
    first, third = np.quantile(values, [0.25, 0.75], method="nearest")
    share = 100 * (third - first) / (values.max() - values.min())
    assert f"released as that range, they lose {share:.0f} %" in plain(app)


@pytest.mark.slow
def test_adult_comes_with_its_taxonomies_and_its_order():
    app = look_at(open_page("data", data="adult", sample="300"), "native-country")
    known = load_benchmark("adult").schema.taxonomies["native-country"]
    assert drawn(app)[0] == "anything"
    assert set(known.values) <= {label.replace("&amp;", "&") for label in drawn(app)}
    assert app.text_area[0].value == known.to_text()
    button(app, "All side by side").click()
    settle(app)
    assert app.text_area[0].value != known.to_text()
    assert "entered" in app.query_params
    button(app, "The data set's own").click()
    settle(app)
    assert app.text_area[0].value == known.to_text()
    look_at(app, "education")
    assert app.text_area[0].value.splitlines()[0] == "Preschool"
    assert "alphabetical" not in words(app)


def test_the_order_of_categories_is_entered_line_by_line():
    app = open_survey("education")
    app.selectbox(key="column_kind_education").set_value(("ordinal", ""))
    settle(app)
    assert "alphabetical order" in words(app)
    order = ["primary", "secondary", "vocational", "bachelor", "master"]
    app.text_area[0].set_value("\n".join(order))
    settle(app)
    assert figures(app)[0]["data"][0]["y"] == order
    assert "A range such as [secondary, bachelor] loses 50 % of education" in plain(app)
    assert "alphabetical order" not in words(app)
    app.text_area[0].set_value("primary\nprimary")
    settle(app)
    assert "has the category 'primary' twice" in app.error[0].value.replace("\\", "")
    assert figures(app)[0]["data"][0]["y"] == order
    button(app, "Discard what I entered").click()
    settle(app)
    assert app.text_area[0].value == "\n".join(order)


def test_taxonomy_is_edited_live_and_its_errors_are_said_in_place():
    app = open_survey("region")
    app.text_area[0].set_value("*\n  Coast\n    Southport\n Inland")
    settle(app)
    assert "Line 4 of the taxonomy ('Inland') is indented by 1" in app.error[0].value.replace("\\", "")
    assert "the version before it stays in use" in words(app)
    assert app.text_area[0].value.endswith(" Inland")
    app.text_area[0].set_value("*\n  Coast\n    Southport\n  Inland\n    Midland")
    settle(app)
    assert "The taxonomy of 'region' lacks 'Eastmere', 'Northvale' and 'Westhill'" in app.error[0].value.replace(
        "\\", ""
    )
    assert "lacks 'Eastmere', 'Northvale' and 'Westhill', which occur" in plain(app)
    assert "region (incomplete)" in app.selectbox(key="w_attribute").options
    assert "Coast" in drawn(app)
    button(app, "Add them").click()
    settle(app)
    assert not app.error
    assert "region" in app.selectbox(key="w_attribute").options
    assert app.text_area[0].value.endswith(
        "  Eastmere\n    Eastmere\n  Northvale\n    Northvale\n  Westhill\n    Westhill\n"
    )


def test_what_is_to_be_mended_is_looked_at_first():
    app = open_survey("region")
    app.text_area[0].set_value("*\n  Southport")
    settle(app)
    app.session_state["choices"] = app.session_state["choices"].__class__(data="upload")
    settle(app)
    assert app.selectbox(key="w_attribute").value == "region"


def test_taxonomy_can_be_uploaded_and_made_flat():
    app = open_survey("region")
    assert "All side by side" not in [button.label for button in app.button]
    towns = {"*": {"coast": ["Southport", "Eastmere"], "inland": ["Northvale", "Westhill", "Midland"]}}
    app.file_uploader(key="taxonomy_file_region").upload("region.json", json.dumps(towns).encode())
    settle(app)
    assert drawn(app) == ["anything", "coast", "Southport", "Eastmere", "inland", "Northvale", "Westhill", "Midland"]
    button(app, "All side by side").click()
    settle(app)
    assert sorted(drawn(app)) == sorted(["anything", *towns["*"]["coast"], *towns["*"]["inland"]])
    app.file_uploader(key="taxonomy_file_region").upload("region.txt", b"\xff\xfe\x00")
    settle(app)
    assert "is not UTF-8 text" in app.error[0].value.replace("\\", "")


def test_a_suggested_taxonomy_is_one_click_away(monkeypatch):
    towns = Taxonomy.from_text(
        "*\n  S\n    Southport\n  other\n    Eastmere\n    Midland\n    Northvale\n    Westhill\n"
    )
    monkeypatch.setattr(columns, "suggest_taxonomies", lambda series: (("By letter", towns),))
    # Another file than that of the other tests: what is suggested is kept for each file.
    app = look_at(upload("some.csv", b"".join(SURVEY.read_bytes().splitlines(keepends=True)[:200])), "region")
    button(app, "By letter").click()
    settle(app)
    assert app.text_area[0].value == towns.to_text()
    assert "5 values on 2 levels" in words(app)
    assert "By letter" not in [button.label for button in app.button]


def test_a_link_carries_a_taxonomy_to_a_column_that_is_what_it_was():
    app = open_survey("region")
    app.text_area[0].set_value(TREE)
    entered = settle(app).query_params["entered"]
    again = open_page("data", data="upload", entered=entered)
    again.file_uploader[0].upload("survey.csv", SURVEY.read_bytes())
    look_at(settle(again), "region")
    assert again.text_area[0].value == TREE
    again.file_uploader[0].upload("survey.csv", SURVEY.read_bytes().replace(b"Southport", b"Westhill"))
    look_at(settle(again), "region")
    assert "What was decided of 'region' was decided of other values" in plain(again)
    assert again.text_area[0].value != TREE
    next(button for button in again.button if button.label == "Decide as then").click()
    look_at(settle(again), "region")
    assert again.text_area[0].value == TREE
    assert "was decided of other values" not in plain(again)


def test_untrusted_names_and_categories_are_drawn_letter_by_letter():
    rows = "".join(f"<b>{'xy'[i % 2]}</b>,{i},![u](http://e.org/{i % 2})\n" for i in range(40))
    name = "![q](http://example.org/x.png)"
    app = upload("![x](http://example.org).csv", f"{name},$n$,=c\n{rows}".encode())
    look_at(app, name)
    assert not app.error
    assert not re.search(r"(?<!\\)\]\(http", words(app))
    assert "&lt;b&gt;x&lt;/b&gt;" in drawn(app)


def test_what_was_entered_is_there_after_a_look_at_another_page():
    app = open_survey("region")
    text = TREE
    app.text_area[0].set_value(text)
    settle(app)
    look_at(app, "education")
    app.selectbox(key="column_kind_education").set_value(("ordinal", ""))
    settle(app)
    order = ["primary", "secondary", "vocational", "bachelor", "master"]
    app.text_area[0].set_value("\n".join(order))
    settle(app)
    go_to(app, "methods")
    settle(app)
    go_to(app, "data")
    settle(app)
    assert not app.warning
    assert app.text_area[0].value == "\n".join(order)
    assert figures(app)[0]["data"][0]["y"] == order
    look_at(app, "region")
    assert app.text_area[0].value == text


def test_what_cannot_be_added_is_said():
    app = open_survey("region")
    app.text_area[0].set_value("*\n  Midland\n    Southport\n  all\n    Eastmere\n    Northvale\n    Westhill\n")
    settle(app)
    button(app, "Add it").click()
    settle(app)
    assert "two nodes called 'Midland'" in plain(app)
