"""A picture of what is being computed is made anew only now and then."""

from __future__ import annotations

from types import SimpleNamespace

import plotly.graph_objects as go
import pytest

from pages.choose_k import comparison
from pages.choose_k.comparison import WAITING, Paced, Picture


@pytest.fixture
def clock(monkeypatch):
    """Return the time, which passes only where a test says so, in a list of its own."""
    now = [100.0]
    monkeypatch.setattr(comparison, "time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


@pytest.fixture
def shown(monkeypatch):
    """Return the titles of what is drawn."""
    titles = []
    monkeypatch.setattr(Picture, "show", lambda self: titles.append(self.title))
    return titles


def picture_of(clock, seconds, key="key"):
    """Return a picture that takes so many seconds to make, and whose title says when that was."""

    def make():
        made = Picture(go.Figure(), f"{clock[0]:g}", key, "")
        clock[0] += seconds
        return made

    return Paced(make)


def test_a_picture_stands_for_nine_times_as_long_as_it_took(clock, shown):
    picture = picture_of(clock, 0.5)
    picture.show()  # made from 100.0 to 100.5, so it stands until 105
    for clock[0] in (100.5, 104.9, 105.0, 106.0):
        picture.show()
    assert shown == ["100", "100", "100", "105", "105"]


def test_a_picture_that_takes_long_stands_for_ten_seconds_at_most(clock, shown):
    picture = picture_of(clock, 4.0)
    for clock[0] in (100.0, 113.9, 114.0):
        picture.show()
    assert shown == ["100", "100", "114"]


def test_what_stands_for_a_picture_that_is_not_there_yet_gives_way_to_it_at_once(clock, shown):
    picture = picture_of(clock, 0.5, WAITING)
    for clock[0] in (100.0, 100.6):
        picture.show()
    assert shown == ["100", "100.6"]


def test_what_takes_no_time_is_made_each_time(clock, shown):
    picture = picture_of(clock, 0.0)
    for clock[0] in (100.0, 100.6):
        picture.show()
    assert shown == ["100", "100.6"]
