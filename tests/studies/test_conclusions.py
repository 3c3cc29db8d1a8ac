"""What the comparisons say."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import ParameterError
from microagg.studies import landscape
from microagg.studies.landscape import conclusions
from tests.studies.small import small

__all__ = ["small"]


def duel(**less):
    """Return a duel of MDAV* against MDAV with these differences, a list over k for each data set."""
    rows = [
        {"data": data, "k": k, "less": own, "winner": "mdav-star" if own > 0 else "mdav" if own < 0 else ""}
        for data, values in less.items()
        for k, own in enumerate(values, 2)
    ]
    return pd.DataFrame(rows)


def test_a_duel_says_who_wins_where_and_by_how_much():
    table = duel(census=[4, 2], eia=[11, 13.6], wine=[-5, -1.04])
    assert conclusions.of_duel(table, "mdav-star", "mdav") == (
        "MDAV* loses less than MDAV on 2 of 3 data sets: by 12 % on EIA and 3.0 % on Census; MDAV loses less by 3.0 % "
        "on Wine"
    )
    assert conclusions.of_wins(table, "mdav-star", "mdav") == "MDAV* wins at 4 of 6 values of k, MDAV at 2"
    assert conclusions.of_panel(table[table["data"] == "wine"], "mdav-star", "mdav") == "MDAV loses 3.0 % less"


def test_a_duel_is_told_from_the_side_of_whoever_wins_more():
    assert conclusions.of_duel(duel(census=[-4.0], eia=[-2.0]), "mdav-star", "mdav") == (
        "MDAV loses less than MDAV* on all 2 data sets: by 4.0 % on Census and 2.0 % on EIA"
    )
    same = duel(census=[0.04, -0.04])
    assert conclusions.of_duel(same, "mdav-star", "mdav") == "MDAV* and MDAV lose the same on Census"
    assert conclusions.of_panel(same, "mdav-star", "mdav") == "both lose the same on average"
    assert "against itself" in conclusions.of_duel(same, "mdav", "mdav")
    assert "not run on the same data sets" in conclusions.of_duel(same.iloc[:0], "mdav", "rimhm")


def test_a_matrix_says_the_best_the_best_without_a_search_and_the_worst():
    means = {"local-search": 2.04, "mdav-2": 15.0, "mdav": 22.2, "projection": 310.4, "imhm": np.nan}
    table = pd.DataFrame({"mean": means})
    assert conclusions.of_matrix(table) == (
        "On average over k, Local search loses 2.0 % more than the lowest loss known, MDAV-2, the best without a "
        "search, 15 %; 2 of 4 methods lose over 20 % more, Projection 310 %"
    )
    assert conclusions.of_matrix(table.drop(index="local-search"), "floor", 5) == (
        "At k = 5, MDAV-2 loses 15 % more than what is proven to be unavoidable; 2 of 3 methods lose over 20 % more, "
        "Projection 310 %"
    )
    assert conclusions.of_matrix(table.loc[["imhm"]], k=9) == "No method was run on every data set at k = 9"


def test_the_front_says_how_many_are_worth_trying(small):
    table = landscape.pareto("census", 2)
    assert conclusions.of_pareto(table, 2) == (
        "2 of 4 methods are worth trying at k = 2: for each of the other 2, one of them is as good in loss and time, "
        "to within 1 % and 20 %"
    )
    assert "Each of these 2 methods is worth trying: " in conclusions.of_pareto(table[table["front"]])


def test_a_method_that_was_not_measured_has_no_title():
    assert landscape.title("v-mdav-best") == "V-MDAV (best γ)"
    with pytest.raises(ParameterError, match="not 'nope'"):
        landscape.title("nope")
