"""What is computed over the stored comparison, against figures worked out by hand, and what it says."""

import doctest
import re

import numpy as np
import pandas as pd
import pytest

from microagg import ParameterError
from microagg.studies import landscape
from microagg.studies.landscape import conclusions, store
from tests.studies.small import small

__all__ = ["small"]


def row(table, **where):
    """Return the only row with these values."""
    for name, value in where.items():
        table = table[table[name] == value]
    assert len(table) == 1, table
    return table.iloc[0]


def test_results_are_means_over_the_seeds(small):
    table = landscape.results()
    own = row(table, data="simu", method="mdav", k=2)
    # Losses 40 and 50 of 10; the lowest known are 30 and 50, the floors 15 and 20.
    assert (own["seeds"], own["information_loss"], own["sse"]) == (2, 45, 4.5)
    assert own["information_loss_sd"] == pytest.approx(50**0.5)
    assert own["above_best"] == pytest.approx((100 / 3 + 0) / 2)
    assert own["above_floor"] == pytest.approx((100 * 25 / 15 + 150) / 2)
    assert (own["smallest_group"], own["largest_group"], own["title"]) == (2, 3, "MDAV")
    alone = row(table, data="census", method="mdav", k=2)
    assert alone["seeds"] == 1
    assert np.isnan(alone["information_loss_sd"])
    # The search has found 8, which no method reaches.
    assert alone["above_best"] == pytest.approx(150)
    # Two seeds of a randomized algorithm on the same records: 30 and 50 against 8.
    assert row(table, data="census", method="k-member", k=2)["above_best"] == pytest.approx((275 + 525) / 2)
    # A floor of 0 is no measure.
    assert np.isnan(row(table, data="eia", method="mdav", k=2)["above_floor"])


def test_duel_compares_on_the_same_records_and_names_the_winner(small):
    table = landscape.duel("mdav-star", "mdav")
    assert table["data"].tolist() == ["census", "census", "simu"]
    first = row(table, data="census", k=2)
    assert (first["first"], first["second"], first["less"], first["winner"]) == (10, 20, 50, "mdav-star")
    assert row(table, data="census", k=3)["winner"] == ""
    # 30 against 40 is 25 % less, 50 against 60 is 16.7 % less.
    both = row(table, data="simu", k=2)
    assert both["less"] == pytest.approx((25 - 100 / 6) / 2)
    assert both["less_sd"] == pytest.approx((25 + 100 / 6) / 2**0.5)
    assert both["winner"] == "mdav-star"
    back = row(landscape.duel("mdav", "mdav-star"), data="census", k=2)
    assert (back["less"], back["winner"]) == (-50, "mdav-star")


def test_duel_with_a_randomized_algorithm_takes_each_of_its_runs(small):
    [own] = landscape.duel("mdav", "k-member").to_dict("records")
    # 20 against 30 and 50: a third and three fifths less.
    assert own["less"] == pytest.approx((100 / 3 + 60) / 2)
    assert own["second"] == 40
    [itself] = landscape.duel("k-member", "k-member").to_dict("records")
    assert (itself["less"], itself["winner"]) == (0, "")


def test_a_method_that_was_not_run_everywhere_has_no_mean_and_comes_last(small, monkeypatch):
    monkeypatch.setattr(conclusions, "DATA", ("census", "simu"))
    table = landscape.matrix(2)
    assert list(table.columns) == ["census", "simu", "mean"]
    assert list(table.index[:4]) == ["mdav-star", "mdav", "v-mdav-best", "k-member"]
    assert table.loc["mdav-star"].tolist() == pytest.approx([25, 10, 17.5])
    assert table.loc["v-mdav-best", "census"] == pytest.approx(50)
    assert np.isnan(table.loc["v-mdav-best", "mean"])
    assert landscape.matrix(2, "floor").loc["mdav-star", "census"] == pytest.approx(100)
    # No method has every k here, so that no mean over k is comparable.
    assert landscape.matrix()["mean"].isna().all()


def test_front_is_what_no_other_method_surpasses(small, monkeypatch):
    table = landscape.pareto("census", 2)
    assert table["method"].tolist() == ["mdav", "mdav-star", "k-member", "v-mdav-best"]
    assert table["seconds"].tolist() == pytest.approx([0.1, 0.2, 0.2, 0.8])
    assert table["front"].tolist() == [True, True, False, False]
    monkeypatch.setattr(conclusions, "DATA", ("census", "simu"))
    every = landscape.pareto(k=2)
    assert every["method"].tolist() == ["mdav", "mdav-star"]
    assert every["above_best"].tolist() == pytest.approx([(150 + 50 / 3) / 2, (25 + 10) / 2])
    assert every["seconds"].tolist() == pytest.approx([0.1, 0.2])


def test_what_was_not_run_is_listed(small):
    table = landscape.incomplete()
    assert row(table, method="mdav", data="census")["ks"] == (2, 3)
    assert row(table, method="imhm", data="eia")["ks"] == ()


def test_the_examples_of_docstrings_are_right():
    for module in (landscape, store):
        result = doctest.testmod(module)
        assert result.attempted >= 3
        assert result.failed == 0


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: landscape.duel("mdav", "nothing"), "'nothing'"),
        (lambda: landscape.matrix(21), "k = 21"),
        (lambda: landscape.matrix(above="all"), "above must be one of 'best', 'floor'"),
        (lambda: landscape.pareto("adult"), "no stored results on 'adult'"),
    ],
)
def test_what_is_not_there_is_said(small, call, says):
    with pytest.raises(ParameterError, match=says):
        call()


def duel(**less):
    """Return a duel of MDAV* against MDAV with these differences, a list over k for each data set."""
    rows = [
        {"data": data, "k": k, "less": own, "winner": "mdav-star" if own > 0 else "mdav" if own < 0 else ""}
        for data, values in less.items()
        for k, own in enumerate(values, 2)
    ]
    return pd.DataFrame(rows)


def test_a_duel_says_who_wins_on_how_many_data_sets_and_values_of_k():
    table = duel(census=[4, 2], eia=[11, 13.6], wine=[-5, -1.04])
    says = conclusions.describe_duel(table, "mdav-star", "mdav")
    assert says == "MDAV* has lower loss than MDAV on 2 of 3 data sets, and higher loss on 1"
    assert re.search("MDAV[*] .* 4 of 6 .* MDAV at 2", conclusions.describe_wins(table, "mdav-star", "mdav"))
    assert "3.0 % lower with MDAV" in conclusions.describe_panel(table[table["data"] == "wine"], "mdav-star", "mdav")
    back = conclusions.describe_duel(duel(census=[-4.0], eia=[-2.0]), "mdav-star", "mdav")
    assert back == "MDAV has lower loss than MDAV* on all 2 data sets"
    same = duel(census=[0.04, -0.04])
    for describe in (conclusions.describe_duel, conclusions.describe_panel):
        says = describe(same, "mdav-star", "mdav")
        assert "the same" in says
    assert "with itself" in conclusions.describe_duel(same, "mdav", "mdav")
    assert "not run on the same" in conclusions.describe_duel(same.iloc[:0], "mdav", "rimhm")


def test_a_matrix_says_the_best_and_the_best_without_a_search():
    means = {"least-loss": 0.31, "local-search": 2.04, "mdav-2": 15.0, "mdav": 22.2, "projection": 310.4}
    table = pd.DataFrame({"mean": {**means, "imhm": np.nan}})
    says = conclusions.describe_matrix(table)
    assert re.search("Least loss is 0.31 % .*; MDAV-2, .* 15 %$", says)
    says = conclusions.describe_matrix(table.drop(index=["least-loss", "local-search"]), "floor", 5)
    assert re.search("k = 5, MDAV-2 is 15 % above the lower bound$", says)
    assert "k = 9" in conclusions.describe_matrix(table.loc[["imhm"]], k=9)
    assert landscape.title("v-mdav-best") == "V-MDAV (best γ)"
    with pytest.raises(ParameterError, match="not 'nope'"):
        landscape.title("nope")
