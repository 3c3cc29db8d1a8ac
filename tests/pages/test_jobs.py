"""Jobs: what a page waits for is there when the job counts as complete, whatever else runs in the session."""

from __future__ import annotations

import dataclasses

import pytest

import microagg
from microagg import datasets
from microagg.experiment import Method, Problem
from microagg.jobs import Job
from pages.ui.runs import jobs
from tests.pages.helpers import PAGES, open_page, settle


class PageEndedError(Exception):
    """What a rerun does to the page that it interrupts."""


@dataclasses.dataclass
class Wine:
    """What jobs take of a :class:`pages.ui.data.workspace.Workspace`."""

    digest = "wine"
    problem = Problem.of(microagg.standardize(datasets.load("wine").X))
    n = len(problem.data)


@pytest.fixture
def box(monkeypatch):
    """Return the results of a session of its own."""
    own = jobs.Results()
    monkeypatch.setattr(jobs, "results", lambda: own)
    return own


def interrupted(job, _seconds):
    job.future.result()
    raise PageEndedError


def until_the_end(job, _seconds):
    job.future.result()


CELLS = [(Method("mdav-star"), 3), (Method("mdav"), 3)]


def test_running_one_of_two_partitions_does_not_push_out_the_other(box, monkeypatch):
    monkeypatch.setattr(Job, "wait", until_the_end)
    jobs.partitions(Wine(), CELLS[:1])
    jobs.partitions(Wine(), [(Method("mdav"), k) for k in range(4, 3 + jobs.MOST_PARTITIONS)])
    assert len(box.partitions) == jobs.MOST_PARTITIONS
    found = jobs.partitions(Wine(), CELLS)
    assert [(result.method, result.k) for result in found] == CELLS
    assert len(box.partitions) == jobs.MOST_PARTITIONS
    assert not box.jobs


def test_partitions_that_were_pushed_out_before_the_page_read_them_are_there(box, monkeypatch):
    monkeypatch.setattr(Job, "wait", interrupted)
    with pytest.raises(PageEndedError):
        jobs.partitions(Wine(), CELLS)
    box.partitions.clear()
    monkeypatch.setattr(Job, "wait", until_the_end)
    assert [(result.method, result.k) for result in jobs.partitions(Wine(), CELLS)] == CELLS


def test_a_page_needs_more_partitions_than_are_kept(box, monkeypatch):
    monkeypatch.setattr(Job, "wait", until_the_end)
    cells = [(Method("mdav"), k) for k in range(2, 4 + jobs.MOST_PARTITIONS)]
    assert [result.k for result in jobs.partitions(Wine(), cells)] == [k for _, k in cells]
    assert len(box.partitions) == jobs.MOST_PARTITIONS


def test_a_release_that_was_pushed_out_before_the_page_read_it_is_there(box, monkeypatch):
    made = object()
    monkeypatch.setattr(Job, "wait", interrupted)
    with pytest.raises(PageEndedError):
        jobs.once("release", "one", "mdav", "Grouping", lambda: made)
    box.made.clear()
    monkeypatch.setattr(Job, "wait", until_the_end)
    assert jobs.once("release", "one", "mdav", "Grouping", lambda: None) is made
    assert not box.jobs


def test_what_failed_is_no_complete_job(box):
    def work(job):
        raise RuntimeError("no")

    job = box.start("partition", "one", 1, work)
    job.future.result()
    assert not job.complete
    assert "please report it" in job.problem


def test_clusters_are_drawn_where_one_of_both_is_the_oldest_kept():
    # No other test scales these records so, hence none of its partitions is kept yet.
    app = open_page("choose_k", data="wine", scale="none", methods="mdav-star", ks="3")
    choices = app.session_state["choices"]
    further = {"methods": ("mdav",), "ks": f"4-{2 + jobs.MOST_PARTITIONS}"}
    app.session_state["choices"] = dataclasses.replace(choices, **further)
    settle(app)
    app.switch_page(PAGES["clusters"])
    settle(app)
    assert not app.error
    assert len(app.metric) == 6
