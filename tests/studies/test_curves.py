"""What a curve of losses tells."""

from __future__ import annotations

import numpy as np
import pytest

from microagg.studies import experiment


def test_largest_k_within_a_limit():
    ks, losses = [2, 3, 4, 5], [1.0, 2.0, 4.0, 3.0]
    assert experiment.largest_k_within(ks, losses, 2.0) == 3
    assert experiment.largest_k_within(ks, losses, 3.5) == 5  # larger k, lower loss
    assert experiment.largest_k_within(ks, losses, 0.5) is None


def test_knee_of_a_curve_that_flattens_and_of_one_that_steepens():
    ks = np.arange(2, 12)
    assert experiment.knee(ks, np.minimum(ks, 5) * 3 + ks) == experiment.Knee(5, True, pytest.approx(1 / 3))
    steep = experiment.knee(ks, np.maximum(ks - 7, 0) * 3 + ks)
    assert steep.k == 7
    assert not steep.flattens


def test_no_knee_where_there_is_none():
    assert experiment.knee([2, 3], [1, 2]) is None
    assert experiment.knee([2, 3, 4], [1, 2, 3]) is None
    assert experiment.knee([2, 3, 4], [3, 2, 1]) is None
