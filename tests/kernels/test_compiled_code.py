"""Where compiled code is kept, and when it is dropped: it is never out of date, and nothing fails for want of room."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import microagg
from microagg import kernels
from microagg.kernels import _drop_outdated_caches
from microagg.kernels.neighbors import brute_force

PACKAGE = Path(microagg.__file__).parent


def begin(code, path, **env):
    """Start another process that runs ``code`` with the packages in the folder ``path``."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=inherited | {"PYTHONDONTWRITEBYTECODE": "1"} | env,
        cwd=path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def outcome(process):
    """Return what a process printed, without a word of complaint."""
    printed, complaints = process.communicate(timeout=300)
    assert not complaints
    assert process.returncode == 0
    return printed.strip()


def close(package):
    """Leave no room for compiled code in a package: a file stands where each folder for it would be made."""
    for folder in [package, *(path for path in package.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").touch()


def home(folder):
    """Return what makes ``folder`` the place of the user's own caches, on every system."""
    return dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"), str(folder))


def test_compiled_code_older_than_a_building_block_is_dropped(tmp_path):
    for name in ("kernels", "algorithms"):
        (tmp_path / name / "__pycache__").mkdir(parents=True)
        (tmp_path / name / "pool.py").write_text("")
    block = tmp_path / "kernels" / "pool.py"
    old, new = (tmp_path / "algorithms" / "__pycache__" / f"{name}.nbi" for name in ("old", "new"))
    for index, age in ((old, -10), (new, 10)):
        index.write_text("")
        os.utime(index, (block.stat().st_mtime + age,) * 2)
    _drop_outdated_caches(tmp_path, tmp_path / "kernels" / "__pycache__")
    assert not old.exists()
    assert new.exists()


@pytest.mark.parametrize("kept", ["NUMBA_CACHE_DIR", "the folder of the user"])
def test_compiled_code_kept_elsewhere_is_dropped_once_what_it_calls_has_changed(tmp_path, kept):
    package = tmp_path / "small"
    room = package / "kernels"
    room.mkdir(parents=True)
    (package / "__init__.py").touch()
    shutil.copy(kernels.__file__, room)
    (package / "caller.py").write_text(
        "from numba import njit\nfrom small.kernels.block import block\n\n\n"
        "@njit(cache=True)\ndef call():\n    return block()\n"
    )
    elsewhere = tmp_path / "elsewhere"
    if kept == "NUMBA_CACHE_DIR":
        env = {kept: str(elsewhere)}
    else:
        close(package)
        env = home(elsewhere)
    code = "from small.caller import call; print(call(), sum(call.stats.cache_hits.values()))"
    for answer, hits in ((1, 0), (1, 1), (2, 0)):
        if not hits:
            (room / "block.py").write_text(
                f"from numba import njit\n\n\n@njit(cache=True)\ndef block():\n    return {answer}\n"
            )
        assert outcome(begin(code, tmp_path, **env)) == f"{answer} {hits}"
    assert list(elsewhere.rglob("*.nbi"))


REMOVES = (
    "import numpy as np\n"
    "from microagg.kernels.neighbors.brute_force import make_pool, remove\n"
    "pool = make_pool(np.arange(60.0).reshape(20, 3))\n"
    "remove(pool, 4)\n"
    "print(pool.records.tolist())\n"
)


@pytest.mark.slow
def test_processes_that_compile_the_same_at_once_in_one_folder_do_not_disturb_each_other(tmp_path):
    both = [begin(REMOVES, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    pool = brute_force.make_pool(np.arange(60.0).reshape(20, 3))
    brute_force.remove(pool, 4)
    records = str(pool.records.tolist())
    assert [outcome(process) for process in both] == [records, records]
    assert list(tmp_path.rglob("*.nbi"))
    assert outcome(begin(REMOVES, PACKAGE.parent, NUMBA_CACHE_DIR=str(tmp_path))) == records


def test_where_neither_the_package_nor_the_home_can_be_written_code_is_compiled_for_this_process(tmp_path):
    copy, lodging, nowhere = tmp_path / "microagg", tmp_path / "temporary", tmp_path / "nowhere"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    close(copy)
    lodging.mkdir()
    nowhere.touch()
    adds = (
        "import microagg.optimum.proof_checker, numpy as np\n"
        "from microagg.kernels.neighbors.brute_force import add_exactly as add\n"
        "add(np.zeros((2, 1)), 0, 1.0)\n"
        "print(add.stats.cache_path, sum(add.stats.cache_hits.values()), flush=True)\n"
    )
    code = f"{adds}import subprocess, sys\nsubprocess.run([sys.executable, '-c', {adds!r}], check=True)\n"
    env = home(nowhere) | {"TMPDIR": str(lodging), "TEMP": str(lodging)}
    first, second = outcome(begin(code, tmp_path, **env)).splitlines()
    assert lodging in Path(first).parents
    assert (first[-2:], second) == (" 0", f"{first[:-1]}1")  # a process that this one starts has what it compiled
    assert not list(lodging.iterdir())
