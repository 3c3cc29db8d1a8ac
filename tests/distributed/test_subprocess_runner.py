"""Releases in parts that another process makes."""

from __future__ import annotations

import base64
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from microagg.distributed.subprocess_runner import release_apart
from microagg.errors import DataError, GuaranteeError, MicroaggError
from microagg.progress import Cancelled, watched
from tests.distributed.test_release import release


def test_what_is_wrong_is_said_here(numbers_file, tmp_path):
    with pytest.raises(DataError, match="there is no column 'agee'"):
        release_apart(numbers_file, k=5, quasi_identifiers=["agee"], out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_process_ends_when_nobody_waits(numbers_file, tmp_path):
    told = []

    def watcher(message, share):
        told.append(message)
        return len(told) < 3

    with watched(watcher), pytest.raises(Cancelled):
        release_apart(numbers_file, k=5, quasi_identifiers=["age", "income"], out=tmp_path / "out")
    assert told == ["starting"] * 3
    assert not (tmp_path / "out").exists()
    left = psutil.Process().children(recursive=True)
    assert not [process for process in left if "microagg.distributed.subprocess_runner" in " ".join(process.cmdline())]


def test_what_the_process_makes_is_known_here_as_it_is(numbers_file, client, tmp_path):
    choices = {"k": 5, "method": "mdav", "block_size": 2_500, "quasi_identifiers": ["age", "income"]}
    made = release_apart(numbers_file, out=tmp_path / "out", **choices)
    same = release(numbers_file, client, tmp_path / "same", **choices)
    assert (made.path, made.recipe) == (tmp_path / "out", same.recipe)
    assert replace(made.report, findings=()) == replace(same.report, findings=())
    assert [finding.code for finding in made.findings] == [finding.code for finding in same.findings]
    assert set(made.seconds) == set(same.seconds)


class _Program:
    """What runs a program where it is read as a pickle."""

    def __init__(self, file):
        self.file = file

    def __reduce__(self):
        return Path.touch, (self.file,)


@pytest.mark.parametrize("wrap", [str, lambda text: {"path": "out", "report": text, "recipe": {}, "seconds": {}}])
def test_an_answer_runs_no_program(monkeypatch, tmp_path, wrap):
    text = base64.b64encode(pickle.dumps(_Program(tmp_path / "has run"))).decode("ascii")
    program = f"print({json.dumps({'made': wrap(text)})!r})"
    answer_with(monkeypatch, program)
    with pytest.raises(MicroaggError, match="answered otherwise than it should"):
        release_apart(tmp_path / "none.parquet", k=3, out=tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def answer_with(monkeypatch, program):
    """Let another program answer than the one that releases files."""
    run = subprocess.Popen
    monkeypatch.setattr(
        "microagg.distributed.subprocess_runner.subprocess.Popen",
        lambda command, **named: run([sys.executable, "-c", program], stderr=subprocess.DEVNULL, **named),
    )


@pytest.mark.parametrize("broken", ["GuaranteeError", "ZeroDivisionError"])
def test_what_went_wrong_in_the_process_is_told_as_itself(monkeypatch, tmp_path, broken):
    program = (
        "import builtins, sys, microagg, microagg.errors\n"
        f"kind = getattr(microagg.errors, {broken!r}, None) or getattr(builtins, {broken!r})\n"
        "def fail(*given, **named): raise kind('microagg broke its promise: a class of 2')\n"
        "from microagg.distributed import api\n"
        "api.release = fail\n"
        "from microagg.distributed import subprocess_runner\n"
        "subprocess_runner._main()\n"
    )
    answer_with(monkeypatch, program)
    with pytest.raises(MicroaggError, match="microagg broke its promise: a class of 2") as told:
        release_apart(tmp_path / "none.parquet", k=3, out=tmp_path / "out")
    assert "memory" not in str(told.value)
    assert isinstance(told.value, GuaranteeError) == (broken == "GuaranteeError")
