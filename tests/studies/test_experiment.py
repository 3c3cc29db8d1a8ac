import json
import sys
import threading

import numpy as np
import pandas as pd
import pytest
from numba.core.dispatcher import Dispatcher

from benchmarks import adult
from microagg import ALGORITHMS, DataError, ParameterError, make, metrics, microaggregate
from microagg.columns.records import Attribute, Records
from microagg.columns.taxonomy import Taxonomy
from microagg.metrics import generalization
from microagg.progress import Cancelled, watched
from microagg.studies import experiment
from microagg.studies.experiment import Method, Problem, sweep


@pytest.fixture
def X():
    return np.random.default_rng(8).normal(size=(70, 3))


def test_sweep_gives_a_row_per_method_and_k_in_order(X):
    table = sweep(X, ["mdav-star", "mdav"], [5, 3])
    assert table[["method", "k"]].to_numpy().tolist() == [["mdav-star", 5], ["mdav-star", 3], ["mdav", 5], ["mdav", 3]]
    assert table.attrs["complete"]
    seen = []
    watch = lambda done, total, result: seen.append((done, total, result.k))  # noqa: E731
    assert len(sweep(X, ["mdav", "mdav"], [3, 3, 2], progress=watch)) == 2  # pairs given twice run once
    assert [(done, total) for done, total, _ in seen] == [(1, 2), (2, 2)]
    for row in table.itertuples():
        labels = make(row.method, k=row.k).fit_predict(X)
        assert row.information_loss == pytest.approx(metrics.information_loss(X, labels))
        assert row.sse == pytest.approx(metrics.sse(X, labels))
        assert row.n_groups == labels.max() + 1
        assert row.smallest_group == np.bincount(labels).min()
        assert row.largest_group == np.bincount(labels).max()


def test_threads_change_nothing(X, records, classes):
    for data, methods, more in ((X, ["mdav", "v-mdav"], {}), (records, MIXED, {"classes": classes})):
        one, four = (sweep(data, methods, range(2, 12), workers=workers, **more) for workers in (1, 4))
        pd.testing.assert_frame_equal(one.drop(columns="seconds"), four.drop(columns="seconds"), check_exact=True)


def test_polishing_lowers_the_loss_and_tells_what_it_was(X):
    plain = sweep(X, ["mdav", ("v-mdav", {"gamma": [0.0, 0.5]})], [3, 5])
    methods = [Method("mdav", polish=True), Method("v-mdav", {"gamma": [0.0, 0.5]}, polish=True)]
    polished = sweep(X, methods, [3, 5])
    assert (plain.unpolished == plain.information_loss).all()
    assert (polished.information_loss < polished.unpolished).all()
    assert (polished.smallest_group >= polished.k).all()
    assert (polished.unpolished[:2] == plain.information_loss[:2]).all()
    # Of several parameters the best is that of the polished partitions, whatever it was before.
    assert (polished.unpolished[2:] >= plain.information_loss[2:]).all()
    assert polished.label.tolist() == ["MDAV, polished"] * 2 + ["V-MDAV (best γ), polished"] * 2
    local = sweep(X, [("local-search", {"start": "mdav"})], [3, 5])
    assert local.information_loss.tolist() == polished.information_loss[:2].tolist()
    assert Method("mdav", polish=True) != Method("mdav")


def test_labels_name_what_is_not_default():
    assert Method("v-mdav").label == "V-MDAV"
    assert Method("v-mdav", {"gamma": 0.2}).label == "V-MDAV"
    assert Method("v-mdav", {"gamma": 1.1}).label == "V-MDAV (γ = 1.1)"
    assert Method("md", {"first": "r"}).label == "MD (first = r)"
    assert Method.of(("v-mdav", {"gamma": np.array([0.0, 0.5])})).params == {"gamma": (0.0, 0.5)}
    assert Method("v-mdav", {"gamma": [0.3]}) == Method("v-mdav", {"gamma": 0.3})
    assert len({Method("mdav"), Method("mdav")}) == 1


def test_cancelling_keeps_what_is_done(X, records):
    for data in (X, records):
        stop = threading.Event()
        with watched(lambda *_, stop=stop: not stop.is_set()):
            progress = lambda done, *_, stop=stop: done == 3 and stop.set()  # noqa: E731
            table = sweep(data, ["mondrian"], range(2, 30), workers=1, progress=progress)
        assert len(table) == 3
        assert not table.attrs["complete"]
    with watched(lambda *_: False):
        stopped_at_once = sweep(X, ["mdav"], [2])
    assert stopped_at_once.empty
    assert "information_loss" in stopped_at_once


def test_a_watcher_sees_and_ends_what_runs_in_other_threads():
    X = np.random.default_rng(3).normal(size=(3_000, 3))
    experiment.prepare(["imhm"])
    messages = []

    def watcher(message, share):
        messages.append(message)
        return len(messages) < 4

    with watched(watcher), pytest.raises(Cancelled):
        list(experiment.run(X, [(Method("imhm"), 3), (Method("imhm"), 4)], workers=1))
    assert messages[0] == "IMHM, k = 3"
    assert "IMHM, k = 4" not in messages
    assert len(messages) >= 4


PENALTY = ("k-member", {"class_penalty": [0, 1]})


@pytest.mark.parametrize(
    ("data", "algorithm", "k", "classes", "error", "says"),
    [
        ("X", "mdav-x", 3, None, ParameterError, "no algorithm 'mdav-x'"),
        ("X", ("v-mdav", {"gamma": [0.1, -1]}), 3, None, ParameterError, "gamma must be at least 0"),
        ("X", ("v-mdav", {"gamma": []}), 3, None, ParameterError, "gamma of V-MDAV has no values"),
        ("X", ("mdav", {"gamma": 1}), 3, None, ParameterError, "no parameter 'gamma'"),
        ("X", "mdav", 0, None, ParameterError, "k must be at least 1"),
        ("X", "mdav", 71, None, DataError, "fewer than k=71"),
        ("X", "mondrian", 3, ["low"] * 70, ParameterError, "classes are for records of mixed attributes"),
        ("X", PENALTY, 3, None, ParameterError, "class_penalty of .*: pass Records and classes"),
        ("records", "mdav", 3, None, ParameterError, "MDAV works on arrays of numbers"),
        ("records", PENALTY, 3, None, ParameterError, "class_penalty of .*: pass classes"),
        ("records", "mondrian", 81, None, DataError, "fewer than k=81"),
        ("records", "mondrian", 3, ["low"] * 79, DataError, "one class for each of 80 records"),
        ("records", "mondrian", 3, [None] * 80, DataError, "record 0 .* has no class"),
        ("incomplete", "mondrian", 3, None, DataError, "'y'"),
    ],
)
def test_bad_requests_are_refused_before_anything_runs(X, records, data, algorithm, k, classes, error, says):
    if data == "incomplete":
        records.values[5, 1] = np.nan
    data = X if data == "X" else records
    with pytest.raises(error, match=says):
        experiment.run(data, [(Method.of(algorithm), k)], classes=classes)
    with pytest.raises(error, match=says):
        sweep(data, ["mondrian", algorithm], [k], classes=classes)


def test_prepare_says_what_it_compiles():
    experiment._prepared.discard(("cbfs", False))
    experiment.prepare(["mdav"])
    said = []
    experiment.prepare(["mdav", "cbfs"], progress=lambda done, total, title: said.append((done, total, title)))
    assert said == [(0, 1, "CBFS"), (1, 1, "")]
    assert experiment.unprepared(["mdav", "cbfs"]) == []
    # A watcher cannot pause who prepares while others wait: None would cancel.
    experiment._prepared.discard(("cbfs", False))
    asked = []
    with watched(lambda *words: asked.append(words)):
        experiment.prepare(["cbfs"])
    assert asked == []


def compiled_for():
    """Return how many kinds of arguments each kernel has been compiled, or loaded, for."""
    modules = [module for name, module in sys.modules.items() if name.startswith("microagg.")]
    found = {kernel for module in modules for kernel in vars(module).values() if isinstance(kernel, Dispatcher)}
    return {kernel.py_func.__qualname__ + kernel.py_func.__module__: len(kernel.signatures) for kernel in found}


@pytest.mark.parametrize("key", ["mdav", "mdav-plus", "v-mdav", "mdav-star", "cbfs", "mu-approx"])
def test_what_is_prepared_for_many_records_compiles_nothing_when_they_come(key):
    said = []
    experiment._prepared.clear()
    experiment.prepare([key], lambda done, total, title: said.append(title), n=20_000)
    assert said == [ALGORITHMS[key].info.title, ""]
    assert experiment.unprepared([key], 20_000) == experiment.unprepared([key], 100) == []
    before = compiled_for()
    X = np.random.default_rng(3).normal(size=(20_000, 3))
    X.setflags(write=False)
    experiment.run_one(Problem.of(X), Method(key), 5)
    assert compiled_for() == before


MIXED = tuple(key for key, cls in ALGORITHMS.items() if cls.info.mixed)


@pytest.fixture
def records():
    rng = np.random.default_rng(11)
    tree = Taxonomy.from_nested({"*": {"a": ["b", "c", "d"], "e": ["f", "g"]}})
    steps, kinds = Attribute("y", "ordinal", levels=tuple("01234")), Attribute("z", "nominal", taxonomy=tree)
    attributes = (Attribute("x"), steps, kinds)
    columns = [rng.normal(size=80).round(2), rng.integers(0, 5, 80), rng.choice(tree.leaves, 80)]
    return Records(attributes, np.column_stack(columns))


@pytest.fixture
def classes():
    return np.random.default_rng(12).choice(["low", "high"], 80, p=[0.7, 0.3])


def test_sweep_over_records(records, classes):
    table = sweep(records, [*MIXED, ("k-member", {"class_penalty": 2.0})], [3, 7], classes=classes)
    assert table.attrs["complete"]
    assert "sse" not in table
    assert table["k"].tolist() == [3, 7] * (len(MIXED) + 1)
    assert table["label"].iloc[-1] == "Greedy k-member (class_penalty = 2)"
    for row in table.itertuples():
        params = {"class_penalty": 2.0} if "=" in row.label else {}
        labels = make(row.method, k=row.k, **params).fit(records, classes).labels_
        assert row.n_records == 80
        assert row.total_information_loss == generalization.total_information_loss(records, labels)
        assert row.information_loss == pytest.approx(100 * row.total_information_loss / (80 * 3))
        assert row.discernibility == generalization.discernibility(labels)
        assert row.average_class_size == generalization.average_class_size(labels, row.k)
        assert row.classification == generalization.classification(labels, classes)
        assert (row.n_groups, row.smallest_group) == (labels.max() + 1, np.bincount(labels).min())


@pytest.fixture
def strata():
    """The strata of 70 records, of 13 records and more each."""
    return np.random.default_rng(21).choice([5, 0, 2], 70, p=[0.5, 0.25, 0.25])


def groups_of(labels, rows=None):
    """Return the groups as sets of records, which ``rows`` are those of."""
    rows = np.arange(len(labels)) if rows is None else rows
    return {frozenset(rows[labels == label].tolist()) for label in set(labels.tolist())}


def test_groups_stay_within_strata_and_losses_are_those_of_the_whole():
    # Near records are in different strata, so 0 and 10 form a group, and so do 1 and 11: each has an SSE of 50. The
    # SST is that of all four around 5.5.
    problem = Problem.of([[0.0], [1.0], [10.0], [11.0]], strata=[4, 1, 4, 1])
    result = experiment.run_one(problem, Method("mdav"), 2)
    assert result.partition.labels.tolist() == [0, 1, 0, 1]
    assert result.sse == pytest.approx(100)
    assert result.information_loss == pytest.approx(100 * 100 / (5.5**2 + 4.5**2 + 4.5**2 + 5.5**2))
    [bound] = problem.floor([2])
    assert bound.sse == pytest.approx(100)
    assert bound.information_loss == pytest.approx(result.information_loss)
    assert experiment.run_one(Problem.of(problem.data), Method("mdav"), 2).sse == pytest.approx(1)


@pytest.mark.parametrize("key", ["mdav", "mondrian"])
def test_strata_are_those_of_a_release(X, strata, key):
    frame = pd.DataFrame(X, columns=list("abc")).assign(s=strata)
    release = microaggregate(frame, k=4, method=key, quasi_identifiers=list("abc"), by="s", scale="none")
    [result] = experiment.run(X, [(Method(key), 4)], strata=strata)
    assert result.partition == release.partition
    assert result.information_loss == pytest.approx(release.report.loss.information_loss)
    [bound] = Problem.of(X, strata=strata).floor([4])
    assert bound.information_loss == release.report.loss.lower_bound


def test_records_are_compared_by_the_domains_of_the_file_in_every_stratum(records, classes):
    strata = (records.values[:, 0] > 0.3).astype(int)
    cells = [(Method("k-member", {"class_penalty": 2.0}), 4), (Method("mondrian"), 4)]
    for result in experiment.run(records, cells, classes=classes, strata=strata):
        expected = set()
        for rows in map(np.flatnonzero, (strata == 0, strata == 1)):
            estimator = make(result.method.key, k=4, **result.params).fit(records.take(rows), classes[rows])
            expected |= groups_of(estimator.labels_, rows)
        assert groups_of(result.partition.labels) == expected
        whole = generalization.total_information_loss(records, result.partition.labels)
        assert result.measures["total_information_loss"] == whole
        # Within the strata less is possible than without them, and the floor knows it.
        [least], [without] = (Problem.of(records, strata=given).floor([4]) for given in (strata, None))
        assert 0 < without.sse < least.sse < whole


@pytest.mark.parametrize(
    ("strata", "k", "says"),
    [
        ([1] * 63 + [0] * 5 + [8] * 2, 6, "2 of 3 strata have fewer than k=6 records .the smallest has 2.*at most 2"),
        ([1] * 65 + [0] * 5, 6, "1 of 2 strata has fewer than k=6 records"),
        ([1] * 69, 3, "one stratum for each of 70 records, not strata of shape .69,."),
        ([0.5] * 70, 3, "strata must be whole numbers, not float64"),
        ([0, 0, -1] + [2] * 67, 1, "record 2 .counting from 0. belongs to no stratum"),
    ],
)
def test_bad_strata_are_refused_before_anything_runs(X, strata, k, says):
    with pytest.raises(DataError, match=says):
        experiment.run(X, [(Method("mdav"), k)], strata=strata)
    with pytest.raises(DataError, match=says):
        experiment.run_one(Problem.of(X, strata=strata), Method("mdav"), k)
    with pytest.raises(DataError, match=says):
        Problem.of(X, strata=strata).floor([2, k])


@pytest.fixture(scope="module")
def stored():
    return pd.read_csv(adult.RESULTS / "adult.csv")


def test_stored_comparison_on_adult_is_that_of_the_code_as_it_is(stored):
    """After a change of an algorithm or a taxonomy run benchmarks/adult.py."""
    about = json.loads((adult.RESULTS / "adult.json").read_text(encoding="utf-8"))
    assert about["digests"] == adult.digests()
    assert (about["k"], about["subset_seed"], about["class_penalty"]) == (adult.FIXED, adult.SEED, adult.PENALTY)
    rows = stored.groupby("experiment")[["label", "k", "n_records"]]
    cells = rows.apply(lambda part: set(part.itertuples(index=False)))
    labels = [method.label for method in adult.METHODS]
    assert cells["k"] == {(label, k, 30_162) for label in labels for k in adult.KS}
    assert cells["records"] == {(label, adult.FIXED, n) for label in labels for n in adult.SIZES}
    assert len(stored) == len(set(stored[["experiment", "label", "k", "n_records"]].itertuples(index=False)))
    assert stored["experiment"].value_counts()["class_penalty"] == len(adult.PENALTIES)


def test_stored_comparison_on_adult_finds_what_the_paper_does(stored):
    findings = adult.checks(stored)
    assert len(findings) == 4
    assert all(findings.values()), findings


def test_stored_comparison_on_adult_can_be_computed_again(stored, benchmark):
    benchmark("adult")
    records, classes = adult.load()
    assert (records.n, records.d) == (30_162, 8)
    taken = adult.subset(records.n, 1000)
    cells = [(method, adult.FIXED) for method in adult.METHODS]
    results = {r.method.label: r for r in experiment.run(records.take(taken), cells, classes=classes[taken])}
    [whole] = experiment.run(records, [(Method("mondrian"), 50)], classes=classes)
    rows = stored[(stored["experiment"] == "records") & (stored["n_records"] == 1000)]
    assert len(rows) == len(results)
    for row in rows.itertuples():
        same_measures(row, results[row.label])
    same_measures(stored.query("experiment == 'k' and label == 'Mondrian' and k == 50").iloc[0], whole)


def same_measures(row, result):
    for name, value in result.measures.items():
        assert getattr(row, name) == pytest.approx(value, rel=1e-9)
    assert row.n_groups == result.partition.n_groups
    assert row.largest_group == result.partition.sizes.max()
