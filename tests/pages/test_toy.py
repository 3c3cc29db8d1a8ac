"""The eleven records of the page Toy example."""

from __future__ import annotations

from tests.pages.helpers import open_page


def test_toy_page_shows_the_numbers_of_the_paper_and_follows_the_records():
    app = open_page("toy")
    assert [metric.value for metric in app.metric] == ["258.8", "1.440 %", "21.2", "0.1180 %"]
    app.text_input[0].set_value("1 2 3 10 11 12").run()
    assert [metric.value for metric in app.metric] == ["4", "3.187 %", "4", "3.187 %"]
    app.slider[0].set_value(6).run()
    assert [metric.value for metric in app.metric] == ["125.5", "100.00 %"] * 2


def test_toy_page_says_what_is_wrong():
    app = open_page("toy")
    for typed, says in {
        "1, 2, x": "'x' is not a number",
        "1": "1 record is too few",
        "1, nan, 3": "NaN",
        "1, 2": "fewer than k=3",
    }.items():
        app.text_input[0].set_value(typed).run()
        assert not app.exception
        assert says in app.error[0].value.replace("\\", "")
