from __future__ import annotations

import json
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from numba.core.dispatcher import Dispatcher

from benchmarks import adult
from microagg import ALGORITHMS, DataError, ParameterError, make, metrics, microaggregate, optimum
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
    for row in table.itertuples():
        labels = make(row.method, k=row.k).fit_predict(X)
        assert row.information_loss == pytest.approx(metrics.information_loss(X, labels))
        assert row.sse == pytest.approx(metrics.sse(X, labels))
        assert row.n_groups == labels.max() + 1
        assert row.smallest_group == np.bincount(labels).min()
        assert row.largest_group == np.bincount(labels).max()


def test_threads_change_nothing(X):
    columns = ["method", "k", "information_loss", "n_groups"]
    one = sweep(X, ["mdav", "v-mdav"], range(2, 12), workers=1)[columns]
    four = sweep(X, ["mdav", "v-mdav"], range(2, 12), workers=4)[columns]
    pd.testing.assert_frame_equal(one, four, check_exact=True)


def test_several_values_of_a_parameter_keep_the_best(X):
    gammas = [0.0, 0.2, 0.5, 1.0]
    best = sweep(X, [("v-mdav", {"gamma": gammas})], [4]).iloc[0]
    each = [sweep(X, [("v-mdav", {"gamma": gamma})], [4]).iloc[0] for gamma in gammas]
    assert best.sse == min(row.sse for row in each)
    assert best.settings_tried == 4
    assert best.label == "V-MDAV (best γ)"
    assert best.params == min(each, key=lambda row: row.sse).params


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


def test_progress_counts_every_pair(X):
    seen = []
    sweep(X, ["mdav", "cbfs"], [2, 3, 4], progress=lambda done, total, result: seen.append((done, total, result.k)))
    assert [done for done, _, _ in seen] == [1, 2, 3, 4, 5, 6]
    assert {total for _, total, _ in seen} == {6}


def test_cancelling_keeps_what_is_done(X):
    stop = threading.Event()
    with watched(lambda *_: not stop.is_set()):
        table = sweep(X, ["mdav"], range(2, 30), workers=1, progress=lambda done, *_: done == 3 and stop.set())
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


def test_pairs_given_twice_run_once(X):
    assert len(sweep(X, ["mdav", "mdav"], [3, 3])) == 1


@pytest.mark.parametrize(
    ("algorithms", "ks", "error", "says"),
    [
        (["mdav-x"], [3], ParameterError, "there is no algorithm 'mdav-x'"),
        ([("v-mdav", {"gamma": [0.1, -1]})], [3], ParameterError, "gamma must be at least 0"),
        ([("v-mdav", {"gamma": []})], [3], ParameterError, "gamma of V-MDAV has no values"),
        ([("mdav", {"gamma": 1})], [3], ParameterError, "no parameter 'gamma'"),
        (["mdav"], [0], ParameterError, "k must be at least 1"),
        (["mdav"], [71], DataError, "fewer than k=71"),
    ],
)
def test_bad_requests_are_refused_before_anything_runs(X, algorithms, ks, error, says):
    with pytest.raises(error, match=says):
        sweep(X, algorithms, ks)


def test_two_threads_that_want_the_same_algorithm_prepare_it_once(monkeypatch):
    made = []

    def make(key, k):
        made.append(key)
        time.sleep(0.05)
        return experiment_make(key, k)

    experiment_make = experiment.make
    monkeypatch.setattr(experiment, "make", make)
    monkeypatch.setattr(experiment, "_prepared", set())
    threads = [threading.Thread(target=experiment.prepare, args=(["mdav"],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["mdav"]
    assert experiment.unprepared(["mdav"]) == []


def test_a_watcher_cannot_pause_who_prepares_while_others_wait(monkeypatch):
    monkeypatch.setattr(experiment, "_prepared", set())
    asked = []
    with watched(lambda *said: asked.append(said)):  # None: it would cancel
        experiment.prepare(["imhm"])
    assert asked == []
    assert experiment.unprepared(["imhm"]) == []


def test_prepare_says_what_it_compiles():
    experiment._prepared.discard(("cbfs", False))
    experiment.prepare(["mdav"])
    said = []
    experiment.prepare(["mdav", "cbfs"], progress=lambda done, total, title: said.append((done, total, title)))
    assert said == [(0, 1, "CBFS"), (1, 1, "")]
    assert experiment.unprepared(["mdav", "cbfs"]) == []


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


def test_few_records_need_none_of_the_kernels_for_many():
    experiment._prepared.clear()
    experiment.prepare(["mdav"], n=4_199)
    assert experiment.unprepared(["mdav"], 4_199) == []
    assert experiment.unprepared(["mdav"], 10_000) == ["mdav"]


# --- records of mixed attributes -------------------------------------------------------------------------------------

MIXED = tuple(key for key, cls in ALGORITHMS.items() if cls.info.mixed)


@pytest.fixture
def records():
    rng = np.random.default_rng(11)
    tree = Taxonomy.from_nested({"*": {"a": ["b", "c", "d"], "e": ["f", "g"]}})
    attributes = (
        Attribute("x"),
        Attribute("y", "ordinal", levels=tuple("01234")),
        Attribute("z", "nominal", taxonomy=tree),
    )
    columns = [rng.normal(size=80).round(2), rng.integers(0, 5, 80), rng.choice(tree.leaves, 80)]
    return Records(attributes, np.column_stack(columns))


@pytest.fixture
def classes():
    return np.random.default_rng(12).choice(["low", "high"], 80, p=[0.7, 0.3])


def test_promised_mixed_algorithms():
    assert {"k-member", "mondrian", "mdav-generic-mixed"} <= set(MIXED)


def test_sweep_over_records(records, classes):
    table = sweep(records, [*MIXED, ("k-member", {"class_penalty": 2.0})], [3, 7], classes=classes)
    assert table.attrs["complete"]
    assert list(table.columns) == [
        *("method", "label", "k", "n_records", "total_information_loss", "information_loss", "discernibility"),
        *("average_class_size", "classification", "n_groups", "smallest_group", "largest_group", "params"),
        *("settings_tried", "seconds"),
    ]
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


def test_records_and_arrays_have_their_own_measures(records, X):
    [mixed] = experiment.run(records, [(Method("mondrian"), 4)])
    [plain] = experiment.run(X, [(Method("mondrian"), 4)])
    assert mixed.measures["classification"] is None
    assert mixed.row()["classification"] is None
    assert mixed.information_loss == mixed.measures["information_loss"]
    assert "sse" not in mixed.row()
    assert plain.sse == pytest.approx(metrics.sse(X, plain.partition.labels))


def test_a_problem_says_what_is_measured_and_what_fits(records, classes, X):
    numbers, mixed = Problem.of(X), Problem.of(records)
    for problem in (numbers, mixed):
        problem.fits(Method("mondrian"))
        found, worse = (make("mondrian", k=k).fit(problem.data).partition_ for k in (3, 20))
        assert problem.value(found) < problem.value(worse)
        before, after = problem.row(worse, worse), problem.row(found, worse)
        assert after["information_loss"] < before["information_loss"]
        assert after.get("unpolished") == before.get("unpolished")
    numbers.fits(Method("mdav", polish=True))
    mixed.fits(Method("mondrian", polish=True))
    with pytest.raises(ParameterError, match="class_penalty of Greedy k-member needs the class of each record"):
        mixed.fits(Method("k-member", {"class_penalty": 1.0}))
    Problem.of(records, classes).fits(Method("k-member", {"class_penalty": 1.0}))


def test_threads_change_nothing_about_records(records, classes):
    one, four = (sweep(records, MIXED, range(2, 9), classes=classes, workers=w) for w in (1, 4))
    pd.testing.assert_frame_equal(one.drop(columns="seconds"), four.drop(columns="seconds"), check_exact=True)


def test_of_several_settings_the_least_total_information_loss_wins(records, classes):
    penalties = [8.0, 1.0, 0.0]
    best = sweep(records, [("k-member", {"class_penalty": penalties})], [4], classes=classes).iloc[0]
    each = [sweep(records, [("k-member", {"class_penalty": p})], [4], classes=classes).iloc[0] for p in penalties]
    losses = [row.total_information_loss for row in each]
    assert len(set(losses)) > 1
    assert best.total_information_loss == min(losses)
    assert best.params == each[int(np.argmin(losses))].params
    assert best.settings_tried == 3
    assert best.label == "Greedy k-member (best class_penalty)"


def test_cancelling_over_records_keeps_what_is_done(records):
    stop = threading.Event()
    with watched(lambda *_: not stop.is_set()):
        table = sweep(records, ["mondrian"], range(2, 30), workers=1, progress=lambda d, *_: d == 3 and stop.set())
    assert len(table) == 3
    assert not table.attrs["complete"]


@pytest.mark.parametrize(
    ("algorithms", "k", "classes", "error", "says"),
    [
        (["mondrian", "mdav"], 3, None, ParameterError, "MDAV works on arrays of numbers.*choose.*Mondrian"),
        (
            [("k-member", {"class_penalty": 1})],
            3,
            None,
            ParameterError,
            "class_penalty of Greedy k-member needs",
        ),
        ([("k-member", {"class_penalty": [0, 1]})], 3, None, ParameterError, "class_penalty of Greedy k-member needs"),
        (["mondrian"], 81, None, DataError, "fewer than k=81"),
        (["mondrian"], 3, ["low"] * 79, DataError, "one class for each of 80 records"),
        (["mondrian"], 3, [None] * 80, DataError, "record 0 .* has no class"),
    ],
)
def test_bad_requests_over_records_are_refused_before_anything_runs(records, algorithms, k, classes, error, says):
    cells = [(Method.of(given), k) for given in algorithms]
    with pytest.raises(error, match=says):
        experiment.run(records, cells, classes=classes)


def test_records_with_missing_values_and_classes_of_an_array_are_refused(records, classes, X):
    records.values[5, 1] = np.nan
    with pytest.raises(DataError, match="'y'"):
        sweep(records, ["mondrian"], [3])
    with pytest.raises(ParameterError, match="classes are for records of mixed attributes"):
        sweep(X, ["mondrian"], [3], classes=classes[:70])


def test_prepare_runs_mixed_algorithms_on_every_kind_and_choice(monkeypatch):
    fitted = []

    def spy(key, k, **params):
        estimator = make(key, k, **params)
        monkeypatch.setattr(estimator, "fit", lambda X, y=None: fitted.append((key, params, X, y)), raising=False)
        return estimator

    monkeypatch.setattr(experiment, "make", spy)
    monkeypatch.setattr(experiment, "_prepared", set())
    experiment.prepare(["k-member", "mondrian", "mdav"])
    kinds = [
        (key, params, {a.kind for a in X.attributes}, y is not None)
        for key, params, X, y in fitted
        if isinstance(X, Records)
    ]
    everything = {"numeric", "ordinal", "nominal"}
    assert all(kind == everything and classes for _, _, kind, classes in kinds)
    assert {key for key, *_ in kinds} == {"k-member", "mondrian"}
    assert {params.get("cut") for key, params, *_ in kinds if key == "mondrian"} >= {"strict", "relaxed"}
    assert any(params.get("class_penalty", 0) > 0 for _, params, *_ in kinds)
    assert sum(not isinstance(X, Records) for _, _, X, _ in fitted) == 3


# --- strata ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def strata():
    """The strata of 70 records, of 13 records and more each."""
    return np.random.default_rng(21).choice([5, 0, 2], 70, p=[0.5, 0.25, 0.25])


def parts_of(strata):
    return [np.flatnonzero(strata == code) for code in dict.fromkeys(strata.tolist())]


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


def test_a_method_runs_within_each_stratum_as_if_it_were_alone(X, strata):
    table = sweep(X, ["mdav", ("v-mdav", {"gamma": 0.4})], [3, 5], strata=strata)
    results = experiment.run(X, [(Method("mdav"), 3), (Method("v-mdav", {"gamma": 0.4}), 5)], strata=strata)
    for result in results:
        params = result.method.params
        alone = [make(result.method.key, k=result.k, **params).fit_predict(X[rows]) for rows in parts_of(strata)]
        expected = set().union(*(groups_of(labels, rows) for labels, rows in zip(alone, parts_of(strata), strict=True)))
        assert groups_of(result.partition.labels) == expected
        losses = [metrics.sse(X[rows], labels) for labels, rows in zip(alone, parts_of(strata), strict=True)]
        assert result.sse == pytest.approx(sum(losses))
        row = table[(table["method"] == result.method.key) & (table["k"] == result.k)].iloc[0]
        assert (row["sse"], row["n_groups"]) == (result.sse, len(expected))
    assert (table["sse"] > sweep(X, ["mdav", ("v-mdav", {"gamma": 0.4})], [3, 5])["sse"]).all()


def test_one_stratum_is_as_good_as_none(X):
    columns = ["information_loss", "unpolished", "sse", "n_groups", "largest_group"]
    methods = ["v-mdav", "mondrian", Method("mdav", polish=True)]
    one, none = (sweep(X, methods, [4], strata=strata)[columns] for strata in (np.full(70, 3), None))
    pd.testing.assert_frame_equal(one, none)


def test_polishing_stays_within_strata(X, strata):
    problem = Problem.of(X, strata=strata)
    result = experiment.run_one(problem, Method("mdav", polish=True), 4)
    assert all(len(set(strata[group])) == 1 for group in result.partition.groups())
    assert result.measures["information_loss"] < result.measures["unpolished"]
    parts = [Problem.of(X[rows]) for rows in parts_of(strata)]
    alone = [experiment.run_one(part, Method("mdav", polish=True), 4).sse for part in parts]
    assert result.sse == pytest.approx(sum(alone))


def test_of_several_settings_one_is_kept_for_all_strata(X, strata):
    gammas, skewed = [1.0, 0.2, 0.0], np.exp(X)
    [best] = experiment.run(skewed, [(Method("v-mdav", {"gamma": gammas}), 5)], strata=strata)
    each = sweep(skewed, [("v-mdav", {"gamma": gamma}) for gamma in gammas], [5], strata=strata)
    alone = [sweep(skewed[rows], [("v-mdav", {"gamma": gammas})], [5])["sse"].iloc[0] for rows in parts_of(strata)]
    assert best.params == {"gamma": gammas[each["sse"].argmin()]}
    assert best.sse == each["sse"].min()
    # A gamma of its own for each stratum would lose less.
    assert best.sse > 1.001 * sum(alone)


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
        for rows in parts_of(strata):
            estimator = make(result.method.key, k=4, **result.params).fit(records.take(rows), classes[rows])
            expected |= groups_of(estimator.labels_, rows)
        assert groups_of(result.partition.labels) == expected
        whole = generalization.total_information_loss(records, result.partition.labels)
        assert result.measures["total_information_loss"] == whole
        # Within the strata less is possible than without them, and the floor knows it.
        [least], [without] = (Problem.of(records, strata=given).floor([4]) for given in (strata, None))
        assert 0 < without.sse < least.sse < whole


def test_floors_are_those_of_the_strata_together(X, strata):
    with_strata, without = (Problem.of(X, strata=given).floor(iter([2, 6])) for given in (strata, None))
    for k, bound, lower in zip([2, 6], with_strata, without, strict=True):
        least = [optimum.bounds.nearest_neighbor(X[rows], k).sse for rows in parts_of(strata)]
        assert bound.sse == pytest.approx(sum(least))
        assert bound.information_loss == pytest.approx(100 * sum(least) / metrics.sst(X))
        assert lower.sse == optimum.bounds.nearest_neighbor(X, k).sse < bound.sse
    assert Problem.of(X).floor([]) == []


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


def test_floors_need_enough_records_in_each_stratum(X):
    problem = Problem.of(X, strata=[1] * 65 + [0] * 5)
    assert len(problem.floor([5, 2])) == 2
    with pytest.raises(DataError, match="1 of 2 strata has fewer than k=6 records"):
        problem.floor([2, 6])


def test_reasons_why_a_method_does_not_fit(X, records, classes):
    penalized = Method("k-member", {"class_penalty": [0.0, 1.0]})
    numbers, mixed, with_classes = Problem.of(X), Problem.of(records), Problem.of(records, classes)
    for problem, method in (
        (numbers, Method("mdav", polish=True)),
        (mixed, Method("k-member", polish=True)),
        (with_classes, penalized),
    ):
        assert problem.why_not(method) == ""
    reasons = {
        "class_penalty of Greedy k-member needs the class of each record: pass Records and classes": (
            numbers,
            penalized,
        ),
        "class_penalty of Greedy k-member needs the class of each record: pass classes": (mixed, penalized),
        "MDAV works on arrays of numbers, not on records of mixed attributes": (with_classes, Method("mdav")),
    }
    for begins, (problem, method) in reasons.items():
        reason = problem.why_not(method)
        assert reason.startswith(begins)
        assert reason.endswith(".")
        with pytest.raises(ParameterError) as raised:
            experiment.run_one(problem, method, 3)
        assert str(raised.value) == reason


# --- the stored comparison on Adult ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def stored():
    return pd.read_csv(adult.RESULTS / "adult.csv")


def test_stored_comparison_on_adult_is_that_of_the_code_as_it_is(stored):
    """After a change of an algorithm or a taxonomy run benchmarks/adult.py."""
    about = json.loads((adult.RESULTS / "adult.json").read_text(encoding="utf-8"))
    assert about["digests"] == adult.digests()
    assert (about["k"], about["subset_seed"], about["class_penalty"]) == (adult.FIXED, adult.SEED, adult.PENALTY)
    cells = stored.groupby("experiment")[["label", "k", "n_records"]].apply(
        lambda rows: set(rows.itertuples(index=False))
    )
    labels = [method.label for method in adult.METHODS]
    assert cells["k"] == {(label, k, 30_162) for label in labels for k in adult.KS}
    assert cells["records"] == {(label, adult.FIXED, n) for label in labels for n in adult.SIZES}
    assert len(stored) == len(set(stored[["experiment", "label", "k", "n_records"]].itertuples(index=False)))
    assert stored["experiment"].value_counts()["class_penalty"] == len(adult.PENALTIES)


def test_stored_floors_of_adult_are_below_all_that_was_found_there(stored):
    floors = pd.read_csv(adult.RESULTS / "adult_floor.csv").set_index("k")["total_information_loss"]
    assert tuple(floors.index) == adult.KS
    found = stored[stored["experiment"] == "k"].groupby("k")["total_information_loss"].min()
    assert (floors > 0).all()
    assert (found.loc[list(adult.KS)] > floors).all()


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


def test_smaller_subsets_of_adult_are_parts_of_larger_ones():
    small, large = adult.subset(100, 30), adult.subset(100, 60)
    assert set(small) < set(large)
    assert (np.diff(small) > 0).all()
