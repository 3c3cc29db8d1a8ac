from __future__ import annotations

import threading

import numpy as np
import pandas as pd
import pytest

from microagg import DataError, ParameterError, experiment, make, metrics
from microagg.experiment import Method, sweep


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
    table = sweep(
        X, ["mdav"], range(2, 30), workers=1, cancelled=stop.is_set, progress=lambda done, *_: done == 3 and stop.set()
    )
    assert len(table) == 3
    assert not table.attrs["complete"]
    stopped_at_once = sweep(X, ["mdav"], [2], cancelled=lambda: True)
    assert stopped_at_once.empty
    assert "information_loss" in stopped_at_once


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


def test_prepare_says_what_it_compiles():
    experiment._prepared.discard("cbfs")
    experiment.prepare(["mdav"])
    said = []
    experiment.prepare(["mdav", "cbfs"], progress=lambda done, total, title: said.append((done, total, title)))
    assert said == [(0, 1, "CBFS"), (1, 1, "")]
    assert experiment.unprepared(["mdav", "cbfs"]) == []


def test_largest_k_within_a_limit():
    ks, losses = [2, 3, 4, 5], [1.0, 2.0, 4.0, 3.0]
    assert experiment.largest_k_within(ks, losses, 2.0) == 3
    assert experiment.largest_k_within(ks, losses, 3.5) == 5  # larger k, lower loss
    assert experiment.largest_k_within(ks, losses, 0.5) is None


def test_knee_of_a_curve_that_flattens_and_of_one_that_steepens():
    ks = np.arange(2, 12)
    assert experiment.knee(ks, np.minimum(ks, 5) * 3 + ks) == experiment.Knee(5, True, pytest.approx(1 / 3))
    steep = experiment.knee(ks, np.maximum(ks - 7, 0) * 3 + ks)
    assert steep.k == 7
    assert not steep.flattens


def test_no_knee_where_there_is_none():
    assert experiment.knee([2, 3], [1, 2]) is None
    assert experiment.knee([2, 3, 4], [1, 2, 3]) is None
    assert experiment.knee([2, 3, 4], [3, 2, 1]) is None
