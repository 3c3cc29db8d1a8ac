"""The report on the page Release: made when it is asked for, with what was compared and overridden in the session."""

from __future__ import annotations

import hashlib
from types import SimpleNamespace

import pytest

from pages.release import making, report
from pages.shared import jobs
from tests.pages.helpers import button, go_to, open_page, open_survey, plain, settle


@pytest.fixture
def seen(monkeypatch):
    """Return what reports were made of, the last one at the end, and the bytes of the protected file."""
    last = SimpleNamespace(contents=[], data=b"")
    write, draw = report.document, making.show

    def document(contents):
        last.contents.append(contents)
        return write(contents)

    def show(workspace, release, data, *, ready):
        last.data = data
        draw(workspace, release, data, ready=ready)

    own = jobs.Results()  # nothing that other tests have compared
    monkeypatch.setattr(jobs, "results", lambda: own)
    monkeypatch.setattr(report, "document", document)
    monkeypatch.setattr(making, "show", show)
    return last


def offered(app):
    return [part.proto.label for part in app.get("download_button")]


def ask(app):
    button(app, "Report (HTML)").click()
    return settle(app)


def test_the_report_is_made_when_it_is_asked_for_and_only_once(seen):
    app = open_page("release", data="wine", k="5")
    assert "Download the report (HTML)" not in offered(app)
    assert "Report (JSON)" in offered(app)
    assert seen.contents == []
    ask(app)
    assert not app.error
    assert "Download the report (HTML)" in offered(app)
    [contents] = seen.contents
    assert contents["file"] == {
        "name": "Wine_protected.csv",
        "bytes": len(seen.data),
        "sha256": hashlib.sha256(seen.data).hexdigest(),
    }
    assert contents["assessment"]["n_records"] == 178
    assert 'microagg.datasets.load("wine")' in contents["program"]["text"].replace("'", '"')
    app.run()
    assert len(seen.contents) == 1
    # Another release has no report yet.
    app.number_input(key="w_k_chosen").set_value(6)
    settle(app)
    assert "Download the report (HTML)" not in offered(app)


def test_the_report_has_what_was_compared_and_marks_the_choice(seen):
    app = open_page("choose_k", data="wine", ks="3,5", k="5", methods=["mdav", "mdav-star"], method="mdav")
    go_to(app, "release")
    ask(settle(app))
    rows = seen.contents[-1]["comparison"]["rows"]
    shown = {(title, k) for title in ("MDAV", "MDAV*", "Best found") for k in (3, 5)}
    assert sorted((row["title"], row["k"]) for row in rows) == sorted(shown)
    [chosen] = [row for row in rows if row["chosen"]]
    assert (chosen["title"], chosen["k"]) == ("MDAV", 5)
    report_of = seen.contents[-1]["report"]
    assert chosen["information_loss"] == pytest.approx(report_of["loss"]["information_loss"], rel=1e-3)
    # To within rounding: that of the best found at k = 3 is an optimum.
    assert all(0 < row["floor"] <= row["information_loss"] * (1 + 1e-6) for row in rows)
    assert all(0 < row["record_linkage"] <= 1 / row["k"] for row in rows)


def test_what_was_overridden_stands_in_the_report_with_the_reason(seen):
    columns = ["quasi-identifier.number.drop.0:age", "quasi-identifier.number.drop.0:rent", "other..:weekly_hours"]
    left_out = ("person_id", "region", "education", "household_size", "household_income", "commute_km", "sickness_days")
    columns += [f"identifier..:{name}" for name in (*left_out, "satisfaction")]
    app = open_survey("release", k="5", columns=columns)
    assert "1 red line" in plain(app)
    app.text_input[0].set_value("Nobody knows weekly hours").run()
    button(app, "Override this line").click()
    settle(app)
    ask(app)
    found = seen.contents[-1]["report"]
    [stop] = [finding for finding in found["accepted"] if finding["level"] == "stop"]
    assert stop["columns"] == ["weekly_hours"]
    assert found["reason"] == "Nobody knows weekly hours"
    assert {"undecided", "bytes", "determines"} <= {finding["code"] for finding in found["findings"]}
    assert "which says not to, for this reason: Nobody knows weekly hours." in seen.contents[-1]["promise"]["against"]


def test_a_file_with_categories_has_a_report_of_what_was_compared_of_it(seen):
    app = open_survey("choose_k", k="5", ks="5", methods=["mondrian", "k-member"], method="mondrian")
    go_to(app, "release")
    ask(settle(app))
    assert "Download the report (HTML)" in offered(app)
    contents = seen.contents[-1]
    rows = contents["comparison"]["rows"]
    assert {row["title"]: row["chosen"] for row in rows} == {"Mondrian, strict": True, "Greedy k-member": False}
    assert all(0 < row["floor"] < row["information_loss"] for row in rows)
    lost = contents["report"]["generalization"]["information_loss"]
    assert next(row["information_loss"] for row in rows if row["chosen"]) == pytest.approx(lost)
    # Nothing was decided about its columns yet.
    assert "do not release the file like this" in contents["promise"]["against"]
