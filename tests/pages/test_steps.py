"""The page Step by step: the records that are typed, and what it gives the player to draw."""

import pytest

from microagg import DataError
from pages.steps.records import letters, on_a_line, on_a_plane
from tests.pages.helpers import errors, open_page, plain, scene, settle


def texts(side):
    return " ".join(step["text"] for step in side["steps"])


def last(sides, what="sse"):
    return [side["steps"][-1][what] for side in sides]


def test_the_eleven_records_show_the_quantities_of_the_paper_until_others_are_typed():
    app = open_page("steps")
    assert app.header  # how much depends on γ
    drawn = scene(app, "steps")
    v_mdav, star = drawn["sides"]
    assert (v_mdav["title"], v_mdav["settings"], star["title"]) == ("V-MDAV", "γ = 0.2", "MDAV*")
    assert last(drawn["sides"]) == ["258.8", "21.2"]
    assert last(drawn["sides"], "loss") == ["1.44 %", "0.118 %"]
    assert "5 joins {1, 2, 3}: 32.19 is less than 40.67." in texts(star)
    assert "21.2" in drawn["optimum"]["text"]
    one, two = drawn["ticks"][drawn["differ"]]
    assert (v_mdav["steps"][one]["kind"], star["steps"][two]["kind"]) == ("form", "join")
    # Other records begin at the first step.
    app = open_page("steps", tick="4", line="1, 2, 3, 10, 11, 12")
    assert scene(app, "steps")["at"] == 4
    app.text_input[0].set_value("1 2 3 50 51 52")
    drawn = scene(settle(app), "steps")
    assert drawn["at"] == 0
    assert drawn["records"]["names"] == ["1", "2", "3", "50", "51", "52"]
    assert last(drawn["sides"]) == ["4", "4"]
    app.text_input[0].set_value("5, 5, 5, 5, 1e12, 1e12, 1e12")
    drawn = scene(settle(app), "steps")
    assert drawn["records"]["names"].count("5") == 4
    assert last(drawn["sides"], "loss")[1] == "0 %"
    for typed, says in {"1, 2, x": "'x' is not a number", "1, 2": "fewer than k = 3"}.items():
        assert says in errors(open_page("steps", line=typed))[0]


def test_points_on_a_plane_are_watched_and_one_algorithm_alone():
    app = open_page("steps", records="plane", beside="-", watched="mdav-star")
    assert not app.header
    drawn = scene(app, "steps")
    assert len(drawn["sides"]) == 1
    assert drawn["records"]["names"][:3] == ["A", "B", "C"]
    assert drawn["records"]["y"][:3] == [3, 0, 0]
    assert drawn["optimum"]["text"].endswith("9.55 %")
    assert "Point 2" in errors(open_page("steps", records="plane", points="1 2; 3"))[0]


@pytest.mark.parametrize("data", ["wine", "breast_cancer", "adult"])
def test_records_of_a_data_set_are_watched(data):
    app = open_page("steps", records="data", data=data, few="20", watch_k="4", watched="mdav")
    if data == "adult":
        assert "not all numbers" in errors(app)[0]
        return
    drawn = scene(app, "steps")
    assert len(drawn["records"]["x"]) == 20
    assert "20 records of" in plain(app)
    assert all(float(sse.replace(",", "")) > 0 for sse in last(drawn["sides"]))


@pytest.mark.parametrize(
    ("typed", "values"),
    [
        ("1, 2, 3", [1, 2, 3]),
        ("1,2,3", [1, 2, 3]),
        ("1 2\n3", [1, 2, 3]),
        ("1.5; 2", [1.5, 2]),
        ("1,5; 2,5; 3", [1.5, 2.5, 3]),
        ("1,5 2,5 -3", [1.5, 2.5, -3]),
        ("1e12, -2e-3", [1e12, -0.002]),
    ],
)
def test_numbers_are_read_as_they_are_meant(typed, values):
    assert on_a_line(typed).X[:, 0].tolist() == values


def test_what_was_taken_for_a_decimal_comma_is_said():
    assert on_a_line("1,5; 2,5").remark.endswith("decimal commas: 1.5, 2.5.")
    assert "the end of a number: 1, 5, 2, 5." in on_a_line("1,5, 2,5").remark
    assert on_a_line("1, 2, 3").remark == ""
    assert on_a_line("1234567, 1234568.5").names == ("1234567", "1234568.5")


@pytest.mark.parametrize(
    ("read", "typed", "says"),
    [
        (on_a_line, "1, 2, x", "'x' is not a number"),
        (on_a_line, "1", "1 record cannot be shown step by step: give between 2 and 300"),
        (on_a_line, "", "0 records cannot be shown"),
        (on_a_line, "1, nan", "'nan' is not a number"),
        (on_a_line, ", ".join("7" * 301), "301 records cannot be shown"),
        (on_a_plane, "1 2; 3", "point 2, '3', is not two numbers"),
        (on_a_plane, "1 2; a 3", "'a' is not"),
    ],
)
def test_what_cannot_be_watched_is_said(read, typed, says):
    with pytest.raises(DataError, match=says):
        read(typed)


def test_points_are_read():
    seen = on_a_plane("1 2; 3,5 4;\n5 -6.25")
    assert seen.X.tolist() == [[1, 2], [3.5, 4], [5, -6.25]]
    assert seen.names == ("A", "B", "C")
    assert letters(27)[-1] == "27"
