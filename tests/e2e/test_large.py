"""A file that is too large to be uploaded: from the folder of the server to a folder of protected files beside it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from pages.shared import tables
from tests.e2e.conftest import silent_server
from tests.e2e.steps import accept, visit

pytestmark = pytest.mark.e2e

N = 24_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    random = np.random.default_rng(0)
    at = tmp_path_factory.mktemp("files")
    pd.DataFrame(
        {
            "person": np.arange(N),
            "age": random.integers(16, 95, N),
            "rent": random.lognormal(10, 0.5, N).round(2),
            "diagnosis": random.choice(["asthma", "flu", "migraine", "diabetes"], N),
        }
    ).to_parquet(at / "register.parquet", row_group_size=3_000)
    return at


@pytest.fixture(scope="module")
def server(tmp_path_factory, folder):
    how = {"workers": True, tables.FOLDER: str(folder)}
    with silent_server(tmp_path_factory.mktemp("server"), **how) as running:
        yield running


@pytest.mark.timeout(420)  # workers start in processes of their own, which takes long on a loaded machine
def test_a_steward_releases_a_large_file(page, server, folder):
    page.goto(f"{server.url}/data?data=large")
    page.get_by_text(f"{N:,} records, of which 20,000 were drawn at random").wait_for()
    accept(page)
    visit(page, "Release")
    page.get_by_text(f"A sample: 20,000 of {N:,} records").wait_for()
    page.get_by_role("button", name=f"Release all {N:,} records").click()
    page.get_by_text(f"{N:,} records protected").wait_for(timeout=300_000)
    released = pd.read_parquet(folder / "register_protected")
    original = pd.read_parquet(folder / "register.parquet")
    assert list(released.columns) == ["age", "rent", "diagnosis"]
    assert released["diagnosis"].tolist() == original["diagnosis"].tolist()
    assert released.groupby(["age", "rent"]).size().min() >= 5
    assert sorted(entry.name for entry in folder.iterdir()) == ["register.parquet", "register_protected"]
