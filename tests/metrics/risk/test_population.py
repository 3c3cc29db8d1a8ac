"""Estimates of population uniques against values by hand, plain likelihoods and populations whose truth is known."""

from __future__ import annotations

from math import comb, log

import numpy as np
import pandas as pd
import pytest
from scipy.stats import nbinom

from microagg.errors import DataError, ParameterError
from microagg.metrics.risk import individual_risk, population_uniques, uniqueness
from tests.cases import for_each


def test_zayatz_is_bayes_rule_in_whole_numbers():
    sizes, N = [1] * 30 + [2] * 11 + [3] * 5 + [40], 300
    n = sum(sizes)
    found = population_uniques(sizes, n / N, "zayatz")
    assert (found.estimator, found.n_population) == ("zayatz", N)
    likely = {j: sizes.count(j) * j * comb(N - j, n - 1) / comb(N, n) for j in set(sizes)}
    assert found.among_uniques == pytest.approx(likely[1] / sum(likely.values()))
    assert found.count == pytest.approx(30 * found.among_uniques * N / n)
    assert found.share == pytest.approx(found.count / N)
    assert population_uniques(sizes, 0.9).estimator == "zayatz"


def log_likelihood(sizes, theta, alpha):
    """Of Pitman's sampling formula, record by record: each founds a class or joins one."""
    total, seen = 0.0, 0
    for classes, size in enumerate(sizes):
        for inside in range(size):
            weight = inside - alpha if inside else theta + classes * alpha
            total += log(weight / (theta + seen)) if seen else 0.0
            seen += 1
    return total


def test_pitman_is_the_likeliest_of_a_fine_grid():
    sizes, N = [1] * 14 + [2, 2, 2, 3, 3, 5, 8], 390
    n = sum(sizes)
    best = max(
        ((theta, alpha) for theta in np.arange(0.05, 40, 0.25) for alpha in np.arange(0.01, 1, 0.01)),
        key=lambda at: log_likelihood(sizes, *at),
    )
    # A class of one: the first record, which none of the others joins.
    expected = N * np.prod([(best[0] + best[1] + i - 1) / (best[0] + i) for i in range(1, N)])
    found = population_uniques(sizes, n / N, "pitman")
    assert found.n_population == N
    assert found.count == pytest.approx(expected, rel=0.03)


def population(N, theta, alpha, seed):
    """Classes of N records that are dealt by Pitman's model: each founds a class or joins one."""
    rng = np.random.default_rng(seed)
    classes, drawn = np.zeros(N, dtype=np.int64), rng.random((N, 2))
    sizes = []
    for i in range(N):
        if drawn[i, 0] * (theta + i) < theta + alpha * len(sizes):
            classes[i] = len(sizes)
            sizes.append(1)
            continue
        # A record already there is joined, but that of a class is taken back with probability α / size.
        while True:
            other = classes[rng.integers(i)]
            if rng.random() > alpha / sizes[other]:
                break
        classes[i] = other
        sizes[other] += 1
    return classes, np.array(sizes)


@pytest.mark.parametrize("fraction", [0.02, 0.1])
def test_pitman_finds_the_truth_where_its_model_holds(fraction):
    classes, sizes = population(40_000, 50.0, 0.6, seed=1)
    sample = np.random.default_rng(2).permutation(classes)[: round(fraction * len(classes))]
    found = population_uniques(uniqueness(pd.DataFrame({"class": sample}), ["class"]).sizes, fraction)
    assert found.estimator == "pitman"
    assert found.count == pytest.approx(np.count_nonzero(sizes == 1), rel=0.15)


@pytest.mark.parametrize("estimator", ["pitman", "zayatz", "auto"])
def test_cases_without_a_doubt(estimator):
    whole = population_uniques([1, 1, 3], 1.0, estimator)
    assert (whole.estimator, whole.count, whole.share, whole.among_uniques) == ("count", 2.0, 0.4, 1.0)
    none = population_uniques([2, 3], 0.5, estimator)
    assert (none.count, none.share, none.among_uniques) == (0.0, 0.0, 0.0)
    every = population_uniques([1, 1, 1], 0.05, estimator)
    assert (every.count, every.share, every.among_uniques) == (60.0, 1.0, 1.0)


@for_each("estimator", ["pitman", "zayatz"])
@for_each("fraction", [1e-6, 0.3, 0.999])
@for_each("sizes", [[1, 10_000], [1] * 999 + [2], [1, 2, 3], [1, 1, 500, 500, 500]])
def test_estimates_are_possible(sizes, fraction, estimator):
    found = population_uniques(sizes, fraction, estimator)
    assert 0.0 <= found.count <= found.n_population
    assert 0.0 <= found.share <= 1.0
    assert 0.0 <= found.among_uniques <= 1.0


FRAME = pd.DataFrame({"sex": list("fmmffff"), "town": list("abbaaaa")})


def test_individual_risk_of_small_classes_by_their_closed_form():
    # As sdcMicro has them: of one p/(1−p)·ln(1/p), of two p/(1−p) − (p/(1−p))²·ln(1/p).
    frame = pd.DataFrame({"x": [1, 2, 2]})
    found = individual_risk(frame, ["x"], [50, 30, 70])
    odds = 0.02 / 0.98
    assert found.risk == pytest.approx([odds * log(50)] + [odds - odds**2 * log(50)] * 2)
    assert found.expected == pytest.approx(sum(found.risk))
    assert found.share == pytest.approx(found.expected / 3)
    # Of a census it is one in the size of the class.
    assert individual_risk(FRAME, ["sex"], np.ones(7)).risk == pytest.approx([1 / 5, 1 / 2, 1 / 2] + [1 / 5] * 4)


@for_each("f", [1, 3, 19, 20, 21, 100, 5000])
@for_each("weight", [1.5, 30])
def test_individual_risk_of_classes_of_any_size(f, weight):
    unseen = np.arange(400_000)
    expected = (nbinom.pmf(unseen, f, 1 / weight) / (unseen + f)).sum()
    found = individual_risk(pd.DataFrame({"x": np.zeros(f)}), ["x"], np.full(f, weight))
    assert found.risk == pytest.approx(np.full(f, expected))


def test_individual_risk_of_large_classes_is_about_one_in_their_size_in_the_population():
    frame = pd.DataFrame({"x": np.zeros(100_000)})
    assert individual_risk(frame, ["x"], np.full(100_000, 20.0)).risk[0] == pytest.approx(1 / 2_000_000, rel=1e-4)


def test_what_cannot_be_estimated_is_named():
    for sizes in ([], [0, 1], [1.5], [[1]]):
        with pytest.raises(DataError, match="sizes must be whole numbers of at least 1"):
            population_uniques(sizes, 0.5)
    for fraction in (0, -0.5, 1.5, np.nan, True, "half"):
        with pytest.raises(ParameterError, match="sampling_fraction must be"):
            population_uniques([1, 2], fraction)
    with pytest.raises(ParameterError, match="estimator must be one of"):
        population_uniques([1, 2], 0.5, "snb")
    for weights, says in (
        ([1, 1, 0.5, 1, 1, 1, 1], "record 2 .* is 0.5"),
        ([np.nan] * 7, "record 0 .* is nan"),
        ([1, 2], r"7 records, not of shape \(2,\)"),
        (list("abcdefg"), "weights must be numbers"),
    ):
        with pytest.raises(DataError, match=says):
            individual_risk(FRAME, ["sex"], weights)
    with pytest.raises(ParameterError, match="columns is empty"):
        individual_risk(FRAME, [], np.ones(7))
