"""Sets that are always at hand: the toy example, what scikit-learn bundles, and a fictitious survey."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: The example of the MDAV* paper: sum of squares 17966 about the mean 34.
TOY_VALUES = (1, 2, 3, 5, 6, 19, 20, 21, 98, 99, 100)


def make_survey(n: int = 300, seed: int = 2024) -> pd.DataFrame:
    """Return a fictitious household survey, to try an upload with.

    Nobody in it exists: every value is drawn from the seed. Older and better educated people earn more on average,
    rents follow incomes and regions, and incomes have a long tail, so that outliers behave as in real files.

    Parameters
    ----------
    n : int, default 300
        The number of records.
    seed : int, default 2024
        The seed; the defaults make exactly ``sample_data/survey.csv``.

    Returns
    -------
    DataFrame, shape (n, 11)
        ``person_id``, ``region`` and ``education`` are text; ``age`` is in years, ``household_size`` in persons,
        ``household_income`` and ``rent`` in currency units a month, ``weekly_hours`` in hours, ``commute_km`` in km,
        ``sickness_days`` in days a year, ``satisfaction`` from 0 to 10.
    """
    rng = np.random.default_rng(seed)
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


def read(name: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return all columns of the toy example or of a set that scikit-learn bundles, and its quasi-identifiers."""
    if name == "toy":
        return pd.DataFrame({"value": TOY_VALUES}), ("value",)
    import sklearn.datasets

    # Original units: by default scikit-learn returns columns of diabetes that are already centered and scaled.
    units = {"scaled": False} if name == "diabetes" else {}
    frame = getattr(sklearn.datasets, f"load_{name}")(as_frame=True, **units).frame
    return frame, tuple(column for column in frame.columns if column != "target")
