"""Users who do not wait: pages are drawn anew, left and changed while jobs end, fail and are cancelled."""

import random

import pytest

from microagg import DataError
from pages.shared.job_queue import Job
from tests.pages.helpers import choose, go_to, open_page, plain, settle


@pytest.fixture
def impatient(monkeypatch):
    """Have pages draw what there is at once, however soon the rest would be there."""
    monkeypatch.setattr(Job, "wait", lambda self, seconds: None)


def test_pages_are_drawn_while_jobs_end_and_are_cancelled(impatient):
    drawn = random.Random(3)
    app = open_page("choose_k", data="wine", ks="2-4")
    for turn in range(24):
        if drawn.random() < 0.3:
            go_to(app, drawn.choice(["choose_k", "clusters", "release"]))
        if drawn.random() < 0.3:
            # Values of k, and a scaling, that have not been computed yet.
            app.session_state["choices"] = change(app.session_state["choices"], turn)
        for label in ("Cancel", "Go on"):
            found = [one for one in app.button if one.label == label]
            if found and drawn.random() < 0.5:
                found[0].click()
        app.run()
        assert not app.exception, [exception.value for exception in app.exception]
        assert not app.error, [error.value for error in app.error]
    for page in ("clusters", "choose_k"):
        go_to(app, page)
        app.run()
        for one in app.button:
            if one.label == "Go on":
                one.click()
        settle(app)
        assert app.get("plotly_chart")


def change(choices, turn):
    return choices.with_values({"ks": f"2-{3 + turn}", "k": 2 + turn % 4, "scale": ["zscore", "minmax"][turn % 2]})


def test_a_job_that_fails_while_the_page_is_drawn_says_why(impatient, monkeypatch):
    def fail(*_):
        raise DataError("the records are too wide.")

    monkeypatch.setattr("pages.shared.jobs.experiment.run_one", fail)
    app = open_page("choose_k", data="wine", scale="none", ks="2-6")
    assert "The records are too wide." in plain(app)
    monkeypatch.undo()
    # The same choices would fail again; others need not.
    assert "Try again" not in [one.label for one in app.button]
    app = choose(app, w_ks="2-7")
    assert not app.error
    assert app.get("plotly_chart")
