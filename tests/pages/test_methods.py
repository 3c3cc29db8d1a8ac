"""The page Methods."""

from __future__ import annotations

import pytest

from microagg import ALGORITHMS
from tests.pages.helpers import figures, open_page, plain, settle, words


def test_all_algorithms_stand_in_one_table():
    app = open_page("methods")
    assert app.table[-1].value["Algorithm"].tolist() == [cls.info.title for cls in ALGORITHMS.values()]
    assert "Genetic algorithm" in words(app)
    assert "Three ways to closeness" in " ".join(own.value for own in app.subheader)


@pytest.mark.parametrize(
    ("key", "says"),
    [
        ("mdav-star", "Joining: C is the existing group whose SSE grows least by r"),
        ("mondrian", "lower median"),
        ("t-closeness-first", "Needs a confidential column"),
    ],
)
def test_a_method_is_explained_step_by_step_and_by_two_pictures(key, says):
    app = open_page("methods", explained=key)
    assert says in plain(app)
    assert "Source: " in plain(app)
    plane, line = figures(app)
    assert f"{ALGORITHMS[key].info.title} makes" in plain(app)
    assert len(plane["data"]) % 3 == 0
    assert ALGORITHMS[key].info.title.split(" (")[0] in line["layout"]["annotations"][0]["text"]


def test_another_method_is_picked():
    app = open_page("methods")
    app.selectbox(key="w_explained").set_value("cbfs")
    settle(app)
    assert app.query_params["explained"] == "cbfs"
    assert "one group a round" in plain(app) or "around the record farthest" in plain(app)
    assert "CBFS makes" in plain(app)
