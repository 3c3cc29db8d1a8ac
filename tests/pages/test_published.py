"""The page Published results."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from benchmarks import quality
from microagg.studies import landscape, literature
from pages.published import evidence
from pages.shared import state
from pages.shared.text import percent
from tests.conftest import load_benchmark
from tests.pages.helpers import FLOOR, choose, lines, metrics, open_page, plain, press, traces, words

COUNTS = r"\*\*(\d+) of 406 .*?, (\d+) more .*?; (\d+) differ .*?(\d+) are .*? (\d+) are not .*? (\d+)"


@pytest.mark.slow
@pytest.mark.parametrize("paper", literature.PAPERS)
def test_published_results_of_every_paper_and_table(paper):
    app = open_page("published", paper=paper)
    for table in dict.fromkeys(figure.table for figure in literature.figures() if figure.paper == paper):
        choose(app, w_table=table)
        assert not app.error
        assert sum(map(int, re.search(COUNTS, words(app)).groups())) == 406
        printed = [f for f in literature.figures() if (f.paper, f.table) == (paper, table)]
        assert len(app.dataframe[0].value) == len(printed)
        assert "remark" not in app.dataframe[0].value.columns
        remarks = [str(caption.value).replace("\\", "") for caption in app.caption]
        for figure in printed:
            if figure.remark:
                [own] = [words for words in remarks if words.endswith(f": {figure.remark}")]
                [ks] = re.findall(rf"\b{re.escape(figure.dataset)} \(k = ([\d, ]+)\)", own)
                assert figure.method in own
                assert str(figure.k) in ks.split(", ")


@pytest.mark.slow
def test_published_results_say_why_pairwise_systematic_is_not_comparable():
    load_benchmark("tarragona")
    readings = open_page("published", paper="kabir-2010").table[0].value
    assert readings["Printed"].tolist() == ["5.494 %", "8.329 %", "10.87 %", "17.01 %"]
    assert readings["Floor, scaled data"].tolist() == ["9.855 %", "12.17 %", "13.93 %", "19.22 %"]


@pytest.mark.slow
def test_published_results_can_be_computed_here():
    app = open_page("published", paper="thaeter-reischuk", table="One-dimensional example")
    press(app, "Compute this table")
    assert "2 figures computed here" in words(app)
    assert app.dataframe[0].value["verdict"].tolist() == ["to the last digit"] * 2


def test_losses_and_floors_are_set_against_the_lowest_printed_figures(monkeypatch, tmp_path):
    app = open_page("published", stored="beyond")
    rows = quality.stored()
    below = sum(float(row["search"]) < float(row["printed"]) for row in rows.values())
    assert f"In {below} of {len(rows)} cells" in words(app)
    [table] = [frame.value for frame in app.dataframe if "floor" in frame.value]
    assert len(table) == len(rows)
    assert (table["floor"] <= table["search"]).all()
    assert "Proven optimal: Tarragona at k = 3, Census at k = 3" in words(app)
    # Those that are missing name their command.
    monkeypatch.setattr(evidence, "RESULTS", tmp_path)
    assert "benchmarks/quality.py makes them" in words(open_page("published", stored="beyond"))
    assert open_page("published", data="wine", stored="adult").code[0].value == "python benchmarks/adult.py"


@pytest.mark.parametrize("against", state.AGAINST)
def test_stored_results_on_adult_are_drawn(against):
    stored = pd.read_csv(evidence.RESULTS / "adult.csv")
    # A measure that only numbers have is chosen: the first of those for categories is shown.
    app = open_page("published", data="wine", stored="adult", against=against, measure="excess")
    assert not app.error
    part = stored[(stored["experiment"] == against) & (stored["label"] == "Greedy k-member")]
    if against == "class_penalty":
        assert len(lines(app)[None]) == (stored["experiment"] == against).sum()
    else:
        assert np.allclose(lines(app)["Greedy k-member"], part["information_loss"])
    # What is proven is stored for all records at each k, not for fewer records.
    assert (FLOOR in lines(app)) == ("The gray floor is proven" in words(app)) == (against == "k")
    if against == "k":
        assert list(traces(app)[FLOOR]["x"]) == sorted(part["k"])
        assert (lines(app)[FLOOR] < lines(app)["Greedy k-member"]).all()
    assert "python benchmarks/adult.py" in [code.value for code in app.code]
    assert app.query_params["measure"] == "excess"


@pytest.mark.parametrize(("data", "k"), [("wine", 3), ("simc", 20), ("adult", 10)])
def test_the_best_partition_known_of_a_cell_is_shown_and_offered(data, k):
    app = open_page("published", stored="best", best_of=data, best_k=str(k))
    limits = landscape.limits()
    proven = (limits["stored"] <= limits["floor"] * (1 + 2e-7)).sum()
    assert f"{len(limits)} cells" in plain(app)
    assert f"{proven} are proven optimal" in plain(app)
    known, shown = landscape.best(data, k), metrics(app)
    assert shown["Loss of the best partition"] == percent(known.information_loss, 6)
    assert shown["Groups"] == f"{known.partition.n_groups:,}"
    assert (shown["Above the optimum at most"] == "0, it is optimal") == known.optimal
    assert f"--data {data} --k {k}" in app.code[1].value


def test_where_a_k_is_not_stored_the_first_one_is_shown():
    app = open_page("published", stored="best", best_of="adult", best_k="3")
    assert app.selectbox(key="w_best_k").value == 2
