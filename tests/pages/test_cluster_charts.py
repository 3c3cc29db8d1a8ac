"""What is drawn of partitions on a plane, and how large their groups are."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg.partition import Partition
from pages.clusters.figures import Side, group_sizes, linked_planes, loss_curve, matched_colors, tenth_in_words
from pages.clusters.plane import MOST_POINTS, Axis, View
from pages.shared import theme
from tests.pages.helpers import decode, unpacked


def side(labels, shares, key="mdav", k=1, loss=50.0):
    return Side(key, key.upper(), Partition(labels, k), np.asarray(shares, dtype=float), loss)


def drawn(view, *sides, names=None, **how):
    n = len(sides[0].partition)
    index = pd.RangeIndex(n) if names is None else pd.Index(names)
    return linked_planes(view, sides, index, **({"loss": "SSE", "unit": "%", "centroids": True} | how))


def test_records_without_a_place_are_not_drawn():
    points = np.array([[0.0, 0], [1, 0], [np.nan, np.nan], [5, 5], [6, 5], [9, np.nan]])
    view = View.of(Axis("x", points[:, 0]), Axis("y", points[:, 1]))
    assert list(view.rows) == [0, 1, 3, 4]
    assert view.x_range == pytest.approx((-0.3, 6.3))
    assert view.outside() == 1
    one = side([0, 0, 1, 1, 1, 2], [10, 10, 20, 20, 20, 20])
    scene = drawn(view, one, names=list("abcdef"), loss="Total-IL", centroids=False, by_group=True)
    assert scene["names"] == ["a", "b", "d", "e"]
    assert not scene["whole"]
    [shown] = scene["sides"]
    assert unpacked(shown["groups"]).tolist() == [0, 0, 1, 1]
    assert unpacked(shown["sizes"]).tolist() == [2, 3, 1]
    assert shown["centroids"] is None
    colors = unpacked(shown["colors"])
    assert colors[0] == colors[1] != colors[2] == colors[3]


def test_of_many_records_a_sample_is_drawn_and_centroids_are_those_of_all():
    n = MOST_POINTS + 10
    values = np.arange(n, dtype=float)
    labels = np.arange(n) * 4 // n
    view = View.of(Axis("x", values), Axis("y", -values))
    assert len(view.rows) == MOST_POINTS
    scene = drawn(view, side(labels, np.full(n, 100 / n)))
    assert not scene["whole"]
    assert unpacked(scene["sides"][0]["centroids"][0]) == pytest.approx(
        [values[labels == group].mean() for group in range(4)]
    )


def test_on_a_logarithmic_axis_a_centroid_is_at_the_mean_not_at_the_mean_of_the_logarithms():
    view = View.of(Axis("x", np.array([1.0, 99, 10, 10]), scale="log"), Axis("y", np.array([0.0, 2, 4, 4])))
    scene = drawn(view, side([0, 0, 1, 1], [25] * 4))
    assert unpacked(scene["x"]) == pytest.approx(np.log10([1, 99, 10, 10]), rel=1e-6)
    across, up = (unpacked(axis) for axis in scene["sides"][0]["centroids"])
    assert across == pytest.approx([np.log10(50), 1])
    assert up.tolist() == [1, 4]
    assert scene["figure"]["layout"]["xaxis"]["type"] == "log"


def test_both_sides_have_one_scale_of_losses_in_percent_of_the_whole():
    view = View.of(Axis("x", np.arange(4.0)), Axis("y", np.arange(4.0)))
    one = side([0, 0, 1, 1], [40, 40, 10, 10], loss=20.0)
    other = side([0, 1, 1, 0], [25, 25, 25, 25], loss=40.0)
    scene = drawn(view, one, other, by_group=False)
    colors = [unpacked(shown["colors"]).tolist() for shown in scene["sides"]]
    # 8, 8, 2 and 2 % beside 10 % each: the top is 10, the bottom 2.
    last = len(theme.LOSS_COLORS) - 1
    place = round(last * np.log(4) / np.log(5))
    assert colors == [[place, place, 0, 0], [last] * 4]
    assert scene["scale"]["ends"] == ["≤ 2", "10"]
    assert unpacked(scene["alike"]).tolist() == [0, 0, 0, 0]


def test_where_nothing_is_lost_all_records_have_the_lowest_color():
    view = View.of(Axis("x", np.zeros(4)), Axis("y", np.zeros(4)))
    scene = drawn(view, side([0, 0, 1, 1], [0] * 4, loss=0.0), by_group=False)
    assert unpacked(scene["sides"][0]["colors"]).tolist() == [0] * 4
    assert view.x_range == (-0.5, 0.5)


def test_what_is_drawn_has_a_digest_of_its_own():
    view = View.of(Axis("x", np.arange(4.0)), Axis("y", np.arange(4.0)))
    one, other = side([0, 0, 1, 1], [25] * 4), side([0, 1, 1, 0], [25] * 4)
    assert drawn(view, one)["id"] == drawn(view, one)["id"] != drawn(view, other)["id"]


def test_a_matched_group_has_its_counterparts_color_and_others_one_that_is_used_least():
    found = matched_colors(np.array([3, 3, 0]), np.array([1, -1, 2]), 4)
    assert found[1] == 3
    assert found[2] == 0
    assert found[0] != found[3]
    assert not {found[0], found[3]} & {0, 3}


def test_no_group_has_the_color_of_a_method():
    methods = {theme.style(name).color for name in theme.VARIANTS}
    assert not methods & set(theme.GROUP_COLORS)


def contrast(one, other):
    """Return the contrast of WCAG 2.2."""

    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return np.dot(linear, [0.2126, 0.7152, 0.0722])

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def test_losses_are_seen_on_white_and_on_near_black_and_darken():
    light = [contrast(color, "#FFFFFF") for color in theme.LOSS_COLORS]
    assert min(light) > 2.2
    assert min(contrast(color, "#10161D") for color in theme.LOSS_COLORS) > 2.2
    assert (np.diff(light) > 0).all()


def test_curve_and_sizes_by_hand():
    # Twenty groups: the first loses half, the second a quarter, the others share the rest.
    lost = np.r_[50.0, 25, np.full(18, 25 / 18)]
    one = side(np.repeat(np.arange(20), 2), np.repeat(lost / 2, 2), k=2)
    other = side(np.repeat(np.arange(20), 2), np.full(40, 2.5), key="v-mdav", k=2)
    assert tenth_in_words([one, other]) == "The worst 10 % of groups cause 75 % (MDAV) and 10 % (V-MDAV) of the loss"
    line, even = loss_curve([one, other]).data
    assert decode(line.x)[:3].tolist() == [0, 5, 10]
    assert decode(line.y)[:3] == pytest.approx([0, 50, 75])
    assert decode(even.y) == pytest.approx(decode(even.x))
    assert line.line.color == theme.style("mdav").color
    [bar, _] = group_sizes([one, other]).data
    assert (list(bar.x), list(bar.y)) == ([2], [20])


def test_of_few_groups_one_is_named_instead_of_a_tenth():
    one = side([0, 0, 1, 1, 2, 2], [30, 30, 10, 10, 10, 10], k=2)
    assert tenth_in_words([one]) == "The worst group causes 60 % (MDAV) of the loss"


def test_sizes_of_groups_are_labelled_by_whole_numbers():
    one = side(np.repeat([0, 1, 2], [2, 3, 22]), np.full(27, 100 / 27), k=2)
    figure = group_sizes([one])
    assert figure.layout.yaxis.dtick == 1
    # 21 sizes: every third is labelled.
    assert figure.layout.xaxis.dtick == 3
