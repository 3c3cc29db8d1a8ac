"""A chart does not wait for the lower bound, which can be cancelled and tried again."""

import threading
import time

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

import microagg
from microagg import datasets
from microagg.optimum import bounds, nearest_neighbors
from microagg.progress import checkpoint
from microagg.studies import landscape
from pages.shared.text import percent
from tests.pages.helpers import APP, FLOOR, button, go_to, lines, open_page, partitions, plain, press, settle


@pytest.fixture(autouse=True)
def new_session(monkeypatch):
    """Forget what the tests before have computed, all of them in one session, and that higher floors are stored."""
    st.cache_resource.clear()
    monkeypatch.setattr(landscape, "recognize", lambda *_: None)
    yield
    st.cache_resource.clear()


@pytest.fixture
def gate(monkeypatch):
    """Hold the job of a lower bound, once more than 0.3 of the records have been counted, until the gate is opened."""
    opened = threading.Event()

    def held(message, share):
        checkpoint(message, share)
        is_job = threading.current_thread() is not threading.main_thread()
        while is_job and 0.3 < share < 1.0 and not opened.wait(0.01):
            checkpoint(message, share)

    monkeypatch.setattr(nearest_neighbors, "checkpoint", held)
    monkeypatch.setattr(nearest_neighbors, "_RECORDS_AT_A_TIME", 20)
    yield opened
    opened.set()


def run_until(app, condition):
    for _ in range(60):
        app.run()
        assert not app.exception, [exception.value for exception in app.exception]
        if condition(app):
            return app
        time.sleep(0.05)
    raise AssertionError(f"it did not come to that: {bars(app)} {plain(app)[:600]}")


def bars(app):
    return [bar.proto.text.replace("\\", "") for bar in app.get("progress")]


def is_held(app):
    """Return whether nothing but the lower bound is under way, and that is held."""
    [*others, bar] = app.get("progress") or [None]
    return not others and bar and bar.proto.text.startswith("Computing the lower bound") and bar.proto.value >= 30


def open_held(**query):
    app = AppTest.from_file(APP, default_timeout=120)
    app.query_params.update(query)
    return run_until(go_to(app, "choose_k"), is_held)


def floor_line(app):
    return lines(app)[FLOOR]


def whole(ks):
    X = microagg.standardize(datasets.load("wine").X)
    return np.array([bound.information_loss for bound in bounds.nearest_neighbor_curve(X, ks)])


def test_the_chart_does_not_wait_for_the_floor(gate):
    app = open_held(data="wine", ks="3-5", methods="mdav", k="4")
    assert FLOOR not in lines(app)
    assert "gap unknown" in plain(app)
    gate.set()
    # The bound may have been completed after the chart was drawn: in a browser the page is then drawn once more.
    settle(settle(app))
    assert np.array_equal(floor_line(app), whole([3, 4, 5]))
    assert "Computing the lower bound" not in plain(app)
    assert not bars(app)


def test_the_floor_can_be_cancelled_and_gone_on_with(gate):
    app = open_held(data="wine", ks="3-5", methods="mdav")
    button(app, "Cancel").click()
    run_until(app, lambda app: not bars(app))
    assert "The lower bound is not computed" in plain(app)
    gate.set()
    assert FLOOR not in lines(app.run())
    settle(press(app, "Go on"))
    assert np.array_equal(floor_line(app), whole([3, 4, 5]))


def test_clusters_says_that_the_floor_is_computed(gate):
    app = open_held(data="wine", ks="3-5", methods="mdav", k="4", method="mdav", second="mdav")
    go_to(app, "clusters")
    run_until(app, is_held)
    gate.set()
    run_until(app, lambda app: "Computing the lower bound" not in plain(app))
    assert [bound for _, bound, _ in partitions(app)] == [percent(whole([4])[0])]


def test_what_goes_wrong_is_said_and_can_be_tried_again(monkeypatch):
    def fail(*_):
        raise MemoryError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(nearest_neighbors, "sums_of_nearest", fail)
        app = open_page("choose_k", data="wine", ks="3-5", methods="mdav")
        assert "(MemoryError: no room)" in plain(app)
        assert FLOOR not in lines(app)
    settle(press(app, "Try again"))
    assert np.array_equal(floor_line(app), whole([3, 4, 5]))
