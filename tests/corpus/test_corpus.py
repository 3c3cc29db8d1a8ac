"""What becomes of each file of the corpus: read exactly, read and said, or refused in one sentence; and its memory."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.corpus import packed, text, workbooks
from tests.corpus.case import check

CASES = [*text.CASES, *packed.CASES, *workbooks.CASES]
HEAVY = [case for case in CASES if case.heavy]


def ids(cases):
    return [f"{case.file}: {case.name}" for case in cases]


def test_the_corpus_is_large_and_every_file_has_its_name():
    assert len(CASES) >= 120
    assert len(set(ids(CASES))) == len(CASES)
    assert len(HEAVY) >= 15
    assert sum(case.page for case in CASES) >= 25


@pytest.mark.parametrize("case", [case for case in CASES if not case.heavy], ids=lambda case: ids([case])[0])
def test_outcome(case):
    check(case)
