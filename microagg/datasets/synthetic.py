"""Sets without a download: the toy example, sets of scikit-learn, a fictitious survey, and sets from a seed.

Sets from a seed have the structure of the papers; attributes are named x1, x2, …, in an arbitrary unit. The papers do
not publish their random numbers, so single sets differ from theirs while averages over seeds agree. The docstring of a
set has the decisions on details that a paper leaves open.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from microagg.validation import FloatArray, IntArray, check_whole

#: The example of the MDAV* paper: sum of squares 17966 about the mean 34.
TOY_VALUES = (1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100)


def make_survey(n: int = 300, seed: int = 2024) -> pd.DataFrame:
    """Return a fictitious household survey of ``n`` records with 11 columns, for example to try an upload.

    The persons do not exist: every value is drawn from the seed. Older and better educated people earn more on average,
    rents follow incomes and regions, and incomes have a long tail, so that outliers behave as in real files. The
    defaults reproduce ``sample_data/survey.csv`` exactly.

    ``person_id``, ``region`` and ``education`` are text; ``age`` is in years, ``household_size`` in persons,
    ``household_income`` and ``rent`` in currency units a month, ``weekly_hours`` in hours, ``commute_km`` in km,
    ``sickness_days`` in days a year, ``satisfaction`` from 0 to 10.

    Parameters
    ----------
    n : int
        Number of records.
    seed : int
        Seed of the random values, at least 0.
    """
    check_whole("n", n, 0)
    rng = np.random.default_rng(check_whole("seed", seed, 0))
    regions = np.array(["Northvale", "Eastmere", "Southport", "Westhill", "Midland"])
    rent_level = np.array([0.9, 0.8, 1.25, 0.95, 1.1])
    levels = np.array(["primary", "secondary", "vocational", "bachelor", "master"])

    region = rng.choice(len(regions), size=n, p=[0.22, 0.13, 0.3, 0.15, 0.2])
    education = rng.choice(len(levels), size=n, p=[0.12, 0.3, 0.28, 0.19, 0.11])
    age = np.clip(np.rint(rng.normal(46, 16, size=n)), 18, 92).astype(np.int64)
    household_size = 1 + rng.poisson(1.3, size=n)

    retired = age >= 67
    experience = np.clip(age - 18, 0, 40) / 40
    earnings = np.exp(7.35 + 0.16 * education + 0.45 * experience - 0.35 * retired + rng.normal(0, 0.35, size=n))
    household_income = np.rint(earnings * household_size**0.4 / 10) * 10
    rent = np.rint(rent_level[region] * (220 + 0.17 * household_income) * rng.uniform(0.8, 1.2, size=n))

    hours = np.where(rng.random(n) < 0.3, rng.normal(21, 5, size=n), rng.normal(39, 4, size=n))
    weekly_hours = np.where(retired, 0.0, np.rint(np.clip(hours, 4, 60) * 2) / 2)
    commute_km = np.where(retired, 0.0, np.rint(rng.gamma(1.6, 8.0, size=n) * 10) / 10)
    sickness_days = rng.negative_binomial(1.2, 0.12, size=n)
    satisfaction = np.clip(np.rint(rng.normal(6.8, 1.7, size=n)), 0, 10).astype(np.int64)

    return pd.DataFrame(
        {
            "person_id": [f"P{i:04d}" for i in range(1, n + 1)],
            "region": regions[region],
            "education": levels[education],
            "age": age,
            "household_size": household_size,
            "household_income": household_income.astype(np.int64),
            "rent": rent.astype(np.int64),
            "weekly_hours": weekly_hours,
            "commute_km": commute_km,
            "sickness_days": sickness_days,
            "satisfaction": satisfaction,
        }
    )


def read(name: str) -> pd.DataFrame:
    """Return all columns of the toy example or of a set that scikit-learn bundles."""
    if name == "toy":
        return pd.DataFrame({"value": TOY_VALUES})
    import sklearn.datasets

    # Original units: by default scikit-learn returns columns of diabetes that are already centered and scaled.
    units = {"scaled": False} if name == "diabetes" else {}
    frame: pd.DataFrame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True, **units).frame
    return frame


# --- sets drawn from a seed -------------------------------------------------------------------------------------------

#: Half the edge of the cube of SimU, SimC, Scattered and Clustered: attributes range over [-10000, 10000].
_HALF = 10_000.0

#: The greatest distance per attribute of a record from its center in SimC and Clustered: 0.5 % of the range.
_SPREAD = 0.005 * 2 * _HALF


def simu(seed: int) -> pd.DataFrame:
    """Return SimU: 1000 records, uniform on [-10000, 10000] in each of 10 attributes.

    The source does not state the range, which does not matter after standardization.
    """
    return _uniform(seed, _HALF, (1000, 10))


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
    return _uniform(seed, 1000.0, (100, 10))


def sim2(seed: int) -> pd.DataFrame:
    """Return Sim-2: five Gaussian clusters of 20 records, with centers uniform in the unit cube.

    The number of attributes is uniform on 4..8 and the standard deviation uniform on [0.1, 0.3]; both are drawn once
    for the whole set, and the clusters are round. Clusters stand one after the other.
    """
    return _gaussian_clusters(seed, edge=1.0)


def sim3(seed: int) -> pd.DataFrame:
    """Return Sim-3: as :func:`sim2`, with centers uniform in a cube with edges of length 2.

    The spread stays that of Sim-2, so the clusters are easier to separate. The losses that the paper prints for
    Sim-3 are close to those for Sim-2, as if the spread had grown with the cube; they are not reproduced by this set.
    """
    return _gaussian_clusters(seed, edge=2.0)


def scattered(seed: int) -> pd.DataFrame:
    """Return Scattered: 1000 records, uniform on [-10000, 10000] in each of 2 attributes."""
    return _uniform(seed, _HALF, (1000, 2))


def clustered(seed: int) -> pd.DataFrame:
    """Return Clustered: 1000 records with 2 attributes in natural clusters of 3, 4 or 5.

    Centers are uniform on the square of :func:`scattered`. The source does not state the spread. As in :func:`simc`,
    each attribute of a record is uniform within 0.5 % of the range (100) of the center's. Sizes are drawn evenly among
    those that leave a remainder which clusters of 3..5 can fill. Clusters stand one after the other.
    """
    rng = np.random.default_rng(seed)
    sizes: list[int] = []
    n_remaining = 1000
    while n_remaining:
        fitting = [size for size in (3, 4, 5) if n_remaining == size or n_remaining - size >= 3]
        sizes.append(int(rng.choice(fitting)))
        n_remaining -= sizes[-1]
    centers = rng.uniform(-_HALF, _HALF, size=(len(sizes), 2))
    return _frame(_around(rng, centers, np.array(sizes)))


def _uniform(seed: int, half: float, shape: tuple[int, int]) -> pd.DataFrame:
    return _frame(np.random.default_rng(seed).uniform(-half, half, size=shape))


def _gaussian_clusters(seed: int, edge: float) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    d = int(rng.integers(4, 9))
    sigma = rng.uniform(0.1, 0.3)
    centers = rng.uniform(0.0, edge, size=(5, d))
    return _frame(np.repeat(centers, 20, axis=0) + rng.normal(0.0, sigma, size=(100, d)))


def _around(rng: np.random.Generator, centers: FloatArray, sizes: IntArray) -> FloatArray:
    """Draw ``sizes[i]`` records uniformly within ``_SPREAD`` of ``centers[i]`` in each attribute."""
    base = np.repeat(centers, sizes, axis=0)
    return np.asarray(base + rng.uniform(-_SPREAD, _SPREAD, size=base.shape))


def _frame(X: FloatArray) -> pd.DataFrame:
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(1, X.shape[1] + 1)])


#: The generator of each set of the kind "synthetic": seed -> records.
GENERATORS: dict[str, Callable[[int], pd.DataFrame]] = {
    generator.__name__: generator for generator in (simu, simc, sim1, sim2, sim3, scattered, clustered)
}
