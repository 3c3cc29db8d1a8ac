"""Figures, drawn without a page."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest

from microagg.algorithms.method import VARIANTS
from microagg.optimum.bounds import Bound
from pages.data import panel
from pages.shared import curves, measures, theme
from pages.shared.figures import table


def test_every_algorithm_has_a_color_and_look_of_its_own():
    assert len({theme.style(name) for name in VARIANTS}) == len(VARIANTS)
    assert len({theme.style(key).color for key in ("mdav", "mdav-plus", "v-mdav", "mdav-star")}) == 4


def runs(ks, **columns):
    """Return rows of a sweep over ``ks``: for each method its values of a measure."""
    parts = []
    for name, values in columns.items():
        part = pd.DataFrame({"k": list(ks), "information_loss": values, "unpolished": values, "sse": values})
        labels = {"method": name, "variant": name, "title": name.upper(), "label": name.upper(), "params": "<b>"}
        parts.append(part.assign(**labels, n_groups=2, smallest_group=3, largest_group=4, seconds=[0.1, 0.4, 0.2]))
    return pd.concat(parts, ignore_index=True)


def test_a_measure_without_values_has_a_chart_without_names():
    assert not curves.measure_curves(runs([2, 3, 4], mdav=[np.nan] * 3), "information_loss").layout.annotations


def test_points_carry_the_method_and_k_that_a_click_chooses():
    rows = runs([2, 3, 4], mdav=[1.0, 2, 3], md=[2.0, 2, 6])
    for name in measures.NUMBERS:
        figure = curves.measure_curves(rows, name, selected=("md", 3))
        lines = {trace.name: trace for trace in figure.data}
        assert [list(point[:2]) for point in lines["MD"].customdata] == [["md", 2], ["md", 3], ["md", 4]]
        assert list(lines["chosen"].x) == [3]
        assert list(lines["chosen"].y) == [lines["MD"].y[1]]


def of_kind(figure, name):
    return [trace for trace in figure.data if trace.name == name]


def lines_of(figure):
    return {trace.name: list(trace.y) for trace in figure.data if trace.name}


def test_what_a_search_found_lowers_the_lowest_loss_there_and_at_smaller_k():
    rows = runs([2, 3, 4], mdav=[2.0, 2, 3], md=[2.0, 4, 6])
    rows = pd.concat([rows, runs([3, 4, 5], found=[1.0, 9, 9]).iloc[:1]])
    floor = [Bound(k, 1.0, 1.0, 0.0) for k in (2, 3, 4)]
    lines = lines_of(curves.measure_curves(rows, "information_loss", floor=floor))
    assert lines["lower bound"] == [1, 1, 1]
    assert lines["lowest loss"] == [1, 1, 3]


def test_targets_of_clicks_cover_the_axis_without_gap_or_overlap():
    for ks in ([2, 3, 4], [2, 10, 50]):
        figure = curves.measure_curves(runs(ks, mdav=[1.0, 2, 3], md=[2.0, 3, 4]), "information_loss")
        span = [10**end if figure.layout.xaxis.type == "log" else end for end in figure.layout.xaxis.range]
        for target in of_kind(figure, "k"):
            left = [k + off for k, off in zip(target.x, target.offset, strict=True)]
            right = [start + width for start, width in zip(left, target.width, strict=True)]
            assert left == pytest.approx([span[0], *right[:-1]])
            assert right[-1] == pytest.approx(span[1])
            assert all(start < k < end for start, k, end in zip(left, ks, right, strict=True))
    assert curves.edges([2, 8], (1, 10), steep=True) == [1, 4, 10]


def test_values_of_k_far_apart_have_a_logarithmic_axis_and_the_acceptable_loss_does_not_stretch_one():
    for ks, kind in (([2, 3, 4], None), ([2, 10, 50], "log")):
        figure = curves.measure_curves(runs(ks, mdav=[1.0, 2, 3]), "information_loss", limits=(None, 50))
        assert (figure.layout.xaxis.type, list(figure.layout.xaxis.tickvals)) == (kind, ks)
        assert figure.layout.yaxis.range[1] == pytest.approx(3.12)


def test_whole_numbers_are_drawn_as_many_in_each_bin():
    [bars] = panel.numbers(np.repeat(np.arange(17.0, 91.0), 3)).data
    assert list(bars.y) == [6] * 37
    assert sum(panel.numbers(np.array([0.25, 0.5, 7.75])).data[0].y) == 3
    assert sum(panel.numbers(np.full(5, 2.0)).data[0].y) == 5


def test_a_table_has_a_row_for_each_mark_named_as_the_axes_are():
    figure = go.Figure()
    figure.add_scatter(x=[1, 2], y=[10.0, 20.0], name="<b>MDAV*</b>", text=["a", "b"])
    figure.add_scatter(x=[3, None, 4], y=[30.0, None, 40.0], name="floor", xaxis="x2")
    figure.update_layout(xaxis={"title": "k"}, xaxis2={"title": "other k"}, yaxis={"title": "loss<br>(%)"})
    assert table(figure).astype(object).fillna("").to_dict("list") == {
        "shown": ["MDAV*", "MDAV*", "floor", "floor"],
        "k": [1, 2, "", ""],
        "other k": ["", "", 3, 4],
        "loss (%)": [10.0, 20.0, 30.0, 40.0],
        "text": ["a", "b", "", ""],
    }
    cells = table(go.Figure(go.Heatmap(x=["a", "b"], y=["r", "s", "t"], z=[[1, 2], [3, 4], [5, 6]])))
    assert cells["z"].tolist() == [1, 2, 3, 4, 5, 6]
    assert cells["x"].tolist() == ["a", "b"] * 3
    assert cells["y"].tolist() == ["r", "r", "s", "s", "t", "t"]
    assert table(go.Figure()).empty


def test_places_move_as_little_as_need_be():
    assert curves.spread([0.1, 0.5, 0.9], 0.1) == pytest.approx([0.1, 0.5, 0.9])
    assert curves.spread([0.2, 0.5, 0.5], 0.1) == pytest.approx([0.2, 0.45, 0.55])
    assert curves.spread([0.0, 0.0, 1.0, 1.0], 0.2) == pytest.approx([0.0, 0.2, 0.8, 1.0])
    places = np.sort(np.random.default_rng(0).uniform(size=9))
    assert np.diff(curves.spread(places, 0.1)).min() == pytest.approx(0.1)


def test_lines_are_named_at_their_ends_in_their_order_or_by_a_legend_without_room():
    rows = runs([2, 3, 4], mdav=[1.0, 2, 3], md=[2.0, 2.5, np.nan])
    figure = curves.measure_curves(rows, "information_loss", floor=[Bound(k, 1.0, 0.5, 0.0) for k in (2, 3, 4)])
    names = [note for note in figure.layout.annotations if "■" in note.text]
    assert [note.text.rpartition(" ")[2] for note in sorted(names, key=lambda note: note.ay)] == ["bound", "MD", "MDAV"]
    assert [note.y for note in names] == [0.5, 2.5, 3]
    assert not figure.layout.showlegend
    [trace] = of_kind(figure, "MD")
    assert trace.line.color in names[1].text
    long = rows.assign(title=rows["title"] + " with a name of many words")
    figure = curves.measure_curves(long, "information_loss")
    assert figure.layout.annotations[0].text.endswith("MD with a name of<br>many words")
    figure = curves.measure_curves(long, "information_loss", height=120)
    assert (figure.layout.showlegend, len(figure.layout.annotations)) == (True, 0)
