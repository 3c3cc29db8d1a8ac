"""Sorting in compiled code, and the order of records along a line."""

import numpy as np

from microagg.kernels.paths import along_line, order_of


def test_sorting():
    draw = np.random.default_rng(2)
    for m in (0, 1, 2, 3, 10, 500):
        values = draw.integers(0, 20, m).astype(float)
        assert np.array_equal(order_of(values), np.argsort(values, kind="stable"))


def test_records_on_a_line_are_in_its_order():
    places = np.random.default_rng(4).permutation(30)
    order = along_line(np.outer(places, [3.0, -1.0]) + 7.0)
    assert places[order].tolist() in (list(range(30)), list(range(29, -1, -1)))
