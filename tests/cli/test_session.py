"""The command line in a real shell: a new user's session, what it loads, how it completes words, and Ctrl-C."""

import contextlib
import os
import signal
import subprocess
import sys
import time
import tomllib
from functools import partial
from operator import attrgetter
from pathlib import Path

import pandas as pd
import pytest

import microagg.cli.group
import microagg.cli.releasing
from microagg.cli import cli
from microagg.release import plan as release_plan
from tests.cli.test_cli import ROLES, people, write_people
from tests.conftest import ROOT
from tests.release.common import smallest_class

__all__ = ["people"]

SCRIPT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]["microagg"]
# Far more than the half minute that the whole test may take.
LONG = ["--method", "iterated-local-search", "--effort", "100000000"]


def test_what_needs_no_algorithm_loads_none(people):
    commands = [
        ["--help"],
        ["datasets"],
        ["run", "people.csv", "--k", "5", "--qi", "agee"],
        ["run", "nobody.csv", "--k", "5"],
        ["verify", "people.csv", "--k", "1", "--qi", "age"],
        ["risk", "people.csv", "--qi", "agee"],
    ]
    code = (
        "import sys\nfrom microagg.cli import cli\n"
        f"for words in {commands!r}:\n"
        "    try:\n        cli.main(words)\n"
        "    except SystemExit as end:\n        assert end.code in (0, 2), end.code\n"
        "    heavy = {'sklearn', 'numba', 'scipy', 'matplotlib', 'urllib.request'} & set(sys.modules)\n"
        "    assert not heavy, f'{words} loads {heavy}'\n"
    )
    command, environment = [sys.executable, "-c", code], os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


def shell(folder, *words, **how):
    """Start the command line as a shell does, by what the installed script calls."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    module, function = SCRIPT.split(":")
    # What is begun in the background, as tests may be, does not hear Ctrl-C.
    hear = "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler)"
    command = [sys.executable, "-c", f"{hear}; from {module} import {function}; sys.exit({function}())", *words]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env=environment, **pipes, **how)


def ended(process):
    out, err = process.communicate(timeout=100)
    assert "Traceback" not in err
    return process.returncode, out, err


def test_a_new_users_session(tmp_path):
    write_people(tmp_path / "people.csv")
    # Both at a time, as each takes a second or two to begin.
    typo = shell(tmp_path, "run", "people.csv", "--k", "4", "--qi", "aeg,income", "--out", "other.csv")
    code, _, err = ended(shell(tmp_path, "run", "people.csv", "--k", "4", *ROLES, "--out", "out.csv"))
    assert code == 0, err
    assert ended(typo) == (2, "", "Error: There is no column 'aeg': did you mean 'age'?\n")
    assert smallest_class(pd.read_csv(tmp_path / "out.csv"), ["age", "income"]) >= 4
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.csv"]


@pytest.fixture
def heard():
    """Set what becomes of Ctrl-C in a test."""
    before = signal.getsignal(signal.SIGINT)
    yield partial(signal.signal, signal.SIGINT)
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_command_ends_before_it_writes_or_when_all_is_written(people, heard, monkeypatch, capsys, number, code):
    heard(signal.default_int_handler)
    words = ["run", "people.csv", "--k", "5", *ROLES, "--out", "out.csv", "--recipe", "r.json"]
    handlers = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    for where, expected in (("cli.releasing.recipe_text", code), ("cli.group.check_targets", 0)):
        before = attrgetter(where)(microagg)

        def do(*args, before=before, **named):
            signal.raise_signal(number)
            return before(*args, **named)

        with monkeypatch.context() as patch:
            patch.setattr(f"microagg.{where}", do)
            with pytest.raises(SystemExit) as end:
                cli.main(words)
        assert end.value.code == expected
        written = sorted(path.name for path in people.parent.iterdir())
        assert written == (["people.csv"] if expected else ["out.csv", "people.csv", "r.json"])
        assert capsys.readouterr().err.endswith("Stopped.\n" if expected else "Written: out.csv, r.json\n")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == handlers


def test_ctrl_c_ends_the_work_even_where_the_exception_is_lost(people, heard, monkeypatch):
    """As it is where C calls back, while compiled kernels are loaded."""
    prepare = release_plan.prepare

    def lose(*args):
        with contextlib.suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return prepare(*args)

    monkeypatch.setattr(release_plan, "prepare", lose)
    heard(signal.default_int_handler)
    with pytest.raises(SystemExit) as end:
        cli.main(["run", "people.csv", "--k", "3", "--effort", "50", *ROLES, "--out", "out.csv"])
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    assert end.value.code == 130
    assert not Path("out.csv").exists()


def test_ctrl_c_leaves_no_file(tmp_path):
    write_people(tmp_path / "people.csv")
    run = ["run", "people.csv", "--k", "3", "--effort", "50", *ROLES, "--out", "out.csv", "--recipe", "r.json"]
    sweep = ["sweep", "people.csv", "--qi", "age,income", *LONG, "--k", "2-9", "--out", "table.csv"]
    under_way = [shell(tmp_path, *words) for words in (run, sweep)]
    time.sleep(6)
    for process in under_way:
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
    pressed = time.monotonic()
    for process in under_way:
        code, out, err = ended(process)
        assert (code, out) == (130, ""), err
        assert err.endswith("Stopped.\n")
    assert time.monotonic() - pressed < 5
    assert [path.name for path in tmp_path.iterdir()] == ["people.csv"]
