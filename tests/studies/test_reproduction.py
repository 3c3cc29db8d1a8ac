"""Tables of printed figures and ours."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from microagg.errors import ParameterError
from microagg.studies import literature
from microagg.studies.literature import Computed
from tests.conftest import load_benchmark

EXACT, RANDOM = (
    next(figure for figure in literature.figures() if figure.identity == f"thaeter-reischuk/{name}/MDAV+/3/")
    for name in ("Census", "SimU")
)


def figure(method="MDAV+", k=3, printed="5.000", kind="exact", of=EXACT):
    return dataclasses.replace(of, method=method, k=k, printed=printed, kind=kind)


def computed(value, sd=None):
    return Computed(value, sd, 25 if sd else 1, 0.0)


def test_each_figure_stands_beside_ours_with_its_digits():
    figures = [figure(), figure(k=4), figure(k=5, printed="5")]
    results = {figures[0].identity: computed(5.00049), figures[2].identity: computed(5.6)}
    table = literature.comparison(figures, results)
    assert table["printed"].tolist() == ["5.000", "5.000", "5"]
    assert table["ours"].tolist() == ["5.000", "", "6"]
    assert table["verdict"].tolist() == ["exact", "not run", "within 20 %"]
    assert table["difference"].tolist() == pytest.approx([0.0098, np.nan, 12], nan_ok=True)
    assert table["errors"].isna().all()
    assert "1 of 2 figures" in literature.conclusion(table.dropna(subset="difference"))


def test_means_over_random_data_are_told_in_standard_errors():
    figures = [dataclasses.replace(RANDOM, k=k, printed="10.0", sd=None) for k in (3, 4)]
    # Both means are over 25 sets of sd 1: the error of their difference is the root of 2 / 25.
    error = (2 / 25) ** 0.5
    results = {own.identity: computed(10 + off * error, 1.0) for own, off in zip(figures, (1, -2), strict=True)}
    table = literature.comparison(figures, results)
    assert table["ours"].tolist() == ["10.3 ± 1.0", "9.4 ± 1.0"]
    assert table["errors"].tolist() == pytest.approx([1, 2])
    assert "All 2 figures" in literature.conclusion(table)
    results[figures[1].identity] = computed(10 + 4 * error, 1.0)
    assert "1 of 2 figures" in literature.conclusion(literature.comparison(figures, results))


def test_figures_are_counted_by_how_they_are_met():
    figures = [
        *map(figure, ["MDAV+"] * 4, [3, 4, 5, 6]),
        figure(k=7, kind="incomparable"),
        figure(k=8, kind="misprint"),
    ]
    figures += [figure(k=9), dataclasses.replace(RANDOM, printed="10.0", sd=None)]
    values = [5.0, 5.04, 5.06, None, 9.0, 5.1, 6.0]
    results = {own.identity: computed(value) for own, value in zip(figures, values, strict=False) if value}
    results[figures[-1].identity] = computed(10.1, 1.0)
    assert literature.tally(figures, results) == literature.Tally(
        figures=8, exact=1, near=1, far=2, random=1, agreeing=1, incomparable=1, misprints=1
    )
    whole = literature.tally(literature.figures(), {})
    assert (whole.figures, whole.exact, whole.near, whole.agreeing) == (406, 0, 0, 0)


def test_gain_over_another_method():
    figures = [figure("MDAV", printed="8.0"), figure("IMHM", printed="6.0"), figure("IMHM", k=4), figure("MDAV", k=9)]
    results = {own.identity: computed(value) for own, value in zip(figures, (10.0, 9.0, 1.0), strict=False)}
    [row] = literature.gain_over("MDAV", figures, results).to_dict("records")
    assert row == {"data": "Census", "variant": "", "k": 3, "printed": 25.0, "ours": pytest.approx(10)}
    assert literature.gain_over("MDAV", figures, {}).empty


def test_pairwise_systematic_is_met_on_raw_data_and_impossible_on_scaled_data():
    load_benchmark("tarragona")
    read = literature.readings("tarragona", 3)
    assert read.raw == pytest.approx(5.494, rel=0.0005)
    assert read.floor == pytest.approx(9.855, abs=0.0005)
    assert read.raw < read.floor < min(read.scaled, read.mdav)
    assert read.mdav == pytest.approx(16.93, abs=0.005)


def test_a_printed_table_is_computed_by_name():
    seen = []
    table = literature.reproduce("thaeter", "one-dim", lambda *done: seen.append(done))
    assert list(table["verdict"]) == ["exact"] * 2
    assert seen == [(0, 2), (1, 2), (2, 2)]
    assert sum(count for _, _, count in literature.tables()) == len(literature.figures())
    for paper, name, says in (("2007", "", "paper must name"), ("Kabir", "IV", "table must name")):
        with pytest.raises(ParameterError, match=says):
            literature.reproduce(paper, name)
