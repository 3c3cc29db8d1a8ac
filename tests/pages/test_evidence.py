"""The page Evidence: methods compared, printed figures, best known partitions, and the addresses of before."""

import re

import numpy as np
import pandas as pd
import pytest

from microagg import datasets
from microagg.studies import landscape, literature
from pages.evidence import figures as evidence_figures
from pages.evidence.compare import duel_colors
from pages.shared import state, theme
from pages.shared.text import percent
from tests.pages.helpers import (
    FLOOR,
    choose,
    decode,
    errors,
    figures,
    lines,
    metrics,
    open_page,
    plain,
    traces,
    unescaped,
    words,
)

COUNTS = r"\*\*(\d+) of 431 .*?, (\d+) more .*?; (\d+) differ .*?(\d+) are .*? (\d+) are not .*? (\d+)"


def bars(app):
    return [figure["data"][0] for figure in figures(app)]


@pytest.mark.parametrize(
    ("page", "query", "shows"),
    [
        ("evidence", {}, "MDAV* has lower loss than V-MDAV"),
        ("landscape", {}, "MDAV* has lower loss than V-MDAV"),
        ("landscape", {"view": "time", "on": "wine"}, "worth trying"),
        ("published", {}, "reproduced exactly"),
        ("published", {"paper": "mortazavi-2013"}, "reproduced exactly"),
        ("published", {"stored": "adult", "against": "records"}, "all 30,162 complete records"),
        ("published", {"stored": "beyond"}, "cells the best known partition has lower loss than every printed figure"),
        ("published", {"stored": "best", "best_of": "wine", "best_k": "7"}, "The widest gap is"),
    ],
)
def test_addresses_of_before_lead_to_the_same_view(page, query, shows):
    app = open_page(page, data="wine", **query)
    assert not errors(app)
    assert not app.warning
    assert [title.value for title in app.title] == ["Evidence"]
    assert shows in plain(app)
    assert {name: app.query_params[name] for name in query if name != "stored"} == {
        name: value for name, value in query.items() if name != "stored"
    }


def test_duel_of_the_latest_against_its_forerunner_is_shown_first_and_any_two_can_be_compared():
    app = open_page("evidence", data="wine")
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
    assert "MDAV* has lower loss than V-MDAV on 5 of 7 data sets, and higher loss on 2" in plain(app)
    # All panels have the same axes.
    assert len({tuple(figure["layout"]["yaxis"]["range"]) for figure in figures(app)}) == 1
    assert set(app.query_params) == {"data"}
    app = choose(open_page("evidence", data="wine", first="cbfs", rival="mdav"), w_first="p-s")
    assert (app.query_params["first"], app.query_params["rival"]) == ("p-s", "mdav")
    assert "MDAV has lower loss than P-S" in plain(app)
    choose(app, w_first="mdav")
    assert "MDAV is compared with itself" in plain(app)
    assert not figures(app)


def test_two_settings_of_an_algorithm_have_different_colors():
    assert duel_colors("v-mdav", "v-mdav-best") == (theme.style("v-mdav").color, theme.NEUTRAL)


@pytest.mark.parametrize(("above", "at_k"), [("best", "0"), ("floor", "5")])
def test_matrix_has_a_row_for_each_method_the_best_first(above, at_k):
    app = open_page("evidence", data="wine", view="matrix", above=above, at_k=at_k)
    table = landscape.matrix(int(at_k) or None, above)
    [cells] = bars(app)
    assert cells["y"] == [landscape.title(name) for name in table.index]
    assert cells["x"][-1] == "mean"
    for shown, (_, line) in zip(cells["text"], table.iterrows(), strict=True):
        assert [text == "" for text in shown] == line.isna().tolist()
        if shown[0]:
            assert float(shown[0].removeprefix("<")) == pytest.approx(line["census"], abs=0.5)
    assert landscape.title(table.index[0]) in plain(app)
    choose(app, w_at_k=10)
    assert app.query_params["at_k"] == "10"
    assert "At k = 10, " in plain(app)


def test_the_address_says_what_is_compared():
    app = open_page("evidence", data="wine", view="nothing", at_k="21", first="nothing")
    assert "view=nothing, at_k=21, first=nothing" in app.warning[0].value
    choose(app, w_view="time")
    assert app.query_params["view"] == "time"
    choose(app, w_on="simc")
    assert app.query_params["on"] == "simc"


@pytest.mark.slow
@pytest.mark.parametrize("paper", literature.PAPERS)
def test_printed_figures_of_every_paper_and_table(paper):
    app = open_page("evidence", stored="printed", paper=paper)
    for table in dict.fromkeys(figure.table for figure in literature.figures() if figure.paper == paper):
        choose(app, w_table=table)
        assert not app.error
        assert sum(map(int, re.search(COUNTS, words(app)).groups())) == 431
        printed = [f for f in literature.figures() if (f.paper, f.table) == (paper, table)]
        assert len(app.dataframe[0].value) == len(printed)
        assert "remark" not in app.dataframe[0].value.columns
        remarks = [line for each in app.caption for line in unescaped(str(each.value)).split("  \n")]
        for figure in printed:
            if figure.remark:
                [own] = [words for words in remarks if words.endswith(f": {figure.remark}")]
                [ks] = re.findall(rf"\b{re.escape(figure.dataset)} \(k = ([\d, ]+)\)", own)
                assert figure.method in own
                assert str(figure.k) in ks.split(", ")


@pytest.mark.parametrize("paper", state.PAPERS)
def test_coverage_of_each_paper_is_listed(paper):
    app = open_page("evidence", stored="printed", paper=paper)
    items = literature.coverage(literature.Stored.read(evidence_figures.RESULTS).results)
    items = items[items["paper"] == paper]
    table = app.table[-1].value
    for shown, row in zip(table.itertuples(index=False), items.itertuples(), strict=True):
        assert shown.Item.replace("\\", "").startswith(f"**{row.item}**")
        assert shown.Verdict.startswith(f"**{row.verdict.capitalize()}**")
    assert any(f"{len(items)} tables, figures" in each.label for each in app.expander)


@pytest.mark.parametrize("against", state.AGAINST)
def test_stored_results_on_adult_are_drawn(against, monkeypatch, tmp_path):
    results = pd.read_csv(evidence_figures.RESULTS / "adult.csv")
    # A measure that only numbers have is chosen: the first of those for categories is shown.
    query = {"data": "wine", "stored": "printed", "paper": "byun-2007", "against": against, "measure": "seconds"}
    app = open_page("evidence", **query)
    assert not app.error
    part = results[(results["experiment"] == against) & (results["label"] == "Greedy k-member")]
    if against == "class_penalty":
        [drawn] = lines(app).values()
        assert len(drawn) == (results["experiment"] == against).sum()
    else:
        assert np.allclose(lines(app)["Greedy k-member"], part["seconds"])
        app = choose(app, w_stored_measure="information_loss")
        assert np.allclose(lines(app)["Greedy k-member"], part["information_loss"])
    # Lower bounds are stored for all records at each k, not for fewer records.
    assert (FLOOR in lines(app)) == (against == "k")
    if against == "k":
        assert list(traces(app)[FLOOR]["x"]) == sorted(part["k"])
        assert (lines(app)[FLOOR] < lines(app)["Greedy k-member"]).all()
    assert "python benchmarks/adult.py" in [code.value for code in app.code]
    # Without stored results, the command that makes them stands there.
    monkeypatch.setattr(evidence_figures, "RESULTS", tmp_path)
    app = open_page("evidence", **query)
    assert [code.value for code in app.code] == ["python benchmarks/adult.py"]
    assert not figures(app)


def test_best_known_partitions_are_set_against_the_lowest_printed_figures():
    app = open_page("evidence", stored="best")
    printed = literature.lowest_printed()
    best = [landscape.best(row.data, row.k) for row in printed.itertuples()]
    stored = np.array([each.information_loss for each in best])
    lowest = printed["printed"].to_numpy()
    bars = lines(app, 1)
    assert bars["best known partition"] == pytest.approx(100 * (lowest - stored) / lowest)
    floor = np.array([each.bound.information_loss for each in best])
    assert bars["between it and the lower bound"] == pytest.approx(100 * (stored - floor) / lowest)


@pytest.mark.parametrize(("data", "k"), [("wine", 3), ("simc", 20), ("adult", 10)])
def test_the_best_known_partition_of_a_cell_is_shown_and_offered(data, k):
    app = open_page("evidence", stored="best", best_of=data, best_k=str(k))
    best, shown = landscape.best(data, k), metrics(app)
    assert shown["Information loss"] == percent(best.information_loss, 4)
    assert shown["Groups"] == f"{best.partition.n_groups:,}"
    assert (shown["Gap"] == "0, proven optimal") == best.optimal
    assert f"--data {data} --k {k}" in app.code[1].value


def test_where_a_k_is_not_stored_the_first_one_is_shown():
    app = open_page("evidence", stored="best", best_of="adult", best_k="3")
    assert app.selectbox(key="w_best_k").value == 2
