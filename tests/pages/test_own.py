"""An algorithm of one's own stands beside the others on the pages."""

from __future__ import annotations

import microagg
from microagg import datasets, landscape
from microagg.algorithms import own
from tests.algorithms.test_own import as_before, by_first, make_class  # noqa: F401 - a fixture
from tests.pages.helpers import button, open_page, plain, settle, words


def test_the_pages_compare_it():
    microagg.register(make_class(lambda X, k: by_first(X, k) if len(X) < 100 or k < 5 else 1 / 0))
    own.left_out.append("the algorithm of x.py is left out: there is no Python file x.py.")
    app = open_page("choose_k", data="wine", ks="3")
    assert "The algorithm of x\\.py is left out" in words(app)
    assert "By the first attribute (your own)" in app.selectbox(key="w_method_chosen").options
    app = open_page("clusters", data="wine", k="3", method="by-first")
    assert "By the first attribute" in words(app)
    assert "By the first attribute" in words(open_page("methods", explained="by-first"))
    # An error in it is told, and takes no page down.
    app = open_page("choose_k", data="wine", ks="3, 5")
    assert "an algorithm of your own, failed" in words(app)
    app = open_page("clusters", data="wine", k="5", method="by-first")
    assert "an algorithm of your own, failed" in words(app)


def test_the_landscape_runs_it_and_compares_it(monkeypatch):
    microagg.register(make_class())
    monkeypatch.setattr(datasets, "is_available", {"wine"}.__contains__)
    app = open_page("landscape")
    away = "To run By the first attribute (your own) on Census, Tarragona, EIA, SimU, SimC and Breast cancer too, open"
    assert away in plain(app)
    assert "By the first attribute (your own)" not in app.selectbox(key="w_first").options
    button(app, "on 1 data set (22 runs)").click()
    settle(app)
    assert "has not been run" not in plain(app)
    assert "By the first attribute (your own)" in app.selectbox(key="w_first").options
    app = open_page("landscape", first="by-first")
    table = landscape.duel("by-first", "v-mdav")
    assert set(table["data"]) == {"wine"}
    assert f"loses less than By the first attribute (your own) on one data set: by {-table['less'].mean():.0f} %" in (
        plain(app)
    )
