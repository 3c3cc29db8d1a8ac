"""How two partitions overlap, by hand and against plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from microagg import DataError, metrics
from tests.cases import for_each


def test_groups_with_most_in_common_are_matched_first():
    one = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]
    other = [7, 7, 7, 5, 5, 5, 7, 9, 9, 9]
    # 0 and 7 share three, 2 and 9 three; 1 shares two with 5.
    assert metrics.matched_groups(one, other).tolist() == [0, 1, 2]


def test_of_equal_overlaps_the_more_alike_pair_is_matched_and_a_group_may_be_left():
    one = [0, 0, 0, 0, 1, 1, 2, 2]
    other = [3, 3, 4, 4, 3, 3, 3, 3]
    # Group 3 shares two with each of one's groups; the second and third have nothing else, the second comes first.
    assert metrics.matched_groups(one, other).tolist() == [1, 0, -1]


def test_records_are_grouped_alike_where_both_groups_have_the_same_members():
    one = [0, 0, 1, 1, 1, 2, 2]
    other = [5, 5, 8, 8, 3, 3, 3]
    assert metrics.grouped_alike(one, other).tolist() == [True, True, False, False, False, False, False]


@for_each("seed", range(5))
def test_matching_and_agreement_are_those_of_plain_loops(seed):
    rng = np.random.default_rng(seed)
    one, other = (np.r_[np.arange(6), rng.integers(0, 6, 40)] for _ in range(2))
    members = [[set(np.flatnonzero(labels == group)) for group in range(6)] for labels in (one, other)]
    pairs = [(a, b) for a in range(6) for b in range(6) if members[0][a] & members[1][b]]
    pairs.sort(key=lambda p: (-len(members[0][p[0]] & members[1][p[1]]), len(members[0][p[0]] ^ members[1][p[1]]), p))
    expected = dict.fromkeys(range(6), -1)
    for a, b in pairs:
        if expected[a] < 0 and b not in expected.values():
            expected[a] = b
    assert metrics.matched_groups(one, other).tolist() == list(expected.values())
    alike = [members[0][a] == members[1][b] for a, b in zip(one, other, strict=True)]
    assert metrics.grouped_alike(one, other).tolist() == alike


def test_partitions_of_different_records_are_refused():
    for compare in (metrics.matched_groups, metrics.grouped_alike):
        with pytest.raises(DataError, match="of 2 records, the other of 3"):
            compare([0, 0], [0, 0, 1])
