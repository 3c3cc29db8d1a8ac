"""What the tests share: the benchmark data, and a list of data sets to try algorithms on."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from microagg import datasets, standardize

#: The root of the repository.
ROOT = Path(__file__).parents[1]


@cache
def load_benchmark(name: str) -> datasets.Dataset:
    """Load a benchmark without the network; skip, saying so, where its file is not on this machine."""
    if not datasets.is_available(name):
        if os.environ.get("CI"):
            pytest.fail(f"{name} is missing: CI must set MICROAGG_DATA_DIR to the folder of benchmark files")
        pytest.skip(f"the benchmark {name} is not on this machine: set MICROAGG_DATA_DIR or load it once in the app")
    return datasets.load(name, download=False)


@cache
def standardized(name: str) -> np.ndarray:
    """Return the z-scored quasi-identifiers of a benchmark, read-only."""
    X = standardize(load_benchmark(name).X)
    X.setflags(write=False)
    return X


@pytest.fixture
def benchmark():
    """Return the loader of benchmark data sets."""
    return load_benchmark
