"""Rules about the smallest group."""

from __future__ import annotations

import pytest

from microagg import ParameterError
from microagg.studies.pareto import RULES, smallest_k


@pytest.mark.parametrize(("risk", "k"), [(0.09, 12), (0.1, 10), (1 / 3, 3), (0.2, 5), (0.33, 4), (1, 1), (1 / 49, 49)])
def test_the_smallest_k_keeps_the_risk(risk, k):
    assert smallest_k(risk) == k
    assert 1 / k <= risk
    assert k == 1 or 1 / (k - 1) > risk


@pytest.mark.parametrize("risk", [0.0, -0.1, 1.1, float("nan"), "0.1", None])
def test_what_is_no_risk_is_refused(risk):
    with pytest.raises(ParameterError, match="above 0 and at most 1"):
        smallest_k(risk)


def test_every_rule_has_its_source():
    assert {rule.who: rule.k for rule in RULES} == {"NHS England": 8, "UK LLC": 10, "CMS": 11, "EMA": 12}
    assert [rule.k for rule in RULES] == sorted(rule.k for rule in RULES)
    for rule in RULES:
        assert rule.url.startswith("https://")
        assert rule.source
        assert rule.says
