"""A file as stewards get them: everything that a first look should notice."""

import io

import numpy as np
import pandas as pd


def messy_survey(n=3_000, seed=7):
    """Return a fictitious survey: an id, names, one "n/a" among ages, F beside f, codes that begin with 0, 41 gaps."""
    rng = np.random.default_rng(seed)
    given = np.array(["Ada", "Ben", "Cleo", "Dan", "Eve", "Finn", "Gus", "Hana", "Ivo", "Jana", "Kim", "Lea"])
    family = np.array(
        ["Abt", "Beck", "Cole", "Dorn", "Egli", "Frey", "Graf", "Huber", "Iten", "Jost", "Keller", "Lang"]
    )
    age = np.clip(np.rint(rng.normal(47, 18, n)), 0, 98).astype(int).astype(object)
    age[1234] = "n/a"
    sex = rng.choice(["F", "M"], n).astype(object)
    sex[[17, 1900, 2500]] = "f"
    rent = np.rint(np.exp(rng.normal(7.9, 0.5, n)) / 10) * 10
    rent[rng.choice(n, 41, replace=False)] = np.nan
    return pd.DataFrame(
        {
            "id": np.arange(1, n + 1),
            "name": [f"{given[rng.integers(12)]} {family[rng.integers(12)]} {i:04d}" for i in range(n)],
            "age": age,
            "sex": sex,
            "zip": [f"{code:05d}" for code in rng.choice([1067, 1099, 1127, 4103, 4109, 4155, 8523, 9111], n)],
            "rent": rent,
            "weight": np.round(rng.gamma(9.0, 90.0, n), 4),
            "children": rng.poisson(1.1, n),
            "diagnosis": rng.choice(["none", "asthma", "diabetes", "migraine"], n, p=[0.7, 0.1, 0.12, 0.08]),
        }
    )


def messy_csv(**options):
    text = io.StringIO()
    messy_survey(**options).to_csv(text, index=False)
    return text.getvalue().encode()
