"""What is drawn of partitions on a plane, and how large their groups are."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from plotly.colors import hex_to_rgb

from microagg.partition import Partition
from pages.clusters.figures import Side, planes, tenth_in_words
from pages.clusters.plane import MOST_POINTS, Axis, View
from pages.shared import theme
from tests.pages.helpers import contrast


def side(labels, shares, key="mdav", k=1, loss=50.0):
    return Side(key, key.upper(), Partition(labels, k), np.asarray(shares, dtype=float), loss)


def drawn(view, *sides, **how):
    index = pd.RangeIndex(len(sides[0].partition))
    return planes(view, sides, index, **({"unit": "%"} | how))


def marks(figure):
    """Return where records are drawn, and in which color, by their positions."""
    shown = [trace for trace in figure.data if trace.customdata is not None]
    rows = np.concatenate([trace.customdata[:, 0] for trace in shown]).astype(int)
    places, colors = zip(*((trace.x, trace.marker.color) for trace in shown), strict=True)
    return [np.concatenate(part)[np.argsort(rows)] for part in (places, colors)]


def test_records_without_a_place_are_not_drawn():
    points = np.array([[0.0, 0], [1, 0], [np.nan, np.nan], [5, 5], [6, 5], [9, np.nan]])
    view = View.of(Axis("x", points[:, 0]), Axis("y", points[:, 1]))
    assert list(view.rows) == [0, 1, 3, 4]
    assert view.x.range() == pytest.approx((-0.45, 9.45))
    [figure] = drawn(view, side([0, 0, 1, 1, 1, 2], [10, 10, 20, 20, 20, 20]))
    across, colors = marks(figure)
    assert across.tolist() == [0, 1, 5, 6]
    assert colors[0] == colors[1] != colors[2] == colors[3]


def test_of_many_records_a_sample_is_drawn_and_centroids_are_those_of_all():
    n = MOST_POINTS + 10
    values = np.arange(n, dtype=float)
    labels = np.arange(n) * 4 // n
    view = View.of(Axis("x", values), Axis("y", -values))
    assert len(view.rows) == MOST_POINTS
    [figure] = drawn(view, side(labels, np.full(n, 100 / n)))
    assert len(marks(figure)[0]) == MOST_POINTS
    ends = figure.data[0].x.reshape(-1, 3)[:, 1]
    assert np.unique(ends) == pytest.approx([values[labels == group].mean() for group in range(4)])


def test_many_records_are_drawn_as_one_path_of_each_color_and_a_saved_picture_has_a_mark_for_each():
    days = np.arange(400.0)
    view = View.of(Axis("x", days * 86_400_000, {"type": "date"}), Axis("y", days))
    labels = np.arange(400) // 4
    [figure] = drawn(view, side(labels, np.where(labels < 5, 2, 0.5)))
    light, standing = figure.data[1:]
    assert [len(trace.x) for trace in (light, standing)] == [380, 20]
    assert light.marker.maxdisplayed == 1
    assert standing.marker.maxdisplayed is None
    [dots] = figure.layout.shapes
    assert dots.path.startswith("M1970-01-21_00:00:00,20ZM1970-01-22_00:00:00,21Z")
    assert dots.path.count("M") == 380
    assert dots.line.color == theme.LOSS_COLORS[0]
    [figure] = drawn(view, side(labels, np.full(400, 0.25)), differences=True)
    assert [shape.line.color for shape in figure.layout.shapes] == [theme.NEUTRAL]


def test_on_a_logarithmic_axis_a_centroid_is_at_the_mean_not_at_the_mean_of_the_logarithms():
    view = View.of(Axis("x", np.array([1.0, 99, 10, 10]), is_log=True), Axis("y", np.array([0.0, 2, 4, 4])))
    [figure] = drawn(view, side([0, 0, 1, 1], [25] * 4))
    assert figure.layout.xaxis.type == "log"
    assert marks(figure)[0].tolist() == [1, 99, 10, 10]
    assert figure.data[0].x.reshape(-1, 3)[:, 1] == pytest.approx([50, 50, 10, 10])


def test_an_axis_is_logarithmic_where_values_are_skewed_and_positive():
    def is_log(values):
        return Axis.of(SimpleNamespace(name="x", kind="numeric"), np.asarray(values, dtype=float)).is_log

    skewed = np.r_[np.ones(50), np.full(50, 10.0), 1e6]
    assert is_log(skewed)
    assert is_log(np.r_[skewed, np.nan])
    assert not any(map(is_log, (np.arange(100.0), skewed - 2, np.ones(9), [])))
    # One far record among equal ones is as skewed on any scale.
    assert not is_log(np.r_[np.ones(50), 9.0])


def test_both_sides_have_one_scale_of_losses_in_percent_of_the_whole():
    values = np.arange(18.0)
    view, labels = View.of(Axis("x", values), Axis("y", values)), np.arange(18) // 2
    one = side(labels, [20, 20, *[60 / 16] * 16], loss=20.0)
    other = side(labels, np.full(18, 100 / 18), loss=40.0)
    figures = drawn(view, one, other)
    # 4 and 4 % beside 0.75 and 2.2 each: the top is 4, the bottom 0.75.
    place = np.log(40 / 18 / 0.75) / np.log(4 / 0.75)
    assert marks(figures[0])[1] == pytest.approx([1, 1, *[0] * 16])
    assert marks(figures[1])[1] == pytest.approx([place] * 18)
    assert figures[0].data[-1].marker.colorbar.ticktext == ("≤ 0.75", "4")
    [figure] = drawn(view, side(labels, np.zeros(18), loss=0.0))
    assert marks(figure)[1].tolist() == [0] * 18


def test_no_group_has_the_color_of_a_method():
    methods = {theme.style(name).color for name in theme.VARIANTS}
    assert not methods & set(theme.GROUP_COLORS)


def test_losses_are_seen_on_white_and_on_near_black_and_darken():
    light, dark = (
        [contrast(str(hex_to_rgb(color)), str(hex_to_rgb(ground))) for color in theme.LOSS_COLORS]
        for ground in ("#FFFFFF", "#10161D")
    )
    assert min(light + dark) > 2.2
    assert (np.diff(light) > 0).all()


def test_the_share_of_the_worst_groups_by_hand():
    # Twenty groups: the first loses half, the second a quarter, the others share the rest.
    lost = np.r_[50.0, 25, np.full(18, 25 / 18)]
    one = side(np.repeat(np.arange(20), 2), np.repeat(lost / 2, 2), k=2)
    other = side(np.repeat(np.arange(20), 2), np.full(40, 2.5), key="v-mdav", k=2)
    assert tenth_in_words([one, other]) == "The worst 10 % of groups cause 75 % (MDAV) and 10 % (V-MDAV) of the loss"
    one = side([0, 0, 1, 1, 2, 2], [30, 30, 10, 10, 10, 10], k=2)
    assert tenth_in_words([one]) == "The worst group causes 60 % (MDAV) of the loss"
