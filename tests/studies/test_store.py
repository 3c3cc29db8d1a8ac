"""What is stored: that it is whole, up to date, and what the code gives."""

import numpy as np
import pandas as pd
import pytest

from benchmarks import adult
from benchmarks import landscape as measuring
from microagg import ParameterError, datasets
from microagg.columns.scaling import standardize
from microagg.studies import landscape
from microagg.studies.experiment import Method, Problem, run_one
from tests.conftest import load_benchmark
from tests.studies.small import small

__all__ = ["small"]

BENCHMARKS = ("census", "tarragona", "eia")


def problem_of(data, seed=0):
    return Problem.of(standardize(load_data(data, seed).X))


def load_data(data, seed=0):
    if data in BENCHMARKS:
        return load_benchmark(data)
    return datasets.load(data, seed=seed if data in ("simu", "simc") else None)


def test_stored_results_are_those_of_the_code_as_it_is():
    """After a change of an algorithm run benchmarks/landscape.py, which computes what has changed."""
    now = {name: measuring.digest(method) for name, method in landscape.METHODS.items()}
    stored = landscape.about()["digests"]
    assert stored == {name: now[name] for name in stored}
    missing = sorted(set(now) - set(stored) - set(measuring.SLOW))
    assert not missing, f"python benchmarks/landscape.py --only {' '.join(missing)} stores the results that are missing"


def test_every_method_was_run_everywhere_or_it_is_said_why_not():
    runs = landscape.runs()
    assert not runs.duplicated(["data", "seed", "method", "k"]).any()
    about = landscape.about()
    left_out = {(entry["method"], entry["data"]) for entry in about["left_out"]}
    for row in landscape.incomplete().to_dict("records"):
        # Of the slow methods, what there was no time for is not stored yet.
        if row["method"] in about["digests"] and row["method"] not in measuring.SLOW[1:]:
            assert (row["method"], row["data"]) in left_out, row
    table = landscape.results()
    assert set(table["data"]) == set(landscape.DATA)
    assert (table["smallest_group"] >= table["k"]).all()
    random = table["data"].isin(["simu", "simc"]) | table["method"].isin(["k-member"])
    assert (table.loc[random & ~table["method"].isin(measuring.SLOW), "seeds"] == landscape.SEEDS).all()


def test_losses_lie_between_the_lowest_known_and_all_there_is():
    table = landscape.limits()
    assert len(table) == 15 * len(landscape.KS) + len(adult.KS)
    lowest = landscape.runs().merge(table, on=["data", "seed", "k"]).groupby(["data", "seed", "k"])
    assert (lowest["best"].first() <= lowest["information_loss"].min() * (1 + 1e-9)).all()
    assert (table["floor"] <= table["best"]).all()
    assert (table["floor"] > 0).all()
    assert (landscape.results()["above_best"] >= 0).all()
    assert (landscape.runs()["information_loss"] <= 100 + 1e-9).all()
    for _, part in table.groupby(["data", "seed"]):
        assert part["floor"].is_monotonic_increasing
        assert part["best"].is_monotonic_increasing


@pytest.mark.parametrize("data", ["wine", "simc", "census", "tarragona"])
@pytest.mark.parametrize("name", ["mdav-star", "v-mdav", "v-mdav-best", "mdav", "k-member"])
def test_stored_rows_are_what_a_sweep_computes(data, name):
    method = landscape.METHODS[name]
    known = landscape.recognize(load_data(data).X)
    assert known == (data, 0)
    stored = landscape.stored(*known, method, [10, 3])
    assert stored["k"].tolist() == [10, 3]
    for row, k in zip(stored.to_dict("records"), (10, 3), strict=True):
        result = run_one(problem_of(data), method, k)
        computed = result.row() | {"settings": result.params}
        assert list(row) == list(computed)
        for column in ("information_loss", "unpolished", "sse"):
            assert row.pop(column) == pytest.approx(computed.pop(column), rel=1e-9)
        assert row.pop("seconds") > 0
        del computed["seconds"]
        assert row == computed


def test_methods_are_recognized_by_what_they_run(small):
    def losses(method, ks=(2, 3), data="census", seed=0):
        table = landscape.stored(data, seed, method, ks)
        return [] if table.empty else table["information_loss"].tolist()

    assert losses(Method("mdav")) == [20, 60]
    assert losses(Method("mdav"), [4, 3]) == [60]
    assert losses(Method("mdav", polish=True)) == []
    assert losses(Method("v-mdav")) == []
    assert losses(Method("v-mdav", {"gamma": 0.3})) == []
    grid = [step / 10 for step in range(21)]
    [best] = landscape.stored("census", 0, Method("v-mdav", {"gamma": grid}), [2]).to_dict("records")
    assert (best["params"], best["settings"], best["settings_tried"]) == (
        "gamma=0.3, leftovers=centroid",
        {"gamma": 0.3, "leftovers": "centroid"},
        21,
    )
    assert best["label"] == "V-MDAV (best γ)"
    # Of a randomized algorithm on real data every stored seed counts, and other parameters do not.
    assert losses(Method("k-member")) == [30]
    assert losses(Method("k-member", {"random_state": 1})) == [50]
    assert losses(Method("k-member", {"random_state": 7})) == []
    assert losses(Method("k-member", {"furthest_from": "seed"})) == []
    assert losses(Method("mdav"), [2], "simu", 1) == [50]
    assert losses(Method("k-member"), [2], "simu", 1) == []


def test_only_the_data_as_they_are_measured_are_recognized():
    X = datasets.load("simc", seed=2).X
    assert landscape.recognize(X) == ("simc", 2)
    assert landscape.recognize(pd.DataFrame(X)) == ("simc", 2)
    assert landscape.recognize(X, "minmax") is None
    assert landscape.recognize(X[:-1]) is None
    assert landscape.recognize(X[:, ::-1]) is None
    X[3, 4] = np.nextafter(X[3, 4], 0)
    assert landscape.recognize(X) is None


def test_what_is_not_stored_is_refused():
    with pytest.raises(ParameterError, match="no stored results on 'toy' with seed 0"):
        landscape.stored("toy", 0, Method("mdav"), [3])
    with pytest.raises(ParameterError, match="no stored results on 'simu' with seed 5"):
        landscape.stored("simu", 5, Method("mdav"), [3])
    with pytest.raises(ParameterError, match="k must be"):
        landscape.stored("simu", 0, Method("mdav"), [0])


def test_the_optimum_lies_between_limits_at_any_k():
    known = landscape.limits().query("data == 'wine' and seed == 0").set_index("k")
    found = landscape.between("wine", 0, [1, 5, 22, 100, 120])
    assert found[1] == (known.loc[2, "best"], 0.0)
    assert found[5] == (known.loc[5, "best"], known.loc[5, "floor"])
    assert found[22] == (known.loc[25, "best"], known.loc[20, "floor"])
    assert found[120] == (np.inf, known.loc[100, "floor"])


@pytest.mark.parametrize("data", landscape.DATA)
def test_stored_partitions_are_those_of_the_stored_runs(data):
    problem, runs = problem_of(data), landscape.runs()
    runs = runs[(runs["data"] == data) & (runs["seed"] == 0) & runs["method"].isin(landscape.WITH_PARTITIONS)]
    assert len(runs) == 2 * len(landscape.KS)
    for row in runs.to_dict("records"):
        partition = landscape.partition(data, 0, landscape.METHODS[row["method"]], row["k"])
        assert problem.value(partition) == pytest.approx(row["sse"], rel=1e-9)
        assert (partition.n_groups, partition.sizes.min()) == (row["n_groups"], row["smallest_group"])


def test_partitions_of_other_runs_are_not_stored():
    for method in (Method("mdav"), Method("mdav-star", polish=True), Method("v-mdav", {"gamma": 0.3})):
        assert landscape.partition("census", 0, method, 5) is None
    for seed, k in ((1, 5), (0, 30)):
        assert landscape.partition("simu", seed, Method("mdav-star"), k) is None
