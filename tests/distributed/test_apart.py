"""Releases in parts that another process makes."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from microagg.distributed.apart import release_apart
from microagg.errors import DataError, GuaranteeError, MicroaggError
from microagg.progress import Cancelled, watched


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
    assert not [process for process in left if "microagg.distributed.apart" in " ".join(process.cmdline())]


@pytest.mark.parametrize("broken", ["GuaranteeError", "ZeroDivisionError"])
def test_what_went_wrong_in_the_process_is_told_as_itself(monkeypatch, tmp_path, broken):
    program = (
        "import builtins, sys, microagg, microagg.errors\n"
        f"kind = getattr(microagg.errors, {broken!r}, None) or getattr(builtins, {broken!r})\n"
        "def fail(*given, **named): raise kind('microagg broke its promise: a class of 2')\n"
        "microagg.microaggregate = fail\n"
        "from microagg.distributed import apart\n"
        "apart._main()\n"
    )
    run = subprocess.Popen
    monkeypatch.setattr(
        "microagg.distributed.apart.subprocess.Popen",
        lambda command, **named: run([sys.executable, "-c", program], stderr=subprocess.DEVNULL, **named),
    )
    with pytest.raises(MicroaggError, match="microagg broke its promise: a class of 2") as told:
        release_apart(tmp_path / "none.parquet", k=3, out=tmp_path / "out")
    assert "memory" not in str(told.value)
    assert isinstance(told.value, GuaranteeError) == (broken == "GuaranteeError")
