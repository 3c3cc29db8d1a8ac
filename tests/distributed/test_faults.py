"""What goes wrong in the middle: a worker that is killed, a full disk, a job that is cancelled or begun otherwise."""

from __future__ import annotations

import contextlib
import errno
import os
import re
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
from microagg.distributed.checkpoint_dir import Working
from microagg.errors import DataError, ParameterError
from microagg.progress import Cancelled, watched
from tests.distributed.conftest import parquet, workers_here
from tests.distributed.test_release import ROLES, bytes_of, release

pytestmark = pytest.mark.usefixtures("small_parts")

_STAGE = r"(.+): \w+ (\d+) of \d+$"
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
    """Return a watcher that ends the job when it is said to be there, and what was said until then."""
    heard = []

    def hear(message, share):
        heard.append(message)
        if message.startswith(text):
            raise error
        return True

    return hear, heard


def listening(heard):
    def hear(message, share):
        heard.append((message, share))
        return True

    return hear


def test_a_worker_that_is_killed_changes_no_byte(numbers_file, expected, tmp_path):
    """Of workers that are started for the job, which listen on this machine only, and end with it."""
    listening, others = {}, _listening()

    def hear(message, share):
        if message.startswith("grouping: task 3 ") and not listening:
            listening.update({pid: ips - others.get(pid, set()) for pid, ips in _listening().items()})
            os.kill(max(pid for pid in listening if pid != os.getpid()), signal.SIGKILL)
        return True

    given = dict(CHOICES)
    block = given.pop("block_size")
    with watched(hear):
        release_in_parts(numbers_file, given, out=tmp_path / "out", block_size=block, workers=2)
    assert bytes_of(tmp_path / "out") == expected
    assert len(listening) == 3
    assert {address[0] for addresses in listening.values() for address in addresses} == {"127.0.0.1"}
    _wait_for(lambda: not any(psutil.pid_exists(pid) for pid in listening if pid != os.getpid()))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signals that are blocked")
def test_workers_do_not_hear_ctrl_c_and_the_job_does(tmp_path):
    """A terminal sends it to the workers, too, which would complain at length."""
    working = Working.for_output(tmp_path / "out")
    blocked = partial(signal.pthread_sigmask, signal.SIG_BLOCK, [])
    before = blocked()
    with cluster.connected(working, workers=1) as client:
        assert list(client.run(blocked).values()) == [{signal.SIGINT}]
        assert blocked() == before


def test_results_that_are_lost_with_their_workers_are_computed_again(numbers_file, expected, tmp_path):
    """All tasks have ended, but few of their results have been asked for when the workers are killed."""
    killed = set()

    def hear(message, share):
        if message.startswith("grouping: task 3 ") and not killed:
            _wait_for(lambda: len(list((tmp_path / "out.working").rglob("group-*.pickle"))) == 20)
            killed.update(set(_listening()) - {os.getpid()})
            for pid in killed:
                os.kill(pid, signal.SIGKILL)
            time.sleep(0.5)  # Dask notices; before others have started in their place
        return True

    given = dict(CHOICES)
    block = given.pop("block_size")
    with watched(hear):
        release_in_parts(numbers_file, given, out=tmp_path / "out", block_size=block, workers=2)
    assert len(killed) == 2
    assert bytes_of(tmp_path / "out") == expected


def test_a_scheduler_that_is_lost_is_said_in_one_sentence(numbers_file, tmp_path):
    with workers_here(2) as cluster, Client(cluster, set_as_default=False, timeout="2s") as client:

        def hear(message, share):
            if message.startswith("grouping: task 4 "):
                cluster.close()
            return True

        with (
            watched(hear),
            pytest.raises(DataError, match="scheduler was lost while grouping: task"),
        ):
            release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert not (tmp_path / "out").exists()


def _wait_for(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _listening():
    """Return the addresses at which this process and those that it started listen."""
    found = {}
    for process in (psutil.Process(), *psutil.Process().children(recursive=True)):
        with contextlib.suppress(psutil.NoSuchProcess):  # one that has ended meanwhile
            own = {tuple(each.laddr) for each in process.net_connections() if each.status == psutil.CONN_LISTEN}
            found |= {process.pid: own} if own else {}
    return found


@pytest.mark.parametrize("error", [Cancelled, KeyboardInterrupt])
def test_a_job_that_is_cancelled_goes_on_where_it_ended(numbers_file, client, expected, tmp_path, error):
    hear, _ = stopping_at("grouping: task 4 ", error)
    with watched(hear), pytest.raises(error):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    working = tmp_path / "out.working"
    assert not (tmp_path / "out").exists()
    assert stat.S_IMODE(working.stat().st_mode) == 0o700
    assert [path.name for path in tmp_path.iterdir()] == ["out.working"]
    heard = []
    with watched(listening(heard)):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    # What a stage has done when it is begun.
    begins = {found[1]: int(found[2]) for message, _ in reversed(heard) if (found := re.match(_STAGE, message))}
    assert (begins["reading"], begins["finding blocks"], begins["sorting"], begins["writing"]) == (7, 7, 7, 0)
    assert begins["grouping"] >= 4
    assert [share for _, share in heard] == sorted(share for _, share in heard)
    assert bytes_of(tmp_path / "out") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_another_job_begins_cleanly(numbers, numbers_file, client, tmp_path):
    for change in ("choice", "file"):
        file = parquet(numbers, tmp_path / f"{change}.parquet", 3_000)
        hear, _ = stopping_at("grouping: task 4 ")
        with watched(hear), pytest.raises(Cancelled):
            release(file, client, tmp_path / change, **CHOICES)
        choices = CHOICES | ({"k": 6} if change == "choice" else {})
        if change == "file":
            parquet(numbers.iloc[::-1], file, 3_000)
        heard = []
        with watched(listening(heard)):
            release(file, client, tmp_path / change, **choices)
        assert heard[0][0] == "reading: part 0 of 7"
        fresh = parquet(numbers.iloc[:: -1 if change == "file" else 1], tmp_path / "fresh.parquet", 3_000)
        release(fresh, client, tmp_path / f"fresh {change}", **choices)
        assert bytes_of(tmp_path / change) == bytes_of(tmp_path / f"fresh {change}")


def test_a_task_of_a_job_that_was_ended_writes_nothing_into_the_next(tmp_path):
    ended = Working.for_output(tmp_path / "out")
    ended.begin({"file": "a"})

    def write():
        with ended.writing("grouped", "0.npy", 0) as path:
            path.write_bytes(b"of the job that was ended")
            Working.for_output(tmp_path / "out").begin(source)

    for source in ({"file": "a"}, {"file": "b"}):
        with pytest.raises(DataError, match="nothing can be written"):
            write()
        with pytest.raises(DataError, match="nothing can be written"):
            ended.keep("group-0.pickle", 1)
        folder = tmp_path / "out.working"
        assert {path.name for path in folder.iterdir()} == {"manifest.json", "unfinished"}
        (ended := Working.for_output(tmp_path / "out")).begin(source)


def test_a_full_disk_is_said_in_one_sentence_and_gone_on_from(numbers_file, client, expected, tmp_path, monkeypatch):
    save, left = np.save, [12]

    def until_full(*args, **more):
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return save(*args, **more)

    monkeypatch.setattr("microagg.distributed.checkpoint_dir.np.save", until_full)
    says = (
        rf"the disk of '{tmp_path}/out.working' is full \(about [\d.]+ MB are needed there\): make room and begin again"
    )
    with pytest.raises(DataError, match=says):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert not (tmp_path / "out").exists()
    assert not list((tmp_path / "out.working" / "unfinished").glob("*/*"))
    monkeypatch.setattr("microagg.distributed.checkpoint_dir.np.save", save)
    release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert bytes_of(tmp_path / "out") == expected


def test_too_small_a_disk_or_memory_is_said_before_the_work(numbers_file, client, tmp_path, monkeypatch):
    def too_small(message, **choices):
        with pytest.raises(DataError, match=message):
            release(numbers_file, client, tmp_path / "out", **(CHOICES | choices))

    monkeypatch.setattr("microagg.distributed.planning._PART", 10**9)
    too_small(r"a task takes up to [\d,.]+ GB of memory, and the worker .* row_group_size=100_000")
    monkeypatch.undo()
    usage = type("usage", (), {"free": 1_000})
    monkeypatch.setattr("microagg.distributed.checkpoint_dir.shutil.disk_usage", lambda _: usage)
    too_small(r"are needed on the disk of '.*' while the job is at work, and 0.0 MB are free")


def test_a_folder_that_is_not_ours_is_left_alone(numbers_file, client, tmp_path):
    strange = tmp_path / "out.working"
    strange.mkdir()
    (strange / "thesis.txt").write_text("years of work")
    with pytest.raises(ParameterError, match="is no working folder of microagg: move it away"):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert (strange / "thesis.txt").read_text() == "years of work"


@pytest.mark.parametrize("left", [{}, {".out.working.0123.begun": False}, {".out.working.0123.begun": True}])
def test_what_a_kill_in_the_first_moments_leaves_does_not_stand_in_the_way(numbers_file, client, tmp_path, left):
    """Without a manifest, with an empty one's place, or with a whole one that has not got its name yet."""
    if not left:
        (tmp_path / "out.working").mkdir()
    for name, has_manifest in left.items():
        (tmp_path / name).mkdir()
        if has_manifest:
            (tmp_path / name / "manifest.json").write_text("{}")
    (tmp_path / ".out.working.lock").write_text("")
    release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]


def test_a_working_folder_gets_its_name_with_its_manifest_and_is_never_open_to_others(tmp_path, monkeypatch):
    names = []
    rename = Path.rename

    def renamed(self, target):
        names.append((stat.S_IMODE(self.stat().st_mode), [entry.name for entry in self.iterdir()]))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", renamed)
    working = Working.for_output(tmp_path / "out")
    with working.locked():
        working.begin({"source": "x"})
    assert names == [(0o700, ["manifest.json"])]
    assert stat.S_IMODE(Path(working.folder).stat().st_mode) == 0o700


def test_original_values_are_gone_before_the_release_is_there(numbers_file, client, expected, tmp_path, monkeypatch):
    """Whenever the job is killed: between the moving of the release and the end, too."""
    left = {}

    def killed(self):
        left.update({path.name: path for path in Path(self.folder).iterdir()})
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Working, "clear", killed)
        with pytest.raises(KeyboardInterrupt):
            release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert set(left) == {"manifest.json"}
    assert bytes_of(tmp_path / "out") == expected
    with pytest.raises(ParameterError, match="is there already"):
        release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_job_that_is_killed_before_the_release_is_there_begins_again(
    numbers_file, client, expected, tmp_path, monkeypatch
):
    with monkeypatch.context() as patch:
        patch.setattr(Working, "path", stopping_once_empty(Working.path))
        with pytest.raises(KeyboardInterrupt):
            release(numbers_file, client, tmp_path / "out", **CHOICES)
    release(numbers_file, client, tmp_path / "out", **CHOICES)
    assert bytes_of(tmp_path / "out") == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def stopping_once_empty(path):
    """Return what asks where a file is, and is ended where only the release is left in the folder."""

    def ask(self, *which):
        if {entry.name for entry in Path(self.folder).iterdir()} == {"manifest.json", "release"}:
            raise KeyboardInterrupt
        return path(self, *which)

    return ask


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
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out"]
