"""The floor of Total-IL: never above the optimum, sometimes equal to it, and the same however it is computed."""

import numpy as np
import pytest

from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.errors import DataError, ParameterError
from microagg.kernels import running
from microagg.optimum import nearest_neighbors
from microagg.optimum.nearest_neighbors import nearest_mixed_neighbor_curve
from tests import naive_mixed
from tests.instances import ROUNDING
from tests.mixed_table import LEVELS, MARITAL_TEXT, ZIP

TREES = (ZIP, Taxonomy.from_text(MARITAL_TEXT), Taxonomy.from_nested({"*": ["a", "b", "c"]}))


def some_records(rng, n):
    """Return records of one to four attributes of any kind, many of them equal or far from 0."""
    attributes, columns = [], []
    for j in range(int(rng.integers(1, 5))):
        kind = rng.choice(["numeric", "tied", "far", "one value", "ordinal", "nominal"])
        if kind == "ordinal":
            attributes.append(Attribute(j, "ordinal", LEVELS))
            columns.append(rng.integers(0, len(LEVELS), n))
        elif kind == "nominal":
            tree = TREES[rng.integers(len(TREES))]
            attributes.append(Attribute(j, "nominal", taxonomy=tree))
            columns.append(rng.choice(list(tree.leaves), n))
        else:
            attributes.append(Attribute(j))
            made = {"numeric": rng.normal(size=n), "tied": rng.integers(0, 3, n), "one value": np.ones(n)}
            made["far"] = 1e9 + rng.integers(0, 4, n)
            columns.append(made[kind])
    return Records(tuple(attributes), np.column_stack(columns).astype(float))


def least_loss(records, k, rows=None):
    """Return the least Total-IL, or None if there are too few records: the best group of the first, and of the rest."""
    table, rows = naive_mixed.Table(records), list(range(len(records)) if rows is None else rows)
    n = len(rows)
    masks = range(1 << n)
    members = [[rows[i] for i in range(n) if mask >> i & 1] for mask in masks]
    lost = [len(own) * table.loss(own) if len(own) >= k else np.inf for own in members]
    best = [0.0] + [np.inf] * (len(masks) - 1)
    for mask in masks[1:]:
        first, group = mask & -mask, mask
        while group:
            if group & first and lost[group] < np.inf:
                best[mask] = min(best[mask], lost[group] + best[mask ^ group])
            group = (group - 1) & mask
    return best[-1]


def floor(records, k, strata=None):
    return nearest_mixed_neighbor_curve(records, [k], strata=strata)[0]


def test_never_above_the_optimum_and_sometimes_equal():
    rng, reached, shares = np.random.default_rng(0), 0, []
    for _ in range(400):
        k = int(rng.integers(2, 5))
        records = some_records(rng, int(rng.integers(k, 9)))
        own, least = floor(records, k), least_loss(records, k)
        assert 0.0 <= own.sse <= least * ROUNDING
        assert own.information_loss == pytest.approx(100 * own.sse / (records.n * records.d))
        if len(records) >= 2 * k and least > 0:
            reached += own.sse >= least * (1 - 1e-8)
            shares.append(own.sse / least)
    assert reached > 2
    assert np.mean(shares) > 0.4


def test_a_record_next_to_nine_others():
    """Ten records on a line, evenly spaced, are as bad as it gets: neighbors are on both sides."""
    records = Records.of_numbers(np.arange(10.0)[:, np.newaxis])
    # Each has a neighbor at 1/9; of the second nearest, only those of the ends are at 2/9.
    assert floor(records, 2).sse == pytest.approx(10 / 9)
    assert floor(records, 3).sse == pytest.approx((8 * 1 + 2 * 2) / 9)


def test_by_hand_where_it_is_the_optimum():
    values = np.array([[10.0, ZIP.names.index(code)] for code in ("41075", "41076", "41095", "41099")])
    records = Records((Attribute("age"), Attribute("zip", "nominal", taxonomy=ZIP)), values)
    # Ages agree. Two pairs of codes below one node each lose half of the height of the taxonomy, each record.
    assert floor(records, 2).sse == pytest.approx(4 * 0.5)
    assert least_loss(records, 2) == pytest.approx(4 * 0.5)


@pytest.mark.parametrize("strata", [[np.arange(6)] * 2, [np.arange(4)], [], [np.ones(6, dtype=bool)]])
def test_strata_that_do_not_hold_each_record_once_are_refused(strata):
    with pytest.raises(DataError, match="each record in one of them"):
        nearest_neighbors.nearest_neighbor(np.arange(6.0), 2, strata=strata)


def test_strata_add_up_and_keep_the_domains_of_the_file():
    rng = np.random.default_rng(3)
    for _ in range(30):
        records = some_records(rng, 12)
        strata = [np.arange(0, 12, 2), np.arange(1, 12, 2)]
        for k in (2, 3, 4):
            own = floor(records, k, strata)
            assert own.sse <= sum(least_loss(records, k, rows) for rows in strata) * ROUNDING
            assert own.sse >= floor(records, k).sse * (1 - 1e-9) or k == 4
            # Six records cannot form two groups of four: they are one group.
            if k == 4:
                assert own.sse == pytest.approx(sum(least_loss(records, k, rows) for rows in strata))


def test_every_k_at_once_as_one_by_one(monkeypatch):
    records = some_records(np.random.default_rng(5), 90)
    for number in (1, 3):
        monkeypatch.setattr(running, "THREADS", number)
        monkeypatch.setattr(nearest_neighbors, "_RECORDS_AT_A_TIME", 40 * number)
        together = nearest_mixed_neighbor_curve(records, range(1, 8))
        assert [bound.sse for bound in together] == [floor(records, k).sse for k in range(1, 8)]
        assert [bound.sse for bound in together] == sorted(bound.sse for bound in together)
        table = naive_mixed.Table(records)
        apart = [sorted(table.distance(i, j) for j in range(90) if j != i)[3] for i in range(90)]
        assert together[4].sse == pytest.approx(sum(apart), rel=1e-8)


def test_bad_input():
    records = Records.of_numbers(np.arange(6.0)[:, np.newaxis])
    with pytest.raises(ParameterError, match="k must be"):
        floor(records, 0)
    with pytest.raises(DataError, match="7"):
        floor(records, 7)
    with pytest.raises(DataError, match="strat"):
        floor(records, 3, [np.arange(2), np.arange(2, 6)])
