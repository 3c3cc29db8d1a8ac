"""Models against closed forms and what they are made of: propensity scores and predictions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.metrics import r2_score
from threadpoolctl import threadpool_limits

from microagg import DataError, ParameterError
from microagg.metrics import utility
from microagg.metrics.utility import models
from microagg.progress import Cancelled, watched
from tests.cases import for_each

RNG = np.random.default_rng(6)
X = RNG.normal(size=(400, 2)) @ np.array([[1.0, 0.5], [0.0, 1.0]])
RELEASED = X[X[:, 0].argsort()].reshape(50, 8, 2).mean(axis=1).repeat(8, axis=0)[X[:, 0].argsort().argsort()]


def test_of_categories_the_probability_is_the_share_of_released_records_in_each():
    before, after = (pd.DataFrame({"town": ["a"] * a + ["b"] * b}) for a, b in ((30, 10), (20, 20)))
    found = utility.propensity(before, after)
    squares = 50 * (20 / 50 - 0.5) ** 2 + 30 * (20 / 30 - 0.5) ** 2
    assert found.pmse == pytest.approx(squares / 80, rel=1e-4)
    assert found.share == pytest.approx(squares / 80 / 0.25, rel=1e-4)
    assert found.n == 40


def test_the_model_is_that_of_newtons_method():
    table = np.vstack([X, RELEASED])
    one, other = table.T
    A = np.column_stack([np.ones(800), one, other, one**2, other**2, one * other])
    y = np.repeat([0.0, 1.0], 400)
    beta = np.zeros(6)
    for _ in range(30):
        p = 1 / (1 + np.exp(-A @ beta))
        beta += np.linalg.solve((A.T * (p * (1 - p))) @ A, A.T @ (y - p))
    found = utility.propensity(X, RELEASED)
    assert found.pmse == pytest.approx(np.mean((p - 0.5) ** 2), rel=1e-3)


def test_it_is_0_of_equal_tables_and_a_quarter_of_those_that_share_nothing():
    assert utility.propensity(X, X).pmse == pytest.approx(0.0, abs=1e-12)
    assert utility.propensity(X, X[::-1]).pmse == pytest.approx(0.0, abs=1e-12)
    apart = utility.propensity(X, X + 100)
    assert apart.pmse == pytest.approx(0.25, abs=1e-3)
    assert apart.share == pytest.approx(1.0, abs=4e-3)


def test_neither_units_nor_an_offset_nor_a_constant_change_it():
    value = utility.propensity(X, RELEASED).pmse
    assert utility.propensity(X * [1000, 0.001], RELEASED * [1000, 0.001]).pmse == pytest.approx(value, rel=1e-3)
    before, after = np.round(X * 1000), np.round(RELEASED * 1000)
    far = utility.propensity(before + 1e8, after + 1e8).pmse
    assert far == pytest.approx(utility.propensity(before, after).pmse, rel=1e-9)
    same = np.full((400, 1), 0.1)
    assert utility.propensity(np.hstack([X, same]), np.hstack([RELEASED, same])).pmse == value


def test_of_more_records_a_sample_is_compared_and_said(monkeypatch):
    monkeypatch.setattr(models, "SAMPLE_COMPARED", 200)
    found = utility.propensity(X, RELEASED, random_state=3)
    assert found.n == 200
    assert found == utility.propensity(X, RELEASED, random_state=3)
    assert found.pmse != utility.propensity(X, RELEASED, random_state=4).pmse
    # The same records of both: nothing can be told apart where nothing is changed.
    assert utility.propensity(X, X).pmse == pytest.approx(0.0, abs=1e-12)


@for_each(
    ("before", "after", "message"),
    [
        ([[1.0]], [[1.0]], "no attribute varies"),
        (X[:9], RELEASED[:9], "9 records are too few .* 4 terms"),
        (np.zeros((2, 1001)), np.zeros((2, 1001)), "1,001 attributes are too many"),
        ([1.0, np.nan], [1.0, 2.0], "in the originals: attribute 0 has NaN"),
        (X, RELEASED[1:], "the same attributes of the same records"),
    ],
)
def test_what_cannot_be_told_apart_is_refused(before, after, message):
    with pytest.raises(DataError, match=message):
        utility.propensity(before, after)


N = 400
FEATURES = ["a", "b", "town"]
PERMUTED = np.random.default_rng(0).permutation(N)
TRAIN, TEST = PERMUTED[::2], PERMUTED[1::2]
SETTINGS = {"max_iter": 50, "learning_rate": 0.2, "max_leaf_nodes": 16, "min_samples_leaf": 10}
SETTINGS |= {"early_stopping": False, "random_state": 0}


@pytest.fixture
def one_draw(monkeypatch):
    """Halves are drawn once, as in TRAIN and TEST."""
    monkeypatch.setattr(models, "MOST_REPEATS", 1)


def people():
    rng = np.random.default_rng(7)
    frame = pd.DataFrame({"a": rng.normal(size=N), "b": rng.integers(0, 50, N), "town": rng.choice(list("xyz"), N)})
    frame["income"] = 10 * frame["a"] + frame["b"] + 20 * (frame["town"] == "x") + rng.normal(size=N)
    frame["rich"] = np.where(frame["income"] > 35, "yes", "no")
    return frame


def released(frame):
    """Return means of groups of four in the order of a, and one town for all."""
    after = frame.copy()
    order = frame["a"].to_numpy().argsort()
    for name in ("a", "b"):
        values = frame[name].to_numpy(dtype=float)
        after[name] = values[order].reshape(-1, 4).mean(axis=1).repeat(4)[order.argsort()]
    after["town"] = "*"
    return after


@pytest.mark.usefixtures("one_draw")
def test_numbers_are_predicted_as_by_scikit_learn_itself():
    before = people()
    after = released(before)
    found = utility.prediction(before, after, "income", ["a", "b"])
    assert (found.metric, found.n_train, found.n_test) == ("R²", 200, 200)
    y, X = before["income"].to_numpy(), before[["a", "b"]].to_numpy(dtype=float)
    for value, table in ((found.original, X), (found.released, after[["a", "b"]].to_numpy())):
        model = HistGradientBoostingRegressor(**SETTINGS)
        with threadpool_limits(1):  # or it waits for cores that other tests use
            predicted = model.fit(table[TRAIN], y[TRAIN]).predict(X[TEST])
        assert value == pytest.approx(r2_score(y[TEST], predicted))
    assert found.baseline == pytest.approx(r2_score(y[TEST], np.full(200, y[TRAIN].mean())))
    assert found.original > found.released > found.baseline
    kept = (found.released - found.baseline) / (found.original - found.baseline)
    assert found.kept == pytest.approx(kept)


@pytest.mark.usefixtures("one_draw")
def test_categories_are_told_apart_without_an_order():
    before = people()
    rng = np.random.default_rng(9)
    towns = rng.integers(0, 40, N)
    y = rng.normal(size=40)[towns] + rng.normal(size=N)
    before["town"], before["income"] = [f"t{town}" for town in towns], y
    # Any numbers of the categories will do for scikit-learn, if it is told that they are none.
    X = towns[:, np.newaxis].astype(float)
    model = HistGradientBoostingRegressor(**SETTINGS, categorical_features=[True])
    with threadpool_limits(1):
        expected = r2_score(y[TEST], model.fit(X[TRAIN], y[TRAIN]).predict(X[TEST]))
    assert utility.prediction(before, before, "income", ["town"]).original == pytest.approx(expected)


@pytest.mark.usefixtures("one_draw")
def test_what_is_held_out_is_not_learned_from_and_tested_as_it_was():
    before = people()
    after = released(before)
    found = utility.prediction(before, after, "income", FEATURES)
    other = after.copy()
    other.loc[TEST, ["a", "b", "income"]] = -1e6
    assert utility.prediction(before, other, "income", FEATURES) == found
    other = after.copy()
    other.loc[TRAIN, "income"] = other.loc[TRAIN, "income"].to_numpy()[::-1]
    learned = utility.prediction(before, other, "income", FEATURES)
    assert learned.original == found.original
    assert learned.released < found.released - 0.1
    # Nothing is to be learned from chance, not even of the very records that are tested.
    before["income"] = np.random.default_rng(1).normal(size=N)
    found = utility.prediction(before, before, "income", FEATURES)
    assert found.original < 0.1
    assert found.kept is None


def test_classes_are_predicted_and_half_of_each_is_held_out():
    before = people()
    before["rich"] = ["rare"] * 6 + before["rich"].tolist()[6:]
    found = utility.prediction(before, before, "rich", FEATURES)
    assert found.metric == "accuracy"
    assert found.original == found.released > 0.9
    assert found.kept == 1.0
    frequent = before["rich"].value_counts()
    # The half of each class, rounded up or down, is the share of the most frequent one.
    assert found.baseline == pytest.approx(frequent.max() / N, abs=1 / 200)


@pytest.mark.usefixtures("one_draw")
def test_where_the_release_says_nothing_the_baseline_is_left():
    before = people()
    after = before.assign(income=before["income"].mean(), rich="*")
    numbers = utility.prediction(before, after, "income", FEATURES)
    mean = before["income"].mean()
    y = before["income"].to_numpy()[TEST]
    assert numbers.released == pytest.approx(1 - ((y - mean) ** 2).sum() / ((y - y.mean()) ** 2).sum())
    assert numbers.kept == pytest.approx(0.0, abs=0.02)
    # Nobody is of the class "*".
    assert utility.prediction(before, after, "rich", FEATURES).released == 0.0
    alike = before.assign(a=0.0, b=0, town="x")
    classes = utility.prediction(before, alike, "rich", FEATURES)
    assert classes.released == pytest.approx(classes.baseline)
    assert classes.kept == pytest.approx(0.0)


def test_ranges_count_as_their_middle_in_features_and_targets():
    before = people()
    middles = before.assign(b=before["b"] // 10 * 10 + 4.5, income=before["income"] // 5 * 5 + 2.5)
    ranges = before.assign(
        b=[f"[{low}, {low + 9}]" for low in before["b"] // 10 * 10],
        income=[f"[{low}, {low + 5}]" for low in before["income"] // 5 * 5],
    )
    found = utility.prediction(before, ranges, "income", FEATURES)
    assert found == utility.prediction(before, middles, "income", FEATURES)
    assert found.released > 0.8


def test_numbers_of_two_values_are_classes_unless_means_are_released():
    before = people().assign(rich=lambda frame: (frame["income"] > 35).astype(int))
    assert utility.prediction(before, before, "rich", FEATURES).metric == "accuracy"
    assert utility.prediction(before, before.astype({"rich": bool}), "rich", FEATURES).metric == "accuracy"
    after = before.assign(rich=before["rich"] * 0.5)
    assert utility.prediction(before, after, "rich", FEATURES).metric == "R²"


def test_of_few_records_halves_are_drawn_several_times_and_of_many_a_sample(monkeypatch):
    before = people()
    after = released(before)
    monkeypatch.setattr(models, "MAX_REPEATED_RECORDS", 3 * N)
    rng, y = np.random.default_rng(0), before["income"].to_numpy()
    baselines = []
    for _ in range(3):
        rows = rng.permutation(N)
        baselines.append(r2_score(y[rows[1::2]], np.full(200, y[rows[::2]].mean())))
    assert utility.prediction(before, after, "income", ["a", "b"]).baseline == pytest.approx(np.mean(baselines))
    monkeypatch.setattr(models, "SAMPLE_PREDICTED", 101)
    found = utility.prediction(before, after, "income", FEATURES, random_state=5)
    assert (found.n_train, found.n_test) == (51, 50)
    assert found == utility.prediction(before, after, "income", FEATURES, random_state=5)
    assert found != utility.prediction(before, after, "income", FEATURES, random_state=6)


@pytest.mark.usefixtures("one_draw")
def test_it_can_be_watched_and_cancelled():
    seen = []

    def watcher(message, share):
        seen.append((message, share))
        return share == 0.0

    with watched(watcher), pytest.raises(Cancelled):
        utility.prediction(people(), people(), "income", FEATURES)
    assert seen == [("learning from the originals", 0.0), ("learning from the release", 0.5)]


def seed_that_draws(rows):
    return next(seed for seed in range(99) if np.isin(np.random.default_rng(seed).permutation(N)[:40], rows).all())


RARE = ["rare"] * 3 + ["no"] * (N - 3)
LONE = np.where(np.arange(N) == 7, 3.0, np.where(np.arange(N) == 8, 1.0, 2.0))


@for_each(
    ("change", "target", "features", "error", "says"),
    [
        ({}, "wages", FEATURES, DataError, "no column 'wages' in the originals"),
        ({"same": 1}, "same", FEATURES, DataError, "'same' holds one value only"),
        ({"rich": RARE}, "rich", FEATURES, DataError, "the class 'rare' in 3 of the records"),
        ({"rich": [1] * 3 + [0] * (N - 3)}, "rich", FEATURES, DataError, "the class '1' in 3 of the records"),
        ({"rich": [f"c{i % 60}" for i in range(N)]}, "rich", FEATURES, DataError, "60 classes, and at most 50"),
        ({"a": [None] + [1.0] * (N - 1)}, "income", FEATURES, DataError, "'a' has no value in record 0"),
        ({}, "income", [], ParameterError, "features must be a list of 1 to 300 column names"),
        ({}, "income", ["a", "income"], ParameterError, "without the target"),
        ({}, "income", [f"x{j}" for j in range(301)], ParameterError, "1 to 300 column names"),
    ],
)
def test_what_cannot_be_predicted_is_refused(change, target, features, error, says):
    before = people().assign(**change)
    with pytest.raises(error, match=says):
        utility.prediction(before, before, target, features)


def test_too_few_records_other_records_and_arrays_are_refused(monkeypatch):
    before = people()
    for one, other, says in (
        (before[:39], before[:39], "39 records are too few"),
        (before, before[1:], "400 originals and 399 released"),
        (before.to_numpy(), before.to_numpy(), "must be a DataFrame"),
    ):
        with pytest.raises(DataError, match=says):
            utility.prediction(one, other, "income", FEATURES)
    before["income"] = LONE
    rest = np.setdiff1d(np.arange(N), [7, 8])
    monkeypatch.setattr(models, "SAMPLE_PREDICTED", 40)
    with pytest.raises(DataError, match="the same in all but a few of 40 records"):
        # None of the two records that differ is drawn.
        utility.prediction(before, before, "income", FEATURES, random_state=seed_that_draws(rest))
