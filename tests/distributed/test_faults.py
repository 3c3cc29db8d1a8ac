"""What goes wrong in the middle: a worker that is killed, a full disk, a job that is cancelled or begun otherwise."""

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
from distributed.comm import CommClosedError

from microagg.distributed import cluster
from microagg.distributed import release as release_in_parts
from microagg.distributed.working_folder import RELEASED, Working, working_on
from microagg.errors import DataError, ParameterError
from microagg.progress import Cancelled, watched
from tests.distributed.conftest import workers_here
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
            _wait_for(lambda: len(list((tmp_path / "out.working").rglob("grouped/*.arrow"))) == 20)
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
def test_a_job_that_is_cancelled_leaves_nothing(numbers_file, client, tmp_path, error):
    modes = []

    def hear(message, share):
        modes.append(stat.S_IMODE((tmp_path / "out.working").stat().st_mode))
        return stopping_at("grouping: task 4 ", error)(message, share)

    with watched(hear), pytest.raises(error):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert set(modes) == {0o700}
    assert names_in(tmp_path) == []


def test_a_late_task_of_an_ended_job_writes_nothing(tmp_path):
    with working_on(tmp_path / "out") as ended:
        ended.store("layout", "of the ended job")
    with working_on(tmp_path / "out") as working:
        with pytest.raises(DataError, match="cannot write to"):
            ended.store("layout", 1)
        with pytest.raises(DataError, match="cannot write to"), ended.writing("grouped", "0.npy") as path:
            path.write_bytes(b"of the ended job")
        assert names_in(working.place) == [Path(working.folder).name]
        assert names_in(Path(working.folder)) == ["unfinished"]


def test_a_full_disk_is_said_in_one_sentence(numbers_file, client, tmp_path, monkeypatch):
    save, left = np.save, [12]

    def until_full(*args, **more):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(*args, **more)

    monkeypatch.setattr("microagg.distributed.working_folder.np.save", until_full)
    with pytest.raises(DataError, match=rf"the disk of '{tmp_path}/out.working' is full: free some space"):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert names_in(tmp_path) == []


def test_too_small_a_disk_or_memory_is_said_before_the_work(numbers_file, client, tmp_path, monkeypatch):
    def too_small(message):
        with pytest.raises(DataError, match=message):
            release(numbers_file, client, tmp_path / "out", **CHOICES)

    usage = type("usage", (), {"free": 1_000})
    monkeypatch.setattr("microagg.distributed.working_folder.shutil.disk_usage", lambda _: usage)
    too_small(r"the job needs about .* on the disk of '.*', and 0.0 MB are free")
    monkeypatch.undo()
    monkeypatch.setattr("microagg.distributed.planning._PART", 10**9)
    too_small(r"a task takes up to [\d,.]+ GB of memory, and the worker .* row_group_size=100_000")
    monkeypatch.setattr(client, "run", lambda *_: (_ for _ in ()).throw(CommClosedError))
    too_small("a worker ended before its first task, probably for lack of memory")


def test_a_folder_that_is_there_is_left_alone(tmp_path):
    """It may be that of another job, or of one that was killed."""
    place = tmp_path / "out.working"
    place.mkdir()
    (place / "thesis.txt").write_text("years of work")
    with pytest.raises(ParameterError, match="Wait for the job or delete"), working_on(tmp_path / "out"):
        pass
    assert (place / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("moment", range(4))
def test_whenever_a_job_is_killed_there_is_never_half_a_release(tmp_path, monkeypatch, moment):
    """A release that is there is whole, and no original values are left beside it."""
    job = working_on(tmp_path / "out")
    working = job.__enter__()  # a killed process does not leave the block
    working.store("layout", "original values")
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
        patch.setattr(shutil, "rmtree", or_die(shutil.rmtree))
        working.deliver(tmp_path / "out")
    assert len(calls) == (moment or 3)
    assert (tmp_path / "out").exists() == (moment == 0)
    if moment == 0:
        assert not list(tmp_path.rglob("layout"))
        assert (tmp_path / "out" / "part").read_text() == "released values"
    with contextlib.suppress(KeyboardInterrupt):  # any other end deletes the folder
        job.__exit__(KeyboardInterrupt, KeyboardInterrupt(), None)
    assert names_in(tmp_path) == (["out"] if moment == 0 else [])


def test_two_jobs_do_not_share_a_folder(numbers_file, client, tmp_path):
    caught = []

    def hear(message, share):
        if not caught:
            with pytest.raises(ParameterError, match="another job is using it") as error:
                release(numbers_file, client, tmp_path / "out", **CHOICES)
            caught.append(error)
        return True

    with watched(hear):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert caught
    assert names_in(tmp_path) == ["out"]
