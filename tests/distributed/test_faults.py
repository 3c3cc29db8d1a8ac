"""What goes wrong in the middle: a worker that is killed, a full disk, a job that is cancelled or begun otherwise."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import stat
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import psutil
import pytest
from distributed import Client

from microagg.distributed import cluster
from microagg.distributed import release as release_in_parts
from microagg.distributed.checkpoint_dir import RELEASED, Working, working_on
from microagg.errors import DataError, ParameterError
from microagg.progress import Cancelled, watched
from tests.distributed.conftest import parquet, workers_here
from tests.distributed.test_release import ROLES, bytes_of, release

pytestmark = pytest.mark.usefixtures("small_parts")

CHOICES = {"k": 5, "method": "mdav", "block_size": 1_000, **ROLES}


@pytest.fixture(scope="module")
def expected(numbers_file, client, tmp_path_factory):
    """The files of a release during which nothing goes wrong."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("microagg.distributed.parts.RECORDS", 1)
        out = tmp_path_factory.mktemp("expected") / "out"
        release(numbers_file, client, out, **CHOICES)
    return bytes_of(out)


def stopping_at(text, error=Cancelled):
    """Return a watcher that ends the job at a message."""

    def hear(message, share):
        if message.startswith(text):
            raise error
        return True

    return hear


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


def results_in(folder):
    """Return when each result of a task was written."""
    return {path.name: path.stat().st_mtime_ns for path in folder.rglob("*-[0-9]*.pickle")}


def test_workers_that_are_killed_change_no_byte(numbers_file, expected, tmp_path):
    """First one at work, then all, with results nobody fetched; they are reached from here only, and end at last."""
    others, started, killed = _listening().keys() | {os.getpid()}, {}, []

    def workers():
        addresses = {pid: where for pid, where in _listening().items() if pid not in others}
        started.update(addresses)
        return sorted(addresses)

    def kill(pids):
        killed.extend(pids)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    def hear(message, share):
        if message.startswith("finding blocks: part 2 ") and not killed:
            kill(workers()[:1])
        if message.startswith("grouping: task 3 ") and len(killed) == 1:
            _wait_for(lambda: len(list((tmp_path / "out.working").rglob("group-*.pickle"))) == 20)
            kill(workers())
            time.sleep(0.5)  # Dask notices; before others have started in their place
        return True

    choices = {name: value for name, value in CHOICES.items() if name != "block_size"}
    with watched(hear):
        release_in_parts(numbers_file, choices, out=tmp_path / "out", block_size=1_000, workers=2)
    assert bytes_of(tmp_path / "out") == expected
    assert len({*killed}) >= 2
    assert {address[0] for addresses in started.values() for address in addresses} == {"127.0.0.1"}
    _wait_for(lambda: not any(psutil.pid_exists(pid) for pid in started))


def _wait_for(condition):
    deadline = time.monotonic() + 100
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _listening():
    """Return the addresses at which this process and those that it started listen."""
    addresses = {}
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # one that has ended meanwhile
            of_process = {each.laddr for each in process.net_connections() if each.status == psutil.CONN_LISTEN}
            addresses |= {process.pid: of_process} if of_process else {}
    return addresses


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals that are blocked")
def test_workers_do_not_hear_ctrl_c_and_the_job_does(tmp_path):
    """A terminal sends it to the workers, too, which would complain at length."""
    blocked = partial(signal.pthread_sigmask, signal.SIG_BLOCK, [])
    before = blocked()
    with cluster.connected(Working(str(tmp_path)), workers=1) as client:
        assert list(client.run(blocked).values()) == [{signal.SIGINT}]
        assert blocked() == before


def test_a_scheduler_that_is_lost_is_said_in_one_sentence(numbers_file, tmp_path):
    with workers_here(2) as cluster, Client(cluster, set_as_default=False, timeout="2s") as client:

        def hear(message, share):
            if message.startswith("grouping: task 4 "):
                cluster.close()
            return True

        with watched(hear), pytest.raises(DataError, match="scheduler was lost while grouping: task"):
            release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt])
def test_a_job_that_is_cancelled_goes_on_where_it_ended(numbers_file, client, expected, tmp_path, error):
    with watched(stopping_at("grouping: task 4 ", error)), pytest.raises(error):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    working = tmp_path / "out.working"
    assert names_in(tmp_path) == ["out.working"]
    assert stat.S_IMODE(working.stat().st_mode) == 0o700
    before = results_in(working)
    assert {f"group-{number}.pickle" for number in range(4)} <= before.keys()
    after, shares = {}, []

    def hear(message, share):
        shares.append(share)
        after.update(results_in(working))
        return True

    with watched(hear):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert {name: after[name] for name in before} == before
    assert shares == sorted(shares)
    assert bytes_of(tmp_path / "out") == expected
    assert names_in(tmp_path) == ["out"]


@pytest.mark.parametrize("change", ["choice", "file"])
def test_another_job_begins_cleanly(numbers, client, tmp_path, change):
    file = parquet(numbers, tmp_path / "a.parquet", 3_000)
    with watched(stopping_at("grouping: task 4 ")), pytest.raises(Cancelled):
        release(file, client, tmp_path / "out", **CHOICES)
    choices, rows = (CHOICES | {"k": 6}, numbers) if change == "choice" else (CHOICES, numbers.iloc[::-1])
    parquet(rows, file, 3_000)
    release(file, client, tmp_path / "out", **choices)
    release(parquet(rows, tmp_path / "fresh.parquet", 3_000), client, tmp_path / "fresh", **choices)
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "fresh")


def test_a_task_of_another_job_that_was_ended_writes_nothing(tmp_path):
    with working_on(tmp_path / "out", "a") as ended:
        ended.store("group-0.pickle", "a")

    def write():
        with ended.writing("grouped", "0.npy") as path:
            path.write_bytes(b"of the job that was ended")
            with working_on(tmp_path / "out", "b"):
                pass

    with pytest.raises(DataError, match="nothing can be written"):
        write()
    with pytest.raises(DataError, match="nothing can be written"):
        ended.store("group-0.pickle", 1)
    with working_on(tmp_path / "out", "b") as working:
        assert names_in(working.place) == [Path(working.folder).name]
        assert names_in(Path(working.folder)) == ["unfinished"]
    with working_on(tmp_path / "out", "a") as again:  # which may draw another seed
        assert again.is_empty
        assert again != ended


def test_a_full_disk_is_said_in_one_sentence_and_gone_on_from(numbers_file, client, expected, tmp_path, monkeypatch):
    save, left = np.save, [12]

    def until_full(*args, **more):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(*args, **more)

    monkeypatch.setattr("microagg.distributed.checkpoint_dir.np.save", until_full)
    with pytest.raises(DataError, match=rf"the disk of '{tmp_path}/out.working' is full: make room and begin again"):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "out.working").glob("*/unfinished/*"))
    monkeypatch.setattr("microagg.distributed.checkpoint_dir.np.save", save)
    release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert bytes_of(tmp_path / "out") == expected


def test_too_small_a_disk_or_memory_is_said_before_the_work(numbers_file, client, tmp_path, monkeypatch):
    def too_small(message):
        with pytest.raises(DataError, match=message):
            release(numbers_file, client, tmp_path / "out", **CHOICES)

    usage = type("usage", (), {"free": 1_000})
    monkeypatch.setattr("microagg.distributed.checkpoint_dir.shutil.disk_usage", lambda _: usage)
    too_small(r"are needed on the disk of '.*' while the job is at work, and 0.0 MB are free")
    monkeypatch.undo()
    monkeypatch.setattr("microagg.distributed.planning._PART", 10**9)
    too_small(r"a task takes up to [\d,.]+ GB of memory, and the worker .* row_group_size=100_000")


@pytest.mark.parametrize("strange", ["thesis.txt", "microagg-thesis"])
def test_a_folder_that_is_not_ours_is_left_alone(tmp_path, monkeypatch, strange):
    place = tmp_path / "out.working"
    place.mkdir()
    (place / strange).write_text("years of work")
    if strange.startswith("microagg"):
        monkeypatch.setattr(os, "getuid", lambda: place.stat().st_uid + 1)
    with pytest.raises(ParameterError, match="is no working folder"), working_on(tmp_path / "out", "a"):
        pass
    assert (place / strange).read_text() == "years of work"


@pytest.mark.parametrize("left", [[], ["microagg-0123"], ["microagg-verified"]])
def test_what_a_kill_leaves_does_not_stand_in_the_way(tmp_path, left):
    """In the first moments or in the last ones."""
    for name in ("out.working", *(f"out.working/{each}" for each in left)):
        (tmp_path / name).mkdir()
    (tmp_path / ".out.working.lock").write_text("")
    with working_on(tmp_path / "out", "a") as working:
        assert names_in(working.place) == [Path(working.folder).name]
        assert stat.S_IMODE(working.place.stat().st_mode) == 0o700
        working.clear()
    assert names_in(tmp_path) == []


@pytest.mark.parametrize("moment", range(6))
def test_whenever_a_job_is_killed_there_is_the_release_or_what_it_is_made_from(tmp_path, monkeypatch, moment):
    """Never half a release, and never both; another try then begins again, or finds the release."""
    with working_on(tmp_path / "out", "a") as working:
        working.store("encode-0.pickle", "original values")
        working.path(RELEASED).mkdir()
        (working.path(RELEASED) / "part").write_text("released values")
        calls = []

        def or_die(function):
            def call(*args, **named):
                calls.append(function)
                if len(calls) == moment:
                    raise KeyboardInterrupt
                return function(*args, **named)

            return call

        with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
            patch.setattr(Path, "rename", or_die(Path.rename))
            patch.setattr(Path, "rmdir", or_die(Path.rmdir))
            patch.setattr(shutil, "rmtree", or_die(shutil.rmtree))
            working.deliver(tmp_path / "out")
        originals = list(tmp_path.rglob("encode-0.pickle"))
        assert len(calls) == (moment or 5)
    if (tmp_path / "out").exists():
        assert not originals
        assert (tmp_path / "out" / "part").read_text() == "released values"
    with working_on(tmp_path / "out", "a") as again:
        assert names_in(again.place) == [Path(again.folder).name]
        assert again.is_empty or again.path(RELEASED, "part").exists()


def test_two_jobs_do_not_share_a_folder(numbers_file, client, tmp_path):
    caught = []

    def hear(message, share):
        if not caught:
            with pytest.raises(ParameterError, match="another job is at work on") as error:
                release(numbers_file, client, tmp_path / "out", **CHOICES)
            caught.append(error)
        return True

    with watched(hear):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert caught
    assert names_in(tmp_path) == ["out"]
