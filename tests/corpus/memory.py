"""Measures what reading files takes, in processes that do nothing else.

As a program, it takes the name of a module with ``CASES``; each line of standard input is the number of one, and for
each, a line of JSON says what became of it, and how many bytes of memory reading took at its peak. Each case has a
process of its own, a copy of this one in which all packages are loaded already, as loading them takes longer than
reading.
"""

import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path

import openpyxl
import pyarrow.parquet
import pyreadstat

from tests.conftest import ROOT
from tests.corpus.case import Case, check

#: Packages that readers load when they first need them, which is not counted.
LOADED = (openpyxl, pyarrow.parquet, pyreadstat)

#: The figures that are needed; only Linux has them.
FIGURES = Path("/proc/self/clear_refs")


def check_in_processes(module: str, numbers: Iterable[int], folder: Path) -> None:
    """Assert that what becomes of cases of a module is right, and that reading them takes the memory that it may."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.corpus.memory", module],
        input="".join(f"{number}\n" for number in numbers),
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=True,
    )
    outcomes = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(outcomes) == len(list(numbers))
    for outcome in outcomes:
        assert not outcome["wrong"], f"{outcome['name']}: {outcome['wrong']}"
        limit = 20 * outcome["size"] + 200_000_000
        assert outcome["peak"] <= limit, f"{outcome['name']}: {outcome['peak'] / 1e6:,.0f} MB"


def status(key: str) -> int:
    """Return a figure of this process' memory in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))


def measure(case: Case, data: bytes) -> str:
    """Return how much the peak of memory rises while a file is read, and what is wrong with the outcome, as JSON."""
    FIGURES.write_text("5")  # from here on, the peak is counted anew
    before = status("VmRSS:")
    try:
        check(case, data)
        wrong = ""
    except AssertionError:
        wrong = traceback.format_exc()
    peak = status("VmHWM:") - before
    return json.dumps({"name": case.name, "peak": peak, "size": len(data), "wrong": wrong})


def in_a_copy(work: Callable[[], str]) -> str:
    """Return what a function returns, called in a copy of this process."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as out:
            out.write(work())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        result = file.read()
    os.waitpid(child, 0)
    return result


def main(module: str) -> None:
    cases = importlib.import_module(module).CASES
    for line in sys.stdin:
        case, path = cases[int(line)], Path(f"{line.strip()}.bin")
        # In another copy, as what making a file takes must not be left over for reading it.
        in_a_copy(lambda case=case, path=path: str(path.write_bytes(case.make())))
        print(in_a_copy(lambda case=case, path=path: measure(case, path.read_bytes())), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
