"""What nobody can do better on a few records: the optimum, V-MDAV's loss against γ, and groups made by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg.errors import DataError, ParameterError
from microagg.explain.optimum import OPTIMUM, best_ranges, in_words, losses, optimum, rivals, score
from microagg.metrics import sse
from microagg.optimum import bounds
from microagg.partition import Partition
from tests import naive
from tests.cases import for_each
from tests.explain.test_explain import TOY

SST = 17966.0


def test_the_toy_example():
    best = optimum(TOY, 3)
    assert best.labels.tolist() == [0] * 5 + [1] * 3 + [2] * 3
    assert sse(TOY, best.labels) == pytest.approx(21.2)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_none_of_all_partitions_loses_less(d):
    draw = np.random.default_rng(d)
    for k in (1, 2, 3, 4):
        X = draw.integers(0, 6, size=(9, d)).astype(float)  # with ties
        best = optimum(X, k)
        assert best.sizes.min() >= k
        assert sse(X, best.labels) == pytest.approx(naive.least_sse(X, k))


def test_more_records_in_the_plane_are_proven_where_groups_lie_apart():
    corners = np.array([(x, y) for x in (0, 10, 20) for y in (0, 10, 20)], dtype=float)
    X = np.vstack([corners, corners + np.array([1, 0]), corners + np.array([0, 1])])
    best = optimum(X, 3)
    assert best.labels.tolist() == [*range(9)] * 3
    # Each group: two sides of length 1 and one of √2, so (1 + 1 + 2) / 3.
    assert sse(X, best.labels) == pytest.approx(9 * 4 / 3)


def test_what_is_not_proven_is_not_claimed():
    assert optimum(np.random.default_rng(0).normal(size=(40, 2)), 4, seconds=0.0) is None
    assert optimum(np.random.default_rng(0).normal(size=(101, 2)), 3) is None


def test_what_linear_programs_prove_is_the_optimum(monkeypatch):
    monkeypatch.setattr(bounds, "MOST_RECORDS", 0)  # so that few records are proven in the way of many
    draw = np.random.default_rng(0)
    sets = [draw.normal(size=(9, 2)) for _ in range(8)]
    proven = [(X, best) for X in sets if (best := optimum(X, 3)) is not None]
    assert proven
    for X, best in proven:
        assert sse(X, best.labels) == pytest.approx(naive.least_sse(X, 3))


def test_a_single_group_and_groups_of_one_are_known_at_once():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert optimum(X, 21, seconds=0.0).n_groups == 1
    assert optimum(X, 1, seconds=0.0).n_groups == 40


def test_too_many_records_are_refused():
    with pytest.raises(DataError, match="301 records are too many"):
        optimum(np.zeros((301, 1)), 3)


# --- V-MDAV against its γ


def rows(v_mdav, star=7.0, gammas=(0.0, 0.1, 0.2, 0.3, 0.4)):
    return pd.DataFrame({"gamma": gammas, "v-mdav": v_mdav, "mdav-star": star, "optimum": np.nan})


def test_the_toy_example_needs_a_gamma_above_4():
    # 5 lies at a squared distance of 4 from {1, 2, 3} and of 1 from 6: it joins when 4 < γ · 1.
    toy = losses(TOY, 3, [0, 4, 4.01, 10])
    assert toy["gamma"].tolist() == [0, 0.2, 4, 4.01, 10]
    assert toy["v-mdav"].tolist() == pytest.approx([100 * sse / SST for sse in (258.8, 258.8, 258.8, 21.2, 21.2)])
    assert toy["mdav-star"].tolist() == toy["optimum"].tolist() == pytest.approx([100 * 21.2 / SST] * 5)
    assert in_words(toy) == (
        "V-MDAV loses least, 0.118 %, at γ from 4.01 to 10; its default γ = 0.2 loses 1.44 %. MDAV*, which has no γ, "
        "loses 0.118 %."
    )


def test_the_losses_are_those_of_the_definition():
    X = np.random.default_rng(0).normal(size=(24, 2))
    found = losses(X, 3, [0.0, 0.5, 1.0])
    total = naive.group_sse(naive.rows(X), range(24))
    expected = [100 * naive.sse(X, naive.v_mdav(X, 3, gamma)) / total for gamma in (0.0, 0.2, 0.5, 1.0)]
    assert found["v-mdav"].tolist() == pytest.approx(expected)
    assert found["mdav-star"].tolist() == pytest.approx([100 * naive.sse(X, naive.mdav_star(X, 3)) / total] * 4)


@pytest.mark.parametrize(
    ("v_mdav", "ranges", "says"),
    [
        (
            [5, 4, 4, 6, 4],
            [(0.1, 0.2), (0.4, 0.4)],
            "at γ from 0.1 to 0.2 and = 0.4; its default γ = 0.2 does so, too.",
        ),
        ([3, 4, 4, 6, 7], [(0.0, 0.0)], "V-MDAV loses least, 3.00 %, at γ = 0; its default γ = 0.2 loses 4.00 %."),
        ([4, 4, 4, 4, 4], [(0.0, 0.4)], "V-MDAV loses 4.00 % at every γ from 0 to 0.4."),
    ],
)
def test_the_best_stretches(v_mdav, ranges, says):
    table = rows(np.array(v_mdav, dtype=float))
    assert best_ranges(table) == ranges
    assert says in in_words(table)
    assert in_words(table).endswith("MDAV*, which has no γ, loses 7.00 %.")


def test_a_gamma_below_0_is_refused():
    with pytest.raises(ParameterError, match="gamma"):
        losses(TOY, 3, [-0.1])


def test_a_single_gamma_is_refused():
    with pytest.raises(ParameterError, match="gammas must be several numbers"):
        losses([[1.0], [2.0], [3.0], [4.0]], 2, 5)


# --- groups made by hand


def test_nothing_done_yet():
    none = score(TOY, 3, [-1] * 11)
    assert (none.left, none.small, none.sse, none.information_loss) == (11, (), 0.0, 0.0)
    assert none.text == "11 records are in no group yet."


def test_half_done():
    half = score(TOY, 3, [7, 7, 7, -1, -1, 2, 2, -1, 0, 0, 0])
    assert half.left == 3
    assert half.small == ((5, 6),)
    assert half.sse == pytest.approx(2 + 0.5 + 2)
    assert half.information_loss == pytest.approx(100 * 4.5 / SST)
    assert half.text == "3 records are in no group yet; {19, 20} needs 1 more."


def test_a_group_that_is_too_small():
    small = score(TOY, 3, [0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 3])
    assert small.left == 0
    assert small.text == "{5, 6} needs 1 more: every group must have at least 3 records."
    two = score(TOY, 3, [0, 0, 0, 1, 1, 2, 2, 2, 3, 3, 4], names=list("abcdefghijk"))
    assert two.text == (
        "{d, e} needs 1 more, {i, j} needs 1 more and {k} needs 2 more: every group must have at least 3 records."
    )


def test_the_best_groups():
    best = score(TOY, 3, [2, 2, 2, 2, 2, 0, 0, 0, 1, 1, 1])
    assert best.sse == pytest.approx(21.2)
    assert best.text == "You lose 0.118 %: less than MDAV (1.44 %), as much as MDAV*, and as little as is possible."
    assert best.beside["title"].tolist() == ["You", "MDAV", "MDAV*", "Optimum"]
    assert best.beside["groups"].tolist() == [3, 3, 3, 3]
    assert best.beside["sse"].tolist() == pytest.approx([21.2, 258.8, 21.2, 21.2])
    losses = [100 * sse / SST for sse in (21.2, 258.8, 21.2, 21.2)]
    assert best.beside["information_loss"].tolist() == pytest.approx(losses)


def test_worse_groups_are_told_what_is_possible():
    worst = score(TOY, 3, [0] * 11)
    assert worst.information_loss == pytest.approx(100)
    assert worst.text == "You lose 100 %: more than MDAV (1.44 %) and MDAV* (0.118 %). 0.118 % is the least possible."


def test_an_unknown_optimum_is_not_made_up():
    known = {title: each for title, each in rivals(TOY, 3).items() if title != OPTIMUM}
    some = score(TOY, 3, [0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2], against=known)
    says = "You lose 0.118 %: less than MDAV (1.44 %), as much as MDAV*."
    assert some.text == f"{says} What is the least possible is not known."
    assert OPTIMUM not in set(some.beside["title"])


def test_what_others_are_known_to_do_is_not_computed_again():
    given = {"MDAV": Partition([0] * 11, 3)}
    assert score(TOY, 3, [0] * 11, against=given).text.startswith("You lose 100 %: as much as MDAV.")


def test_equal_records_lose_nothing():
    assert score(np.ones((6, 2)), 3, [0, 0, 0, 1, 1, 1]).text == "You lose nothing: each group has equal records only."


@for_each("labels", [[0] * 10, [-2] + [0] * 10, [0.5] * 11, []])
def test_labels_that_are_none(labels):
    with pytest.raises(DataError, match="labels must be"):
        score(TOY, 3, labels)
