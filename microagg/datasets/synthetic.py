"""Sets without a download: the toy example, sets of scikit-learn, a fictitious survey, and sets from a seed.

Sets from a seed have the structure of the papers; attributes are named x1, x2, …, in an arbitrary unit. The papers do
not publish their random numbers, so single sets differ from theirs while averages over seeds agree. Comments tell the
decisions on details that a paper leaves open.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from microagg.validation import FloatArray, IntArray, check_whole

#: The example of the MDAV* paper: sum of squares 17966 about the mean 34.
TOY_VALUES = (1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100)


def make_survey(n: int = 300, seed: int = 2024) -> pd.DataFrame:
    """Make a fictitious household survey, for example to try an upload.

    The persons do not exist: every value is drawn from the seed. Older and better educated people earn more on average,
    rents follow incomes and regions, and incomes have a long tail, so that outliers behave as in real files. The
    defaults reproduce ``sample_data/survey.csv`` exactly.

    Parameters
    ----------
    n : int
        Number of records.
    seed : int
        Seed of the random values, at least 0.

    Returns
    -------
    DataFrame of shape (n, 11)
        ``person_id``, ``region`` and ``education`` are text; ``age`` is in years, ``household_size`` in persons,
        ``household_income`` and ``rent`` in currency units a month, ``weekly_hours`` in hours, ``commute_km`` in km,
        ``sickness_days`` in days a year, ``satisfaction`` from 0 to 10.

    Raises
    ------
    ParameterError
        If ``n`` or ``seed`` is not a whole number of at least 0.
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


# Half the edge of the cube of SimU, SimC, Scattered and Clustered: attributes range over [-10000, 10000]. The source of
# SimU does not state the range, which does not matter after standardization.
_HALF = 10_000.0

# The greatest distance per attribute of a record from its center in SimC and Clustered: 0.5 % of the range. SimC's
# "within 0.5 % of the center" is read so; a record may lie this far outside the cube.
_SPREAD = 0.005 * 2 * _HALF

# Uniform sets: the numbers of records and attributes, and half the edge of their cube.
_UNIFORM = {"simu": (1000, 10, _HALF), "sim1": (100, 10, 1000.0), "scattered": (1000, 2, _HALF)}

# The edge of the cube of the centers of Sim-2 and Sim-3. The spread of Sim-3 stays that of Sim-2, so its clusters are
# easier to separate. The losses that the paper prints for it are close to those for Sim-2, as if the spread had grown
# with the cube; they are not reproduced by this set.
_GAUSSIAN = {"sim2": 1.0, "sim3": 2.0}


def generate(name: str, seed: int) -> pd.DataFrame:
    """Draw the records of a synthetic set; groups and clusters stand one after the other."""
    rng = np.random.default_rng(seed)
    if name in _UNIFORM:
        n, d, half = _UNIFORM[name]
        X = rng.uniform(-half, half, size=(n, d))
    elif name in _GAUSSIAN:
        X = _gaussian_clusters(rng, _GAUSSIAN[name])
    else:
        X = {"simc": _simc, "clustered": _clustered}[name](rng)
    return pd.DataFrame(X, columns=[f"x{j}" for j in range(1, X.shape[1] + 1)])


def _gaussian_clusters(rng: np.random.Generator, edge: float) -> FloatArray:
    """Five round clusters of 20 records; the number of attributes and the spread are drawn once for the whole set."""
    d = int(rng.integers(4, 9))
    sigma = rng.uniform(0.1, 0.3)
    centers = rng.uniform(0.0, edge, size=(5, d))
    return np.repeat(centers, 20, axis=0) + rng.normal(0.0, sigma, size=(100, d))


def _simc(rng: np.random.Generator) -> FloatArray:
    """100 tight groups of 4 to 21 records in 10 attributes, and a third as many independent records at the end."""
    centers = rng.uniform(-_HALF, _HALF, size=(100, 10))
    grouped = _around(rng, centers, rng.integers(4, 22, size=100))
    return np.vstack([grouped, rng.uniform(-_HALF, _HALF, size=(len(grouped) // 3, 10))])


def _clustered(rng: np.random.Generator) -> FloatArray:
    """1000 records with 2 attributes in clusters of 3, 4 or 5, drawn evenly among the sizes that leave no remainder."""
    sizes: list[int] = []
    n_remaining = 1000
    while n_remaining:
        fitting = [size for size in (3, 4, 5) if n_remaining == size or n_remaining - size >= 3]
        sizes.append(int(rng.choice(fitting)))
        n_remaining -= sizes[-1]
    return _around(rng, rng.uniform(-_HALF, _HALF, size=(len(sizes), 2)), np.array(sizes))


def _around(rng: np.random.Generator, centers: FloatArray, sizes: IntArray) -> FloatArray:
    """Draw ``sizes[i]`` records uniformly within ``_SPREAD`` of ``centers[i]`` in each attribute."""
    base = np.repeat(centers, sizes, axis=0)
    return np.asarray(base + rng.uniform(-_SPREAD, _SPREAD, size=base.shape))
