"""Releases of all kinds, read back by other programs: no class is below k or a guarantee, no risk below an intruder's.

``benchmarks/intruder.py`` makes as many of them as are asked for.
"""

import io
import itertools
import warnings

import numpy as np
import pandas as pd
import pytest

from benchmarks import intruder
from microagg import MicroaggError, microaggregate
from microagg.metrics.risk import homogeneity
from tests.cases import for_each
from tests.release.generated import LEVELS, SECRETS, choices, derived, files_below, known_of, refusal, twice


@for_each("seed", range(40))
def test_no_figure_is_below_what_a_naive_intruder_achieves(seed):
    with warnings.catch_warnings(action="ignore"):
        for case, attacks in intruder.cases(seed):
            release, rows, wrong = intruder.attacked(case, attacks)
            assert bool(rows) == (release is not None)
            assert not wrong


def test_the_intruder_finds_a_column_that_is_computed_and_whom_two_releases_have_in_common():
    """Who knows the formula is right more often than 1 / k allows, and certain of most; so is who has two releases."""
    rng = np.random.default_rng(0)
    for draw, attack, figure in (
        (derived, intruder.predicts, "for certain, maximum"),
        (twice, intruder.intersects, "in both classes by recipe, maximum"),
    ):
        case = intruder.Case(*draw(rng))
        case.options.update(k=5, method="mdav")
        figures = {each.figure: each for each in attack(case, microaggregate(case.frame, **case.options))}
        assert figures[figure].measured > 1 / 5


def test_no_class_of_a_file_is_below_k_or_a_guarantee():
    for release, k, asked in itertools.islice(made(), 40):
        assert not files_below(release, k, asked)


@for_each("seed", range(40))
def test_what_is_refused_beyond_k_could_be_held_by_no_partition(seed):
    words, wrong = refusal(seed)
    assert not wrong
    assert words


def made():
    """Yield releases, with their k and options."""
    for seed in itertools.count():
        frame, k, asked = choices(np.random.default_rng(seed))
        try:
            release = microaggregate(frame, k=k, **asked)
        except MicroaggError:
            continue
        yield release, k, asked


@pytest.mark.filterwarnings("ignore:In a future version, the keys of `groups`")
def test_pycanon_counts_the_same_k_l_and_t():
    anonymity = pytest.importorskip("pycanon.anonymity")
    for release, _, asked in itertools.islice(made(), 50):
        known = known_of(asked)
        text = pd.read_csv(io.BytesIO(release.export("release.csv")[0]), dtype=str, keep_default_na=False)
        text["amount"], text["level"] = text["amount"].astype(float), text["level"].map(LEVELS.index)
        assert anonymity.k_anonymity(text, known) == release.report.risk.realized_k
        classes = text.groupby(known).ngroup()
        for name in SECRETS:
            own = homogeneity(release.frame[name], classes)
            assert anonymity.l_diversity(text, known, [name]) == own.distinct_l
            # It rounds down to a whole number.
            floor, ceiling = int(own.entropy_l - 1e-9), int(own.entropy_l + 1e-9)
            assert anonymity.entropy_l_diversity(text, known, [name]) in (floor, ceiling)
            assert anonymity.t_closeness(text, known, [name]) == pytest.approx(own.t_closeness, abs=1e-12)
