"""The largest acceptable risk and loss, and the verdict on a run or a release."""

import re
import time

import pytest

from pages.shared.limits import NONE, Limits, current, judge, written
from tests.pages.helpers import button, open_page, open_survey, plain, press, unescaped, visit

BOTH, LINKED = Limits(risk=20.0, loss=10.0), Limits(4.0, NONE, "record_linkage")


@pytest.mark.parametrize(
    ("risk", "loss", "limits", "met", "says"),
    [
        (20.0, 8.81, BOTH, (True, True), "A meets both: risk 20 %, loss 8.81 %."),
        (20.0, 12.1, BOTH, (True, False), "A exceeds the largest acceptable loss: loss 12.1 % (limit 10 %)"),
        (25.0, 8.81, BOTH, (False, True), "A exceeds the largest acceptable risk: risk 25 % (limit 20 %)"),
        (25.0, 12.1, BOTH, (False, False), "A meets neither limit: risk 25 % (limit 20 %), loss 12.1 % (limit 10 %)."),
        (25.0, 12.1, Limits(), (True, True), "A: risk 25 %, loss 12.1 %; no limit is set."),
        (20.0, 12.1, Limits(20.0), (True, True), "A meets the limit: risk 20 % (limit 20 %), loss 12.1 %"),
        (5.0, 12.1, LINKED, (False, True), "A exceeds the largest acceptable risk: record linkage 5"),
    ],
)
def test_verdict_says_which_limits_are_met(risk, loss, limits, met, says):
    verdict = judge("A", risk, loss, limits)
    assert verdict.sentence.startswith(says)
    assert (verdict.meets_risk, verdict.meets_loss) == met
    assert verdict.meets == all(met)


def test_one_over_k_is_within_its_own_limit():
    for k in range(1, 200):
        assert judge("A", 100 / k, 0.0, Limits(risk=100 / k)).meets
        assert Limits(risk=100 / k).smallest_k == k


def test_rounding_hides_no_excess():
    assert [written(20.0), written(12.5), written(100 / 11), written(0.0)] == ["20 %", "12.5 %", "9.09 %", "0 %"]
    assert written(10.004, 10.0) == "10.004 %"
    assert written(100.007) == "100 %"  # no limit
    assert written(9.9996, 10.0) == "10.0 %"
    assert "loss 10.004 % (limit 10 %)" in judge("A", 20.0, 10.004, BOTH).sentence


@pytest.mark.parametrize(("query", "risk", "loss"), [({}, 20, NONE), ({"risk_limit": "0", "limit": "0"}, NONE, NONE)])
def test_limits_of_the_session_are_those_of_the_address(query, risk, loss, monkeypatch):
    app = open_page("methods", **query)
    monkeypatch.setattr("streamlit.session_state", app.session_state)
    assert current() == Limits(risk, loss)


def answer(app):
    """Return the risk of the answer on Choose k, once the release is made in the background."""
    for _ in range(200):
        if "this is being computed" not in plain(app):
            [risk] = re.findall(r"at k = 5[^.]*? risk ([\d.]+ %)", plain(app))
            return risk
        time.sleep(0.1)
        app.run()
    raise AssertionError("the release was not made")


def risk_on_release(app):
    [risk] = [metric.value for metric in visit(app, "release").metric if metric.label == "Risk"]
    return risk


def test_choose_k_and_release_state_the_risk_that_unprotected_columns_raise():
    app = open_survey("choose_k", k="5")
    risk = answer(app)
    assert float(risk.removesuffix(" %")) > 20
    assert "exceeds the largest acceptable risk" in plain(app)
    assert "raises it from 20 %" in plain(app)
    assert button(app, "Change roles")
    assert risk_on_release(app) == risk
    assert f"risk {risk} (limit 20 %)" in plain(visit(app, "choose_k"))
    # Without these columns the risk is that of the groups on both pages.
    app = press(app, "Leave out")
    while "raises it from 20 %" in plain(app):
        app = press(app, "Leave out")
        answer(app)
    assert answer(app) == "20 %"
    assert risk_on_release(app) == "20 %"


def test_a_limit_that_no_groups_can_meet_and_the_lowest_k():
    app = open_page("release", data="wine", k="1", risk_limit="0.5")
    assert "Groups of at least 200 records would meet it, but there are only 178." in plain(app)
    assert [metric.delta for metric in app.metric if metric.label == "k"] == ["⚠ counted"]


def test_risk_of_the_groups_is_not_final_before_the_release_is_made(monkeypatch):
    monkeypatch.setattr("pages.shared.jobs.background", lambda *_, **__: None)
    app = open_survey("choose_k", k="5")
    assert "Columns that are released as they are may raise the risk: 'household_income'" in plain(app)
    assert ":material/check_circle:" not in "".join(
        part.value for part in app.markdown if "at k = 5" in unescaped(part.value)
    )
