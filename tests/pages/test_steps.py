"""The page Step by step: what it gives the player to draw."""

from __future__ import annotations

import json

import pytest

from tests.pages.helpers import open_page, plain, settle


def scene(app):
    [component] = [part for part in app.get("bidi_component") if part.proto.component_name == "microagg_steps"]
    return json.loads(component.proto.json)


def texts(side):
    return " ".join(step["text"] for step in side["steps"])


def test_the_eleven_records_show_the_quantities_of_the_paper():
    app = open_page("steps")
    drawn = scene(app)
    v_mdav, star = drawn["sides"]
    assert (v_mdav["title"], v_mdav["settings"], star["title"]) == ("V-MDAV", "γ = 0.2", "MDAV*")
    assert [side["steps"][-1]["sse"] for side in drawn["sides"]] == ["258.8", "21.2"]
    assert [side["steps"][-1]["loss"] for side in drawn["sides"]] == ["1.44 %", "0.118 %"]
    assert "5 joins {1, 2, 3}: 32.1875 is less than 40.67." in texts(star)
    assert "6 joins {1, 2, 3, 5}: 2.6125 is less than 40.67." in texts(star)
    assert "21.2" in drawn["optimum"]["text"]
    one, two = drawn["ticks"][drawn["differ"]]
    assert v_mdav["steps"][one]["kind"] == "form"
    assert star["steps"][two]["kind"] == "join"


def test_other_records_begin_at_the_first_step():
    app = open_page("steps", tick="4", line="1, 2, 3, 10, 11, 12")
    assert scene(app)["at"] == 4
    app.text_input[0].set_value("1 2 3 50 51 52")
    app = settle(app)
    drawn = scene(app)
    assert drawn["at"] == 0
    assert drawn["records"]["names"] == ["1", "2", "3", "50", "51", "52"]
    assert [side["steps"][-1]["sse"] for side in drawn["sides"]] == ["4", "4"]


@pytest.mark.parametrize(
    ("typed", "says"),
    [("1, 2, x", "'x' is not a number"), ("1", "1 record is too few"), ("1, 2", "fewer than k=3"), ("", "0 records")],
)
def test_what_cannot_be_watched_is_said(typed, says):
    app = open_page("steps", line=typed)
    assert not app.exception
    assert says in app.error[0].value.replace("\\", "")


def test_equal_records_and_huge_ones_are_watched():
    drawn = scene(open_page("steps", line="5, 5, 5, 5, 1e12, 1e12, 1e12"))
    assert drawn["records"]["names"].count("5") == 4
    assert [side["steps"][-1]["loss"] for side in drawn["sides"]][1] == "0 %"


def test_points_on_a_plane_are_watched_and_one_algorithm_alone():
    app = open_page("steps", records="plane", beside="-", watched="mdav-star")
    drawn = scene(app)
    assert len(drawn["sides"]) == 1
    assert drawn["records"]["names"][:3] == ["A", "B", "C"]
    assert drawn["records"]["y"][:3] == [3, 0, 0]
    assert drawn["optimum"]["text"].endswith("9.55 %")
    broken = open_page("steps", records="plane", points="1 2; 3")
    assert "Point 2" in broken.error[0].value


@pytest.mark.parametrize("data", ["wine", "breast_cancer"])
def test_records_of_a_data_set_are_watched(data):
    app = open_page("steps", records="data", data=data, few="20", watch_k="4", watched="mdav")
    drawn = scene(app)
    assert len(drawn["records"]["x"]) == 20
    assert "20 records of" in plain(app)
    assert all(float(side["steps"][-1]["sse"].replace(",", "")) > 0 for side in drawn["sides"])


def test_categories_cannot_be_watched():
    app = open_page("steps", records="data", data="adult")
    assert "not all numbers" in app.error[0].value


def test_what_v_mdav_loses_against_gamma_is_drawn_where_it_is_watched():
    assert "How much depends on γ?" in [header.value for header in open_page("steps").subheader]
    assert not open_page("steps", watched="mdav-star", beside="-").subheader


def test_t_closeness_first_is_watched_with_its_buckets():
    [side] = scene(open_page("steps", watched="t-closeness-first", beside="-"))["sides"]
    assert "the records are cut into 3 buckets" in side["steps"][1]["text"] + side["steps"][0]["text"]
    assert "From each bucket the record nearest to 100, and one more from bucket 2, the fullest" in texts(side)


def test_local_search_begins_with_groups_that_it_improves():
    app = open_page("steps", watched="local-search", beside="-")
    [side] = scene(app)["sides"]
    assert side["settings"] == "start = MDAV"
    assert [side["steps"][at]["sse"] for at in (0, -1)] == ["258.8", "21.2"]
    app.selectbox(key="w_watch_start").set_value("mdav-star")
    [side] = scene(settle(app))["sides"]
    assert [step["sse"] for step in side["steps"]] == ["21.2", "21.2"]


def test_questions_are_asked_where_that_is_chosen():
    [side] = scene(open_page("steps", activity="ask", watched="local-search", beside="-"))["sides"]
    questions = [step["question"] for step in side["steps"]]
    # 5 and 6 go to another group.
    assert [question and question["right"] for question in questions] == [None, [3], [4], None]
    assert "question" not in scene(open_page("steps"))["sides"][0]["steps"][1]
