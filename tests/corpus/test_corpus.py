"""What becomes of each file of the corpus: read exactly, read and said, or refused in one sentence; and its memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases import for_each
from tests.conftest import ROOT
from tests.corpus import offered, packed, text, workbooks
from tests.corpus.case import check

CASES = [*text.CASES, *offered.CASES, *packed.CASES, *workbooks.CASES]
HEAVY = [case for case in CASES if case.heavy]


def ids(cases):
    return [f"{case.file}: {case.name}{', by a click' if case.offer else ''}" for case in cases]


def test_the_corpus_is_large_and_every_file_has_its_name():
    assert len(CASES) >= 120
    assert len(set(ids(CASES))) == len(CASES)
    assert len(HEAVY) >= 15
    assert sum(case.page for case in CASES) >= 25
    assert len(offered.CASES) >= 60


@for_each("case", [case for case in CASES if not case.heavy])
def test_outcome(case):
    check(case, case.make())


# The heavy cases in parts, so that several processes of tests share them.
PARTS = {
    "text": [case for case in HEAVY if case in text.CASES],
    "workbooks": [case for case in HEAVY if case in workbooks.CASES],
    "packed 1": [case for case in HEAVY if case in packed.CASES][::2],
    "packed 2": [case for case in HEAVY if case in packed.CASES][1::2],
}


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux says how much a process took")
@pytest.mark.parametrize("part", PARTS)
def test_outcome_and_memory_of_heavy_files(part, tmp_path):
    cases = PARTS[part]
    numbers = "".join(f"{CASES.index(case)}\n" for case in cases)
    command = [sys.executable, "-m", "tests.corpus.memory"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, input=numbers, capture_output=True, text=True, cwd=tmp_path, env=environment, check=True
    )
    for case, line in zip(cases, done.stdout.splitlines(), strict=True):
        found = json.loads(line)
        assert not found["wrong"], f"{case.name}: {found['wrong']}"
        assert found["peak"] <= 20 * found["size"] + 200_000_000, f"{case.name}: {found['peak'] / 1e6:,.0f} MB"
