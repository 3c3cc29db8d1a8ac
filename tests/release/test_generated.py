"""Releases of all kinds, read back by other programs: no class is below k, and no risk below a naive intruder's.

``benchmarks/releases.py`` makes as many of them as are asked for.
"""

from __future__ import annotations

from tests.cases import for_each
from tests.release.generated import trial


@for_each("seed", range(40))
def test_no_class_is_below_k_and_no_risk_below_that_of_a_naive_intruder(seed):
    words, wrong = trial(seed)
    assert words
    assert not wrong
