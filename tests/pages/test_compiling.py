"""Compiling ahead: what there is to do, in which order, and another process that does it."""

import sys

from microagg import ALGORITHMS
from microagg.studies import experiment
from pages.shared import compiling
from pages.shared.compiling import FLOOR, MANY, start_ahead, tasks, tasks_for


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


def test_another_process_starts_unless_all_is_compiled_and_ends_with_the_one_that_started_it(monkeypatch, tmp_path):
    started, compiled = [], []
    monkeypatch.setattr(compiling, "_stamp", lambda: tmp_path / "all" / "compiled")
    monkeypatch.setattr(compiling, "compile_task", compiled.append)
    monkeypatch.setattr(compiling.subprocess, "Popen", lambda command, **how: started.append(command))
    monkeypatch.setattr(compiling.os, "nice", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["compiling"])
    with monkeypatch.context() as patch:
        patch.setattr(compiling.os, "getppid", iter([1, 1, 2]).__next__)
        compiling.main()
    assert compiled == tasks()[:1]
    start_ahead.cache_clear()
    start_ahead()
    start_ahead()
    assert len(started) == 1
    compiling.main()
    assert compiled[1:] == tasks()
    start_ahead.cache_clear()
    start_ahead()
    assert len(started) == 1
