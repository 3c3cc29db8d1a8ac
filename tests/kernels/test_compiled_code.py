"""Where compiled code is kept, and when it is dropped: it is never out of date, and nothing fails for want of room."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import microagg
from microagg.kernels import cache as kernel_cache
from microagg.kernels.compiled import borrows, kernel
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


def home(folder):
    """Return what makes ``folder`` the place of the user's own caches, on every system."""
    return dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"), str(folder))


CALLS = "from small.caller import call; print(call(), sum(call.stats.cache_hits.values()))"


def make_package(folder, answer):
    """Write a package whose compiled ``call`` asks a building block in another file for ``answer``."""
    room = folder / "small" / "kernels"
    room.mkdir(parents=True)
    shutil.copy(kernel_cache.__file__, room / "__init__.py")
    (room.parent / "__init__.py").touch()
    (room.parent / "caller.py").write_text(
        "from numba import njit\nfrom small.kernels.block import block\n\n\n"
        "@njit(cache=True)\ndef call():\n    return block()\n"
    )
    change(folder, answer)


def change(folder, answer):
    block = folder / "small" / "kernels" / "block.py"
    block.write_text(f"from numba import njit\n\n\n@njit(cache=True)\ndef block():\n    return {answer}\n")


@pytest.mark.parametrize("place", ["NUMBA_CACHE_DIR", "HOME"])
def test_copies_of_the_same_sources_share_what_is_compiled(tmp_path, place):
    first, second, cache = (tmp_path / name for name in ("first", "second", "cache"))
    env = {place: str(cache)} if place == "NUMBA_CACHE_DIR" else home(cache)
    make_package(first, 1)
    assert outcome(begin(CALLS, first, **env)) == "1 0"
    make_package(second, 1)
    os.utime(second / "small" / "caller.py", (0, 0))
    assert outcome(begin(CALLS, second, **env)) == "1 1"
    change(second, 2)
    assert outcome(begin(CALLS, second, **env)) == "2 0"
    assert outcome(begin(CALLS, first, **env)) == "1 1"  # the version before is still there
    assert list(cache.rglob("*.nbi"))
    assert not list(first.rglob("*.nbi"))


def test_versions_that_no_process_used_for_a_month_are_deleted(tmp_path):
    old, recent = (tmp_path / "small" / "kernels" / name for name in ("old-0", "recent-0"))
    for folder, days in ((old, 31), (recent, 29)):
        folder.mkdir(parents=True)
        (folder / "f.nbi").touch()
        os.utime(folder, (time.time() - days * 24 * 3600,) * 2)
    make_package(tmp_path / "here", 1)
    assert outcome(begin(CALLS, tmp_path / "here", NUMBA_CACHE_DIR=str(tmp_path))) == "1 0"
    assert (old.exists(), recent.exists()) == (False, True)


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


def test_where_the_home_cannot_be_written_code_is_compiled_for_this_process(tmp_path):
    lodging, nowhere = tmp_path / "temporary", tmp_path / "nowhere"
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
    first, second = outcome(begin(code, PACKAGE.parent, **env)).splitlines()
    assert lodging in Path(first).parents
    assert (first[-2:], second) == (" 0", f"{first[:-1]}1")  # a process that this one starts has what it compiled
    assert not list(lodging.iterdir())


def test_a_kernel_may_make_arrays_whoever_calls_it_first():
    @kernel
    def makes(n):
        return len(np.zeros((n, 2)))

    @borrows
    def borrowing(n):
        return makes(n)

    assert borrowing(3) == makes(3) == 3
