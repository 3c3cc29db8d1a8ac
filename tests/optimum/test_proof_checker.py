"""Forged certificates: whatever is altered, nothing is proven that is not so, in bounded time and memory."""

import zipfile

import numpy as np
import pytest

from benchmarks.certificates import CERTIFICATES, write_certificate
from microagg import DataError, datasets, make, metrics, standardize
from microagg.optimum import proof_checker
from microagg.optimum.master_problem import Master
from microagg.optimum.proof_checker import check, read
from tests.optimum.test_branching import proven

K = 3


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(7).normal(size=(40, 3))


@pytest.fixture(scope="module")
def genuine(X, tmp_path_factory):
    """Return the fields of a certificate with cuts and several leaves."""
    with pytest.MonkeyPatch.context() as patch:
        rounds = iter([Master.add_cuts])
        patch.setattr(Master, "add_cuts", lambda *call: next(rounds, lambda *_: 0)(*call))
        tree, _ = proven(X, K, np.arange(40) // K % 13)
    path = tmp_path_factory.mktemp("certificates") / "genuine.npz"
    write_certificate(path, "own", K, tree.proof)
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


@pytest.fixture(scope="module")
def optimum(X, genuine):
    return metrics.sse(X, genuine["labels"])


def checked(tmp_path, X, fields):
    np.savez_compressed(tmp_path / "forged.npz", **fields)
    return check(X, read(tmp_path / "forged.npz"))


def test_a_genuine_certificate_holds(tmp_path, X, genuine, optimum):
    assert len(genuine["path_ends"]) > 3
    assert len(genuine["sigma"])
    found = checked(tmp_path, X, genuine)
    assert found.is_optimal
    assert found.floor <= optimum * (1 + 1e-9)
    assert found.sse == pytest.approx(optimum)


def at(array, place, value):
    changed = np.array(array)
    changed[place] = value
    return changed


def without_leaf(fields, number):
    """Return the certificate without one of its leaves."""
    ends, n_leaves = fields["path_ends"], len(fields["path_ends"]) - 1
    lengths = np.diff(ends)
    gone = len(fields["pi"]) - n_leaves + number
    prices = np.diff(fields["price_ends"])
    start, stop = fields["price_ends"][gone : gone + 2]
    return {
        "path_ends": np.cumsum([0, *np.delete(lengths, number)]),
        "decisions": np.delete(fields["decisions"], np.s_[ends[number] : ends[number + 1]], axis=0),
        "pi": np.delete(fields["pi"], gone, axis=0),
        "price_ends": np.cumsum([0, *np.delete(prices, gone)]),
        "price_cuts": np.delete(fields["price_cuts"], np.s_[start:stop]),
        "sigma": np.delete(fields["sigma"], np.s_[start:stop]),
    }


def nothing_but(X, pi, labels):
    """Return a certificate of prices alone, as those that are made up are."""
    none = np.zeros(0, dtype=np.int64)
    return {
        "data": np.array("own"),
        "k": np.array(K),
        "labels": labels,
        "denominators": none,
        "cut_ends": np.zeros(1, dtype=np.int64),
        "cut_records": none,
        "cut_multipliers": none,
        "pi": np.array([pi, pi]),
        "price_ends": np.zeros(3, dtype=np.int64),
        "price_cuts": none,
        "sigma": np.zeros(0),
        "path_ends": np.zeros(2, dtype=np.int64),
        "decisions": np.zeros((0, 3), dtype=np.int64),
    }


# What is altered, by the field, and what the checker says of it; where it says nothing, it must not call the partition
# an optimum.
FORGERIES = {
    "k lower": (lambda f: {"k": f["k"] - 1}, None),
    "k higher": (lambda f: {"k": f["k"] + 1}, "labels: a group has 3"),
    "k of 1": (lambda f: {"k": np.array(1)}, "k: it must be"),
    "labels worse": (lambda f: {"labels": np.roll(f["labels"], 1)}, None),
    "labels of small groups": (lambda f: {"labels": np.arange(40)}, "labels: a group has 1"),
    "labels too few": (lambda f: {"labels": f["labels"][:-1]}, "labels: there are 39"),
    "one group": (lambda f: {"labels": np.zeros(40, dtype=np.int64)}, None),
    "pi huge": (lambda f: {"pi": np.full_like(f["pi"], 1e6)}, None),
    "pi beyond sums": (lambda f: {"pi": np.full_like(f["pi"], 1e300)}, "beyond 1e100"),
    "pi higher": (lambda f: {"pi": f["pi"] * 1.1}, None),
    "pi of leaves only higher": (lambda f: {"pi": at(f["pi"], np.s_[-2:], f["pi"][-2:] * 1.1)}, None),
    "pi nan": (lambda f: {"pi": at(f["pi"], (0, 3), np.nan)}, "pi: there must be one finite"),
    "pi of fewer records": (lambda f: {"pi": f["pi"][:, :-1]}, "pi: there must be one finite"),
    "pi of fewer leaves": (lambda f: {"pi": f["pi"][:-1]}, "price_ends: it must have"),
    "sigma negative": (lambda f: {"sigma": -f["sigma"] - 1}, "sigma: each cut"),
    "sigma higher": (lambda f: {"sigma": f["sigma"] * 10 + 1}, None),
    "sigma too few": (lambda f: {"sigma": f["sigma"][:-1]}, "sigma: there must be one"),
    "a cut of fractions": (lambda f: {"cut_multipliers": f["cut_multipliers"] + 0.5}, "cut_multipliers: it must be"),
    "a cut with a negative multiplier": (lambda f: {"cut_multipliers": -f["cut_multipliers"]}, "cut_multipliers: they"),
    "a cut with other multipliers": (lambda f: {"cut_multipliers": f["cut_multipliers"] * 7 + 1}, None),
    "a cut with too few multipliers": (
        lambda f: {"cut_multipliers": f["cut_multipliers"][1:]},
        "cut_multipliers: ther",
    ),
    "a cut of no records": (lambda f: {"cut_records": f["cut_records"] + 40}, "cut_records: a cut must name"),
    "a cut of a record twice": (lambda f: {"cut_records": f["cut_records"] * 0}, "cut_records: a cut must name"),
    "a cut divided by 1": (lambda f: {"denominators": f["denominators"] * 0 + 1}, "denominators: they must be"),
    "cuts end too late": (lambda f: {"cut_ends": f["cut_ends"] + 1}, "cut_ends: it must rise from 0"),
    "cuts end in disorder": (lambda f: {"cut_ends": at(f["cut_ends"], 1, 10**6)}, "cut_ends: it must rise from 0"),
    "prices of cuts that are none": (lambda f: {"price_cuts": f["price_cuts"] + 10**6}, "price_cuts: they must be"),
    "prices end too early": (lambda f: {"price_ends": f["price_ends"] // 2}, "price_ends: it must rise from 0"),
    "the first leaf dropped": (lambda f: without_leaf(f, 0), "decisions: the leaves"),
    "decisions flipped": (
        lambda f: {"decisions": at(f["decisions"], (0, 2), 1 - f["decisions"][0, 2])},
        "decisions: the leaves",
    ),
    "decisions all the same": (lambda f: {"decisions": at(f["decisions"], np.s_[:, 2], 1)}, "decisions: the leaves"),
    "decisions of other pairs": (lambda f: {"decisions": at(f["decisions"], (0, 0), 39)}, "decisions: "),
    "decisions of a record alone": (
        lambda f: {"decisions": at(f["decisions"], np.s_[:, 1], f["decisions"][:, 0])},
        "are no two of 40 records",
    ),
    "decisions that are neither": (lambda f: {"decisions": at(f["decisions"], np.s_[:, 2], 2)}, "decisions: each"),
    "paths end too early": (lambda f: {"path_ends": f["path_ends"] // 2}, "path_ends: it must rise from 0"),
    "a name that is a number": (lambda f: {"data": np.array(3)}, "data: it must be of kind"),
}


@pytest.mark.parametrize("name", FORGERIES)
def test_forgeries_prove_nothing(tmp_path, X, genuine, optimum, monkeypatch, name):
    # What bounds the work is the same, only less, as there are 40 records.
    monkeypatch.setattr(proof_checker, "MOST_GROUPS", 20_000)
    monkeypatch.setattr(proof_checker, "MOST_STEPS", 50_000_000)
    alter, says = FORGERIES[name]
    forged = genuine | alter(genuine)
    if says is not None:
        with pytest.raises(DataError, match=says):
            checked(tmp_path, X, forged)
        return
    try:
        found = checked(tmp_path, X, forged)
    except DataError as error:
        refused = str(error)
    else:
        refused = ""
    if refused:
        assert refused.startswith("pi: more than 20,000 groups")
        return
    assert not found.is_optimal
    if name != "k lower":
        assert found.floor <= optimum


@pytest.mark.parametrize("pi", [1.0, 1e6, 1e-6, -1.0])
def test_prices_that_are_made_up_prove_nothing_of_a_bad_partition(tmp_path, X, optimum, monkeypatch, pi):
    monkeypatch.setattr(proof_checker, "MOST_GROUPS", 20_000)
    labels = make("mdav", k=K).fit_predict(X)
    assert metrics.sse(X, labels) > optimum * 1.001
    with pytest.raises(DataError, match="pi: more than 20,000 groups"):
        checked(tmp_path, X, nothing_but(X, np.full(40, pi), labels))


def test_random_prices_never_prove_more_than_the_optimum(X, genuine, optimum, tmp_path, monkeypatch):
    monkeypatch.setattr(proof_checker, "MOST_GROUPS", 200_000)
    rng, floors = np.random.default_rng(0), []
    for _ in range(20):
        noise = rng.normal(scale=10 ** rng.uniform(-6, -1), size=genuine["pi"].shape)
        try:
            floors.append(checked(tmp_path, X, genuine | {"pi": genuine["pi"] + noise}).floor)
        except DataError:
            continue
    assert len(floors) > 10
    assert max(floors) <= optimum * (1 + 1e-12)


def test_other_records_are_not_proven(tmp_path, X, genuine, monkeypatch):
    monkeypatch.setattr(proof_checker, "MOST_GROUPS", 20_000)
    other = np.random.default_rng(8).normal(size=X.shape)
    with pytest.raises(DataError, match="pi: more than"):
        checked(tmp_path, other, genuine)
    with pytest.raises(DataError, match="labels: there are 40, for 39 records"):
        checked(tmp_path, X[:-1], genuine)
    with pytest.raises(DataError, match="not finite"):
        checked(tmp_path, at(X, (0, 0), np.nan), genuine)


def test_files_that_are_damaged_or_huge_are_refused(tmp_path, genuine):
    path = tmp_path / "own.npz"
    np.savez_compressed(path, **genuine)
    whole = path.read_bytes()
    for part in (
        whole[:-100],
        whole[: len(whole) // 2],
        b"",
        b"nothing",
        bytes([*whole[:200], *([0] * 200), *whole[400:]]),
    ):
        path.write_bytes(part)
        with pytest.raises(DataError, match=r"own\.npz' (cannot be read|is no certificate)"):
            read(path)
    with pytest.raises(DataError, match="cannot be read"):
        read(tmp_path / "none.npz")
    np.savez_compressed(path, **{name: field for name, field in genuine.items() if name != "sigma"})
    with pytest.raises(DataError, match="is no certificate: it must hold data, k, labels"):
        read(path)
    np.savez_compressed(path, **genuine, more=np.arange(3))
    with pytest.raises(DataError, match="is no certificate"):
        read(path)
    # 400 MB of zeros in a file of less than 1 MB.
    np.savez_compressed(path, **genuine | {"labels": np.zeros(50_000_000, dtype=np.int64)})
    assert path.stat().st_size < 1_000_000
    with pytest.raises(DataError, match="unpacks to 400,"):
        read(path)
    # A header that speaks of more than there is.
    np.savez(path, **genuine)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}

    forged = members["labels.npy"].replace(b"'shape': (40,), }            ", b"'shape': (4000000000000,), } ")
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (members | {"labels.npy": forged}).items():
            archive.writestr(name, data)
    with pytest.raises(DataError, match="cannot be read"):
        read(path)


@pytest.mark.parametrize("name", ["census-3", "tarragona-3"])
def test_the_stored_certificates_hold(name):
    held = read(CERTIFICATES / f"{name}.npz")
    if not datasets.is_available(held.data):
        pytest.skip(
            f"the benchmark {held.data} is not on this machine: set MICROAGG_DATA_DIR or load it once in the app"
        )
    said = []
    found = check(standardize(datasets.load(held.data, download=False).X), held, said.append)
    assert found.is_optimal
    assert len(said) > 3
