"""The algorithms of local search: valid, never worse than their start, and the same again.

A local search may end anywhere, so no oracle gives its labels; see ``Info.checked_by``.
"""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from microagg import ALGORITHMS, ParameterError, make, metrics
from microagg.algorithms import local_search
from microagg.algorithms.base import starts
from microagg.algorithms.local_search import LeastLoss
from microagg.columns.records import Records
from microagg.metrics import generalization
from microagg.optimum.problem import Problem
from tests import naive
from tests.algorithms import test_mixed as mixed
from tests.algorithms.test_oracles import FAMILIES, generate
from tests.cases import for_each
from tests.instances import instances

KEYS = sorted(key for key, cls in ALGORITHMS.items() if cls.info.checked_by == "properties")
#: A low effort, where the result does not matter.
QUICK = {"local-search": {}, "iterated-local-search": {"effort": 2}, "least-loss": {"effort": "quick"}}


@pytest.mark.slow
@for_each("start", [key for key in ALGORITHMS if key not in KEYS])
def test_never_worse_than_the_start(start):
    for family, n, k in [("gaussian-2d", 50, 3), ("grid-2d", 41, 4), ("heavy-tailed", 37, 2)]:
        X = generate(family, n)
        before = make(start, k=k).fit_predict(X)
        after = make("local-search", k=k, start=start).fit_predict(X)
        assert metrics.sse(X, after) <= metrics.sse(X, before) * (1 + 1e-12)
        assert np.bincount(after).min() >= k


@pytest.mark.slow
@for_each("key", KEYS)
@for_each("family", FAMILIES)
def test_groups_are_large_enough_on_any_kind_of_data(family, key):
    for n in (7, 23, 38):
        for k in (1, 2, 3, 7):
            labels = make(key, k=k, **QUICK[key]).fit_predict(generate(family, n))
            assert np.bincount(labels).min() >= k
            assert np.bincount(labels).max() < 2 * k


@pytest.mark.parametrize("key", KEYS)
@given(data=st.data())
def test_any_small_integers(key, data):
    k = data.draw(st.integers(1, 5))
    rows = data.draw(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=k, max_size=6 * k))
    X = np.array(rows, dtype=float)
    labels = make(key, k=k, **QUICK[key]).fit_predict(X)
    assert np.bincount(labels).min() >= k
    assert metrics.sse(X, labels) <= metrics.sse(X, make("mdav-star", k=k).fit_predict(X)) + 1e-9


def test_start_is_any_algorithm_but_a_local_search():
    assert set(starts()) == set(ALGORITHMS) - set(KEYS)
    param = next(param for param in ALGORITHMS["local-search"].params if param.name == "start")
    assert param.choices == tuple(starts())
    near = "did you mean .*mdav-star"
    for bad, says in [("mdav_star", near), ("local-search", "not itself"), (3, "there are "), ([], "there are ")]:
        with pytest.raises(ParameterError, match=f"start must be the key of .*{says}"):
            make("local-search", start=bad)


def test_the_best_partition_of_few_numbers_is_found():
    optimal = [
        metrics.sse(X, make("least-loss", k=k, effort="quick").fit_predict(X))
        <= naive.least_sse(X, k) * (1 + 1e-9) + 1e-12
        for _, X, k in instances(60)
    ]
    assert len(optimal) > 20
    assert all(optimal)


@for_each("family", mixed.FAMILIES)
def test_categories_lose_no_more_than_by_the_method_that_it_starts_from(family):
    for n, k in [(7, 2), (23, 3), (40, 7), (9, 1), (5, 5)]:
        records, _ = mixed.generate(family, n)
        labels = make("least-loss", k=k, effort="quick").fit(records).labels_
        before = generalization.total_information_loss(records, make("k-member", k=k).fit(records).labels_)
        assert np.bincount(labels).min() >= k
        assert generalization.total_information_loss(records, labels) <= before * (1 + 1e-9) + 1e-12


def test_more_effort_finds_more_and_the_same_effort_the_same():
    X = np.random.default_rng(0).normal(size=(300, 3))
    for data, efforts in ((X, ["usual"] * 2), (Records.of_numbers(X), ["usual", "moderate"]), (X, ["moderate"] * 2)):
        quick, one, again = (make("least-loss", k=4, effort=e).fit(data).labels_ for e in ("quick", *efforts))
        assert one.tolist() == again.tolist() != quick.tolist()


def test_numbers_are_compared_as_they_are_and_records_by_shares_of_their_domains():
    X = np.random.default_rng(1).normal(size=(120, 2)) * [1.0, 1000.0]
    numbers = make("least-loss", k=3).fit(X)
    records = make("least-loss", k=3).fit(Records.of_numbers(X))
    assert metrics.sse(X, numbers.labels_) < metrics.sse(X, records.labels_)
    losses = [generalization.total_information_loss(Records.of_numbers(X), own.labels_) for own in (records, numbers)]
    assert losses[0] < losses[1]
    assert numbers.centroids_.shape == (numbers.partition_.n_groups, 2)


def test_many_records_are_divided_before_they_are_compared(monkeypatch):
    rng = np.random.default_rng(2)
    monkeypatch.setattr(local_search, "MOST_FOR_K_MEMBER", 100)
    monkeypatch.setattr(local_search, "MOST_FOR_MDAV_STAR", 100)
    records, _ = mixed.generate("heights-1-to-3", 500)
    labels = make("least-loss", k=4, effort="quick").fit(records).labels_
    mondrian = make("mondrian", k=4).fit(records).labels_
    assert np.bincount(labels).min() >= 4
    total = generalization.total_information_loss
    assert total(records, labels) < total(records, mondrian)
    X = rng.normal(size=(500, 3))
    start, found = (make(key, k=4).fit_predict(X) for key in ("mdav-plus", "least-loss"))
    assert metrics.sse(X, found) < metrics.sse(X, start)
    with pytest.raises(Exception, match="effort must be one of 'quick', 'moderate', 'usual', 'thorough'"):
        make("least-loss", effort="much")


@pytest.mark.parametrize("numeric", [True, False])
def test_seconds_become_iterations_that_give_the_same_groups(numeric):
    X = np.random.default_rng(0).normal(size=(300, 3))
    data = X if numeric else Records.of_numbers(X)
    loss = metrics.sse if numeric else generalization.total_information_loss
    LeastLoss(4, effort="quick").fit(data)  # compiled before it is timed
    timed, quick = (make("least-loss", k=4, effort=effort).fit(data) for effort in (1.0, "quick"))
    again = make("least-loss", k=4, iterations=timed.iterations_).fit(data)
    assert timed.iterations_ == again.iterations_ > 20
    assert timed.labels_.tolist() == again.labels_.tolist() != quick.labels_.tolist()
    records = X if numeric else data
    assert loss(records, timed.labels_) < loss(records, quick.labels_)
    assert make("least-loss", k=4, effort=1e-9).fit(data).iterations_ == 1
    assert (quick.effort, timed.effort, quick.iterations_) == ("quick", 1.0, 0)


def test_seconds_are_shared_by_strata_of_which_the_largest_is_timed(monkeypatch):
    X, strata = np.random.default_rng(1).normal(size=(200, 3)), np.repeat([0, 1, 2], [40, 110, 50])
    seen, partition = [], LeastLoss._partition

    def watched(self, X, k, *, effort, iterations):
        seen.append((len(X), effort, iterations))
        return partition(self, X, k, effort=effort, iterations=iterations)

    monkeypatch.setattr(LeastLoss, "_partition", watched)
    estimator = make("least-loss", k=4, effort=2.0)
    found = Problem.of(X, strata=strata).partition(estimator)
    (largest, *others), count = seen, seen[1][2]
    assert largest == (110, pytest.approx(1.1), 0)
    assert others == [(50, "usual", count), (40, "usual", count)]
    assert count > 20
    assert estimator.effort == 2.0
    again = Problem.of(X, strata=strata).partition(make("least-loss", k=4, iterations=count))
    assert found.labels.tolist() == again.labels.tolist()


@pytest.mark.parametrize("effort", [0, -1.0, float("nan"), float("inf"), True, "30", None])
def test_an_effort_is_a_word_or_seconds(effort):
    says = "effort must be one of 'quick', 'moderate', 'usual', 'thorough', or a number of seconds above 0, not "
    with pytest.raises(ParameterError, match=re.escape(f"{says}{effort!r}.")):
        make("least-loss", effort=effort).fit([[1.0], [2.0], [3.0]])
    read = {param.name: param for param in LeastLoss.params}["effort"].read
    assert (read("30"), read("quick")) == (30.0, "quick")
    with pytest.raises(ParameterError, match=re.escape(f"{says}'much'.")):
        read("much")
