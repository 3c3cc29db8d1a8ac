"""What the tests share: the benchmark data, which tests depend on them, and how many examples are drawn."""

import inspect
import os
import re
import signal
import threading
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numba.core import event

from microagg import datasets, standardize
from tests.seconds import marks_of

#: The root of the repository.
ROOT = Path(__file__).parents[1]

# Examples drawn for a test of any input. Deadlines would fail on whatever compiles a kernel first.
settings.register_profile("quick", max_examples=15, deadline=None)
settings.register_profile("ci", max_examples=20, deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "quick")

#: What a test that depends on a benchmark file has in its code, its parameters or its fixtures.
NEEDS_DATA = re.compile(r"\b(load_benchmark|standardized|benchmark|census|tarragona|eia|adult)\b", re.IGNORECASE)

running: pytest.Item


class TimeoutPause(event.Listener):
    """Stops the clock of pytest-timeout while numba compiles in the thread of the tests."""

    def __init__(self):
        self.remaining = []  # a compiled function compiles those that it calls

    def on_start(self, event):
        if threading.current_thread() is threading.main_thread():
            self.remaining.append(signal.setitimer(signal.ITIMER_REAL, 0)[0])

    def on_end(self, event):
        if threading.current_thread() is threading.main_thread() and (seconds := self.remaining.pop()):
            signal.setitimer(signal.ITIMER_REAL, seconds)


if hasattr(signal, "setitimer"):  # not on Windows
    event.register("numba:compile", TimeoutPause())


@cache
def source_of(function):
    return inspect.getsource(function)


def pytest_collection_modifyitems(items):
    """Mark what depends on benchmark files, to be run by itself where there are none, and what takes long."""
    for item in items:
        for mark in marks_of(item.nodeid):
            item.add_marker(mark)
        parameters = getattr(item, "callspec", None)
        text = "\n".join([source_of(item.function), *item.fixturenames, repr(parameters.params if parameters else "")])
        if NEEDS_DATA.search(text):
            item.add_marker("data")


def pytest_runtest_setup(item):
    global running
    running = item


@cache
def load_benchmark(name: str) -> datasets.Dataset:
    """Load a benchmark without the network; skip, saying so, where its file is not on this machine."""
    if os.environ.get("CI") and NEEDS_DATA.search(name):  # others come with the packages
        assert "data" in running.keywords, f"{running.nodeid} needs data: let NEEDS_DATA find it"
    if not datasets.is_available(name):
        if os.environ.get("CI") and os.environ.get("MICROAGG_DATA_DIR"):
            pytest.fail(f"{name} is missing in the folder that MICROAGG_DATA_DIR names")
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
    return load_benchmark


@pytest.fixture(scope="session")
def wheel(tmp_path_factory):
    """Return the path of a wheel of the repository."""
    from hatchling.builders.wheel import WheelBuilder

    [path] = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    return path


@pytest.fixture
def registered_as_before():
    """Have no algorithm registered afterwards, or run, that was not before."""
    from microagg.algorithms import method
    from microagg.algorithms.base import REGISTERED

    places = (REGISTERED, method._variants)
    before = [dict(kept) for kept in places]
    yield
    for kept, known in zip(places, before, strict=True):
        kept.clear()
        kept.update(known)
