"""V-MDAV's loss against γ: which stretch of γ is best, and whether the default lies in it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from microagg.errors import ParameterError
from microagg.explain.optimum import best_ranges, in_words, losses
from tests import naive

TOY = [[1], [2], [3], [5], [6], [19], [20], [21], [98], [99], [100]]


def rows(v_mdav, star=7.0, gammas=(0.0, 0.1, 0.2, 0.3, 0.4)):
    return pd.DataFrame({"gamma": gammas, "v-mdav": v_mdav, "mdav-star": star, "optimum": np.nan})


def test_the_toy_example_needs_a_gamma_above_4():
    # 5 lies at a squared distance of 4 from {1, 2, 3} and of 1 from 6: it joins when 4 < γ · 1.
    toy = losses(TOY, 3, [0, 4, 4.01, 10])
    assert toy["gamma"].tolist() == [0, 0.2, 4, 4.01, 10]
    assert toy["v-mdav"].tolist() == pytest.approx([100 * sse / 17966 for sse in (258.8, 258.8, 258.8, 21.2, 21.2)])
    assert toy["mdav-star"].tolist() == toy["optimum"].tolist() == pytest.approx([100 * 21.2 / 17966] * 5)
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
