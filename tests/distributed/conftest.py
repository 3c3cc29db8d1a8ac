"""Workers of Dask for the tests: some in this process, which start quickly, and some in processes of their own."""

import logging

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("distributed")

import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster

N = 20_000


def workers_here(number):
    return LocalCluster(
        n_workers=number,
        threads_per_worker=1,
        processes=False,
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=logging.CRITICAL,
    )


@pytest.fixture(scope="session")
def client():
    """A client of two workers in this process."""
    with workers_here(2) as cluster, Client(cluster, set_as_default=False) as connection:
        yield connection


@pytest.fixture(scope="session")
def numbers():
    """Records with four numbers, a name and a confidential column."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 4)) @ rng.normal(size=(4, 4))
    frame = pd.DataFrame(X, columns=["age", "height", "income", "debt"])
    return frame.assign(name=[f"p{i}" for i in range(N)], illness=rng.choice(["a", "b", "c"], N))


@pytest.fixture(scope="session")
def people():
    """Records of all kinds of attributes, with gaps in one of them."""
    rng = np.random.default_rng(2)
    n = 6_000
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n),
            "income": np.round(rng.lognormal(10, 1, n), 2),
            "region": rng.choice(["north", "south", "west"], n),
            "job": rng.choice(["cook", "nurse", "smith", "judge", "clerk"], n, p=[0.4, 0.3, 0.15, 0.1, 0.05]),
            "school": rng.choice(["none", "some", "all"], n),
            "born": pd.Timestamp("1950-01-01") + pd.to_timedelta(rng.integers(0, 20_000, n), unit="D"),
            "illness": rng.choice(["a", "b", "c"], n),
        }
    )
    frame["born"] = frame["born"].astype("datetime64[s]")
    frame["weight"] = rng.normal(70, 10, n)
    frame.loc[rng.choice(n, 50, replace=False), "weight"] = np.nan
    return frame


def parquet(frame, path, rows):
    """Write a frame as a Parquet file with row groups of so many records."""
    pq.write_table(pa.Table.from_pandas(frame, preserve_index=False), path, row_group_size=rows)
    return path


@pytest.fixture(scope="session")
def numbers_file(numbers, tmp_path_factory):
    return parquet(numbers, tmp_path_factory.mktemp("numbers") / "numbers.parquet", 3_000)


@pytest.fixture(scope="session")
def people_file(people, tmp_path_factory):
    return parquet(people, tmp_path_factory.mktemp("people") / "people.parquet", 1_000)


@pytest.fixture
def small_parts(monkeypatch):
    """Let each row group be a part."""
    monkeypatch.setattr("microagg.distributed.parts.RECORDS", 1)
