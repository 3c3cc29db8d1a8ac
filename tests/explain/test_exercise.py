"""Groups made by hand: what is left to do, what they lose, and how they stand against the algorithms."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.errors import DataError
from microagg.explain.exercise import OPTIMUM, rivals, score
from microagg.partition import Partition
from tests.cases import for_each

TOY = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]
SST = 17966.0


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
