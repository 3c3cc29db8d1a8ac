"""The report on the page Release: one click, with what was compared and overridden in the session."""

import hashlib
from datetime import date
from types import SimpleNamespace

import pytest

from pages.release import files
from pages.shared import released
from tests.pages.helpers import choose, open_page, open_survey, plain, press, roles, settle, upload, visit
from tests.release.test_households import persons


@pytest.fixture
def seen(monkeypatch):
    """Return what reports were made of, the last one at the end, the protected bytes, and what writes one."""
    last = SimpleNamespace(contents=[], data=b"", write={})
    write, draw, offer = files.document, files.show, files.download

    def document(contents):
        last.contents.append(contents)
        return write(contents)

    def show(workspace, release, data, *, ready):
        last.data = data
        draw(workspace, release, data, ready=ready)

    def download(label, data, name, **how):
        last.write[label] = data
        offer(label, data, name, **how)

    monkeypatch.setattr(files, "document", document)
    monkeypatch.setattr(files, "download", download)
    monkeypatch.setattr(files, "show", show)
    return last


def can_be_had(app):
    """Return whether the report can be downloaded, and for the steward."""
    offered = [part.proto for part in app.get("download_button") if part.proto.label.startswith("Report")]
    assert [part.label for part in offered] == ["Report", "Report for the steward only"]
    [can] = {not part.disabled for part in offered}
    return can


def ask(app, seen):
    """Click on the report; what a click calls cannot be clicked on without a browser."""
    assert can_be_had(app)
    return seen.write["Report"]()


def test_the_report_is_one_click_once_risks_are_measured_and_names_the_original_and_the_day(seen, monkeypatch):
    with monkeypatch.context() as patched:
        for name in ("measure", "measured"):
            patched.setattr(released, name, lambda *args: None)
        app = open_survey("release", k="5")
        assert not can_be_had(app)
    before = date.today()
    text = ask(settle(app), seen)
    all_of_it = seen.write["Report for the steward only"]().splitlines()[0]
    contents, full = seen.contents
    assert full["notice"]
    assert full["notice"] in all_of_it
    assert not contents["notice"]
    assert contents["original"] == "survey.csv"
    assert before <= date.fromisoformat(contents["prepared"]["on"]) <= date.today()
    assert "<dd>survey.csv</dd>" in text
    assert f"<dd>{contents['prepared']['on']}</dd>" in text


def test_the_report_has_what_was_compared_and_marks_the_choice(seen):
    choices = {"data": "wine", "ks": "3,5", "k": "5", "methods": ["mdav", "mdav-star"], "method": "mdav"}
    app = open_page("release", **choices)
    assert seen.contents == []  # it is written when it is asked for
    ask(app, seen)
    assert not app.error
    [contents] = seen.contents
    digest = hashlib.sha256(seen.data).hexdigest()
    assert contents["file"] == {"name": "Wine_protected.csv", "bytes": len(seen.data), "sha256": digest}
    assert contents["assessment"]["n_records"] == 178
    rows = contents["comparison"]["rows"]
    shown = {(title, k) for title in ("MDAV", "MDAV*", "Best known") for k in (3, 5)}
    assert sorted((row["title"], row["k"]) for row in rows) == sorted(shown)
    [chosen] = [row for row in rows if row["chosen"]]
    assert (chosen["title"], chosen["k"]) == ("MDAV", 5)
    assert chosen["information_loss"] == pytest.approx(contents["report"]["loss"]["information_loss"], rel=1e-3)
    # To within rounding: that of the best found at k = 3 is an optimum.
    assert all(0 < row["floor"] <= row["information_loss"] * (1 + 1e-6) for row in rows)
    # The limits of the page stand in it, with the figures of the page.
    texts = {finding["code"]: finding["text"] for finding in contents["report"]["findings"]}
    assert "(limit 20 %)" in texts["risk"]
    assert "loss" not in texts  # no limit is set
    # It has the same figures after other pages, such as the map of risk and loss on Choose k.
    ask(visit(open_page("choose_k", measure="risk", risk="record_linkage", **choices), "release"), seen)
    assert seen.contents.pop()["comparison"]["rows"] == rows
    # Of another release it is another report.
    ask(choose(app, w_k_chosen=6), seen)
    assert [contents["report"]["k"] for contents in seen.contents] == [5, 6]


def test_what_was_overridden_stands_in_the_report_with_the_reason(seen):
    columns = roles({"age": "number", "rent": "number"}, weekly_hours="other")
    app = open_survey("release", k="5", columns=columns)
    app.text_input[0].set_value("Nobody knows weekly hours").run()
    ask(press(app, "Override this problem"), seen)
    found = seen.contents[-1]["report"]
    [stop] = [finding for finding in found["accepted"] if finding["level"] == "stop"]
    assert stop["columns"] == ["weekly_hours"]
    assert found["reason"] == "Nobody knows weekly hours"
    assert {"undecided", "bytes", "determines"} <= {finding["code"] for finding in found["findings"]}
    assert "Nobody knows weekly hours." in seen.contents[-1]["promise"]["against"]


def test_a_file_with_categories_has_a_report_of_what_was_compared_of_it(seen):
    app = open_survey("choose_k", k="5", ks="5", methods=["mondrian", "k-member"], method="mondrian")
    ask(visit(app, "release"), seen)
    contents = seen.contents[-1]
    rows = contents["comparison"]["rows"]
    assert {row["title"]: row["chosen"] for row in rows} == {"Mondrian, strict": True, "Greedy k-member": False}
    assert all(0 < row["floor"] < row["information_loss"] for row in rows)
    lost = contents["report"]["generalization"]["information_loss"]
    assert next(row["information_loss"] for row in rows if row["chosen"]) == pytest.approx(lost)
    # Nothing was decided about its columns yet.
    assert "Do not release" in contents["promise"]["against"]


def test_groups_of_as_many_households_are_one_click_away():
    people = persons(120)
    content = people.to_csv(index=False).encode()
    kinds = roles({"size": "numeric", "income": "numeric", "age": "numeric"}, people.columns)
    app = upload("people.csv", content, "release", columns=kinds, k="4", methods="mdav-star")
    assert "share 120 values of 'household'" in plain(app)
    app = press(app, "Form groups with at least 4 values of household")
    assert "Each class has records of at least 4 values of 'household'" in plain(app)
