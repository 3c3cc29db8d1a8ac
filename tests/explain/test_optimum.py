"""The optimum on a few records, and V-MDAV's loss against γ."""

import numpy as np
import pandas as pd
import pytest

from microagg.errors import DataError
from microagg.explain.optimum import best_ranges, describe_losses, loss_at, losses, optimum
from microagg.metrics import sse
from tests import naive
from tests.explain.test_explain import TOY

SST = 17966.0


@pytest.mark.parametrize("d", [1, 2, 3])
def test_none_of_all_partitions_loses_less(d):
    draw = np.random.default_rng(d)
    for k in (1, 2, 3, 4):
        X = draw.integers(0, 6, size=(9, d)).astype(float)  # with ties
        best = optimum(X, k)
        assert best.sizes.min() >= k
        assert sse(X, best.labels) == pytest.approx(naive.least_sse(X, k))


def test_what_is_not_found_at_once_is_not_claimed():
    X = np.random.default_rng(0).normal(size=(40, 2))
    assert optimum(X, 4) is None
    # A single group and groups of one are known at once.
    assert [optimum(X, k).n_groups for k in (21, 1)] == [1, 40]
    with pytest.raises(DataError, match="301 records are too many"):
        optimum(np.zeros((301, 1)), 3)


def test_the_toy_example_needs_a_gamma_above_4_up_to_5929():
    # 5 lies at a squared distance of 4 from {1, 2, 3} and of 1 from 6: it joins when 4 < γ · 1.
    # 21 lies at one of 1 from {19, 20} and of 77² from 98, which joins {1, 2, 3, 5, 6} or stays out.
    toy = losses(TOY, 3)
    assert toy["above"].tolist() == [-np.inf, 4, 5929]
    assert toy["up_to"].tolist() == [4, 5929, np.inf]
    assert toy["v-mdav"].tolist()[:2] == pytest.approx([100 * 258.8 / SST, 100 * 21.2 / SST])
    assert toy["mdav-star"].tolist() == toy["optimum"].tolist() == pytest.approx([100 * 21.2 / SST] * 3)
    assert best_ranges(toy) == [(4, 5929)]
    assert [loss_at(toy, gamma) == toy["v-mdav"][0] for gamma in (0, 4, 4.1)] == [True, True, False]


def test_losses_at_every_gamma_are_those_of_the_definition():
    draw = np.random.default_rng(0)
    for X in (draw.normal(size=(24, 2)), draw.integers(0, 6, size=(20, 1)).astype(float)):
        table, total = losses(X, 3), naive.group_sse(naive.rows(X), range(len(X)))
        assert table["above"].tolist()[1:] == table["up_to"].tolist()[:-1]
        for above, up_to, lost in zip(table["above"], table["up_to"], table["v-mdav"], strict=True):
            low, high = max(above, 0.0), up_to if up_to < np.inf else 1e9
            inside = [low + share * (high - low) for share in (1e-9, 0.3, 1 - 1e-9)] if high > low else [0.0]
            for gamma in inside:
                assert lost == pytest.approx(100 * naive.sse(X, naive.v_mdav(X, 3, gamma)) / total)
        assert (np.abs(np.diff(table["v-mdav"])) > 0).all()


@pytest.mark.parametrize(
    ("v_mdav", "ranges", "says"),
    [
        ([5, 4, 6, 4], [(0.0, 0.3), (7.0, np.inf)], "4.00 %, at any γ above 0 up to 0.3 and any γ above 7;"),
        ([3, 4, 6, 7], [(-np.inf, 0.0)], "3.00 %, at γ = 0; at its default γ = 0.2 it is 4.00 %."),
    ],
)
def test_the_best_ranges(v_mdav, ranges, says):
    ends = [-np.inf, 0.0, 0.3, 7.0, np.inf]
    table = pd.DataFrame({"above": ends[:-1], "up_to": ends[1:], "v-mdav": map(float, v_mdav), "mdav-star": 7.0})
    assert best_ranges(table) == ranges
    assert says in describe_losses(table)
    assert describe_losses(table.iloc[:1].assign(up_to=np.inf)).count("%") == 2
