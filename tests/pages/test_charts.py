"""Figures, drawn without a page."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import ALGORITHMS
from microagg.taxonomy import Taxonomy
from pages.ui import state
from pages.ui.charts import clusters, measures, taxonomy, theme


def test_every_algorithm_has_a_color_and_look_of_its_own():
    styles = [theme.style(key) for key in ALGORITHMS]
    assert len(set(styles)) == len(styles)
    fixed = [theme.style(key).color for key in state.DEFAULT_METHODS]
    assert len(set(fixed)) == len(fixed)


def test_a_large_set_is_drawn_as_a_sample_that_is_said_to_be_one():
    points = np.random.default_rng(0).normal(size=(clusters.MOST_POINTS + 5, 2))
    view = clusters.View.of(points, ("a", "b"))
    assert len(view.shown) == clusters.MOST_POINTS
    labels = np.arange(len(points)) // 5
    figure = clusters.clusters(view, labels, np.ones(len(points)), range(len(points)))
    [records] = [trace for trace in figure.data if trace.name.startswith("record")]
    assert len(records.x) == clusters.MOST_POINTS


def test_outlines_survive_points_on_a_line_and_duplicates():
    points = np.array([[0, 0], [1, 1], [2, 2], [5, 5], [5, 5], [7, 1], [8, 1], [7, 3], [8, 3]], dtype=float)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2, 2])
    figure = clusters.clusters(clusters.View.of(points, ("a", "b")), labels, np.zeros(9), range(9))
    assert len(figure.data) == 5


@pytest.mark.parametrize(("n", "k"), [(7, 3), (12, 3), (11, 4), (5, 5), (8, 1), (5, 3)])
def test_least_discernibility_is_that_of_the_best_sizes(n, k):
    def sizes(left, least):
        if left == 0:
            yield ()
        for size in range(least, left + 1):
            yield from ((size, *others) for others in sizes(left - size, size))

    assert measures.least_discernibility(n, k) == min(sum(s * s for s in found) for found in sizes(n, k))


def test_a_large_taxonomy_is_drawn_down_to_a_level():
    tree = Taxonomy.from_nested(
        {"*": {f"a{i}": {f"b{i}.{j}": [f"c{i}.{j}.{h}" for h in range(9)] for j in range(9)} for i in range(9)}}
    )
    figure, depth = taxonomy.taxonomy(tree, {})
    assert depth == 2
    assert len(figure.data[0].labels) == 1 + 9 + 81


def test_whole_numbers_are_drawn_as_many_in_each_bin():
    [bars] = taxonomy.numbers(np.repeat(np.arange(17.0, 91.0), 3), (30, 40)).data
    assert list(bars.y) == [6] * 37
    assert sum(taxonomy.numbers(np.array([0.25, 0.5, 7.75]), (0, 1)).data[0].y) == 3
    assert sum(taxonomy.numbers(np.full(5, 2.0), (2, 2)).data[0].y) == 5
