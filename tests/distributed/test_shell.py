"""``microagg run --engine dask``, ``replay`` and ``verify`` of a folder, in a shell."""

import json
import os
import re
import signal
import time

import pandas as pd
import psutil
import pytest
from click.testing import CliRunner

from microagg.cli import cli
from microagg.distributed.working_folder import Working
from microagg.tables import read_file
from tests.cli.test_session import shell
from tests.distributed.conftest import parquet
from tests.distributed.test_release import NUMBERS, ROLES, bytes_of, release

QI = ",".join(NUMBERS)
FLAGS = ["--engine", "dask", "--k", "5", "--method", "mdav", "--block-size", "2500", "--qi", QI, "--drop", "name"]
ILL = ["--confidential", "illness"]


def call(*words):
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.fixture
def scheduler(client):
    return ["--scheduler", client.scheduler.address]


@pytest.fixture(autouse=True)
def in_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_a_release_in_parts_is_made_verified_and_made_again(numbers_file, client, scheduler, tmp_path):
    done = call("run", numbers_file, *FLAGS, *scheduler, *ILL, "--out", "out", "--recipe", "r.json")
    assert done.exit_code == 0, done.output
    assert done.stderr.endswith("Written: out, r.json\n")
    choices = {"k": 5, "method": "mdav", "block_size": 2_500, **ROLES}
    same = release(numbers_file, client, tmp_path / "same", **choices)
    assert done.stdout == same.report.summary() + "\n"
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "same")
    done = call("verify", "out", "--qi", QI, "--k", 5)
    assert (done.exit_code, done.output) == (0, "k = 5 holds in 'out': the smallest class has 5 records of 20,000.\n")
    done = call("replay", "r.json", numbers_file, *scheduler, "--out", "again", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["written"] == ["again"]
    assert json.loads(done.stdout)["risk"]["realized_k"] == 5
    assert bytes_of(tmp_path / "out") == bytes_of(tmp_path / "again")
    done = call("risk", "r.json", numbers_file)
    assert (done.exit_code, done.stderr.split(":")[1]) == (2, " Microagg risk cannot measure a release in parts")
    assert not list(tmp_path.glob("*.working"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_ends_a_release_that_takes_its_place(numbers_file, scheduler, tmp_path, monkeypatch, number):
    deliver = Working.deliver

    def do(self, target):
        assert [path.name for path in tmp_path.glob("r.json")] == ["r.json"]
        signal.raise_signal(number)
        deliver(self, target)

    monkeypatch.setattr(Working, "deliver", do)
    done = call("run", numbers_file, *FLAGS, *scheduler, *ILL, "--out", "out", "--recipe", "r.json")
    assert done.exit_code == 0, done.output
    assert done.stderr.endswith("Written: out, r.json\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "r.json"]


def test_a_folder_is_counted_file_by_file(tmp_path):
    folder = tmp_path / "folder"
    folder.mkdir()
    frame = pd.DataFrame({"age": [1, 1, 2, None, 2, 3, None, 1], "town": list("aababcba")})
    frame["moved"] = [True, True, True, None, True, False, None, False]
    frame["change"] = [*[0.0] * 7, -0.0]
    for i, rows in enumerate((frame[:3], frame[3:5], frame[5:])):
        parquet(rows.astype({"age": "float64"}), folder / f"{i}.parquet", 2)
    sizes = frame.groupby(["age", "town"], dropna=False).size()
    counted = json.loads(call("verify", "folder", "--qi", "age,town", "--k", 2, "--json").stdout)
    assert (counted["n_records"], counted["smallest_class"]) == (8, 1)
    assert (counted["below_k"], counted["unique"]) == (int(sizes[sizes < 2].sum()), int((sizes == 1).sum()))
    for name, smallest in (("moved", 2), ("change", 1)):
        counted = json.loads(call("verify", "folder", "--qi", name, "--k", 2, "--json").stdout)
        assert counted["smallest_class"] == smallest
    done = call("verify", "folder", "--qi", "age,town", "--k", 2)
    assert done.exit_code == 1
    assert "k = 2 does not hold in 'folder'" in done.output
    done = call("verify", "folder", "--qi", "age", "--k", 2, "--read-delimiter", ";")
    assert (done.exit_code, done.stderr.startswith("Error: --read-delimiter is for single files")) == (2, True)
    says = "Error: There is no column 'agee': did you mean 'age'?\n"
    assert call("verify", "folder", "--qi", "agee", "--k", 2).stderr == says


def test_what_nobody_decided_about_holds_a_release_up_before_any_work(numbers_file, scheduler, tmp_path):
    done = call("run", numbers_file, *FLAGS, *scheduler, "--out", "out")
    assert done.exit_code == 1
    assert "without a role are released: 'illness'" in done.stderr
    assert done.stderr.endswith("Nothing was written.\n")
    assert list(tmp_path.iterdir()) == []
    accepted = ["--accept", "undecided", "--accept", "gaps", "--reason"]
    done = call("run", numbers_file, *FLAGS, *scheduler, "--out", "out", *accepted, "it is old")
    assert done.exit_code == 0, done.output
    assert "Released despite: Columns without a role are released: 'illness'" in done.stdout
    assert "The reason given: it is old." in done.stdout
    first, *thoughts, last = done.stderr.splitlines()
    assert (first, last) == ("Note: --accept gaps was not needed: there is no such problem.", "Written: out")
    assert thoughts
    assert all(line.startswith(("Warning: ", "Released despite")) for line in thoughts)
    assert set(read_file(tmp_path / "out" / "part-00000.parquet").frame) == {*NUMBERS, "illness"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "--engine dask writes the release to a folder: add --out"),
        (["--out", "out", "--report", "r.html"], "HTML reports are for releases in memory"),
        (["--out", "there"], "'there' already exists"),
        (["--out", "out", "--workers", "2"], "--scheduler cannot be combined with --workers"),
        (["--out", "out", "--data", "census"], "--data is for releases in memory"),
        (["--out", "out", "--read-decimal", ","], "--read-decimal is not for Parquet files"),
        (["--out", "out", "--accept", "nonsense", "--reason", "it is old"], "--engine dask has no problem 'nonsense'"),
    ],
)
def test_what_cannot_be_is_refused(numbers_file, scheduler, tmp_path, words, says):
    (tmp_path / "there").mkdir()
    done = call("run", numbers_file, *FLAGS, *scheduler, *ILL, *words)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: {says}"), done.stderr
    assert done.stderr.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["there"]


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nowhere"])
def test_a_scheduler_that_is_not_there_is_named(numbers_file, monkeypatch, address):
    monkeypatch.setattr("microagg.distributed.cluster.PATIENCE", "0.5s")
    done = call("run", numbers_file, *FLAGS, *ILL, "--out", "out", "--scheduler", address)
    assert done.exit_code == 2
    assert done.stderr.startswith(f"Error: No scheduler of Dask answers at {address!r}")


@pytest.mark.slow
def test_ctrl_c_leaves_no_release_and_no_workers(numbers_file, tmp_path):
    words = ["run", str(numbers_file), *FLAGS, *ILL, "--out", "out", "--workers", "1"]
    words[words.index("mdav")] = "iterated-local-search"
    process = shell(tmp_path, *words, "--effort", "1000000", start_new_session=True)
    deadline = time.monotonic() + 200
    while not list(tmp_path.glob("out.working/*/sorted")):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.2)
    workers = psutil.Process(process.pid).children(recursive=True)
    assert workers
    # As a terminal does: to the workers, too.
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert re.sub(r"\x1b\[2K|\r", "", err).endswith("Stopped.\n"), err
    assert list(tmp_path.iterdir()) == []
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert not alive
