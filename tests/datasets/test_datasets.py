"""Data sets: benchmarks are the published ones, synthetic sets have their structure, failures are said plainly."""

import functools
import hashlib
import http.server
import pickle
import re
import threading
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from microagg import datasets
from microagg.columns.schema import ROLES
from microagg.columns.taxonomy import Taxonomy
from microagg.datasets import loading
from microagg.errors import DataError, DatasetUnavailableError, ParameterError
from microagg.tables import digest_array, read_table, to_csv
from tests.cases import for_each
from tests.conftest import ROOT

SAMPLES = ROOT / "sample_data"
BENCHMARKS = ("census", "tarragona", "eia", "adult")
SYNTHETIC = ("simu", "simc", "sim1", "sim2", "sim3", "scattered", "clustered")


def test_unknown_names():
    with pytest.raises(ParameterError, match="there is no data set 'tarragonna': did you mean 'tarragona'"):
        datasets.load("tarragonna")
    with pytest.raises(ParameterError, match="choose one of census, tarragona"):
        datasets.describe(None)


@for_each("name", datasets.NAMES)
def test_sets_fit_their_entry(benchmark, name):
    entry = datasets.describe(name)
    assert entry.description.endswith(".")
    assert (entry.file is not None) == (entry.kind == "benchmark") == (name in BENCHMARKS)
    assert (entry.kind == "synthetic") == (name in SYNTHETIC)
    data = benchmark(name) if name in BENCHMARKS else datasets.load(name, download=False)
    assert datasets.is_available(name)
    assert (data.n, data.d) == (len(data.frame), len(data.quasi_identifiers))
    names = [name for role in ROLES if role != "classes" for name in data.schema.columns(role)]
    assert sorted(names) == sorted(data.frame)
    assert data.schema.quasi_identifiers == data.quasi_identifiers
    assert data.frame.index.equals(pd.RangeIndex(data.n))
    if name == "adult":
        return
    assert data.X.shape == (data.n, data.d)
    for count, fixed in zip(data.X.shape, entry.shape, strict=True):
        assert count == fixed or (fixed is None and entry.drawn[0] <= count <= entry.drawn[1])
    assert data.X.dtype == np.float64
    assert data.X.flags.c_contiguous
    assert np.isfinite(data.X).all()
    assert data.schema.is_numeric
    assert data.schema.confidential == (("target",) if entry.kind == "bundled" else ())
    assert pickle.loads(pickle.dumps(data)).schema == data.schema


def test_survey_file_is_what_the_generator_makes():
    frame = datasets.make_survey()
    text = (SAMPLES / "survey.csv").read_bytes().decode("utf-8")
    assert text == to_csv(frame)
    pd.testing.assert_frame_equal(read_table(SAMPLES / "survey.csv"), frame)
    assert frame.shape == (300, 11)
    assert not datasets.make_survey(seed=1).equals(frame)
    assert len(datasets.make_survey(n=50)) == 50


@for_each("name", SYNTHETIC)
def test_seed_decides(name):
    first, second = datasets.load(name, seed=5), datasets.load(name, seed=5)
    np.testing.assert_array_equal(first.X, second.X)
    assert first.seed == 5
    assert datasets.load(name).seed == 0
    np.testing.assert_array_equal(datasets.load(name).X, datasets.load(name, seed=np.int64(0)).X)
    assert not np.array_equal(first.X[:50, :2], datasets.load(name, seed=6).X[:50, :2])
    assert list(first.frame) == [f"x{j}" for j in range(1, first.d + 1)] == list(first.quasi_identifiers)


DIGESTS = "6e5bc8ec88ec9e4c 50857e5dc7b95217 2a791c25a76456a8 974661c4daf15f54 eb886e348c6d082a 03dc395ea6c8ca68"


@for_each(("name", "digest"), zip(SYNTHETIC, [*DIGESTS.split(), "1441a995eb4f14d9"], strict=True))
def test_seed_zero_stays_the_same_set(name, digest):
    # Rounded, so that the last bit of a logarithm on another processor does not matter.
    assert digest_array(datasets.load(name).X.round(6) + 0.0)[:16] == digest


def runs(X, reach):
    """Return the lengths of the runs of consecutive records that differ by at most ``reach`` in every attribute."""
    breaks = np.flatnonzero((np.abs(np.diff(X, axis=0)) > reach).any(axis=1)) + 1
    return np.diff(np.concatenate([[0], breaks, [len(X)]]))


def test_simc_structure():
    X = datasets.load("simc", seed=1).X
    # x grouped records and floor(x/3) others.
    grouped = next(x for x in range(400, 2101) if x + x // 3 == len(X))
    sizes = runs(X[:grouped], reach=200)
    assert len(sizes) == 100
    assert sizes.min() >= 4
    assert sizes.max() <= 21
    assert sizes.mean() == pytest.approx(12.5, abs=2.5)
    for group in np.split(X[:grouped], np.cumsum(sizes)[:-1]):
        assert np.ptp(group, axis=0).max() <= 200
    assert runs(X[grouped:], reach=200).max() == 1
    assert np.abs(X).max() <= 10_100


def test_clustered_structure():
    X = datasets.load("clustered", seed=1).X
    assert X.shape == (1000, 2)
    assert np.abs(X).max() <= 10_100
    sizes = runs(X, reach=200)
    # Two clusters may happen to lie side by side.
    assert np.isin(sizes, (3, 4, 5)).mean() > 0.97


def test_sim2_and_sim3_structure():
    for name, edge in (("sim2", 1.0), ("sim3", 2.0)):
        dimensions = set()
        for seed in range(25):
            clusters = datasets.load(name, seed=seed).X.reshape(5, 20, -1)
            dimensions.add(clusters.shape[2])
            centers = clusters.mean(axis=1)
            assert -0.3 < centers.min() < centers.max() < edge + 0.3
            assert 0.08 < np.sqrt(clusters.var(axis=1, ddof=1).mean()) < 0.33
        assert dimensions == {4, 5, 6, 7, 8}


@for_each(("name", "columns", "sst"), [("tarragona", 13, 10842), ("census", 13, 14040), ("eia", 15, 45012)])
def test_casc_benchmarks(benchmark, name, columns, sst):
    data = benchmark(name)
    assert data.frame.shape[1] == columns
    z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    assert (z**2).sum() == pytest.approx(sst, rel=1e-12)
    assert {str(dtype) for dtype in data.frame[list(data.quasi_identifiers)].dtypes} == {"int64"}


def test_benchmarks_have_the_published_values(benchmark):
    census = benchmark("census").frame
    assert list(census)[:3] == ["AFNLWGT", "AGI", "EMCONTRB"]
    assert census["AGI"][:3].tolist() == [45554, 57610, 56606]
    eia = benchmark("eia")
    assert eia.quasi_identifiers == ("UTILITYID", *list(eia.frame)[5:])
    assert (eia.quasi_identifiers[1], eia.quasi_identifiers[-1]) == ("RESREVENUE", "TOTSALES")
    assert eia.frame["STATE"][0] == "AK"
    assert not eia.frame.isna().any(axis=None)


def test_adult(benchmark):
    data = benchmark("adult")
    assert data.frame.shape == (32_561, 15)
    assert data.frame["age"].dtype == np.int64
    for name in data.frame.select_dtypes(exclude="number"):
        cells = data.frame[name].dropna()
        assert (cells == cells.str.strip()).all()
        assert "?" not in set(cells)
    with pytest.raises(DataError, match=r"'adult' has categorical quasi-identifiers \('workclass', 'education'.*:"):
        _ = data.X


NOMINAL = ("workclass", "marital-status", "occupation", "race", "sex", "native-country")


def test_schema_of_adult(benchmark):
    schema = benchmark("adult").schema
    assert (schema.classes, schema.confidential) == ("income", ("income",))
    # What else says how long somebody went to school, and weights that hardly two persons share, are left out.
    assert schema.identifiers == ("education-num", "fnlwgt")
    assert schema.others == ("relationship", "capital-gain", "capital-loss", "hours-per-week")
    assert tuple(schema.taxonomies) == NOMINAL
    assert {a.name for a in schema.attributes if a.kind == "numeric"} == {"age"}
    assert list(schema.ordinal) == ["education"]


def test_records_of_adult(benchmark):
    data = benchmark("adult")
    records = data.schema.records(data.frame, missing="drop")
    assert (records.n, records.d) == (30_162, 8)
    assert records.domains.tolist() == [73, 2, 15, 2, 2, 1, 1, 3]
    complete = data.frame.dropna()
    np.testing.assert_array_equal(records.values[:, 0], complete["age"])
    # An order with 16 levels is the same as the number that the file gives them.
    np.testing.assert_array_equal(records.values[:, 2] + 1, complete["education-num"])
    with pytest.raises(DataError, match="missing"):
        data.schema.records(data.frame)


@for_each("name", NOMINAL)
def test_taxonomies_of_adult_are_its_values_and_no_others(benchmark, name):
    taxonomy = Taxonomy.read(SAMPLES / "taxonomies" / "adult" / f"{name}.txt")
    assert taxonomy == benchmark("adult").schema.taxonomies[name]
    assert taxonomy.names[0] == "*"
    assert set(taxonomy.values) == set(benchmark("adult").frame[name].dropna())


CONTENT = bytes(range(256)) * 1000
FILE = datasets.RemoteFile("small.bin", "http://127.0.0.1:9/", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture
def folders(tmp_path, monkeypatch):
    """Give a folder for MICROAGG_DATA_DIR, which is set, and one for the cache; neither holds anything."""
    named, cache = tmp_path / "named", tmp_path / "cache"
    named.mkdir()
    monkeypatch.setenv("MICROAGG_DATA_DIR", str(named))
    monkeypatch.setattr(loading, "cache_folder", lambda: cache)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(loading, "TIMEOUT", 0.5)
    return named, cache


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def server(tmp_path):
    """Serve the folder ``served`` on this machine; give it and its address."""
    served = tmp_path / "served"
    served.mkdir()
    handler = functools.partial(Quiet, directory=served)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield served, f"http://127.0.0.1:{running.server_port}/"
        running.shutdown()
        thread.join()


def served_file(server, content=CONTENT):
    """Return ``FILE`` at the address of a server that sends ``content`` for it."""
    served, address = server
    (served / FILE.name).write_bytes(content)
    return replace(FILE, base_url=address)


def test_a_file_is_downloaded_once(folders, server):
    named, cache = folders
    file = served_file(server)
    path = loading.locate(file)
    assert path.read_bytes() == CONTENT
    assert path.parent == cache
    # From now on no server is needed, and nothing was ever written to the named folder.
    (server[0] / FILE.name).unlink()
    assert loading.locate(file) == loading.locate(file, download=False) == path
    assert list(named.iterdir()) == []


def test_the_named_folder_comes_before_the_cache(folders, monkeypatch):
    named, cache = folders
    cache.mkdir()
    (cache / FILE.name).write_bytes(CONTENT)
    assert loading.locate(FILE) == cache / FILE.name
    (named / FILE.name).write_bytes(CONTENT)
    assert loading.locate(FILE) == named / FILE.name
    monkeypatch.delenv("MICROAGG_DATA_DIR")
    assert loading.locate(FILE) == cache / FILE.name


def test_wrong_file_in_the_named_folder(folders):
    path = folders[0] / FILE.name
    path.write_bytes(CONTENT[:-1] + b"x")
    says = rf"{re.escape(str(path))}.* not the published small\.bin: its SHA-256 sum .*{re.escape(FILE.url)}"
    with pytest.raises(DatasetUnavailableError, match=says):
        loading.locate(FILE)


def test_damaged_cache_is_fetched_again(folders, server):
    _, cache = folders
    file = served_file(server)
    cache.mkdir()
    (cache / FILE.name).write_bytes(b"damaged")
    with pytest.raises(DatasetUnavailableError, match=r"not the published small\.bin"):
        loading.locate(file, download=False)
    assert loading.locate(file).read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("download", "why"),
    [(True, r"its address did not send it \(ConnectionError\)"), (False, "downloading is switched off")],
)
def test_neither_file_nor_network(folders, download, why):
    _, cache = folders
    with pytest.raises(DatasetUnavailableError, match=why) as caught:
        loading.locate(FILE, download=download)
    for fact in (FILE.name, FILE.url, str(cache), "MICROAGG_DATA_DIR"):
        assert fact in str(caught.value)
    assert not (cache / FILE.name).exists()


def test_server_that_sends_something_else(folders, server):
    file = served_file(server, b"<html>please log in</html>")
    with pytest.raises(DatasetUnavailableError, match=rf"sent is not the published small\.bin: .*{file.sha256}"):
        loading.locate(file)
    assert list(folders[1].iterdir()) == []


def test_cache_that_cannot_be_written(folders, server):
    _, cache = folders
    cache.write_text("a file where the folder should be")
    with pytest.raises(DatasetUnavailableError, match="cannot be written to"):
        loading.locate(served_file(server))


def test_load_goes_through_all_this(folders):
    with pytest.raises(DatasetUnavailableError, match=r"Tarragona\.rda is not on this machine"):
        datasets.load("tarragona", download=False)
    assert not datasets.is_available("tarragona")


def test_cache_folder(tmp_path, monkeypatch):
    assert datasets.cache_folder() == SAMPLES.resolve() / "cache"
    # Without a checkout around it, the package keeps to the user's own cache.
    monkeypatch.setattr(loading, "_SAMPLES", tmp_path / "sample_data")
    folder = loading.cache_folder()
    assert folder.name == "microagg"
    assert tmp_path not in folder.parents
