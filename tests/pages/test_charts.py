"""Figures, drawn without a page."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg import ALGORITHMS
from microagg.taxonomy import Taxonomy
from pages.ui.charts import curves, measures, taxonomy, theme

#: The methods that are compared on numbers at first.
USUAL = ("mdav", "mdav-plus", "v-mdav", "mdav-star")


def test_every_algorithm_has_a_color_and_look_of_its_own():
    styles = [theme.style(key) for key in ALGORITHMS]
    assert len(set(styles)) == len(styles)
    usual = [theme.style(key).color for key in USUAL]
    assert len(set(usual)) == len(usual)


def runs(ks, **columns):
    """Return rows of a sweep over ``ks``: for each method its values of a measure."""
    parts = []
    for name, values in columns.items():
        part = pd.DataFrame({"k": list(ks), "information_loss": values, "unpolished": values, "sse": values})
        labels = {"method": name, "variant": name, "title": name.upper(), "label": name.upper(), "params": "<b>"}
        parts.append(part.assign(**labels, n_groups=2, smallest_group=3, largest_group=4, seconds=[0.1, 0.4, 0.2]))
    return pd.concat(parts, ignore_index=True)


def test_points_carry_the_method_and_k_that_a_click_chooses():
    rows = runs([2, 3, 4], mdav=[1.0, 2, 3], md=[2.0, 2, 6])
    for name in measures.NUMBERS:
        figure = curves.measure_curves(rows, name, selected=("md", 3))
        lines = {trace.name: trace for trace in figure.data}
        assert [list(point[:2]) for point in lines["MD"].customdata] == [["md", 2], ["md", 3], ["md", 4]]
        assert list(lines["chosen"].x) == [3]
        assert list(lines["chosen"].y) == [lines["MD"].y[1]]
        assert "&lt;b&gt;" in lines["MD"].hovertext[0]
    excess = curves.measure_curves(rows, "excess")
    assert [list(trace.y) for trace in excess.data] == [[0, 0, 0], [100, 0, 100]]


def test_values_of_k_far_apart_are_drawn_on_a_logarithmic_axis_and_a_range_is_not():
    def axis(ks):
        return curves.measure_curves(runs(ks, mdav=[1.0, 2, 3]), "information_loss", limit=50).layout.xaxis

    assert axis([2, 3, 4]).type is None
    assert axis([2, 10, 50]).type == "log"
    assert list(axis([2, 10, 50]).tickvals) == [2, 10, 50]


def test_the_largest_acceptable_loss_does_not_stretch_the_axis():
    figure = curves.measure_curves(runs([2, 3, 4], mdav=[1.0, 2, 3]), "information_loss", limit=50)
    assert figure.layout.yaxis.range[1] == pytest.approx(3 * 1.06)


def test_a_large_taxonomy_is_drawn_down_to_a_level():
    tree = Taxonomy.from_nested(
        {"*": {f"a{i}": {f"b{i}.{j}": [f"c{i}.{j}.{h}" for h in range(9)] for j in range(9)} for i in range(9)}}
    )
    figure, depth = taxonomy.taxonomy(tree, {})
    assert depth == 2
    assert len(figure.data[0].labels) == 1 + 9 + 81


def test_whole_numbers_are_drawn_as_many_in_each_bin():
    [bars] = taxonomy.numbers(np.repeat(np.arange(17.0, 91.0), 3), (30, 40), "value").data
    assert list(bars.y) == [6] * 37
    assert sum(taxonomy.numbers(np.array([0.25, 0.5, 7.75]), (0, 1), "value").data[0].y) == 3
    assert sum(taxonomy.numbers(np.full(5, 2.0), (2, 2), "value").data[0].y) == 5
