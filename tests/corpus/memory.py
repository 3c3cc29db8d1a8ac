"""Measures what reading files takes, in processes that do nothing else.

Run as a program: each line of standard input is the number of a case of the corpus; for each, a line of JSON says what
became of it, and how many bytes of memory reading took at its peak. Each case has a process of its own, a copy of this
one in which all packages are loaded already, as loading them takes longer than reading.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from pathlib import Path

import openpyxl
import pyarrow.parquet
import pyreadstat

from tests.corpus.case import Case, check
from tests.corpus.test_corpus import CASES

#: Packages that readers load when they first need them, which is not counted.
LOADED = (openpyxl, pyarrow.parquet, pyreadstat)


def status(key: str) -> int:
    """Return a figure of this process' memory in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith(key))


def measure(case: Case, data: bytes) -> dict[str, object]:
    """Return how much the peak of memory rises while a file is read, and what is wrong with the outcome, if anything."""
    Path("/proc/self/clear_refs").write_text("5")  # from here on, the peak is counted anew
    before = status("VmRSS:")
    try:
        check(case, data)
        wrong = ""
    except AssertionError:
        wrong = traceback.format_exc()
    return {"peak": status("VmHWM:") - before, "size": len(data), "wrong": wrong}


def in_a_copy(work: str, argument: str) -> str:
    """Return what one of the steps below writes, done in a copy of this process."""
    reading, writing = os.pipe()
    if (child := os.fork()) == 0:
        os.close(reading)
        with os.fdopen(writing, "w") as out:
            out.write(STEPS[work](argument))
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        result = file.read()
    os.waitpid(child, 0)
    return result


def make(number: str) -> str:
    """Write the file of a case to this folder, as what making it takes must not be left over for reading it."""
    Path(f"{number}.bin").write_bytes(CASES[int(number)].make())
    return ""


def read(number: str) -> str:
    """Return the measures of a case as JSON."""
    return json.dumps(measure(CASES[int(number)], Path(f"{number}.bin").read_bytes()))


STEPS = {"make": make, "read": read}


if __name__ == "__main__":
    for line in sys.stdin:
        in_a_copy("make", line.strip())
        print(in_a_copy("read", line.strip()), flush=True)
