"""Releases in parts that another process makes."""

from __future__ import annotations

import psutil
import pytest

from microagg.distributed.apart import release_apart
from microagg.errors import DataError
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
