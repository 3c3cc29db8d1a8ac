"""The page Landscape."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import datasets
from microagg.studies import landscape
from pages.shared import theme
from pages.shared.small_figures import duel_colors
from tests.pages.helpers import choose, decode, figures, open_page, plain


def bars(app):
    return [figure["data"][0] for figure in figures(app)]


def test_duel_of_the_latest_against_its_forerunner_is_shown_first_and_any_two_can_be_compared():
    app = open_page("landscape", data="wine")
    assert not app.error
    table = landscape.duel("mdav-star", "v-mdav")
    mean, *panels = bars(app)
    for data, panel in zip(landscape.DATA, panels, strict=True):
        assert panel["x"] == [str(k) for k in landscape.KS]
        assert np.allclose(decode(panel["y"]), table.loc[table["data"] == data, "less"])
        # Random sets have a whisker.
        assert ("error_y" in panel) == (data in ("simu", "simc"))
        assert f"{datasets.describe(data).title}: " in plain(app)
    assert np.allclose(decode(mean["y"]), table.groupby("k")["less"].mean())
    assert "MDAV* loses less than V-MDAV on 5 of 7 data sets: by " in plain(app)
    # All panels have the same axis.
    assert len({tuple(figure["layout"]["yaxis"]["range"]) for figure in figures(app)}) == 1
    assert set(app.query_params) == {"data"}
    [says] = [caption.value for caption in app.caption if "Not run at every k" in caption.value]
    assert all(landscape.title(method) in says for method in landscape.incomplete()["method"])
    # The best setting can be taken instead of the usual one.
    choose(app, w_best_setting=True)
    assert app.query_params["rival"] == "v-mdav-best"
    assert "MDAV* loses less than V-MDAV (best γ)" in plain(app)
    table = landscape.duel("mdav-star", "v-mdav-best")
    assert np.allclose(decode(bars(app)[1]["y"]), table.loc[table["data"] == "census", "less"])
    choose(app, w_first="v-mdav")
    assert app.toggle(key="w_best_setting").value is True
    choose(app, w_best_setting=False)
    assert app.query_params["first"] == "v-mdav"
    assert "rival" not in app.query_params
    app = choose(open_page("landscape", data="wine", first="cbfs", rival="mdav"), w_first="p-s")
    assert (app.query_params["first"], app.query_params["rival"]) == ("p-s", "mdav")
    assert "MDAV loses less than P-S" in plain(app)
    assert "w_best_setting" not in [toggle.key for toggle in app.toggle]
    choose(app, w_first="mdav")
    assert "MDAV against itself" in plain(app)
    assert not figures(app)


def test_two_settings_of_an_algorithm_have_different_colors():
    assert duel_colors("v-mdav", "v-mdav-best") == (theme.style("v-mdav").color, theme.NEUTRAL)
    assert duel_colors("mdav-star", "mdav") == (theme.style("mdav-star").color, theme.style("mdav").color)


@pytest.mark.parametrize(("above", "at_k"), [("best", "0"), ("floor", "5")])
def test_matrix_has_a_row_for_each_method_the_best_first(above, at_k):
    app = open_page("landscape", data="wine", view="matrix", above=above, at_k=at_k)
    table = landscape.matrix(int(at_k) or None, above)
    [cells] = bars(app)
    assert cells["y"] == [landscape.title(name) for name in table.index]
    assert cells["x"][-1] == "mean"
    for shown, (_, line) in zip(cells["text"], table.iterrows(), strict=True):
        assert [text == "" for text in shown] == line.isna().tolist()
        if shown[0]:
            assert float(shown[0]) == pytest.approx(line["census"], abs=0.5)
    assert landscape.title(table.index[0]) in plain(app)
    choose(app, w_at_k=10)
    assert app.query_params["at_k"] == "10"
    assert "At k = 10, " in plain(app)


@pytest.mark.parametrize("on", ["", "census"])
def test_loss_and_time_draws_what_is_worth_trying(on):
    app = open_page("landscape", data="wine", view="time", on=on)
    table = landscape.pareto(on or None)
    front = table[table["front"]]
    line, others, best = (trace for figure in figures(app) for trace in figure["data"])
    assert best["text"] == front["title"].tolist() == app.dataframe[0].value["title"].tolist()
    assert len(others["text"]) == len(table) - len(front)
    assert len(decode(line["x"])) == len(front)
    assert f"{len(front)} of {len(table)} methods" in plain(app)


def test_the_address_says_what_is_compared():
    app = open_page("landscape", data="wine", view="nothing", at_k="21", first="nothing")
    assert "view=nothing, at_k=21, first=nothing" in app.warning[0].value
    choose(app, w_view="time")
    assert app.query_params["view"] == "time"
    choose(app, w_on="simc")
    assert app.query_params["on"] == "simc"
