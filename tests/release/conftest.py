"""A file to be released."""

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    n = 60
    return pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "age": rng.integers(18, 90, n),
            "illness": rng.choice(["flu", "none"], n),
            "income": rng.lognormal(10, 1, n).round(2),
            "region": pd.Categorical(rng.choice(["n", "s"], n), categories=["n", "s", "unused"]),
            "smoker": rng.random(n) < 0.5,
            "height": rng.normal(170, 10, n).astype(np.float32),
            "score": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "when": pd.date_range("2020-01-01", periods=n),
        },
        index=rng.permutation(n) + 100,
    )
