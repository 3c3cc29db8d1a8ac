"""Releases of all kinds, read back by other programs: no class is below k or a guarantee, no risk below an intruder's.

``benchmarks/releases.py`` makes as many of them as are asked for.
"""

from __future__ import annotations

import io
import itertools

import numpy as np
import pandas as pd
import pytest

from microagg import MicroaggError, microaggregate
from microagg.metrics.risk import homogeneity
from tests.cases import for_each
from tests.release.generated import LEVELS, SECRETS, choices, refusal, trial


@for_each("seed", range(40))
def test_no_class_is_below_k_or_a_guarantee_and_no_risk_below_that_of_a_naive_intruder(seed):
    words, wrong = trial(seed)
    assert words
    assert not wrong


@for_each("seed", range(40))
def test_what_is_refused_beyond_k_could_be_held_by_no_partition(seed):
    words, wrong = refusal(seed)
    assert not wrong
    assert words


def made():
    """Yield releases, with what each is grouped by."""
    for seed in itertools.count():
        frame, k, asked = choices(np.random.default_rng(seed))
        try:
            release = microaggregate(frame, k=k, **asked)
        except MicroaggError:
            continue
        yield release, [*asked["quasi_identifiers"], *([asked["by"]] if "by" in asked else [])]


@pytest.mark.filterwarnings("ignore:In a future version, the keys of `groups`")
def test_pycanon_counts_the_same_k_l_and_t():
    anonymity = pytest.importorskip("pycanon.anonymity")
    for release, known in itertools.islice(made(), 50):
        text = pd.read_csv(io.BytesIO(release.export("release.csv")[0]), dtype=str, keep_default_na=False)
        text["amount"], text["level"] = text["amount"].astype(float), text["level"].map(LEVELS.index)
        assert anonymity.k_anonymity(text, known) == release.report.risk.realized_k
        classes = text.groupby(known).ngroup()
        for name in SECRETS:
            own = homogeneity(release.frame[name], classes)
            assert anonymity.l_diversity(text, known, [name]) == own.distinct_l
            # It rounds down to a whole number.
            assert anonymity.entropy_l_diversity(text, known, [name]) in (
                int(own.entropy_l - 1e-9),
                int(own.entropy_l + 1e-9),
            )
            assert anonymity.t_closeness(text, known, [name]) == pytest.approx(own.t_closeness, abs=1e-12)
