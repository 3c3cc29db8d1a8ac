"""Compiling ahead: what there is to do, in which order, and another process that does it."""

from __future__ import annotations

import json

import pytest

from microagg import ALGORITHMS
from microagg.studies import experiment
from pages.shared import compiling, jobs
from pages.shared.compiling import FLOOR, MANY, Ahead, tasks, tasks_for
from pages.shared.job_queue import Job


@pytest.fixture
def nothing_on_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(compiling, "_stamp", lambda: tmp_path / "compiled.json")


def test_the_tasks_are_all_algorithms_once_those_of_the_first_page_first():
    assert set(ALGORITHMS) <= set(tasks())
    assert len(set(tasks())) == len(tasks())
    assert tasks()[:5] == ["mdav", "mdav-plus", "v-mdav", "mdav-star", FLOOR]
    assert all(task.endswith(MANY) for task in tasks()[-5:])


def test_what_this_process_has_is_no_task_any_more(monkeypatch):
    monkeypatch.setattr(experiment, "_prepared", set())
    assert tasks_for(["cbfs", "cbfs", "md"]) == ["cbfs", "md"]
    compiling.compile_task("md")
    assert tasks_for(["cbfs", "md"]) == ["cbfs"]
    assert tasks_for(["md"], experiment.MANY) == ["md" + MANY]


def test_a_job_says_how_far_the_set_up_is_that_it_waits_for(monkeypatch):
    ahead = Ahead([])
    monkeypatch.setattr(compiling, "ahead", lambda: ahead)
    monkeypatch.setattr(ahead, "load", lambda task: ahead._left.remove(task))
    ahead._left = ["mdav", "md", "cbfs", "mdav-plus"]
    monkeypatch.setattr(Job, "until", lambda job, done: done.result())
    job, says = Job("", 1), []
    for task in ("mdav", "md", "cbfs"):
        jobs.compile_task(job, task, of=["mdav", "md", "cbfs"])
        says.append(job.message)
    assert says == [f"Setting up ({place} of 3), once on this machine …" for place in (1, 2, 3)]
    jobs.compile_task(job, "mdav-plus")
    assert job.message == "Setting up, once on this machine …"


@pytest.mark.usefixtures("nothing_on_disk")
def test_another_process_does_what_is_preferred_next_in_the_order_in_which_it_is_asked_for():
    ahead = Ahead(["mdav", "v-mdav", "mdav-plus", "md"])
    try:
        ahead.add(["md", "cbfs"])
        assert ahead.left == ["mdav", "v-mdav", "mdav-plus", "md", "cbfs"]
        ahead.prefer(["cbfs", "md", "nothing that is left"])
        assert ahead.left == ["mdav", "cbfs", "md", "v-mdav", "mdav-plus"]
        ahead.prefer(["mdav-plus", "mdav"])  # the first is under way
        assert ahead.left == ["mdav", "mdav-plus", "cbfs", "md", "v-mdav"]
        ahead.wait("cbfs")
        assert not {"mdav", "mdav-plus", "cbfs"}.intersection(ahead.left)
        ahead.wait("v-mdav")
        assert ahead.left == []
        ahead.add(["md"])
        assert ahead.left == []
        # The other process has ended; for what is new another one begins.
        ahead.add(["mdav-1"])
        assert ahead.left == ["mdav-1"]
        ahead.wait("mdav-1")
        assert ahead.left == []
    finally:
        ahead.close()


@pytest.mark.usefixtures("nothing_on_disk")
def test_nobody_waits_for_a_process_that_has_ended():
    ahead = Ahead(["mdav", "v-mdav"])
    ahead.close()
    ahead.wait("v-mdav")
    assert ahead.left == []
    ahead.add(["md"])
    assert ahead.left == []


@pytest.mark.usefixtures("nothing_on_disk")
def test_what_is_on_disk_is_remembered_until_a_source_changes():
    compiling._remember(["mdav", "md"])
    assert compiling._on_disk() == {"mdav", "md"}
    assert Ahead(["md"]).left == []
    compiling._stamp().write_text(json.dumps({"state": "another", "tasks": ["md"]}))
    assert compiling._on_disk() == set()
    compiling._stamp().write_text("no JSON")
    assert compiling._on_disk() == set()
