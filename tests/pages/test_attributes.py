"""The panel of a column on the page Data: distributions, orders and taxonomies."""

import re

import numpy as np
import pytest

from microagg import datasets
from tests.conftest import load_benchmark
from tests.pages.helpers import (
    SURVEY,
    decide,
    decode,
    errors,
    figures,
    look_at,
    open_page,
    plain,
    press,
    settle,
    table_of_columns,
    visit,
    words,
)
from tests.pages.helpers import open_survey as opened_survey

TREE = "*\n  all\n    Southport\n    Midland\n    Eastmere\n    Northvale\n    Westhill\n"
ORDER = ["primary", "secondary", "vocational", "bachelor", "master"]


def open_survey(name):
    """Open the page Data with the sample survey, and look at a quasi-identifier of it."""
    return look_at(opened_survey(), name)


def drawn(app):
    """Return the values whose records are counted in a figure."""
    return figures(app)[0]["data"][0]["y"]


def text(app):
    return app.text_area[0].value


def enter(app, text):
    app.text_area[0].set_value(text)
    return settle(app)


def test_numbers_are_drawn_with_the_range_of_their_middle_half():
    app = look_at(open_page("data", data="wine"), "proline")
    values = datasets.load("wine").frame["proline"].to_numpy()
    first, third = np.quantile(values, [0.25, 0.75], method="nearest")
    assert re.search(rf"proline: 278 to 1,680; .* {first:.0f} and {third:.0f}", plain(app))
    [figure] = figures(app)
    assert decode(figure["data"][0]["y"]).sum() == 178
    assert not app.text_area


@pytest.mark.slow
def test_adult_comes_with_its_taxonomies_and_its_order():
    app = look_at(open_page("data", data="adult", sample="300"), "native-country")
    own = load_benchmark("adult").schema.taxonomies["native-country"]
    assert drawn(app)[0] == "United-States"
    assert text(app) == own.to_text()
    press(app, "All side by side")
    assert text(app) != own.to_text()
    assert "entered" in app.query_params
    press(app, "The data set's own")
    assert text(app) == own.to_text()
    look_at(app, "education")
    assert text(app).startswith("Preschool\n")
    assert "alphabetical" not in words(app)


def test_the_order_of_categories_is_entered_line_by_line():
    app = decide(opened_survey(), "kind", education=("ordinal", ""))
    assert "alphabetical order" in words(app)
    enter(app, "\n".join(ORDER))
    assert drawn(app) == ORDER
    assert "alphabetical order" not in words(app)
    enter(app, "primary\nprimary")
    assert "has the category 'primary' twice" in errors(app)[0]
    assert drawn(app) == ORDER
    press(app, "Discard what I entered")
    assert text(app) == "\n".join(ORDER)
    # It is there after a look at another page.
    visit(app, "methods")
    visit(app, "data")
    assert not app.warning
    assert text(app) == "\n".join(ORDER)
    assert drawn(app) == ORDER


def test_taxonomy_is_edited_live_and_its_errors_are_said_in_place():
    app = open_survey("region")
    enter(app, "*\n  Coast\n    Southport\n Inland")
    assert "Line 4" in errors(app)[0]
    assert "'Inland'" in errors(app)[0]
    assert text(app).endswith(" Inland")
    enter(app, "*\n  Coast\n    Southport\n  Inland\n    Midland")
    assert "'region' lacks 'Eastmere', 'Northvale' and 'Westhill'" in errors(app)[0]
    assert "lacks 'Eastmere'" in table_of_columns(app)["why"]["region"]
    # What is to be mended is looked at first.
    app.session_state["choices"] = app.session_state["choices"].with_values({"attribute": ""})
    assert text(settle(app)).startswith("*\n  Coast")
    press(app, "Add them")
    assert not app.error
    assert text(app).endswith("  Eastmere\n    Eastmere\n  Northvale\n    Northvale\n  Westhill\n    Westhill\n")
    enter(app, TREE.replace("all\n    Southport\n    Midland", "Midland\n    Southport\n  all"))
    assert "two nodes called 'Midland'" in plain(press(app, "Add it"))


def test_a_link_carries_a_taxonomy_to_a_column_that_is_what_it_was():
    entered = enter(open_survey("region"), TREE).query_params["entered"]
    app = open_page("data", data="upload", entered=entered)
    app.file_uploader(key="w_file").upload("survey.csv", SURVEY.read_bytes())
    assert text(look_at(settle(app), "region")) == TREE
    app.file_uploader(key="w_file").upload("survey.csv", SURVEY.read_bytes().replace(b"Southport", b"Westhill"))
    look_at(settle(app), "region")
    assert "decisions on 'region' were made for other values" in plain(app)
    assert text(app) != TREE
    look_at(press(app, "Repeat the decisions"), "region")
    assert text(app) == TREE
    assert "made for other values" not in plain(app)
