"""The identity on which GSMS relies."""

from __future__ import annotations

import numpy as np
import pytest

from tests import naive


def test_the_farthest_centroid_leaves_the_least_sse_behind():
    # GSMS is defined by SSE(g) + SSE(U without g), and computed by the distance of two centroids.
    for seed in range(10):
        X = np.random.default_rng(seed).normal(size=(25, 3)).tolist()
        U = list(range(25))
        for k in (1, 2, 4):
            around = [naive.group_around(X, r, U, k) for r in U]
            left = [naive.group_sse(X, g) + naive.group_sse(X, naive.without(U, g)) for g in around]
            chosen = naive.gsms_groups(X, k)[0]
            assert left[around.index(chosen)] == pytest.approx(min(left), rel=1e-12)
