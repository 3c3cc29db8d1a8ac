"""Synthetic sets with the structure that the papers describe, each drawn from a seed.

Attributes are named x1, x2, …; the unit is arbitrary. The papers do not give their random numbers, so single sets
differ from theirs while averages over seeds agree. What a paper leaves open is settled in the docstring of the set.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from microagg.validation import FloatArray, IntArray

#: Half the edge of the cube of SimU, SimC, Scattered and Clustered: attributes range over [-10000, 10000].
_HALF = 10_000.0

#: The greatest distance per attribute of a record from its center in SimC and Clustered: 0.5 % of the range.
_SPREAD = 0.005 * 2 * _HALF


def simu(seed: int) -> pd.DataFrame:
    """Return SimU: 1000 records, uniform on [-10000, 10000] in each of 10 attributes.

    The source's range is not known; it does not matter after standardization.
    """
    rng = np.random.default_rng(seed)
    return _frame(rng.uniform(-_HALF, _HALF, size=(1000, 10)))


def simc(seed: int) -> pd.DataFrame:
    """Return SimC: 100 tight groups in 10 attributes, and a third as many independent records.

    The 100 centers are drawn as the records of :func:`simu`; the centers themselves are not records. The size of each
    group is uniform on 4..21. "Within 0.5 % of the center" is read as 0.5 % of the attribute's range, 20000: each
    attribute of a record is uniform within 100 of the center's, so a record may lie up to 100 outside the cube.
    With x records so far, floor(x/3) more are drawn as in :func:`simu`. Groups stand one after the other, the
    independent records last.
    """
    rng = np.random.default_rng(seed)
    centers = rng.uniform(-_HALF, _HALF, size=(100, 10))
    grouped = _around(rng, centers, rng.integers(4, 22, size=100))
    independent = rng.uniform(-_HALF, _HALF, size=(len(grouped) // 3, 10))
    return _frame(np.vstack([grouped, independent]))


def sim1(seed: int) -> pd.DataFrame:
    """Return Sim-1: 100 records, uniform on [-1000, 1000] in each of 10 attributes."""
    rng = np.random.default_rng(seed)
    return _frame(rng.uniform(-1000.0, 1000.0, size=(100, 10)))


def sim2(seed: int) -> pd.DataFrame:
    """Return Sim-2: five Gaussian clusters of 20 records, with centers uniform in the unit cube.

    The number of attributes is uniform on 4..8 and the standard deviation uniform on [0.1, 0.3]; both are drawn once
    for the whole set, and the clusters are round. Clusters stand one after the other.
    """
    return _gaussian_clusters(seed, edge=1.0)


def sim3(seed: int) -> pd.DataFrame:
    """Return Sim-3: as :func:`sim2`, with centers uniform in a cube with edges of length 2.

    The spread stays that of Sim-2, so the clusters are easier to tell apart. The losses that the paper prints for
    Sim-3 are close to those for Sim-2, as if the spread had grown with the cube; they are not reproduced by this set.
    """
    return _gaussian_clusters(seed, edge=2.0)


def scattered(seed: int) -> pd.DataFrame:
    """Return Scattered: 1000 records, uniform on [-10000, 10000] in each of 2 attributes."""
    rng = np.random.default_rng(seed)
    return _frame(rng.uniform(-_HALF, _HALF, size=(1000, 2)))


def clustered(seed: int) -> pd.DataFrame:
    """Return Clustered: 1000 records with 2 attributes in natural clusters of 3, 4 or 5.

    Centers are uniform on the square of :func:`scattered`. The source's spread is not known; as in :func:`simc`, each
    attribute of a record is uniform within 0.5 % of the range (100) of the center's. Sizes are drawn evenly among
    those that leave a remainder which clusters of 3..5 can fill. Clusters stand one after the other.
    """
    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    left = 1000
    while left:
        fitting = [size for size in (3, 4, 5) if left == size or left - size >= 3]
        sizes.append(int(rng.choice(fitting)))
        left -= sizes[-1]
    centers = rng.uniform(-_HALF, _HALF, size=(len(sizes), 2))
    return _frame(_around(rng, centers, np.array(sizes)))


def _gaussian_clusters(seed: int, edge: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(4, 9))
    sigma = rng.uniform(0.1, 0.3)
    centers = rng.uniform(0.0, edge, size=(5, d))
    return _frame(np.repeat(centers, 20, axis=0) + rng.normal(0.0, sigma, size=(100, d)))


def _around(rng: np.random.Generator, centers: FloatArray, sizes: IntArray) -> FloatArray:
    """Draw ``sizes[i]`` records uniformly within ``_SPREAD`` of ``centers[i]`` in each attribute."""
    base = np.repeat(centers, sizes, axis=0)
    spread: FloatArray = base + rng.uniform(-_SPREAD, _SPREAD, size=base.shape)
    return spread


def _frame(X: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(1, X.shape[1] + 1)])


#: The generator of each set of the kind "synthetic": seed -> records.
GENERATORS: dict[str, Callable[[int], pd.DataFrame]] = {
    "simu": simu,
    "simc": simc,
    "sim1": sim1,
    "sim2": sim2,
    "sim3": sim3,
    "scattered": scattered,
    "clustered": clustered,
}
